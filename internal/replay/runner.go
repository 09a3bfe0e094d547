package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"flowplan/internal/lang"
)

// runner replays fixes, one work tree per project.
type runner struct {
	repos, dir, binary      string
	derived, wrong, verbose bool
	languages               *lang.Registry
	total                   *tally
}

// patterns are those of git's sparse-checkout for what some language reads: a
// snapshot may lack large files, and nothing else is needed.
func (r *runner) patterns() []string {
	var out []string
	for _, l := range r.languages.All() {
		for _, e := range l.Extensions {
			out = append(out, "*"+e)
		}
		out = append(out, l.Filenames...)
	}
	return out
}

// source reports whether a file is code that the fix is about: some language
// reads it, and none takes it for a test.
func (r *runner) source(path string) bool {
	list := r.languages.Candidates(path)
	for _, l := range list {
		if l.IsTest != nil && l.IsTest(path, "") {
			return false
		}
	}
	return len(list) > 0
}

// git runs git in a directory.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "advice.detachedHead=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// checkout makes the project's work tree hold the parent commit.
func (r *runner) checkout(f fix) (string, error) {
	name := strings.ReplaceAll(f.Repository, "/", "+")
	tree := filepath.Join(r.dir, name)
	if _, err := os.Stat(tree); err != nil {
		if _, err := git(r.dir, "clone", "-q", "--shared", "--no-checkout", filepath.Join(r.repos, name, "repo"), tree); err != nil {
			return "", err
		}
		if _, err := git(tree, append([]string{"sparse-checkout", "set", "--no-cone"}, r.patterns()...)...); err != nil {
			return "", err
		}
	}
	if _, err := git(tree, "checkout", "-q", "-f", f.Parent); err != nil {
		return "", err
	}
	_, err := git(tree, "clean", "-q", "-f", "-d", "-x")
	return tree, err
}

// outputJSON runs a flowplan command and reads its JSON; exit code 1 is a
// found difference.
func (r *runner) outputJSON(tree string, v any, args ...string) error {
	cmd := exec.Command(r.binary, args...)
	cmd.Dir = tree
	cmd.Env = r.env("cli")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 1 {
		return fmt.Errorf("flowplan %s: %s", args[0], exit.Stderr)
	}
	return json.Unmarshal(out, v)
}

func (r *runner) env(session string) []string {
	env := []string{"FLOWPLAN_HOME=" + filepath.Join(r.dir, "home")}
	if session != "cli" {
		env = append(env, "CLAUDE_CODE_SESSION_ID="+session)
	}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "FLOWPLAN_HOME=") && !strings.HasPrefix(e, "CLAUDE_") {
			env = append(env, e)
		}
	}
	return env
}

// observed is what flowplan diff says of a fix.
type observed struct {
	Functions []struct {
		ID       string           `json:"id"`
		OldID    *string          `json:"old_id"`
		Function string           `json:"function"`
		Status   string           `json:"status"`
		Test     bool             `json:"test"`
		Deltas   []map[string]any `json:"deltas"`
	} `json:"functions"`
}

// session is a running server.
type session struct {
	client *mcp.ClientSession
	total  *tally
}

func (r *runner) serve(ctx context.Context, tree, name string) (*session, error) {
	cmd := exec.Command(r.binary, "serve")
	cmd.Dir = tree
	cmd.Env = r.env(name)
	cmd.Stderr = os.Stderr
	client, err := mcp.NewClient(&mcp.Implementation{Name: "replay", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, err
	}
	return &session{client, r.total}, nil
}

// call calls a tool; failed is its isError.
func (s *session) call(ctx context.Context, tool string, args map[string]any) (text string, failed bool, err error) {
	s.total.calls[tool]++
	res, err := s.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", true, err
	}
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, res.IsError, nil
}

// replay runs one fix.
func (r *runner) replay(ctx context.Context, i int, f fix) error {
	tree, err := r.checkout(f)
	if err != nil {
		return err
	}
	var index struct{ Files int }
	if err := r.outputJSON(tree, &index, "index", "--json"); err != nil {
		return err
	}
	var diff observed
	if err := r.outputJSON(tree, &diff, "diff", f.Parent, f.Fix, "--json"); err != nil {
		return err
	}
	if r.derived {
		f.Deltas = derive(diff)
	}
	s, err := r.serve(ctx, tree, fmt.Sprintf("replay-%d", i))
	if err != nil {
		return err
	}
	defer s.client.Close()
	if err := r.views(ctx, s, diff); err != nil {
		return err
	}
	r.total.fixes++
	if len(f.Deltas) == 0 {
		r.total.empty++
		return nil
	}
	if err := r.plan(ctx, s, f); err != nil {
		return err
	}
	if err := r.apply(tree, f); err != nil {
		return err
	}
	if err := r.grade(ctx, s, tree, f); err != nil {
		return err
	}
	if r.wrong {
		return r.wrongPlans(tree, f, diff)
	}
	return nil
}

