package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowplan/internal/flowtest/minilang"
	"flowplan/internal/lang"
	"flowplan/internal/rootfs"
	"flowplan/internal/store"
)

var bg = context.Background()

type fixture struct {
	t   *testing.T
	dir string
	fs  *rootfs.FS
	reg *lang.Registry
	db  string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	fs, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fs.Close() })
	reg, err := lang.NewRegistry(minilang.Python())
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t, dir, fs, reg, filepath.Join(t.TempDir(), "ix.db")}
}

func (x *fixture) write(name, text string) {
	x.t.Helper()
	p := filepath.Join(x.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

func (x *fixture) open(db string, change func(*Config)) *Index {
	x.t.Helper()
	cfg := Config{FS: x.fs, Languages: x.reg, Database: db}
	if change != nil {
		change(&cfg)
	}
	ix, err := Open(bg, cfg)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { ix.Close() })
	return ix
}

func refresh(t *testing.T, ix *Index) Summary {
	t.Helper()
	sum, err := ix.Refresh(bg)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func names(t *testing.T, ix *Index) string {
	t.Helper()
	symbols, err := ix.Symbols(bg)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range symbols {
		if s.Kind != "module" {
			out = append(out, fmt.Sprintf("%s:%s#%d@%d-%d", s.Path, s.QualifiedName, s.Ordinal, s.Line, s.EndLine))
		}
	}
	return strings.Join(out, " ")
}

func TestRefresh(t *testing.T) {
	x := newFixture(t)
	x.write("a.py", "def f():\n    pass\n\nclass C:\n    def g(self): pass\n    def g(self): pass\n")
	x.write("sub/script", "#!/usr/bin/env python\ndef s(): pass\n")
	x.write("README", "def no(): pass\n")
	x.write("b.txt", "def no(): pass\n")
	ix := x.open(x.db, nil)
	sum := refresh(t, ix)
	if sum.Parsed != 2 || sum.Files != 2 {
		t.Errorf("first: %+v", sum)
	}
	want := "a.py:f#1@1-2 a.py:<class C>#1@4-6 a.py:C.g#1@5-5 a.py:C.g#2@6-6 sub/script:s#1@2-2"
	if got := names(t, ix); got != want {
		t.Errorf("got %s", got)
	}
	if sum = refresh(t, ix); sum.Parsed != 0 || sum.Unchanged != 2 {
		t.Errorf("again: %+v", sum)
	}
	x.write("a.py", "def h():\n    pass\n")
	os.Remove(filepath.Join(x.dir, "sub/script"))
	if sum = refresh(t, ix); sum.Parsed != 1 || sum.Removed != 1 {
		t.Errorf("changed: %+v", sum)
	}
	if got := names(t, ix); got != "a.py:h#1@1-2" {
		t.Errorf("got %s", got)
	}
	x.write("a.py", "def k():\n    pass\n") // as long as before, perhaps within one tick
	if changed, err := ix.RefreshFile(bg, filepath.Join(x.dir, "a.py")); err != nil || !changed {
		t.Errorf("one file: %v %v", changed, err)
	}
	if got, err := ix.Named(bg, "k"); err != nil || len(got) != 1 {
		t.Errorf("k: %v %v", got, err)
	}
	if _, err := ix.RefreshFile(bg, "../x.py"); err == nil {
		t.Error("a path outside the root is no error")
	}
}

func TestSkips(t *testing.T) {
	x := newFixture(t)
	x.write("big.py", "x = 1\n"+strings.Repeat("# filling\n", 1000))
	x.write("ok.py", "def f(): pass\n")
	x.write("nul.py", "def f(): pass\n\x00\xff\xfe")
	x.write("empty.py", "")
	os.Symlink("ok.py", filepath.Join(x.dir, "link.py"))
	os.Symlink(".", filepath.Join(x.dir, "loop"))
	ix := x.open(x.db, func(c *Config) { c.Limits.FileBytes = 2000 })
	sum := refresh(t, ix)
	if sum.Skipped != 1 || sum.Files != 3 {
		t.Errorf("%+v", sum)
	}
	st, err := ix.Status(bg)
	if err != nil || st.Files != 3 || st.Skipped["big.py"] == "" {
		t.Errorf("%+v %v", st, err)
	}
	if sum := refresh(t, ix); sum.Skipped != 1 {
		t.Errorf("again: %+v", sum)
	}
	slow := x.open("", func(c *Config) { c.Limits.FileTime = time.Nanosecond })
	refresh(t, slow)
	if st, _ := slow.Status(bg); !strings.Contains(st.Skipped["ok.py"], "not parsed within") {
		t.Errorf("slow: %+v", st)
	}
	broken := x.open("", func(c *Config) {
		l := minilang.Python()
		l.IsTest = func(string, string) bool { panic("boom") }
		c.Languages, _ = lang.NewRegistry(l)
	})
	refresh(t, broken)
	if st, _ := broken.Status(bg); !strings.Contains(st.Skipped["ok.py"], "boom") {
		t.Errorf("panic: %+v", st)
	}
}

// After any series of changes an index kept up to date is the index built from
// nothing.
func TestIncrementalEqualsFull(t *testing.T) {
	x := newFixture(t)
	ix := x.open(x.db, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		for range rng.IntN(6) {
			name := fmt.Sprintf("d%d/f%d.py", rng.IntN(3), rng.IntN(8))
			switch rng.IntN(4) {
			case 0:
				os.Remove(filepath.Join(x.dir, name))
			case 1:
				os.MkdirAll(filepath.Join(x.dir, "d0"), 0o755)
				os.Rename(filepath.Join(x.dir, name), filepath.Join(x.dir, "d0/f9.py"))
			default:
				x.write(name, fmt.Sprintf("def f%d():\n    pass\nclass C%d:\n    def m(self): pass\n", rng.IntN(10), rng.IntN(10)))
			}
		}
		refresh(t, ix)
		full := x.open("", nil)
		refresh(t, full)
		if got, want := names(t, ix), names(t, full); got != want {
			t.Fatalf("round %d: (-full +incremental)\n%s", round, cmp.Diff(strings.Fields(want), strings.Fields(got)))
		}
		for _, n := range []string{"f1", "m", "C3"} {
			a, _ := ix.Named(bg, n)
			b, _ := full.Named(bg, n)
			if d := cmp.Diff(b, a); d != "" {
				t.Fatalf("round %d, %s: %s", round, n, d)
			}
		}
		full.Close()
	}
}

func TestDamagedDatabase(t *testing.T) {
	x := newFixture(t)
	for i := range 200 {
		x.write(fmt.Sprintf("f%d.py", i), fmt.Sprintf("def g%d(): pass\n", i))
	}
	ix := x.open(x.db, nil)
	refresh(t, ix)
	ix.Close()
	data, err := os.ReadFile(x.db)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2048; i < len(data); i++ { // header and schema stay
		data[i] ^= 0x5a
	}
	os.WriteFile(x.db, data, 0o600)
	ix = x.open(x.db, nil)
	refresh(t, ix)
	if got, err := ix.Named(bg, "g7"); err != nil || len(got) != 1 {
		t.Errorf("%v %v", got, err)
	}
}

func TestSeveralAtOnce(t *testing.T) {
	x := newFixture(t)
	for i := range 100 {
		x.write(fmt.Sprintf("f%d.py", i), fmt.Sprintf("def g%d(): pass\n", i))
	}
	done := make(chan error)
	for range 4 {
		ix := x.open(x.db, nil)
		go func() {
			var err error
			for range 5 {
				if _, err = ix.Refresh(bg); err != nil {
					break
				}
				var s []store.Symbol
				if s, err = ix.Named(bg, "g50"); err == nil && len(s) != 1 {
					err = fmt.Errorf("got %v", s)
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestWalk(t *testing.T) {
	x := newFixture(t)
	for _, p := range []string{"a.py", "build/x.py", "keep/a.log", "keep/b.log", "sub/gen.py", "sub/deep/gen.py", "gen.py", "sub/only.py", "sub/deep/only.py", ".git/x.py", "sub/anchored/x.py", "other/anchored/x.py"} {
		x.write(p, "")
	}
	x.write(".gitignore", "# comment\nbuild/\n*.log\n")
	x.write("keep/.gitignore", "!b.log\n")
	x.write("sub/.gitignore", "gen.py\n/only.py\nanchored/\n")
	got, err := Walk(bg, x.fs, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".gitignore", "a.py", "gen.py", "keep/.gitignore", "keep/b.log", "other/anchored/x.py", "sub/.gitignore", "sub/deep/only.py"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestWalkTooMany: a root that is a whole machine is refused, not walked.
func TestWalkTooMany(t *testing.T) {
	dir := t.TempDir()
	for i := range 6 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".py")), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fs, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	all := func(string) bool { return true }
	if _, err := walkUpTo(bg, fs, 5, all); !errors.Is(err, ErrTooManyEntries) {
		t.Errorf("expected to be refused, got %v", err)
	}
	if files, err := walkUpTo(bg, fs, 6, all); err != nil || len(files) != 6 {
		t.Errorf("expected six files, got %d, %v", len(files), err)
	}
}
