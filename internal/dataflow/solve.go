package dataflow

import (
	"math/bits"
	"slices"

	"flowplan/internal/cfg"
	"flowplan/internal/ir"
)

// set is a set of definitions by index.
type set []uint64

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) remove(i int)   { s[i/64] &^= 1 << (i % 64) }

// union adds o to s and reports whether s grew.
func (s set) union(o set) bool {
	grew := false
	for i, w := range o {
		if w&^s[i] != 0 {
			s[i] |= w
			grew = true
		}
	}
	return grew
}

func (s set) each(fn func(int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			fn(i*64 + bits.TrailingZeros64(w))
		}
	}
}

// solver holds one problem. The states are per point: what reaches it, and
// what leaves it by each outcome.
type solver struct {
	g       *cfg.Graph
	defs    []*Definition
	byVar   [][]int      // definitions of each variable
	at      map[site]int // definition of a place by a statement
	unbound map[int]int  // the special definition of a variable
	in      []state
	back    [][]bool // per foreach point: which In arcs come from its own body
	stmt    *ir.Stmt // being evaluated
	raised  set      // collects states at raise points while a statement is evaluated
	left    set      // and at its own ways out
	use     func(ir.Place, set)
	capture func(ir.Place)
	store   func(ir.Place, set)
}

type site struct {
	stmt  *ir.Stmt
	place ir.Place
	may   bool
}

// state is what holds after a point on its outcomes.
type state struct {
	yes, no, exc set
	left         set // where the statement leaves in a way of its own; nil: it does not say
	done         bool
}

func newSolver(g *cfg.Graph) *solver {
	s := &solver{g: g, at: map[site]int{}, unbound: map[int]int{}}
	f := g.Func
	for _, p := range f.Params {
		s.define(&Definition{Place: ir.Place{Var: p.Var}, Kind: ir.DefParam, Line: p.Line})
	}
	for v, info := range f.Vars {
		switch {
		case info.Scope != ir.Local:
			if info.Written {
				s.define(&Definition{Place: ir.Place{Var: v}, Kind: ir.DefCapture})
			}
		default:
			s.unbound[v] = s.define(&Definition{Place: ir.Place{Var: v}, Kind: ir.DefUnbound})
		}
	}
	for _, st := range f.Stmts {
		s.collect(st, &st.Pre, false)
		s.collect(st, &st.Eval, false)
	}
	s.byVar = make([][]int, len(f.Vars))
	for i, d := range s.defs {
		s.byVar[d.Place.Var] = append(s.byVar[d.Place.Var], i)
	}
	return s
}

// collect lists the definitions of a statement. One that stands on the right
// of an `and`, in a comprehension or the like may be passed over.
func (s *solver) collect(st *ir.Stmt, e *ir.Eval, passed bool) {
	if e.Op == ir.OpDef {
		k := site{st, e.Place, e.May}
		if i, ok := s.at[k]; ok {
			s.defs[i].May = s.defs[i].May && (e.May || passed) // once for certain is enough
			return
		}
		s.at[k] = s.define(&Definition{Place: e.Place, Kind: kindOf(st), Stmt: st, May: e.May || passed, Line: st.Line, weak: e.May})
	}
	for i := range e.Kids {
		skip := false
		switch e.Op {
		case ir.OpMaybe, ir.OpRepeat:
			skip = true
		case ir.OpAnd, ir.OpOr, ir.OpSelect:
			skip = i > 0
		}
		s.collect(st, &e.Kids[i], passed || skip)
	}
}

func kindOf(s *ir.Stmt) ir.DefKind {
	if s.DefKind == "" {
		return ir.DefPlain
	}
	return s.DefKind
}

func (s *solver) define(d *Definition) int {
	d.Order = len(s.defs)
	s.defs = append(s.defs, d)
	return len(s.defs) - 1
}

func (s *solver) empty() set { return make(set, (len(s.defs)+63)/64) }

func (s *solver) entry() set {
	st := s.empty()
	isParam := map[int]bool{}
	for _, p := range s.g.Func.Params {
		isParam[p.Var] = true
	}
	for i, d := range s.defs {
		switch d.Kind {
		case ir.DefParam, ir.DefCapture:
			st.add(i)
		case ir.DefUnbound:
			if !isParam[d.Place.Var] {
				st.add(i)
			}
		}
	}
	return st
}

// fixpoint runs every live point until nothing changes, in reverse postorder.
func (s *solver) fixpoint() {
	g := s.g
	s.in = make([]state, len(g.Points))
	s.in[cfg.Entry] = state{yes: s.entry(), done: true}
	s.in[cfg.Entry].no = s.in[cfg.Entry].yes
	s.findBackArcs()
	order := s.postorder()
	slices.Reverse(order)
	pos := make([]int, len(g.Points))
	for i, p := range order {
		pos[p] = i
	}
	dirty := make([]bool, len(order))
	for i := range dirty {
		dirty[i] = true
	}
	for again := true; again; {
		again = false
		for i, p := range order {
			if !dirty[i] || p == cfg.Entry {
				continue
			}
			dirty[i] = false
			if !s.visit(p) {
				continue
			}
			for _, a := range g.Points[p].Out {
				if a.Virtual {
					continue
				}
				dirty[pos[a.To]] = true
				if pos[a.To] <= i {
					again = true
				}
			}
		}
	}
}

