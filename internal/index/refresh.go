package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"flowplan/internal/rootfs"
	"flowplan/internal/store"
)

// Summary says what a Refresh did.
type Summary struct {
	Files     int   // with a language
	Parsed    int   // of these, new or changed
	Unchanged int   // neither
	Removed   int   // gone since
	Skipped   int   // too large, too slow, unreadable
	Symbols   int   // in the files parsed
	Bytes     int64 // parsed
	Listing   time.Duration
	Total     time.Duration
}

// flushSymbols bounds what is held before it is written.
const flushSymbols = 100_000

// Refresh brings the index up to date with the work tree.
func (ix *Index) Refresh(ctx context.Context) (Summary, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	sum, err := ix.refresh(ctx)
	if err != nil && ctx.Err() == nil && (store.Unwritable(err) || store.Unreadable(err)) {
		if err := ix.replace(ctx, store.Unreadable(err)); err != nil {
			return sum, err
		}
		sum, err = ix.refresh(ctx)
	}
	return sum, err
}

func (ix *Index) refresh(ctx context.Context) (Summary, error) {
	var sum Summary
	start := time.Now()
	known, err := ix.db.Files(ctx)
	if err != nil {
		return sum, err
	}
	paths, err := ix.list(ctx)
	if err != nil {
		return sum, err
	}
	sum.Listing = time.Since(start)
	w := &walk{ix: ix, known: known, sum: &sum, present: make(map[string]bool, len(known))}
	if err := w.run(ctx, paths); err != nil {
		return sum, err
	}
	var removed []string
	for path := range known {
		if !w.present[path] {
			removed = append(removed, path)
		}
	}
	sum.Removed = len(removed)
	if err := ix.db.Write(ctx, w.pending, removed); err != nil {
		return sum, err
	}
	if !ix.built {
		if err := ix.db.SetBuilt(ctx); err != nil {
			return sum, err
		}
		ix.built = true
	}
	sum.Total = time.Since(start)
	return sum, nil
}

