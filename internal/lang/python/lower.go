package python

import (
	"strings"

	"flowplan/internal/ir"
)

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

// callee is name or mod.name, unless a variable of the function or of one
// around it hides what the name stands for; an import of a module hides nothing.
func (l *lowerer) callee(e *expr) string {
	base := e
	if e.kind == eAttr {
		base = e.kids[0]
	}
	if base.kind != eName {
		return ""
	}
	if o := l.self.lookup(base.val); o != nil && (base == e || !o.imported[base.val]) {
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
