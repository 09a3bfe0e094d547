package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tiktoken-go/tokenizer"

	"flowplan/internal/engine"
	"flowplan/internal/lang"
	"flowplan/internal/lang/all"
	"flowplan/internal/ledger"
	"flowplan/skills"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// serveIn makes this binary a server: tests run it as a child.
const serveIn = "FLOWPLAN_TEST_SERVE_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveIn); dir != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		e := newEngine(dir)
		if err := Serve(ctx, e, Stdio(), Options{Version: "test"}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		e.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newEngine(dir string) *engine.Engine {
	registry, err := lang.NewRegistry(all.Languages()...)
	if err != nil {
		panic(err)
	}
	return engine.New(engine.Config{Dir: dir, Languages: registry, Session: ledger.Session{ID: "t", Kind: ledger.Client, Serving: true}})
}

const source = `def first(x):
    if x:
        return 1
    return 2


def second(y):
    z = y
    return z
`

// repository is a git work tree with one file.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.py"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x"}} {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	return dir
}

// connect is a client of a server in memory.
func connect(t *testing.T, dir string) *mcp.ClientSession {
	t.Helper()
	e := newEngine(dir)
	ctx, cancel := context.WithCancel(context.Background())
	server, client := mcp.NewInMemoryTransports()
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, e, server, Options{Version: "test"}) }()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(ctx, client, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
		e.Close()
	})
	return s
}

