package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"flowplan/internal/flow"
	"flowplan/internal/ledger"
)

// LocateParams are the arguments of flow_locate.
type LocateParams struct {
	Function string
	Site     string
	Root     string
}

// LocateJSON is the answer of flow_locate as JSON.
type LocateJSON struct {
	Function   string   `json:"function"`
	Site       string   `json:"site"`
	Valid      bool     `json:"valid"`
	Unverified bool     `json:"unverified"`
	Line       int      `json:"line,omitempty"`
	Statement  string   `json:"statement,omitempty"`
	Guards     []string `json:"guards"`
	Nearest    []string `json:"nearest"`
}

// maxAttempts is the invalid site of a function, counted from one, that is kept
// as it is: an agent that cannot name a site must not be held up.
const maxAttempts = 2

// Locate pins the fault of a function to an element of its graph.
func (e *Engine) Locate(ctx context.Context, p LocateParams) (Reply, error) {
	t, err := e.treeOf(ctx, p.Root, []string{p.Function})
	if err != nil {
		return Reply{}, err
	}
	if err := t.firstCall(ctx); err != nil {
		return Reply{}, err
	}
	v, err := t.resolve(ctx, p.Function)
	if err != nil {
		return Reply{}, err
	}
	if strings.TrimSpace(p.Site) == "" {
		return Reply{}, wrong(`expected a site in %s: a line, an edge "264->270", a pair "x@258->261", or a piece of a statement`, flow.Name(v.Decl))
	}
	shown := t.shownView(ctx, v)
	a, problem := siteAnchor(shown, p.Site)
	out := LocateJSON{Function: v.ID(), Site: p.Site, Guards: []string{}, Nearest: []string{}}
	if problem != "" {
		return t.badSite(ctx, shown, p.Site, problem, out)
	}
	pin := ledger.Pin{Site: p.Site}
	if a.stmt != nil {
		pin.Data, _ = json.Marshal(map[string]int{"line": a.stmt.Line})
	}
	if _, _, err := t.led.Located(ctx, v.ID(), pin, true); err != nil {
		return Reply{}, err
	}
	out.Valid = true
	return e.pinned(shown, a, p.Site, out), nil
}

// pinned says what a valid site is: its statement, what governs it and, in a
// data-flow server or for a pair, what reaches it.
func (e *Engine) pinned(v *flow.View, a anchor, site string, out LocateJSON) Reply {
	var b strings.Builder
	if a.signature || a.stmt == nil {
		fmt.Fprintf(&b, "pinned %s: the signature of %s\n", site, flow.Name(v.Decl))
		out.Line = v.Decl.Line
		return Reply{Text: b.String(), JSON: out}
	}
	out.Line, out.Statement = a.stmt.Line, a.stmt.Text
	fmt.Fprintf(&b, "pinned %s\n", stmtLine(v, a.stmt))
	var guards []string
	for _, g := range v.Graph.Guards(a.stmt) {
		guards = append(guards, fmt.Sprintf("%s %d %s", g.Role, g.Header.Line, oneLine(g.Header.Condition(), 40)))
		out.Guards = append(out.Guards, fmt.Sprintf("%d %s", g.Header.Line, g.Role))
		if len(guards) == 4 {
			break
		}
	}
	if len(guards) > 0 {
		fmt.Fprintf(&b, "under %s\n", strings.Join(guards, "; "))
	}
	if e.cfg.DFG || a.pair {
		var from []string
		for _, d := range v.Chains.Reaching(a.stmt) {
			label := "outside"
			if d.Line > 0 {
				label = fmt.Sprint(d.Line)
			}
			from = append(from, v.PlaceName(d.Place)+":"+label)
		}
		if len(from) > 0 {
			fmt.Fprintf(&b, "reached by %s\n", strings.Join(from, " "))
		}
	}
	return Reply{Text: b.String(), JSON: out}
}

// badSite records an invalid attempt, offers the nearest valid sites, and
// after two of them keeps what was said.
func (t *tree) badSite(ctx context.Context, v *flow.View, site, problem string, out LocateJSON) (Reply, error) {
	invalid, _, err := t.led.Located(ctx, v.ID(), ledger.Pin{Site: site}, false)
	if err != nil {
		return Reply{}, err
	}
	var b strings.Builder
	for _, s := range nearestSites(v, site) {
		out.Nearest = append(out.Nearest, stmtLine(v, s))
	}
	if invalid >= maxAttempts {
		out.Unverified = true
		fmt.Fprintf(&b, "unverified: %s in %s (%s); kept, go on; nearest:\n%s\n", site, flow.Name(v.Decl), problem, strings.Join(out.Nearest, "\n"))
		return Reply{Text: b.String(), JSON: out, Code: 1}, nil
	}
	fmt.Fprintf(&b, "no such site in %s: %s; nearest:\n%s\n", flow.Name(v.Decl), problem, strings.Join(out.Nearest, "\n"))
	return Reply{Text: b.String(), JSON: out, Code: 3}, &CallError{Text: strings.TrimRight(b.String(), "\n"), NotFound: true}
}
