// Package hazard finds what an edit newly made suspicious in a function: it
// compares two views and reports only what the one before did not have.
//
// It warns; it grades nothing. Places that an inner function shares or whose
// address is taken are left alone, since their flow is not known.
//
//	before: x = 1; return x      after: if c: x = 1
//	                                    return x
//	possibly_unbound x at the return
package hazard

import (
	"sort"

	"flowplan/internal/cfg"
	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// The kinds of hazard, as in the JSON.
const (
	SyntaxError     = "syntax_error"
	UnboundUse      = "unbound_use"
	PossiblyUnbound = "possibly_unbound"
	Unreachable     = "unreachable"
	MissingReturn   = "missing_return"
	EndlessLoop     = "endless_loop"
	UseAfterFree    = "use_after_free"
	DoubleFree      = "double_free"
	Unreleased      = "unreleased"
)

// Hazard is one finding in the working text.
type Hazard struct {
	Kind    string
	Certain bool
	Line    int
	Place   string // what is unbound or not released; "" where it does not apply
}

// Compare lists the hazards that lead from d.Head to d.Work, certain ones
// first, then by line.
func Compare(d *delta.Delta) []Hazard {
	c := &comparison{d: d}
	c.syntax()
	if len(c.found) == 0 { // what could not be read says nothing about flow
		c.unbound()
		c.unreachable()
		c.missingReturn()
		c.endless()
		c.freed()
		c.unreleased()
	}
	sort.SliceStable(c.found, func(i, j int) bool {
		a, b := c.found[i], c.found[j]
		if a.Certain != b.Certain {
			return a.Certain
		}
		return a.Line < b.Line
	})
	return c.found
}

type comparison struct {
	d     *delta.Delta
	found []Hazard
}

func (c *comparison) add(kind string, certain bool, line int, place string) {
	c.found = append(c.found, Hazard{kind, certain, line, place})
}

// syntax reports what the working text has that cannot be read and HEAD had
// not.
func (c *comparison) syntax() {
	if n := len(unreadable(c.d.Head)); len(unreadable(c.d.Work)) > n {
		c.add(SyntaxError, true, unreadable(c.d.Work)[n], "")
	}
}

func unreadable(v *flow.View) []int {
	var lines []int
	for _, e := range v.ParseErrors() {
		lines = append(lines, v.File.Source.Line(e.Start))
	}
	for _, s := range v.Func.Stmts {
		if s.Reason != "" {
			lines = append(lines, s.Line)
		}
	}
	sort.Ints(lines)
	return lines
}

// bound says how a use of a variable is reached: by a definition, by one of a
// part of it, by none.
type bound struct{ by, partly, unbound bool }

// uses gathers, per statement and variable, whether definitions and `unbound`
// reach it.
func uses(v *flow.View) map[*ir.Stmt]map[int]bound {
	out := map[*ir.Stmt]map[int]bound{}
	for _, p := range v.Chains.Pairs {
		m := out[p.Use]
		if m == nil {
			m = map[int]bound{}
			out[p.Use] = m
		}
		b := m[p.Def.Place.Var]
		switch {
		case p.Def.Place.Path != "":
			b.partly = true
		case p.Def.Kind == ir.DefUnbound:
			b.unbound = true
		default:
			b.by = true
		}
		m[p.Def.Place.Var] = b
	}
	return out
}

// unbound reports uses that no definition reaches, or not on every path, where
// that was not so before.
func (c *comparison) unbound() {
	before, now := uses(c.d.Head), uses(c.d.Work)
	for _, s := range c.d.Work.Func.Stmts {
		for v, b := range now[s] {
			info := c.d.Work.Func.Vars[v]
			if !b.unbound || b.partly || info.Shared || info.Storage || info.AddressTaken || info.Scope != ir.Local {
				continue
			}
			if old := c.d.ToHead[s]; old != nil && c.was(before[old], info.Name, b) {
				continue
			}
			if b.by {
				c.add(PossiblyUnbound, false, s.Line, info.Name)
			} else {
				c.add(UnboundUse, true, s.Line, info.Name)
			}
		}
	}
}

// was reports whether HEAD's version of a use was unbound in the same way.
func (c *comparison) was(old map[int]bound, name string, b bound) bool {
	for v, o := range old {
		if c.d.Head.Func.Vars[v].Name == name && o.unbound && (b.by || !o.by) {
			return true
		}
	}
	return false
}

func live(v *flow.View, s *ir.Stmt) bool {
	for _, p := range v.Graph.Instances[s.ID-1] {
		if v.Graph.Points[p].Live {
			return true
		}
	}
	return false
}

// unreachable reports the first of each run of statements that can no longer
// be reached.
func (c *comparison) unreachable() {
	dead := false
	for _, s := range c.d.Work.Func.Stmts {
		if live(c.d.Work, s) {
			dead = false
			continue
		}
		old := c.d.ToHead[s]
		if !dead && (old == nil || live(c.d.Head, old)) && !c.headDead() {
			c.add(Unreachable, true, s.Line, "")
		}
		dead = true
	}
}

// headDead reports whether HEAD had as much dead code as the working text.
func (c *comparison) headDead() bool {
	count := func(v *flow.View) int {
		n := 0
		for _, s := range v.Func.Stmts {
			if !live(v, s) {
				n++
			}
		}
		return n
	}
	return count(c.d.Head) >= count(c.d.Work)
}

// missingReturn reports a path that falls off the end of a function that must
// return a value, or whose other paths do.
func (c *comparison) missingReturn() {
	line, mixed := fallsOff(c.d.Work)
	if !mixed {
		return
	}
	if _, before := fallsOff(c.d.Head); before {
		return
	}
	c.add(MissingReturn, true, line, "")
}

// fallsOff gives the line after which control falls off the end, if it does
// and other paths return a value, or all have to.
func fallsOff(v *flow.View) (line int, mixed bool) {
	if v.Func.Generator || v.Func.Kind == ir.FuncModule || v.Func.Kind == ir.FuncClass || v.Func.Result == ir.ResultNone {
		return 0, false
	}
	value := v.Func.Result == ir.ResultValue
	for _, s := range v.Func.Stmts {
		if s.Kind == ir.KindReturn && s.Text != "return" && s.Text != "return None" && live(v, s) {
			value = true
		}
	}
	for _, a := range v.Graph.Points[cfg.Exit].In {
		from := &v.Graph.Points[a.To]
		if a.Virtual || !from.Live || a.Role == cfg.Return || a.Role == cfg.Exception {
			continue
		}
		line = v.Func.Line // of an empty body
		if from.Stmt != nil {
			line = from.Stmt.Line
		}
		return line, value
	}
	return 0, false
}

// endless reports loops that could end and no longer can.
func (c *comparison) endless() {
	for _, s := range c.d.Work.Func.Stmts {
		old := c.d.ToHead[s]
		if old == nil || !loop(s) || !loop(old) || !live(c.d.Work, s) {
			continue
		}
		if !ends(c.d.Work, s) && ends(c.d.Head, old) {
			c.add(EndlessLoop, true, s.Line, "")
		}
	}
}

func loop(s *ir.Stmt) bool {
	switch s.Kind {
	case ir.KindWhile, ir.KindFor, ir.KindDo:
		return true
	}
	return false
}

// ends reports whether the function's end, or an exception, can be reached
// from a statement.
func ends(v *flow.View, s *ir.Stmt) bool {
	seen := map[int]bool{}
	work := append([]int(nil), v.Graph.Instances[s.ID-1]...)
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if p == cfg.Exit || p == cfg.RaiseTo {
			return true
		}
		for _, a := range v.Graph.Points[p].Out {
			if !a.Virtual && !seen[a.To] {
				seen[a.To] = true
				work = append(work, a.To)
			}
		}
	}
	return false
}
