package cfg

import (
	"flowplan/internal/ir"
	"flowplan/internal/lang"
)

// NoReturn says what a call of that name does; nil means that every call
// comes back.
type NoReturn func(callee string) lang.NoReturn

// Build makes the graph of a function.
func Build(f *ir.Func, noReturn NoReturn) *Graph {
	b := &builder{
		g:        &Graph{Func: f, Points: make([]Point, first, first+len(f.Stmts)), Instances: make([][]int, len(f.Stmts))},
		noReturn: noReturn,
		labels:   map[string]int{},
	}
	out := b.seq(f.Body, []exit{{from: Entry, role: Next}})
	b.connect(out, Exit)
	b.g.contract(b.joins)
	b.g.mark()
	b.g.fold()
	return b.g
}

// exit is a way out of what has been built so far that still lacks its target.
type exit struct {
	from int
	role Role
	cut  bool
}

// builder walks the structured statements once for every clean-up copy.
type builder struct {
	g        *Graph
	ctx      *frame
	noReturn NoReturn
	labels   map[string]int
	joins    map[int]bool // points without a statement, contracted at the end
	nested   int          // clean-ups being copied right now, one within another
}

// maxNested bounds how deep clean-ups within clean-ups are copied: the copies
// multiply with every level. Deeper ones share one copy for all continuations,
// which may join paths that the program keeps apart.
const maxNested = 6

// frame is one enclosing construct that jumps or exceptions may have to pass.
type frame struct {
	outer *frame

	loop       bool // target of break, and of continue where continueTo is set
	label      string
	breaks     []exit
	continueTo int // -1: a switch

	switchAt   int // point of the switch header, -1 if none
	hasDefault bool

	handler int // first handler of a try, or -1

	clean  *cleanup // finally, or the unbinding of a handler's name
	follow int      // of a suppressing scope: where a suppressed exception goes on, or -1
}

// cleanup is code that every way out of a construct runs through. One copy is
// built for each distinct continuation.
type cleanup struct {
	body   []ir.Node
	unbind *ir.Place
	copies map[continuation]int // entry points
	first  int                  // entry of the first copy, and
	ends   []exit               // its ways out: what is shared below maxNested
}

// continuation is what a copy of a clean-up goes on with.
type continuation struct {
	role   Role
	target *frame // of break and continue
	label  string // of goto
}

func newFrame(outer *frame) *frame {
	return &frame{outer: outer, continueTo: -1, switchAt: -1, handler: -1, follow: -1}
}

func (b *builder) push() *frame {
	b.ctx = newFrame(b.ctx)
	return b.ctx
}

func (b *builder) pop() { b.ctx = b.ctx.outer }

// point adds a point for a statement and everything that leads to it.
func (b *builder) point(s *ir.Stmt, in []exit) int {
	p := len(b.g.Points)
	b.g.Points = append(b.g.Points, Point{Stmt: s})
	if s != nil {
		b.g.Instances[s.ID-1] = append(b.g.Instances[s.ID-1], p)
	}
	b.connect(in, p)
	if s != nil && s.MayRaise() && b.protected() {
		b.leave([]exit{{from: p, role: Exception}}, continuation{role: Exception})
	}
	return p
}

// join adds a point without a statement: a target that is needed before what
// stands there has been built.
func (b *builder) join(in []exit) int {
	p := b.point(nil, in)
	if b.joins == nil {
		b.joins = map[int]bool{}
	}
	b.joins[p] = true
	return p
}

func (b *builder) arc(from, to int, role Role, cut bool) {
	for i, a := range b.g.Points[from].Out {
		if a.To == to && a.Role == role {
			b.g.Points[from].Out[i].cut = a.cut || cut
			return
		}
	}
	b.g.Points[from].Out = append(b.g.Points[from].Out, Arc{To: to, Role: role, cut: cut})
}

func (b *builder) connect(in []exit, to int) {
	for _, e := range in {
		b.arc(e.from, to, e.role, e.cut)
	}
}

// after gives the ways on from a point that simply goes on.
func after(p int, role Role) []exit { return []exit{{from: p, role: role}} }

func cut(in []exit) []exit {
	out := make([]exit, len(in))
	for i, e := range in {
		e.cut = true
		out[i] = e
	}
	return out
}

