// Package flowtest runs the fixtures of a language: files in txtar form that
// say in prose what is right about a construct, and hold its input and what an
// agent is shown of it. Test-only.
//
//	func TestFixtures(t *testing.T) {
//		flowtest.Run(t, Language, "testdata", "#")
//	}
//
// The sections of a fixture:
//
//	input.py   the text
//	cfg, dfg   golden: the views of every function of the input; of a module or
//	           class only where it holds more than definitions
//	after.py   the text after an edit
//	expect     operations that the edit must be observed as, one a line, written
//	           by hand from the definitions: -update leaves them alone
//	delta      golden: what Diff observes
//	data       golden: the same for def-use pairs
//
// `go test ./internal/lang/python -run Fixtures -update` rewrites the goldens:
// read what it changes.
package flowtest

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
)

var update = flag.Bool("update", false, "rewrite the goldens of the fixtures")

// Run runs the fixtures of a folder as subtests, and checks that every shared
// construct has one. comment begins a comment that ends with its line.
func Run(t *testing.T, l *lang.Language, dir, comment string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		have[name] = true
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f := &fixture{t: t, l: l, comment: comment, ar: txtar.Parse(data)}
			f.run()
			if *update && !t.Failed() {
				if err := os.WriteFile(path, txtar.Format(f.ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	for _, c := range Constructs {
		if why := l.Lacks[c.Name]; !have[c.Name] && why == "" {
			t.Errorf("%s: no fixture of %s (%s) and no reason in Lacks", l.Name, c.Name, c.What)
		}
	}
	for name := range l.Lacks {
		if have[name] {
			t.Errorf("%s: a fixture of %s, which Lacks says it has not", l.Name, name)
		}
	}
}

// fixture is one file.
type fixture struct {
	t       *testing.T
	l       *lang.Language
	comment string
	ar      *txtar.Archive
}

func (f *fixture) run() {
	if strings.TrimSpace(string(f.ar.Comment)) == "" {
		f.t.Error("a fixture without prose: say what is right about it")
	}
	input := f.section("input.")
	if input == nil {
		f.t.Fatal("no section input.*")
	}
	head := f.parse(input.Name, input.Data)
	f.check(head)
	f.golden("cfg", views(head, flow.Options{}))
	f.golden("dfg", views(head, flow.Options{DFG: true}))
	if after := f.section("after."); after != nil {
		work := f.parse(input.Name, after.Data)
		f.check(work)
		f.delta(head, work)
	}
}

// section is the first section whose name begins so.
func (f *fixture) section(prefix string) *txtar.File {
	for i := range f.ar.Files {
		if strings.HasPrefix(f.ar.Files[i].Name, prefix) {
			return &f.ar.Files[i]
		}
	}
	return nil
}

// golden compares a section, if the fixture has it.
func (f *fixture) golden(name, got string) {
	s := f.section(name)
	if s == nil {
		return
	}
	if *update {
		s.Data = []byte(got)
		return
	}
	if d := cmp.Diff(string(s.Data), got); d != "" {
		f.t.Errorf("%s differs (-golden +got):\n%s", name, d)
	}
}

func (f *fixture) parse(path string, data []byte) *flow.File {
	f.t.Helper()
	file, err := flow.Parse(context.Background(), f.l, source.New(path, data), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return file
}

// check does what is done for every text: the representations verify
// themselves, and what means the same is seen as the same.
func (f *fixture) check(file *flow.File) {
	f.t.Helper()
	for _, err := range Verify(file) {
		f.t.Error(err)
	}
	f.same("building it twice", file, file.Source.Bytes, true)
	f.same("comments and blank lines", file, f.spaced(file), false)
}

// same reports a difference between a file and another text of the same code.
func (f *fixture) same(what string, file *flow.File, data []byte, exact bool) {
	f.t.Helper()
	other := f.parse(file.Source.Path, data)
	if len(other.Decls) != len(file.Decls) {
		f.t.Errorf("%s: %d definitions, not %d", what, len(other.Decls), len(file.Decls))
		return
	}
	if exact {
		a, err := json.Marshal(file.JSON(nil))
		b, err2 := json.Marshal(other.JSON(nil))
		if err != nil || err2 != nil || string(a) != string(b) {
			f.t.Errorf("%s: another JSON", what)
		}
	}
	for i := range file.Decls {
		a, b := file.View(i), other.View(i)
		if d := cmp.Diff(a.TextForm(), b.TextForm()); d != "" {
			f.t.Errorf("%s: another text of %s:\n%s", what, a.ID(), d)
		}
		if a.Fingerprint() != b.Fingerprint() {
			f.t.Errorf("%s: another fingerprint of %s", what, a.ID())
		}
		if ops := opLines(a, b); ops != "" {
			f.t.Errorf("%s: Diff of %s is not empty:\n%s", what, a.ID(), ops)
		}
	}
}

// spaced is the text with a comment and a blank line before every line on
// which a statement begins. Files that cannot be read as a whole stay as they
// are: where their definitions end is found by their lines.
func (f *fixture) spaced(file *flow.File) []byte {
	if len(file.Errors) > 0 {
		return file.Source.Bytes
	}
	begins := map[int]bool{}
	for i := range file.Decls {
		v := file.View(i)
		for _, s := range v.Func.Stmts {
			text := file.Source.LineText(s.Line)
			if strings.TrimLeft(text[:min(s.Col, len(text))], " \t") == "" && s.Kind != ir.KindOpaque && s.Line >= v.FirstLine() {
				begins[s.Line] = true
			}
		}
	}
	for i, d := range file.Decls { // a line between a decorator and its def is inside both
		if i > 0 && file.View(i).FirstLine() < d.Line {
			begins[d.Line] = true
		}
	}
	var b strings.Builder
	for line := 1; line <= file.Source.NumLines(); line++ {
		text := file.Source.LineText(line)
		if begins[line] && !strings.HasSuffix(file.Source.LineText(line-1), "\\") { // else it goes on a line before it
			indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
			b.WriteString(f.comment + " at the margin\n\n" + indent + f.comment + " where the statement begins\n")
		}
		b.WriteString(text + "\n")
	}
	return []byte(b.String())
}

// views renders what the goldens hold.
func views(file *flow.File, o flow.Options) string {
	var parts []string
	for i := range file.Decls {
		if v := file.View(i); shown(v) {
			parts = append(parts, flow.Render(v, o))
		}
	}
	return strings.Join(parts, "\n")
}

// shown leaves out modules and classes that hold nothing but definitions.
func shown(v *flow.View) bool {
	if k := v.Func.Kind; k != ir.FuncModule && k != ir.FuncClass {
		return true
	}
	for _, s := range v.Func.Stmts {
		if s.Kind != ir.KindDef && s.Kind != ir.KindClass {
			return true
		}
	}
	return false
}
