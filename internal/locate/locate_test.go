package locate

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"flowplan/internal/flowtest/minilang"
	"flowplan/internal/index"
	"flowplan/internal/lang"
	"flowplan/internal/rootfs"
)

var bg = context.Background()

type world struct {
	t   *testing.T
	dir string
	l   *Locator
	ix  *index.Index
}

func newWorld(t testing.TB, dir string) (*Locator, *index.Index) {
	t.Helper()
	fs, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	langs, err := lang.NewRegistry(minilang.Python())
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(bg, index.Config{FS: fs, Languages: langs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close(); fs.Close() })
	return New(ix, fs, langs), ix
}

func setup(t *testing.T) *world {
	dir := t.TempDir()
	w := &world{t: t, dir: dir}
	w.write("pkg/db.py", `import os

class Cache:
    def get(self, key):
        return key

    def _cull(self, db):
        def inner():
            return [x for x in db]
        return inner

    @property
    def size(self):
        return 1

    @size.setter
    def size(self, v):
        pass

    class Meta:
        def get(self): pass

def get(key):
    return key
`)
	w.write("pkg/__init__.py", "def boot(): pass\n")
	w.write("other/db.py", "def open_it(): pass\ndef Cull(): pass\n")
	w.write("test_db.py", "def get(): pass\ndef test_cull(): pass\n")
	w.write("vendor/x.py", "def boot(): pass\ndef only_here(): pass\n")
	w.l, w.ix = newWorld(t, dir)
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	p := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// show prints a result in one line.
func show(r Result) string {
	ids := func(all []Match) string {
		var out []string
		for _, m := range all {
			id := m.ID()
			if m.AtLine > 0 {
				id += "@" + strconv.Itoa(m.AtLine)
			}
			out = append(out, id)
		}
		return strings.Join(out, " ")
	}
	s := string(r.Kind)
	switch r.Kind {
	case Outline:
		s += " of " + r.Of.ID() + ": " + ids(r.Matches)
	case Ambiguous:
		if r.Clear {
			s += " clear"
		}
		s += " " + ids(r.Matches)
	case One:
		s += " " + ids(r.Matches)
		if len(r.Twins) > 0 {
			s += " twins " + ids(r.Twins)
		}
	case None:
		s += " " + ids(r.Nearest)
	case Frames:
		for _, f := range r.Frames {
			if f.Match == nil {
				s += " outside"
			} else {
				s += " " + ids([]Match{*f.Match})
				if f.Moved {
					s += " moved"
				}
			}
		}
	}
	return s
}

func TestFind(t *testing.T) {
	w := setup(t)
	for query, want := range map[string]string{
		"_cull":                        "one pkg/db.py:Cache._cull",
		"  `Cache._cull()` ":           "one pkg/db.py:Cache._cull",
		"def _cull(self, db):":         "one pkg/db.py:Cache._cull",
		"Cache::_cull":                 "one pkg/db.py:Cache._cull",
		"pkg.db.Cache._cull":           "one pkg/db.py:Cache._cull",
		"db.Cache._cull":               "one pkg/db.py:Cache._cull",
		"db._cull":                     "one pkg/db.py:Cache._cull",
		"pkg/db.py:Cache._cull":        "one pkg/db.py:Cache._cull",
		"db.py:_cull":                  "one pkg/db.py:Cache._cull",
		"pkg/db.py::Cache::_cull":      "one pkg/db.py:Cache._cull",
		w.dir + "/pkg/db.py:_cull":     "one pkg/db.py:Cache._cull",
		"cache._CULL":                  "one pkg/db.py:Cache._cull",
		"_cull.<locals>.inner":         "one pkg/db.py:Cache._cull.inner",
		"Cache.get":                    "one pkg/db.py:Cache.get",
		"Meta.get":                     "one pkg/db.py:Cache.Meta.get",
		"get":                          "ambiguous clear pkg/db.py:get test_db.py:get pkg/db.py:Cache.get pkg/db.py:Cache.Meta.get",
		"db.get":                       "one pkg/db.py:get",
		"size":                         "one pkg/db.py:Cache.size twins pkg/db.py:Cache.size#2",
		"Cache.size#2":                 "one pkg/db.py:Cache.size#2",
		"pkg/db.py:Cache.size#2":       "one pkg/db.py:Cache.size#2",
		"boot":                         "ambiguous clear pkg/__init__.py:boot vendor/x.py:boot",
		"pkg.boot":                     "one pkg/__init__.py:boot",
		"only_here":                    "one vendor/x.py:only_here",
		"cull":                         "one other/db.py:Cull",
		"pkg/db.py:9":                  "one pkg/db.py:Cache._cull.inner@9",
		"pkg/db.py:10:5":               "one pkg/db.py:Cache._cull@10",
		"pkg/db.py:12":                 "one pkg/db.py:Cache.size@12",
		"pkg/db.py:1":                  "one pkg/db.py:<module>@1",
		"pkg/db.py:6":                  "one pkg/db.py:<class Cache>@6",
		"pkg/db.py:<module>":           "one pkg/db.py:<module>",
		"pkg/db.py:<class Cache>":      "one pkg/db.py:<class Cache>",
		"Meta":                         "outline of pkg/db.py:Cache.<class Meta>: pkg/db.py:Cache.Meta.get",
		"class Meta:":                  "outline of pkg/db.py:Cache.<class Meta>: pkg/db.py:Cache.Meta.get",
		"pkg/db.py:Meta":               "outline of pkg/db.py:Cache.<class Meta>: pkg/db.py:Cache.Meta.get",
		"other/db.py":                  "outline of other/db.py:<module>: other/db.py:open_it other/db.py:Cull",
		"other.db":                     "outline of other/db.py:<module>: other/db.py:open_it other/db.py:Cull",
		"db.py":                        "ambiguous other/db.py:<module> pkg/db.py:<module>",
		"opne_it":                      "none other/db.py:open_it",
		"Cache._cul":                   "none pkg/db.py:Cache._cull other/db.py:Cull test_db.py:test_cull",
		"nothing_like_that_at_all_xyz": "none ",
		"pkg/db.py:999":                "none ",
		"pkg/none.py:get":              "none",
		"/etc/passwd:3":                "none ",
		"../../etc/zz.py:1":            "none ",
		"":                             "none ",
		"pkg":                          "outline of pkg/__init__.py:<module>: pkg/__init__.py:boot",
		"pkg/":                         "none ",
	} {
		r, err := w.l.Find(bg, query)
		if err != nil {
			t.Errorf("%q: %v", query, err)
			continue
		}
		if got := show(r); got != want && !(want == "none" && r.Kind == None) {
			t.Errorf("%q:\n got %s\nwant %s\n(%s)", query, got, want, r.Reason)
		}
	}
}

func TestReasons(t *testing.T) {
	w := setup(t)
	w.write("notes.txt", "x\n")
	for query, want := range map[string]string{
		"pkg/db.py:999": "24 lines", "/etc/passwd:3": "outside the root", "pkg/none.py:f": "no such file",
		"": "empty", "pkg/": "directory",
	} {
		r, err := w.l.Find(bg, query)
		if err != nil || r.Kind != None || !strings.Contains(r.Reason, want) {
			t.Errorf("%q: %q %v, want %q", query, r.Reason, err, want)
		}
	}
}

// What changed on disk is seen at the next query.
func TestFreshness(t *testing.T) {
	w := setup(t)
	find := func(q, want string) {
		t.Helper()
		r, err := w.l.Find(bg, q)
		if err != nil || show(r) != want {
			t.Errorf("%q: got %s %v, want %s", q, show(r), err, want)
		}
	}
	find("open_it", "one other/db.py:open_it")
	w.write("other/db.py", "def moved(): pass\n")
	find("open_it", "none ")
	find("moved", "one other/db.py:moved")
	w.write("other/new.py", "def brand_new(): pass\n")
	find("brand_new", "one other/new.py:brand_new")
	os.Remove(filepath.Join(w.dir, "other/new.py"))
	find("brand_new", "none ")
	w.write("other/db.py", "\n\n\ndef moved(): pass\n")
	r, err := w.l.Find(bg, "moved")
	if err != nil || r.Matches[0].Line != 4 {
		t.Errorf("line of a moved function: %+v %v", r.Matches, err)
	}
}

// A query by path on a new index must not make it look complete.
func TestPartialIndex(t *testing.T) {
	w := setup(t)
	if r, err := w.l.Find(bg, "vendor/x.py:boot"); err != nil || r.Kind != One {
		t.Fatalf("%+v %v", r, err)
	}
	if r, err := w.l.Find(bg, "boot"); err != nil || r.Kind != Ambiguous {
		t.Errorf("%+v %v", r, err)
	}
}

func TestFrames(t *testing.T) {
	w := setup(t)
	trace := `Traceback (most recent call last):
  File "/usr/lib/python3/runpy.py", line 3, in run
    x
  File "` + w.dir + `/pkg/db.py", line 5, in get
    return key
  File "/somewhere/else/pkg/db.py", line 9, in <listcomp>
    return [x for x in db]
  File "pkg/db.py", line 1, in open_it
  File "other/db.py", line 2, in open_it
  File "/usr/lib/python3/json.py", line 30, in loads
ValueError: x
`
	rs, err := w.l.FindAll(bg, trace)
	if err != nil || len(rs) != 1 {
		t.Fatal(rs, err)
	}
	want := "frames other/db.py:open_it moved pkg/db.py:<module>@1 pkg/db.py:Cache._cull.inner@9 pkg/db.py:Cache.get@5 outside outside"
	if got := show(rs[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r, err := w.l.Find(bg, `File "/x/y.py", line 3, in f`)
	if err != nil || r.Kind != None || r.Reason == "" {
		t.Errorf("%+v %v", r, err)
	}
	rs, err = w.l.FindAll(bg, "_cull\n\nMeta.get\n")
	if err != nil || len(rs) != 2 || rs[1].Kind != One {
		t.Errorf("%+v %v", rs, err)
	}
}

// Reports name files as the build saw them, by their last name alone, or not
// at all; and they have stacks of other times.
func TestFramesOfReports(t *testing.T) {
	w := setup(t)
	w.write("deep/down/engine.py", "def run(): pass\ndef only_there(): pass\n")
	w.write("deep/up/engine.py", "def stop(): pass\ndef run(): pass\n")
	w.write("top.py", "def at_top(): pass\n")
	for _, c := range []struct {
		name   string
		frames []lang.Frame
		want   string
	}{
		{"from a build directory", []lang.Frame{{Path: "../pkg/db.py", Line: 5, Func: "get"}}, "frames pkg/db.py:Cache.get@5"},
		{"a bare name with its function", []lang.Frame{{Path: "engine.py", Line: 2, Func: "only_there"}}, "frames deep/down/engine.py:only_there@2"},
		{"a bare name, the function in another line", []lang.Frame{{Path: "engine.py", Line: 1, Func: "only_there"}}, "none "},
		{"one of two files", []lang.Frame{{Path: "engine.py", Line: 2, Func: "run"}}, "frames deep/up/engine.py:run@2"},
		{"a file at the top of another tree", []lang.Frame{{Path: "/src/project/top.py", Line: 1, Func: "at_top"}}, "frames top.py:at_top@1"},
		{"another file of that name", []lang.Frame{{Path: "/usr/lib/top.py", Line: 1, Func: "main"}}, "none "},
		{"a name alone", []lang.Frame{{Func: "at_top"}}, "frames top.py:at_top"},
		{"a name alone, of several", []lang.Frame{{Func: "run"}}, "none "},
		{"a name alone, in a file of the report", []lang.Frame{{Func: "run"}, {Path: "engine.py", Line: 1, Func: "stop"}}, "frames deep/up/engine.py:stop@1 deep/up/engine.py:run"},
		{"a library", []lang.Frame{{Path: "/usr/lib/libx.so", Func: "at_top"}}, "none "},
		{"no name and no line", []lang.Frame{{}}, "none "},
		{"another stack", []lang.Frame{{Path: "top.py", Line: 1, Func: "at_top", Stack: "freed"}, {Path: "libc.so", Func: "free", Stack: "freed"}, {Path: "pkg/db.py", Line: 5, Func: "get"}},
			"frames pkg/db.py:Cache.get@5 outside freed: top.py:at_top@1"},
		{"the fault in a library", []lang.Frame{{Path: "top.py", Line: 1, Func: "at_top", Stack: "freed"}, {Path: "/lib/x.so", Func: "free"}}, "frames top.py:at_top@1 outside"},
		{"C++ names", []lang.Frame{{Path: "pkg/db.py", Line: 5, Func: "ns::Cache::get"}, {Path: "pkg/db.py", Line: 5, Func: "A::operator/"}}, "frames pkg/db.py:Cache.get@5 pkg/db.py:Cache.get@5"},
	} {
		r, err := w.l.findFrames(bg, "report", c.frames)
		if err != nil {
			t.Fatal(err)
		}
		got := show(r)
		for _, s := range r.Others {
			got += " " + s.Name + ": "
			for _, f := range s.Frames {
				got += show(Result{Kind: One, Matches: []Match{*f.Match}})[len("one "):]
			}
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s (%s)", c.name, got, c.want, r.Reason)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"ns::A::f": "ns|A|f", "A::operator()": "A|operator()", "A::operator/": "A|operator/", "A::operator->::x": "A|operator->|x",
		"operators.add": "operators|add", "A::operator bool": "A|operator bool", "std::operator<<": "std|operator<<", "A<int>::f": "A<int>|f", "operator#2": "operator|2",
	} {
		parts, _ := split(text)
		if got := strings.Join(parts, "|"); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "xbc", 1}, {"abcd", "badc", 2}, {"abc", "xyz", 3}, {"a", "abcdef", 4}} {
		if got := editDistance(c.a, c.b, 3); got != c.want {
			t.Errorf("%q %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, q := range []string{"a.py:1", "C.f#2", "<class C>", "a::b", "((", "a.py:<module>", "x#99999999999999999999"} {
		f.Add(q)
	}
	dir := f.TempDir()
	os.WriteFile(filepath.Join(dir, "a.py"), []byte("class C:\n    def f(self): pass\n"), 0o644)
	l, _ := newWorld(f, dir)
	f.Fuzz(func(t *testing.T, q string) {
		if _, err := l.Find(bg, q); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	})
}
