package python

import (
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

func (p *parser) exprs(ns []*syntax.Node) []*expr {
	out := make([]*expr, 0, len(ns))
	for _, n := range ns {
		out = append(out, p.expr(n))
	}
	return out
}

func (p *parser) bad(n *syntax.Node) *expr {
	return &expr{kind: eBad, val: fold(p.text(n)), span: n.Span}
}

// expr reads an expression; what it does not know is eBad.
func (p *parser) expr(n *syntax.Node) *expr {
	if n == nil {
		return &expr{kind: eBad}
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return p.bad(n)
	}
	e := p.expr1(n)
	if e.span.End == 0 {
		e.span = n.Span
	}
	return e
}

func (p *parser) expr1(n *syntax.Node) *expr {
	ks := named(n)
	kid := func(i int) *expr {
		if i < len(ks) {
			return p.expr(ks[i])
		}
		return p.bad(n)
	}
	switch n.Kind {
	case "identifier":
		if keyword(p.text(n)) { // error recovery takes one for a name
			return p.bad(n)
		}
		return &expr{kind: eName, val: p.text(n)}
	case "integer", "float":
		return number(p.text(n))
	case "true":
		return &expr{kind: eConst, val: "True", truth: 1}
	case "false":
		return &expr{kind: eConst, val: "False", truth: -1}
	case "none":
		return &expr{kind: eConst, val: "None", truth: -1}
	case "ellipsis":
		return &expr{kind: eConst, val: "...", truth: 1}
	case "string":
		return p.strings(n, []*syntax.Node{n})
	case "concatenated_string":
		return p.strings(n, ks)
	case "parenthesized_expression":
		e := kid(0)
		e.paren = true
		return e
	case "tuple", "expression_list", "pattern_list", "tuple_pattern":
		if len(ks) == 1 && !hasToken(n, ",") {
			e := kid(0)
			e.paren = true
			return e
		}
		return &expr{kind: eTuple, kids: p.exprs(ks), paren: n.Kind == "tuple" || n.Kind == "tuple_pattern"}
	case "list", "list_pattern":
		return &expr{kind: eList, kids: p.exprs(ks)}
	case "set":
		return &expr{kind: eSet, kids: p.exprs(ks)}
	case "dictionary":
		e := &expr{kind: eDict}
		for _, k := range ks {
			if k.Kind == "pair" {
				e.kids = append(e.kids, p.expr(k.Child("key")), p.expr(k.Child("value")))
				continue
			}
			e.kids = append(e.kids, nil, p.only(k))
		}
		return e
	case "attribute":
		name := n.Child("attribute")
		if name == nil {
			return p.bad(n)
		}
		return p.onFirst(n.Child("object"), func(o *expr) *expr {
			return &expr{kind: eAttr, val: p.text(name), kids: []*expr{o}}
		})
	case "subscript":
		return p.onFirst(n.Child("value"), func(o *expr) *expr {
			return &expr{kind: eSub, kids: []*expr{o, p.index(n)}}
		})
	case "call":
		return p.call(n)
	case "binary_operator", "unary_operator", "await", "union_type":
		return p.operators(n)
	case "not_operator":
		return &expr{kind: eNot, kids: []*expr{p.expr(n.Child("argument"))}}
	case "boolean_operator":
		return p.boolean(n)
	case "comparison_operator":
		return p.comparison(n)
	case "conditional_expression":
		if len(ks) != 3 {
			return p.bad(n)
		}
		return p.onFirst(ks[0], func(o *expr) *expr { return &expr{kind: eIf, kids: []*expr{o, kid(1), kid(2)}} })
	case "lambda":
		e := &expr{kind: eLambda, kids: []*expr{p.expr(n.Child("body"))}}
		if ps := n.Child("parameters"); ps != nil {
			e.params = p.parameters(ps)
		}
		return e
	case "named_expression":
		return &expr{kind: eWalrus, kids: []*expr{p.expr(n.Child("name")), p.expr(n.Child("value"))}}
	case "yield":
		e := &expr{kind: eYield}
		if hasToken(n, "from") {
			e.kind = eYieldFrom
		}
		if len(ks) > 0 {
			e.kids = []*expr{kid(0)}
		}
		return e
	case "list_splat", "list_splat_pattern", "parenthesized_list_splat":
		return &expr{kind: eStar, kids: []*expr{kid(0)}}
	case "dictionary_splat", "dictionary_splat_pattern":
		return &expr{kind: eDoubleStar, kids: []*expr{kid(0)}}
	case "splat_type":
		return &expr{kind: eStar, kids: []*expr{kid(0)}}
	case "list_comprehension":
		return p.comprehension(n, "[")
	case "set_comprehension":
		return p.comprehension(n, "{")
	case "generator_expression":
		return p.comprehension(n, "(")
	case "dictionary_comprehension":
		return p.comprehension(n, ":")
	case "keyword_argument":
		return &expr{kind: eKeyword, val: p.text(n.Child("name")), kids: []*expr{p.expr(n.Child("value"))}}
	case "slice":
		return p.slice(n)
	case "constrained_type": // a[1:2] inside an annotation
		return &expr{kind: eSlice, kids: []*expr{kid(0), kid(1), nil}}
	case "type", "as_pattern_target":
		return kid(0)
	case "generic_type":
		return &expr{kind: eSub, kids: []*expr{kid(0), p.elements(n.ChildOf("type_parameter"))}}
	case "member_type":
		return &expr{kind: eAttr, val: p.text(ks[len(ks)-1]), kids: []*expr{kid(0)}}
	case "dotted_name":
		return p.dottedExpr(ks)
	}
	return p.bad(n)
}

// keyword reports a word that no version of Python takes for a name.
func keyword(word string) bool {
	switch word {
	case "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
		"global", "if", "import", "in", "is", "lambda", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield":
		return true
	}
	return false
}

// onFirst builds an expression around its first operand. The grammar takes
// `*f()` for a call of `*f`: the star is put back to the outside.
func (p *parser) onFirst(first *syntax.Node, build func(*expr) *expr) *expr {
	o := p.expr(first)
	if o.kind == eStar && !o.paren && first.Kind != "parenthesized_expression" {
		return &expr{kind: eStar, kids: []*expr{build(o.kids[0])}}
	}
	return build(o)
}

func (p *parser) dottedExpr(ks []*syntax.Node) *expr {
	var e *expr
	for _, k := range ks {
		if e == nil {
			e = &expr{kind: eName, val: p.text(k), span: k.Span}
			continue
		}
		e = &expr{kind: eAttr, val: p.text(k), kids: []*expr{e}, span: source.Span{Start: e.span.Start, End: k.Span.End}}
	}
	if e == nil {
		return &expr{kind: eBad}
	}
	return e
}

// index is what stands in the brackets of a subscript.
func (p *parser) index(n *syntax.Node) *expr {
	var ks []*syntax.Node
	for _, c := range n.Children {
		if c.Field == "subscript" && c.Named {
			ks = append(ks, c)
		}
	}
	return p.tupled(n, ks)
}

func (p *parser) elements(n *syntax.Node) *expr {
	if n == nil {
		return &expr{kind: eBad}
	}
	return p.tupled(n, named(n))
}

func (p *parser) tupled(n *syntax.Node, ks []*syntax.Node) *expr {
	if len(ks) == 1 && !hasToken(n, ",") {
		e := p.expr(ks[0])
		if e.kind != eStar { // a[*b] is a[(*b,)]
			return e
		}
		return &expr{kind: eTuple, kids: []*expr{e}, span: ks[0].Span}
	}
	return &expr{kind: eTuple, kids: p.exprs(ks), span: n.Span}
}

func (p *parser) slice(n *syntax.Node) *expr {
	e := &expr{kind: eSlice, kids: make([]*expr, 3)}
	i := 0
	for _, c := range n.Children {
		if c.Extra {
			continue
		}
		if c.Kind == ":" {
			i++
			continue
		}
		if c.Named && i < 3 {
			e.kids[i] = p.expr(c)
		}
	}
	return e
}

func (p *parser) call(n *syntax.Node) *expr {
	args := n.Child("arguments")
	if args == nil {
		return p.bad(n)
	}
	return p.onFirst(n.Child("function"), func(f *expr) *expr {
		e := &expr{kind: eCall, kids: []*expr{f}}
		if args.Kind == "generator_expression" {
			e.kids = append(e.kids, p.expr(args))
			return e
		}
		e.kids = append(e.kids, p.arguments(args)...)
		return e
	})
}

// arguments puts those with a keyword last: f(a=x, *y) is evaluated, and
// printed by Python, as f(*y, a=x).
func (p *parser) arguments(n *syntax.Node) []*expr {
	var plain, keyed []*expr
	for _, e := range p.exprs(named(n)) {
		if e.kind == eKeyword || e.kind == eDoubleStar {
			keyed = append(keyed, e)
		} else {
			plain = append(plain, e)
		}
	}
	return append(plain, keyed...)
}

// boolean joins `a and b and c` to one node, as Python does.
func (p *parser) boolean(n *syntax.Node) *expr {
	op := n.Child("operator")
	if op == nil {
		return p.bad(n)
	}
	kind := eAnd
	if op.Kind == "or" {
		kind = eOr
	}
	var rights []*syntax.Node
	left := n
	for left.Kind == "boolean_operator" && left.Child("operator") != nil && left.Child("operator").Kind == op.Kind {
		rights = append(rights, left.Child("right"))
		left = left.Child("left")
	}
	return p.onFirst(left, func(o *expr) *expr {
		e := &expr{kind: kind, kids: []*expr{o}}
		for i := len(rights) - 1; i >= 0; i-- {
			e.kids = append(e.kids, p.expr(rights[i]))
		}
		return e
	})
}

func (p *parser) comparison(n *syntax.Node) *expr {
	var ops []string
	var operands []*syntax.Node
	for _, c := range n.Children {
		switch {
		case c.Extra:
		case c.Field == "operators":
			if c.Kind == "<>" {
				ops = append(ops, "!=")
			} else {
				ops = append(ops, fold(c.Kind))
			}
		default:
			operands = append(operands, c)
		}
	}
	// the grammar may nest comparisons to the left
	if len(operands) != len(ops)+1 {
		return p.bad(n)
	}
	return p.onFirst(operands[0], func(o *expr) *expr {
		e := &expr{kind: eCompare, ops: ops, kids: []*expr{o}}
		if o.kind == eCompare && !o.paren {
			e.kids, e.ops = o.kids, append(o.ops, ops...)
		}
		e.kids = append(e.kids, p.exprs(operands[1:])...)
		return e
	})
}

func (p *parser) comprehension(n *syntax.Node, kind string) *expr {
	e := &expr{kind: eComp, val: kind}
	for _, c := range n.Children {
		switch {
		case c.Field == "body":
			if c.Kind == "pair" {
				e.kids = append(e.kids, p.expr(c.Child("key")), p.expr(c.Child("value")))
			} else {
				e.kids = append(e.kids, p.expr(c))
			}
		case c.Kind == "for_in_clause":
			f := &compFor{async: hasToken(c, "async"), target: p.expr(c.Child("left"))}
			var its []*syntax.Node
			comma := false
			seen := false
			for _, k := range c.Children {
				if k.Field == "right" && k.Named {
					its = append(its, k)
					seen = true
				}
				if seen && k.Kind == "," {
					comma = true
				}
			}
			if len(its) == 1 && !comma {
				f.iter = p.expr(its[0])
			} else {
				f.iter = &expr{kind: eTuple, kids: p.exprs(its), span: c.Span}
			}
			e.clauses = append(e.clauses, f)
		case c.Kind == "if_clause":
			if len(e.clauses) > 0 {
				last := e.clauses[len(e.clauses)-1]
				last.ifs = append(last.ifs, p.only(c))
			}
		}
	}
	if len(e.kids) == 0 || len(e.clauses) == 0 {
		return p.bad(n)
	}
	return e
}

// operators regroups arithmetic: the grammar ranks ^ above & and ** above
// await, Python does not.
func (p *parser) operators(n *syntax.Node) *expr {
	var toks []opToken
	p.flatten(n, &toks)
	star := false
	for _, t := range toks {
		if t.operand == nil {
			continue
		}
		if t.operand.kind == eStar && !t.operand.paren {
			*t.operand = *t.operand.kids[0]
			star = true
		}
		break
	}
	c := climber{toks: toks}
	e := c.binary(precBor)
	if c.at < len(toks) {
		return p.bad(n)
	}
	if star {
		return &expr{kind: eStar, kids: []*expr{e}}
	}
	return e
}

type opToken struct {
	op      string
	operand *expr
	pos     int
}

func (p *parser) flatten(n *syntax.Node, out *[]opToken) {
	// A long sum nests to the left: its spine is walked without recursion.
	var spine []*syntax.Node
	for n != nil && (n.Kind == "binary_operator" || n.Kind == "union_type") {
		spine = append(spine, n)
		n = sideOf(n, 0)
	}
	p.prefix(n, out)
	for i := len(spine) - 1; i >= 0; i-- {
		op := "|"
		if o := spine[i].Child("operator"); o != nil {
			op = o.Kind
		}
		*out = append(*out, opToken{op: op})
		p.flattenRight(sideOf(spine[i], 1), out)
	}
}

func (p *parser) flattenRight(n *syntax.Node, out *[]opToken) {
	if n == nil {
		*out = append(*out, opToken{operand: &expr{kind: eBad}})
		return
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		*out = append(*out, opToken{operand: p.bad(n)})
		return
	}
	p.flatten(n, out)
}

// sideOf is the left (0) or right (1) operand, with the wrapper `type` removed.
func sideOf(n *syntax.Node, i int) *syntax.Node {
	ks := named(n)
	if len(ks) != 2 {
		return nil
	}
	c := ks[i]
	for c.Kind == "type" && len(named(c)) == 1 {
		c = named(c)[0]
	}
	return c
}

func (p *parser) prefix(n *syntax.Node, out *[]opToken) {
	for n != nil && (n.Kind == "unary_operator" || n.Kind == "await") {
		op := "await"
		if o := n.Child("operator"); o != nil {
			op = o.Kind
		}
		*out = append(*out, opToken{op: op, pos: n.Span.Start})
		ks := named(n)
		if len(ks) == 0 {
			n = nil
			break
		}
		n = ks[len(ks)-1]
	}
	switch {
	case n == nil:
		*out = append(*out, opToken{operand: &expr{kind: eBad}})
	case n.Kind == "binary_operator" || n.Kind == "union_type":
		p.flattenRight(n, out)
	default:
		*out = append(*out, opToken{operand: p.expr(n)})
	}
}

// climber rebuilds a flat run of operators by Python's precedences.
type climber struct {
	toks []opToken
	at   int
}

func (c *climber) peek() string {
	if c.at < len(c.toks) {
		return c.toks[c.at].op
	}
	return ""
}

func (c *climber) binary(min int) *expr {
	left := c.factor()
	for {
		op := c.peek()
		if op == "" || op == "await" || op == "~" || op == "**" || binPrec(op) < min {
			return left
		}
		c.at++
		right := c.binary(binPrec(op) + 1)
		left = &expr{kind: eBin, val: op, kids: []*expr{left, right}, span: join(left, right)}
	}
}

func (c *climber) factor() *expr {
	switch op := c.peek(); op {
	case "+", "-", "~":
		pos := c.toks[c.at].pos
		c.at++
		k := c.factor()
		return &expr{kind: eUnary, val: op, kids: []*expr{k}, span: source.Span{Start: pos, End: k.span.End}}
	}
	base := c.primary()
	if c.peek() == "**" {
		c.at++
		right := c.factor()
		return &expr{kind: eBin, val: "**", kids: []*expr{base, right}, span: join(base, right)}
	}
	return base
}

func (c *climber) primary() *expr {
	if c.peek() == "await" {
		pos := c.toks[c.at].pos
		c.at++
		k := c.primary()
		return &expr{kind: eAwait, kids: []*expr{k}, span: source.Span{Start: pos, End: k.span.End}}
	}
	if c.at >= len(c.toks) || c.toks[c.at].operand == nil {
		return &expr{kind: eBad}
	}
	c.at++
	return c.toks[c.at-1].operand
}

func join(a, b *expr) source.Span { return source.Span{Start: a.span.Start, End: b.span.End} }
