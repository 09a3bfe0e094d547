package delta

import (
	"strconv"

	"flowplan/internal/cfg"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// moves makes the operations of statements that both sides have but that go,
// or stand, elsewhere: rewire_edge where nothing above explains it.
func (d *differ) moves() {
	d.turnedGuards()
	for _, u := range d.a.units {
		v := u.mate
		if v == nil {
			continue
		}
		switch {
		case u.isJump() != v.isJump(), u.isJump() && u.kind != v.kind, d.aimsElsewhere(u, v):
			d.rewire(u, v)
		case d.explained(u) != nil && d.explained(u) == d.explained(v):
		case !d.samePlace(u, v) && !d.turned(u, v):
			d.rewire(u, v)
		case u.moved && u.header && !d.movedAlong(u):
			d.rewire(u, v)
		}
	}
	d.strayJumps(d.b, true)
	d.strayJumps(d.a, false)
}

// aimsElsewhere reports whether a jump with a label goes to another place now:
// a label that was only given another name is the same place.
func (d *differ) aimsElsewhere(u, v *unit) bool {
	switch u.kind {
	case ir.KindGoto, ir.KindBreak, ir.KindContinue:
	default:
		return false
	}
	if u.kind != v.kind || u.text == v.text {
		return false
	}
	from, to := aim(d.va, u.s), aim(d.vb, v.s)
	if from == nil || to == nil {
		return from != to
	}
	return d.a.byS[from].mate != d.b.byS[to]
}

// aim is the statement that a jump goes to; nil where it goes to none, or to
// several.
func aim(v *flow.View, s *ir.Stmt) *ir.Stmt {
	var out *ir.Stmt
	for _, p := range v.Graph.Instances[s.ID-1] {
		for _, a := range v.Graph.Points[p].Out {
			t := v.Graph.Points[a.To].Stmt
			if a.Virtual || a.Role == cfg.Exception {
				continue
			}
			if t == nil || out != nil && out != t {
				return nil
			}
			out = t
		}
	}
	return out
}

// movedAlong reports whether the construct around a moved unit moved with it,
// or had its arms swapped.
func (d *differ) movedAlong(u *unit) bool {
	p := u.parent
	return p != nil && p.mate == u.mate.parent && (p.moved || p.flip && u.arm != u.mate.arm)
}

// turnedGuards finds conditions that left and now enclose: `if c: return` with
// the rest behind it against `if not c:` with the rest inside. The changed
// condition explains the statements that moved into its arm and the jump that
// is gone.
func (d *differ) turnedGuards() {
	for _, u := range d.a.units {
		v := u.mate
		if v == nil || u.chain == nil || v.chain == nil || u.flip {
			continue
		}
		if d.by[u] == nil {
			continue
		}
		for _, side := range [][2]*unit{{u, v}, {v, u}} {
			guard, wrap := side[0], side[1]
			then := guard.arms["then"]
			if len(then) == 0 || !then[len(then)-1].isJump() {
				continue
			}
			last := then[len(then)-1]
			if last.mate != nil && last.mate.parent == wrap && last.mate.arm == "then" {
				continue
			}
			for _, k := range wrap.arms["then"] {
				if k.mate != nil && k.mate.parent == guard.parent && k.mate.arm == guard.arm && k.mate.index > guard.index {
					d.owner[last] = d.by[u]
					if d.by[u].Kind == ChangeCondition {
						d.owner[wrap] = d.by[u]
					}
					break
				}
			}
		}
	}
}

// turned reports whether a move is one that a turned guard explains.
func (d *differ) turned(u, v *unit) bool {
	for _, side := range [][2]*unit{{u, v}, {v, u}} {
		in, out := side[0], side[1]
		if p := in.parent; p != nil && p.mate != nil && d.owner[p] != nil && in.arm == "then" &&
			out.parent == p.mate.parent && out.index > p.mate.index {
			return true
		}
	}
	return false
}

func (d *differ) rewire(u, v *unit) {
	if d.enclosingMove(u) {
		return
	}
	o := &Op{Kind: RewireEdge}
	below := func(u *unit) []*ir.Stmt { return stmts(append([]*unit{u}, u.below()...)) }
	o.Head = Side{Anchor: anchorOf(u), Stmts: below(u), To: target(d.va, anchorOf(u))}
	o.Work = Side{Anchor: anchorOf(v), Stmts: below(v), To: target(d.vb, anchorOf(v))}
	if n := len(d.ops); n > 0 && d.continues(d.ops[n-1], u, v) {
		last := d.ops[n-1]
		last.Head.Stmts = append(last.Head.Stmts, o.Head.Stmts...)
		last.Work.Stmts = append(last.Work.Stmts, o.Work.Stmts...)
		last.Head.To, last.Work.To = o.Head.To, o.Work.To
		d.by[u], d.by[v] = last, last
		return
	}
	d.by[u], d.by[v] = o, o
	d.ops = append(d.ops, o)
}

// continues reports whether a unit is the next of a run that moved together.
func (d *differ) continues(o *Op, u, v *unit) bool {
	if o.Kind != RewireEdge || u.index == 0 || v.index == 0 || u.isJump() || v.isJump() {
		return false
	}
	p, q := d.a.units[u.index-1], d.b.units[v.index-1]
	for p.parent != nil && p.parent != u.parent {
		p = p.parent
	}
	for q.parent != nil && q.parent != v.parent {
		q = q.parent
	}
	return d.by[p] == o && d.by[q] == o && p.mate == q && p.parent == u.parent && q.parent == v.parent && p.arm == u.arm && q.arm == v.arm
}

// enclosingMove reports whether a construct around a unit is itself reported
// as moved to the same place.
func (d *differ) enclosingMove(u *unit) bool {
	for p, q := u.parent, u.mate.parent; p != nil && q != nil; p, q = p.parent, q.parent {
		if o := d.by[p]; o != nil && o.Kind == RewireEdge && p.mate == q {
			return true
		}
	}
	return false
}

func anchorOf(u *unit) *ir.Stmt {
	if u.s != nil {
		return u.s
	}
	for _, k := range u.below() {
		if k.s != nil {
			return k.s
		}
	}
	return nil
}

// strayJumps makes the operations of jumps that only one side has and that
// stand in no new or gone construct.
func (d *differ) strayJumps(sd *side, added bool) {
	for _, u := range sd.units {
		if u.mate != nil || !u.isJump() || d.owner[u] != nil || d.enclosing(u) != nil {
			continue
		}
		if o := d.besides(sd, u); o != nil {
			d.owner[u] = o
			continue
		}
		o := &Op{Kind: RewireEdge}
		here, v := &o.Work, d.vb
		if !added {
			here, v = &o.Head, d.va
		}
		*here = Side{Anchor: u.s, Stmts: []*ir.Stmt{u.s}, To: target(v, u.s)}
		d.by[u] = o
		d.ops = append(d.ops, o)
	}
}

// besides is the operation of a new or gone condition right before a jump that
// is new or gone with it: its other arm.
func (d *differ) besides(sd *side, u *unit) *Op {
	siblings := sd.siblings(u)
	for i, s := range siblings {
		if s == u && i > 0 {
			before := siblings[i-1]
			if before.header && before.mate == nil && before.chain != nil {
				return d.owner[before]
			}
		}
	}
	return nil
}

// target says where control goes from a statement: a line, exit or raise.
func target(v *flow.View, s *ir.Stmt) string {
	if s == nil {
		return ""
	}
	for _, p := range v.Graph.Instances[s.ID-1] {
		for _, a := range v.Graph.Points[p].Out {
			if a.Virtual || a.Role == cfg.Exception {
				continue
			}
			switch {
			case a.To == cfg.Exit:
				return cfg.ExitName
			case a.To == cfg.RaiseTo:
				return cfg.RaiseName
			case v.Graph.Points[a.To].Stmt != nil:
				return strconv.Itoa(v.Graph.Points[a.To].Stmt.Line)
			}
		}
	}
	return ""
}
