package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"flowplan/internal/store"
)

// Deltas lists a plan's deltas that count, in the order planned.
func (l *Ledger) Deltas(ctx context.Context, plan int64) ([]Delta, error) {
	var out []Delta
	err := l.db.View(ctx, func(tx *store.LedgerTx) (err error) {
		out, err = tx.Deltas(plan, true)
		return err
	})
	return out, err
}

// Snapshots lists a plan's snapshots by function.
func (l *Ledger) Snapshots(ctx context.Context, plan int64) (map[string]Snapshot, error) {
	var out map[string]Snapshot
	err := l.db.View(ctx, func(tx *store.LedgerTx) (err error) {
		out, err = tx.Snapshots(plan)
		return err
	})
	return out, err
}

// Grading is the outcome of one flow_check or flow_verify.
type Grading struct {
	Grades  map[int64]string // by delta id
	Verdict string           // of a verify; "" for a check
	Data    any              // a JSON object for the history
}

// Graded records a check or verify. plan 0: there was none.
func (l *Ledger) Graded(ctx context.Context, plan int64, g Grading) error {
	return l.db.Update(ctx, func(tx *store.LedgerTx) error {
		for id, grade := range g.Grades {
			if err := tx.SetGrade(plan, id, grade); err != nil {
				return err
			}
		}
		data, err := object(g.Data)
		if err != nil {
			return err
		}
		event := "check"
		if g.Verdict != "" {
			event = "verify"
			data["verdict"] = g.Verdict
			if plan != 0 {
				if err := tx.SetVerdict(plan, g.Verdict); err != nil {
					return err
				}
			}
		}
		if len(g.Grades) > 0 {
			grades := map[string]string{}
			for id, grade := range g.Grades {
				grades[fmt.Sprint(id)] = grade
			}
			data["grades"] = grades
		}
		return l.event(tx, plan, event, data)
	})
}

// Preexisting lists the functions that differed from HEAD at the session's
// first call, with the hash of their text then; false where that was not
// recorded yet.
func (l *Ledger) Preexisting(ctx context.Context) (map[string]string, bool, error) {
	var out map[string]string
	var recorded bool
	err := l.db.View(ctx, func(tx *store.LedgerTx) (err error) {
		out, recorded, err = tx.Preexisting(l.cfg.Session.ID)
		return err
	})
	return out, recorded, err
}

// SetPreexisting records it, once: what is there stays.
func (l *Ledger) SetPreexisting(ctx context.Context, hashes map[string]string) error {
	return l.db.Update(ctx, func(tx *store.LedgerTx) error {
		if _, recorded, err := tx.Preexisting(l.cfg.Session.ID); err != nil || recorded {
			return err
		}
		return tx.SetPreexisting(l.cfg.Session.ID, hashes)
	})
}

// Elsewhere lists the functions that another open plan of this work tree
// covers, whoever's it is, or an earlier passed plan of this session.
func (l *Ledger) Elsewhere(ctx context.Context, plan int64) (map[string]bool, error) {
	out := map[string]bool{}
	err := l.db.View(ctx, func(tx *store.LedgerTx) error {
		plans, err := tx.Plans()
		if err != nil {
			return err
		}
		for _, p := range plans {
			passed := p.Session == l.cfg.Session.ID && p.Verdict == "pass"
			if p.ID == plan || !p.Open && !passed {
				continue
			}
			deltas, err := tx.Deltas(p.ID, true)
			if err != nil {
				return err
			}
			for _, d := range deltas {
				out[d.Function] = true
			}
		}
		return nil
	})
	return out, err
}

// Pin is the site of a function that flow_locate pinned.
type Pin struct {
	Site       string          `json:"site"`
	Unverified bool            `json:"unverified,omitempty"` // kept after two invalid attempts
	Data       json.RawMessage `json:"data,omitempty"`
}

// Located records one attempt to pin a site of a function, and returns how
// many invalid ones there were in a row. A valid one pins it; so does the one
// after two invalid ones, as unverified.
func (l *Ledger) Located(ctx context.Context, function string, pin Pin, valid bool) (invalid int, kept Pin, err error) {
	session := l.cfg.Session.ID
	err = l.db.Update(ctx, func(tx *store.LedgerTx) error {
		notes, err := tx.Notes(session, "attempts:"+function)
		if err != nil {
			return err
		}
		if raw, ok := notes["attempts:"+function]; ok {
			if _, err := fmt.Sscan(string(raw), &invalid); err != nil {
				invalid = 0
			}
		}
		if valid {
			invalid = 0
		} else {
			invalid++
			pin.Unverified = invalid >= 2
		}
		if err := tx.SetNote(session, "attempts:"+function, fmt.Appendf(nil, "%d", invalid)); err != nil {
			return err
		}
		if valid || pin.Unverified {
			raw, err := json.Marshal(pin)
			if err != nil {
				return fmt.Errorf("ledger: pin of %s: %w", function, err)
			}
			if err := tx.SetNote(session, "pin:"+function, raw); err != nil {
				return err
			}
		}
		plan, err := l.openPlanIn(tx)
		if err != nil {
			return err
		}
		id := int64(0)
		if plan != nil {
			id = plan.ID
		}
		return l.event(tx, id, "locate", map[string]any{"function": function, "site": pin.Site, "valid": valid, "unverified": pin.Unverified})
	})
	return invalid, pin, err
}

