//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"flowplan/internal/loopback"
)

const (
	discount = "            discount = amount * coupon.percent // 100\n"
	guarded  = "            if coupon is None:\n                return amount\n" + discount
)

// oneFunction is the repair of the demo in four model calls.
func (m *machine) oneFunction() loopback.Steps {
	return loopback.Steps{
		{flow("flow_of", map[string]any{"function": issue(m.t)})},
		{flow("flow_plan", map[string]any{"deltas": []any{delta("Cart.total", "add_guard", 24, "coupon is None")}}), m.reading("cart.py", 17, 10)},
		{m.editing("cart.py", discount, guarded), flow("flow_verify", map[string]any{})},
		{loopback.Text("Repaired.")},
	}
}

// threeFunctions repairs three files at once.
func (m *machine) threeFunctions() loopback.Steps {
	return loopback.Steps{
		{flow("flow_of", map[string]any{"function": []string{"Cart.total", "checkout", "CouponBook.find"}})},
		{flow("flow_plan", map[string]any{"deltas": []any{
			delta("Cart.total", "add_guard", 24, "coupon is None"),
			delta("checkout", "change_condition", 7, "amount <= 0"),
			delta("CouponBook.find", "change_condition", 23, "coupon is None or coupon.expires <= (today or date.today())")}}),
			m.reading("cart.py", 17, 10), m.reading("checkout.py", 4, 11), m.reading("coupons.py", 20, 6)},
		{m.editing("cart.py", discount, guarded), m.editing("checkout.py", "amount == 0", "amount <= 0"),
			m.editing("coupons.py", "coupon.expires <", "coupon.expires <="), flow("flow_verify", map[string]any{})},
		{loopback.Text("Repaired.")},
	}
}

// One function and three, plain and lean: the skill expands, the five tools
// are there from the first request, four model calls do it, and the tokens of
// each part are printed.
func TestRepair(t *testing.T) {
	for _, lean := range []bool{false, true} {
		for _, three := range []bool{false, true} {
			title, flags := "one function", []string(nil)
			if three {
				title = "three functions"
			}
			if lean {
				title, flags = title+", lean", []string{"--lean"}
			}
			t.Run(title, func(t *testing.T) {
				m := newMachine(t, flags...)
				steps := m.oneFunction()
				if three {
					steps = m.threeFunctions()
				}
				s := m.claudeRun(steps, "/flowfix "+issue(t))
				if len(s.requests) != 4 {
					t.Fatalf("%d model calls, want 4", len(s.requests))
				}
				first := s.requests[0]
				wantIn(t, "the first request", first.UserText(), "<command-name>/flowfix", "Repair this with the flow tools: Checking out", "AttributeError: 'NoneType'", "Four model calls", "change_condition")
				for _, tool := range []string{"flow_check", "flow_locate", "flow_of", "flow_plan", "flow_verify"} {
					if !slices.Contains(first.ToolNames(), "mcp__flowplan__"+tool) {
						t.Errorf("%s is not in the first request, which has %v", tool, first.ToolNames())
					}
				}
				for _, tool := range first.Tools {
					if tool.Deferred && strings.HasPrefix(tool.Name, "mcp__flowplan") {
						t.Errorf("%s is deferred", tool.Name)
					}
				}
				if lean && slices.Contains(first.ToolNames(), "Workflow") {
					t.Error("a lean session still has Workflow")
				}
				replies := s.replies()
				for _, r := range replies {
					if strings.Contains(r, "Error") && !strings.Contains(r, "ConnectionError") {
						t.Errorf("a reply is an error: %s", r)
					}
				}
				wantIn(t, "the view", replies[0], "Cart.total(self, code)", "24 discount")
				wantIn(t, "the plan", replies[1], "planned add_guard")
				verdict := replies[len(replies)-1]
				if !strings.HasPrefix(verdict, "pass") {
					t.Errorf("verdict: %s", verdict)
				}
				for i := 1; i < len(s.requests); i++ { // what a cache is paid for: the prefix is the same bytes
					if string(s.requests[i].Tools[0].Raw) != string(first.Tools[0].Raw) || len(s.requests[i].Tools) != len(first.Tools) {
						t.Errorf("the tools differ between requests 1 and %d", i+1)
					}
				}
				sum := printTable(t, title, s.requests)
				if p := split(t, first); p["flow tools"] > 900 {
					t.Errorf("the five tools take %d tokens as the client sends them", p["flow tools"])
				}
				if sum["total"] == 0 {
					t.Error("no tokens counted")
				}
				if lean {
					m.run(m.bin, "setup", "claude-code", "--remove")
					if settings, err := os.ReadFile(filepath.Join(m.home, ".claude", "settings.json")); err == nil && strings.Contains(string(settings), "Workflow") {
						t.Errorf("removal left the denied tools: %s", settings)
					}
				}
			})
		}
	}
}

