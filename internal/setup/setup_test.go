package setup

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oneOf is a request for each client, in user scope.
func oneOf(t *testing.T, fn func(t *testing.T, r Request, p place)) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			r := Request{Client: c.name, Scope: "user", Command: testBin, Skill: testSkill, Host: newHost(t)}
			p, err := resolve(r)
			if err != nil {
				t.Fatal(err)
			}
			fn(t, r, p)
		})
	}
}

func existing(c client) string {
	if c.toml {
		return "[mcp_servers.other]\ncommand = \"x\"\n"
	}
	return strings.ReplaceAll("{\n  \"@\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n", "@", c.container)
}

// A link stays a link, and what it leads to is edited and restored.
func TestSymlink(t *testing.T) {
	oneOf(t, func(t *testing.T, r Request, p place) {
		for _, dangling := range []bool{false, true} {
			dir := t.TempDir()
			dotfile := filepath.Join(dir, "dotfile")
			if !dangling {
				write(t, dotfile, existing(p.client))
			}
			if err := os.MkdirAll(filepath.Dir(p.config), 0o755); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(p.config)
			if err := os.Symlink(dotfile, p.config); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, r.Host)
			install(t, r)
			isRegistered(t, r)
			if link, err := os.Readlink(p.config); err != nil || link != dotfile {
				t.Fatalf("the link is gone: %q %v", link, err)
			}
			remove(t, r)
			if diff := cmp.Diff(before, snapshot(t, r.Host)); diff != "" {
				t.Errorf("removal left (-before +after):\n%s", diff)
			}
			if dangling == exists(dotfile) {
				t.Errorf("dangling %v: the target's existence changed", dangling)
			}
			if !dangling && read(t, dotfile) != existing(p.client) {
				t.Errorf("the target changed: %q", read(t, dotfile))
			}
		}
	})
}

// What cannot be edited is left alone, all of it, with a sentence that says
// what to do.
func TestRefused(t *testing.T) {
	broken := map[string]string{"json": "{\n  \"a\": 1,,\n}\n", "toml": "a = 1\n[b\n"}
	oneOf(t, func(t *testing.T, r Request, p place) {
		tests := map[string]struct {
			arrange func(path string)
			want    string
		}{
			"malformed": {func(path string) {
				write(t, path, broken[strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(path, "c")), ".")])
			}, "was left alone"},
			"read-only": {func(path string) {
				write(t, path, existing(p.client))
				if err := os.Chmod(path, 0o444); err != nil {
					t.Fatal(err)
				}
			}, "read-only and was left alone"},
			"a directory": {func(path string) {
				if err := os.MkdirAll(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}, "directory"},
			"skill edited by hand": {func(path string) {
				install(t, r)
				write(t, p.skill, testSkill+"My own line.\n")
				r.Skill = testSkill + "A newer skill.\n"
			}, "changed by hand"},
		}
		if !p.client.toml {
			tests["the servers are no object"] = struct {
				arrange func(path string)
				want    string
			}{func(path string) { write(t, path, "{\""+p.client.container+"\": []}") }, "is not an object"}
			tests["no object"] = struct {
				arrange func(path string)
				want    string
			}{func(path string) { write(t, path, "[1]\n") }, "holds no object"}
		}
		for name, test := range tests {
			r.Host = newHost(t)
			r.Skill = testSkill
			var err error
			if p, err = resolve(r); err != nil {
				t.Fatal(err)
			}
			test.arrange(p.config)
			before := snapshot(t, r.Host)
			_, err = Install(context.Background(), r)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want a sentence with %q", name, err, test.want)
			}
			if diff := cmp.Diff(before, snapshot(t, r.Host)); diff != "" {
				t.Errorf("%s: changed:\n%s", name, diff)
			}
		}
	})
}

