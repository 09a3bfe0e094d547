package c

import (
	"flowplan/internal/source"
)

// parser reads statements from a list of tokens. It never fails: what it does
// not understand becomes an sOpaque statement or an eBad expression.
type parser struct {
	data    []byte
	toks    []token
	i, end  int
	cpp     bool
	m       *macros
	types   map[string]bool // names that are known to be types
	names   map[string]bool // variables declared so far
	depth   int
	inMacro int // an expansion is being read
}

// maxDepth bounds how deep statements and expressions nest before the rest is
// given up.
const maxDepth = 400

func (p *parser) sub(toks []token) *parser {
	return &parser{data: p.data, toks: toks, end: len(toks), cpp: p.cpp, m: p.m, types: p.types, names: p.names, depth: p.depth, inMacro: p.inMacro}
}

var eof = token{kind: tEOF}

func (p *parser) tok() *token { return p.at(p.i) }

func (p *parser) at(i int) *token {
	if i >= 0 && i < p.end {
		return &p.toks[i]
	}
	return &eof
}

func (p *parser) is(text string) bool { return p.tok().is(text) }

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.i++
		return true
	}
	return false
}

// partner is the index of the bracket that fits the one at i, or -1.
func (p *parser) partner(i int) int {
	if t := p.at(i); t.pair != 0 {
		if j := i + int(t.pair); j < p.end {
			return j
		}
	}
	return -1
}

// skipTo moves behind the next ; at this depth, or before the } that ends the
// block.
func (p *parser) skipTo() {
	for p.i < p.end {
		t := p.tok()
		if t.group != nil {
			return
		}
		switch t.text {
		case ";":
			if t.kind == tPunct {
				p.i++
				return
			}
		case "}":
			if t.kind == tPunct {
				return
			}
		case "(", "[", "{":
			if j := p.partner(p.i); j > p.i && t.kind == tPunct {
				brace := t.text == "{"
				p.i = j + 1
				if brace {
					if p.is(";") {
						p.i++
					}
					return
				}
				continue
			}
		}
		p.i++
	}
}

func spanOf(toks []token) source.Span {
	if len(toks) == 0 {
		return source.Span{}
	}
	s := toks[0].span
	for i := range toks {
		if toks[i].span.Start < s.Start {
			s.Start = toks[i].span.Start
		}
		if toks[i].span.End > s.End {
			s.End = toks[i].span.End
		}
	}
	return s
}

// statements reads up to the end or a } that closes what is around.
func (p *parser) statements() []*stmt {
	var out []*stmt
	for p.i < p.end {
		if p.is("}") {
			if p.tok().pair != 0 { // its partner is outside: the end
				break
			}
			p.i++ // one too many
			continue
		}
		before := p.i
		out = append(out, p.statement()...)
		if p.i == before {
			p.i++
		}
	}
	return out
}

func one(s *stmt) []*stmt { return []*stmt{s} }

func (p *parser) begin(kind stmtKind) *stmt {
	return &stmt{kind: kind, start: *p.tok(), made: p.tok().made}
}

// finish ends a simple statement or header at the token before p.i.
func (p *parser) finish(s *stmt, from int) *stmt {
	end := p.i
	if end > from+1 && p.at(end-1).is(";") {
		end--
	}
	s.head = p.toks[from:max(end, from)]
	s.span = spanOf(s.head)
	s.whole = spanOf(p.toks[from:max(p.i, from)])
	return s
}

func (p *parser) opaque(from int, reason string) []*stmt {
	if p.i <= from {
		p.i = from + 1
	}
	s := &stmt{kind: sOpaque, start: *p.at(from), reason: reason}
	return one(p.finish(s, from))
}

// statement reads one statement; a label comes with none behind it.
func (p *parser) statement() []*stmt {
	p.depth++
	defer func() { p.depth-- }()
	from := p.i
	if p.depth > maxDepth {
		p.skipTo()
		return p.opaque(from, "nested too deeply")
	}
	p.attributes()
	t := p.tok()
	if t.kind == tEOF {
		return nil
	}
	if t.kind == tDirective {
		return p.directive()
	}
	if t.kind == tPunct {
		switch t.text {
		case "{":
			return p.block()
		case ";":
			p.i++
			return one(&stmt{kind: sEmpty, start: *t, head: p.toks[from:p.i], span: t.span, whole: t.span})
		}
	}
	if t.kind == tIdent {
		if s, ok := p.keyword(from); ok {
			return s
		}
		if p.at(p.i+1).is(":") && !isKeyword(t.text) && !(p.cpp && isAccess(t.text)) {
			s := p.begin(sLabel)
			s.label = t.text
			p.i += 2
			p.finish(s, from)
			p.attributes()
			return one(s)
		}
		if s := p.macroStatement(from); s != nil {
			return one(s)
		}
	}
	if p.isDeclaration() {
		return p.declarationStatement(from)
	}
	return p.expressionStatement(from)
}

