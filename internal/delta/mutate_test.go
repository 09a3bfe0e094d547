package delta_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/lang/python"
	"flowplan/internal/source"
)

// parse reads a text as a Python file.
func parse(text string) (*flow.File, error) {
	return flow.Parse(context.Background(), python.Language, source.New("f.py", []byte(text)), nil)
}

// subject is a real function standing alone, as text and as a view.
type subject struct {
	name  string
	lines []string // Lines[i] is line i+1
	view  *flow.View
	items []*item
}

// item is a statement with everything in it: where it stands and which lines
// it takes.
type item struct {
	node     ir.Node
	s        *ir.Stmt // nil for a try
	from, to int      // lines
	indent   string
	seq      []*item // the sequence that it stands in
	at       int     // index in seq
	owner    *item   // nil at the top
	arm      string
	kids     map[string][]*item
	loop     bool // some loop is around it
}

// newSubject makes a subject of a function's text, or nil where the text does
// not lend itself to editing by lines.
func newSubject(name, text string) *subject {
	f, err := parse(text)
	if err != nil || len(f.Errors) > 0 || len(f.Decls) < 2 {
		return nil
	}
	v := f.View(1)
	s := &subject{name: name, lines: strings.Split(strings.TrimRight(text, "\n"), "\n"), view: v}
	starts := map[int]bool{}
	for _, st := range v.Func.Stmts {
		line := f.Source.LineText(st.Line)
		if st.Reason != "" || starts[st.Line] || st.Kind == ir.KindDef || st.Kind == ir.KindClass || strings.TrimSpace(line[:st.Col]) != "" && st.Kind != ir.KindIf {
			return nil
		}
		if own := f.Source.Text(st.Span); strings.Contains(own, "\n") && (strings.Contains(own, `"""`) || strings.Contains(own, "'''")) {
			return nil // to indent it would change it
		}
		starts[st.Line] = true
	}
	s.sequence(v.Func.Body, nil, "", false)
	for _, it := range s.items {
		if it.from == 0 || it.to < it.from {
			return nil
		}
	}
	return s
}

func (s *subject) sequence(nodes []ir.Node, owner *item, arm string, loop bool) []*item {
	var seq []*item
	for _, n := range nodes {
		it := &item{node: n, s: ir.StmtOf(n), owner: owner, arm: arm, kids: map[string][]*item{}, loop: loop}
		s.items = append(s.items, it)
		seq = append(seq, it)
		s.fill(it)
	}
	for i, it := range seq {
		it.seq, it.at = seq, i
	}
	return seq
}

func (s *subject) fill(it *item) {
	arm := func(name string, nodes []ir.Node) {
		if len(nodes) > 0 {
			it.kids[name] = s.sequence(nodes, it, name, it.loop || name == "body" && isLoopNode(it.node))
		}
	}
	switch n := it.node.(type) {
	case *ir.If:
		arm("then", n.Then)
		arm("else", n.Else)
	case *ir.Loop:
		arm("body", n.Body)
		arm("else", n.Else)
	case *ir.Match:
		for i, c := range n.Cases {
			arm(fmt.Sprintf("case%d", i), c.Body)
		}
	case *ir.Try:
		arm("body", n.Body)
		for i, h := range n.Handlers {
			arm(fmt.Sprintf("handler%d", i), h.Body)
		}
		arm("else", n.Else)
		arm("finally", n.Finally)
	case *ir.Scope:
		arm("body", n.Body)
	}
	if it.s != nil {
		it.from, it.to = it.s.Line, it.s.EndLine
		it.indent = s.lines[it.from-1][:leading(s.lines[it.from-1])]
	}
	for _, kids := range it.kids {
		for _, k := range kids {
			if it.from == 0 || k.from < it.from {
				it.from = k.from
			}
			it.to = max(it.to, k.to)
		}
	}
	if it.s == nil { // a try: its own line is the one above its first statement that says so
		for l := it.from; l >= 1; l-- {
			if strings.TrimSpace(s.lines[l-1]) == "try:" {
				it.from = l
				it.indent = s.lines[l-1][:leading(s.lines[l-1])]
				return
			}
		}
		it.from = 0
	}
}

func isLoopNode(n ir.Node) bool { _, ok := n.(*ir.Loop); return ok }

func leading(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// plain reports whether an item is one plain statement.
func (it *item) plain() bool {
	n, ok := it.node.(*ir.Simple)
	return ok && n.S.Kind != ir.KindGlobal && n.S.Callee == "" || ok && n.S.Kind == ir.KindCall && !strings.HasPrefix(n.S.Callee, "sys.") && !strings.HasPrefix(n.S.Callee, "os.")
}

// expectation is what an edit must be observed as.
type expectation struct {
	kind delta.Kind
	cond string // "" for none to compare
	line int    // a HEAD line that must lie in the region; 0: none
}

// mutation is an edited text and what must be observed.
type mutation struct {
	name     string
	lines    []string
	expected []expectation
	content  bool // any number of change_block and change_signature, nothing else
}

// mutator makes a mutation of a subject at a random place, or nil.
type mutator struct {
	name string
	make func(s *subject, r *rand.Rand) *mutation
}

// splice gives lines with [from, to] replaced.
func splice(lines []string, from, to int, with ...string) []string {
	out := slices.Clone(lines[:from-1])
	out = append(out, with...)
	return append(out, lines[to:]...)
}

func indented(lines []string, by string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			out[i] = l
		} else {
			out[i] = by + l
		}
	}
	return out
}

