package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"flowplan/internal/index"
)

// IndexParams are the arguments of `flowplan index`.
type IndexParams struct{ Root string }

// IndexJSON is the answer of `flowplan index` as JSON.
type IndexJSON struct {
	Root    string `json:"root"`
	Files   int    `json:"files"`
	Symbols int    `json:"symbols"`
	Parsed  int    `json:"parsed"`
	Skipped int    `json:"skipped"`
	Millis  int64  `json:"milliseconds"`
}

// Index builds or refreshes the symbol index.
func (e *Engine) Index(ctx context.Context, p IndexParams) (Reply, error) {
	t, err := e.tree(ctx, p.Root)
	if err != nil {
		return Reply{}, err
	}
	start := e.cfg.Now()
	sum, err := t.ix.Refresh(ctx)
	if err != nil {
		return Reply{}, err
	}
	st, err := t.ix.Status(ctx)
	if err != nil {
		return Reply{}, err
	}
	took := e.cfg.Now().Sub(start)
	out := IndexJSON{t.fs.Root, st.Files, st.Symbols, sum.Parsed, skipped(st), took.Milliseconds()}
	text := fmt.Sprintf("%s%d files, %d symbols; %d read anew", t.notes(e), out.Files, out.Symbols, out.Parsed)
	if out.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped (flowplan status says why)", out.Skipped)
	}
	return Reply{Text: fmt.Sprintf("%s; %.2f s\n", text, took.Seconds()), JSON: out}, nil
}

func skipped(st index.Status) int { return len(st.Skipped) }

// StatusJSON is the answer of `flowplan status` as JSON.
type StatusJSON struct {
	Root    string            `json:"root"`
	Git     string            `json:"git"`
	Head    string            `json:"head"`
	Index   bool              `json:"index"`
	Files   int               `json:"files"`
	Symbols int               `json:"symbols"`
	Skipped map[string]string `json:"skipped"`
	Session string            `json:"session"`
	Plan    *StatusPlan       `json:"plan"`
	Memory  bool              `json:"in_memory"`
}

// StatusPlan is the open plan in a status.
type StatusPlan struct {
	ID      int64  `json:"id"`
	Base    string `json:"base"`
	Deltas  int    `json:"deltas"`
	Verdict string `json:"verdict"`
}

// Status says what the index and the ledger hold; it changes neither.
func (e *Engine) Status(ctx context.Context, root string) (Reply, error) {
	t, err := e.tree(ctx, root)
	if err != nil {
		return Reply{}, err
	}
	st, err := t.ix.Status(ctx)
	if err != nil {
		return Reply{}, err
	}
	out := StatusJSON{Root: t.fs.Root, Git: t.gitNote, Index: st.Files > 0, Files: st.Files, Symbols: st.Symbols,
		Session: t.led.Session().ID, Memory: t.led.Memory()}
	out.Skipped = st.Skipped
	head, err := t.head(ctx)
	if err != nil {
		return Reply{}, err
	}
	out.Head = head.Commit
	plans, err := t.led.Plans(ctx)
	if err != nil {
		return Reply{}, err
	}
	for _, p := range plans {
		if p.Open && p.Session == out.Session {
			deltas, err := t.led.Deltas(ctx, p.ID)
			if err != nil {
				return Reply{}, err
			}
			out.Plan = &StatusPlan{p.ID, p.Base, len(deltas), p.Verdict}
		}
	}
	return Reply{Text: out.text(t.notes(e)), JSON: out}, nil
}

func (s StatusJSON) text(notes string) string {
	var b strings.Builder
	b.WriteString(notes)
	fmt.Fprintf(&b, "root     %s\n", s.Root)
	switch {
	case s.Git != "":
		fmt.Fprintf(&b, "git      %s\n", s.Git)
	case s.Head == "":
		fmt.Fprintf(&b, "git      no commit yet\n")
	default:
		fmt.Fprintf(&b, "git      HEAD %s\n", short(s.Head))
	}
	if !s.Index {
		fmt.Fprintf(&b, "index    not built; flowplan index builds it, and so does the first question\n")
	} else {
		fmt.Fprintf(&b, "index    %d files, %d symbols\n", s.Files, s.Symbols)
	}
	for _, p := range sorted(s.Skipped) {
		fmt.Fprintf(&b, "skipped  %s: %s\n", p, s.Skipped[p])
	}
	if s.Plan == nil {
		fmt.Fprintf(&b, "plan     none open\n")
	} else {
		fmt.Fprintf(&b, "plan     %d deltas on %s", s.Plan.Deltas, short(s.Plan.Base))
		if s.Plan.Verdict != "" {
			fmt.Fprintf(&b, ", last verdict %s", s.Plan.Verdict)
		}
		b.WriteByte('\n')
	}
	if s.Memory {
		b.WriteString("ledger   in memory only\n")
	}
	return b.String()
}

// History lists the events of the ledger, one a line.
func (e *Engine) History(ctx context.Context, root string) (Reply, error) {
	t, err := e.tree(ctx, root)
	if err != nil {
		return Reply{}, err
	}
	events, err := t.led.History(ctx)
	if err != nil {
		return Reply{}, err
	}
	var b strings.Builder
	list := make([]any, len(events))
	for i, ev := range events {
		list[i] = ev
		fmt.Fprintf(&b, "%s plan %d %s", ev.Time.Format("2006-01-02 15:04:05"), ev.Plan, ev.Event)
		for _, k := range []string{"function", "op", "site", "grade", "verdict", "reason"} {
			if v, ok := ev.Data[k]; ok && v != "" {
				fmt.Fprintf(&b, " %s=%v", k, v)
			}
		}
		if g, ok := ev.Data["grades"]; ok {
			raw, err := json.Marshal(g)
			if err == nil {
				fmt.Fprintf(&b, " grades=%s", raw)
			}
		}
		b.WriteByte('\n')
	}
	return Reply{Text: b.String(), JSON: Lines(list)}, nil
}

// Lines is JSON that is printed as JSON Lines.
type Lines []any
