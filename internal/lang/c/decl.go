package c

// isDeclaration reports whether a declaration begins here rather than an
// expression.
func (p *parser) isDeclaration() bool {
	j, sure := p.skipSpecifiers(p.i)
	if j <= p.i {
		return false
	}
	if sure {
		// int(x) + 1; is an expression of C++, unsigned long(x) too
		if p.cpp && p.at(j).is("(") && !p.declaresParenthesised(j) && isBuiltin(p.at(j-1).text, true) {
			return false
		}
		if p.cpp && p.at(j).is("{") && isBuiltin(p.at(j-1).text, true) {
			return false
		}
		return true
	}
	// a type that is only a name: what follows decides
	name := p.at(p.i)
	if p.names[name.text] && !p.at(p.i+1).is("::") && !p.types[name.text] {
		return false
	}
	t := p.at(j)
	switch {
	case t.kind == tIdent:
		if t.text == "operator" {
			return false
		}
		return !(p.cpp && isOperatorWord(t.text)) && (!isKeyword(t.text) && !isCppKeyword(t.text) || isSpecifier(t.text, p.cpp))
	case t.is("*"), t.is("&") && p.cpp, t.is("&&") && p.cpp, t.is("^"):
		if t.is("^") {
			return false
		}
		known := p.types[p.at(j-1).text]
		k := j
		for p.at(k).is("*") || p.at(k).is("&") || p.at(k).is("&&") || isSpecifier(p.at(k).text, p.cpp) && p.at(k).kind == tIdent {
			k++
		}
		if p.cpp && p.at(k).is("[") && t.text != "*" {
			return false
		}
		if p.at(k).is("(") && p.at(k+1).is("*") { // T *(*fp)(int)
			return true
		}
		if p.at(k).kind != tIdent || isKeyword(p.at(k).text) {
			return false
		}
		n := p.at(k + 1)
		switch {
		case n.is("="), n.is(";"), n.is(","), n.is("["), n.is(":") && p.cpp, n.kind == tEOF:
			if t.is("&&") {
				return n.is("=") || n.is(":") || n.kind == tEOF
			}
			if n.is(",") && p.names[p.at(k).text] && !known {
				return false
			}
			return true
		case n.is("{"), n.is("("):
			return p.cpp && (t.text == "*" || known || n.is("{") && t.is("&"))
		case n.kind == tIdent: // T *x ATTRIBUTE
			return !(p.cpp && isOperatorWord(n.text))
		}
		return known
	case t.is("("):
		return p.declaresParenthesised(j) && (p.types[p.at(j-1).text] || p.at(j+2).kind == tIdent && !p.names[p.at(j+2).text])
	}
	return false
}

func isOperatorWord(s string) bool {
	switch s {
	case "and", "or", "xor", "bitand", "bitor", "not_eq", "and_eq", "or_eq", "xor_eq":
		return true
	}
	return false
}

// declaresParenthesised reports ( * name ... ) followed by what makes it a
// pointer to a function or array.
func (p *parser) declaresParenthesised(i int) bool {
	close := p.partner(i)
	if close < 0 {
		return false
	}
	k := i + 1
	for p.at(k).is("*") || p.at(k).is("&") || p.at(k).is("^") || p.at(k).kind == tIdent && (isSpecifier(p.at(k).text, p.cpp) || p.at(k+1).is("::") && p.at(k+2).is("*")) {
		if p.at(k + 1).is("::") {
			k++
		}
		k++
	}
	if k == i+1 || p.at(k).kind != tIdent {
		return false
	}
	n := p.at(close + 1)
	return n.is("(") || n.is("[")
}

