package cfg

import "flowplan/internal/ir"

// shape is what Verify needs to know of a function's structure, read off the
// IR and not off the graph.
type shape struct {
	arms      map[*ir.Stmt][]Role // the arms that a condition must have
	leaves    map[*ir.Stmt][]Role // the ways out of a statement with ways of its own
	inFinally map[*ir.Stmt]bool
	part      map[*ir.Stmt]int // the part of a try that a statement stands in, 0 outside of any
	parts     int
	hollow    bool // some try has an empty part: borders can be passed unseen
}

func shapeOf(f *ir.Func) *shape {
	sh := &shape{arms: map[*ir.Stmt][]Role{}, leaves: map[*ir.Stmt][]Role{}, inFinally: map[*ir.Stmt]bool{}, part: map[*ir.Stmt]int{}}
	sh.seq(f.Body, 0, false)
	return sh
}

// border begins a part of a try, or the body of a scope that may suppress.
func (sh *shape) border(body []ir.Node, finally bool) {
	sh.parts++
	sh.hollow = sh.hollow || len(body) == 0
	sh.seq(body, sh.parts, finally)
}

func (sh *shape) seq(body []ir.Node, part int, finally bool) {
	for _, n := range body {
		sh.node(n, part, finally)
	}
}

func (sh *shape) stmt(s *ir.Stmt, part int, finally bool, arms ...Role) {
	sh.part[s] = part
	sh.inFinally[s] = finally
	sh.arms[s] = arms
}

func (sh *shape) node(n ir.Node, part int, finally bool) {
	switch n := n.(type) {
	case *ir.If:
		sh.stmt(n.S, part, finally, True, False)
	case *ir.Loop:
		sh.stmt(n.S, part, finally, loopArms(n)...)
	case *ir.Assert:
		sh.stmt(n.S, part, finally, True, False)
	case *ir.Match:
		sh.stmt(n.S, part, finally)
		for _, c := range n.Cases {
			sh.stmt(c.S, part, finally, True, False)
			if c.Irrefutable {
				sh.stmt(c.S, part, finally, True)
			}
		}
	case *ir.Try:
		sh.try(n, part, finally)
		return
	case *ir.Scope:
		sh.stmt(n.S, part, finally)
		if n.Suppress {
			sh.border(n.Body, finally)
			return
		}
	case *ir.Config:
		for _, a := range n.Arms {
			sh.stmt(a.S, part, finally)
		}
	case *ir.Leaves:
		sh.stmt(n.S, part, finally)
		for _, e := range n.Exits {
			sh.leaves[n.S] = append(sh.leaves[n.S], ways[e.Kind]...)
		}
	default:
		sh.stmt(ir.StmtOf(n), part, finally)
	}
	for _, body := range ir.Bodies(n) {
		sh.seq(body, part, finally)
	}
}

func (sh *shape) try(n *ir.Try, part int, finally bool) {
	sh.border(n.Body, finally)
	for i, h := range n.Handlers {
		arms := []Role{True, False}
		last := i == len(n.Handlers)-1
		if h.CatchAll || last && !n.Group { // the last hands on by raising; of a group it may find nothing left
			arms = arms[:1]
		}
		sh.stmt(h.S, part, finally, arms...)
		sh.border(h.Body, finally || n.Rethrows)
	}
	if len(n.Else) > 0 {
		sh.border(n.Else, finally)
	}
	if len(n.Finally) > 0 {
		sh.border(n.Finally, true)
	}
}

func loopArms(n *ir.Loop) []Role {
	switch {
	case n.Kind == ir.Foreach:
		return []Role{Iter, Done}
	case n.Kind == ir.Forever, n.Kind == ir.DoForever, n.Kind == ir.For && n.S.Cond == nil:
		return []Role{True}
	case n.Kind == ir.Never, n.Kind == ir.Once:
		return []Role{False}
	}
	return []Role{True, False}
}
