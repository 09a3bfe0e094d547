package c

import (
	"strings"

	"flowplan/internal/ir"
	"flowplan/internal/source"
)

// block lowers statements in a scope of their own.
func (l *lowerer) block(body []*stmt) []ir.Node {
	l.push()
	defer l.pop()
	return l.seq(body)
}

func (l *lowerer) seq(body []*stmt) []ir.Node {
	var out []ir.Node
	for _, s := range body {
		out = append(out, l.node(s)...)
	}
	return out
}

func single(n ir.Node) []ir.Node { return []ir.Node{n} }

// stmt makes the ir.Stmt of a statement or header.
func (l *lowerer) stmt(s *stmt, kind ir.Kind, text string, e ir.Eval) *ir.Stmt {
	return l.place(&ir.Stmt{Kind: kind, Text: text, Span: s.span, Eval: e, Reason: s.reason}, s.start)
}

// finishSimple makes the node of a statement that goes straight on, but for
// the ways out that its expressions have.
func (l *lowerer) finishSimple(s *ir.Stmt, stays bool) []ir.Node {
	exits := l.takeExits()
	if len(exits) > 0 {
		return single(&ir.Leaves{S: s, Exits: exits, Stays: stays})
	}
	return single(&ir.Simple{S: s})
}

func (l *lowerer) opaque(s *stmt, reason string) []ir.Node {
	span := s.whole
	if span.End <= span.Start {
		span = s.span
	}
	o := &ir.Stmt{Kind: ir.KindOpaque, Span: span, Reason: reason}
	if l.t.cpp {
		o.Eval = ir.Eval{Op: ir.OpRaise}
	}
	l.exits = nil
	return single(&ir.Opaque{S: l.place(o, s.start)})
}

const unreadPart = "part of the statement could not be read"

// node lowers one statement.
func (l *lowerer) node(s *stmt) []ir.Node {
	b := &effects{l: l}
	switch s.kind {
	case sEmpty:
		return nil
	case sBlock:
		return l.block(s.body)
	case sExpr:
		return l.expression(s)
	case sMacro:
		return l.macroCall(s)
	case sDecl:
		if badDecl(s.decl) {
			return l.opaque(s, unreadPart)
		}
		b.declare(s.decl)
		return l.finishSimple(l.stmt(s, ir.KindDecl, l.declText(s), b.seq()), true)
	case sPlain:
		return single(&ir.Simple{S: l.stmt(s, ir.KindDecl, l.p.text(s.head), ir.Eval{})})
	case sImport:
		text := l.p.text(s.head)
		if text == "" {
			text = headText(s.start.text)
		}
		return single(&ir.Simple{S: l.stmt(s, ir.KindImport, text, ir.Eval{})})
	case sClass:
		st := l.stmt(s, ir.KindClass, l.p.text(s.head), ir.Eval{})
		if d := s.decl.type_; d != nil && d.name != "" && l.t.cpp {
			st.Inner = []string{l.fn.QualifiedName + "::<class " + d.name + ">"}
		}
		return single(&ir.Simple{S: st})
	case sAsm:
		b.asm(s)
		for _, name := range s.names {
			l.exit(ir.KindGoto, name)
		}
		return l.finishSimple(l.stmt(s, ir.KindAsm, l.p.text(s.head), b.seq()), true)
	case sReturn:
		if hasBad(s.value) {
			return l.opaque(s, unreadPart)
		}
		b.value(s.value)
		text := "return"
		if s.co {
			text = "co_return"
		}
		if s.value != nil {
			text += " " + l.p.text(bare(s.value).toks)
		}
		if s.made {
			text = l.p.text(s.head)
		}
		l.exits = nil
		return single(&ir.Return{S: l.stmt(s, ir.KindReturn, text, b.seq())})
	case sBreak:
		return single(&ir.Jump{S: l.stmt(s, ir.KindBreak, "break", ir.Eval{})})
	case sContinue:
		return single(&ir.Jump{S: l.stmt(s, ir.KindContinue, "continue", ir.Eval{})})
	case sGoto:
		if s.label == "" {
			b.value(s.value)
			l.exit(ir.KindGoto, "")
			st := l.stmt(s, ir.KindGoto, l.p.text(s.head), b.seq())
			exits := l.takeExits()
			if len(exits) == 0 {
				exits = []ir.Exit{{Kind: ir.KindGoto, Label: ""}}
			}
			return single(&ir.Leaves{S: st, Exits: exits})
		}
		return single(&ir.Jump{S: l.stmt(s, ir.KindGoto, l.p.text(s.head), ir.Eval{}), Label: s.label})
	case sLabel:
		return single(&ir.Label{S: l.stmt(s, ir.KindLabel, s.label+":", ir.Eval{}), Name: s.label})
	case sCase:
		text := strings.TrimSuffix(l.p.text(s.head), ":")
		st := l.stmt(s, ir.KindCase, text, ir.Eval{})
		if s.value != nil {
			st.Cond = &ir.Cond{Op: ir.CondLeaf, Text: strings.TrimPrefix(text, "case ")}
			if hasBad(s.value) {
				st.Reason = "part of the header could not be read"
			}
		}
		return single(&ir.CaseLabel{S: st, Default: s.isDefault})
	case sIf:
		return l.ifStatement(s)
	case sWhile, sDo, sFor, sRange:
		return l.loop(s)
	case sSwitch:
		l.push()
		defer l.pop()
		out := l.initOf(s)
		st := l.header(s, ir.KindSwitch, "switch")
		return append(out, &ir.Switch{S: st, Body: l.block(s.body)})
	case sTry:
		t := &ir.Try{Body: l.block(s.body), Span: s.whole}
		if !l.fn.Span.Contains(t.Span) {
			t.Span = l.fn.Span
		}
		for _, c := range s.catches {
			t.Handlers = append(t.Handlers, l.handler(c))
		}
		t.Finally = l.block(s.orelse)
		return single(t)
	case sConfig:
		return l.config(s)
	}
	return l.opaque(s, s.reason)
}

