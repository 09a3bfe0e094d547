// Package engine is what flowplan does, as ordinary functions: Of, Locate,
// Plan, Check, Verify, Diff, each with the text that an agent reads and the
// JSON that a script reads. The MCP server and the command line only hand
// arguments in and replies out.
//
// It edits nothing, runs nothing of the repository, and writes only the index
// and the ledger, outside of it.
//
//	e := engine.New(engine.Config{Dir: ".", Languages: registry, Session: session})
//	reply, err := e.Of(ctx, engine.OfParams{Function: []string{"Cache._cull"}})
//	fmt.Print(reply.Text)
package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"flowplan/internal/gitrepo"
	"flowplan/internal/index"
	"flowplan/internal/lang"
	"flowplan/internal/ledger"
	"flowplan/internal/locate"
	"flowplan/internal/rootfs"
	"flowplan/internal/store"
)

// Config says where and for whom an engine works.
type Config struct {
	Dir       string // --root, else CLAUDE_PROJECT_DIR, else the working directory
	Languages *lang.Registry
	Session   ledger.Session
	Home      *store.Home // nil: nothing outlives the process
	HomeNote  string      // why Home is nil; said once
	DFG       bool        // data flow is the default view
	Progress  func(done, total int)
	Now       func() time.Time
}

// Engine answers calls. It is safe for use by several goroutines.
type Engine struct {
	cfg   Config
	mu    sync.Mutex
	trees map[string]*tree
	main  *tree
	said  bool // HomeNote has been said
}

// Reply is the answer to a call: text for an agent, JSON for a script.
type Reply struct {
	Text string
	JSON any
	// Code is the exit code that a script sees: 1 for a mismatch, an unknown,
	// a fail or a listed difference.
	Code int
}

// CallError is an answer that says what was wrong with the call and what to
// call instead.
type CallError struct {
	Text     string
	NotFound bool // the thing asked for is not there; else the call was wrong
}

func (e *CallError) Error() string { return e.Text }

func wrong(format string, args ...any) error {
	return &CallError{Text: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &CallError{Text: fmt.Sprintf(format, args...), NotFound: true}
}

// New makes an engine; it opens nothing yet.
func New(cfg Config) *Engine {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Engine{cfg: cfg, trees: map[string]*tree{}}
}

// Close releases every tree.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	for _, t := range e.trees {
		err = errors.Join(err, t.close())
	}
	e.trees = map[string]*tree{}
	e.main = nil
	return err
}

// tree finds the work tree that a call is about: the engine's own, or another
// work tree of the same repository.
func (e *Engine) tree(ctx context.Context, root string) (*tree, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.main == nil {
		t, err := e.open(ctx, e.cfg.Dir)
		if err != nil {
			return nil, err
		}
		e.main = t
	}
	if strings.TrimSpace(root) == "" {
		return e.main, nil
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join(e.main.fs.Root, root)
	}
	if rel, ok := e.main.fs.Rel(root); ok && e.main.sameTop(ctx, rel, root) {
		return e.main, nil
	}
	t, err := e.open(ctx, root)
	if err != nil {
		return nil, wrong("root %s: %v; give a directory inside %s or a worktree of its repository, or start the server with --root", root, err, e.main.fs.Root)
	}
	if t == e.main || t.repo != nil && e.main.repo != nil && t.repo.SameRepository(e.main.repo) {
		return t, nil
	}
	return nil, wrong("root %s is no part of %s; give a directory inside it or a worktree of its repository, or start the server with --root %s", root, e.main.fs.Root, root)
}

// open opens the tree around a directory, or returns the one open already.
func (e *Engine) open(ctx context.Context, dir string) (*tree, error) {
	repo, err := gitrepo.Open(ctx, dir)
	gitNote := ""
	switch {
	case errors.Is(err, gitrepo.ErrNotRepository), errors.Is(err, gitrepo.ErrNoGit), errors.Is(err, gitrepo.ErrUnsafe):
		gitNote = err.Error()
	case err != nil:
		return nil, err
	}
	var fs *rootfs.FS
	if repo != nil {
		fs = repo.FS
	} else if fs, err = rootfs.Open(dir); err != nil {
		return nil, err
	}
	if t, ok := e.trees[fs.Root]; ok {
		if repo != nil {
			repo.Close()
		} else {
			fs.Close()
		}
		return t, nil
	}
	t := &tree{e: e, fs: fs, repo: repo, gitNote: gitNote, files: newFileCache(), shown: map[string]shownFile{}}
	if err := t.start(ctx); err != nil {
		return nil, errors.Join(err, t.close())
	}
	e.trees[fs.Root] = t
	return t, nil
}

// homeNote says once why nothing outlives the process.
func (e *Engine) homeNote() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.said || e.cfg.HomeNote == "" {
		return ""
	}
	e.said = true
	return e.cfg.HomeNote + "\n"
}

func (t *tree) start(ctx context.Context) error {
	cfg := index.Config{FS: t.fs, Languages: t.e.cfg.Languages, Progress: t.e.cfg.Progress, Now: t.e.cfg.Now}
	if t.repo != nil {
		cfg.List = t.repo.Files
	}
	if t.e.cfg.Home != nil {
		cfg.Database = t.e.cfg.Home.IndexFile(t.fs.Root)
	}
	ix, err := index.Open(ctx, cfg)
	if err != nil {
		return err
	}
	t.ix = ix
	t.loc = locate.New(ix, t.fs, t.e.cfg.Languages)
	t.led, err = ledger.Open(ctx, ledger.Config{Home: t.e.cfg.Home, Root: t.fs.Root, Session: t.e.cfg.Session, Now: t.e.cfg.Now})
	return err
}
