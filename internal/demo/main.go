// Command demo repairs the bugs of testdata/demo and testdata/demo-c the way an
// agent does: it makes a throw-away git repository of each, drives the flowplan
// binary over MCP on stdio through flow_of, flow_plan, the edit, flow_check and
// flow_verify, and prints every request and reply. It ends with an error unless
// the verdict is pass.
//
//	go run ./internal/demo -binary bin/flowplan
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// story is one bug and its repair.
type story struct {
	title    string
	source   string // the program
	function string // that is repaired
	file     string
	delta    map[string]any
	before   string // the lines that the edit replaces
	after    string
	try      func(repo string) error // runs the repaired program; nil where there is nothing to run
}

var stories = []story{
	{
		title: "A shop in Python", source: "testdata/demo", function: "Cart.total", file: "shop/cart.py",
		delta:  map[string]any{"function": "Cart.total", "op": "add_guard", "line": 24, "condition": "coupon is None"},
		before: "            discount = amount * coupon.percent // 100\n",
		after: "            if coupon is None:\n                return amount\n" +
			"            discount = amount * coupon.percent // 100\n",
	},
	{
		// The fault is in answer, the repair in its caller.
		title: "A server's sessions in C", source: "testdata/demo-c", function: "serve", file: "src/serve.c",
		delta:  map[string]any{"function": "serve", "op": "add_guard", "line": 21, "condition": "!s"},
		before: "    if (t->count > t->limit)\n        table_expire(t, now);\n",
		after: "    if (t->count > t->limit) {\n        table_expire(t, now);\n        s = table_find(t, key);\n" +
			"        if (!s)\n            return GONE;\n    }\n",
		try: sanitized,
	},
}

func main() {
	binary := flag.String("binary", "bin/flowplan", "the flowplan binary")
	flag.Parse()
	for _, s := range stories {
		if err := s.tell(context.Background(), *binary); err != nil {
			fmt.Fprintf(os.Stderr, "demo: %s: %v\n", s.source, err)
			os.Exit(1)
		}
	}
}

func (s *story) tell(ctx context.Context, binary string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "flowplan-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	repo := filepath.Join(dir, "repo")
	if err := repository(s.source, repo); err != nil {
		return err
	}
	issue, err := os.ReadFile(filepath.Join(s.source, "issue.txt"))
	if err != nil {
		return err
	}
	cmd := exec.Command(binary, "serve")
	cmd.Dir = repo
	cmd.Env = append(os.Environ(), "FLOWPLAN_HOME="+filepath.Join(dir, "home"), "CLAUDE_PROJECT_DIR=", "CLAUDE_CODE_SESSION_ID=demo")
	cmd.Stderr = os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	fmt.Printf("%s. The issue:\n\n%s\n", s.title, issue)
	if err := s.repair(ctx, session, repo, string(issue)); err != nil {
		return err
	}
	if s.try != nil {
		return s.try(repo)
	}
	return nil
}

// repository makes a git repository of the program, with one commit.
func repository(source, repo string) error {
	if err := os.CopyFS(repo, os.DirFS(source)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "-A"},
		{"-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "A small shop"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// repair is what an agent does, call by call.
func (s *story) repair(ctx context.Context, session *mcp.ClientSession, repo, issue string) error {
	if _, err := call(ctx, session, "flow_of", map[string]any{"function": issue}); err != nil {
		return err
	}
	if _, err := call(ctx, session, "flow_plan", map[string]any{"deltas": []any{s.delta}}); err != nil {
		return err
	}
	if err := edit(filepath.Join(repo, s.file), s.before, s.after); err != nil {
		return err
	}
	fmt.Printf("edit %s:\n%s\n", s.file, indent(s.after))
	if _, err := call(ctx, session, "flow_check", map[string]any{"function": s.function}); err != nil {
		return err
	}
	verdict, err := call(ctx, session, "flow_verify", map[string]any{})
	if err != nil {
		return err
	}
	if !strings.HasPrefix(verdict, "pass") {
		return fmt.Errorf("expected the verdict pass")
	}
	fmt.Print("pass\n\n")
	return nil
}

// sanitized builds the repaired program with the sanitizer of the issue and
// runs it. flowplan needs no compiler for a repair, so that one without the
// sanitizer is no fault.
func sanitized(repo string) error {
	sources, err := filepath.Glob(filepath.Join(repo, "src", "*.c"))
	if err != nil {
		return err
	}
	program := filepath.Join(filepath.Dir(repo), "program")
	if out, err := exec.Command("gcc", append([]string{"-g", "-fsanitize=address", "-o", program}, sources...)...).CombinedOutput(); err != nil {
		fmt.Printf("not run: gcc -fsanitize=address did not build it: %v %s\n", err, out)
		return nil
	}
	out, err := exec.Command(program).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the repaired program fails: %w\n%s", err, out)
	}
	fmt.Printf("The repaired program under AddressSanitizer:\n%s\n", indent(string(out)))
	return nil
}

func edit(path, before, after string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Count(string(data), before) != 1 {
		return fmt.Errorf("%s: expected the line to edit once", path)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), before, after, 1)), 0o644)
}

func call(ctx context.Context, session *mcp.ClientSession, tool string, args map[string]any) (string, error) {
	shown, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	if len(shown) > 160 {
		shown = append(shown[:160], "..."...)
	}
	fmt.Printf("%s %s\n", tool, shown)
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	var text string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	fmt.Println(indent(text))
	if res.IsError {
		return "", fmt.Errorf("%s: an error was not expected", tool)
	}
	return text, nil
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}
