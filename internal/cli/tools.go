package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"flowplan/internal/engine"
	"flowplan/internal/lang"
	"flowplan/internal/lang/all"
	"flowplan/internal/ledger"
	"flowplan/internal/store"
)

// options are the flags that the commands on a work tree share.
type options struct {
	root   string
	asJSON bool
	dfg    bool
}

func (o *options) flags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&o.root, "root", "", "the repository, or a directory in it (default: CLAUDE_PROJECT_DIR if set, else the working directory)")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// newEngine makes an engine for this process.
func newEngine(o *options, serving bool, progress func(done, total int)) (*engine.Engine, error) {
	registry, err := lang.NewRegistry(all.Languages()...)
	if err != nil {
		return nil, err
	}
	cfg := engine.Config{Dir: rootDir(o.root, os.Getenv), Languages: registry, Session: ledger.SessionFrom(os.Getenv, serving), DFG: o.dfg, Progress: progress}
	home, err := store.FindHome(os.Getenv)
	if err != nil {
		cfg.HomeNote = fmt.Sprintf("note: %v; plans and index are kept in memory only", err)
	} else {
		cfg.Home = &home
	}
	return engine.New(cfg), nil
}

// rootDir is --root, else the client's project, else the working directory.
func rootDir(flag string, getenv func(string) string) string {
	for _, dir := range []string{flag, getenv("CLAUDE_PROJECT_DIR")} {
		if dir != "" {
			return dir
		}
	}
	return "."
}

// call runs one engine call and prints its reply.
func (o *options) call(cmd *cobra.Command, fn func(context.Context, *engine.Engine) (engine.Reply, error)) error {
	e, err := newEngine(o, false, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	reply, err := fn(cmd.Context(), e)
	if err != nil {
		return callError(err)
	}
	if err := o.print(cmd.OutOrStdout(), reply); err != nil {
		return err
	}
	if reply.Code != 0 {
		return exitError{code: reply.Code}
	}
	return nil
}

// callError gives an error of the engine its exit code.
func callError(err error) error {
	var c *engine.CallError
	if errors.As(err, &c) && !c.NotFound {
		return exitError{2, err}
	}
	return exitError{3, err}
}

func (o *options) print(w io.Writer, reply engine.Reply) error {
	if !o.asJSON {
		_, err := io.WriteString(w, reply.Text)
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if views, ok := reply.JSON.(engine.Views); ok {
		reply.JSON = views.Lines()
	}
	lines, ok := reply.JSON.(engine.Lines)
	if !ok {
		return enc.Encode(reply.JSON)
	}
	for _, v := range lines {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

func newOf() *cobra.Command {
	o := &options{}
	var p engine.OfParams
	cmd := &cobra.Command{
		Use:   "of FUNCTION...",
		Short: "Shows the graphs of functions, as flow_of does",
		Args:  wrongUsage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Function, p.Root = args, ""
			return o.call(cmd, func(ctx context.Context, e *engine.Engine) (engine.Reply, error) { return e.Of(ctx, p) })
		},
	}
	cmd.Flags().StringVar(&p.View, "view", "", "cfg or dfg")
	cmd.Flags().IntVar(&p.Focus, "focus", 0, "a line: only what can reach it or be reached from it")
	cmd.Flags().StringVar(&p.Detail, "detail", "", "auto or full")
	return o.flags(cmd)
}

func newLocate() *cobra.Command {
	o := &options{}
	return o.flags(&cobra.Command{
		Use:   "locate FUNCTION SITE",
		Short: "Pins the fault of a function to a line, an edge or a def-use pair, as flow_locate does",
		Args:  wrongUsage(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.call(cmd, func(ctx context.Context, e *engine.Engine) (engine.Reply, error) {
				return e.Locate(ctx, engine.LocateParams{Function: args[0], Site: args[1]})
			})
		},
	})
}

func newPlan() *cobra.Command {
	o := &options{}
	var fresh bool
	cmd := &cobra.Command{
		Use:   "plan FILE|-",
		Short: "Records planned deltas, a JSON array, as flow_plan does",
		Args:  wrongUsage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := readInput(args[0], cmd.InOrStdin())
			if err != nil {
				return exitError{3, err}
			}
			return o.call(cmd, func(ctx context.Context, e *engine.Engine) (engine.Reply, error) {
				return e.Plan(ctx, engine.PlanParams{Deltas: raw, Fresh: fresh})
			})
		},
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "close the current plan and begin another")
	return o.flags(cmd)
}

func readInput(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}

func newCheck() *cobra.Command {
	o := &options{}
	return o.flags(&cobra.Command{
		Use:   "check [FUNCTION]",
		Short: "Grades planned deltas against the work tree, as flow_check does",
		Args:  wrongUsage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var p engine.CheckParams
			if len(args) > 0 {
				p.Function = args[0]
			}
			return o.call(cmd, func(ctx context.Context, e *engine.Engine) (engine.Reply, error) { return e.Check(ctx, p) })
		},
	})
}

func newVerify() *cobra.Command {
	o := &options{}
	return o.flags(&cobra.Command{
		Use:   "verify",
		Short: "Grades the whole plan and audits the work tree, as flow_verify does",
		Args:  wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.call(cmd, func(ctx context.Context, e *engine.Engine) (engine.Reply, error) {
				return e.Verify(ctx, engine.VerifyParams{})
			})
		},
	})
}

func newDiff() *cobra.Command {
	o := &options{}
	return o.flags(&cobra.Command{
		Use:   "diff [REV [REV2]]",
		Short: "Lists what changed between two revisions, or one and the work tree, as operations on graphs",
		Args:  wrongUsage(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var p engine.DiffParams
			if len(args) > 0 {
				p.From = args[0]
			}
			if len(args) > 1 {
				p.To = args[1]
			}
			return o.call(cmd, func(ctx context.Context, e *engine.Engine) (engine.Reply, error) { return e.Diff(ctx, p) })
		},
	})
}

func newStatus() *cobra.Command {
	o := &options{}
	return o.flags(&cobra.Command{
		Use:   "status",
		Short: "Says what index and ledger hold",
		Args:  wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.call(cmd, func(ctx context.Context, e *engine.Engine) (engine.Reply, error) { return e.Status(ctx, "") })
		},
	})
}

func newHistory() *cobra.Command {
	o := &options{}
	return o.flags(&cobra.Command{
		Use:   "history",
		Short: "Lists plans, deltas, checks and verdicts, one event a line",
		Args:  wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.call(cmd, func(ctx context.Context, e *engine.Engine) (engine.Reply, error) { return e.History(ctx, "") })
		},
	})
}
