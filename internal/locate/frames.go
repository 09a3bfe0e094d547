package locate

import (
	"context"
	"path"
	"slices"
	"strings"

	"flowplan/internal/lang"
	"flowplan/internal/store"
)

// Frame is one frame of a report.
type Frame struct {
	lang.Frame
	Match *Match // the function inside the root; nil for a frame outside
	// Moved: the line is not in that function any more, which was found by
	// name.
	Moved bool
}

// findFrames resolves frames, given innermost last.
func (l *Locator) findFrames(ctx context.Context, query string, frames []lang.Frame) (Result, error) {
	res := Result{Query: strings.TrimSpace(query), Kind: Frames, Complete: true}
	// Paths of another machine need the list of files.
	if err := l.ix.Ensure(ctx); err != nil {
		return res, err
	}
	known, err := l.ix.Files(ctx)
	if err != nil {
		return res, err
	}
	r := &resolver{l: l, known: known, used: map[string]bool{}}
	all := make([]Frame, len(frames))
	for i, f := range frames {
		all[i].Frame = f
		if f.Path != "" {
			if err := r.byPath(ctx, &all[i]); err != nil {
				return res, err
			}
		}
	}
	// A bare name means the function in a file of the same report, if there are
	// several of that name: so these come second.
	for i := range all {
		if all[i].Path == "" && all[i].Func != "" {
			if err := r.byName(ctx, &all[i]); err != nil {
				return res, err
			}
		}
	}
	res.stacks(all)
	if len(res.Frames) == 0 || res.Frames[0].Match == nil {
		res.Kind = None
		res.Reason = "no frame of the traceback lies inside the root " + l.fs.Root
	}
	return res, nil
}

// Stack is another stack of a report than that of the fault.
type Stack struct {
	Name   string  // freed, allocated, ...
	Frames []Frame // those inside the root, innermost first
}

// stacks sorts frames, given innermost last, into those of the fault and those
// of other stacks.
func (res *Result) stacks(all []Frame) {
	var outside []Frame
	for _, fr := range slices.Backward(all) {
		switch at := slices.IndexFunc(res.Others, func(s Stack) bool { return s.Name == fr.Stack }); {
		case fr.Match == nil:
			outside = append(outside, fr)
		case fr.Stack == "":
			res.Frames = append(res.Frames, fr)
		case at >= 0:
			res.Others[at].Frames = append(res.Others[at].Frames, fr)
		default:
			res.Others = append(res.Others, Stack{fr.Stack, []Frame{fr}})
		}
	}
	slices.Reverse(res.Others)                       // as the report has them
	if len(res.Frames) == 0 && len(res.Others) > 0 { // the fault itself lies in a library
		res.Frames, res.Others = res.Others[0].Frames, res.Others[1:]
	}
	res.Frames = append(res.Frames, outside...)
}

// resolver resolves the frames of one report.
type resolver struct {
	l     *Locator
	known map[string]store.File
	used  map[string]bool // files that frames of the report lie in
}

// byPath resolves a frame that names a file.
func (r *resolver) byPath(ctx context.Context, fr *Frame) (err error) {
	paths, sure := r.paths(fr.Path)
	var best *Match
	moved := false
	for _, p := range paths {
		m, mv, err := r.l.frameMatch(ctx, p, fr.Frame)
		if err != nil {
			return err
		}
		// A bare file name proves little: the function must be there too.
		if m == nil || !sure && (mv || fr.Line == 0 || !named(m, fr.Func)) {
			continue
		}
		if best == nil || r.used[m.Path] && !r.used[best.Path] || order(candidate{Match: *m}, candidate{Match: *best}) < 0 && r.used[m.Path] == r.used[best.Path] {
			best, moved = m, mv
		}
	}
	fr.Match, fr.Moved = best, moved
	if best != nil {
		r.used[best.Path] = true
	}
	return nil
}

// named reports whether a match bears a frame's name. A frame without one, or
// of a function without one, is found by its place alone.
func named(m *Match, fn string) bool {
	parts, _ := split(fn)
	return len(parts) == 0 || strings.HasPrefix(parts[len(parts)-1], "<") || m.Name == parts[len(parts)-1]
}