func isAccess(s string) bool {
	return s == "public" || s == "private" || s == "protected" || s == "default"
}

// attributes passes over attributes that stand before a statement.
func (p *parser) attributes() {
	for {
		switch {
		case p.cpp && p.is("[") && p.at(p.i+1).is("[") && p.partner(p.i) > 0,
			!p.cpp && p.is("[") && p.at(p.i+1).is("[") && p.partner(p.i) > 0:
			p.i = p.partner(p.i) + 1
		case p.is("__extension__"):
			p.i++
		case (p.is("__attribute__") || p.is("__attribute")) && p.at(p.i+1).is("(") && p.partner(p.i+1) > 0:
			p.i = p.partner(p.i+1) + 1
		default:
			return
		}
	}
}

func (p *parser) directive() []*stmt {
	t := p.tok()
	from := p.i
	if t.group != nil {
		p.i++
		s := &stmt{kind: sConfig, start: *t, group: t.group, span: t.span, whole: t.span, head: p.toks[from:p.i]}
		for _, a := range t.group.arms {
			q := p.sub(a.toks)
			s.arms = append(s.arms, configArm{head: a.head, body: q.statements()})
		}
		return one(s)
	}
	p.i++
	if name, _ := directiveName(t.text); name == "include" {
		s := &stmt{kind: sImport, start: *t}
		return one(p.finish(s, from))
	}
	return nil
}

func (p *parser) block() []*stmt {
	from := p.i
	close := p.partner(p.i)
	s := p.begin(sBlock)
	if close < 0 {
		p.i++
		s.body = p.statements()
		p.finish(s, from)
		return one(s)
	}
	s.body = p.within(p.i+1, close)
	p.i = close + 1
	s.head = p.toks[from : from+1]
	s.span = p.at(from).span
	s.whole = source.Span{Start: p.at(from).span.Start, End: p.at(close).span.End}
	return one(s)
}

// within reads the statements between two indices.
func (p *parser) within(from, to int) []*stmt {
	i, end := p.i, p.end
	p.i, p.end = from, to
	out := p.statements()
	p.i, p.end = i, end
	return out
}

// arm reads the statement that an if, loop or else governs.
func (p *parser) arm() []*stmt {
	if p.i >= p.end || p.is("}") {
		return nil
	}
	for { // directives and labels do not count
		before := p.i
		out := p.statement()
		if p.i == before {
			p.i++
		}
		if len(out) == 0 && p.i < p.end && !p.is("}") {
			continue
		}
		if len(out) > 0 && (out[len(out)-1].kind == sLabel || out[len(out)-1].kind == sCase) {
			return append(out, p.arm()...)
		}
		if len(out) == 1 && out[0].kind == sBlock {
			return out[0].body
		}
		return out
	}
}

