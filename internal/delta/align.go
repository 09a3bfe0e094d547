package delta

import (
	"slices"
	"sort"

	"flowplan/internal/ir"
)

// The weights of alignment. A pair of equal statements is worth more the more
// it says; a pair of changed ones is worth less than any equal pair but the
// trivial ones, so that what stayed is found before what was rewritten.
const (
	trivialWeight = 0.35 // pass, break, a bare return: equal by accident
	plainWeight   = 1.0
	wordWeight    = 0.05 // for each word up to twenty
	sameParent    = 0.30
	sameDepth     = 0.08
	wholeBody     = 0.40 // the same header around the very same leaves
	minSimilar    = 0.40 // dice of words from which two plain statements may be one, rewritten
	minRetyped    = 0.60 // the same for statements of different kinds
	fullCells     = 1 << 19
	identCells    = 1 << 23
)

// align pairs the units of both sides.
func (d *differ) align() {
	d.pairRange(0, len(d.a.units), 0, len(d.b.units))
	d.pairSwapped()
	d.pairMoves()
	d.pairChains()
	d.findFlips()
}

func (d *differ) link(u, v *unit) { u.mate, v.mate = v, u }

// equal reports whether two units are the same statement, locals renamed.
func equal(u, v *unit) bool { return u.kind == v.kind && u.text == v.text }

// pairRange aligns a stretch of both sequences without crossings: equal ends
// first, then an optimal alignment of what lies between.
func (d *differ) pairRange(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.sameSpot(d.a.units[a0], d.b.units[b0]) {
		d.link(d.a.units[a0], d.b.units[b0])
		a0++
		b0++
	}
	for a0 < a1 && b0 < b1 && d.sameSpot(d.a.units[a1-1], d.b.units[b1-1]) {
		a1--
		b1--
		d.link(d.a.units[a1], d.b.units[b1])
	}
	if a0 == a1 || b0 == b1 {
		return
	}
	cells := (a1 - a0) * (b1 - b0)
	if cells > fullCells && d.splitAtAnchors(a0, a1, b0, b1) {
		return
	}
	if cells > identCells {
		d.pairGreedy(a0, a1, b0, b1)
		return
	}
	d.pairBest(a0, a1, b0, b1, cells <= fullCells)
}

// sameSpot reports whether two units are equal and stand equally deep in
// constructs of equal text: safe to pair at the ends of a stretch.
func (d *differ) sameSpot(u, v *unit) bool {
	if !equal(u, v) || u.depth != v.depth || u.arm != v.arm {
		return false
	}
	if u.parent != nil && v.parent != nil && u.parent.text != v.parent.text {
		return false // the arm of another condition
	}
	if u.kind == kindTry && dice(u.leaves, v.leaves) < 1 {
		return false // it says nothing itself: a new try around it would look the same
	}
	for p, q := u.parent, v.parent; p != nil; p, q = p.parent, q.parent {
		if q == nil || p.kind != q.kind || p.text != q.text || p.arm != q.arm || p.mate != nil && p.mate != q {
			return false
		}
	}
	return true
}

// splitAtAnchors pairs statements that are unique on both sides and keep their
// order, and aligns between them. It reports whether it found any.
func (d *differ) splitAtAnchors(a0, a1, b0, b1 int) bool {
	type seen struct{ n, at int }
	count := func(units []*unit, from, to int) map[string]seen {
		m := map[string]seen{}
		for i := from; i < to; i++ {
			k := string(units[i].kind) + units[i].text
			m[k] = seen{m[k].n + 1, i}
		}
		return m
	}
	inA, inB := count(d.a.units, a0, a1), count(d.b.units, b0, b1)
	type anchor struct{ a, b int }
	var anchors []anchor
	for k, s := range inA {
		if t := inB[k]; s.n == 1 && t.n == 1 {
			anchors = append(anchors, anchor{s.at, t.at})
		}
	}
	sort.Slice(anchors, func(i, j int) bool { return anchors[i].a < anchors[j].a })
	bs := make([]int, len(anchors))
	for i := range anchors {
		bs[i] = anchors[i].b
	}
	chain := longestIncreasing(bs)
	if len(chain) == 0 {
		return false
	}
	for _, i := range chain {
		d.link(d.a.units[anchors[i].a], d.b.units[anchors[i].b])
	}
	for _, i := range chain {
		d.pairRange(a0, anchors[i].a, b0, anchors[i].b)
		a0, b0 = anchors[i].a+1, anchors[i].b+1
	}
	d.pairRange(a0, a1, b0, b1)
	return true
}

