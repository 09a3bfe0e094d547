package c

import (
	"sort"
	"strings"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
)

// lowerer makes the ir.Func of one definition.
type lowerer struct {
	t        *tree
	d        *def
	fn       *ir.Func
	p        *parser
	scopes   []map[string]int
	globals  map[string]int
	alias    map[int]bool // references to other variables
	arrays   map[int]bool
	static   map[int]bool
	unset    map[int]bool     // declared without a value, and none given so far
	captured map[string]bool  // names of a lambda's that come from the function around
	within   map[stmtKind]int // loops and switches around, while statements are flattened
	exits    []ir.Exit        // ways out that the expression being evaluated has
	streams  bool             // >> may extract
	labels   []string         // labels whose address is taken
	given    []given          // variables handed to macros that are not known
}

// Lower is Tree.Lower.
func (t *tree) Lower(d *lang.Decl) *ir.Func {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.readHeaders()
	return t.lower(d)
}

// readHeaders reads the headers once; the caller holds the lock.
func (t *tree) readHeaders() {
	if t.headers != nil {
		read := t.headers
		t.headers = nil
		read()
	}
}

func (t *tree) lower(d *lang.Decl) *ir.Func {
	fn := &ir.Func{Name: d.Name, QualifiedName: d.QualifiedName, Kind: d.Kind, Span: d.Span, Line: d.Line, EndLine: d.EndLine, Source: t.f}
	l := &lowerer{t: t, d: t.byDecl[d], fn: fn, globals: map[string]int{}, alias: map[int]bool{}, arrays: map[int]bool{}, static: map[int]bool{}, unset: map[int]bool{}, within: map[stmtKind]int{}}
	l.push()
	switch {
	case l.d == nil:
	case d.Kind == ir.FuncModule || d.Kind == ir.FuncClass:
		l.p = t.parserFor(l.d.toks)
		fn.Body = l.items(l.d.items)
		if d.Kind == ir.FuncClass {
			fn.Signature = l.p.text(l.d.toks[l.d.start:l.d.body])
		}
	case d.Kind == ir.FuncMacro:
		l.macro()
	default:
		l.function()
	}
	l.finish()
	return fn
}

func (t *tree) parserFor(toks []token) *parser {
	return &parser{data: t.f.Bytes, toks: toks, end: len(toks), cpp: t.cpp, m: t.macros, types: t.types, names: map[string]bool{}}
}

// macro lowers the body of a function-like macro: its statements, or the value
// that it stands for.
func (l *lowerer) macro() {
	m := l.d.macro
	l.p = l.t.parserFor(nil)
	l.fn.Result = ir.ResultNone
	l.fn.Signature = "#define " + m.name + "(" + strings.Join(m.params, ", ") + ")"
	for _, name := range m.params {
		v := l.variable(name)
		l.fn.Vars[v].Written = true
		l.fn.Params = append(l.fn.Params, ir.Param{Var: v, Name: name, Line: l.fn.Line})
	}
	// The body as written, its tokens where they stand.
	body := l.macroTokens(m)
	if len(body) == 0 {
		return
	}
	pairs(body)
	if shapeFor(body) == shapeStatement {
		end := token{kind: tPunct, text: ";", span: source.Span{Start: m.span.End - 1, End: m.span.End}}
		p := l.t.parserFor(append(body[:len(body):len(body)], end))
		pairs(p.toks)
		if stmts := p.statements(); wellRead(stmts) {
			l.p = p
			l.fn.Body = l.block(stmts)
			return
		}
	}
	// A value, or pieces of code that are none by themselves: one statement.
	p := l.t.parserFor(body)
	l.p = p
	e := p.expression()
	b := &effects{l: l}
	s := &ir.Stmt{Kind: ir.KindExpr, Text: p.text(body), Span: spanOf(body)}
	if p.i >= p.end && !hasBad(e) {
		b.value(e)
	}
	s.Eval = b.seq()
	l.place(s, body[0])
	if exits := l.takeExits(); len(exits) > 0 {
		l.fn.Body = []ir.Node{&ir.Leaves{S: s, Exits: exits, Stays: true}}
		return
	}
	l.fn.Body = []ir.Node{&ir.Simple{S: s}}
}

// wellRead reports whether nothing in statements is opaque.
func wellRead(body []*stmt) bool {
	for _, s := range body {
		if s.kind == sOpaque || hasBad(s.value) || s.decl != nil && badDecl(s.decl) || !wellRead(s.body) || !wellRead(s.orelse) {
			return false
		}
	}
	return true
}

