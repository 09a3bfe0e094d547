package python

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
)

// stdlib lists the files of the standard library of the machine's python3, all
// of them or every nth.
func stdlib(t testing.TB, nth int) []string {
	t.Helper()
	root := os.Getenv("FLOWPLAN_PYTHON_CORPUS")
	if os.Getenv("FLOWPLAN_CORPUS_ALL") != "" {
		nth = 1
	}
	if root == "" {
		out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
		if err != nil {
			t.Fatal("python3 is needed for its standard library")
		}
		root = strings.TrimSpace(string(out))
	}
	var files []string
	n := 0
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() && (d.Name() == "site-packages" || d.Name() == "dist-packages" || d.Name() == "__pycache__") {
			return filepath.SkipDir
		}
		// lib2to3's and the tokenizer's data hold broken files on purpose
		base := filepath.Base(path)
		if !strings.HasSuffix(path, ".py") || strings.HasPrefix(base, "bad") || strings.Contains(path, "lib2to3/tests/data") {
			return nil
		}
		if n++; n%nth == 0 {
			files = append(files, path)
		}
		return nil
	})
	return files
}

func parseFile(t testing.TB, path string, data []byte) lang.Tree {
	t.Helper()
	f := source.New(path, data)
	tree, err := Language.Parse(context.Background(), f, lang.Options{})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return tree
}

func lowerAll(tree lang.Tree) []*ir.Func {
	var out []*ir.Func
	for _, d := range tree.Decls() {
		out = append(out, tree.Lower(d))
	}
	return out
}

// TestCorpus lowers every function of the standard library: nothing panics,
// every Func verifies, and nothing is opaque in a file that CPython reads.
func TestCorpus(t *testing.T) {
	nth := 1
	if testing.Short() {
		nth = 25
	}
	var files, funcs, stmts, opaque int
	for _, path := range stdlib(t, nth) {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		files++
		tree := parseFile(t, path, data)
		for _, fn := range lowerAll(tree) {
			funcs++
			stmts += len(fn.Stmts)
			for _, err := range ir.Verify(fn) {
				t.Errorf("%s: %v", path, err)
			}
			for _, s := range fn.Stmts {
				if s.Reason != "" {
					opaque++
					if opaque < 40 {
						t.Logf("%s:%d: %s: %s", path, s.Line, s.Reason, clip(s.Text))
					}
				}
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d files, %d functions, %d statements, %d opaque", files, funcs, stmts, opaque)
}

func clip(s string) string {
	if len(s) > 90 {
		return s[:90] + "..."
	}
	return s
}

// TestPrunedOutline compares the outline of a pruned tree with that of a whole.
func TestPrunedOutline(t *testing.T) {
	for _, path := range stdlib(t, 40) {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		tree := parseFile(t, path, data)
		pruned, err := Language.Parse(context.Background(), source.New(path, data), lang.Options{Outline: true})
		if err != nil {
			t.Fatal(err)
		}
		a, b := tree.Decls(), pruned.Decls()
		if len(a) != len(b) {
			t.Fatalf("%s: %d definitions, pruned %d", path, len(a), len(b))
		}
		for i := range a {
			x, y := *a[i], *b[i]
			x.Node, y.Node = nil, nil
			if x != y {
				t.Errorf("%s: %+v, pruned %+v", path, x, y)
			}
		}
	}
}

// TestUnparse: a file and what ast.unparse makes of it have the same texts.
func TestUnparse(t *testing.T) {
	nth := 3
	if testing.Short() {
		nth = 100
	}
	files := stdlib(t, nth)
	dir := t.TempDir()
	list := filepath.Join(dir, "list")
	os.WriteFile(list, []byte(strings.Join(files, "\n")), 0o600)
	script := `
import ast, sys
for i, p in enumerate(open(sys.argv[1]).read().split("\n")):
    try:
        s = ast.unparse(ast.parse(open(p, "rb").read()))
        s.encode()
        ast.parse(s)
    except Exception:
        continue
    open(sys.argv[2] + "/%d.py" % i, "w", encoding="utf-8", newline="\n").write(s + "\n")
`
	if out, err := exec.Command("python3", "-W", "ignore", "-c", script, list, dir).CombinedOutput(); err != nil {
		t.Fatalf("python3: %v\n%s", err, out)
	}
	compared, bad := 0, 0
	for i, path := range files {
		after, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)+".py"))
		if err != nil {
			continue
		}
		before, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if !utf8File(before) || foldsNames(path) {
			continue
		}
		a, b := allTexts(t, path, before), allTexts(t, path+"(unparsed)", after)
		for k := 0; k < len(a) || k < len(b); k++ {
			compared++
			if k < len(a) && strings.Contains(a[k], `\N{`) { // names of characters are not looked up
				continue
			}
			if k >= len(a) || k >= len(b) || a[k] != b[k] {
				x, y := "", ""
				if k < len(a) {
					x = a[k]
				}
				if k < len(b) {
					y = b[k]
				}
				bad++
				if bad < 30 {
					t.Errorf("%s:\n  %s\n  %s", path, differ(x, y), differ(y, x))
				}
				break
			}
		}
	}
	t.Logf("%d files, %d statements, %d files differ", len(files), compared, bad)
}

// differ clips two texts to where they part.
func differ(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return clip(a[max(0, i-60):])
}

// foldsNames reports the files whose names are equal only after Unicode's
// compatibility folding (NFKC), which CPython does and this package does not.
func foldsNames(path string) bool {
	base := filepath.Base(path)
	return base == "test_unicode_identifiers.py" || base == "test_traceback.py"
}

// utf8File reports whether no other encoding is declared and none is needed.
func utf8File(data []byte) bool {
	head := string(data[:min(len(data), 200)])
	return !strings.Contains(head, "coding") || strings.Contains(strings.ToLower(head), "utf-8") || strings.Contains(strings.ToLower(head), "ascii")
}

func allTexts(t *testing.T, path string, data []byte) []string {
	tree := parseFile(t, path, data)
	var out []string
	for _, fn := range lowerAll(tree) {
		out = append(out, "## "+fn.QualifiedName)
		for _, s := range fn.Stmts {
			out = append(out, string(s.Kind)+" "+s.Text)
		}
	}
	return out
}
