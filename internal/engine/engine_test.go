package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"flowplan/internal/lang"
	"flowplan/internal/lang/all"
	"flowplan/internal/ledger"
	"flowplan/internal/store"
)

var bg = context.Background()

// world is a small repository and an engine on it.
type world struct {
	*testing.T
	dir  string
	home store.Home
	e    *Engine
}

const shopPy = `import os

LIMIT = 10


class Cart:
    """What a customer means to buy."""

    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add(self, item, count):
        # one line an item
        for line in self.items:
            if line.item == item:
                line.count += count
                return line
        line = Line(item, count)
        self.items.append(line)
        return line

    def total(self, rates):
        amount = 0
        for line in self.items:
            amount += line.price() * rates[line.item]
        return amount


def discount(cart, code):
    table = load(code)
    rate = table.get(code)
    if rate > 1:
        rate = rate / 100
    return cart.total({}) * (1 - rate)


def load(code):
    return {code: 1}


def outer(values):
    def inner(v):
        return v + 1
    return [inner(v) for v in values]
`

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir(), home: newHome(t)}
	w.git("init", "-q", "-b", "main")
	w.write("shop.py", shopPy)
	w.commit()
	w.e = w.engine(w.dir, "s1")
	return w
}

func newHome(t *testing.T) store.Home {
	dir := t.TempDir()
	return store.Home{IndexDir: filepath.Join(dir, "index"), LedgerDir: filepath.Join(dir, "ledger")}
}

// engine is another session on the same home.
func (w *world) engine(dir, session string) *Engine {
	w.Helper()
	registry, err := lang.NewRegistry(all.Languages()...)
	if err != nil {
		w.Fatal(err)
	}
	e := New(Config{Dir: dir, Languages: registry, Session: ledger.Session{ID: session, Kind: ledger.Client}, Home: &w.home})
	w.Cleanup(func() { e.Close() })
	return e
}

