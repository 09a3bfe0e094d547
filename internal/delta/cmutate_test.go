package delta_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/lang/c"
	"flowplan/internal/source"
)

// C's functions are edited as trees: each real function is printed one
// statement a line, with braces everywhere, and so is what an edit makes of
// its tree. Both texts are then read like any file.

// cNode is a statement with what it governs.
type cNode struct {
	text   string // of a compound one, its header
	kind   ir.Kind
	then   []*cNode
	other  []*cNode // else
	after  string   // of a do: its while
	elif   bool
	config bool
	line   int // in the text printed last
}

func (n *cNode) compound() bool {
	switch n.kind {
	case ir.KindIf, ir.KindWhile, ir.KindFor, ir.KindForeach, ir.KindDo, ir.KindSwitch:
		return true
	}
	return n.config
}

func (n *cNode) loop() bool {
	return n.kind == ir.KindWhile || n.kind == ir.KindFor || n.kind == ir.KindForeach || n.kind == ir.KindDo
}

// plain reports a statement that can stand anywhere, or go.
func (n *cNode) plain() bool {
	switch n.kind {
	case ir.KindAssign, ir.KindAugAssign, ir.KindCall, ir.KindExpr:
		return !strings.Contains(n.text, "\n") && !strings.Contains(strings.ToLower(n.text), "assert")
	}
	return false
}

// cFunc is a real function as a tree.
type cFunc struct {
	name string
	head string
	body []*cNode
	view *flow.View
}

func parseC(text string) *flow.View {
	f, err := flow.Parse(context.Background(), c.Language, source.New("f.c", []byte(text)), nil)
	if err != nil || len(f.Errors) > 0 || len(f.Decls) != 2 {
		return nil
	}
	v := f.View(1)
	for _, s := range v.Func.Stmts {
		if s.Kind == ir.KindOpaque || s.Reason != "" {
			return nil
		}
	}
	return v
}

// print writes a function and notes the lines of its statements.
func (f *cFunc) print() string {
	p := &cPrinter{}
	p.put(0, "%s {", f.head)
	p.nodes(1, f.body)
	p.put(0, "}")
	return p.b.String()
}

type cPrinter struct {
	b    strings.Builder
	line int
}

func (p *cPrinter) put(depth int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.line += 1 + strings.Count(text, "\n")
	p.b.WriteString(strings.Repeat("  ", depth) + text + "\n")
}

func (p *cPrinter) nodes(depth int, ns []*cNode) {
	for _, n := range ns {
		n.line = p.line + 1
		switch {
		case n.config:
			p.put(0, "%s", n.text)
			p.nodes(depth, n.then)
			if n.other != nil {
				p.put(0, "#else")
				p.nodes(depth, n.other)
			}
			p.put(0, "#endif")
		case n.kind == ir.KindDo:
			p.put(depth, "do {")
			p.nodes(depth+1, n.then)
			n.line = p.line + 1
			p.put(depth, "} %s;", n.text)
		case n.compound():
			p.put(depth, "%s {", n.text)
			p.nodes(depth+1, n.then)
			p.otherwise(depth, n)
			p.put(depth, "}")
		case n.kind == ir.KindCase || n.kind == ir.KindLabel:
			p.put(depth-1, "%s", n.text)
		default:
			p.put(depth, "%s;", n.text)
		}
	}
}

func (p *cPrinter) otherwise(depth int, n *cNode) {
	switch {
	case len(n.other) == 1 && n.other[0].kind == ir.KindIf && n.other[0].elif:
		k := n.other[0]
		k.line = p.line + 1
		p.put(depth, "} else %s {", k.text)
		p.nodes(depth+1, k.then)
		p.otherwise(depth, k)
	case len(n.other) > 0:
		p.put(depth, "} else {")
		p.nodes(depth+1, n.other)
	}
}

