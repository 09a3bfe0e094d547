package c

import "flowplan/internal/source"

// expression reads a comma expression.
func (p *parser) expression() *expr {
	from := p.i
	e := p.assignment()
	if !p.is(",") {
		return e
	}
	c := &expr{kind: eComma, kids: []*expr{e}}
	for p.accept(",") {
		if p.cpp && p.accept("...") { // a fold
			if !p.accept(",") {
				break
			}
		}
		c.kids = append(c.kids, p.assignment())
	}
	c.toks = p.toks[from:p.i]
	return c
}

// initialiser reads an assignment expression or a braced list.
func (p *parser) initialiser() *expr {
	if p.is("{") {
		return p.braced()
	}
	return p.expressionNoComma()
}

func (p *parser) expressionNoComma() *expr { return p.assignment() }

func (p *parser) bad(from int) *expr {
	return &expr{kind: eBad, toks: p.toks[from:max(p.i, from)]}
}

func (p *parser) assignment() *expr {
	from := p.i
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.i = p.end
		return p.bad(from)
	}
	if p.cpp {
		switch {
		case p.is("throw"):
			p.i++
			e := &expr{kind: eThrow}
			if !p.is(";") && !p.is(")") && !p.is(":") && !p.is(",") && p.i < p.end && !p.is("}") {
				e.kids = []*expr{p.assignment()}
			}
			e.toks = p.toks[from:p.i]
			return e
		case p.is("co_yield"):
			p.i++
			e := &expr{kind: eYield, kids: []*expr{p.initialiser()}}
			e.toks = p.toks[from:p.i]
			return e
		}
	}
	e := p.conditional()
	t := p.tok()
	if t.kind != tPunct && !(p.cpp && isOperatorWord(t.text)) {
		return e
	}
	switch t.text {
	case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "and_eq", "or_eq", "xor_eq":
		p.i++
		r := p.initialiser()
		return &expr{kind: eAssign, val: t.text, kids: []*expr{e, r}, toks: p.toks[from:p.i]}
	}
	return e
}

func (p *parser) conditional() *expr {
	from := p.i
	c := p.binary(0)
	if !p.is("?") {
		return c
	}
	p.i++
	e := &expr{kind: eCond, kids: []*expr{c, nil, nil}}
	if !p.is(":") {
		e.kids[1] = p.expression()
	}
	if !p.accept(":") {
		return p.bad(from)
	}
	e.kids[2] = p.assignment()
	e.toks = p.toks[from:p.i]
	return e
}

// precedence of a binary operator, from 1; 0 for what is none.
func precedence(t *token, cpp bool) int {
	if t.kind == tIdent {
		if !cpp {
			return 0
		}
		switch t.text {
		case "or":
			return 1
		case "and":
			return 2
		case "bitor":
			return 3
		case "xor":
			return 4
		case "bitand":
			return 5
		case "not_eq":
			return 6
		}
		return 0
	}
	if t.kind != tPunct {
		return 0
	}
	switch t.text {
	case "||":
		return 1
	case "&&":
		return 2
	case "|":
		return 3
	case "^":
		return 4
	case "&":
		return 5
	case "==", "!=":
		return 6
	case "<", ">", "<=", ">=":
		return 7
	case "<=>":
		return 8
	case "<<", ">>":
		return 9
	case "+", "-":
		return 10
	case "*", "/", "%":
		return 11
	case ".*", "->*":
		return 12
	}
	return 0
}

func (p *parser) binary(least int) *expr {
	from := p.i
	left := p.unary()
	for {
		t := p.tok()
		prec := precedence(t, p.cpp)
		if prec == 0 || prec < least {
			return left
		}
		p.i++
		if (t.text == "+" || t.text == "*" || t.text == "&&" || t.text == "||" || t.text == "," || t.text == "|" || t.text == "&") && p.is("...") { // (x + ...)
			p.i++
			if p.is(t.text) { // (x + ... + y)
				p.i++
			} else {
				left = &expr{kind: eSame, kids: []*expr{left}, toks: p.toks[from:p.i]}
				return left
			}
		}
		right := p.binary(prec + 1)
		e := &expr{kind: eBin, val: t.text, kids: []*expr{left, right}, toks: p.toks[from:p.i]}
		switch t.text {
		case "&&", "and":
			e.kind, e.val = eAnd, "&&"
		case "||", "or":
			e.kind, e.val = eOr, "||"
		case "not_eq":
			e.val = "!="
		}
		left = e
	}
}

// prefix marks the token at p.i as an operator without space behind it.
func (p *parser) prefix() {
	if p.i < len(p.toks) {
		p.toks[p.i].tight = true
	}
}

