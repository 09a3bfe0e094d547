package c

import (
	"strings"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
)

// def is where a definition stands in its list of tokens.
type def struct {
	decl  *lang.Decl
	toks  []token
	start int // first token of its header
	name  int // token of its name
	open  int // ( of its parameters, -1: none
	close int // and )
	knr   int // first token of K&R declarations, -1: none
	init  int // : of a constructor's initialisers, -1: none
	try   bool
	body  int // {
	end   int // }
	macro *macro
	items []item // of a class or module
	class string // name of the class around it
}

// item is what stands directly in a file, namespace or class.
type item struct {
	kind  ir.Kind
	toks  []token // of its text
	start token
	whole source.Span
	inner []string
	arms  []itemArm // of a group
	group *group
}

type itemArm struct {
	head  token
	items []item
}

// outliner finds the definitions of a file.
type outliner struct {
	t     *tree
	defs  []*def
	seen  map[string]int
	space map[string]bool // names of namespaces
	depth int
}

// scope is what is around definitions.
type scope struct {
	prefix string // a::b::
	parent int    // index in defs
	class  string // name of the class, "" outside of one
	local  bool   // inside a function
}

func (o *outliner) add(d *def, parent int) int {
	d.decl.Parent = parent
	o.defs = append(o.defs, d)
	return len(o.defs) - 1
}

func (o *outliner) parser(toks []token) *parser {
	return &parser{data: o.t.f.Bytes, toks: toks, end: len(toks), cpp: o.t.cpp, types: o.t.types, names: map[string]bool{}}
}

// scope lists what stands between two indices.
func (o *outliner) scope(toks []token, from, to int, sc scope) []item {
	o.depth++
	defer func() { o.depth-- }()
	if o.depth > 200 {
		return nil
	}
	var items []item
	p := o.parser(toks)
	p.end = to
	for p.i = from; p.i < to; {
		before := p.i
		items = append(items, o.one(p, sc)...)
		if p.i <= before {
			p.i = before + 1
		}
	}
	return items
}

// one reads one declaration at p.i and moves behind it.
func (o *outliner) one(p *parser, sc scope) []item {
	t := p.tok()
	from := p.i
	if t.kind == tDirective {
		p.i++
		return o.directive(t, sc)
	}
	if t.kind == tPunct {
		switch t.text {
		case ";", "}":
			p.i++
			return nil
		case "{": // braces of nothing that is known: what is inside counts
			if j := p.partner(p.i); j > 0 {
				items := o.scope(p.toks, p.i+1, j, sc)
				p.i = j + 1
				return items
			}
			p.i++
			return nil
		}
	}
	if p.cpp && t.kind == tIdent {
		switch t.text {
		case "public", "private", "protected", "signals", "Q_SIGNALS":
			j := p.i + 1
			for p.at(j).kind == tIdent {
				j++
			}
			if p.at(j).is(":") {
				p.i = j + 1
				return nil
			}
		case "namespace":
			return o.namespace(p, sc)
		case "inline":
			if p.at(p.i + 1).is("namespace") {
				p.i++
				return o.namespace(p, sc)
			}
		}
	}
	if t.is("__extension__") {
		p.i++
		return nil
	}
	if t.kind == tIdent && p.at(p.i+1).is("(") && o.standsAlone(p) {
		p.i = p.partner(p.i+1) + 1
		p.accept(";")
		return []item{o.item(p, ir.KindDecl, from, p.i)}
	}
	if t.is("extern") && p.at(p.i+1).kind == tString {
		if p.at(p.i + 2).is("{") {
			if j := p.partner(p.i + 2); j > 0 {
				items := o.scope(p.toks, p.i+3, j, sc)
				p.i = j + 1
				return items
			}
			p.i += 3
			return nil
		}
		p.i += 2
	}
	return o.declaration(p, from, sc)
}