// treeOf makes the tree of a real function; nil where it does not lend itself.
func treeOf(v *flow.View) *cFunc {
	src := v.File.Source
	f := &cFunc{name: v.ID()}
	ok := true
	text := func(s *ir.Stmt) string {
		t := src.Text(s.Span)
		if s.Kind == ir.KindOpaque || s.Reason != "" || strings.ContainsAny(t, "\\#") || strings.Contains(t, "//") {
			ok = false
		}
		return strings.Join(strings.Fields(t), " ")
	}
	var list func([]ir.Node) []*cNode
	node := func(n ir.Node) *cNode {
		switch n := n.(type) {
		case *ir.If:
			k := &cNode{text: text(n.S), kind: ir.KindIf, then: list(n.Then), other: list(n.Else)}
			if len(n.Else) == 1 {
				if e, is := n.Else[0].(*ir.If); is && e.ElseIf {
					k.other[0].elif = true
				}
			}
			return k
		case *ir.Loop:
			k := &cNode{text: text(n.S), kind: n.S.Kind, then: list(n.Body)}
			if n.S.Kind == ir.KindForeach || !strings.HasPrefix(k.text, "for") && !strings.HasPrefix(k.text, "while") {
				ok = false
			}
			return k
		case *ir.Switch:
			return &cNode{text: text(n.S), kind: ir.KindSwitch, then: list(n.Body)}
		case *ir.Config, *ir.Try, *ir.Match, *ir.Scope, *ir.Leaves:
			ok = false
			return &cNode{}
		}
		s := ir.StmtOf(n)
		return &cNode{text: text(s), kind: s.Kind}
	}
	list = func(ns []ir.Node) []*cNode {
		var out []*cNode
		for _, n := range ns {
			out = append(out, node(n))
		}
		return out
	}
	f.body = list(v.Func.Body)
	lines := strings.SplitN(src.Text(v.Decl.Span), "{", 2)
	f.head = strings.Join(strings.Fields(lines[0]), " ")
	if !ok || strings.ContainsAny(f.head, "#/\\") || len(v.Func.Stmts) < 3 || len(v.Func.Stmts) > 80 {
		return nil
	}
	f.view = parseC(f.print())
	if f.view == nil || len(f.view.Func.Stmts) != len(v.Func.Stmts) {
		return nil
	}
	return f
}

// rareC are constructs that tree-sitter hardly uses.
var rareC = []string{
	`int drain(struct pipe *p, char *to, int room)
{
  int got = 0;
  if (p == 0)
    goto none;
  if (p->left > 0) {
    if (room >= p->left) {
      copy(to, p->at, p->left);
      got = p->left;
    }
  }
  if (p->broken)
    goto close;
  p->left -= got;
  return got;
close:
  shut(p);
none:
  return -1;
}`, `int score(const int *row, int n)
{
  int best = -1, i;
  for (i = 0; i < n; i++) {
    if (row[i] > best) {
      if (row[i] % 2 == 0) {
        best = row[i];
        note(i);
      }
    }
    switch (row[i]) {
    case 0:
      note(best);
      break;
    case 1:
    case 2:
      best += 1;
      break;
    default:
      note(n);
    }
  }
  if (best < 0)
    goto empty;
  if (best > 100)
    goto huge;
  return best;
huge:
  note(best);
  return 100;
empty:
  return 0;
}`,
}

