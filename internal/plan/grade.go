package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/ir"
)

// Grade is how well an observed change fits a planned delta.
type Grade string

const (
	Exact      Grade = "exact"
	SameFamily Grade = "same_family"
	Mismatch   Grade = "mismatch"
	Unknown    Grade = "unknown"
)

// OK reports whether a grade confirms the delta.
func (g Grade) OK() bool { return g == Exact || g == SameFamily }

// Planned is a planned delta with its anchors found in HEAD.
type Planned struct {
	Delta
	Kind        delta.Kind
	Anchor      *ir.Stmt // in HEAD; nil: none given, the whole function
	AtSignature bool     // the anchor is the def line or a decorator
	Cond        *ir.Cond // nil: none given, or it does not parse
	Def, Use    *ir.Stmt // of a planned pair, in HEAD; nil: not known
	Variable    string   // of a planned pair
}

// Result is the grade of one planned delta.
type Result struct {
	Grade    Grade
	Reason   string // one short line, "" for exact
	Observed []*delta.Op
	Data     []*delta.DataOp
}

// Report is the grading of one function.
type Report struct {
	Results   []Result
	Unplanned []*delta.Op // structural operations that no planned delta covers
}

// The worth of the possible pairings; what is left below separates ties.
const (
	worthExact  = 1e6
	worthFamily = 1e3
)

// fit is a possible pairing of a planned delta with an observed operation.
type fit struct {
	grade  Grade
	reason string
	worth  float64
}

// GradeFunction compares the planned deltas of one function with what was
// observed there. Structural operations are matched one to one, the best total
// first; a plan may name an operation or its parts.
func GradeFunction(planned []Planned, d *delta.Delta) *Report {
	g := &grader{d: d, planned: planned}
	for _, o := range d.Ops {
		g.collect(o, nil)
	}
	r := &Report{Results: make([]Result, len(planned))}
	matched := g.match()
	covered := map[*delta.Op]bool{}
	for i := range planned {
		r.Results[i] = g.result(i, matched[i])
		for _, o := range r.Results[i].Observed {
			covered[g.root(o)] = true
		}
	}
	g.pairs(r, covered)
	for i := range r.Results {
		switch r.Results[i].Grade {
		case Mismatch:
			g.unreadable(&r.Results[i], planned[i])
		case Exact, SameFamily:
			g.doubtful(&r.Results[i])
		}
	}
	for _, o := range d.Ops {
		if o.Kind.Structural() && !covered[o] && !g.explained(o, r) {
			r.Unplanned = append(r.Unplanned, o)
		}
	}
	return r
}

type grader struct {
	d       *delta.Delta
	planned []Planned
	ops     []*delta.Op // all observed, parts behind their wholes
	parent  []*delta.Op // the whole that ops[i] is a part of
}

func (g *grader) collect(o, parent *delta.Op) {
	g.ops = append(g.ops, o)
	g.parent = append(g.parent, parent)
	for _, p := range o.Parts {
		g.collect(p, o)
	}
}

// root is the outermost operation that o belongs to.
func (g *grader) root(o *delta.Op) *delta.Op {
	for i := range g.ops {
		if g.ops[i] == o && g.parent[i] != nil {
			return g.root(g.parent[i])
		}
	}
	return o
}

// match assigns operations to planned deltas so that the total worth is the
// greatest. It gives the index of the operation for each delta, -1 for none.
// Content may serve several deltas; a structural operation serves one.
func (g *grader) match() []int {
	out := make([]int, len(g.planned))
	for i := range out {
		out[i] = -1
	}
	var rows []int
	type column struct {
		op     int
		shared bool // a copy, for content alone
	}
	var cols []column
	weight := map[[2]int]float64{}
	for i, p := range g.planned {
		if p.Kind.Data() || !bodyOperation(p.Kind) {
			continue
		}
		rows = append(rows, i)
		for j := range g.ops {
			if f := g.fit(p, j); f.grade.OK() {
				weight[[2]int{i, j}] = f.worth
			}
		}
	}
	for j, o := range g.ops {
		cols = append(cols, column{op: j})
		// Enough copies for every delta of content, and for the two ends of a
		// statement that moved: gone from one block, come into another.
		if shared := o.Kind == delta.RewireEdge; shared || !o.Kind.Structural() {
			for range len(rows) - 1 {
				cols = append(cols, column{j, shared})
			}
		}
	}
	for r, c := range assign(len(rows), len(cols), func(r, c int) float64 {
		if cols[c].shared && g.planned[rows[r]].Kind != delta.ChangeBlock {
			return 0
		}
		return weight[[2]int{rows[r], cols[c].op}]
	}) {
		if c >= 0 {
			out[rows[r]] = cols[c].op
		}
	}
	return out
}