// A sanitizer's report as the issue: the view is of the function that crashed,
// its caller and where the memory was freed stand below it, and the repair is in
// the caller.
func TestSanitizerReport(t *testing.T) {
	m := newMachineWith(t, "demo-c", "src")
	report := issueOf(t, "demo-c")
	const expire = "    if (t->count > t->limit)\n        table_expire(t, now);\n"
	const found = "    if (t->count > t->limit) {\n        table_expire(t, now);\n        s = table_find(t, key);\n        if (!s)\n            return GONE;\n    }\n"
	s := m.claudeRun(loopback.Steps{
		{flow("flow_of", map[string]any{"function": report})},
		{flow("flow_plan", map[string]any{"deltas": []any{delta("serve", "add_guard", 21, "!s")}}), m.reading("serve.c", 13, 11)},
		{m.editing("serve.c", expire, found), flow("flow_verify", map[string]any{})},
		{loopback.Text("Repaired.")},
	}, "/flowfix "+report)
	if len(s.requests) != 4 {
		t.Fatalf("%d model calls, want 4", len(s.requests))
	}
	wantIn(t, "the first request", s.requests[0].UserText(), "Repair this with the flow tools: A request", "heap-use-after-free", "in answer /build/sessions/src/serve.c:6")
	replies := s.replies()
	wantIn(t, "the view", replies[0], "answer(s, now)", "<== here", "called from serve  src/serve.c", "<== call", "freed: table_expire src/table.c:40")
	wantIn(t, "the plan", replies[1], "planned add_guard")
	if verdict := replies[len(replies)-1]; !strings.HasPrefix(verdict, "pass") {
		t.Errorf("verdict: %s", verdict)
	}
	printTable(t, "a sanitizer's report", s.requests)
}

// The edit is not the one planned: the reply offers the delta that it was, the
// model plans that, and it passes.
func TestMismatch(t *testing.T) {
	m := newMachine(t)
	s := m.claudeRun(loopback.Func(func(r *loopback.Request, n int) loopback.Step {
		switch n {
		case 0:
			return loopback.Step{flow("flow_of", map[string]any{"function": "Cart.total"})}
		case 1:
			return loopback.Step{flow("flow_plan", map[string]any{"deltas": []any{delta("Cart.total", "change_condition", 22, "code is not None")}}), m.reading("cart.py", 17, 10)}
		case 2:
			return loopback.Step{m.editing("cart.py", discount, guarded), flow("flow_verify", map[string]any{})}
		case 3:
			results := r.Results()
			_, ready, ok := strings.Cut(results[len(results)-1].String(), "meant? flow_plan ")
			if !ok {
				return loopback.Step{loopback.Text("no delta was offered")}
			}
			var deltas []any
			if err := json.NewDecoder(strings.NewReader(ready)).Decode(&deltas); err != nil {
				return loopback.Step{loopback.Text("the delta offered is no JSON: " + err.Error())}
			}
			return loopback.Step{flow("flow_plan", map[string]any{"deltas": deltas}), flow("flow_verify", map[string]any{})}
		}
		return loopback.Step{loopback.Text("done")}
	}), "/flowfix "+issue(t))
	replies := s.replies()
	if len(replies) != 7 {
		t.Fatalf("%d replies, want 7: %q", len(replies), replies)
	}
	if !strings.HasPrefix(replies[4], "fail") {
		t.Errorf("the first verdict: %s", replies[4])
	}
	wantIn(t, "the first verdict", replies[4], "mismatch", "meant? flow_plan")
	wantIn(t, "the second plan", replies[5], "planned add_guard")
	if !strings.HasPrefix(replies[6], "pass") {
		t.Errorf("the second verdict: %s", replies[6])
	}
}

