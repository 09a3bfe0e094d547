package cfg

import (
	"slices"
	"sort"
	"strconv"

	"flowplan/internal/ir"
)

// contract removes the joins: an arc into one goes on to where the join leads.
// The role of the arc that enters wins unless that merely goes on.
func (g *Graph) contract(joins map[int]bool) {
	for p := range g.Points {
		if joins[p] {
			continue
		}
		var out []Arc
		for _, a := range g.Points[p].Out {
			out = g.through(joins, a, out, 0)
		}
		g.Points[p].Out = out
	}
	for j := range joins {
		g.Points[j].Out = nil
	}
}

func (g *Graph) through(joins map[int]bool, a Arc, out []Arc, depth int) []Arc {
	if !joins[a.To] {
		for i, o := range out {
			if o.To == a.To && o.Role == a.Role {
				out[i].cut = o.cut || a.cut
				return out
			}
		}
		return append(out, a)
	}
	if depth > len(joins) {
		return out // joins that lead only to each other: an endless loop without a statement
	}
	for _, next := range g.Points[a.To].Out {
		if a.Role != Next {
			next.Role = a.Role
		}
		next.cut = next.cut || a.cut
		out = g.through(joins, next, out, depth+1)
	}
	return out
}

// mark fills In and Live, and adds virtual arcs to Exit for what can never
// leave. An implicit exception is no way out here: post-dominators leave it
// aside, so that a loop left by exceptions alone needs a virtual arc too.
func (g *Graph) mark() {
	for p := range g.Points {
		for _, a := range g.Points[p].Out {
			g.Points[a.To].In = append(g.Points[a.To].In, Arc{To: p, Role: a.Role})
		}
	}
	live := g.reach(Entry, func(p int) []Arc { return g.Points[p].Out })
	for p := range g.Points {
		g.Points[p].Live = live[p]
	}
	leaves := make([]bool, len(g.Points))
	grow := func(from int) {
		plain := func(p int) []Arc {
			var in []Arc
			for _, a := range g.Points[p].In {
				if a.Role != Exception {
					in = append(in, a)
				}
			}
			return in
		}
		for p, ok := range g.reach(from, plain) {
			leaves[p] = leaves[p] || ok
		}
	}
	grow(Exit)
	grow(RaiseTo)
	for p := first; p < len(g.Points); p++ {
		if live[p] && !leaves[p] {
			g.Points[p].Out = append(g.Points[p].Out, Arc{To: Exit, Role: Next, Virtual: true})
			g.Points[Exit].In = append(g.Points[Exit].In, Arc{To: p, Role: Next, Virtual: true})
			grow(p)
		}
	}
}

func (g *Graph) reach(from int, next func(int) []Arc) []bool {
	seen := make([]bool, len(g.Points))
	seen[from] = true
	work := []int{from}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		for _, a := range next(p) {
			if !a.Virtual && !seen[a.To] {
				seen[a.To] = true
				work = append(work, a.To)
			}
		}
	}
	return seen
}

// drawn gives the statements (or pseudo points, as the negative of the point)
// that a point's arcs lead to when clean-ups without a statement are passed
// over.
func (g *Graph) drawn(a Arc, seen map[int]bool, visit func(to int, role Role, cut bool)) {
	to := &g.Points[a.To]
	if a.To < first || to.Stmt != nil {
		visit(a.To, a.Role, a.cut)
		return
	}
	if seen[a.To] {
		return
	}
	seen[a.To] = true
	for _, next := range to.Out {
		if next.Virtual {
			continue
		}
		if a.Role != Next {
			next.Role = a.Role
		}
		next.cut = next.cut || a.cut
		g.drawn(next, seen, visit)
	}
}

// link is an edge between statements, folded over the copies. A negative
// number stands for a pseudo point.
type link struct {
	from, to int
	role     Role
}

func (g *Graph) node(p int) int {
	if p < first {
		return -1 - p
	}
	return g.Points[p].Stmt.ID
}

