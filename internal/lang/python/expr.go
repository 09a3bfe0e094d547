package python

import "flowplan/internal/ir"

// effects collects what an expression or statement does, in CPython's order of
// evaluation.
type effects struct {
	l    *lowerer
	at   *scope // the scope whose names are read
	list []ir.Eval
}

func (b *effects) add(e ir.Eval) { b.list = append(b.list, e) }

// raise marks a point where an exception may leave. Two in a row are one.
func (b *effects) raise() {
	if n := len(b.list); n == 0 || b.list[n-1].Op != ir.OpRaise {
		b.add(ir.Eval{Op: ir.OpRaise})
	}
}

func (b *effects) seq() ir.Eval {
	switch len(b.list) {
	case 0:
		return ir.Eval{}
	case 1:
		return b.list[0]
	}
	return ir.Eval{Op: ir.OpSeq, Kids: b.list}
}

// sub runs f on a collection of its own.
func (b *effects) sub(f func(*effects)) ir.Eval {
	c := &effects{l: b.l, at: b.at}
	f(c)
	return c.seq()
}

// name resolves a variable. It is not ok when the name belongs to a
// comprehension or lambda inside the statement, whose variables are its own.
func (b *effects) name(name string) (v int, plain, ok bool) {
	owner := b.at.lookup(name)
	self := b.l.self
	if owner != nil && owner != self && owner.within(self) {
		return 0, true, false
	}
	v = b.l.variable(name, owner)
	return v, owner == self && self.kind != scopeClass, true
}

// place is the place that an expression denotes, if it is a chain of fields and
// elements on a variable.
func (b *effects) place(e *expr) (ir.Place, bool) {
	path := ""
	for {
		switch e.kind {
		case eName:
			v, _, ok := b.name(e.val)
			return ir.Place{Var: v, Path: path}, ok
		case eAttr:
			path = "." + e.val + path
		case eSub:
			path = "[]" + path
		default:
			return ir.Place{}, false
		}
		e = e.kids[0]
	}
}

// load reads a name, field or element.
func (b *effects) load(e *expr) {
	if p, ok := b.place(e); ok {
		b.add(ir.Eval{Op: ir.OpUse, Place: p})
	}
	b.below(e)
}

// below does what loading e does besides reading the place it denotes: its
// indices are evaluated, and it may fail.
func (b *effects) below(e *expr) {
	switch e.kind {
	case eName:
		if _, plain, _ := b.name(e.val); !plain {
			b.raise()
		}
	case eAttr:
		b.below(e.kids[0])
		b.raise()
	case eSub:
		b.below(e.kids[0])
		b.value(e.kids[1])
		b.raise()
	default:
		b.value(e)
	}
}

func (b *effects) values(es []*expr) {
	for _, e := range es {
		b.value(e)
	}
}

// constant reports whether CPython makes e a constant.
func constant(e *expr) bool {
	switch e.kind {
	case eConst:
		return true
	case eUnary:
		return e.kids[0].kind == eConst
	case eTuple:
		for _, k := range e.kids {
			if !constant(k) {
				return false
			}
		}
		return true
	case eJoined:
		for _, k := range e.kids {
			if k.kind != eConst {
				return false
			}
		}
		return true
	}
	return false
}

// value evaluates an expression.
func (b *effects) value(e *expr) {
	if e == nil || constant(e) {
		return
	}
	switch e.kind {
	case eName, eAttr, eSub:
		b.load(e)
	case eAnd, eOr:
		b.add(b.shortCircuit(e.kind, e.kids, false))
	case eNot:
		b.add(ir.Eval{Op: ir.OpNot, Kids: []ir.Eval{b.sub(func(c *effects) { c.truth(e.kids[0]) })}})
	case eCompare:
		b.compare(e)
	case eIf:
		b.add(ir.Eval{Op: ir.OpSelect, Kids: []ir.Eval{
			b.sub(func(c *effects) { c.truth(e.kids[1]) }),
			b.sub(func(c *effects) { c.value(e.kids[0]) }),
			b.sub(func(c *effects) { c.value(e.kids[2]) }),
		}})
	case eLambda:
		b.lambda(e)
	case eComp:
		b.comp(e)
	case eWalrus:
		b.value(e.kids[1])
		b.store(e.kids[0])
	case eKeyword:
		b.value(e.kids[0])
	case eFormatted:
		b.value(e.kids[0])
		if len(e.kids) > 1 {
			b.value(e.kids[1])
		}
		b.raise()
	case eTuple: // unlike a list, it may hold constants and locals without failing
		b.values(e.kids)
	case eBad:
		b.raise()
	default:
		b.values(e.kids)
		b.raise()
	}
}