// skipSpecifiers passes over the specifiers of a declaration from i. sure says
// that nothing but a declaration begins so; otherwise the type is only a name.
func (p *parser) skipSpecifiers(i int) (next int, sure bool) {
	typed := false // a type has been seen
	for i < p.end {
		t := p.at(i)
		if t.kind == tPunct {
			if t.text == "[" && p.at(i+1).is("[") && p.partner(i) > 0 {
				i = p.partner(i) + 1
				continue
			}
			if t.text == "::" && p.cpp && !typed && p.at(i+1).kind == tIdent {
				i++
				continue
			}
			return i, sure
		}
		if t.kind != tIdent {
			return i, sure
		}
		switch {
		case isBuiltin(t.text, p.cpp):
			typed, sure = true, true
			i++
		case takesParens(t.text) && p.at(i+1).is("("):
			if j := p.partner(i + 1); j > 0 {
				if t.text == "decltype" && p.at(j+1).is("::") || t.text == "decltype" && (p.at(j+1).is("(") || p.at(j+1).is("{")) {
					return i, sure
				}
				switch t.text {
				case "typeof", "__typeof__", "__typeof", "typeof_unqual", "decltype", "_BitInt", "__underlying_type", "_Atomic":
					typed, sure = true, true
				}
				i = j + 1
				continue
			}
			return i, sure
		case t.text == "typename" && p.cpp:
			sure = true
			i++
		case t.text == "auto":
			typed, sure = true, true
			i++
		case isSpecifier(t.text, p.cpp):
			sure = true
			i++
		case t.text == "explicit" && p.at(i+1).is("("):
			i = max(p.partner(i+1), i) + 1
		case t.text == "struct" || t.text == "union" || t.text == "enum" || t.text == "class" && p.cpp:
			typed, sure = true, true
			i = p.skipTypeKeyword(i)
		case t.text == "__extension__":
			i++
		case p.m.qualifies(t):
			sure = true
			i++
		case isKeyword(t.text) || p.cpp && isCppKeyword(t.text):
			return i, sure
		case !typed:
			j := p.skipTypeName(i)
			if j < 0 {
				return i, sure
			}
			typed = true
			i = j
		default:
			// A second name: the declarator, unless yet another type or name follows,
			// as behind a macro.
			n := p.at(i + 1)
			if p.starDeclares(i+1) || n.is("*") && (p.at(i+2).kind == tEOF || p.at(i+2).is("*") || p.at(i+2).is(")")) {
				i++
				continue
			}
			if after := p.at(i + 2); p.m.qualifies(n) && (after.is("=") || after.is(";") || after.is(",")) { // T x UNUSED = 1;
				return i, sure
			}
			if n.kind == tIdent && !(p.cpp && isOperatorWord(n.text)) && !(p.cpp && n.text == "final") && !takesParens(n.text) && !isAsm(n.text) {
				i++
				sure = sure || isBuiltin(n.text, p.cpp) || isSpecifier(n.text, p.cpp)
				continue
			}
			return i, sure
		}
	}
	return i, sure
}

// starDeclares reports `* name =` and the like at i, behind two names: the
// second is a type then, and the first a macro.
func (p *parser) starDeclares(i int) bool {
	if !p.at(i).is("*") && !(p.cpp && p.at(i).is("&")) {
		return false
	}
	for p.at(i).is("*") || p.at(i).is("&") || p.at(i).kind == tIdent && isSpecifier(p.at(i).text, p.cpp) {
		i++
	}
	n := p.at(i + 1)
	return p.at(i).kind == tIdent && !isKeyword(p.at(i).text) && (n.is("=") || n.is(";") || n.is(",") || n.is("[") || n.is("(") || n.kind == tEOF)
}

func isAsm(s string) bool { return s == "asm" || s == "__asm__" || s == "__asm" }

// skipTypeKeyword passes over struct S { ... } and the like.
func (p *parser) skipTypeKeyword(i int) int {
	enum := p.at(i).text == "enum"
	i++
	if enum && (p.at(i).is("class") || p.at(i).is("struct")) {
		i++
	}
	for {
		t := p.at(i)
		switch {
		case takesParens(t.text) && p.at(i+1).is("(") && p.partner(i+1) > 0:
			i = p.partner(i+1) + 1
			continue
		case t.is("[") && p.at(i+1).is("[") && p.partner(i) > 0:
			i = p.partner(i) + 1
			continue
		case t.kind == tIdent && p.at(i+1).kind == tIdent && (p.at(i+2).is("{") || p.at(i+2).is(":")) && isMacroName(t.text): // struct PACKED S {
			i++
			continue
		}
		break
	}
	if p.at(i).is("::") {
		i++
	}
	if p.at(i).kind == tIdent {
		if j := p.skipTypeName(i); j > 0 {
			i = j
		}
	}
	if p.at(i).is("final") {
		i++
	}
	if p.at(i).is(":") { // bases, or an enum's type
		j := i + 1
		for j < p.end && !p.at(j).is("{") && !p.at(j).is(";") && !p.at(j).is(")") && !p.at(j).is("=") && !p.at(j).is(",") {
			if p.at(j).is("<") {
				if k := p.angle(j); k > 0 {
					j = k
				}
			}
			j++
			if p.at(j).is(",") && p.cpp && !enum {
				j++
			}
		}
		if p.at(j).is("{") {
			i = j
		}
	}
	if p.at(i).is("{") {
		if j := p.partner(i); j > 0 {
			i = j + 1
		}
	}
	return i
}

