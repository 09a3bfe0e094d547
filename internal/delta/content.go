package delta

import (
	"strings"

	"flowplan/internal/ir"
)

// pairRow is a step through both functions at once: a paired statement, or one
// that only one side has.
type pairRow struct{ a, b *unit }

// merge walks both sequences in step. Statements that moved appear where they
// stood and where they stand.
func (d *differ) merge() []pairRow {
	var rows []pairRow
	i, j := 0, 0
	for i < len(d.a.units) || j < len(d.b.units) {
		switch {
		case i < len(d.a.units) && (d.a.units[i].mate == nil || d.a.units[i].moved):
			rows = append(rows, pairRow{a: d.a.units[i]})
			i++
		case j < len(d.b.units) && (d.b.units[j].mate == nil || d.b.units[j].moved):
			rows = append(rows, pairRow{b: d.b.units[j]})
			j++
		default:
			rows = append(rows, pairRow{d.a.units[i], d.b.units[j]})
			i++
			j++
		}
	}
	return rows
}

// content makes the change_block operations: runs of plain statements that
// were added, removed, rewritten or reordered.
func (d *differ) content() {
	var run *Op
	var last pairRow
	started := map[*unit]*Op{} // the operation of the half of a reordered pair seen first
	plainSince := map[*unit]bool{}
	for _, r := range d.merge() {
		if !d.changed(r) {
			run = nil
			u := r.a
			if u == nil {
				u = r.b
			}
			if u.header || u.isJump() {
				clear(plainSince)
			}
			continue
		}
		if run == nil || !d.sameRun(last, r) {
			run = nil
			if u := halfOf(r); u != nil && plainSince[u.mate] {
				run = started[u.mate]
			}
			if run == nil {
				run = &Op{Kind: ChangeBlock}
				d.ops = append(d.ops, run)
			}
		}
		if u := halfOf(r); u != nil {
			started[u] = run
			plainSince[u] = true
		}
		if r.a != nil {
			run.Head.Stmts = append(run.Head.Stmts, r.a.s)
		}
		if r.b != nil {
			run.Work.Stmts = append(run.Work.Stmts, r.b.s)
		}
		last = r
	}
	for _, o := range d.ops {
		if o.Kind != ChangeBlock {
			continue
		}
		for _, side := range []*Side{&o.Head, &o.Work} {
			if side.Anchor == nil && len(side.Stmts) > 0 {
				side.Anchor = side.Stmts[0]
			}
		}
	}
}

// halfOf is the moved unit of a row that shows one half of a reordered pair.
func halfOf(r pairRow) *unit {
	switch {
	case r.a == nil && r.b.moved:
		return r.b
	case r.b == nil && r.a.moved:
		return r.a
	}
	return nil
}

// changed reports whether a row is plain content that differs and that no
// other operation explains.
func (d *differ) changed(r pairRow) bool {
	u := r.a
	if u == nil {
		u = r.b
	}
	if u.kind == kindTry || d.explained(r.a) != nil || d.explained(r.b) != nil {
		return false
	}
	if r.a != nil && r.b != nil {
		if o := d.by[u]; o != nil {
			return false
		}
		if u.header {
			return d.renamedOnly(u)
		}
		return r.a.s.Text != r.b.s.Text || r.a.kind != r.b.kind
	}
	if u.header {
		return false
	}
	if u.mate != nil { // moved
		return d.by[u] == nil && !d.movedAlong(u)
	}
	return d.by[u] == nil && d.owner[u] == nil && d.enclosing(u) == nil && !u.isJump()
}

// renamedOnly reports whether a paired header differs in nothing but the name
// of a local that was renamed throughout.
func (d *differ) renamedOnly(u *unit) bool {
	return u.text == u.mate.text && u.s.Text != u.mate.s.Text
}

// sameRun reports whether a row goes on with the run of the one before it: the
// same basic block on a side that both have, else the same place.
func (d *differ) sameRun(last, r pairRow) bool {
	switch {
	case last.b != nil && r.b != nil && last.b.s != nil && r.b.s != nil:
		return d.vb.Graph.BlockOf[last.b.s.ID-1] == d.vb.Graph.BlockOf[r.b.s.ID-1]
	case last.a != nil && r.a != nil && last.a.s != nil && r.a.s != nil:
		return d.va.Graph.BlockOf[last.a.s.ID-1] == d.va.Graph.BlockOf[r.a.s.ID-1]
	case last.a != nil && r.b != nil:
		return d.samePlace(last.a, r.b)
	case last.b != nil && r.a != nil:
		return d.samePlace(r.a, last.b)
	}
	return false
}

