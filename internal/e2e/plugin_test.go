//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flowplan/internal/loopback"
)

// The plugin is valid under the client's own check, and loaded from its
// directory it brings the skill and the tools, under their longer names.
func TestPlugin(t *testing.T) {
	m := newMachine(t)
	m.run(m.bin, "setup", "claude-code", "--remove")
	plugin, err := filepath.Abs("../../plugin")
	if err != nil {
		t.Fatal(err)
	}
	// The directory's marketplace, then its plugin: one call looks at one of them.
	for _, path := range []string{plugin, filepath.Join(plugin, ".claude-plugin", "plugin.json")} {
		if out := m.run(m.claude, "plugin", "validate", "--strict", path); !strings.Contains(out, "Validation passed") {
			t.Errorf("claude plugin validate --strict %s: %s", path, out)
		}
	}
	m.flags = []string{"--plugin-dir", plugin}
	steps := m.oneFunction()
	for _, step := range steps {
		for i, b := range step {
			step[i].Tool = strings.Replace(b.Tool, "mcp__flowplan__", "mcp__plugin_flowplan_flowplan__", 1)
		}
	}
	s := m.claudeRun(loopback.Steps(steps), "/flowplan:flowfix "+issue(t))
	wantIn(t, "the first request", s.requests[0].UserText(), "Four model calls", "AttributeError")
	if !slices.Contains(s.requests[0].ToolNames(), "mcp__plugin_flowplan_flowplan__flow_of") {
		t.Errorf("the tools are not there: %v", s.requests[0].ToolNames())
	}
	replies := s.replies()
	if verdict := replies[len(replies)-1]; !strings.HasPrefix(verdict, "pass") {
		t.Errorf("verdict: %s", verdict)
	}
}