func (p *parser) unary() *expr {
	from := p.i
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.i = p.end
		return p.bad(from)
	}
	t := p.tok()
	if t.kind == tPunct {
		switch t.text {
		case "!", "~", "-", "+", "*", "&", "++", "--":
			p.prefix()
			p.i++
			k := p.unary()
			return &expr{kind: eUnary, val: t.text, kids: []*expr{k}, toks: p.toks[from:p.i]}
		case "&&":
			if n := p.at(p.i + 1); n.kind == tIdent {
				p.prefix()
				p.i += 2
				return &expr{kind: eLabel, val: n.text, toks: p.toks[from:p.i]}
			}
		case "...": // a pack
			if p.cpp { // (... + x)
				p.i++
				if precedence(p.tok(), true) > 0 || p.is(",") {
					p.i++
					k := p.unary()
					return &expr{kind: eSame, kids: []*expr{k}, toks: p.toks[from:p.i]}
				}
				return p.bad(from)
			}
		case "(":
			if e := p.cast(); e != nil {
				return e
			}
		case "::":
			if p.at(p.i+1).is("new") || p.at(p.i+1).is("delete") {
				p.i++
				return p.unary()
			}
		}
	}
	if t.kind == tIdent {
		switch t.text {
		case "sizeof", "_Alignof", "alignof", "__alignof__", "__alignof":
			return p.sizeof()
		case "__extension__", "__real__", "__imag__", "__real", "__imag":
			p.i++
			return p.unary()
		}
		if p.cpp {
			switch t.text {
			case "not", "compl":
				p.i++
				k := p.unary()
				return &expr{kind: eUnary, val: map[string]string{"not": "!", "compl": "~"}[t.text], kids: []*expr{k}, toks: p.toks[from:p.i]}
			case "new":
				return p.newExpr()
			case "delete":
				p.i++
				if p.is("[") && p.at(p.i+1).is("]") {
					p.i += 2
				}
				k := p.unary()
				return &expr{kind: eDelete, kids: []*expr{k}, toks: p.toks[from:p.i]}
			case "co_await":
				p.i++
				k := p.unary()
				return &expr{kind: eAwait, kids: []*expr{k}, toks: p.toks[from:p.i]}
			case "throw":
				return p.assignment()
			}
		}
	}
	return p.postfix()
}

func (p *parser) sizeof() *expr {
	from := p.i
	p.i++
	p.accept("...")
	if p.is("(") && p.partner(p.i) > 0 {
		close := p.partner(p.i)
		// sizeof (x)->y is sizeof of the whole; sizeof (T){...} too
		p.i = close + 1
		for {
			switch {
			case p.is(".") || p.is("->"):
				p.i += 2
				continue
			case (p.is("[") || p.is("(")) && p.partner(p.i) > 0:
				p.i = p.partner(p.i) + 1
				continue
			case p.is("{") && p.partner(p.i) > 0:
				p.i = p.partner(p.i) + 1
				continue
			case p.is("++"), p.is("--"):
				p.i++
				continue
			}
			break
		}
	} else {
		p.unary()
	}
	return &expr{kind: eSizeof, toks: p.toks[from:p.i]}
}

// typeIn reports whether the tokens from i up to end are a type and nothing
// else. sure is false where they could be an expression, too.
func (p *parser) typeIn(i, end int) (ok, sure bool) {
	if i >= end {
		return false, false
	}
	save := p.end
	p.end = end
	defer func() { p.end = save }()
	j, s := p.skipSpecifiers(i)
	if j == i {
		return false, false
	}
	pointer := false
	for j < end {
		t := p.at(j)
		switch {
		case t.is("*"), t.is("&"), t.is("&&"):
			pointer = true
			j++
		case t.kind == tIdent && (isSpecifier(t.text, p.cpp) || t.text == "_Nullable" || t.text == "_Nonnull"):
			s = true
			j++
		case takesParens(t.text) && p.at(j+1).is("(") && p.partner(j+1) > 0:
			j = p.partner(j+1) + 1
		case t.kind == tIdent && p.at(j+1).is("::") && p.at(j+2).is("*"): // C::*
			j += 3
			pointer = true
		case t.is("::") && p.at(j+1).is("*"):
			j += 2
			pointer = true
		case t.is("["):
			k := p.partner(j)
			if k < 0 {
				return false, false
			}
			if !s && !pointer && !p.types[p.at(i).text] {
				return false, false
			}
			j = k + 1
			pointer = true
		case t.is("("):
			k := p.partner(j)
			if k < 0 {
				return false, false
			}
			// (*)(args), (*[n])(args), or the parameters behind it
			if n := p.at(j + 1); !(n.is("*") || n.is("&") || n.is("^") || n.is("&&") || p.at(j-1).is(")") || s || n.kind == tIdent && p.at(j+2).is("::") && p.at(j+3).is("*")) {
				return false, false
			}
			if n := p.at(j + 1); (n.is("*") || n.is("&") || n.is("&&") || n.is("^")) && !s && !pointer && !p.at(j-1).is(")") {
				// f(*x) and f(&x) are calls unless an abstract declarator stands there
				m := j + 2
				for p.at(m).is("*") || p.at(m).is("&") {
					m++
				}
				if !p.at(m).is(")") && !p.at(m).is("[") {
					return false, false
				}
			}
			j = k + 1
			s = true
		case t.is("...") && p.cpp:
			j++
		default:
			return false, false
		}
	}
	return true, s || pointer || p.types[p.at(i).text] && !p.names[p.at(i).text]
}

