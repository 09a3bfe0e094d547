package ledger

import (
	"bytes"
	"context"
	"fmt"

	"flowplan/internal/store"
)

// Head is where HEAD stands during a call.
type Head struct {
	Commit string // "" before the first commit
	// Descends reports whether Commit is base or one of its descendants. It is
	// asked only about a base other than Commit.
	Descends func(ctx context.Context, base string) (bool, error)
}

// Moved says what became of HEAD since a plan's base.
type Moved string

const (
	NotMoved   Moved = ""
	Descendant Moved = "descendant" // commits were added; the base stays
	Elsewhere  Moved = "elsewhere"  // the plan is closed
)

// Why a plan is closed.
const (
	ReasonPassed = "passed"
	ReasonFresh  = "fresh"
	ReasonMoved  = "HEAD moved elsewhere"
)

func (h Head) moved(ctx context.Context, base string) (Moved, error) {
	switch {
	case base == h.Commit:
		return NotMoved, nil
	case base == "":
		return Descendant, nil
	case h.Commit == "":
		return Elsewhere, nil
	case h.Descends == nil:
		return "", fmt.Errorf("ledger: HEAD moved from %.12s to %.12s and nobody can say how", base, h.Commit)
	}
	ok, err := h.Descends(ctx, base)
	if err != nil || ok {
		return Descendant, err
	}
	return Elsewhere, nil
}

// Current is the plan a call works on.
type Current struct {
	Plan        *Plan // nil: none
	Moved       Moved // where HEAD went since Plan's base; Elsewhere: Closed
	Closed      *Plan // closed by this call, because HEAD moved elsewhere
	Adopted     bool  // Plan was a dead server's; said by this call alone
	AdoptedFrom string
}

// Current finds the session's open plan. With adopt, in a server whose session
// never had a plan and whose first plan call this is, it takes over the newest
// open plan that a server without a client's id left when it died. Set adopt
// for flow_check and flow_verify only.
func (l *Ledger) Current(ctx context.Context, head Head, adopt bool) (Current, error) {
	var cur Current
	if adopt {
		first := l.firstPlanCall()
		if first && l.cfg.Session.Serving && !l.db.Memory {
			from, err := l.adopt(ctx)
			if err != nil {
				return cur, err
			}
			cur.Adopted, cur.AdoptedFrom = from != "", from
		}
	}
	plan, err := l.openPlan(ctx)
	if err != nil || plan == nil {
		return cur, err
	}
	if cur.Moved, err = head.moved(ctx, plan.Base); err != nil {
		return cur, err
	}
	if cur.Moved != Elsewhere {
		cur.Plan = plan
		return cur, nil
	}
	err = l.db.Update(ctx, func(tx *store.LedgerTx) error { return l.close(tx, plan, ReasonMoved) })
	cur.Closed = plan
	return cur, err
}

func (l *Ledger) firstPlanCall() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.planned
	l.planned = true
	return first
}

func (l *Ledger) openPlan(ctx context.Context) (*Plan, error) {
	var plan *Plan
	err := l.db.View(ctx, func(tx *store.LedgerTx) error {
		var err error
		plan, err = l.openPlanIn(tx)
		return err
	})
	return plan, err
}

func (l *Ledger) openPlanIn(tx *store.LedgerTx) (*Plan, error) {
	plans, err := tx.SessionPlans(l.cfg.Session.ID)
	if err != nil {
		return nil, err
	}
	for i := len(plans) - 1; i >= 0; i-- {
		if plans[i].Open {
			return &plans[i], nil
		}
	}
	return nil, nil
}

func (l *Ledger) close(tx *store.LedgerTx, p *Plan, reason string) error {
	if err := tx.ClosePlan(p.ID, reason, l.cfg.Now()); err != nil {
		return err
	}
	p.Open, p.Reason, p.Closed = false, reason, l.cfg.Now()
	return l.event(tx, p.ID, "close", map[string]any{"reason": reason})
}

