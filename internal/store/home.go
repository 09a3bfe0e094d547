package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Home says where the two databases live: always outside the repository.
type Home struct {
	IndexDir  string // may be deleted at any time
	LedgerDir string
}

// FindHome decides from the environment: $FLOWPLAN_HOME for both, else the
// user's cache directory for the index and the state directory for the ledger.
// getenv is os.Getenv, except in tests.
func FindHome(getenv func(string) string) (Home, error) {
	if home := getenv("FLOWPLAN_HOME"); home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			return Home{}, err
		}
		return Home{IndexDir: filepath.Join(abs, "index"), LedgerDir: filepath.Join(abs, "ledger")}, nil
	}
	cache, state := getenv("XDG_CACHE_HOME"), getenv("XDG_STATE_HOME")
	home := getenv("HOME")
	if runtime.GOOS == "windows" && home == "" {
		home = getenv("LOCALAPPDATA")
	}
	if home == "" && (cache == "" || state == "") {
		return Home{}, errors.New("no home directory: set FLOWPLAN_HOME to a directory that flowplan may write")
	}
	if !filepath.IsAbs(cache) { // the specification: ignore a relative one
		cache = filepath.Join(home, ".cache")
		if runtime.GOOS == "darwin" {
			cache = filepath.Join(home, "Library", "Caches")
		}
	}
	if !filepath.IsAbs(state) {
		state = filepath.Join(home, ".local", "state")
	}
	return Home{IndexDir: filepath.Join(cache, "flowplan"), LedgerDir: filepath.Join(state, "flowplan")}, nil
}

// IndexFile is the index of the work tree at root. The schema's version is in
// the name, so that two versions of flowplan do not rebuild each other's.
func (h Home) IndexFile(root string) string {
	return filepath.Join(h.IndexDir, key(root)+".v"+indexVersionText+".db")
}

// LedgerFile is the ledger of the work tree at root.
func (h Home) LedgerFile(root string) string { return filepath.Join(h.LedgerDir, key(root)+".db") }

// SessionLock is the file that a living session of that work tree holds a
// lock on.
func (h Home) SessionLock(root, session string) string {
	return filepath.Join(h.LedgerDir, "sessions", key(root)+"-"+key(session)+".lock")
}

func key(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// makePrivate creates path's directory, and path itself with mode 0600: what
// SQLite puts beside it takes over the mode.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
