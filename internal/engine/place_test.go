package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRoots(t *testing.T) {
	w := newWorld(t)
	w.write("pkg/deep/x.py", "def deep(x):\n    return x\n")
	w.commit()
	other := filepath.Join(t.TempDir(), "tree")
	w.git("worktree", "add", "-q", other)
	if err := os.WriteFile(filepath.Join(other, "only.py"), []byte("def only_there(x):\n    return x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stranger := t.TempDir()
	gitIn(t, stranger, "init", "-q")
	of := func(root, ref string) (string, error) {
		r, err := w.e.Of(bg, OfParams{Function: []string{ref}, Root: root})
		return r.Text, err
	}
	for _, c := range []struct{ name, root, ref, want string }{
		{"none", "", "deep", "pkg/deep/x.py:1-2"},
		{"the root itself", w.dir, "deep", "pkg/deep/x.py:1-2"},
		{"a directory inside", filepath.Join(w.dir, "pkg"), "deep", "pkg/deep/x.py:1-2"},
		{"relative", "pkg/deep", "deep", "pkg/deep/x.py:1-2"},
		{"a worktree", other, "only_there", "only.py:1-2"},
		{"an absolute path here", "", filepath.Join(w.dir, "pkg/deep/x.py") + ":deep", "pkg/deep/x.py:1-2"},
		{"an absolute path there", "", filepath.Join(other, "only.py") + ":only_there", "only.py:1-2"},
		{"an absolute line there", "", filepath.Join(other, "only.py") + ":2", "only.py:1-2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := of(c.root, c.ref)
			if err != nil || !strings.Contains(text, c.want) {
				t.Errorf("expected %q, got %v\n%s", c.want, err, text)
			}
		})
	}
	for _, root := range []string{stranger, "/", "/nowhere"} {
		_, err := of(root, "deep")
		w.contains(w.callError(err), "--root", w.dir)
	}
	if _, err := of("", filepath.Join(stranger, "x.py")+":f"); err == nil {
		t.Error("a path in another repository was accepted")
	}

	// A plan in the worktree does not touch the one here.
	w.plan(guard)
	if _, err := w.e.Plan(bg, PlanParams{Deltas: json.RawMessage(`[{"function":"load","op":"change_block","line":39}]`), Root: other}); err != nil {
		t.Fatal(err)
	}
	_, j := w.check("")
	if len(j.Deltas) != 1 || j.Deltas[0].Op != "add_guard" {
		t.Errorf("%+v", j.Deltas)
	}
	// and an absolute path in a delta decides too
	if _, err := w.e.Plan(bg, PlanParams{Deltas: json.RawMessage(fmt.Sprintf(`[{"function":%q,"op":"change_block","line":34}]`, other+"/shop.py:discount"))}); err != nil {
		t.Fatal(err)
	}
	r, err := w.e.Check(bg, CheckParams{Root: other})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.JSON.(ReportJSON).Deltas); n != 2 {
		t.Errorf("%d deltas in the worktree:\n%s", n, r.Text)
	}
}

func TestTraceback(t *testing.T) {
	w := newWorld(t)
	w.write("app.py", `from shop import discount, Cart


def main(argv):
    cart = Cart(argv[0])
    code = argv[1]
    if code:
        return show(cart, code)
    return None


def show(cart, code):
    price = discount(cart, code)
    return price
`)
	w.commit()
	text := w.of(fmt.Sprintf(`Traceback (most recent call last):
  File "/usr/lib/python3/runpy.py", line 88, in _run_code
    exec(code, run_globals)
  File "%[1]s/app.py", line 8, in main
    return show(cart, code)
  File "%[1]s/app.py", line 13, in show
    price = discount(cart, code)
  File "%[1]s/shop.py", line 33, in discount
    if rate > 1:
TypeError: '>' not supported between instances of 'NoneType' and 'int'
`, w.dir))
	w.contains(text, "discount(cart, code) shop.py:30-35", "33 if rate > 1\tF:35 <== here",
		"called from show  app.py:12-14", "13 price = discount(cart, code)  <== call",
		"called from main  app.py:4-9", "7 if code  T", "5 cart = Cart(argv[0])  defines cart", "6 code = argv[1]  defines code", "8 return show(cart, code)  <== call")
	w.lacks(text, "runpy", "return None", "14 return price")

	text = w.of("shop.py:26: in total\n")
	w.contains(text, "Cart.total")

	_, err := w.e.Of(bg, OfParams{Function: []string{"Traceback (most recent call last):\n  File \"/usr/lib/x.py\", line 3, in f\n    g()\nValueError\n"}})
	w.contains(w.callError(err), "no frame of the traceback lies inside the root")
}

