package plan

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/lang/python"
	"flowplan/internal/source"
)

func TestParse(t *testing.T) {
	one := []Delta{{Function: "C.f", Op: "add_guard", Line: 14, Condition: "x is None"}}
	for _, c := range []struct {
		name, raw string
		want      []Delta
		notes     []string
	}{
		{"array", `[{"function":"C.f","op":"add_guard","line":14,"condition":"x is None"}]`, one, nil},
		{"object", `{"function":"C.f","op":"add_guard","line":14,"condition":"x is None"}`, one, nil},
		{"array as a string", `"[{\"function\":\"C.f\",\"op\":\"add_guard\",\"line\":14,\"condition\":\"x is None\"}]"`, one, nil},
		{"objects as strings", `["{\"function\":\"C.f\",\"op\":\"add_guard\",\"line\":14,\"condition\":\"x is None\"}"]`, one, nil},
		{"wrapped", `{"deltas":[{"function":"C.f","op":"add_guard","line":14,"condition":"x is None"}]}`, one, nil},
		{"line as a string", `[{"function":"C.f","op":"add_guard","line":"14","condition":"x is None"}]`, one, nil},
		{"L14", `[{"function":"C.f","op":"add_guard","line":"L14","condition":"x is None"}]`, one, nil},
		{"a range", `[{"function":"C.f","op":"add_guard","line":"14-16","condition":"x is None"}]`, one, nil},
		{"a float", `[{"function":"C.f","op":"add_guard","line":14.0,"condition":"x is None"}]`, one, nil},
		{"keys in any case", `[{"Function":"C.f","OP":"add_guard","Line":14,"Condition":"x is None"}]`, one, nil},
		{"other words", `[{"func":"C.f","operation":"add_guard","line":14,"cond":"x is None"}]`, one, nil},
		{"nulls", `[{"function":"C.f","op":"add_guard","line":14,"condition":"x is None","site":null,"to":null}]`, one, nil},
		{"unknown", `[{"function":"C.f","op":"add_guard","line":14,"condition":"x is None","why":"crash","file":"a.py"}]`, one, []string{"file", "why"}},
		{"a site that is a number", `[{"function":"f","op":"x","site":12}]`, []Delta{{Function: "f", Op: "x", Site: "12"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, notes, err := Parse(json.RawMessage(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Error(diff)
			}
		})
	}
	for raw, want := range map[string]string{
		`7`: "expected an array", `"x"`: "expected an array", `[]`: "at least one delta", ``: "expected an array", `[3]`: "delta 1: expected an object",
		`[{"function":"f","op":"x","line":"middle"}]`: "expected a line number", `[{"function":"f","op":"x","line":-3}]`: "expected a line number",
		`[{"function":"f","op":"x","line":99999999999999}]`: "no line of a file",
	} {
		if _, _, err := Parse(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: expected %q, got %v", raw, want, err)
		}
	}
}

func TestParseAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		Parse(json.RawMessage(rapid.String().Draw(t, "raw")))
		b, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "fields"))
		if err != nil {
			t.Fatal(err)
		}
		Parse(b)
	})
}

func TestLookup(t *testing.T) {
	for _, o := range Operations() {
		for _, name := range []string{string(o.Kind), strings.ToUpper(string(o.Kind)), strings.ReplaceAll(string(o.Kind), "_", "-"), " " + strings.ReplaceAll(string(o.Kind), "_", " ")} {
			if got, ok, _ := Lookup(name); !ok || got.Kind != o.Kind {
				t.Errorf("%q: %v %v", name, got.Kind, ok)
			}
		}
		for _, a := range o.Accepts {
			if _, ok, _ := Lookup(string(a.Kind)); !ok {
				t.Errorf("%s accepts %s, which is no operation", o.Kind, a.Kind)
			}
		}
	}
	for word, kind := range synonyms {
		if got, ok, _ := Lookup(word); !ok || got.Kind != kind {
			t.Errorf("%q: %v %v", word, got.Kind, ok)
		}
	}
	for word, want := range map[string]string{"add_gaurd": "add_guard", "chang_condition": "change_condition", "removeloop": "remove_loop"} {
		if _, ok, nearest := Lookup(word); ok || nearest != want {
			t.Errorf("%q: %v, nearest %s, want %s", word, ok, nearest, want)
		}
	}
}