// A home that cannot be written: nothing is half done.
func TestReadOnlyDisk(t *testing.T) {
	if _, err := os.Stat("/sys/kernel"); err != nil {
		t.Skip("there is no directory here that even root cannot write")
	}
	h := newHost(t)
	inner := h.Getenv
	h.Getenv = func(name string) string {
		if name == "HOME" {
			return "/sys/kernel"
		}
		return inner(name)
	}
	before := snapshot(t, h)
	_, err := Install(context.Background(), Request{Client: "cursor", Scope: "user", Command: testBin, Skill: testSkill, Host: h})
	if err == nil || !strings.Contains(err.Error(), "left alone") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, h)); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
}

// The client rewrote the whole file and the user added a server beside ours:
// the entry goes, everything else stays.
func TestRemoveFromRewritten(t *testing.T) {
	oneOf(t, func(t *testing.T, r Request, p place) {
		if p.client.toml {
			return
		}
		install(t, r)
		var all map[string]any
		if err := json.Unmarshal([]byte(read(t, p.config)), &all); err != nil {
			t.Fatal(err)
		}
		all["startups"] = 3
		servers := all[p.client.container].(map[string]any)
		for _, with := range []bool{true, false} {
			delete(servers, "zoo")
			if with {
				servers["zoo"] = map[string]any{"command": "z"}
			}
			raw, err := json.MarshalIndent(all, "", "      ")
			if err != nil {
				t.Fatal(err)
			}
			write(t, p.config, string(raw))
			install(t, r)
			remove(t, r)
			var got map[string]any
			if err := json.Unmarshal([]byte(read(t, p.config)), &got); err != nil {
				t.Fatalf("%v\n%s", err, read(t, p.config))
			}
			want := map[string]any{"startups": 3.0, p.client.container: map[string]any{"zoo": map[string]any{"command": "z"}}}
			if !with {
				delete(want, p.client.container) // the container was ours
				if got[p.client.container] != nil && len(got[p.client.container].(map[string]any)) == 0 {
					delete(got, p.client.container) // unless the receipt was dropped before
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("with %v (-want +got):\n%s", with, diff)
			}
		}
	})
}

// An installation that no receipt knows of, by hand or by an older version, is
// brought up to date, and removal leaves nothing of it.
func TestOlderInstallation(t *testing.T) {
	oneOf(t, func(t *testing.T, r Request, p place) {
		old := "{\n  \"@\": {\n    \"other\": {\"command\": \"x\"},\n    \"flowplan\": {\"command\": \"/old/flowplan\", \"args\": [\"serve\"]}\n  }\n}\n"
		if p.client.toml {
			old = existing(p.client) + "\n[mcp_servers.flowplan]\ncommand = \"/old/flowplan\"\nargs = [\"serve\"]\n\n[mcp_servers.flowplan.env]\nA = \"b\"\n"
		}
		if p.client.name == "opencode" {
			old = strings.Replace(old, `"/old/flowplan", "args": ["serve"]`, `["/old/flowplan", "serve"]`, 1)
		}
		write(t, p.config, strings.ReplaceAll(old, "@", p.client.container))
		write(t, p.skill, testSkill+"An older skill.\n")
		install(t, r)
		isRegistered(t, r)
		if read(t, p.skill) != testSkill {
			t.Error("the skill was not brought up to date")
		}
		remove(t, r)
		if diff := cmp.Diff(existing(p.client), read(t, p.config)); diff != "" {
			t.Errorf("removal left (-want +got):\n%s", diff)
		}
		if exists(p.skill) {
			t.Error("the skill is still there")
		}
	})
}

// Neither a server of that name that is not flowplan's nor a skill of that
// name that the user wrote is lost.
func TestForeign(t *testing.T) {
	oneOf(t, func(t *testing.T, r Request, p place) {
		foreign := strings.ReplaceAll("{\"@\": {\"flowplan\": {\"command\": \"mine\"}}}\n", "@", p.client.container)
		if p.client.toml {
			foreign = "[mcp_servers.flowplan]\ncommand = \"mine\"\n"
		}
		write(t, p.config, foreign)
		write(t, p.skill, "my own skill\n")
		remove(t, r)
		before := snapshot(t, r.Host)
		install(t, r)
		isRegistered(t, r)
		remove(t, r)
		if diff := cmp.Diff(before, snapshot(t, r.Host)); diff != "" {
			t.Errorf("removal left (-before +after):\n%s", diff)
		}
	})
}

// Denied tools: what the user denied stays, ours go, whatever the file was.
func TestLean(t *testing.T) {
	for name, text := range map[string]string{
		"none": "", "empty": "{}\n", "permissions": "{\n  \"permissions\": {\n    \"allow\": [\"Read\"]\n  }\n}\n",
		"denied":   "{\n  // mine\n  \"permissions\": {\n    \"deny\": [\n      \"WebFetch\" // no net\n    ]\n  }\n}\n",
		"one line": `{"permissions":{"deny":["WebFetch"]},"a":1}`, "CRLF": "{\r\n\t\"permissions\": {\r\n\t\t\"deny\": []\r\n\t}\r\n}\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := Request{Client: "claude-code", Scope: "user", Command: testBin, Skill: testSkill, Lean: true, Host: newHost(t)}
			settings := filepath.Join(r.Host.Getenv("HOME"), ".claude", "settings.json")
			if text != "" {
				write(t, settings, text)
			}
			before := snapshot(t, r.Host)
			report := install(t, r)
			d, err := parseJSON([]byte(read(t, settings)))
			if err != nil {
				t.Fatal(err)
			}
			var deny []string
			if err := json.Unmarshal(d.value(denyPath()...), &deny); err != nil {
				t.Fatal(err)
			}
			if len(deny) != len(usual()) || !slices.Contains(deny, "Workflow") || slices.Contains(deny, "Edit") {
				t.Errorf("denied %q", deny)
			}
			if !strings.Contains(strings.Join(report.Lines, "\n"), "hides 19") {
				t.Errorf("the report does not say what is hidden: %q", report.Lines)
			}
			once := snapshot(t, r.Host)
			install(t, r)
			r.Lean = false
			install(t, r)
			if diff := cmp.Diff(once, snapshot(t, r.Host)); diff != "" {
				t.Errorf("not idempotent:\n%s", diff)
			}
			remove(t, r)
			if diff := cmp.Diff(before, snapshot(t, r.Host)); diff != "" {
				t.Errorf("removal left (-before +after):\n%s", diff)
			}

			r.Lean = true // and when the list was reordered by the user since
			install(t, r)
			slices.Reverse(deny)
			raw, err := json.Marshal(nest(denyPath(), append(deny, "MyTool")))
			if err != nil {
				t.Fatal(err)
			}
			write(t, settings, string(raw))
			remove(t, r)
			if got := read(t, settings); strings.Contains(got, "Workflow") || !strings.Contains(got, "MyTool") {
				t.Errorf("after a reordering, removal left %s", got)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	h := newHost(t)
	for _, r := range []Request{
		{Client: "emacs", Scope: "user"}, {Client: "codex", Scope: "world"}, {Client: "codex", Scope: "user", Lean: true},
	} {
		r.Host, r.Command = h, testBin
		_, err := Install(context.Background(), r)
		var usage *UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%+v: got %v, want wrong usage", r, err)
		}
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	oneOf(t, func(t *testing.T, r Request, p place) {
		check := func() string {
			report, err := Check(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(report.Lines, "\n")
		}
		if got := check(); !strings.Contains(got, "not registered") || !strings.Contains(got, "the skill is not at") {
			t.Errorf("before setup: %s", got)
		}
		install(t, r)
		if got := check(); !strings.Contains(got, "does not answer") || !strings.Contains(got, "current") {
			t.Errorf("with a binary that does not exist: %s", got)
		}
	})
}