// standsAlone reports a macro's call that is a declaration by itself, without a
// semicolon: what follows stands on another line and is not the name of a
// function whose type the macro gives.
func (o *outliner) standsAlone(p *parser) bool {
	t := p.tok()
	if m := o.t.macros.lookup(t.text, t.span.Start); !(m != nil && m.function) && !isMacroName(t.text) {
		return false
	}
	j := p.partner(p.i + 1)
	if j < 0 {
		return false
	}
	n := p.at(j + 1)
	switch {
	case n.kind == tEOF, n.is("}"), n.kind == tDirective:
		return true
	case n.kind != tIdent || !n.first:
		return false
	}
	return !p.at(j+2).is("(") || isMacroName(n.text) || o.t.macros.lookup(n.text, n.span.Start) != nil
}

func (o *outliner) directive(t *token, sc scope) []item {
	if t.group != nil {
		it := item{start: *t, group: t.group, whole: t.span}
		for _, a := range t.group.arms {
			it.arms = append(it.arms, itemArm{head: a.head, items: o.scope(a.toks, 0, len(a.toks), sc)})
		}
		return []item{it}
	}
	it := item{kind: ir.KindDecl, start: *t, toks: []token{*t}, whole: t.span}
	switch name, _ := directiveName(t.text); name {
	case "include", "import", "include_next":
		it.kind = ir.KindImport
	case "define", "undef":
	default:
		return nil
	}
	return []item{it}
}

func (o *outliner) namespace(p *parser, sc scope) []item {
	from := p.i
	p.i++
	inner := sc
	for p.i < p.end && !p.is("{") && !p.is(";") {
		t := p.tok()
		switch {
		case t.is("["), t.is("("):
			if j := p.partner(p.i); j > 0 {
				p.i = j
			}
		case t.is("="): // an alias
			p.skipDeclaration()
			return []item{o.item(p, ir.KindDecl, from, p.i)}
		case t.kind == tIdent && t.text != "inline" && !takesParens(t.text) && !(isMacroName(t.text) && (p.at(p.i+1).kind == tIdent || p.at(p.i+1).is("(") || p.at(p.i-1).text != "::" && p.at(p.i+1).is("{") && p.at(p.i-1).kind == tIdent && p.at(p.i-1).text != "namespace")):
			inner.prefix += t.text + "::"
			o.space[t.text] = true
		}
		p.i++
	}
	if !p.is("{") {
		p.accept(";")
		return nil
	}
	close := p.partner(p.i)
	if close < 0 {
		p.i++
		return nil
	}
	items := o.scope(p.toks, p.i+1, close, inner)
	p.i = close + 1
	return items
}

func (o *outliner) item(p *parser, kind ir.Kind, from, to int) item {
	to = min(to, len(p.toks))
	return item{kind: kind, start: p.toks[from], toks: p.toks[from:to], whole: spanOf2(p.toks, from, to)}
}

// candidate is a name with parentheses behind it, which may be a function's.
type candidate struct {
	name, open, close int
	first             bool // nothing stands before it
}

// header is what a scan over one declaration has found so far.
type header struct {
	cands    []candidate
	class    int // class, struct or union keyword, -1
	assigned bool
	init     int
	try      bool
	enum     bool
	operator int
}

