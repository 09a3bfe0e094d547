package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/ledger"
	"flowplan/internal/plan"
)

// PlanParams are the arguments of flow_plan.
type PlanParams struct {
	Deltas json.RawMessage
	Fresh  bool
	Root   string
}

// record is a planned delta as the ledger keeps it: what was said, and what it
// means in the base commit.
type record struct {
	plan.Delta
	ID        string `json:"id"` // of the function in the base commit
	HeadLine  int    `json:"head_line,omitempty"`
	HeadStmt  int    `json:"head_stmt,omitempty"`
	Signature bool   `json:"signature,omitempty"`
	Variable  string `json:"variable,omitempty"`
	Def       int    `json:"def,omitempty"`
	Use       int    `json:"use,omitempty"`
}

// PlanJSON is the answer of flow_plan as JSON.
type PlanJSON struct {
	Base       string        `json:"base"`
	Deltas     []PlannedJSON `json:"deltas"`
	Superseded []plan.Delta  `json:"superseded"`
	Notes      []string      `json:"notes,omitempty"`
}

// PlannedJSON is one planned delta with what its anchor means.
type PlannedJSON struct {
	plan.Delta
	HeadLine  *int   `json:"head_line"`
	Statement string `json:"statement"`
	Warning   string `json:"warning"`
}

// Plan records planned deltas: all of them or none.
func (e *Engine) Plan(ctx context.Context, p PlanParams) (Reply, error) {
	deltas, unknown, err := plan.Parse(p.Deltas)
	if err != nil {
		return Reply{}, &CallError{Text: err.Error()}
	}
	refs := make([]string, len(deltas))
	for i, d := range deltas {
		refs[i] = d.Function
	}
	t, err := e.treeOf(ctx, p.Root, refs)
	if err != nil {
		return Reply{}, err
	}
	head, err := t.needGit(ctx)
	if err != nil {
		return Reply{}, err
	}
	if err := t.firstCall(ctx); err != nil {
		return Reply{}, err
	}
	base, known, moved, err := t.planBase(ctx, head, p.Fresh)
	if err != nil {
		return Reply{}, err
	}
	pl := &planner{t: t, base: base}
	req := ledger.Request{Fresh: p.Fresh, Preexisting: t.differing}
	var lines []string
	out := PlanJSON{Superseded: []plan.Delta{}}
	seen := map[string]bool{}
	for i, d := range deltas {
		r, row, snap, err := pl.one(ctx, d)
		if err != nil {
			if len(deltas) > 1 {
				return Reply{}, prefixed(fmt.Sprintf("nothing was planned; delta %d: ", i+1), err)
			}
			return Reply{}, prefixed("nothing was planned: ", err)
		}
		body, err := json.Marshal(r)
		if err != nil {
			return Reply{}, err
		}
		req.Deltas = append(req.Deltas, ledger.NewDelta{Function: r.ID, Op: r.Op, Anchor: r.anchorKey(), Body: body})
		if snap != nil && !seen[snap.Function] {
			seen[snap.Function] = true
			if snap.Edited && !known[snap.Function] && row.Warning == "" {
				row.Warning = "edited already; graded from HEAD"
			}
			req.Snapshots = append(req.Snapshots, *snap)
		}
		lines = append(lines, row.text())
		out.Deltas = append(out.Deltas, row.PlannedJSON)
	}
	res, err := t.led.Add(ctx, head, req)
	if err != nil {
		return Reply{}, err
	}
	out.Base = res.Plan.Base
	if moved || res.Closed != nil && res.Closed.Reason == ledger.ReasonMoved {
		out.Notes = append(out.Notes, "HEAD moved elsewhere: the plan before is closed")
	}
	return t.planReply(e, lines, out, res, unknown), nil
}

func prefixed(prefix string, err error) error {
	if c, ok := err.(*CallError); ok {
		return &CallError{Text: prefix + c.Text, NotFound: c.NotFound}
	}
	return fmt.Errorf("%s%w", prefix, err)
}

// planBase is the commit that the next deltas will be planned against, and the
// functions that are planned already; moved says that the plan before was just
// closed, because HEAD moved elsewhere.
func (t *tree) planBase(ctx context.Context, head ledger.Head, fresh bool) (base string, known map[string]bool, moved bool, err error) {
	cur, err := t.led.Current(ctx, head, false)
	if err != nil {
		return "", nil, false, err
	}
	if cur.Plan == nil || fresh || cur.Plan.Verdict == "pass" {
		return head.Commit, nil, cur.Closed != nil, nil
	}
	deltas, err := t.led.Deltas(ctx, cur.Plan.ID)
	if err != nil {
		return "", nil, false, err
	}
	known = map[string]bool{}
	for _, d := range deltas {
		known[d.Function] = true
	}
	return cur.Plan.Base, known, false, nil
}