// truth evaluates a condition: a value and, but for an identity test
// and a tuple, the call of its __bool__.
func (b *effects) truth(e *expr) {
	switch e.kind {
	case eAnd, eOr:
		b.add(b.shortCircuit(e.kind, e.kids, true))
	case eNot, eCompare, eTuple:
		b.value(e)
	default:
		if constant(e) {
			return
		}
		b.value(e)
		b.raise()
	}
}

// shortCircuit nests the operands of and, or to pairs. The last one is a value
// unless the whole is a condition.
func (b *effects) shortCircuit(kind exprKind, kids []*expr, cond bool) ir.Eval {
	op := ir.OpAnd
	if kind == eOr {
		op = ir.OpOr
	}
	out := b.sub(func(c *effects) {
		if last := kids[len(kids)-1]; cond {
			c.truth(last)
		} else {
			c.value(last)
		}
	})
	for i := len(kids) - 2; i >= 0; i-- {
		k := kids[i]
		out = ir.Eval{Op: op, Kids: []ir.Eval{b.sub(func(c *effects) { c.truth(k) }), out}}
	}
	return out
}

// compare evaluates a comparison; a chain stops at its first false link.
func (b *effects) compare(e *expr) {
	link := func(c *effects, i int) {
		c.value(e.kids[i+1])
		if op := e.ops[i]; op != "is" && op != "is not" {
			c.raise()
		}
	}
	last := len(e.ops) - 1
	out := b.sub(func(c *effects) {
		if last == 0 {
			c.value(e.kids[0])
		}
		link(c, last)
	})
	for i := last - 1; i >= 0; i-- {
		first := b.sub(func(c *effects) {
			if i == 0 {
				c.value(e.kids[0])
			}
			link(c, i)
		})
		out = ir.Eval{Op: ir.OpAnd, Kids: []ir.Eval{first, out}}
	}
	if out.Op == ir.OpSeq {
		b.list = append(b.list, out.Kids...)
		return
	}
	switch out.Op {
	case ir.OpNop:
	case ir.OpRaise:
		b.raise()
	default:
		b.add(out)
	}
}

// lambda evaluates the defaults; the body may run later or not at all.
func (b *effects) lambda(e *expr) {
	for _, a := range e.params {
		b.value(a.def)
	}
	body := &effects{l: b.l, at: b.l.t.exprs[e]}
	if body.at == nil {
		body.at = b.at
	}
	body.value(e.kids[0])
	if kids := quiet(body.list); len(kids) > 0 {
		b.add(ir.Eval{Op: ir.OpMaybe, Kids: kids})
	}
	b.raise()
}

// quiet is a list of effects without the points that may raise: the body of a
// lambda raises where it is called.
func quiet(list []ir.Eval) []ir.Eval {
	var out []ir.Eval
	for _, e := range list {
		if e.Op == ir.OpRaise {
			continue
		}
		if len(e.Kids) > 0 {
			kids := make([]ir.Eval, len(e.Kids))
			for i, k := range e.Kids {
				if one := quiet([]ir.Eval{k}); len(one) == 1 {
					kids[i] = one[0]
				}
			}
			e.Kids = kids
		}
		out = append(out, e)
	}
	return out
}

// comp evaluates the outermost iterable at once and the rest once an item.
func (b *effects) comp(e *expr) {
	b.value(e.clauses[0].iter)
	b.raise()
	in := &effects{l: b.l, at: b.l.t.exprs[e]}
	if in.at == nil {
		in.at = b.at
	}
	b.add(ir.Eval{Op: ir.OpRepeat, Kids: in.clauses(e, 0)})
}

