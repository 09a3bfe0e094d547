// Command demo repairs the bug of testdata/demo the way an agent does: it makes
// a throw-away git repository, drives the flowplan binary over MCP on stdio
// through flow_of, flow_plan, the edit, flow_check and flow_verify, and prints
// every request and reply. It ends with an error unless the verdict is pass.
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

func main() {
	binary := flag.String("binary", "bin/flowplan", "the flowplan binary")
	source := flag.String("source", "testdata/demo", "the program to repair")
	flag.Parse()
	if err := run(context.Background(), *binary, *source); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, source string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "flowplan-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	repo := filepath.Join(dir, "shop")
	if err := repository(source, repo); err != nil {
		return err
	}
	issue, err := os.ReadFile(filepath.Join(source, "issue.txt"))
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
	fmt.Printf("The issue:\n\n%s\n", issue)
	return repair(ctx, session, repo, string(issue))
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
func repair(ctx context.Context, session *mcp.ClientSession, repo, issue string) error {
	if _, err := call(ctx, session, "flow_of", map[string]any{"function": issue}); err != nil {
		return err
	}
	planned := []map[string]any{{"function": "Cart.total", "op": "add_guard", "line": 24, "condition": "coupon is None"}}
	if _, err := call(ctx, session, "flow_plan", map[string]any{"deltas": planned}); err != nil {
		return err
	}
	const before = "            discount = amount * coupon.percent // 100\n"
	const guard = "            if coupon is None:\n                return amount\n"
	if err := edit(filepath.Join(repo, "shop", "cart.py"), before, guard+before); err != nil {
		return err
	}
	fmt.Printf("edit shop/cart.py, before line 24:\n%s\n", indent(guard))
	if _, err := call(ctx, session, "flow_check", map[string]any{"function": "Cart.total"}); err != nil {
		return err
	}
	verdict, err := call(ctx, session, "flow_verify", map[string]any{})
	if err != nil {
		return err
	}
	if !strings.HasPrefix(verdict, "pass") {
		return fmt.Errorf("expected the verdict pass")
	}
	fmt.Println("pass")
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
