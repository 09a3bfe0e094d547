package plan

// assign gives each row at most one column, each column at most one row, so
// that the sum of the weights is the greatest; a weight of 0 is no pairing. It
// adds one row at a time along a best augmenting path (Bellman-Ford over few
// rows is quick enough and simple).
func assign(rows, cols int, weight func(r, c int) float64) []int {
	rowOf := make([]int, cols)
	for c := range rowOf {
		rowOf[c] = -1
	}
	colOf := make([]int, rows)
	for r := range colOf {
		colOf[r] = -1
	}
	for start := range rows {
		const none = -1e18
		gain := make([]float64, cols) // best gain of reaching a column from start
		from := make([]int, cols)     // row through which
		for c := range gain {
			gain[c], from[c] = none, -1
			if w := weight(start, c); w > 0 {
				gain[c], from[c] = w, start
			}
		}
		for range rows {
			changed := false
			for c := range cols {
				r := rowOf[c]
				if r < 0 || gain[c] == none {
					continue
				}
				for n := range cols {
					w := weight(r, n)
					if n == c || w <= 0 {
						continue
					}
					if g := gain[c] - weight(r, c) + w; g > gain[n]+1e-9 {
						gain[n], from[n], changed = g, r, true
					}
				}
			}
			if !changed {
				break
			}
		}
		best, end, drop := 0.0, -1, -1
		for c := range cols {
			if rowOf[c] < 0 && gain[c] > best {
				best, end, drop = gain[c], c, -1
			}
			if r := rowOf[c]; r >= 0 && gain[c] != none && gain[c]-weight(r, c) > best+1e-9 {
				best, end, drop = gain[c]-weight(r, c), c, r // r goes without
			}
		}
		if end < 0 {
			continue
		}
		if drop >= 0 {
			colOf[drop] = -1
		}
		for c := end; ; {
			r := from[c]
			prev := colOf[r]
			colOf[r], rowOf[c] = c, r
			if r == start {
				break
			}
			c = prev
		}
	}
	return colOf
}
