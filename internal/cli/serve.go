package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"flowplan/internal/engine"
	"flowplan/internal/mcpserver"
	"flowplan/skills"
)

func newServe() *cobra.Command {
	o := &options{}
	var view string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serves the five tools over MCP on stdio",
		Args:  wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dfg, err := viewFlag(view)
			if err != nil {
				return err
			}
			o.dfg = dfg
			e, err := newEngine(o, true, nil)
			if err != nil {
				return err
			}
			defer e.Close()
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			return mcpserver.Serve(cmd.Context(), e, mcpserver.Stdio(), mcpserver.Options{Version: version(), Log: log})
		},
	}
	cmd.Flags().StringVar(&o.root, "root", "", "the repository (default: CLAUDE_PROJECT_DIR, else the working directory)")
	cmd.Flags().StringVar(&view, "view", "cfg", "default view: cfg or dfg")
	return cmd
}

func viewFlag(view string) (dfg bool, err error) {
	switch view {
	case "cfg":
		return false, nil
	case "dfg":
		return true, nil
	}
	return false, usageError("--view %s: expected cfg or dfg", view)
}

func newIndex() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "index [PATH]",
		Short: "Builds or refreshes the symbol index of a repository",
		Args:  wrongUsage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.root = args[0]
			}
			e, err := newEngine(o, false, progress(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			defer e.Close()
			reply, err := e.Index(cmd.Context(), engine.IndexParams{})
			if err != nil {
				return callError(err)
			}
			return o.print(cmd.OutOrStdout(), reply)
		},
	}
	return o.flags(cmd)
}

// progress shows a bar on a terminal and nothing elsewhere.
func progress(w io.Writer) func(done, total int) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	var bar *progressbar.ProgressBar
	return func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("indexing"))
		}
		_ = bar.Set(done) // a bar that cannot be drawn is no reason to stop
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Prints the version",
		Args:  wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "flowplan", version())
			return err
		},
	}
}

// Release is the version that the source states; a build from a repository
// adds its commit.
const Release = "0.1.0"

func version() string {
	v := Release
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 8 {
				v += "+" + s.Value[:8]
			}
		}
	}
	return v
}

func newSkill() *cobra.Command {
	var view string
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "Prints the skill /flowfix",
		Args:  wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dfg, err := viewFlag(view)
			if err != nil {
				return err
			}
			text, err := skills.Flowfix(dfg)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&view, "view", "cfg", "cfg or dfg")
	return cmd
}