func badDecl(d *declaration) bool {
	for _, it := range d.items {
		if hasBad(it.init) {
			return true
		}
		for _, e := range it.args {
			if hasBad(e) {
				return true
			}
		}
		for _, e := range it.dims {
			if hasBad(e) {
				return true
			}
		}
	}
	return false
}

// expression lowers an expression statement.
func (l *lowerer) expression(s *stmt) []ir.Node {
	if hasBad(s.value) {
		return l.opaque(s, unreadPart)
	}
	e := s.value
	if e.kind == eSame && e.paren { // (f(x));
		e = bare(e)
	}
	if e.kind == eMacro && len(e.kids) == 1 && e.body == nil {
		if k := bare(e.kids[0]); k.kind == eThrow {
			e = k
		}
	}
	b := &effects{l: l}
	if e.kind == eThrow {
		b.values(e.kids)
		l.exits = nil
		return single(&ir.Throw{S: l.stmt(s, ir.KindRaise, l.p.text(s.head), b.seq())})
	}
	kind, callee := ir.KindExpr, ""
	switch e.kind {
	case eAssign:
		kind = ir.KindAugAssign
		if e.val == "=" {
			kind = ir.KindAssign
		}
	case ePost:
		kind = ir.KindAugAssign
	case eUnary:
		if e.val == "++" || e.val == "--" {
			kind = ir.KindAugAssign
		}
	case eCall:
		kind = ir.KindCall
		callee = l.callee(e)
	case eMacro:
		kind = ir.KindCall
		callee = l.madeCallee(e)
	case eAwait:
		kind = ir.KindAwait
	case eYield:
		kind = ir.KindYield
	}
	l.streams = kind == ir.KindExpr
	b.value(e)
	l.streams = false
	st := l.stmt(s, kind, l.p.text(s.head), b.seq())
	st.Callee = callee
	if e.kind == eCall && callee != "" && isMacroName(callee) && l.t.macros.lookup(callee, s.start.span.Start) == nil {
		for _, a := range e.kids[1:] {
			if a = bare(a); a.kind == eName {
				if v, ok := l.local(a.val); ok {
					l.given = append(l.given, given{st, v})
				}
			}
		}
	}
	return l.finishSimple(st, true)
}

// callee is the name that a call calls, unless a variable hides it.
func (l *lowerer) callee(e *expr) string {
	c := bare(e.kids[0])
	if c.kind != eName {
		return ""
	}
	if _, ok := l.local(c.val); ok {
		return ""
	}
	return strings.TrimPrefix(c.val, "::")
}

