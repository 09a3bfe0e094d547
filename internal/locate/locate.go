// Package locate finds functions from what an agent typed: a name, a dotted or
// :: qualified one, path:name, path:line, a path, or frames of a traceback.
//
// It ranks and says what it found, what it did not, and whether that is sure.
// It makes no views and holds nothing: the index and the files are asked at
// every call, and a candidate whose file changed is looked up anew.
//
//	l := locate.New(ix, fs, langs)
//	res, err := l.Find(ctx, "DatabaseCache._cull")
//	res.Kind            // locate.One
//	res.Matches[0].ID() // "django/core/cache/backends/db.py:DatabaseCache._cull"
package locate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"flowplan/internal/index"
	"flowplan/internal/lang"
	"flowplan/internal/rootfs"
	"flowplan/internal/store"
)

// Kind says what a Result is.
type Kind string

const (
	One       Kind = "one"       // Matches[0]
	Ambiguous Kind = "ambiguous" // Matches, best first
	Outline   Kind = "outline"   // of a file or class: Of, and Matches in order of line
	Frames    Kind = "frames"    // of a traceback: Frames
	None      Kind = "none"      // Nearest, Reason
)

// Match is one function, class body or module.
type Match struct {
	store.Symbol
	Vendored bool
	AtLine   int // the line that was asked for, or 0
}

// ID is the function's identity: path, qualified name, and #n of a twin.
func (m Match) ID() string {
	id := m.Path + ":" + m.QualifiedName
	if m.Ordinal > 1 {
		id += fmt.Sprintf("#%d", m.Ordinal)
	}
	return id
}

// Result is the answer to one query.
type Result struct {
	Query   string
	Kind    Kind
	Matches []Match
	Clear   bool    // of Ambiguous: the first is clearly the best
	Twins   []Match // of One: others of the same qualified name in the file
	Of      *Match  // of Outline: the class, or the module of the file
	Frames  []Frame // of the fault, innermost first, those inside the root before all others
	Others  []Stack // where the report says something of another time: when the memory was freed
	Nearest []Match // of None
	Reason  string  // of None: why, where it is not just an unknown name
	// Complete: the index covers all files. Else Missing says what it lacks.
	Complete bool
	Missing  string
}

// Locator answers queries over one work tree. It is safe for use by several
// goroutines.
type Locator struct {
	ix    *index.Index
	fs    *rootfs.FS
	langs *lang.Registry
}

// New makes a Locator.
func New(ix *index.Index, fs *rootfs.FS, langs *lang.Registry) *Locator {
	return &Locator{ix: ix, fs: fs, langs: langs}
}

// FindAll answers a text that may hold a traceback, or a query a line.
func (l *Locator) FindAll(ctx context.Context, text string) ([]Result, error) {
	if frames := l.langs.Frames(text); len(frames) > 0 {
		res, err := l.findFrames(ctx, text, frames)
		return []Result{res}, err
	}
	var out []Result
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		res, err := l.Find(ctx, line)
		if err != nil {
			return nil, err
		}
		out = append(out, res)
	}
	return out, nil
}

// Find answers one query.
func (l *Locator) Find(ctx context.Context, query string) (Result, error) {
	if frames := l.langs.Frames(query); len(frames) > 0 {
		return l.findFrames(ctx, query, frames)
	}
	res, err := l.find(ctx, query)
	if err != nil || res.Kind != None {
		return res, err
	}
	// Before saying that there is none, look at what changed.
	if _, err := l.ix.Refresh(ctx); err != nil {
		return res, err
	}
	if res, err = l.find(ctx, query); err != nil || res.Kind != None {
		return res, err
	}
	return res, l.explain(ctx, &res)
}

func (l *Locator) find(ctx context.Context, text string) (Result, error) {
	res := Result{Query: strings.TrimSpace(text), Kind: None, Complete: true}
	q := clean(text)
	if q == "" {
		res.Reason = "the query is empty: expected a function's name, path:name or path:line"
		return res, nil
	}
	files, rest, isPath, err := l.splitPath(ctx, q)
	if err != nil {
		return res, err
	}
	if isPath {
		switch {
		case len(files) == 0:
			res.Reason = "no such file below the root"
			if rel, ok := l.fs.Rel(q); !ok && strings.HasPrefix(q, "/") {
				res.Reason = "the path lies outside the root " + l.fs.Root + "; give root"
			} else if ok {
				if st, err := l.fs.Stat(rel); err == nil && st.Mode.IsDir() {
					res.Reason = "it is a directory: name a file or function in it"
				}
			}
			return res, nil
		case rest == "":
			return l.outlineFile(ctx, res, files)
		}
		if line, ok := lineNumber(rest); ok {
			return l.atLine(ctx, res, files, line)
		}
	}
	return l.byName(ctx, res, parseName(rest), files)
}

