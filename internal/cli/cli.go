// Package cli is the command line: each command calls the engine and prints
// what it returns. It is the only importer of cobra and decides nothing but
// exit codes: 0 done, 1 a difference or failure was found, 2 wrong usage, 3 it
// could not be done.
//
//	code := cli.Main([]string{"graph", "a.py", "--json"}, os.Stdin, os.Stdout, os.Stderr)
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs one command line and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var exit exitError
	if errors.As(err, &exit) {
		if exit.err != nil {
			fmt.Fprintln(stderr, "flowplan:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(stderr, "flowplan:", err)
	return 3
}

// exitError is an error with the exit code that it stands for; without an
// error in it everything has been said already.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func usageError(format string, args ...any) error {
	return exitError{2, fmt.Errorf(format, args...)}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "flowplan",
		Short:         "Shows functions as graphs and checks edits against plans of graph deltas",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError("expected a command; `flowplan help` lists them")
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%s: %w; see `%s --help`", cmd.CommandPath(), err, cmd.CommandPath())
	})
	root.AddCommand(newIndex(), newServe(), newOf(), newLocate(), newPlan(), newCheck(), newVerify(),
		newGraph(), newDiff(), newOps(), newSkill(), newStatus(), newHistory(), newVersion(), newSetup(), newDoctor())
	return root
}

// wrongUsage gives argument errors the exit code of wrong usage.
func wrongUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError("%w; see `%s --help`", err, cmd.CommandPath())
		}
		return nil
	}
}
