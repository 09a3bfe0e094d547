package engine

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/gitrepo"
	"flowplan/internal/ir"
	"flowplan/internal/lang"
)

// status says how a function differs from its version in the base commit.
type status string

const (
	modified status = "modified"
	added    status = "added"
	removed  status = "removed"
	renamed  status = "renamed"
	textOnly status = "text_only"
)

// change is one function that differs.
type change struct {
	status     status
	head, work *flow.View // nil for added and removed
	test       bool
	delta      *delta.Delta // made when first asked for
}

// id is the function's identity now, of a removed one the one it had.
func (c *change) id() string {
	if c.work != nil {
		return c.work.ID()
	}
	return c.head.ID()
}

// headID is the identity in the base commit, "" for an added function.
func (c *change) headID() string {
	if c.head == nil {
		return ""
	}
	return c.head.ID()
}

func (c *change) textHash() string {
	if c.work == nil {
		return ""
	}
	return c.work.Fingerprint().Text
}

func (c *change) diff() *delta.Delta {
	if c.delta == nil && c.head != nil && c.work != nil {
		c.delta = delta.Diff(c.head, c.work)
	}
	return c.delta
}

// outer reports whether a change is of code outside functions.
func (c *change) outer() bool {
	v := c.work
	if v == nil {
		v = c.head
	}
	return v.Decl.Kind == ir.FuncModule || v.Decl.Kind == ir.FuncClass
}

// changeSet is what differs between a commit and the work tree, or between two
// commits.
type changeSet struct {
	functions []*change
	outside   []*change // <module> and class bodies
	moved     []*change // the same function in another class or file: not modified
	unparsed  []string  // paths of files that could not be read
	conflicts []string
	broken    map[string]int // path: first line that the edit made unreadable
	patch     Patch
}

// Patch counts what differs.
type Patch struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// filePair is a file on both sides; nil where a side has none.
type filePair struct{ head, work *flow.File }

// changes compares the work tree with a commit, function by function.
func (t *tree) changes(ctx context.Context, commit string) (*changeSet, error) {
	diffs, err := t.repo.Differences(ctx, commit)
	if err != nil {
		return nil, err
	}
	set := &changeSet{broken: map[string]int{}}
	var pairs []filePair
	for _, d := range diffs {
		if d.Conflict {
			set.conflicts = append(set.conflicts, d.Path)
		}
		if d.NewMode == gitrepo.ModeSymlink || d.OldMode == gitrepo.ModeSymlink {
			continue
		}
		p, err := t.pair(ctx, commit, d, set)
		if err != nil {
			return nil, err
		}
		if p.head != nil || p.work != nil {
			pairs = append(pairs, p)
		}
	}
	set.compare(pairs)
	return set, nil
}

// pair reads both sides of a differing file.
func (t *tree) pair(ctx context.Context, commit string, d gitrepo.Difference, set *changeSet) (filePair, error) {
	var p filePair
	var before, after []byte
	if d.OldPath != "" && d.OldID != "" {
		data, err := t.repo.BlobByID(ctx, d.OldID)
		if errors.Is(err, gitrepo.ErrNotFound) { // a partial clone without it
			set.unparsed = append(set.unparsed, d.OldPath)
			set.patch.Files++
			return p, nil
		}
		if err != nil {
			return p, err
		}
		before = data
	}
	if d.Status != gitrepo.Deleted {
		data, _, err := t.fs.Read(d.Path, maxFile)
		if err != nil {
			set.unparsed = append(set.unparsed, d.Path)
			set.patch.Files++
			return p, nil
		}
		after = data
	}
	set.patch.count(before, after)
	var err error
	if d.OldID != "" && t.reads(d.OldPath, before) {
		if p.head, err = t.parse(ctx, d.OldPath, before); err != nil {
			if ctx.Err() != nil {
				return filePair{}, ctx.Err()
			}
			set.unparsed = append(set.unparsed, d.OldPath)
			return filePair{}, nil
		}
	}
	if d.Status != gitrepo.Deleted && t.reads(d.Path, after) {
		if p.work, err = t.parse(ctx, d.Path, after); err != nil {
			if ctx.Err() != nil {
				return filePair{}, ctx.Err()
			}
			set.unparsed = append(set.unparsed, d.Path)
			return filePair{}, nil
		}
	}
	return p, nil
}

func (t *tree) reads(path string, data []byte) bool {
	return t.e.cfg.Languages.ForPath(path, data[:min(len(data), lang.HeadBytes)]) != nil
}

// count adds the lines that differ between two texts, as a multiset: how much
// was edited, not where.
func (p *Patch) count(before, after []byte) {
	p.Files++
	lines := map[string]int{}
	for l := range strings.Lines(string(before)) {
		lines[strings.TrimRight(l, "\r\n")]++
	}
	for l := range strings.Lines(string(after)) {
		l = strings.TrimRight(l, "\r\n")
		if lines[l] > 0 {
			lines[l]--
		} else {
			p.Added++
		}
	}
	for _, n := range lines {
		p.Removed += n
	}
}

