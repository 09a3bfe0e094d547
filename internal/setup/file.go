package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// target follows the links of a path that need not exist, so that the file a
// link leads to is edited and the link stays.
func target(path string) (string, error) {
	for range 40 {
		next, err := os.Readlink(path)
		if err != nil {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil { // a directory still to be made
				return path, nil
			}
			return filepath.Join(dir, filepath.Base(path)), nil
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", fmt.Errorf("%s: too many links; left alone", path)
}

// load reads a file; one that does not exist is empty.
func load(path string) (real string, data []byte, existed bool, err error) {
	real, err = target(path)
	if err != nil {
		return "", nil, false, err
	}
	data, err = os.ReadFile(real)
	if errors.Is(err, fs.ErrNotExist) {
		return real, nil, false, nil
	}
	if err != nil {
		return real, nil, false, plainError(real, err)
	}
	return real, data, true, nil
}

// writable says whether a file may be written, by its mode too: root could,
// but the owner did not mean it to be.
func writable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // creating it says why it cannot
	}
	if err != nil {
		return plainError(path, err)
	}
	if info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("%s is read-only and was left alone; chmod u+w it, then run this again", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return plainError(path, err)
	}
	return f.Close()
}

// plainError says in a sentence why a file was left alone.
func plainError(path string, err error) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s is on a read-only disk and was left alone", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be written by this user and was left alone; change its permissions, then run this again", path)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%s: the disk is full; nothing was changed", path)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// replace writes a file whole or not at all, keeping its mode.
func replace(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".flowplan-*")
	if err != nil {
		return plainError(path, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return plainError(path, err)
	}
	return nil
}

// makeDirs makes a directory and those above it, and returns the new ones.
func makeDirs(dir string) ([]string, error) {
	var missing []string
	for d := dir; !exists(d); d = filepath.Dir(d) {
		missing = append([]string{d}, missing...)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, plainError(dir, err)
	}
	return missing, nil
}

// removeDirs removes those of the directories that are empty, and returns
// those that are not: something else lives in them by now.
func removeDirs(dirs []string) (left []string) {
	dirs = slices.Clone(dirs)
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) })
	for _, dir := range dirs {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			left = append(left, dir)
		}
	}
	return left
}