// A sub-agent repairs in a worktree of its own: root says which tree.
func TestSubAgentInWorktree(t *testing.T) {
	m := newMachine(t)
	tree := filepath.Join(m.repo, "trees", "fix")
	m.run("git", "worktree", "add", "-q", tree)
	const task = "REPAIR-IN-WORKTREE: repair Cart.total with the flow tools"
	file := filepath.Join(tree, "shop", "cart.py")
	s := m.claudeRun(loopback.Func(func(r *loopback.Request, n int) loopback.Step {
		if !strings.Contains(r.UserText(), task) {
			if n == 0 {
				return loopback.Step{loopback.Use("Agent", map[string]any{"description": "repair", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false})}
			}
			return loopback.Step{loopback.Text("done")}
		}
		switch n {
		case 0:
			return loopback.Step{flow("flow_of", map[string]any{"function": "Cart.total", "root": tree})}
		case 1:
			return loopback.Step{flow("flow_plan", map[string]any{"root": tree, "deltas": []any{delta("Cart.total", "add_guard", 24, "coupon is None")}}),
				loopback.Use("Read", map[string]any{"file_path": file})}
		case 2:
			return loopback.Step{loopback.Use("Edit", map[string]any{"file_path": file, "old_string": discount, "new_string": guarded}), flow("flow_verify", map[string]any{"root": tree})}
		}
		return loopback.Step{loopback.Text("repaired in the worktree")}
	}), "/flowfix "+issue(t))
	var inner *loopback.Request
	for _, r := range s.requests {
		if strings.Contains(r.UserText(), task) {
			inner = r
		}
	}
	if inner == nil {
		t.Fatal("there was no sub-agent")
	}
	s.requests = []*loopback.Request{inner}
	replies := s.replies()
	if len(replies) != 5 || !strings.HasPrefix(replies[4], "pass") {
		t.Fatalf("replies of the sub-agent: %q", replies)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	if main, err := os.ReadFile(m.path("cart.py")); err != nil || strings.Contains(string(main), "coupon is None") {
		t.Errorf("the main tree was edited: %v", err)
	}
}

// servers are the running servers of this machine, known by the path of its
// own copy of the binary.
func (m *machine) servers() []int {
	var out []int
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		m.t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == m.bin {
			var pid int
			if err := json.Unmarshal([]byte(strings.Split(link, "/")[2]), &pid); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

// The server dies between plan and edit: the session goes on, and nothing that
// was acknowledged is lost; the command line verifies the same plan's work.
func TestServerKilled(t *testing.T) {
	m := newMachine(t)
	killed := 0
	s := m.claudeRun(loopback.Func(func(r *loopback.Request, n int) loopback.Step {
		if n == 2 {
			for _, pid := range m.servers() {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					killed++
				}
			}
			time.Sleep(500 * time.Millisecond) // the client notices
		}
		if n == 3 {
			return loopback.Step{flow("flow_verify", map[string]any{})}
		}
		return m.oneFunction().Next(r, n)
	}), "/flowfix "+issue(t))
	if killed != 1 {
		t.Fatalf("%d servers killed, want 1", killed)
	}
	replies := s.replies()
	t.Logf("after the kill: %q", replies[3:])
	if edited, err := os.ReadFile(m.path("cart.py")); err != nil || !strings.Contains(string(edited), "if coupon is None") {
		t.Errorf("the edit was not made: %v", err)
	}
	last := replies[len(replies)-1]
	if strings.HasPrefix(last, "pass") {
		return // the client started the server again, which went on with the plan
	}
	wantIn(t, "the history after the kill", m.run(m.bin, "history"), "add_guard", "Cart.total")
}

// Two sessions in one repository at once: each passes its own plan.
func TestTwoSessions(t *testing.T) {
	m := newMachine(t)
	other := loopback.Steps{
		{flow("flow_of", map[string]any{"function": "checkout"})},
		{flow("flow_plan", map[string]any{"deltas": []any{delta("checkout", "change_condition", 7, "amount <= 0")}}), m.reading("checkout.py", 4, 11)},
		{m.editing("checkout.py", "amount == 0", "amount <= 0"), flow("flow_verify", map[string]any{})},
		{loopback.Text("Repaired.")},
	}
	var planned sync.WaitGroup // both have planned before either edits
	planned.Add(2)
	together := func(steps loopback.Steps) loopback.Script {
		return loopback.Func(func(r *loopback.Request, n int) loopback.Step {
			if n == 2 {
				planned.Done()
				planned.Wait()
			}
			return steps.Next(r, n)
		})
	}
	sessions := make([]*session, 2)
	var both sync.WaitGroup
	for i, steps := range []loopback.Steps{m.oneFunction(), other} {
		both.Go(func() { sessions[i] = m.claudeRun(together(steps), "/flowfix "+issue(t)) })
	}
	both.Wait()
	for i, s := range sessions {
		if s == nil {
			t.Fatalf("session %d did not end", i)
		}
		replies := s.replies()
		if verdict := replies[len(replies)-1]; !strings.HasPrefix(verdict, "pass") {
			t.Errorf("session %d: %s", i, verdict)
		}
	}
}