// list gives the paths whose name some language may claim.
func (ix *Index) list(ctx context.Context) ([]string, error) {
	claimed := func(p string) bool { return len(ix.cfg.Languages.Candidates(p)) > 0 }
	list := ix.cfg.List
	if list == nil {
		list = func(ctx context.Context) ([]string, error) { return Walk(ctx, ix.cfg.FS, claimed) }
	}
	all, err := list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	var paths []string
	for _, p := range all {
		if claimed(p) {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// walk is the state of one Refresh.
type walk struct {
	ix    *Index
	known map[string]store.File
	next  atomic.Int64

	mu      sync.Mutex
	sum     *Summary
	present map[string]bool
	pending []store.Update
	held    int // symbols in pending
	err     error
}

func (w *walk) run(ctx context.Context, paths []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := w.ix.cfg.Limits.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for range min(workers, len(paths)) {
		wg.Go(func() {
			batch := w.ix.cfg.FS.NewBatch()
			for {
				i := int(w.next.Add(1)) - 1
				if i >= len(paths) || ctx.Err() != nil {
					return
				}
				res := w.ix.examine(ctx, batch, paths[i], w.known)
				if err := w.take(ctx, paths[i], res); err != nil {
					cancel()
					return
				}
				if p := w.ix.cfg.Progress; p != nil {
					p(i+1, len(paths))
				}
			}
		})
	}
	wg.Wait()
	if w.err != nil {
		return w.err
	}
	return ctx.Err()
}

func (w *walk) take(ctx context.Context, path string, res result) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if res.err != nil {
		w.err = errors.Join(w.err, res.err)
		return res.err
	}
	if res.gone {
		return nil
	}
	w.present[path] = true
	switch {
	case res.skipped:
		w.sum.Skipped++
	case !res.language:
	default:
		w.sum.Files++
		if res.parsed > 0 || res.update != nil && !res.update.KeepSymbols {
			w.sum.Parsed++
			w.sum.Bytes += res.parsed
			w.sum.Symbols += len(res.update.Symbols)
		} else {
			w.sum.Unchanged++
		}
	}
	if res.update == nil {
		return nil
	}
	w.pending = append(w.pending, *res.update)
	w.held += len(res.update.Symbols)
	if w.held < flushSymbols && len(w.pending) < 20_000 {
		return nil
	}
	err := w.ix.db.Write(ctx, w.pending, nil)
	w.pending, w.held = nil, 0
	if err != nil {
		w.err = errors.Join(w.err, err)
	}
	return err
}

// result is what came of one file.
type result struct {
	gone     bool // no such regular file
	language bool
	skipped  bool
	parsed   int64         // bytes
	update   *store.Update // nil: the record stands
	err      error         // ends the walk
}

// examine decides whether a file's record still holds, and makes a new one
// where it does not.
func (ix *Index) examine(ctx context.Context, batch *rootfs.Batch, path string, known map[string]store.File) result {
	st, err := batch.Stat(path)
	if err != nil || !st.Regular() {
		return result{gone: true}
	}
	old, have := known[path]
	if have && fresh(old, st) {
		return result{language: old.Language != "", skipped: old.Skipped != ""}
	}
	checked := ix.cfg.Now()
	f := store.File{Path: path}
	setStat(&f, st, checked)
	if st.Size > ix.cfg.Limits.FileBytes {
		return ix.skip(f, fmt.Sprintf("larger than %d KiB", ix.cfg.Limits.FileBytes>>10))
	}
	data, st, err := ix.cfg.FS.Read(path, ix.cfg.Limits.FileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, rootfs.ErrNotRegular):
		return result{gone: true}
	case errors.Is(err, rootfs.ErrTooLarge):
		return ix.skip(f, fmt.Sprintf("larger than %d KiB", ix.cfg.Limits.FileBytes>>10))
	case err != nil:
		return ix.skip(f, "cannot be read: "+reason(err))
	}
	setStat(&f, st, checked)
	f.Hash = hash(data)
	if have && old.Hash == f.Hash && old.Skipped == "" {
		return result{language: old.Language != "", update: &store.Update{File: f, KeepSymbols: true}}
	}
	language, symbols, err := ix.outline(ctx, path, data)
	if ctx.Err() != nil {
		return result{err: ctx.Err()}
	}
	f.Language = language
	if err != nil {
		return ix.skip(f, err.Error())
	}
	return result{language: language != "", parsed: int64(len(data)), update: &store.Update{File: f, Symbols: symbols}}
}

func (ix *Index) skip(f store.File, why string) result {
	f.Skipped = why
	if l := ix.cfg.Languages.Candidates(f.Path); f.Language == "" && len(l) == 1 {
		f.Language = l[0].Name
	}
	return result{language: f.Language != "", skipped: true, update: &store.Update{File: f}}
}

func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// tick is the coarsest clock by which a kernel stamps files; where the stamps
// are whole seconds the file system may be coarser still.
const tick = 20 * time.Millisecond

// setStat records the tuple under which the content was read at or after the
// time checked. The racy rule: a file as new as that may be written again
// within one tick, with the same tuple, so the tuple will prove nothing.
func setStat(f *store.File, st rootfs.Stat, checked time.Time) {
	margin := tick
	if st.Mtime%int64(time.Second) == 0 {
		margin = 2 * time.Second
	}
	f.Stat, f.Racy = tupleHash(st), st.Newest() >= checked.Add(-margin).UnixNano()
}

func tupleHash(st rootfs.Stat) int64 {
	h := fnv.New64a()
	var b [32]byte
	for i, n := range []uint64{uint64(st.Size), uint64(st.Mtime), uint64(st.Ctime), st.Ino} {
		binary.LittleEndian.PutUint64(b[8*i:], n)
	}
	h.Write(b[:])
	return int64(h.Sum64())
}

// fresh reports that the tuple proves the content to be what was read.
func fresh(f store.File, st rootfs.Stat) bool { return !f.Racy && f.Stat == tupleHash(st) }

// RefreshFile brings one file's record up to date and reports whether its
// outline changed. A file that the index does not list, or of no language, is
// no error and no change.
func (ix *Index) RefreshFile(ctx context.Context, path string) (bool, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	rel, ok := ix.cfg.FS.Rel(path)
	if !ok {
		return false, fmt.Errorf("index %q: %w", path, rootfs.ErrOutside)
	}
	old, have, err := ix.db.File(ctx, rel)
	if err != nil {
		return false, err
	}
	if !have && len(ix.cfg.Languages.Candidates(rel)) == 0 {
		return false, nil
	}
	known := map[string]store.File{}
	if have {
		known[rel] = old
	}
	res := ix.examine(ctx, ix.cfg.FS.NewBatch(), rel, known)
	switch {
	case res.err != nil:
		return false, res.err
	case res.gone && have:
		return true, ix.db.Write(ctx, nil, []string{rel})
	case res.update == nil:
		return false, nil
	}
	if err := ix.db.Write(ctx, []store.Update{*res.update}, nil); err != nil {
		return false, err
	}
	return !res.update.KeepSymbols, nil
}
