//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flowplan/internal/loopback"
)

// machine is an isolated home with the client installed and flowplan set up,
// and a repository with the demo's bug.
type machine struct {
	t           *testing.T
	claude, bin string
	home, repo  string
	sources     string   // the folder of the repository that holds the program
	flags       []string // of the client
}

func program(t *testing.T, name string) string {
	t.Helper()
	path := os.Getenv(name)
	if path == "" {
		t.Fatalf("%s is not set: run make e2e", name)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return path
}

func newMachine(t *testing.T, setup ...string) *machine {
	t.Helper()
	return newMachineWith(t, "demo", "shop", setup...)
}

// newMachineWith has the program of a folder of testdata, whose sources lie in
// the folder given.
func newMachineWith(t *testing.T, demo, sources string, setup ...string) *machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, claude: program(t, "CLAUDE"), bin: filepath.Join(dir, "bin", "flowplan"), home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "shop"), sources: sources}
	for _, d := range []string{m.home, filepath.Dir(m.bin)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A copy of the binary, so that this machine's servers can be told by their path.
	data, err := os.ReadFile(program(t, "FLOWPLAN"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.bin, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m.claude, filepath.Join(dir, "bin", "claude")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(m.repo, os.DirFS("../../testdata/"+demo)); err != nil {
		t.Fatal(err)
	}
	m.run("git", "init", "-q")
	m.run("git", "add", "-A")
	m.run("git", "commit", "-q", "-m", "A small shop")
	m.run(m.bin, append([]string{"setup", "claude-code"}, setup...)...)
	return m
}

func (m *machine) env() []string {
	return []string{"HOME=" + m.home, "PATH=" + filepath.Dir(m.bin) + ":" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost", "GIT_CONFIG_NOSYSTEM=1"}
}

func (m *machine) run(name string, args ...string) string {
	m.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = m.repo, m.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (m *machine) path(file string) string { return filepath.Join(m.repo, m.sources, file) }

// session is one run of the client, with what the model was sent.
type session struct {
	requests []*loopback.Request
	init     struct {
		Tools   []string `json:"tools"`
		Servers []struct {
			Name, Status string
		} `json:"mcp_servers"`
	}
	result struct {
		IsError  bool  `json:"is_error"`
		NumTurns int   `json:"num_turns"`
		Denials  []any `json:"permission_denials"`
	}
}

// claudeRun types the prompt. Nothing is allowed beyond what the skill allows.
func (m *machine) claudeRun(script loopback.Script, prompt string) *session {
	m.t.Helper()
	server, err := loopback.Start(script)
	if err != nil {
		m.t.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	args := append([]string{"-p", prompt, "--model", "claude-haiku-4-5", "--output-format", "stream-json", "--verbose"}, m.flags...)
	cmd := exec.CommandContext(ctx, m.claude, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = m.repo, append(m.env(), server.Env()...), 5*time.Second
	out, err := cmd.CombinedOutput()
	s := &session{requests: server.Requests()}
	for _, line := range strings.Split(string(out), "\n") {
		var kind struct{ Type, Subtype string }
		if json.Unmarshal([]byte(line), &kind) != nil {
			continue
		}
		switch {
		case kind.Subtype == "init":
			_ = json.Unmarshal([]byte(line), &s.init) // the assertions see what is missing
		case kind.Type == "result":
			_ = json.Unmarshal([]byte(line), &s.result)
		}
	}
	if err != nil || s.result.IsError || len(s.requests) == 0 {
		m.t.Fatalf("claude: %v, %d requests\n%s", err, len(s.requests), out)
	}
	for _, other := range server.Other() {
		if strings.HasPrefix(other, "CONNECT") {
			m.t.Errorf("the client went for another machine: %s", other)
		}
	}
	if len(s.result.Denials) > 0 {
		m.t.Errorf("the skill's permissions do not suffice: %v", s.result.Denials)
	}
	return s
}

// replies are the texts of all tool results of the conversation's last
// request, in order.
func (s *session) replies() []string {
	var out []string
	for _, msg := range s.requests[len(s.requests)-1].Messages {
		for _, p := range msg.Content {
			if p.Type == "tool_result" {
				out = append(out, p.String())
			}
		}
	}
	return out
}

func flow(tool string, input map[string]any) loopback.Block {
	return loopback.Use("mcp__flowplan__"+tool, input)
}

func (m *machine) reading(file string, line, count int) loopback.Block {
	return loopback.Use("Read", map[string]any{"file_path": m.path(file), "offset": line, "limit": count})
}

func (m *machine) editing(file, before, after string) loopback.Block {
	return loopback.Use("Edit", map[string]any{"file_path": m.path(file), "old_string": before, "new_string": after})
}

func delta(function, op string, line int, condition string) map[string]any {
	d := map[string]any{"function": function, "op": op, "line": line}
	if condition != "" {
		d["condition"] = condition
	}
	return d
}

func issue(t *testing.T) string {
	t.Helper()
	return issueOf(t, "demo")
}

func issueOf(t *testing.T, demo string) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/" + demo + "/issue.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func wantIn(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}