// links are the folded edges in the order of their source. A dead copy of a
// statement that another copy keeps alive adds none.
func (g *Graph) links() ([]link, map[link]bool) {
	var all []link
	cuts := map[link]bool{}
	for p := range g.Points {
		if p == Exit || p == RaiseTo || p >= first && g.Points[p].Stmt == nil {
			continue
		}
		if p >= first && !g.Points[p].Live && g.live(g.Points[p].Stmt) {
			continue
		}
		for _, a := range g.Points[p].Out {
			if a.Virtual {
				continue
			}
			g.drawn(a, map[int]bool{}, func(to int, role Role, cut bool) {
				if role == Exception && to == RaiseTo {
					return // suppressed in a finally that then raises again: drawn for explicit raises alone
				}
				l := link{g.node(p), g.node(to), role}
				if old, ok := cuts[l]; !ok {
					all = append(all, l)
					cuts[l] = cut
				} else {
					cuts[l] = old || cut
				}
			})
		}
	}
	return all, cuts
}

// fold makes the blocks and their edges.
func (g *Graph) fold() {
	links, cuts := g.links()
	out := map[int][]link{}
	in := map[int][]link{}
	for _, l := range links {
		in[l.to] = append(in[l.to], l)
		if l.role != Exception {
			out[l.from] = append(out[l.from], l)
		}
	}
	g.BlockOf = make([]int, len(g.Func.Stmts))
	for _, s := range g.Func.Stmts {
		if ls := in[s.ID]; len(ls) == 1 {
			l := ls[0]
			if l.role == Next && !cuts[l] && l.from > 0 && l.from < s.ID && len(out[l.from]) == 1 && g.Func.Stmts[l.from-1].Kind != ir.KindMatch {
				i := g.BlockOf[l.from-1]
				g.BlockOf[s.ID-1] = i
				g.Blocks[i].Stmts = append(g.Blocks[i].Stmts, s)
				continue
			}
		}
		g.BlockOf[s.ID-1] = len(g.Blocks)
		g.Blocks = append(g.Blocks, &Block{Stmts: []*ir.Stmt{s}})
	}
	g.name()
	g.connectBlocks(links)
}

// live reports whether some copy of a statement can be reached.
func (g *Graph) live(s *ir.Stmt) bool {
	return slices.ContainsFunc(g.Instances[s.ID-1], func(p int) bool { return g.Points[p].Live })
}

func (g *Graph) name() {
	count := map[int]int{}
	for _, b := range g.Blocks {
		line := b.First().Line
		b.ID = strconv.Itoa(line) + suffix(count[line])
		count[line]++
		b.Dead = !g.live(b.First())
	}
}

// suffix is "" for the first, then b, c, ... z, ba, bb, ...
func suffix(n int) string {
	s := ""
	for ; n > 0; n /= 26 {
		s = string(rune('a'+n%26)) + s
	}
	return s
}

func (g *Graph) connectBlocks(links []link) {
	type key struct {
		from, to string
		role     Role
	}
	at := map[key]int{}
	for _, l := range links {
		e := Edge{From: EntryName, Role: l.role}
		inside := false
		if l.from > 0 {
			s := g.Func.Stmts[l.from-1]
			blk := g.Blocks[g.BlockOf[l.from-1]]
			e.From, e.FromStmt = blk.ID, blk.Last()
			inside = blk.Last() != s
		}
		switch l.to {
		case -1 - Exit:
			e.To = ExitName
		case -1 - RaiseTo:
			e.To = RaiseName
		default:
			blk := g.Blocks[g.BlockOf[l.to-1]]
			e.To, e.ToStmt = blk.ID, blk.First()
			if inside && l.role != Exception {
				continue // from one statement of a block to the next
			}
		}
		k := key{e.From, e.To, e.Role}
		i, ok := at[k]
		if !ok {
			i = len(g.Edges)
			at[k] = i
			g.Edges = append(g.Edges, e)
		}
		if l.role == Exception {
			g.Edges[i].Raising = append(g.Edges[i].Raising, g.Func.Stmts[l.from-1])
		}
	}
	for i := range g.Edges {
		slices.SortFunc(g.Edges[i].Raising, func(a, b *ir.Stmt) int { return a.ID - b.ID })
	}
	sort.SliceStable(g.Edges, func(i, j int) bool { return order(g.Edges[i]) < order(g.Edges[j]) })
}

// order sorts edges by source, then exceptions last; the builder's order
// (true before false, labels in source order) stays within.
func order(e Edge) int {
	n := 0
	if e.FromStmt != nil {
		n = 2 * e.FromStmt.ID
	}
	if e.Role == Exception {
		n++
	}
	return n
}
