package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/gitrepo"
	"flowplan/internal/hazard"
	"flowplan/internal/ir"
	"flowplan/internal/plan"
)

// DiffParams are the arguments of `flowplan diff`.
type DiffParams struct {
	From, To string // From "" is HEAD; To "" is the work tree
	Root     string
}

// DiffJSON is the answer of `flowplan diff` as JSON.
type DiffJSON struct {
	From      string             `json:"from"`
	To        string             `json:"to"`
	Functions []FunctionDiffJSON `json:"functions"`
	Outside   []OutsideJSON      `json:"outside_functions"`
	Unparsed  []string           `json:"unparsed"`
}

// FunctionDiffJSON is one function that differs.
type FunctionDiffJSON struct {
	File       string       `json:"file"`
	Function   string       `json:"function"`
	ID         string       `json:"id"`
	OldID      *string      `json:"old_id"`
	Status     string       `json:"status"`
	Test       bool         `json:"test"`
	HeadLine   *int         `json:"head_line"`
	Line       *int         `json:"line"`
	Deltas     []OpJSON     `json:"deltas"`
	DataDeltas []DataJSON   `json:"data_deltas"`
	Hazards    []HazardJSON `json:"hazards"`
	Unknown    []string     `json:"unknown"`
}

// OpJSON is an observed operation.
type OpJSON struct {
	Op          string   `json:"op"`
	HeadLine    *int     `json:"head_line"`
	Line        *int     `json:"line"`
	Condition   string   `json:"condition"`
	HeadRegion  [][2]int `json:"head_region"`
	Region      [][2]int `json:"region"`
	Governs     [][2]int `json:"governs"`
	HeadGoverns [][2]int `json:"head_governs"`
	Parts       []OpJSON `json:"parts"`
	Detail      string   `json:"detail"`
	From        string   `json:"from,omitempty"`
	To          string   `json:"to,omitempty"`
	HeadTo      string   `json:"head_to,omitempty"`
}

// DataJSON is an observed operation on def-use pairs.
type DataJSON struct {
	Op          string `json:"op"`
	Place       string `json:"place"`
	HeadDefLine *int   `json:"head_def_line"`
	HeadUseLine *int   `json:"head_use_line"`
	DefLine     *int   `json:"def_line"`
	UseLine     *int   `json:"use_line"`
}

// Diff lists the observed deltas of every function that differs.
func (e *Engine) Diff(ctx context.Context, p DiffParams) (Reply, error) {
	t, err := e.tree(ctx, p.Root)
	if err != nil {
		return Reply{}, err
	}
	if _, err := t.needGit(ctx); err != nil {
		return Reply{}, err
	}
	from := p.From
	if from == "" {
		from = "HEAD"
	}
	a, err := t.revision(ctx, from)
	if err != nil {
		return Reply{}, err
	}
	out := DiffJSON{From: a, To: "worktree", Functions: []FunctionDiffJSON{}, Unparsed: []string{}}
	var set *changeSet
	if p.To == "" {
		set, err = t.changes(ctx, a)
	} else {
		if out.To, err = t.revision(ctx, p.To); err == nil {
			set, err = t.between(ctx, a, out.To)
		}
	}
	if err != nil {
		return Reply{}, err
	}
	var b strings.Builder
	for _, list := range [][]*change{set.functions, set.outside} {
		for _, c := range list {
			j := c.json()
			out.Functions = append(out.Functions, j)
			writeDiff(&b, c, j)
		}
	}
	out.Outside = outsideJSON(set.outside, nil)
	out.Unparsed = append(out.Unparsed, set.unparsed...)
	for _, u := range set.unparsed {
		fmt.Fprintf(&b, "not read %s\n", u)
	}
	reply := Reply{Text: b.String(), JSON: out}
	if len(out.Functions) > 0 || len(out.Unparsed) > 0 {
		reply.Code = 1
	}
	return reply, nil
}

func (t *tree) revision(ctx context.Context, rev string) (string, error) {
	commit, err := t.repo.Resolve(ctx, rev)
	if errors.Is(err, gitrepo.ErrUnknownRevision) {
		if head, herr := t.repo.Head(ctx); rev == "HEAD" && herr == nil && head == "" {
			return "", nil
		}
		return "", notFound("no commit %q here", rev)
	}
	return commit, err
}

// between compares two commits.
func (t *tree) between(ctx context.Context, a, b string) (*changeSet, error) {
	before, err := t.repo.ListTree(ctx, a)
	if err != nil {
		return nil, err
	}
	after, err := t.repo.ListTree(ctx, b)
	if err != nil {
		return nil, err
	}
	set := &changeSet{broken: map[string]int{}}
	paths := map[string]bool{}
	for p, x := range before {
		if after[p].ID != x.ID {
			paths[p] = true
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			paths[p] = true
		}
	}
	var pairs []filePair
	for _, p := range sorted(paths) {
		var pair filePair
		for _, side := range []struct {
			entry gitrepo.TreeEntry
			to    **flow.File
		}{{before[p], &pair.head}, {after[p], &pair.work}} {
			if side.entry.ID == "" || side.entry.Mode == gitrepo.ModeSymlink {
				continue
			}
			data, err := t.repo.BlobByID(ctx, side.entry.ID)
			if errors.Is(err, gitrepo.ErrNotFound) {
				continue // a submodule
			}
			if err != nil {
				return nil, err
			}
			if !t.reads(p, data) {
				continue
			}
			if *side.to, err = t.parse(ctx, p, data); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				set.unparsed = append(set.unparsed, p)
			}
		}
		if pair.head != nil || pair.work != nil {
			pairs = append(pairs, pair)
		}
	}
	set.compare(pairs)
	return set, nil
}