// madeCallee is what a macro calls that is one call.
func (l *lowerer) madeCallee(e *expr) string {
	if len(e.kids) != 1 {
		return ""
	}
	k := bare(e.kids[0])
	switch k.kind {
	case eCall:
		return l.callee(k)
	case eMacro:
		return l.madeCallee(k)
	}
	return ""
}

// macroCall lowers a statement that is a call of a macro which is statements:
// one statement, with the ways out of its expansion.
func (l *lowerer) macroCall(s *stmt) []ir.Node {
	body := s.value.body
	text := l.p.text(s.head)
	if len(body) == 1 {
		switch in := body[0]; in.kind {
		case sReturn, sGoto, sBreak, sContinue:
			c := *in
			c.start, c.head, c.span, c.made, c.whole = s.start, s.head, s.span, true, s.whole
			out := l.node(&c)
			if st := ir.StmtOf(out[0]); st != nil && st.Kind != ir.KindOpaque {
				st.Text = text
			}
			return out
		case sExpr:
			c := *in
			c.start, c.head, c.span, c.made, c.whole = s.start, s.head, s.span, true, s.whole
			return l.expression(&c)
		}
	}
	b := &effects{l: l}
	if declares(body) { // its variables are seen by what follows
		for _, k := range body {
			b.statement(k)
		}
	} else {
		b.statements(body)
	}
	st := l.stmt(s, ir.KindCall, text, b.seq())
	st.Callee = l.lastCall(body)
	return l.finishSimple(st, completes(body) || len(l.exits) == 0)
}

