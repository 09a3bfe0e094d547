package oracle

import (
	"strings"

	"flowplan/internal/cfg"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// The normalisations, all of them:
//
//  1. Statements that gcc's dump has no node for are passed through on
//     flowplan's side: jumps, labels, declarations without a value, `return;`,
//     expressions without effect, #if lines (contractible and passed).
//  2. Several nodes of gcc's within one statement (short circuits, ?:, macros)
//     are one node; a statement that follows itself is not compared, as gcc
//     cannot tell its parts from a loop around it alone.
//  3. A condition that gcc folded away, with an arm that it dropped, loses that
//     arm on flowplan's side (pruned): gcc decides constants that need the
//     values of macros of other files.
//  4. Of a conditional the arm that gcc compiled stays (configured).
//  5. A call of a function of the same file from which gcc's own graph shows no
//     way back ends gcc's path, as it ends flowplan's (stops).
//  6. Blocks that exceptions alone enter are left out, and on flowplan's side
//     exception edges: the normal flow of both is compared, the inside of
//     handlers too, how a handler is entered is not. So are the edges by which
//     a longjmp comes back to a setjmp.
//  7. Instances of one template, and copies that gcc makes of a constructor, are
//     put together: their edges and pairs are united.
//  8. Pairs are compared for variables that are registers to gcc: plain locals
//     whose address is not taken, and whose name stands for nothing else in the
//     function that lives in memory. Of a pair both statements must be known to
//     gcc, and be two: gcc takes a statement apart, so a pair within one is not
//     told from one around a loop. What no definition reaches is left out.
//  9. assert(0), which gcc sees as the end when NDEBUG is not defined, ends
//     flowplan's path, too, where gcc says so (falseAsserts).

// passed reports a statement of flowplan's that need not be in gcc's dump.
func passed(s *ir.Stmt) bool {
	switch s.Kind {
	case ir.KindBreak, ir.KindContinue, ir.KindGoto, ir.KindLabel, ir.KindCase, ir.KindPreproc, ir.KindHandler, ir.KindFallthrough, ir.KindClass, ir.KindImport:
		return true
	}
	return false
}

// arcs are the ways on from a point that are compared.
func arcs(v *flow.View, p int, dropped map[arc]bool) []int {
	var out []int
	for _, a := range v.Graph.Points[p].Out {
		if a.Virtual || a.Role == cfg.Exception || dropped[arc{p, a.To}] {
			continue
		}
		if from := v.Graph.Points[p].Stmt; a.Role == cfg.Raise && from != nil && a.To != cfg.RaiseTo {
			continue // to a handler
		}
		out = append(out, a.To)
	}
	return out
}

type arc struct{ from, to int }

// configured drops the arms of conditionals that gcc did not compile.
func configured(v *flow.View, active map[int]bool, dropped map[arc]bool) {
	var visit func(nodes []ir.Node)
	visit = func(nodes []ir.Node) {
		for _, n := range nodes {
			if c, ok := n.(*ir.Config); ok {
				arms(v, c, active, dropped)
			}
			for _, b := range ir.Bodies(n) {
				visit(b)
			}
		}
	}
	visit(v.Func.Body)
}

func arms(v *flow.View, c *ir.Config, active map[int]bool, dropped map[arc]bool) {
	taken := -1
	for i, a := range c.Arms {
		for _, s := range statements(a.Body) {
			for l := s.Line; l <= s.EndLine && taken < 0; l++ {
				if active[l] {
					taken = i
				}
			}
		}
	}
	for i, a := range c.Arms {
		if i == taken || taken < 0 && !compiles(a.Body) {
			continue
		}
		for _, s := range append(statements(a.Body), a.S) { // a label in it has ways in of its own
			for _, p := range v.Graph.Instances[s.ID-1] {
				for _, x := range v.Graph.Points[p].In {
					dropped[arc{x.To, p}] = true
				}
				for _, x := range v.Graph.Points[p].Out {
					dropped[arc{p, x.To}] = true
				}
			}
		}
	}
	if taken < 0 {
		return
	}
	// Whatever enters the arm that is taken does not pass all arms by.
	for _, p := range v.Graph.Instances[c.Arms[taken].S.ID-1] {
		for _, in := range v.Graph.Points[p].In {
			if dropped[arc{in.To, p}] { // past a conditional before this one
				continue
			}
			for _, x := range v.Graph.Points[in.To].Out {
				if x.To != p && !isArm(v, c, x.To) && (x.Role == in.Role || x.Role == cfg.ElseConfig && in.Role == cfg.IfConfig) {
					dropped[arc{in.To, x.To}] = true
				}
			}
		}
	}
}

// compiles reports whether gcc would have a node for something in an arm.
func compiles(body []ir.Node) bool {
	for _, s := range statements(body) {
		if !passed(s) && s.Kind != ir.KindDecl {
			return true
		}
	}
	return false
}

func isArm(v *flow.View, c *ir.Config, p int) bool {
	for _, a := range c.Arms {
		if v.Graph.Points[p].Stmt == a.S {
			return true
		}
	}
	return false
}

// without is the graph with those arcs gone: what data flow has to be solved
// over where gcc compiled less than all of a function.
func without(g *cfg.Graph, dropped map[arc]bool) *cfg.Graph {
	out := &cfg.Graph{Func: g.Func, Points: make([]cfg.Point, len(g.Points)), Instances: g.Instances}
	for p := range g.Points {
		pt := &out.Points[p]
		pt.Stmt, pt.Unbind = g.Points[p].Stmt, g.Points[p].Unbind
		for _, a := range g.Points[p].Out {
			if !dropped[arc{p, a.To}] {
				pt.Out = append(pt.Out, a)
			}
		}
		for _, a := range g.Points[p].In {
			if !dropped[arc{a.To, p}] {
				pt.In = append(pt.In, a)
			}
		}
	}
	work := []int{cfg.Entry}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if out.Points[p].Live {
			continue
		}
		out.Points[p].Live = true
		for _, a := range out.Points[p].Out {
			work = append(work, a.To)
		}
	}
	return out
}

