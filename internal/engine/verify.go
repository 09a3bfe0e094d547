package engine

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/ledger"
	"flowplan/internal/plan"
	"flowplan/internal/source"
)

func flowHash(s string) string { return source.Hash([]byte(s))[:16] }

// VerifyParams are the arguments of flow_verify.
type VerifyParams struct{ Root string }

// The verdicts.
const (
	pass   = "pass"
	review = "review"
	fail   = "fail"
)

// Verify grades the whole plan and audits the work tree for functions that
// nobody planned.
func (e *Engine) Verify(ctx context.Context, p VerifyParams) (Reply, error) {
	t, err := e.tree(ctx, p.Root)
	if err != nil {
		return Reply{}, err
	}
	r, err := t.report(ctx)
	if err != nil {
		return Reply{}, err
	}
	a, err := t.audit(ctx, r)
	if err != nil {
		return Reply{}, err
	}
	out := r.json(t, true)
	out.Unplanned = a.refs
	out.Notes = append(out.Notes, a.notes...)
	out.Verdict = a.verdict
	grades := map[int64]string{}
	for _, g := range r.rows {
		grades[g.id] = string(g.result.Grade)
	}
	if err := t.led.Graded(ctx, r.planID, ledger.Grading{Grades: grades, Verdict: a.verdict, Data: out}); err != nil {
		return Reply{}, err
	}
	reply := Reply{JSON: out}
	if reply.Text, err = t.verifyText(ctx, r, a); err != nil {
		return Reply{}, err
	}
	if a.verdict == fail {
		reply.Code = 1
	}
	return reply, nil
}

// audit is what flow_verify finds beyond the grades.
type audit struct {
	verdict string
	refs    []FunctionRef
	bad     []string // lines that make it fail
	doubt   []string // lines that make it a review
	notes   []string
}

func (t *tree) audit(ctx context.Context, r *report) (*audit, error) {
	a := &audit{refs: []FunctionRef{}}
	before, _, err := t.led.Preexisting(ctx)
	if err != nil {
		return nil, err
	}
	elsewhere, err := t.led.Elsewhere(ctx, r.planID)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{} // functions whose hazards are the session's
	counts := map[string]int{}
	for _, c := range r.changes.functions {
		if r.covers(c) {
			own[c.id()] = true
			if hash, ok := before[c.id()]; ok && hash == c.textHash() {
				a.notes = append(a.notes, flow.Name(c.decl())+" differed before the session and is graded from HEAD")
			}
			continue
		}
		origin := "session"
		if hash, ok := before[c.id()]; ok && hash == c.textHash() {
			origin = "pre-existing"
		} else if elsewhere[c.headID()] || elsewhere[c.id()] {
			origin = "planned elsewhere"
		}
		a.refs = append(a.refs, FunctionRef{c.id(), string(c.status), origin})
		if origin != "session" {
			counts[origin]++
			continue
		}
		own[c.id()] = true
		switch {
		case c.status == added:
			counts["added"]++
		case c.status == textOnly:
			counts["text only"]++
		case c.test:
			counts["test"]++
		case example(c):
			counts["example"]++
		default:
			a.bad = append(a.bad, fmt.Sprintf("unplanned %s %s:%d", c.status, c.id(), c.decl().Line))
		}
	}
	t.countNotes(a, r, counts)
	a.judge(r, own)
	return a, nil
}

// example reports whether a function stands under doc/ or examples/.
func example(c *change) bool {
	for _, dir := range strings.Split(path.Dir(pathPart(c.id())), "/") {
		switch dir {
		case "doc", "docs", "example", "examples":
			return true
		}
	}
	return false
}

// countNotes gathers what is worth knowing and never a verdict.
func (t *tree) countNotes(a *audit, r *report, counts map[string]int) {
	for _, k := range []string{"added", "text only", "test", "example", "pre-existing", "planned elsewhere"} {
		if counts[k] > 0 {
			a.notes = append(a.notes, fmt.Sprintf("%d %s", counts[k], k))
		}
	}
	outside := 0
	for _, c := range r.changes.outside {
		if !r.covers(c) {
			outside++
		}
	}
	if outside > 0 {
		a.notes = append(a.notes, fmt.Sprintf("code outside functions changed in %d places", outside))
	}
	if len(r.changes.conflicts) > 0 {
		a.notes = append(a.notes, "merge conflicts in "+strings.Join(r.changes.conflicts, ", "))
	}
	if len(r.changes.unparsed) > 0 {
		a.notes = append(a.notes, "not read: "+strings.Join(r.changes.unparsed, ", "))
	}
}

func (c *change) decl() *lang.Decl {
	v := c.work
	if v == nil {
		v = c.head
	}
	return v.Decl
}