// adopt moves a dead server's plan, what that server recorded of the tree, and
// its notes, to this session. It returns the dead session's id.
func (l *Ledger) adopt(ctx context.Context) (string, error) {
	me, from := l.cfg.Session.ID, ""
	err := l.db.Update(ctx, func(tx *store.LedgerTx) error {
		mine, err := tx.SessionPlans(me)
		if err != nil || len(mine) > 0 {
			return err
		}
		open, err := tx.OpenPlans()
		if err != nil {
			return err
		}
		for i := len(open) - 1; i >= 0; i-- {
			p := open[i]
			kind, err := tx.SessionKind(p.Session)
			if err != nil {
				return err
			}
			if Kind(kind) != Server || living(l.cfg.Home.SessionLock(l.cfg.Root, p.Session)) {
				continue
			}
			from = p.Session
			if err := tx.MovePlan(p.ID, me); err != nil {
				return err
			}
			// What differed before the plan's first session is still not its doing.
			before, recorded, err := tx.Preexisting(from)
			if err != nil {
				return err
			}
			if recorded {
				if err := tx.SetPreexisting(me, before); err != nil {
					return err
				}
			}
			notes, err := tx.Notes(from, "")
			if err != nil {
				return err
			}
			for key, value := range notes {
				if err := tx.SetNote(me, key, value); err != nil {
					return err
				}
			}
			return l.event(tx, p.ID, "plan", map[string]any{"adopted_from": from})
		}
		return nil
	})
	return from, err
}

// NewDelta is a delta to plan.
type NewDelta struct {
	Function string // id in the base commit
	Op       string
	Anchor   string // what makes two deltas of one op the same: one replaces the other
	Body     []byte // JSON
}

// Request is one flow_plan.
type Request struct {
	Deltas    []NewDelta
	Snapshots []Snapshot // of every function named; the first of each is kept
	Fresh     bool       // close the current plan and begin another
	// Preexisting lists the functions that differ from HEAD now, with their
	// text hash. It is called when that must be recorded: at a session's first
	// call, and for cli whenever a plan begins. Nil: nothing differs.
	Preexisting func(context.Context) (map[string]string, error)
}

// Planned is what came of a Request.
type Planned struct {
	Plan       *Plan
	Deltas     []Delta // as planned, in order
	Superseded []Delta // of the same functions, last graded mismatch or unknown
	Replaced   []Delta // the same op at the same anchor
	Begun      bool    // a new plan
	Closed     *Plan   // the one before, if this call closed it; see its Reason
	Moved      Moved
}

// maxTries bounds how often Add begins again because the plan changed under
// it: each time somebody else got on, so that it ends.
const maxTries = 50

// Add records a flow_plan: all of it, or nothing. The plan is the session's
// open one, unless it has passed, fresh is asked for, or HEAD moved elsewhere;
// then that one is closed and another begins, with HEAD as its base.
func (l *Ledger) Add(ctx context.Context, head Head, req Request) (Planned, error) {
	l.firstPlanCall()
	var res Planned
	if len(req.Deltas) == 0 {
		return res, fmt.Errorf("ledger: expected at least one delta to plan")
	}
	for range maxTries { // another call of this session may plan or verify in between
		plan, err := l.openPlan(ctx)
		if err != nil {
			return res, err
		}
		reason := ""
		res = Planned{}
		if plan != nil {
			if res.Moved, err = head.moved(ctx, plan.Base); err != nil {
				return res, err
			}
			switch {
			case res.Moved == Elsewhere:
				reason = ReasonMoved
			case req.Fresh:
				reason = ReasonFresh
			case plan.Verdict == "pass":
				reason = ReasonPassed
			}
		}
		before, err := l.preexistingNow(ctx, req, plan == nil || reason != "")
		if err != nil {
			return res, err
		}
		again := false
		err = l.db.Update(ctx, func(tx *store.LedgerTx) error {
			now, err := l.openPlanIn(tx)
			if err != nil {
				return err
			}
			if again = !samePlan(plan, now); again {
				return nil
			}
			return l.add(tx, head, req, plan, reason, before, &res)
		})
		if err != nil || !again {
			return res, err
		}
	}
	return res, fmt.Errorf("ledger: another process of this session plans at the same time; call again")
}

