package python

import (
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// pattern reads a pattern of a case clause.
func (p *parser) pattern(n *syntax.Node) *expr {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return p.bad(n)
	}
	e := p.pattern1(n)
	if e.span.End == 0 {
		e.span = n.Span
	}
	return e
}

func (p *parser) patterns(ns []*syntax.Node) []*expr {
	var out []*expr
	for _, n := range ns {
		out = append(out, p.pattern(n))
	}
	return out
}

func (p *parser) pattern1(n *syntax.Node) *expr {
	ks := named(n)
	switch n.Kind {
	case "case_pattern":
		return p.casePattern(n, ks)
	case "dotted_name", "identifier":
		if n.Kind == "identifier" || len(ks) == 1 {
			name := p.text(n)
			if name == "_" {
				return &expr{kind: pWild}
			}
			return &expr{kind: pCapture, val: name}
		}
		return &expr{kind: pValue, kids: []*expr{p.dottedExpr(ks)}}
	case "tuple_pattern":
		if len(ks) == 1 && !hasToken(n, ",") {
			if k := p.pattern(ks[0]); k.kind != pStar {
				k.paren = true
				return k
			}
		}
		return &expr{kind: pSeq, kids: p.patterns(ks)}
	case "list_pattern":
		return &expr{kind: pSeq, kids: p.patterns(ks)}
	case "splat_pattern":
		name := "_"
		if len(ks) > 0 {
			name = p.text(ks[0])
		}
		return &expr{kind: pStar, val: name}
	case "union_pattern":
		return p.union(n)
	case "as_pattern":
		if len(ks) != 2 {
			return p.bad(n)
		}
		return &expr{kind: pAs, val: p.text(ks[1]), kids: []*expr{p.pattern(ks[0])}}
	case "keyword_pattern":
		if len(ks) == 0 {
			return p.bad(n)
		}
		return &expr{kind: pKeyword, val: p.text(ks[0]), kids: []*expr{p.sequence(n, 2)}}
	case "class_pattern":
		if len(ks) == 0 {
			return p.bad(n)
		}
		e := &expr{kind: pClass, kids: []*expr{p.dottedExpr(named(ks[0]))}}
		e.kids = append(e.kids, p.patterns(ks[1:])...)
		return e
	case "dict_pattern":
		return p.mapping(n)
	case "complex_pattern":
		return &expr{kind: pValue, kids: []*expr{p.complexNumber(n)}}
	case "string", "concatenated_string", "true", "false", "none", "integer", "float":
		return &expr{kind: pValue, kids: []*expr{p.expr(n)}}
	case "_":
		return &expr{kind: pWild}
	}
	return p.bad(n)
}

// casePattern unwraps a case_pattern, whose wildcard and minus are bare tokens.
func (p *parser) casePattern(n *syntax.Node, ks []*syntax.Node) *expr {
	if len(ks) == 0 {
		if hasToken(n, "_") {
			return &expr{kind: pWild}
		}
		return p.bad(n)
	}
	return p.sequence(n, 0)
}

// sequence reads the one simple pattern among the children of n from the given
// one on, with the minus that may stand before a number.
func (p *parser) sequence(n *syntax.Node, from int) *expr {
	minus := -1
	for i, c := range n.Children {
		switch {
		case i < from || c.Extra:
		case c.Kind == "-":
			minus = c.Span.Start
		case c.Kind == "_" && !c.Named:
			return &expr{kind: pWild, span: c.Span}
		case c.Named:
			e := p.pattern(c)
			if minus >= 0 && e.kind == pValue {
				span := source.Span{Start: minus, End: c.Span.End}
				e = &expr{kind: pValue, span: span, kids: []*expr{{kind: eUnary, val: "-", kids: e.kids, span: span}}}
			}
			return e
		}
	}
	return p.bad(n)
}

func (p *parser) union(n *syntax.Node) *expr {
	e := &expr{kind: pOr}
	minus := -1
	for _, c := range n.Children {
		switch {
		case c.Extra || c.Kind == "|":
		case c.Kind == "-":
			minus = c.Span.Start
		case c.Kind == "_" && !c.Named:
			e.kids = append(e.kids, &expr{kind: pWild, span: c.Span})
		case c.Named:
			k := p.pattern(c)
			if minus >= 0 && k.kind == pValue {
				k = &expr{kind: pValue, span: k.span, kids: []*expr{{kind: eUnary, val: "-", kids: k.kids, span: k.span}}}
			}
			minus = -1
			if k.kind == pOr && !k.paren {
				e.kids = append(e.kids, k.kids...)
				continue
			}
			e.kids = append(e.kids, k)
		}
	}
	return e
}

func (p *parser) mapping(n *syntax.Node) *expr {
	e := &expr{kind: pMap}
	minus := -1
	var key *expr
	for _, c := range n.Children {
		switch {
		case c.Extra:
		case c.Kind == "-":
			minus = c.Span.Start
		case c.Field == "key":
			key = p.pattern(c)
			if key.kind == pValue {
				key = key.kids[0]
			}
			if minus >= 0 {
				key = &expr{kind: eUnary, val: "-", kids: []*expr{key}, span: key.span}
			}
			minus = -1
		case c.Field == "value" && key != nil:
			e.kids = append(e.kids, key, p.pattern(c))
			key = nil
		case c.Kind == "splat_pattern":
			if ks := named(c); len(ks) > 0 {
				e.val = p.text(ks[0])
			}
		}
	}
	return e
}

func (p *parser) complexNumber(n *syntax.Node) *expr {
	var e *expr
	op := ""
	for _, c := range n.Children {
		switch {
		case c.Extra:
		case !c.Named:
			op = c.Kind
		case e == nil:
			e = p.expr(c)
			if op == "-" {
				e = &expr{kind: eUnary, val: "-", kids: []*expr{e}, span: n.Span}
			}
		default:
			e = &expr{kind: eBin, val: op, kids: []*expr{e, p.expr(c)}, span: n.Span}
		}
	}
	if e == nil {
		return p.bad(n)
	}
	return e
}

// irrefutable reports whether a pattern always matches.
func irrefutable(e *expr) bool {
	switch e.kind {
	case pWild, pCapture:
		return true
	case pAs:
		return irrefutable(e.kids[0])
	case pOr:
		return irrefutable(e.kids[len(e.kids)-1])
	}
	return false
}