// signature makes change_signature of a header that differs in more than the
// function's name.
func (d *differ) signature() {
	switch d.va.Func.Kind {
	case ir.FuncModule, ir.FuncClass:
		return
	}
	a := strings.Replace(d.va.Func.Signature, d.va.Func.Name, "", 1)
	b := strings.Replace(d.vb.Func.Signature, d.vb.Func.Name, "", 1)
	if a != b {
		d.ops = append([]*Op{{Kind: ChangeSignature}}, d.ops...)
	}
}

// regions fills, for every operation, the anchor on the side that lacks it and
// the regions of both sides.
func (d *differ) regions(out *Delta) {
	var fill func(o *Op)
	fill = func(o *Op) {
		d.region(&o.Head, &o.Work, d.a, d.b, o.headChain, d.va.Graph.BlockOf)
		d.region(&o.Work, &o.Head, d.b, d.a, o.workChain, d.vb.Graph.BlockOf)
		for _, p := range o.Parts {
			fill(p)
		}
	}
	for _, o := range out.Ops {
		if o.Kind != ChangeSignature {
			fill(o)
		}
	}
}

func (d *differ) region(here, there *Side, sd, other *side, chain []*ir.Stmt, blockOf []int) {
	in := map[*ir.Stmt]bool{}
	for _, s := range here.Stmts {
		in[s] = true
	}
	before, after := sd.around(here.Stmts)
	if len(there.Stmts) > 0 {
		b, a := other.around(there.Stmts)
		if len(here.Stmts) == 0 || len(there.Governs) > 0 {
			before, after = earlier(before, pairedBefore(other, b), sd), later(after, pairedAfter(other, a), sd)
		}
	}
	if here.Anchor == nil {
		switch {
		case len(here.Governs) > 0:
			here.Anchor = here.Governs[0]
		case after != nil:
			here.Anchor = after.s
		case before != nil:
			here.Anchor = before.s
		}
		if after != nil && before != nil && len(here.Governs) == 0 && len(there.Stmts) > 0 {
			// at the end of an arm, the statement before is nearer
			first := other.byS[there.Stmts[0]]
			if first != nil && after.mate != nil && after.mate.parent != first.parent && before.mate != nil && before.mate.parent == first.parent {
				here.Anchor = before.s
			}
		}
	}
	if len(there.Stmts) > 0 && len(here.Stmts) > 0 && sd.byS[here.Stmts[0]].moved {
		// a statement that moved: where it goes belongs to it as where it stood
		b, a := other.around(there.Stmts)
		for _, u := range []*unit{pairedBefore(other, b), pairedAfter(other, a)} {
			if u != nil {
				in[u.s] = true
			}
		}
	}
	if before != nil {
		in[before.s] = true
	}
	if after != nil {
		in[after.s] = true
	}
	if len(here.Stmts) == 0 && before != nil && after != nil {
		// what is gone just there counts as nearest too
		for i := before.index + 1; i < after.index; i++ {
			if u := sd.units[i]; u.s != nil && u.mate == nil {
				in[u.s] = true
			}
		}
	}
	for _, s := range chain {
		in[s] = true
	}
	blocks := map[int]bool{}
	for s := range in {
		blocks[blockOf[s.ID-1]] = true
	}
	for _, u := range sd.units {
		if u.s != nil && (in[u.s] || blocks[blockOf[u.s.ID-1]]) {
			here.Region = append(here.Region, u.s)
		}
	}
}

// around gives the units next to a set of statements in the text, before and
// after: a do's header stands behind its body there.
func (sd *side) around(set []*ir.Stmt) (before, after *unit) {
	if len(set) == 0 {
		return nil, nil
	}
	lo, hi := set[0].ID, set[0].ID
	for _, s := range set {
		lo, hi = min(lo, s.ID), max(hi, s.ID)
	}
	for _, u := range sd.units {
		switch {
		case u.s == nil:
		case u.s.ID < lo && (before == nil || u.s.ID > before.s.ID):
			before = u
		case u.s.ID > hi && (after == nil || u.s.ID < after.s.ID):
			after = u
		}
	}
	return before, after
}

// pairedBefore is the mate of the last unit at or before u that has one.
func pairedBefore(sd *side, u *unit) *unit {
	for u != nil {
		if u.mate != nil && u.mate.s != nil {
			return u.mate
		}
		if u.index == 0 {
			return nil
		}
		u = sd.units[u.index-1]
	}
	return nil
}

func pairedAfter(sd *side, u *unit) *unit {
	for u != nil {
		if u.mate != nil && u.mate.s != nil {
			return u.mate
		}
		if u.index+1 == len(sd.units) {
			return nil
		}
		u = sd.units[u.index+1]
	}
	return nil
}

func earlier(a, b *unit, _ *side) *unit {
	if a == nil || b != nil && b.index < a.index {
		return b
	}
	return a
}

func later(a, b *unit, _ *side) *unit {
	if a == nil || b != nil && b.index > a.index {
		return b
	}
	return a
}