func (t *tree) planReply(e *Engine, lines []string, out PlanJSON, res ledger.Planned, unknown []string) Reply {
	var b strings.Builder
	b.WriteString(t.notes(e))
	if len(unknown) > 0 {
		out.Notes = append(out.Notes, "ignored: "+strings.Join(unknown, ", "))
	}
	for _, l := range lines {
		b.WriteString("planned " + l + "\n")
	}
	for _, d := range append(res.Superseded, res.Replaced...) {
		var r record
		if json.Unmarshal(d.Body, &r) == nil {
			out.Superseded = append(out.Superseded, r.Delta)
			fmt.Fprintf(&b, "in place of %s\n", r.short())
		}
	}
	for _, n := range out.Notes {
		b.WriteString(n + "\n")
	}
	return Reply{Text: b.String(), JSON: out}
}

func (r record) short() string {
	_, name := splitID(r.ID)
	s := r.Op + " " + name
	if r.Line > 0 {
		s += fmt.Sprintf(" L%d", r.Line)
	} else if r.Site != "" {
		s += " " + r.Site
	}
	return s
}

// anchorKey tells two deltas of one operation in a function apart.
func (r record) anchorKey() string {
	return fmt.Sprintf("%d %d %v %s %d %d", r.HeadLine, r.HeadStmt, r.Signature, r.Variable, r.Def, r.Use)
}

// planner resolves planned deltas against one base commit.
type planner struct {
	t       *tree
	base    string
	changed *changeSet // made when a function is not where it was
}

// plannedRow is a line of the reply.
type plannedRow struct {
	PlannedJSON
	name string
}

func (r plannedRow) text() string {
	s := r.Op + " " + r.name
	if r.HeadLine != nil {
		s += fmt.Sprintf(" %d %s", *r.HeadLine, oneLine(r.Statement, 48))
	}
	if r.Warning != "" {
		s += "  (" + r.Warning + ")"
	}
	return s
}

func (p *planner) one(ctx context.Context, d plan.Delta) (record, plannedRow, *ledger.Snapshot, error) {
	r := record{Delta: d}
	op, ok, nearest := plan.Lookup(d.Op)
	if !ok {
		return r, plannedRow{}, nil, wrong("no operation %q; did you mean %s? operations: %s", d.Op, nearest, operationNames())
	}
	r.Op = string(op.Kind)
	row := plannedRow{PlannedJSON: PlannedJSON{Delta: r.Delta}}
	if op.Kind == delta.AddFunction {
		r.ID = p.newID(d.Function)
		if r.ID == "" {
			return r, row, nil, wrong("add_function: expected the function's name, best as path.py:name")
		}
		_, row.name = splitID(r.ID)
		if h, err := p.headByID(ctx, r.ID); err != nil {
			return r, row, nil, err
		} else if h != nil {
			row.Warning = "HEAD has it already"
		}
		return r, row, nil, nil
	}
	work, head, err := p.views(ctx, d.Function, op.Kind)
	if err != nil {
		return r, row, nil, err
	}
	if work != nil && d.Line > 0 {
		if work, head, err = p.twinAt(ctx, work, head, d.Line); err != nil {
			return r, row, nil, err
		}
	}
	r.ID = head.ID()
	row.name = flow.Name(head.Decl)
	snap := &ledger.Snapshot{Function: r.ID, Fingerprint: head.Fingerprint().Text}
	if work != nil {
		snap.Edited = work.TextForm() != head.TextForm()
	}
	if op.Kind == delta.RemoveFunction || op.Kind == delta.RenameFunction {
		if op.Kind == delta.RenameFunction && d.To == "" {
			row.Warning = "no `to`: any new name will do"
		}
		return r, row, snap, nil
	}
	if err := p.anchor(ctx, &r, &row, op, work, head); err != nil {
		return r, row, nil, err
	}
	return r, row, snap, p.condition(&r, &row, op, head)
}

func operationNames() string {
	var names []string
	for _, o := range plan.Operations() {
		names = append(names, string(o.Kind))
	}
	return strings.Join(names, " ")
}

// newID is the identity that a new function will have: as given, with its
// path where one was given.
func (p *planner) newID(ref string) string {
	ref = strings.TrimSuffix(strings.TrimSpace(ref), "()")
	path, name := splitID(ref)
	if path == "" || name == "" {
		return ref
	}
	if rel, ok := p.t.fs.Rel(path); ok {
		path = rel
	}
	return path + ":" + name
}

// headByID is a function of the base commit by its identity; nil where there
// is none.
func (p *planner) headByID(ctx context.Context, id string) (*flow.View, error) {
	return p.t.headView(ctx, p.base, id)
}

