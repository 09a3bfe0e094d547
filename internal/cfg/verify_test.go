package cfg

import (
	"strings"
	"testing"

	"flowplan/internal/ir"
)

// body numbers hand-made statements, one a line.
type body struct{ stmts []*ir.Stmt }

func (b *body) stmt(kind ir.Kind, text string) *ir.Stmt {
	n := len(b.stmts) + 1
	s := &ir.Stmt{ID: n, Line: n, EndLine: n, Kind: kind, Text: text}
	b.stmts = append(b.stmts, s)
	return s
}

func (b *body) build(nodes ...ir.Node) *Graph {
	return Build(&ir.Func{QualifiedName: "f", Stmts: b.stmts, Body: nodes}, nil)
}

// edges writes the edges of a graph, one a word.
func edges(g *Graph) string {
	var out []string
	for _, e := range g.Edges {
		out = append(out, e.From+"-"+string(e.Role)+"->"+e.To)
	}
	return strings.Join(out, " ")
}

// A fallthrough goes to the label that stands next, not out of the switch.
func TestFallthrough(t *testing.T) {
	var b body
	g := b.build(&ir.Switch{S: b.stmt(ir.KindSwitch, "switch x"), Body: []ir.Node{
		&ir.CaseLabel{S: b.stmt(ir.KindCase, "case 1")},
		&ir.Jump{S: b.stmt(ir.KindFallthrough, "fallthrough")},
		&ir.CaseLabel{S: b.stmt(ir.KindCase, "case 2")},
		&ir.Jump{S: b.stmt(ir.KindBreak, "break")},
	}})
	want := "entry-next->1 1-case->2 1-case->4 1-default->exit 2-fallthrough->4 4-break->exit"
	if got := edges(g); got != want {
		t.Errorf("edges:\n got %s\nwant %s", got, want)
	}
	for _, err := range Verify(g) {
		t.Error(err)
	}
}

// Verify finds what is broken on purpose.
func TestVerifyFinds(t *testing.T) {
	build := func() *Graph {
		var b body
		cond := b.stmt(ir.KindIf, "if x")
		return b.build(
			&ir.If{S: cond, Then: []ir.Node{&ir.Simple{S: b.stmt(ir.KindAssign, "y = 1")}}},
			&ir.Simple{S: b.stmt(ir.KindAssign, "z = 1")},
			&ir.Return{S: b.stmt(ir.KindReturn, "return z")})
	}
	if errs := Verify(build()); len(errs) > 0 {
		t.Fatalf("the whole graph: %v", errs)
	}
	for name, harm := range map[string]func(*Graph){
		"times out, 0 times in": func(g *Graph) { g.Points[Exit].In = nil },
		"something enters":      func(g *Graph) { tie(g, first, Entry, Next) },
		"live is false":         func(g *Graph) { g.Points[first].Live = false },
		"has no instance":       func(g *Graph) { g.Instances[0] = nil },
		"two blocks have":       func(g *Graph) { g.Blocks[1].ID = g.Blocks[0].ID },
		"lacks its arm false":   func(g *Graph) { unlink(g, first, False) },
		"of role break":         func(g *Graph) { tie(g, first+1, Exit, Break) },
		"is missing":            func(g *Graph) { g.Edges = g.Edges[1:] },
		"no point has it":       func(g *Graph) { g.Edges = append(g.Edges, Edge{From: "1", To: ExitName, Role: True}) },
	} {
		g := build()
		harm(g)
		found := false
		for _, err := range Verify(g) {
			found = found || strings.Contains(err.Error(), name)
		}
		if !found {
			t.Errorf("%q is not found", name)
		}
	}
}

func tie(g *Graph, from, to int, role Role) {
	g.Points[from].Out = append(g.Points[from].Out, Arc{To: to, Role: role})
	g.Points[to].In = append(g.Points[to].In, Arc{To: from, Role: role})
}

// unlink takes the arc of a role away on both ends.
func unlink(g *Graph, from int, role Role) {
	without := func(arcs []Arc, gone func(Arc) bool) []Arc {
		var out []Arc
		for _, a := range arcs {
			if !gone(a) {
				out = append(out, a)
			}
		}
		return out
	}
	g.Points[from].Out = without(g.Points[from].Out, func(a Arc) bool { return a.Role == role })
	for p := range g.Points {
		g.Points[p].In = without(g.Points[p].In, func(a Arc) bool { return a.To == from && a.Role == role })
	}
}