// cSubjects are real functions: those of tree-sitter's runtime and scanners in
// the module cache.
func cSubjects(t *testing.T) []*cFunc {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/smacker/go-tree-sitter").Output()
	if err != nil {
		t.Fatalf("the module cache lacks tree-sitter: run go mod download: %v", err)
	}
	dir := strings.TrimSpace(string(out))
	files, _ := filepath.Glob(filepath.Join(dir, "*.c"))
	more, _ := filepath.Glob(filepath.Join(dir, "*", "scanner.c"))
	heads, _ := filepath.Glob(filepath.Join(dir, "*.h"))
	var funcs []*cFunc
	for _, name := range append(append(files, more...), heads...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := flow.Parse(context.Background(), c.Language, source.New(filepath.Base(name), data), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range f.Decls {
			if d.Kind == ir.FuncFunction {
				if x := treeOf(f.View(i)); x != nil {
					funcs = append(funcs, x)
				}
			}
		}
	}
	for i, text := range rareC {
		v := parseC(text + "\n")
		x := treeOf(v)
		x.name = fmt.Sprintf("rare%d", i)
		for range 5 { // often enough to be picked
			funcs = append(funcs, x)
		}
	}
	return funcs
}

// clone copies the tree, so that an edit leaves the original alone; at gives
// the copy of a node.
func (f *cFunc) clone() (*cFunc, map[*cNode]*cNode) {
	at := map[*cNode]*cNode{}
	var list func([]*cNode) []*cNode
	list = func(ns []*cNode) []*cNode {
		var out []*cNode
		for _, n := range ns {
			k := *n
			k.then, k.other = list(n.then), list(n.other)
			at[n] = &k
			out = append(out, &k)
		}
		return out
	}
	g := *f
	g.body = list(f.body)
	return &g, at
}

// cPlace is a position in a sequence.
type cPlace struct {
	seq   *[]*cNode
	i     int
	loop  bool // some loop is around
	inner ir.Kind
	owner *cNode
	arm   string
}

func (f *cFunc) places() []cPlace {
	var out []cPlace
	var walk func(seq *[]*cNode, loop bool, inner ir.Kind, owner *cNode, arm string)
	walk = func(seq *[]*cNode, loop bool, inner ir.Kind, owner *cNode, arm string) {
		for i, n := range *seq {
			out = append(out, cPlace{seq, i, loop, inner, owner, arm})
			in := inner
			if n.loop() || n.kind == ir.KindSwitch {
				in = n.kind
			}
			walk(&n.then, loop || n.loop(), in, n, "then")
			walk(&n.other, loop, inner, n, "else")
		}
	}
	walk(&f.body, false, "", nil, "")
	return out
}

func (p cPlace) node() *cNode { return (*p.seq)[p.i] }

func (p cPlace) replace(n int, with ...*cNode) {
	*p.seq = append(slices.Clone((*p.seq)[:p.i]), append(with, (*p.seq)[p.i+n:]...)...)
}

// cMutator edits a copy of a function and says what must be observed.
type cMutator struct {
	name string
	make func(f *cFunc, r *rand.Rand) []expectation
}

func choose(f *cFunc, r *rand.Rand, ok func(cPlace) bool) (cPlace, bool) {
	var list []cPlace
	for _, p := range f.places() {
		if ok(p) {
			list = append(list, p)
		}
	}
	return pick(r, list)
}

// free reports a place where a statement may be put before the node there.
func free(p cPlace) bool {
	n := p.node()
	return !n.elif && n.kind != ir.KindCase && !(p.owner != nil && p.owner.kind == ir.KindSwitch && (p.i == 0 || (*p.seq)[p.i-1].kind == ir.KindBreak || (*p.seq)[p.i-1].kind == ir.KindReturn)) && n.kind != ir.KindLabel
}

func cGuard(jump string, kind ir.Kind, inLoop bool) func(*cFunc, *rand.Rand) []expectation {
	return func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return free(p) && (!inLoop || p.loop && p.inner != ir.KindSwitch)
		})
		if !ok {
			return nil
		}
		line := p.node().first()
		p.replace(0, &cNode{text: "if (" + newCond + ")", kind: ir.KindIf, then: []*cNode{{text: jump, kind: kind}}})
		return []expectation{{delta.AddGuard, newCond, line}}
	}
}

// first is the line of the first statement of a node.
func (n *cNode) first() int {
	if n.kind == ir.KindDo && len(n.then) > 0 {
		return n.then[0].first()
	}
	return n.line
}

