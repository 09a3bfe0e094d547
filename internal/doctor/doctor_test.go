package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"flowplan/internal/engine"
	"flowplan/internal/lang"
	"flowplan/internal/lang/all"
	"flowplan/internal/ledger"
	"flowplan/internal/setup"
	"flowplan/internal/store"
)

// healthy is a machine on which all is well.
func healthy(t *testing.T) Input {
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	env := map[string]string{"FLOWPLAN_HOME": filepath.Join(dir, "home")}
	in := Input{
		Getenv:    func(name string) string { return env[name] },
		LookPath:  func(name string) (string, error) { return "/bin/" + name, nil },
		Root:      repo,
		Installed: func(client string) (bool, bool) { return client == "codex", client == "codex" },
		Setup: func(context.Context, string, string) (setup.Report, error) {
			return setup.Report{Lines: []string{"ok: registered"}}, nil
		},
	}
	in.Engine = newEngine(t, in)
	return in
}

func newEngine(t *testing.T, in Input) *engine.Engine {
	registry, err := lang.NewRegistry(all.Languages()...)
	if err != nil {
		t.Fatal(err)
	}
	home, err := store.FindHome(in.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{Dir: in.Root, Languages: registry, Session: ledger.SessionFrom(in.Getenv, false), Home: &home})
	t.Cleanup(func() { e.Close() })
	return e
}

func problems(in Input) string {
	var out []string
	for _, f := range Examine(context.Background(), in) {
		if f.Remedy != "" {
			out = append(out, f.String())
		}
	}
	return strings.Join(out, "\n")
}

func TestHealthy(t *testing.T) {
	if got := problems(healthy(t)); got != "" {
		t.Errorf("problems where there are none:\n%s", got)
	}
}

// Each thing that can be wrong is found, with a remedy.
func TestProblems(t *testing.T) {
	tests := map[string]struct {
		spoil func(t *testing.T, in *Input)
		want  []string
	}{
		"no client": {func(_ *testing.T, in *Input) { in.Installed = func(string) (bool, bool) { return false, false } },
			[]string{"no coding agent", "npm install", "registered with no client", "flowplan setup claude-code"}},
		"stale registration": {func(_ *testing.T, in *Input) {
			in.Setup = func(context.Context, string, string) (setup.Report, error) {
				return setup.Report{Problems: 1, Lines: []string{"problem: the skill is old; run `flowplan setup codex`"}}, nil
			}
		}, []string{"registration", "codex: the skill is old", "run `flowplan setup codex`"}},
		"unreadable configuration": {func(_ *testing.T, in *Input) {
			in.Setup = func(context.Context, string, string) (setup.Report, error) {
				return setup.Report{}, errors.New("it is a directory")
			}
		}, []string{"it is a directory", "flowplan setup codex"}},
		"no git": {func(_ *testing.T, in *Input) {
			in.LookPath = func(string) (string, error) { return "", errors.New("not found") }
		}, []string{"git is not on PATH", "install it"}},
		"no commit": {func(t *testing.T, in *Input) {
			in.Root = t.TempDir()
			if out, err := exec.Command("git", "init", "-q", in.Root).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			in.Engine = newEngine(t, *in)
		}, []string{"has no commit", "commit once"}},
		"no repository": {func(t *testing.T, in *Input) {
			in.Root = t.TempDir()
			in.Engine = newEngine(t, *in)
		}, []string{"git", "git init"}},
		"ledger open to others": {func(t *testing.T, in *Input) {
			home, err := store.FindHome(in.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(home.LedgerDir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home.LedgerDir, "x.db"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, []string{"can be read by others", "chmod 600"}},
		"home is a file": {func(t *testing.T, in *Input) {
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			in.Getenv = func(name string) string {
				if name == "FLOWPLAN_HOME" {
					return file
				}
				return ""
			}
			in.Engine = newEngine(t, *in)
		}, []string{"cannot be written", "FLOWPLAN_HOME"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := healthy(t)
			test.spoil(t, &in)
			got := problems(in)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("lacks %q:\n%s", want, got)
				}
			}
		})
	}
}
