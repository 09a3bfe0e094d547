package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Modes of files as git writes them.
const (
	ModeFile    = 0o100644
	ModeExec    = 0o100755
	ModeSymlink = 0o120000
	ModeGitlink = 0o160000 // a submodule
)

// TreeEntry is a file of a commit.
type TreeEntry struct {
	Mode int
	ID   string
}

// ListTree lists the files of a commit by path, submodules included. The map
// is shared and must not be changed.
func (r *Repo) ListTree(ctx context.Context, rev string) (map[string]TreeEntry, error) {
	if !hexID.MatchString(rev) {
		commit, err := r.Resolve(ctx, rev)
		if err != nil {
			return nil, err
		}
		rev = commit
	}
	r.mu.Lock()
	tree := r.trees[rev]
	r.mu.Unlock()
	if tree != nil {
		return tree, nil
	}
	out, err := r.git(ctx, "ls-tree", "-r", "-z", "--full-tree", rev)
	if err != nil {
		return nil, err
	}
	tree = make(map[string]TreeEntry, bytes.Count(out, []byte{0}))
	text := string(out)
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\x00")
		head, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("git ls-tree: expected mode, type, id and path, got %q", line)
		}
		mode, err := strconv.ParseInt(f[0], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: expected a mode, got %q", f[0])
		}
		tree[path] = TreeEntry{Mode: int(mode), ID: f[2]}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.trees) >= 4 { // a server sees few commits; a history walk must not pile them up
		clear(r.trees)
	}
	r.trees[rev] = tree
	return tree, nil
}

// indexEntry is a file of git's index with the stat tuple under which git last
// knew it to be equal to ID.
type indexEntry struct {
	path           string
	mode           int
	id             string
	stage          int
	mtime, ctime   int64
	ino, size      uint32 // truncated, as in the index
	skipWorktree   bool
	statUnreadable bool // this git prints no tuple that we know
}

const flagSkipWorktree = 1 << 30

// listIndex reads the index through `ls-files --debug`, whose tuple lines
// follow each NUL-ended path.
func (r *Repo) listIndex(ctx context.Context) ([]indexEntry, error) {
	out, err := r.git(ctx, "ls-files", "-s", "-z", "--debug")
	if err != nil {
		return nil, err
	}
	entries := make([]indexEntry, 0, bytes.Count(out, []byte{0}))
	text := string(out)
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\x00")
		head, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("git ls-files: expected mode, id, stage and path, got %q", line)
		}
		mode, err1 := strconv.ParseInt(f[0], 8, 32)
		stage, err2 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("git ls-files: expected mode and stage, got %q", head)
		}
		e := indexEntry{path: path, mode: int(mode), id: f[1], stage: stage}
		text = e.parseTuple(text)
		entries = append(entries, e)
	}
	return entries, nil
}

// parseTuple reads the lines
//
//	ctime: 1796077988:213586501
//	mtime: 1796077988:213586501
//	dev: 65024	ino: 9978415
//	uid: 0	gid: 0
//	size: 5582	flags: 0
//
// and returns what follows. Of other lines it skips those that are indented.
func (e *indexEntry) parseTuple(text string) string {
	known := 0
	for strings.HasPrefix(text, "  ") {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		for part := range strings.SplitSeq(line, "\t") {
			key, value, _ := strings.Cut(strings.TrimSpace(part), ": ")
			var err error
			switch key {
			case "ctime":
				e.ctime, err = parseTime(value)
			case "mtime":
				e.mtime, err = parseTime(value)
			case "ino":
				e.ino, err = parseUint32(value, 10)
			case "size":
				e.size, err = parseUint32(value, 10)
			case "flags":
				var flags uint32
				flags, err = parseUint32(value, 16)
				e.skipWorktree = flags&flagSkipWorktree != 0
			default:
				continue
			}
			if err == nil {
				known++
			}
		}
	}
	e.statUnreadable = known != 5
	return text
}

func parseTime(s string) (int64, error) {
	sec, nsec, _ := strings.Cut(s, ":")
	a, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return 0, err
	}
	b, err := strconv.ParseInt(nsec, 10, 64)
	return a*1e9 + b, err
}

func parseUint32(s string, base int) (uint32, error) {
	n, err := strconv.ParseUint(s, base, 32)
	return uint32(n), err
}

// Files lists, sorted, what git tracks or does not ignore. It has symlinks and
// files that are gone too: the caller stats what it reads. Submodules are not
// entered.
func (r *Repo) Files(ctx context.Context) ([]string, error) {
	return r.names(ctx, "--cached", "--others", "--exclude-standard")
}

// untracked lists what git neither tracks nor ignores.
func (r *Repo) untracked(ctx context.Context) ([]string, error) {
	return r.names(ctx, "--others", "--exclude-standard")
}

func (r *Repo) names(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.git(ctx, append([]string{"ls-files", "-z"}, args...)...)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, bytes.Count(out, []byte{0}))
	text := string(out)
	for text != "" {
		var name string
		name, text, _ = strings.Cut(text, "\x00")
		if name == "" || strings.HasSuffix(name, "/") { // a repository inside: not ours
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil // an unmerged file is listed once a stage
}
