package flow_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/lang/python"
	"flowplan/internal/source"
)

var codec = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

func count(t testing.TB, s string) int {
	t.Helper()
	c, err := codec()
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Count(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// library is the files of the machine's Python standard library, one in step.
func library(t testing.TB, step int) []string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])").Output()
	if err != nil {
		t.Fatalf("python3 is needed for its standard library: %v", err)
	}
	dir := strings.TrimSpace(string(out))
	var files []string
	for _, pattern := range []string{"*.py", "asyncio/*.py", "email/*.py", "http/*.py", "json/*.py", "logging/*.py", "unittest/*.py", "urllib/*.py", "xml/*/*.py", "multiprocessing/*.py", "concurrent/*/*.py"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 100 {
		t.Fatalf("expected a standard library, found only %d files below %s", len(files), dir)
	}
	slices.Sort(files)
	var some []string
	for i := 0; i < len(files); i += step {
		some = append(some, files[i])
	}
	return some
}

// views gives every function of a file to a test.
func views(t testing.TB, path string, each func(v *flow.View)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(path) // below the library's root
	if dir := filepath.Base(filepath.Dir(path)); !strings.HasPrefix(dir, "python") {
		name = filepath.Join(dir, name)
	}
	f, err := flow.Parse(context.Background(), python.Language, source.New(name, data), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range f.Decls {
		if d.Kind != ir.FuncModule && d.Kind != ir.FuncClass && d.Kind != ir.FuncLambda {
			each(f.View(i))
		}
	}
}

// asRead is the lines of a function as a client's Read prints them.
func asRead(v *flow.View) (text string, lines int) {
	var b strings.Builder
	for l := v.FirstLine(); l <= v.Decl.EndLine; l++ {
		fmt.Fprintf(&b, "%d\t%s\n", l, strings.TrimRight(v.File.Source.LineText(l), "\r\n"))
		lines++
	}
	return b.String(), lines
}

func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	return values[int(q*float64(len(values)-1))]
}

// TestViewBudget: a function of 10 to 150 lines with every statement in full,
// against its lines as Read prints them; and what one function may take.
func TestViewBudget(t *testing.T) {
	var cfg, dfg []float64
	for _, path := range library(t, 2) {
		views(t, path, func(v *flow.View) {
			text, lines := asRead(v)
			for _, data := range []bool{false, true} {
				short := flow.Render(v, flow.Options{DFG: data})
				if n := count(t, short); n > 2500 {
					t.Errorf("%s: %d tokens", v.ID(), n)
				}
				if lines < 10 || lines > 150 {
					continue
				}
				ratio := float64(count(t, flow.Render(v, flow.Options{DFG: data, Full: true}))) / float64(count(t, text))
				if data {
					dfg = append(dfg, ratio)
				} else {
					cfg = append(cfg, ratio)
				}
			}
		})
	}
	m, p := quantile(cfg, 0.5), quantile(cfg, 0.95)
	t.Logf("%d functions: cfg median %.3f, p95 %.3f; dfg median %.3f, p95 %.3f", len(cfg), m, p, quantile(dfg, 0.5), quantile(dfg, 0.95))
	if m > 0.80 || p > 1.10 {
		t.Errorf("cfg view / Read: median %.3f, p95 %.3f; want at most 0.80 and 1.10", m, p)
	}
}

// TestTokens: the estimate lies above the real count, and not far above.
func TestTokens(t *testing.T) {
	var over []float64
	for _, path := range library(t, 5) {
		views(t, path, func(v *flow.View) {
			read, _ := asRead(v)
			for _, s := range []string{flow.Render(v, flow.Options{Full: true}), flow.Render(v, flow.Options{DFG: true, Full: true}), read} {
				over = append(over, float64(flow.Tokens(s))/float64(count(t, s)))
			}
		})
	}
	low, low1, m, high := quantile(over, 0), quantile(over, 0.01), quantile(over, 0.5), quantile(over, 1)
	t.Logf("%d texts: estimate / count: least %.3f, 1%% %.3f, median %.3f, most %.3f", len(over), low, low1, m, high)
	if low1 < 0.97 || low < 0.88 || m > 1.25 {
		t.Errorf("estimate / count: least %.3f, 1%% %.3f, median %.3f; want 0.88, 0.97 and at most 1.25", low, low1, m)
	}
}
