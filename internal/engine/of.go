package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/locate"
)

// The budgets of one flow_of call, in tokens.
const (
	callBudget     = 3900
	functionBudget = flow.Budget
	outlineMax     = 40
	leastShare     = 250 // less is no view
)

// OfParams are the arguments of flow_of.
type OfParams struct {
	Function []string // references, or texts with a traceback in them
	View     string   // cfg, dfg, or "" for the server's default
	Focus    int
	Detail   string // auto, full, or ""
	Root     string
}

// Views is the JSON of flow_of, made when it is asked for: an agent never
// does.
type Views []*flow.View

// Lines is one object a function.
func (vs Views) Lines() Lines {
	var out Lines
	for _, v := range vs {
		out = append(out, flow.OneJSON{File: v.File.Source.Path, Language: v.File.Lang.Name, Function: v.JSON()})
	}
	return out
}

// viewKind reads a view argument leniently.
func (e *Engine) viewKind(s string) (dfg bool, err error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "":
		return e.cfg.DFG, nil
	case "cfg", "control", "control-flow", "controlflow":
		return false, nil
	case "dfg", "data", "data-flow", "dataflow", "def-use", "du":
		return true, nil
	}
	return false, wrong("view %q: expected cfg or dfg", s)
}

// Of shows functions.
func (e *Engine) Of(ctx context.Context, p OfParams) (Reply, error) {
	dfg, err := e.viewKind(p.View)
	if err != nil {
		return Reply{}, err
	}
	opts := flow.Options{DFG: dfg, Focus: p.Focus}
	switch strings.ToLower(strings.TrimSpace(p.Detail)) {
	case "", "auto":
	case "full", "all":
		opts.Full = true
	default:
		return Reply{}, wrong("detail %q: expected auto or full", p.Detail)
	}
	refs := e.references(p.Function)
	if len(refs) == 0 {
		return Reply{}, wrong(`expected a function: flow_of {"function":"Class.method"}, "path.py:name", "path.py:123" or a traceback`)
	}
	t, err := e.treeOf(ctx, p.Root, refs)
	if err != nil {
		return Reply{}, err
	}
	if err := t.firstCall(ctx); err != nil {
		return Reply{}, err
	}
	o := &ofCall{t: t, opts: opts, left: callBudget}
	if opts.Full {
		o.left = 1 << 30
	}
	o.text.WriteString(t.notes(e))
	for i, ref := range refs {
		if i > 0 && o.left < leastShare {
			o.say(leftOut(refs[i:]))
			break
		}
		o.share = min(functionBudget, o.left/(len(refs)-i))
		if err := o.one(ctx, ref); err != nil {
			return Reply{}, err
		}
	}
	reply := Reply{Text: o.text.String(), JSON: o.views}
	if len(o.views) == 0 && !o.found {
		return reply, notFound("%s", strings.TrimRight(o.text.String(), "\n"))
	}
	return reply, nil
}

// leftOut names what a call had no room for.
func leftOut(refs []string) string {
	names := make([]string, 0, 6)
	for _, r := range refs[:min(6, len(refs))] {
		names = append(names, oneLine(r, 60))
	}
	if len(refs) > len(names) {
		names = append(names, fmt.Sprintf("%d more", len(refs)-len(names)))
	}
	return fmt.Sprintf("not shown, call again: %s\n", strings.Join(names, ", "))
}

// references splits arguments into single references, each once. A text that
// holds frames stays whole, and frames given one by one are one text: their
// order says who called whom.
func (e *Engine) references(args []string) []string {
	var out []string
	seen := map[string]bool{}
	frame := false // the last reference is a text of single frames
	for _, a := range args {
		if len(e.cfg.Languages.Frames(a)) > 0 {
			single := !strings.Contains(strings.TrimSpace(a), "\n")
			if single && frame {
				out[len(out)-1] += "\n" + a
			} else {
				out = append(out, a)
			}
			frame = single
			continue
		}
		frame = false
		for line := range strings.Lines(a) {
			if line = strings.TrimSpace(line); line != "" && !seen[line] {
				seen[line] = true
				out = append(out, line)
			}
		}
	}
	return out
}

