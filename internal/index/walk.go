package index

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	ignore "github.com/sabhiram/go-gitignore"

	"flowplan/internal/rootfs"
)

// MaxEntries bounds a walk without git: beyond it the root is a home directory
// or a whole machine rather than a project.
const MaxEntries = 200_000

// ErrTooManyEntries is returned for a root with more than MaxEntries.
var ErrTooManyEntries = fmt.Errorf("more than %d files and directories below a root without git: give the project's own directory as root, or run git init there", MaxEntries)

// Walk lists the files below a root that has no git, in order: those that keep
// wants and no .gitignore file names. Symlinks are not followed, and directories that
// cannot be read are passed over.
func Walk(ctx context.Context, root *rootfs.FS, keep func(path string) bool) ([]string, error) {
	return walkUpTo(ctx, root, MaxEntries, keep)
}

func walkUpTo(ctx context.Context, root *rootfs.FS, limit int, keep func(path string) bool) ([]string, error) {
	var files []string
	seen := 0
	var visit func(dir string, rules []string, matcher *ignore.GitIgnore) error
	visit = func(dir string, rules []string, matcher *ignore.GitIgnore) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := os.ReadDir(root.Abs(dir))
		if err != nil {
			return nil
		}
		if seen += len(entries); seen > limit {
			return ErrTooManyEntries
		}
		for _, e := range entries {
			if e.Name() == ".gitignore" && e.Type().IsRegular() {
				if text, _, err := root.Read(path.Join(dir, ".gitignore"), 1<<20); err == nil {
					// One list for all levels, so that the last rule that
					// matches decides, whichever file it stands in.
					rules = append(rules[:len(rules):len(rules)], rebase(dir, string(text))...)
					matcher = ignore.CompileIgnoreLines(rules...)
				}
			}
		}
		for _, e := range entries {
			p := path.Join(dir, e.Name())
			switch {
			case e.IsDir():
				if e.Name() == ".git" || matcher != nil && matcher.MatchesPath(p+"/") {
					continue
				}
				if err := visit(p, rules, matcher); err != nil {
					return err
				}
			case e.Type() == fs.FileMode(0):
				if keep(p) && (matcher == nil || !matcher.MatchesPath(p)) {
					files = append(files, filepath.ToSlash(p))
				}
			}
		}
		return nil
	}
	if err := visit(".", nil, nil); err != nil {
		return nil, err
	}
	return files, nil
}

// rebase makes the rules of the .gitignore in dir ones of the root.
func rebase(dir, text string) []string {
	var rules []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line = strings.TrimRight(line, " \t"); line == "" || line[0] == '#' {
			continue
		}
		if dir == "." {
			rules = append(rules, line)
			continue
		}
		not := ""
		if line[0] == '!' {
			not, line = "!", line[1:]
		}
		if strings.Contains(strings.TrimSuffix(line, "/"), "/") {
			line = "/" + dir + "/" + strings.TrimPrefix(line, "/")
		} else {
			line = "/" + dir + "/**/" + line
		}
		rules = append(rules, not+line)
	}
	return rules
}
