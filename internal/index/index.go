// Package index keeps the symbol index of one work tree fresh: it lists the
// files, parses those that changed in parallel, and writes their outlines into
// package store's database.
//
// It reads no function body and answers no question about names: package
// locate does. Nothing watches the files; freshness is checked when asked for,
// by stat tuple and, where that proves nothing, by content.
//
//	ix, err := index.Open(ctx, index.Config{FS: fs, List: repo.Files, Languages: langs, Database: home.IndexFile(root)})
//	sum, err := ix.Refresh(ctx)                  // all that changed
//	changed, err := ix.RefreshFile(ctx, "a.py")  // one file
//	symbols, err := ix.Named(ctx, "_cull")
package index

import (
	"context"
	"errors"
	"sync"
	"time"

	"flowplan/internal/lang"
	"flowplan/internal/rootfs"
	"flowplan/internal/store"
)

// Limits bound the work on one file. Zero fields have defaults.
type Limits struct {
	FileBytes int64         // 4 MiB
	FileTime  time.Duration // 5 s
	Workers   int           // one a core
}

// Config says what is indexed and where to.
type Config struct {
	FS        *rootfs.FS
	Languages *lang.Registry
	// List lists the files to index, relative to the root: what git tracks or
	// does not ignore. Nil: the directory is walked with .gitignore rules.
	List     func(context.Context) ([]string, error)
	Database string // the index file; "": in memory
	Limits   Limits
	// Progress, if any, is told how many files are done of how many. It is
	// called from several goroutines.
	Progress func(done, total int)
	Now      func() time.Time // nil: time.Now
}

// Index is the symbol index of one work tree. It is safe for use by several
// goroutines, and its database by several processes.
type Index struct {
	cfg Config

	mu    sync.Mutex // held during Refresh and RefreshFile, and while db changes
	db    *store.Index
	note  string
	built bool // no need to ask the database
}

// Open opens the index, building nothing yet.
func Open(ctx context.Context, cfg Config) (*Index, error) {
	if cfg.FS == nil || cfg.Languages == nil {
		return nil, errors.New("open index: expected a root and languages in the configuration")
	}
	if cfg.Limits.FileBytes <= 0 {
		cfg.Limits.FileBytes = 4 << 20
	}
	if cfg.Limits.FileTime <= 0 {
		cfg.Limits.FileTime = 5 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	db, note, err := store.OpenIndex(ctx, cfg.Database, cfg.FS.Root)
	if err != nil {
		return nil, err
	}
	return &Index{cfg: cfg, db: db, note: note}, nil
}

// Close ends the use of the database.
func (ix *Index) Close() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.db.Close()
}

// Note says, once, what the user should know: an index in memory or rebuilt.
func (ix *Index) Note() string {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	note := ix.note
	ix.note = ""
	return note
}

// Ensure builds the index if it never held all files. It does not look for
// changes in one that did.
func (ix *Index) Ensure(ctx context.Context) error {
	ix.mu.Lock()
	built := ix.built
	ix.mu.Unlock()
	if built {
		return nil
	}
	built, err := read(ctx, ix, func(db *store.Index) (bool, error) { return db.Built(ctx) })
	if err != nil {
		return err
	}
	if !built {
		_, err = ix.Refresh(ctx)
		return err
	}
	ix.mu.Lock()
	ix.built = true
	ix.mu.Unlock()
	return nil
}

// Named lists the symbols of that name in any case, as last indexed.
func (ix *Index) Named(ctx context.Context, name string) ([]store.Symbol, error) {
	return read(ctx, ix, func(db *store.Index) ([]store.Symbol, error) { return db.Named(ctx, name) })
}

// Outline lists the symbols of one file in order of line, as last indexed.
func (ix *Index) Outline(ctx context.Context, path string) ([]store.Symbol, error) {
	return read(ctx, ix, func(db *store.Index) ([]store.Symbol, error) { return db.Outline(ctx, path) })
}

// Symbols lists every symbol, as last indexed.
func (ix *Index) Symbols(ctx context.Context) ([]store.Symbol, error) {
	return read(ctx, ix, func(db *store.Index) ([]store.Symbol, error) { return db.Symbols(ctx) })
}

// Files lists every file that has a language or was skipped, by path.
func (ix *Index) Files(ctx context.Context) (map[string]store.File, error) {
	return read(ctx, ix, func(db *store.Index) (map[string]store.File, error) { return db.Files(ctx) })
}

// read runs a query; on a damaged database it rebuilds and asks once more.
func read[T any](ctx context.Context, ix *Index, query func(*store.Index) (T, error)) (T, error) {
	ix.mu.Lock()
	db := ix.db
	ix.mu.Unlock()
	out, err := query(db)
	if err == nil || !store.Unreadable(err) {
		return out, err
	}
	if _, err := ix.rebuild(ctx); err != nil {
		return out, err
	}
	ix.mu.Lock()
	db = ix.db
	ix.mu.Unlock()
	return query(db)
}

func (ix *Index) rebuild(ctx context.Context) (Summary, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err := ix.replace(ctx, true); err != nil {
		return Summary{}, err
	}
	return ix.refresh(ctx)
}

// replace opens an empty database in place of one that fails: the same file
// anew, or one in memory.
func (ix *Index) replace(ctx context.Context, sameFile bool) error {
	var db *store.Index
	var err error
	if sameFile && !ix.db.Memory {
		store.DropIndex(ix.cfg.Database)
		db, ix.note, err = store.OpenIndex(ctx, ix.cfg.Database, ix.cfg.FS.Root)
		if ix.note == "" {
			ix.note = "the index could not be read and is built anew"
		}
	} else {
		db, err = store.OpenMemoryIndex(ctx, ix.cfg.FS.Root)
		ix.note = "the index is kept in memory: its file cannot be written; free disk space or set FLOWPLAN_HOME"
	}
	if err != nil {
		return err
	}
	ix.db.Close()
	ix.db, ix.built = db, false
	return nil
}

// Status is what `flowplan status` says of the index.
type Status struct {
	Files, Symbols int
	Bytes          int64 // of the database
	Memory         bool
	Skipped        map[string]string // path: reason
}

// Status describes the index as last written.
func (ix *Index) Status(ctx context.Context) (Status, error) {
	return read(ctx, ix, func(db *store.Index) (Status, error) {
		st := Status{Memory: db.Memory, Skipped: map[string]string{}}
		files, err := db.Files(ctx)
		if err != nil {
			return st, err
		}
		for path, f := range files {
			switch {
			case f.Skipped != "":
				st.Skipped[path] = f.Skipped
			case f.Language != "":
				st.Files++
				st.Symbols += f.Symbols
			}
		}
		st.Bytes, err = db.Bytes(ctx)
		return st, err
	})
}
