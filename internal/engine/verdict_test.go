package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestVerdicts goes through the table of verdicts row by row: what was there,
// what was planned, what was edited, and what is said.
func TestVerdicts(t *testing.T) {
	none := func(*world) {}
	edit := func(file, old, text string) func(*world) {
		return func(w *world) { w.Helper(); w.edit(file, old, text) }
	}
	both := func(fs ...func(*world)) func(*world) {
		return func(w *world) {
			for _, f := range fs {
				f(w)
			}
		}
	}
	guarded := edit("shop.py", guardOld, guardNew)
	for _, c := range []struct {
		name    string
		plan    string
		edit    func(*world)
		verdict string
		want    []string
		lacks   []string
	}{
		{"exact", guard, guarded, "pass", []string{"1 of 1 deltas confirmed", "stop"}, []string{"notes"}},
		{"same family", `[{"function":"discount","op":"add_guard","line":33,"condition":"rate < 0"}]`, guarded, "pass", []string{"(1 same_family)"}, nil},
		{"branch for guard", `[{"function":"discount","op":"add_branch","line":33}]`, guarded, "pass", []string{"1 of 1 deltas confirmed,"}, nil},
		{"negated condition", `[{"function":"discount","op":"add_guard","line":33,"condition":"rate is not None"}]`, guarded, "pass", []string{"1 of 1 deltas confirmed,"}, nil},
		{"new code only notes", guard, both(guarded, edit("shop.py", "LIMIT = 10\n", "LIMIT = 20\n"), edit("shop.py", "def load(code)", "def helper():\n    return 3\n\n\ndef load(code)")),
			"pass", []string{"1 added", "code outside functions"}, nil},
		{"tests and docs are notes", guard, both(guarded, edit("test_shop.py", "assert True", "for i in 1, 2:\n        assert i"), edit("docs/ex.py", "    return 1", "    if ex:\n        return 2\n    return 1")),
			"pass", []string{"1 test", "1 example"}, nil},
		{"text only is a note", guard, both(guarded, edit("docs/ex.py", "return 1", "return 2")), "pass", []string{"1 text only"}, nil},
		{"docstrings and comments are nothing", guard, both(guarded, edit("shop.py", "# one line an item", "# an item has one line")), "pass", nil, []string{"notes"}},
		{"imports are nothing", guard, both(guarded, edit("shop.py", "import os\n", "import os\nimport sys\n")), "pass", nil, []string{"unplanned"}},
		{"change_block in a planned function is nothing", guard, both(guarded, edit("shop.py", "rate / 100", "rate / 100.0")), "pass", nil, []string{"unplanned"}},
		{"unplanned operation", guard, both(guarded, edit("shop.py", "if rate > 1:", "if rate > 2:")), "review", []string{"unplanned shop.py:discount change_condition L35", "if that was meant, stop"}, nil},
		{"certain hazard", guard, both(guarded, edit("shop.py", "    return cart.total({}) * (1 - rate)\n", "    return cart.total({}) * (1 - rate)\n    rate = 0\n")), "review", []string{"hazard unreachable shop.py:discount:38"}, nil},
		{"possible hazard", guard, both(guarded, edit("shop.py", "    table = load(code)\n", "    if code:\n        table = load(code)\n")), "review", []string{"possibly_unbound"}, nil},
		{"mismatch", `[{"function":"discount","op":"add_loop","line":33}]`, guarded, "fail", []string{"mismatch add_loop", "meant? flow_plan", "else edit shop.py L"}, nil},
		{"nothing edited", guard, none, "fail", []string{"the patch is empty", "make the edit, then verify"}, nil},
		{"unplanned function", guard, both(guarded, edit("shop.py", "{code: 1}", "{code: 2}")), "fail", []string{"unplanned modified shop.py:load:40"}, nil},
		{"removed function", guard, both(guarded, edit("shop.py", "def load(code):\n    return {code: 1}\n\n\n", "")), "fail", []string{"unplanned removed shop.py:load"}, nil},
		{"syntax error", guard, both(guarded, edit("shop.py", "return {code: 1}", "return {code: 1")), "fail", []string{"syntax error", "mend the syntax error at shop.py:"}, nil},
		{"the other arm", `[{"function":"discount","op":"remove_guard","line":33}]`, guarded, "fail", []string{"mismatch remove_guard"}, nil},
		{"no plan, a function changed", "", guarded, "fail", []string{"nothing planned", "unplanned modified shop.py:discount:30"}, nil},
		{"no plan, nothing changed", "", none, "fail", []string{"the patch is empty"}, nil},
		{"no plan, only a constant", "", edit("shop.py", "LIMIT = 10\n", "LIMIT = 20\n"), "pass", []string{"code outside functions"}, nil},
		{"rename", `[{"function":"load","op":"rename_function","to":"fetch"}]`, both(edit("shop.py", "def load(code)", "def fetch(code)")), "pass", []string{"1 of 1"}, nil},
		{"remove", `[{"function":"load","op":"remove_function"}]`, edit("shop.py", "def load(code):\n    return {code: 1}\n\n\n", ""), "pass", []string{"1 of 1"}, nil},
		{"add", `[{"function":"shop.py:check","op":"add_function"}]`, edit("shop.py", "def load(code)", "def check():\n    return 3\n\n\ndef load(code)"), "pass", []string{"1 of 1"}, []string{"added"}},
		{"add, missing", `[{"function":"shop.py:check","op":"add_function"}]`, guarded, "fail", []string{"mismatch add_function"}, nil},
		{"signature", `[{"function":"load","op":"change_signature"}]`, edit("shop.py", "def load(code)", "def load(code, rate=1)"), "pass", []string{"1 of 1"}, nil},
		{"class body", `[{"function":"shop.py:<module>","op":"change_block","line":3}]`, edit("shop.py", "LIMIT = 10\n", "LIMIT = 20\n"), "pass", []string{"1 of 1"}, []string{"notes"}},
		{"nested function", `[{"function":"outer.inner","op":"change_block","line":44}]`, edit("shop.py", "return v + 1", "return v + 2"), "pass", []string{"1 of 1"}, nil},
		{"outer for a nested change", `[{"function":"outer","op":"change_block","line":45}]`, edit("shop.py", "return v + 1", "return v + 2"), "fail", []string{"outer.inner"}, nil},
		{"no flow change", `[{"function":"load","op":"no_flow_change","line":39}]`, edit("shop.py", "{code: 1}", "{code: 2}"), "pass", []string{"1 of 1"}, nil},
		{"data", `[{"function":"discount","op":"add_def_use","site":"code@30->35"}]`, edit("shop.py", "* (1 - rate)", "* (1 - rate) * len(code)"), "pass", []string{"1 of 1"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("test_shop.py", "def test_it():\n    assert True\n")
			w.write("docs/ex.py", "def ex():\n    return 1\n")
			w.commit()
			if c.plan != "" {
				w.plan(c.plan)
			} else {
				w.of("discount")
			}
			c.edit(w)
			text, _ := w.verify(c.verdict)
			w.contains(text, c.want...)
			w.lacks(text, append(c.lacks, "revert", "undo")...)
		})
	}
}