// byName finds a name in all files, or in those given.
func (l *Locator) byName(ctx context.Context, res Result, n name, files []string) (Result, error) {
	var ranked []candidate
	for try := 0; ; try++ {
		symbols, err := l.symbols(ctx, n, files)
		if err != nil {
			return res, err
		}
		ranked = l.rank(symbols, n)
		changed, err := l.refreshed(ctx, ranked)
		if err != nil {
			return res, err
		}
		if !changed || try == 2 {
			break
		}
	}
	if len(ranked) == 0 && len(files) == 0 && n.ordinal == 0 {
		// pkg.mod may be a module.
		if paths, err := l.modules(ctx, n); err != nil || len(paths) > 0 {
			if err != nil {
				return res, err
			}
			return l.outlineFile(ctx, res, paths)
		}
	}
	return l.answer(ctx, res, n, ranked)
}

func (l *Locator) symbols(ctx context.Context, n name, files []string) ([]store.Symbol, error) {
	if len(files) == 0 {
		if err := l.ix.Ensure(ctx); err != nil {
			return nil, err
		}
		return l.ix.Named(ctx, n.last())
	}
	var out []store.Symbol
	for _, f := range files {
		if _, err := l.ix.RefreshFile(ctx, f); err != nil {
			return nil, err
		}
		symbols, err := l.ix.Outline(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, s := range symbols {
			if strings.EqualFold(s.Name, n.last()) {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// refreshed brings the files of the best candidates up to date and reports
// whether any had changed.
func (l *Locator) refreshed(ctx context.Context, ranked []candidate) (bool, error) {
	changed := false
	seen := map[string]bool{}
	for _, c := range ranked {
		if seen[c.Path] {
			continue
		}
		if seen[c.Path] = true; len(seen) > 40 {
			break
		}
		ch, err := l.ix.RefreshFile(ctx, c.Path)
		if err != nil {
			return false, err
		}
		changed = changed || ch
	}
	return changed, nil
}

// answer makes a Result of ranked candidates.
func (l *Locator) answer(ctx context.Context, res Result, n name, ranked []candidate) (Result, error) {
	if len(ranked) == 0 {
		return res, nil
	}
	best := ranked[0]
	// Twins in one file are one name: the first of them, unless #n says which.
	same := 0
	for same < len(ranked) && ranked[same].Path == best.Path && ranked[same].QualifiedName == best.QualifiedName {
		same++
	}
	for _, c := range ranked {
		res.Matches = append(res.Matches, c.Match)
	}
	switch {
	case same < len(ranked):
		res.Kind = Ambiguous
		res.Clear = best.class() < ranked[same].class()
		return res, nil
	case best.Kind == "class" && !n.body:
		return l.outlineClass(ctx, res, best.Match)
	}
	res.Kind = One
	res.Matches, res.Twins = res.Matches[:1], res.Matches[1:]
	return res, nil
}

// explain says of a None what is nearest and what the index lacks.
func (l *Locator) explain(ctx context.Context, res *Result) error {
	st, err := l.ix.Status(ctx)
	if err != nil {
		return err
	}
	if n := len(st.Skipped); n > 0 {
		res.Complete = false
		res.Missing = fmt.Sprintf("%d file(s) skipped; flowplan status names them", n)
	}
	if res.Reason == "" || strings.HasPrefix(res.Reason, "no such") {
		res.Nearest, err = l.nearest(ctx, clean(res.Query))
	}
	return err
}

// outlineFile lists the functions of a file; of several, it says which.
func (l *Locator) outlineFile(ctx context.Context, res Result, files []string) (Result, error) {
	var modules []Match
	var inside []Match
	for _, f := range files {
		if _, err := l.ix.RefreshFile(ctx, f); err != nil {
			return res, err
		}
		symbols, err := l.ix.Outline(ctx, f)
		if err != nil {
			return res, err
		}
		for _, s := range symbols {
			if s.Kind == "module" {
				modules = append(modules, match(s))
			} else {
				inside = append(inside, match(s))
			}
		}
	}
	switch len(modules) {
	case 0:
		res.Reason = "the file is of no language that flowplan reads, or was skipped; flowplan status says why"
		return res, nil
	case 1:
		res.Kind, res.Of, res.Matches = Outline, &modules[0], functions(inside)
	default:
		slices.SortStableFunc(modules, func(a, b Match) int { return order(candidate{Match: a}, candidate{Match: b}) })
		res.Kind, res.Matches = Ambiguous, modules
		res.Clear = (candidate{Match: modules[0]}).class() < (candidate{Match: modules[1]}).class()
	}
	return res, nil
}

func functions(all []Match) []Match {
	var out []Match
	for _, m := range all {
		if m.Kind != "class" && m.Kind != "module" {
			out = append(out, m)
		}
	}
	return out
}

func (l *Locator) outlineClass(ctx context.Context, res Result, class Match) (Result, error) {
	symbols, err := l.ix.Outline(ctx, class.Path)
	if err != nil {
		return res, err
	}
	in := make([]bool, len(symbols))
	var inside []Match
	for i, s := range symbols {
		in[i] = s == class.Symbol || s.Parent >= 0 && s.Parent < i && in[s.Parent]
		if in[i] {
			inside = append(inside, match(s))
		}
	}
	res.Kind, res.Of, res.Matches = Outline, &class, functions(inside)
	return res, nil
}

func match(s store.Symbol) Match { return Match{Symbol: s, Vendored: vendored(s.Path)} }