func (w *world) git(args ...string) string {
	w.Helper()
	return gitIn(w.T, w.dir, args...)
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := gitCommand(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	return cmd
}

func (w *world) commit() {
	w.Helper()
	w.git("add", "-A")
	w.git("commit", "-qm", "x", "--allow-empty")
}

func (w *world) write(name, text string) {
	w.Helper()
	p := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

// edit replaces a text that must stand in the file once.
func (w *world) edit(name, old, text string) {
	w.Helper()
	s := w.read(name)
	if strings.Count(s, old) != 1 {
		w.Fatalf("%s holds %q %d times", name, old, strings.Count(s, old))
	}
	w.write(name, strings.Replace(s, old, text, 1))
}

func (w *world) of(refs ...string) string {
	w.Helper()
	r, err := w.e.Of(bg, OfParams{Function: refs})
	if err != nil {
		w.Fatalf("of %v: %v", refs, err)
	}
	return r.Text
}

func (w *world) plan(deltas string) string {
	w.Helper()
	r, err := w.e.Plan(bg, PlanParams{Deltas: json.RawMessage(deltas)})
	if err != nil {
		w.Fatalf("plan %s: %v", deltas, err)
	}
	return r.Text
}

func (w *world) planErr(deltas string) string {
	w.Helper()
	_, err := w.e.Plan(bg, PlanParams{Deltas: json.RawMessage(deltas)})
	return w.callError(err)
}

func (w *world) callError(err error) string {
	w.Helper()
	var c *CallError
	if !errors.As(err, &c) {
		w.Fatalf("expected an error that says what to call, got %v", err)
	}
	return c.Text
}

func (w *world) check(function string) (string, ReportJSON) {
	w.Helper()
	r, err := w.e.Check(bg, CheckParams{Function: function})
	if err != nil {
		w.Fatalf("check: %v", err)
	}
	return r.Text, r.JSON.(ReportJSON)
}

func (w *world) verify(verdict string) (string, ReportJSON) {
	w.Helper()
	r, err := w.e.Verify(bg, VerifyParams{})
	if err != nil {
		w.Fatalf("verify: %v", err)
	}
	j := r.JSON.(ReportJSON)
	if j.Verdict != verdict || !strings.HasPrefix(r.Text, verdict+":") {
		w.Errorf("verdict %s, want %s:\n%s", j.Verdict, verdict, r.Text)
	}
	if (r.Code == 1) != (verdict == "fail") {
		w.Errorf("exit code %d for %s", r.Code, verdict)
	}
	return r.Text, j
}

// contains wants every piece in a text.
func (w *world) contains(text string, pieces ...string) {
	w.Helper()
	for _, p := range pieces {
		if !strings.Contains(text, p) {
			w.Errorf("expected %q in:\n%s", p, text)
		}
	}
}

func (w *world) lacks(text string, pieces ...string) {
	w.Helper()
	for _, p := range pieces {
		if strings.Contains(text, p) {
			w.Errorf("unexpected %q in:\n%s", p, text)
		}
	}
}

const (
	guardOld = "    rate = table.get(code)\n"
	guardNew = "    rate = table.get(code)\n    if rate is None:\n        raise KeyError(code)\n"
	guard    = `[{"function":"discount","op":"add_guard","line":33,"condition":"rate is None"}]`
)

func TestRepair(t *testing.T) {
	w := newWorld(t)
	text := w.of("discount")
	w.contains(text, "discount(cart, code) shop.py:30-35 cfg", "33 if rate > 1\tF:35")
	text = w.plan(guard)
	w.contains(text, "planned add_guard discount 33 if rate > 1")
	w.edit("shop.py", guardOld, guardNew)
	text, j := w.check("")
	w.contains(text, "exact add_guard shop.py:discount:33", "rate is None", "raise KeyError(code)")
	if len(j.Deltas) != 1 || j.Deltas[0].Grade != "exact" || j.Deltas[0].Line != 33 || len(j.Deltas[0].Observed) != 1 {
		t.Errorf("check JSON: %+v", j)
	}
	text, j = w.verify("pass")
	w.contains(text, "1 of 1 deltas confirmed, 1 file +2 -0", "stop")
	if j.Patch != (Patch{1, 2, 0}) {
		t.Errorf("patch %+v", j.Patch)
	}
	h, err := w.e.History(bg, "")
	if err != nil {
		t.Fatal(err)
	}
	w.contains(h.Text, "plan", "delta", "check", "verify")
}

func TestWrongCalls(t *testing.T) {
	w := newWorld(t)
	w.write("a.py", "def same():\n    return 1\n")
	w.write("b.py", "def same():\n    return 2\n")
	w.commit()
	for _, c := range []struct {
		name, deltas string
		want         []string
	}{
		{"unknown function", `[{"function":"discuont","op":"add_guard","line":33}]`, []string{"nothing was planned", `no function "discuont"`, "nearest: discount (shop.py:30)"}},
		{"ambiguous", `[{"function":"same","op":"add_guard","line":2}]`, []string{"ambiguous", "a.py:same", "b.py:same"}},
		{"unknown operation", `[{"function":"discount","op":"add_gard","line":33}]`, []string{"no operation", "did you mean add_guard", "change_condition"}},
		{"outside", `[{"function":"discount","op":"add_guard","line":24}]`, []string{"line 24 is not in discount (30-35) but in Cart.total", `{"function":"shop.py:Cart.total","op":"add_guard","line":24}`}},
		{"beyond the file", `[{"function":"discount","op":"add_guard","line":999}]`, []string{"line 999 is not in discount, which has lines 30-35"}},
		{"no array", `7`, []string{"expected an array such as"}},
		{"empty", `[]`, []string{"expected at least one delta"}},
		{"no function", `[{"op":"add_guard","line":33}]`, []string{"expected a function"}},
		{"second is wrong", `[{"function":"discount","op":"add_guard","line":33},{"function":"load","op":"nonsense"}]`, []string{"nothing was planned; delta 2"}},
		{"new function without name", `[{"function":"","op":"add_function"}]`, []string{"expected the function's name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{T: t, dir: w.dir, home: w.home, e: w.e}
			w.contains(w.planErr(c.deltas), c.want...)
		})
	}
	text, _ := w.check("")
	w.contains(text, "nothing is planned")

	text = w.plan(`[{"function":"discount","op":"add_guard"}]`)
	w.contains(text, "no line: anywhere in the function")
	_, err := w.e.Of(bg, OfParams{Function: []string{"discuont"}})
	w.contains(w.callError(err), "nearest: discount (shop.py:30)")
	_, err = w.e.Of(bg, OfParams{})
	w.contains(w.callError(err), "expected a function")
	_, err = w.e.Of(bg, OfParams{Function: []string{"load"}, View: "pdg"})
	w.contains(w.callError(err), "expected cfg or dfg")
	_, err = w.e.Of(bg, OfParams{Function: []string{"load"}, Detail: "most"})
	w.contains(w.callError(err), "expected auto or full")
	_, err = w.e.Check(bg, CheckParams{Function: "discuont"})
	w.contains(w.callError(err), "nearest: discount")
	_, err = w.e.Locate(bg, LocateParams{Function: "discount"})
	w.contains(w.callError(err), "expected a site in discount")
}

func TestLocate(t *testing.T) {
	w := newWorld(t)
	locate := func(site string) (Reply, error) {
		return w.e.Locate(bg, LocateParams{Function: "discount", Site: site})
	}
	for _, c := range []struct{ site, want string }{
		{"33", "pinned 33 if rate > 1"}, {"L34", "under true 33 rate > 1"}, {"33->35", "pinned 33"},
		{"rate@32->33", "reached by"}, {"table.get", "pinned 32"}, {"30", "the signature of discount"},
	} {
		r, err := locate(c.site)
		if err != nil {
			t.Errorf("%s: %v", c.site, err)
			continue
		}
		w.contains(r.Text, c.want)
		if !r.JSON.(LocateJSON).Valid {
			t.Errorf("%s: not valid", c.site)
		}
	}
	// A plan without a line stands at the pinned site.
	if _, err := locate("33"); err != nil {
		t.Fatal(err)
	}
	w.contains(w.plan(`[{"function":"discount","op":"add_guard"}]`), "planned add_guard discount 33 if rate > 1")

	_, err := locate("77")
	text := w.callError(err)
	w.contains(text, "no such site in discount", "nearest:")
	if n := strings.Count(text, "\n"); n != 3 {
		t.Errorf("%d nearest sites:\n%s", n, text)
	}
	r, err := locate("35->31")
	if err != nil {
		t.Fatal(err)
	}
	w.contains(r.Text, "unverified", "go on")
	if !r.JSON.(LocateJSON).Unverified {
		t.Error("not marked unverified")
	}
}

// An invalid site in a plan is refused like one in flow_locate, and kept
// after two tries.
func TestPlanSite(t *testing.T) {
	w := newWorld(t)
	deltas := `[{"function":"discount","op":"add_guard","site":"nowhere"}]`
	w.contains(w.planErr(deltas), "nothing was planned", "nearest:")
	w.contains(w.plan(deltas), "unverified")
}

func TestBareNameMeansLastShown(t *testing.T) {
	w := newWorld(t)
	w.write("a.py", "def same(x):\n    return 1\n")
	w.write("b.py", "def same(x):\n    return 2\n")
	w.commit()
	w.of("b.py:same")
	w.contains(w.plan(`[{"function":"same","op":"change_block","line":2}]`), "2 return 2")
}

func TestSupersede(t *testing.T) {
	w := newWorld(t)
	w.of("discount")
	w.plan(`[{"function":"discount","op":"add_loop","line":33},{"function":"load","op":"change_block","line":39}]`)
	w.edit("shop.py", guardOld, guardNew)
	text, _ := w.check("discount")
	w.contains(text, "mismatch add_loop shop.py:discount:33", "meant? flow_plan [{", `"op":"add_guard"`, "; else edit shop.py L")
	ready := text[strings.Index(text, "[{"):]
	ready = ready[:strings.Index(ready, "}]")+2]
	text = w.plan(ready)
	w.contains(text, "planned add_guard discount", "in place of add_loop discount L33")
	w.lacks(text, "load")
	text, j := w.check("discount")
	w.contains(text, "exact add_guard")
	if len(j.Deltas) != 1 {
		t.Errorf("%d deltas", len(j.Deltas))
	}
	w.edit("shop.py", "    return {code: 1}", "    return {code: 2}")
	w.verify("pass")
	w.contains(w.plan(`[{"function":"load","op":"change_block","line":41}]`), "planned") // the plan before had passed
	_, j = w.check("")
	if len(j.Deltas) != 1 {
		t.Errorf("the passed plan was not closed: %+v", j.Deltas)
	}
	if _, err := w.e.Plan(bg, PlanParams{Deltas: json.RawMessage(`[{"function":"outer","op":"change_block","line":46}]`), Fresh: true}); err != nil {
		t.Fatal(err)
	}
	_, j = w.check("")
	if len(j.Deltas) != 1 || j.Deltas[0].Function != "outer" {
		t.Errorf("fresh: %+v", j.Deltas)
	}
}

func TestThirdTime(t *testing.T) {
	w := newWorld(t)
	w.plan(guard)
	w.edit("shop.py", "rate / 100", "rate / 1000")
	for i := range 4 {
		text, _ := w.check("")
		if got := strings.Contains(text, "for the third time"); got != (i >= 2) {
			t.Errorf("check %d: %s", i+1, text)
		}
	}
	for i := range 3 {
		text, _ := w.verify("fail")
		if got := strings.Contains(text, "for the third time"); got != (i >= 2) {
			t.Errorf("verify %d: %s", i+1, text)
		}
	}
	w.edit("shop.py", "rate / 1000", "rate / 10000")
	text, _ := w.verify("fail")
	w.lacks(text, "third")
}

func TestHeadMoves(t *testing.T) {
	w := newWorld(t)
	base := w.git("rev-parse", "HEAD")
	w.plan(guard)
	w.edit("shop.py", guardOld, guardNew)
	w.commit()
	text, j := w.verify("pass")
	w.contains(text, "commits were made since the plan")
	if j.Base != base {
		t.Errorf("base %s, want %s", j.Base, base)
	}
	w.plan(`[{"function":"load","op":"change_block","line":42}]`)
	w.git("checkout", "-q", "--orphan", "other")
	w.git("commit", "-qm", "elsewhere")
	text, _ = w.check("")
	w.contains(text, "HEAD moved elsewhere: the plan is closed")
	text, _ = w.check("")
	w.lacks(text, "moved")
	w.plan(`[{"function":"load","op":"change_block","line":42}]`)
	w.git("checkout", "-q", "main")
	w.git("reset", "-q", "--hard", base)
	w.contains(w.plan(`[{"function":"load","op":"change_block","line":39}]`), "HEAD moved elsewhere: the plan before is closed")
}

func TestNoGit(t *testing.T) {
	w := &world{T: t, dir: t.TempDir(), home: newHome(t)}
	w.write("a.py", "def f(x):\n    return x\n")
	w.e = w.engine(w.dir, "s")
	w.contains(w.of("f"), "f(x) a.py:1-2")
	w.contains(w.planErr(`[{"function":"f","op":"add_guard","line":2}]`), "git repository", "flow_of works without")
	_, err := w.e.Verify(bg, VerifyParams{})
	w.contains(w.callError(err), "git repository")
	_, err = w.e.Diff(bg, DiffParams{})
	w.contains(w.callError(err), "git repository")
}

func TestNoCommitYet(t *testing.T) {
	w := &world{T: t, dir: t.TempDir(), home: newHome(t)}
	w.git("init", "-q")
	w.write("a.py", "def f(x):\n    return x\n")
	w.e = w.engine(w.dir, "s")
	w.contains(w.of("f"), "f(x) a.py:1-2")
	w.contains(w.planErr(`[{"function":"f","op":"add_guard","line":2}]`), "no commit yet", "add_function")
	w.plan(`[{"function":"a.py:g","op":"add_function"}]`)
	w.write("a.py", "def f(x):\n    return x\n\n\ndef g():\n    return 1\n")
	w.verify("pass")
}

func TestDirtyTree(t *testing.T) {
	w := newWorld(t)
	w.edit("shop.py", "return {code: 1}", "return {code: 5}")
	w.edit("shop.py", "self.items = []", "self.items = list()")
	w.plan(guard)
	w.edit("shop.py", guardOld, guardNew)
	text, j := w.verify("pass")
	w.contains(text, "2 pre-existing")
	for _, u := range j.Unplanned {
		if u.Origin != "pre-existing" {
			t.Errorf("%+v", u)
		}
	}
	w.edit("shop.py", "return {code: 5}", "return {code: 6}") // now the session touched it
	text, _ = w.verify("fail")
	w.contains(text, "unplanned modified shop.py:load")
	w.lacks(text, "revert")
}

func TestPlannedFunctionWasDirty(t *testing.T) {
	w := newWorld(t)
	w.edit("shop.py", guardOld, guardNew)
	w.of("discount") // the first call
	w.plan(`[{"function":"discount","op":"add_guard","line":33,"condition":"rate is None"}]`)
	text, _ := w.verify("pass")
	w.contains(text, "discount differed before the session and is graded from HEAD")
}

func TestPlannedElsewhere(t *testing.T) {
	w := newWorld(t)
	other := &world{T: t, dir: w.dir, home: w.home, e: w.engine(w.dir, "s2")}
	w.of("discount")
	other.plan(`[{"function":"load","op":"change_block","line":39}]`)
	w.plan(guard)
	w.edit("shop.py", guardOld, guardNew)
	w.edit("shop.py", "return {code: 1}", "return {code: 5}")
	text, _ := w.verify("pass")
	w.contains(text, "1 planned elsewhere")
}