// keyword reads a statement that begins with a keyword of its own.
func (p *parser) keyword(from int) ([]*stmt, bool) {
	t := p.tok()
	switch t.text {
	case "if":
		return p.ifStatement(from), true
	case "while":
		return p.whileStatement(from), true
	case "for":
		return p.forStatement(from), true
	case "do":
		return p.doStatement(from), true
	case "switch":
		return p.switchStatement(from), true
	case "case":
		return p.caseLabel(from), true
	case "default":
		if p.at(p.i + 1).is(":") {
			s := p.begin(sCase)
			s.isDefault = true
			p.i += 2
			p.finish(s, from)
			return one(s), true
		}
	case "goto":
		s := p.begin(sGoto)
		p.i++
		if p.accept("*") {
			s.value = p.expression()
		} else if p.tok().kind == tIdent {
			s.label = p.tok().text
			p.i++
		}
		p.semicolon()
		return one(p.finish(s, from)), true
	case "break", "continue":
		s := p.begin(sBreak)
		if t.text == "continue" {
			s.kind = sContinue
		}
		p.i++
		p.semicolon()
		return one(p.finish(s, from)), true
	case "return", "co_return":
		if t.text == "co_return" && !p.cpp {
			return nil, false
		}
		s := p.begin(sReturn)
		s.co = t.text == "co_return"
		p.i++
		if !p.is(";") && p.i < p.end && !p.is("}") {
			s.value = p.initialiser()
		}
		if !p.semicolon() {
			p.skipTo()
			s.value = &expr{kind: eBad, toks: p.toks[from:p.i]}
		}
		return one(p.finish(s, from)), true
	case "else":
		p.i++
		s := p.opaque(from, "an else without its if")
		return s, true
	case "try", "__try":
		if p.at(p.i+1).is("{") && (p.cpp || t.text == "__try") {
			return p.tryStatement(from), true
		}
	case "asm", "__asm__", "__asm":
		return p.asmStatement(from), true
	case "typedef":
		p.i++
		p.typedefNames()
		p.skipDeclaration()
		s := &stmt{kind: sPlain, start: p.toks[from]}
		return one(p.finish(s, from)), true
	case "_Static_assert", "static_assert":
		p.skipDeclaration()
		s := &stmt{kind: sPlain, start: p.toks[from]}
		return one(p.finish(s, from)), true
	case "using", "namespace":
		if p.cpp {
			s := &stmt{kind: sPlain, start: *t}
			if p.at(p.i + 1).is("namespace") {
				s.kind = sImport
			} else if t.text == "using" && p.at(p.i+2).is("=") {
				p.types[p.at(p.i+1).text] = true
			}
			p.skipDeclaration()
			return one(p.finish(s, from)), true
		}
	case "__label__":
		p.skipDeclaration()
		return nil, true
	case "template":
		if p.cpp {
			p.i++
			if p.is("<") {
				if j := p.angle(p.i); j > 0 {
					p.i = j + 1
				}
			}
			return p.statement(), true
		}
	}
	return nil, false
}

// skipDeclaration moves behind the ; that ends a declaration, over its braces.
func (p *parser) skipDeclaration() {
	for p.i < p.end {
		t := p.tok()
		if t.kind == tPunct {
			switch t.text {
			case ";":
				p.i++
				return
			case "}":
				return
			case "(", "[", "{":
				if j := p.partner(p.i); j > 0 {
					p.i = j
				}
			}
		}
		p.i++
	}
}

// typedefNames notes the name that a typedef defines: the last one before its
// semicolon, or the one after (*.
func (p *parser) typedefNames() {
	depth := 0
	last := ""
	for i := p.i; i < p.end; i++ {
		t := p.at(i)
		if t.kind == tPunct {
			switch t.text {
			case "{", "[":
				if j := p.partner(i); j > 0 {
					i = j
				}
				continue
			case "(":
				if p.at(i+1).is("*") && p.at(i+2).kind == tIdent && depth == 0 {
					p.types[p.at(i+2).text] = true
				}
				if j := p.partner(i); j > 0 {
					i = j
				}
				continue
			case ",":
				if last != "" {
					p.types[last] = true
				}
			case ";":
				if last != "" {
					p.types[last] = true
				}
				return
			}
		}
		if t.kind == tIdent {
			last = t.text
		}
	}
}

// semicolon accepts the end of a statement; a } or a new line after something
// that reads as a macro's call will do.
func (p *parser) semicolon() bool {
	if p.accept(";") {
		return true
	}
	return p.i >= p.end || p.is("}")
}

// condition reads ( condition ) of an if, while or switch; in C++ it may begin
// with a statement, or be a declaration.
func (p *parser) condition(s *stmt) bool {
	if p.tok().kind == tIdent && p.at(p.i+1).is("(") && p.partner(p.i+1) > 0 { // if MACRO(x), with the parentheses in the macro
		close := p.partner(p.i + 1)
		end := p.end
		p.end = close + 1
		s.value = p.expression()
		p.end = end
		p.i = close + 1
		return true
	}
	if !p.is("(") {
		return false
	}
	close := p.partner(p.i)
	if close < 0 {
		return false
	}
	end := p.end
	p.i++
	p.end = close
	defer func() { p.end = end; p.i = close + 1 }()
	if p.cpp {
		if j := p.findSemicolon(); j >= 0 {
			at := p.i
			if p.accept(";") {
				s.init = nil
			} else {
				p.end = j + 1
				if init := p.statement(); len(init) == 1 {
					s.init = init[0]
				}
				p.end = close
			}
			p.i = max(j+1, at)
		}
		if p.isDeclaration() {
			s.decl = p.declaration()
			return true
		}
	}
	s.value = p.expression()
	return p.i >= close
}

