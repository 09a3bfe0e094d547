package python

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"flowplan/internal/ir"
)

type refFunc struct {
	Name      string
	Line, End int
	Params    []string
	Async     bool
	Stmts     [][]any
}

type refSymbols struct{ Locals, Frees []string }

type refFile struct {
	Funcs []refFunc
	Syms  map[string][]refSymbols
}

// TestReference compares definitions, statements and scopes with what CPython
// itself says of the standard library.
func TestReference(t *testing.T) {
	nth := 4
	if testing.Short() {
		nth = 60
	}
	files := stdlib(t, nth)
	list := filepath.Join(t.TempDir(), "list")
	os.WriteFile(list, []byte(strings.Join(files, "\n")), 0o600)
	out, err := exec.Command("python3", "-W", "ignore", "testdata/reference.py", list).Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<28)
	var funcs, scopes, bad int
	for i := 0; lines.Scan(); i++ {
		var ref *refFile
		if err := json.Unmarshal(lines.Bytes(), &ref); err != nil {
			t.Fatal(err)
		}
		if ref == nil || foldsNames(files[i]) {
			continue
		}
		data, _ := os.ReadFile(files[i])
		for _, diff := range compareFile(t, files[i], data, ref, &funcs, &scopes) {
			if bad++; bad < 40 {
				t.Errorf("%s: %s", files[i], diff)
			}
		}
	}
	t.Logf("%d files, %d functions, %d of them with scopes, %d differences", len(files), funcs, scopes, bad)
}

func compareFile(t *testing.T, path string, data []byte, ref *refFile, funcs, scopes *int) []string {
	tree := parseFile(t, path, data)
	own := map[string]*ir.Func{}
	n := 0
	for _, fn := range lowerAll(tree) {
		if fn.Kind == ir.FuncLambda {
			continue
		}
		n++
		own[fmt.Sprintf("%s:%d", fn.QualifiedName, fn.Line)] = fn
	}
	var diffs []string
	if n != len(ref.Funcs) {
		diffs = append(diffs, fmt.Sprintf("%d definitions, CPython has %d", n, len(ref.Funcs)))
	}
	for _, r := range ref.Funcs {
		*funcs++
		key := fmt.Sprintf("%s:%d", r.Name, r.Line)
		fn := own[key]
		if fn == nil {
			diffs = append(diffs, key+" is missing")
			continue
		}
		if r.End > 0 && fn.EndLine != r.End {
			diffs = append(diffs, fmt.Sprintf("%s ends at %d, CPython %d", key, fn.EndLine, r.End))
		}
		var params []string
		for _, p := range fn.Params {
			params = append(params, p.Name)
		}
		if strings.Join(params, " ") != strings.Join(r.Params, " ") {
			diffs = append(diffs, fmt.Sprintf("%s has parameters %v, CPython %v", key, params, r.Params))
		}
		if fn.Async != r.Async {
			diffs = append(diffs, key+": async differs")
		}
		diffs = append(diffs, compareStmts(key, fn, r)...)
		// a name in a statement is free or local exactly as symtable has it
		if syms := ref.Syms[key]; len(syms) == 1 {
			*scopes++
			captures := append([]string{}, fn.Captures...)
			sort.Strings(captures)
			if strings.Join(captures, " ") != strings.Join(syms[0].Frees, " ") {
				diffs = append(diffs, fmt.Sprintf("%s captures %v, CPython %v", key, captures, syms[0].Frees))
			}
			locals := map[string]bool{}
			for _, s := range syms[0].Locals {
				locals[s] = true
			}
			for _, v := range fn.Vars {
				if (v.Scope == ir.Local) != locals[v.Name] && !strings.HasPrefix(v.Name, "__") {
					diffs = append(diffs, fmt.Sprintf("%s: scope of %s differs", key, v.Name))
				}
			}
		}
	}
	return diffs
}

func compareStmts(key string, fn *ir.Func, r refFunc) []string {
	if len(fn.Stmts) != len(r.Stmts) {
		return []string{fmt.Sprintf("%s has %d statements, CPython %d", key, len(fn.Stmts), len(r.Stmts))}
	}
	for i, s := range fn.Stmts {
		line, col, kind := int(r.Stmts[i][0].(float64)), int(r.Stmts[i][1].(float64)), r.Stmts[i][2].(string)
		end := s.EndLine
		if e, ok := r.Stmts[i][3].(float64); ok {
			end = int(e)
		}
		if kind == "case" && s.Kind == ir.KindCase {
			continue // CPython gives no place to the keyword
		}
		if s.Line != line || s.Col != col || string(s.Kind) != kind || s.EndLine != end {
			return []string{fmt.Sprintf("%s: %d:%d-%d %s %q, CPython %d:%d-%d %s", key, s.Line, s.Col, s.EndLine, s.Kind, clip(s.Text), line, col, end, kind)}
		}
	}
	return nil
}
