// Package flow puts the stages together: from the text of a file to the views
// of its functions, their JSON and what an agent is shown of them.
//
// A File parses once and builds each function's View when it is first asked
// for. It does no I/O and finds nothing by name beyond its own file.
//
//	file, err := flow.Parse(ctx, language, source.New("a.py", data), nil)
//	view := file.View(file.Lookup("C.f")[0])
//	fmt.Print(flow.Render(view, flow.Options{}))
package flow

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"flowplan/internal/cfg"
	"flowplan/internal/dataflow"
	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
)

// File is a parsed file and the views of what it defines. It is safe for use
// by several goroutines.
type File struct {
	Lang   *lang.Language
	Source *source.File
	Decls  []*lang.Decl
	Errors []source.Span // what could not be parsed, in order
	tree   lang.Tree
	mu     sync.Mutex
	views  []*View
	funcs  []*ir.Func
	never  map[string]lang.NoReturn // of each name that was asked about
}

// View is one function: its body, its graph, its def-use chains.
type View struct {
	File   *File
	Decl   *lang.Decl
	Index  int // of Decl in File.Decls
	Func   *ir.Func
	Graph  *cfg.Graph
	Chains *dataflow.Chains
}

// Parse reads a file. readFile gives the text of other files that preparation
// may need (headers); nil where there are none.
func Parse(ctx context.Context, l *lang.Language, src *source.File, readFile func(string) ([]byte, error)) (*File, error) {
	tree, err := l.Parse(ctx, src, lang.Options{ReadFile: readFile})
	if err != nil {
		return nil, err
	}
	f := &File{Lang: l, Source: src, tree: tree, Decls: tree.Decls(), Errors: tree.Errors(), never: map[string]lang.NoReturn{}}
	f.views = make([]*View, len(f.Decls))
	f.funcs = make([]*ir.Func, len(f.Decls))
	return f, nil
}

// View builds the view of Decls[i], or returns the one built before.
func (f *File) View(i int) *View {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view(i)
}

func (f *File) view(i int) *View {
	if v := f.views[i]; v != nil {
		return v
	}
	fn := f.lower(i)
	g := cfg.Build(fn, f.noReturn)
	dataflow.Resolve(g)
	v := &View{File: f, Decl: f.Decls[i], Index: i, Func: fn, Graph: g, Chains: dataflow.Solve(g)}
	f.views[i] = v
	return v
}

func (f *File) lower(i int) *ir.Func {
	if f.funcs[i] == nil {
		f.funcs[i] = f.tree.Lower(f.Decls[i])
	}
	return f.funcs[i]
}

// noReturn tells whether a call of that name comes back: the language says so
// and the file gives the name no other meaning, or the file defines such a
// function at its top level and no path through it returns.
func (f *File) noReturn(callee string) lang.NoReturn {
	if r, ok := f.never[callee]; ok {
		return r
	}
	// What a function does may hang on what it calls: all of these are taken to
	// return until one is seen not to, and then the rest is looked at again.
	var open []int
	for work := []string{callee}; len(work) > 0; {
		name := work[len(work)-1]
		work = work[:len(work)-1]
		if _, ok := f.never[name]; ok {
			continue
		}
		f.never[name] = lang.Returns
		if r := f.tree.NoReturn(name); r != lang.Returns {
			f.never[name] = r
		} else if r, ok := f.Lang.NoReturn[name]; ok && len(f.topLevel(name)) == 0 && f.bindings(name) == 0 {
			f.never[name] = r
		} else if found := f.topLevel(name); len(found) == 1 && f.candidate(found[0]) {
			open = append(open, found[0])
			for _, s := range f.lower(found[0]).Stmts {
				if s.Callee != "" {
					work = append(work, s.Callee)
				}
			}
		}
	}
	for again := true; again; {
		again = false
		for _, i := range open {
			name := f.Decls[i].QualifiedName
			if f.never[name] != lang.Returns {
				continue
			}
			if r := f.ends(i); r != lang.Returns && f.bindings(name) <= 1 {
				f.never[name], again = r, true
			}
		}
	}
	return f.never[callee]
}

func (f *File) topLevel(name string) []int {
	var out []int
	for i, d := range f.Decls {
		if d.Kind == ir.FuncFunction && d.QualifiedName == name && d.Parent <= 0 {
			out = append(out, i)
		}
	}
	return out
}

// bindings counts the definitions of a global name: those at the top level,
// and functions that assign it. A name of several parts has none.
func (f *File) bindings(name string) int {
	n := 0
	if strings.Contains(name, f.Lang.Separator) {
		return n
	}
	for i, d := range f.Decls {
		if d.Kind == ir.FuncClass { // its variables are its own
			continue
		}
		fn := f.lower(i)
		count := func(e ir.Eval) {
			if (e.Op == ir.OpDef || e.Op == ir.OpUnbind) && e.Place.Path == "" && fn.Vars[e.Place.Var].Scope == ir.Global && fn.Vars[e.Place.Var].Name == name {
				n++
			}
		}
		for _, s := range fn.Stmts {
			s.Pre.Walk(count)
			s.Eval.Walk(count)
		}
	}
	return n
}

// candidate reports whether calls of a top-level function run its body, and
// all of that is known.
func (f *File) candidate(i int) bool {
	fn := f.lower(i)
	if fn.Async || fn.Generator || fn.Decorated {
		return false
	}
	for _, s := range fn.Stmts {
		if s.Kind == ir.KindOpaque {
			return false
		}
	}
	return true
}

