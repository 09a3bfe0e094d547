package delta

import (
	"slices"
	"sort"

	"flowplan/internal/cfg"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// differ compares two sides; a is the one before.
type differ struct {
	va, vb  *flow.View
	a, b    *side
	names   map[string]string // locals of a by their name in b
	similar map[[2]*unit]float32

	ops   []*Op
	owner map[*unit]*Op  // of the headers that are new or gone: their operation
	arms  map[armKey]*Op // of the arms that are new or gone
	by    map[*unit]*Op  // of changed headers: their operation
}

type armKey struct {
	owner *unit
	arm   string
}

func diff(head, work *flow.View) *Delta {
	d := &differ{
		va: head, vb: work, a: newSide(head.Func), b: newSide(work.Func),
		similar: map[[2]*unit]float32{}, owner: map[*unit]*Op{}, arms: map[armKey]*Op{}, by: map[*unit]*Op{},
	}
	markJumps(head, d.a)
	markJumps(work, d.b)
	d.names = findNames(head, work, d.a, d.b)
	if len(d.names) > 0 {
		for _, u := range d.a.units {
			u.setText(renamed(u.text, d.names))
		}
		for i := len(d.a.units) - 1; i >= 0; i-- {
			d.a.units[i].summarise()
		}
	}
	d.align()
	d.changedHeaders()
	d.wholeConstructs()
	d.moves()
	d.content()
	d.signature()

	out := &Delta{Head: head, Work: work, Ops: d.ops, ToWork: map[*ir.Stmt]*ir.Stmt{}, ToHead: map[*ir.Stmt]*ir.Stmt{}}
	for _, u := range d.a.units {
		if u.mate != nil && u.s != nil && u.mate.s != nil {
			out.ToWork[u.s], out.ToHead[u.mate.s] = u.mate.s, u.s
		}
	}
	out.Data = d.data(out)
	d.regions(out)
	out.order()
	return out
}

// markJumps finds the calls that never come back.
func markJumps(v *flow.View, sd *side) {
	for _, u := range sd.units {
		if u.s == nil || u.s.Callee == "" {
			continue
		}
		goesOn := false
		for _, p := range v.Graph.Instances[u.s.ID-1] {
			for _, a := range v.Graph.Points[p].Out {
				goesOn = goesOn || a.Role != cfg.Raise && a.Role != cfg.Exception && !a.Virtual
			}
		}
		u.jumps = u.jumps || !goesOn
	}
}

// order sorts operations by where they stand, the working text first.
func (d *Delta) order() {
	line := func(o *Op) int {
		if o.Work.Anchor != nil {
			return o.Work.Anchor.ID * 2
		}
		if o.Head.Anchor != nil {
			return o.Head.Anchor.ID * 2
		}
		return 0
	}
	sort.SliceStable(d.Ops, func(i, j int) bool {
		a, b := d.Ops[i], d.Ops[j]
		if (a.Kind == ChangeSignature) != (b.Kind == ChangeSignature) {
			return a.Kind == ChangeSignature
		}
		return line(a) < line(b)
	})
}

// changedHeaders makes the operations of paired headers: another condition,
// another kind of construct, another exception type.
func (d *differ) changedHeaders() {
	for _, u := range d.a.units {
		v := u.mate
		if v == nil || !u.header || u.kind == kindTry {
			continue
		}
		if u.kind != v.kind {
			kind := ChangeCondition
			switch {
			case !isLoop(u.kind) && isLoop(v.kind):
				kind = AddLoop
			case isLoop(u.kind) && !isLoop(v.kind):
				kind = RemoveLoop
			}
			d.headerOp(kind, u, v)
			continue
		}
		if (u.text == v.text || u.flip) && sameAround(u, v) {
			continue
		}
		switch u.kind {
		case ir.KindHandler, ir.KindWith:
			d.headerOp(ChangeHandler, u, v)
		case ir.KindPreproc:
			d.headerOp(ChangeBlock, u, v)
		default:
			d.headerOp(ChangeCondition, u, v)
		}
	}
}

// sameAround reports whether the init and post of two loops are the same.
func sameAround(u, v *unit) bool { return slices.EqualFunc(u.around, v.around, equal) }

func (d *differ) headerOp(kind Kind, u, v *unit) *Op {
	o := &Op{Kind: kind}
	o.Head = Side{Anchor: u.s, Stmts: []*ir.Stmt{u.s}, Governs: stmts(u.governed()), Cond: u.s.Cond, Text: u.s.Condition()}
	o.Work = Side{Anchor: v.s, Stmts: []*ir.Stmt{v.s}, Governs: stmts(v.governed()), Cond: v.s.Cond, Text: v.s.Condition()}
	o.Head.Stmts, o.Work.Stmts = append(o.Head.Stmts, stmts(u.around)...), append(o.Work.Stmts, stmts(v.around)...)
	d.by[u], d.by[v] = o, o
	d.ops = append(d.ops, o)
	return o
}

// explained is the operation on the loop that a statement is the init or post
// of, where that has one: it tells what became of them.
func (d *differ) explained(u *unit) *Op {
	if u == nil || u.loop == nil {
		return nil
	}
	if o := d.owner[u.loop]; o != nil {
		return o
	}
	return d.by[u.loop]
}

// governed lists what stands in a header's own arms: of an if its then, and
// its else where it has no elif.
func (u *unit) governed() []*unit { return u.below() }

func stmts(units []*unit) []*ir.Stmt {
	var out []*ir.Stmt
	for _, u := range units {
		if u.s != nil {
			out = append(out, u.s)
		}
	}
	return out
}

// wholeConstructs makes the operations of constructs and arms that only one
// side has.
func (d *differ) wholeConstructs() {
	d.absorb()
	d.constructs(d.b, true)
	d.constructs(d.a, false)
}

// absorb finds conditions that became part of a neighbouring one, or came out
// of it: two ifs merged or split. The neighbour's change_condition explains
// them.
func (d *differ) absorb() {
	for _, sd := range []*side{d.a, d.b} {
		for _, r := range sd.units {
			if r.mate != nil || r.chain == nil || r.s.Cond == nil || len(r.arms["else"]) > 0 {
				continue
			}
			for _, p := range sd.neighbours(r) {
				o := d.by[p]
				if o == nil || o.Kind != ChangeCondition || p.s.Cond == nil || p.mate.s.Cond == nil {
					continue
				}
				if d.holds(p.mate, r, sd) && !d.holds(p, r, sd) {
					d.owner[r] = o
					if sd == d.a {
						o.Head.Stmts = append(o.Head.Stmts, r.s)
					} else {
						o.Work.Stmts = append(o.Work.Stmts, r.s)
					}
					break
				}
			}
		}
	}
}

// guards reports whether an if stands first in a loop and leaves it: what a
// condition of the loop itself may have taken over.
func (u *unit) guards(r *unit) bool {
	body := u.arms["body"]
	return isLoop(u.kind) && len(body) > 0 && body[0] == r && leavesOn(r.arms["then"], false, false)
}

// neighbours lists the ifs around, inside or next to an if, and the loop that
// it is the first statement of.
func (sd *side) neighbours(r *unit) []*unit {
	var out []*unit
	if r.parent != nil && (r.parent.chain != nil || r.parent.guards(r)) {
		out = append(out, r.parent)
	}
	for _, k := range r.arms["then"] {
		if k.chain != nil {
			out = append(out, k)
		}
	}
	siblings := sd.siblings(r)
	for i, s := range siblings {
		if s != r {
			continue
		}
		if i > 0 && siblings[i-1].chain != nil {
			out = append(out, siblings[i-1])
		}
		if i+1 < len(siblings) && siblings[i+1].chain != nil {
			out = append(out, siblings[i+1])
		}
	}
	var paired []*unit
	for _, p := range out {
		if p.mate != nil {
			paired = append(paired, p)
		}
	}
	return paired
}

func (sd *side) siblings(u *unit) []*unit {
	if u.parent == nil {
		return sd.top
	}
	return u.parent.arms[u.arm]
}

// holds reports whether a header's condition has that of r, or all of its
// parts, among its operands, asserted or negated.
func (d *differ) holds(p, r *unit, rSide *side) bool {
	asInB := func(u *unit, isA bool) *ir.Cond {
		if isA {
			return d.condA(u.s.Cond)
		}
		return u.s.Cond
	}
	whole := asInB(p, d.a.byS[p.s] == p).Operands()
	part := asInB(r, rSide == d.a)
	if whole[part.Positive().String()] {
		return true
	}
	for op := range part.Operands() {
		if !whole[op] {
			return false
		}
	}
	return true
}

// constructs makes one operation for each outermost construct or arm of a
// side that the other side has not; what is inside is its parts.
func (d *differ) constructs(sd *side, added bool) {
	for _, u := range sd.units {
		if !u.header {
			continue
		}
		if u.mate == nil {
			if d.owner[u] == nil {
				d.whole(sd, u, added)
			}
			continue
		}
		for _, arm := range []string{"else", "finally"} {
			d.newArm(sd, u, arm, added)
		}
	}
}

// newArm makes the operation of an else or finally that the paired construct
// lacks. An else that only re-lays what followed is none.
func (d *differ) newArm(sd *side, u *unit, arm string, added bool) {
	kids := u.arms[arm]
	if len(kids) == 0 {
		return
	}
	other := u.mate
	if u.chain != nil {
		if u.chain.elseOf != u || u.chain.mate == nil || u.chain.mate.elseOf != nil {
			return
		}
		if u.flip {
			return
		}
		if c := u.chain.mate; len(c.ifs) > len(u.chain.ifs) && u.chain.relaxed {
			return
		}
	} else if len(other.arms[arm]) > 0 {
		return
	}
	for _, k := range kids {
		if k.mate != nil && (u.chain == nil || u.chain.relaxed) {
			return // what stood elsewhere: the statements' own moves tell it
		}
		if k.mate != nil && u.chain != nil && k.mate.chain == u.chain.mate {
			return // `else: if c:` and `elif c:` are the same
		}
		if o := d.becameArm(u, k); o != nil {
			d.arms[armKey{u, arm}] = o
			return
		}
	}
	kind := AddBranch
	if u.kind == kindTry {
		kind = AddHandler
	}
	var all []*unit
	for _, k := range kids {
		all = append(append(all, k), k.below()...)
	}
	o := d.record(sd, u, kind, all, added)
	d.arms[armKey{u, arm}] = o
	d.anchorChain(o, u)
}

// anchorChain notes the chain that an arm belongs to: any condition of it
// anchors its arms.
func (d *differ) anchorChain(o *Op, u *unit) {
	if u.chain == nil || u.chain.mate == nil {
		return
	}
	for _, i := range append(slices.Clone(u.chain.ifs), u.chain.mate.ifs...) {
		if d.a.byS[i.s] == i {
			o.headChain = append(o.headChain, i.s)
		} else {
			o.workChain = append(o.workChain, i.s)
		}
	}
}

// becameArm is the operation of the new elif that what stood in an else, of
// which k is a part, now stands in: `else: x` against `elif c: x`.
func (d *differ) becameArm(u, k *unit) *Op {
	if u.chain == nil || k.mate == nil {
		return nil
	}
	if p := k.mate.parent; p != nil && p.mate == nil && p.chain == u.chain.mate && p.chain != nil {
		return d.owner[p]
	}
	return nil
}

// whole makes the operation of a header that only one side has.
func (d *differ) whole(sd *side, u *unit, added bool) {
	if u.config != nil {
		d.wholeConfig(sd, u, added)
		return
	}
	kind := d.classify(sd, u)
	members := []*unit{u}
	if u.chain != nil && u.chain.mate == nil {
		for _, other := range u.chain.ifs {
			if other != u && other.mate == nil && d.owner[other] == nil {
				members = append(members, other)
			}
		}
	}
	var all []*unit
	for _, m := range members {
		if m.s != nil {
			all = append(all, m)
		}
		for _, k := range m.around { // the post stands below
			if k.arm != "post" && k.mate == nil {
				all = append(all, k)
			}
		}
		all = append(all, m.below()...)
	}
	o := d.record(sd, u, kind, all, added)
	for _, m := range members {
		d.owner[m] = o
	}
	d.anchorChain(o, u)
	d.parts(sd, o, members, added)
}

// wholeConfig makes the operation of the lines of an #if that only one side
// has. What a build is configured to leave out is no condition of the program:
// it is content, and so are the plain statements and jumps in its arms. A
// construct in an arm is an operation of its own, as it would be without: else
// a plan for content would cover any control flow that an #if is put around.
func (d *differ) wholeConfig(sd *side, u *unit, added bool) {
	var all, lines []*unit
	var take func(u *unit)
	take = func(u *unit) {
		lines = append(lines, u)
		all = append(all, u)
		for _, k := range u.arms["then"] {
			switch {
			case k.config != nil && k.mate == nil:
				take(k)
			case !k.header:
				all = append(all, k)
			}
		}
	}
	for _, k := range sd.siblings(u) {
		if k.config == u.config && k.mate == nil && d.owner[k] == nil {
			take(k)
		}
	}
	o := d.record(sd, u, ChangeBlock, all, added)
	for _, k := range lines {
		d.owner[k] = o
	}
}

// parts adds what a plan may name of a new construct instead of the whole: its
// further arms, its handlers, its statements, its jumps. Constructs inside it
// add themselves when their turn comes.
func (d *differ) parts(sd *side, o *Op, members []*unit, added bool) {
	part := func(kind Kind, head *unit, all []*unit) {
		p := &Op{Kind: kind}
		here := &p.Work
		if !added {
			p.Kind = kind.Inverse()
			here = &p.Head
		}
		here.Stmts = stmts(all)
		if len(here.Stmts) == 0 {
			return
		}
		here.Anchor = here.Stmts[0]
		if head != nil && head.s != nil {
			here.Cond, here.Text = head.s.Cond, head.s.Condition()
		}
		o.Parts = append(o.Parts, p)
	}
	for i, m := range members {
		if i > 0 {
			part(AddBranch, m, append([]*unit{m}, m.arms["then"]...))
		}
		if m.chain != nil && len(m.arms["else"]) > 0 && m.chain.elseOf == m {
			part(AddBranch, nil, m.arms["else"])
		}
		for i, h := range m.arms["handlers"] {
			if i > 0 && h.mate == nil {
				part(AddHandler, h, append([]*unit{h}, h.below()...))
			}
		}
	}
	var plain []*unit
	for _, m := range members {
		for _, k := range m.below() {
			switch {
			case k.header || k.mate != nil:
			case k.isJump():
				part(RewireEdge, nil, []*unit{k})
			default:
				plain = append(plain, k)
			}
		}
	}
	part(ChangeBlock, nil, plain)
}

// classify names a construct that is wholly new; the name of its removal is
// the inverse.
func (d *differ) classify(sd *side, u *unit) Kind {
	switch {
	case u.kind == kindTry, u.kind == ir.KindWith, u.kind == ir.KindHandler:
		return AddHandler
	case isLoop(u.kind):
		return AddLoop
	case u.kind == ir.KindCase:
		return AddBranch
	case u.chain != nil && u.chain.mate != nil:
		return AddBranch
	}
	arms := [][]*unit{}
	switch {
	case u.chain != nil:
		for _, i := range u.chain.ifs {
			arms = append(arms, i.arms["then"])
		}
		if u.chain.elseOf != nil && !u.chain.relaxed {
			arms = append(arms, u.chain.elseOf.arms["else"])
		}
	default:
		for _, c := range u.arms["cases"] {
			arms = append(arms, c.arms["then"])
		}
		arms = append(arms, u.arms["body"])
	}
	for _, a := range arms {
		if leavesOn(a, false, false) {
			return AddGuard
		}
	}
	if u.chain != nil && len(u.chain.ifs) == 1 && u.chain.elseOf == nil {
		for _, k := range u.below() {
			if k.mate != nil {
				return AddGuard
			}
		}
	}
	return AddBranch
}

// record adds the operation of a construct or arm with everything in it; one
// inside another construct of the same kind becomes a part of that.
func (d *differ) record(sd *side, u *unit, kind Kind, all []*unit, added bool) *Op {
	o := &Op{Kind: kind}
	here, there := &o.Work, &o.Head
	if !added {
		o.Kind = kind.Inverse()
		here, there = there, here
	}
	here.Stmts = stmts(all)
	if len(here.Stmts) > 0 {
		here.Anchor = here.Stmts[0]
	}
	for _, k := range all {
		if k != u {
			if k.s != nil {
				here.Governs = append(here.Governs, k.s)
			}
			if k.mate != nil && k.mate.s != nil {
				there.Governs = append(there.Governs, k.mate.s)
				there.Stmts = append(there.Stmts, k.mate.s)
			}
		}
	}
	if u.s != nil && u.mate == nil {
		here.Cond, here.Text = u.s.Cond, u.s.Condition()
	}
	if u.kind == kindTry && u.mate == nil {
		for _, h := range u.arms["handlers"] {
			if here.Text == "" {
				here.Text = h.s.Condition()
			}
		}
	}
	outer := d.enclosing(u)
	if kind.Structural() {
		outer = d.enclosingStructure(u)
	}
	if outer != nil {
		outer.Parts = append(outer.Parts, o)
	} else {
		d.ops = append(d.ops, o)
	}
	return o
}

// enclosing is the operation of the innermost new or gone construct or arm
// around a unit.
func (d *differ) enclosing(u *unit) *Op { return d.holder(u, false) }

// enclosingStructure is the same, the lines of an #if aside: a new one around a
// new condition does not make the condition a part of content.
func (d *differ) enclosingStructure(u *unit) *Op { return d.holder(u, true) }

func (d *differ) holder(u *unit, structure bool) *Op {
	if u.chain != nil {
		for _, i := range u.chain.ifs {
			if o := d.owner[i]; o != nil && i != u {
				if i.mate == nil && u.mate == nil {
					return o
				}
			}
		}
	}
	for p, arm := u.parent, u.arm; p != nil; p, arm = p.parent, p.arm {
		if o := d.arms[armKey{p, arm}]; o != nil {
			return o
		}
		if p.mate == nil && !(structure && p.config != nil) {
			if o := d.owner[p]; o != nil {
				return o
			}
		}
	}
	return nil
}

// spot is the innermost construct around a unit that both sides have, and the
// arm of it.
type spot struct {
	owner *unit
	chain *chain
	arm   string
}

// place climbs out of constructs and arms that only this side has. An elif
// stands in the else of what is before it, unless all of that is new or gone.
func (d *differ) place(u *unit) spot {
	if u.elif && u.mate != nil && u.mate.chain != u.chain.mate {
		for _, before := range u.chain.ifs {
			if before == u {
				break
			}
			if before.mate != nil {
				return spot{chain: u.chain, arm: "else"}
			}
		}
	}
	for p, arm := u.parent, u.arm; p != nil; p, arm = p.parent, p.arm {
		if p.chain != nil && arm == "else" {
			c := p.chain
			if c.relaxed || c.mate == nil || d.arms[armKey{p, arm}] != nil || c.mate.elseOf != nil && c.mate.relaxed {
				continue
			}
			return spot{chain: c, arm: arm}
		}
		if p.mate == nil && p.kind == ir.KindCase && p.arm == "cases" && p.parent.kind == ir.KindSwitch {
			// without the label its statements belong to the one before
			if before := p.labelBefore(); before != nil {
				return spot{owner: before, arm: "then"}
			}
		}
		if p.mate == nil || d.arms[armKey{p, arm}] != nil {
			continue
		}
		return spot{owner: p, arm: arm}
	}
	return spot{}
}

// samePlace reports whether a paired unit stands where it stood.
func (d *differ) samePlace(u, v *unit) bool {
	p, q := d.place(u), d.place(v)
	if p.owner != nil && p.owner.flip && p.owner.chain != nil {
		// arms swapped along with the condition
		if q.chain == p.owner.chain.mate && q.arm == "else" && p.arm == "then" {
			return true
		}
		return false
	}
	if p.chain != nil && q.owner != nil && q.owner.flip {
		return q.owner.chain == p.chain.mate && q.arm == "then"
	}
	if p.chain != nil || q.chain != nil {
		return p.chain != nil && q.chain == p.chain.mate && p.arm == q.arm
	}
	if p.owner == nil || q.owner == nil {
		return p.owner == q.owner
	}
	return p.owner.mate == q.owner && mainArm(p.arm) == mainArm(q.arm)
}

// labelBefore is the paired label of a switch next before one that is not.
func (u *unit) labelBefore() *unit {
	var before *unit
	for _, l := range u.parent.arms["cases"] {
		if l == u {
			return before
		}
		if l.mate != nil {
			before = l
		}
	}
	return nil
}

// mainArm calls the first arm of an if and the body and post of a loop by one
// name: an if may have become a loop, and a while a for.
func mainArm(arm string) string {
	if arm == "then" || arm == "post" {
		return "body"
	}
	return arm
}
