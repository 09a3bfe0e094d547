// Package ledger keeps plans: who owns which, what was planned, how it was
// graded, and what differed before the session began. Its rules of ownership
// are those of "The plan ledger" in the design; they hold across processes,
// and what a call acknowledged is on the disk.
//
// It does not know what a delta means: a planned delta is an opaque JSON value
// beside the function, operation and anchor it counts under. It runs no git:
// the caller says where HEAD is.
//
//	l, err := ledger.Open(ctx, ledger.Config{Home: home, Root: root, Session: ledger.SessionFrom(os.Getenv, true)})
//	res, err := l.Add(ctx, head, ledger.Request{Deltas: deltas, Snapshots: snaps})  // flow_plan
//	cur, err := l.Current(ctx, head, true)                                          // flow_check, flow_verify
//	deltas, err := l.Deltas(ctx, cur.Plan.ID)
//	err = l.Graded(ctx, cur.Plan.ID, ledger.Grading{Grades: grades, Verdict: "pass"})
package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"flowplan/internal/store"
)

// Kind says where a session's name comes from.
type Kind string

const (
	Client Kind = "client" // the client's own session id
	Server Kind = "server" // this server process
	CLI    Kind = "cli"    // the commands without a client's id, all together
)

// Session is who plans.
type Session struct {
	ID   string
	Kind Kind
	// Serving: a server, which may adopt a plan that a dead server left.
	Serving bool
}

// SessionFrom names the session of this process. getenv is os.Getenv, except
// in tests.
func SessionFrom(getenv func(string) string, serving bool) Session {
	if id := getenv("CLAUDE_CODE_SESSION_ID"); id != "" {
		return Session{ID: id, Kind: Client, Serving: serving}
	}
	if !serving {
		return Session{ID: "cli", Kind: CLI}
	}
	var b [8]byte
	rand.Read(b[:]) // never fails
	return Session{ID: fmt.Sprintf("server-%d-%s", os.Getpid(), hex.EncodeToString(b[:])), Kind: Server, Serving: true}
}

// The rows, as package store has them.
type (
	Plan     = store.Plan
	Delta    = store.Delta
	Snapshot = store.Snapshot
)

// Config says whose ledger is opened.
type Config struct {
	Home    *store.Home // nil: in memory
	Root    string      // of the work tree
	Session Session
	Now     func() time.Time // nil: time.Now
}

// Ledger is one session's view of a work tree's ledger. It is safe for use by
// several goroutines, and the database by several processes.
type Ledger struct {
	cfg  Config
	db   *store.Ledger
	lock *sessionLock // nil for cli and in memory

	mu      sync.Mutex
	note    string
	planned bool // a plan call was made: no adoption any more
}

// Open opens the ledger and marks the session as living until Close.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	if cfg.Session.ID == "" || cfg.Root == "" {
		return nil, errors.New("open ledger: expected a session and a root")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	file := ""
	if cfg.Home != nil {
		file = cfg.Home.LedgerFile(cfg.Root)
	}
	db, note, err := store.OpenLedger(ctx, file, cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	l := &Ledger{cfg: cfg, db: db, note: note}
	if !db.Memory && cfg.Session.Kind != CLI {
		if l.lock, err = holdLock(cfg.Home.SessionLock(cfg.Root, cfg.Session.ID)); err != nil {
			db.Close()
			return nil, fmt.Errorf("open ledger: %w", err)
		}
	}
	err = db.Update(ctx, func(tx *store.LedgerTx) error {
		return tx.AddSession(cfg.Session.ID, string(cfg.Session.Kind), cfg.Now())
	})
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return l, nil
}

// Close ends the session's life.
func (l *Ledger) Close() error {
	if l.lock != nil {
		l.lock.release(l.cfg.Session.Kind == Server)
	}
	return l.db.Close()
}

// Session is whose view this is.
func (l *Ledger) Session() Session { return l.cfg.Session }

// Memory reports that nothing outlives the process.
func (l *Ledger) Memory() bool { return l.db.Memory }

// Note says, once, what the user should know: plans in memory only, or a
// ledger moved aside.
func (l *Ledger) Note() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	note := l.note
	l.note = ""
	return note
}