// bodyOperation reports whether an operation is graded by what was observed in
// the body or signature; function-level ones are the engine's.
func bodyOperation(k delta.Kind) bool {
	return k != delta.AddFunction && k != delta.RemoveFunction && k != delta.RenameFunction
}

func (g *grader) result(i, op int) Result {
	p := g.planned[i]
	if p.Kind.Data() {
		return g.data(p)
	}
	if !bodyOperation(p.Kind) {
		return Result{Grade: Unknown, Reason: "a whole function is graded by the file"}
	}
	if op < 0 && p.Kind == delta.NoFlowChange && g.d.Empty() && g.d.Head.TextForm() != g.d.Work.TextForm() {
		return Result{Grade: Exact} // laid out anew, such as an else after a return taken away: no operation, and that was the plan
	}
	if op < 0 {
		return Result{Grade: Mismatch, Reason: g.observedText()}
	}
	f := g.fit(p, op)
	res := Result{Grade: f.grade, Reason: f.reason, Observed: []*delta.Op{g.ops[op]}}
	return res
}

// fit judges one planned delta against one observed operation.
func (g *grader) fit(p Planned, j int) fit {
	o := g.ops[j]
	inside := g.inRegion(p, j)
	near := g.distance(p, o)
	tie := -near
	if g.parent[j] != nil {
		tie -= 0.25 // a whole rather than its part
	}
	if g.same(p, o) {
		sameCond, given := sameCondition(p, o)
		switch {
		case !inside:
			if p.Kind == delta.NoFlowChange {
				return fit{}
			}
			return fit{SameFamily, "elsewhere in the function: " + where(o), worthFamily + 100 + tie}
		case given && !sameCond:
			_, text := o.Cond()
			reason := "another condition"
			if text != "" {
				reason = "another condition: " + text
			}
			return fit{SameFamily, reason, worthFamily + 300 + tie}
		case p.Kind == delta.NoFlowChange && g.structuralIn(o):
			return fit{SameFamily, "the flow of the block changes too", worthFamily + 300 + tie}
		}
		bonus := 0.0
		if given {
			bonus = 100
		}
		if o.Kind == p.Kind {
			bonus += 50
		}
		return fit{Exact, "", worthExact + bonus + tie}
	}
	if !inside {
		return fit{}
	}
	if g.parent[j] != nil && (o.Kind == delta.RewireEdge || o.Kind == delta.ChangeBlock) {
		return fit{} // what only fills another operation is no sign of this one
	}
	if o.Kind == delta.ChangeBlock && g.undone(p) {
		return fit{}
	}
	row, _, _ := Lookup(string(p.Kind))
	for _, a := range row.Accepts {
		if a.Kind == o.Kind && (a.When == nil || a.When(o, g.d, p.Anchor)) {
			worth := worthFamily + tie
			if ok, given := sameCondition(p, o); ok && given {
				worth += 200
			}
			return fit{SameFamily, "observed " + describe(o), worth}
		}
	}
	return fit{}
}

// undone reports whether the opposite of what was planned was observed at its
// place: what the statements there became is no sign of it then.
func (g *grader) undone(p Planned) bool {
	kind := strings.NewReplacer("branch", "guard").Replace(string(p.Kind))
	for j, o := range g.ops {
		seen := strings.NewReplacer("branch", "guard").Replace(string(o.Kind))
		add, ok := strings.CutPrefix(kind, "add_")
		if ok && seen == "remove_"+add && g.inRegion(p, j) {
			return true
		}
		gone, ok := strings.CutPrefix(kind, "remove_")
		if ok && seen == "add_"+gone && g.inRegion(p, j) {
			return true
		}
	}
	return false
}

// same reports whether an observed operation is the planned one: guards and
// branches stand for each other, and so do change_block and no_flow_change.
func (g *grader) same(p Planned, o *delta.Op) bool {
	alias := func(k delta.Kind) delta.Kind {
		switch k {
		case delta.AddBranch:
			return delta.AddGuard
		case delta.RemoveBranch:
			return delta.RemoveGuard
		case delta.NoFlowChange:
			return delta.ChangeBlock
		}
		return k
	}
	if p.Kind == delta.ChangeBlock && p.AtSignature && o.Kind == delta.ChangeSignature {
		return true
	}
	return alias(p.Kind) == alias(o.Kind)
}

