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