// TestAssign compares the assignment with the best of all.
func TestAssign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(0, 5).Draw(t, "rows"), rapid.IntRange(0, 5).Draw(t, "cols")
		w := make([][]float64, rows)
		for r := range w {
			w[r] = make([]float64, cols)
			for c := range w[r] {
				w[r][c] = float64(rapid.SampledFrom([]int{0, 0, 1, 2, 3, 10, 11, 1000, 1001}).Draw(t, "w"))
			}
		}
		weight := func(r, c int) float64 { return w[r][c] }
		got := assign(rows, cols, weight)
		used, sum := map[int]bool{}, 0.0
		for r, c := range got {
			if c < 0 {
				continue
			}
			if used[c] || w[r][c] == 0 {
				t.Fatalf("column %d twice, or a pairing of no worth: %v", c, got)
			}
			used[c] = true
			sum += w[r][c]
		}
		if best := brute(0, rows, cols, weight, map[int]bool{}); sum != best {
			t.Fatalf("%v: total %v, best is %v for %v", got, sum, best, w)
		}
	})
}

func brute(r, rows, cols int, weight func(r, c int) float64, used map[int]bool) float64 {
	if r == rows {
		return 0
	}
	best := brute(r+1, rows, cols, weight, used)
	for c := range cols {
		if !used[c] && weight(r, c) > 0 {
			used[c] = true
			best = max(best, weight(r, c)+brute(r+1, rows, cols, weight, used))
			used[c] = false
		}
	}
	return best
}