func TestOutlines(t *testing.T) {
	w := newWorld(t)
	w.contains(w.of("Cart"), "<class Cart>  shop.py:6-27  3 functions", "9-11 Cart.__init__", "23-27 Cart.total")
	w.contains(w.of("shop.py"), "shop.py:1-", "30-35 discount", "43-44 outer.inner")
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "def f%d():\n    return %d\n", i, i)
	}
	w.write("many.py", b.String())
	w.commit()
	text := w.of("many.py")
	w.contains(text, "60 functions", "... 20 more")
	if n := strings.Count(text, "\n"); n != 42 {
		t.Errorf("%d lines", n)
	}
	w.contains(w.of("shop.py:<module>"), "<module> shop.py", "3 LIMIT = 10")
	w.contains(w.of("shop.py:25"), "Cart.total(self, rates)")
	w.contains(w.of("Cart.add", "load\ndiscount"), "Cart.add(", "load(code)", "discount(cart")
}

// TestCallBudget: one function, and a call, however much is asked for.
func TestCallBudget(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	for f := range 12 {
		fmt.Fprintf(&b, "def big%d(a, b):\n    total = a\n", f)
		for i := range 120 {
			fmt.Fprintf(&b, "    if total > %d and b is not None:\n        total = compute_value(total, b, %d) + a\n", i, i)
		}
		fmt.Fprintf(&b, "    return total\n\n\n")
	}
	w.write("big.py", b.String())
	w.commit()
	text := w.of("big3")
	if n := realTokens(t, text); n > 2500 {
		t.Errorf("one function takes %d tokens", n)
	}
	w.contains(text, "detail=full")
	var names []string
	for f := range 12 {
		names = append(names, fmt.Sprintf("big%d", f))
	}
	text = w.of(names...)
	if n := realTokens(t, text); n > 4000 {
		t.Errorf("twelve functions take %d tokens", n)
	}
	for _, name := range names {
		w.contains(text, name+"(a, b) big.py:")
	}
	r, err := w.e.Of(bg, OfParams{Function: []string{"big0"}, Detail: "full"})
	if err != nil {
		t.Fatal(err)
	}
	w.lacks(r.Text, "left out", "...")
	if n := strings.Count(r.Text, "\n"); n != 243 {
		t.Errorf("%d lines in full", n)
	}
	r, err = w.e.Of(bg, OfParams{Function: []string{"big0"}, Focus: 100})
	if err != nil {
		t.Fatal(err)
	}
	w.contains(r.Text, "\n100 ")
	var many []string
	for i := range 60 {
		many = append(many, "big1", fmt.Sprintf("nothing_of_that_name_%d", i))
	}
	text = w.of(many...)
	if n := realTokens(t, text); n > 4000 {
		t.Errorf("120 references take %d tokens", n)
	}
}

func TestDFGView(t *testing.T) {
	w := newWorld(t)
	r, err := w.e.Of(bg, OfParams{Function: []string{"discount"}, View: "dfg"})
	if err != nil {
		t.Fatal(err)
	}
	w.contains(r.Text, "discount(cart, code) shop.py:30-35 dfg", "32 rate = table.get(code)\t<code:30 <table:31 >33,34,35")
	r, err = w.e.Locate(bg, LocateParams{Function: "discount", Site: "rate@34->35"})
	if err != nil {
		t.Fatal(err)
	}
	w.contains(r.Text, "pinned 35", "reached by", "rate:34")
}

