package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// LedgerTx reads and writes rows of the ledger within one transaction.
type LedgerTx struct {
	ctx context.Context
	tx  *sql.Tx
}

func (t *LedgerTx) exec(query string, args ...any) (int64, error) {
	res, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("write ledger: %w", err)
	}
	return res.LastInsertId()
}

func (t *LedgerTx) count(query string, args ...any) (int, error) {
	var n int
	err := t.tx.QueryRowContext(t.ctx, query, args...).Scan(&n)
	if err != nil {
		err = fmt.Errorf("read ledger: %w", err)
	}
	return n, err
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// AddSession records a session when it is first seen.
func (t *LedgerTx) AddSession(id, kind string, started time.Time) error {
	_, err := t.exec("INSERT OR IGNORE INTO sessions(id, kind, started, recorded) VALUES(?,?,?,0)", id, kind, nanos(started))
	return err
}

// SessionKind is the kind under which a session was recorded, or "".
func (t *LedgerTx) SessionKind(id string) (string, error) {
	var kind string
	err := t.tx.QueryRowContext(t.ctx, "SELECT kind FROM sessions WHERE id = ?", id).Scan(&kind)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return kind, err
}

const planColumns = "SELECT id, session, base, open, verdict, reason, created, closed FROM plans "

// Plans lists the plans that meet a condition, oldest first.
func (t *LedgerTx) plans(where string, args ...any) ([]Plan, error) {
	rows, err := t.tx.QueryContext(t.ctx, planColumns+where+" ORDER BY id", args...)
	list, err := collect(rows, err, func(rows *sql.Rows) (Plan, error) {
		var p Plan
		var created, closed int64
		err := rows.Scan(&p.ID, &p.Session, &p.Base, &p.Open, &p.Verdict, &p.Reason, &created, &closed)
		p.Created, p.Closed = fromNanos(created), fromNanos(closed)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return list, nil
}

// Plans lists all plans, oldest first.
func (t *LedgerTx) Plans() ([]Plan, error) { return t.plans("") }

// OpenPlans lists the open plans, oldest first.
func (t *LedgerTx) OpenPlans() ([]Plan, error) { return t.plans("WHERE open = 1") }

// SessionPlans lists a session's plans, oldest first.
func (t *LedgerTx) SessionPlans(session string) ([]Plan, error) {
	return t.plans("WHERE session = ?", session)
}

// AddPlan begins a plan.
func (t *LedgerTx) AddPlan(session, base string, now time.Time) (Plan, error) {
	id, err := t.exec("INSERT INTO plans(session, base, open, verdict, reason, created, closed) VALUES(?,?,1,'','',?,0)", session, base, nanos(now))
	return Plan{ID: id, Session: session, Base: base, Open: true, Created: now}, err
}

// ClosePlan closes a plan.
func (t *LedgerTx) ClosePlan(id int64, reason string, now time.Time) error {
	_, err := t.exec("UPDATE plans SET open = 0, reason = ?, closed = ? WHERE id = ? AND open = 1", reason, nanos(now), id)
	return err
}

// MovePlan gives a plan to another session.
func (t *LedgerTx) MovePlan(id int64, session string) error {
	_, err := t.exec("UPDATE plans SET session = ? WHERE id = ?", session, id)
	return err
}

// SetVerdict records a plan's last verdict.
func (t *LedgerTx) SetVerdict(id int64, verdict string) error {
	_, err := t.exec("UPDATE plans SET verdict = ? WHERE id = ?", verdict, id)
	return err
}

// AddDelta adds a planned delta.
func (t *LedgerTx) AddDelta(d Delta) (Delta, error) {
	id, err := t.exec("INSERT INTO deltas(plan, function, op, anchor, body, grade, state, created) VALUES(?,?,?,?,?,'','active',?)",
		d.Plan, d.Function, d.Op, d.Anchor, d.Body, nanos(d.Created))
	d.ID, d.State, d.Grade = id, "active", ""
	return d, err
}

// Deltas lists a plan's deltas in the order they were planned.
func (t *LedgerTx) Deltas(plan int64, activeOnly bool) ([]Delta, error) {
	where := "WHERE plan = ?"
	if activeOnly {
		where += " AND state = 'active'"
	}
	rows, err := t.tx.QueryContext(t.ctx, "SELECT id, plan, function, op, anchor, body, grade, state, created FROM deltas "+where+" ORDER BY id", plan)
	list, err := collect(rows, err, func(rows *sql.Rows) (Delta, error) {
		var d Delta
		var created int64
		err := rows.Scan(&d.ID, &d.Plan, &d.Function, &d.Op, &d.Anchor, &d.Body, &d.Grade, &d.State, &created)
		d.Created = fromNanos(created)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return list, nil
}

// SetDeltaState changes what a delta counts for.
func (t *LedgerTx) SetDeltaState(id int64, state string) error {
	_, err := t.exec("UPDATE deltas SET state = ? WHERE id = ?", state, id)
	return err
}

// SetGrade records a delta's last grade.
func (t *LedgerTx) SetGrade(plan, id int64, grade string) error {
	_, err := t.exec("UPDATE deltas SET grade = ? WHERE id = ? AND plan = ?", grade, id, plan)
	return err
}

// AddSnapshot keeps the first snapshot of each function of a plan.
func (t *LedgerTx) AddSnapshot(plan int64, s Snapshot) error {
	_, err := t.exec("INSERT OR IGNORE INTO snapshots(plan, function, blob, fingerprint, edited) VALUES(?,?,?,?,?)", plan, s.Function, s.Blob, s.Fingerprint, s.Edited)
	return err
}

// Snapshots lists a plan's snapshots by function.
func (t *LedgerTx) Snapshots(plan int64) (map[string]Snapshot, error) {
	rows, err := t.tx.QueryContext(t.ctx, "SELECT function, blob, fingerprint, edited FROM snapshots WHERE plan = ?", plan)
	list, err := collect(rows, err, func(rows *sql.Rows) (Snapshot, error) {
		var s Snapshot
		return s, rows.Scan(&s.Function, &s.Blob, &s.Fingerprint, &s.Edited)
	})
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	out := make(map[string]Snapshot, len(list))
	for _, s := range list {
		out[s.Function] = s
	}
	return out, nil
}

// Preexisting lists what differed at a session's first call; false where that
// was not recorded yet.
func (t *LedgerTx) Preexisting(session string) (map[string]string, bool, error) {
	n, err := t.count("SELECT count(*) FROM sessions WHERE id = ? AND recorded = 1", session)
	if err != nil || n == 0 {
		return nil, false, err
	}
	rows, err := t.tx.QueryContext(t.ctx, "SELECT function, hash FROM preexisting WHERE session = ?", session)
	list, err := collect(rows, err, func(rows *sql.Rows) ([2]string, error) {
		var p [2]string
		return p, rows.Scan(&p[0], &p[1])
	})
	if err != nil {
		return nil, false, fmt.Errorf("read ledger: %w", err)
	}
	out := make(map[string]string, len(list))
	for _, p := range list {
		out[p[0]] = p[1]
	}
	return out, true, nil
}

// SetPreexisting replaces what differed at a session's first call.
func (t *LedgerTx) SetPreexisting(session string, hashes map[string]string) error {
	if _, err := t.exec("DELETE FROM preexisting WHERE session = ?", session); err != nil {
		return err
	}
	for function, hash := range hashes {
		if _, err := t.exec("INSERT INTO preexisting(session, function, hash) VALUES(?,?,?)", session, function, hash); err != nil {
			return err
		}
	}
	_, err := t.exec("UPDATE sessions SET recorded = 1 WHERE id = ?", session)
	return err
}

// SetNote keeps a value for a session; nil takes it away.
func (t *LedgerTx) SetNote(session, key string, value []byte) error {
	if value == nil {
		_, err := t.exec("DELETE FROM notes WHERE session = ? AND key = ?", session, key)
		return err
	}
	_, err := t.exec("INSERT OR REPLACE INTO notes(session, key, value) VALUES(?,?,?)", session, key, value)
	return err
}

// Notes lists a session's values whose key begins with prefix.
func (t *LedgerTx) Notes(session, prefix string) (map[string][]byte, error) {
	type note struct {
		key   string
		value []byte
	}
	rows, err := t.tx.QueryContext(t.ctx, "SELECT key, value FROM notes WHERE session = ? AND key >= ? AND key < ?", session, prefix, prefix+"\U0010ffff")
	list, err := collect(rows, err, func(rows *sql.Rows) (note, error) {
		var n note
		return n, rows.Scan(&n.key, &n.value)
	})
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	out := map[string][]byte{}
	for _, n := range list {
		if strings.HasPrefix(n.key, prefix) {
			out[n.key] = n.value
		}
	}
	return out, nil
}

// AddEvent appends to the history.
func (t *LedgerTx) AddEvent(e Event) error {
	_, err := t.exec("INSERT INTO events(time, plan, session, event, data) VALUES(?,?,?,?,?)", nanos(e.Time), e.Plan, e.Session, e.Event, e.Data)
	return err
}

// Events lists the history in order.
func (t *LedgerTx) Events() ([]Event, error) {
	rows, err := t.tx.QueryContext(t.ctx, "SELECT id, time, plan, session, event, data FROM events ORDER BY id")
	list, err := collect(rows, err, func(rows *sql.Rows) (Event, error) {
		var e Event
		var at int64
		err := rows.Scan(&e.ID, &at, &e.Plan, &e.Session, &e.Event, &e.Data)
		e.Time = fromNanos(at)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return list, nil
}
