// Package store is the only importer of SQLite. It keeps two databases for a
// work tree, both outside it: the index, which may be thrown away and is when
// it cannot be read, and the ledger, which is never deleted.
//
// It knows schemas, versions and typed rows. It decides nothing: freshness is
// package index's, who owns a plan is package ledger's.
//
//	home, err := store.FindHome(os.Getenv)
//	ix, note, err := store.OpenIndex(ctx, home.IndexFile(root), root)
//	symbols, err := ix.Named(ctx, "_cull")
//
// Where the home cannot be written both are kept in memory, and note says so.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// busyMillis is how long a write waits for another process's.
const busyMillis = 10_000

// open opens a database file; "" is one in memory.
func open(ctx context.Context, path, synchronous string) (*sql.DB, error) {
	q := url.Values{}
	q.Set("_txlock", "immediate") // else two readers that both go on to write fail at once
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyMillis))
	dsn := "file::memory:"
	if path != "" {
		q.Add("_pragma", "journal_mode(WAL)")
		q.Add("_pragma", "synchronous("+synchronous+")")
		dsn = "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	}
	db, err := sql.Open("sqlite", dsn+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	if path == "" {
		db.SetMaxOpenConns(1) // each connection would be a database of its own
	} else {
		db.SetMaxOpenConns(4)
		db.SetMaxIdleConns(4)
	}
	for try := 0; ; try++ { // switching to WAL does not wait for a lock
		err = db.PingContext(ctx)
		if err == nil || !isCode(err, lib.SQLITE_BUSY, lib.SQLITE_LOCKED) || try == 50 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func isCode(err error, codes ...int) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, c := range codes {
		if e.Code()&0xff == c {
			return true
		}
	}
	return false
}

// Unreadable reports that the file is no database, or a damaged one.
func Unreadable(err error) bool {
	return errors.Is(err, errDamaged) || isCode(err, lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB)
}

// Unwritable reports that the disk, not the request, is at fault.
func Unwritable(err error) bool {
	return isCode(err, lib.SQLITE_FULL, lib.SQLITE_READONLY, lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM)
}

var errDamaged = errors.New("database is damaged")

func version(ctx context.Context, db *sql.DB) (int, error) {
	var v int
	err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// create makes the schema in one transaction, unless another process did so
// meanwhile.
func create(ctx context.Context, db *sql.DB, schema string, v int, root string) error {
	return inTx(ctx, db, func(tx *sql.Tx) error {
		var have int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil || have != 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO meta(key, value) VALUES('root', ?)", root); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v))
		return err
	})
}

func inTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// collect reads all rows before it returns: a database in memory has one
// connection, which an open result would hold.
func collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		x, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

func isBusy(err error) bool { return isCode(err, lib.SQLITE_BUSY, lib.SQLITE_LOCKED) }