// skipTypeName passes over a name with its qualification and template
// arguments, or gives -1.
func (p *parser) skipTypeName(i int) int {
	if p.at(i).is("::") {
		i++
	}
	for {
		if p.at(i).kind != tIdent || isKeyword(p.at(i).text) {
			return -1
		}
		i++
		if !p.cpp {
			return i
		}
		if p.at(i).is("<") {
			j := p.angle(i)
			if j < 0 {
				return i
			}
			i = j + 1
		}
		if !p.at(i).is("::") {
			return i
		}
		if p.at(i + 1).is("template") {
			i++
		}
		if p.at(i + 1).is("*") { // a pointer to member
			return i
		}
		i++
		if p.at(i).is("~") || p.at(i).is("operator") {
			return -1
		}
	}
}

// angle is the index of the > that closes the template arguments opened at i,
// or -1 where < compares.
func (p *parser) angle(i int) int {
	if !p.cpp || !p.at(i).is("<") {
		return -1
	}
	if p.at(i-1).kind == tIdent && p.names[p.at(i-1).text] && !p.at(i-2).is("::") && !p.types[p.at(i-1).text] {
		return -1
	}
	depth := 0
	for j := i; j < p.end && j < i+2000; j++ {
		t := p.at(j)
		if t.kind == tString && depth == 0 {
			return -1
		}
		if t.kind != tPunct {
			if t.kind == tIdent && (isStatementWord(t.text) && t.text != "case") {
				return -1
			}
			continue
		}
		switch t.text {
		case "<":
			depth++
		case ">":
			if depth--; depth == 0 {
				return p.angleFits(j, i)
			}
		case ">>":
			if depth -= 2; depth <= 0 {
				if depth < 0 {
					return -1
				}
				return p.angleFits(j, i)
			}
		case ">=", ">>=":
			return -1
		case "(", "[", "{":
			k := p.partner(j)
			if k < 0 {
				return -1
			}
			j = k
		case ")", "]", "}", ";":
			return -1
		case "||", "+=", "-=", "++", "--", "?", "=":
			if t.text != "?" && t.text != "=" && t.text != "||" {
				return -1
			}
			if t.text == "||" && !p.valueArgs(i, j) {
				return -1
			}
			if t.text == "=" && depth == 1 && !p.inTemplateHead(i) {
				return -1
			}
		case "&&":
			// an rvalue reference ends an argument; else it compares
			if n := p.at(j + 1); !(n.is(">") || n.is(",") || n.is("...") || n.is(">>")) && !p.valueArgs(i, j) {
				return -1
			}
		}
	}
	return -1
}

// inTemplateHead reports `template <`, where parameters have defaults.
func (p *parser) inTemplateHead(i int) bool { return p.at(i - 1).is("template") }

// valueArgs reports whether a && or || between < and > stands among template
// arguments: it does in the head of a template, and behind a :: as in
// enable_if<A::value && B::value>.
func (p *parser) valueArgs(i, j int) bool {
	if p.inTemplateHead(i) {
		return true
	}
	for k := i + 1; k < j; k++ {
		if p.at(k).is("::") || p.at(k).is("<") || p.at(k).is("sizeof") {
			return true
		}
	}
	return false
}

// angleFits looks at what follows a closing >: a comparison goes on with an
// operand.
func (p *parser) angleFits(j, open int) int {
	n := p.at(j + 1)
	if n.kind == tNumber || n.kind == tString || n.kind == tChar {
		return -1
	}
	if n.kind == tIdent && p.names[n.text] && !p.at(j).is(">>") && !p.types[n.text] {
		// a < b > c with c a variable; a declaration would not name it again, but
		// for shadowing
		for k := open + 1; k < j; k++ {
			if p.at(k).kind == tIdent && (p.types[p.at(k).text] || isBuiltin(p.at(k).text, true)) {
				return j
			}
		}
		return -1
	}
	return j
}

