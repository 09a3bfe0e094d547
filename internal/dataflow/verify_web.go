package dataflow

import (
	"flowplan/internal/cfg"
	"flowplan/internal/ir"
)

// web is a function taken apart into single effects and the ways between them.
// It says the same as the solver's evaluation in another manner, so that each
// checks the other: definitions are followed along paths, one at a time.
type web struct {
	g       *cfg.Graph
	effects []effect
	ends    []ends // of each point
}

// effect is one read, write or loss of a place, or nothing.
type effect struct {
	op    ir.Op
	place ir.Place
	may   bool
	stmt  *ir.Stmt
	point int
	next  []int
}

// ends are the effects where a point begins and where its outcomes leave it.
type ends struct {
	pre, in      int // of a foreach: before what is evaluated once, and before each item
	yes, no, exc int
	left         int // the statement's own ways out; -1: it names none
}

func newWeb(g *cfg.Graph) *web {
	w := &web{g: g, ends: make([]ends, len(g.Points))}
	for p := range g.Points {
		if g.Points[p].Live {
			w.point(p)
		}
	}
	var idom []int
	for p := range g.Points {
		if !g.Points[p].Live {
			continue
		}
		for _, a := range g.Points[p].Out {
			if a.Virtual {
				continue
			}
			to := w.ends[a.To].pre
			if s := g.Points[a.To].Stmt; s != nil && s.Pre.Op != ir.OpNop {
				if idom == nil {
					idom = g.Dominators()
				}
				for q := p; q >= 0; q = idom[q] {
					if q == a.To { // comes round from the body
						to = w.ends[a.To].in
						break
					}
				}
			}
			w.link(w.outcome(p, a.Role), to)
		}
	}
	return w
}

// outcome is the effect from which an arc of that role leaves a point.
func (w *web) outcome(p int, role cfg.Role) int {
	s, e := w.g.Points[p].Stmt, w.ends[p]
	switch {
	case s == nil:
		return e.yes
	case role == cfg.Exception:
		return e.exc
	case e.left >= 0 && leaving(role):
		return e.left
	case role == cfg.False, role == cfg.Done, role == cfg.Raise && s.Kind == ir.KindHandler:
		return e.no
	}
	return e.yes
}

func (w *web) link(from, to int) { w.effects[from].next = append(w.effects[from].next, to) }

// add adds an effect that stands after those given.
func (w *web) add(e effect, after ...int) int {
	n := len(w.effects)
	w.effects = append(w.effects, e)
	for _, a := range after {
		w.link(a, n)
	}
	return n
}

func (w *web) point(p int) {
	pt := &w.g.Points[p]
	nothing := effect{stmt: pt.Stmt, point: p}
	e := ends{pre: w.add(nothing)}
	e.in, e.exc, e.left = e.pre, w.add(nothing), -1
	if pt.Stmt != nil && pt.Stmt.Eval.Exits() {
		e.left = w.add(nothing)
	}
	switch {
	case pt.Unbind != nil:
		lost := nothing
		lost.op, lost.place = ir.OpUnbind, *pt.Unbind
		e.yes = w.add(lost, e.in)
	case pt.Stmt == nil:
		e.yes = e.in
	default:
		b := &weaver{w: w, stmt: pt.Stmt, point: p, exc: e.exc, left: e.left}
		if pt.Stmt.Pre.Op != ir.OpNop {
			once, _ := b.eval(&pt.Stmt.Pre, e.pre)
			e.in = w.add(nothing, once)
		}
		e.yes, e.no = b.eval(&pt.Stmt.Eval, e.in)
	}
	w.ends[p] = e
}

// weaver takes the effects of one point apart.
type weaver struct {
	w     *web
	stmt  *ir.Stmt
	point int
	exc   int
	left  int
}

func (b *weaver) add(op ir.Op, e *ir.Eval, after ...int) int {
	n := effect{op: op, stmt: b.stmt, point: b.point}
	if e != nil {
		n.place, n.may = e.Place, e.May
	}
	return b.w.add(n, after...)
}

// join is one effect after both.
func (b *weaver) join(x, y int) int {
	if x == y {
		return x
	}
	return b.add(ir.OpNop, nil, x, y)
}

