package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const ledgerVersion = 1

const ledgerSchema = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE sessions(id TEXT PRIMARY KEY, kind TEXT NOT NULL, started INTEGER NOT NULL, recorded INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE plans(
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	session TEXT NOT NULL, base TEXT NOT NULL,
	open INTEGER NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL,
	created INTEGER NOT NULL, closed INTEGER NOT NULL);
CREATE INDEX plans_open ON plans(open, session);
CREATE TABLE deltas(
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	plan INTEGER NOT NULL, function TEXT NOT NULL, op TEXT NOT NULL, anchor TEXT NOT NULL,
	body BLOB NOT NULL, grade TEXT NOT NULL, state TEXT NOT NULL, created INTEGER NOT NULL);
CREATE INDEX deltas_plan ON deltas(plan, state);
CREATE TABLE snapshots(
	plan INTEGER NOT NULL, function TEXT NOT NULL,
	blob TEXT NOT NULL, fingerprint TEXT NOT NULL, edited INTEGER NOT NULL,
	PRIMARY KEY(plan, function)) WITHOUT ROWID;
CREATE TABLE preexisting(session TEXT NOT NULL, function TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY(session, function)) WITHOUT ROWID;
CREATE TABLE notes(session TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(session, key)) WITHOUT ROWID;
CREATE TABLE events(
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	time INTEGER NOT NULL, plan INTEGER NOT NULL, session TEXT NOT NULL, event TEXT NOT NULL, data BLOB NOT NULL);
`

// Plan is a row of plans.
type Plan struct {
	ID      int64
	Session string
	Base    string
	Open    bool
	Verdict string // of the last verify, or ""
	Reason  string // why it was closed
	Created time.Time
	Closed  time.Time // zero while open
}

// Delta is a row of deltas. State: active, superseded or replaced.
type Delta struct {
	ID       int64
	Plan     int64
	Function string
	Op       string
	Anchor   string
	Body     []byte
	Grade    string // the last one, or ""
	State    string
	Created  time.Time
}

// Snapshot is what a function was in the base commit when first planned.
type Snapshot struct {
	Function    string
	Blob        string // id of the file's blob in the base commit; "" for a new file
	Fingerprint string
	Edited      bool // the work tree differed already
}

// Event is a row of events; Data is a JSON object.
type Event struct {
	ID      int64
	Time    time.Time
	Plan    int64 // 0: outside any plan
	Session string
	Event   string
	Data    []byte
}

// Ledger is the ledger database of one work tree.
type Ledger struct {
	db     *sql.DB
	Memory bool
}

// OpenLedger opens the ledger in path. It deletes nothing: a file that cannot
// be read is moved aside, one that cannot be written or belongs to a newer
// flowplan is left alone and the ledger is in memory. note says so.
func OpenLedger(ctx context.Context, path, root string) (l *Ledger, note string, err error) {
	if path != "" {
		l, err = openLedgerFile(ctx, path, root)
		if Unreadable(err) {
			var moved string
			if moved, err = moveAside(ctx, path); err == nil {
				l, err = openLedgerFile(ctx, path, root)
				note = "the ledger could not be read: it was moved to " + moved + " and a new one begun"
				if moved == "" {
					note = ""
				}
			}
		}
		if err == nil || ctx.Err() != nil || isBusy(err) {
			return l, note, err
		}
		note = fmt.Sprintf("plans are kept in memory only: cannot use %s (%v); set FLOWPLAN_HOME to a directory that can be written", path, err)
	}
	db, err := open(ctx, "", "")
	if err != nil {
		return nil, "", fmt.Errorf("open ledger in memory: %w", err)
	}
	if err := create(ctx, db, ledgerSchema, ledgerVersion, root); err != nil {
		db.Close()
		return nil, "", fmt.Errorf("open ledger in memory: %w", err)
	}
	return &Ledger{db: db, Memory: true}, note, nil
}

func openLedgerFile(ctx context.Context, path, root string) (*Ledger, error) {
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	db, err := open(ctx, path, "FULL") // acknowledged means on the disk
	if err != nil {
		return nil, err
	}
	if err := checkLedger(ctx, db, root); err != nil {
		db.Close()
		return nil, err
	}
	return &Ledger{db: db}, nil
}

func checkLedger(ctx context.Context, db *sql.DB, root string) error {
	v, err := version(ctx, db)
	if err != nil {
		return err
	}
	if v > ledgerVersion {
		return fmt.Errorf("it was written by a newer flowplan (schema %d, this one knows %d); update flowplan", v, ledgerVersion)
	}
	if v == 0 {
		if err := create(ctx, db, ledgerSchema, ledgerVersion, root); err != nil {
			return err
		}
	}
	var ok string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&ok); err != nil {
		return err
	}
	if ok != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, ok)
	}
	// Creating it in a file that can be read only would have failed already;
	// an old one may have become so.
	return inTx(ctx, db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO meta(key, value) VALUES('root', ?)", root)
		return err
	})
}

// moveAside renames an unreadable ledger, unless another process has done so
// already, and returns the new name.
func moveAside(ctx context.Context, path string) (string, error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	if db, err := open(ctx, path, "FULL"); err == nil {
		_, err = version(ctx, db)
		if err == nil {
			var ok string
			err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&ok)
			if err == nil && ok == "ok" {
				db.Close()
				return "", nil
			}
		}
		db.Close()
	}
	moved := path + ".unreadable-" + time.Now().UTC().Format("20060102T150405.000000000")
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+suffix, moved+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return moved, nil
}

// Close ends the use of the database.
func (l *Ledger) Close() error { return l.db.Close() }

// Update runs fn in one write transaction: when it returns nil everything fn
// did is on the disk.
func (l *Ledger) Update(ctx context.Context, fn func(*LedgerTx) error) error {
	err := inTx(ctx, l.db, func(tx *sql.Tx) error { return fn(&LedgerTx{ctx, tx}) })
	if isBusy(err) {
		return fmt.Errorf("write ledger: another process held it for %d s; try again: %w", busyMillis/1000, err)
	}
	return err
}

// View runs fn on one consistent state.
func (l *Ledger) View(ctx context.Context, fn func(*LedgerTx) error) error {
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	defer tx.Rollback()
	return fn(&LedgerTx{ctx, tx})
}