// TestFiles: texts and names of every kind, seen, planned and verified.
func TestFiles(t *testing.T) {
	before := "def f(x):\n    y = x\n    return y\n"
	after := "def f(x):\n    y = x\n    if y is None:\n        return 0\n    return y\n"
	for _, c := range []struct {
		name, path    string
		before, after string
	}{
		{"CRLF", "a.py", strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(after, "\n", "\r\n")},
		{"CRLF to LF", "a.py", strings.ReplaceAll(before, "\n", "\r\n"), after},
		{"BOM", "a.py", "\ufeff" + before, "\ufeff" + after},
		{"no UTF-8", "a.py", "# caf\xe9\n" + before, "# caf\xe9\n" + after},
		{"spaces", "a dir/a file.py", before, after},
		{"quotes", `it's "so".py`, before, after},
		{"newline", "a\nb.py", before, after},
		{"letters", "größe/naïve_模块.py", before, after},
		{"no newline at the end", "a.py", strings.TrimSuffix(before, "\n"), strings.TrimSuffix(after, "\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(c.path, c.before)
			w.commit()
			line := 3
			if strings.HasPrefix(c.before, "#") {
				line = 4
			}
			w.contains(w.of("f"), "y = x")
			w.plan(fmt.Sprintf(`[{"function":"f","op":"add_guard","line":%d,"condition":"y is None"}]`, line))
			w.write(c.path, c.after)
			_, j := w.verify("pass")
			if j.Deltas[0].Grade != "exact" {
				t.Errorf("%+v", j.Deltas)
			}
		})
	}
}

