package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"flowplan/internal/flow"
	"flowplan/internal/lang"
	"flowplan/internal/lang/all"
	"flowplan/internal/source"
)

func newGraph() *cobra.Command {
	var o graphOptions
	var rev string
	var asJSON, dot, mermaid bool
	cmd := &cobra.Command{
		Use:   "graph PATH...",
		Short: "Prints the graphs of every function of files or directories",
		Args:  wrongUsage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case asJSON && dot, asJSON && mermaid, dot && mermaid:
				return usageError("expected one of --json, --dot, --mermaid")
			case dot:
				o.picture = flow.Dot
			case mermaid:
				o.picture = flow.Mermaid
			}
			registry, err := lang.NewRegistry(all.Languages()...)
			if err != nil {
				return err
			}
			src, err := newSources(cmd.Context(), registry, rootDir("", os.Getenv))
			if err != nil {
				return err
			}
			defer src.close()
			o.registry = registry
			var files []sourceFile
			if rev == "" {
				files, err = src.inWorkTree(args)
			} else {
				files, err = src.asOf(cmd.Context(), rev, args)
			}
			if err != nil {
				return exitError{3, err}
			}
			return o.print(cmd.Context(), files, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&o.function, "function", "", "only the function of this qualified name or id")
	cmd.Flags().StringVar(&rev, "rev", "", "the files as of this revision")
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON Lines, one file a line (the default)")
	cmd.Flags().BoolVar(&dot, "dot", false, "pictures for Graphviz")
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "pictures for Mermaid")
	return cmd
}

// graphOptions say what of each file is printed, and how.
type graphOptions struct {
	registry *lang.Registry
	function string
	picture  func(*flow.View) string // nil: JSON
}

// print prints the files in the order given, made on all cores.
func (o *graphOptions) print(ctx context.Context, files []sourceFile, stdout, stderr io.Writer) error {
	type result struct {
		line []byte
		err  error
		done chan struct{}
	}
	results := make([]result, len(files))
	for i := range results {
		results[i].done = make(chan struct{})
	}
	next := make(chan int)
	var wg sync.WaitGroup
	window := make(chan struct{}, 64) // how far the workers may run ahead of the output
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				results[i].line, results[i].err = o.graph(ctx, files[i])
				close(results[i].done)
			}
		})
	}
	go func() {
		for i := range files {
			window <- struct{}{}
			next <- i
		}
		close(next)
	}()
	out := bufio.NewWriterSize(stdout, 1<<20)
	failed, found := false, false
	var missing error
	for i := range results {
		<-results[i].done
		<-window
		var absent notInFile
		switch err := results[i].err; {
		case err == nil:
			found = true
		case errors.As(err, &absent):
			missing = err
		default:
			failed = true
			fmt.Fprintln(stderr, "flowplan:", err)
		}
		out.Write(results[i].line)
		results[i].line = nil
	}
	wg.Wait()
	if err := out.Flush(); err != nil {
		return err
	}
	if !found && missing != nil {
		if len(files) > 1 {
			missing = fmt.Errorf("no function %s in %d files", o.function, len(files))
		}
		return exitError{3, missing}
	}
	if failed {
		return exitError{code: 3}
	}
	return nil
}

// notInFile says that a file does not define the function asked for: of several
// files, one that does is enough.
type notInFile struct{ text string }

func (e notInFile) Error() string { return e.text }

// graph is what is printed of one file.
func (o *graphOptions) graph(ctx context.Context, f sourceFile) ([]byte, error) {
	data, err := f.read()
	if err != nil {
		return nil, err
	}
	l := o.registry.ForPath(f.name, data[:min(len(data), lang.HeadBytes)])
	if l == nil {
		return nil, fmt.Errorf("%s: a language that flowplan does not read", f.name)
	}
	file, err := flow.Parse(ctx, l, source.New(f.name, data), f.other)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	var keep func(int) bool
	if o.function != "" {
		found := map[int]bool{}
		for _, i := range file.Lookup(strings.TrimPrefix(o.function, f.name+":")) {
			found[i] = true
		}
		if len(found) == 0 {
			return nil, notInFile{fmt.Sprintf("%s: no function %s; it has %s", f.name, o.function, names(file))}
		}
		keep = func(i int) bool { return found[i] }
	}
	var b bytes.Buffer
	if o.picture != nil {
		for i := range file.Decls {
			if keep == nil || keep(i) {
				b.WriteString(o.picture(file.View(i)))
			}
		}
		return b.Bytes(), nil
	}
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(file.JSON(keep)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func names(f *flow.File) string {
	var out []string
	for _, d := range f.Decls {
		out = append(out, flow.Name(d))
		if len(out) == 20 {
			out = append(out, "...")
			break
		}
	}
	return strings.Join(out, ", ")
}