func parse(t *testing.T, text string) *flow.View {
	t.Helper()
	f, err := flow.Parse(context.Background(), python.Language, source.New("a.py", []byte(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.View(f.Lookup("f")[0])
}

// planned makes a planned delta of `op line condition`.
func planned(t *testing.T, head *flow.View, op string, line int, condition string) Planned {
	t.Helper()
	o, ok, _ := Lookup(op)
	if !ok {
		t.Fatalf("no operation %s", op)
	}
	p := Planned{Delta: Delta{Function: "f", Op: op, Line: line, Condition: condition}, Kind: o.Kind}
	if line == 1 {
		p.AtSignature = true
	} else if line > 0 {
		if p.Anchor = head.StmtAt(line); p.Anchor == nil {
			t.Fatalf("no statement at line %d", line)
		}
	}
	if condition != "" {
		if c, err := head.File.Lang.Condition(condition); err == nil {
			p.Cond = c
		}
	}
	return p
}

const base = `def f(x, y):
    a = x
    if x > 1:
        a = y
    for i in y:
        a += i
    try:
        a = g(a)
    except KeyError:
        a = 0
    b = a
    return b
`

func TestGrade(t *testing.T) {
	r := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(base) }
	addGuard := r("    b = a\n", "    if a is None:\n        return y\n    b = a\n")
	wrap := r("    b = a\n", "    b = 0\n    if a:\n        b = a\n")
	elif := r("    for i", "    elif y:\n        a = 7\n    for i")
	noGuard := r("    if x > 1:\n        a = y\n", "    a = y\n")
	otherCond := r("x > 1", "x > 2")
	loopGone := r("    for i in y:\n        a += i\n", "    a += sum(i for i in y)\n")
	loopNew := r("    b = a\n", "    b = a\n    while b > 3:\n        b -= 1\n")
	handlerGone := r("    try:\n        a = g(a)\n    except KeyError:\n        a = 0\n", "    a = g(a)\n")
	otherHandler := r("KeyError", "ValueError")
	handlerNew := r("    b = a\n", "    with x:\n        b = a\n")
	jump := r("        a += i\n", "        a += i\n        break\n")
	block := r("    b = a\n", "    b = a + 1\n")
	ternary := r("    b = a\n", "    b = a if a else 0\n")
	asserted := r("    b = a\n", "    assert a\n    b = a\n")
	signature := r("def f(x, y)", "def f(x, y=None)")
	for _, c := range []struct {
		name      string
		after     string
		op        string
		line      int
		condition string
		want      Grade
	}{
		{"guard", addGuard, "add_guard", 11, "", Exact},
		{"guard, condition", addGuard, "add_guard", 11, "a is None", Exact},
		{"guard, negated", addGuard, "add_guard", 11, "a is not None", Exact},
		{"guard, not", addGuard, "add_guard", 11, "not (a is None)", Exact},
		{"guard, if and colon", addGuard, "add_guard", 11, "if a is None:", Exact},
		{"guard, other condition", addGuard, "add_guard", 11, "a", SameFamily},
		{"guard, broken condition", addGuard, "add_guard", 11, "a is (", Exact},
		{"guard, elsewhere", addGuard, "add_guard", 3, "a is None", SameFamily},
		{"guard, no line", addGuard, "add_guard", 0, "a is None", Exact},
		{"branch for guard", addGuard, "add_branch", 11, "a is None", Exact},
		{"opposite", addGuard, "remove_guard", 11, "", Mismatch},
		{"opposite branch", addGuard, "remove_branch", 11, "", Mismatch},
		{"loop is no guard", addGuard, "add_loop", 11, "", Mismatch},
		{"wrapping", wrap, "add_guard", 11, "a", Exact},
		{"elif", elif, "add_branch", 3, "y", Exact},
		{"elif, by the header", elif, "add_guard", 3, "y", Exact},
		{"elif, by the last statement", elif, "add_branch", 4, "y", Exact},
		{"elif, by what follows", elif, "add_branch", 5, "y", Exact},
		{"guard gone", noGuard, "remove_guard", 3, "x > 1", Exact},
		{"guard gone, as branch", noGuard, "remove_branch", 3, "", Exact},
		{"guard gone, changed", noGuard, "change_condition", 3, "", SameFamily},
		{"guard gone, opposite", noGuard, "add_guard", 3, "", Mismatch},
		{"condition", otherCond, "change_condition", 3, "x > 2", Exact},
		{"condition, mirrored", otherCond, "change_condition", 3, "2 < x", Exact},
		{"condition, negated", otherCond, "change_condition", 3, "not x > 2", Exact},
		{"condition, other", otherCond, "change_condition", 3, "x > 1", SameFamily},
		{"condition for guard", otherCond, "add_guard", 3, "x > 2", SameFamily},
		{"condition for removal", otherCond, "remove_guard", 3, "", SameFamily},
		{"condition for edge", otherCond, "rewire_edge", 3, "", SameFamily},
		{"condition for handler", otherCond, "add_handler", 3, "", Mismatch},
		{"condition for no flow change", otherCond, "no_flow_change", 3, "", Mismatch},
		{"loop header", r("for i in y", "for i in x"), "change_condition", 5, "", Exact},
		{"loop header as loop", r("for i in y", "for i in x"), "add_loop", 5, "", SameFamily},
		{"if header as loop", otherCond, "add_loop", 3, "", Mismatch},
		{"loop gone", loopGone, "remove_loop", 5, "", Exact},
		{"loop gone, opposite", loopGone, "add_loop", 5, "", Mismatch},
		{"loop", loopNew, "add_loop", 12, "b > 3", Exact},
		{"loop, as guard", loopNew, "add_guard", 12, "", SameFamily},
		{"loop, opposite", loopNew, "remove_loop", 12, "", Mismatch},
		{"handler gone", handlerGone, "remove_handler", 8, "", Exact},
		{"handler gone, changed", handlerGone, "change_handler", 9, "", SameFamily},
		{"handler gone, opposite", handlerGone, "add_handler", 8, "", Mismatch},
		{"handler changed", otherHandler, "change_handler", 9, "ValueError", Exact},
		{"handler changed, as new", otherHandler, "add_handler", 9, "", SameFamily},
		{"handler changed, as gone", otherHandler, "remove_handler", 9, "", SameFamily},
		{"handler new", handlerNew, "add_handler", 11, "x", Exact},
		{"handler new, as guard", handlerNew, "add_guard", 11, "", SameFamily},
		{"jump", jump, "rewire_edge", 6, "", Exact},
		{"jump, as guard", jump, "add_guard", 6, "", SameFamily},
		{"jump, as block", jump, "change_block", 6, "", SameFamily},
		{"block", block, "change_block", 11, "", Exact},
		{"block, as no flow change", block, "no_flow_change", 11, "", Exact},
		{"block, as edge", block, "rewire_edge", 11, "", SameFamily},
		{"block, as guard", block, "add_guard", 11, "", Mismatch},
		{"block, elsewhere", block, "change_block", 3, "", SameFamily},
		{"block, no flow change elsewhere", block, "no_flow_change", 3, "", Mismatch},
		{"ternary, as guard", ternary, "add_guard", 11, "", SameFamily},
		{"ternary, as removal", ternary, "remove_guard", 11, "", Mismatch},
		{"assert, as guard", asserted, "add_guard", 11, "", SameFamily},
		{"assert, as block", asserted, "change_block", 11, "", Exact},
		{"comprehension for a loop", strings.Replace(base, "    b = a\n", "    b = [i for i in a]\n", 1), "add_loop", 11, "", SameFamily},
		{"signature", signature, "change_signature", 0, "", Exact},
		{"signature, by line", signature, "change_signature", 1, "", Exact},
		{"signature, as block", signature, "change_block", 1, "", Exact},
		{"signature, as guard", signature, "add_guard", 1, "", Mismatch},
		{"nothing", base, "change_block", 11, "", Mismatch},
		{"nothing, no flow change", base, "no_flow_change", 11, "", Mismatch},
		{"broken", r("    b = a\n", "    b = = a\n"), "add_guard", 11, "", Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			head, work := parse(t, base), parse(t, c.after)
			d := delta.Diff(head, work)
			got := GradeFunction([]Planned{planned(t, head, c.op, c.line, c.condition)}, d).Results[0]
			if got.Grade != c.want {
				var seen []string
				for _, o := range d.Ops {
					seen = append(seen, Describe(o))
				}
				t.Errorf("%s at %d %q: %s (%s), want %s; observed %s", c.op, c.line, c.condition, got.Grade, got.Reason, c.want, strings.Join(seen, "; "))
			}
		})
	}
}

// TestConditions: what counts as the same condition, and what does not.
func TestConditions(t *testing.T) {
	for _, c := range []struct {
		written, planned string
		same             bool
	}{
		{"a is None", "None is a", true},
		{"a == 3", "3 == a", true},
		{"a < y", "y > a", true},
		{"a < y", "a >= y", true},
		{"a < y", "a <= y", false},
		{"not a and not y", "not (a or y)", true},
		{"not a and not y", "a or y", true},
		{"a and y", "y and a", true},
		{"a or y", "a and y", false},
		{"a", "a is not None", false},
		{"a", "not a", true},
		{"a", "bool(a)", false},
		{"(a)", "a", true},
		{"a in y", "a not in y", true},
		{"isinstance(a, (int, str))", "isinstance(a, (int,str))", true},
		{"a[0] == 'x'", `a[0] == "x"`, true},
		{"len(a) > 3", "len(a) > 4", false},
		{"0 < a < 9", "0 < a < 9", true},
	} {
		t.Run(c.written+" / "+c.planned, func(t *testing.T) {
			head := parse(t, base)
			work := parse(t, strings.Replace(base, "    b = a\n", "    if "+c.written+":\n        return y\n    b = a\n", 1))
			got := GradeFunction([]Planned{planned(t, head, "add_guard", 11, c.planned)}, delta.Diff(head, work)).Results[0]
			if (got.Grade == Exact) != c.same {
				t.Errorf("%s %s", got.Grade, got.Reason)
			}
		})
	}
}

// TestOneToOne: a structural operation confirms one planned delta, content as
// many as there are; the best total wins.
func TestOneToOne(t *testing.T) {
	head := parse(t, base)
	work := parse(t, strings.Replace(base, "    b = a\n", "    if a is None:\n        return y\n    if y is None:\n        return a\n    b = a\n", 1))
	d := delta.Diff(head, work)
	grades := func(list ...Planned) string {
		rep := GradeFunction(list, d)
		var out []string
		for _, r := range rep.Results {
			out = append(out, string(r.Grade))
		}
		for _, o := range rep.Unplanned {
			out = append(out, "+"+string(o.Kind))
		}
		return strings.Join(out, " ")
	}
	a := planned(t, head, "add_guard", 11, "a is None")
	b := planned(t, head, "add_guard", 11, "y is None")
	other := planned(t, head, "add_guard", 11, "x")
	for _, c := range []struct {
		got, want string
	}{
		{grades(a), "exact +add_guard"},
		{grades(a, b), "exact exact"},
		{grades(b, a), "exact exact"},
		{grades(other, b), "same_family exact"},
		{grades(a, b, other), "exact exact mismatch"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// TestReplaced: remove X and add X' at one place are change_condition there,
// either way.
func TestReplaced(t *testing.T) {
	head := parse(t, base)
	work := parse(t, strings.Replace(base, "x > 1", "x > 2", 1))
	rep := GradeFunction([]Planned{planned(t, head, "remove_guard", 3, "x > 1"), planned(t, head, "add_guard", 3, "x > 2")}, delta.Diff(head, work))
	for i, r := range rep.Results {
		if !r.Grade.OK() {
			t.Errorf("delta %d: %s %s", i+1, r.Grade, r.Reason)
		}
	}
	if len(rep.Unplanned) > 0 {
		t.Errorf("unplanned: %s", Describe(rep.Unplanned[0]))
	}
}

// TestMoved: a statement that moves into a loop may be planned as gone from one
// block and come into another; planned as an edge it is one change, not two.
func TestMoved(t *testing.T) {
	head := parse(t, "def f(x, y):\n    for i in x:\n        y.use(i)\n        y.step()\n    y.release(x)\n    return y\n")
	work := parse(t, "def f(x, y):\n    for i in x:\n        y.use(i)\n        y.release(x)\n        y.step()\n    return y\n")
	d := delta.Diff(head, work)
	rep := GradeFunction([]Planned{planned(t, head, "change_block", 4, ""), planned(t, head, "change_block", 5, "")}, d)
	for i, r := range rep.Results {
		if !r.Grade.OK() {
			t.Errorf("delta %d: %s %s", i+1, r.Grade, r.Reason)
		}
	}
	if len(rep.Unplanned) > 0 {
		t.Errorf("unplanned: %s", Describe(rep.Unplanned[0]))
	}
	rep = GradeFunction([]Planned{planned(t, head, "rewire_edge", 5, ""), planned(t, head, "rewire_edge", 4, "")}, d)
	if got := []Grade{rep.Results[0].Grade, rep.Results[1].Grade}; got[0] != Exact || got[1] != Mismatch {
		t.Errorf("rewire_edge twice: %v, want exact and mismatch", got)
	}
}

// TestRelaid: an else behind a return is taken away. Nothing is observed, and
// that is what no_flow_change plans.
func TestRelaid(t *testing.T) {
	head := parse(t, "def f(x):\n    if x:\n        return 1\n    else:\n        return 2\n")
	work := parse(t, "def f(x):\n    if x:\n        return 1\n    return 2\n")
	d := delta.Diff(head, work)
	for op, want := range map[string]Grade{"no_flow_change": Exact, "change_block": Mismatch, "remove_branch": Mismatch} {
		if got := GradeFunction([]Planned{planned(t, head, op, 5, "")}, d).Results[0]; got.Grade != want {
			t.Errorf("%s: %s (%s), want %s", op, got.Grade, got.Reason, want)
		}
	}
}

// TestRows: a note narrows what a row accepts, so there is code behind it.
func TestRows(t *testing.T) {
	for _, o := range Operations() {
		for _, a := range o.Accepts {
			if (a.Note != "") != (a.When != nil) {
				t.Errorf("%s accepts %s %q: the note and the condition do not go together", o.Kind, a.Kind, a.Note)
			}
		}
	}
}
