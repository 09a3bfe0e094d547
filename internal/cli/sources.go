package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flowplan/internal/gitrepo"
	"flowplan/internal/lang"
	"flowplan/internal/rootfs"
)

// sourceFile is a file to make graphs of: its name in the output, its text, and
// how the other files of where it comes from are read, by paths like its name.
type sourceFile struct {
	name  string
	read  func() ([]byte, error)
	other func(path string) ([]byte, error)
}

// maxOther is how much of a file is read on behalf of another, such as a header.
const maxOther = 16 << 20

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
func (s *sources) name(path string) (name string, inside bool) {
	if abs, err := filepath.Abs(path); err == nil {
		if rel, ok := s.fs.Rel(abs); ok {
			return rel, true
		}
	}
	return path, false
}

// readable reports whether some language reads a file. The text is looked at
// only where the name alone does not say: a script, or a header of the C++
// library, has no extension.
func (s *sources) readable(path string, text func() ([]byte, error)) bool {
	list := s.registry.Candidates(path)
	if len(list) == 0 || s.registry.ForPath(path, nil) != nil {
		return len(list) > 0
	}
	data, err := text()
	return err == nil && s.registry.ForPath(path, data[:min(len(data), lang.HeadBytes)]) != nil
}

// head is the beginning of a file, as much as tells its language.
func head(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, lang.HeadBytes))
}

// inWorkTree lists files as they stand, directories expanded.
func (s *sources) inWorkTree(args []string) ([]sourceFile, error) {
	var out []sourceFile
	below := func(path string) ([]byte, error) {
		data, _, err := s.fs.Read(path, maxOther)
		return data, err
	}
	add := func(p string) {
		name, inside := s.name(p)
		other := os.ReadFile
		if inside {
			other = below
		}
		out = append(out, sourceFile{name, func() ([]byte, error) { return os.ReadFile(p) }, other})
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
			case d.Type().IsRegular() && s.readable(p, func() ([]byte, error) { return head(p) }):
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
	read := func(rel string) ([]byte, error) {
		e, ok := tree[rel]
		if !ok || e.Mode != gitrepo.ModeFile && e.Mode != gitrepo.ModeExec {
			return nil, fs.ErrNotExist
		}
		return s.repo.BlobByID(ctx, e.ID)
	}
	add := func(rel string) {
		out = append(out, sourceFile{rel, func() ([]byte, error) { return read(rel) }, read})
	}
	for _, arg := range args {
		rel, _ := s.name(arg)
		if e, ok := tree[rel]; ok && e.Mode != gitrepo.ModeSymlink && e.Mode != gitrepo.ModeGitlink {
			add(rel)
			continue
		}
		var below []string
		abs, _ := filepath.Abs(arg)
		top := abs == s.fs.Root || s.fs.Abs(".") == abs
		for p, e := range tree {
			if (top || strings.HasPrefix(p, rel+"/")) && (e.Mode == gitrepo.ModeFile || e.Mode == gitrepo.ModeExec) &&
				s.readable(p, func() ([]byte, error) { return s.repo.BlobByID(ctx, e.ID) }) {
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