// longestIncreasing gives the indices of a longest increasing subsequence.
func longestIncreasing(xs []int) []int {
	var tails []int
	prev := make([]int, len(xs))
	for i, x := range xs {
		k := sort.Search(len(tails), func(j int) bool { return xs[tails[j]] >= x })
		prev[i] = -1
		if k > 0 {
			prev[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	var out []int
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = prev[i] {
			out = append(out, i)
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// pairGreedy is the coarse answer for stretches too large for an optimal one:
// each statement with the next equal one.
func (d *differ) pairGreedy(a0, a1, b0, b1 int) {
	at := map[string][]int{}
	for j := b0; j < b1; j++ {
		k := string(d.b.units[j].kind) + d.b.units[j].text
		at[k] = append(at[k], j)
	}
	next := b0
	for i := a0; i < a1; i++ {
		k := string(d.a.units[i].kind) + d.a.units[i].text
		js := at[k]
		n := sort.SearchInts(js, next)
		if n < len(js) && js[n]-next < 200 {
			d.link(d.a.units[i], d.b.units[js[n]])
			next = js[n] + 1
		}
	}
}

// pairBest is an optimal alignment by dynamic programming.
func (d *differ) pairBest(a0, a1, b0, b1 int, similar bool) {
	n, m := a1-a0, b1-b0
	best := make([]float32, (n+1)*(m+1))
	w := m + 1
	score := make([]float32, n*m)
	for i := n - 1; i >= 0; i-- {
		u := d.a.units[a0+i]
		for j := m - 1; j >= 0; j-- {
			v := d.b.units[b0+j]
			s := d.score(u, v, similar)
			score[i*m+j] = s
			top := max(best[(i+1)*w+j], best[i*w+j+1])
			if s > 0 {
				top = max(top, best[(i+1)*w+j+1]+s)
			}
			best[i*w+j] = top
		}
	}
	const tiny = 1e-5
	for i, j := 0, 0; i < n && j < m; {
		s := score[i*m+j]
		switch {
		case s > 0 && best[i*w+j] <= best[(i+1)*w+j+1]+s+tiny:
			d.link(d.a.units[a0+i], d.b.units[b0+j])
			i++
			j++
		case best[i*w+j] <= best[(i+1)*w+j]+tiny:
			i++
		default:
			j++
		}
	}
}

// score is what pairing two units is worth; 0 forbids it.
func (d *differ) score(u, v *unit, similar bool) float32 {
	if u.header != v.header {
		return 0
	}
	context := float32(0)
	if u.depth == v.depth {
		context += sameDepth
	}
	near := sameSurroundings(u, v)
	if near {
		context += sameParent
	}
	if equal(u, v) {
		if u.header {
			base := float32(plainWeight) + wordWeight*float32(min(u.size, 20))
			if u.kind == kindTry {
				base = trivialWeight
			}
			held := dice(u.leaves, v.leaves)
			if held == 1 {
				base += wholeBody
			}
			return base + context + 0.8*held
		}
		return weight(u) + context
	}
	if !similar {
		return 0
	}
	if u.header {
		return d.headerScore(u, v, context, near)
	}
	sim := d.similarity(u, v)
	switch {
	case u.isJump() && v.isJump():
		if u.kind == v.kind && (near || sim >= minSimilar) {
			return 0.15 + 0.7*sim + context
		}
		if near {
			return 0.2 + 0.4*sim + context
		}
	case u.isJump() != v.isJump():
		if sim >= minRetyped {
			return 0.7*sim + context/2
		}
	case u.kind == v.kind:
		if sim >= minSimilar {
			return 0.1 + 0.8*sim + context/2
		}
	case sim >= minRetyped:
		return 0.7*sim + context/2
	}
	return 0
}

// headerScore pairs changed headers by what they say and by what they hold.
func (d *differ) headerScore(u, v *unit, context float32, near bool) float32 {
	if !alike(u.kind, v.kind) {
		return 0
	}
	held := dice(u.leaves, v.leaves)
	if near { // a body that was rewritten is still that construct's where nothing else changed around it
		held = max(held, 0.7*dice(u.held, v.held))
	}
	sim := d.similarity(u, v)
	if near && u.kind != v.kind && isLoop(u.kind) && isLoop(v.kind) {
		// a while written as a for: its body is rewritten in every statement
		held = max(held, dice(u.heldWords(), v.heldWords()))
	}
	if sim < 0.5 && held < 0.4 {
		return 0
	}
	bothLoops := isLoop(u.kind) && isLoop(v.kind)
	if u.kind != v.kind && !bothLoops && (sim < 0.5 || held < 0.4) && held < 0.7 {
		return 0
	}
	if sim < 0.25 && !near {
		return 0
	}
	return 0.45*sim + 0.8*held + context
}

// alike reports whether a header of one kind may have become one of the other.
func alike(a, b ir.Kind) bool {
	if a == b {
		return true
	}
	turns := func(k ir.Kind) bool { return k == ir.KindIf || isLoop(k) }
	return turns(a) && turns(b)
}

func weight(u *unit) float32 {
	switch u.kind {
	case ir.KindPass, ir.KindBreak, ir.KindContinue:
		return trivialWeight
	case ir.KindReturn, ir.KindRaise:
		if u.size <= 2 {
			return trivialWeight
		}
	}
	return plainWeight + wordWeight*float32(min(u.size, 20))
}

// sameSurroundings reports whether two units stand in the same arm of
// constructs of the same text.
func sameSurroundings(u, v *unit) bool {
	if u.parent == nil || v.parent == nil {
		return u.parent == v.parent
	}
	return u.arm == v.arm && u.parent.kind == v.parent.kind && u.parent.text == v.parent.text
}

// similarity is the dice coefficient of two texts' words, the keyword of a
// header or jump left out.
func (d *differ) similarity(u, v *unit) float32 {
	k := [2]*unit{u, v}
	if s, ok := d.similar[k]; ok {
		return s
	}
	common, total := 0, 0
	for w, n := range u.words {
		if w == u.keyword() {
			continue
		}
		total += n
		common += min(n, v.words[w])
	}
	for w, n := range v.words {
		if w != v.keyword() {
			total += n
		}
	}
	s := float32(0)
	if total > 0 {
		s = 2 * float32(common) / float32(total)
	} else if u.kind == v.kind {
		s = 1
	}
	d.similar[k] = s
	return s
}

func (u *unit) keyword() string {
	switch u.kind {
	case ir.KindIf, ir.KindWhile, ir.KindReturn, ir.KindRaise, ir.KindCase, ir.KindMatch, ir.KindWith, ir.KindSwitch:
		return string(u.kind)
	case ir.KindForeach, ir.KindFor:
		return "for"
	case ir.KindHandler:
		return "except"
	}
	return ""
}

func dice(a, b map[string]int) float32 {
	common, total := 0, 0
	for w, n := range a {
		common += min(n, b[w])
		total += n
	}
	for _, n := range b {
		total += n
	}
	if total == 0 {
		return 0
	}
	return 2 * float32(common) / float32(total)
}

// pairSwapped pairs the arms of an if whose condition was negated, crosswise,
// where that makes them the same: short statements resemble one another too
// much for an alignment in order.
func (d *differ) pairSwapped() {
	for _, u := range d.a.units {
		v := u.mate
		if v == nil || u.chain == nil || v.chain == nil || len(u.chain.ifs) > 1 || len(v.chain.ifs) > 1 || !d.opposite(u, v) {
			continue
		}
		inA := [2][]*unit{armUnits(u, "then"), armUnits(u, "else")}
		inB := [2][]*unit{armUnits(v, "else"), armUnits(v, "then")}
		if len(inA[0])+len(inA[1]) == 0 || !slices.EqualFunc(inA[0], inB[0], equal) || !slices.EqualFunc(inA[1], inB[1], equal) {
			continue
		}
		for i := range inA {
			for j, k := range inA[i] {
				for _, old := range []*unit{k, inB[i][j]} {
					if old.mate != nil {
						old.mate.mate, old.mate = nil, nil
					}
				}
				d.link(k, inB[i][j])
				// out of the order of the sequences
				k.moved, inB[i][j].moved = true, true
			}
		}
	}
}

// armUnits lists all that stands in an arm, in order.
func armUnits(u *unit, arm string) []*unit {
	var out []*unit
	for _, k := range u.arms[arm] {
		out = append(append(out, k), k.below()...)
	}
	return out
}

// pairMoves pairs what is left over and equal: statements that moved past
// others. Trivial ones only move along with the construct around them.
func (d *differ) pairMoves() {
	left := map[string][]*unit{}
	for _, v := range d.b.units {
		if v.mate == nil && v.kind != kindTry {
			k := string(v.kind) + v.text
			left[k] = append(left[k], v)
		}
	}
	for _, u := range d.a.units {
		if u.mate != nil || u.kind == kindTry {
			continue
		}
		k := string(u.kind) + u.text
		best := -1
		for i, v := range left[k] {
			if v.mate != nil || !u.mayMove(v) {
				continue
			}
			if best < 0 || !sameSurroundings(u, left[k][best]) && sameSurroundings(u, v) {
				best = i
			}
		}
		if best >= 0 {
			v := left[k][best]
			d.link(u, v)
			u.moved, v.moved = true, true
		}
	}
	d.pairMovedTries()
}

// pairMovedTries pairs a try, which has no text of its own, with the one that
// most of what stood in it moved to.
func (d *differ) pairMovedTries() {
	for _, u := range d.a.units {
		if u.mate != nil || u.kind != kindTry {
			continue
		}
		votes := map[*unit]int{}
		total := 0
		for _, arm := range armOrder {
			for _, k := range u.arms[arm] {
				total++
				if k.mate != nil && k.moved && k.mate.parent != nil && k.mate.parent.kind == kindTry && k.mate.parent.mate == nil {
					votes[k.mate.parent]++
				}
			}
		}
		for v, n := range votes {
			if 2*n > total {
				d.link(u, v)
				u.moved, v.moved = true, true
			}
		}
	}
}

// mayMove reports whether an equal, unpaired unit of the other side may be u,
// moved.
func (u *unit) mayMove(v *unit) bool {
	if u.parent != nil && v.parent != nil && u.parent.moved && u.parent.mate == v.parent {
		return true
	}
	if u.header {
		return dice(u.leaves, v.leaves) >= 0.5
	}
	if u.isJump() && u.parent != nil && v.parent != nil && u.parent.kind == ir.KindHandler && u.parent.mate == v.parent {
		return true
	}
	return !u.isJump() && weight(u) > trivialWeight && (u.size >= 2 || sameSurroundings(u, v))
}

// pairChains pairs chains that share a paired arm.
func (d *differ) pairChains() {
	for _, u := range d.a.units {
		if u.chain != nil && u.mate != nil && u.mate.chain != nil && u.chain.mate == nil && u.mate.chain.mate == nil {
			u.chain.mate, u.mate.chain.mate = u.mate.chain, u.chain
		}
	}
}

// findFlips finds ifs whose condition was negated and whose arms were swapped:
// the same graph.
func (d *differ) findFlips() {
	for _, u := range d.a.units {
		v := u.mate
		if v == nil || u.chain == nil || v.chain == nil || !d.opposite(u, v) {
			continue
		}
		swapped := func(from *unit, arm string, to *unit, other string) bool {
			for _, k := range from.arms[arm] {
				if k.mate != nil && k.mate.parent == to && k.mate.arm == other {
					return true
				}
			}
			return false
		}
		if swapped(u, "then", v, "else") || swapped(u, "else", v, "then") {
			u.flip, v.flip = true, true
		}
	}
}

// opposite reports whether two headers' conditions are each other's negation.
func (d *differ) opposite(u, v *unit) bool {
	return u.s.Cond != nil && v.s.Cond != nil && d.condA(u.s.Cond).Opposite(v.s.Cond)
}

// condA is a condition of side a with its locals renamed as in b.
func (d *differ) condA(c *ir.Cond) *ir.Cond {
	if len(d.names) == 0 {
		return c
	}
	return c.Rename(func(leaf string) string { return renamed(leaf, d.names) })
}