// declaration reads specifiers and declarators up to the ; or whatever ends
// them.
func (p *parser) declaration() *declaration {
	d := &declaration{}
	first := p.i
	next, _ := p.skipSpecifiers(p.i)
	class := true
	inside := -1 // up to where template arguments go
	for i := first; i < next; i++ {
		t := p.at(i)
		switch t.text {
		case "static", "thread_local", "_Thread_local", "__thread":
			d.static = true
		case "extern":
			d.extern = true
		case "typedef":
			d.typedef = true
		case "constexpr":
			d.constexpr = true
		case "struct", "union", "enum", "class":
			if t.kind == tIdent {
				d.struct_ = t.text == "struct" || t.text == "union"
				d.integer = d.integer || t.text == "enum"
				d.type_ = p.typeDefinition(i, next)
				if d.type_ != nil && d.type_.name != "" && p.cpp {
					p.types[d.type_.name] = true
				}
			}
		case "int", "char", "short", "long", "float", "double", "signed", "unsigned", "_Bool", "bool":
			if i > inside { // of a template's arguments they say nothing
				class = false
				d.integer = true
			}
		}
		if t.is("{") {
			if j := p.partner(i); j > 0 && j < next {
				i = j
			}
		}
		if t.kind == tPunct && t.text == "<" {
			if j := p.angle(i); j > 0 && j < next {
				p.tight(i, j)
				inside = max(inside, j)
			}
		}
	}
	if last := p.at(next - 1); next > first && last.kind == tIdent {
		d.integer = d.integer || len(last.text) > 2 && last.text[len(last.text)-2:] == "_t"
	}
	p.i = next
	for p.i < p.end && !p.is(";") {
		it := p.declarator(class)
		if it == nil {
			break
		}
		d.items = append(d.items, it)
		if d.typedef {
			p.types[it.name] = true
		} else {
			if it.kind != kFunction && it.name != "" {
				p.names[it.name] = true
			}
			for _, n := range it.names {
				p.names[n] = true
			}
		}
		if !p.accept(",") {
			break
		}
	}
	return d
}

// tight marks angle brackets, so that texts have no space beside them.
func (p *parser) tight(i, j int) {
	if i >= 0 && j < len(p.toks) {
		p.toks[i].angle = true
		p.toks[j].angle = true
	}
}

// typeDefinition is the definition of a type that the keyword at i begins, or
// nil where the type is only named.
func (p *parser) typeDefinition(i, next int) *typeDef {
	d := &typeDef{keyword: p.at(i).text}
	for j := i + 1; j < next; j++ {
		t := p.at(j)
		if t.is("{") {
			close := p.partner(j)
			if close < 0 {
				return nil
			}
			d.open, d.close = j, close
			d.toks = p.toks[j+1 : close]
			return d
		}
		if t.is("(") {
			if k := p.partner(j); k > 0 {
				j = k
			}
			continue
		}
		if t.is(":") {
			for j < next && !p.at(j).is("{") {
				j++
			}
			j--
			continue
		}
		if t.kind == tIdent && t.text != "final" && t.text != "class" && t.text != "struct" && !takesParens(t.text) {
			if d.name != "" && !isMacroName(d.name) && !p.at(j-1).is("::") {
				return nil // enum x y
			}
			d.name = t.text
		}
	}
	return nil
}

// declarator reads one declarator with its initialiser, or gives nil.
func (p *parser) declarator(class bool) *declarator {
	it := &declarator{class: class}
	from := p.i
	if !p.declaratorName(it) {
		p.i = from
		return nil
	}
	for { // what stands between the name and the initialiser
		switch {
		case isAsm(p.tok().text) && p.at(p.i+1).is("(") && p.partner(p.i+1) > 0,
			takesParens(p.tok().text) && p.at(p.i+1).is("(") && p.partner(p.i+1) > 0:
			p.i = p.partner(p.i+1) + 1
			continue
		case p.is("[") && p.at(p.i+1).is("[") && p.partner(p.i) > 0:
			p.i = p.partner(p.i) + 1
			continue
		case p.tok().kind == tIdent && !(p.cpp && isOperatorWord(p.tok().text)) && !isKeyword(p.tok().text) && it.name != "": // T x UNUSED;
			if p.at(p.i+1).is("(") && p.partner(p.i+1) > 0 {
				p.i = p.partner(p.i+1) + 1
			} else {
				p.i++
			}
			continue
		}
		break
	}
	switch {
	case p.accept("="):
		it.init = p.initialiser()
	case p.is("{") && p.cpp:
		it.init = p.initialiser()
	case p.is(":"): // a bit field
		p.i++
		p.conditional()
		if p.accept("=") {
			it.init = p.initialiser()
		}
	}
	return it
}

