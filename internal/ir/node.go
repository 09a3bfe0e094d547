package ir

import "strings"

// StmtOf is the ordinary statement of a node: its header where it is compound,
// nil for a Try or Config, which have none of their own.
func StmtOf(n Node) *Stmt {
	switch n := n.(type) {
	case *Simple:
		return n.S
	case *If:
		return n.S
	case *Loop:
		return n.S
	case *Switch:
		return n.S
	case *CaseLabel:
		return n.S
	case *Match:
		return n.S
	case *Scope:
		return n.S
	case *Jump:
		return n.S
	case *Leaves:
		return n.S
	case *Return:
		return n.S
	case *Throw:
		return n.S
	case *Assert:
		return n.S
	case *Label:
		return n.S
	case *Opaque:
		return n.S
	}
	return nil
}

// Walk calls fn on every ordinary statement of the function in the order of
// its structure, with the number of compound statements around it. An elif is
// as deep as its if.
func (f *Func) Walk(fn func(s *Stmt, depth int)) { walk(f.Body, 0, fn) }

func walk(nodes []Node, depth int, fn func(*Stmt, int)) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *If:
			fn(n.S, depth)
			walk(n.Then, depth+1, fn)
			if len(n.Else) == 1 {
				if elif, ok := n.Else[0].(*If); ok && elif.ElseIf {
					walk(n.Else, depth, fn)
					continue
				}
			}
			walk(n.Else, depth+1, fn)
		case *Loop:
			walk(n.Init, depth, fn)
			if !n.Kind.HeaderLast() {
				fn(n.S, depth)
			}
			walk(n.Post, depth, fn)
			walk(n.Body, depth+1, fn)
			if n.Kind.HeaderLast() {
				fn(n.S, depth)
			}
			walk(n.Else, depth+1, fn)
		case *Switch:
			fn(n.S, depth)
			walk(n.Body, depth+1, fn)
		case *Match:
			fn(n.S, depth)
			for _, c := range n.Cases {
				fn(c.S, depth+1)
				walk(c.Body, depth+2, fn)
			}
		case *Try:
			walk(n.Body, depth+1, fn)
			for _, h := range n.Handlers {
				fn(h.S, depth)
				walk(h.Body, depth+1, fn)
			}
			walk(n.Else, depth+1, fn)
			walk(n.Finally, depth+1, fn)
		case *Scope:
			fn(n.S, depth)
			walk(n.Body, depth+1, fn)
		case *Config:
			for _, a := range n.Arms {
				fn(a.S, depth)
				walk(a.Body, depth+1, fn)
			}
		default:
			fn(StmtOf(n), depth)
		}
	}
}

// Completes reports whether control can fall off the end of a sequence, as far
// as its structure tells: calls are taken to come back.
func Completes(nodes []Node) bool {
	for _, n := range nodes {
		if !completes(n) {
			return false
		}
	}
	return true
}

func completes(n Node) bool {
	switch n := n.(type) {
	case *Return, *Throw, *Jump:
		return false
	case *Leaves:
		return n.Stays
	case *If:
		return Completes(n.Then) || Completes(n.Else)
	case *Loop:
		return !(n.Kind == Forever || n.Kind == DoForever || n.Kind == For && n.S.Cond == nil) || breaks(n.Body, n.Label)
	case *Match:
		for _, c := range n.Cases {
			if Completes(c.Body) {
				return true
			}
		}
		return len(n.Cases) == 0 || !n.Cases[len(n.Cases)-1].Irrefutable
	case *Try:
		if len(n.Finally) > 0 && !Completes(n.Finally) {
			return false
		}
		if Completes(n.Body) && Completes(n.Else) {
			return true
		}
		if n.Rethrows {
			return false
		}
		for _, h := range n.Handlers {
			if Completes(h.Body) {
				return true
			}
		}
		return false
	case *Scope:
		return n.Suppress || Completes(n.Body)
	}
	return true
}

// breaks reports whether some break leaves the loop around these statements.
func breaks(nodes []Node, label string) bool {
	for _, n := range nodes {
		switch n := n.(type) {
		case *Jump:
			if n.S.Kind == KindBreak && (n.Label == "" || n.Label == label) || n.S.Kind == KindGoto {
				return true
			}
		case *Leaves:
			for _, e := range n.Exits {
				if e.Kind == KindBreak || e.Kind == KindGoto {
					return true
				}
			}
		case *If:
			if breaks(n.Then, label) || breaks(n.Else, label) {
				return true
			}
		case *Loop:
			if breaks(n.Else, label) || label != "" && breaks(n.Body, label) {
				return true
			}
		case *Switch:
			if label != "" && breaks(n.Body, label) {
				return true
			}
		case *Match:
			for _, c := range n.Cases {
				if breaks(c.Body, label) {
					return true
				}
			}
		case *Try:
			if breaks(n.Body, label) || breaks(n.Else, label) || breaks(n.Finally, label) {
				return true
			}
			for _, h := range n.Handlers {
				if breaks(h.Body, label) {
					return true
				}
			}
		case *Scope:
			if breaks(n.Body, label) {
				return true
			}
		case *Config:
			for _, a := range n.Arms {
				if breaks(a.Body, label) {
					return true
				}
			}
		}
	}
	return false
}

// Condition is the text of what a header tests, without its keyword: of an if
// or while the condition, of a foreach what follows `for`, of a handler its
// type. It is "" for a statement that tests nothing.
func (s *Stmt) Condition() string {
	if s.Test != "" {
		return s.Test
	}
	switch s.Kind {
	case KindIf, KindWhile, KindFor, KindForeach, KindDo, KindSwitch, KindCase, KindMatch, KindWith, KindHandler, KindAssert:
		if i := strings.IndexByte(s.Text, ' '); i >= 0 {
			return s.Text[i+1:]
		}
	}
	return ""
}

// Bodies lists the sequences directly inside a node, in source order.
func Bodies(n Node) [][]Node {
	switch n := n.(type) {
	case *If:
		return [][]Node{n.Then, n.Else}
	case *Loop:
		return [][]Node{n.Init, n.Post, n.Body, n.Else}
	case *Switch:
		return [][]Node{n.Body}
	case *Match:
		var out [][]Node
		for _, c := range n.Cases {
			out = append(out, c.Body)
		}
		return out
	case *Try:
		out := [][]Node{n.Body}
		for _, h := range n.Handlers {
			out = append(out, h.Body)
		}
		return append(out, n.Else, n.Finally)
	case *Scope:
		return [][]Node{n.Body}
	case *Config:
		var out [][]Node
		for _, a := range n.Arms {
			out = append(out, a.Body)
		}
		return out
	}
	return nil
}

// Nodes calls fn on every structured statement of the function, outer first.
func (f *Func) Nodes(fn func(Node)) {
	var visit func([]Node)
	visit = func(nodes []Node) {
		for _, n := range nodes {
			fn(n)
			for _, b := range Bodies(n) {
				visit(b)
			}
		}
	}
	visit(f.Body)
}
