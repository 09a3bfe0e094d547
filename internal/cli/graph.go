package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	var function, rev string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "graph PATH...",
		Short: "Prints the graphs of every function of files or directories",
		Args:  wrongUsage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			registry, err := lang.NewRegistry(all.Languages()...)
			if err != nil {
				return err
			}
			paths, err := sourceFiles(registry, args)
			if err != nil {
				return exitError{3, err}
			}
			return printGraphs(cmd.Context(), registry, paths, function, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&function, "function", "", "only the function of this qualified name")
	cmd.Flags().StringVar(&rev, "rev", "", "the file as of this revision")
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON Lines, one file a line")
	return cmd
}

// sourceFiles expands directories to the files in a language that is read.
func sourceFiles(registry *lang.Registry, args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("%s: no such file or directory", arg)
		}
		if !info.IsDir() {
			out = append(out, arg)
			continue
		}
		err = filepath.WalkDir(arg, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case d.IsDir() && d.Name() == ".git":
				return filepath.SkipDir
			case d.Type().IsRegular() && registry.ForPath(p, nil) != nil:
				out = append(out, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// printGraphs prints one line a file, in the order given, made on all cores.
func printGraphs(ctx context.Context, registry *lang.Registry, paths []string, function string, stdout, stderr io.Writer) error {
	type result struct {
		line []byte
		err  error
		done chan struct{}
	}
	results := make([]result, len(paths))
	for i := range results {
		results[i].done = make(chan struct{})
	}
	next := make(chan int)
	var wg sync.WaitGroup
	window := make(chan struct{}, 64) // how far the workers may run ahead of the output
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				results[i].line, results[i].err = graphLine(ctx, registry, paths[i], function)
				close(results[i].done)
			}
		})
	}
	go func() {
		for i := range paths {
			window <- struct{}{}
			next <- i
		}
		close(next)
	}()
	out := bufio.NewWriterSize(stdout, 1<<20)
	failed := false
	for i := range results {
		<-results[i].done
		<-window
		if results[i].err != nil {
			failed = true
			fmt.Fprintln(stderr, "flowplan:", results[i].err)
		}
		out.Write(results[i].line)
		results[i].line = nil
	}
	wg.Wait()
	if err := out.Flush(); err != nil {
		return err
	}
	if failed {
		return exitError{code: 3}
	}
	return nil
}

func graphLine(ctx context.Context, registry *lang.Registry, path, function string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l := registry.ForPath(path, data[:min(len(data), lang.HeadBytes)])
	if l == nil {
		return nil, fmt.Errorf("%s: a language that flowplan does not read", path)
	}
	file, err := flow.Parse(ctx, l, source.New(path, data), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var keep func(int) bool
	if function != "" {
		found := map[int]bool{}
		for _, i := range file.Lookup(function) {
			found[i] = true
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no function %s; it has %s", path, function, names(file))
		}
		keep = func(i int) bool { return found[i] }
	}
	var b bytes.Buffer
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