// compare pairs the functions of both sides and keeps those that differ.
func (s *changeSet) compare(pairs []filePair) {
	var gone, fresh []*flow.View
	for _, p := range pairs {
		if p.work != nil {
			s.noteBroken(p)
		}
		g, f := s.sameNames(p)
		gone, fresh = append(gone, g...), append(fresh, f...)
	}
	gone, fresh = s.renames(gone, fresh)
	for _, v := range gone {
		s.add(&change{status: removed, head: v})
	}
	for _, v := range fresh {
		s.add(&change{status: added, work: v})
	}
	order := func(a, b *change) int {
		x, y := a.work, b.work
		if x == nil {
			x = a.head
		}
		if y == nil {
			y = b.head
		}
		if c := strings.Compare(x.File.Source.Path, y.File.Source.Path); c != 0 {
			return c
		}
		return x.Decl.Line - y.Decl.Line
	}
	slices.SortStableFunc(s.functions, order)
	slices.SortStableFunc(s.outside, order)
}

// noteBroken finds the first line of a file that the edit made unreadable.
func (s *changeSet) noteBroken(p filePair) {
	before := 0
	if p.head != nil {
		before = len(p.head.Errors)
	}
	if n := len(p.work.Errors); n > before {
		s.broken[p.work.Source.Path] = p.work.Source.Line(p.work.Errors[before].Start)
	}
}

func (s *changeSet) add(c *change) {
	v := c.work
	if v == nil {
		v = c.head
	}
	if is := v.File.Lang.IsTest; is != nil {
		c.test = is(v.File.Source.Path, v.Decl.QualifiedName)
	}
	if c.outer() {
		if c.head != nil && c.work != nil {
			c.delta = withoutDefinitions(c.diff())
			if c.delta.Empty() {
				return
			}
		}
		s.outside = append(s.outside, c)
		return
	}
	s.functions = append(s.functions, c)
}

// withoutDefinitions drops from the delta of a module or class body what only
// says that a definition in it came, went or has another header: the functions
// tell that themselves.
func withoutDefinitions(d *delta.Delta) *delta.Delta {
	definition := func(s *ir.Stmt) bool { return s.Kind == ir.KindDef || s.Kind == ir.KindClass }
	var ops []*delta.Op
	for _, o := range d.Ops {
		if o.Kind == delta.ChangeBlock {
			o.Head.Stmts = slices.DeleteFunc(slices.Clone(o.Head.Stmts), definition)
			o.Work.Stmts = slices.DeleteFunc(slices.Clone(o.Work.Stmts), definition)
			if len(o.Head.Stmts)+len(o.Work.Stmts) == 0 {
				continue
			}
		}
		ops = append(ops, o)
	}
	d.Ops = ops
	return d
}

// sameNames pairs the functions that keep their name; it returns the rest.
func (s *changeSet) sameNames(p filePair) (gone, fresh []*flow.View) {
	byName := map[string][]int{}
	if p.work != nil {
		for i, d := range p.work.Decls {
			byName[d.QualifiedName] = append(byName[d.QualifiedName], i)
		}
	}
	taken := map[int]bool{}
	if p.head != nil {
		groups := map[string][]int{}
		var names []string
		for i, d := range p.head.Decls {
			if groups[d.QualifiedName] == nil {
				names = append(names, d.QualifiedName)
			}
			groups[d.QualifiedName] = append(groups[d.QualifiedName], i)
		}
		for _, name := range names {
			for _, m := range pairTwins(p.head, groups[name], p.work, byName[name]) {
				if m.work < 0 {
					gone = append(gone, p.head.View(m.head))
					continue
				}
				taken[m.work] = true
				s.pairViews(p.head, m.head, p.work, m.work)
			}
		}
	}
	if p.work != nil {
		for i := range p.work.Decls {
			if !taken[i] {
				fresh = append(fresh, p.work.View(i))
			}
		}
	}
	return gone, fresh
}

type twin struct{ head, work int }

// pairTwins pairs functions of one name: by equal text, by signature, then by
// how much of their bodies they share.
func pairTwins(hf *flow.File, heads []int, wf *flow.File, works []int) []twin {
	out := make([]twin, len(heads))
	for i, h := range heads {
		out[i] = twin{h, -1}
	}
	if len(heads) == 1 && len(works) == 1 {
		out[0].work = works[0]
		return out
	}
	used := map[int]bool{}
	try := func(fits func(h, w *flow.View) bool) {
		for i := range out {
			for _, w := range works {
				if out[i].work < 0 && !used[w] && fits(hf.View(out[i].head), wf.View(w)) {
					out[i].work = w
					used[w] = true
				}
			}
		}
	}
	if len(works) == 0 {
		return out
	}
	try(func(h, w *flow.View) bool { return h.TextForm() == w.TextForm() })
	try(func(h, w *flow.View) bool { return h.Func.Signature == w.Func.Signature })
	for {
		best, bi, bw := 0.0, -1, -1
		for i := range out {
			for _, w := range works {
				if out[i].work < 0 && !used[w] {
					if sim := 0.01 + similarity(hf.View(out[i].head), wf.View(w)); sim > best {
						best, bi, bw = sim, i, w
					}
				}
			}
		}
		if bi < 0 {
			return out
		}
		out[bi].work = bw
		used[bw] = true
	}
}