// cBinds reports a jump among these that a loop around them would catch, or
// something that another brace would hide from its place.
func cBinds(ns []*cNode, loop, sw bool) bool {
	for _, n := range ns {
		switch n.kind {
		case ir.KindBreak:
			if !loop && !sw {
				return true
			}
		case ir.KindContinue:
			if !loop {
				return true
			}
		case ir.KindCase:
			if !sw {
				return true
			}
		}
		if cBinds(n.then, loop || n.loop(), sw || n.kind == ir.KindSwitch) || cBinds(n.other, loop, sw) {
			return true
		}
	}
	return false
}

func cLeaves(ns []*cNode, loop, sw bool) bool {
	for _, n := range ns {
		switch n.kind {
		case ir.KindReturn, ir.KindGoto:
			return true
		case ir.KindBreak:
			if !loop && !sw {
				return true
			}
		case ir.KindContinue:
			if !loop {
				return true
			}
		case ir.KindCall:
			if never.MatchString(n.text) {
				return true
			}
		}
		if cLeaves(n.then, loop || n.loop(), sw || n.kind == ir.KindSwitch) || cLeaves(n.other, loop, sw) {
			return true
		}
	}
	return false
}

var never = regexp.MustCompile(`\b(abort|exit|_exit)\(`)

// run picks neighbours that can be put between braces.
func cRun(f *cFunc, r *rand.Rand, ok func([]*cNode) bool) (cPlace, int, bool) {
	p, found := choose(f, r, func(p cPlace) bool { return free(p) && p.node().kind != ir.KindDecl })
	if !found {
		return p, 0, false
	}
	n := 1
	for n < 1+r.IntN(3) && p.i+n < len(*p.seq) {
		if k := (*p.seq)[p.i+n]; k.kind == ir.KindDecl || k.kind == ir.KindCase || k.kind == ir.KindLabel {
			break
		}
		n++
	}
	run := (*p.seq)[p.i : p.i+n]
	if p.arm == "else" && n == len(*p.seq) || cHas(run, ir.KindLabel) || cHas(run, ir.KindCase) && !ok(run) || !ok(run) {
		return p, 0, false
	}
	if p.owner != nil && p.owner.kind == ir.KindSwitch && cBinds(run, false, false) {
		return p, 0, false
	}
	return p, n, true
}

func cHas(ns []*cNode, kind ir.Kind) bool {
	for _, n := range ns {
		if n.kind == kind || cHas(n.then, kind) || cHas(n.other, kind) {
			return true
		}
	}
	return false
}

func cWrap(head string, kind ir.Kind, op delta.Kind, cond string) func(*cFunc, *rand.Rand) []expectation {
	return func(f *cFunc, r *rand.Rand) []expectation {
		p, n, ok := cRun(f, r, func(run []*cNode) bool { return kind == ir.KindIf || !cBinds(run, false, false) })
		if !ok {
			return nil
		}
		run := slices.Clone((*p.seq)[p.i : p.i+n])
		line := run[0].first()
		p.replace(n, &cNode{text: head, kind: kind, then: run})
		return []expectation{{op, cond, line}}
	}
}

func condText(head string) string {
	i := strings.IndexByte(head, '(')
	if i < 0 || !strings.HasSuffix(head, ")") {
		return ""
	}
	return head[i+1 : len(head)-1]
}

func literal(cond string) bool {
	return cond == "" || cond == "true" || cond == "false" || strings.Trim(cond, "0123456789") == ""
}

func cCondition(change func(string) string) func(*cFunc, *rand.Rand) []expectation {
	return func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			n := p.node()
			return (n.kind == ir.KindIf || n.kind == ir.KindWhile || n.kind == ir.KindDo) && !literal(condText(n.text)) && strings.HasPrefix(n.text, map[bool]string{true: "if (", false: "while ("}[n.kind == ir.KindIf])
		})
		if !ok {
			return nil
		}
		n := p.node()
		cond := change(condText(n.text))
		n.text = n.text[:strings.IndexByte(n.text, '(')] + "(" + cond + ")"
		return []expectation{{delta.ChangeCondition, cond, n.line}}
	}
}