// inRegion reports whether a planned anchor lies in the HEAD region of an
// operation; one that was not given lies everywhere.
func (g *grader) inRegion(p Planned, j int) bool {
	o := g.ops[j]
	if o.Kind == delta.ChangeSignature {
		return p.AtSignature || p.Anchor == nil
	}
	if p.AtSignature {
		// the def line stands for the beginning of the body
		return len(g.d.Head.Func.Stmts) == 0 || slices.Contains(o.Head.Region, g.d.Head.Func.Stmts[0])
	}
	if p.Anchor == nil {
		return true
	}
	return slices.Contains(o.Head.Region, p.Anchor)
}

// distance is how many lines lie between a planned anchor and an operation.
func (g *grader) distance(p Planned, o *delta.Op) float64 {
	if p.Anchor == nil || o.Head.Anchor == nil {
		return 0
	}
	return math.Min(90, math.Abs(float64(p.Anchor.Line-o.Head.Anchor.Line))/100)
}

// structuralIn reports whether a structural operation touches the block of a
// content change.
func (g *grader) structuralIn(o *delta.Op) bool {
	for _, other := range g.d.Ops {
		if !other.Kind.Structural() {
			continue
		}
		for _, s := range o.Head.Stmts {
			for _, t := range other.Head.Stmts {
				if g.d.Head.Graph.BlockOf[s.ID-1] == g.d.Head.Graph.BlockOf[t.ID-1] {
					return true
				}
			}
		}
		for _, s := range o.Work.Stmts {
			for _, t := range other.Work.Stmts {
				if g.d.Work.Graph.BlockOf[s.ID-1] == g.d.Work.Graph.BlockOf[t.ID-1] {
					return true
				}
			}
		}
	}
	return false
}

// sameCondition compares a planned condition with an observed one; given is
// false when there is nothing to compare.
func sameCondition(p Planned, o *delta.Op) (same, given bool) {
	cond, text := o.Cond()
	if p.Condition == "" {
		return true, false
	}
	if cond == nil && text == "" {
		return false, o.Kind.Structural() // an else or a finally has no condition to be the planned one
	}
	if p.Cond == nil && p.Condition != "" && !header(o) {
		return true, false // it does not parse: said when it was planned
	}
	sides := []delta.Side{o.Work, o.Head}
	switch o.Kind {
	case delta.RemoveGuard, delta.RemoveBranch, delta.RemoveLoop, delta.RemoveHandler:
		sides = []delta.Side{o.Head}
	case delta.ChangeCondition, delta.AddGuard, delta.AddBranch, delta.AddLoop, delta.AddHandler:
		sides = []delta.Side{o.Work}
	}
	for _, s := range sides {
		if p.Cond != nil && s.Cond != nil && (p.Cond.Equal(s.Cond) || p.Cond.Opposite(s.Cond)) {
			return true, true
		}
		if s.Text != "" && (squeeze(s.Text) == squeeze(p.Condition) || header(o) && mentions(s.Text, p.Condition)) {
			return true, true
		}
	}
	return false, true
}

// header reports whether an operation is about something that is no condition:
// an exception type, a resource, a foreach.
func header(o *delta.Op) bool {
	switch o.Kind {
	case delta.AddHandler, delta.RemoveHandler, delta.ChangeHandler, delta.AddLoop, delta.RemoveLoop:
		return true
	}
	return isLoop(o.Work.Anchor) || isLoop(o.Head.Anchor)
}

// squeeze drops white space, a leading keyword and a trailing colon.
func squeeze(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), ":")
	for _, k := range []string{"async ", "for ", "while ", "except ", "with ", "case ", "if ", "elif "} {
		s = strings.TrimPrefix(s, k)
	}
	return strings.Join(strings.Fields(s), "")
}

