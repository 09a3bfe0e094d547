// Package dataflow computes which definitions reach which uses of a function:
// reaching definitions over the points of its control-flow graph, and from
// them the def-use pairs.
//
// Definitions are must (they kill earlier ones of the place and of everything
// below it) or may (they add). An exception leaves a statement with the union
// of the states at the places where it may raise, so `x = g()` in a try lets
// the handler see the old x. Aliases are not followed, except as the lowerer
// says so with may-definitions.
//
//	1 def f(x):
//	2     y = g(x)      pairs: x 1->2, y 2->3
//	3     return y
package dataflow

import (
	"cmp"
	"slices"

	"flowplan/internal/cfg"
	"flowplan/internal/ir"
)

// Definition is a place given a value by a statement, or on entry.
type Definition struct {
	Place ir.Place
	Kind  ir.DefKind
	Stmt  *ir.Stmt // nil for param, capture and unbound
	May   bool     // the statement may run and leave the place as it was
	Order int      // its index in Chains.Defs
	Line  int      // first line of Stmt, or of the parameter; 0 for capture and unbound
	weak  bool     // kills nothing even where it does happen
}

// Pair is a definition and a use that it reaches.
type Pair struct {
	Def *Definition
	Use *ir.Stmt
}

// Chains are the definitions of a function and its def-use pairs, in the order
// of use, then of definition.
type Chains struct {
	Graph *cfg.Graph
	Defs  []*Definition
	Pairs []Pair
}

// Solve computes the chains of a graph.
func Solve(g *cfg.Graph) *Chains {
	s := newSolver(g)
	s.fixpoint()
	return s.chains()
}

// Reaching lists the definitions that reach a use, in source order.
func (c *Chains) Reaching(use *ir.Stmt) []*Definition {
	var out []*Definition
	for _, p := range c.Pairs {
		if p.Use == use {
			out = append(out, p.Def)
		}
	}
	return out
}

// related reports whether a definition of place d is seen by a use of place u:
// the same place, a prefix of it, or something below it.
func related(d, u ir.Place) bool {
	return d.Var == u.Var && (below(d.Path, u.Path) || below(u.Path, d.Path))
}

// below reports whether path is top or lies below it.
func below(path, top string) bool {
	if len(path) < len(top) || path[:len(top)] != top {
		return false
	}
	if len(path) == len(top) {
		return true
	}
	switch path[len(top)] {
	case '.', '[', '-', '*', '=':
		return true
	}
	return false
}

func (c *Chains) sort() {
	slices.SortFunc(c.Pairs, func(a, b Pair) int {
		return cmp.Or(
			cmp.Compare(a.Use.ID, b.Use.ID),
			cmp.Compare(a.Def.Place.Var, b.Def.Place.Var),
			cmp.Compare(a.Def.Place.Path, b.Def.Place.Path),
			cmp.Compare(stmtID(a.Def.Stmt), stmtID(b.Def.Stmt)),
			cmp.Compare(a.Def.Kind, b.Def.Kind),
		)
	})
}

func stmtID(s *ir.Stmt) int {
	if s == nil {
		return 0
	}
	return s.ID
}
