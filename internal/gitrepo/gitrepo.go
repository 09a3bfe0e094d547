// Package gitrepo is the only place that runs git. It finds a work tree, reads
// commits, and says which files of the work tree differ from a commit.
//
// Nothing of a repository is ever executed: no hook, no clean or smudge
// filter, no fsmonitor, no transport. So git lists and hands out raw objects,
// and content is compared here. It never writes, takes no lock, does not
// enter submodules, and knows nothing of functions or languages.
//
//	r, err := gitrepo.Open(ctx, "/home/me/project/sub")
//	head, err := r.Head(ctx)                  // "" before the first commit
//	diffs, err := r.Differences(ctx, head)    // files, renames paired
//	data, err := r.Blob(ctx, head, "a.py")
package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"flowplan/internal/rootfs"
)

// Errors that a caller may want to tell apart.
var (
	// ErrNotRepository: no git work tree around that directory.
	ErrNotRepository = errors.New("not a git repository")
	// ErrNoGit: the git program cannot be run.
	ErrNoGit = errors.New("git cannot be run")
	// ErrUnsafe: git refuses because the repository belongs to someone else.
	ErrUnsafe = errors.New("git does not trust this repository")
	// ErrUnknownRevision: no such commit here.
	ErrUnknownRevision = errors.New("unknown revision")
	// ErrNotFound: no such file in that commit, or no such object.
	ErrNotFound = errors.New("not found in git")
)

// Repo is one work tree. It is safe for use by several goroutines.
type Repo struct {
	Root      string // top of the work tree, absolute, without symlinks
	GitDir    string // of this work tree
	CommonDir string // shared by all work trees of the repository
	FS        *rootfs.FS

	cat catFile

	mu    sync.Mutex
	trees map[string]map[string]TreeEntry // by commit; commits never change
}

// Open finds the work tree around dir.
func Open(ctx context.Context, dir string) (*Repo, error) {
	out, err := run(ctx, dir, nil, "rev-parse", "--absolute-git-dir", "--git-common-dir", "--is-inside-git-dir")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return nil, fmt.Errorf("git rev-parse: expected three lines, got %d; is there a newline in the path of the repository?", len(lines))
	}
	if lines[2] == "true" {
		return nil, fmt.Errorf("%w: %s lies inside a git directory; name its work tree", ErrNotRepository, dir)
	}
	r := &Repo{GitDir: real(dir, lines[0]), CommonDir: real(dir, lines[1])}
	if r.Root, err = findRoot(dir, r.GitDir); err != nil {
		return nil, err
	}
	if r.FS, err = rootfs.Open(r.Root); err != nil {
		return nil, err
	}
	r.cat.start = func() (*batch, error) { return startBatch(r.Root) }
	r.trees = map[string]map[string]TreeEntry{}
	return r, nil
}

// Close ends the reader process.
func (r *Repo) Close() error {
	r.cat.close()
	return r.FS.Close()
}

func real(dir, p string) string {
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	if resolved, err := filepath.EvalSymlinks(p); err == nil {
		p = resolved
	}
	return p
}

// findRoot is the directory at or above dir whose .git is gitDir. We do not ask
// git: it would believe the core.worktree of an untrusted configuration.
func findRoot(dir, gitDir string) (string, error) {
	at := real(dir, ".")
	for {
		dot := filepath.Join(at, ".git")
		if info, err := os.Stat(dot); err == nil {
			target := dot
			if info.Mode().IsRegular() {
				if text, err := os.ReadFile(dot); err == nil {
					target = strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
				}
			}
			if real(at, target) == gitDir {
				return at, nil
			}
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fmt.Errorf("%w: %s has no work tree (a bare repository?); name a directory with a checkout", ErrNotRepository, dir)
		}
		at = up
	}
}

// SameRepository reports whether o is a work tree of the same repository.
func (r *Repo) SameRepository(o *Repo) bool { return r.CommonDir == o.CommonDir }

func (r *Repo) git(ctx context.Context, args ...string) ([]byte, error) {
	return run(ctx, r.Root, []string{"GIT_WORK_TREE=" + r.Root}, args...)
}

// Head is the commit that HEAD names, or "" where there is none yet.
func (r *Repo) Head(ctx context.Context) (string, error) {
	commit, err := r.Resolve(ctx, "HEAD")
	if errors.Is(err, ErrUnknownRevision) {
		return "", nil
	}
	return commit, err
}

var hexID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Resolve is the full id of the commit that rev names.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\n\x00") {
		return "", fmt.Errorf("%w %q: expected a commit, branch or tag", ErrUnknownRevision, rev)
	}
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	var exit *gitError
	if errors.As(err, &exit) && exit.code == 1 {
		return "", fmt.Errorf("%w %q: expected a commit, branch or tag of this repository", ErrUnknownRevision, rev)
	}
	if err != nil {
		return "", err
	}
	id := string(bytes.TrimSpace(out))
	if !hexID.MatchString(id) {
		return "", fmt.Errorf("git rev-parse: expected a commit id, got %q", id)
	}
	return id, nil
}

// IsAncestor reports whether commit a is b or one of b's ancestors.
func (r *Repo) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	if !hexID.MatchString(a) || !hexID.MatchString(b) {
		return false, fmt.Errorf("%w: expected full commit ids, got %q and %q", ErrUnknownRevision, a, b)
	}
	_, err := r.git(ctx, "merge-base", "--is-ancestor", a, b)
	var exit *gitError
	if errors.As(err, &exit) && (exit.code == 1 || exit.code == 128) {
		return false, nil // 128: a commit that is gone, after a gc or in a shallow clone
	}
	return err == nil, err
}
