package delta

import (
	"flowplan/internal/dataflow"
	"flowplan/internal/ir"
)

// pairKey is a def-use pair in terms of b: what both sides are compared by.
type pairKey struct {
	place string
	kind  ir.DefKind // of a definition on entry
	def   *ir.Stmt
	use   *ir.Stmt
}

// data compares the def-use pairs. Initialising a variable is add_def_use: the
// definition `unbound` is none.
func (d *differ) data(out *Delta) []*DataOp {
	inB := map[pairKey]dataflow.Pair{}
	var order []pairKey
	for _, p := range d.vb.Chains.Pairs {
		if p.Def.Kind == ir.DefUnbound {
			continue
		}
		k := pairKey{place: d.vb.PlaceName(p.Def.Place), kind: entryKind(p), def: p.Def.Stmt, use: p.Use}
		if _, ok := inB[k]; !ok {
			order = append(order, k)
		}
		inB[k] = p
	}
	var gone []*DataOp
	kept := map[pairKey]bool{}
	for _, p := range d.va.Chains.Pairs {
		if p.Def.Kind == ir.DefUnbound {
			continue
		}
		place := renamed(d.va.PlaceName(p.Def.Place), d.names)
		k := pairKey{place: place, kind: entryKind(p), def: out.ToWork[p.Def.Stmt], use: out.ToWork[p.Use]}
		if k.use != nil && (k.def != nil || p.Def.Stmt == nil) {
			if _, ok := inB[k]; ok {
				kept[k] = true
				continue
			}
		}
		gone = append(gone, &DataOp{Kind: RemoveDefUse, Place: d.va.PlaceName(p.Def.Place), HeadDef: p.Def.Stmt, HeadUse: p.Use, HeadDefLine: p.Def.Line})
	}
	var fresh []*DataOp
	for _, k := range order {
		if !kept[k] {
			p := inB[k]
			fresh = append(fresh, &DataOp{Kind: AddDefUse, Place: k.place, WorkDef: p.Def.Stmt, WorkUse: p.Use, WorkDefLine: p.Def.Line})
		}
	}
	return d.moved(out, gone, fresh)
}

func entryKind(p dataflow.Pair) ir.DefKind {
	if p.Def.Stmt == nil {
		return p.Def.Kind
	}
	return ""
}

// moved joins a pair that is gone and one that is new into move_def_use where
// they share the use or the definition.
func (d *differ) moved(out *Delta, gone, fresh []*DataOp) []*DataOp {
	used := map[*DataOp]bool{}
	var ops []*DataOp
	for _, g := range gone {
		place := renamed(g.Place, d.names)
		for _, f := range fresh {
			if used[f] || f.Place != place {
				continue
			}
			sameUse := out.ToWork[g.HeadUse] == f.WorkUse
			sameDef := g.HeadDef != nil && out.ToWork[g.HeadDef] == f.WorkDef && f.WorkDef != nil
			if sameUse || sameDef {
				used[f] = true
				g.Kind, g.WorkDef, g.WorkUse, g.WorkDefLine = MoveDefUse, f.WorkDef, f.WorkUse, f.WorkDefLine
				break
			}
		}
		ops = append(ops, g)
	}
	for _, f := range fresh {
		if !used[f] {
			ops = append(ops, f)
		}
	}
	return ops
}
