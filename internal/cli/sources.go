package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flowplan/internal/gitrepo"
	"flowplan/internal/lang"
	"flowplan/internal/rootfs"
)

// sourceFile is a file to make graphs of: its name in the output and its text.
type sourceFile struct {
	name string
	read func() ([]byte, error)
	// other gives the text of another file by its path from the root, of the same
	// revision.
	other func(path string) ([]byte, error)
}

// sources finds the files that arguments mean, in the work tree or as of a
// revision.
type sources struct {
	registry *lang.Registry
	fs       *rootfs.FS    // of the root that names are relative to
	repo     *gitrepo.Repo // nil: no git here
}

// newSources takes as root the git top level of dir, else dir itself.
func newSources(ctx context.Context, registry *lang.Registry, dir string) (*sources, error) {
	s := &sources{registry: registry}
	repo, err := gitrepo.Open(ctx, dir)
	if err == nil {
		s.repo, s.fs = repo, repo.FS
		return s, nil
	}
	s.fs, err = rootfs.Open(dir)
	return s, err
}

func (s *sources) close() error {
	if s.repo != nil {
		return s.repo.Close()
	}
	return s.fs.Close()
}

// name is a path relative to the root where it lies inside, else as given.
func (s *sources) name(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		if rel, ok := s.fs.Rel(abs); ok {
			return rel
		}
	}
	return path
}

// inWorkTree lists files as they stand, directories expanded.
func (s *sources) inWorkTree(args []string) ([]sourceFile, error) {
	var out []sourceFile
	add := func(p string) {
		out = append(out, sourceFile{s.name(p), func() ([]byte, error) { return os.ReadFile(p) }, s.beside})
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: no such file or directory", arg)
		case err != nil:
			return nil, err
		case !info.IsDir():
			add(arg)
			continue
		}
		err = filepath.WalkDir(arg, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be listed is passed over, like what cannot be read
			case d.IsDir() && d.Name() == ".git":
				return filepath.SkipDir
			case d.Type().IsRegular() && s.registry.ForPath(p, nil) != nil:
				add(p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// beside reads a file of the work tree by its path from the root, or by the path
// that it was given under.
func (s *sources) beside(p string) ([]byte, error) {
	p = filepath.FromSlash(p)
	if !filepath.IsAbs(p) {
		p = s.fs.Abs(p)
	}
	if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(p)
}

// asOf lists files as of a revision; they need not exist any more.
func (s *sources) asOf(ctx context.Context, rev string, args []string) ([]sourceFile, error) {
	if s.repo == nil {
		return nil, fmt.Errorf("--rev %s: no git repository here", rev)
	}
	commit, err := s.repo.Resolve(ctx, rev)
	if err != nil {
		return nil, fmt.Errorf("--rev %s: no such commit here", rev)
	}
	tree, err := s.repo.ListTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	var out []sourceFile
	other := func(rel string) ([]byte, error) {
		if e, ok := tree[rel]; ok && (e.Mode == gitrepo.ModeFile || e.Mode == gitrepo.ModeExec) {
			return s.repo.BlobByID(ctx, e.ID)
		}
		return nil, fs.ErrNotExist
	}
	add := func(rel string) {
		id := tree[rel].ID
		out = append(out, sourceFile{rel, func() ([]byte, error) { return s.repo.BlobByID(ctx, id) }, other})
	}
	for _, arg := range args {
		rel := s.name(arg)
		if e, ok := tree[rel]; ok && e.Mode != gitrepo.ModeSymlink && e.Mode != gitrepo.ModeGitlink {
			add(rel)
			continue
		}
		var below []string
		abs, _ := filepath.Abs(arg)
		top := abs == s.fs.Root || s.fs.Abs(".") == abs
		for p, e := range tree {
			if (top || strings.HasPrefix(p, rel+"/")) && (e.Mode == gitrepo.ModeFile || e.Mode == gitrepo.ModeExec) && s.registry.ForPath(p, nil) != nil {
				below = append(below, p)
			}
		}
		if len(below) == 0 {
			return nil, fmt.Errorf("%s: no such file or directory in %s", arg, rev)
		}
		slices.Sort(below)
		for _, p := range below {
			add(p)
		}
	}
	return out, nil
}