// covers reports whether a change is planned: the function itself, or for a
// new or gone one its class or the function around it.
func (r *report) covers(c *change) bool {
	if r.planned[c.headID()] && c.head != nil || r.planned[c.id()] {
		return true
	}
	for _, g := range r.rows {
		switch delta.Kind(g.rec.Op) {
		case delta.AddFunction:
			if (c.status == added || c.status == renamed) && names(g.rec.ID, c.id()) {
				return true
			}
		case delta.RemoveFunction:
			if c.head != nil && names(g.rec.ID, c.headID()) && c.status == removed {
				return true
			}
		case delta.RenameFunction:
			if g.rec.To != "" && c.work != nil && c.status == added && names(g.rec.To, c.id()) {
				return true
			}
		}
	}
	return false
}

// judge decides the verdict: the worst that applies.
func (a *audit) judge(r *report, own map[string]bool) {
	for i := range r.rows {
		g := &r.rows[i]
		switch {
		case g.result.Grade == plan.Mismatch:
			a.bad = append(a.bad, g.line(true))
		case g.result.Grade == plan.Unknown && g.atHead:
			a.doubt = append(a.doubt, g.line(true))
		case g.result.Grade == plan.Unknown:
			a.bad = append(a.bad, g.line(true))
		}
	}
	for _, p := range sorted(r.changes.broken) {
		a.bad = append(a.bad, fmt.Sprintf("syntax error %s:%d", p, r.changes.broken[p]))
	}
	if r.changes.patch.Files == 0 {
		a.bad = append(a.bad, "the patch is empty")
	}
	for _, u := range r.unplanned {
		a.doubt = append(a.doubt, fmt.Sprintf("unplanned %s %s", u.function, plan.Describe(u.op)))
	}
	possible := 0
	for _, h := range r.hazards {
		switch {
		case !own[h.Function] || h.Kind == "syntax_error":
		case h.Certain:
			a.doubt = append(a.doubt, strings.TrimSpace(fmt.Sprintf("hazard %s %s:%d %s", h.Kind, h.Function, h.Line, h.Place)))
		case possible < 3:
			possible++
			a.notes = append(a.notes, strings.TrimSpace(fmt.Sprintf("possible %s %s:%d %s", h.Kind, path.Base(pathPart(h.Function)), h.Line, h.Place)))
		}
	}
	switch {
	case len(a.bad) > 0:
		a.verdict = fail
	case len(a.doubt) > 0 && len(r.rows) > 0:
		a.verdict = review
	default:
		a.verdict = pass
	}
}

// maxLines bounds each list of a verify reply.
const maxLines = 8

