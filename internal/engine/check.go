package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/hazard"
	"flowplan/internal/ir"
	"flowplan/internal/ledger"
	"flowplan/internal/plan"
)

// CheckParams are the arguments of flow_check.
type CheckParams struct {
	Function string // "" for all
	Root     string
}

// ReportJSON is the answer of flow_check and flow_verify as JSON.
type ReportJSON struct {
	Verdict      string        `json:"verdict,omitempty"`
	Base         string        `json:"base"`
	Deltas       []GradedJSON  `json:"deltas"`
	UnplannedOps []OpRefJSON   `json:"unplanned_ops"`
	Unplanned    []FunctionRef `json:"unplanned_functions"`
	Hazards      []HazardJSON  `json:"hazards"`
	Outside      []OutsideJSON `json:"outside_functions"`
	Notes        []string      `json:"notes"`
	Tests        []string      `json:"tests"`
	Unparsed     []string      `json:"unparsed"`
	Patch        Patch         `json:"patch"`
}

// GradedJSON is a planned delta with its grade.
type GradedJSON struct {
	plan.Delta
	Grade    string `json:"grade"`
	Reason   string `json:"reason"`
	Observed []any  `json:"observed"`
}

// ObservedJSON is an observed operation in a few fields.
type ObservedJSON struct {
	Op        string `json:"op"`
	HeadLine  *int   `json:"head_line"`
	Line      *int   `json:"line"`
	Condition string `json:"condition"`
}

// OpRefJSON is an unplanned operation.
type OpRefJSON struct {
	Function  string `json:"function"`
	Op        string `json:"op"`
	Line      int    `json:"line"`
	Condition string `json:"condition,omitempty"`
}

// FunctionRef is an unplanned function.
type FunctionRef struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Origin string `json:"origin"`
}

// HazardJSON is a hazard.
type HazardJSON struct {
	Function string `json:"function"`
	Kind     string `json:"kind"`
	Certain  bool   `json:"certain"`
	Line     int    `json:"line"`
	Place    string `json:"place,omitempty"`
}

// OutsideJSON lists changed lines outside functions.
type OutsideJSON struct {
	File  string   `json:"file"`
	Lines [][2]int `json:"lines"`
}

// graded is a planned delta after grading.
type graded struct {
	id     int64 // in the ledger
	rec    record
	head   *flow.View
	work   *flow.View
	result plan.Result
	atHead bool // unknown because HEAD itself could not be read there
}

// report is everything that check and verify find out.
type report struct {
	base      string
	planID    int64
	rows      []graded
	changes   *changeSet
	planned   map[string]bool // HEAD ids of planned functions, and ids of planned new ones
	unplanned []unplannedOp
	hazards   []HazardJSON
	notes     []string
	first     []string // said before everything else: adoption, a closed plan
}

type unplannedOp struct {
	function string
	op       *delta.Op
}

// Check grades planned deltas of one function or of all.
func (e *Engine) Check(ctx context.Context, p CheckParams) (Reply, error) {
	t, err := e.treeOf(ctx, p.Root, []string{p.Function})
	if err != nil {
		return Reply{}, err
	}
	r, err := t.report(ctx)
	if err != nil {
		return Reply{}, err
	}
	if p.Function != "" {
		if err := t.only(ctx, r, p.Function); err != nil {
			return Reply{}, err
		}
	}
	out := r.json(t, p.Function == "")
	grades := map[int64]string{}
	for _, g := range r.rows {
		grades[g.id] = string(g.result.Grade)
	}
	if err := t.led.Graded(ctx, r.planID, ledger.Grading{Grades: grades, Data: out}); err != nil {
		return Reply{}, err
	}
	return t.checkReply(ctx, r, out)
}

