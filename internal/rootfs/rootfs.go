// Package rootfs reads the files below one directory and never leaves it: not
// by "..", not by an absolute path, not by a symlink. Paths are relative to
// the root and use slashes.
//
// It does not list directories, knows no git and no language, and writes
// nothing.
//
//	fs, err := rootfs.Open("/home/me/project")
//	st, err := fs.Stat("pkg/a.py")            // of the file itself, a symlink is not followed
//	data, st, err := fs.Read("pkg/a.py", 1<<20)
package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrOutside is returned for a path that is not below the root, or that a
// symlinked directory leads away from where it seems to be.
var ErrOutside = errors.New("path is outside the root")

// ErrNotRegular is returned when a file was expected and something else stands
// there: a directory, a symlink, a device.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is returned for a file above the limit of a Read.
var ErrTooLarge = errors.New("file is larger than the limit")

// FS reads below one root. It is safe for use by several goroutines.
type FS struct {
	Root string // absolute, without symlinks
	dir  *os.Root
}

// Open opens a root directory.
func Open(root string) (*FS, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open root: %w", err)
	}
	abs, err = filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("open root: expected an existing directory: %w", err)
	}
	dir, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open root: expected a readable directory: %w", err)
	}
	return &FS{Root: abs, dir: dir}, nil
}

// Close releases the root.
func (f *FS) Close() error { return f.dir.Close() }

// Abs is the absolute form of a path below the root.
func (f *FS) Abs(rel string) string { return filepath.Join(f.Root, filepath.FromSlash(rel)) }

// Rel makes a path relative to the root. It accepts what is relative already,
// and absolute paths, through symlinks above the root too. It reports false for
// a path outside. The file need not exist.
func (f *FS) Rel(p string) (string, bool) {
	p = filepath.FromSlash(p)
	if filepath.IsAbs(p) {
		rel, ok := below(f.Root, p)
		if !ok { // the root may have been named through a symlink
			rel, ok = below(f.Root, resolveParent(p))
		}
		if !ok {
			return "", false
		}
		p = rel
	}
	p = path.Clean(filepath.ToSlash(p))
	if !local(p) {
		return "", false
	}
	return p, true
}

func below(root, p string) (string, bool) {
	rel, err := filepath.Rel(root, p)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// resolveParent resolves symlinks in the longest part of p that exists, except
// the last element, which may itself be a symlink in the tree.
func resolveParent(p string) string {
	dir, rest := filepath.Dir(p), filepath.Base(p)
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return p
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
}

func local(rel string) bool {
	return rel != "." && filepath.IsLocal(filepath.FromSlash(rel)) && !strings.ContainsRune(rel, 0)
}

// Stat describes one file. It is never that of a symlink's target.
type Stat struct {
	Mode  fs.FileMode
	Size  int64
	Mtime int64 // nanoseconds since 1970
	Ctime int64 // 0 where the system has none
	Ino   uint64
}

// Regular reports whether it is an ordinary file.
func (s Stat) Regular() bool { return s.Mode.IsRegular() }

// Same reports whether nothing in the two tuples tells the files apart.
func (s Stat) Same(o Stat) bool {
	return s.Mtime == o.Mtime && s.Size == o.Size && s.Ino == o.Ino && s.Ctime == o.Ctime && s.Mode.Type() == o.Mode.Type()
}

// Newest is the later of the times at which content or metadata changed.
func (s Stat) Newest() int64 { return max(s.Mtime, s.Ctime) }

// Stat describes the file at rel. Where a directory on the way is a symlink
// the file does not stand where it seems to: fs.ErrNotExist, as git has it.
func (f *FS) Stat(rel string) (Stat, error) { return f.NewBatch().Stat(rel) }

// Batch answers many Stats and checks each directory once. It is short-lived
// and for one goroutine.
type Batch struct {
	fs   *FS
	dirs map[string]bool // a real directory, no symlink on the way
}

// NewBatch begins a batch.
func (f *FS) NewBatch() *Batch { return &Batch{fs: f, dirs: map[string]bool{".": true}} }

// Stat is FS.Stat within the batch.
func (b *Batch) Stat(rel string) (Stat, error) {
	if !local(rel) {
		return Stat{}, fmt.Errorf("stat %q: %w", rel, ErrOutside)
	}
	if !b.real(path.Dir(rel)) {
		return Stat{}, &fs.PathError{Op: "stat", Path: rel, Err: fs.ErrNotExist}
	}
	info, err := os.Lstat(b.fs.Abs(rel))
	if err != nil {
		if errors.Is(err, syscall.ENOTDIR) {
			err = &fs.PathError{Op: "stat", Path: rel, Err: fs.ErrNotExist}
		}
		return Stat{}, err
	}
	return toStat(info), nil
}

func (b *Batch) real(dir string) bool {
	ok, known := b.dirs[dir]
	if !known {
		ok = b.real(path.Dir(dir))
		if ok {
			info, err := os.Lstat(b.fs.Abs(dir))
			ok = err == nil && info.IsDir()
		}
		b.dirs[dir] = ok
	}
	return ok
}

// Read reads a regular file of at most limit bytes (0: no limit). The Stat was
// taken before the first byte was read, and the file is read again when it
// changed meanwhile, so that a tuple never vouches for older bytes.
func (f *FS) Read(rel string, limit int64) ([]byte, Stat, error) {
	for range 3 {
		before, err := f.Stat(rel)
		if err != nil {
			return nil, before, err
		}
		if !before.Regular() {
			return nil, before, fmt.Errorf("read %s: %w", rel, ErrNotRegular)
		}
		data, err := f.read(rel, before, limit)
		if err != nil {
			return nil, before, err
		}
		after, err := f.Stat(rel)
		if err != nil {
			return nil, before, err
		}
		if before.Same(after) && int64(len(data)) == before.Size {
			return data, before, nil
		}
	}
	return nil, Stat{}, fmt.Errorf("read %s: the file changes while it is read; try again", rel)
}

func (f *FS) read(rel string, st Stat, limit int64) ([]byte, error) {
	if limit > 0 && st.Size > limit {
		return nil, fmt.Errorf("read %s: %w (%d of %d bytes)", rel, ErrTooLarge, st.Size, limit)
	}
	// O_NONBLOCK: a FIFO put here meanwhile must not hang us.
	file, err := f.dir.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w", rel, ErrNotRegular)
	}
	data := make([]byte, 0, st.Size+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if limit > 0 && int64(len(data)) > limit {
			return nil, fmt.Errorf("read %s: %w", rel, ErrTooLarge)
		}
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Head reads the first n bytes of a regular file, or all there are.
func (f *FS) Head(rel string, n int) ([]byte, error) {
	st, err := f.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !st.Regular() {
		return nil, fmt.Errorf("read %s: %w", rel, ErrNotRegular)
	}
	file, err := f.dir.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, n)
	got, err := io.ReadFull(file, data)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return data[:got], nil
}

// Readlink is the target of a symlink at rel, as text; it is not followed.
func (f *FS) Readlink(rel string) (string, error) {
	st, err := f.Stat(rel)
	if err != nil {
		return "", err
	}
	if st.Mode.Type() != fs.ModeSymlink {
		return "", fmt.Errorf("read link %s: not a symlink", rel)
	}
	return os.Readlink(f.Abs(rel))
}