func (t *tree) headView(ctx context.Context, base, id string) (*flow.View, error) {
	path, name := splitID(id)
	if path == "" {
		return nil, nil
	}
	f, err := t.base(ctx, base, path)
	return view(f, name), err
}

// views finds a function in the work tree and in the base commit.
func (p *planner) views(ctx context.Context, ref string, op delta.Kind) (work, head *flow.View, err error) {
	work, err = p.t.resolve(ctx, ref)
	if err != nil {
		// gone from the work tree already?
		if path, name := splitID(strings.TrimSpace(ref)); path != "" {
			if rel, ok := p.t.fs.Rel(path); ok {
				if head, herr := p.headByID(ctx, rel+":"+name); herr == nil && head != nil {
					return nil, head, nil
				}
			}
		}
		return nil, nil, err
	}
	head, err = p.headByID(ctx, work.ID())
	if head != nil || err != nil {
		return work, head, err
	}
	if p.changed == nil {
		if p.changed, err = p.t.changes(ctx, p.base); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range p.changed.functions {
		if c.work != nil && c.head != nil && c.work.ID() == work.ID() {
			return work, c.head, nil
		}
	}
	if p.base == "" {
		return nil, nil, notFound("%s: no commit yet, so everything is new; commit first, or plan add_function", flow.Name(work.Decl))
	}
	return nil, nil, notFound(`%s is not in HEAD; plan it as {"function":%q,"op":"add_function"}`, flow.Name(work.Decl), work.ID())
}

// twinAt picks, of several functions of one name, the one that a line lies in.
func (p *planner) twinAt(ctx context.Context, work, head *flow.View, line int) (*flow.View, *flow.View, error) {
	shown := p.t.shownView(ctx, work)
	if _, ok := lineAnchor(shown, line); ok {
		return work, head, nil
	}
	for _, i := range shown.File.Lookup(shown.Decl.QualifiedName) {
		twin := shown.File.View(i)
		if _, ok := lineAnchor(twin, line); !ok || i == shown.Index {
			continue
		}
		f, err := p.t.work(ctx, work.File.Source.Path)
		if err != nil {
			return nil, nil, err
		}
		name := flow.Name(twin.Decl)
		h, err := p.headByID(ctx, head.File.Source.Path+":"+name)
		if w := view(f, name); w != nil && h != nil {
			return w, h, err
		}
	}
	return work, head, nil
}

// anchor finds what a delta's line or site means in HEAD.
func (p *planner) anchor(ctx context.Context, r *record, row *plannedRow, op plan.Operation, work, head *flow.View) error {
	shown := head
	if work != nil {
		shown = p.t.shownView(ctx, work)
	}
	if r.Line == 0 && r.Site == "" {
		pins, err := p.t.led.Pins(ctx)
		if err != nil {
			return err
		}
		if pin, ok := pins[r.ID]; ok && !pin.Unverified {
			r.Site = pin.Site
		}
	}
	var a anchor
	switch {
	case r.Line > 0:
		var ok bool
		if a, ok = lineAnchor(shown, r.Line); !ok && work != nil {
			if a, ok = lineAnchor(work, r.Line); ok {
				shown = work // a line of the text as it is now, not as it was shown
			}
		}
		if !ok {
			return p.outside(shown, r)
		}
		if r.Site != "" {
			if s, problem := siteAnchor(shown, r.Site); problem == "" && s.pair {
				a.pair, a.variable, a.def, a.use = true, s.variable, s.def, s.use
			}
		}
	case r.Site != "":
		var problem string
		if a, problem = siteAnchor(shown, r.Site); problem != "" {
			reply, err := p.t.badSite(ctx, shown, r.Site, problem, LocateJSON{})
			if err != nil {
				return err
			}
			row.Warning = strings.TrimSpace(reply.Text)
			a = anchor{}
		}
	case op.Kind == delta.ChangeSignature:
		a.signature = true
	default:
		if op.Line {
			row.Warning = "no line: anywhere in the function"
		}
	}
	at := shown
	warning := carries(op.Kind, at, a)
	a = mapToHead(a, shown, head)
	r.Signature = a.signature
	if a.stmt != nil {
		r.HeadLine, r.HeadStmt = a.stmt.Line, a.stmt.ID
		line := a.stmt.Line
		row.HeadLine, row.Statement = &line, oneLine(head.File.Source.Text(a.stmt.Span), 200)
	} else if a.signature {
		line := head.Decl.Line
		r.HeadLine = line
		row.HeadLine, row.Statement = &line, head.Func.Signature
	}
	r.Variable = a.variable
	if r.Variable == "" {
		r.Variable = r.Place
	}
	if a.def != nil {
		r.Def = a.def.ID
	}
	if a.use != nil {
		r.Use = a.use.ID
	}
	if warning != "" && row.Warning == "" {
		row.Warning = warning
	}
	row.PlannedJSON.Delta = r.Delta
	return nil
}

// outside refuses a line that is not in the function and says what is.
func (p *planner) outside(v *flow.View, r *record) error {
	other := v.File.At(r.Line)
	if r.Line <= v.File.Source.NumLines() && other != v.Index {
		d := v.File.Decls[other]
		return wrong(`line %d is not in %s (%s) but in %s; give {"function":%q,"op":%q,"line":%d}`,
			r.Line, flow.Name(v.Decl), v.Range(), flow.Name(d), v.File.Source.Path+":"+flow.Name(d), r.Op, r.Line)
	}
	return wrong("line %d is not in %s, which has lines %s", r.Line, flow.Name(v.Decl), v.Range())
}

// carries warns where a statement cannot carry an operation.
func carries(op delta.Kind, v *flow.View, a anchor) string {
	if a.signature {
		switch op {
		case delta.ChangeSignature, delta.ChangeBlock, delta.AddGuard, delta.AddBranch, delta.AddHandler, delta.AddLoop, delta.NoFlowChange:
			return ""
		}
		return "the def line has no " + object(op)
	}
	if a.stmt == nil {
		return ""
	}
	k := a.stmt.Kind
	header := k == ir.KindIf || k == ir.KindCase || k == ir.KindMatch || k == ir.KindSwitch || loops(k)
	switch op {
	case delta.ChangeCondition, delta.RemoveGuard, delta.RemoveBranch:
		if !header && k != ir.KindAssert && len(v.Graph.Guards(a.stmt)) == 0 {
			return "no condition here"
		}
	case delta.RemoveLoop:
		if !loops(k) && !insideLoop(v, a.stmt) {
			return "no loop here"
		}
	case delta.ChangeHandler, delta.RemoveHandler:
		if !hasHandlers(v) {
			return "the function has no handler"
		}
	case delta.ChangeSignature:
		return "graded on the def line"
	}
	return ""
}

func object(op delta.Kind) string {
	_, what, _ := strings.Cut(string(op), "_")
	return strings.ReplaceAll(what, "_", " ")
}

func loops(k ir.Kind) bool {
	return k == ir.KindWhile || k == ir.KindFor || k == ir.KindForeach || k == ir.KindDo
}

func insideLoop(v *flow.View, s *ir.Stmt) bool {
	for _, g := range v.Graph.Guards(s) {
		if loops(g.Header.Kind) {
			return true
		}
	}
	return false
}

func hasHandlers(v *flow.View) bool {
	found := false
	v.Func.Nodes(func(n ir.Node) {
		switch n.(type) {
		case *ir.Try, *ir.Scope:
			found = true
		}
	})
	return found
}

// condition checks that a planned condition can be compared.
func (p *planner) condition(r *record, row *plannedRow, op plan.Operation, head *flow.View) error {
	if r.Condition == "" || head.File.Lang.Condition == nil {
		return nil
	}
	switch op.Kind {
	case delta.AddHandler, delta.RemoveHandler, delta.ChangeHandler, delta.AddLoop, delta.RemoveLoop:
		return nil
	}
	if _, err := head.File.Lang.Condition(r.Condition); err != nil && row.Warning == "" {
		row.Warning = "the condition does not parse and will not be compared"
	}
	return nil
}

// planned turns a ledger record back into what Grade takes.
func (r record) planned(head *flow.View) plan.Planned {
	op, _, _ := plan.Lookup(r.Op)
	p := plan.Planned{Delta: r.Delta, Kind: op.Kind, AtSignature: r.Signature, Variable: r.Variable}
	if head == nil {
		return p
	}
	p.Anchor = r.stmt(head, r.HeadStmt)
	if p.Anchor == nil && r.HeadLine > 0 && !r.Signature {
		p.Anchor = head.Nearest(r.HeadLine)
	}
	p.Def, p.Use = r.stmt(head, r.Def), r.stmt(head, r.Use)
	if r.Condition != "" && head.File.Lang.Condition != nil {
		if c, err := head.File.Lang.Condition(r.Condition); err == nil {
			p.Cond = c
		}
	}
	return p
}

func (r record) stmt(v *flow.View, id int) *ir.Stmt {
	if id <= 0 || id > len(v.Func.Stmts) {
		return nil
	}
	return v.Func.Stmts[id-1]
}

func lineText(line int) string {
	if line == 0 {
		return ""
	}
	return ":" + strconv.Itoa(line)
}