// macroTokens are the tokens of a macro's body with their places in the file.
func (l *lowerer) macroTokens(m *macro) []token {
	data := l.t.f.Bytes[m.span.Start:m.span.End]
	// behind the # the rest is scanned like any text
	i := strings.IndexByte(string(data), '#') + 1
	toks := scan(data[i:], l.t.cpp)
	var out []token
	k := 2 // define NAME
	if k < len(toks) && toks[k].is("(") && m.function {
		for k < len(toks) && !toks[k].is(")") {
			k++
		}
		k++
	}
	glue := false
	for ; k < len(toks); k++ {
		t := toks[k]
		if t.is("##") {
			glue = len(out) > 0
			continue
		}
		if t.is("#") {
			continue
		}
		t.span.Start += m.span.Start + i
		t.span.End += m.span.Start + i
		if last := len(out) - 1; glue && !out[last].is(",") { // a ## b is one name
			out[last].text += t.text
			out[last].span.End = t.span.End
			glue = false
			continue
		}
		glue = false
		out = append(out, t)
	}
	return out
}

// function lowers a function, method or lambda.
func (l *lowerer) function() {
	d := l.d
	l.p = l.t.parserFor(d.toks)
	head := d.body
	if d.init >= 0 {
		head = d.init
	}
	l.fn.Signature = strings.TrimSuffix(l.p.text(d.toks[d.start:head]), " try")
	if d.decl.Kind == ir.FuncLambda {
		l.lambdaNames()
	}
	if d.open >= 0 {
		l.params()
	}
	l.push()
	var inits []ir.Node
	if d.init >= 0 {
		inits = l.initialisers()
	}
	end := d.end
	if d.try {
		end = l.p.partner(d.body)
	}
	outer := l.p
	l.p = l.t.parserFor(l.t.settle(d.toks[d.body+1 : end]))
	l.p.names = outer.names
	l.addressed(l.p.toks)
	body := l.block(l.p.statements())
	l.fn.Result = l.result()
	if d.try {
		l.p = outer
		l.p.i = end + 1
		l.p.end = len(d.toks)
		t := &ir.Try{Body: append(inits, body...), Span: spanOf2(d.toks, d.body, d.end+1)}
		if !l.fn.Span.Contains(t.Span) {
			t.Span = l.fn.Span
		}
		for _, c := range l.p.catchClauses() {
			t.Handlers = append(t.Handlers, l.handler(c))
		}
		t.Rethrows = l.fn.Kind == ir.FuncConstructor || strings.Contains(l.fn.Name, "~")
		l.fn.Body = []ir.Node{t}
		return
	}
	l.fn.Body = append(inits, body...)
}

// addressed finds the labels whose address is taken: && before a label's name
// where no operand stands before it.
func (l *lowerer) addressed(toks []token) {
	labels := map[string]bool{}
	for i := 0; i+1 < len(toks); i++ {
		if toks[i].kind == tIdent && toks[i+1].is(":") {
			labels[toks[i].text] = true
		}
	}
	seen := map[string]bool{}
	for i := 1; i+1 < len(toks); i++ {
		if !toks[i].is("&&") || toks[i+1].kind != tIdent || !labels[toks[i+1].text] || seen[toks[i+1].text] {
			continue
		}
		if prev := toks[i-1]; prev.kind == tPunct && prev.text != ")" && prev.text != "]" || prev.text == "return" {
			seen[toks[i+1].text] = true
			l.labels = append(l.labels, toks[i+1].text)
		}
	}
}

// lambdaNames says which names a lambda takes from the function around it.
func (l *lowerer) lambdaNames() {
	l.captured = map[string]bool{}
	l.p.i = l.d.start
	e := l.p.lambda()
	l.p.i = 0
	if e == nil {
		return
	}
	x := e.lambda
	for _, c := range x.captures {
		if c.name != "this" {
			l.captured[c.name] = true
		}
	}
	if x.byRef || x.byCopy {
		if parent := l.d.decl.Parent; parent > 0 {
			outer := l.t.lower(l.t.decls[parent])
			for _, v := range outer.Vars {
				if v.Scope != ir.Global {
					l.captured[v.Name] = true
				}
			}
		}
	}
	for n := range l.captured {
		l.p.names[n] = true
	}
}