func (t *tree) checkReply(ctx context.Context, r *report, out ReportJSON) (Reply, error) {
	var b strings.Builder
	b.WriteString(t.notes(t.e))
	for _, l := range r.first {
		b.WriteString(l + "\n")
	}
	code := 0
	if len(r.rows) == 0 {
		b.WriteString("nothing is planned here; flow_plan states deltas before the edit\n")
	}
	var bad *graded
	for i := range r.rows {
		g := &r.rows[i]
		b.WriteString(g.line(true) + "\n")
		if !g.result.Grade.OK() {
			code = 1
			if bad == nil && g.result.Grade == plan.Mismatch {
				bad = g // an unknown has no other delta to offer
			}
		}
	}
	for _, u := range r.unplanned {
		fmt.Fprintf(&b, "unplanned %s %s\n", u.function, plan.Describe(u.op))
	}
	b.WriteString(r.hazardText())
	if bad != nil {
		b.WriteString(t.waysOut(bad) + "\n")
		again, err := t.repeated(ctx, "check", b.String(), r)
		if err != nil {
			return Reply{}, err
		}
		b.WriteString(again)
	}
	return Reply{Text: b.String(), JSON: out, Code: code}, nil
}

// repeated says, the third time that the same outcome is told of the same
// code, to look elsewhere.
func (t *tree) repeated(ctx context.Context, what, outcome string, r *report) (string, error) {
	key := outcome
	for _, c := range r.changes.functions {
		key += c.id() + c.textHash()
	}
	n, err := t.led.Repeated(ctx, what+fmt.Sprint(r.planID), flowHash(key))
	if err != nil || n < 3 {
		return "", err
	}
	return "the same verdict on the same code for the third time: the fault may be elsewhere; flow_locate again\n", nil
}