// findSemicolon is the index of a ; at this depth, or -1.
func (p *parser) findSemicolon() int {
	for i := p.i; i < p.end; i++ {
		t := p.at(i)
		if t.kind != tPunct {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			if j := p.partner(i); j > 0 {
				i = j
			}
		case ";":
			return i
		}
	}
	return -1
}

// header ends a compound statement's header at p.i.
func (p *parser) header(s *stmt, from int) {
	s.head = p.toks[from:p.i]
	s.span = spanOf(s.head)
}

func (p *parser) end_(s *stmt, from int) []*stmt {
	s.whole = spanOf2(p.toks, from, p.i)
	return one(s)
}

// spanOf2 is the span from one token to another.
func spanOf2(toks []token, from, to int) source.Span {
	if to <= from || to > len(toks) {
		to = min(from+1, len(toks))
	}
	if from >= len(toks) {
		return source.Span{}
	}
	return source.Span{Start: toks[from].span.Start, End: max(toks[to-1].span.End, toks[from].span.End)}
}

func (p *parser) ifStatement(from int) []*stmt {
	s := p.begin(sIf)
	p.i++
	if p.cpp {
		s.isConst = p.accept("constexpr") || p.accept("consteval")
		if p.accept("!") {
			p.accept("consteval")
		}
		if !p.is("(") && p.is("{") { // if consteval
			s.value = &expr{kind: eConst, toks: p.toks[p.i-1 : p.i]}
			return p.ifArms(s, from)
		}
	}
	if !p.condition(s) {
		return p.badHeader(s, from)
	}
	// if (x) UNLIKELY {
	return p.ifArms(s, from)
}

func (p *parser) ifArms(s *stmt, from int) []*stmt {
	p.header(s, from)
	p.attributes()
	s.body = p.arm()
	if p.is("else") {
		p.i++
		s.hasElse = true
		p.attributes()
		isIf := p.is("if")
		s.orelse = p.arm()
		s.elseIf = isIf && len(s.orelse) == 1 && s.orelse[0].kind == sIf
	}
	return p.end_(s, from)
}

// badHeader gives up a compound statement whose header cannot be read: the
// header is opaque, what follows is read on its own.
func (p *parser) badHeader(s *stmt, from int) []*stmt {
	if p.is("(") {
		if j := p.partner(p.i); j > 0 {
			p.i = j + 1
		} else { // never closed: what stands on its line is the header
			for p.i++; p.i < p.end && !p.is("{") && !p.is(";") && !p.is("}") && !p.tok().first; {
				p.i++
			}
			return p.opaque(from, "a header whose parentheses are not closed")
		}
	}
	if s.value != nil || p.i > from+1 { // the parentheses are there, what is in them is not understood
		s.value = &expr{kind: eBad, toks: p.toks[from:p.i]}
		s.decl = nil
		switch s.kind {
		case sIf:
			return p.ifArms(s, from)
		case sWhile, sSwitch:
			p.header(s, from)
			s.body = p.arm()
			return p.end_(s, from)
		}
	}
	return p.opaque(from, "a header without its parentheses")
}

func (p *parser) whileStatement(from int) []*stmt {
	s := p.begin(sWhile)
	p.i++
	if !p.condition(s) {
		return p.badHeader(s, from)
	}
	p.header(s, from)
	s.body = p.arm()
	return p.end_(s, from)
}

func (p *parser) switchStatement(from int) []*stmt {
	s := p.begin(sSwitch)
	p.i++
	if !p.condition(s) {
		return p.badHeader(s, from)
	}
	p.header(s, from)
	s.body = p.arm()
	return p.end_(s, from)
}