// withRole gives the exits that merely go on (next) another role.
func withRole(in []exit, role Role) []exit {
	out := make([]exit, len(in))
	for i, e := range in {
		if e.role == Next {
			e.role = role
		}
		out[i] = e
	}
	return out
}

// protected reports whether an exception here would be drawn: some try or
// suppressing scope is around.
func (b *builder) protected() bool {
	for f := b.ctx; f != nil; f = f.outer {
		if f.handler >= 0 || f.follow >= 0 || f.clean != nil && f.clean.unbind == nil {
			return true
		}
	}
	return false
}

// leave sends exits outwards from the current context to where their
// continuation says, through every clean-up on the way. The arcs that enter a
// clean-up keep the roles of the exits; those that leave it have the role of
// the continuation.
func (b *builder) leave(out []exit, k continuation) {
	for f := b.ctx; f != nil; f = f.outer {
		switch {
		case f.clean != nil:
			through := k
			if k.role == Exception && f.clean.unbind == nil {
				through.role = Raise // an exception, implicit or not, is resumed as a raise
			}
			b.connect(out, b.copyOf(f, through))
			return
		case k.role == Raise || k.role == Exception:
			if f.follow >= 0 {
				b.connect(cut(out), f.follow)
			}
			if f.handler >= 0 {
				b.connect(out, f.handler)
				return
			}
			if k.role == Exception && !protectedBy(f.outer) {
				return
			}
		case k.target == f:
			if k.role == Continue {
				b.connect(out, f.continueTo)
			} else {
				f.breaks = append(f.breaks, out...)
			}
			return
		}
	}
	switch k.role {
	case Return:
		b.connect(out, Exit)
	case Raise:
		b.connect(out, RaiseTo)
	case Goto:
		b.connect(out, b.labelPoint(k.label))
	}
}

func protectedBy(f *frame) bool {
	c := builder{ctx: f}
	return c.protected()
}

// copyOf is the entry of the copy of a frame's clean-up for one continuation.
func (b *builder) copyOf(f *frame, k continuation) int {
	if p, ok := f.clean.copies[k]; ok {
		return p
	}
	saved := b.ctx
	b.ctx = f.outer
	b.nested++
	defer func() { b.ctx = saved; b.nested-- }()
	if b.nested > maxNested && len(f.clean.copies) > 0 {
		entry := f.clean.first
		f.clean.copies[k] = entry
		b.leave(cut(withRole(f.clean.ends, k.role)), k)
		return entry
	}
	entry := b.join(nil)
	f.clean.copies[k] = entry // before the body is built: it may loop back to itself
	out := b.cleanBody(f.clean, after(entry, Next))
	if len(f.clean.copies) == 1 {
		f.clean.first, f.clean.ends = entry, out
	}
	b.leave(cut(withRole(out, k.role)), k)
	return entry
}

func (b *builder) cleanBody(c *cleanup, in []exit) []exit {
	if c.unbind != nil {
		p := b.point(nil, in)
		b.g.Points[p].Unbind = c.unbind
		return after(p, Next)
	}
	return b.seq(c.body, cut(in))
}

// finish runs the clean-up of the frame just left for what simply goes on.
func (b *builder) finish(c *cleanup, in []exit) []exit {
	if len(in) == 0 && (len(c.copies) > 0 || c.unbind != nil) {
		return nil
	}
	return cut(b.cleanBody(c, cut(in)))
}

func (b *builder) seq(nodes []ir.Node, in []exit) []exit {
	for _, n := range nodes {
		in = b.node(n, in)
	}
	return in
}