// report grades everything that is planned against the work tree.
func (t *tree) report(ctx context.Context) (*report, error) {
	head, err := t.needGit(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.firstCall(ctx); err != nil {
		return nil, err
	}
	cur, err := t.led.Current(ctx, head, true)
	if err != nil {
		return nil, err
	}
	r := &report{base: head.Commit, planned: map[string]bool{}}
	if cur.Adopted {
		r.first = append(r.first, "took over the open plan of a server that ended")
	}
	if cur.Closed != nil {
		r.first = append(r.first, "HEAD moved elsewhere: the plan is closed; flow_plan again")
	}
	var deltas []ledger.Delta
	if cur.Plan != nil {
		r.base, r.planID = cur.Plan.Base, cur.Plan.ID
		if deltas, err = t.led.Deltas(ctx, cur.Plan.ID); err != nil {
			return nil, err
		}
		if cur.Moved == ledger.Descendant {
			r.notes = append(r.notes, "commits were made since the plan: graded from "+short(r.base))
		}
	}
	if r.changes, err = t.changes(ctx, r.base); err != nil {
		return nil, err
	}
	return r, t.grade(ctx, r, deltas)
}

func short(commit string) string {
	if len(commit) > 8 {
		return commit[:8]
	}
	return commit
}

// grade fills the rows of a report, function by function.
func (t *tree) grade(ctx context.Context, r *report, deltas []ledger.Delta) error {
	byFunction := map[string][]int{}
	var order []string
	for _, d := range deltas {
		g := graded{id: d.ID}
		if err := json.Unmarshal(d.Body, &g.rec); err != nil {
			return fmt.Errorf("plan %d: a planned delta cannot be read: %w", r.planID, err)
		}
		if byFunction[g.rec.ID] == nil {
			order = append(order, g.rec.ID)
		}
		byFunction[g.rec.ID] = append(byFunction[g.rec.ID], len(r.rows))
		r.rows = append(r.rows, g)
		r.planned[g.rec.ID] = true
	}
	if err := t.plannedRenames(ctx, r); err != nil {
		return err
	}
	for _, id := range order {
		if err := t.gradeFunction(ctx, r, id, byFunction[id]); err != nil {
			return err
		}
	}
	r.findHazards()
	return nil
}

// plannedRenames pairs functions with the new names that the plan gives them,
// however little of their bodies they kept.
func (t *tree) plannedRenames(ctx context.Context, r *report) error {
	for _, g := range r.rows {
		if delta.Kind(g.rec.Op) != delta.RenameFunction || g.rec.To == "" {
			continue
		}
		head, err := t.headView(ctx, r.base, g.rec.ID)
		if err != nil {
			return err
		}
		if head != nil {
			r.changes.rename(head, g.rec.To)
		}
	}
	return nil
}

func (r *report) changeOf(headID string) *change {
	for _, list := range [][]*change{r.changes.functions, r.changes.outside, r.changes.moved} {
		for _, c := range list {
			if c.head != nil && c.headID() == headID {
				return c
			}
		}
	}
	return nil
}

func (t *tree) gradeFunction(ctx context.Context, r *report, id string, rows []int) error {
	head, err := t.headView(ctx, r.base, id)
	if err != nil {
		return err
	}
	c := r.changeOf(id)
	var planned []plan.Planned
	var body []int
	for _, i := range rows {
		g := &r.rows[i]
		g.head = head
		op, _, _ := plan.Lookup(g.rec.Op)
		switch op.Kind {
		case delta.AddFunction, delta.RemoveFunction, delta.RenameFunction:
			g.result = r.wholeFunction(op.Kind, g.rec, c)
			continue
		}
		planned = append(planned, g.rec.planned(head))
		body = append(body, i)
	}
	if len(body) == 0 {
		return nil
	}
	work, reason, err := t.workOf(ctx, r, id, head, c)
	if err != nil {
		return err
	}
	if work == nil {
		for _, i := range body {
			r.rows[i].result = plan.Result{Grade: plan.Mismatch, Reason: reason}
			if _, broken := r.changes.broken[pathPart(id)]; broken {
				r.rows[i].result.Grade = plan.Unknown
				r.rows[i].result.Reason = fmt.Sprintf("line %d cannot be read", r.changes.broken[pathPart(id)])
			}
		}
		return nil
	}
	d := delta.Diff(head, work)
	if c != nil && c.delta != nil {
		d = c.delta
	}
	res := plan.GradeFunction(planned, d)
	for k, i := range body {
		r.rows[i].work, r.rows[i].result = work, res.Results[k]
		r.rows[i].atHead = res.Results[k].Grade == plan.Unknown && unreadable(head)
	}
	for _, o := range res.Unplanned {
		if !r.movedOut(o) {
			r.unplanned = append(r.unplanned, unplannedOp{work.ID(), o})
		}
	}
	return nil
}

func pathPart(id string) string {
	p, _ := splitID(id)
	return p
}

func unreadable(v *flow.View) bool {
	if len(v.ParseErrors()) > 0 {
		return true
	}
	for _, s := range v.Func.Stmts {
		if s.Reason != "" {
			return true
		}
	}
	return false
}

// workOf finds a planned function in the work tree: as the change that it is,
// else unchanged under its own name.
func (t *tree) workOf(ctx context.Context, r *report, id string, head *flow.View, c *change) (*flow.View, string, error) {
	if head == nil {
		return nil, "the function is not in the base commit", nil
	}
	if c != nil {
		if c.work == nil {
			return nil, "the function is gone", nil
		}
		return c.work, "", nil
	}
	p, name := splitID(id)
	f, err := t.work(ctx, p)
	if err != nil {
		return nil, "", err
	}
	if v := view(f, name); v != nil {
		return v, "", nil
	}
	return nil, "the function is gone", nil
}

// wholeFunction grades the operations on functions as wholes.
func (r *report) wholeFunction(op delta.Kind, rec record, c *change) plan.Result {
	switch op {
	case delta.AddFunction:
		for _, list := range [][]*change{r.changes.functions, r.changes.outside, r.changes.moved} {
			for _, x := range list {
				if x.work != nil && (x.status == added || x.status == renamed) && names(rec.ID, x.work.ID()) {
					return plan.Result{Grade: plan.Exact}
				}
			}
		}
		return plan.Result{Grade: plan.Mismatch, Reason: "no such new function"}
	case delta.RemoveFunction:
		switch {
		case c == nil:
			return plan.Result{Grade: plan.Mismatch, Reason: "it is still there"}
		case c.status == removed:
			return plan.Result{Grade: plan.Exact}
		case c.status == renamed:
			return plan.Result{Grade: plan.SameFamily, Reason: "it goes on as " + c.work.ID()}
		}
		return plan.Result{Grade: plan.Mismatch, Reason: "it is still there"}
	}
	if c == nil || c.status == modified || c.status == textOnly {
		return plan.Result{Grade: plan.Mismatch, Reason: "it still has its name"}
	}
	if c.status == removed {
		// under another name, changed beyond recognition: the plan says where
		for _, x := range r.changes.functions {
			if x.status == added && rec.To != "" && names(rec.To, x.work.ID()) {
				return plan.Result{Grade: plan.SameFamily, Reason: "its body is another"}
			}
		}
		return plan.Result{Grade: plan.Mismatch, Reason: "it is gone"}
	}
	if rec.To != "" && !names(rec.To, c.work.ID()) {
		return plan.Result{Grade: plan.SameFamily, Reason: "renamed to " + flow.Name(c.work.Decl)}
	}
	return plan.Result{Grade: plan.Exact}
}

// names reports whether a reference, with a path or without, means a function:
// it, its class, or a function around it.
func names(ref, id string) bool {
	rp, rn := splitID(ref)
	ip, in := splitID(id)
	if rp != "" && rp != ip && !strings.HasSuffix(ip, "/"+rp) {
		return false
	}
	in = strings.ReplaceAll(strings.ReplaceAll(in, "<class ", ""), ">", "")
	for _, sep := range []string{".", "::"} {
		if in == rn || strings.HasPrefix(in, rn+sep) {
			return true
		}
		if rp == "" && (strings.HasSuffix(in, sep+rn) || strings.Contains(in, sep+rn+sep)) {
			return true
		}
		// a new name without its class
		if rp != "" && strings.HasSuffix(in, sep+rn) {
			return true
		}
	}
	return false
}

// movedOut reports whether an operation's code moved into an added function,
// which explains it.
func (r *report) movedOut(o *delta.Op) bool {
	if len(o.Head.Stmts) == 0 {
		return false
	}
	switch o.Kind {
	case delta.RemoveGuard, delta.RemoveBranch, delta.RemoveLoop, delta.RemoveHandler, delta.RewireEdge:
	default:
		return false
	}
	for _, c := range r.changes.functions {
		if c.status != added {
			continue
		}
		texts := map[string]bool{}
		for _, s := range c.work.Func.Stmts {
			texts[s.Text] = true
		}
		n := 0
		for _, s := range o.Head.Stmts {
			if texts[s.Text] {
				n++
			}
		}
		if 5*n >= 3*len(o.Head.Stmts) {
			return true
		}
	}
	return false
}

// findHazards compares every function that the session may have changed.
func (r *report) findHazards() {
	for _, c := range r.changes.functions {
		if d := c.diff(); d != nil {
			for _, h := range hazard.Compare(d) {
				r.hazards = append(r.hazards, HazardJSON{c.work.ID(), h.Kind, h.Certain, h.Line, h.Place})
			}
		}
	}
	for _, p := range sorted(r.changes.broken) {
		known := false
		for _, h := range r.hazards {
			known = known || h.Kind == hazard.SyntaxError && pathPart(h.Function) == p
		}
		if !known {
			r.hazards = append(r.hazards, HazardJSON{p + ":<module>", hazard.SyntaxError, true, r.changes.broken[p], ""})
		}
	}
}

func (r *report) hazardText() string {
	var b strings.Builder
	n := 0
	for _, certain := range []bool{true, false} {
		for _, h := range r.hazards {
			if h.Certain != certain || n == 3 {
				continue
			}
			n++
			word := "hazard"
			if !certain {
				word = "possible"
			}
			fmt.Fprintf(&b, "%s %s %s:%d", word, h.Kind, h.Function, h.Line)
			if h.Place != "" {
				b.WriteString(" " + h.Place)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// only keeps of a report what is about one function.
func (t *tree) only(ctx context.Context, r *report, ref string) error {
	keep := map[string]bool{}
	for _, g := range r.rows {
		if names(strings.TrimSuffix(ref, "()"), g.rec.ID) || g.rec.ID == ref {
			keep[g.rec.ID] = true
		}
	}
	if len(keep) == 0 {
		v, err := t.resolve(ctx, ref)
		if err != nil {
			return err
		}
		keep[v.ID()] = true
		for _, c := range r.changes.functions {
			if c.work != nil && c.work.ID() == v.ID() && c.head != nil {
				keep[c.headID()] = true
			}
		}
	}
	var rows []graded
	ids := map[string]bool{}
	for _, g := range r.rows {
		if keep[g.rec.ID] {
			rows = append(rows, g)
			ids[g.rec.ID] = true
			if g.work != nil {
				ids[g.work.ID()] = true
			}
		}
	}
	for id := range keep {
		ids[id] = true
	}
	r.rows = rows
	var ops []unplannedOp
	for _, u := range r.unplanned {
		if ids[u.function] {
			ops = append(ops, u)
		}
	}
	r.unplanned = ops
	var hazards []HazardJSON
	for _, h := range r.hazards {
		if ids[h.Function] {
			hazards = append(hazards, h)
		}
	}
	r.hazards = hazards
	return nil
}

// line is one graded delta as the agent reads it; where says path and line too.
func (g *graded) line(where bool) string {
	p, name := splitID(g.rec.ID)
	s := string(g.result.Grade) + " " + g.rec.Op + " "
	if where {
		s += path.Base(p) + ":"
	}
	s += name + lineText(g.rec.Line)
	var seen []string
	for _, o := range g.result.Observed {
		text := plan.Describe(o)
		if string(o.Kind) == g.rec.Op {
			text = strings.TrimPrefix(text, g.rec.Op+" ")
		}
		if out := leaving(o); out != "" {
			text += " " + out
		}
		seen = append(seen, text)
	}
	if len(seen) > 0 && where {
		s += "  " + strings.Join(seen, "; ")
	}
	if g.result.Reason != "" && !strings.HasPrefix(g.result.Reason, "observed") || len(seen) == 0 && g.result.Reason != "" {
		s += ": " + g.result.Reason
	}
	return s
}

// negated reports whether a planned condition was found as its opposite: that
// counts as the same, but whoever planned should see it.
func (g *graded) negated() bool {
	if g.result.Grade != plan.Exact || g.head == nil {
		return false
	}
	p := g.rec.planned(g.head)
	for _, o := range g.result.Observed {
		if c, _ := o.Cond(); p.Cond != nil && c != nil && !p.Cond.Equal(c) && p.Cond.Opposite(c) {
			return true
		}
	}
	return false
}

// leaving says how an arm of a new or gone guard leaves, so that a wrong
// polarity is seen.
func leaving(o *delta.Op) string {
	switch o.Kind {
	case delta.AddGuard, delta.RemoveGuard:
	default:
		return ""
	}
	side := o.Work
	if o.Kind == delta.RemoveGuard {
		side = o.Head
	}
	for _, s := range side.Governs {
		switch s.Kind {
		case ir.KindReturn, ir.KindRaise, ir.KindBreak, ir.KindContinue, ir.KindGoto:
			return oneLine(s.Text, 24)
		}
	}
	return ""
}

// waysOut is graded.waysOut; the lines in it are those of the working text,
// which the session has thereby been shown.
func (t *tree) waysOut(g *graded) string {
	if g.work != nil {
		t.show(g.work)
	}
	return g.waysOut()
}

// waysOut ends a reply with a mismatch: the ready delta for what was observed,
// or where to edit.
func (g *graded) waysOut() string {
	at := g.rec.HeadLine
	if g.work != nil && g.head != nil && at > 0 {
		if s := g.head.StmtAt(at); s != nil {
			if w := delta.Diff(g.head, g.work).ToWork[s]; w != nil {
				at = w.Line
			}
		}
	}
	edit := "edit " + pathPart(g.rec.ID)
	if at > 0 {
		edit += fmt.Sprintf(" L%d", at)
	}
	if g.work == nil || g.head == nil {
		return edit
	}
	var best *delta.Op
	for _, o := range delta.Diff(g.head, g.work).Ops {
		if best == nil || o.Kind.Structural() && !best.Kind.Structural() {
			best = o
		}
	}
	if best == nil {
		return edit + ": nothing has changed there yet"
	}
	ready := plan.Delta{Function: g.rec.ID, Op: string(best.Kind)}
	if best.Work.Anchor != nil {
		ready.Line = best.Work.Anchor.Line
	}
	if _, text := best.Cond(); len(text) < 60 {
		ready.Condition = text
	}
	var call strings.Builder
	enc := json.NewEncoder(&call)
	enc.SetEscapeHTML(false) // it is read, not put into a page
	if err := enc.Encode([]plan.Delta{ready}); err != nil {
		return edit
	}
	return "meant? flow_plan " + strings.TrimSpace(call.String()) + "; else " + edit
}
