package cfg

import "flowplan/internal/ir"

// Guard is a condition that decides whether a statement runs: the statement is
// control-dependent on that outcome of the header.
type Guard struct {
	Header *ir.Stmt
	Role   Role
}

// Guards lists what a statement is control-dependent on, innermost first, each
// once: the conditions, cases, handlers and loop headers that must come out a
// certain way for control to reach it. Implicit exceptions do not count.
func (g *Graph) Guards(s *ir.Stmt) []Guard {
	ipdom := g.PostDominators()
	var guards []Guard
	seen := map[Guard]bool{}
	visited := map[int]bool{}
	work := append([]int(nil), g.Instances[s.ID-1]...)
	for len(work) > 0 {
		p := work[0]
		work = work[1:]
		if visited[p] {
			continue
		}
		visited[p] = true
		for _, d := range g.controllers(p, ipdom) {
			h := g.Points[d.from].Stmt
			if h == nil || h == s {
				continue
			}
			gd := Guard{h, d.role}
			if !seen[gd] {
				seen[gd] = true
				guards = append(guards, gd)
			}
			work = append(work, d.from)
		}
	}
	return guards
}

// controllers finds the arcs a->b of which p post-dominates b but not a.
func (g *Graph) controllers(p int, ipdom []int) []exit {
	var out []exit
	for a := range g.Points {
		if !g.Points[a].Live || len(g.Points[a].Out) < 2 {
			continue
		}
		for _, arc := range g.Points[a].Out {
			if arc.Role == Exception || arc.Virtual {
				continue
			}
			if a != p && climbs(ipdom, a, p) {
				continue
			}
			if arc.To == p || climbs(ipdom, arc.To, p) {
				out = append(out, exit{from: a, role: arc.Role})
			}
		}
	}
	return out
}

// climbs reports whether p is a proper ancestor of from in a dominator tree.
func climbs(idom []int, from, p int) bool {
	for at := idom[from]; at >= 0; at = idom[at] {
		if at == p {
			return true
		}
		if idom[at] == at {
			return false
		}
	}
	return false
}

// Dominators gives the immediate dominator of every live point; -1 for Entry
// and for what is dead.
func (g *Graph) Dominators() []int {
	return idoms(len(g.Points), []int{Entry},
		func(p int) []Arc { return g.Points[p].Out },
		func(p int) []Arc { return g.Points[p].In })
}

// PostDominators gives the immediate post-dominator of every point, implicit
// exceptions left aside; -1 for Exit, Raise, and where no single point is
// passed on every way out.
func (g *Graph) PostDominators() []int {
	plain := func(arcs []Arc) []Arc {
		var out []Arc
		for _, a := range arcs {
			if a.Role != Exception {
				out = append(out, a)
			}
		}
		return out
	}
	return idoms(len(g.Points), []int{Exit, RaiseTo},
		func(p int) []Arc { return plain(g.Points[p].In) },
		func(p int) []Arc { return plain(g.Points[p].Out) })
}

// idoms is the iterative algorithm of Cooper, Harvey and Kennedy over a graph
// with several roots, which get a common one that is not told of.
func idoms(n int, roots []int, succs, preds func(int) []Arc) []int {
	root := n
	number := make([]int, n+1) // postorder
	for i := range number {
		number[i] = -1
	}
	var order []int
	type visit struct{ p, next int }
	state := make([]bool, n)
	for _, r := range roots {
		if state[r] {
			continue
		}
		state[r] = true
		stack := []visit{{r, 0}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			arcs := succs(top.p)
			if top.next < len(arcs) {
				to := arcs[top.next].To
				top.next++
				if !state[to] {
					state[to] = true
					stack = append(stack, visit{to, 0})
				}
				continue
			}
			number[top.p] = len(order)
			order = append(order, top.p)
			stack = stack[:len(stack)-1]
		}
	}
	number[root] = len(order)
	idom := make([]int, n+1)
	for i := range idom {
		idom[i] = -1
	}
	idom[root] = root
	for _, r := range roots {
		idom[r] = root
	}
	isRoot := map[int]bool{}
	for _, r := range roots {
		isRoot[r] = true
	}
	for changed := true; changed; {
		changed = false
		for i := len(order) - 1; i >= 0; i-- {
			p := order[i]
			if isRoot[p] {
				continue
			}
			best := -1
			for _, a := range preds(p) {
				if idom[a.To] < 0 {
					continue
				}
				if best < 0 {
					best = a.To
					continue
				}
				x, y := best, a.To
				for x != y {
					for number[x] < number[y] {
						x = idom[x]
					}
					for number[y] < number[x] {
						y = idom[y]
					}
				}
				best = x
			}
			if best >= 0 && idom[p] != best {
				idom[p], changed = best, true
			}
		}
	}
	for i := range idom {
		if idom[i] == root {
			idom[i] = -1
		}
	}
	return idom[:n]
}
