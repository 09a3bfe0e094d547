package python

import (
	"sort"
	"strings"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// lowerer makes the ir.Func of one definition.
type lowerer struct {
	f      *source.File
	t      *scopes
	self   *scope
	fn     *ir.Func
	vars   map[varKey]int
	future bool   // from __future__ import annotations: annotations are not evaluated
	path   string // scope path of the definitions inside
}

// varKey tells apart variables of one name in different scopes.
type varKey struct {
	name  string
	owner *scope
}

// lower makes the body of d; root is a whole tree of the file.
func (g *grammar) lower(f *source.File, root *syntax.Node, d *lang.Decl) *ir.Func {
	fn := &ir.Func{Name: d.Name, QualifiedName: d.QualifiedName, Kind: d.Kind, Span: d.Span, Line: d.Line, EndLine: d.EndLine, Source: f}
	l := &lowerer{f: f, t: newScopes(), fn: fn, vars: map[varKey]int{}}
	l.path = scopePath(d)
	l.future = futureAnnotations(f, root)
	p := &parser{data: f.Bytes}
	n := locate(root, d)
	if n != nil && (d.Kind == ir.FuncLambda || !outermost(n).HasError) {
		l.body(p, n)
	} else if root.HasError && d.Kind != ir.FuncLambda {
		l.broken(&region{g: g, l: newLines(f), p: p}, d)
	} else {
		l.opaqueBody("this definition could not be parsed")
	}
	l.finish()
	return fn
}

func (l *lowerer) opaqueBody(reason string) {
	s := &ir.Stmt{ID: 1, Kind: ir.KindOpaque, Text: fold(l.f.Text(l.fn.Span)), Span: l.fn.Span, Line: l.fn.Line,
		EndLine: l.fn.EndLine, Eval: ir.Eval{Op: ir.OpRaise}, Reason: reason}
	l.fn.Stmts = []*ir.Stmt{s}
	l.fn.Body = []ir.Node{&ir.Opaque{S: s}}
}

// body resolves names from the outermost function around n inwards, then lowers
// the statements of n.
func (l *lowerer) body(p *parser, n *syntax.Node) {
	if n.Parent == nil { // the module
		body := p.block(n, true)
		l.self = newScope(scopeModule, nil)
		l.t.block(l.self, body)
		l.fn.Body = l.block(body)
		return
	}
	outer := outermost(n)
	module := newScope(scopeModule, nil)
	if n.Kind == "lambda" {
		l.lambdaBody(p, n, outer, module)
		return
	}
	if outer.Parent != nil && outer.Parent.Kind == "decorated_definition" {
		outer = outer.Parent
	}
	top := p.stmt(outer)
	l.t.block(module, top)
	l.definition(find(top, n.Span.Start))
}

// outermost is the outermost function around n, or n. What a class around it
// binds is not seen from inside.
func outermost(n *syntax.Node) *syntax.Node {
	outer := n
	for at := n.Parent; at != nil; at = at.Parent {
		if at.Kind == "function_definition" {
			outer = at
		}
	}
	return outer
}

// broken lowers a definition of a file with syntax errors.
func (l *lowerer) broken(r *region, d *lang.Decl) {
	if d.Kind == ir.FuncModule {
		body := r.statements(1, l.f.NumLines(), true)
		l.self = newScope(scopeModule, nil)
		l.t.block(l.self, body)
		l.fn.Body = l.block(body)
		return
	}
	from, to := l.f.Line(d.Span.Start), d.EndLine
	for _, o := range r.l.defs { // the outermost function around this one, or itself
		if o.class && o.line != d.Line {
			continue
		}
		if end := l.f.Line(r.l.endOf(o)); o.line <= d.Line && d.Line <= end {
			from, to = l.f.Line(r.l.decorated(o)), end
			break
		}
	}
	top := r.statements(from, to, false)
	l.t.block(newScope(scopeModule, nil), top)
	line := l.f.LineText(d.Line)
	start := l.f.LineSpan(d.Line).Start + len(line) - len(strings.TrimLeft(line, " \t\f"))
	l.definition(find(top, start))
}

// definition lowers a def or class whose scopes are known.
func (l *lowerer) definition(s *stmt) {
	if s == nil || l.t.stmts[s] == nil {
		l.opaqueBody("syntax error in the header or around it")
		return
	}
	l.self = l.t.stmts[s]
	l.fn.Signature = signature(s)
	l.fn.Decorated = len(s.decos) > 0
	l.fn.Async = s.async
	l.fn.Generator = s.kind == sDef && l.self.yields
	l.params(s.params)
	l.fn.Captures = l.self.free()
	l.fn.Body = l.block(s.body)
	if unread(s) { // the function is known in part alone
		span := s.span // of a decorated one that was read by its lines, more than its own
		span.Start = max(span.Start, l.fn.Span.Start)
		h := &ir.Stmt{Kind: ir.KindOpaque, Text: fold(l.f.Text(span)), Span: span, Eval: ir.Eval{Op: ir.OpRaise},
			Reason: "syntax error in the header"}
		l.fn.Body = append([]ir.Node{&ir.Opaque{S: l.place(h, s.start)}}, l.fn.Body...)
	}
}

// lambdaBody lowers a lambda to the return of its body.
func (l *lowerer) lambdaBody(p *parser, n, outer *syntax.Node, module *scope) {
	at := module
	if outer != n {
		if outer.Parent != nil && outer.Parent.Kind == "decorated_definition" {
			outer = outer.Parent
		}
		top := p.stmt(outer)
		l.t.block(module, top)
		for s, sc := range l.t.stmts {
			if s.node.Span.Contains(n.Span) && sc.within(at) {
				at = sc
			}
		}
	}
	e := p.expr(n)
	l.t.expr(at, e)
	l.self = l.t.exprs[e]
	if e.kind != eLambda || l.self == nil {
		l.opaqueBody("syntax error in the lambda")
		return
	}
	var pr printer
	pr.w("lambda")
	if len(e.params) > 0 {
		pr.w(" ")
		pr.params(e.params)
	}
	l.fn.Signature = pr.b.String()
	l.fn.Generator = l.self.yields
	l.params(e.params)
	l.fn.Captures = l.self.free()
	b := l.effects()
	b.value(e.kids[0])
	s := &ir.Stmt{Kind: ir.KindReturn, Text: "return " + text(e.kids[0]), Span: e.kids[0].span, Eval: b.seq(), DefKind: ir.DefPlain}
	if hasBad(e) {
		s.Reason = "syntax error in the lambda"
	}
	if body := n.Child("body"); body != nil { // with its parentheses
		s.Span = body.Span
	}
	l.fn.Body = []ir.Node{&ir.Return{S: l.place(s, s.Span.Start)}}
}

// find is the def or class whose keyword stands at an offset.
func find(body []*stmt, start int) *stmt {
	for _, s := range body {
		if s.start == start && (s.kind == sDef || s.kind == sClass) {
			return s
		}
		for _, b := range [][]*stmt{s.body, s.orelse, s.final} {
			if r := find(b, start); r != nil {
				return r
			}
		}
		for _, a := range s.arms {
			if r := find(a.body, start); r != nil {
				return r
			}
		}
	}
	return nil
}

func (l *lowerer) params(ps []*param) {
	for _, a := range ps {
		if a.sep != "" {
			continue
		}
		if a.pattern != nil {
			l.patternParams(a.pattern)
			continue
		}
		l.param(a.name, a.pos)
	}
}

func (l *lowerer) param(name string, pos int) {
	v := l.variable(name, l.self)
	l.fn.Vars[v].Written = true
	l.fn.Params = append(l.fn.Params, ir.Param{Var: v, Name: name, Line: l.f.Line(pos)})
}

func (l *lowerer) patternParams(e *expr) {
	if e.kind == eName {
		l.param(e.val, e.span.Start)
	}
	for _, k := range e.kids {
		l.patternParams(k)
	}
}

// variable is the index of a name that lives in owner, nil for a global.
func (l *lowerer) variable(name string, owner *scope) int {
	k := varKey{name, owner}
	if v, ok := l.vars[k]; ok {
		return v
	}
	v := ir.Var{Name: name, Scope: ir.Global}
	switch {
	case owner == nil:
	case owner != l.self:
		v.Scope, v.Shared = ir.Captured, true
	case l.self.kind == scopeFunc || l.self.kind == scopeLambda:
		v.Scope = ir.Local
	}
	l.vars[k] = len(l.fn.Vars)
	l.fn.Vars = append(l.fn.Vars, v)
	return l.vars[k]
}

// finish numbers the statements and marks what is written and shared.
func (l *lowerer) finish() {
	stmts := l.fn.Stmts
	sort.SliceStable(stmts, func(i, j int) bool {
		if stmts[i].Line != stmts[j].Line {
			return stmts[i].Line < stmts[j].Line
		}
		return stmts[i].Col < stmts[j].Col
	})
	for i, s := range stmts {
		s.ID = i + 1
		mark := func(e ir.Eval) {
			if e.Op == ir.OpDef {
				l.fn.Vars[e.Place.Var].Written = true
			}
		}
		s.Eval.Walk(mark)
		s.Pre.Walk(mark)
	}
	if l.self == nil {
		return
	}
	for name := range l.self.shared() {
		if v, ok := l.vars[varKey{name, l.self}]; ok {
			l.fn.Vars[v].Shared = true
		}
	}
}

// shared are the names of s that a function inside it captures.
func (s *scope) shared() map[string]bool {
	out := map[string]bool{}
	var walk func(at *scope, inner bool)
	walk = func(at *scope, inner bool) {
		if inner {
			for _, name := range at.uses {
				if at.lookup(name) == s {
					out[name] = true
				}
			}
		}
		for _, k := range at.kids {
			walk(k, inner || k.kind == scopeFunc || k.kind == scopeLambda)
		}
	}
	walk(s, false)
	return out
}