func dedented(lines []string, by int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(by, leading(l)):]
	}
	return out
}

func pick[T any](r *rand.Rand, list []T) (T, bool) {
	var zero T
	if len(list) == 0 {
		return zero, false
	}
	return list[r.IntN(len(list))], true
}

func (s *subject) where(ok func(*item) bool) []*item {
	var out []*item
	for _, it := range s.items {
		if it.from > 0 && ok(it) {
			out = append(out, it)
		}
	}
	return out
}

// stem is the item's lines.
func (s *subject) stem(it *item) []string { return s.lines[it.from-1 : it.to] }

// inner is the indentation of an arm of the item.
func (s *subject) inner(kids []*item) string { return kids[0].indent }

// headed reports whether an item's own header takes one line that ends with a
// colon, so that its condition can be edited as text.
func (s *subject) headed(it *item) bool {
	return it.s != nil && it.s.Line == it.s.EndLine && strings.HasSuffix(strings.TrimRight(s.lines[it.s.Line-1], " "), ":") &&
		!strings.Contains(s.lines[it.s.Line-1], "#")
}

func (s *subject) elif(it *item) bool {
	n, ok := it.node.(*ir.If)
	return ok && n.ElseIf
}

// single reports an if without else that is no elif.
func (s *subject) single(it *item) bool {
	n, ok := it.node.(*ir.If)
	return ok && !n.ElseIf && len(n.Else) == 0
}

// leaves reports whether some jump below these items leaves them.
func leaves(items []*item, loop bool) bool {
	for _, it := range items {
		if it.s != nil {
			switch it.s.Kind {
			case ir.KindReturn, ir.KindRaise:
				return true
			case ir.KindBreak, ir.KindContinue:
				if !loop {
					return true
				}
			}
		}
		for name, kids := range it.kids {
			if leaves(kids, loop || isLoopNode(it.node) && name == "body") {
				return true
			}
		}
	}
	return false
}

// check parses a mutation and compares what Diff observes with what was
// constructed; "" is right.
func (m *mutation) check(s *subject) (problem string, skipped bool) {
	f, err := parse(strings.Join(m.lines, "\n") + "\n")
	if err != nil || len(f.Errors) > 0 || len(f.Decls) < 2 {
		return "", true
	}
	d := delta.Diff(s.view, f.View(1))
	return m.compare(d), false
}

func (m *mutation) compare(d *delta.Delta) string {
	return m.compareWith(d, python.Language.Condition)
}

// compareWith compares what Diff observed with what was constructed; condition
// reads a condition of the language.
func (m *mutation) compareWith(d *delta.Delta, condition func(string) (*ir.Cond, error)) string {
	var got []string
	left := slices.Clone(d.Ops)
	for _, o := range d.Ops {
		got = append(got, opText(o))
	}
	if m.content {
		for _, o := range d.Ops {
			if o.Kind != delta.ChangeBlock && o.Kind != delta.ChangeSignature {
				return "expected content alone, got " + strings.Join(got, "; ")
			}
		}
		return ""
	}
	for _, e := range m.expected {
		i := slices.IndexFunc(left, func(o *delta.Op) bool { return e.fits(o, condition) })
		if i < 0 {
			return fmt.Sprintf("expected %s `%s` at %d, got %s", e.kind, e.cond, e.line, strings.Join(got, "; "))
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		return "also observed " + opText(left[0]) + " in " + strings.Join(got, "; ")
	}
	return ""
}

func (e expectation) fits(o *delta.Op, condition func(string) (*ir.Cond, error)) bool {
	if o.Kind != e.kind {
		return false
	}
	if e.line > 0 && o.Kind != delta.ChangeSignature && !slices.ContainsFunc(o.Head.Region, func(s *ir.Stmt) bool { return s.Line <= e.line && e.line <= s.EndLine }) {
		return false
	}
	if e.cond == "" {
		return true
	}
	want, err := condition(e.cond)
	have, _ := o.Cond()
	return err == nil && have != nil && (want.Equal(have) || want.Opposite(have))
}

func opText(o *delta.Op) string {
	line := 0
	if o.Head.Anchor != nil {
		line = o.Head.Anchor.Line
	}
	_, cond := o.Cond()
	return strings.TrimSpace(fmt.Sprintf("%s@%d %s", o.Kind, line, cond))
}
