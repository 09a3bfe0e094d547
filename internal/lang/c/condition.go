package c

import (
	"errors"
	"strings"

	"flowplan/internal/ir"
)

// condition_ is the shape of a condition as far as two are compared.
func (p *parser) condition_(e *expr) *ir.Cond {
	e = bare(e)
	switch e.kind {
	case eAnd, eOr:
		c := &ir.Cond{Op: ir.CondAnd}
		if e.kind == eOr {
			c.Op = ir.CondOr
		}
		for _, k := range e.kids {
			kc := p.condition_(k)
			if kc.Op == c.Op {
				c.Kids = append(c.Kids, kc.Kids...)
			} else {
				c.Kids = append(c.Kids, kc)
			}
		}
		return c
	case eUnary:
		if e.val == "!" {
			return &ir.Cond{Op: ir.CondNot, Kids: []*ir.Cond{p.condition_(e.kids[0])}}
		}
	case eBin:
		switch e.val {
		case "==", "!=", "<", "<=", ">", ">=":
			a, b := bare(e.kids[0]), bare(e.kids[1])
			// p != NULL is p, p == 0 is !p
			if e.val == "==" || e.val == "!=" {
				other := a
				zero := p.isNull(b)
				if !zero && p.isNull(a) {
					zero, other = true, b
				}
				if zero && !p.isNull(other) {
					c := p.condition_(other)
					if e.val == "==" {
						return &ir.Cond{Op: ir.CondNot, Kids: []*ir.Cond{c}}
					}
					return c
				}
			}
			return &ir.Cond{Op: ir.CondCompare, Rel: e.val, Kids: []*ir.Cond{p.leaf(a), p.leaf(b)}}
		}
	}
	return p.leaf(e)
}

func (p *parser) leaf(e *expr) *ir.Cond {
	return &ir.Cond{Op: ir.CondLeaf, Text: p.text(bare(e).toks)}
}

// isNull reports a literal that compares as false: C11 6.5.3.3 and 6.5.9 make
// `x != 0` and `x` the same condition.
func (p *parser) isNull(e *expr) bool {
	if len(e.toks) != 1 {
		return false
	}
	switch e.toks[0].text {
	case "NULL", "nullptr", "0", "false", "FALSE", "'\\0'":
		return true
	}
	return false
}

// errCondition is the answer to a condition that does not parse.
var errCondition = errors.New("not a C condition")

// ParseCondition reads a condition as an agent states it: `if (!p) {`, or
// without the keyword.
func ParseCondition(text string, cpp bool) (*ir.Cond, error) {
	s := strings.TrimSpace(text)
	s = strings.TrimSpace(strings.TrimSuffix(s, "{"))
	for _, w := range []string{"else if", "if constexpr", "if", "while", "do", "switch", "for", "case", "assert"} {
		if rest, ok := strings.CutPrefix(s, w); ok && (rest == "" || !isLetter(rest[0]) && !isDigit(rest[0])) {
			s = strings.TrimSpace(rest)
			break
		}
	}
	s = strings.TrimSpace(strings.TrimSuffix(s, ":"))
	s = strings.TrimSpace(strings.TrimSuffix(s, ";"))
	toks := scan([]byte(s), cpp)
	if len(toks) == 0 {
		return nil, errCondition
	}
	pairs(toks)
	// (init; cond; post) of a for: its condition
	if toks[0].is("(") && int(toks[0].pair) == len(toks)-1 {
		var parts [][]token
		start, depth := 1, 0
		for i := 1; i < len(toks)-1; i++ {
			switch {
			case toks[i].is("("), toks[i].is("["), toks[i].is("{"):
				depth++
			case toks[i].is(")"), toks[i].is("]"), toks[i].is("}"):
				depth--
			case toks[i].is(";") && depth == 0:
				parts = append(parts, toks[start:i])
				start = i + 1
			}
		}
		if len(parts) == 2 {
			toks = append([]token(nil), parts[1]...)
			pairs(toks)
			if len(toks) == 0 {
				return nil, errCondition
			}
		}
	}
	p := &parser{data: []byte(s), toks: toks, end: len(toks), cpp: cpp, types: map[string]bool{}, names: map[string]bool{}}
	e := p.expression()
	if p.i < p.end || hasBad(e) {
		return nil, errCondition
	}
	return p.condition_(e), nil
}
