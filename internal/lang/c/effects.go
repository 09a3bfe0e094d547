package c

import (
	"flowplan/internal/ir"
)

// effects gathers what an expression does, in an order that C allows.
type effects struct {
	l    *lowerer
	list []ir.Eval
}

func (b *effects) add(e ir.Eval) {
	if e.Op != ir.OpNop {
		b.list = append(b.list, e)
	}
}

func (b *effects) seq() ir.Eval { return seqOf(b.list) }

func seqOf(list []ir.Eval) ir.Eval {
	switch len(list) {
	case 0:
		return ir.Eval{}
	case 1:
		return list[0]
	}
	return ir.Eval{Op: ir.OpSeq, Kids: list}
}

// sub gathers what fn does into a tree of its own.
func (b *effects) sub(fn func(*effects)) ir.Eval {
	c := &effects{l: b.l}
	fn(c)
	return c.seq()
}

// exit leaves the statement from here.
func (b *effects) exit(kind ir.Kind, label string) {
	b.l.exit(kind, label)
	b.add(ir.Eval{Op: ir.OpExit})
}

// raise marks a point where an exception may leave; C has none.
func (b *effects) raise() {
	if b.l.t.cpp {
		b.add(ir.Eval{Op: ir.OpRaise})
	}
}

func (b *effects) use(p ir.Place) { b.add(ir.Eval{Op: ir.OpUse, Place: p}) }

func (b *effects) def(p ir.Place, may bool) { b.add(ir.Eval{Op: ir.OpDef, Place: p, May: may}) }

func (b *effects) values(es []*expr) {
	for _, e := range es {
		b.value(e)
	}
}

// value evaluates an expression for its value.
func (b *effects) value(e *expr) {
	if e == nil {
		return
	}
	switch e.kind {
	case eBad, eConst, eType, eSizeof:
	case eLabel:
	case eSame:
		b.value(e.kids[0])
	case eName, eMember, eIndex:
		b.read(e)
	case eUnary:
		b.unary(e)
	case ePost:
		b.step(e.kids[0])
	case eBin:
		b.value(e.kids[0])
		if b.l.t.cpp && e.val == ">>" && b.l.streams && b.extracts(e) {
			b.extract(e.kids[1])
			return
		}
		b.value(e.kids[1])
	case eAnd, eOr:
		op := ir.OpAnd
		if e.kind == eOr {
			op = ir.OpOr
		}
		b.add(ir.Eval{Op: op, Kids: []ir.Eval{b.sub(func(c *effects) { c.value(e.kids[0]) }), b.sub(func(c *effects) { c.value(e.kids[1]) })}})
	case eCond:
		yes := ir.Eval{}
		if e.kids[1] != nil {
			yes = b.sub(func(c *effects) { c.value(e.kids[1]) })
		}
		b.add(ir.Eval{Op: ir.OpSelect, Kids: []ir.Eval{
			b.sub(func(c *effects) { c.value(e.kids[0]) }), yes, b.sub(func(c *effects) { c.value(e.kids[2]) })}})
	case eAssign:
		b.assign(e)
	case eComma:
		for _, k := range e.kids[:len(e.kids)-1] {
			b.discard(k)
		}
		b.value(e.kids[len(e.kids)-1])
	case eInit, eDesig:
		b.values(e.kids)
	case eCast:
		if isVoid(e) {
			b.discard(e.kids[0])
			return
		}
		b.values(e.kids)
		if e.val == "dynamic_cast" {
			b.raise()
		}
	case eCall:
		b.call(e)
	case eNew:
		b.values(e.kids)
		b.raise()
	case eDelete, eAwait, eYield:
		b.values(e.kids)
		if e.kind != eDelete {
			b.raise()
		}
	case eThrow:
		b.values(e.kids)
		b.exit(ir.KindRaise, "")
	case eStmts:
		b.statements(e.body)
	case eMacro:
		b.values(e.kids)
		if e.body != nil {
			b.statements(e.body)
		}
	case eLambda:
		b.lambda(e.lambda)
	}
}