// declaration reads one declaration or definition.
func (o *outliner) declaration(p *parser, from int, sc scope) []item {
	h := header{class: -1, init: -1, operator: -1}
	var items []item
	typeEnd := -1
	for p.i < p.end {
		t := p.tok()
		if t.kind == tDirective {
			if t.group != nil || p.i == from {
				break // something was left open before it
			}
			p.i++
			continue
		}
		if t.kind == tIdent {
			if p.cpp && p.i > from && t.text == "namespace" && !p.toks[from].is("using") { // BEGIN_VERSION before a namespace: a macro alone
				return append(items, o.item(p, ir.KindDecl, from, p.i))
			}
			o.word(p, &h, from)
			continue
		}
		if t.kind != tPunct {
			p.i++
			continue
		}
		switch t.text {
		case ";":
			if k := o.knr(p, &h, from); k >= 0 {
				return append(items, o.function(p, &h, from, k, sc)...)
			}
			p.i++
			kind := ir.KindDecl
			if len(items) > 0 && typeEnd == p.i-1 {
				return items
			}
			if p.toks[from].is("using") && p.at(from+1).is("namespace") {
				kind = ir.KindImport
			}
			it := o.item(p, kind, from, p.i)
			o.lambdas(p, from, p.i, scope{prefix: sc.prefix, parent: sc.parent})
			if len(items) > 0 { // struct S { ... } x; is the type's statement, with its name behind
				return items
			}
			return []item{it}
		case "}":
			if p.i == from {
				p.i++
			}
			return items
		case "(":
			j := p.partner(p.i)
			if j < 0 {
				p.i++
				continue
			}
			o.parens(p, &h, from, j)
			p.i = j + 1
		case "[":
			if j := p.partner(p.i); j > 0 {
				p.i = j
			}
			p.i++
		case "<":
			if j := o.angle(p); j > 0 {
				p.i = j
			}
			p.i++
		case "=":
			h.assigned = true
			p.i++
			p.skipDeclaration()
			p.i--
			if !p.is(";") {
				p.i++
				if p.i >= p.end || p.is("}") {
					return append(items, o.item(p, ir.KindDecl, from, p.i))
				}
			}
		case ":":
			if p.cpp && h.init < 0 && len(h.cands) > 0 && h.class < 0 {
				h.init = p.i
				p.i++
				o.initialisers(p)
				continue
			}
			p.i++
		case "{":
			j := p.partner(p.i)
			if j < 0 {
				if end := o.lostEnd(p, &h, from); end > 0 {
					return append(items, o.broken(p, &h, from, end, sc)...)
				}
				p.i++
				return items
			}
			switch {
			case h.enum:
				p.i = j + 1
				h.enum = false
				typeEnd = p.i
				if !p.is(";") {
					continue
				}
			case h.class >= 0:
				it := o.class(p, &h, from, j, sc)
				items = append(items, it...)
				p.i = j + 1
				h.class = -1
				h.cands = nil
				typeEnd = p.i
			case len(h.cands) > 0 || h.operator >= 0 && h.init < 0 && len(h.cands) > 0:
				return append(items, o.function(p, &h, from, -1, sc)...)
			case p.cpp && p.i > from && p.at(p.i-1).kind == tIdent && !isMacroName(p.at(p.i-1).text), p.cpp && p.at(p.i-1).is("]"), p.at(p.i - 1).is(">"):
				p.i = j + 1 // T x{1};
			default:
				more := o.scope(p.toks, p.i+1, j, sc)
				p.i = j + 1
				return append(items, more...)
			}
		default:
			p.i++
		}
	}
	if len(items) == 0 && p.i > from && len(h.cands) > 0 && p.i >= p.end {
		return []item{o.item(p, ir.KindDecl, from, p.i)}
	}
	return items
}

// angle is the > that closes template arguments in a declaration's head.
func (o *outliner) angle(p *parser) int {
	if !p.cpp {
		return -1
	}
	if p.at(p.i - 1).is("template") {
		return p.castAngle(p.i)
	}
	if p.at(p.i-1).kind != tIdent {
		return -1
	}
	return p.castAngle(p.i)
}