func (l *lowerer) params() {
	d := l.d
	if d.knr < 0 {
		for _, q := range l.p.params(d.open, d.close) {
			if q.name != "" {
				l.param(q.name, q.pos, q.kind)
			}
		}
		return
	}
	kinds := map[string]*declarator{}
	l.p.i = d.knr
	end := l.p.end
	l.p.end = d.body
	for l.p.i < d.body {
		before := l.p.i
		for _, it := range l.p.declaration().items {
			kinds[it.name] = it
		}
		if !l.p.accept(";") && l.p.i == before {
			l.p.i++
		}
	}
	l.p.end = end
	for i := d.open + 1; i < d.close; i++ {
		t := d.toks[i]
		if t.kind != tIdent {
			continue
		}
		if it := kinds[t.text]; it != nil {
			kind := it.kind
			if kind == kArray || kind == kFunction {
				kind = kPointer
			}
			l.param(t.text, it.pos, kind)
		} else {
			l.param(t.text, t.span.Start, kValue)
		}
	}
}

func (l *lowerer) param(name string, pos int, kind declKind) {
	l.p.names[name] = true
	v := l.variable(name)
	l.fn.Vars[v].Written = true
	l.fn.Params = append(l.fn.Params, ir.Param{Var: v, Name: name, Line: l.t.f.Line(pos)})
}

// initialisers are the member initialisers of a constructor, each a statement,
// in the order in which the class declares the members where that is known.
func (l *lowerer) initialisers() []ir.Node {
	d := l.d
	p := l.p
	type entry struct {
		name string
		s    *ir.Stmt
		at   int
	}
	var list []entry
	end := p.end
	p.i, p.end = d.init+1, d.body
	for p.i < p.end {
		from := p.i
		t := p.tok()
		if t.kind != tIdent && !t.is("::") {
			p.i++
			continue
		}
		j := p.skipTypeName(p.i)
		if j < 0 {
			j = p.i + 1
		}
		p.i = j
		b := &effects{l: l}
		if p.is("(") && p.partner(p.i) > 0 {
			b.values(p.arguments(p.i))
			p.i = p.partner(p.i) + 1
		} else if p.is("{") {
			b.value(p.braced())
		}
		p.accept("...")
		if p.i <= from {
			p.i = from + 1
		}
		name := t.text
		b.raise()
		if v, ok := l.field(name); ok {
			b.def(ir.Place{Var: v}, false)
		}
		s := &ir.Stmt{Kind: ir.KindAssign, Text: p.text(p.toks[from:p.i]), Span: spanOf(p.toks[from:p.i]), Eval: b.seq()}
		list = append(list, entry{name, l.place(s, p.toks[from]), len(list)})
		l.exits = nil
		p.accept(",")
	}
	p.end = end
	order := l.t.memberOrder(d.class)
	if len(order) > 0 {
		rank := func(e entry) int {
			if n, ok := order[e.name]; ok {
				return n
			}
			return -1 // bases come first
		}
		sort.SliceStable(list, func(i, j int) bool { return rank(list[i]) < rank(list[j]) })
	}
	var out []ir.Node
	for _, e := range list {
		out = append(out, &ir.Simple{S: e.s})
	}
	return out
}

// memberOrder is the order of a class's data members, as far as the file shows
// the class.
func (t *tree) memberOrder(class string) map[string]int {
	out := map[string]int{}
	for _, d := range t.defs {
		if d.decl.Kind != ir.FuncClass || d.class != class {
			continue
		}
		for _, it := range d.items {
			if it.kind != ir.KindDecl || len(it.toks) == 0 || it.toks[0].kind == tDirective {
				continue
			}
			toks := append([]token(nil), it.toks...)
			pairs(toks)
			p := t.parserFor(toks)
			p.m = nil
			for _, x := range p.declaration().items {
				if x.name != "" && x.kind != kFunction {
					out[x.name] = len(out)
				}
			}
		}
		break
	}
	return out
}

// Names.

func (l *lowerer) push() { l.scopes = append(l.scopes, map[string]int{}) }
func (l *lowerer) pop()  { l.scopes = l.scopes[:len(l.scopes)-1] }

// variable makes a local variable in the innermost scope.
func (l *lowerer) variable(name string) int {
	if v, ok := l.scopes[len(l.scopes)-1][name]; ok && name != "" { // declared in another arm of an #if
		return v
	}
	v := len(l.fn.Vars)
	l.fn.Vars = append(l.fn.Vars, ir.Var{Name: name, Scope: ir.Local})
	l.scopes[len(l.scopes)-1][name] = v
	return v
}

// declare makes the variable of a declarator.
func (l *lowerer) declare(name string, it *declarator, d *declaration) int {
	v := l.variable(name)
	if it.kind == kArray {
		l.arrays[v] = true
		l.fn.Vars[v].Storage = true
	}
	if it.class && it.kind == kValue {
		l.fn.Vars[v].Storage = l.fn.Vars[v].Storage || l.t.cpp && !(d != nil && d.integer) || d != nil && d.struct_
	}
	if d != nil && (d.static || d.extern) {
		l.fn.Vars[v].Scope = ir.Global
		l.static[v] = true
	}
	return v
}