// discard evaluates an expression whose value nobody wants: a variable alone is
// not read for it.
func (b *effects) discard(e *expr) {
	for e != nil {
		switch {
		case e.kind == eSame, e.kind == eCast && len(e.kids) == 1 && e.val == "cast", e.kind == eMacro && len(e.kids) == 1 && e.body == nil:
			e = e.kids[0]
			continue
		case e.kind == eName, e.kind == eUnary && e.val == "&" && bare(e.kids[0]).kind == eName:
			return
		}
		break
	}
	b.value(e)
}

// isVoid reports (void)x.
func isVoid(e *expr) bool {
	return e.val == "cast" && len(e.kids) == 1 && len(e.toks) > 3 && e.toks[0].is("(") && e.toks[1].is("void") && e.toks[2].is(")")
}

// extracts reports whether e is in >> x at the end of a chain that begins with
// what may be a stream: its value is not used as a number.
func (b *effects) extracts(e *expr) bool {
	r := bare(e.kids[1])
	switch r.kind {
	case eName, eMember, eIndex:
		return true
	}
	return false
}

// extract is the right side of stream >> x: it is written, or not.
func (b *effects) extract(e *expr) {
	e = bare(e)
	if p, ok := b.place(e, true); ok {
		b.def(p, true)
		b.l.fn.Vars[p.Var].Storage = true // it is passed by reference
	}
}

// read uses a place, and what is evaluated on the way to it.
func (b *effects) read(e *expr) {
	p, ok := b.place(e, false)
	if ok {
		b.use(p)
	}
}

// place is the place that an lvalue names. Indices and the pointers on the way
// are evaluated; the place itself is not. written: it is going to be written,
// so what leads to it is read here, and reading the place will not do that.
func (b *effects) place(e *expr, written bool) (ir.Place, bool) {
	switch e.kind {
	case eSame:
		return b.place(e.kids[0], written)
	case eCast:
		if len(e.kids) == 1 && e.kids[0].kind != eInit {
			return b.place(e.kids[0], written)
		}
	case eMacro:
		if len(e.kids) == 1 && e.body == nil {
			return b.place(e.kids[0], written)
		}
	case eName:
		v, ok := b.l.lookup(e.val)
		if !ok {
			return ir.Place{}, false
		}
		return ir.Place{Var: v}, true
	case eMember:
		base := bare(e.kids[0])
		if b.l.t.cpp && e.val == "->" && base.kind == eName && base.val == "this" {
			if v, ok := b.l.field(e.name); ok {
				return ir.Place{Var: v}, true
			}
		}
		if e.val == "->" && base.kind == eUnary && base.val == "&" { // (&x)->f is x.f
			p, ok := b.place(bare(base.kids[0]), written)
			p.Path += "." + e.name
			return p, ok
		}
		p, ok := b.place(base, written)
		if !ok {
			return p, false
		}
		if e.val == "->" {
			b.follow(p, written)
			if len(p.Path) > 8*maxPath {
				return p, true
			}
			p.Path += "*"
		} else if p.Path == "" {
			b.l.fn.Vars[p.Var].Storage = true
		}
		p.Path += "." + e.name
		return p, true
	case eIndex:
		base := bare(e.kids[0])
		p, ok := b.place(base, written)
		b.value(e.kids[1])
		if !ok {
			return p, false
		}
		if !b.l.isArray(p) {
			b.follow(p, written)
		}
		p.Path += "[]"
		return p, true
	case eUnary:
		if e.val == "*" {
			base := bare(e.kids[0])
			// *(p + 1), *p++: through what p points to
			inner := base
			for inner.kind == eBin && (inner.val == "+" || inner.val == "-") {
				b.value(inner.kids[1])
				inner = bare(inner.kids[0])
			}
			if inner.kind == ePost || inner.kind == eUnary && (inner.val == "++" || inner.val == "--") {
				b.step(inner.kids[0])
				inner = bare(inner.kids[0])
				if p, ok := b.quiet(inner); ok {
					p.Path += "*"
					return p, true
				}
				return ir.Place{}, false
			}
			if inner.kind == eUnary && inner.val == "&" { // *&x is x
				return b.place(bare(inner.kids[0]), written)
			}
			p, ok := b.place(inner, written)
			if !ok {
				return p, false
			}
			b.follow(p, written)
			p.Path += "*"
			return p, true
		}
		if e.val == "++" || e.val == "--" {
			b.step(e.kids[0])
			return b.quiet(e.kids[0])
		}
	case eAssign:
		b.assign(e)
		return b.quiet(e.kids[0])
	case eComma:
		if n := len(e.kids); n > 0 {
			b.values(e.kids[:n-1])
			return b.place(e.kids[n-1], written)
		}
	}
	b.value(e)
	return ir.Place{}, false
}

