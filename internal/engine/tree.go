package engine

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"flowplan/internal/flow"
	"flowplan/internal/gitrepo"
	"flowplan/internal/index"
	"flowplan/internal/lang"
	"flowplan/internal/ledger"
	"flowplan/internal/locate"
	"flowplan/internal/rootfs"
	"flowplan/internal/source"
)

// maxFile is the largest file that is read for a view.
const maxFile = 16 << 20

// tree is one work tree: its files, its git, its index and its ledger.
type tree struct {
	e       *Engine
	fs      *rootfs.FS
	repo    *gitrepo.Repo // nil: no git here, as gitNote says
	gitNote string
	ix      *index.Index
	loc     *locate.Locator
	led     *ledger.Ledger
	files   *fileCache

	mu       sync.Mutex
	shown    map[string]shownFile // by path: what the session was last shown
	last     string               // id of the function last shown
	recorded bool                 // what differed before the session is on record
}

// shownFile is a file as a session saw it.
type shownFile struct{ file *flow.File }

func (t *tree) close() error {
	var err error
	if t.ix != nil {
		err = errors.Join(err, t.ix.Close())
	}
	if t.led != nil {
		err = errors.Join(err, t.led.Close())
	}
	if t.repo != nil {
		return errors.Join(err, t.repo.Close())
	}
	return errors.Join(err, t.fs.Close())
}

// sameTop reports whether a directory below the root belongs to this work
// tree, and not to another one checked out inside it.
func (t *tree) sameTop(ctx context.Context, rel, dir string) bool {
	if t.repo == nil || rel == "." || rel == "" {
		return true
	}
	for at := dir; len(at) > len(t.fs.Root); at = filepath.Dir(at) {
		if r, ok := t.fs.Rel(filepath.Join(at, ".git")); ok {
			if _, err := t.fs.Stat(r); err == nil {
				return false
			}
		}
	}
	return true
}

// fileCache holds the files parsed last, by path and content.
type fileCache struct {
	mu    sync.Mutex
	order *list.List
	items map[string]*list.Element
	bytes int
}

const (
	cacheFiles = 256
	cacheBytes = 12 << 20 // of source; a parsed file takes some twenty times its text
)

type cached struct {
	key  string
	file *flow.File
}

func newFileCache() *fileCache {
	return &fileCache{order: list.New(), items: map[string]*list.Element{}}
}

func (c *fileCache) get(key string) *flow.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[key]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*cached).file
	}
	return nil
}

func (c *fileCache) put(key string, f *flow.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; ok {
		return
	}
	c.items[key] = c.order.PushFront(&cached{key, f})
	c.bytes += len(f.Source.Bytes)
	for c.order.Len() > 1 && (c.order.Len() > cacheFiles || c.bytes > cacheBytes) {
		old := c.order.Remove(c.order.Back()).(*cached)
		delete(c.items, old.key)
		c.bytes -= len(old.file.Source.Bytes)
	}
}

// parse makes the views of a text, or finds them in the cache.
func (t *tree) parse(ctx context.Context, path string, data []byte) (*flow.File, error) {
	l := t.e.cfg.Languages.ForPath(path, data[:min(len(data), lang.HeadBytes)])
	if l == nil {
		return nil, wrong("%s: a language that flowplan does not read", path)
	}
	key := path + "\x00" + source.Hash(data)
	if f := t.files.get(key); f != nil {
		return f, nil
	}
	f, err := flow.Parse(ctx, l, source.New(path, data), func(p string) ([]byte, error) {
		data, _, err := t.fs.Read(p, maxFile)
		return data, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.files.put(key, f)
	return f, nil
}

// work is a file as it stands in the work tree; nil where there is none.
func (t *tree) work(ctx context.Context, path string) (*flow.File, error) {
	data, _, err := t.fs.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, rootfs.ErrOutside):
		return nil, wrong("%s: outside the root %s", path, t.fs.Root)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t.parse(ctx, path, data)
}

// base is a file as it stands in a commit; nil where there is none.
func (t *tree) base(ctx context.Context, commit, path string) (*flow.File, error) {
	if t.repo == nil || commit == "" {
		return nil, nil
	}
	data, err := t.repo.Blob(ctx, commit, path)
	if errors.Is(err, gitrepo.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t.parse(ctx, path, data)
}

// view finds a function by qualified name in a file; nil where it is not.
func view(f *flow.File, name string) *flow.View {
	if f == nil {
		return nil
	}
	if found := f.Lookup(name); len(found) > 0 {
		return f.View(found[0])
	}
	return nil
}

// splitID takes a function's identity apart.
func splitID(id string) (path, name string) {
	if i := strings.Index(id, ":"); i >= 0 {
		return id[:i], id[i+1:]
	}
	return "", id
}

// head is the commit that HEAD is on, "" before the first one.
func (t *tree) head(ctx context.Context) (ledger.Head, error) {
	if t.repo == nil {
		return ledger.Head{}, nil
	}
	commit, err := t.repo.Head(ctx)
	if err != nil {
		return ledger.Head{}, err
	}
	return ledger.Head{Commit: commit, Descends: func(ctx context.Context, base string) (bool, error) {
		return t.repo.IsAncestor(ctx, base, commit)
	}}, nil
}

// needGit refuses what cannot be done without a commit to compare with.
func (t *tree) needGit(ctx context.Context) (ledger.Head, error) {
	if t.repo == nil {
		return ledger.Head{}, notFound("%s; plans are checked against HEAD, so run flowplan in a git repository with a commit (flow_of works without)", t.gitNote)
	}
	return t.head(ctx)
}

// show remembers what a session has been shown.
func (t *tree) show(v *flow.View) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown[v.File.Source.Path] = shownFile{v.File}
	t.last = v.ID()
}

// firstCall records, once a session, which functions differ from HEAD before
// it did anything.
func (t *tree) firstCall(ctx context.Context) error {
	t.mu.Lock()
	done := t.recorded
	t.recorded = true
	t.mu.Unlock()
	if done || t.repo == nil {
		return nil
	}
	if _, recorded, err := t.led.Preexisting(ctx); err != nil || recorded {
		return err
	}
	before, err := t.differing(ctx)
	if err != nil {
		t.mu.Lock()
		t.recorded = false
		t.mu.Unlock()
		return err
	}
	return t.led.SetPreexisting(ctx, before)
}

// differing lists the functions that differ from HEAD with the hash of their
// text now.
func (t *tree) differing(ctx context.Context) (map[string]string, error) {
	head, err := t.head(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := t.changes(ctx, head.Commit)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, c := range changes.functions {
		out[c.id()] = c.textHash()
	}
	return out, nil
}
