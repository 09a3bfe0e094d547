package python

import (
	"strings"

	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// compound reads a statement with bodies.
func (p *parser) compound(n *syntax.Node, s *stmt) bool {
	s.span = header(n)
	switch n.Kind {
	case "if_statement", "elif_clause":
		s.kind = sIf
		s.value = p.expr(n.Child("condition"))
		s.body = p.block(n.Child("consequence"), false)
		p.alternatives(n, s)
	case "while_statement":
		s.kind = sWhile
		s.value = p.expr(n.Child("condition"))
		s.body = p.block(n.Child("body"), false)
		s.orelse = p.elseBody(n)
	case "for_statement":
		s.kind = sFor
		s.async = hasToken(n, "async")
		s.targets = []*expr{p.expr(n.Child("left"))}
		s.value = p.expr(n.Child("right"))
		s.body = p.block(n.Child("body"), false)
		s.orelse = p.elseBody(n)
	case "try_statement":
		p.try(n, s)
	case "with_statement":
		p.with(n, s)
	case "match_statement":
		p.match(n, s)
	case "function_definition", "class_definition", "decorated_definition":
		return p.definition(n, s)
	default:
		return false
	}
	return true
}

// alternatives hangs the elif and else clauses of an if below one another.
func (p *parser) alternatives(n *syntax.Node, s *stmt) {
	at := s
	for _, c := range n.Children {
		switch c.Kind {
		case "elif_clause":
			if r := brokenHeader(c); r != "" {
				at.orelse = []*stmt{opaque(c, r)}
				return
			}
			e := &stmt{kind: sIf, node: c, start: c.Span.Start, span: header(c), elif: true}
			e.whole = source.Span{Start: c.Span.Start, End: s.whole.End}
			e.value = p.expr(c.Child("condition"))
			e.body = p.block(c.Child("consequence"), false)
			at.orelse = []*stmt{e}
			at = e
		case "else_clause":
			at.orelse = p.block(bodyOf(c), false)
		}
	}
}

func (p *parser) elseBody(n *syntax.Node) []*stmt {
	if c := n.ChildOf("else_clause"); c != nil {
		return p.block(bodyOf(c), false)
	}
	return nil
}

// bodyOf is the block of a clause, under whatever field.
func bodyOf(n *syntax.Node) *syntax.Node {
	if b := n.Child("body"); b != nil {
		return b
	}
	return n.ChildOf("block")
}

func (p *parser) try(n *syntax.Node, s *stmt) {
	s.kind = sTry
	s.body = p.block(n.Child("body"), false)
	for _, c := range n.Children {
		switch c.Kind {
		case "except_clause", "except_group_clause":
			s.group = s.group || c.Kind == "except_group_clause"
			s.arms = append(s.arms, p.except(c))
		case "else_clause":
			s.orelse = p.block(bodyOf(c), false)
		case "finally_clause":
			s.final = p.block(bodyOf(c), false)
			if s.final == nil {
				s.final = []*stmt{}
			}
		}
	}
}

func (p *parser) except(c *syntax.Node) *arm {
	a := &arm{start: c.Span.Start, span: header(c), body: p.block(bodyOf(c), false)}
	if brokenHeader(c) != "" {
		a.test = &expr{kind: eBad, val: fold(string(p.data[a.span.Start:a.span.End])), span: a.span}
		return a
	}
	var parts []*syntax.Node
	comma := false
	for _, k := range c.Children {
		if k.Kind == "block" || k.Kind == ":" {
			break
		}
		if k.Kind == "," {
			comma = true
		}
		if k.Named && !k.Extra {
			parts = append(parts, k)
		}
	}
	if len(parts) == 0 {
		return a
	}
	first := parts[0]
	if first.Kind == "as_pattern" {
		a.test = p.asValue(first)
		a.name = p.asTarget(first)
		return a
	}
	a.test = p.handlerType(first)
	if len(parts) == 1 {
		return a
	}
	second := p.expr(parts[1])
	// `except A, b:` binds b in Python 2 and names a second class in 3.14.
	if comma && !isPython2Target(second) {
		kids := []*expr{a.test, second}
		a.test = &expr{kind: eTuple, kids: kids, span: source.Span{Start: a.test.span.Start, End: second.span.End}}
		return a
	}
	a.name = second
	return a
}

// isPython2Target reports whether the second part of `except A, b:` looks like
// a variable: classes of exceptions have capitals or are attributes.
func isPython2Target(e *expr) bool {
	return e.kind == eName && e.val != "" && e.val[0] >= 'a' && e.val[0] <= 'z'
}

// handlerType undoes what prepare made of `except A, B, C:`, where it put bars
// in the place of the commas.
func (p *parser) handlerType(n *syntax.Node) *expr {
	if n.Kind == "binary_operator" {
		if op := n.Child("operator"); op != nil && op.Kind == "|" && p.text(op) == "," {
			left, right := p.handlerType(n.Child("left")), p.expr(n.Child("right"))
			kids := []*expr{left}
			if left.kind == eTuple && !left.paren {
				kids = left.kids
			}
			return &expr{kind: eTuple, kids: append(kids, right), span: n.Span}
		}
	}
	return p.expr(n)
}

func (p *parser) asValue(n *syntax.Node) *expr { return p.handlerType(named(n)[0]) }

func (p *parser) asTarget(n *syntax.Node) *expr {
	t := n.Child("alias")
	if t == nil {
		return nil
	}
	if ks := named(t); len(ks) > 0 {
		return p.expr(ks[0])
	}
	return &expr{kind: eName, val: p.text(t), span: t.Span}
}

func (p *parser) with(n *syntax.Node, s *stmt) {
	s.kind = sWith
	s.async = hasToken(n, "async")
	s.body = p.block(n.Child("body"), false)
	clause := n.ChildOf("with_clause")
	if clause == nil {
		return
	}
	for _, it := range named(clause) {
		v := it.Child("value")
		if v == nil {
			continue
		}
		if v.Kind == "as_pattern" {
			s.items = append(s.items, withItem{p.asValue(v), p.asTarget(v)})
			continue
		}
		// with (a as b, c): may come as one item that is a tuple
		if v.Kind == "tuple" && len(named(clause)) == 1 && asInside(v) {
			for _, k := range named(v) {
				if k.Kind == "as_pattern" {
					s.items = append(s.items, withItem{p.asValue(k), p.asTarget(k)})
				} else {
					s.items = append(s.items, withItem{value: p.expr(k)})
				}
			}
			continue
		}
		if v.Kind == "parenthesized_expression" && len(named(clause)) == 1 {
			if k := named(v); len(k) == 1 && k[0].Kind == "as_pattern" {
				s.items = append(s.items, withItem{p.asValue(k[0]), p.asTarget(k[0])})
				continue
			}
		}
		s.items = append(s.items, withItem{value: p.expr(v)})
	}
}

func asInside(n *syntax.Node) bool { return n.ChildOf("as_pattern") != nil }

func (p *parser) match(n *syntax.Node, s *stmt) {
	s.kind = sMatch
	var subjects []*syntax.Node
	comma := false
	for _, c := range n.Children {
		if c.Field == "subject" && c.Named {
			subjects = append(subjects, c)
		}
		if c.Kind == "," {
			comma = true
		}
	}
	if len(subjects) == 1 && !comma {
		s.value = p.expr(subjects[0])
	} else {
		s.value = &expr{kind: eTuple, kids: p.exprs(subjects), span: s.span}
	}
	body := n.Child("body")
	if body == nil {
		return
	}
	for _, c := range body.Children {
		if c.Kind != "case_clause" {
			if c.IsError() || c.Named && !c.Extra {
				s.orelse = append(s.orelse, opaque(c, "syntax error"))
			}
			continue
		}
		s.arms = append(s.arms, p.caseClause(c))
	}
}

func (p *parser) caseClause(c *syntax.Node) *arm {
	a := &arm{start: c.Span.Start, span: header(c), body: p.block(c.Child("consequence"), false)}
	if brokenHeader(c) != "" {
		a.test = &expr{kind: eBad, val: fold(string(p.data[a.span.Start:a.span.End])), span: a.span}
		return a
	}
	var pats []*expr
	for _, k := range c.Children {
		if k.Kind == "case_pattern" {
			pats = append(pats, p.pattern(k))
		}
	}
	if len(pats) == 1 && !hasToken(c, ",") && pats[0].kind != pStar {
		a.test = pats[0]
	} else {
		a.test = &expr{kind: pSeq, kids: pats, span: a.span}
	}
	if g := c.Child("guard"); g != nil {
		a.guard = p.only(g)
	}
	return a
}

func (p *parser) definition(n *syntax.Node, s *stmt) bool {
	d := n
	if n.Kind == "decorated_definition" {
		d = n.Child("definition")
		if d == nil {
			return false
		}
		if r := brokenHeader(d); r != "" {
			s.kind, s.reason, s.span = sOpaque, r, n.Span
			return true
		}
		for _, c := range n.Children {
			if c.Kind == "decorator" {
				s.decos = append(s.decos, p.only(c))
			}
		}
	}
	name := d.Child("name")
	if name == nil {
		return false
	}
	s.node = d
	s.start = d.Span.Start
	s.name = p.text(name)
	h := header(d)
	s.span = source.Span{Start: n.Span.Start, End: h.End}
	s.tparams = p.typeParams(d.Child("type_parameters"))
	s.body = p.block(d.Child("body"), true)
	if d.Kind == "class_definition" {
		s.kind = sClass
		if a := d.Child("superclasses"); a != nil {
			s.args = p.arguments(a)
		}
		return true
	}
	s.kind = sDef
	s.async = hasToken(d, "async")
	if ps := d.Child("parameters"); ps != nil {
		s.params = p.parameters(ps)
	}
	if r := d.Child("return_type"); r != nil {
		s.extra = p.expr(r)
	}
	return true
}

func (p *parser) typeParams(n *syntax.Node) []*param {
	if n == nil {
		return nil
	}
	var out []*param
	for _, c := range named(n) {
		out = append(out, p.typeParam(c))
	}
	return out
}

// typeParam reads T, T: bound, *Ts, **P, each with a default, in front of which
// prepare put a bar in place of the equals sign.
func (p *parser) typeParam(n *syntax.Node) *param {
	a := &param{pos: n.Span.Start}
	raw := p.data[n.Span.Start:n.Span.End]
	depth := 0
	colon, equals := -1, -1
	for i, c := range raw {
		switch c {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			depth--
		case ':':
			if depth == 0 && colon < 0 {
				colon = i
			}
		case '=':
			if depth == 0 && equals < 0 {
				equals = i
			}
		}
	}
	nameEnd := len(raw)
	if equals >= 0 {
		nameEnd = equals
		a.def = p.reparse(n, n.Span.Start+equals+1, n.Span.End)
	}
	if colon >= 0 && colon < nameEnd {
		a.ann = p.reparse(n, n.Span.Start+colon+1, n.Span.Start+nameEnd)
		nameEnd = colon
	}
	name := strings.TrimSpace(string(raw[:nameEnd]))
	a.star = name[:len(name)-len(strings.TrimLeft(name, "*"))]
	a.name = strings.TrimSpace(name[len(a.star):])
	return a
}

// reparse finds the expression that makes up the bytes from start to end in the
// tree below n, whatever shape the grammar gave to what is around it.
func (p *parser) reparse(n *syntax.Node, start, end int) *expr {
	for start < end && isSpace(p.data[start]) {
		start++
	}
	for end > start && isSpace(p.data[end-1]) {
		end--
	}
	var found *syntax.Node
	var walk func(*syntax.Node)
	walk = func(c *syntax.Node) {
		if found != nil || c.Span.End <= start || c.Span.Start >= end {
			return
		}
		if c.Span.Start == start && c.Span.End == end && c.Named {
			found = c
			return
		}
		for _, k := range c.Children {
			walk(k)
		}
	}
	walk(n)
	if found != nil {
		return p.expr(found)
	}
	return &expr{kind: eBad, val: fold(string(p.data[start:end])), span: source.Span{Start: start, End: end}}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// fold is raw text with its white space folded.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

func (p *parser) parameters(n *syntax.Node) []*param {
	var out []*param
	for _, c := range named(n) {
		out = append(out, p.param(c))
	}
	return out
}

func (p *parser) param(c *syntax.Node) *param {
	a := &param{pos: c.Span.Start}
	set := func(n *syntax.Node) {
		a.pos = n.Span.Start
		switch n.Kind {
		case "list_splat_pattern", "dictionary_splat_pattern":
			a.star = "*"
			if n.Kind[0] == 'd' {
				a.star = "**"
			}
			if ks := named(n); len(ks) > 0 {
				a.name = p.text(ks[0])
				a.pos = ks[0].Span.Start
			}
		case "tuple_pattern":
			a.pattern = p.expr(n)
		default:
			a.name = p.text(n)
		}
	}
	switch c.Kind {
	case "positional_separator":
		a.sep = "/"
	case "keyword_separator":
		a.sep = "*"
	case "typed_parameter":
		set(named(c)[0])
		a.ann = p.expr(c.Child("type"))
	case "default_parameter", "typed_default_parameter":
		set(c.Child("name"))
		if t := c.Child("type"); t != nil {
			a.ann = p.expr(t)
		}
		a.def = p.expr(c.Child("value"))
	default:
		set(c)
	}
	return a
}