func (p *parser) doStatement(from int) []*stmt {
	s := p.begin(sDo)
	p.i++
	s.body = p.arm()
	head := p.i
	if !p.is("while") {
		// do { ... } without its while: a macro holds it, or something is missing
		if p.i < p.end && p.tok().kind == tIdent && p.at(p.i+1).is("(") {
			if s2 := p.macroWhile(s, from); s2 != nil {
				return s2
			}
		}
		b := &stmt{kind: sBlock, start: s.start, body: s.body, head: p.toks[from : from+1], span: p.at(from).span}
		b.whole = spanOf2(p.toks, from, p.i)
		o := &stmt{kind: sOpaque, start: s.start, head: p.toks[from : from+1], span: p.at(from).span, reason: "a do without its while"}
		o.whole = o.span
		return []*stmt{o, b}
	}
	s.start = *p.tok()
	s.made = s.start.made
	p.i++
	if !p.condition(s) {
		s.value = &expr{kind: eBad, toks: p.toks[head:p.i]}
	}
	p.header(s, head)
	p.accept(";")
	return p.end_(s, from)
}

// macroWhile reads do { ... } MACRO(x); where the macro is not known.
func (p *parser) macroWhile(s *stmt, from int) []*stmt {
	close := p.partner(p.i + 1)
	if close < 0 || !isMacroName(p.tok().text) {
		return nil
	}
	head := p.i
	s.start = *p.tok()
	s.value = &expr{kind: eConst, toks: p.toks[head : close+1]}
	p.i = close + 1
	p.header(s, head)
	p.accept(";")
	return p.end_(s, from)
}

func (p *parser) forStatement(from int) []*stmt {
	s := p.begin(sFor)
	p.i++
	if p.accept("co_await") {
		s.co = true
	}
	if p.tok().kind == tIdent && p.at(p.i+1).is("(") { // for each (...)
		p.i++
	}
	if !p.is("(") {
		return p.opaque(from, "a header without its parentheses")
	}
	close := p.partner(p.i)
	if close < 0 {
		return p.opaque(from, "a header without its parentheses")
	}
	end := p.end
	p.i++
	p.end = close
	bad := false
	if p.cpp && p.rangeFor(s) {
		s.kind = sRange
	} else if p.findSemicolon() < 0 { // for (MACRO(x)): a loop all the same
		s.kind = sRange
		s.value = p.expression()
		bad = p.i < close
	} else {
		if !p.accept(";") {
			init := p.i
			if st := p.statement(); len(st) == 1 {
				s.init = st[0]
				s.init.whole = spanOf2(p.toks, init, p.i)
			} else {
				bad = true
			}
		}
		if !p.is(";") {
			if p.cpp && p.isDeclaration() {
				s.decl = p.declaration()
			} else {
				s.value = p.expression()
			}
		}
		if !p.accept(";") {
			bad = true
		}
		if p.i < p.end {
			post := p.i
			st := p.begin(sExpr)
			st.value = p.expression()
			if p.i < close {
				bad = true
			}
			p.i = close
			s.post = p.finish(st, post)
		}
	}
	p.end = end
	p.i = close + 1
	p.header(s, from)
	if bad {
		s.reason = "the header could not be read"
	}
	s.body = p.arm()
	return p.end_(s, from)
}

// rangeFor reads `T x : range` with its initialiser, if the header is that.
func (p *parser) rangeFor(s *stmt) bool {
	colon, semicolon, question := -1, -1, 0
	for i := p.i; i < p.end; i++ {
		t := p.at(i)
		if t.kind != tPunct {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			if j := p.partner(i); j > 0 {
				i = j
			}
		case "?":
			question++
		case ":":
			if question > 0 {
				question--
			} else if colon < 0 {
				colon = i
			}
		case ";":
			semicolon = i
		}
	}
	if colon < 0 || semicolon > colon {
		return false
	}
	if semicolon >= 0 {
		if st := p.statement(); len(st) == 1 {
			s.init = st[0]
		}
		p.i = semicolon + 1
	}
	end := p.end
	p.end = colon
	s.decl = p.declaration()
	p.end = end
	p.i = colon + 1
	s.value = p.initialiser()
	return true
}

func (p *parser) caseLabel(from int) []*stmt {
	s := p.begin(sCase)
	p.i++
	s.value = p.conditional()
	if p.accept("...") {
		p.conditional()
	}
	if !p.accept(":") {
		// what stands up to the colon is not understood; the label is known all the same
		for p.i < p.end && !p.is(":") && !p.is(";") && !p.is("}") && !p.is("{") {
			p.i++
		}
		if !p.accept(":") {
			return p.opaque(from, "a case without its colon")
		}
	}
	p.finish(s, from)
	return one(s)
}

