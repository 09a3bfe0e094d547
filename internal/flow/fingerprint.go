package flow

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"flowplan/internal/cfg"
	"flowplan/internal/ir"
	"flowplan/internal/source"
)

// Fingerprint tells what kind of change two versions of a function differ in:
// equal CFG and DFG hashes mean that its flow is the same, an equal Text hash
// that it was not edited at all, comments and formatting aside.
type Fingerprint struct{ CFG, DFG, Text string }

// Fingerprint computes the hashes of a view.
func (v *View) Fingerprint() Fingerprint {
	return Fingerprint{CFG: short(v.shape()), DFG: short(v.pairs()), Text: short(v.TextForm())}
}

func short(s string) string { return source.Hash([]byte(s))[:16] }

// TextForm is the function's normalised text with its nesting: equal for two
// formattings of the same code and for nothing else.
func (v *View) TextForm() string {
	var b strings.Builder
	if v.Func.Kind != ir.FuncModule {
		b.WriteString(v.Func.Signature)
	}
	writeNodes(&b, v.Func.Body)
	return b.String()
}

func writeNodes(b *strings.Builder, nodes []ir.Node) {
	b.WriteByte('{')
	for _, n := range nodes {
		writeNode(b, n)
	}
	b.WriteByte('}')
}

func writeNode(b *strings.Builder, n ir.Node) {
	text := func(s *ir.Stmt) {
		b.WriteByte('\n')
		b.WriteString(string(s.Kind))
		b.WriteByte(' ')
		b.WriteString(s.Text)
	}
	switch n := n.(type) {
	case *ir.If:
		text(n.S)
		writeNodes(b, n.Then)
		writeNodes(b, n.Else)
	case *ir.Loop:
		writeNodes(b, n.Init)
		text(n.S)
		writeNodes(b, n.Post)
		writeNodes(b, n.Body)
		writeNodes(b, n.Else)
	case *ir.Switch:
		text(n.S)
		writeNodes(b, n.Body)
	case *ir.Match:
		text(n.S)
		for _, c := range n.Cases {
			text(c.S)
			writeNodes(b, c.Body)
		}
	case *ir.Try:
		b.WriteString("\ntry")
		writeNodes(b, n.Body)
		for _, h := range n.Handlers {
			text(h.S)
			writeNodes(b, h.Body)
		}
		writeNodes(b, n.Else)
		writeNodes(b, n.Finally)
	case *ir.Scope:
		text(n.S)
		writeNodes(b, n.Body)
	case *ir.Config:
		for _, a := range n.Arms {
			text(a.S)
			writeNodes(b, a.Body)
		}
	default:
		text(ir.StmtOf(n))
	}
}

// significant reports whether a statement is part of the shape: a header or a
// jump. Asserts are plain.
func significant(s *ir.Stmt) bool {
	switch s.Kind {
	case ir.KindIf, ir.KindWhile, ir.KindFor, ir.KindForeach, ir.KindDo, ir.KindSwitch, ir.KindCase, ir.KindMatch,
		ir.KindWith, ir.KindHandler, ir.KindReturn, ir.KindRaise, ir.KindBreak, ir.KindContinue, ir.KindGoto,
		ir.KindLabel, ir.KindFallthrough, ir.KindPreproc, ir.KindOpaque:
		return true
	}
	return false
}

// shape is the canonical form of the graph: headers and jumps numbered in
// source order and the edges between them, plain statements contracted away.
func (v *View) shape() string {
	g := v.Graph
	number := map[*ir.Stmt]int{}
	var b strings.Builder
	for _, s := range v.Func.Stmts {
		if !significant(s) {
			continue
		}
		number[s] = len(number) + 1
		switch s.Kind {
		case ir.KindReturn, ir.KindRaise, ir.KindBreak, ir.KindContinue, ir.KindGoto:
			fmt.Fprintf(&b, "%s\n", s.Kind)
		default:
			fmt.Fprintf(&b, "%s %s\n", s.Kind, headerText(s))
		}
	}
	lines := map[string]bool{}
	var follow func(from int, role cfg.Role, at int, seen map[int]bool)
	follow = func(from int, role cfg.Role, at int, seen map[int]bool) {
		p := &g.Points[at]
		if at == cfg.Exit || at == cfg.RaiseTo || p.Stmt != nil && number[p.Stmt] > 0 {
			to := -at
			if p.Stmt != nil {
				to = number[p.Stmt]
			}
			lines[fmt.Sprintf("%d %s %d", from, role, to)] = true
			return
		}
		if seen[at] {
			return
		}
		seen[at] = true
		for _, a := range p.Out {
			if a.Virtual || a.Role == cfg.Exception || p.Stmt != nil && p.Stmt.Kind == ir.KindAssert && a.Role == cfg.False {
				continue
			}
			r := role
			if r == cfg.Next && a.Role != cfg.True {
				r = a.Role
			}
			follow(from, r, a.To, seen)
		}
	}
	for p := range g.Points {
		s := g.Points[p].Stmt
		from := 0
		if s != nil {
			from = number[s]
		}
		if p != cfg.Entry && from == 0 {
			continue
		}
		for _, a := range g.Points[p].Out {
			switch {
			case a.Virtual:
			case a.Role == cfg.Exception:
			default:
				follow(from, armRole(s, a.Role), a.To, map[int]bool{})
			}
		}
	}
	for p := range g.Points { // exceptions only by where they go
		for _, a := range g.Points[p].Out {
			if a.Role == cfg.Exception && g.Points[a.To].Stmt != nil && number[g.Points[a.To].Stmt] > 0 {
				lines["exc "+strconv.Itoa(number[g.Points[a.To].Stmt])] = true
			}
		}
	}
	sorted := make([]string, 0, len(lines))
	for l := range lines {
		sorted = append(sorted, l)
	}
	sort.Strings(sorted)
	b.WriteString(strings.Join(sorted, "\n"))
	return b.String()
}

// headerText is the text of a header with an outer negation dropped.
func headerText(s *ir.Stmt) string {
	if s.Cond == nil {
		return s.Text
	}
	c := s.Cond.Positive()
	return c.String()
}

// armRole is the role of an arm once an outer negation is dropped.
func armRole(s *ir.Stmt, r cfg.Role) cfg.Role {
	if s == nil || s.Cond == nil || !s.Cond.Negative() {
		return r
	}
	switch r {
	case cfg.True:
		return cfg.False
	case cfg.False:
		return cfg.True
	}
	return r
}

// pairs is the multiset of def-use pairs by text.
func (v *View) pairs() string {
	var lines []string
	for _, p := range v.Chains.Pairs {
		def := string(p.Def.Kind)
		if p.Def.Stmt != nil {
			def += " " + p.Def.Stmt.Text
		}
		lines = append(lines, v.PlaceName(p.Def.Place)+"\x00"+def+"\x00"+p.Use.Text)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