func (b *weaver) eval(e *ir.Eval, in int) (yes, no int) {
	switch e.Op {
	case ir.OpUse, ir.OpDef, ir.OpUnbind, ir.OpCapture:
		n := b.add(e.Op, e, in)
		return n, n
	case ir.OpRaise:
		b.w.link(in, b.exc)
	case ir.OpExit:
		b.w.link(in, b.left)
		n := b.add(ir.OpNop, nil) // nothing leads there
		return n, n
	case ir.OpSeq:
		yes, no = in, in
		for i := range e.Kids {
			if e.Kids[i].Op == ir.OpIfTrue {
				yes = b.sequence(e.Kids[i].Kids, yes)
				continue
			}
			yes, no = b.eval(&e.Kids[i], b.join(yes, no))
		}
		return yes, no
	case ir.OpAnd:
		t, f := b.eval(&e.Kids[0], in)
		t2, f2 := b.eval(&e.Kids[1], t)
		return t2, b.join(f, f2)
	case ir.OpOr:
		t, f := b.eval(&e.Kids[0], in)
		t2, f2 := b.eval(&e.Kids[1], f)
		return b.join(t, t2), f2
	case ir.OpNot:
		t, f := b.eval(&e.Kids[0], in)
		return f, t
	case ir.OpSelect:
		t, f := b.eval(&e.Kids[0], in)
		t1, f1 := b.eval(&e.Kids[1], t)
		t2, f2 := b.eval(&e.Kids[2], f)
		return b.join(t1, t2), b.join(f1, f2)
	case ir.OpMaybe:
		n := b.join(in, b.sequence(e.Kids, in))
		return n, n
	case ir.OpRepeat:
		head := b.add(ir.OpNop, nil, in)
		b.w.link(b.sequence(e.Kids, head), head)
		n := b.add(ir.OpNop, nil, head)
		return n, n
	case ir.OpMatch:
		bound := b.join(b.eval(&e.Kids[0], in))
		if len(e.Kids) == 1 {
			return bound, in
		}
		t, f := b.eval(&e.Kids[1], bound)
		return t, b.join(in, f)
	case ir.OpIfTrue:
		return b.sequence(e.Kids, in), in
	}
	return in, in
}

func (b *weaver) sequence(kids []ir.Eval, in int) int {
	for i := range kids {
		in = b.join(b.eval(&kids[i], in))
	}
	return in
}

// reached follows one definition along every path until it is killed, and
// gives the statements that read it.
func (w *web) reached(d *Definition) map[*ir.Stmt]bool {
	uses := map[*ir.Stmt]bool{}
	seen := make([]bool, len(w.effects))
	work := w.begins(d, seen)
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		for _, j := range w.effects[i].next {
			if seen[j] {
				continue
			}
			seen[j] = true
			e := &w.effects[j]
			reads := e.op == ir.OpUse || e.op == ir.OpCapture
			if reads && related(d.Place, e.place) {
				uses[e.stmt] = true
			}
			kills := e.op == ir.OpUnbind || e.op == ir.OpDef && !e.may
			if kills && e.place.Var == d.Place.Var && below(d.Place.Path, e.place.Path) {
				continue
			}
			work = append(work, j)
		}
	}
	w.later(d, uses)
	return uses
}

// begins are the effects by which a definition comes into being, on entry or
// later.
func (w *web) begins(d *Definition, seen []bool) []int {
	var out []int
	start := func(i int) {
		seen[i] = true
		out = append(out, i)
	}
	if d.Kind == ir.DefParam || d.Kind == ir.DefCapture || d.Kind == ir.DefUnbound && !w.isParam(d.Place.Var) {
		start(w.ends[cfg.Entry].yes)
	}
	for i, e := range w.effects {
		switch {
		case e.op == ir.OpDef && e.stmt == d.Stmt && e.place == d.Place && e.may == d.weak,
			e.op == ir.OpUnbind && d.Kind == ir.DefUnbound && e.place == d.Place:
			start(i)
		}
	}
	return out
}

func (w *web) isParam(v int) bool {
	for _, p := range w.g.Func.Params {
		if p.Var == v {
			return true
		}
	}
	return false
}

// later adds the closures that read a place which is defined after them.
func (w *web) later(d *Definition, uses map[*ir.Stmt]bool) {
	if d.Stmt == nil {
		return
	}
	at := map[int]bool{}
	for _, p := range w.g.Instances[d.Stmt.ID-1] {
		at[p] = true
	}
	for _, e := range w.effects {
		if e.op != ir.OpCapture || !related(d.Place, e.place) || uses[e.stmt] {
			continue
		}
		seen := map[int]bool{}
		for work := []int{e.point}; len(work) > 0; {
			p := work[len(work)-1]
			work = work[:len(work)-1]
			for _, a := range w.g.Points[p].Out {
				if a.Virtual || seen[a.To] {
					continue
				}
				seen[a.To] = true
				if at[a.To] {
					uses[e.stmt] = true
				}
				work = append(work, a.To)
			}
		}
	}
}