// cast reads (T)x, (T){...} and ({ ... }); nil where the parentheses hold an
// expression.
func (p *parser) cast() *expr {
	from := p.i
	close := p.partner(p.i)
	if close < 0 {
		return nil
	}
	if p.at(p.i + 1).is("{") {
		inner := p.partner(p.i + 1)
		if inner > 0 {
			e := &expr{kind: eStmts}
			e.body = p.within(p.i+2, inner)
			p.i = close + 1
			e.toks = p.toks[from:p.i]
			return p.suffix(e, from)
		}
	}
	ok, sure := p.typeIn(p.i+1, close)
	if !ok {
		return nil
	}
	n := p.at(close + 1)
	if n.is("{") { // a compound literal
		p.i = close + 1
		init := p.braced()
		e := &expr{kind: eCast, kids: []*expr{init}, toks: p.toks[from:p.i]}
		return p.suffix(e, from)
	}
	operand := n.kind == tNumber || n.kind == tString || n.kind == tChar || n.is("~") || n.is("!") ||
		n.kind == tIdent && !(p.cpp && isOperatorWord(n.text)) && !isSpecifier(n.text, p.cpp) && precedence(n, p.cpp) == 0
	if !sure {
		// (a)(b), (a) - b, (a) * b: a name alone in parentheses
		switch {
		case n.is("("):
			if !p.typeName(p.i+1, close) {
				return nil
			}
			operand = true
		case n.is("*"), n.is("&"), n.is("-"), n.is("+"), n.is("++"), n.is("--"):
			name := p.at(close - 1).text
			if n.is("++") || n.is("--") { // (T)++x, or (x)++
				if o := p.at(close + 2); o.kind != tIdent && !o.is("(") && !o.is("*") {
					return nil
				}
			} else if !isTypeLike(name) || p.names[name] {
				return nil
			}
			operand = true
		case !operand:
			return nil
		}
		if p.names[p.at(p.i+1).text] && close == p.i+2 {
			return nil
		}
	} else {
		switch {
		case n.is("("), n.is("*"), n.is("&"), n.is("-"), n.is("+"), n.is("++"), n.is("--"), n.is("&&"), n.is("::"), n.is("[") && p.cpp:
			operand = true
		}
		if !operand {
			return nil
		}
	}
	p.i = close + 1
	k := p.unary()
	return &expr{kind: eCast, val: "cast", kids: []*expr{k}, toks: p.toks[from:p.i]}
}

// typeName reports a single name in parentheses that is likelier a type than a
// variable or function.
func (p *parser) typeName(from, to int) bool {
	if to != from+1 {
		return true
	}
	name := p.at(from).text
	return !p.names[name] && (p.types[name] || isTypeLike(name) || isMacroName(name))
}

func (p *parser) newExpr() *expr {
	from := p.i
	p.i++
	e := &expr{kind: eNew}
	if p.is("(") { // placement, or (T)
		close := p.partner(p.i)
		if close < 0 {
			return p.bad(from)
		}
		ok, _ := p.typeIn(p.i+1, close)
		n := p.at(close + 1)
		if !ok || n.kind == tIdent || n.is("::") || n.is("(") && p.partner(close+1) > 0 && !p.at(p.partner(close+1)+1).is(";") && false {
			e.kids = append(e.kids, p.arguments(p.i)...)
		}
		p.i = close + 1
	}
	if j, _ := p.skipSpecifiers(p.i); j > p.i {
		for k := p.i; k < j; k++ {
			if p.at(k).is("<") {
				if a := p.angle(k); a > 0 && a < j {
					p.tight(k, a)
				}
			}
		}
		p.i = j
	} else if p.is("(") && p.partner(p.i) > 0 {
		p.i = p.partner(p.i) + 1
	}
	for p.is("*") || p.is("&") || p.tok().kind == tIdent && isSpecifier(p.tok().text, true) {
		p.i++
	}
	for p.is("[") && p.partner(p.i) > 0 {
		close := p.partner(p.i)
		end := p.end
		p.i++
		p.end = close
		if p.i < p.end {
			e.kids = append(e.kids, p.expression())
		}
		p.end = end
		p.i = close + 1
	}
	switch {
	case p.is("(") && p.partner(p.i) > 0:
		close := p.partner(p.i)
		e.kids = append(e.kids, p.arguments(p.i)...)
		p.i = close + 1
	case p.is("{"):
		e.kids = append(e.kids, p.braced())
	}
	e.toks = p.toks[from:p.i]
	return e
}