func call(t *testing.T, s *mcp.ClientSession, name string, args any) (string, bool) {
	t.Helper()
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if res.StructuredContent != nil || len(res.Content) != 1 {
		t.Errorf("%s: expected one text block, got %+v", name, res)
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

// TestTools pins what clients are sent: it is paid for at every call.
func TestTools(t *testing.T) {
	s := connect(t, repository(t))
	res, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	readOnly := map[string]bool{"flow_of": true, "flow_locate": false, "flow_plan": false, "flow_check": true, "flow_verify": true}
	if len(res.Tools) != len(readOnly) {
		t.Errorf("%d tools", len(res.Tools))
	}
	for _, tool := range res.Tools {
		want, ok := readOnly[tool.Name]
		a := tool.Annotations
		if !ok || a.ReadOnlyHint != want || a.DestructiveHint == nil || *a.DestructiveHint || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if tool.OutputSchema != nil || tool.Meta["anthropic/alwaysLoad"] != true {
			t.Errorf("%s: output schema %v, meta %v", tool.Name, tool.OutputSchema, tool.Meta)
		}
	}
	got, err := json.MarshalIndent(res.Tools, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "tools.json")
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("tools/list differs (-golden +got):\n%s", diff)
	}
	if ir := s.InitializeResult(); ir.Instructions != instructions || ir.Capabilities.Logging != nil {
		t.Errorf("initialize: %+v", ir)
	}
}

func tokens(t *testing.T, s string) int {
	t.Helper()
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Count(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestBudgets(t *testing.T) {
	total := 0
	raw := 0
	for _, tool := range tools(newEngine(t.TempDir())) {
		schema, err := json.Marshal(tool.schema)
		if err != nil {
			t.Fatal(err)
		}
		n := tokens(t, tool.name) + tokens(t, tool.description) + tokens(t, string(schema))
		t.Logf("%s: %d", tool.name, n)
		total += n
	}
	all, err := SchemaJSON(newEngine(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	raw = tokens(t, string(all))
	t.Logf("tools: %d (as one JSON array %d), instructions: %d", total, raw, tokens(t, instructions))
	if total > 650 || raw > 650 {
		t.Errorf("tools take %d tokens, as JSON %d; want at most 650", total, raw)
	}
	if n := tokens(t, instructions); n > 60 {
		t.Errorf("instructions take %d tokens, want at most 60", n)
	}
	for _, dfg := range []bool{false, true} {
		text, err := skills.Flowfix(dfg)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
		n := tokens(t, body)
		t.Logf("skill: %d", n)
		if n > 800 {
			t.Errorf("the skill's body takes %d tokens, want at most 800", n)
		}
	}
}

func TestLenient(t *testing.T) {
	s := connect(t, repository(t))
	for _, c := range []struct {
		name, tool string
		args       any
		want       []string
	}{
		{"array as string", "flow_of", map[string]any{"function": `["first","second"]`}, []string{"first(x)", "second(y)"}},
		{"array", "flow_of", map[string]any{"function": []string{"first", "second"}}, []string{"first(x)", "second(y)"}},
		{"one a line", "flow_of", map[string]any{"function": "first\nsecond"}, []string{"first(x)", "second(y)"}},
		{"enum in any case", "flow_of", map[string]any{"function": "first", "view": "DFG"}, []string{"a.py:1-4 dfg"}},
		{"keys in any case", "flow_of", map[string]any{"Function": "first", "VIEW": "dfg"}, []string{"a.py:1-4 dfg"}},
		{"number as string", "flow_of", map[string]any{"function": "first", "focus": "3"}, []string{"3 return 1"}},
		{"line prefix", "flow_of", map[string]any{"function": "first", "focus": "L3"}, []string{"3 return 1"}},
		{"unknown field", "flow_of", map[string]any{"function": "first", "colour": "red", "depth": 3}, []string{"first(x)", "ignored: colour, depth"}},
		{"nulls", "flow_of", map[string]any{"function": "first", "view": nil, "focus": nil, "root": nil}, []string{"first(x)"}},
		{"empty strings", "flow_of", map[string]any{"function": "first", "view": "", "focus": "", "root": ""}, []string{"first(x)"}},
		{"site as number", "flow_locate", map[string]any{"function": "first", "site": 2}, []string{"pinned 2 if x"}},
		{"deltas as string", "flow_plan", map[string]any{"deltas": `[{"function":"first","op":"ADD_GUARD","line":"2"}]`}, []string{"planned add_guard first 2 if x"}},
		{"one delta", "flow_plan", map[string]any{"deltas": map[string]any{"function": "first", "op": "add guard", "line": 2}}, []string{"planned add_guard first"}},
		{"fresh as string", "flow_plan", map[string]any{"deltas": []any{`{"function":"second","op":"change_block","line":8}`}, "fresh": "true"}, []string{"planned change_block second 8 z = y"}},
		{"no arguments", "flow_check", nil, []string{"mismatch change_block"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, isError := call(t, s, c.tool, c.args)
			for _, w := range c.want {
				if isError || !strings.Contains(text, w) {
					t.Errorf("expected %q in (error: %v):\n%s", w, isError, text)
				}
			}
		})
	}
}

func TestErrors(t *testing.T) {
	s := connect(t, repository(t))
	for _, c := range []struct {
		tool string
		args any
		want string
	}{
		{"flow_of", map[string]any{"function": "frist"}, "nearest: first (a.py:1)"},
		{"flow_of", map[string]any{}, "expected a function"},
		{"flow_of", map[string]any{"function": "first", "view": "pdg"}, "expected cfg or dfg"},
		{"flow_of", map[string]any{"function": "first", "focus": "middle"}, "expected a line number"},
		{"flow_of", map[string]any{"function": "first", "root": "/"}, "--root"},
		{"flow_locate", map[string]any{"function": "first"}, "expected a site in first"},
		{"flow_plan", map[string]any{}, "expected an array such as"},
		{"flow_plan", map[string]any{"deltas": []any{map[string]any{"function": "first", "op": "fix"}}}, "did you mean"},
		{"flow_check", map[string]any{"function": "frist"}, "nearest: first"},
	} {
		text, isError := call(t, s, c.tool, c.args)
		if !isError || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: expected an error with %q, got (error: %v) %s", c.tool, c.args, c.want, isError, text)
		}
	}
	if _, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "flow_fix"}); err == nil {
		t.Error("an unknown tool was called")
	}
}

func TestPanic(t *testing.T) {
	var log bytes.Buffer
	h := handler(tool{name: "flow_of", schema: object(map[string]*jsonschema.Schema{}), call: func(context.Context, arguments) (engine.Reply, error) {
		panic("boom")
	}}, slog.New(slog.NewTextHandler(&log, nil)))
	res, err := h(context.Background(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "go on without it") {
		t.Errorf("panic: %+v %v", res, err)
	}
	if !strings.Contains(log.String(), "boom") {
		t.Errorf("the panic was not logged: %s", log.String())
	}
}

func TestConcurrent(t *testing.T) {
	s := connect(t, repository(t))
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			tool, args := "flow_of", map[string]any{"function": "first"}
			switch i % 4 {
			case 1:
				tool, args = "flow_plan", map[string]any{"deltas": []any{map[string]any{"function": "first", "op": "add_guard", "line": 2, "condition": fmt.Sprint("x > ", i)}}}
			case 2:
				tool, args = "flow_verify", nil
			case 3:
				tool, args = "flow_locate", map[string]any{"function": "second", "site": "8"}
			}
			res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
			if err != nil || res.IsError {
				t.Errorf("%s: %v %+v", tool, err, res)
			}
		})
	}
	wg.Wait()
}

// child starts this binary as a server on real pipes.
func child(t *testing.T, dir string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveIn+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, in, bufio.NewReader(out)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// TestEndOfInput: what was read is answered, like in printf ... | serve.
func TestEndOfInput(t *testing.T) {
	cmd, in, out := child(t, repository(t))
	var b strings.Builder
	b.WriteString(initialize)
	b.WriteString(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n")
	for i := 3; i < 9; i++ {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"flow_of","arguments":{"function":"first"}}}`+"\n", i)
	}
	if _, err := io.WriteString(in, b.String()); err != nil {
		t.Fatal(err)
	}
	in.Close()
	all, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	var ids []int
	for line := range strings.Lines(string(all)) {
		var msg struct {
			JSONRPC string
			ID      int
			Result  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &msg); err != nil || msg.JSONRPC != "2.0" || msg.Result == nil {
			t.Errorf("no JSON-RPC result on stdout: %s", line)
		}
		ids = append(ids, msg.ID)
	}
	slices.Sort(ids)
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6, 7, 8}, ids); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestSigterm(t *testing.T) {
	cmd, in, out := child(t, repository(t))
	if _, err := io.WriteString(in, initialize); err != nil {
		t.Fatal(err)
	}
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("exit: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("still there five seconds after SIGTERM")
	}
}
