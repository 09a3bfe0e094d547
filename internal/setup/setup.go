// Package setup registers flowplan with coding agents and takes the
// registration back. Each agent is a row of data (clients.go); the rest knows
// none of them by name, except lean.go, which is about Claude Code alone.
//
// Every file is edited as text, by one splice that is recorded in a receipt
// beside the ledger (receipt.go), so that removal leaves the file byte for byte
// as it was, comments, key order and line ends included. When the file was
// edited in between, exactly the spliced text is taken out; when even that was
// rewritten, the entry is found by parsing and taken out alone.
//
// Claude Code's own `claude mcp add-json` is not used: it rewrites the whole
// of ~/.claude.json (key order, indentation and unknown keys go), which no
// removal could undo. The client confirms the registration instead, by
// `claude mcp get` on a copy of its configuration, which leaves the real one
// alone.
//
//	report, err := setup.Install(ctx, setup.Request{Client: "codex", Scope: "user", Command: "/usr/bin/flowplan", Host: host})
package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Host is the machine as setup sees it; tests give another.
type Host struct {
	Getenv   func(string) string
	LookPath func(string) (string, error)
	GOOS     string
	Project  string // the directory of scope project
	Receipts string // where receipts are kept
}

func (h Host) home() (string, error) {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := h.Getenv(name); filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	return "", errors.New("no home directory: set HOME")
}

// Request says what to set up.
type Request struct {
	Client  string
	Scope   string // user or project
	Command string // absolute path of the flowplan binary
	Skill   string // text of the skill
	Lean    bool
	DryRun  bool
	Host    Host
}

// Report is what was done or found, a line each.
type Report struct {
	Lines    []string
	Problems int
}

func (r *Report) say(format string, args ...any) {
	r.Lines = append(r.Lines, fmt.Sprintf(format, args...))
}

// problem is a line with what to do about it.
func (r *Report) problem(what, remedy string) {
	r.Problems++
	r.say("problem: %s; %s", what, remedy)
}

// UsageError is a request that cannot be meant.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// place is a request resolved: the client and its files.
type place struct {
	Request
	client client
	config string
	skill  string
}

func resolve(r Request) (place, error) {
	i := slices.IndexFunc(clients(), func(c client) bool { return c.name == r.Client })
	if i < 0 {
		return place{}, &UsageError{fmt.Sprintf("no client %q; expected one of %s", r.Client, strings.Join(Names(), ", "))}
	}
	p := place{Request: r, client: clients()[i]}
	if r.Lean && p.client.settings == nil {
		return place{}, &UsageError{fmt.Sprintf("--lean is for claude-code alone: %s has no list of denied tools", p.client.title)}
	}
	var config []string
	var err error
	switch r.Scope {
	case "user":
		config, p.skill, err = p.client.user(r.Host)
	case "project":
		config, p.skill = p.client.project(r.Host.Project)
	default:
		err = &UsageError{fmt.Sprintf("--scope %s: expected user or project", r.Scope)}
	}
	if err != nil {
		return place{}, err
	}
	p.config = config[0]
	for _, path := range config { // of several names the client reads, the one in use
		if _, err := os.Lstat(path); err == nil {
			p.config = path
			break
		}
	}
	p.skill = filepath.Join(p.skill, "flowfix", "SKILL.md")
	return p, nil
}

// Names are the clients that can be set up.
func Names() []string {
	var out []string
	for _, c := range clients() {
		out = append(out, c.name)
	}
	return out
}

// Install registers the server and installs the skill, or brings both up to
// date. Nothing is written unless every file can be edited.
func Install(ctx context.Context, r Request) (Report, error) {
	var report Report
	p, err := resolve(r)
	if err != nil {
		return report, err
	}
	if !filepath.IsAbs(r.Command) {
		return report, fmt.Errorf("the server's command must be an absolute path, not %s", r.Command)
	}
	old, err := readReceipt(p)
	if err != nil {
		return report, err
	}
	var edits []*edit
	for _, step := range []func(place, *receipt) (*edit, error){registration, skillFile} {
		e, err := step(p, old)
		if err != nil {
			return report, err
		}
		edits = append(edits, e)
	}
	if r.Lean {
		e, lines, err := lean(ctx, p, old)
		if err != nil {
			return report, err
		}
		edits = append(edits, e)
		report.Lines = append(report.Lines, lines...)
	} else if kept := old.find(kindLean); kept != nil {
		edits = append(edits, &edit{kind: kindLean, unchanged: true, change: kept})
	}
	if r.DryRun {
		for _, e := range edits {
			report.Lines = append(report.Lines, e.preview()...)
		}
		return report, nil
	}
	if err := commit(p, edits); err != nil {
		return report, err
	}
	for _, e := range edits {
		report.say("%s", e.summary())
	}
	p.finish(ctx, &report)
	return report, nil
}

// finish says what the client thinks of it and what comes next.
func (p place) finish(ctx context.Context, report *Report) {
	program, installed := p.client.find(p.Host)
	switch {
	case !installed:
		report.say("note: %s was not found on this machine (%s); the registration waits for it", p.client.title, p.client.get)
	case p.client.confirm != nil && program != "":
		if line, err := p.client.confirm(ctx, p, program); err != nil {
			report.problem(err.Error(), "see `flowplan setup "+p.client.name+" --check`")
		} else {
			report.say("%s", line)
		}
	}
	if note := p.client.note[p.Scope]; note != "" {
		report.say("note: %s", note)
	}
	if p.client.settings != nil && !p.Lean {
		report.say("note: --lean also hides the client's own tools that a repair never uses; they cost more than flowplan at every call")
	}
	report.say("next: start a new session of %s in a git repository and type %s with the bug report", p.client.title, p.client.invoke)
}

// Remove takes the registration, the skill and the denied tools back.
func Remove(r Request) (Report, error) {
	var report Report
	p, err := resolve(r)
	if err != nil {
		return report, err
	}
	old, err := readReceipt(p)
	if err != nil {
		return report, err
	}
	var undone []*undo
	for _, kind := range []changeKind{kindConfig, kindSkill, kindLean} {
		u, err := takeBack(p, kind, old.find(kind))
		if err != nil {
			return report, err
		}
		if u != nil {
			undone = append(undone, u)
		}
	}
	changed := false
	for _, u := range undone {
		if u.note != "" {
			report.say("%s", u.note)
		}
		if !u.needed() {
			continue
		}
		changed = true
		if r.DryRun {
			report.Lines = append(report.Lines, u.preview()...)
			continue
		}
		if err := u.apply(); err != nil {
			return report, err
		}
		report.say("%s", u.summary())
	}
	if !changed {
		report.say("nothing to remove: flowplan is not set up for %s (%s)", p.client.title, p.Scope)
	}
	if r.DryRun {
		return report, nil
	}
	return report, dropReceipt(p, old)
}