func (t *tree) verifyText(ctx context.Context, r *report, a *audit) (string, error) {
	var b strings.Builder
	exact, family := 0, 0
	for _, g := range r.rows {
		switch g.result.Grade {
		case plan.Exact:
			exact++
		case plan.SameFamily:
			family++
		}
	}
	b.WriteString(a.verdict + ":")
	if len(r.rows) == 0 {
		b.WriteString(" nothing planned")
	} else {
		fmt.Fprintf(&b, " %d of %d deltas confirmed", exact+family, len(r.rows))
		if family > 0 {
			fmt.Fprintf(&b, " (%d same_family)", family)
		}
	}
	fmt.Fprintf(&b, ", %s +%d -%d\n", files(r.changes.patch.Files), r.changes.patch.Added, r.changes.patch.Removed)
	for _, l := range r.first {
		b.WriteString(l + "\n")
	}
	b.WriteString(t.notes(t.e))
	var negated []string
	for i := range r.rows {
		if g := &r.rows[i]; g.negated() {
			negated = append(negated, "the other way round: "+g.line(true))
		}
	}
	writeLines(&b, negated)
	writeLines(&b, a.bad)
	if a.verdict != pass {
		writeLines(&b, a.doubt)
	}
	if notes := append(slices.Clone(r.notes), a.notes...); len(notes) > 0 {
		fmt.Fprintf(&b, "notes: %s\n", strings.Join(notes, "; "))
	}
	switch a.verdict {
	case pass:
		b.WriteString("stop\n")
	case review:
		b.WriteString("if that was meant, stop; else mend it and verify once more\n")
	default:
		b.WriteString(t.mend(r) + "\n")
		again, err := t.repeated(ctx, "verify", b.String(), r)
		if err != nil {
			return "", err
		}
		b.WriteString(again)
	}
	return b.String(), nil
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

func writeLines(b *strings.Builder, lines []string) {
	for i, l := range lines {
		if i == maxLines {
			fmt.Fprintf(b, "... %d more\n", len(lines)-maxLines)
			return
		}
		b.WriteString(l + "\n")
	}
}

// mend says the one thing to do after a fail.
func (t *tree) mend(r *report) string {
	if broken := sorted(r.changes.broken); len(broken) > 0 {
		return fmt.Sprintf("mend the syntax error at %s:%d first", broken[0], r.changes.broken[broken[0]])
	}
	if r.changes.patch.Files == 0 {
		return "make the edit, then verify"
	}
	for i := range r.rows {
		if g := &r.rows[i]; !g.result.Grade.OK() {
			return t.waysOut(g)
		}
	}
	for _, c := range r.changes.functions {
		if c.status == modified && !r.covers(c) && !c.test {
			if d := c.diff(); d != nil && len(d.Ops) > 0 {
				g := &graded{rec: record{ID: c.headID()}, head: c.head, work: c.work}
				return t.waysOut(g)
			}
		}
	}
	return "plan what was meant with flow_plan, or take it back"
}

// json is the report as JSON; audited says whether functions outside the
// plan's are listed.
func (r *report) json(t *tree, audited bool) ReportJSON {
	out := ReportJSON{
		Base: r.base, Deltas: []GradedJSON{}, UnplannedOps: []OpRefJSON{}, Unplanned: []FunctionRef{}, Hazards: []HazardJSON{},
		Outside: []OutsideJSON{}, Notes: append([]string{}, r.notes...), Tests: []string{}, Unparsed: []string{}, Patch: r.changes.patch,
	}
	for i := range r.rows {
		out.Deltas = append(out.Deltas, r.rows[i].json())
	}
	for _, u := range r.unplanned {
		ref := OpRefJSON{Function: u.function, Op: string(u.op.Kind)}
		if u.op.Work.Anchor != nil {
			ref.Line = u.op.Work.Anchor.Line
		}
		_, ref.Condition = u.op.Cond()
		out.UnplannedOps = append(out.UnplannedOps, ref)
	}
	out.Hazards = append(out.Hazards, r.hazards...)
	if !audited {
		return out
	}
	for _, c := range r.changes.functions {
		if c.test && c.work != nil {
			out.Tests = append(out.Tests, c.id())
		}
	}
	out.Outside = outsideJSON(r.changes.outside, r.planned)
	out.Unparsed = append(out.Unparsed, r.changes.unparsed...)
	return out
}

// outsideJSON lists changed lines of modules and class bodies, a file a row.
func outsideJSON(changes []*change, planned map[string]bool) []OutsideJSON {
	out := []OutsideJSON{}
	for _, c := range changes {
		if c.work == nil || planned[c.id()] {
			continue
		}
		var stmts []*ir.Stmt
		if c.status == added {
			stmts = c.work.Func.Stmts
		} else {
			for _, o := range c.diff().Ops {
				stmts = append(stmts, o.Work.Stmts...)
				if len(o.Work.Stmts) == 0 && o.Work.Anchor != nil {
					stmts = append(stmts, o.Work.Anchor)
				}
			}
		}
		ranges := lineRanges(stmts)
		if len(ranges) == 0 {
			continue
		}
		file := c.work.File.Source.Path
		if n := len(out); n > 0 && out[n-1].File == file {
			out[n-1].Lines = append(out[n-1].Lines, ranges...)
			continue
		}
		out = append(out, OutsideJSON{file, ranges})
	}
	return out
}

// lineRanges merges the lines of statements into ranges.
func lineRanges(stmts []*ir.Stmt) [][2]int {
	set := map[int]bool{}
	for _, s := range stmts {
		for l := s.Line; l <= s.EndLine; l++ {
			set[l] = true
		}
	}
	lines := make([]int, 0, len(set))
	for l := range set {
		lines = append(lines, l)
	}
	slices.Sort(lines)
	out := [][2]int{}
	for _, l := range lines {
		if n := len(out); n > 0 && out[n-1][1] == l-1 {
			out[n-1][1] = l
		} else {
			out = append(out, [2]int{l, l})
		}
	}
	return out
}

func (g *graded) json() GradedJSON {
	out := GradedJSON{Delta: g.rec.Delta, Grade: string(g.result.Grade), Reason: g.result.Reason, Observed: []any{}}
	if !g.result.Grade.OK() {
		return out
	}
	for _, o := range g.result.Observed {
		j := ObservedJSON{Op: string(o.Kind)}
		if o.Head.Anchor != nil {
			j.HeadLine = &o.Head.Anchor.Line
		}
		if o.Work.Anchor != nil {
			j.Line = &o.Work.Anchor.Line
		}
		_, j.Condition = o.Cond()
		out.Observed = append(out.Observed, j)
	}
	for _, o := range g.result.Data {
		out.Observed = append(out.Observed, dataJSON(o))
	}
	return out
}
