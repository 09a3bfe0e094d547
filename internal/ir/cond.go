package ir

import (
	"slices"
	"strings"
)

// CondOp is the outermost operator of a condition.
type CondOp uint8

const (
	CondLeaf    CondOp = iota // Text is the normalised expression
	CondAnd                   // Kids, two or more
	CondOr                    // Kids, two or more
	CondNot                   // one Kid
	CondCompare               // Rel between Kids[0] and Kids[1], both leaves
)

// Cond is the shape of a condition, as far as two conditions are compared: up
// to negation, De Morgan, operand order and mirrored comparisons. The lowerer
// makes it from the syntax; it is one node in the graph all the same.
type Cond struct {
	Op   CondOp
	Rel  string // ==, !=, <, <=, >, >=, is, is not, in, not in, ...
	Text string // of a leaf
	Kids []*Cond
}

// opposite is the relation that holds exactly when rel does not.
var opposite = map[string]string{
	"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
	"is": "is not", "is not": "is", "in": "not in", "not in": "in",
}

// mirrored is the relation with its sides exchanged.
var mirrored = map[string]string{
	"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=", "is": "is", "is not": "is not",
}

// negate gives the negation of a condition in negation normal form.
func (c *Cond) negate() *Cond { return c.normal(true) }

// normal is negation normal form: no Not above anything but a leaf, relations
// in one direction, operands of and/or flat, sorted and each once.
func (c *Cond) normal(not bool) *Cond {
	switch c.Op {
	case CondNot:
		return c.Kids[0].normal(!not)
	case CondAnd, CondOr:
		op := c.Op
		if not {
			op = CondAnd + CondOr - op
		}
		out := &Cond{Op: op}
		for _, k := range c.Kids {
			n := k.normal(not)
			if n.Op == op {
				out.Kids = append(out.Kids, n.Kids...)
			} else {
				out.Kids = append(out.Kids, n)
			}
		}
		slices.SortFunc(out.Kids, func(a, b *Cond) int { return strings.Compare(a.String(), b.String()) })
		out.Kids = slices.CompactFunc(out.Kids, func(a, b *Cond) bool { return a.String() == b.String() })
		if len(out.Kids) == 1 {
			return out.Kids[0]
		}
		return out
	case CondCompare:
		out := &Cond{Op: CondCompare, Rel: c.Rel, Kids: []*Cond{c.Kids[0], c.Kids[1]}}
		if not {
			if o, ok := opposite[out.Rel]; ok {
				out.Rel = o
			} else {
				return &Cond{Op: CondNot, Kids: []*Cond{out}}
			}
		}
		if m, ok := mirrored[out.Rel]; ok && (out.Kids[0].Text > out.Kids[1].Text) {
			out.Rel = m
			out.Kids[0], out.Kids[1] = out.Kids[1], out.Kids[0]
		}
		return out
	}
	if not {
		return &Cond{Op: CondNot, Kids: []*Cond{c}}
	}
	return c
}

// Equal reports whether two conditions always come out the same, by form.
func (c *Cond) Equal(o *Cond) bool { return c.normal(false).String() == o.normal(false).String() }

// Opposite reports whether one is the negation of the other, by form.
func (c *Cond) Opposite(o *Cond) bool { return c.normal(false).String() == o.negate().String() }

// Positive is the normal form of the condition or of its negation, whichever
// stands first in the order of texts: the same for both.
func (c *Cond) Positive() *Cond {
	yes, no := c.normal(false), c.negate()
	if no.String() < yes.String() {
		return no
	}
	return yes
}

// Negative reports whether Positive is the condition's negation.
func (c *Cond) Negative() bool { return c.negate().String() < c.normal(false).String() }

// Rename gives the condition with leaves rewritten.
func (c *Cond) Rename(leaf func(string) string) *Cond {
	out := &Cond{Op: c.Op, Rel: c.Rel, Text: c.Text}
	if c.Op == CondLeaf {
		out.Text = leaf(c.Text)
	}
	for _, k := range c.Kids {
		out.Kids = append(out.Kids, k.Rename(leaf))
	}
	return out
}

// String writes the condition with brackets around every operand that is not
// a leaf.
func (c *Cond) String() string {
	wrap := func(k *Cond) string {
		if k.Op == CondLeaf || k.Op == CondCompare && c.Op != CondCompare {
			return k.String()
		}
		return "(" + k.String() + ")"
	}
	switch c.Op {
	case CondNot:
		return "not " + wrap(c.Kids[0])
	case CondAnd, CondOr:
		word := " and "
		if c.Op == CondOr {
			word = " or "
		}
		parts := make([]string, len(c.Kids))
		for i, k := range c.Kids {
			parts[i] = wrap(k)
		}
		return strings.Join(parts, word)
	case CondCompare:
		return wrap(c.Kids[0]) + " " + c.Rel + " " + wrap(c.Kids[1])
	}
	return c.Text
}

// Operands are the parts of a condition joined by its outermost and/or, each
// in both its forms: what another condition may have taken over.
func (c *Cond) Operands() map[string]bool {
	n := c.normal(false)
	parts := []*Cond{n}
	if n.Op == CondAnd || n.Op == CondOr {
		parts = n.Kids
	}
	out := map[string]bool{}
	for _, p := range parts {
		out[p.Positive().String()] = true
	}
	return out
}
