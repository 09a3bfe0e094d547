// Package delta names what an edit did to one function: Diff aligns the
// statements of two views and explains every difference between their graphs
// by one operation. It is Diff and nothing else: it judges nothing (package
// plan grades) and warns of nothing (package hazard does).
//
//	before: y = g(x)          after:  if x is None:
//	        return y                      return 0
//	                                  y = g(x)
//	                                  return y
//
//	Diff: add_guard, condition `x is None`, before line 1
package delta

import (
	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// Kind is an operation. Its values are those of the JSON.
type Kind string

const (
	AddGuard        Kind = "add_guard"
	RemoveGuard     Kind = "remove_guard"
	AddBranch       Kind = "add_branch"
	RemoveBranch    Kind = "remove_branch"
	ChangeCondition Kind = "change_condition"
	AddLoop         Kind = "add_loop"
	RemoveLoop      Kind = "remove_loop"
	AddHandler      Kind = "add_handler"
	RemoveHandler   Kind = "remove_handler"
	ChangeHandler   Kind = "change_handler"
	RewireEdge      Kind = "rewire_edge"
	ChangeBlock     Kind = "change_block"
	ChangeSignature Kind = "change_signature"
	AddDefUse       Kind = "add_def_use"
	RemoveDefUse    Kind = "remove_def_use"
	MoveDefUse      Kind = "move_def_use"
	NoFlowChange    Kind = "no_flow_change"
	AddFunction     Kind = "add_function"
	RemoveFunction  Kind = "remove_function"
	RenameFunction  Kind = "rename_function"
)

// Structural reports whether an operation changes control flow.
func (k Kind) Structural() bool {
	switch k {
	case AddGuard, RemoveGuard, AddBranch, RemoveBranch, ChangeCondition, AddLoop, RemoveLoop,
		AddHandler, RemoveHandler, ChangeHandler, RewireEdge:
		return true
	}
	return false
}

// Data reports whether an operation is one on the data-flow graph.
func (k Kind) Data() bool { return k == AddDefUse || k == RemoveDefUse || k == MoveDefUse }

// inverse maps each operation to the one that undoes it; the rest undo
// themselves.
var inverse = map[Kind]Kind{
	AddGuard: RemoveGuard, RemoveGuard: AddGuard, AddBranch: RemoveBranch, RemoveBranch: AddBranch,
	AddLoop: RemoveLoop, RemoveLoop: AddLoop, AddHandler: RemoveHandler, RemoveHandler: AddHandler,
	AddDefUse: RemoveDefUse, RemoveDefUse: AddDefUse, AddFunction: RemoveFunction, RemoveFunction: AddFunction,
}

// Inverse is the operation that undoes k.
func (k Kind) Inverse() Kind {
	if i, ok := inverse[k]; ok {
		return i
	}
	return k
}

// Side is one end of an operation: HEAD's or the working tree's.
type Side struct {
	Anchor  *ir.Stmt   // where the operation stands; on the side that lacks it, the statement next to it; nil in an empty body
	Stmts   []*ir.Stmt // statements governed, removed, added or rewritten
	Governs []*ir.Stmt // statements inside the arms
	Region  []*ir.Stmt // Stmts, the nearest statements before and after, and the blocks of all these
	Cond    *ir.Cond
	Text    string // the condition as text, "" where there is none
	To      string // rewire_edge: the line that control goes to, or exit or raise
}

// Op is one observed operation.
type Op struct {
	Kind  Kind
	Head  Side
	Work  Side
	Parts []*Op

	headChain, workChain []*ir.Stmt // conditions of the chain that an arm belongs to
}

// Cond is the condition that the operation is about: the one before the edit
// for a removal, else the one after it.
func (o *Op) Cond() (*ir.Cond, string) {
	switch o.Kind {
	case RemoveGuard, RemoveBranch, RemoveLoop, RemoveHandler:
		return o.Head.Cond, o.Head.Text
	}
	if o.Work.Text == "" {
		return o.Head.Cond, o.Head.Text
	}
	return o.Work.Cond, o.Work.Text
}

// DataOp is one observed operation on the def-use pairs. A statement is nil
// where that side has no such pair, or where the definition is on entry.
type DataOp struct {
	Kind             Kind
	Place            string
	HeadDef, HeadUse *ir.Stmt
	WorkDef, WorkUse *ir.Stmt
	HeadDefLine      int // 0 where there is none
	WorkDefLine      int
}

// Delta is everything that an edit did to one function.
type Delta struct {
	Head, Work *flow.View
	Ops        []*Op
	Data       []*DataOp
	// ToWork and ToHead pair the statements of both sides.
	ToWork, ToHead map[*ir.Stmt]*ir.Stmt
}

// Empty reports whether nothing but formatting differs.
func (d *Delta) Empty() bool { return len(d.Ops) == 0 }

// Structural reports whether some operation changes control flow.
func (d *Delta) Structural() bool {
	for _, o := range d.Ops {
		if o.Kind.Structural() {
			return true
		}
	}
	return false
}

// Diff computes the operations that lead from head to work. Diff(b, a) is the
// inverse of Diff(a, b): the two are always compared in the same order.
func Diff(head, work *flow.View) *Delta {
	if head.TextForm() > work.TextForm() {
		return diff(work, head).invert()
	}
	return diff(head, work)
}

func (d *Delta) invert() *Delta {
	d.Head, d.Work = d.Work, d.Head
	d.ToWork, d.ToHead = d.ToHead, d.ToWork
	for _, o := range d.Ops {
		o.invert()
	}
	for _, o := range d.Data {
		o.Kind = o.Kind.Inverse()
		o.HeadDef, o.WorkDef = o.WorkDef, o.HeadDef
		o.HeadUse, o.WorkUse = o.WorkUse, o.HeadUse
		o.HeadDefLine, o.WorkDefLine = o.WorkDefLine, o.HeadDefLine
	}
	d.order()
	return d
}

func (o *Op) invert() {
	o.Kind = o.Kind.Inverse()
	o.Head, o.Work = o.Work, o.Head
	o.headChain, o.workChain = o.workChain, o.headChain
	for _, p := range o.Parts {
		p.invert()
	}
}
