package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A sessionLock is held, shared, by every process of a living session. The
// kernel lets go of it however a process ends, which no pid can promise.
type sessionLock struct{ f *os.File }

func holdLock(path string) (*sessionLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for { // a tester holds it for a moment at most
		err = unix.Flock(int(f.Fd()), unix.LOCK_SH)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &sessionLock{f}, nil
}

func (s *sessionLock) release(remove bool) {
	if remove { // a server's name never comes again
		os.Remove(s.f.Name())
	}
	s.f.Close()
}

// living reports whether some process holds the lock. In doubt it does.
func living(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	for try := range 5 { // two testers may see each other
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return false
		}
		if try < 4 {
			time.Sleep(2 * time.Millisecond)
		}
	}
	return true
}
