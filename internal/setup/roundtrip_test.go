package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	testSkill = "---\nname: flowfix\nallowed-tools: mcp__flowplan__*\n---\nRepair $ARGUMENTS\n"
	testBin   = "/opt/flow plan/bin/flowplan"
)

// jsonConfigs are configurations that exist before setup; @ stands for the
// member that holds the client's servers.
func jsonConfigs() map[string]string {
	return map[string]string{
		"empty file":               "",
		"white space":              " \n\n",
		"empty object":             "{}",
		"empty object, two lines":  "{\n}\n",
		"empty container":          "{\n  \"@\": {}\n}\n",
		"empty container, comment": "{\n  \"@\": { // none yet\n  }\n}\n",
		"other settings":           "{\n  \"theme\": \"dark\",\n  \"zoom\": 1.50\n}\n",
		"other server":             "{\n  \"@\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
		"no newline at the end":    "{\n  \"@\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}",
		"tabs":                     "{\n\t\"a\": 1,\n\t\"@\": {\n\t\t\"other\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n\t},\n\t\"b\": 2\n}\n",
		"four spaces":              "{\n    \"@\": {\n        \"other\": {}\n    }\n}\n",
		"one line":                 `{"a":1,"@":{"other":{"command":"x"}},"b":[1, 2]}`,
		"one line, spaces":         `{ "@": { "other": { "command": "x" } } }` + "\n",
		"CRLF":                     "{\r\n  \"@\": {\r\n    \"other\": {\r\n      \"command\": \"x\"\r\n    }\r\n  }\r\n}\r\n",
		"CRLF, no container":       "{\r\n  \"a\": 1\r\n}\r\n",
		"BOM":                      bom + "{\n  \"@\": {\n    \"other\": {}\n  }\n}\n",
		"BOM alone":                bom,
		"comments":                 "// top\n{\n  // servers\n  \"@\": { // here\n    /* mine */ \"other\": {}, // keep\n  },\n  // end\n}\n// after\n",
		"comment over lines":       "{ /* one\n two */ \"@\": { /* three\n four */ \"other\": {} } }\n",
		"trailing commas":          "{\n  \"@\": {\n    \"other\": {},\n  },\n}\n",
		"key order":                "{\n  \"z\": 1,\n  \"@\": {\"y\": {}, \"b\": {}},\n  \"a\": [\n    3, 1\n  ]\n}\n",
		"escapes and numbers":      "{\"big\": 12345678901234567890, \"u\": \"\\u00e9<&>\", \"@\": {}}\n",
		"a server's twin name":     "{\"@\": {\"flowplan2\": {\"command\": \"flowplan\"}}}\n",
	}
}

func tomlConfigs() map[string]string {
	return map[string]string{
		"empty file":            "",
		"comment alone":         "# nothing yet\n",
		"other settings":        "model = \"x\"\n\n[history]\npersistence = \"none\"\n",
		"other server":          "[mcp_servers.other]\ncommand = \"x\"\nargs = [\n  \"a\", # first\n]\n",
		"no newline at the end": "[mcp_servers.other]\ncommand = \"x\"",
		"CRLF":                  "model = \"x\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n",
		"BOM":                   bom + "model = \"x\"\n",
		"tabs and comments":     "# top\n[mcp_servers.other]\t# mine\n\tcommand = \"x\"\n# end\n",
		"inline table":          "mcp_servers = { other = { command = \"x\" } }\nmodel = \"y\"\n",
		"dotted keys":           "model = \"y\"\nmcp_servers.other.command = \"x\"\n",
		"parent table":          "[mcp_servers]\nother = { command = \"x\" }\n\n[tools]\nweb = true\n",
		"quoted names":          "[\"mcp_servers\".\"my server\"]\ncommand = 'C:\\x'\n",
		"array of tables":       "[[profile]]\nname = \"a\"\n[[profile]]\nname = \"b\"\n",
		"blank lines at end":    "model = \"x\"\n\n\n",
	}
}

func configs(c client) map[string]string {
	if c.toml {
		return tomlConfigs()
	}
	out := map[string]string{}
	for name, text := range jsonConfigs() {
		out[name] = strings.ReplaceAll(text, "@", c.container)
	}
	return out
}

