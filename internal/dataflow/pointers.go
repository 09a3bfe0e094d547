package dataflow

import (
	"slices"

	"flowplan/internal/cfg"
	"flowplan/internal/ir"
)

// Resolve settles what stores through pointers may define, before Solve: every
// ir.OpStore of the function becomes may-definitions of the variables that the
// definitions of the pointer which reach it say it points to, and of every
// variable whose address is taken where one of them does not say.
//
// Pointers are followed through variables alone, not through memory: a pointer
// that is itself stored through another one counts as unknown.
func Resolve(g *cfg.Graph) {
	if !stores(g.Func) {
		return
	}
	s := newSolver(g)
	s.fixpoint()
	points := map[*ir.Stmt]map[ir.Place]*ir.Points{}
	for _, st := range g.Func.Stmts {
		note := func(e ir.Eval) {
			if e.Op == ir.OpDef && e.Place.Path == "" && e.Points != nil {
				if points[st] == nil {
					points[st] = map[ir.Place]*ir.Points{}
				}
				points[st][e.Place] = e.Points
			}
		}
		st.Pre.Walk(note)
		st.Eval.Walk(note)
	}
	r := &pointers{s: s, points: points, targets: map[site][]int{}}
	s.store = r.store
	for p := range g.Points {
		if g.Points[p].Live && g.Points[p].Stmt != nil {
			s.run(p)
		}
	}
	for _, st := range g.Func.Stmts {
		st.Pre = r.rewrite(st, st.Pre)
		st.Eval = r.rewrite(st, st.Eval)
	}
}

func stores(f *ir.Func) bool {
	found := false
	for _, st := range f.Stmts {
		look := func(e ir.Eval) { found = found || e.Op == ir.OpStore }
		st.Pre.Walk(look)
		st.Eval.Walk(look)
	}
	return found
}

type pointers struct {
	s       *solver
	points  map[*ir.Stmt]map[ir.Place]*ir.Points
	targets map[site][]int
}

// store notes what a store through a pointer may write, given the definitions
// that reach it.
func (r *pointers) store(place ir.Place, st set) {
	k := site{stmt: r.s.stmt, place: place}
	seen := map[int]bool{}
	for _, v := range r.targets[k] {
		seen[v] = true
	}
	for _, i := range r.s.byVar[place.Var] {
		if st.has(i) && r.s.defs[i].Place.Path == "" {
			r.add(seen, r.s.defs[i], map[*Definition]bool{})
		}
	}
	list := make([]int, 0, len(seen))
	for v := range seen {
		list = append(list, v)
	}
	slices.Sort(list)
	r.targets[k] = list
}

func (r *pointers) add(seen map[int]bool, d *Definition, done map[*Definition]bool) {
	if done[d] {
		return
	}
	done[d] = true
	if d.Kind == ir.DefParam || d.Kind == ir.DefUnbound { // no address of a local exists before the function runs
		return
	}
	var p *ir.Points
	if d.Stmt != nil {
		p = r.points[d.Stmt][d.Place]
	}
	if p == nil {
		for v, info := range r.s.g.Func.Vars {
			if info.AddressTaken {
				seen[v] = true
			}
		}
		return
	}
	for _, v := range p.Vars {
		seen[v] = true
	}
	if p.Moved {
		for _, i := range r.s.byVar[d.Place.Var] {
			if r.s.defs[i].Place.Path == "" {
				r.add(seen, r.s.defs[i], done)
			}
		}
	}
}

// rewrite replaces the stores in a tree of effects.
func (r *pointers) rewrite(st *ir.Stmt, e ir.Eval) ir.Eval {
	if e.Op == ir.OpStore {
		out := ir.Eval{Op: ir.OpNop}
		for _, v := range r.targets[site{stmt: st, place: e.Place}] {
			out.Op = ir.OpSeq
			out.Kids = append(out.Kids, ir.Eval{Op: ir.OpDef, Place: ir.Place{Var: v}, May: true})
		}
		return out
	}
	if len(e.Kids) > 0 {
		kids := make([]ir.Eval, len(e.Kids))
		for i, k := range e.Kids {
			kids[i] = r.rewrite(st, k)
		}
		e.Kids = kids
	}
	return e
}
