package gitrepo

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"flowplan/internal/rootfs"
)

// Status says how a file differs.
type Status string

const (
	Modified Status = "modified"
	Added    Status = "added"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
)

// Difference is one file that differs between a commit and the work tree.
// A file that differs only in line endings (CRLF) or in being executable is
// none, except that a rename is one whether or not the content changed.
type Difference struct {
	Status   Status
	Path     string // in the work tree; of a deleted file, in the commit
	OldPath  string // in the commit; "" for an added file
	OldID    string // blob in the commit; "" for an added file
	OldMode  int    // 0 for an added file
	NewMode  int    // 0 for a deleted file
	Size     int64  // in the work tree
	Conflict bool   // unmerged: the text holds conflict markers, or did
}

// MaxFile is the largest file whose content is compared. A larger one that may
// have changed is said to differ, and so is one that cannot be read.
const MaxFile = 64 << 20

// Differences lists, in order of path, what differs between the commit base
// and the work tree: tracked, staged, untracked and not ignored, deleted. What
// is staged counts only as far as the work tree has it. base "" is the empty
// tree. Submodules are left out.
func (r *Repo) Differences(ctx context.Context, base string) ([]Difference, error) {
	d := &differ{r: r, ctx: ctx}
	if err := d.list(base); err != nil {
		return nil, err
	}
	if err := d.compare(); err != nil {
		return nil, err
	}
	out, err := d.pairRenames()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

type differ struct {
	r         *Repo
	ctx       context.Context
	tree      map[string]TreeEntry
	index     []indexEntry
	untracked []string
	indexTime int64 // when git last wrote the index

	mu             sync.Mutex
	changed        []Difference // modified
	added, deleted []Difference
}

// list asks git for its three lists at once.
func (d *differ) list(base string) error {
	// Before the list: a tuple as new as this may hide a later write.
	if info, err := os.Stat(filepath.Join(d.r.GitDir, "index")); err == nil {
		d.indexTime = info.ModTime().UnixNano()
	}
	var wg sync.WaitGroup
	errs := make([]error, 3)
	wg.Go(func() {
		d.tree = map[string]TreeEntry{}
		if base != "" {
			d.tree, errs[0] = d.r.ListTree(d.ctx, base)
		}
	})
	wg.Go(func() { d.index, errs[1] = d.r.listIndex(d.ctx) })
	wg.Go(func() { d.untracked, errs[2] = d.r.untracked(d.ctx) })
	wg.Wait()
	return errors.Join(errs...)
}

// item is one path whose work-tree state is to be looked at.
type item struct {
	path     string
	index    *indexEntry // nil: untracked, or not in the index any more
	conflict bool
}

func (d *differ) items() []item {
	items := make([]item, 0, len(d.index)+len(d.untracked))
	seen := make(map[string]bool, len(d.index)+len(d.untracked))
	folded := map[string]string{}
	for i := range d.index {
		e := &d.index[i]
		if e.mode == ModeGitlink || seen[e.path] {
			continue
		}
		seen[e.path] = true
		if e.stage != 0 {
			items = append(items, item{path: e.path, conflict: true})
			continue
		}
		items = append(items, item{path: e.path, index: e})
	}
	for _, p := range d.untracked {
		if !seen[p] {
			seen[p] = true
			items = append(items, item{path: p})
		}
	}
	// What only the commit has: gone from the index, perhaps ignored by now.
	var rest []string
	for p, e := range d.tree {
		if !seen[p] && e.Mode != ModeGitlink {
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 {
		for p := range seen {
			folded[strings.ToLower(p)] = p
		}
	}
	for _, p := range rest {
		if twin, ok := folded[strings.ToLower(p)]; ok && d.sameFile(p, twin) {
			// A case-only rename where the file system ignores case: the old
			// name still answers, but the file is called otherwise.
			e := d.tree[p]
			d.deleted = append(d.deleted, Difference{Status: Deleted, Path: p, OldPath: p, OldID: e.ID, OldMode: e.Mode})
			continue
		}
		items = append(items, item{path: p})
	}
	return items
}

func (d *differ) sameFile(a, b string) bool {
	ia, err1 := os.Lstat(d.r.FS.Abs(a))
	ib, err2 := os.Lstat(d.r.FS.Abs(b))
	return err1 == nil && err2 == nil && os.SameFile(ia, ib)
}

// suspect is a file whose bytes decide.
type suspect struct {
	item
	old  TreeEntry
	stat rootfs.Stat
}

func (d *differ) compare() error {
	items := d.items()
	workers := min(runtime.GOMAXPROCS(0), 8, len(items)/256+1)
	var suspects []suspect
	var wg sync.WaitGroup
	for w := range workers {
		part := items[len(items)*w/workers : len(items)*(w+1)/workers]
		wg.Go(func() {
			batch := d.r.FS.NewBatch()
			for _, it := range part {
				if s, undecided := d.look(batch, it); undecided {
					d.mu.Lock()
					suspects = append(suspects, s)
					d.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	slices.SortFunc(suspects, func(a, b suspect) int { return strings.Compare(a.path, b.path) })
	return d.read(suspects)
}

// look decides from the stat tuple alone where it can.
func (d *differ) look(batch *rootfs.Batch, it item) (s suspect, undecided bool) {
	old, tracked := d.tree[it.path]
	if tracked && old.Mode == ModeGitlink {
		return s, false
	}
	st, err := batch.Stat(it.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && st.Mode.IsDir():
		// A directory here: its files stand in the lists by themselves.
		if tracked && !(it.index != nil && it.index.skipWorktree) {
			d.add(Difference{Status: Deleted, Path: it.path, OldPath: it.path, OldID: old.ID, OldMode: old.Mode, Conflict: it.conflict})
		}
		return s, false
	case err != nil: // a directory that may not be entered: nobody can tell
		if tracked {
			d.add(Difference{Status: Modified, Path: it.path, OldPath: it.path, OldID: old.ID, OldMode: old.Mode, NewMode: old.Mode, Conflict: it.conflict})
		}
		return s, false
	}
	mode := gitMode(st)
	if mode == 0 { // a device, a socket: git does not see it
		if tracked {
			d.add(Difference{Status: Deleted, Path: it.path, OldPath: it.path, OldID: old.ID, OldMode: old.Mode})
		}
		return s, false
	}
	if !tracked {
		d.add(Difference{Status: Added, Path: it.path, NewMode: mode, Size: st.Size, Conflict: it.conflict})
		return s, false
	}
	if it.index != nil && it.index.id == old.ID && sameType(it.index.mode, old.Mode) && d.clean(it.index, st, mode) {
		return s, false
	}
	return suspect{item: it, old: old, stat: st}, true
}

func gitMode(st rootfs.Stat) int {
	switch {
	case st.Regular() && st.Mode.Perm()&0o100 != 0:
		return ModeExec
	case st.Regular():
		return ModeFile
	case st.Mode.Type() == fs.ModeSymlink:
		return ModeSymlink
	}
	return 0
}

func sameType(a, b int) bool { return (a == ModeSymlink) == (b == ModeSymlink) }

// clean reports that the file is as git last saw it, by the stat tuple. The
// racy rule: a file as new as the index may have been written after it within
// one tick of the clock, so its tuple proves nothing.
func (d *differ) clean(e *indexEntry, st rootfs.Stat, mode int) bool {
	return !e.statUnreadable && sameType(e.mode, mode) &&
		e.mtime == st.Mtime && e.size == uint32(st.Size) && e.size != 0 &&
		(st.Ino == 0 || e.ino == uint32(st.Ino)) &&
		(st.Ctime == 0 || e.ctime == st.Ctime) &&
		e.mtime < d.indexTime
}

// read compares the bytes of suspects: first by blob id, and only where that
// differs with the blob itself.
func (d *differ) read(suspects []suspect) error {
	type open struct {
		s    suspect
		data []byte
	}
	for len(suspects) > 0 {
		var part []open
		var ids []string
		var held int64
		for len(suspects) > 0 && held < MaxFile && len(part) < 1000 { // bounded memory
			s := suspects[0]
			suspects = suspects[1:]
			if err := d.ctx.Err(); err != nil {
				return fmt.Errorf("compare: %w", err)
			}
			mode := gitMode(s.stat)
			diff := Difference{Status: Modified, Path: s.path, OldPath: s.path, OldID: s.old.ID, OldMode: s.old.Mode, NewMode: mode, Size: s.stat.Size, Conflict: s.conflict}
			data, err := d.r.content(s.path, s.stat)
			switch {
			case errors.Is(err, fs.ErrNotExist): // vanished since the stat
				diff.Status, diff.NewMode = Deleted, 0
				d.deleted = append(d.deleted, diff)
			case err != nil: // too large, not readable: nobody can tell that it is equal
				d.changed = append(d.changed, diff)
			case !sameType(mode, s.old.Mode):
				d.changed = append(d.changed, diff)
			case blobID(data, len(s.old.ID)) == s.old.ID:
			default:
				part = append(part, open{s, data})
				ids = append(ids, s.old.ID)
				held += int64(len(data))
			}
		}
		err := d.r.Blobs(d.ctx, ids, func(i int, old []byte) error {
			if !EqualText(old, part[i].data) {
				s := part[i].s
				d.changed = append(d.changed, Difference{Status: Modified, Path: s.path, OldPath: s.path, OldID: s.old.ID, OldMode: s.old.Mode, NewMode: gitMode(s.stat), Size: s.stat.Size, Conflict: s.conflict})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// content is what git would store for a file: of a symlink, its target.
func (r *Repo) content(path string, st rootfs.Stat) ([]byte, error) {
	if st.Mode.Type() == fs.ModeSymlink {
		target, err := r.FS.Readlink(path)
		return []byte(target), err
	}
	data, _, err := r.FS.Read(path, MaxFile)
	return data, err
}

func (d *differ) add(diff Difference) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch diff.Status {
	case Added:
		d.added = append(d.added, diff)
	case Deleted:
		d.deleted = append(d.deleted, diff)
	default:
		d.changed = append(d.changed, diff)
	}
}

// EqualText compares two texts, taking CRLF and LF for the same.
func EqualText(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	for {
		i, j := bytes.IndexByte(a, '\n'), bytes.IndexByte(b, '\n')
		if i < 0 || j < 0 {
			return i == j && bytes.Equal(a, b)
		}
		if !bytes.Equal(bytes.TrimSuffix(a[:i], []byte{'\r'}), bytes.TrimSuffix(b[:j], []byte{'\r'})) {
			return false
		}
		a, b = a[i+1:], b[j+1:]
	}
}

// blobID is the id git gives to a blob, in the repository's hash.
func blobID(data []byte, idLen int) string {
	head := fmt.Appendf(nil, "blob %d\x00", len(data))
	h := sha1.New()
	if idLen == 2*sha256.Size {
		h = sha256.New()
	}
	h.Write(head)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
