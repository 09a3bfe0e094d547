package flowtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/lang"
	"flowplan/internal/source"
)

// seeds gives the texts of the fixtures: the input, and the text after the edit
// or the input once more.
func seeds(f *testing.F, dir string, add func(before, after []byte)) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		x := &fixture{ar: txtar.Parse(data)}
		before := x.section("input.")
		after := x.section("after.")
		if after == nil {
			after = before
		}
		add(before.Data, after.Data)
	}
}

// FuzzLower runs any bytes through every stage: nothing may panic or hang, and
// the representations must hold what they promise.
func FuzzLower(f *testing.F, l *lang.Language, dir string) {
	seeds(f, dir, func(before, after []byte) {
		f.Add(before)
		f.Add(after)
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		file := parseAny(t, l, data)
		for _, err := range Verify(file) {
			t.Error(err)
		}
		for i := range file.Decls {
			v := file.View(i)
			flow.Render(v, flow.Options{})
			flow.Render(v, flow.Options{DFG: true, Focus: v.Func.EndLine, Budget: 100})
			v.Fingerprint()
		}
	})
}

// FuzzDiff compares any two texts: nothing may panic, what is the same has no
// delta, and both directions say the same.
func FuzzDiff(f *testing.F, l *lang.Language, dir string) {
	seeds(f, dir, func(before, after []byte) { f.Add(before, after) })
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if len(before)+len(after) > 1<<13 {
			return
		}
		a, b := parseAny(t, l, before), parseAny(t, l, after)
		for i := range a.Decls {
			v := a.View(i)
			if ops := opLines(v, v); ops != "" {
				t.Errorf("Diff(x, x) of %s:\n%s", v.ID(), ops)
			}
			if i >= len(b.Decls) {
				continue
			}
			w := b.View(i)
			if d := Inverse(v, w); d != "" {
				t.Errorf("Diff(a, b) of %s is no inverse of Diff(b, a):\n%s", v.ID(), d)
			}
			if v.TextForm() == w.TextForm() && !delta.Diff(v, w).Empty() {
				t.Errorf("%s: one text form and a delta", v.ID())
			}
		}
	})
}

func parseAny(t *testing.T, l *lang.Language, data []byte) *flow.File {
	file, err := flow.Parse(context.Background(), l, source.New("input", data), nil)
	if err != nil {
		t.Skip(err)
	}
	return file
}