func (c *change) json() FunctionDiffJSON {
	out := FunctionDiffJSON{
		File: pathPart(c.id()), Function: flow.Name(c.decl()), ID: c.id(), Status: string(c.status), Test: c.test,
		Deltas: []OpJSON{}, DataDeltas: []DataJSON{}, Hazards: []HazardJSON{}, Unknown: []string{},
	}
	if c.head != nil {
		out.HeadLine = &c.head.Decl.Line
		if id := c.headID(); id != c.id() {
			out.OldID = &id
		}
	}
	if c.work != nil {
		out.Line = &c.work.Decl.Line
	}
	d := c.diff()
	if d == nil {
		return out
	}
	for _, o := range d.Ops {
		out.Deltas = append(out.Deltas, opJSON(o, d))
	}
	for _, o := range d.Data {
		out.DataDeltas = append(out.DataDeltas, dataJSON(o))
	}
	for _, h := range hazard.Compare(d) {
		out.Hazards = append(out.Hazards, HazardJSON{c.id(), h.Kind, h.Certain, h.Line, h.Place})
	}
	for _, v := range []*flow.View{c.head, c.work} {
		if unreadable(v) {
			side := "the working text"
			if v == c.head {
				side = "HEAD"
			}
			out.Unknown = append(out.Unknown, side+" could not be read in full")
		}
	}
	return out
}

func opJSON(o *delta.Op, d *delta.Delta) OpJSON {
	_, cond := o.Cond()
	out := OpJSON{
		Op: string(o.Kind), Condition: cond, HeadRegion: lineRanges(o.Head.Region), Region: lineRanges(o.Work.Region),
		Governs: lineRanges(o.Work.Governs), HeadGoverns: lineRanges(o.Head.Governs), Parts: []OpJSON{}, Detail: detail(o),
	}
	if o.Head.Anchor != nil {
		out.HeadLine = &o.Head.Anchor.Line
	}
	if o.Work.Anchor != nil {
		out.Line = &o.Work.Anchor.Line
	}
	if o.Kind == delta.ChangeSignature {
		out.HeadLine, out.Line = &d.Head.Decl.Line, &d.Work.Decl.Line
		out.HeadRegion = [][2]int{{d.Head.FirstLine(), headerEnd(d.Head)}}
		out.Region = [][2]int{{d.Work.FirstLine(), headerEnd(d.Work)}}
	}
	if o.Kind == delta.RewireEdge {
		if o.Work.Anchor != nil && len(o.Work.Stmts) > 0 {
			out.From = fmt.Sprint(o.Work.Anchor.Line)
		}
		out.To, out.HeadTo = leads(o.Work, d.Work), leads(o.Head, d.Head)
	}
	for _, p := range o.Parts {
		out.Parts = append(out.Parts, opJSON(p, d))
	}
	return out
}

// leads is where a side's statement goes: as observed, else where its jump
// leads in the graph.
func leads(s delta.Side, v *flow.View) string {
	if s.To != "" || len(s.Stmts) == 0 || s.Anchor == nil {
		return s.To
	}
	for _, e := range v.Graph.Edges {
		switch {
		case e.FromStmt != s.Anchor || s.Anchor.Kind != ir.KindReturn && s.Anchor.Kind != ir.KindRaise:
		case e.ToStmt != nil:
			return fmt.Sprint(e.ToStmt.Line)
		default:
			return e.To
		}
	}
	return ""
}

// detail says in a few words how the arms of a guard leave, or what a
// condition was.
func detail(o *delta.Op) string {
	if out := leaving(o); out != "" {
		return out
	}
	if o.Kind == delta.ChangeCondition || o.Kind == delta.ChangeHandler {
		return "was " + o.Head.Text
	}
	return ""
}

func dataJSON(o *delta.DataOp) DataJSON {
	out := DataJSON{Op: string(o.Kind), Place: o.Place}
	line := func(s *ir.Stmt, entry int) *int {
		switch {
		case s != nil:
			return &s.Line
		case entry > 0:
			return &entry
		}
		return nil
	}
	out.HeadDefLine, out.HeadUseLine = line(o.HeadDef, o.HeadDefLine), line(o.HeadUse, 0)
	out.DefLine, out.UseLine = line(o.WorkDef, o.WorkDefLine), line(o.WorkUse, 0)
	return out
}

func writeDiff(b *strings.Builder, c *change, j FunctionDiffJSON) {
	fmt.Fprintf(b, "%s %s:%d\n", c.status, c.id(), c.decl().Line)
	if d := c.diff(); d != nil {
		for _, o := range d.Ops {
			line := "  " + plan.Describe(o)
			if det := detail(o); det != "" {
				line += "  " + oneLine(det, 60)
			}
			fmt.Fprintln(b, line)
		}
	}
	for _, h := range j.Hazards {
		fmt.Fprintf(b, "  %s L%d %s\n", h.Kind, h.Line, h.Place)
	}
}