// clauses does what the clauses of a comprehension from the i-th on and its
// element do for one item; what stands behind an `if` only where that is true.
func (b *effects) clauses(e *expr, i int) []ir.Eval {
	if i == len(e.clauses) {
		b.values(e.kids)
		b.raise()
		return b.list
	}
	c := e.clauses[i]
	if i > 0 {
		b.value(c.iter)
		b.raise()
	}
	b.store(c.target)
	for j, k := range c.ifs {
		if shortCircuits(k) {
			rest := &expr{kids: e.kids, clauses: append([]*compFor{{ifs: c.ifs[j+1:]}}, e.clauses[i+1:]...)}
			behind := &effects{l: b.l, at: b.at}
			cond := b.sub(func(t *effects) { t.truth(k) })
			b.add(ir.Eval{Op: ir.OpSeq, Kids: []ir.Eval{cond, {Op: ir.OpIfTrue, Kids: behind.clauses(rest, 0)}}})
			return b.list
		}
		b.truth(k)
	}
	return b.clauses(e, i+1)
}

// shortCircuits reports whether the outcomes of a condition may have evaluated
// different parts of it.
func shortCircuits(e *expr) bool {
	switch e.kind {
	case eAnd, eOr, eIf:
		return true
	case eNot:
		return shortCircuits(e.kids[0])
	case eCompare:
		return len(e.ops) > 1
	}
	return false
}

// store assigns to a target.
func (b *effects) store(e *expr) {
	if e == nil {
		return
	}
	switch e.kind {
	case eName:
		v, plain, ok := b.name(e.val)
		if !ok {
			return
		}
		if !plain && b.l.self.kind == scopeFunc {
			b.raise()
		}
		b.add(ir.Eval{Op: ir.OpDef, Place: ir.Place{Var: v}})
	case eTuple, eList:
		b.raise()
		for _, k := range e.kids {
			b.store(k)
		}
	case eStar:
		b.store(e.kids[0])
	case eAttr, eSub:
		b.base(e)
		b.assign(e)
	default:
		b.value(e)
		b.raise()
	}
}

// base evaluates what an attribute or element hangs on, and its index.
func (b *effects) base(e *expr) {
	b.value(e.kids[0])
	if e.kind == eSub {
		b.value(e.kids[1])
	}
}

// assign defines an attribute or element whose base is evaluated already.
func (b *effects) assign(e *expr) {
	b.raise()
	p, ok := b.place(e)
	if !ok {
		return
	}
	may := false
	for at := e; at.kind == eAttr || at.kind == eSub; at = at.kids[0] {
		may = may || at.kind == eSub
	}
	b.add(ir.Eval{Op: ir.OpDef, Place: p, May: may})
}

// augment is `target op= value`: read, evaluate, write.
func (b *effects) augment(target, value *expr) {
	b.load(target)
	b.value(value)
	b.raise()
	switch target.kind {
	case eName:
		b.store(target)
	case eAttr, eSub:
		b.assign(target)
	}
}

// remove is del of one target.
func (b *effects) remove(e *expr) {
	switch e.kind {
	case eName:
		b.raise()
		if v, _, ok := b.name(e.val); ok {
			b.add(ir.Eval{Op: ir.OpUnbind, Place: ir.Place{Var: v}})
		}
	case eTuple, eList:
		for _, k := range e.kids {
			b.remove(k)
		}
	case eAttr, eSub:
		b.base(e)
		b.raise()
	default:
		b.value(e)
		b.raise()
	}
}

// test evaluates the tests of a pattern; captures go to binds, as they are
// stored when all of it has matched.
func (b *effects) test(e *expr, binds *[]*expr) {
	capture := func(name string) {
		if name != "" && name != "_" {
			*binds = append(*binds, &expr{kind: eName, val: name})
		}
	}
	switch e.kind {
	case pWild:
	case pCapture, pStar:
		capture(e.val)
	case pValue:
		b.value(e.kids[0])
		if k := e.kids[0]; k.val != "None" && k.val != "True" && k.val != "False" {
			b.raise()
		}
	case pAs:
		b.test(e.kids[0], binds)
		capture(e.val)
	case pOr:
		for _, k := range e.kids {
			var own []*expr
			b.test(k, &own)
			if k == e.kids[0] {
				*binds = append(*binds, own...) // all alternatives bind the same names
			}
		}
	case pKeyword:
		b.test(e.kids[0], binds)
	case pMap:
		b.raise()
		for i := 0; i+1 < len(e.kids); i += 2 {
			b.value(e.kids[i])
			b.raise()
			b.test(e.kids[i+1], binds)
		}
		capture(e.val)
	case pClass:
		b.value(e.kids[0])
		b.raise()
		for _, k := range e.kids[1:] {
			b.test(k, binds)
		}
	case pSeq:
		b.raise()
		for _, k := range e.kids {
			b.test(k, binds)
		}
	default:
		b.raise()
	}
}
