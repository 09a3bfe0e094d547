// Command replay runs flowplan over MCP on real fixes: for each it checks out
// the parent commit, indexes, views every function that the fix changes, plans,
// applies the fix, checks and verifies, and prints what came of it.
//
// It fetches nothing: -repos names a directory with the git directories of the
// projects, as OWNER+NAME/repo. Plans are those of -plans (written by readers of
// the patch), or with -derived those that `flowplan diff` itself names, which
// show that nothing breaks and prove nothing else.
//
//	go run ./internal/replay -repos ~/clones -plans testdata/replay/python-plans.jsonl
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"flowplan/internal/lang"
	"flowplan/internal/lang/all"
)

// fix is one real change and what was planned for it.
type fix struct {
	Repository string           `json:"repository"`
	Parent     string           `json:"parent"`
	Fix        string           `json:"fix"`
	Deltas     []map[string]any `json:"deltas"`
}

func main() {
	repos := flag.String("repos", "", "directory with OWNER+NAME/repo git directories")
	plans := flag.String("plans", "", "JSON Lines of fixes with planned deltas")
	corpus := flag.String("corpus", "", "table of fixes (repository, parent, fix), for -derived")
	derived := flag.Bool("derived", false, "plan what flowplan diff observes")
	wrong := flag.Bool("wrong", false, "also try wrong plans on the same functions")
	limit := flag.Int("n", 0, "at most so many fixes; 0: all")
	verbose := flag.Bool("v", false, "print every delta that is not exact")
	flag.Parse()
	if err := run(*repos, *plans, *corpus, *derived, *wrong, *limit, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run(repos, plans, corpus string, derived, wrong bool, limit int, verbose bool) error {
	fixes, err := readFixes(plans, corpus)
	if err != nil {
		return err
	}
	if limit > 0 && len(fixes) > limit {
		fixes = fixes[:limit]
	}
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "flowplan")
	build := exec.Command("go", "build", "-o", binary, "./cmd/flowplan")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	languages, err := lang.NewRegistry(all.Languages()...)
	if err != nil {
		return err
	}
	r := &runner{repos: repos, dir: dir, binary: binary, derived: derived, wrong: wrong, verbose: verbose, languages: languages, total: newTally()}
	for i, f := range fixes {
		if err := r.replay(context.Background(), i, f); err != nil {
			r.total.errors++
			fmt.Printf("ERROR %s %.10s: %v\n", f.Repository, f.Fix, err)
		}
	}
	r.total.print()
	if r.total.errors > 0 {
		return fmt.Errorf("%d fixes ended in an error", r.total.errors)
	}
	return nil
}

func readFixes(plans, corpus string) ([]fix, error) {
	name := plans
	if name == "" {
		name = corpus
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var fixes []fix
	scan := bufio.NewScanner(file)
	scan.Buffer(nil, 1<<24)
	for scan.Scan() {
		line := scan.Text()
		var f fix
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "{"):
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		default:
			cols := strings.Split(line, "\t")
			if len(cols) < 3 {
				return nil, fmt.Errorf("%s: expected repository, parent, fix, got %q", name, line)
			}
			f = fix{Repository: cols[0], Parent: cols[1], Fix: cols[2]}
		}
		fixes = append(fixes, f)
	}
	return fixes, scan.Err()
}