// maxPath bounds how many steps a place's path keeps.
const maxPath = 12

// quiet is the place of an lvalue that has been evaluated already.
func (b *effects) quiet(e *expr) (ir.Place, bool) {
	c := &effects{l: b.l}
	return c.place(bare(e), true)
}

// follow reads a pointer on the way to a place that is written: its own value,
// not what it leads to. On the way to one that is read, the use of the place
// covers it.
func (b *effects) follow(p ir.Place, written bool) {
	if !written {
		return
	}
	if p.Path == "" {
		b.use(ir.Place{Var: p.Var, Path: ir.OwnValue})
		return
	}
	b.use(p)
}

// store writes a place.
func (b *effects) store(e *expr, p ir.Place, ok bool, points *ir.Points) {
	if !ok {
		return
	}
	v := &b.l.fn.Vars[p.Var]
	if p.Path == "" && b.l.alias[p.Var] { // a reference: what it stands for is written
		b.use(ir.Place{Var: p.Var, Path: ir.OwnValue})
		b.def(ir.Place{Var: p.Var, Path: "*"}, true)
		b.add(ir.Eval{Op: ir.OpStore, Place: ir.Place{Var: p.Var}})
		return
	}
	may := through(p.Path) || b.l.static[p.Var] && false
	if p.Path == "" {
		delete(b.l.unset, p.Var)
	}
	b.add(ir.Eval{Op: ir.OpDef, Place: p, May: may, Points: points})
	if may && v.Scope == ir.Local && !b.l.arrays[p.Var] && direct(p.Path) {
		b.add(ir.Eval{Op: ir.OpStore, Place: ir.Place{Var: p.Var}})
	}
}

// through reports whether a path goes through a pointer or an element.
func through(path string) bool {
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '*', '[', '-':
			return true
		}
	}
	return false
}

// direct reports whether a path's first step follows the variable itself.
func direct(path string) bool { return path != "" && path[0] != '.' }

func (b *effects) assign(e *expr) {
	left := bare(e.kids[0])
	if e.val == "=" {
		b.value(e.kids[1])
		p, ok := b.place(left, true)
		b.store(left, p, ok, b.l.pointsTo(e.kids[1]))
		return
	}
	p, ok := b.place(left, true)
	if ok {
		b.use(p)
	}
	b.value(e.kids[1])
	b.store(left, p, ok, &ir.Points{Moved: true})
}

// step is ++ or --.
func (b *effects) step(e *expr) {
	p, ok := b.place(bare(e), true)
	if ok {
		b.use(p)
	}
	b.store(e, p, ok, &ir.Points{Moved: true})
}

func (b *effects) unary(e *expr) {
	switch e.val {
	case "++", "--":
		b.step(e.kids[0])
	case "!":
		k := b.sub(func(c *effects) { c.value(e.kids[0]) })
		if k.Op != ir.OpNop {
			b.add(ir.Eval{Op: ir.OpNot, Kids: []ir.Eval{k}})
		}
	case "&":
		b.address(e.kids[0])
	case "*":
		if inner := bare(e.kids[0]); inner.kind == ePost { // *p++ reads what p pointed to before
			if p, ok := b.quiet(inner.kids[0]); ok {
				p.Path += "*"
				b.use(p)
				b.step(inner.kids[0])
				return
			}
		}
		b.read(e)
	default:
		b.value(e.kids[0])
	}
}

