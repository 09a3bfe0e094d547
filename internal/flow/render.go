package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"flowplan/internal/cfg"
	"flowplan/internal/dataflow"
	"flowplan/internal/ir"
)

// Budget is how many tokens the view of one function may take when nobody
// asked for more.
const Budget = 2400

// Options say what of a function is shown.
type Options struct {
	DFG    bool
	Focus  int  // a line: only what can reach it or be reached from it in full; 0: everything
	Full   bool // nothing is left out, whatever it takes
	Mark   int  // a line to point out, of a crash; 0: none
	Budget int  // 0: Budget
}

// Render is the view of a function as an agent reads it: a line that says what
// it is, then one line a statement in source order. A statement prints its own
// bytes. Behind it stand the edges that do not simply go to the next line
// shown, or, in a data-flow view, where its uses come from and its definitions
// go.
func Render(v *View, o Options) string {
	if o.Budget == 0 {
		o.Budget = Budget
	}
	r := &renderer{v: v, o: o}
	r.layout()
	r.choose()
	return r.text()
}

// row is one statement on its way into the view.
type row struct {
	s      *ir.Stmt
	depth  int
	plain  bool // a run of such rows may be collapsed
	hidden bool
	short  bool // its text is cut to one line
	folded int  // statements below it that are hidden with it
}

type renderer struct {
	v    *View
	o    Options
	rows []row
	in   map[*ir.Stmt]*ir.Stmt // View.Holders
	note string
	out  map[string][]cfg.Edge // the edges of each block
	uses map[*ir.Stmt][]dataflow.Pair
	defs map[*ir.Stmt][]dataflow.Pair
}

// layout makes a row of every statement.
func (r *renderer) layout() {
	depth := map[*ir.Stmt]int{}
	r.v.Func.Walk(func(s *ir.Stmt, d int) { depth[s] = d })
	r.in = r.v.Holders()
	r.out = map[string][]cfg.Edge{}
	for _, e := range r.v.Graph.Edges {
		r.out[e.From] = append(r.out[e.From], e)
	}
	r.uses, r.defs = map[*ir.Stmt][]dataflow.Pair{}, map[*ir.Stmt][]dataflow.Pair{}
	for _, s := range r.v.Func.Stmts {
		if r.in[s] == nil {
			r.rows = append(r.rows, row{s: s, depth: depth[s], plain: !significant(s) && s.Kind != ir.KindAssert})
		}
	}
	for _, p := range r.v.Chains.Pairs {
		r.uses[r.shown(p.Use)] = append(r.uses[r.shown(p.Use)], p)
		r.defs[r.shown(p.Def.Stmt)] = append(r.defs[r.shown(p.Def.Stmt)], p)
	}
}

// shown is the statement whose row shows a statement.
func (r *renderer) shown(s *ir.Stmt) *ir.Stmt {
	if h := r.in[s]; h != nil {
		return h
	}
	return s
}

// label is what names a row: its line, with a letter where another block begins
// on the same one.
func (r *renderer) label(s *ir.Stmt) string {
	g := r.v.Graph
	if blk := g.Blocks[g.BlockOf[s.ID-1]]; blk.First() == s {
		return blk.ID
	}
	return strconv.Itoa(s.Line)
}

// choose hides rows until the view is within its budget: first what the focus
// does not concern, then straight-line runs, long texts, and last the bodies
// of the deepest constructs.
func (r *renderer) choose() {
	if r.o.Focus > 0 {
		r.focus()
	}
	if r.o.Full || r.fits() {
		return
	}
	left := 0
	for i := range r.rows {
		if len(r.rows[i].s.Text) > 120 || r.rows[i].s.EndLine > r.rows[i].s.Line+1 {
			r.rows[i].short = true
		}
	}
	if r.fits() {
		r.note = "long statements cut"
		return
	}
	for i := range r.rows {
		if r.rows[i].plain && !r.near(r.rows[i].s) && !r.rows[i].hidden {
			r.rows[i].hidden = true
			left++
		}
	}
	r.note = fmt.Sprintf("%d straight-line statements left out", left)
	if r.fits() {
		return
	}
	for i := range r.rows {
		r.rows[i].short = true
	}
	for d := r.maxDepth() - 1; d >= 0 && !r.fits(); d-- {
		r.foldBelow(d)
		r.note = fmt.Sprintf("everything nested deeper than %d left out", d)
	}
	if !r.fits() {
		r.cutTail()
	}
}