// ends tells how a function ends that never returns.
func (f *File) ends(i int) lang.NoReturn {
	g := cfg.Build(f.lower(i), func(callee string) lang.NoReturn { return f.never[callee] })
	for _, a := range g.Points[cfg.Exit].In {
		if !a.Virtual && g.Points[a.To].Live {
			return lang.Returns
		}
	}
	for _, p := range g.Points {
		if p.Live && p.Stmt != nil && (p.Stmt.Kind == ir.KindRaise || p.Stmt.MayRaise()) {
			return lang.Raises
		}
	}
	return lang.Halts
}

// Lookup finds functions by qualified name, with or without #n, in order.
func (f *File) Lookup(qualified string) []int {
	var out []int
	for i, d := range f.Decls {
		if d.QualifiedName == qualified || d.Ordinal > 1 && d.QualifiedName+"#"+strconv.Itoa(d.Ordinal) == qualified {
			out = append(out, i)
		}
	}
	return out
}

// At is the innermost function around a line, decorators included: a function
// rather than a class body, and the module where no other is.
func (f *File) At(line int) int {
	best := 0
	for i, d := range f.Decls {
		if i == 0 {
			continue
		}
		if f.Source.Line(d.Span.Start) <= line && line <= d.EndLine && d.Kind != ir.FuncLambda {
			best = i // later ones start later or lie inside
		}
	}
	return best
}

// Name is the qualified name with its #n where it is a twin.
func Name(d *lang.Decl) string {
	if d.Ordinal > 1 {
		return d.QualifiedName + "#" + strconv.Itoa(d.Ordinal)
	}
	return d.QualifiedName
}

// ID identifies a function: its path and name.
func (v *View) ID() string { return v.File.Source.Path + ":" + Name(v.Decl) }

// StmtAt is the statement that stands on a line: the last to begin on or
// before it among those that cover it; nil where there is none.
func (v *View) StmtAt(line int) *ir.Stmt {
	var best *ir.Stmt
	for _, s := range v.Func.Stmts {
		if s.Line <= line && line <= s.EndLine && (best == nil || s.Line > best.Line) {
			best = s
		}
	}
	return best
}

// StmtOn is the statement that a frame of a crash report means: the innermost
// around its column, else, of those that begin on its line, one that mentions
// the function it called, else StmtAt. Column, from 1, and function are known
// or not.
func (v *View) StmtOn(line, col int, calls string) *ir.Stmt {
	at := v.StmtAt(line)
	if at == nil {
		return nil
	}
	var around, mentions *ir.Stmt
	for _, s := range v.Func.Stmts {
		if s.Line > line || s.EndLine < line {
			continue
		}
		if col > 0 {
			offset := v.File.Source.LineSpan(line).Start + col - 1
			if s.Span.Start <= offset && offset < s.Span.End && (around == nil || s.Span.End-s.Span.Start < around.Span.End-around.Span.Start) {
				around = s
			}
		}
		if mentions == nil && s.Line == at.Line && calls != "" && holdsWord(s.Text, calls) {
			mentions = s
		}
	}
	switch {
	case around != nil:
		return around
	case mentions != nil:
		return mentions
	}
	return at
}

// holdsWord reports whether a text holds a name as a whole word.
func holdsWord(text, name string) bool {
	for i := 0; ; {
		j := strings.Index(text[i:], name)
		if j < 0 {
			return false
		}
		i += j
		end := i + len(name)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		i = end
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// Holders gives the header of each statement that stands within a header's own
// text, as the init and post of a for do: the header shows them.
func (v *View) Holders() map[*ir.Stmt]*ir.Stmt {
	in := map[*ir.Stmt]*ir.Stmt{}
	var header *ir.Stmt
	for _, s := range v.Func.Stmts {
		if header != nil && header.Span.Start < s.Span.Start && s.Span.End <= header.Span.End {
			in[s] = header
		} else {
			header = s
		}
	}
	return in
}

// Nearest is the statement on a line, else the one that begins closest to it.
func (v *View) Nearest(line int) *ir.Stmt {
	if s := v.StmtAt(line); s != nil {
		return s
	}
	var best *ir.Stmt
	for _, s := range v.Func.Stmts {
		if best == nil || abs(s.Line-line) < abs(best.Line-line) {
			best = s
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// Range is the lines to read for the whole function, decorators included.
func (v *View) Range() string {
	return lines(v.FirstLine(), v.Decl.EndLine)
}

// FirstLine is the line of its first decorator, else of its def.
func (v *View) FirstLine() int { return v.File.Source.Line(v.Decl.Span.Start) }

// ParseErrors lists the unreadable stretches inside the function.
func (v *View) ParseErrors() []source.Span {
	var out []source.Span
	for _, e := range v.File.Errors {
		if v.Decl.Span.Contains(e) && v.File.At(v.File.Source.Line(e.Start)) == v.Index {
			out = append(out, e)
		}
	}
	return out
}

// PlaceName is the text of a place.
func (v *View) PlaceName(p ir.Place) string {
	path := strings.ReplaceAll(p.Path, "*.", "->")
	below := strings.TrimLeft(path, "*")
	return path[:len(path)-len(below)] + v.Func.Vars[p.Var].Name + below
}