// byName resolves a frame of which nothing but a name is known: the only
// function that fits it best, or the only one in a file of the report.
func (r *resolver) byName(ctx context.Context, fr *Frame) error {
	n := name{}
	if n.parts, _ = split(fr.Func); len(n.parts) == 0 {
		return nil
	}
	symbols, err := r.l.ix.Named(ctx, n.last())
	if err != nil {
		return err
	}
	var best, here []Match
	for _, c := range r.l.rank(symbols, n) {
		if c.Name != n.last() || c.Kind == "class" || c.Kind == "module" {
			continue
		}
		if len(best) == 0 || (candidate{Match: best[0]}).class() == (candidate{Match: c.Match}).class() {
			best = append(best, c.Match)
		}
		if r.used[c.Path] {
			here = append(here, c.Match)
		}
	}
	switch {
	case len(here) == 1:
		fr.Match = &here[0]
	case len(best) == 1:
		fr.Match = &best[0]
	}
	return nil
}

// paths lists the files that a frame's path may mean: the path itself, else,
// for one of another machine or an installed copy, its longest end that is a
// file here. sure: the path alone proves it. One bare file name does not,
// unless there is one such file and nothing more was given.
func (r *resolver) paths(p string) (paths []string, sure bool) {
	p = strings.ReplaceAll(p, "\\", "/")
	if rel, ok := r.l.fs.Rel(p); ok {
		if st, err := r.l.fs.Stat(rel); err == nil && st.Regular() {
			return []string{rel}, true
		}
	}
	parts := strings.Split(strings.Trim(path.Clean(p), "/"), "/")
	for len(parts) > 1 && parts[0] == ".." { // as a build directory sees it
		parts = parts[1:]
	}
	for i := range len(parts) - 1 {
		end := strings.Join(parts[i:], "/")
		for _, dir := range []string{"", "src/", "lib/"} {
			if r.has(dir + end) {
				return []string{dir + end}, true
			}
		}
	}
	base := parts[len(parts)-1]
	if len(parts) > 1 { // the tree that was built had this file at its top
		for _, dir := range []string{"", "src/", "lib/"} {
			if r.has(dir + base) {
				paths = append(paths, dir+base)
			}
		}
		return paths, false
	}
	for _, dir := range []string{"", "src/", "lib/"} {
		if r.has(dir + base) {
			return []string{dir + base}, true
		}
	}
	for k := range r.known {
		if path.Base(k) == base {
			paths = append(paths, k)
		}
	}
	slices.Sort(paths)
	return paths, len(paths) == 1
}

func (r *resolver) has(p string) bool { _, ok := r.known[p]; return ok }

// frameMatch finds a frame's function in a file: around its line where the
// name agrees, else the function of that name nearest to the line.
func (l *Locator) frameMatch(ctx context.Context, p string, f lang.Frame) (*Match, bool, error) {
	symbols, decls, file, err := l.parse(ctx, p)
	if err != nil && ctx.Err() != nil {
		return nil, false, err
	}
	if err != nil || file == nil { // gone, unreadable, of no language: as good as outside
		return nil, false, nil
	}
	want := f.Func
	if parts, _ := split(want); len(parts) > 0 && want != "<module>" {
		want = parts[len(parts)-1]
	}
	around, named := -1, -1
	for i, d := range decls {
		if d.Parent < 0 || file.Line(d.Span.Start) <= f.Line && f.Line <= d.EndLine {
			around = i
		}
		if symbols[i].Name == want && (named < 0 || distance(symbols[i].Line, symbols[i].EndLine, f.Line) < distance(symbols[named].Line, symbols[named].EndLine, f.Line)) {
			named = i
		}
	}
	// A comprehension, lambda or class body has a frame of its own, in the
	// function around it.
	inner := strings.HasPrefix(want, "<") && want != "<module>"
	pick, moved := around, false
	if named >= 0 && around >= 0 && symbols[around].Name != want && !inner {
		if !holds(symbols[named].Line, symbols[named].EndLine, f.Line) {
			pick, moved = named, true
		} else {
			pick = named
		}
	}
	if pick < 0 || f.Line > file.NumLines() && named < 0 {
		return nil, false, nil
	}
	m := match(symbols[pick])
	if !moved {
		m.AtLine = f.Line
	}
	return &m, moved, nil
}

func holds(from, to, line int) bool { return from <= line && line <= to }

func distance(from, to, line int) int {
	switch {
	case line < from:
		return from - line
	case line > to:
		return line - to
	}
	return 0
}
