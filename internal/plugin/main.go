// Command plugin writes the Claude Code plugin, plugin/, from the same sources
// as the binary: the skill and the version. With -check it writes nothing and
// fails when what is there differs or breaks a rule that `claude plugin
// validate` does not look at.
//
//	go run ./internal/plugin [-check]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flowplan/internal/cli"
	"flowplan/skills"
)

func main() {
	check := flag.Bool("check", false, "fail if plugin/ is not current")
	dir := flag.String("dir", "plugin", "where the plugin is")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "plugin:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	want, err := files()
	if err != nil {
		return err
	}
	if err := rules(want); err != nil {
		return err
	}
	if check {
		return compare(dir, want)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, data := range want {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

const description = "Repairs programs at the level of control- and data-flow graphs, and checks every edit against its plan"

type (
	person struct {
		Name string `json:"name"`
	}
	manifest struct {
		Name        string `json:"name"`
		Version     string `json:"version"`
		Description string `json:"description"`
		Author      person `json:"author"`
		License     string `json:"license"`
	}
	listed struct {
		Name        string `json:"name"`
		Source      string `json:"source"`
		Description string `json:"description"`
	}
	marketplace struct {
		Name        string   `json:"name"`
		Owner       person   `json:"owner"`
		Description string   `json:"description"`
		Plugins     []listed `json:"plugins"`
	}
	server struct {
		Command    string   `json:"command"`
		Args       []string `json:"args"`
		AlwaysLoad bool     `json:"alwaysLoad"`
	}
	servers struct {
		Servers map[string]server `json:"mcpServers"`
	}
)

// files are the plugin's files. The server is found on PATH: a plugin cannot
// know where the binary was installed.
func files() (map[string][]byte, error) {
	skill, err := skills.Flowfix(false)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{"skills/flowfix/SKILL.md": []byte(skill)}
	for name, v := range map[string]any{
		".claude-plugin/plugin.json":      manifest{"flowplan", cli.Release, description, person{"flowplan maintainers"}, "MIT"},
		".claude-plugin/marketplace.json": marketplace{"flowplan", person{"flowplan maintainers"}, description, []listed{{"flowplan", "./", description}}},
		".mcp.json":                       servers{map[string]server{"flowplan": {"flowplan", []string{"serve"}, true}}},
	} {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return nil, err
		}
		out[name] = append(data, '\n')
	}
	return out, nil
}

// rules are what the client silently trips over.
func rules(files map[string][]byte) error {
	var s servers
	if err := json.Unmarshal(files[".mcp.json"], &s); err != nil {
		return fmt.Errorf(".mcp.json: %w", err)
	}
	for name, srv := range s.Servers {
		if srv.Command == "" || !srv.AlwaysLoad {
			return fmt.Errorf(".mcp.json: %s needs a command and alwaysLoad", name)
		}
	}
	for name, data := range files {
		if filepath.Base(name) == "SKILL.md" {
			if err := skillRules(filepath.Base(filepath.Dir(filepath.FromSlash(name))), string(data)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func skillRules(dir, text string) error {
	rest, ok := strings.CutPrefix(text, "---\n")
	head, body, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		return errors.New("there is no frontmatter between lines of ---")
	}
	fields := map[string]string{}
	for _, line := range strings.Split(head, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return fmt.Errorf("frontmatter line %q is not key: value", line)
		}
		if strings.Contains(value, ": ") && !strings.HasPrefix(value, `"`) {
			return fmt.Errorf("an unquoted colon in %s: the client drops the whole frontmatter", key)
		}
		fields[key] = value
	}
	switch {
	case fields["name"] != dir:
		return fmt.Errorf("the name %q is not the directory's, %q", fields["name"], dir)
	case fields["description"] == "" || len(fields["description"]) > 1024:
		return fmt.Errorf("the description has %d characters; expected 1 to 1,024", len(fields["description"]))
	case !slices.Contains(strings.Fields(fields["allowed-tools"]), "mcp__plugin_flowplan_flowplan__*"):
		return errors.New("allowed-tools lacks the tools' names under a plugin")
	}
	for _, line := range strings.Split(body, "\n") {
		if strings.HasPrefix(line, "!`") {
			return fmt.Errorf("the line %q would be executed at load", line)
		}
	}
	for i := range 10 {
		if strings.Contains(body, fmt.Sprintf("$%d", i)) {
			return fmt.Errorf("$%d in the body would be replaced by an argument", i)
		}
	}
	return nil
}

func compare(dir string, want map[string][]byte) error {
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, want[filepath.ToSlash(rel)]) {
			return fmt.Errorf("%s is not current: run make generate", path)
		}
		seen++
		return nil
	})
	if err == nil && seen != len(want) {
		err = fmt.Errorf("%s lacks files: run make generate", dir)
	}
	return err
}
