package locate

import (
	"context"
	"path"
	"slices"
	"strings"

	"flowplan/internal/lang"
)

// Frame is one frame of a traceback.
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
	var outside []Frame
	for _, f := range slices.Backward(frames) {
		fr := Frame{Frame: f}
		for _, p := range l.framePaths(f.Path, func(p string) bool { _, ok := known[p]; return ok }) {
			if fr.Match, fr.Moved, err = l.frameMatch(ctx, p, f); err != nil {
				return res, err
			}
			if fr.Match != nil {
				break
			}
		}
		if fr.Match == nil {
			outside = append(outside, fr)
		} else {
			res.Frames = append(res.Frames, fr)
		}
	}
	if len(res.Frames) == 0 {
		res.Kind = None
		res.Reason = "no frame of the traceback lies inside the root " + l.fs.Root
	}
	res.Frames = append(res.Frames, outside...)
	return res, nil
}

// framePaths lists the files that a frame's path may mean: the path itself,
// else, for one of another machine or an installed copy, its longest end
// that is a file here. One bare file name proves too little, unless it is all
// that was given.
func (l *Locator) framePaths(p string, known func(string) bool) []string {
	p = strings.ReplaceAll(p, "\\", "/")
	if rel, ok := l.fs.Rel(p); ok {
		if st, err := l.fs.Stat(rel); err == nil && st.Regular() {
			return []string{rel}
		}
	}
	parts := strings.Split(strings.Trim(path.Clean(p), "/"), "/")
	for i := range parts {
		if len(parts)-i < 2 && len(parts) > 1 {
			break
		}
		end := strings.Join(parts[i:], "/")
		if known(end) {
			return []string{end}
		}
		for _, dir := range []string{"src/", "lib/"} {
			if known(dir + end) {
				return []string{dir + end}
			}
		}
	}
	return nil
}

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