// braced reads { a, .b = c, [d] = e }.
func (p *parser) braced() *expr {
	from := p.i
	close := p.partner(p.i)
	if close < 0 {
		p.i = p.end
		return p.bad(from)
	}
	e := &expr{kind: eInit}
	end := p.end
	p.i++
	p.end = close
	for p.i < p.end {
		at := p.i
		if p.tok().kind == tDirective {
			p.i++
			continue
		}
		var indices []*expr
		for {
			if p.is(".") && p.at(p.i+1).kind == tIdent {
				p.i += 2
				continue
			}
			if p.is("[") && p.partner(p.i) > 0 && !(p.cpp && p.isLambda()) {
				k := p.partner(p.i)
				p.end = k
				p.i++
				indices = append(indices, p.conditional())
				if p.accept("...") {
					indices = append(indices, p.conditional())
				}
				p.end = close
				p.i = k + 1
				continue
			}
			if p.tok().kind == tIdent && p.at(p.i+1).is(":") && !p.at(p.i+1).is("::") && at == p.i { // GNU: name: value
				p.i += 2
				continue
			}
			break
		}
		if p.i > at {
			p.accept("=")
		}
		v := p.initialiser()
		if len(indices) > 0 {
			v = &expr{kind: eDesig, kids: append(indices, v), toks: p.toks[at:p.i]}
		}
		p.accept("...")
		e.kids = append(e.kids, v)
		if !p.accept(",") {
			if p.i < p.end {
				if t := p.tok(); t.kind == tDirective { // a group was resolved away, or a pragma
					p.i++
					continue
				}
				// X-macros stand side by side without commas
				if p.i == at {
					p.i++
				}
				if last := e.kids[len(e.kids)-1]; last.kind != eCall && last.kind != eName && last.kind != eMacro {
					e.kids = append(e.kids, &expr{kind: eBad, toks: p.toks[at:p.i]})
					break
				}
			}
		}
	}
	p.end = end
	p.i = close + 1
	e.toks = p.toks[from:p.i]
	return e
}

// arguments reads ( a, b ) from the parenthesis at open; p.i stays.
func (p *parser) arguments(open int) []*expr {
	i, end := p.i, p.end
	defer func() { p.i, p.end = i, end }()
	close := p.partner(open)
	p.i, p.end = open+1, close
	var out []*expr
	for p.i < p.end {
		at := p.i
		if p.is(",") { // an empty argument of a macro
			p.i++
			continue
		}
		e := p.argument()
		p.accept("...")
		if p.i < p.end && !p.is(",") {
			// not an expression: an argument of a macro, read for its names
			for p.i < p.end && !p.is(",") {
				if t := p.tok(); t.kind == tPunct && (t.text == "(" || t.text == "[" || t.text == "{") && p.partner(p.i) > 0 {
					p.i = p.partner(p.i)
				}
				p.i++
			}
			e = p.pieces(at, p.i)
		}
		out = append(out, e)
		if !p.accept(",") && p.i == at {
			break
		}
	}
	return out
}

// argument reads one argument; a type stands for itself.
func (p *parser) argument() *expr {
	from := p.i
	if p.is("{") {
		return p.initialiser()
	}
	stop := p.i
	for stop < p.end && !p.at(stop).is(",") {
		t := p.at(stop)
		if t.kind == tPunct && (t.text == "(" || t.text == "[" || t.text == "{") && p.partner(stop) > 0 {
			stop = p.partner(stop)
		}
		if t.is("<") {
			if j := p.angle(stop); j > 0 {
				stop = j
			}
		}
		stop++
	}
	if stop > from && p.tok().kind == tIdent {
		if ok, sure := p.typeIn(from, stop); ok && sure && !(p.at(stop-1).kind == tIdent && p.names[p.at(stop-1).text]) {
			p.i = stop
			return &expr{kind: eType, toks: p.toks[from:p.i]}
		}
		if p.is("operator") || p.tok().is("return") || p.tok().kind == tIdent && isStatementWord(p.tok().text) {
			p.i = stop
			return p.pieces(from, stop)
		}
	}
	return p.assignment()
}

// pieces reads an argument that is no expression for the expressions in it,
// as those of macros may be: `> 0`, `int x = y`.
func (p *parser) pieces(from, to int) *expr {
	e := &expr{kind: eInit, toks: p.toks[from:to]}
	for i := from; i < to; i++ {
		t := p.at(i)
		if t.kind == tIdent && !isKeyword(t.text) && !p.at(i-1).is(".") && !p.at(i-1).is("->") {
			e.kids = append(e.kids, &expr{kind: eName, val: t.text, toks: p.toks[i : i+1]})
		}
	}
	return e
}

func (p *parser) postfix() *expr {
	from := p.i
	return p.suffix(p.primary(), from)
}