// TestReviewOfUnreadable: what HEAD itself could not be read is no failure of
// the edit.
func TestReviewOfUnreadable(t *testing.T) {
	w := newWorld(t)
	w.write("bad.py", "def f(x):\n    y = = x\n    if x:\n        return 1\n    return y\n")
	w.commit()
	w.plan(`[{"function":"bad.py:f","op":"add_loop","line":2}]`)
	w.edit("bad.py", "y = = x", "y = = z")
	text, _ := w.verify("review")
	w.contains(text, "unknown add_loop bad.py:f")
}

func TestSyntaxErrorInPlannedFunction(t *testing.T) {
	w := newWorld(t)
	w.plan(guard)
	w.edit("shop.py", guardOld, "    rate = table.get(code)\n    if rate is None\n        raise KeyError(code)\n")
	text, j := w.verify("fail")
	w.contains(text, "syntax error")
	found := false
	for _, h := range j.Hazards {
		found = found || h.Kind == "syntax_error" && h.Certain
	}
	if !found || j.Deltas[0].Grade == "exact" {
		t.Errorf("%+v %+v", j.Hazards, j.Deltas)
	}
}

func TestFileDeleted(t *testing.T) {
	w := newWorld(t)
	w.write("b.py", "def g(x):\n    return x\n")
	w.commit()
	w.plan(`[{"function":"b.py:g","op":"change_block","line":2}]`)
	w.git("rm", "-q", "b.py")
	text, _ := w.verify("fail")
	w.contains(text, "mismatch change_block b.py:g:2", "the function is gone")
	w.plan(`[{"function":"b.py:g","op":"remove_function"}]`)
	w.verify("pass")
}