// word handles an identifier or keyword in a declaration's head.
func (o *outliner) word(p *parser, h *header, from int) {
	t := p.tok()
	switch {
	case takesParens(t.text) && p.at(p.i+1).is("("), isAsm(t.text) && p.at(p.i+1).is("("),
		(t.text == "noexcept" || t.text == "throw" || t.text == "explicit") && p.cpp && p.at(p.i+1).is("("):
		if j := p.partner(p.i + 1); j > 0 {
			p.i = j
		}
	case (t.text == "struct" || t.text == "union" || t.text == "class" && p.cpp) && len(h.cands) == 0 && !h.enum:
		// the keyword of a type that is defined here, of a return type, or of a template's parameter
		j := p.i + 1
		for j < p.end && (p.at(j).kind == tIdent || p.at(j).is("::") || p.at(j).is("<") || p.at(j).is("(") || p.at(j).is("[")) {
			if p.at(j).is("(") && !takesParens(p.at(j-1).text) && !isMacroName(p.at(j-1).text) {
				break
			}
			if p.at(j).is("(") || p.at(j).is("[") {
				if k := p.partner(j); k > 0 {
					j = k
				}
			}
			if p.at(j).is("<") {
				k := p.castAngle(j)
				if k < 0 {
					break
				}
				j = k
			}
			j++
		}
		if p.at(j).is("{") || p.cpp && p.at(j).is(":") && !p.at(j).is("::") {
			h.class = p.i
			for j < p.end && !p.at(j).is("{") && !p.at(j).is(";") {
				if p.at(j).is("<") {
					if k := p.castAngle(j); k > 0 {
						j = k
					}
				}
				if p.at(j).is("(") {
					if k := p.partner(j); k > 0 {
						j = k
					}
				}
				j++
			}
			if !p.at(j).is("{") {
				h.class = -1
			} else {
				p.i = j
				return
			}
		}
	case t.text == "enum":
		j := p.i + 1
		for j < p.end && (p.at(j).kind == tIdent || p.at(j).is("::") || p.at(j).is(":") || p.at(j).is("[") || p.at(j).is("]") || p.at(j).is("(")) {
			if p.at(j).is("(") {
				if k := p.partner(j); k > 0 && (takesParens(p.at(j-1).text) || isMacroName(p.at(j-1).text)) {
					j = k
				} else {
					break
				}
			}
			j++
		}
		if p.at(j).is("{") {
			h.enum = true
			p.i = j
			return
		}
	case t.text == "operator" && p.cpp:
		h.operator = p.i
		at := p.i
		p.operatorName()
		if p.is("<") && p.castAngle(p.i) > 0 && p.at(p.castAngle(p.i)+1).is("(") {
			p.i = p.castAngle(p.i) + 1
		}
		for p.is("[") && p.at(p.i+1).is("[") && p.partner(p.i) > 0 { // operator() [[nodiscard]] (int)
			p.i = p.partner(p.i) + 1
		}
		if p.is("(") {
			if j := p.partner(p.i); j > 0 {
				h.cands = append(h.cands, candidate{name: at, open: p.i, close: j})
				p.i = j + 1
			}
		}
		return
	case t.text == "try" && p.cpp && len(h.cands) > 0:
		h.try = true
	case t.text == "requires" && p.cpp:
		// a constraint: up to the body, or to what it stands before
		p.i++
		o.constraint(p)
		return
	}
	p.i++
}

// constraint passes over the expression behind requires.
func (o *outliner) constraint(p *parser) {
	for p.i < p.end {
		t := p.tok()
		switch {
		case t.is("requires"):
			p.i++
			if p.is("(") && p.partner(p.i) > 0 {
				p.i = p.partner(p.i) + 1
			}
			if p.is("{") && p.partner(p.i) > 0 {
				p.i = p.partner(p.i) + 1
			}
		case t.is("("), t.is("["):
			if j := p.partner(p.i); j > 0 {
				p.i = j
			}
			p.i++
		case t.kind == tIdent, t.is("::"), t.is("!"):
			p.i++
			if p.is("<") {
				if j := p.castAngle(p.i); j > 0 {
					p.i = j + 1
				}
			}
			for p.is("::") {
				p.i += 2
				if p.is("<") {
					if j := p.castAngle(p.i); j > 0 {
						p.i = j + 1
					}
				}
			}
			if p.is("(") && p.partner(p.i) > 0 {
				p.i = p.partner(p.i) + 1
			}
		default:
			return
		}
		if !p.is("&&") && !p.is("||") {
			return
		}
		p.i++
	}
}