func single(p cPlace) bool {
	n := p.node()
	return n.kind == ir.KindIf && !n.elif && len(n.other) == 0
}

func plainRow(text string) *cNode { return &cNode{text: text, kind: ir.KindCall} }

var cMutators = []cMutator{
	{"guard return", cGuard("return 0", ir.KindReturn, false)},
	{"guard continue", cGuard("continue", ir.KindContinue, true)},
	{"guard break", cGuard("break", ir.KindBreak, true)},
	{"guard exit", cGuard("abort()", ir.KindCall, false)},
	{"wrap in if", cWrap("if ("+newCond+")", ir.KindIf, delta.AddGuard, newCond)},
	{"wrap in while", cWrap("while ("+newCond+")", ir.KindWhile, delta.AddLoop, newCond)},
	{"wrap in for", cWrap("for (zz_i = 0; zz_i < zz_n; zz_i++)", ir.KindFor, delta.AddLoop, "zz_i < zz_n")},
	{"wrap in do", cWrap("while ("+newCond+")", ir.KindDo, delta.AddLoop, newCond)},
	{"unwrap if", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return single(p) && len(p.node().then) > 0 && !cHas(p.node().then, ir.KindDecl) && !cLeaves(p.node().then, false, false)
		})
		if !ok {
			return nil
		}
		n := p.node()
		p.replace(1, n.then...)
		return []expectation{{delta.RemoveGuard, condText(n.text), n.line}}
	}},
	{"drop if", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return single(p) && len(*p.seq) > 1 && !cHas(p.node().then, ir.KindLabel) && !cHas(p.node().then, ir.KindGoto)
		})
		if !ok {
			return nil
		}
		n := p.node()
		kind := delta.RemoveBranch
		if cLeaves(n.then, false, false) {
			kind = delta.RemoveGuard
		}
		p.replace(1)
		return []expectation{{kind, condText(n.text), n.line}}
	}},
	{"add else", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool { return p.node().kind == ir.KindIf && len(p.node().other) == 0 })
		if !ok {
			return nil
		}
		p.node().other = []*cNode{plainRow(newCall)}
		return []expectation{{delta.AddBranch, "", 0}}
	}},
	{"add else if", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool { return p.node().kind == ir.KindIf })
		if !ok {
			return nil
		}
		n := p.node()
		n.other = []*cNode{{text: "if (" + newCond + ")", kind: ir.KindIf, elif: true, then: []*cNode{plainRow(newCall)}, other: n.other}}
		return []expectation{{delta.AddBranch, newCond, n.line}}
	}},
	{"drop else", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			n := p.node()
			return n.kind == ir.KindIf && len(n.other) > 0 && !n.other[0].elif && !cHas(n.other, ir.KindLabel) && !cHas(n.other, ir.KindGoto)
		})
		if !ok {
			return nil
		}
		line := p.node().other[0].first()
		p.node().other = nil
		return []expectation{{delta.RemoveBranch, "", line}}
	}},
	{"add case", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.node().kind == ir.KindSwitch && len(p.node().then) > 0 && p.node().then[0].kind == ir.KindCase
		})
		if !ok {
			return nil
		}
		n := p.node()
		line := n.then[0].line
		n.then = append([]*cNode{{text: "case ZZ_ONE:", kind: ir.KindCase}, plainRow(newCall), {text: "break", kind: ir.KindBreak}}, n.then...)
		return []expectation{{delta.AddBranch, "", line}}
	}},
	{"negate", cCondition(func(c string) string { return "!(" + c + ")" })},
	{"strengthen", cCondition(func(c string) string { return "(" + c + ") && " + newCond })},
	{"weaken", cCondition(func(c string) string { return "(" + c + ") || " + newCond })},
	{"merge ifs", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			n := p.node()
			return single(p) && len(n.then) == 1 && n.then[0].kind == ir.KindIf && len(n.then[0].other) == 0
		})
		if !ok {
			return nil
		}
		n := p.node()
		cond := "(" + condText(n.text) + ") && (" + condText(n.then[0].text) + ")"
		p.replace(1, &cNode{text: "if (" + cond + ")", kind: ir.KindIf, then: n.then[0].then})
		return []expectation{{delta.ChangeCondition, cond, n.line}}
	}},
	{"bound of a for", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			n := p.node()
			return n.kind == ir.KindFor && strings.Count(n.text, ";") == 2 && strings.TrimSpace(strings.Split(n.text, ";")[1]) != ""
		})
		if !ok {
			return nil
		}
		n := p.node()
		parts := strings.Split(n.text, ";")
		cond := "(" + strings.TrimSpace(parts[1]) + ") && " + newCond
		n.text = parts[0] + "; " + cond + ";" + parts[2]
		return []expectation{{delta.ChangeCondition, cond, n.line}}
	}},
	{"step of a for", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.node().kind == ir.KindFor && strings.Count(p.node().text, ";") == 2 && strings.HasSuffix(p.node().text, "++)")
		})
		if !ok {
			return nil
		}
		n := p.node()
		n.text = strings.TrimSuffix(n.text, "++)") + " += 2)"
		return []expectation{{delta.ChangeCondition, "", n.line}}
	}},
	{"swap break and continue", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			k := p.node().kind
			return p.loop && p.inner != ir.KindSwitch && (k == ir.KindBreak || k == ir.KindContinue)
		})
		if !ok {
			return nil
		}
		n := p.node()
		line := n.line
		if n.kind == ir.KindBreak {
			n.kind, n.text = ir.KindContinue, "continue"
		} else {
			n.kind, n.text = ir.KindBreak, "break"
		}
		return []expectation{{delta.RewireEdge, "", line}}
	}},
	{"drop break of a switch", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.node().kind == ir.KindBreak && p.owner != nil && p.owner.kind == ir.KindSwitch && p.i+1 < len(*p.seq) && p.i > 0 && (*p.seq)[p.i-1].kind != ir.KindCase && !jumps((*p.seq)[p.i-1])
		})
		if !ok {
			return nil
		}
		line := p.node().line
		p.replace(1)
		return []expectation{{delta.RewireEdge, "", line}}
	}},
	{"other label", func(f *cFunc, r *rand.Rand) []expectation {
		labels := map[string]bool{}
		for _, p := range f.places() {
			if p.node().kind == ir.KindLabel {
				labels[strings.TrimSuffix(p.node().text, ":")] = true
			}
		}
		p, ok := choose(f, r, func(p cPlace) bool { return p.node().kind == ir.KindGoto && len(labels) > 1 })
		if !ok {
			return nil
		}
		n := p.node()
		names := make([]string, 0, len(labels))
		for l := range labels {
			if "goto "+l != n.text {
				names = append(names, l)
			}
		}
		sort.Strings(names)
		if len(names) == 0 {
			return nil
		}
		n.text = "goto " + names[r.IntN(len(names))]
		return []expectation{{delta.RewireEdge, "", n.line}}
	}},
	{"drop return", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.node().kind == ir.KindReturn && p.i == len(*p.seq)-1 && p.i > 0 && !jumps((*p.seq)[p.i-1]) && p.owner != nil && p.owner.kind == ir.KindIf
		})
		if !ok {
			return nil
		}
		line := p.node().line
		p.replace(1)
		return []expectation{{delta.RewireEdge, "", line}}
	}},
	{"reorder", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.node().plain() && p.i+1 < len(*p.seq) && (*p.seq)[p.i+1].plain() && (*p.seq)[p.i+1].text != p.node().text
		})
		if !ok {
			return nil
		}
		a, b := (*p.seq)[p.i], (*p.seq)[p.i+1]
		line := a.line
		p.replace(2, b, a)
		return []expectation{{delta.ChangeBlock, "", line}}
	}},
	{"move into arm", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.i > 0 && p.node().plain() && len(p.node().text) >= 6 && f.times(p.node().text) == 1 && p.i+1 < len(*p.seq) && (*p.seq)[p.i+1].kind == ir.KindIf && len((*p.seq)[p.i+1].then) > 0 && (*p.seq)[p.i-1].kind != ir.KindCase && (*p.seq)[p.i-1].kind != ir.KindLabel
		})
		if !ok {
			return nil
		}
		n, next := p.node(), (*p.seq)[p.i+1]
		p.replace(1)
		next.then = append([]*cNode{n}, next.then...)
		return []expectation{{delta.RewireEdge, "", n.line}}
	}},
	{"move out of arm", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.i == 0 && p.arm == "then" && p.owner.kind == ir.KindIf && !p.owner.elif && len(*p.seq) > 1 && p.node().plain() && len(p.node().text) >= 6 && f.times(p.node().text) == 1
		})
		if !ok {
			return nil
		}
		n := p.node()
		for _, q := range f.places() {
			if q.node() == p.owner {
				p.replace(1)
				q.replace(0, n)
				return []expectation{{delta.RewireEdge, "", n.line}}
			}
		}
		return nil
	}},
	{"change constant", cText(regexp.MustCompile(`\b\d+\b`), "987654")},
	{"change callee", cText(regexp.MustCompile(`\b[a-z_]+\(`), "zz_call(")},
	{"insert plain", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, free)
		if !ok {
			return nil
		}
		line := p.node().first()
		p.replace(0, plainRow(newCall))
		return []expectation{{delta.ChangeBlock, "", line}}
	}},
	{"delete plain", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool { return p.node().plain() && len(*p.seq) > 1 && !never.MatchString(p.node().text) })
		if !ok {
			return nil
		}
		line := p.node().line
		p.replace(1)
		return []expectation{{delta.ChangeBlock, "", line}}
	}},
	{"replace plain", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool { return p.node().plain() && !never.MatchString(p.node().text) })
		if !ok {
			return nil
		}
		line := p.node().line
		p.replace(1, plainRow(newCall))
		return []expectation{{delta.ChangeBlock, "", line}}
	}},
	{"inline condition", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.node().kind == ir.KindAssign && !strings.Contains(p.node().text, "?") && !strings.HasSuffix(p.node().text, "}")
		})
		if !ok {
			return nil
		}
		n := p.node()
		n.text += " ? " + newCond + " : 0"
		return []expectation{{delta.ChangeBlock, "", n.line}}
	}},
	{"add assert", func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, free)
		if !ok {
			return nil
		}
		line := p.node().first()
		p.replace(0, plainRow("assert("+newCond+")"))
		return []expectation{{delta.ChangeBlock, "", line}}
	}},
	{"add parameter", func(f *cFunc, r *rand.Rand) []expectation {
		i := strings.LastIndexByte(f.head, ')')
		if i < 0 || strings.HasSuffix(f.head, "(void)") || strings.HasSuffix(f.head, "()") || strings.Contains(f.head, "...") || i != len(f.head)-1 {
			return nil
		}
		f.head = f.head[:i] + ", int zz_p)"
		return []expectation{{delta.ChangeSignature, "", 0}}
	}},
}

