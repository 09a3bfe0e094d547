package main

import (
	"strings"
	"testing"
)

func TestCurrent(t *testing.T) {
	if err := run("../../plugin", true); err != nil {
		t.Error(err)
	}
}

func TestSkillRules(t *testing.T) {
	const good = "---\nname: flowfix\ndescription: Repairs.\nallowed-tools: mcp__plugin_flowplan_flowplan__*\n---\nRepair $ARGUMENTS\n"
	if err := skillRules("flowfix", good); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		strings.Replace(good, "Repairs.", "Repairs: all.", 1),
		strings.Replace(good, "Repairs.", strings.Repeat("x", 1025), 1),
		strings.Replace(good, "name: flowfix", "name: fix", 1),
		strings.Replace(good, "mcp__plugin_", "mcp__", 1),
		strings.Replace(good, "$ARGUMENTS", "$1", 1),
		good + "!`ls`\n",
		"Repair\n",
	} {
		if err := skillRules("flowfix", bad); err == nil {
			t.Errorf("accepted:\n%s", bad)
		}
	}
}