func (p *parser) tryStatement(from int) []*stmt {
	s := p.begin(sTry)
	p.i++
	s.head = p.toks[from:p.i]
	s.span = s.start.span
	s.body = p.arm()
	s.catches = p.catchClauses()
	if p.is("__finally") && p.at(p.i+1).is("{") {
		p.i++
		s.orelse = p.block()[0].body
	}
	return p.end_(s, from)
}

func (p *parser) catchClauses() []*catch {
	var out []*catch
	for p.is("catch") || p.is("__catch") || p.is("__except") {
		c := &catch{start: *p.tok()}
		c.all = p.is("__except")
		head := p.i
		p.i++
		if close := p.partner(p.i); p.is("(") && close > 0 {
			if p.at(p.i + 1).is("...") {
				c.all = true
			} else {
				ps := p.params(p.i, close)
				if len(ps) > 0 {
					c.param = ps[0]
				}
			}
			p.i = close + 1
		}
		c.head = p.toks[head:p.i]
		c.span = spanOf(c.head)
		if p.is("{") {
			b := p.block()
			c.body = b[0].body
		}
		out = append(out, c)
	}
	return out
}

func (p *parser) asmStatement(from int) []*stmt {
	s := p.begin(sAsm)
	p.i++
	for p.is("volatile") || p.is("__volatile__") || p.is("__volatile") || p.is("goto") || p.is("inline") {
		p.i++
	}
	switch {
	case p.is("("):
		close := p.partner(p.i)
		if close < 0 {
			p.skipTo()
			return p.opaque(from, "an asm without its parentheses")
		}
		s.asm, s.names = p.asmOperands(p.i+1, close)
		p.i = close + 1
	case p.is("{"):
		if j := p.partner(p.i); j > 0 {
			p.i = j + 1
		}
	}
	p.accept(";")
	return one(p.finish(s, from))
}

// asmOperands reads "..." : outputs : inputs : clobbers : labels.
func (p *parser) asmOperands(from, to int) (ops []asmOperand, labels []string) {
	i, end := p.i, p.end
	defer func() { p.i, p.end = i, end }()
	p.i, p.end = from, to
	section := 0
	for p.i < p.end {
		t := p.tok()
		switch {
		case t.is("::"):
			section += 2
			p.i++
		case t.is(":"):
			section++
			p.i++
		case t.kind == tString && p.at(p.i+1).is("(") && section >= 1 && section <= 2:
			close := p.partner(p.i + 1)
			if close < 0 {
				return ops, labels
			}
			q := asmOperand{in: section == 2, out: section == 1}
			for _, c := range t.text {
				q.in = q.in || c == '+'
			}
			p.i += 2
			p.end = close
			q.value = p.expression()
			p.end = to
			p.i = close + 1
			ops = append(ops, q)
		case section == 4 && t.kind == tIdent:
			labels = append(labels, t.text)
			p.i++
		default:
			p.i++
		}
	}
	return ops, labels
}

// macroStatement reads a call of a macro that is whole statements, or a call
// that stands where a statement stands and has no semicolon.
func (p *parser) macroStatement(from int) *stmt {
	t := p.tok()
	c, known := p.m.callAt(p.toks[:p.end], p.i, nil)
	if known && (p.m.shapeOf(c.m) == shapeStatement || len(c.m.body) == 0) {
		if len(c.m.body) == 0 && !p.at(c.end).is(";") && !c.m.function { // an empty attribute before something
			return nil
		}
		if len(c.m.body) == 0 && c.m.function && !p.at(c.end).is(";") && !p.at(c.end).first {
			return nil
		}
		s := p.begin(sMacro)
		s.value = p.callExpr(c)
		s.value.body = p.expansion(c, t.span.Start, p.at(c.end-1).span.End)
		p.i = c.end
		p.accept(";")
		return p.finish(s, from)
	}
	if known && c.m.headers {
		s := p.begin(sRange)
		s.made = true
		s.value = p.callExpr(c)
		s.value.body = p.expansion(c, t.span.Start, p.at(c.end-1).span.End)
		p.i = c.end
		p.header(s, from)
		s.body = p.arm()
		s.whole = spanOf2(p.toks, from, p.i)
		return s
	}
	if known && p.m.shapeOf(c.m) == shapeValue && (!c.m.function || !p.at(c.end).is("{") && !p.startsStatement(c.end)) {
		return nil
	}
	// FOREACH(x) { ... } of a macro that is not known
	if p.at(p.i+1).is("(") && !isKeyword(t.text) {
		close := p.partner(p.i + 1)
		if close > 0 && p.at(close+1).is("{") && !p.types[t.text] {
			s := p.begin(sRange)
			s.value = p.unknownCall(close)
			p.i = close + 1
			p.header(s, from)
			s.body = p.arm()
			s.whole = spanOf2(p.toks, from, p.i)
			return s
		}
		if close > 0 && isMacroName(t.text) && p.startsStatement(close+1) {
			s := p.begin(sExpr)
			s.value = p.unknownCall(close)
			p.i = close + 1
			return p.finish(s, from)
		}
	}
	// BEGIN_SOMETHING alone on its line
	if next := p.at(p.i + 1); isMacroName(t.text) && t.first && next.first && next.kind == tIdent && !p.types[t.text] &&
		(p.names[next.text] || !p.declares(p.i+2)) {
		s := p.begin(sExpr)
		s.value = &expr{kind: eName, val: t.text, toks: p.toks[p.i : p.i+1]}
		p.i++
		return p.finish(s, from)
	}
	return nil
}