func (b *builder) node(n ir.Node, in []exit) []exit {
	switch n := n.(type) {
	case *ir.Simple:
		p := b.point(n.S, in)
		if n.S.Callee != "" && b.noReturn != nil {
			switch b.noReturn(n.S.Callee) {
			case lang.Raises:
				b.leave(after(p, Raise), continuation{role: Raise})
				return nil
			case lang.Halts:
				return nil
			}
		}
		return after(p, Next)
	case *ir.Opaque:
		return after(b.point(n.S, in), Next)
	case *ir.If:
		p := b.point(n.S, in)
		out := b.seq(n.Then, after(p, True))
		return append(out, b.seq(n.Else, after(p, False))...)
	case *ir.Loop:
		return b.loop(n, in)
	case *ir.Switch:
		return b.switchStmt(n, in)
	case *ir.CaseLabel:
		return b.caseLabel(n, in)
	case *ir.Match:
		return b.match(n, in)
	case *ir.Try:
		return b.try(n, in)
	case *ir.Scope:
		return b.scope(n, in)
	case *ir.Jump:
		if n.S.Kind == ir.KindFallthrough { // to the label that stands next
			return after(b.point(n.S, in), Fallthrough)
		}
		b.jump(n, in)
		return nil
	case *ir.Leaves:
		return b.leaves(n, in)
	case *ir.Return:
		p := b.point(n.S, in)
		b.leave(after(p, Return), continuation{role: Return})
		return nil
	case *ir.Throw:
		p := b.point(n.S, in)
		b.leave(after(p, Raise), continuation{role: Raise})
		return nil
	case *ir.Assert:
		p := b.point(n.S, in)
		b.leave(after(p, False), continuation{role: Raise})
		return after(p, True)
	case *ir.Label:
		at := b.labelPoint(n.Name)
		b.connect(in, at)
		return after(b.point(n.S, after(at, Next)), Next)
	case *ir.Config:
		return b.config(n, in)
	}
	panic("cfg: a kind of ir.Node that the builder does not know")
}

func (b *builder) loop(n *ir.Loop, in []exit) []exit {
	f := newFrame(b.ctx)
	f.loop, f.label = true, n.Label
	in = b.seq(n.Init, in)
	if n.Kind.HeaderLast() {
		return b.doLoop(n, f, in)
	}
	header := b.point(n.S, in)
	f.continueTo = header
	if len(n.Post) > 0 {
		f.continueTo = b.join(nil)
	}
	yes, no := True, False
	if n.Kind == ir.Foreach {
		yes, no = Iter, Done
	}
	enter, leave := after(header, yes), after(header, no)
	switch {
	case n.Kind == ir.Forever, n.Kind == ir.For && n.S.Cond == nil:
		leave = nil
	case n.Kind == ir.Never:
		enter = nil
	}
	b.ctx = f
	out := b.seq(n.Body, enter)
	if len(n.Post) > 0 {
		b.connect(out, f.continueTo)
		b.ctx = f.outer
		out = b.seq(n.Post, after(f.continueTo, Next))
	}
	b.ctx = f.outer
	b.connect(withRole(out, Loop), header)
	return append(b.seq(n.Else, leave), f.breaks...)
}

// doLoop builds a loop whose condition stands after its body.
func (b *builder) doLoop(n *ir.Loop, f *frame, in []exit) []exit {
	top := b.join(in)
	f.continueTo = b.join(nil)
	b.ctx = f
	out := b.seq(n.Body, after(top, Next))
	b.ctx = f.outer
	b.connect(out, f.continueTo)
	header := b.point(n.S, after(f.continueTo, Next))
	if n.Kind != ir.Once {
		b.arc(header, top, True, false)
	}
	if n.Kind == ir.DoForever {
		return f.breaks
	}
	return append(after(header, False), f.breaks...)
}

func (b *builder) switchStmt(n *ir.Switch, in []exit) []exit {
	f := newFrame(b.ctx)
	f.loop = true
	f.switchAt = b.point(n.S, in)
	b.ctx = f
	out := b.seq(n.Body, nil)
	b.ctx = f.outer
	if !f.hasDefault {
		out = append(out, exit{from: f.switchAt, role: Default})
	}
	return append(out, f.breaks...)
}

func (b *builder) caseLabel(n *ir.CaseLabel, in []exit) []exit {
	p := b.point(n.S, in)
	for f := b.ctx; f != nil; f = f.outer {
		if f.switchAt < 0 {
			continue
		}
		role := Case
		if n.Default {
			role, f.hasDefault = Default, true
		}
		b.arc(f.switchAt, p, role, false)
		break
	}
	return after(p, Next)
}

func (b *builder) match(n *ir.Match, in []exit) []exit {
	next := cut(after(b.point(n.S, in), Next))
	var out []exit
	for _, c := range n.Cases {
		p := b.point(c.S, next)
		out = append(out, b.seq(c.Body, after(p, True))...)
		next = after(p, False)
		if c.Irrefutable {
			next = nil
		}
	}
	return append(out, next...)
}