// statements are those of a sequence, with everything below.
func statements(nodes []ir.Node) []*ir.Stmt {
	f := &ir.Func{Body: nodes}
	var out []*ir.Stmt
	f.Walk(func(s *ir.Stmt, _ int) { out = append(out, s) })
	return out
}

// pruned drops the arms that gcc dropped of conditions that it folded.
func pruned(v *flow.View, known map[*ir.Stmt]bool, dropped map[arc]bool) {
	for p := range v.Graph.Points {
		s := v.Graph.Points[p].Stmt
		if s == nil || known[s] || s.Cond == nil && s.Kind != ir.KindSwitch || s.Kind == ir.KindCase {
			continue
		}
		outs := arcs(v, p, dropped)
		if len(outs) < 2 {
			continue
		}
		var dead []int
		for _, to := range outs {
			if t := firstKnown(v, to, dropped, map[int]bool{}); t != nil && !known[t] {
				dead = append(dead, to)
			}
		}
		if len(dead) < len(outs) {
			for _, to := range dead {
				dropped[arc{p, to}] = true
			}
		}
	}
}

// firstKnown is the first statement from a point on that gcc would have a node
// for, were it compiled; nil where that cannot be said.
func firstKnown(v *flow.View, p int, dropped map[arc]bool, seen map[int]bool) *ir.Stmt {
	for !seen[p] {
		seen[p] = true
		s := v.Graph.Points[p].Stmt
		if s != nil && substantial(s) {
			return s
		}
		outs := arcs(v, p, dropped)
		if len(outs) != 1 {
			return nil
		}
		p = outs[0]
	}
	return nil
}

// substantial reports a statement that gcc has a node for if it compiles it.
func substantial(s *ir.Stmt) bool {
	switch s.Kind {
	case ir.KindAssign, ir.KindAugAssign, ir.KindCall:
		return true
	case ir.KindReturn:
		return strings.Contains(s.Text, " ")
	}
	return false
}

// falseAsserts ends the path at asserts behind which gcc has nothing.
func falseAsserts(v *flow.View, known map[*ir.Stmt]bool, want *graph, dropped map[arc]bool) {
	for _, s := range v.Func.Stmts {
		if s.Callee != "assert" || !known[s] || len(want.next[keyOf(s)]) > 0 {
			continue
		}
		for _, p := range v.Graph.Instances[s.ID-1] {
			for _, a := range v.Graph.Points[p].Out {
				dropped[arc{p, a.To}] = true
			}
		}
	}
}

// stops finds the functions of gcc's dump that have no way to their end.
func stops(fs []*function) map[string]bool {
	never := map[string]bool{}
	for again := true; again; {
		again = false
		for _, f := range fs {
			name := f.name
			if i := strings.LastIndexByte(name, ' '); i >= 0 {
				name = name[i+1:]
			}
			if never[name] || len(f.blocks) == 0 {
				continue
			}
			if !reachesEnd(f, never) {
				never[name], again = true, true
			}
		}
	}
	return never
}

func reachesEnd(f *function, never map[string]bool) bool {
	seen := map[int]bool{}
	work := []int{2}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		if id == 1 {
			return true
		}
		if seen[id] || f.blocks[id] == nil {
			continue
		}
		seen[id] = true
		cut := false
		for _, g := range f.blocks[id].stmts {
			cut = cut || never[called(g.text)]
		}
		if !cut {
			work = append(work, f.blocks[id].succs...)
		}
	}
	return false
}

// called is the function that a statement of a dump calls, if that is all it
// does.
func called(text string) string {
	i := strings.Index(text, " (")
	if i <= 0 || !strings.HasSuffix(text, ");") || strings.ContainsAny(text[:i], " =*") {
		return ""
	}
	return text[:i]
}
