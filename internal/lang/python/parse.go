package python

import (
	"strings"

	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// maxDepth bounds the nesting of expressions and statements that is read; what
// lies deeper is opaque. CPython itself refuses more than a hundred blocks or
// two hundred parentheses.
const maxDepth = 600

// parser makes statements and expressions out of a syntax tree. data are the
// bytes of the file, not those that were prepared for the grammar: a repaired
// token still says there what it was.
type parser struct {
	data  []byte
	depth int
	// bodies reads a block of a broken file, by where its first statement
	// stands.
	bodies map[int]func(doc bool) []*stmt
}

func (p *parser) text(n *syntax.Node) string { return n.Text(p.data) }

// named are the children that mean something: no tokens, no comments.
func named(n *syntax.Node) []*syntax.Node {
	var out []*syntax.Node
	for _, c := range n.Children {
		if c.Named && !c.Extra {
			out = append(out, c)
		}
	}
	return out
}

func hasToken(n *syntax.Node, kind string) bool {
	for _, c := range n.Children {
		if c.Kind == kind && !c.Named {
			return true
		}
	}
	return false
}

// block reads the statements of a module or block. A leading docstring is none.
func (p *parser) block(n *syntax.Node, doc bool) []*stmt {
	if n == nil {
		return nil
	}
	if p.bodies != nil {
		if ks := named(n); len(ks) > 0 {
			if read := p.bodies[ks[0].Span.Start]; read != nil {
				delete(p.bodies, ks[0].Span.Start) // its own statements begin there, too
				return read(doc)
			}
		}
	}
	var out []*stmt
	first := true
	for _, c := range n.Children {
		if c.Extra && !c.IsError() || !c.Named && !c.HasError || c.Kind == "line_continuation" {
			continue
		}
		if doc && first && p.isDoc(c) {
			first = false
			continue
		}
		first = false
		out = append(out, p.stmt(c)...)
	}
	return out
}

// isDoc reports whether a statement is a string alone, neither of bytes nor
// formatted.
func (p *parser) isDoc(n *syntax.Node) bool {
	if n.Kind != "expression_statement" || n.HasError {
		return false
	}
	for len(named(n)) == 1 && !hasToken(n, ",") {
		n = named(n)[0]
		switch n.Kind {
		case "string", "concatenated_string":
			e := p.expr(n)
			return e.kind == eConst && e.str == "s"
		case "parenthesized_expression":
		default:
			return false
		}
	}
	return false
}

func opaque(n *syntax.Node, reason string) *stmt {
	whole := source.Span{Start: n.Span.Start, End: max(n.Span.Start, lastEnd(n))}
	return &stmt{kind: sOpaque, node: n, start: n.Span.Start, span: whole, whole: whole, reason: reason}
}

// header is the span from a compound statement's keyword to before its colon.
func header(n *syntax.Node) source.Span {
	end := n.Span.Start
	for _, c := range n.Children {
		if c.Kind == ":" && !c.Named {
			break
		}
		if !c.Extra {
			end = c.Span.End
		}
	}
	return source.Span{Start: n.Span.Start, End: end}
}

// brokenHeader says what is wrong in a node outside its blocks and clauses.
func brokenHeader(n *syntax.Node) string {
	if !n.HasError {
		return ""
	}
	for _, c := range n.Children {
		switch c.Kind {
		case "block", "elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause", "case_clause",
			"function_definition", "class_definition":
			continue
		}
		if c.HasError || c.IsError() || c.Missing {
			return errorReason(c)
		}
	}
	return ""
}

func errorReason(n *syntax.Node) string {
	for n.HasError && !n.IsError() && !n.Missing {
		var next *syntax.Node
		for _, c := range n.Children {
			if c.HasError || c.IsError() || c.Missing {
				next = c
				break
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	if n.Missing {
		return "syntax error: " + n.Kind + " is missing"
	}
	return "syntax error"
}

// stmt reads one statement; the result has no or one element, but for an ERROR.
func (p *parser) stmt(n *syntax.Node) []*stmt {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return []*stmt{opaque(n, "nested too deeply")}
	}
	if n.IsError() {
		return []*stmt{opaque(n, errorReason(n))}
	}
	if n.Missing {
		return []*stmt{opaque(n, errorReason(n))}
	}
	if r := brokenHeader(n); r != "" {
		return []*stmt{opaque(n, r)}
	}
	whole := source.Span{Start: n.Span.Start, End: lastEnd(n)} // a comment behind a body is not of it
	s := &stmt{node: n, start: n.Span.Start, span: n.Span, whole: whole}
	if !p.simple(n, s) && !p.compound(n, s) {
		return []*stmt{opaque(n, "unknown syntax: "+n.Kind)}
	}
	return []*stmt{s}
}

// simple reads a statement without a body.
func (p *parser) simple(n *syntax.Node, s *stmt) bool {
	switch n.Kind {
	case "expression_statement":
		p.expressionStatement(n, s)
	case "return_statement":
		s.kind = sReturn
		s.value = p.only(n)
	case "delete_statement":
		s.kind = sDel
		if e := p.only(n); e != nil {
			// del (a, b) is another tree than del a, b, but deletes the same in
			// the same order.
			s.targets = []*expr{e}
			if e.kind == eTuple && !e.paren {
				s.targets = e.kids
			}
		}
	case "raise_statement":
		s.kind = sRaise
		cause := n.Child("cause")
		for _, c := range named(n) {
			if c != cause {
				s.value = p.expr(c)
			}
		}
		if cause != nil {
			s.extra = p.expr(cause)
		}
	case "assert_statement":
		s.kind = sAssert
		ks := named(n)
		s.value = p.expr(ks[0])
		if len(ks) > 1 {
			s.extra = p.expr(ks[1])
		}
	case "pass_statement":
		s.kind = sPass
	case "break_statement":
		s.kind = sBreak
	case "continue_statement":
		s.kind = sContinue
	case "global_statement", "nonlocal_statement":
		s.kind = sGlobal
		if n.Kind[0] == 'n' {
			s.kind = sNonlocal
		}
		for _, c := range named(n) {
			s.names = append(s.names, alias{name: p.text(c), pos: c.Span.Start})
		}
	case "import_statement":
		s.kind = sImport
		s.names = p.imports(n)
	case "import_from_statement", "future_import_statement":
		s.kind = sFrom
		s.name = "__future__"
		if m := n.Child("module_name"); m != nil {
			s.name = p.dotted(m)
		}
		s.names = p.imports(n)
		if n.ChildOf("wildcard_import") != nil {
			s.names = []alias{{name: "*"}}
		}
	case "type_alias_statement":
		s.kind = sType
		p.typeAlias(n, s)
	case "print_statement":
		s.kind = sPrint
		for _, c := range named(n) {
			if c.Kind == "chevron" {
				s.extra = p.only(c)
				continue
			}
			s.args = append(s.args, p.expr(c))
		}
		if last := n.Children[len(n.Children)-1]; last.Kind == "," {
			s.op = ","
		}
	case "exec_statement":
		s.kind = sExec
		for i, c := range named(n) {
			if i == 0 {
				s.value = p.expr(c)
			} else {
				s.args = append(s.args, p.expr(c))
			}
		}
	default:
		return false
	}
	return true
}

func (p *parser) expressionStatement(n *syntax.Node, s *stmt) {
	ks := named(n)
	if len(ks) == 0 {
		s.kind, s.reason = sOpaque, "empty expression"
		return
	}
	if len(ks) > 1 || hasToken(n, ",") {
		s.kind = sExpr
		s.value = &expr{kind: eTuple, kids: p.exprs(ks), span: n.Span}
		return
	}
	a := ks[0]
	switch a.Kind {
	case "assignment":
		p.assignment(a, s)
	case "augmented_assignment":
		s.kind = sAug
		s.targets = []*expr{p.expr(a.Child("left"))}
		s.op = p.text(a.Child("operator"))
		s.value = p.expr(a.Child("right"))
	default:
		s.kind = sExpr
		s.value = p.expr(a)
	}
}

func (p *parser) assignment(a *syntax.Node, s *stmt) {
	s.kind = sAssign
	for {
		left := p.expr(a.Child("left"))
		s.targets = append(s.targets, left)
		if t := a.Child("type"); t != nil {
			s.kind = sAnn
			s.extra = p.expr(t)
		}
		right := a.Child("right")
		if right == nil {
			if s.kind != sAnn {
				s.kind, s.reason = sOpaque, "assignment without a value"
			}
			return
		}
		if right.Kind == "assignment" && s.kind == sAssign {
			a = right
			continue
		}
		if right.Kind == "augmented_assignment" || right.Kind == "assignment" {
			s.kind, s.reason = sOpaque, "assignment as a value"
			return
		}
		s.value = p.expr(right)
		return
	}
}

func (p *parser) typeAlias(n *syntax.Node, s *stmt) {
	ks := named(n)
	if len(ks) != 2 {
		s.kind, s.reason = sOpaque, "unknown type alias"
		return
	}
	left, right := ks[0], ks[1]
	for left.Kind == "type" && len(named(left)) == 1 {
		left = named(left)[0]
	}
	switch left.Kind {
	case "identifier":
		s.name = p.text(left)
	case "generic_type":
		s.name = p.text(named(left)[0])
		s.tparams = p.typeParams(left.ChildOf("type_parameter"))
	case "subscript":
		s.name = p.text(left.Child("value"))
		for _, c := range left.Children {
			if c.Field == "subscript" {
				s.tparams = append(s.tparams, p.typeParam(c))
			}
		}
	default:
		s.kind, s.reason = sOpaque, "unknown type alias"
		return
	}
	s.value = p.expr(right)
}

func (p *parser) imports(n *syntax.Node) []alias {
	var out []alias
	for _, c := range n.Children {
		if c.Field != "name" {
			continue
		}
		if c.Kind == "aliased_import" {
			a := alias{name: p.dotted(c.Child("name")), as: p.text(c.Child("alias")), pos: c.Span.Start}
			out = append(out, a)
			continue
		}
		out = append(out, alias{name: p.dotted(c), pos: c.Span.Start})
	}
	return out
}

// dotted is a dotted name without the white space it may contain.
func (p *parser) dotted(n *syntax.Node) string {
	if len(n.Children) == 0 {
		return p.text(n)
	}
	var b strings.Builder
	for _, c := range n.Children {
		if !c.Extra {
			b.WriteString(p.dotted(c))
		}
	}
	return b.String()
}

// only is the expression of a node that holds at most one.
func (p *parser) only(n *syntax.Node) *expr {
	ks := named(n)
	if len(ks) == 0 {
		return nil
	}
	return p.expr(ks[0])
}

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
