package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flowplan/internal/loopback"
)

// sandbox is a directory in which the installed client may run without
// touching anything of the user's, or anything outside this machine.
type sandbox struct {
	dir, program string
	env          []string
}

func newSandbox(h Host, program string) (*sandbox, error) {
	dir, err := os.MkdirTemp("", "flowplan-setup-")
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{"config", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	s := &sandbox{dir: dir, program: program}
	for _, name := range []string{"PATH", "SYSTEMROOT", "TMPDIR", "LANG"} {
		if v := h.Getenv(name); v != "" {
			s.env = append(s.env, name+"="+v)
		}
	}
	s.env = append(s.env, "HOME="+dir, "USERPROFILE="+dir, "CLAUDE_CONFIG_DIR="+s.config(),
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1")
	return s, nil
}

func (s *sandbox) config() string { return filepath.Join(s.dir, "config") }

func (s *sandbox) close() { _ = os.RemoveAll(s.dir) } // a leftover in the temporary directory is no harm

func (s *sandbox) run(ctx context.Context, env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Dir = filepath.Join(s.dir, "work")
	cmd.Env = append(slices.Clone(s.env), env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// confirmClaude asks the client whether it sees the server and reaches it. The
// client rewrites whatever configuration it runs on, so it gets a copy that
// holds the registration alone.
func confirmClaude(ctx context.Context, p place, program string) (string, error) {
	_, data, _, err := load(p.config)
	if err != nil {
		return "", err
	}
	entry, err := p.registered(data)
	if err != nil {
		return "", malformed(p.config, err)
	}
	s, err := newSandbox(p.Host, program)
	if err != nil {
		return "", err
	}
	defer s.close()
	raw, err := json.Marshal(nest(p.path(), entry))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(s.config(), ".claude.json"), raw, 0o600); err != nil {
		return "", err
	}
	out, err := s.run(ctx, []string{"FLOWPLAN_HOME=" + filepath.Join(s.dir, "state")}, "mcp", "get", "flowplan")
	if err != nil {
		return "", fmt.Errorf("`claude mcp get flowplan` failed: %s", firstLine(out, err))
	}
	if !strings.Contains(out, "Connected") {
		return "", fmt.Errorf("`claude mcp get flowplan` does not reach the server: %s", oneLine(out))
	}
	return "client: `claude mcp get` sees the server and reaches it", nil
}

func firstLine(out string, err error) string {
	if line, _, _ := strings.Cut(strings.TrimSpace(out), "\n"); line != "" {
		return line
	}
	return err.Error()
}

func oneLine(out string) string { return strings.Join(strings.Fields(out), " ") }

// kept are the client's own tools that a repair may use. All others can go;
// ToolSearch finds deferred ones, and Skill lets the model load a skill.
func kept() []string {
	return []string{"AskUserQuestion", "Bash", "BashOutput", "Edit", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS",
		"MultiEdit", "Read", "Skill", "ToolSearch", "Write"}
}

// usual are the tools denied when the client is not there to be asked: what
// version 2.1.197 has besides.
func usual() []string {
	return []string{"Agent", "CronCreate", "CronDelete", "CronList", "EnterWorktree", "ExitWorktree", "NotebookEdit", "ReportFindings",
		"ScheduleWakeup", "SendMessage", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "WebFetch", "WebSearch", "Workflow"}
}

func denyPath() []string { return []string{"permissions", "deny"} }

// lean denies the client's own tools that a repair never uses: their schemas
// are part of every request.
func lean(ctx context.Context, p place, old *receipt) (*edit, []string, error) {
	path, err := p.client.settings(p)
	if err != nil {
		return nil, nil, err
	}
	real, data, existed, err := load(path)
	if err != nil {
		return nil, nil, err
	}
	c := old.find(kindLean)
	e := &edit{kind: kindLean, path: path, before: data, change: c, upgrade: c != nil}
	deny, saved, err := measure(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	lines := []string{fmt.Sprintf("hides %d of the client's tools: %s", len(deny), strings.Join(deny, ", ")), saved}
	from, was := base(p, c, data, existed)
	d, err := parseJSON(from)
	if err != nil {
		return nil, nil, malformed(path, err)
	}
	var already []string
	if raw := d.value(denyPath()...); raw != nil {
		if err := json.Unmarshal(raw, &already); err != nil {
			return nil, nil, malformed(path, errors.New(`"permissions.deny" is not a list of texts`))
		}
	}
	add := slices.DeleteFunc(slices.Clone(deny), func(t string) bool { return slices.Contains(already, t) })
	if len(add) == 0 && c == nil {
		e.unchanged = true
		return e, lines, nil
	}
	if c != nil && slices.Equal(add, c.Items) && bytes.Contains(data, c.Inserted) {
		e.unchanged = true
		return e, lines, nil
	}
	made := 2
	if !d.blank() {
		_, depth := d.find(denyPath())
		made = 2 - depth
	}
	s, err := d.prepend(denyPath(), add)
	if err != nil {
		return nil, nil, malformed(path, err)
	}
	e.after = s.apply(from)
	e.change = newChange(kindLean, real, was, s, e.after)
	e.change.Items, e.change.Made = add, made
	return e, lines, nil
}

// measure finds out from the installed client which tools it has, by its first
// request to a model that is none, and what their absence saves, by a second.
func measure(ctx context.Context, p place) (deny []string, saved string, err error) {
	program, installed := p.client.find(p.Host)
	if !installed {
		return usual(), "this list is that of version 2.1.197, since the client is not there to be asked; run it again when it is", nil
	}
	s, err := newSandbox(p.Host, program)
	if err != nil {
		return nil, "", err
	}
	defer s.close()
	before, names, err := s.probe(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("the client's tools could not be found out: %w", err)
	}
	for _, t := range names {
		if !slices.Contains(kept(), t) && !strings.HasPrefix(t, "mcp__") && !slices.Contains(deny, t) {
			deny = append(deny, t)
		}
	}
	slices.Sort(deny)
	raw, err := json.Marshal(nest(denyPath(), deny))
	if err != nil {
		return nil, "", err
	}
	if err := os.WriteFile(filepath.Join(s.config(), "settings.json"), raw, 0o600); err != nil {
		return nil, "", err
	}
	after, _, err := s.probe(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("the client does not run with these tools denied: %w", err)
	}
	return deny, fmt.Sprintf("saves %.0f of the %.0f KB that every request of this client carries, measured with it just now", float64(before-after)/1000, float64(before)/1000), nil
}

// probe runs the client once against a scripted model and reads its first
// request: its size and the tools of it.
func (s *sandbox) probe(ctx context.Context) (size int, names []string, err error) {
	server, err := loopback.Start(loopback.Steps{})
	if err != nil {
		return 0, nil, err
	}
	defer server.Close()
	out, err := s.run(ctx, server.Env(), "-p", "list nothing", "--model", "claude-haiku-4-5", "--output-format", "stream-json", "--verbose")
	requests := server.Requests()
	if len(requests) == 0 {
		if err == nil {
			err = errors.New("it sent no request")
		}
		return 0, nil, fmt.Errorf("%w: %s", err, firstLine(out, err))
	}
	for _, t := range requests[0].Tools {
		if !t.Deferred { // a deferred one stands for others and cannot be denied itself
			names = append(names, t.Name)
		}
	}
	for _, line := range strings.Split(out, "\n") { // the tools that are deferred stand in the first line only
		var init struct {
			Subtype string   `json:"subtype"`
			Tools   []string `json:"tools"`
		}
		if json.Unmarshal([]byte(line), &init) != nil || init.Subtype != "init" {
			continue
		}
		for _, t := range init.Tools {
			if t != "Task" { // the old name of Agent
				names = append(names, t)
			}
		}
	}
	return len(requests[0].Raw), names, nil
}