// address takes the address of a place: nothing of it is read.
func (b *effects) address(e *expr) (ir.Place, bool) {
	e = bare(e)
	c := &effects{l: b.l}
	p, ok := c.place(e, true)
	b.list = append(b.list, c.list...)
	if ok && !through(p.Path) {
		b.l.fn.Vars[p.Var].AddressTaken = true
	}
	return p, ok
}

// call evaluates a callee and its arguments. A variable whose address is
// passed may be read and written by it.
func (b *effects) call(e *expr) {
	callee := bare(e.kids[0])
	switch {
	case callee.kind == eName:
		if v, ok := b.l.local(callee.val); ok {
			b.use(ir.Place{Var: v})
		}
	case callee.kind == eMember:
		b.value(callee.kids[0])
	default:
		b.value(callee)
	}
	type passed struct{ p ir.Place }
	var out []passed
	args := e.kids[1:]
	if callee.kind == eName && (callee.val == "va_start" || callee.val == "__builtin_va_start") && len(args) > 1 {
		args = args[:1] // the second names where the arguments begin
	}
	for i, a := range args {
		x := bare(a)
		if p, ok := b.whole(callee, i, x); ok { // it is passed by its address
			b.use(p)
			out = append(out, passed{p})
			continue
		}
		if x.kind == eCast && len(x.kids) == 1 && x.val == "cast" {
			x = bare(x.kids[0])
		}
		if x.kind == eMacro && len(x.kids) == 1 && x.body == nil {
			if y := bare(x.kids[0]); y.kind == eUnary && y.val == "&" {
				x = y
			}
		}
		if x.kind == eUnary && x.val == "&" {
			if p, ok := b.address(x.kids[0]); ok {
				if !through(p.Path) {
					b.use(p)
				}
				out = append(out, passed{p})
			}
			continue
		}
		b.value(a)
		// int n; parse(s, n): passed by reference, or to a macro that is not known
		if x.kind == eName && (b.l.t.cpp || callee.kind == eName && isMacroName(callee.val)) {
			if v, ok := b.l.local(x.val); ok && b.l.unset[v] {
				b.l.fn.Vars[v].Storage = true
			}
		}
	}
	if e.val != "type" || len(e.kids) > 1 {
		b.raise()
	}
	for _, o := range out {
		b.def(o.p, true)
	}
}

// whole is the local that an argument hands over although it bears no &: an
// array, or the list of arguments that va_start and its like begin.
func (b *effects) whole(callee *expr, i int, arg *expr) (ir.Place, bool) {
	if arg.kind != eName {
		return ir.Place{}, false
	}
	v, ok := b.l.local(arg.val)
	if !ok {
		return ir.Place{}, false
	}
	list := i == 0 && callee.kind == eName && (callee.val == "va_start" || callee.val == "va_copy" || callee.val == "__builtin_va_start" || callee.val == "__builtin_va_copy")
	if list {
		b.l.fn.Vars[v].AddressTaken = true
	}
	return ir.Place{Var: v}, list || b.l.arrays[v]
}

// truth is value for a condition.
func (b *effects) truth(e *expr) {
	b.l.streams = true
	b.value(e)
	b.l.streams = false
}

// statements flattens statements into effects, as those of a statement
// expression or of a macro.
func (b *effects) statements(body []*stmt) {
	b.l.push()
	defer b.l.pop()
	for _, s := range body {
		b.statement(s)
	}
}

func (b *effects) nested(body []*stmt) ir.Eval {
	return b.sub(func(c *effects) { c.statements(body) })
}