func (p *parser) suffix(e *expr, from int) *expr {
	for n := 0; ; n++ {
		t := p.tok()
		if t.kind == tString || t.kind == tIdent && n == 0 && p.isStringPart(e) && (p.isMacro(p.i) || e.kind == eConst) {
			// strings side by side are one, whatever macros stand between them
			for p.tok().kind == tString || p.tok().kind == tIdent && p.joinsStrings() {
				if p.tok().kind == tIdent && p.at(p.i+1).is("(") && p.partner(p.i+1) > 0 {
					p.i = p.partner(p.i + 1)
				}
				p.i++
			}
			if p.i == from || p.tok() == t {
				return e
			}
			e = &expr{kind: eConst, toks: p.toks[from:p.i]}
			continue
		}
		if t.kind == tIdent && e.kind == eConst && e.toks[len(e.toks)-1].kind == tNumber { // 64 KB, of a macro that multiplies
			if c, ok := p.m.callAt(p.toks[:p.end], p.i, nil); ok && !c.m.function && len(c.m.body) > 1 && c.m.body[0].kind == tPunct {
				p.i++
				e = &expr{kind: eConst, toks: p.toks[from:p.i]}
				continue
			}
		}
		if t.kind != tPunct {
			return e
		}
		switch t.text {
		case "(":
			close := p.partner(p.i)
			if close < 0 {
				return e
			}
			c := &expr{kind: eCall, kids: []*expr{e}}
			args := p.arguments(p.i)
			if e.kind == eName && p.cpp && (p.types[e.val] && !p.names[e.val]) {
				c.val = "type"
			}
			c.kids = append(c.kids, args...)
			p.i = close + 1
			c.toks = p.toks[from:p.i]
			e = c
		case "[":
			close := p.partner(p.i)
			if close < 0 || p.at(p.i+1).is("[") && p.at(close-1).is("]") && int(p.at(p.i+1).pair) == close-p.i-2 {
				return e
			}
			end := p.end
			p.i++
			p.end = close
			k := &expr{kind: eInit, toks: p.toks[p.i:close]}
			if p.i < p.end {
				k = p.expression()
				if p.i < p.end {
					k = p.bad(p.i)
				}
			}
			p.end = end
			p.i = close + 1
			e = &expr{kind: eIndex, kids: []*expr{e, k}, toks: p.toks[from:p.i]}
		case ".", "->":
			p.i++
			m := &expr{kind: eMember, val: t.text, kids: []*expr{e}}
			p.accept("template")
			if p.is("~") || p.is("*") && p.cpp {
				p.i++
			}
			if p.tok().kind != tIdent {
				m.kind = eBad
				m.toks = p.toks[from:p.i]
				return m
			}
			if p.is("operator") {
				m.name = "operator"
				p.operatorName()
				if p.is("<") { // x.template operator()<T>()
					if j := p.castAngle(p.i); j > 0 {
						p.i = j + 1
					}
				}
			} else {
				m.name = p.tok().text
				p.i++
				for p.cpp && (p.is("::") || p.is("<") && p.angle(p.i) > 0 && p.memberTemplate()) {
					if p.is("<") {
						j := p.angle(p.i)
						p.tight(p.i, j)
						p.i = j + 1
						continue
					}
					p.i++
					p.accept("template")
					p.accept("~")
					m.name = p.tok().text
					p.i++
				}
			}
			m.toks = p.toks[from:p.i]
			e = m
		case "++", "--":
			p.i++
			e = &expr{kind: ePost, val: t.text, kids: []*expr{e}, toks: p.toks[from:p.i]}
		case "{":
			// T{...} of C++
			if p.cpp && e.kind == eName && (n == 0) && p.partner(p.i) > 0 && p.bracedInit(e) {
				init := p.braced()
				e = &expr{kind: eCall, val: "type", kids: []*expr{e, init}, toks: p.toks[from:p.i]}
				continue
			}
			return e
		default:
			return e
		}
	}
}

// isStringPart reports what may be a string with another one behind it.
func (p *parser) isStringPart(e *expr) bool {
	switch e.kind {
	case eConst:
		return e.toks[len(e.toks)-1].kind == tString
	case eMacro:
		return e.body == nil && len(e.kids) == 1 && p.isStringPart(bare(e.kids[0]))
	case eName:
		return isMacroName(e.val)
	}
	return false
}

// isMacro reports a name that is a macro, by definition or by its capitals.
func (p *parser) isMacro(i int) bool {
	if p.m != nil {
		if _, ok := p.m.callAt(p.toks[:p.end], i, nil); ok {
			return true
		}
	}
	return isMacroName(p.at(i).text)
}

// joinsStrings reports whether the name at p.i is a macro for a string, between
// or behind strings.
func (p *parser) joinsStrings() bool {
	t := p.tok()
	i := p.i + 1
	if p.at(i).is("(") && p.partner(i) > 0 {
		i = p.partner(i) + 1
	}
	return p.at(i).kind == tString || isMacroName(t.text) && !isOperatorWord(t.text) && (!t.first || p.at(i).is(")") || p.at(i).is(",") || p.at(i).is(";"))
}

// memberTemplate reports whether < behind a member begins template arguments:
// a call or :: follows them.
func (p *parser) memberTemplate() bool {
	n := p.at(p.angle(p.i) + 1)
	return n.is("(") || n.is("::") || p.at(p.i-2).is("template")
}

