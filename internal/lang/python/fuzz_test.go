package python

import (
	"context"
	"strings"
	"testing"
	"time"

	"flowplan/internal/flow"
	"flowplan/internal/flowtest"
	"flowplan/internal/source"
)

func FuzzLower(f *testing.F) { flowtest.FuzzLower(f, Language, "testdata") }

func FuzzDiff(f *testing.F) { flowtest.FuzzDiff(f, Language, "testdata") }

// TestDeep nests everything that nests a hundred thousand deep: neither the
// stack nor the clock may notice.
func TestDeep(t *testing.T) {
	const n = 100_000
	ifs := func(depth int) string {
		var b strings.Builder
		b.WriteString("def f(x):\n")
		for i := range depth {
			b.WriteString(strings.Repeat(" ", i+1) + "if x:\n")
		}
		return b.String() + strings.Repeat(" ", depth+1) + "pass\n"
	}
	for name, text := range map[string]string{
		"parentheses": "def f(x):\n    return " + strings.Repeat("(", n) + "x" + strings.Repeat(")", n) + "\n",
		"open":        "def f(x):\n    return " + strings.Repeat("(", n) + "\n",
		"lists":       "x = " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n",
		"not":         "x = " + strings.Repeat("not ", n) + "y\n",
		"minus":       "x = " + strings.Repeat("-", n) + "y\n",
		"attributes":  "x = y" + strings.Repeat(".z", n) + "\n",
		"calls":       "x = y" + strings.Repeat("()", n) + "\n",
		"sum":         "x = y" + strings.Repeat(" + y", n) + "\n",
		"and":         "x = y" + strings.Repeat(" and y", n) + "\n",
		"lambda":      "x = " + strings.Repeat("lambda: ", n) + "y\n",
		"conditional": "x = " + strings.Repeat("a if b else ", n) + "y\n",
		"elif":        "if a:\n    pass\n" + strings.Repeat("elif a:\n    pass\n", n/10),
		"ifs":         ifs(1000),
		"line":        "x = [" + strings.Repeat("1, ", n) + "]\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			file, err := flow.Parse(context.Background(), Language, source.New("a.py", []byte(text)), nil)
			if err != nil {
				t.Skip(err)
			}
			for i := range file.Decls {
				v := file.View(i)
				flow.Render(v, flow.Options{})
				v.Fingerprint()
			}
			t.Logf("%v", time.Since(start))
		})
	}
}