func (b *builder) try(n *ir.Try, in []exit) []exit {
	var clean *cleanup
	if len(n.Finally) > 0 {
		clean = &cleanup{body: n.Finally, copies: map[continuation]int{}}
		b.push().clean = clean
	}
	tests := make([]int, len(n.Handlers))
	for i := range tests {
		tests[i] = b.join(nil) // the bodies are built later, but exceptions already need the target
	}
	if len(tests) > 0 {
		b.push().handler = tests[0]
	}
	out := b.seq(n.Body, cut(in))
	if len(tests) > 0 {
		b.pop()
	}
	out = cut(b.seq(n.Else, cut(out)))
	for i, h := range n.Handlers {
		p := b.point(h.S, after(tests[i], Next))
		last := i == len(tests)-1
		if !h.CatchAll {
			if !last {
				b.arc(p, tests[i+1], False, false)
			} else {
				b.leave(after(p, Raise), continuation{role: Raise})
				if n.Group { // earlier handlers may have taken all of the group
					out = append(out, cut(after(p, False))...)
				}
			}
		}
		done := cut(b.handlerBody(h, p))
		if n.Rethrows {
			b.leave(withRole(done, Raise), continuation{role: Raise})
		} else if n.Group && !last {
			b.connect(done, tests[i+1])
		} else {
			out = append(out, done...)
		}
	}
	if clean != nil {
		b.pop()
		out = b.finish(clean, out)
	}
	return cut(out)
}

func (b *builder) handlerBody(h *ir.Handler, test int) []exit {
	in := cut(after(test, True))
	if h.Unbind == nil {
		return b.seq(h.Body, in)
	}
	clean := &cleanup{unbind: h.Unbind, copies: map[continuation]int{}}
	b.push().clean = clean
	out := b.seq(h.Body, in)
	b.pop()
	return b.finish(clean, out)
}

func (b *builder) scope(n *ir.Scope, in []exit) []exit {
	p := b.point(n.S, in)
	if !n.Suppress {
		return b.seq(n.Body, after(p, Next))
	}
	f := b.push()
	f.follow = b.join(nil)
	out := cut(b.seq(n.Body, cut(after(p, Next))))
	b.pop()
	return append(out, cut(after(f.follow, Next))...)
}

// leaves builds a statement with ways out of its own.
func (b *builder) leaves(n *ir.Leaves, in []exit) []exit {
	p := b.point(n.S, in)
	for _, e := range n.Exits {
		switch e.Kind {
		case ir.KindReturn:
			b.leave(after(p, Return), continuation{role: Return})
		case ir.KindRaise:
			b.leave(after(p, Raise), continuation{role: Raise})
		default:
			b.jumpTo(p, e.Kind, e.Label)
		}
	}
	if !n.Stays {
		return nil
	}
	return after(p, Next)
}

func (b *builder) jump(n *ir.Jump, in []exit) { b.jumpTo(b.point(n.S, in), n.S.Kind, n.Label) }

// jumpTo sends a point to where a jump of that kind and label goes.
func (b *builder) jumpTo(p int, kind ir.Kind, label string) {
	switch kind {
	case ir.KindGoto:
		b.leave(after(p, Goto), continuation{role: Goto, label: label})
	case ir.KindContinue:
		if f := b.target(func(f *frame) bool { return f.continueTo >= 0 && (label == "" || f.label == label) }); f != nil {
			b.leave(after(p, Continue), continuation{role: Continue, target: f})
		}
	default:
		if f := b.target(func(f *frame) bool { return f.loop && (label == "" || f.label == label) }); f != nil {
			b.leave(after(p, Break), continuation{role: Break, target: f})
		}
	}
}

func (b *builder) target(ok func(*frame) bool) *frame {
	for f := b.ctx; f != nil; f = f.outer {
		if ok(f) {
			return f
		}
	}
	return nil // a break outside any loop: the language refuses it, the graph lets it lead nowhere
}

func (b *builder) labelPoint(name string) int {
	p, ok := b.labels[name]
	if !ok {
		p = b.join(nil)
		b.labels[name] = p
	}
	return p
}

// config builds the arms of an #if: each is a way that some configuration
// takes.
func (b *builder) config(n *ir.Config, in []exit) []exit {
	var out []exit
	role := IfConfig
	for _, arm := range n.Arms {
		p := b.point(arm.S, withRole(in, role))
		out = append(out, b.seq(arm.Body, after(p, Next))...)
		role = ElseConfig
	}
	if !n.Complete {
		out = append(out, withRole(in, ElseConfig)...)
	}
	return out
}