// parens notes a name with parentheses.
func (o *outliner) parens(p *parser, h *header, from, close int) {
	if h.init >= 0 || h.assigned {
		return
	}
	prev := p.i - 1
	if p.cpp && p.at(prev).is(">") { // f<int>(x) of a specialisation
		for k := prev - 1; k > from && k > prev-200; k-- {
			if p.at(k).is("<") && p.castAngle(k) == prev {
				prev = k - 1
				break
			}
		}
	}
	if prev < from {
		// (name)(params), or a declarator in parentheses
		return
	}
	t := p.at(prev)
	if t.kind == tIdent && !isBuiltin(t.text, p.cpp) && (!isKeyword(t.text) && !(p.cpp && isCppKeyword(t.text)) || false) {
		if isSpecifier(t.text, p.cpp) {
			return
		}
		h.cands = append(h.cands, candidate{name: prev, open: p.i, close: close, first: prev == from})
		return
	}
	if n := len(h.cands); t.is(")") && n > 0 && h.cands[n-1].close == prev && h.cands[n-1].open == prev-2 && p.at(prev-1).kind == tIdent && !isBuiltin(p.at(prev-1).text, p.cpp) {
		// API(f)(int a): the macro holds the name
		h.cands[n-1] = candidate{name: prev - 1, open: p.i, close: close}
		return
	}
	if t.is(")") && len(h.cands) == 0 {
		// int (f)(int x): the name is in the parentheses before
		k := prev + int(t.pair)
		if k >= 0 && prev == k+2 && p.at(k+1).kind == tIdent {
			h.cands = append(h.cands, candidate{name: k + 1, open: p.i, close: close})
			return
		}
		// int (*f(int a))(int b)
		for m := k + 1; m > 0 && m < prev; m++ {
			if p.at(m).kind == tIdent && p.at(m+1).is("(") && p.partner(m+1) > 0 && !isSpecifier(p.at(m).text, p.cpp) && !takesParens(p.at(m).text) {
				h.cands = append(h.cands, candidate{name: m, open: m + 1, close: p.partner(m + 1)})
				return
			}
		}
	}
}

// initialisers passes over a constructor's initialisers, up to the body.
func (o *outliner) initialisers(p *parser) {
	for p.i < p.end {
		t := p.tok()
		switch {
		case t.kind == tDirective:
			p.i++
		case t.kind == tIdent, t.is("::"), t.is("..."), t.is(","), t.is("~"):
			p.i++
			if p.is("<") {
				if j := p.castAngle(p.i); j > 0 {
					p.i = j + 1
				}
			}
			if (p.is("(") || p.is("{") && t.kind == tIdent || p.is("{") && p.at(p.i-1).is(">")) && p.partner(p.i) > 0 {
				p.i = p.partner(p.i) + 1
			}
		default:
			return
		}
	}
}

// choose is the candidate that is the function's name.
func (h *header) choose(p *parser) candidate {
	cands := h.cands
	if h.operator >= 0 {
		for _, c := range cands {
			if c.name == h.operator {
				return c
			}
		}
	}
	if len(cands) > 1 {
		var proper []candidate
		for _, c := range cands {
			if !isMacroName(p.at(c.name).text) {
				proper = append(proper, c)
			}
		}
		if len(proper) > 0 {
			cands = proper
		}
	}
	for len(cands) > 1 && cands[0].first && p.at(cands[0].close+1).kind == tIdent && cands[1].name > cands[0].close+1 && !isSpecifier(p.at(cands[0].close+1).text, true) {
		cands = cands[1:] // module_init(f) without a semicolon, or a macro for a type
	}
	for len(cands) > 1 && cands[0].first && p.at(cands[0].close+1).first && p.at(cands[0].close+1).kind == tIdent {
		cands = cands[1:]
	}
	if len(cands) > 1 && cands[0].first && cands[1].name == cands[0].close+1 && !p.cpp { // API(int) f(int a)
		cands = cands[1:]
	}
	return cands[0]
}

// knr recognises a K&R definition whose first declaration ends at p.i, and
// gives the index of the first of its declarations.
func (o *outliner) knr(p *parser, h *header, from int) int {
	if p.cpp || len(h.cands) == 0 || h.assigned {
		return -1
	}
	c := h.choose(p)
	if c.close+1 >= p.i || c.close == c.open+1 {
		return -1
	}
	for i := c.open + 1; i < c.close; i++ {
		if t := p.at(i); !(t.kind == tIdent && !isKeyword(t.text) && (i-c.open)%2 == 1) && !(t.is(",") && (i-c.open)%2 == 0) {
			return -1
		}
	}
	// declarations up to the body
	i := p.i + 1
	last := p.i
	for n := 0; i < p.end && n < 400; n++ {
		t := p.at(i)
		switch {
		case t.is("{"):
			if last != i-1 {
				return -1
			}
			p.i = i
			return c.close + 1
		case t.is(";"):
			last = i
		case t.is("="), t.is("}"), t.kind == tDirective:
			return -1
		case t.is("("), t.is("["):
			if j := p.partner(i); j > 0 {
				i = j
			}
		}
		i++
	}
	return -1
}

