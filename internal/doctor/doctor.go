// Package doctor looks for what keeps flowplan from working, from the client
// to the ledger, and says for each problem what mends it. It changes nothing of the
// user's; index and ledger are opened, and so made where there is none.
//
//	for _, f := range doctor.Examine(ctx, in) { fmt.Println(f) }
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"flowplan/internal/engine"
	"flowplan/internal/setup"
	"flowplan/internal/store"
)

// Input is what doctor looks at.
type Input struct {
	Getenv    func(string) string
	LookPath  func(string) (string, error)
	Engine    *engine.Engine
	Root      string
	Installed func(client string) (found, registered bool)                          // nil without a home
	Setup     func(ctx context.Context, client, scope string) (setup.Report, error) // nil without a home
}

// Finding is one thing looked at; with a remedy it is a problem.
type Finding struct {
	Area, Text, Remedy string
}

func (f Finding) String() string {
	if f.Remedy == "" {
		return fmt.Sprintf("%-12s ok: %s", f.Area, f.Text)
	}
	return fmt.Sprintf("%-12s problem: %s; %s", f.Area, f.Text, f.Remedy)
}

// Examine looks at everything.
func Examine(ctx context.Context, in Input) []Finding {
	out := clients(ctx, in)
	out = append(out, git(ctx, in)...)
	out = append(out, permissions(in)...)
	return append(out, tree(ctx, in)...)
}

func clients(ctx context.Context, in Input) []Finding {
	if in.Setup == nil {
		return []Finding{{"client", "there is no home directory to look for clients in", "set HOME, or FLOWPLAN_HOME"}}
	}
	var out []Finding
	found, registered := 0, 0
	for _, name := range setup.Names() {
		installed, has := in.Installed(name)
		if installed {
			found++
			out = append(out, Finding{"client", name + " is installed", ""})
		}
		if !has {
			continue
		}
		registered++
		report, err := in.Setup(ctx, name, "user")
		if err != nil {
			out = append(out, Finding{"registration", name + ": " + err.Error(), "run `flowplan setup " + name + "`"})
			continue
		}
		for _, line := range report.Lines {
			f := Finding{Area: "registration", Text: name + ": " + strings.TrimPrefix(line, "ok: ")}
			if what, ok := strings.CutPrefix(line, "problem: "); ok {
				what, remedy, _ := strings.Cut(what, "; ")
				f = Finding{"registration", name + ": " + what, remedy}
			}
			out = append(out, f)
		}
	}
	if found == 0 {
		out = append(out, Finding{"client", "no coding agent was found on PATH (" + strings.Join(setup.Names(), ", ") + ")", "install one, for instance with npm install -g @anthropic-ai/claude-code"})
	}
	if registered == 0 {
		out = append(out, Finding{"registration", "flowplan is registered with no client of this user", "run `flowplan setup claude-code`, or with the client's name in its place"})
	}
	return out
}

func git(ctx context.Context, in Input) []Finding {
	if _, err := in.LookPath("git"); err != nil {
		return []Finding{{"git", "git is not on PATH", "install it: flow_check and flow_verify compare with HEAD"}}
	}
	version, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		return []Finding{{"git", "git does not run: " + err.Error(), "mend the installation of git"}}
	}
	return []Finding{{"git", strings.TrimSpace(string(version)), ""}}
}

// permissions tries whether the two directories can be written, and whether
// anybody else can read the ledger.
func permissions(in Input) []Finding {
	home, err := store.FindHome(in.Getenv)
	if err != nil {
		return []Finding{{"permissions", err.Error(), "until then plans are kept in memory only"}}
	}
	var out []Finding
	for _, dir := range []string{home.IndexDir, home.LedgerDir} {
		if err := canWrite(dir); err != nil {
			out = append(out, Finding{"permissions", fmt.Sprintf("%s cannot be written: %v", dir, err), "change its permissions, or set FLOWPLAN_HOME to a directory that can be written"})
			continue
		}
		out = append(out, Finding{"permissions", dir + " can be written", ""})
	}
	ledgers, err := filepath.Glob(filepath.Join(home.LedgerDir, "*.db"))
	if err != nil {
		return out
	}
	for _, path := range ledgers {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			out = append(out, Finding{"permissions", path + " can be read by others", "run chmod 600 on it"})
		}
	}
	return out
}

// canWrite tries the directory, or the nearest one above that exists.
func canWrite(dir string) error {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".flowplan-doctor-*")
	if err != nil {
		return err
	}
	name := f.Name()
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}

func tree(ctx context.Context, in Input) []Finding {
	reply, err := in.Engine.Status(ctx, "")
	if err != nil {
		return []Finding{{"git", fmt.Sprintf("%s: %v", in.Root, err), "run doctor inside a git repository, or give it --root"}}
	}
	raw, err := json.Marshal(reply.JSON)
	if err != nil {
		return []Finding{{"index", err.Error(), "please report this"}}
	}
	var s engine.StatusJSON
	if err := json.Unmarshal(raw, &s); err != nil {
		return []Finding{{"index", err.Error(), "please report this"}}
	}
	var out []Finding
	switch {
	case s.Git != "":
		out = append(out, Finding{"git", s.Root + ": " + s.Git, "run git init and commit, so that edits can be compared with HEAD"})
	case s.Head == "":
		out = append(out, Finding{"git", s.Root + " has no commit", "commit once, so that edits can be compared with HEAD"})
	default:
		out = append(out, Finding{"git", fmt.Sprintf("%s at %.8s", s.Root, s.Head), ""})
	}
	if s.Index {
		out = append(out, Finding{"index", fmt.Sprintf("%d files, %d symbols, %d files skipped", s.Files, s.Symbols, len(s.Skipped)), ""})
	} else {
		out = append(out, Finding{"index", "not built yet; the first question builds it", ""})
	}
	if s.Memory {
		return append(out, Finding{"ledger", "plans are kept in memory only", "make the directory of the ledger writable, or set FLOWPLAN_HOME"})
	}
	return append(out, Finding{"ledger", "opens, and can be written", ""})
}