// near reports whether a statement is close to the focus or the mark.
func (r *renderer) near(s *ir.Stmt) bool {
	for _, line := range []int{r.o.Focus, r.o.Mark} {
		if line > 0 && s.Line >= line-4 && s.Line <= line+4 {
			return true
		}
	}
	return false
}

func (r *renderer) maxDepth() int {
	d := 0
	for _, row := range r.rows {
		d = max(d, row.depth)
	}
	return d
}

// foldBelow hides what is nested deeper than d under its header.
func (r *renderer) foldBelow(d int) {
	header := -1
	for i := range r.rows {
		switch {
		case r.rows[i].depth <= d:
			header = i
			r.rows[i].folded = 0
		case !r.near(r.rows[i].s):
			r.rows[i].hidden = true
			if header >= 0 {
				r.rows[header].folded++
			}
		}
	}
}

// cutTail hides the rows furthest from the focus, else from the mark, else from
// the start, until the rest
// fits: the last resort for functions with hundreds of headers at one depth.
func (r *renderer) cutTail() {
	at := r.o.Focus
	if at == 0 {
		at = r.o.Mark
	}
	centre := 0
	for i, row := range r.rows {
		if at > 0 && row.s.Line <= at {
			centre = i
		}
	}
	lo, hi := 0, len(r.rows)
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if r.withinRadius(centre, mid); r.fits() {
			lo = mid
		} else {
			hi = mid
		}
	}
	r.withinRadius(centre, lo)
	r.note = fmt.Sprintf("only %d statements around line %d shown", lo, r.rows[centre].s.Line)
}

func (r *renderer) withinRadius(centre, radius int) {
	for i := range r.rows {
		far := i < centre-radius || i > centre+radius
		r.rows[i].hidden = (far || r.rows[i].plain) && !r.near(r.rows[i].s)
		r.rows[i].folded = 0
	}
}

// focus hides what neither reaches the focus nor is reached from it: along
// the graph, or in a data-flow view along the pairs.
func (r *renderer) focus() {
	s := r.v.Nearest(r.o.Focus)
	if s == nil {
		return
	}
	keep := map[*ir.Stmt]bool{s: true}
	if r.o.DFG {
		r.v.slice(s, keep)
	} else {
		r.v.paths(s, keep)
	}
	hidden := 0
	for i := range r.rows {
		if !keep[r.rows[i].s] {
			r.rows[i].hidden = true
			hidden++
		}
	}
	if hidden > 0 {
		r.note = fmt.Sprintf("focus %d: %d unrelated statements left out", s.Line, hidden)
	}
}

// paths adds what control can pass before or after a statement.
func (v *View) paths(s *ir.Stmt, keep map[*ir.Stmt]bool) {
	for _, forward := range []bool{true, false} {
		seen := map[int]bool{}
		work := append([]int(nil), v.Graph.Instances[s.ID-1]...)
		for len(work) > 0 {
			p := &v.Graph.Points[work[len(work)-1]]
			work = work[:len(work)-1]
			if p.Stmt != nil {
				keep[p.Stmt] = true
			}
			arcs := p.Out
			if !forward {
				arcs = p.In
			}
			for _, a := range arcs {
				if !a.Virtual && !seen[a.To] {
					seen[a.To] = true
					work = append(work, a.To)
				}
			}
		}
	}
}