func (p *parser) declaratorName(it *declarator) bool {
	pointer := false
	for {
		t := p.tok()
		switch {
		case t.is("*"):
			pointer = true
			it.kind = kPointer
			p.prefix()
			p.i++
		case t.is("&") || t.is("&&"):
			it.kind = kReference
			p.prefix()
			p.i++
		case t.kind == tIdent && (isSpecifier(t.text, p.cpp) || t.text == "__unaligned" || t.text == "_Nonnull" || t.text == "_Nullable"):
			p.i++
		case takesParens(t.text) && p.at(p.i+1).is("(") && p.partner(p.i+1) > 0:
			p.i = p.partner(p.i+1) + 1
		case t.kind == tIdent && p.at(p.i+1).is("::") && p.at(p.i+2).is("*"): // pointer to member
			p.i += 2
		case t.is("...") && p.cpp:
			p.i++
		default:
			goto name
		}
	}
name:
	t := p.tok()
	it.pos = t.span.Start
	switch {
	case t.is("(") && p.partner(p.i) > 0:
		close := p.partner(p.i)
		end := p.end
		p.i++
		p.end = close
		ok := p.declaratorName(it)
		p.end = end
		if !ok {
			return false
		}
		p.i = close + 1
		inner := it.kind
		p.suffixes(it, false)
		if inner == kPointer || inner == kReference || inner == kArray {
			it.kind = inner
		}
		return true
	case t.is("[") && p.cpp && p.partner(p.i) > 0: // structured binding
		close := p.partner(p.i)
		for i := p.i + 1; i < close; i++ {
			if p.at(i).kind == tIdent {
				it.names = append(it.names, p.at(i).text)
			}
		}
		p.i = close + 1
		if p.is("(") && p.partner(p.i) > 0 { // auto [a, b](x)
			it.args, p.i = p.arguments(p.i), p.partner(p.i)+1
		}
		return true
	case t.kind == tIdent && !isKeyword(t.text) && t.text != "operator":
		it.name = t.text
		p.i++
		for p.cpp && p.is("::") { // a qualified name: T C::x = ...
			p.i++
			it.name = p.tok().text
			it.pos = p.tok().span.Start
			p.i++
		}
	case t.is(":") || p.i >= p.end: // an unnamed bit field or parameter
		return p.i >= p.end || t.is(":")
	default:
		return false
	}
	p.suffixes(it, true)
	if pointer && it.kind == kValue {
		it.kind = kPointer
	}
	return true
}

// suffixes reads array bounds, and parameters or constructor arguments.
func (p *parser) suffixes(it *declarator, plain bool) {
	for {
		switch {
		case p.is("[") && p.partner(p.i) > 0 && !p.at(p.i+1).is("["):
			close := p.partner(p.i)
			end := p.end
			p.i++
			p.end = close
			for p.is("static") || isSpecifier(p.tok().text, p.cpp) {
				p.i++
			}
			if p.i < p.end && !p.is("*") {
				it.dims = append(it.dims, p.expression())
			}
			p.end = end
			p.i = close + 1
			it.kind = kArray
		case p.is("(") && p.partner(p.i) > 0:
			close := p.partner(p.i)
			if plain && p.cpp && it.kind != kFunction && p.isArguments(p.i, close) {
				it.args = p.arguments(p.i)
				if len(it.args) == 0 {
					it.kind = kFunction
				}
				p.i = close + 1
				return
			}
			p.i = close + 1
			it.kind = kFunction
			for p.cpp { // T f() const noexcept -> U
				t := p.tok()
				if t.kind == tIdent && (isSpecifier(t.text, true) || t.text == "noexcept" || t.text == "override" || t.text == "final") {
					p.i++
					if p.is("(") && p.partner(p.i) > 0 {
						p.i = p.partner(p.i) + 1
					}
					continue
				}
				if t.is("->") {
					for p.i < p.end && !p.is(";") && !p.is("{") && !p.is(",") && !p.is("=") {
						p.i++
					}
				}
				break
			}
		default:
			return
		}
	}
}

