package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"flowplan/internal/doctor"
	"flowplan/internal/setup"
	"flowplan/internal/store"
	"flowplan/skills"
)

func newSetup() *cobra.Command {
	var scope string
	var check, remove, dryRun, lean bool
	cmd := &cobra.Command{
		Use:       "setup AGENT",
		Short:     "Registers server and skill with a coding agent: " + strings.Join(setup.Names(), ", "),
		Args:      wrongUsage(cobra.ExactArgs(1)),
		ValidArgs: setup.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if check && remove {
				return usageError("--check and --remove exclude each other")
			}
			if lean && (check || remove) {
				return usageError("--lean goes with neither --check nor --remove, which undoes it anyway")
			}
			host, err := newHost()
			if err != nil {
				return exitError{3, err}
			}
			r, err := request(host, args[0], scope)
			if err != nil {
				return exitError{3, err}
			}
			r.Lean, r.DryRun = lean, dryRun
			var report setup.Report
			switch {
			case check:
				report, err = setup.Check(cmd.Context(), r)
			case remove:
				report, err = setup.Remove(r)
			default:
				report, err = setup.Install(cmd.Context(), r)
			}
			for _, line := range report.Lines {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			var usage *setup.UsageError
			switch {
			case errors.As(err, &usage):
				return exitError{2, err}
			case err != nil:
				return exitError{3, err}
			case report.Problems > 0:
				return exitError{code: 1}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "user", "user: for every project; project: in this repository alone")
	cmd.Flags().BoolVar(&check, "check", false, "say whether it is registered, starts, answers, and whether the skill is current")
	cmd.Flags().BoolVar(&remove, "remove", false, "take everything back")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the change and make none")
	cmd.Flags().BoolVar(&lean, "lean", false, "claude-code: also deny the client's own tools that a repair never uses")
	return cmd
}

func newHost() (setup.Host, error) {
	home, err := store.FindHome(os.Getenv)
	if err != nil {
		return setup.Host{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return setup.Host{}, err
	}
	return setup.Host{Getenv: os.Getenv, LookPath: exec.LookPath, GOOS: runtime.GOOS, Project: project(dir),
		Receipts: filepath.Join(home.LedgerDir, "setup")}, nil
}

// self is this very binary by its absolute path: the one it has on PATH, where
// it is there, since a package manager's link outlives the version behind it.
func self(host setup.Host) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	onPath, err := host.LookPath("flowplan")
	if err != nil || !filepath.IsAbs(onPath) {
		return path, nil
	}
	a, errA := os.Stat(path)
	b, errB := os.Stat(onPath)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return onPath, nil
	}
	return path, nil
}

// request is about this binary and its skill.
func request(host setup.Host, client, scope string) (setup.Request, error) {
	command, err := self(host)
	if err != nil {
		return setup.Request{}, err
	}
	skill, err := skills.Flowfix(false)
	if err != nil {
		return setup.Request{}, err
	}
	return setup.Request{Client: client, Scope: scope, Command: command, Skill: skill, Host: host}, nil
}

// project is the directory with .git above dir, else dir.
func project(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

func newDoctor() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Looks for what is wrong: client, registration, git, index, ledger, permissions",
		Args:  wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := newEngine(o, false, nil)
			if err != nil {
				return err
			}
			defer e.Close()
			in := doctor.Input{Getenv: os.Getenv, LookPath: exec.LookPath, Engine: e, Root: rootDir(o.root, os.Getenv)}
			if host, err := newHost(); err == nil { // without a home there is no client to look at; doctor says so
				in.Setup = func(ctx context.Context, client, scope string) (setup.Report, error) {
					r, err := request(host, client, scope)
					if err != nil {
						return setup.Report{}, err
					}
					return setup.Check(ctx, r)
				}
				in.Installed = func(client string) (found, registered bool) {
					r, err := request(host, client, "user")
					if err != nil {
						return false, false
					}
					return setup.Found(r)
				}
			}
			problems := 0
			for _, f := range doctor.Examine(cmd.Context(), in) {
				fmt.Fprintln(cmd.OutOrStdout(), f)
				if f.Remedy != "" {
					problems++
				}
			}
			if problems > 0 {
				return exitError{code: 1}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.root, "root", "", "the repository, or a directory in it (default: the working directory)")
	return cmd
}
