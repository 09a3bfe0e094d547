package skills

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"flowplan/internal/engine"
	"flowplan/internal/mcpserver"
	"flowplan/internal/plan"
)

// TestFlowfix: the frontmatter is what clients accept, and every tool and
// operation that the text names exists.
func TestFlowfix(t *testing.T) {
	schemas, err := mcpserver.SchemaJSON(engine.New(engine.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, dfg := range []bool{false, true} {
		text, err := Flowfix(dfg)
		if err != nil {
			t.Fatal(err)
		}
		head, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
		if !ok || !strings.HasPrefix(text, "---\n") {
			t.Fatal("no frontmatter")
		}
		fields := map[string]string{}
		for line := range strings.Lines(head) {
			k, v, ok := strings.Cut(strings.TrimRight(line, "\n"), ": ")
			if !ok || strings.Contains(v, ": ") && !strings.HasPrefix(v, `"`) {
				t.Errorf("frontmatter: an unquoted colon, or no field: %q", line)
			}
			fields[k] = v
		}
		if dirs, _ := filepath.Glob("*/SKILL.md"); len(dirs) != 1 || filepath.Dir(dirs[0]) != fields["name"] {
			t.Errorf("name %q, directories %v", fields["name"], dirs)
		}
		if n := len(fields["description"]); n == 0 || n > 1024 {
			t.Errorf("a description of %d characters", n)
		}
		if m := regexp.MustCompile(`\$[0-9]`).FindString(text); m != "" {
			t.Errorf("%s would be replaced by an argument", m)
		}
		if strings.Contains(text, "<<") || strings.Contains(text, "\r") {
			t.Error("template marks or carriage returns are left")
		}
		for line := range strings.Lines(body) {
			if strings.HasPrefix(strings.TrimSpace(line), "!`") {
				t.Errorf("would be run as a command: %s", line)
			}
		}
		for _, name := range regexp.MustCompile(`\bflow_[a-z]+\b`).FindAllString(body, -1) {
			if !strings.Contains(string(schemas), `"name":"`+name+`"`) {
				t.Errorf("no tool %s", name)
			}
		}
		for _, name := range regexp.MustCompile("`((?:add|remove|change|rewire|move|rename|no)_[a-z_]+[a-z])`").FindAllStringSubmatch(body, -1) {
			if _, ok, _ := plan.Lookup(name[1]); !ok {
				t.Errorf("no operation %s", name[1])
			}
		}
	}
	if _, err := os.Stat("flowfix/SKILL.md"); err != nil {
		t.Error(err)
	}
}