// bracedInit reports whether { behind a name begins an initialiser rather than
// a block.
func (p *parser) bracedInit(e *expr) bool {
	open := p.tok()
	return !open.first || e.toks[len(e.toks)-1].is(">") // template arguments: a type, wherever its braces stand
}

// operatorName passes over operator+, operator(), operator bool and the like.
func (p *parser) operatorName() {
	p.i++
	t := p.tok()
	switch {
	case t.is("(") && p.at(p.i+1).is(")"), t.is("[") && p.at(p.i+1).is("]"):
		p.i += 2
	case t.is("new"), t.is("delete"):
		p.i++
		if p.is("[") {
			p.i += 2
		}
	case t.kind == tString: // operator"" _x
		p.i++
		if p.tok().kind == tIdent && !p.is("(") {
			p.i++
		}
	case t.kind == tPunct:
		p.i++
		for p.tok().kind == tPunct && !p.is("(") && p.tok().span.Start == p.at(p.i-1).span.End {
			p.i++
		}
	default: // a conversion
		for p.i < p.end && !p.is("(") {
			p.i++
		}
	}
}

func (p *parser) primary() *expr {
	from := p.i
	t := p.tok()
	switch t.kind {
	case tNumber, tChar, tString:
		p.i++
		return &expr{kind: eConst, toks: p.toks[from:p.i]}
	case tPunct:
		switch t.text {
		case "(":
			close := p.partner(p.i)
			if close < 0 { // never closed: no further than the statement seems to go
				for p.i < p.end && !p.is(";") && !p.is("{") && !p.is("}") {
					p.i++
				}
				return p.bad(from)
			}
			end := p.end
			p.i++
			p.end = close
			e := p.expression()
			short := p.i < close
			p.end = end
			p.i = close + 1
			if short {
				if ok, _ := p.typeIn(from+1, close); ok {
					return &expr{kind: eType, toks: p.toks[from:p.i]}
				}
				return p.bad(from)
			}
			return &expr{kind: eSame, val: "(", kids: []*expr{e}, toks: p.toks[from:p.i], paren: true}
		case "[":
			if p.cpp {
				if e := p.lambda(); e != nil {
					return e
				}
			}
		case "{":
			return p.braced()
		case "::":
			if p.cpp {
				return p.name()
			}
		case "^": // a block of Apple's
			if p.at(p.i+1).is("{") || p.at(p.i+1).is("(") {
				p.i++
				if p.is("(") && p.partner(p.i) > 0 {
					p.i = p.partner(p.i) + 1
				}
				if p.is("{") && p.partner(p.i) > 0 {
					p.i = p.partner(p.i) + 1
				}
				return &expr{kind: eConst, toks: p.toks[from:p.i]}
			}
		}
	case tIdent:
		return p.name()
	}
	return p.bad(from)
}

// name reads a name and whatever keyword stands where a name may.
func (p *parser) name() *expr {
	from := p.i
	t := p.tok()
	switch t.text {
	case "_Generic":
		p.i++
		if close := p.partner(p.i); p.is("(") && close > 0 {
			p.i = close + 1
			return &expr{kind: eSizeof, toks: p.toks[from:p.i]}
		}
		return p.bad(from)
	case "__builtin_offsetof", "offsetof", "__builtin_types_compatible_p", "typeid", "noexcept", "__typeof__", "typeof":
		if close := p.partner(p.i + 1); p.at(p.i+1).is("(") && close > 0 && (t.text != "typeid" && t.text != "noexcept" || p.cpp) {
			p.i = close + 1
			return &expr{kind: eSizeof, toks: p.toks[from:p.i]}
		}
	case "requires":
		if p.cpp {
			p.i++
			if p.is("(") && p.partner(p.i) > 0 {
				p.i = p.partner(p.i) + 1
			}
			if p.is("{") && p.partner(p.i) > 0 {
				p.i = p.partner(p.i) + 1
				return &expr{kind: eSizeof, toks: p.toks[from:p.i]}
			}
			return p.bad(from)
		}
	case "static_cast", "dynamic_cast", "const_cast", "reinterpret_cast":
		if p.cpp && p.at(p.i+1).is("<") {
			return p.namedCast()
		}
	case "decltype", "__underlying_type":
		if close := p.partner(p.i + 1); p.at(p.i+1).is("(") && close > 0 {
			p.i = close + 1
			for p.is("::") {
				p.i += 2
			}
			return &expr{kind: eName, val: "decltype", toks: p.toks[from:p.i]}
		}
	case "operator":
		if p.cpp {
			p.operatorName()
			return &expr{kind: eName, val: "operator", toks: p.toks[from:p.i]}
		}
	case "typename":
		if p.cpp {
			if j, _ := p.skipSpecifiers(p.i); j > p.i {
				p.i = j
				return &expr{kind: eName, val: "typename", toks: p.toks[from:p.i]}
			}
		}
	}
	if isBuiltin(t.text, p.cpp) || t.text == "auto" || t.text == "const" || t.text == "struct" || t.text == "class" && p.cpp {
		// int(x) of C++, or a type where one may stand
		j, _ := p.skipSpecifiers(p.i)
		if j > p.i {
			p.i = j
			for p.is("*") {
				p.i++
			}
			return &expr{kind: eName, val: "type", toks: p.toks[from:p.i]}
		}
	}
	if isKeyword(t.text) || p.cpp && isCppKeyword(t.text) && t.text != "this" {
		return p.bad(from)
	}
	e := &expr{kind: eName}
	if p.is("::") {
		p.i++
	}
	for {
		n := p.tok()
		if n.is("~") {
			p.i++
			n = p.tok()
		}
		if n.is("operator") {
			p.operatorName()
			e.val = "operator"
			break
		}
		if n.kind != tIdent {
			break
		}
		e.val = n.text
		p.i++
		if p.cpp && p.is("<") {
			if j := p.angle(p.i); j > 0 && p.templateFollows(j, n.text) {
				p.tight(p.i, j)
				p.i = j + 1
			}
		}
		if !p.cpp || !p.is("::") {
			break
		}
		if p.at(p.i + 1).is("*") {
			break
		}
		p.i++
		p.accept("template")
	}
	e.toks = p.toks[from:p.i]
	if len(e.toks) > 1 && e.val != "operator" {
		e.val = joined(e.toks)
	}
	if len(e.toks) == 1 && p.m != nil && !p.names[e.val] {
		if c, ok := p.m.callAt(p.toks[:p.end], from, nil); ok {
			return p.macroCall(c, from)
		}
	}
	if len(e.toks) == 0 {
		p.i = from
		return p.bad(from)
	}
	return e
}