func (f *cFunc) times(text string) int {
	n := 0
	for _, p := range f.places() {
		if p.node().text == text {
			n++
		}
	}
	return n
}

func jumps(n *cNode) bool {
	return n.kind == ir.KindReturn || n.kind == ir.KindGoto || n.kind == ir.KindBreak || n.kind == ir.KindContinue || never.MatchString(n.text) || n.compound()
}

func cText(what *regexp.Regexp, with string) func(*cFunc, *rand.Rand) []expectation {
	return func(f *cFunc, r *rand.Rand) []expectation {
		p, ok := choose(f, r, func(p cPlace) bool {
			return p.node().plain() && what.MatchString(p.node().text) && !strings.ContainsAny(p.node().text, `"'`) && !never.MatchString(p.node().text)
		})
		if !ok {
			return nil
		}
		n := p.node()
		done := false
		n.text = what.ReplaceAllStringFunc(n.text, func(m string) string {
			if done || m == "sizeof(" || m == "if(" {
				return m
			}
			done = true
			return with
		})
		if !done {
			return nil
		}
		return []expectation{{delta.ChangeBlock, "", n.line}}
	}
}

// TestMutationsOfC edits real functions of C and holds Diff to what was
// constructed.
func TestMutationsOfC(t *testing.T) {
	all := cSubjects(t)
	if len(all) < 300 {
		t.Fatalf("expected hundreds of functions to edit, found %d", len(all))
	}
	r := rand.New(rand.NewPCG(*seed, 17))
	right, wrong := map[string]int{}, map[string]int{}
	total, bad := 0, 0
	for tries := 0; total < *trials && tries < 60*(*trials); tries++ {
		f := all[r.IntN(len(all))]
		m := cMutators[r.IntN(len(cMutators))]
		before := f.print() // the lines of its statements
		g, _ := f.clone()
		expected := m.make(g, r)
		if expected == nil {
			continue
		}
		after := g.print()
		v := parseC(after)
		if v == nil {
			continue
		}
		total++
		mut := &mutation{name: m.name, expected: expected}
		problem := mut.compareWith(delta.Diff(f.view, v), c.Language.Condition)
		if problem == "" {
			right[m.name]++
			continue
		}
		bad++
		if wrong[m.name]++; wrong[m.name] <= *shown {
			t.Logf("%s in %s: %s\n%s", m.name, f.name, problem, unified(strings.Split(before, "\n"), strings.Split(after, "\n")))
		}
	}
	for _, m := range cMutators {
		if right[m.name]+wrong[m.name] == 0 {
			t.Errorf("no mutation %q could be made", m.name)
		}
		if wrong[m.name] > 0 {
			t.Logf("%-26s %5d right %4d wrong", m.name, right[m.name], wrong[m.name])
		}
	}
	share := 100 * float64(total-bad) / float64(total)
	t.Logf("%d mutations of %d functions of C, %.2f %% as constructed", total, len(all), share)
	if share < 99.5 {
		t.Errorf("expected at least 99.5 %% as constructed")
	}
}