func (b *effects) statement(s *stmt) {
	switch s.kind {
	case sExpr:
		b.value(s.value)
	case sDecl:
		b.declare(s.decl)
	case sReturn:
		b.value(s.value)
		b.exit(ir.KindReturn, "")
	case sGoto:
		b.value(s.value)
		b.exit(ir.KindGoto, s.label)
	case sBreak, sContinue:
		if b.l.within[s.kind] == 0 {
			kind := ir.KindBreak
			if s.kind == sContinue {
				kind = ir.KindContinue
			}
			b.exit(kind, "")
		}
	case sIf:
		b.l.push()
		if s.init != nil {
			b.statement(s.init)
		}
		cond := b.sub(func(c *effects) { c.header(s) })
		yes := b.nested(s.body)
		no := b.nested(s.orelse)
		b.l.pop()
		b.add(ir.Eval{Op: ir.OpSelect, Kids: []ir.Eval{cond, yes, no}})
	case sWhile, sDo, sFor, sRange, sSwitch:
		b.loop(s)
	case sBlock:
		b.statements(s.body)
	case sTry:
		b.statements(s.body)
		for _, c := range s.catches {
			if e := b.nested(c.body); e.Op != ir.OpNop {
				b.add(ir.Eval{Op: ir.OpMaybe, Kids: []ir.Eval{e}})
			}
		}
	case sMacro:
		b.value(s.value)
	case sAsm:
		b.asm(s)
	case sConfig:
		for _, a := range s.arms {
			if e := b.nested(a.body); e.Op != ir.OpNop {
				b.add(ir.Eval{Op: ir.OpMaybe, Kids: []ir.Eval{e}})
			}
		}
	}
}

func (b *effects) header(s *stmt) {
	if s.decl != nil {
		b.declare(s.decl)
		for _, it := range s.decl.items {
			if v, ok := b.l.local(it.name); ok {
				b.use(ir.Place{Var: v})
			}
		}
		return
	}
	b.truth(s.value)
}

func (b *effects) loop(s *stmt) {
	b.l.push()
	defer b.l.pop()
	if s.init != nil {
		b.statement(s.init)
	}
	b.l.within[sBreak]++
	if s.kind != sSwitch {
		b.l.within[sContinue]++
	}
	round := b.sub(func(c *effects) {
		switch s.kind {
		case sDo:
			c.add(c.nested(s.body))
			c.header(s)
		case sRange:
			c.value(s.value)
			if s.decl != nil {
				c.bind(s.decl)
			}
			c.add(c.nested(s.body))
		default:
			c.header(s)
			c.add(c.nested(s.body))
			if s.post != nil {
				c.statement(s.post)
			}
		}
	})
	b.l.within[sBreak]--
	if s.kind != sSwitch {
		b.l.within[sContinue]--
	}
	if round.Op == ir.OpNop {
		return
	}
	switch {
	case s.kind == sDo && constant(s.value) == no: // runs once
		b.add(round)
	case s.kind == sSwitch:
		b.add(ir.Eval{Op: ir.OpMaybe, Kids: []ir.Eval{round}})
	case s.kind == sDo:
		b.add(round)
		b.add(ir.Eval{Op: ir.OpRepeat, Kids: []ir.Eval{round}})
	default:
		b.add(ir.Eval{Op: ir.OpRepeat, Kids: []ir.Eval{round}})
	}
}

func (b *effects) asm(s *stmt) {
	var outs []ir.Place
	for _, o := range s.asm {
		if !o.out {
			b.value(o.value)
			continue
		}
		p, ok := b.place(bare(o.value), true)
		if !ok {
			continue
		}
		if o.in {
			b.use(p)
		}
		outs = append(outs, p)
	}
	for _, p := range outs {
		b.def(p, through(p.Path))
	}
}