// slice adds what feeds a statement and what it feeds, along def-use pairs,
// and the conditions that decide whether it runs.
func (v *View) slice(s *ir.Stmt, keep map[*ir.Stmt]bool) {
	for _, g := range v.Graph.Guards(s) {
		keep[g.Header] = true
	}
	for _, forward := range []bool{true, false} {
		work := []*ir.Stmt{s}
		seen := map[*ir.Stmt]bool{s: true}
		for len(work) > 0 {
			at := work[len(work)-1]
			work = work[:len(work)-1]
			keep[at] = true
			for _, p := range v.Chains.Pairs {
				from, to := p.Def.Stmt, p.Use
				if !forward {
					from, to = to, from
				}
				if from == at && to != nil && !seen[to] {
					seen[to] = true
					work = append(work, to)
				}
			}
		}
	}
}

func (r *renderer) fits() bool { return Tokens(r.text()) <= r.o.Budget }

func (r *renderer) text() string {
	var b strings.Builder
	b.WriteString(r.header())
	for i := 0; i < len(r.rows); i++ {
		if !r.rows[i].hidden {
			b.WriteString(r.line(i))
			continue
		}
		if i > 0 && r.rows[i-1].folded > 0 && r.rows[i-1].depth < r.rows[i].depth {
			for i+1 < len(r.rows) && r.rows[i+1].hidden {
				i++
			}
			continue
		}
		from, n := r.rows[i].s.Line, 1
		for i+1 < len(r.rows) && r.rows[i+1].hidden {
			i++
			n++
		}
		fmt.Fprintf(&b, "%s ... %d\n", lines(from, r.rows[i].s.EndLine), n)
	}
	if r.note != "" {
		fmt.Fprintf(&b, "(%s; focus=LINE or detail=full shows more)\n", r.note)
	}
	return b.String()
}