// Pins lists the session's pins by function.
func (l *Ledger) Pins(ctx context.Context) (map[string]Pin, error) {
	notes, err := l.notes(ctx, "pin:")
	if err != nil {
		return nil, err
	}
	out := map[string]Pin{}
	for key, raw := range notes {
		var p Pin
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("ledger: pin %s: %w", key, err)
		}
		out[strings.TrimPrefix(key, "pin:")] = p
	}
	return out, nil
}

// Repeated counts how often in a row, this time included, the same outcome
// was seen under a key: the third identical verdict on identical code is
// worth another advice.
func (l *Ledger) Repeated(ctx context.Context, key, outcome string) (int, error) {
	n := 1
	err := l.db.Update(ctx, func(tx *store.LedgerTx) error {
		full := "repeat:" + key
		notes, err := tx.Notes(l.cfg.Session.ID, full)
		if err != nil {
			return err
		}
		if count, last, ok := strings.Cut(string(notes[full]), " "); ok && last == outcome {
			if _, err := fmt.Sscan(count, &n); err != nil {
				n = 0
			}
			n++
		}
		return tx.SetNote(l.cfg.Session.ID, full, fmt.Appendf(nil, "%d %s", n, outcome))
	})
	return n, err
}

// Remember keeps a value for the session, such as what it was last shown.
func (l *Ledger) Remember(ctx context.Context, key string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	return l.db.Update(ctx, func(tx *store.LedgerTx) error {
		return tx.SetNote(l.cfg.Session.ID, "engine:"+key, value)
	})
}

// Recall is what Remember kept under a key, and whether it did.
func (l *Ledger) Recall(ctx context.Context, key string) ([]byte, bool, error) {
	notes, err := l.notes(ctx, "engine:"+key)
	value, ok := notes["engine:"+key]
	return value, ok, err
}

func (l *Ledger) notes(ctx context.Context, prefix string) (map[string][]byte, error) {
	var out map[string][]byte
	err := l.db.View(ctx, func(tx *store.LedgerTx) (err error) {
		out, err = tx.Notes(l.cfg.Session.ID, prefix)
		return err
	})
	return out, err
}

// Plans lists every plan of the work tree, oldest first.
func (l *Ledger) Plans(ctx context.Context) ([]Plan, error) {
	var out []Plan
	err := l.db.View(ctx, func(tx *store.LedgerTx) (err error) {
		out, err = tx.Plans()
		return err
	})
	return out, err
}

// Event is one line of the history.
type Event struct {
	Time    time.Time
	Plan    int64 // 0: outside any plan
	Session string
	Root    string
	Event   string // plan, delta, supersede, locate, check, verify, close
	Data    map[string]any
}

// MarshalJSON puts the fields of Data beside the others.
func (e Event) MarshalJSON() ([]byte, error) {
	m := maps.Clone(e.Data)
	if m == nil {
		m = map[string]any{}
	}
	m["time"], m["session"], m["root"], m["event"] = e.Time.Format(time.RFC3339Nano), e.Session, e.Root, e.Event
	m["plan"] = nil
	if e.Plan != 0 {
		m["plan"] = e.Plan
	}
	return json.Marshal(m)
}

// Record appends an event to the history.
func (l *Ledger) Record(ctx context.Context, plan int64, event string, data any) error {
	return l.db.Update(ctx, func(tx *store.LedgerTx) error {
		fields, err := object(data)
		if err != nil {
			return err
		}
		return l.event(tx, plan, event, fields)
	})
}

// History lists all events of the work tree, of every session, in order.
func (l *Ledger) History(ctx context.Context) ([]Event, error) {
	var rows []store.Event
	err := l.db.View(ctx, func(tx *store.LedgerTx) (err error) {
		rows, err = tx.Events()
		return err
	})
	out := make([]Event, len(rows))
	for i, r := range rows {
		out[i] = Event{Time: r.Time, Plan: r.Plan, Session: r.Session, Root: l.cfg.Root, Event: r.Event}
		if err := json.Unmarshal(r.Data, &out[i].Data); err != nil {
			return nil, fmt.Errorf("ledger: event %d: %w", r.ID, err)
		}
	}
	return out, err
}

func (l *Ledger) event(tx *store.LedgerTx, plan int64, event string, data map[string]any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("ledger: %s event: %w", event, err)
	}
	return tx.AddEvent(store.Event{Time: l.cfg.Now(), Plan: plan, Session: l.cfg.Session.ID, Event: event, Data: raw})
}

func deltaEvent(d Delta) map[string]any {
	m := map[string]any{"delta": d.ID, "function": d.Function, "op": d.Op}
	if json.Valid(d.Body) {
		m["planned"] = json.RawMessage(d.Body)
	}
	return m
}

// object turns any value that JSON has as an object into its fields.
func object(data any) (map[string]any, error) {
	fields := map[string]any{}
	if data == nil {
		return fields, nil
	}
	raw, err := json.Marshal(data)
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: expected an event's data to be a JSON object: %w", err)
	}
	if fields == nil {
		fields = map[string]any{}
	}
	return fields, nil
}

// Functions lists the functions named by deltas, each once, in order.
func Functions(deltas []Delta) []string {
	set := map[string]bool{}
	for _, d := range deltas {
		set[d.Function] = true
	}
	return slices.Sorted(maps.Keys(set))
}