// lastCall is the function that a macro's statements call last on every way
// through them: if it never returns, nor does the macro.
func (l *lowerer) lastCall(body []*stmt) string {
	for i := len(body) - 1; i >= 0; i-- {
		switch s := body[i]; s.kind {
		case sEmpty:
		case sBlock:
			if name := l.lastCall(s.body); name != "" {
				return name
			}
		case sDo:
			if constant(s.value) == no && !leaves(s.body) {
				return l.lastCall(s.body)
			}
			return ""
		case sMacro:
			return l.lastCall(s.value.body)
		case sIf: // assert(0)
			switch constant(s.value) {
			case yes:
				return l.lastCall(s.body)
			case no:
				if s.hasElse {
					return l.lastCall(s.orelse)
				}
			}
			return ""
		case sExpr:
			switch e := bare(s.value); e.kind {
			case eCall:
				return l.callee(e)
			case eMacro:
				if e.body != nil {
					return l.lastCall(e.body)
				}
				return l.madeCallee(e)
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// declares reports whether a macro declares variables for what follows.
func declares(body []*stmt) bool {
	for _, s := range body {
		if s.kind == sDecl {
			return true
		}
	}
	return false
}

// completes reports whether control can fall off the end of flattened
// statements.
func completes(body []*stmt) bool {
	for _, s := range body {
		switch s.kind {
		case sReturn, sGoto, sBreak, sContinue:
			return false
		case sBlock:
			if !completes(s.body) {
				return false
			}
		case sIf:
			if s.hasElse && !completes(s.body) && !completes(s.orelse) {
				return false
			}
		case sDo:
			if constant(s.value) == no && !completes(s.body) && !leaves(s.body) {
				return false
			}
		}
	}
	return true
}

// leaves reports whether a break or continue ends the loop that holds these.
func leaves(body []*stmt) bool {
	for _, s := range body {
		switch s.kind {
		case sBreak, sContinue:
			return true
		case sBlock:
			if leaves(s.body) {
				return true
			}
		case sIf:
			if leaves(s.body) || leaves(s.orelse) {
				return true
			}
		}
	}
	return false
}

// initOf lowers the statement that an if or switch begins with.
func (l *lowerer) initOf(s *stmt) []ir.Node {
	if s.init == nil {
		return nil
	}
	return l.node(s.init)
}

// header makes the statement of an if, while, do or switch.
func (l *lowerer) header(s *stmt, kind ir.Kind, word string) *ir.Stmt {
	b := &effects{l: l}
	b.header(s)
	st := &ir.Stmt{Kind: kind, Span: s.span, Eval: b.seq(), Reason: s.reason}
	if hasBad(s.value) || s.decl != nil && badDecl(s.decl) {
		st.Reason = "part of the header could not be read"
	}
	switch {
	case s.made:
		st.Text = l.p.text(s.head)
	case s.value != nil && s.init == nil:
		st.Test = l.p.text(bare(s.value).toks)
		if s.isConst {
			word += " constexpr"
		}
		st.Text = word + " (" + st.Test + ")"
	default:
		st.Text = l.p.text(s.head)
		if s.value != nil {
			st.Test = l.p.text(bare(s.value).toks)
		}
	}
	if kind != ir.KindSwitch {
		st.Cond = l.conditionOf(s)
	}
	return l.place(st, s.start)
}

func (l *lowerer) conditionOf(s *stmt) *ir.Cond {
	if s.value != nil {
		return l.p.condition_(s.value)
	}
	if s.decl != nil && len(s.decl.items) > 0 {
		return &ir.Cond{Op: ir.CondLeaf, Text: s.decl.items[0].name}
	}
	return nil
}

// withExits puts a condition's own ways out before what it governs: a macro
// that hides a return inside a condition.
func (l *lowerer) withExits(exits []ir.Exit, st *ir.Stmt) {
	if len(exits) > 0 && st.Reason == "" {
		st.Reason = "the condition holds a jump"
	}
}

func (l *lowerer) ifStatement(s *stmt) []ir.Node {
	l.push()
	defer l.pop()
	out := l.initOf(s)
	st := l.header(s, ir.KindIf, "if")
	l.withExits(l.takeExits(), st)
	n := &ir.If{S: st, Then: l.block(s.body)}
	if len(s.orelse) == 1 && s.orelse[0].kind == sIf && s.orelse[0].init == nil {
		inner := l.ifStatement(s.orelse[0])
		inner[0].(*ir.If).ElseIf = true
		n.Else = inner
	} else {
		n.Else = l.block(s.orelse)
	}
	return append(out, n)
}

// constant is the truth of a condition that is a literal.
func constant(e *expr) truth {
	e = bare(e)
	if e == nil {
		return unknown
	}
	switch e.kind {
	case eConst:
		if len(e.toks) != 1 || e.toks[0].kind != tNumber {
			return unknown
		}
		t := strings.TrimRight(e.toks[0].text, "uUlL")
		if t == "0" {
			return no
		}
		if strings.Trim(t, "0123456789") == "" {
			return yes
		}
	case eName:
		switch e.val {
		case "true", "TRUE":
			return yes
		case "false", "FALSE":
			return no
		}
	case eMacro:
		if len(e.kids) == 1 && e.body == nil {
			return constant(e.kids[0])
		}
	case eAnd, eOr: // 0 && "what went wrong"
		decides := no
		if e.kind == eOr {
			decides = yes
		}
		if constant(e.kids[0]) == decides {
			return decides
		}
	case eUnary:
		if e.val == "!" {
			switch constant(e.kids[0]) {
			case yes:
				return no
			case no:
				return yes
			}
		}
	case eCast:
		if len(e.kids) == 1 {
			return constant(e.kids[0])
		}
	}
	return unknown
}

func (l *lowerer) loop(s *stmt) []ir.Node {
	l.push()
	defer l.pop()
	switch s.kind {
	case sWhile, sDo:
		kind, word := ir.KindWhile, "while"
		n := &ir.Loop{Kind: ir.While}
		if s.kind == sDo {
			kind, n.Kind = ir.KindDo, ir.Do
			n.Body = l.block(s.body) // its condition does not see the body's variables
		}
		n.S = l.header(s, kind, word)
		l.withExits(l.takeExits(), n.S)
		switch constant(s.value) {
		case yes:
			n.Kind = ir.Forever
			if s.kind == sDo {
				n.Kind = ir.DoForever
			}
		case no:
			n.Kind = ir.Never
			if s.kind == sDo {
				n.Kind = ir.Once
			}
		}
		if s.kind != sDo {
			n.Body = l.block(s.body)
		}
		return single(n)
	case sRange:
		return l.foreach(s)
	}
	if s.made {
		return l.madeFor(s)
	}
	n := &ir.Loop{Kind: ir.For}
	if s.init != nil {
		n.Init = l.node(s.init)
	}
	b := &effects{l: l}
	if s.value != nil || s.decl != nil {
		b.header(s)
	}
	st := &ir.Stmt{Kind: ir.KindFor, Span: s.span, Eval: b.seq(), Cond: l.conditionOf(s), Reason: s.reason}
	if s.value != nil {
		st.Test = l.p.text(bare(s.value).toks)
		if hasBad(s.value) {
			st.Reason = "part of the header could not be read"
		}
	}
	st.Text = "for (; " + st.Test + "; )"
	if st.Test == "" {
		st.Text = "for (;;)"
	}
	n.S = l.place(st, s.start)
	l.withExits(l.takeExits(), n.S)
	switch constant(s.value) {
	case yes:
		n.Kind = ir.Forever
	case no:
		n.Kind = ir.Never
	}
	if s.post != nil && s.post.value != nil {
		n.Post = l.node(s.post)
	}
	n.Body = l.block(s.body)
	return single(n)
}

// madeFor is a for whose header comes from a macro: one statement that
// initialises once, and steps before every test but the first.
func (l *lowerer) madeFor(s *stmt) []ir.Node {
	pre := &effects{l: l}
	if s.init != nil {
		pre.statement(s.init)
	}
	b := &effects{l: l}
	if s.post != nil {
		if step := b.sub(func(c *effects) { c.statement(s.post) }); step.Op != ir.OpNop {
			b.add(ir.Eval{Op: ir.OpMaybe, Kids: []ir.Eval{step}})
		}
	}
	if s.value != nil || s.decl != nil {
		b.header(s)
	}
	st := &ir.Stmt{Kind: ir.KindFor, Text: l.p.text(s.head), Span: s.span, Pre: pre.seq(), Eval: b.seq(), Reason: s.reason}
	n := &ir.Loop{Kind: ir.For}
	if s.value != nil || s.decl != nil {
		st.Cond = &ir.Cond{Op: ir.CondLeaf, Text: st.Text}
		st.Test = st.Text
	}
	if constant(s.value) == yes {
		n.Kind = ir.Forever
	}
	l.exits = nil
	n.S = l.place(st, s.start)
	n.Body = l.block(s.body)
	return single(n)
}

// foreach is a range-for, or a loop macro of which nothing is known.
func (l *lowerer) foreach(s *stmt) []ir.Node {
	var out []ir.Node
	if s.init != nil {
		out = l.node(s.init)
	}
	pre := &effects{l: l}
	b := &effects{l: l}
	st := &ir.Stmt{Kind: ir.KindForeach, Span: s.span, Text: l.p.text(s.head), Reason: s.reason}
	if s.made { // a macro of several headers: all of them at every round
		st.Kind = ir.KindFor
		for _, k := range s.value.body {
			b.statement(k)
		}
		st.Test = st.Text
		st.Cond = &ir.Cond{Op: ir.CondLeaf, Text: st.Text}
		st.Eval = b.seq()
		l.exits = nil
		n := &ir.Loop{Kind: ir.For, S: l.place(st, s.start)}
		n.Body = l.block(s.body)
		return single(n)
	}
	if s.decl == nil {
		pre.value(s.value)
		// the macro may set the names that it is given
		bind := b.sub(func(c *effects) {
			if v := bare(s.value); v != nil && v.kind == eCall {
				for _, a := range v.kids[1:] {
					a = bare(a)
					if a.kind == eUnary && a.val == "&" {
						continue
					}
					if a.kind == eName {
						if v, ok := l.local(a.val); ok {
							c.def(ir.Place{Var: v}, true)
						}
					}
				}
			}
		})
		if bind.Op != ir.OpNop {
			b.add(ir.Eval{Op: ir.OpIfTrue, Kids: []ir.Eval{bind}})
		}
		st.Test = st.Text
		st.Cond = &ir.Cond{Op: ir.CondLeaf, Text: st.Text}
	} else {
		pre.value(s.value)
		pre.raise()
		b.raise()
		bind := b.sub(func(c *effects) { c.bind(s.decl) })
		if bind.Op != ir.OpNop {
			b.add(ir.Eval{Op: ir.OpIfTrue, Kids: []ir.Eval{bind}})
		}
		var names []string
		for _, it := range s.decl.items {
			if it.name != "" {
				names = append(names, it.name)
			}
			names = append(names, it.names...)
		}
		head := s.head
		if len(head) > 2 {
			st.Test = l.p.text(head[2 : len(head)-1])
		}
		st.Cond = &ir.Cond{Op: ir.CondCompare, Rel: "in", Kids: []*ir.Cond{
			{Op: ir.CondLeaf, Text: strings.Join(names, ", ")}, {Op: ir.CondLeaf, Text: l.p.text(s.value.toks)}}}
		if hasBad(s.value) {
			st.Reason = "part of the header could not be read"
		}
	}
	st.Pre, st.Eval = pre.seq(), b.seq()
	l.exits = nil
	n := &ir.Loop{Kind: ir.Foreach, S: l.place(st, s.start)}
	n.Body = l.block(s.body)
	return append(out, n)
}

func (l *lowerer) handler(c *catch) *ir.Handler {
	l.push()
	defer l.pop()
	h := &ir.Handler{CatchAll: c.all}
	b := &effects{l: l}
	if c.param != nil && c.param.name != "" {
		v := l.variable(c.param.name)
		b.add(ir.Eval{Op: ir.OpIfTrue, Kids: []ir.Eval{{Op: ir.OpDef, Place: ir.Place{Var: v}}}})
	}
	st := &ir.Stmt{Kind: ir.KindHandler, Text: l.p.text(c.head), Span: c.span, Eval: b.seq(), DefKind: ir.DefHandler}
	st.Test = strings.TrimSuffix(strings.TrimPrefix(st.Text, "catch ("), ")")
	h.S = l.place(st, c.start)
	h.Body = l.block(c.body)
	return h
}

func (l *lowerer) config(s *stmt) []ir.Node {
	n := &ir.Config{Complete: s.group.complete}
	for _, a := range s.arms {
		text := headText(a.head.text)
		st := &ir.Stmt{Kind: ir.KindPreproc, Text: text, Span: a.head.span}
		n.Arms = append(n.Arms, &ir.Arm{S: l.place(st, a.head), Body: l.seq(a.body)})
	}
	return single(n)
}

// items lowers what stands directly in a file or class.
func (l *lowerer) items(items []item) []ir.Node {
	var out []ir.Node
	for _, it := range items {
		if it.group != nil {
			n := &ir.Config{Complete: it.group.complete}
			for _, a := range it.arms {
				st := &ir.Stmt{Kind: ir.KindPreproc, Text: headText(a.head.text), Span: a.head.span}
				n.Arms = append(n.Arms, &ir.Arm{S: l.place(st, a.head), Body: l.items(a.items)})
			}
			out = append(out, n)
			continue
		}
		toks := it.toks
		for len(toks) > 0 && toks[len(toks)-1].is(";") {
			toks = toks[:len(toks)-1]
		}
		text := l.p.text(toks)
		if it.start.kind == tDirective {
			text = headText(it.start.text)
			if m := l.t.macroAt(it.start.span.Start); m != nil { // its body is a function of its own
				text = "#define " + m.name + "(" + strings.Join(m.params, ", ") + ")"
			}
		}
		st := &ir.Stmt{Kind: it.kind, Text: text, Span: spanOf(it.toks), Inner: it.inner}
		if it.kind == ir.KindClass && len(it.inner) == 0 {
			// a struct of C: its members are part of it
			st.Span = it.whole
			st.Text = l.textOf(it.whole)
		}
		start := it.start
		if it.kind == ir.KindDef || it.kind == ir.KindClass {
			start.span = source.Span{Start: st.Span.Start, End: st.Span.Start}
		}
		out = append(out, &ir.Simple{S: l.place(st, start)})
	}
	return out
}

// declText is the text of a declaration. The body of a lambda that it gives a
// name to is another function's, as that of a nested one.
func (l *lowerer) declText(s *stmt) string {
	if len(s.decl.items) != 1 {
		return l.p.text(s.head)
	}
	init := bare(s.decl.items[0].init)
	if init == nil || init.kind != eLambda {
		return l.p.text(s.head)
	}
	var toks []token
	for _, t := range s.head {
		if x := init.lambda; t.span.Start < x.open.End-1 || t.span.Start >= x.whole.End {
			toks = append(toks, t)
		}
	}
	return l.p.text(toks)
}

// textOf is the normalised text of a stretch of the file.
func (l *lowerer) textOf(s source.Span) string {
	return l.p.text(scan(l.t.f.Bytes[s.Start:s.End], l.t.cpp))
}