// function reads the definition whose body begins at p.i.
func (o *outliner) function(p *parser, h *header, from, knr int, sc scope) []item {
	c := h.choose(p)
	end := p.partner(p.i)
	if end < 0 {
		p.i++
		return nil
	}
	d := &def{toks: p.toks, start: o.headStart(p, from, c), name: c.name, open: c.open, close: c.close, knr: knr, init: h.init, try: h.try, body: p.i, end: end, class: sc.class}
	o.named(p, d, c, sc)
	last := end
	if h.try { // the handlers are part of the function
		q := end + 1
		for p.at(q).is("catch") && p.at(q+1).is("(") && p.partner(q+1) > 0 && p.at(p.partner(q+1)+1).is("{") && p.partner(p.partner(q+1)+1) > 0 {
			last = p.partner(p.partner(q+1) + 1)
			q = last + 1
		}
		d.end = last
	}
	d.decl.Span = source.Span{Start: p.toks[d.start].span.Start, End: max(p.toks[last].span.End, p.toks[d.start].span.End)}
	d.decl.Line = o.t.f.Line(p.toks[c.name].span.Start)
	d.decl.EndLine = o.t.f.LastLine(d.decl.Span)
	at := o.add(d, sc.parent)
	o.bodyDefs(p, d, at)
	it := o.item(p, ir.KindDef, d.start, p.i)
	it.start = p.toks[d.start]
	it.whole = d.decl.Span
	it.inner = []string{d.decl.QualifiedName}
	p.i = last + 1
	return []item{it}
}

// headStart leaves out macros that stand before a definition on lines of their
// own.
func (o *outliner) headStart(p *parser, from int, c candidate) int {
	start := from
	for i := from; i < c.name; i++ {
		t := p.at(i)
		if t.kind == tDirective {
			start = i + 1
			continue
		}
		if t.is("<") {
			if j := p.castAngle(i); j > 0 && j < c.name {
				i = j
			}
			continue
		}
		if t.is("(") {
			j := p.partner(i)
			if j < 0 {
				break
			}
			if i > from && i-1 == start && !takesParens(p.at(i-1).text) && j+1 < c.name && p.at(j+1).first && j+1 <= c.name {
				start = j + 1
			}
			i = j
		}
	}
	if start > c.name {
		start = c.name
	}
	return start
}

// named gives a definition its name, qualified name and kind.
func (o *outliner) named(p *parser, d *def, c candidate, sc scope) {
	name := p.at(c.name).text
	at := c.name
	if d.toks[c.name].text == "operator" {
		name = operatorText(p.toks[c.name:c.open])
	}
	if at > 0 && p.at(at-1).is("~") {
		at--
		name = "~" + name
	}
	var quals []string
	for at >= 2 && p.cpp && p.at(at-1).is("::") {
		k := at - 2
		if p.at(k).is(">") {
			depth := 0
			for ; k > 0; k-- {
				if p.at(k).is(">") {
					depth++
				} else if p.at(k).is(">>") {
					depth += 2
				} else if p.at(k).is("<") {
					if depth--; depth <= 0 {
						break
					}
				}
			}
			k--
		}
		if k < 0 || p.at(k).kind != tIdent || isKeyword(p.at(k).text) {
			break
		}
		quals = append([]string{p.at(k).text}, quals...)
		at = k
	}
	kind := ir.FuncFunction
	class := sc.class
	if len(quals) > 0 && !o.space[quals[len(quals)-1]] {
		class = quals[len(quals)-1]
	}
	switch {
	case class != "" && name == class:
		kind = ir.FuncConstructor
	case class != "":
		kind = ir.FuncMethod
	case sc.local:
		kind = ir.FuncNested
	}
	d.class = class
	qualified := sc.prefix
	if len(quals) > 0 {
		qualified += strings.Join(quals, "::") + "::"
	}
	qualified += name
	d.decl = &lang.Decl{Name: name, QualifiedName: qualified, Kind: kind}
}

