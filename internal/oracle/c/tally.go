package oracle

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Tally counts outcomes over units. A function that several units include
// counts once, by the worst of its outcomes.
type Tally struct {
	functions map[string]*Function
	order     []string
	Failed    []string // units that did not compile
	damaged   int
	noticed   int
	missed    []string
}

// NewTally makes an empty tally.
func NewTally() *Tally { return &Tally{functions: map[string]*Function{}} }

// Add counts a report, and damages so many of its graphs.
func (t *Tally) Add(r *Report, mutate int) {
	for _, f := range r.Functions {
		if old, ok := t.functions[f.ID]; !ok {
			t.order = append(t.order, f.ID)
			t.functions[f.ID] = f
		} else if old.Flow == "" && old.Pairs == "" && old.Skipped == "" {
			t.functions[f.ID] = f
		}
		if f.Skipped == "" && f.Flow == "" && t.damaged < mutate {
			for _, d := range f.damages() {
				t.damaged++
				if d.noticed {
					t.noticed++
				} else {
					t.missed = append(t.missed, f.ID+": "+d.what)
				}
			}
		}
		f.view, f.want, f.known, f.dropped = nil, nil, nil, nil
	}
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

func (t *Tally) counts() (all, skipped, flow, pairs int) {
	for _, f := range t.functions {
		all++
		switch {
		case f.Skipped != "":
			skipped++
		default:
			if f.Flow == "" {
				flow++
			}
			if f.Pairs == "" {
				pairs++
			}
		}
	}
	return all, skipped, flow, pairs
}

// Lines is the report: counts, then differences, then what was skipped.
func (t *Tally) Lines(show int, verbose bool) []string {
	all, skipped, flow, pairs := t.counts()
	out := []string{
		fmt.Sprintf("%d functions, %d units did not compile", all, len(t.Failed)),
		fmt.Sprintf("equal statement graphs %6d  %.2f %% of all", flow, share(flow, all)),
		fmt.Sprintf("equal def-use pairs    %6d  %.2f %% of all", pairs, share(pairs, all)),
		fmt.Sprintf("not comparable         %6d  %.2f %% of all", skipped, share(skipped, all)),
	}
	if t.damaged > 0 {
		out = append(out, fmt.Sprintf("damaged graphs noticed %d of %d", t.noticed, t.damaged))
		for _, m := range t.missed[:min(len(t.missed), 5)] {
			out = append(out, "  missed "+m)
		}
	}
	n, m := 0, 0
	reasons := map[string]int{}
	for _, id := range t.order {
		f := t.functions[id]
		if f.Skipped != "" {
			reasons[f.Skipped]++
			if verbose {
				out = append(out, "not comparable: "+id+": "+f.Skipped)
			}
			continue
		}
		if f.Flow != "" {
			if n++; n <= show {
				out = append(out, "flow "+id+": "+f.Flow)
			}
		}
		if f.Pairs != "" {
			if m++; m <= show {
				out = append(out, "pairs "+id+": "+f.Pairs)
			}
		}
	}
	var names []string
	for r := range reasons {
		names = append(names, r)
	}
	sort.Strings(names)
	for _, r := range names {
		out = append(out, fmt.Sprintf("%6d not comparable: %s", reasons[r], r))
	}
	return out
}

// Below is an error where a share lies below its floor.
func (t *Tally) Below(floors string) error {
	if floors == "" {
		return nil
	}
	all, skipped, flow, pairs := t.counts()
	have := map[string]float64{"flow": share(flow, all), "pairs": share(pairs, all), "skipped": share(skipped, all)}
	for _, part := range strings.Split(floors, ",") {
		name, text, _ := strings.Cut(part, "=")
		want, err := strconv.ParseFloat(text, 64)
		got, ok := have[name]
		switch {
		case err != nil || !ok:
			return fmt.Errorf("floors: expected flow=99,pairs=98,skipped=3, got %q", part)
		case name == "skipped" && got > want:
			return fmt.Errorf("%.2f %% are not comparable, more than %.2f %%", got, want)
		case name != "skipped" && got < want:
			return fmt.Errorf("%s: %.2f %% are equal, fewer than %.2f %%", name, got, want)
		}
	}
	if t.damaged > 0 && t.noticed < t.damaged {
		return fmt.Errorf("%d of %d damaged graphs went unnoticed", t.damaged-t.noticed, t.damaged)
	}
	return nil
}