func lines(from, to int) string {
	if from == to {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

// header is the line that says what is shown.
func (r *renderer) header() string {
	v := r.v
	var b strings.Builder
	b.WriteString(Name(v.Decl))
	if k := v.Func.Kind; k != ir.FuncModule && k != ir.FuncClass {
		names := make([]string, len(v.Func.Params))
		for i, p := range v.Func.Params {
			names[i] = p.Name
		}
		b.WriteString("(" + strings.Join(names, ", ") + ")")
	}
	kind := "cfg"
	if r.o.DFG {
		kind = "dfg"
	}
	fmt.Fprintf(&b, " %s:%s %s\n", v.File.Source.Path, v.Range(), kind)
	for _, e := range v.ParseErrors() {
		fmt.Fprintf(&b, "unreadable: lines %s\n", lines(v.File.Source.Line(e.Start), v.File.Source.LastLine(e)))
	}
	return b.String()
}

// line is one statement with its edges or pairs.
func (r *renderer) line(i int) string {
	row := &r.rows[i]
	s := row.s
	text := Printable(r.v.File.Source.Text(s.Span))
	if s.Kind == ir.KindOpaque {
		text = "?? " + text
	}
	if row.short || s.Kind == ir.KindOpaque {
		text = cutText(text)
	}
	var b strings.Builder
	label := strconv.Itoa(s.Line)
	if !r.o.DFG {
		label = r.label(s)
	}
	b.WriteString(label + " " + text)
	var notes []string
	if row.folded > 0 {
		notes = append(notes, fmt.Sprintf("{%d}", row.folded))
	}
	if r.o.DFG {
		notes = append(notes, r.pairNotes(s)...)
	} else {
		notes = append(notes, r.edgeNotes(i)...)
	}
	if s.Reason != "" {
		notes = append(notes, "unreadable: "+s.Reason)
	}
	if r.o.Mark == s.Line {
		notes = append(notes, "<== here")
		if !r.o.DFG { // what went wrong there began where its operands come from
			notes = append(notes, r.useNotes(s)...)
		}
	}
	if len(notes) > 0 {
		b.WriteByte('\t') // the cheapest that is no part of the statement
		b.WriteString(strings.Join(notes, " "))
	}
	b.WriteByte('\n')
	return b.String()
}

// cutText keeps the first line of a text, and of that no more than 100 bytes.
func cutText(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if short := Cut(first, 100); short != text {
		return short + " ..."
	}
	return text
}

// Cut is the beginning of a text, of at most n bytes and whole characters.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// edgeNotes lists the edges out of a statement that do not simply go to the
// next line shown.
func (r *renderer) edgeNotes(i int) []string {
	s := r.rows[i].s
	g := r.v.Graph
	blk := g.Blocks[g.BlockOf[s.ID-1]]
	var next *ir.Stmt
	for j := i + 1; j < len(r.rows); j++ {
		if !r.rows[j].hidden {
			next = r.rows[j].s
			break
		}
		if r.rows[i].folded == 0 { // a collapsed run stands for its first statement
			next = r.rows[j].s
			break
		}
	}
	var notes []string
	if blk.Dead && (i == 0 || g.BlockOf[r.rows[i-1].s.ID-1] != g.BlockOf[s.ID-1]) {
		notes = append(notes, "dead")
	}
	if s != blk.Last() {
		for k, t := range blk.Stmts {
			if t == s && r.shown(blk.Stmts[k+1]) != next {
				notes = append(notes, "->"+strconv.Itoa(blk.Stmts[k+1].Line))
			}
		}
		return notes
	}
	for _, e := range r.out[blk.ID] {
		if n := edgeNote(s, r.toRow(e), next); n != "" {
			notes = append(notes, n)
		}
	}
	if len(r.out[blk.ID]) == 0 {
		notes = append(notes, "ends") // a call that does not come back
	}
	return append(notes, r.heldNotes(s)...)
}

// toRow is an edge as the rows show it: to a header instead of to what its text
// holds.
func (r *renderer) toRow(e cfg.Edge) cfg.Edge {
	h := r.in[e.ToStmt]
	if h == nil {
		return e
	}
	e.ToStmt, e.To = h, r.label(h)
	if e.Role == cfg.Next && e.FromStmt != nil && e.FromStmt.Line > h.Line {
		e.Role = cfg.Loop
	}
	return e
}

// heldNotes lists the edges out of what a header's text holds, but for those
// that stay there.
func (r *renderer) heldNotes(header *ir.Stmt) []string {
	var notes []string
	g := r.v.Graph
	for s, h := range r.in {
		blk := g.Blocks[g.BlockOf[s.ID-1]]
		if h != header || blk.Last() != s {
			continue
		}
		for _, e := range r.out[blk.ID] {
			if r.shown(e.ToStmt) != header {
				if n := edgeNote(s, r.toRow(e), nil); n != "" && !slices.Contains(notes, n) {
					notes = append(notes, n)
				}
			}
		}
	}
	slices.Sort(notes)
	return notes
}

// edgeNote is the text of one edge, "" where it goes without saying.
func edgeNote(s *ir.Stmt, e cfg.Edge, next *ir.Stmt) string {
	onward := e.ToStmt != nil && e.ToStmt == next
	to := e.To
	switch e.Role {
	case cfg.Next:
		switch {
		case onward:
			return ""
		case to == cfg.ExitName:
			return "exit"
		}
		return "->" + to
	case cfg.True, cfg.Iter:
		if onward {
			return ""
		}
		return "T:" + to
	case cfg.False, cfg.Done:
		if s.Kind == ir.KindAssert && to == cfg.RaiseName {
			return ""
		}
		return "F:" + to
	case cfg.Return:
		switch {
		case to != cfg.ExitName:
			return "->" + to
		case s.Kind == ir.KindReturn:
			return ""
		}
		return "return"
	case cfg.Raise:
		switch {
		case s.Kind == ir.KindHandler:
			return "F:" + to
		case to != cfg.RaiseName:
			return "raise:" + to
		case s.Kind == ir.KindRaise:
			return ""
		}
		return "raise"
	case cfg.Break, cfg.Continue, cfg.Goto, cfg.Fallthrough:
		return "->" + to
	case cfg.Exception:
		return "exc:" + to
	case cfg.Case:
		if onward {
			return ""
		}
		return "case:" + to
	}
	return string(e.Role) + ":" + to
}

// pairNotes lists where a statement's uses come from and where its definitions
// go. A question mark stands at what only may be defined.
func (r *renderer) pairNotes(s *ir.Stmt) []string {
	return append(r.useNotes(s), r.defNotes(s)...)
}

func (r *renderer) useNotes(s *ir.Stmt) []string {
	uses := slices.Clone(r.uses[s])
	slices.SortStableFunc(uses, func(a, b dataflow.Pair) int {
		return cmp.Or(cmp.Compare(a.Def.Place.Var, b.Def.Place.Var), cmp.Compare(a.Def.Place.Path, b.Def.Place.Path), cmp.Compare(a.Def.Line, b.Def.Line))
	})
	var notes noteList
	for _, p := range uses {
		notes.add("<"+r.v.PlaceName(p.Def.Place)+":", defLabel(p.Def.Stmt, p.Def.Line, p.Def.Kind, p.Def.May))
	}
	return sameSource(notes.texts())
}

// noteList gathers notes of one kind: labels behind the same key are joined,
// each said once.
type noteList struct {
	keys   []string
	labels map[string][]string
}

func (l *noteList) add(key, label string) {
	if l.labels == nil {
		l.labels = map[string][]string{}
	}
	if l.labels[key] == nil {
		l.keys = append(l.keys, key)
	}
	if !slices.Contains(l.labels[key], label) {
		l.labels[key] = append(l.labels[key], label)
	}
}

func (l *noteList) texts() []string {
	var out []string
	for _, k := range l.keys {
		out = append(out, k+strings.Join(l.labels[k], ","))
	}
	return out
}

func (r *renderer) defNotes(s *ir.Stmt) []string {
	defs := slices.Clone(r.defs[s])
	slices.SortStableFunc(defs, func(a, b dataflow.Pair) int {
		return cmp.Or(cmp.Compare(a.Def.Order, b.Def.Order), cmp.Compare(a.Use.ID, b.Use.ID))
	})
	one := true
	for _, p := range defs {
		one = one && r.v.PlaceName(p.Def.Place) == r.v.PlaceName(defs[0].Def.Place)
	}
	var notes noteList
	for _, p := range defs {
		key := ">"
		if !one {
			key += r.v.PlaceName(p.Def.Place) + ":"
		}
		notes.add(key, strconv.Itoa(p.Use.Line))
	}
	return notes.texts()
}

// sameSource joins the places that come from the same lines: `<a:12 <b:12`
// becomes `<a,b:12`.
func sameSource(notes []string) []string {
	var out []string
	var last string
	for _, n := range notes {
		i := strings.LastIndexByte(n, ':')
		if lines := n[i:]; len(out) > 0 && lines == last {
			out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], last) + "," + n[1:]
		} else {
			out, last = append(out, n), lines
		}
	}
	return out
}

func defLabel(s *ir.Stmt, line int, kind ir.DefKind, may bool) string {
	label := strconv.Itoa(line)
	switch kind {
	case ir.DefUnbound:
		label = "unbound"
	case ir.DefCapture:
		label = "outside"
	}
	if may {
		label += "?"
	}
	return label
}

// Printable replaces what must not reach a terminal or a log: control
// characters other than line breaks and tabs, and bytes that are no UTF-8.
func Printable(s string) string {
	clean := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\t':
			return c
		case c == '\r':
			return -1
		case c < ' ', c >= 0x7f && c < 0xa0, c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069, c == utf8.RuneError:
			return '\uFFFD'
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