// TestNothingChanged: what is no change of code.
func TestNothingChanged(t *testing.T) {
	w := newWorld(t)
	w.plan(guard)
	w.edit("shop.py", guardOld, guardNew)
	w.write("shop.py", strings.ReplaceAll(w.read("shop.py"), "\n", "\r\n"))
	if err := os.Chmod(filepath.Join(w.dir, "shop.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, j := w.verify("pass")
	if len(j.Unplanned) > 0 {
		t.Errorf("%+v", j.Unplanned)
	}
}

func TestStagedUnstagedUntracked(t *testing.T) {
	w := newWorld(t)
	w.write("b.py", "def g(x):\n    return x\n")
	w.commit()
	w.of("discount")
	w.edit("shop.py", "{code: 1}", "{code: 2}")
	w.git("add", "shop.py")                       // staged
	w.edit("b.py", "return x", "return x + x")    // not staged
	w.write("c.py", "def h(x):\n    return x\n")  // untracked
	w.write(".gitignore", "d.py\n")               //
	w.write("d.py", "def ignored():\n    pass\n") // ignored
	_, j := w.verify("fail")
	got := map[string]string{}
	for _, u := range j.Unplanned {
		got[u.ID] = u.Status + " " + u.Origin
	}
	want := map[string]string{"shop.py:load": "modified session", "b.py:g": "modified session", "c.py:h": "added session"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSymlinkOut(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(t.TempDir(), "secret.py")
	if err := os.WriteFile(outside, []byte("def secret():\n    return 'hidden words'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(w.dir, "link.py")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(w.dir, "linked")); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"link.py:secret", "linked/secret.py:secret", "secret", "link.py", "../" + filepath.Base(filepath.Dir(outside)) + "/secret.py:secret", outside + ":secret"} {
		r, err := w.e.Of(bg, OfParams{Function: []string{ref}})
		if err == nil || strings.Contains(r.Text, "hidden words") || strings.Contains(err.Error(), "hidden words") {
			t.Errorf("%s: %v %s", ref, err, r.Text)
		}
	}
	w.plan(guard)
	w.edit("shop.py", guardOld, guardNew)
	w.verify("pass")
}

func TestSubmoduleAndConflict(t *testing.T) {
	w := newWorld(t)
	sub := t.TempDir()
	gitIn(t, sub, "init", "-q")
	gitIn(t, sub, "commit", "-qm", "x", "--allow-empty")
	w.git("submodule", "add", "-q", sub, "sub")
	w.commit()
	w.plan(guard)
	w.edit("shop.py", guardOld, guardNew)
	w.verify("pass")
	w.commit()

	w.git("checkout", "-q", "-b", "side", "HEAD~1")
	w.edit("shop.py", "{code: 1}", "{code: 3}")
	w.commit()
	w.git("checkout", "-q", "main")
	w.edit("shop.py", "{code: 1}", "{code: 4}")
	w.commit()
	if gitCommand(w.dir, "merge", "side").Run() == nil {
		t.Fatal("expected a conflict")
	}
	w.e = w.engine(w.dir, "s3")
	w.of("discount")
	text, _ := w.verify("fail")
	w.contains(text, "shop.py")
}

func TestCaseOnlyRename(t *testing.T) {
	w := newWorld(t)
	w.write("Mod.py", "def m(x):\n    y = x\n    return y\n")
	w.commit()
	w.plan(guard)
	w.git("mv", "Mod.py", "mod.py")
	w.edit("shop.py", guardOld, guardNew)
	_, j := w.verify("pass")
	if len(j.Unplanned) > 0 {
		t.Errorf("%+v", j.Unplanned)
	}
}

func TestUnwritableHome(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.home.IndexDir, w.home.LedgerDir = filepath.Join(file, "index"), filepath.Join(file, "ledger")
	w.e = w.engine(w.dir, "s9")
	text := w.plan(guard)
	w.contains(text, "note:", "memory")
	w.edit("shop.py", guardOld, guardNew)
	text, _ = w.verify("pass")
	w.lacks(text, "memory")
}

// TestUnreadable: an index that cannot be read is rebuilt, a ledger moved aside.
func TestUnreadable(t *testing.T) {
	w := newWorld(t)
	w.plan(guard)
	w.e.Close()
	root, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(path string) {
		for _, suffix := range []string{"-wal", "-shm"} {
			os.Remove(path + suffix)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoil(w.home.IndexFile(root))
	w.e = w.engine(w.dir, "s1")
	w.contains(w.of("discount"), "discount(cart, code)")
	w.e.Close()
	spoil(w.home.LedgerFile(root))
	w.e = w.engine(w.dir, "s1")
	w.contains(w.of("discount"), "note:", "discount(cart, code)")
	w.contains(w.plan(guard), "planned add_guard")
}

// A killed process loses nothing that was replied to.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	w.plan(guard)
	w.e = w.engine(w.dir, "s1") // without closing the one before
	w.edit("shop.py", guardOld, guardNew)
	w.verify("pass")
}

func TestEditedBeforePlanned(t *testing.T) {
	w := newWorld(t)
	w.of("load")
	w.edit("shop.py", guardOld, guardNew)
	w.contains(w.plan(`[{"function":"discount","op":"add_guard","line":33,"condition":"rate is None"}]`), "edited already")
	w.verify("pass")
}

func TestDiffReply(t *testing.T) {
	w := newWorld(t)
	r, err := w.e.Diff(bg, DiffParams{})
	if err != nil || r.Code != 0 || r.Text != "" {
		t.Errorf("%v %+v", err, r)
	}
	w.edit("shop.py", guardOld, guardNew)
	w.edit("shop.py", "LIMIT = 10\n", "LIMIT = 20\n")
	r, err = w.e.Diff(bg, DiffParams{})
	if err != nil || r.Code != 1 {
		t.Errorf("%v %+v", err, r)
	}
	j := r.JSON.(DiffJSON)
	if len(j.Functions) != 2 || j.Functions[0].ID != "shop.py:discount" || j.Functions[1].ID != "shop.py:<module>" || len(j.Outside) != 1 {
		t.Errorf("%+v", j)
	}
	w.contains(r.Text, "modified shop.py:discount:30", "add_guard L33 `rate is None`  raise KeyError(code)")
}