func (s *solver) postorder() []int {
	var order []int
	type visit struct{ p, next int }
	seen := make([]bool, len(s.g.Points))
	seen[cfg.Entry] = true
	stack := []visit{{cfg.Entry, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		out := s.g.Points[top.p].Out
		if top.next < len(out) {
			a := out[top.next]
			top.next++
			if !a.Virtual && !seen[a.To] {
				seen[a.To] = true
				stack = append(stack, visit{a.To, 0})
			}
			continue
		}
		order = append(order, top.p)
		stack = stack[:len(stack)-1]
	}
	return order
}

// findBackArcs tells, for every foreach that evaluates something once, the
// arcs that come round from its own body: those whose source it dominates.
func (s *solver) findBackArcs() {
	var idom []int
	s.back = make([][]bool, len(s.g.Points))
	for p := range s.g.Points {
		pt := &s.g.Points[p]
		if pt.Stmt == nil || pt.Stmt.Pre.Op == ir.OpNop || !pt.Live {
			continue
		}
		if idom == nil {
			idom = s.g.Dominators()
		}
		s.back[p] = make([]bool, len(pt.In))
		for i, a := range pt.In {
			for q := a.To; q >= 0; q = idom[q] {
				if q == p {
					s.back[p][i] = true
					break
				}
			}
		}
	}
}

// incoming is the union of what the arcs into p carry, of those that keep
// lets through.
func (s *solver) incoming(p int, keep func(i int) bool) set {
	st := s.empty()
	for i, a := range s.g.Points[p].In {
		if a.Virtual || !keep(i) {
			continue
		}
		from := &s.in[a.To]
		if !from.done {
			continue
		}
		st.union(from.along(a.Role, s.g.Points[a.To].Stmt))
	}
	return st
}

// along is the state that an arc of that role carries.
func (st *state) along(role cfg.Role, from *ir.Stmt) set {
	switch {
	case from == nil:
		return st.yes
	case role == cfg.Exception:
		return st.exc
	case st.left != nil && leaving(role):
		return st.left
	case role == cfg.False, role == cfg.Done, role == cfg.Raise && from.Kind == ir.KindHandler:
		return st.no
	}
	return st.yes
}

// leaving reports a role that a statement's own ways out have.
func leaving(role cfg.Role) bool {
	switch role {
	case cfg.Return, cfg.Goto, cfg.Break, cfg.Continue, cfg.Raise:
		return true
	}
	return false
}

// visit evaluates a point and reports whether a state after it has grown.
func (s *solver) visit(p int) bool {
	pt := &s.g.Points[p]
	out := s.run(p)
	old := &s.in[p]
	if !old.done {
		*old = out
		return true
	}
	grew := old.yes.union(out.yes)
	if pt.Stmt != nil {
		if same(old.no, old.yes) {
			old.no = slices.Clone(old.no)
		}
		grew = old.no.union(out.no) || grew
		grew = old.exc.union(out.exc) || grew
		if out.left != nil {
			grew = old.left.union(out.left) || grew
		}
	}
	return grew
}

// run evaluates a point from what now reaches it.
func (s *solver) run(p int) state {
	pt := &s.g.Points[p]
	all := func(int) bool { return true }
	if pt.Stmt == nil {
		st := s.incoming(p, all)
		if pt.Unbind != nil {
			s.unbind(st, *pt.Unbind)
		}
		return state{yes: st, no: st, exc: st, done: true}
	}
	s.stmt, s.raised, s.left = pt.Stmt, s.empty(), nil
	if pt.Stmt.Eval.Exits() {
		s.left = s.empty()
	}
	var st set
	if back := s.back[p]; back != nil {
		st = s.incoming(p, func(i int) bool { return !back[i] })
		st, _ = s.eval(&pt.Stmt.Pre, st)
		st.union(s.incoming(p, func(i int) bool { return back[i] }))
	} else {
		st = s.incoming(p, all)
	}
	yes, no := s.eval(&pt.Stmt.Eval, st)
	return state{yes: yes, no: no, exc: s.raised, left: s.left, done: true}
}

// eval applies a tree of effects to a state, which it may change, and gives
// the states of both outcomes; they are the same set where no outcome differs.
func (s *solver) eval(e *ir.Eval, st set) (yes, no set) {
	switch e.Op {
	case ir.OpUse:
		if s.use != nil {
			s.use(e.Place, st)
		}
	case ir.OpCapture:
		if s.use != nil {
			s.use(e.Place, st)
			s.capture(e.Place)
		}
	case ir.OpDef:
		s.def(st, e.Place, e.May)
	case ir.OpStore:
		if s.store != nil {
			s.store(e.Place, st)
		}
	case ir.OpUnbind:
		s.unbind(st, e.Place)
	case ir.OpRaise:
		s.raised.union(st)
	case ir.OpExit:
		s.left.union(st)
		st = s.empty()
		return st, st
	case ir.OpSeq:
		yes, no = st, st
		for i := range e.Kids {
			if e.Kids[i].Op == ir.OpIfTrue { // on the true outcome of what stands before it
				yes = s.sequence(e.Kids[i].Kids, apart(yes, no))
				continue
			}
			if i > 0 {
				yes = join(yes, no)
			}
			yes, no = s.eval(&e.Kids[i], yes)
		}
		return yes, no
	case ir.OpAnd:
		t, f := s.eval(&e.Kids[0], st)
		t2, f2 := s.eval(&e.Kids[1], apart(t, f))
		return t2, both(f, f2)
	case ir.OpOr:
		t, f := s.eval(&e.Kids[0], st)
		t2, f2 := s.eval(&e.Kids[1], apart(f, t))
		return both(t, t2), f2
	case ir.OpNot:
		t, f := s.eval(&e.Kids[0], st)
		return f, t
	case ir.OpSelect:
		t, f := s.eval(&e.Kids[0], st)
		f = apart(f, t)
		at, af := s.eval(&e.Kids[1], t)
		bt, bf := s.eval(&e.Kids[2], f)
		return both(at, bt), both(af, bf)
	case ir.OpMaybe, ir.OpRepeat:
		once := s.sequence(e.Kids, slices.Clone(st))
		if e.Op == ir.OpRepeat {
			// a second round sees the definitions of the first; a third adds nothing
			once = s.sequence(e.Kids, both(st, once))
		}
		st.union(once)
	case ir.OpMatch:
		bound := join(s.eval(&e.Kids[0], slices.Clone(st)))
		if len(e.Kids) == 1 {
			return bound, st
		}
		t, f := s.eval(&e.Kids[1], bound)
		return t, both(st, f)
	case ir.OpIfTrue:
		return s.sequence(e.Kids, slices.Clone(st)), st
	}
	return st, st
}

func (s *solver) sequence(kids []ir.Eval, st set) set {
	for i := range kids {
		st = join(s.eval(&kids[i], st))
	}
	return st
}

// join merges two outcomes into the first.
func join(yes, no set) set {
	if !same(yes, no) {
		yes.union(no)
	}
	return yes
}

// both is a new set with everything of a and b.
func both(a, b set) set {
	out := slices.Clone(a)
	out.union(b)
	return out
}

// apart gives a set that can be changed without changing other.
func apart(st, other set) set {
	if same(st, other) {
		return slices.Clone(st)
	}
	return st
}

func same(a, b set) bool { return len(a) == 0 || &a[0] == &b[0] }

func (s *solver) def(st set, place ir.Place, may bool) {
	if !may {
		s.kill(st, place)
	}
	if i, ok := s.at[site{s.stmt, place, may}]; ok {
		st.add(i)
	}
}

func (s *solver) kill(st set, place ir.Place) {
	for _, i := range s.byVar[place.Var] {
		if below(s.defs[i].Place.Path, place.Path) {
			st.remove(i)
		}
	}
}

func (s *solver) unbind(st set, place ir.Place) {
	s.kill(st, place)
	if i, ok := s.unbound[place.Var]; ok && place.Path == "" {
		st.add(i)
	}
}

// chains evaluates every live point once more and records what each use sees.
func (s *solver) chains() *Chains {
	c := &Chains{Graph: s.g, Defs: s.defs}
	seen := map[Pair]bool{}
	add := func(i int, use *ir.Stmt) {
		p := Pair{s.defs[i], use}
		if !seen[p] {
			seen[p] = true
			c.Pairs = append(c.Pairs, p)
		}
	}
	s.use = func(place ir.Place, st set) {
		for _, i := range s.byVar[place.Var] {
			if st.has(i) && related(s.defs[i].Place, place) {
				add(i, s.stmt)
			}
		}
	}
	point := 0
	s.capture = func(place ir.Place) {
		for q, ok := range s.after(point) {
			if !ok || s.g.Points[q].Stmt == nil {
				continue
			}
			for _, i := range s.byVar[place.Var] {
				if d := s.defs[i]; d.Stmt == s.g.Points[q].Stmt && related(d.Place, place) {
					add(i, s.stmt)
				}
			}
		}
	}
	for p := range s.g.Points {
		if s.g.Points[p].Live && s.g.Points[p].Stmt != nil {
			point = p
			s.run(p)
		}
	}
	s.use, s.capture = nil, nil
	c.sort()
	return c
}

// after tells which points can follow a point.
func (s *solver) after(p int) []bool {
	seen := make([]bool, len(s.g.Points))
	work := []int{p}
	for len(work) > 0 {
		q := work[len(work)-1]
		work = work[:len(work)-1]
		for _, a := range s.g.Points[q].Out {
			if !a.Virtual && !seen[a.To] {
				seen[a.To] = true
				work = append(work, a.To)
			}
		}
	}
	return seen
}