// mentions reports whether a header's text holds everything that was planned.
func mentions(text, planned string) bool {
	have := map[string]bool{}
	split := func(r rune) bool {
		return !(r == '_' || r == '.' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}
	for _, w := range strings.FieldsFunc(text, split) {
		have[w] = true
	}
	for _, w := range strings.FieldsFunc(planned, split) {
		switch w {
		case "for", "in", "while", "except", "with", "as", "if", "async", "or":
			continue
		}
		if !have[w] {
			return false
		}
	}
	return true
}

// pairs applies the equivalences of two operations to one: remove X and add X'
// at one place are change_condition or rewire_edge there, either way.
func (g *grader) pairs(r *Report, covered map[*delta.Op]bool) {
	for i, p := range g.planned {
		if r.Results[i].Grade == Exact {
			continue
		}
		switch p.Kind {
		case delta.ChangeCondition, delta.RewireEdge:
			g.twoForOne(r, i, covered)
		}
	}
	for i, p := range g.planned {
		if r.Results[i].Grade != Mismatch {
			continue
		}
		for k, q := range g.planned {
			if k == i || !opposites(p.Kind, q.Kind) {
				continue
			}
			for j, o := range g.ops {
				if (o.Kind == delta.ChangeCondition || o.Kind == delta.RewireEdge) && g.inRegion(p, j) && g.inRegion(q, j) {
					grade, reason := Exact, ""
					if p.Kind == delta.AddGuard || p.Kind == delta.AddBranch {
						if same, given := sameCondition(p, o); given && !same {
							grade, reason = SameFamily, "another condition"
						}
					}
					r.Results[i] = Result{Grade: grade, Reason: reason, Observed: []*delta.Op{o}}
					covered[g.root(o)] = true
				}
			}
		}
	}
}

// twoForOne lets one planned change_condition or rewire_edge cover an observed
// removal and addition at its place.
func (g *grader) twoForOne(r *Report, i int, covered map[*delta.Op]bool) {
	p := g.planned[i]
	var gone, fresh *delta.Op
	for j, o := range g.ops {
		if g.parent[j] != nil || covered[o] && !slices.Contains(r.Results[i].Observed, o) || !g.inRegion(p, j) {
			continue
		}
		switch o.Kind {
		case delta.RemoveGuard, delta.RemoveBranch:
			gone = o
		case delta.AddGuard, delta.AddBranch:
			if same, given := sameCondition(p, o); fresh == nil || same && given {
				fresh = o
			}
		}
	}
	if gone == nil || fresh == nil {
		return
	}
	grade, reason := Exact, ""
	if same, given := sameCondition(p, fresh); given && !same {
		grade, reason = SameFamily, "another condition: "+fresh.Work.Text
	}
	r.Results[i] = Result{Grade: grade, Reason: reason, Observed: []*delta.Op{gone, fresh}}
	covered[gone], covered[fresh] = true, true
}

func opposites(a, b delta.Kind) bool {
	add := func(k delta.Kind) bool { return k == delta.AddGuard || k == delta.AddBranch }
	remove := func(k delta.Kind) bool { return k == delta.RemoveGuard || k == delta.RemoveBranch }
	return add(a) && remove(b) || remove(a) && add(b)
}

// explained reports whether an unplanned operation follows from a confirmed
// planned pair that has an end in it.
func (g *grader) explained(o *delta.Op, r *Report) bool {
	touches := func(s *ir.Stmt, side []*ir.Stmt) bool { return s != nil && slices.Contains(side, s) }
	for i := range r.Results {
		if !r.Results[i].Grade.OK() {
			continue
		}
		for _, x := range r.Results[i].Data {
			if touches(x.WorkDef, o.Work.Stmts) || touches(x.WorkUse, o.Work.Stmts) || touches(x.HeadDef, o.Head.Stmts) || touches(x.HeadUse, o.Head.Stmts) {
				return true
			}
		}
	}
	return false
}

// doubtful turns a confirmation into unknown where its region holds a
// statement that could not be read: what happened there is not known.
func (g *grader) doubtful(r *Result) {
	for _, o := range r.Observed {
		for _, side := range []delta.Side{o.Head, o.Work} {
			for _, s := range side.Region {
				if s.Reason != "" {
					r.Grade, r.Reason = Unknown, fmt.Sprintf("line %d could not be read", s.Line)
					return
				}
			}
		}
	}
}

// unreadable turns a mismatch into unknown where its region could not be read.
func (g *grader) unreadable(r *Result, p Planned) {
	for _, v := range []struct {
		name string
		line int
	}{{"HEAD", unreadableLine(g.d, true)}, {"the working text", unreadableLine(g.d, false)}} {
		if v.line > 0 {
			r.Grade = Unknown
			r.Reason = fmt.Sprintf("line %d of %s could not be read", v.line, v.name)
		}
	}
}

func unreadableLine(d *delta.Delta, head bool) int {
	v := d.Work
	if head {
		v = d.Head
	}
	for _, s := range v.Func.Stmts {
		if s.Reason != "" {
			return s.Line
		}
	}
	for _, e := range v.ParseErrors() {
		return v.File.Source.Line(e.Start)
	}
	return 0
}

// data grades a planned operation on def-use pairs.
func (g *grader) data(p Planned) Result {
	var family *delta.DataOp
	for _, o := range g.d.Data {
		if p.Variable != "" && !samePlace(p.Variable, o.Place) {
			continue
		}
		ends := (p.Def == nil || o.HeadDef == p.Def || o.WorkDef != nil && g.d.ToHead[o.WorkDef] == p.Def) &&
			(p.Use == nil || o.HeadUse == p.Use || o.WorkUse != nil && g.d.ToHead[o.WorkUse] == p.Use)
		near := p.Anchor == nil || o.HeadDef == p.Anchor || o.HeadUse == p.Anchor ||
			g.d.ToHead[o.WorkDef] == p.Anchor || g.d.ToHead[o.WorkUse] == p.Anchor || g.changedAt(p.Anchor, o)
		if o.Kind == p.Kind && ends && near {
			return Result{Grade: Exact, Data: []*delta.DataOp{o}}
		}
		if p.Variable != "" && family == nil {
			family = o
		}
	}
	if family != nil {
		return Result{Grade: SameFamily, Reason: "observed " + describeData(family), Data: []*delta.DataOp{family}}
	}
	for j, o := range g.ops {
		if o.Kind == delta.ChangeBlock && p.Anchor != nil && g.inRegion(p, j) {
			return Result{Grade: SameFamily, Reason: "observed " + describe(o), Observed: []*delta.Op{o}}
		}
	}
	return Result{Grade: Mismatch, Reason: g.observedText()}
}

// changedAt reports whether an end of a pair lies in an operation whose region
// holds the anchor: new code stands at the HEAD statement next to it.
func (g *grader) changedAt(anchor *ir.Stmt, x *delta.DataOp) bool {
	for _, o := range g.ops {
		if !slices.Contains(o.Head.Region, anchor) {
			continue
		}
		if slices.Contains(o.Work.Stmts, x.WorkDef) || slices.Contains(o.Work.Stmts, x.WorkUse) ||
			slices.Contains(o.Head.Stmts, x.HeadDef) || slices.Contains(o.Head.Stmts, x.HeadUse) {
			return true
		}
	}
	return false
}

func samePlace(planned, observed string) bool {
	rest, ok := strings.CutPrefix(observed, planned)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[*") || strings.HasPrefix(rest, "->"))
}

// observedText lists what was observed, for a mismatch.
func (g *grader) observedText() string {
	var parts []string
	for _, o := range g.d.Ops {
		parts = append(parts, describe(o))
	}
	if len(parts) == 0 {
		if len(g.d.Data) > 0 {
			return "observed " + describeData(g.d.Data[0])
		}
		return "nothing changed here"
	}
	if len(parts) > 4 {
		parts = append(parts[:4], fmt.Sprintf("%d more", len(parts)-4))
	}
	return "observed " + strings.Join(parts, "; ")
}

// Describe is an observed operation in a few words: name, line, condition.
func Describe(o *delta.Op) string { return describe(o) }

func describe(o *delta.Op) string {
	s := string(o.Kind) + " " + where(o)
	if _, text := o.Cond(); text != "" {
		s += " `" + text + "`"
	}
	return strings.TrimSpace(s)
}

func where(o *delta.Op) string {
	switch {
	case o.Work.Anchor != nil:
		return fmt.Sprintf("L%d", o.Work.Anchor.Line)
	case o.Head.Anchor != nil:
		return fmt.Sprintf("HEAD L%d", o.Head.Anchor.Line)
	}
	return ""
}

func describeData(o *delta.DataOp) string {
	end := func(s *ir.Stmt) string {
		if s == nil {
			return "?"
		}
		return fmt.Sprint(s.Line)
	}
	def, use := o.WorkDef, o.WorkUse
	if use == nil {
		def, use = o.HeadDef, o.HeadUse
	}
	return fmt.Sprintf("%s %s@%s->%s", o.Kind, o.Place, end(def), end(use))
}