// isArguments reports whether parentheses behind a declared name hold
// arguments of a constructor and not parameters.
func (p *parser) isArguments(open, close int) bool {
	if close == open+1 {
		return false
	}
	i, end := p.i, p.end
	defer func() { p.i, p.end = i, end }()
	p.i, p.end = open+1, close
	if p.is("...") || p.is("void") && close == open+2 {
		return false
	}
	t := p.tok()
	if t.kind == tNumber || t.kind == tString || t.kind == tChar || t.kind == tPunct && t.text != "::" && t.text != "[" {
		return true
	}
	if t.kind == tIdent && (t.text == "this" || t.text == "new" || t.text == "sizeof" || p.names[t.text] && !p.types[t.text]) {
		return true
	}
	j, sure := p.skipSpecifiers(p.i)
	if sure {
		// std::string(int(x)) casts; T f(int), T f(int x) declare
		return p.cpp && isBuiltin(p.at(j-1).text, true) && p.at(j).is("(")
	}
	if j <= p.i {
		return true
	}
	n := p.at(j)
	switch {
	case n.kind == tEOF:
		return !p.types[p.at(j-1).text] && !isTypeLike(p.at(j-1).text) && !p.at(j-1).is(">")
	case n.is(","):
		return !p.types[p.at(j-1).text] && !isTypeLike(p.at(j-1).text)
	case n.kind == tIdent:
		return (p.cpp && isOperatorWord(n.text))
	case n.is("&"), n.is("*"), n.is("&&"):
		k := j
		for p.at(k).is("*") || p.at(k).is("&") || p.at(k).is("&&") || isSpecifier(p.at(k).text, true) {
			k++
		}
		m := p.at(k)
		if m.kind == tEOF || m.is(",") {
			return false
		}
		return !(m.kind == tIdent && (p.at(k+1).kind == tEOF || p.at(k+1).is(",") || p.at(k+1).is("="))) || p.names[m.text]
	}
	return true
}

// isTypeLike reports a name that types usually have.
func isTypeLike(s string) bool {
	return len(s) > 2 && s[len(s)-2:] == "_t" || len(s) > 0 && s[0] >= 'A' && s[0] <= 'Z' && !isMacroName(s)
}

// params reads the parameters between two parentheses.
func (p *parser) params(open, close int) []*param {
	i, end := p.i, p.end
	defer func() { p.i, p.end = i, end }()
	p.i, p.end = open+1, close
	var out []*param
	for p.i < p.end {
		start := p.i
		// up to the next comma at this depth
		stop := p.i
		for stop < close {
			t := p.at(stop)
			if t.kind == tPunct {
				if t.text == "," {
					break
				}
				if t.text == "(" || t.text == "[" || t.text == "{" {
					if j := p.partner(stop); j > 0 {
						stop = j
					}
				}
				if t.text == "<" {
					if j := p.angle(stop); j > 0 && j < close {
						p.tight(stop, j)
						stop = j
					}
				}
			}
			stop++
		}
		p.end = stop
		if q := p.parameter(); q != nil {
			out = append(out, q)
		}
		p.end = close
		p.i = stop
		if !p.accept(",") && p.i <= start {
			break
		}
	}
	return out
}

// parameter reads one parameter; nil for one without a name.
func (p *parser) parameter() *param {
	if p.is("...") || p.i >= p.end {
		return nil
	}
	p.attributes()
	next, _ := p.skipSpecifiers(p.i)
	if next == p.i && p.tok().kind == tIdent { // a name alone: K&R, or a macro
		next = p.i
	}
	from := p.i
	p.i = next
	it := &declarator{}
	if p.i >= p.end {
		// f(a): of a K&R definition, where the caller knows the names; or a type alone
		if t := p.at(p.i - 1); p.i == from+1 && t.kind == tIdent && !isKeyword(t.text) && !isBuiltin(t.text, p.cpp) {
			return &param{name: "", pos: t.span.Start}
		}
		return nil
	}
	if !p.declaratorName(it) || it.name == "" {
		return nil
	}
	q := &param{name: it.name, pos: p.at(from).span.Start, kind: it.kind}
	if it.kind == kArray || it.kind == kFunction {
		q.kind = kPointer
	}
	for p.i < p.end && !p.is("=") {
		p.i++
	}
	if p.accept("=") {
		q.init = p.initialiser()
	}
	return q
}
