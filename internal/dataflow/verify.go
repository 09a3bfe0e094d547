package dataflow

import (
	"errors"
	"fmt"

	"flowplan/internal/ir"
)

// work is the greatest number of steps (definitions times effects) for which
// Verify recomputes the pairs by searching for paths.
const work = 400_000

// Verify checks what Chains promise:
//
//   - the states are a fixpoint: one more pass changes nothing;
//   - no definition in dead code reaches a use, and no use in dead code is
//     reached;
//   - every parameter is defined on entry;
//   - every live use of a local is reached by a definition or by unbound;
//   - the pairs are exactly those with a path from the definition to the use
//     on which nothing kills the definition (searched for, effect by effect,
//     where the function is small enough).
//
// The errors say all that is wrong; none means none.
func Verify(c *Chains) []error {
	v := &verifier{c: c}
	v.fixpoint()
	v.alive()
	v.entry()
	v.uses()
	v.paths()
	return v.errs
}

type verifier struct {
	c    *Chains
	errs []error
}

func (v *verifier) errorf(format string, args ...any) {
	v.errs = append(v.errs, errors.New(v.c.Graph.Func.QualifiedName+": dataflow: "+fmt.Sprintf(format, args...)))
}

func (v *verifier) place(p ir.Place) string { return v.c.Graph.Func.Vars[p.Var].Name + p.Path }

// pair names a pair in an error.
func (v *verifier) pair(d *Definition, use *ir.Stmt) string {
	return fmt.Sprintf("%s:%d(%s)->%d %q", v.place(d.Place), d.Line, d.Kind, use.Line, use.Text)
}

func (v *verifier) fixpoint() {
	s := newSolver(v.c.Graph)
	s.fixpoint()
	for p := range v.c.Graph.Points {
		if v.c.Graph.Points[p].Live && p != 0 && s.visit(p) {
			v.errorf("point %d changes in one more pass", p)
		}
	}
}

func (v *verifier) live(s *ir.Stmt) bool {
	for _, p := range v.c.Graph.Instances[s.ID-1] {
		if v.c.Graph.Points[p].Live {
			return true
		}
	}
	return false
}

func (v *verifier) alive() {
	for _, p := range v.c.Pairs {
		if p.Def.Stmt != nil && !v.live(p.Def.Stmt) {
			v.errorf("%s comes from dead code", v.pair(p.Def, p.Use))
		}
		if !v.live(p.Use) {
			v.errorf("%s goes to dead code", v.pair(p.Def, p.Use))
		}
	}
}

func (v *verifier) entry() {
	defined := map[int]bool{}
	for _, d := range v.c.Defs {
		if d.Kind == ir.DefParam && d.Place.Path == "" {
			defined[d.Place.Var] = true
		}
	}
	for _, p := range v.c.Graph.Func.Params {
		if !defined[p.Var] {
			v.errorf("parameter %s is not defined on entry", p.Name)
		}
	}
}

func (v *verifier) uses() {
	type read struct {
		use *ir.Stmt
		v   int
	}
	reached := map[read]bool{}
	for _, p := range v.c.Pairs {
		reached[read{p.Use, p.Def.Place.Var}] = true
	}
	for _, s := range v.c.Graph.Func.Stmts {
		if !v.live(s) {
			continue
		}
		check := func(e ir.Eval) {
			if e.Op == ir.OpUse && v.c.Graph.Func.Vars[e.Place.Var].Scope == ir.Local && !reached[read{s, e.Place.Var}] {
				v.errorf("%s at line %d %q is reached by nothing", v.place(e.Place), s.Line, s.Text)
			}
		}
		s.Pre.Walk(check)
		s.Eval.Walk(check)
	}
}

// paths compares the pairs with those that a search for paths finds.
func (v *verifier) paths() {
	w := newWeb(v.c.Graph)
	if len(v.c.Defs)*len(w.effects) > work {
		return
	}
	got := map[Pair]bool{}
	for _, p := range v.c.Pairs {
		if got[p] {
			v.errorf("%s is there twice", v.pair(p.Def, p.Use))
		}
		got[p] = true
	}
	for _, d := range v.c.Defs {
		want := w.reached(d)
		for use := range want {
			if !got[Pair{d, use}] {
				v.errorf("%s is missing", v.pair(d, use))
			}
		}
		for _, s := range v.c.Graph.Func.Stmts {
			if got[Pair{d, s}] && !want[s] {
				v.errorf("%s has no path without a kill", v.pair(d, s))
			}
		}
	}
}
