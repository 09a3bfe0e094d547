package setup

import (
	"context"
	"os"
	"path/filepath"
)

// client is one coding agent: where it keeps what, and in which form.
type client struct {
	name, title string
	programs    []string // its executables; one on PATH means it is installed
	get         string   // how to get it
	invoke      string   // how a user calls the skill
	note        map[string]string

	toml      bool
	container string // the member that holds the servers
	entry     func(command string) any
	user      func(Host) (config []string, skills string, err error)
	project   func(dir string) (config []string, skills string)

	settings func(p place) (string, error)                                      // the file with denied tools, for --lean
	confirm  func(ctx context.Context, p place, program string) (string, error) // asks the client whether it sees the server
}

// Entries are structs, so that their fields keep their order.
type (
	plainEntry struct {
		Command string   `json:"command" toml:"command"`
		Args    []string `json:"args" toml:"args"`
	}
	typedEntry struct {
		Type string `json:"type"`
		plainEntry
	}
	claudeEntry struct {
		Type string `json:"type"`
		plainEntry
		Env        struct{} `json:"env"`
		AlwaysLoad bool     `json:"alwaysLoad"`
	}
	localEntry struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}
)

func plain(command string) plainEntry { return plainEntry{command, []string{"serve"}} }

// clients is the table. Skills go to the directory that is the client's own
// where it has one, so that removal from one client takes nothing from another.
func clients() []client {
	return []client{
		{
			name: "claude-code", title: "Claude Code", programs: []string{"claude"}, get: "npm install -g @anthropic-ai/claude-code", invoke: "/flowfix",
			note:      map[string]string{"project": "Claude Code asks once whether the project's .mcp.json is trusted"},
			container: "mcpServers",
			entry: func(command string) any {
				return claudeEntry{Type: "stdio", plainEntry: plain(command), AlwaysLoad: true}
			},
			user: func(h Host) ([]string, string, error) {
				if dir := h.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
					return []string{filepath.Join(dir, ".claude.json")}, filepath.Join(dir, "skills"), nil
				}
				return underHome(h, ".claude/skills", ".claude.json")
			},
			project: func(dir string) ([]string, string) { return under(dir, ".claude/skills", ".mcp.json") },
			settings: func(p place) (string, error) {
				return filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(p.skill))), "settings.json"), nil
			},
			confirm: confirmClaude,
		},
		{
			name: "codex", title: "Codex CLI", programs: []string{"codex"}, get: "npm install -g @openai/codex", invoke: "$flowfix",
			note:      map[string]string{"project": "Codex reads a project's .codex/config.toml only where the project is trusted"},
			toml:      true,
			container: "mcp_servers",
			entry:     func(command string) any { return plain(command) },
			user: func(h Host) ([]string, string, error) {
				config, skills, err := underHome(h, ".agents/skills", ".codex/config.toml")
				if dir := h.Getenv("CODEX_HOME"); dir != "" {
					config = []string{filepath.Join(dir, "config.toml")}
				}
				return config, skills, err
			},
			project: func(dir string) ([]string, string) { return under(dir, ".agents/skills", ".codex/config.toml") },
		},
		{
			name: "cursor", title: "Cursor", programs: []string{"cursor", "cursor-agent"}, get: "https://cursor.com", invoke: "/flowfix",
			container: "mcpServers",
			entry:     func(command string) any { return plain(command) },
			user:      func(h Host) ([]string, string, error) { return underHome(h, ".cursor/skills", ".cursor/mcp.json") },
			project:   func(dir string) ([]string, string) { return under(dir, ".cursor/skills", ".cursor/mcp.json") },
		},
		{
			name: "vscode", title: "VS Code", programs: []string{"code", "code-insiders"}, get: "https://code.visualstudio.com", invoke: "/flowfix",
			container: "servers",
			entry:     func(command string) any { return typedEntry{"stdio", plain(command)} },
			user: func(h Host) ([]string, string, error) {
				dir := ".config/Code/User/mcp.json"
				switch h.GOOS {
				case "darwin":
					dir = "Library/Application Support/Code/User/mcp.json"
				case "windows":
					dir = "AppData/Roaming/Code/User/mcp.json"
				}
				return underHome(h, ".copilot/skills", dir)
			},
			project: func(dir string) ([]string, string) { return under(dir, ".github/skills", ".vscode/mcp.json") },
		},
		{
			name: "gemini", title: "Gemini CLI", programs: []string{"gemini"}, get: "npm install -g @google/gemini-cli", invoke: "/flowfix",
			container: "mcpServers",
			entry:     func(command string) any { return plain(command) },
			user:      func(h Host) ([]string, string, error) { return underHome(h, ".gemini/skills", ".gemini/settings.json") },
			project:   func(dir string) ([]string, string) { return under(dir, ".gemini/skills", ".gemini/settings.json") },
		},
		{
			name: "opencode", title: "OpenCode", programs: []string{"opencode"}, get: "npm install -g opencode-ai", invoke: "/flowfix",
			container: "mcp",
			entry:     func(command string) any { return localEntry{"local", []string{command, "serve"}, true} },
			user: func(h Host) ([]string, string, error) {
				if dir := h.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
					config, skills := under(dir, "opencode/skills", "opencode/opencode.json", "opencode/opencode.jsonc")
					return config, skills, nil
				}
				return underHome(h, ".config/opencode/skills", ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc")
			},
			project: func(dir string) ([]string, string) {
				return under(dir, ".opencode/skills", "opencode.json", "opencode.jsonc")
			},
		},
	}
}

func under(dir, skills string, config ...string) ([]string, string) {
	for i, c := range config {
		config[i] = filepath.Join(dir, filepath.FromSlash(c))
	}
	return config, filepath.Join(dir, filepath.FromSlash(skills))
}

func underHome(h Host, skills string, config ...string) ([]string, string, error) {
	home, err := h.home()
	if err != nil {
		return nil, "", err
	}
	paths, dir := under(home, skills, config...)
	return paths, dir, nil
}

// find looks for the client: its executable, or else its configuration.
func (c client) find(h Host) (program string, ok bool) {
	for _, name := range c.programs {
		if path, err := h.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// exists says whether there is anything at the path, a dangling link included.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