// views asks for a view of every function that the fix changes.
func (r *runner) views(ctx context.Context, s *session, diff observed) error {
	for _, fn := range diff.Functions {
		id := fn.ID
		if fn.OldID != nil {
			id = *fn.OldID
		}
		if fn.Status == "added" {
			continue
		}
		r.total.views++
		text, failed, err := s.call(ctx, "flow_of", map[string]any{"function": id})
		if err != nil {
			return err
		}
		if failed || !strings.Contains(firstLine(text), " cfg") {
			r.total.viewsFailed++
			fmt.Printf("view of %s: %s\n", id, firstLine(text))
		}
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// plan records the planned deltas; one that is refused is counted and left
// out, so that the rest can be judged.
func (r *runner) plan(ctx context.Context, s *session, f fix) error {
	text, failed, err := s.call(ctx, "flow_plan", map[string]any{"deltas": f.Deltas})
	if err != nil || !failed {
		return err
	}
	_ = text // the single calls say more
	for _, d := range f.Deltas {
		text, failed, err := s.call(ctx, "flow_plan", map[string]any{"deltas": []any{d}})
		if err != nil {
			return err
		}
		if failed {
			r.total.refused++
			fmt.Printf("refused %v: %s\n", d, firstLine(text))
		}
	}
	return nil
}

// apply makes the source files be as the fix has them, its tests aside.
func (r *runner) apply(tree string, f fix) error { return r.become(tree, f, f.Fix) }

// unapply makes them be as the parent has them.
func (r *runner) unapply(tree string, f fix) error { return r.become(tree, f, f.Parent) }

// become makes every source file that the fix touches be as a revision has it.
func (r *runner) become(tree string, f fix, rev string) error {
	out, err := git(tree, "diff", "--no-renames", "--name-status", "-z", f.Parent, f.Fix)
	if err != nil {
		return err
	}
	gone := "D" // of the fix
	if rev == f.Parent {
		gone = "A"
	}
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		path := fields[i+1]
		if !r.source(path) {
			continue
		}
		if fields[i] != gone {
			err = writeBlob(tree, rev, path)
		} else if err = os.Remove(filepath.Join(tree, path)); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeBlob(tree, rev, path string) error {
	data, err := git(tree, "show", rev+":"+path)
	if err != nil {
		return err
	}
	full := filepath.Join(tree, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.WriteFile(full, []byte(data), 0o644)
}

// report is what verify --json says.
type report struct {
	Verdict string
	Deltas  []struct {
		Function, Op, Condition, Grade, Reason string
		Line                                   int
		Observed                               []map[string]any
	}
	UnplannedOps []map[string]any `json:"unplanned_ops"`
	Unplanned    []struct {
		ID, Status, Origin string
	} `json:"unplanned_functions"`
	Hazards []struct {
		Function, Kind, Place string
		Certain               bool
		Line                  int
	}
}

// grade checks and verifies over MCP, and reads the same report as JSON from
// the command line under the server's session.
func (r *runner) grade(ctx context.Context, s *session, tree string, f fix) error {
	if _, failed, err := s.call(ctx, "flow_check", nil); err != nil || failed {
		return fmt.Errorf("flow_check failed: %w", err)
	}
	text, failed, err := s.call(ctx, "flow_verify", nil)
	if err != nil || failed {
		return fmt.Errorf("flow_verify failed: %s %w", text, err)
	}
	rep, err := r.history(tree)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(text, rep.Verdict) {
		return fmt.Errorf("flow_verify said %q and recorded %q", firstLine(text), rep.Verdict)
	}
	r.total.add(f, rep, r.verbose)
	for _, d := range rep.Deltas {
		if d.Grade == "unknown" {
			r.total.unknown[r.cause(tree, d.Function, d.Reason)]++
		}
	}
	return nil
}

var unreadLine = regexp.MustCompile(`^line (\d+) (?:of (HEAD|the working text) )?could not be read`)

// cause says why a delta is unknown: what the graph notes of the line that its
// reason names, or the reason itself.
func (r *runner) cause(tree, id, reason string) string {
	m := unreadLine.FindStringSubmatch(reason)
	if m == nil {
		return reason
	}
	line, _ := strconv.Atoi(m[1])
	path, name, _ := strings.Cut(id, ":")
	args := []string{"graph", path, "--function", name, "--json"}
	if m[2] == "HEAD" {
		args = append(args, "--rev", "HEAD")
	}
	var file struct {
		Functions []struct {
			Opaque []struct {
				Line   int
				Reason string
			}
		}
	}
	if err := r.outputJSON(tree, &file, args...); err != nil {
		return reason
	}
	for _, fn := range file.Functions {
		for _, o := range fn.Opaque {
			if o.Line == line {
				return o.Reason
			}
		}
	}
	return "a parse error"
}

// history is the last verify event of the ledger.
func (r *runner) history(tree string) (report, error) {
	cmd := exec.Command(r.binary, "history", "--json")
	cmd.Dir = tree
	cmd.Env = r.env("cli")
	out, err := cmd.Output()
	if err != nil {
		return report{}, err
	}
	var last report
	found := false
	for line := range strings.Lines(string(out)) {
		var e struct {
			Event string `json:"event"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Event == "verify" {
			last = report{}
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				return last, err
			}
			found = true
		}
	}
	if !found {
		return last, fmt.Errorf("no verify in the history")
	}
	return last, nil
}

// derive makes the plan that flowplan diff itself would make.
func derive(diff observed) []map[string]any {
	var out []map[string]any
	for _, fn := range diff.Functions {
		if fn.Test || strings.HasPrefix(fn.Function, "<") || strings.Contains(fn.Function, "<class") {
			continue
		}
		id := fn.ID
		if fn.OldID != nil {
			id = *fn.OldID
		}
		switch fn.Status {
		case "removed":
			out = append(out, map[string]any{"function": id, "op": "remove_function"})
			continue
		case "added":
			continue
		case "renamed":
			out = append(out, map[string]any{"function": id, "op": "rename_function", "to": fn.ID})
		}
		for _, d := range fn.Deltas {
			p := map[string]any{"function": id, "op": d["op"], "line": d["head_line"]}
			if c, ok := d["condition"].(string); ok && c != "" {
				p["condition"] = c
			}
			out = append(out, p)
		}
	}
	return out
}
