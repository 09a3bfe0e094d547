package ir

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
			if n.Kind != Do && n.Kind != Once {
				fn(n.S, depth)
			}
			walk(n.Post, depth, fn)
			walk(n.Body, depth+1, fn)
			if n.Kind == Do || n.Kind == Once {
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