// Twins are told apart by number and by line.
func TestTwins(t *testing.T) {
	w := newWorld(t)
	w.write("twins.py", "if os:\n    def f(x):\n        return x\nelse:\n    def f(x):\n        return -x\n")
	w.commit()
	w.contains(w.of("twins.py:f#2"), "f#2(x) twins.py:5-6")
	w.contains(w.plan(`[{"function":"twins.py:f","op":"change_block","line":6}]`), "planned change_block f#2 6 return -x")
	w.edit("twins.py", "return -x", "return -x - 1")
	w.verify("pass")
}

// A function that moved to another file, changed or not.
func TestMoved(t *testing.T) {
	body := "def helper(a, b):\n    total = a + b\n    if total > 3:\n        return a\n    return total\n"
	w := newWorld(t)
	w.write("one.py", body+"\n\ndef stay():\n    return 1\n")
	w.commit()
	w.plan(`[{"function":"one.py:helper","op":"rename_function","to":"two.py:helper"}]`)
	w.write("one.py", "def stay():\n    return 1\n")
	w.write("two.py", body)
	w.verify("pass")

	w.write("two.py", strings.Replace(body, "total > 3", "total > 4", 1))
	w.plan(`[{"function":"one.py:helper","op":"rename_function","to":"two.py:helper"},{"function":"one.py:helper","op":"change_condition","line":3,"condition":"total > 4"}]`)
	w.verify("pass")
}

// A class that is renamed leaves its methods unmodified.
func TestClassRenamed(t *testing.T) {
	w := newWorld(t)
	w.plan(guard)
	w.edit("shop.py", guardOld, guardNew)
	w.edit("shop.py", "class Cart:", "class Basket:")
	_, j := w.verify("pass")
	if len(j.Unplanned) > 0 {
		t.Errorf("%+v", j.Unplanned)
	}
}

// TestReplyBudgets: what is said when all is well.
func TestReplyBudgets(t *testing.T) {
	w := newWorld(t)
	budget := func(what, text string, deltas int) {
		t.Helper()
		if n, most := realTokens(t, text), 60+25*(deltas-1); n > most {
			t.Errorf("%s takes %d tokens, want at most %d:\n%s", what, n, most, text)
		}
	}
	r, err := w.e.Locate(bg, LocateParams{Function: "discount", Site: "34"})
	if err != nil {
		t.Fatal(err)
	}
	budget("locate", r.Text, 1)
	budget("plan", w.plan(guard), 1)
	w.edit("shop.py", guardOld, guardNew)
	text, _ := w.check("")
	budget("check", text, 1)
	text, _ = w.verify("pass")
	budget("verify", text, 1)

	// long names, many deltas
	long := newWorld(t)
	path := "src/application/services/customers/notification_preferences.py"
	var b, deltas strings.Builder
	line := 1
	for i := range 6 {
		fmt.Fprintf(&b, "def update_customer_notification_preferences_%d(customer, preferences):\n    value = preferences.get(customer.identifier_%d)\n    return value\n", i, i)
		fmt.Fprintf(&deltas, `,{"function":"update_customer_notification_preferences_%d","op":"add_guard","line":%d,"condition":"value is None"}`, i, line+2)
		line += 3
	}
	long.write(path, b.String())
	long.commit()
	budget("plan of six", long.plan("["+deltas.String()[1:]+"]"), 6)
	long.write(path, strings.ReplaceAll(b.String(), "    return value\n", "    if value is None:\n        return customer\n    return value\n"))
	text, _ = long.check("")
	budget("check of six", text, 6)
	text, _ = long.verify("pass")
	budget("verify of six", text, 6)
}