// local finds a variable of the function by name.
func (l *lowerer) local(name string) (int, bool) {
	for i := len(l.scopes) - 1; i >= 0; i-- {
		if v, ok := l.scopes[i][name]; ok {
			return v, true
		}
	}
	return 0, false
}

// lookup finds a variable by name; one that the function does not declare
// belongs to what is around it.
func (l *lowerer) lookup(name string) (int, bool) {
	if v, ok := l.local(name); ok {
		return v, true
	}
	switch name {
	case "", "this", "true", "false", "nullptr", "NULL", "operator", "type", "typename", "decltype", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "__LINE__", "__FILE__":
		return 0, false
	}
	return l.outside(name), true
}

// outside is the variable of a name that is not the function's own.
func (l *lowerer) outside(name string) int {
	if v, ok := l.globals[name]; ok {
		return v
	}
	v := len(l.fn.Vars)
	scope := ir.Global
	if l.captured[name] {
		scope = ir.Captured
	}
	l.fn.Vars = append(l.fn.Vars, ir.Var{Name: name, Scope: scope, Shared: scope == ir.Captured})
	l.globals[name] = v
	return v
}

// field is the variable that stands for a member of the object a method works
// on.
func (l *lowerer) field(name string) (int, bool) {
	return l.outside(name), true
}

func (l *lowerer) isArray(p ir.Place) bool { return p.Path == "" && l.arrays[p.Var] }

// lvalues are the variables that an lvalue may stand for; nil: not known.
func (l *lowerer) lvalues(e *expr) []int {
	switch e.kind {
	case eSame:
		return l.lvalues(e.kids[0])
	case eName:
		if v, ok := l.local(e.val); ok && !l.alias[v] {
			return []int{v}
		}
	case eMember:
		if e.val == "." {
			return l.lvalues(bare(e.kids[0]))
		}
	case eIndex:
		k := bare(e.kids[0])
		if k.kind == eName {
			if v, ok := l.local(k.val); ok && l.arrays[v] {
				return []int{v}
			}
		}
	case eCond:
		if e.kids[1] != nil {
			a, b := l.lvalues(bare(e.kids[1])), l.lvalues(bare(e.kids[2]))
			if a != nil && b != nil {
				return append(a, b...)
			}
		}
	}
	return nil
}

// pointsTo says what a pointer points to that is given this value.
func (l *lowerer) pointsTo(e *expr) *ir.Points {
	if e == nil {
		return nil
	}
	e = bare(e)
	switch e.kind {
	case eConst, eNew:
		return &ir.Points{}
	case eCast:
		return l.pointsTo(e.kids[0])
	case eMacro:
		if len(e.kids) == 1 && e.body == nil {
			return l.pointsTo(e.kids[0])
		}
	case eUnary:
		if e.val == "&" {
			if vars := l.lvalues(bare(e.kids[0])); vars != nil {
				return &ir.Points{Vars: vars}
			}
			if k := bare(e.kids[0]); k.kind == eMember || k.kind == eIndex {
				if root := rootOf(k); root != nil {
					if v, ok := l.local(root.val); ok && !l.arrays[v] { // &p->x points to what p points to
						_ = v
					}
				}
			}
		}
	case eName:
		if v, ok := l.local(e.val); ok {
			if l.arrays[v] {
				l.fn.Vars[v].AddressTaken = true
				return &ir.Points{Vars: []int{v}}
			}
		}
		if e.val == "NULL" || e.val == "nullptr" {
			return &ir.Points{}
		}
	case eCall:
		if c := bare(e.kids[0]); c.kind == eName && isAllocation(c.val) {
			return &ir.Points{}
		}
	case eCond:
		if e.kids[1] != nil {
			a, b := l.pointsTo(e.kids[1]), l.pointsTo(e.kids[2])
			if a != nil && b != nil {
				return &ir.Points{Vars: append(append([]int{}, a.Vars...), b.Vars...), Moved: a.Moved || b.Moved}
			}
		}
	}
	return nil
}

func rootOf(e *expr) *expr {
	for {
		e = bare(e)
		switch e.kind {
		case eMember, eIndex:
			e = e.kids[0]
		case eName:
			return e
		default:
			return nil
		}
	}
}

