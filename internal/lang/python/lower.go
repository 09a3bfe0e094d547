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
	for _, o := range r.l.defs { // the outermost definition around this one
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
	l.fn.Async = s.async
	l.fn.Generator = s.kind == sDef && l.self.yields
	l.params(s.params)
	l.fn.Captures = l.self.free()
	l.fn.Body = l.block(s.body)
	if unread(s) { // the function is known in part alone
		h := &ir.Stmt{Kind: ir.KindOpaque, Text: fold(l.f.Text(s.span)), Span: s.span, Eval: ir.Eval{Op: ir.OpRaise},
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

func (l *lowerer) effects() *effects { return &effects{l: l, at: l.self} }

// place gives a statement its position and lists it.
func (l *lowerer) place(s *ir.Stmt, start int) *ir.Stmt {
	pos := l.f.Pos(start)
	s.Line, s.Col = pos.Line, pos.Col
	s.EndLine = l.f.LastLine(s.Span)
	if s.DefKind == "" {
		s.DefKind = ir.DefPlain
	}
	l.fn.Stmts = append(l.fn.Stmts, s)
	return s
}

func (l *lowerer) stmt(st *stmt, kind ir.Kind, b *effects) *ir.Stmt {
	s := &ir.Stmt{Kind: kind, Text: stmtText(st), Span: st.span, Eval: b.seq()}
	if unread(st) {
		s.Reason = "part of the statement could not be read"
	}
	return l.place(s, st.start)
}

// unread reports whether something in the statement itself was not read.
func unread(st *stmt) bool {
	bad := hasBad(st.value) || hasBad(st.extra)
	for _, es := range [][]*expr{st.targets, st.args, st.decos} {
		for _, e := range es {
			bad = bad || hasBad(e)
		}
	}
	for _, it := range st.items {
		bad = bad || hasBad(it.value) || hasBad(it.target)
	}
	for _, ps := range [][]*param{st.params, st.tparams} {
		for _, a := range ps {
			bad = bad || hasBad(a.ann) || hasBad(a.def)
		}
	}
	return bad
}

func (l *lowerer) block(body []*stmt) []ir.Node {
	var out []ir.Node
	for _, st := range body {
		out = append(out, l.node(st))
	}
	return out
}

// node lowers one statement.
func (l *lowerer) node(st *stmt) ir.Node {
	b := l.effects()
	switch st.kind {
	case sExpr:
		b.value(st.value)
		return l.expression(st, b)
	case sAssign, sAug, sAnn, sDel, sImport, sFrom, sType, sPrint, sExec, sPass, sGlobal, sNonlocal, sDef, sClass:
		return l.plain(st, b)
	case sReturn:
		b.value(st.value)
		return l.checked(st, func() ir.Node { return &ir.Return{S: l.stmt(st, ir.KindReturn, b)} })
	case sRaise:
		b.value(st.value)
		b.value(st.extra)
		return l.checked(st, func() ir.Node { return &ir.Throw{S: l.stmt(st, ir.KindRaise, b)} })
	case sBreak:
		return &ir.Jump{S: l.stmt(st, ir.KindBreak, b)}
	case sContinue:
		return &ir.Jump{S: l.stmt(st, ir.KindContinue, b)}
	case sAssert:
		l.assertion(st, b)
		s := l.stmt(st, ir.KindAssert, b)
		s.Cond = condition(st.value)
		return &ir.Assert{S: s}
	case sIf:
		return l.ifs(st)
	case sWhile:
		return l.while(st)
	case sFor:
		return l.foreach(st)
	case sTry:
		return l.try(st)
	case sWith:
		return l.with(st)
	case sMatch:
		return l.match(st)
	}
	return l.opaque(st, st.reason)
}

// checked makes a simple statement opaque when part of it was not read.
func (l *lowerer) checked(st *stmt, make func() ir.Node) ir.Node {
	if unread(st) {
		return l.opaque(st, "part of the statement could not be read")
	}
	return make()
}

func (l *lowerer) opaque(st *stmt, reason string) ir.Node {
	if reason == "" {
		reason = "unknown syntax"
	}
	s := &ir.Stmt{Kind: ir.KindOpaque, Text: fold(l.f.Text(st.whole)), Span: st.whole, Eval: ir.Eval{Op: ir.OpRaise}, Reason: reason}
	return &ir.Opaque{S: l.place(s, st.start)}
}

// expression lowers an expression statement; its kind is that of its outermost
// node.
func (l *lowerer) expression(st *stmt, b *effects) ir.Node {
	if unread(st) {
		return l.opaque(st, "part of the statement could not be read")
	}
	kind := ir.KindExpr
	switch st.value.kind {
	case eYield, eYieldFrom:
		kind = ir.KindYield
	case eAwait:
		kind = ir.KindAwait
	case eCall:
		kind = ir.KindCall
	}
	s := l.stmt(st, kind, b)
	if kind == ir.KindCall {
		s.Callee = l.callee(st.value.kids[0])
	}
	return &ir.Simple{S: s}
}

// callee is name or mod.name, unless a variable of the function hides what the
// name stands for; an import inside the function hides nothing.
func (l *lowerer) callee(e *expr) string {
	base := e
	if e.kind == eAttr {
		base = e.kids[0]
	}
	if base.kind != eName {
		return ""
	}
	if o := l.self.lookup(base.val); o != nil && !o.imported[base.val] {
		return ""
	}
	return text(e)
}

// plain lowers a statement that goes straight on.
func (l *lowerer) plain(st *stmt, b *effects) ir.Node {
	if unread(st) && st.kind != sDef && st.kind != sClass {
		return l.opaque(st, "part of the statement could not be read")
	}
	kind, def := ir.KindAssign, ir.DefPlain
	var inner []string
	switch st.kind {
	case sAssign:
		b.value(st.value)
		for _, t := range st.targets {
			b.store(t)
		}
	case sAug:
		kind = ir.KindAugAssign
		b.augment(st.targets[0], st.value)
	case sAnn:
		kind = l.annotated(st, b)
	case sDel:
		kind = ir.KindDelete
		for _, t := range st.targets {
			b.remove(t)
		}
	case sImport, sFrom:
		kind, def = ir.KindImport, ir.DefImport
		b.raise()
		for _, a := range st.names {
			if name := bindsAs(st, a); name != "" {
				v, _, _ := b.name(name)
				b.add(ir.Eval{Op: ir.OpDef, Place: ir.Place{Var: v}})
			}
		}
	case sType:
		b.raise()
		b.store(&expr{kind: eName, val: st.name})
	case sPrint, sExec:
		kind = ir.KindExpr
		b.value(st.extra)
		b.value(st.value)
		b.values(st.args)
		b.raise()
	case sPass:
		kind = ir.KindPass
	case sGlobal, sNonlocal:
		kind = ir.KindGlobal
	case sDef:
		kind = ir.KindDef
		inner = []string{l.path + st.name}
		l.define(st, b)
	case sClass:
		kind = ir.KindClass
		inner = classInner(l.path, st)
		l.define(st, b)
	}
	s := l.stmt(st, kind, b)
	s.DefKind = def
	s.Inner = inner
	return &ir.Simple{S: s}
}

// classInner names the class and what is defined directly in its body.
func classInner(path string, st *stmt) []string {
	out := []string{path + "<class " + st.name + ">"}
	var walk func(body []*stmt)
	walk = func(body []*stmt) {
		for _, k := range body {
			switch k.kind {
			case sDef:
				out = append(out, path+st.name+"."+k.name)
				continue
			case sClass:
				out = append(out, classInner(path+st.name+".", k)...)
				continue
			}
			walk(k.body)
			walk(k.orelse)
			walk(k.final)
			for _, a := range k.arms {
				walk(a.body)
			}
		}
	}
	walk(st.body)
	return out
}

// annotated is `x: int = 1`, a declaration when it has no value. Annotations of
// variables are evaluated in modules and classes alone.
func (l *lowerer) annotated(st *stmt, b *effects) ir.Kind {
	t := st.targets[0]
	kind := ir.KindAssign
	if st.value != nil {
		b.value(st.value)
		b.store(t)
	} else {
		kind = ir.KindDecl
		if t.kind == eAttr || t.kind == eSub {
			b.base(t)
		}
	}
	if !l.future && (l.self.kind == scopeModule || l.self.kind == scopeClass) {
		b.value(st.extra)
		b.raise()
	}
	return kind
}

// define is a def or class statement: what is evaluated now, then what the
// inner functions capture, then the name.
func (l *lowerer) define(st *stmt, b *effects) {
	b.values(st.decos)
	if st.kind == sClass {
		b.values(st.args)
	} else {
		for _, a := range st.params {
			b.value(a.def)
		}
		if !l.future {
			in := b
			if ts := l.t.types[st]; ts != nil {
				in = &effects{l: l, at: ts}
			}
			for _, a := range st.params {
				in.value(a.ann)
			}
			in.value(st.extra)
			if in != b {
				b.list = append(b.list, in.list...)
			}
		}
	}
	b.raise()
	if in := l.t.stmts[st]; in != nil {
		l.capture(in, b)
	}
	b.store(&expr{kind: eName, val: st.name})
}

// capture lists what the scope in takes from this function: a class body reads
// at once, a function later.
func (l *lowerer) capture(in *scope, b *effects) {
	seen := map[varKey]bool{}
	var walk func(at *scope, op ir.Op)
	walk = func(at *scope, op ir.Op) {
		for _, name := range at.uses {
			o := at.lookup(name)
			if o == nil && op == ir.OpUse && !at.bound[name] { // a class body reads a global at once
				b.add(ir.Eval{Op: op, Place: ir.Place{Var: l.variable(name, nil)}})
				continue
			}
			if o == nil || !l.self.within(o) || o.kind == scopeClass && o != l.self {
				continue
			}
			v := l.variable(name, o)
			if !seen[varKey{name, o}] || op == ir.OpCapture {
				seen[varKey{name, o}] = true
				b.add(ir.Eval{Op: op, Place: ir.Place{Var: v}})
			}
			if at.stored[name] {
				b.add(ir.Eval{Op: ir.OpDef, Place: ir.Place{Var: v}, May: true})
			}
		}
		for _, k := range at.kids {
			if k.kind == scopeFunc || k.kind == scopeLambda {
				walk(k, ir.OpCapture)
			} else {
				walk(k, op)
			}
		}
	}
	op := ir.OpUse
	if in.kind == scopeFunc {
		op = ir.OpCapture
	}
	walk(in, op)
	dedupe(b)
}

// dedupe drops a capture or use that stands in the list before.
func dedupe(b *effects) {
	type key struct {
		op    ir.Op
		place ir.Place
	}
	seen := map[key]bool{}
	out := b.list[:0]
	for _, e := range b.list {
		if e.Op == ir.OpCapture {
			k := key{e.Op, e.Place}
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		out = append(out, e)
	}
	b.list = out
}

// assertion evaluates the message on failure alone.
func (l *lowerer) assertion(st *stmt, b *effects) {
	b.truth(st.value)
	if st.extra == nil {
		return
	}
	cond := b.seq()
	msg := b.sub(func(c *effects) { c.value(st.extra) })
	if msg.Op == ir.OpNop {
		return
	}
	failed := ir.Eval{Op: ir.OpSeq, Kids: []ir.Eval{
		{Op: ir.OpNot, Kids: []ir.Eval{cond}},
		{Op: ir.OpIfTrue, Kids: []ir.Eval{msg}},
	}}
	b.list = []ir.Eval{{Op: ir.OpNot, Kids: []ir.Eval{failed}}}
}

func (l *lowerer) ifs(st *stmt) *ir.If {
	b := l.effects()
	b.truth(st.value)
	s := l.stmt(st, ir.KindIf, b)
	s.Cond = condition(st.value)
	n := &ir.If{S: s, Then: l.block(st.body)}
	// An else that holds one if and nothing more is an elif.
	if len(st.orelse) == 1 && st.orelse[0].kind == sIf {
		inner := l.ifs(st.orelse[0])
		inner.ElseIf = true
		n.Else = []ir.Node{inner}
		return n
	}
	n.Else = l.block(st.orelse)
	return n
}

func (l *lowerer) while(st *stmt) ir.Node {
	b := l.effects()
	b.truth(st.value)
	s := l.stmt(st, ir.KindWhile, b)
	s.Cond = condition(st.value)
	n := &ir.Loop{S: s, Kind: ir.While, Body: l.block(st.body), Else: l.block(st.orelse)}
	if st.value.kind == eConst {
		switch st.value.truth {
		case 1:
			n.Kind = ir.Forever
		case -1:
			n.Kind = ir.Never
		}
	}
	return n
}

func (l *lowerer) foreach(st *stmt) ir.Node {
	pre := l.effects()
	pre.value(st.value)
	pre.raise()
	b := l.effects()
	b.raise()
	bind := b.sub(func(c *effects) { c.store(st.targets[0]) })
	if bind.Op == ir.OpSeq {
		b.add(ir.Eval{Op: ir.OpIfTrue, Kids: bind.Kids})
	} else if bind.Op != ir.OpNop {
		b.add(ir.Eval{Op: ir.OpIfTrue, Kids: []ir.Eval{bind}})
	}
	s := l.stmt(st, ir.KindForeach, b)
	s.Pre = pre.seq()
	s.Cond = relation("in", st.targets[0], st.value)
	return &ir.Loop{S: s, Kind: ir.Foreach, Body: l.block(st.body), Else: l.block(st.orelse)}
}

func (l *lowerer) try(st *stmt) ir.Node {
	n := &ir.Try{Group: st.group, Span: st.whole}
	n.Body = l.block(st.body)
	for _, a := range st.arms {
		b := l.effects()
		if a.test != nil {
			b.value(a.test)
			b.raise()
		}
		h := &ir.Handler{CatchAll: a.test == nil}
		if a.name != nil {
			bind := b.sub(func(c *effects) { c.store(a.name) })
			b.add(ir.Eval{Op: ir.OpIfTrue, Kids: []ir.Eval{bind}})
			// Python 2 binds with a comma and unbinds nothing; that cannot be
			// told apart here and is rare enough.
			if p, ok := b.place(a.name); ok && a.name.kind == eName {
				h.Unbind = &p
			}
		}
		h.S = l.arm(st, a, ir.KindHandler, b)
		h.S.DefKind = ir.DefHandler
		h.Body = l.block(a.body)
		n.Handlers = append(n.Handlers, h)
	}
	n.Else = l.block(st.orelse)
	n.Finally = l.block(st.final)
	return n
}

func (l *lowerer) arm(st *stmt, a *arm, kind ir.Kind, b *effects) *ir.Stmt {
	s := &ir.Stmt{Kind: kind, Text: armText(st, a), Span: a.span, Eval: b.seq()}
	if hasBad(a.test) || hasBad(a.guard) || hasBad(a.name) {
		s.Reason = "part of the header could not be read"
	}
	return l.place(s, a.start)
}

func (l *lowerer) with(st *stmt) ir.Node {
	b := l.effects()
	n := &ir.Scope{}
	for _, it := range st.items {
		b.value(it.value)
		b.raise()
		b.store(it.target)
		n.Suppress = n.Suppress || suppresses(it.value)
	}
	n.S = l.stmt(st, ir.KindWith, b)
	n.Body = l.block(st.body)
	return n
}

// suppresses reports a contextlib.suppress(...).
func suppresses(e *expr) bool {
	if e.kind != eCall {
		return false
	}
	name := text(e.kids[0])
	return name == "suppress" || name == "contextlib.suppress"
}

func (l *lowerer) match(st *stmt) ir.Node {
	b := l.effects()
	b.value(st.value)
	n := &ir.Match{S: l.stmt(st, ir.KindMatch, b)}
	for _, a := range st.arms {
		m := ir.Eval{Op: ir.OpMatch}
		m.Kids = append(m.Kids, l.effects().sub(func(c *effects) {
			var binds []*expr
			c.test(a.test, &binds)
			for _, e := range binds {
				c.store(e)
			}
		}))
		cond := &ir.Cond{Op: ir.CondLeaf, Text: strings.TrimPrefix(armText(st, &arm{test: a.test}), "case ")}
		if a.guard != nil {
			m.Kids = append(m.Kids, l.effects().sub(func(c *effects) { c.truth(a.guard) }))
			cond = &ir.Cond{Op: ir.CondAnd, Kids: []*ir.Cond{cond, condition(a.guard)}}
		}
		b := l.effects()
		b.add(m)
		c := &ir.Case{S: l.arm(st, a, ir.KindCase, b), Irrefutable: a.guard == nil && irrefutable(a.test), Body: l.block(a.body)}
		c.S.Cond = cond
		n.Cases = append(n.Cases, c)
	}
	if len(st.orelse) > 0 { // what stands between the cases and is none
		c := &ir.Case{Body: l.block(st.orelse[1:])}
		o := l.opaque(st.orelse[0], st.orelse[0].reason).(*ir.Opaque)
		c.S = o.S
		n.Cases = append(n.Cases, c)
	}
	return n
}