// treeOf finds the tree of a call: by its root argument, or by an absolute
// path in a reference.
func (e *Engine) treeOf(ctx context.Context, root string, refs []string) (*tree, error) {
	t, err := e.tree(ctx, root)
	if err != nil || root != "" {
		return t, err
	}
	for _, r := range refs {
		if !strings.HasPrefix(r, "/") {
			continue
		}
		if _, ok := t.fs.Rel(pathOf(r)); ok {
			continue
		}
		if other, err := e.tree(ctx, dirOf(pathOf(r))); err == nil {
			return other, nil
		}
	}
	return t, nil
}

func pathOf(ref string) string {
	if i := strings.IndexByte(ref, ':'); i > 0 {
		return ref[:i]
	}
	return ref
}

func dirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[:i]
	}
	return "/"
}

// notes are things that are said once.
func (t *tree) notes(e *Engine) string {
	out := e.homeNote()
	for _, n := range []string{t.ix.Note(), t.led.Note()} {
		if n != "" {
			out += "note: " + n + "\n"
		}
	}
	return out
}

// ofCall is one flow_of on its way.
type ofCall struct {
	t     *tree
	opts  flow.Options
	left  int // tokens of the call's budget
	share int // of the reference at hand
	text  strings.Builder
	views Views
	found bool // something other than a view answered
}

