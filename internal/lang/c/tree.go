package c

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// tree is a file that has been read.
type tree struct {
	f        *source.File
	cpp      bool
	macros   *macros
	types    map[string]bool
	defs     []*def
	decls    []*lang.Decl
	byDecl   map[*lang.Decl]*def
	noReturn map[string]bool
	declared []declared // functions with words that may be macros for noreturn
	wrapped  [][]token  // declarations within a macro's call
	resolved []resolved
	errors   []source.Span
	fields   map[string][]string // members of each class, as far as the file shows them
	mu       sync.Mutex
	headers  func() // reads the headers' macros, before the first body is lowered; nil: done
}

// Parse reads a file of C, or of C++.
func Parse(ctx context.Context, f *source.File, o lang.Options, cpp bool) (lang.Tree, error) {
	if len(f.Bytes) > syntax.MaxBytes {
		return nil, syntax.ErrTooLarge
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := &tree{f: f, cpp: cpp, types: map[string]bool{}, noReturn: map[string]bool{}, byDecl: map[*lang.Decl]*def{}}
	toks := scan(f.Bytes, cpp)
	elems := nest(toks)
	r := &resolver{data: f.Bytes, cpp: cpp, line: f.Line}
	t.macros = &macros{by: map[string][]*macro{}, cpp: cpp}
	(&reader{m: t.macros, r: r}).collect(elems, false)
	t.facts(toks)
	// What a file defines is read with its own macros alone: the index, which opens
	// no other file, must come to the same.
	t.headers = func() {
		t.macros.include(f.Path, elems, o.ReadFile, t.facts)
		t.settleNoReturn()
	}
	flat := r.flatten(elems, &state{open: nil})
	t.resolved = r.resolved
	flat = t.settle(flat)
	ol := &outliner{t: t, seen: map[string]int{}, space: map[string]bool{}}
	module := &def{toks: flat, open: -1, close: -1, knr: -1, init: -1, body: -1, end: len(flat)}
	module.decl = &lang.Decl{Name: "<module>", QualifiedName: "<module>", Kind: ir.FuncModule, Span: source.Span{End: len(f.Bytes)}, Line: 1, EndLine: f.NumLines()}
	ol.add(module, -1)
	module.items = ol.scope(flat, 0, len(flat), scope{parent: 0})
	t.macroDefs(ol)
	t.finish(ol.defs)
	return t, nil
}

// settle puts the expansions of open macros in their place and pairs brackets,
// in the arms of groups too. The tokens given stay as they are.
func (t *tree) settle(toks []token) []token {
	toks = t.macros.splice(append([]token(nil), toks...))
	pairs(toks)
	for i := range toks {
		if g := toks[i].group; g != nil {
			c := &group{complete: g.complete, span: g.span}
			for _, a := range g.arms {
				c.arms = append(c.arms, &arm{head: a.head, toks: t.settle(a.toks)})
			}
			toks[i].group = c
		}
	}
	return toks
}

// macroDefs adds the macros that look like functions.
func (t *tree) macroDefs(o *outliner) {
	for _, m := range t.macros.own {
		if !m.function || len(m.body) == 0 {
			continue
		}
		d := &def{macro: m, open: -1, close: -1, knr: -1, init: -1}
		d.decl = &lang.Decl{Name: m.name, QualifiedName: m.name, Kind: ir.FuncMacro, Span: m.span, Line: t.f.Line(m.span.Start), EndLine: t.f.LastLine(m.span)}
		o.add(d, 0)
	}
}

// finish orders the definitions by line, outer before inner, and counts twins.
func (t *tree) finish(defs []*def) {
	index := map[*def]int{}
	parent := map[*def]*def{}
	for _, d := range defs {
		if d.decl.Parent >= 0 {
			parent[d] = defs[d.decl.Parent]
		}
	}
	sort.SliceStable(defs, func(i, j int) bool {
		a, b := defs[i].decl, defs[j].decl
		if (a.Kind == ir.FuncModule) != (b.Kind == ir.FuncModule) {
			return a.Kind == ir.FuncModule
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		if a.Span.Start != b.Span.Start {
			return a.Span.Start < b.Span.Start
		}
		return a.Span.End > b.Span.End
	})
	for i, d := range defs {
		index[d] = i
	}
	ordinal := map[string]int{}
	for _, d := range defs {
		if p := parent[d]; p != nil {
			d.decl.Parent = index[p]
		} else {
			d.decl.Parent = -1
		}
		ordinal[d.decl.QualifiedName]++
		d.decl.Ordinal = ordinal[d.decl.QualifiedName]
		t.decls = append(t.decls, d.decl)
		t.byDecl[d.decl] = d
	}
	t.defs = defs
}

// facts gathers what a file, or a header that it includes, says of names: which
// are types, which functions never return.
func (t *tree) facts(toks []token) {
	start := 0
	depth := 0
	for i := range toks {
		tk := &toks[i]
		if tk.kind == tDirective {
			continue
		}
		if tk.kind == tIdent {
			switch tk.text {
			case "struct", "class", "union", "enum":
				if t.cpp && i+1 < len(toks) && toks[i+1].kind == tIdent {
					j := i + 1
					for j+1 < len(toks) && toks[j+1].kind == tIdent && (isMacroName(toks[j].text) || toks[j].text == "class" || toks[j].text == "struct") && toks[j+1].text != "final" {
						j++
					}
					if j+1 < len(toks) && (toks[j+1].is("{") || toks[j+1].is(":") || toks[j+1].is(";") || toks[j+1].text == "final" || toks[j+1].is(",") || toks[j+1].is(">")) {
						t.types[toks[j].text] = true
					}
				}
			case "typename":
				if i+1 < len(toks) && toks[i+1].kind == tIdent && (i+2 >= len(toks) || !toks[i+2].is("::")) {
					t.types[toks[i+1].text] = true
				}
			case "using":
				if i+2 < len(toks) && toks[i+2].is("=") {
					t.types[toks[i+1].text] = true
				}
			}
			continue
		}
		if tk.kind != tPunct {
			continue
		}
		switch tk.text {
		case "(":
			depth++
		case ")":
			depth--
		case ";", "{", "}":
			if depth > 0 && tk.text == ";" {
				continue
			}
			depth = 0
			t.segment(toks[start:i], toks, i)
			start = i + 1
		}
	}
}

// segment reads one declaration's tokens for facts.
func (t *tree) segment(seg, all []token, end int) {
	if len(seg) == 0 {
		return
	}
	never := false
	typedef := false
	var words []string
	name, word := "", ""
	for i := range seg {
		if seg[i].kind != tIdent {
			continue
		}
		w := seg[i].text
		if w == "typedef" {
			typedef = true
		}
		switch {
		case w == "noreturn", w == "_Noreturn", w == "__noreturn__", w == "__noreturn":
			never = true
		case neverWord(w):
			word = w
		case name == "" && i+1 < len(seg) && seg[i+1].is("(") && !takesParens(w) && !isMacroName(w):
			name = w
		case !isKeyword(w) && !isSpecifier(w, t.cpp) && len(words) < 8 && len(seg) < 200:
			words = append(words, w)
		}
	}
	// the names behind the } of a typedef stand in the next segment
	if typedef {
		if len(seg) > 2 && seg[len(seg)-1].kind == tIdent && (end >= len(all) || all[end].is(";")) {
			t.types[seg[len(seg)-1].text] = true
		}
		for i := 0; i+2 < len(seg); i++ {
			if seg[i].is("(") && seg[i+1].is("*") && seg[i+2].kind == tIdent {
				t.types[seg[i+2].text] = true
				break
			}
		}
		if end < len(all) && all[end].is("{") { // typedef struct { ... } name;
			deep := 0
			for j := end; j < len(all) && j < end+20000; j++ {
				if all[j].is("{") {
					deep++
				} else if all[j].is("}") {
					if deep--; deep == 0 {
						for k := j + 1; k < len(all) && k < j+20 && !all[k].is(";"); k++ {
							if all[k].kind == tIdent && !takesParens(all[k].text) {
								t.types[all[k].text] = true
							}
						}
						break
					}
				}
			}
		}
	}
	if (never || word != "") && (name == "" || wrappedBy(seg, word)) && len(seg) < 400 { // EXPORT(void, die, (int), NORETURN)
		plain := slices.DeleteFunc(slices.Clone(seg), func(tk token) bool { return tk.kind == tDirective })
		if len(plain) > 0 && isMacroName(plain[0].text) {
			t.wrapped = append(t.wrapped, plain)
		}
	}
	if typedef || name == "" {
		return
	}
	if word != "" {
		words = append(words, word)
	}
	if never {
		t.noReturn[name] = true
	} else if len(words) > 0 {
		t.declared = append(t.declared, declared{name, words})
	}
}

// declared is a function with the words around its name.
type declared struct {
	name  string
	words []string
}

// neverWord reports a word that is a macro for noreturn by its name: it counts
// where nothing says what it stands for.
func neverWord(w string) bool {
	return strings.Contains(w, "NORETURN") || strings.Contains(w, "NO_RETURN")
}

// wrappedBy reports a declaration that is an argument of a macro of that name.
func wrappedBy(seg []token, word string) bool {
	for i := 0; i+1 < len(seg); i++ {
		if seg[i].kind == tIdent {
			return seg[i].text == word && seg[i+1].is("(")
		}
	}
	return false
}

// settleNoReturn finds the functions that a macro declares never to return.
func (t *tree) settleNoReturn() {
	never := map[string]bool{}
	for name, list := range t.macros.by {
		for _, m := range list {
			if m.spare {
				continue
			}
			for i := range m.body {
				if w := m.body[i].text; w == "noreturn" || w == "__noreturn__" || w == "_Noreturn" {
					never[name] = true
				}
			}
		}
	}
	if len(t.declared) > 0 {
		for _, d := range t.declared {
			for _, w := range d.words {
				if never[w] || neverWord(w) && len(t.macros.by[w]) == 0 {
					t.noReturn[d.name] = true
				}
			}
		}
	}
	t.declared = nil
	for _, seg := range t.wrapped {
		toks, ok := seg, true
		if c, known := t.macros.callAt(seg, 0, nil); known {
			toks, ok = t.macros.expand(c, seg[0].span)
			ok = ok && slices.ContainsFunc(toks, func(tk token) bool {
				return tk.text == "noreturn" || tk.text == "__noreturn__" || tk.text == "_Noreturn" || neverWord(tk.text)
			})
		} else if neverWord(seg[0].text) { // NORETURN(void f(int))
			toks = seg[2:]
		} else {
			continue
		}
		for i := 0; ok && i+1 < len(toks); i++ {
			w := toks[i].text
			if toks[i].kind == tIdent && toks[i+1].is("(") && !takesParens(w) && !strings.Contains(w, "noreturn") && !isKeyword(w) && !isBuiltin(w, t.cpp) && !isSpecifier(w, t.cpp) {
				t.noReturn[w] = true
				break
			}
			if toks[i].kind == tIdent && takesParens(w) && toks[i+1].is("(") {
				for depth := 0; i < len(toks); i++ {
					if toks[i].is("(") {
						depth++
					} else if toks[i].is(")") {
						if depth--; depth == 0 {
							break
						}
					}
				}
			}
			// (name)(parameters): the name in parentheses of its own
			if i+2 < len(toks) && toks[i].kind == tIdent && toks[i+1].is(")") && toks[i+2].is("(") {
				t.noReturn[toks[i].text] = true
				break
			}
		}
	}
	t.wrapped = nil
}

func (t *tree) Decls() []*lang.Decl { return t.decls }

func (t *tree) Errors() []source.Span { return t.errors }

// NoReturn is Tree.NoReturn.
func (t *tree) NoReturn(callee string) lang.NoReturn {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readHeaders()
	if i := strings.LastIndex(callee, "::"); i >= 0 {
		callee = callee[i+2:]
	}
	if t.noReturn[callee] {
		return lang.Halts
	}
	return lang.Returns
}

// notes says which arms of the preprocessor were chosen within a span.
func (t *tree) notes(from, to int) []string {
	var out []string
	for _, r := range t.resolved {
		if r.line < from || r.line > to {
			continue
		}
		if r.text == "" {
			out = append(out, fmt.Sprintf("line %d: no arm of the conditional is taken", r.line))
		} else {
			out = append(out, fmt.Sprintf("line %d: read with %s, as the arms split a construct", r.line, r.text))
		}
	}
	return out
}

// macroAt is the function-like macro that a directive defines and that is
// listed among the definitions, or nil.
func (t *tree) macroAt(start int) *macro {
	for _, d := range t.byDecl {
		if d.decl.Kind == ir.FuncMacro && d.macro.span.Start <= start && start < d.macro.span.End {
			return d.macro
		}
	}
	return nil
}