// TestAlgebraOfC holds Diff to its laws on pairs of functions of C, edited and
// not.
func TestAlgebraOfC(t *testing.T) {
	all := cSubjects(t)
	r := rand.New(rand.NewPCG(*seed, 19))
	for range 1500 {
		a, b := all[r.IntN(len(all))], all[r.IntN(len(all))]
		other := b.view
		g, _ := a.clone()
		if m := cMutators[r.IntN(len(cMutators))]; r.IntN(2) == 0 && m.make(g, r) != nil {
			if v := parseC(g.print()); v != nil {
				other = v
			}
		}
		lawful(t, a.name, a.view, other)
	}
}

// TestFormattingOfC compares functions with themselves laid out anew: each
// token on a line of its own, with comments between.
func TestFormattingOfC(t *testing.T) {
	token := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*|[0-9.][\w.]*|->|\+\+|--|<<=?|>>=?|&&|\|\||[-+*/%&|^=!<>]=|\S`)
	n := 0
	for _, f := range cSubjects(t) {
		text := f.print()
		if strings.Contains(text, "#") || strings.Contains(text, "/*") {
			continue
		}
		v := parseC(strings.Join(token.FindAllString(text, -1), " /* x */\n") + "\n")
		if v == nil {
			t.Errorf("%s: laid out anew it does not parse", f.name)
			continue
		}
		n++
		if d := delta.Diff(f.view, v); !d.Empty() {
			t.Errorf("%s: differs from itself laid out anew: %s", f.name, signature(d))
		}
	}
	if n < 300 {
		t.Errorf("expected hundreds of functions, got %d", n)
	}
	t.Logf("%d functions", n)
}