// operatorText is the name of an operator function: operator+=, operator bool.
func operatorText(toks []token) string {
	var b strings.Builder
	b.WriteString("operator")
	for i := 1; i < len(toks); i++ {
		t := &toks[i]
		if t.kind == tIdent && (i == 1 || toks[i-1].kind == tIdent) || i > 1 && toks[i-1].is(",") && t.kind != tPunct {
			b.WriteByte(' ')
		}
		if i > 1 && toks[1].kind != tIdent && i+1 < len(toks) && t.is("<") { // template arguments of a specialisation
			break
		}
		if i > 1 && t.is("[") && i+1 < len(toks) && toks[i+1].is("[") { // an attribute
			break
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// class reads the definition of a class whose body begins at p.i.
func (o *outliner) class(p *parser, h *header, from, end int, sc scope) []item {
	it := o.item(p, ir.KindClass, from, p.i)
	it.whole = source.Span{Start: p.toks[from].span.Start, End: max(p.toks[end].span.End, p.toks[from].span.End)}
	name := ""
	var quals []string
	for i := h.class + 1; i < p.i; i++ {
		t := p.at(i)
		switch {
		case t.is("("), t.is("["):
			if j := p.partner(i); j > 0 {
				i = j
			}
		case t.is("<"):
			if j := p.castAngle(i); j > 0 {
				i = j
			}
		case t.is(":"):
			i = p.i
		case t.kind == tIdent && t.text != "final" && !takesParens(t.text):
			if p.at(i - 1).is("::") {
				quals = append(quals, name)
			}
			if name == "" || !isMacroName(t.text) || isMacroName(name) {
				name = t.text
			}
		}
	}
	if !p.cpp || name == "" { // C's structs hold no code; what is in an anonymous one belongs to what is around
		if p.cpp {
			o.scope(p.toks, p.i+1, end, sc)
		}
		return []item{it}
	}
	full := sc.prefix
	for _, q := range quals {
		full += q + "::"
	}
	// The line is that of the keyword.
	line := o.t.f.Line(p.toks[h.class].span.Start)
	d := &def{toks: p.toks, start: from, name: h.class, open: -1, close: -1, knr: -1, init: -1, body: p.i, end: end, class: name}
	d.decl = &lang.Decl{Name: "<class " + name + ">", QualifiedName: full + "<class " + name + ">", Kind: ir.FuncClass,
		Span: it.whole, Line: line, EndLine: o.t.f.LastLine(it.whole)}
	at := o.add(d, sc.parent)
	it.inner = []string{d.decl.QualifiedName}
	before := len(o.defs)
	d.items = o.scope(p.toks, p.i+1, end, scope{prefix: full + name + "::", parent: at, class: name, local: sc.local})
	for _, m := range o.defs[before:] {
		if m.decl.Parent == at {
			it.inner = append(it.inner, m.decl.QualifiedName)
		}
	}
	return []item{it}
}

// bodyDefs finds local classes, and lambdas that are bound to names, in a body.
func (o *outliner) bodyDefs(p *parser, d *def, at int) {
	if p.cpp {
		o.local(p, d.body+1, d.end, scope{prefix: d.decl.QualifiedName + "::", parent: at, local: true})
	}
}

func (o *outliner) local(p *parser, from, to int, sc scope) {
	for i := from; i < to; i++ {
		t := &p.toks[i]
		switch {
		case t.kind == tDirective && t.group != nil:
			for _, a := range t.group.arms {
				q := o.parser(a.toks)
				o.local(q, 0, len(a.toks), sc)
			}
		case t.kind == tIdent && (t.text == "struct" || t.text == "class" || t.text == "union") && !(i > 0 && p.toks[i-1].is("enum")):
			save, end := p.i, p.end
			p.i, p.end = i, to
			h := header{class: -1, init: -1, operator: -1}
			o.word(p, &h, i)
			if h.class >= 0 && p.is("{") && p.partner(p.i) > 0 {
				j := p.partner(p.i)
				o.class(p, &h, i, j, sc)
				i = j
			}
			p.i, p.end = save, end
		case t.is("["):
			if j := o.boundLambda(p, i, to, sc); j > 0 {
				i = j
			}
		}
	}
}

func (o *outliner) lambdas(p *parser, from, to int, sc scope) {
	if !p.cpp {
		return
	}
	for i := from; i < to; i++ {
		if p.toks[i].is("[") {
			if j := o.boundLambda(p, i, to, sc); j > 0 {
				i = j
			}
		}
	}
}

// boundLambda reads `name = [captures](params) { body }` at its [.
func (o *outliner) boundLambda(p *parser, i, to int, sc scope) int {
	if i < 2 || !p.toks[i-1].is("=") || p.toks[i-2].kind != tIdent {
		return -1
	}
	save, end := p.i, p.end
	defer func() { p.i, p.end = save, end }()
	p.i, p.end = i, to
	if !p.isLambda() {
		return -1
	}
	q := p.partner(i) + 1
	open, close := -1, -1
	for q < to && !p.at(q).is("{") && !p.at(q).is(";") {
		if p.at(q).is("(") && p.partner(q) > 0 {
			if open < 0 {
				open, close = q, p.partner(q)
			}
			q = p.partner(q)
		}
		q++
	}
	if !p.at(q).is("{") || p.partner(q) < 0 {
		return -1
	}
	stop := p.partner(q)
	name := p.toks[i-2].text
	d := &def{toks: p.toks, start: i, name: i - 2, open: open, close: close, knr: -1, init: -1, body: q, end: stop}
	span := source.Span{Start: p.toks[i].span.Start, End: max(p.toks[stop].span.End, p.toks[i].span.End)}
	first := i - 2 // its line is that of the statement that binds it
	for first > 0 && !p.toks[first-1].is(";") && !p.toks[first-1].is("{") && !p.toks[first-1].is("}") && p.toks[first-1].kind == tIdent {
		first--
	}
	d.decl = &lang.Decl{Name: name, QualifiedName: sc.prefix + name, Kind: ir.FuncLambda, Span: span,
		Line: o.t.f.Line(p.toks[i-2].span.Start), EndLine: o.t.f.LastLine(span)}
	at := o.add(d, sc.parent)
	o.local(p, q+1, stop, scope{prefix: d.decl.QualifiedName + "::", parent: at, local: true})
	return stop
}

// lostEnd finds the end of a function whose braces do not match: the next } at
// the beginning of a line, as most layouts have it.
func (o *outliner) lostEnd(p *parser, h *header, from int) int {
	if len(h.cands) == 0 {
		return -1
	}
	for i := p.i + 1; i < p.end; i++ {
		t := p.at(i)
		if t.is("}") && o.t.f.Pos(t.span.Start).Col == 0 && !t.made {
			return i
		}
	}
	return -1
}

// broken takes a function whose braces do not match, up to end.
func (o *outliner) broken(p *parser, h *header, from, end int, sc scope) []item {
	open := p.i
	o.t.errors = append(o.t.errors, p.toks[open].span)
	// read alone, its brackets pair anew
	piece := append([]token(nil), p.toks[from:end+1]...)
	pairs(piece)
	q := o.parser(piece)
	q.toks[open-from].pair = int32(end - open)
	q.toks[end-from].pair = int32(open - end)
	q.i = open - from
	shifted := header{class: -1, init: -1, operator: -1, try: false}
	for _, c := range h.cands {
		c.name -= from
		c.open -= from
		c.close -= from
		shifted.cands = append(shifted.cands, c)
	}
	if h.operator >= 0 {
		shifted.operator = h.operator - from
	}
	items := o.function(q, &shifted, 0, -1, sc)
	p.i = end + 1
	return items
}
