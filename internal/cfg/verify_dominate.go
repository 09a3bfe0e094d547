package cfg

// dominance compares both dominator trees with the definition: d dominates p
// when p cannot be reached once d is taken away.
func (v *verifier) dominance() {
	n := len(v.g.Points)
	all := func(a Arc) bool { return true }
	drawn := func(a Arc) bool { return a.Role != Exception }
	leaves := v.reachable(n, []int{Exit, RaiseTo}, -1, false, drawn)
	for p := range v.g.Points {
		if v.g.Points[p].Live && !leaves[p] {
			v.errorf("%s has no post-dominator: it leaves by exceptions alone", v.point(p))
		}
	}
	if n > small {
		return
	}
	v.tree("dominator", v.g.Dominators(), []int{Entry}, true, all)
	v.tree("post-dominator", v.g.PostDominators(), []int{Exit, RaiseTo}, false, drawn)
}

// reachable walks from the roots, along Out or In, around one point.
func (v *verifier) reachable(n int, roots []int, without int, forward bool, keep func(Arc) bool) []bool {
	seen := make([]bool, n)
	var work []int
	for _, r := range roots {
		if r != without {
			seen[r] = true
			work = append(work, r)
		}
	}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		arcs := v.g.Points[p].In
		if forward {
			arcs = v.g.Points[p].Out
		}
		for _, a := range arcs {
			if a.To != without && !seen[a.To] && keep(a) {
				seen[a.To] = true
				work = append(work, a.To)
			}
		}
	}
	return seen
}

// tree compares one tree: the parent of p is the strict dominator of p that
// all its other strict dominators dominate.
func (v *verifier) tree(what string, idom []int, roots []int, forward bool, keep func(Arc) bool) {
	n := len(v.g.Points)
	reach := v.reachable(n, roots, -1, forward, keep)
	avoid := make([][]bool, n) // avoid[d][p]: p is reached without d
	for d := range n {
		avoid[d] = v.reachable(n, roots, d, forward, keep)
	}
	dominates := func(d, p int) bool { return reach[d] && reach[p] && !avoid[d][p] }
	for p := range n {
		want := -1
		for d := range n {
			if d != p && dominates(d, p) && (want < 0 || dominates(want, d)) {
				want = d
			}
		}
		if reach[p] && idom[p] != want {
			v.errorf("the %s of %s is point %d, not %d", what, v.point(p), want, idom[p])
		}
	}
}
