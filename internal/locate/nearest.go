package locate

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// maxNearest is how many names are offered in place of an unknown one.
const maxNearest = 5

// nearest lists the functions whose names are most like the query's.
func (l *Locator) nearest(ctx context.Context, q string) ([]Match, error) {
	n := parseName(q)
	if len(n.parts) == 0 {
		return nil, nil
	}
	want := strings.ToLower(n.last())
	symbols, err := l.ix.Symbols(ctx)
	if err != nil {
		return nil, err
	}
	type near struct {
		c    candidate
		far  int
		miss int // parts before the last that it does not have
	}
	var all []near
	distances := map[string]int{}
	limit := max(2, len(want)/3)
	for _, s := range symbols {
		if s.Kind == "module" {
			continue
		}
		far, known := distances[s.Name]
		if !known {
			far = editDistance(want, strings.ToLower(s.Name), limit)
			if far > limit && len(want) >= 4 && strings.Contains(strings.ToLower(s.Name), want) {
				far = limit
			}
			distances[s.Name] = far
		}
		if far > limit {
			continue
		}
		miss := 0
		have := s.Path + " " + s.QualifiedName
		for _, p := range n.parts[:len(n.parts)-1] {
			if !strings.Contains(have, p) {
				miss++
			}
		}
		all = append(all, near{candidate{Match: match(s)}, far, miss})
	}
	slices.SortStableFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.far+2*a.miss, b.far+2*b.miss), order(a.c, b.c))
	})
	var out []Match
	for _, x := range all[:min(len(all), maxNearest)] {
		out = append(out, x.c.Match)
	}
	return out, nil
}

// editDistance is the number of insertions, deletions, replacements and swaps
// of neighbours between two texts, or more than limit where it is more.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	var before []int
	prev := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, prev, row = prev, row, make([]int, len(b)+1)
	}
	return prev[len(b)]
}
