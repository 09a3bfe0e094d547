package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Check says whether the server is registered, starts and answers, and whether
// the skill is there and current.
func Check(ctx context.Context, r Request) (Report, error) {
	var report Report
	p, err := resolve(r)
	if err != nil {
		return report, err
	}
	again := "run `flowplan setup " + p.client.name + scopeFlag(p.Scope) + "`"
	_, data, existed, err := load(p.config)
	if err != nil {
		return report, err
	}
	entry, err := p.registered(data)
	switch {
	case err != nil:
		report.problem(fmt.Sprintf("%s cannot be read: %v", p.config, err), "mend it, then "+again)
	case !existed || entry == nil:
		report.problem("the server is not registered in "+p.config, again)
	default:
		report.say("ok: registered in %s", p.config)
		if !same(entry, p.client.entry(p.Command)) {
			report.problem(fmt.Sprintf("the registration is not that of this flowplan, but %s", strings.Join(command(entry), " ")), again)
		}
		if tools, err := answers(ctx, command(entry)); err != nil {
			report.problem(fmt.Sprintf("the server does not answer: %v", err), again)
		} else {
			report.say("ok: the server starts and its %d tools answer", tools)
		}
		if program, ok := p.client.find(p.Host); !ok {
			report.say("note: %s was not found on this machine (%s)", p.client.title, p.client.get)
		} else if p.client.confirm != nil {
			if line, err := p.client.confirm(ctx, p, program); err != nil {
				report.problem(err.Error(), again)
			} else {
				report.say("ok: %s", strings.TrimPrefix(line, "client: "))
			}
		}
	}
	_, skill, existed, err := load(p.skill)
	switch {
	case err != nil:
		return report, err
	case !existed:
		report.problem("the skill is not at "+p.skill, again)
	case string(skill) != p.Skill:
		report.problem("the skill at "+p.skill+" is not that of this flowplan", again)
	default:
		report.say("ok: the skill is there and current, %s", p.skill)
	}
	return report, nil
}

func scopeFlag(scope string) string {
	if scope == "user" {
		return ""
	}
	return " --scope " + scope
}

// wanted are the five tools.
func wanted() []string {
	return []string{"flow_check", "flow_locate", "flow_of", "flow_plan", "flow_verify"}
}

// answers starts a registered server as a client does, in a directory of its
// own, and calls it.
func answers(ctx context.Context, line []string) (tools int, err error) {
	if len(line) == 0 {
		return 0, fmt.Errorf("the registration has no command")
	}
	dir, err := os.MkdirTemp("", "flowplan-check-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "probe.py"), []byte("def probe(x):\n    return x\n"), 0o600); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "FLOWPLAN_HOME="+filepath.Join(dir, "state"), "CLAUDE_PROJECT_DIR="+dir, "CLAUDE_CODE_SESSION_ID=")
	session, err := mcp.NewClient(&mcp.Implementation{Name: "flowplan-setup", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return 0, err
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return 0, err
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, wanted()) {
		return 0, fmt.Errorf("its tools are %s", strings.Join(names, ", "))
	}
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "flow_of", Arguments: map[string]any{"function": "probe"}})
	if err != nil {
		return 0, err
	}
	if res.IsError {
		return 0, fmt.Errorf("flow_of failed on a file of two lines")
	}
	return len(names), nil
}

// Found says whether the client is on this machine, and whether flowplan is
// registered with it in the scope; a configuration that cannot be read may be a
// registration, so that Check says what is wrong with it.
func Found(r Request) (installed, registered bool) {
	p, err := resolve(r)
	if err != nil {
		return false, false
	}
	_, installed = p.client.find(p.Host)
	_, data, _, err := load(p.config)
	if err != nil {
		return installed, false
	}
	entry, err := p.registered(data)
	return installed, err != nil || entry != nil
}