// newHost is a machine with an empty home and no client.
func newHost(t *testing.T) Host {
	dir := t.TempDir()
	for _, d := range []string{"home", "repo"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": filepath.Join(dir, "home")}
	return Host{
		Getenv:   func(name string) string { return env[name] },
		LookPath: func(string) (string, error) { return "", errors.New("not found") },
		GOOS:     "linux", Project: filepath.Join(dir, "repo"), Receipts: filepath.Join(dir, "home", ".local", "state", "flowplan", "setup"),
	}
}

// snapshot is every file, link and directory below the machine's two roots.
func snapshot(t *testing.T, h Host) map[string]string {
	t.Helper()
	root := filepath.Dir(h.Project)
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			out[rel], err = os.Readlink(path)
		case d.IsDir():
			out[rel] = info.Mode().String()
		default:
			var data []byte
			data, err = os.ReadFile(path)
			out[rel] = info.Mode().String() + "\n" + string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func install(t *testing.T, r Request) Report {
	t.Helper()
	report, err := Install(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func remove(t *testing.T, r Request) Report {
	t.Helper()
	report, err := Remove(r)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// isRegistered asserts the entry, read with nothing of the code under test
// but its parsers.
func isRegistered(t *testing.T, r Request) {
	t.Helper()
	p, err := resolve(r)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := p.registered([]byte(read(t, p.config)))
	if err != nil {
		t.Fatalf("%v\n%s", err, read(t, p.config))
	}
	if diff := cmp.Diff([]string{r.Command, "serve"}, command(entry)); diff != "" {
		t.Fatalf("registered (-want +got):\n%s\n%s", diff, read(t, p.config))
	}
}

// each runs a test for every client, scope and existing configuration.
func each(t *testing.T, fn func(t *testing.T, r Request, config, text string)) {
	for _, c := range clients() {
		for _, scope := range []string{"user", "project"} {
			for name, text := range configs(c) {
				t.Run(c.name+"/"+scope+"/"+name, func(t *testing.T) {
					t.Parallel()
					r := Request{Client: c.name, Scope: scope, Command: testBin, Skill: testSkill, Host: newHost(t)}
					p, err := resolve(r)
					if err != nil {
						t.Fatal(err)
					}
					fn(t, r, p.config, text)
				})
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	each(t, func(t *testing.T, r Request, config, text string) {
		write(t, config, text)
		before := snapshot(t, r.Host)

		dry := r
		dry.DryRun = true
		install(t, dry)
		if diff := cmp.Diff(before, snapshot(t, r.Host)); diff != "" {
			t.Fatalf("a dry run changed:\n%s", diff)
		}
		install(t, r)
		isRegistered(t, r)
		once := snapshot(t, r.Host)
		install(t, r)
		if diff := cmp.Diff(once, snapshot(t, r.Host)); diff != "" {
			t.Fatalf("a second setup changed:\n%s", diff)
		}
		newer := r
		newer.Command, newer.Skill = "/usr/local/bin/flowplan", testSkill+"More.\n"
		install(t, newer)
		isRegistered(t, newer)
		if strings.Contains(read(t, config), testBin) {
			t.Fatalf("the older registration stayed:\n%s", read(t, config))
		}
		remove(t, newer)
		if diff := cmp.Diff(before, snapshot(t, r.Host)); diff != "" {
			t.Fatalf("removal left (-before +after):\n%s", diff)
		}
		if got := remove(t, newer); !strings.Contains(strings.Join(got.Lines, "\n"), "nothing to remove") {
			t.Errorf("a second removal says %q", got.Lines)
		}
	})
}

// Whatever the user wrote elsewhere in the file since stays, and exactly our
// text goes.
func TestRemoveAfterEdit(t *testing.T) {
	each(t, func(t *testing.T, r Request, config, text string) {
		write(t, config, text)
		install(t, r)
		comment := "\n# mine\n"
		if !strings.HasSuffix(config, ".toml") {
			comment = "\n// mine\n"
		}
		write(t, config, read(t, config)+comment)
		remove(t, r)
		if strings.TrimSpace(strings.TrimPrefix(text, bom)) == "" && !strings.HasSuffix(config, ".toml") {
			// A comment alone is no JSON: an empty object stays before it.
			if got := read(t, config); !strings.HasSuffix(got, comment) || strings.Contains(got, "flowplan") {
				t.Fatalf("removal left %q", got)
			}
			return
		}
		if diff := cmp.Diff(text+comment, read(t, config)); diff != "" {
			t.Fatalf("removal left (-want +got):\n%s", diff)
		}
	})
}

func TestNothingBefore(t *testing.T) {
	for _, c := range clients() {
		for _, scope := range []string{"user", "project"} {
			r := Request{Client: c.name, Scope: scope, Command: testBin, Skill: testSkill, Host: newHost(t)}
			before := snapshot(t, r.Host)
			install(t, r)
			isRegistered(t, r)
			remove(t, r)
			if diff := cmp.Diff(before, snapshot(t, r.Host)); diff != "" {
				t.Errorf("%s %s: removal left (-before +after):\n%s", c.name, scope, diff)
			}
		}
	}
}

// All clients on one machine, taken back in the order they came: directories
// they share are gone in the end.
func TestAllClients(t *testing.T) {
	h := newHost(t)
	before := snapshot(t, h)
	for _, c := range clients() {
		install(t, Request{Client: c.name, Scope: "user", Command: testBin, Skill: testSkill, Host: h})
	}
	for _, c := range clients() {
		remove(t, Request{Client: c.name, Scope: "user", Command: testBin, Skill: testSkill, Host: h})
	}
	if diff := cmp.Diff(before, snapshot(t, h)); diff != "" {
		t.Errorf("removal left (-before +after):\n%s", diff)
	}
}