func (o *ofCall) one(ctx context.Context, ref string) error {
	if ref == "" {
		return nil
	}
	results, err := o.t.loc.FindAll(ctx, ref)
	if err != nil {
		return err
	}
	for _, r := range results {
		if err := o.answer(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (o *ofCall) say(s string) {
	o.text.WriteString(s)
	o.left -= flow.Tokens(s)
}

func (o *ofCall) answer(ctx context.Context, r locate.Result) error {
	switch r.Kind {
	case locate.One:
		return o.match(ctx, r.Matches[0], 0)
	case locate.Ambiguous:
		return o.ambiguous(ctx, r)
	case locate.Outline:
		o.outline(r)
		return nil
	case locate.Frames:
		return o.frames(ctx, r)
	}
	if rel, ok := o.t.fs.Rel(r.Query); ok && r.Reason == "" {
		if head, err := o.t.fs.Head(rel, lang.HeadBytes); err == nil && o.t.e.cfg.Languages.ForPath(rel, head) == nil {
			r.Reason = "the file is in a language that flowplan does not read"
		}
	}
	o.say(unknownText(r))
	return nil
}

// unknownText says that nothing was found, what is nearest, and whether that
// is sure.
func unknownText(r locate.Result) string {
	var b strings.Builder
	query := r.Query
	if i := strings.IndexByte(query, '\n'); i >= 0 {
		query = query[:i] + " ..."
	}
	fmt.Fprintf(&b, "no function %q", flow.Printable(query))
	if r.Reason != "" {
		fmt.Fprintf(&b, ": %s", r.Reason)
	}
	b.WriteByte('\n')
	if len(r.Nearest) > 0 {
		names := make([]string, 0, 5)
		for _, m := range r.Nearest[:min(5, len(r.Nearest))] {
			names = append(names, fmt.Sprintf("%s (%s:%d)", m.QualifiedName, m.Path, m.Line))
		}
		fmt.Fprintf(&b, "nearest: %s\n", strings.Join(names, ", "))
	}
	if !r.Complete {
		fmt.Fprintf(&b, "the index is not complete: %s\n", r.Missing)
	}
	return b.String()
}

// match shows the function of one match.
func (o *ofCall) match(ctx context.Context, m locate.Match, mark int) error {
	v, err := o.t.viewOf(ctx, m)
	if err != nil {
		return err
	}
	if v == nil {
		o.say(fmt.Sprintf("no function %s any more: its file changed just now; call again\n", m.ID()))
		return nil
	}
	o.view(v, m.AtLine, mark)
	return nil
}

func (o *ofCall) view(v *flow.View, line, mark int) {
	opts := o.opts
	opts.Mark = mark
	opts.Budget = max(leastShare-50, min(o.share, o.left))
	if opts.Focus == 0 && line > 0 && flow.Tokens(flow.Render(v, flow.Options{DFG: opts.DFG, Full: true})) > opts.Budget {
		opts.Mark = max(opts.Mark, line) // of a large function, show what stands around the line asked for
	}
	o.say(flow.Render(v, opts))
	o.views = append(o.views, v)
	o.t.show(v)
}

// viewOf is the view of a match in the work tree as it is now.
func (t *tree) viewOf(ctx context.Context, m locate.Match) (*flow.View, error) {
	f, err := t.work(ctx, m.Path)
	if err != nil || f == nil {
		return nil, err
	}
	name := m.QualifiedName
	if m.Ordinal > 1 {
		name += "#" + strconv.Itoa(m.Ordinal)
	}
	return view(f, name), nil
}

// ambiguous lists the candidates, and shows the best where it clearly is.
func (o *ofCall) ambiguous(ctx context.Context, r locate.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d functions match %s:\n", len(r.Matches), r.Query)
	for i, m := range r.Matches {
		if i == 10 {
			fmt.Fprintf(&b, "... %d more\n", len(r.Matches)-10)
			break
		}
		fmt.Fprintf(&b, "%s:%d  %s\n", m.Path, m.Line, m.QualifiedName)
	}
	o.say(b.String())
	o.found = true
	if !r.Clear {
		return nil
	}
	return o.match(ctx, r.Matches[0], 0)
}

// outline lists what a class or file holds, one line a function.
func (o *ofCall) outline(r locate.Result) {
	o.found = true
	var b strings.Builder
	of := r.Of
	fmt.Fprintf(&b, "%s  %s:%d-%d  %d functions\n", of.QualifiedName, of.Path, of.Line, of.EndLine, len(r.Matches))
	for i, m := range r.Matches {
		if i == outlineMax {
			fmt.Fprintf(&b, "... %d more\n", len(r.Matches)-outlineMax)
			break
		}
		fmt.Fprintf(&b, "%d-%d %s\n", m.Line, m.EndLine, m.QualifiedName)
	}
	o.say(b.String())
}

// frames shows the innermost function of a report inside the root, of its next
// two callers the call, what guards it and where its arguments come from, and in
// a line each what else the report says: where the memory was freed.
func (o *ofCall) frames(ctx context.Context, r locate.Result) error {
	shown := 0
	inner := "" // the function shown last, which the next one called
	for _, f := range r.Frames {
		if f.Match == nil || shown == 3 {
			continue
		}
		v, err := o.t.viewOf(ctx, *f.Match)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		if f.Moved {
			o.say(fmt.Sprintf("%s:%d is not in %s any more; found by name\n", f.Path, f.Line, f.Func))
		}
		if shown == 0 {
			if f.Stack != "" {
				o.say(f.Stack + " here; the fault lies outside the root\n")
			}
			mark := f.Line
			if s := v.StmtOn(f.Line, f.Col, ""); s != nil && !f.Moved {
				mark = s.Line
			}
			o.share = min(functionBudget, o.left)
			o.view(v, 0, mark)
		} else {
			o.say(caller(v, v.StmtOn(f.Line, f.Col, inner), passed(v, f.Match.ID(), r.Others)))
		}
		inner = v.Func.Name
		shown++
	}
	for _, s := range r.Others {
		line, err := o.other(ctx, s)
		if err != nil {
			return err
		}
		o.say(line)
	}
	return nil
}

// passed says where the other stacks of a report went through a function.
func passed(v *flow.View, id string, others []locate.Stack) map[*ir.Stmt]string {
	out := map[*ir.Stmt]string{}
	for _, s := range others {
		inner := ""
		for _, f := range s.Frames {
			if f.Match.ID() == id && !f.Moved {
				if st := v.StmtOn(f.Line, f.Col, inner); st != nil {
					out[st] = s.Name + " here"
				}
			}
			inner = f.Match.Name
		}
	}
	return out
}

// other is another stack of a report in a line: its innermost statement inside
// the root, and the calls that led there.
func (o *ofCall) other(ctx context.Context, s locate.Stack) (string, error) {
	var b strings.Builder
	f := s.Frames[0]
	fmt.Fprintf(&b, "%s: %s %s:%d", s.Name, f.Match.QualifiedName, f.Match.Path, f.Line)
	v, err := o.t.viewOf(ctx, *f.Match)
	if err != nil {
		return "", err
	}
	if v != nil && !f.Moved {
		if st := v.StmtOn(f.Line, f.Col, ""); st != nil {
			fmt.Fprintf(&b, " %s", oneLine(v.File.Source.Text(st.Span), 80))
		}
	}
	for i, f := range s.Frames[1:min(3, len(s.Frames))] {
		if i == 0 {
			b.WriteString("  from")
		}
		fmt.Fprintf(&b, " %s:%d", f.Match.QualifiedName, f.Line)
	}
	b.WriteByte('\n')
	return b.String(), nil
}

// caller is a frame further out: the call, its guards, where what it uses comes
// from, and what else is known of statements on the way.
func caller(v *flow.View, call *ir.Stmt, known map[*ir.Stmt]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "called from %s  %s:%s\n", flow.Name(v.Decl), v.File.Source.Path, v.Range())
	if call == nil {
		return b.String()
	}
	in := v.Holders()
	shown := func(s *ir.Stmt) *ir.Stmt {
		if h := in[s]; h != nil {
			return h
		}
		return s
	}
	rows := map[*ir.Stmt]string{}
	for _, g := range v.Graph.Guards(call) {
		rows[shown(g.Header)] = strings.ToUpper(string(g.Role[:1]))
	}
	var params []string
	for _, d := range v.Chains.Reaching(call) {
		switch {
		case d.Kind == ir.DefParam:
			params = append(params, v.PlaceName(d.Place))
		case d.Stmt != nil && rows[shown(d.Stmt)] == "":
			rows[shown(d.Stmt)] = "defines " + v.PlaceName(d.Place)
		}
	}
	for _, s := range v.Func.Stmts {
		if note := known[s]; note != "" {
			rows[shown(s)] = strings.TrimPrefix(rows[shown(s)]+", "+note, ", ")
		}
	}
	rows[shown(call)] = "<== call"
	if len(params) > 0 {
		rows[shown(call)] += "  parameter: " + strings.Join(params, ", ")
	}
	for _, st := range v.Func.Stmts {
		if note, ok := rows[st]; ok {
			fmt.Fprintf(&b, "%d %s  %s\n", st.Line, oneLine(v.File.Source.Text(st.Span), 100), note)
		}
	}
	return b.String()
}

// oneLine is a text on one line of at most n bytes.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(flow.Printable(s)), " ")
	if short := flow.Cut(s, n); short != s {
		return short + "..."
	}
	return s
}

// resolve finds the one function that a reference means.
func (t *tree) resolve(ctx context.Context, ref string) (*flow.View, error) {
	ref = strings.TrimSpace(ref)
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	if ref == "" {
		if last == "" {
			return nil, wrong("expected a function, such as Class.method or path.py:name")
		}
		ref = last
	}
	if last != "" {
		if _, name := splitID(last); name == ref || strings.HasSuffix(name, "."+ref) || strings.HasSuffix(name, "::"+ref) {
			ref = last // a bare name means the function shown last
		}
	}
	if v, err := t.exact(ctx, ref); v != nil || err != nil {
		return v, err
	}
	results, err := t.loc.FindAll(ctx, ref)
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, wrong("expected a function, such as Class.method or path.py:name")
	}
	r := results[0]
	switch r.Kind {
	case locate.One:
		v, err := t.viewOf(ctx, r.Matches[0])
		if v == nil && err == nil {
			err = notFound("no function %s any more", r.Matches[0].ID())
		}
		return v, err
	case locate.Ambiguous:
		if r.Clear {
			return t.viewOf(ctx, r.Matches[0])
		}
		var names []string
		for _, m := range r.Matches[:min(6, len(r.Matches))] {
			names = append(names, m.ID())
		}
		return nil, wrong("%s is ambiguous; say which: %s", ref, strings.Join(names, ", "))
	case locate.Outline:
		return t.viewOf(ctx, *r.Of)
	case locate.Frames:
		for _, f := range r.Frames {
			if f.Match != nil {
				return t.viewOf(ctx, *f.Match)
			}
		}
	}
	return nil, notFound("%s", strings.TrimRight(unknownText(r), "\n"))
}

// exact finds path:name without the index.
func (t *tree) exact(ctx context.Context, ref string) (*flow.View, error) {
	path, name := splitID(ref)
	if path == "" || isNumber(name) {
		return nil, nil
	}
	rel, ok := t.fs.Rel(path)
	if !ok {
		return nil, nil
	}
	if _, err := t.fs.Stat(rel); err != nil {
		return nil, nil
	}
	f, err := t.work(ctx, rel)
	if err != nil || f == nil {
		return nil, nil //nolint:nilerr // the locator says what is wrong with the path
	}
	return view(f, strings.TrimSuffix(name, "()")), nil
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// sorted gives the keys of a set in order.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
