package dataflow

import (
	"strings"
	"testing"

	"flowplan/internal/cfg"
	"flowplan/internal/ir"
)

// x = 1; if c: x = 2; use x
func chains() *Chains {
	def := ir.Eval{Op: ir.OpDef}
	stmts := []*ir.Stmt{
		{ID: 1, Line: 1, Kind: ir.KindAssign, Text: "x = 1", Eval: def},
		{ID: 2, Line: 2, Kind: ir.KindIf, Text: "if c"},
		{ID: 3, Line: 3, Kind: ir.KindAssign, Text: "x = 2", Eval: def},
		{ID: 4, Line: 4, Kind: ir.KindReturn, Text: "return x", Eval: ir.Eval{Op: ir.OpUse}},
	}
	f := &ir.Func{QualifiedName: "f", Stmts: stmts, Vars: []ir.Var{{Name: "x", Written: true}}, Body: []ir.Node{
		&ir.Simple{S: stmts[0]},
		&ir.If{S: stmts[1], Then: []ir.Node{&ir.Simple{S: stmts[2]}}},
		&ir.Return{S: stmts[3]},
	}}
	return Solve(cfg.Build(f, nil))
}

// Verify finds what is broken on purpose.
func TestVerifyFinds(t *testing.T) {
	if errs := Verify(chains()); len(errs) > 0 {
		t.Fatalf("the whole chains: %v", errs)
	}
	for name, harm := range map[string]func(*Chains){
		"is missing":              func(c *Chains) { c.Pairs = c.Pairs[1:] },
		"is reached by nothing":   func(c *Chains) { c.Pairs = nil },
		"no path without a kill":  func(c *Chains) { c.Pairs = append(c.Pairs, Pair{c.Defs[0], c.Graph.Func.Stmts[3]}) },
		"is there twice":          func(c *Chains) { c.Pairs = append(c.Pairs, c.Pairs[0]) },
		"is not defined on entry": func(c *Chains) { c.Graph.Func.Params = []ir.Param{{Name: "x"}} },
	} {
		c := chains()
		harm(c)
		found := false
		for _, err := range Verify(c) {
			found = found || strings.Contains(err.Error(), name)
		}
		if !found {
			t.Errorf("%q is not found", name)
		}
	}
}