// templateFollows reports whether what stands behind a closing > fits template
// arguments within an expression.
func (p *parser) templateFollows(j int, name string) bool {
	n := p.at(j + 1)
	switch {
	case n.is("("), n.is("::"), n.is("{"), n.is(")"), n.is(","), n.is(";"), n.is(">"), n.is("..."), n.is("}"), n.is("]"), n.is("&&"), n.is("||"),
		n.is("?"), n.is(":"), n.is("=="), n.is("!="), n.is("*"), n.is("&"), n.is("."), n.is("="), n.is(">>"), n.is("+"), n.is("-"),
		n.is("<="), n.is("<"), n.is(">="), n.is("/"), n.is("%"), n.is("|"), n.is("^"), n.is("<<"), n.kind == tEOF:
		return !p.names[name] || p.types[name]
	}
	return false
}

func (p *parser) namedCast() *expr {
	from := p.i
	val := p.tok().text
	p.i++
	j := p.castAngle(p.i)
	if j < 0 || !p.at(j+1).is("(") || p.partner(j+1) < 0 {
		return p.bad(from)
	}
	p.tight(p.i, j)
	close := p.partner(j + 1)
	end := p.end
	p.i = j + 2
	p.end = close
	k := p.expression()
	if p.i < close {
		k = p.bad(p.i)
	}
	p.end = end
	p.i = close + 1
	return &expr{kind: eCast, val: val, kids: []*expr{k}, toks: p.toks[from:p.i]}
}

// castAngle is the > that fits the < at i, which certainly opens arguments.
func (p *parser) castAngle(i int) int {
	depth := 0
	for j := i; j < p.end; j++ {
		t := p.at(j)
		if t.kind != tPunct {
			continue
		}
		switch t.text {
		case "<":
			depth++
		case ">":
			if depth--; depth == 0 {
				return j
			}
		case ">>":
			if depth -= 2; depth <= 0 {
				return j
			}
		case "(", "[", "{":
			if k := p.partner(j); k > 0 {
				j = k
			}
		case ";", "}":
			return -1
		}
	}
	return -1
}

// macroCall reads a call of a known macro within an expression: it stays one
// call in the text, and means what its expansion means.
func (p *parser) macroCall(c call, from int) *expr {
	start := p.at(from).span.Start
	end := p.at(c.end - 1).span.End
	if p.inMacro > 8 || len(c.m.body) == 0 {
		p.i = c.end
		if len(c.m.body) == 0 && !c.m.function { // an empty macro before something
			if n := p.tok(); n.kind == tIdent || n.kind == tNumber || n.is("(") {
				return p.unary()
			}
		}
		return &expr{kind: eConst, toks: p.toks[from:p.i]}
	}
	toks, ok := p.m.expand(c, source.Span{Start: start, End: end})
	for len(toks) > 0 && toks[len(toks)-1].is(";") && p.m.shapeOf(c.m) != shapeStatement { // one call, with its semicolon
		toks = toks[:len(toks)-1]
	}
	// A macro that gives a name or a type: what stands behind it belongs to it.
	if !ok || len(toks) == 0 || !c.m.function && len(toks) == 1 && toks[0].kind == tIdent {
		p.i = from + 1
		name := p.at(from).text
		if ok && len(toks) == 1 {
			name = toks[0].text
		}
		return &expr{kind: eName, val: name, toks: p.toks[from:p.i]}
	}
	pairs(toks)
	q := p.sub(toks)
	q.m = nil
	q.inMacro++
	e := &expr{kind: eMacro, val: c.m.name}
	if p.m.shapeOf(c.m) == shapeStatement {
		q.toks = append(q.toks, token{kind: tPunct, text: ";", span: source.Span{Start: start, End: end}, made: true})
		q.end++
		e.body = q.statements()
	} else {
		v := q.expression()
		if q.i < q.end || hasBad(v) {
			// no expression: a type, a list, part of one. It is read as it is written.
			return p.writtenCall(c, from)
		}
		e.kids = []*expr{v}
	}
	p.i = c.end
	e.toks = p.toks[from:p.i]
	return e
}