// exit notes a way out of the statement that is being evaluated.
func (l *lowerer) exit(kind ir.Kind, label string) {
	if kind == ir.KindGoto && label == "" { // computed
		for _, name := range l.labels {
			l.exit(kind, name)
		}
		return
	}
	for _, e := range l.exits {
		if e.Kind == kind && e.Label == label {
			return
		}
	}
	l.exits = append(l.exits, ir.Exit{Kind: kind, Label: label})
}

func (l *lowerer) takeExits() []ir.Exit {
	out := l.exits
	l.exits = nil
	return out
}

// place gives a statement its position and lists it.
func (l *lowerer) place(s *ir.Stmt, at token) *ir.Stmt {
	if s.Span.End <= s.Span.Start {
		s.Span = at.span
	}
	if !l.fn.Span.Contains(s.Span) { // part of it is the work of a macro outside
		s.Span.Start = min(max(s.Span.Start, l.fn.Span.Start), l.fn.Span.End)
		s.Span.End = max(min(s.Span.End, l.fn.Span.End), s.Span.Start)
	}
	start := max(at.span.Start, s.Span.Start)
	pos := l.t.f.Pos(start)
	s.Line, s.Col = pos.Line, pos.Col
	s.EndLine = l.t.f.LastLine(s.Span)
	if s.DefKind == "" {
		s.DefKind = ir.DefPlain
	}
	if s.Text == "" {
		s.Text = strings.Join(strings.Fields(l.t.f.Text(s.Span)), " ")
	}
	if s.Text == "" {
		s.Text = ";"
	}
	l.fn.Stmts = append(l.fn.Stmts, s)
	return s
}

// stay is a tree of effects without its ways out.
func stay(e ir.Eval) ir.Eval {
	if !e.Exits() {
		return e
	}
	if e.Op == ir.OpExit {
		return ir.Eval{}
	}
	kids := make([]ir.Eval, len(e.Kids))
	for i, k := range e.Kids {
		kids[i] = stay(k)
	}
	e.Kids = kids
	return e
}

// given is a variable that a statement hands to a macro of which nothing is
// known.
type given struct {
	s *ir.Stmt
	v int
}

// settleGiven lets the macros that are not known define the variables that
// nothing else in the function defines: something must.
func (l *lowerer) settleGiven() {
	defined := map[int]bool{}
	for _, s := range l.fn.Stmts {
		mark := func(e ir.Eval) {
			if e.Op == ir.OpDef && e.Place.Path == "" {
				defined[e.Place.Var] = true
			}
		}
		s.Eval.Walk(mark)
		s.Pre.Walk(mark)
	}
	for _, p := range l.fn.Params {
		defined[p.Var] = true
	}
	for _, g := range l.given {
		if defined[g.v] || l.fn.Vars[g.v].Scope != ir.Local || l.fn.Vars[g.v].Shared {
			continue
		}
		g.s.Eval = seqOf([]ir.Eval{g.s.Eval, {Op: ir.OpDef, Place: ir.Place{Var: g.v}, May: true}})
	}
}

// finish numbers the statements and marks what is written.
func (l *lowerer) finish() {
	l.settleGiven()
	stmts := l.fn.Stmts
	sort.SliceStable(stmts, func(i, j int) bool {
		if stmts[i].Line != stmts[j].Line {
			return stmts[i].Line < stmts[j].Line
		}
		return stmts[i].Col < stmts[j].Col
	})
	leaves := map[*ir.Stmt]bool{}
	l.fn.Nodes(func(n ir.Node) {
		if x, ok := n.(*ir.Leaves); ok {
			leaves[x.S] = true
		}
	})
	for i, s := range stmts {
		s.ID = i + 1
		if !leaves[s] { // its graph has no way for what leaves here
			s.Eval, s.Pre = stay(s.Eval), stay(s.Pre)
		}
		mark := func(e ir.Eval) {
			if e.Op == ir.OpDef {
				l.fn.Vars[e.Place.Var].Written = true
			}
		}
		s.Eval.Walk(mark)
		s.Pre.Walk(mark)
	}
	for i := range l.fn.Vars {
		l.fn.Vars[i].Shared = l.fn.Vars[i].Shared || l.fn.Vars[i].AddressTaken
	}
	if len(l.captured) > 0 {
		for _, v := range l.fn.Vars {
			if v.Scope == ir.Captured {
				l.fn.Captures = append(l.fn.Captures, v.Name)
			}
		}
		sort.Strings(l.fn.Captures)
	}
	l.fn.Notes = l.t.notes(l.t.f.Line(l.fn.Span.Start), l.fn.EndLine)
	if l.fn.Kind == ir.FuncModule || l.fn.Kind == ir.FuncClass {
		l.fn.Notes = nil
	}
}
