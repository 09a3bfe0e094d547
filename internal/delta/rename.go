package delta

import (
	"sort"

	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// findNames finds locals of a that b knows under another name: a local that
// only a has and one that only b has, such that most statements with the one
// stand in b with the other in its place.
func findNames(va, vb *flow.View, a, b *side) map[string]string {
	onlyA, onlyB := missing(va.Func, vb.Func), missing(vb.Func, va.Func)
	if len(onlyA) == 0 || len(onlyB) == 0 || len(onlyA)*len(onlyB) > 400 {
		return nil
	}
	texts := map[string]int{}
	for _, v := range b.units {
		texts[v.text]++
	}
	users := func(sd *side, name string) []*unit {
		var out []*unit
		for _, u := range sd.units {
			if u.words[name] > 0 {
				out = append(out, u)
			}
		}
		return out
	}
	type candidate struct {
		from, to string
		share    float64
	}
	var all []candidate
	for _, x := range onlyA {
		ua := users(a, x)
		for _, y := range onlyB {
			ub := users(b, y)
			if len(ua) == 0 || len(ub) == 0 {
				continue
			}
			found := 0
			for _, u := range ua {
				if texts[renamed(u.text, map[string]string{x: y})] > 0 {
					found++
				}
			}
			if share := 2 * float64(found) / float64(len(ua)+len(ub)); share >= 0.6 {
				all = append(all, candidate{x, y, share})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].share != all[j].share {
			return all[i].share > all[j].share
		}
		return all[i].from < all[j].from
	})
	names := map[string]string{}
	taken := map[string]bool{}
	for _, c := range all {
		if names[c.from] == "" && !taken[c.to] {
			names[c.from] = c.to
			taken[c.to] = true
		}
	}
	return names
}

// missing lists the locals of f, parameters included, that other has not.
func missing(f, other *ir.Func) []string {
	has := map[string]bool{}
	for _, v := range other.Vars {
		has[v.Name] = true
	}
	var out []string
	for _, v := range f.Vars {
		if v.Scope == ir.Local && !has[v.Name] {
			out = append(out, v.Name)
		}
	}
	sort.Strings(out)
	return out
}