func samePlan(a, b *Plan) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && a.Verdict == b.Verdict
}

// preexistingNow asks, outside any transaction, for what must be recorded;
// nil where nothing must.
func (l *Ledger) preexistingNow(ctx context.Context, req Request, begins bool) (map[string]string, error) {
	_, recorded, err := l.Preexisting(ctx)
	if err != nil || recorded && !(l.cfg.Session.Kind == CLI && begins) {
		return nil, err
	}
	if req.Preexisting == nil {
		return map[string]string{}, nil
	}
	before, err := req.Preexisting(ctx)
	if err == nil && before == nil {
		before = map[string]string{}
	}
	return before, err
}

func (l *Ledger) add(tx *store.LedgerTx, head Head, req Request, plan *Plan, reason string, before map[string]string, res *Planned) error {
	if reason != "" {
		if err := l.close(tx, plan, reason); err != nil {
			return err
		}
		res.Closed, plan = plan, nil
	}
	if before != nil {
		if err := tx.SetPreexisting(l.cfg.Session.ID, before); err != nil {
			return err
		}
	}
	if plan == nil {
		p, err := tx.AddPlan(l.cfg.Session.ID, head.Commit, l.cfg.Now())
		if err != nil {
			return err
		}
		plan, res.Begun = &p, true
		if err := l.event(tx, p.ID, "plan", map[string]any{"base": p.Base}); err != nil {
			return err
		}
	} else if plan.Verdict != "" {
		// More is planned: the last verdict is about less.
		if err := tx.SetVerdict(plan.ID, ""); err != nil {
			return err
		}
		plan.Verdict = ""
	}
	res.Plan = plan
	if err := l.supersede(tx, req, plan, res); err != nil {
		return err
	}
	for _, s := range req.Snapshots {
		if err := tx.AddSnapshot(plan.ID, s); err != nil {
			return err
		}
	}
	for i, n := range req.Deltas {
		if repeated(req.Deltas[:i], n) {
			continue
		}
		d, err := tx.AddDelta(Delta{Plan: plan.ID, Function: n.Function, Op: n.Op, Anchor: n.Anchor, Body: n.Body, Created: l.cfg.Now()})
		if err != nil {
			return err
		}
		res.Deltas = append(res.Deltas, d)
		if err := l.event(tx, plan.ID, "delta", deltaEvent(d)); err != nil {
			return err
		}
	}
	return nil
}

func repeated(earlier []NewDelta, n NewDelta) bool {
	for _, e := range earlier {
		if e.Function == n.Function && e.Op == n.Op && e.Anchor == n.Anchor && bytes.Equal(e.Body, n.Body) {
			return true
		}
	}
	return false
}

// supersede takes out of the plan what the request stands in place of.
func (l *Ledger) supersede(tx *store.LedgerTx, req Request, plan *Plan, res *Planned) error {
	active, err := tx.Deltas(plan.ID, true)
	if err != nil {
		return err
	}
	type place struct{ function, op, anchor string }
	functions, places := map[string]bool{}, map[place]bool{}
	for _, n := range req.Deltas {
		functions[n.Function] = true
		places[place{n.Function, n.Op, n.Anchor}] = true
	}
	for _, d := range active {
		switch {
		case places[place{d.Function, d.Op, d.Anchor}]:
			d.State = "replaced"
			res.Replaced = append(res.Replaced, d)
		case functions[d.Function] && (d.Grade == "mismatch" || d.Grade == "unknown"):
			d.State = "superseded"
			res.Superseded = append(res.Superseded, d)
		default:
			continue
		}
		if err := tx.SetDeltaState(d.ID, d.State); err != nil {
			return err
		}
		data := deltaEvent(d)
		data["state"], data["grade"] = d.State, d.Grade
		if err := l.event(tx, plan.ID, "supersede", data); err != nil {
			return err
		}
	}
	return nil
}