// writtenCall reads a macro's call without its expansion.
func (p *parser) writtenCall(c call, from int) *expr {
	p.i = from + 1
	e := &expr{kind: eName, val: c.m.name, toks: p.toks[from:p.i]}
	if !c.m.function {
		return e
	}
	call := &expr{kind: eCall, kids: append([]*expr{e}, p.arguments(p.i)...)}
	p.i = c.end
	call.toks = p.toks[from:p.i]
	return call
}

// isLambda reports whether the [ at p.i begins a lambda.
func (p *parser) isLambda() bool {
	close := p.partner(p.i)
	if close < 0 {
		return false
	}
	if pr := p.at(p.i - 1); pr.kind == tIdent && !isKeyword(pr.text) && !isCppKeyword(pr.text) || pr.is(")") || pr.is("]") {
		return false
	}
	n := p.at(close + 1)
	return n.is("(") || n.is("{") || n.is("<") || n.is("mutable") || n.is("->") || n.is("noexcept") || n.is("constexpr")
}

func (p *parser) lambda() *expr {
	if !p.isLambda() {
		return nil
	}
	from := p.i
	close := p.partner(p.i)
	l := &lambda{}
	end := p.end
	p.i++
	p.end = close
	for p.i < p.end {
		at := p.i
		switch {
		case p.is("=") && (p.at(p.i+1).is(",") || p.i+1 >= p.end):
			l.byCopy = true
			p.i++
		case p.is("&") && (p.at(p.i+1).is(",") || p.i+1 >= p.end):
			l.byRef = true
			p.i++
		default:
			c := capture{}
			p.accept("*")
			p.accept("...")
			if p.is("&") {
				c.ref = true
				p.prefix()
				p.i++
			}
			p.accept("...")
			c.name, c.pos = p.tok().text, p.tok().span.Start
			p.i++
			p.accept("...")
			if p.is("=") {
				p.i++
				c.init = p.initialiser()
			} else if p.is("{") || p.is("(") {
				if p.is("{") {
					c.init = p.braced()
				} else if k := p.partner(p.i); k > 0 {
					c.init = p.unary()
				}
			}
			if c.name != "" {
				l.captures = append(l.captures, c)
			}
		}
		if !p.accept(",") && p.i == at {
			p.i++
		}
	}
	p.end = end
	p.i = close + 1
	if p.is("<") {
		if j := p.castAngle(p.i); j > 0 {
			p.tight(p.i, j)
			p.i = j + 1
		}
	}
	saved := p.names
	p.names = map[string]bool{}
	for n := range saved {
		p.names[n] = true
	}
	defer func() { p.names = saved }()
	if p.is("(") && p.partner(p.i) > 0 {
		k := p.partner(p.i)
		l.params = p.params(p.i, k)
		for _, q := range l.params {
			p.names[q.name] = true
		}
		p.i = k + 1
	}
	for _, c := range l.captures {
		p.names[c.name] = true
	}
	for p.i < p.end && !p.is("{") {
		t := p.tok()
		if t.is(";") || t.is(",") || t.is(")") || t.is("}") {
			p.i = from
			return nil
		}
		l.mutable = l.mutable || t.text == "mutable"
		if t.is("(") && p.partner(p.i) > 0 {
			p.i = p.partner(p.i)
		} else if t.is("<") {
			if j := p.castAngle(p.i); j > 0 {
				p.i = j
			}
		}
		p.i++
	}
	k := p.partner(p.i)
	if k < 0 {
		p.i = from
		return nil
	}
	l.open = spanOf2(p.toks, from, p.i)
	l.body = p.within(p.i+1, k)
	p.i = k + 1
	l.whole = spanOf2(p.toks, from, p.i)
	return &expr{kind: eLambda, lambda: l, toks: p.toks[from:p.i]}
}

// hasBad reports whether something in an expression was not read.
func hasBad(e *expr) bool {
	if e == nil {
		return false
	}
	if e.kind == eBad {
		return true
	}
	for _, k := range e.kids {
		if hasBad(k) {
			return true
		}
	}
	return false
}
