package cfg

import (
	"fmt"
	"slices"

	"flowplan/internal/ir"
)

// step is a way from a statement (nil: entry) to what is drawn next: a
// statement, or Exit or RaiseTo.
type step struct {
	from *ir.Stmt
	to   *ir.Stmt
	end  int // where to is nil
	role Role
}

// steps folds the arcs of all points by statement, clean-ups that are not
// drawn passed over.
func (v *verifier) steps() map[step]bool {
	all := map[step]bool{}
	for p := range v.g.Points {
		from := v.g.Points[p].Stmt
		if from == nil && p != Entry {
			continue
		}
		type way struct {
			at   int
			role Role
		}
		seen := map[way]bool{}
		work := []way{}
		follow := func(q int, role Role) {
			for _, a := range v.g.Points[q].Out {
				if a.Virtual {
					continue
				}
				w := way{a.To, a.Role}
				if role != Next {
					w.role = role
				}
				if !seen[w] {
					seen[w] = true
					work = append(work, w)
				}
			}
		}
		follow(p, Next)
		for len(work) > 0 {
			w := work[len(work)-1]
			work = work[:len(work)-1]
			to := v.g.Points[w.at].Stmt
			switch {
			case to != nil:
				all[step{from: from, to: to, role: w.role}] = true
			case w.at < first:
				all[step{from: from, end: w.at, role: w.role}] = true
			default:
				follow(w.at, w.role)
			}
		}
	}
	return all
}

// blocks checks order, names, borders and extent of the blocks.
func (v *verifier) blocks() {
	in, out := map[*ir.Stmt][]step{}, map[*ir.Stmt][]step{}
	for st := range v.steps() {
		if st.to != nil {
			in[st.to] = append(in[st.to], st)
		}
		if st.from != nil && st.role != Exception {
			out[st.from] = append(out[st.from], st)
		}
	}
	// joined reports whether t only ever runs right after s, s only before t.
	joined := func(s, t *ir.Stmt) bool {
		return len(out[s]) == 1 && len(in[t]) == 1 && in[t][0].from == s && in[t][0].role == Next && s.Kind != ir.KindMatch
	}
	ids := map[string]bool{}
	last := 0
	for _, b := range v.g.Blocks {
		if ids[b.ID] {
			v.errorf("two blocks have the id %s", b.ID)
		}
		ids[b.ID] = true
		if b.First().ID <= last {
			v.errorf("block %s stands out of order", b.ID)
		}
		last = b.First().ID
		for i, s := range b.Stmts {
			live := slices.ContainsFunc(v.g.Instances[s.ID-1], func(p int) bool { return v.g.Points[p].Live })
			if b.Dead == live {
				v.errorf("block %s: dead is %v, and line %d is live %v", b.ID, b.Dead, s.Line, live)
			}
			if v.shape.part[s] != v.shape.part[b.First()] {
				v.errorf("block %s crosses the border of a try at line %d", b.ID, s.Line)
			}
			if i == 0 {
				continue
			}
			if p := b.Stmts[i-1]; p.ID >= s.ID || !joined(p, s) {
				v.errorf("block %s does not hold together at line %d %q", b.ID, s.Line, s.Text)
			}
		}
	}
	if v.shape.hollow {
		return
	}
	for _, b := range v.g.Blocks {
		t := b.First()
		if len(in[t]) != 1 || in[t][0].from == nil {
			continue
		}
		if s := in[t][0].from; s.ID < t.ID && joined(s, t) && v.shape.part[s] == v.shape.part[t] {
			v.errorf("block %s could begin at line %d %q", b.ID, s.Line, s.Text)
		}
	}
}

// edges compares the drawn edges with the steps.
func (v *verifier) edges() {
	want, got := map[string]bool{}, map[string]bool{}
	id := func(s *ir.Stmt) string { return v.g.Blocks[v.g.BlockOf[s.ID-1]].ID }
	for st := range v.steps() {
		from, to := EntryName, v.point(st.end)
		if st.to != nil {
			to = id(st.to)
		}
		if st.from != nil {
			from = id(st.from)
			blk := v.g.Blocks[v.g.BlockOf[st.from.ID-1]]
			if st.role != Exception && blk.Last() != st.from {
				if st.role != Next || id(st.from) != to {
					v.errorf("line %d %q leaves block %s from its middle by %s", st.from.Line, st.from.Text, blk.ID, st.role)
				}
				continue
			}
		}
		if st.to != nil && v.g.Blocks[v.g.BlockOf[st.to.ID-1]].First() != st.to {
			v.errorf("line %d %q is entered in the middle of block %s", st.to.Line, st.to.Text, to)
		}
		want[fmt.Sprintf("%s -%s-> %s", from, st.role, to)] = true
		if st.role == Exception {
			want[fmt.Sprintf("%s -%s-> %s by %d", from, st.role, to, st.from.ID)] = true
		}
	}
	for _, e := range v.g.Edges {
		k := fmt.Sprintf("%s -%s-> %s", e.From, e.Role, e.To)
		if got[k] {
			v.errorf("the edge %s is there twice", k)
		}
		got[k] = true
		for _, s := range e.Raising {
			got[fmt.Sprintf("%s by %d", k, s.ID)] = true
		}
	}
	for k := range want {
		if !got[k] {
			v.errorf("the edge %s is missing", k)
		}
	}
	for k := range got {
		if !want[k] {
			v.errorf("the edge %s is there and no point has it", k)
		}
	}
}