// declare is a declaration: bounds and initialisers, then the names.
func (b *effects) declare(d *declaration) {
	for _, it := range d.items {
		if it.kind == kFunction && it.init == nil && len(it.args) == 0 {
			continue
		}
		b.values(it.dims)
		if d.extern && it.init == nil {
			b.l.outside(it.name)
			continue
		}
		constructed := b.l.t.cpp && it.class && it.kind == kValue && !isTypeLikeInteger(d)
		written := it.init != nil || len(it.args) > 0 || constructed
		if d.static && !b.l.t.cpp {
			// initialised before the program runs
		} else if it.init != nil && it.kind == kReference {
			b.reference(it)
			continue
		} else {
			b.value(it.init)
			b.values(it.args)
			if len(it.args) > 0 || constructed {
				b.raise()
			}
		}
		for _, n := range it.names {
			b.def(ir.Place{Var: b.l.declare(n, it, d)}, false)
		}
		if it.name == "" {
			continue
		}
		v := b.l.declare(it.name, it, d)
		if !written {
			b.l.unset[v] = true
			continue
		}
		b.add(ir.Eval{Op: ir.OpDef, Place: ir.Place{Var: v}, May: d.static, Points: b.l.pointsTo(it.init)})
	}
}

func isTypeLikeInteger(d *declaration) bool { return d.integer }

// reference is T& r = x: r stands for x from here on.
func (b *effects) reference(it *declarator) {
	target := bare(it.init)
	var points *ir.Points
	vars := b.l.lvalues(target)
	b.value(it.init)
	if vars != nil {
		points = &ir.Points{Vars: vars}
		for _, v := range vars {
			b.l.fn.Vars[v].AddressTaken = true
		}
	}
	for _, n := range it.names {
		v := b.l.declare(n, it, nil)
		b.l.alias[v] = true
		b.add(ir.Eval{Op: ir.OpDef, Place: ir.Place{Var: v}, Points: points})
	}
	if it.name != "" {
		v := b.l.declare(it.name, it, nil)
		b.l.alias[v] = true
		b.add(ir.Eval{Op: ir.OpDef, Place: ir.Place{Var: v}, Points: points})
	}
}

// bind defines the names of a range-for.
func (b *effects) bind(d *declaration) {
	for _, it := range d.items {
		for _, n := range it.names {
			b.def(ir.Place{Var: b.l.declare(n, it, nil)}, false)
		}
		if it.name != "" {
			b.def(ir.Place{Var: b.l.declare(it.name, it, nil)}, false)
		}
	}
}

// lambda reads what it captures: copies now, references later.
func (b *effects) lambda(x *lambda) {
	explicit := map[string]bool{}
	byRef := map[string]bool{}
	for _, c := range x.captures {
		explicit[c.name] = true
		byRef[c.name] = c.ref
		switch {
		case c.init != nil:
			b.value(c.init)
		default:
			if v, ok := b.l.local(c.name); ok && !c.ref {
				b.use(ir.Place{Var: v})
			}
		}
	}
	b.l.push()
	for _, c := range x.captures {
		if c.init != nil {
			b.l.declare(c.name, &declarator{name: c.name}, nil)
		}
	}
	mark := len(b.l.fn.Vars)
	saved, exits := b.l.within, b.l.exits
	b.l.within = map[stmtKind]int{}
	for _, q := range x.params {
		b.l.declare(q.name, &declarator{name: q.name, kind: q.kind}, nil)
	}
	inside := b.nested(x.body)
	b.l.within, b.l.exits = saved, exits
	b.l.pop()
	reads, writes := map[int]bool{}, map[int]bool{}
	var order []int
	inside.Walk(func(e ir.Eval) {
		switch e.Op {
		case ir.OpUse, ir.OpDef, ir.OpCapture:
			v := e.Place.Var
			if v >= mark || b.l.fn.Vars[v].Scope == ir.Global {
				return
			}
			if !reads[v] && !writes[v] {
				order = append(order, v)
			}
			if e.Op == ir.OpDef {
				writes[v] = true
			} else {
				reads[v] = true
			}
		}
	})
	for _, v := range order {
		name := b.l.fn.Vars[v].Name
		ref := byRef[name] || !explicit[name] && x.byRef
		switch {
		case !ref && explicit[name]: // read above
		case !ref:
			b.use(ir.Place{Var: v})
		default:
			b.l.fn.Vars[v].Shared = true
			b.add(ir.Eval{Op: ir.OpCapture, Place: ir.Place{Var: v}})
			if writes[v] {
				b.def(ir.Place{Var: v}, true)
			}
		}
	}
}
