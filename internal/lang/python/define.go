package python

import "flowplan/internal/ir"

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
