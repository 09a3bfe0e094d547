package python

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"flowplan/internal/ir"
)

// TestDump prints the text form of a file named by the environment; a tool for
// whoever works on this package.
func TestDump(t *testing.T) {
	path := os.Getenv("FLOWPLAN_DUMP")
	if path == "" {
		t.Skip("no file named")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".md") {
		for _, m := range regexp.MustCompile("(?s)\\*\\*(PY\\d+)\\*\\*.*?```python\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
			t.Log("=== " + m[1] + "\n" + m[2] + dump(t, []byte(m[2])))
		}
		return
	}
	t.Log("\n" + dump(t, data))
}

func dump(t *testing.T, data []byte) string {
	f, root := parseFile(t, "x.py", data)
	var b strings.Builder
	for _, fn := range lowerAll(f, root) {
		b.WriteString(ir.Format(fn))
		var vars []string
		for _, v := range fn.Vars {
			s := v.Name + ":" + [...]string{"local", "global", "captured"}[v.Scope]
			if v.Written {
				s += "+w"
			}
			if v.Shared {
				s += "+s"
			}
			vars = append(vars, s)
		}
		b.WriteString("  vars " + strings.Join(vars, " ") + " captures " + strings.Join(fn.Captures, " ") + "\n")
		for _, err := range ir.Verify(fn) {
			b.WriteString("  ERROR " + err.Error() + "\n")
		}
	}
	return b.String()
}
