package python

import (
	"context"
	"errors"
	"strings"

	"flowplan/internal/ir"
	"flowplan/internal/syntax"
)

// condition is the shape of a condition as far as two are compared.
func condition(e *expr) *ir.Cond {
	switch e.kind {
	case eAnd, eOr:
		c := &ir.Cond{Op: ir.CondAnd}
		if e.kind == eOr {
			c.Op = ir.CondOr
		}
		for _, k := range e.kids {
			kc := condition(k)
			if kc.Op == c.Op { // a and (b and c)
				c.Kids = append(c.Kids, kc.Kids...)
			} else {
				c.Kids = append(c.Kids, kc)
			}
		}
		return c
	case eNot:
		return &ir.Cond{Op: ir.CondNot, Kids: []*ir.Cond{condition(e.kids[0])}}
	case eCompare:
		if len(e.ops) == 1 {
			return relation(e.ops[0], e.kids[0], e.kids[1])
		}
		c := &ir.Cond{Op: ir.CondAnd}
		for i, op := range e.ops {
			c.Kids = append(c.Kids, relation(op, e.kids[i], e.kids[i+1]))
		}
		return c
	}
	return leaf(e)
}

func leaf(e *expr) *ir.Cond { return &ir.Cond{Op: ir.CondLeaf, Text: text(e)} }

func relation(op string, a, b *expr) *ir.Cond {
	return &ir.Cond{Op: ir.CondCompare, Rel: op, Kids: []*ir.Cond{leaf(a), leaf(b)}}
}

// errCondition is the answer to a condition that does not parse.
var errCondition = errors.New("not a Python condition")

// parseCondition reads a condition as an agent states it: `if x is None:`, or
// without the keyword and the colon.
func parseCondition(g *syntax.Grammar, raw string) (*ir.Cond, error) {
	s := strings.TrimSpace(raw)
	for _, w := range []string{"else if ", "async for ", "if ", "elif ", "while ", "for ", "assert ", "if(", "elif(", "while("} {
		if strings.HasPrefix(s, w) {
			s = strings.TrimSpace(s[len(strings.TrimSuffix(w, "(")):])
			break
		}
	}
	if t := strings.TrimSpace(strings.TrimSuffix(s, ":")); t != s && t != "" {
		s = t
	}
	if s == "" {
		return nil, errCondition
	}
	// In parentheses a walrus and several lines are allowed.
	data := []byte("if (" + s + "\n):\n    pass\n")
	root, err := g.Parse(context.Background(), prepare(data), nil)
	if err != nil {
		return nil, err
	}
	if root.HasError || len(named(root)) != 1 || named(root)[0].Kind != "if_statement" {
		return nil, errCondition
	}
	p := &parser{data: data}
	n := named(root)[0].Child("condition")
	// The parentheses put around it must have stayed a pair.
	if n.Kind != "parenthesized_expression" && n.Kind != "tuple" || n.Span.End-n.Span.Start != len(s)+3 {
		return nil, errCondition
	}
	e := p.expr(n)
	if hasBad(e) {
		return nil, errCondition
	}
	return condition(e), nil
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
	for _, a := range e.params {
		if hasBad(a.def) {
			return true
		}
	}
	for _, c := range e.clauses {
		if hasBad(c.target) || hasBad(c.iter) {
			return true
		}
		for _, k := range c.ifs {
			if hasBad(k) {
				return true
			}
		}
	}
	return false
}
