package main

import (
	"fmt"
	"maps"
	"slices"
)

// tally counts what came of the fixes.
type tally struct {
	fixes, empty, errors int
	views, viewsFailed   int
	refused              int
	calls                map[string]int
	grades               map[string]int
	byOp                 map[string]map[string]int
	verdicts             map[string]int
	unplannedOps         map[string]int
	unknown              map[string]int // unknown deltas by cause
	functions, hazards   int            // of functions changed by the session: all, and with a certain hazard
	wrong                map[string]*wrongCount
}

// wrongCount counts wrong plans of one kind: how many there were and how many
// were taken for right.
type wrongCount struct{ tried, accepted int }

func newTally() *tally {
	return &tally{calls: map[string]int{}, grades: map[string]int{}, byOp: map[string]map[string]int{}, verdicts: map[string]int{},
		unplannedOps: map[string]int{}, unknown: map[string]int{}, wrong: map[string]*wrongCount{}}
}

func (t *tally) add(f fix, rep report, verbose bool) {
	t.verdicts[rep.Verdict]++
	for _, d := range rep.Deltas {
		t.grades[d.Grade]++
		if t.byOp[d.Op] == nil {
			t.byOp[d.Op] = map[string]int{}
		}
		t.byOp[d.Op][d.Grade]++
		if verbose && d.Grade != "exact" {
			fmt.Printf("%s %.10s %s %s:%d %q: %s\n", d.Grade, f.Fix, d.Op, d.Function, d.Line, d.Condition, d.Reason)
		}
	}
	for _, o := range rep.UnplannedOps {
		t.unplannedOps[fmt.Sprint(o["op"])]++
		if verbose {
			fmt.Printf("unplanned %.10s %v %v L%v %v\n", f.Fix, o["op"], o["function"], o["line"], o["condition"])
		}
	}
	for _, u := range rep.Unplanned {
		if verbose && u.Origin == "session" && u.Status != "added" && u.Status != "text_only" {
			fmt.Printf("unplanned function %.10s %s %s\n", f.Fix, u.Status, u.ID)
		}
	}
	certain := map[string]bool{}
	for _, h := range rep.Hazards {
		if h.Certain {
			certain[h.Function] = true
			fmt.Printf("certain hazard %.10s %s %s:%d %s\n", f.Fix, h.Kind, h.Function, h.Line, h.Place)
		}
	}
	t.hazards += len(certain)
	if verbose {
		fmt.Printf("%s %s %.10s, %d deltas\n", rep.Verdict, f.Repository, f.Fix, len(rep.Deltas))
	}
}

func (t *tally) print() {
	fmt.Printf("\nfixes %d (%d touch no existing function), errors %d\n", t.fixes, t.empty, t.errors)
	fmt.Printf("views %d, not resolved %d; plans refused %d\n", t.views, t.viewsFailed, t.refused)
	total := 0
	for _, n := range t.grades {
		total += n
	}
	for _, g := range []string{"exact", "same_family", "mismatch", "unknown"} {
		fmt.Printf("%-12s %4d  %5.1f %%\n", g, t.grades[g], percent(t.grades[g], total))
	}
	fmt.Printf("confirmed    %4d  %5.1f %% of %d deltas\n", t.grades["exact"]+t.grades["same_family"], percent(t.grades["exact"]+t.grades["same_family"], total), total)
	for _, cause := range slices.Sorted(maps.Keys(t.unknown)) {
		fmt.Printf("  unknown because of %s: %d\n", cause, t.unknown[cause])
	}
	for _, op := range slices.Sorted(maps.Keys(t.byOp)) {
		g := t.byOp[op]
		fmt.Printf("  %-18s exact %3d  same_family %3d  mismatch %3d  unknown %3d\n", op, g["exact"], g["same_family"], g["mismatch"], g["unknown"])
	}
	for _, v := range []string{"pass", "review", "fail"} {
		fmt.Printf("%-7s %d\n", v, t.verdicts[v])
	}
	fmt.Printf("unplanned structural operations: %v; functions with a certain hazard: %d\n", t.unplannedOps, t.hazards)
	for _, k := range slices.Sorted(maps.Keys(t.wrong)) {
		w := t.wrong[k]
		fmt.Printf("wrong plans, %s: %d, of which accepted %d\n", k, w.tried, w.accepted)
	}
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