// pairViews adds a change for two versions of a function that differ. The text
// of the file decides first whether a view is needed at all.
func (s *changeSet) pairViews(hf *flow.File, h int, wf *flow.File, w int) {
	hd, wd := hf.Decls[h], wf.Decls[w]
	if hf.Source.Text(hd.Span) == wf.Source.Text(wd.Span) {
		return
	}
	head, work := hf.View(h), wf.View(w)
	if head.TextForm() == work.TextForm() {
		return
	}
	st := modified
	a, b := head.Fingerprint(), work.Fingerprint()
	if a.CFG == b.CFG && a.DFG == b.DFG && head.Func.Signature == work.Func.Signature {
		st = textOnly
	}
	c := &change{status: st, head: head, work: work}
	if c.diff().Empty() {
		return
	}
	s.add(c)
}

// renames pairs functions that are gone with new ones of nearly the same body.
func (s *changeSet) renames(gone, fresh []*flow.View) (restGone, restFresh []*flow.View) {
	type pair struct {
		g, f int
		sim  float64
	}
	var all []pair
	for i, g := range gone {
		if g.Decl.Kind == ir.FuncModule || g.Decl.Kind == ir.FuncClass {
			continue
		}
		for j, f := range fresh {
			if f.Decl.Kind == ir.FuncModule || f.Decl.Kind == ir.FuncClass || g.File.Lang != f.File.Lang {
				continue
			}
			sim := similarity(g, f)
			same := g.Func.Name == f.Func.Name
			switch {
			case len(g.Func.Stmts) < 3 && sim < 1:
				continue
			case len(g.Func.Stmts) < 2 && !same:
				continue
			case sim < 0.6 && !(same && sim >= 0.4):
				continue
			}
			if same {
				sim += 0.2
			}
			if path.Dir(g.File.Source.Path) == path.Dir(f.File.Source.Path) {
				sim += 0.05
			}
			all = append(all, pair{i, j, sim})
		}
	}
	slices.SortStableFunc(all, func(a, b pair) int {
		switch {
		case a.sim > b.sim:
			return -1
		case a.sim < b.sim:
			return 1
		}
		return 0
	})
	usedG, usedF := map[int]bool{}, map[int]bool{}
	for _, p := range all {
		if usedG[p.g] || usedF[p.f] {
			continue
		}
		usedG[p.g], usedF[p.f] = true, true
		g, f := gone[p.g], fresh[p.f]
		if g.Func.Name == f.Func.Name && sameBody(g, f) {
			s.moved = append(s.moved, &change{status: renamed, head: g, work: f})
			continue
		}
		s.add(&change{status: renamed, head: g, work: f})
	}
	for i, g := range gone {
		if !usedG[i] {
			restGone = append(restGone, g)
		}
	}
	for j, f := range fresh {
		if !usedF[j] {
			restFresh = append(restFresh, f)
		}
	}
	return restGone, restFresh
}

func sameBody(a, b *flow.View) bool { return a.TextForm() == b.TextForm() }

// similarity is the share of statements that two bodies have in common.
func similarity(a, b *flow.View) float64 {
	count := map[string]int{}
	for _, s := range a.Func.Stmts {
		count[s.Text]++
	}
	common := 0
	for _, s := range b.Func.Stmts {
		if count[s.Text] > 0 {
			count[s.Text]--
			common++
		}
	}
	total := len(a.Func.Stmts) + len(b.Func.Stmts)
	if total == 0 {
		if a.Func.Signature == b.Func.Signature {
			return 1
		}
		return 0
	}
	return 2 * float64(common) / float64(total)
}

// rename pairs a function that is gone, or that was taken to go on under
// another name, with the new function of that name.
func (s *changeSet) rename(head *flow.View, to string) {
	var from, target *change
	for _, c := range s.functions {
		if c.head != nil && c.headID() == head.ID() && (c.status == removed || c.status == renamed) {
			from = c
		}
		if c.work != nil && (c.status == added || c.status == renamed) && named(to, c.work.ID()) {
			target = c
		}
	}
	if from == nil || target == nil || from == target {
		return
	}
	work := target.work
	switch {
	case target.status == renamed: // whoever was paired with it is gone
		*target = change{status: removed, head: target.head, test: target.test}
	default:
		s.functions = slices.DeleteFunc(s.functions, func(c *change) bool { return c == target })
	}
	if from.status == renamed { // what it was paired with is new
		s.functions = append(s.functions, &change{status: added, work: from.work, test: from.test})
	}
	from.status, from.work, from.delta = renamed, work, nil
}

// named reports whether a new name, with a path or without, is that of a
// function: the whole of its qualified name or the end of it.
func named(ref, id string) bool {
	rp, rn := splitID(strings.TrimSuffix(ref, "()"))
	ip, in := splitID(id)
	if rp != "" && rp != ip && !strings.HasSuffix(ip, "/"+rp) {
		return false
	}
	return in == rn || strings.HasSuffix(in, "."+rn) || strings.HasSuffix(in, "::"+rn)
}