// declares reports what follows a declared name.
func (p *parser) declares(i int) bool {
	t := p.at(i)
	return t.is("=") || t.is(";") || t.is(",") || t.is("[")
}

// unknownCall reads a macro's call up to its closing parenthesis.
func (p *parser) unknownCall(close int) *expr {
	end := p.end
	p.end = close + 1
	e := p.postfix()
	if p.i < p.end {
		e = &expr{kind: eCall, kids: []*expr{{kind: eName, val: p.tok().text, toks: p.toks[p.i : p.i+1]}}, toks: p.toks[p.i:p.end]}
	}
	p.end = end
	return e
}

// startsStatement reports whether the token at i, on a new line, can only
// begin another statement.
func (p *parser) startsStatement(i int) bool {
	t := p.at(i)
	if t.kind == tEOF || t.is("}") || t.kind == tDirective {
		return true
	}
	if t.kind == tIdent {
		switch t.text {
		case "and", "or", "xor", "bitand", "bitor", "not_eq":
			return !p.cpp
		}
		return t.first || isStatementWord(t.text)
	}
	return t.first && (t.is("{") && false || t.is("*") || t.is("++") || t.is("--") || t.is("(") && false)
}

// callExpr is a macro's call as an expression, for its text.
func (p *parser) callExpr(c call) *expr {
	return &expr{kind: eMacro, val: c.m.name, toks: p.toks[p.i:c.end]}
}

// expansion reads what a call stands for as statements.
func (p *parser) expansion(c call, start, end int) []*stmt {
	if p.inMacro > 8 {
		return nil
	}
	toks, ok := p.m.expand(c, source.Span{Start: start, End: end})
	if !ok {
		return nil
	}
	toks = append(toks, token{kind: tPunct, text: ";", span: source.Span{Start: start, End: end}, made: true})
	pairs(toks)
	q := p.sub(toks)
	q.m = nil // all of it is expanded
	q.inMacro++
	return q.statements()
}

func (p *parser) declarationStatement(from int) []*stmt {
	s := p.begin(sDecl)
	s.decl = p.declaration()
	// a definition of a type and nothing more
	if s.decl.type_ != nil && len(s.decl.items) == 0 {
		s.kind = sClass
	}
	if s.decl.typedef {
		s.kind = sPlain
	}
	if !p.semicolon() {
		if p.startsStatement(p.i) && len(s.decl.items) > 0 { // MACRO_ENDS_IT without a semicolon
			return one(p.finish(s, from))
		}
		p.skipTo()
		return p.opaque(from, "a declaration that could not be read")
	}
	return one(p.finish(s, from))
}

func (p *parser) expressionStatement(from int) []*stmt {
	s := p.begin(sExpr)
	s.value = p.expression()
	if !p.semicolon() {
		if p.i > from && p.startsStatement(p.i) && endsAlone(s.value) {
			return one(p.finish(s, from))
		}
		p.skipTo()
		return p.opaque(from, "a statement that could not be read")
	}
	return one(p.finish(s, from))
}

// endsAlone reports whether an expression may be a macro's call that needs no
// semicolon.
func endsAlone(e *expr) bool {
	switch e.kind {
	case eCall, eMacro:
		return true
	case eName:
		return isMacroName(e.val)
	}
	return false
}
