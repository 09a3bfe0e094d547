// Package cfg builds the control-flow graph of a function from its IR: finally,
// loop else, labelled break, fallthrough, goto and exceptions are handled here
// and nowhere else, for every language.
//
// A Graph has two levels. Points are statement instances: a statement of a
// finally stands at one point for each continuation of it, so that data flow
// along the points is exact. Blocks are the same graph folded by statement and
// gathered into maximal basic blocks: what a view shows.
//
// It does not look at expressions, does not know any language, and draws
// implicit exceptions only inside a try.
//
//	if x:          blocks 1 and 2: entry -next-> 1, 1 -true-> 2,
//	    y = 1      1 -false-> exit, 2 -next-> exit
package cfg

import (
	"flowplan/internal/ir"
)

// Role says what an edge stands for.
type Role string

const (
	Next        Role = "next"
	True        Role = "true"
	False       Role = "false"
	Iter        Role = "iter"
	Done        Role = "done"
	Case        Role = "case"
	Default     Role = "default"
	Loop        Role = "loop"
	Break       Role = "break"
	Continue    Role = "continue"
	Goto        Role = "goto"
	Fallthrough Role = "fallthrough"
	Return      Role = "return"
	Raise       Role = "raise"
	Exception   Role = "exception"
	IfConfig    Role = "#if"
	ElseConfig  Role = "#else"
)

// The pseudo points, present in every graph.
const (
	Entry   = 0 // the function begins
	Exit    = 1 // it returns or falls off its end
	RaiseTo = 2 // an exception leaves it
	first   = 3
)

// The names of the pseudo nodes in block edges.
const (
	EntryName = "entry"
	ExitName  = "exit"
	RaiseName = "raise"
)

// Graph is the control flow of one function.
type Graph struct {
	Func   *ir.Func
	Points []Point
	Blocks []*Block
	Edges  []Edge
	// Instances lists the points of each statement, by Stmt.ID-1.
	Instances [][]int
	// BlockOf is the index into Blocks of each statement, by Stmt.ID-1.
	BlockOf []int
}

// Point is one instance of a statement, a pseudo point, or a clean-up that is
// not drawn.
type Point struct {
	Stmt   *ir.Stmt  // nil for pseudo points and clean-ups
	Unbind *ir.Place // of a clean-up that is not drawn
	Live   bool      // reachable from Entry
	Out    []Arc
	In     []Arc // To is the point that the arc comes from
}

// Arc leads from one point to another.
type Arc struct {
	To      int
	Role    Role
	Virtual bool // only there so that post-dominators exist; never shown
	cut     bool // a block ends here even if nothing else ends it
}

// Block is a maximal run of statements.
type Block struct {
	ID    string // line of its first statement, with b, c, ... when several begin there
	Stmts []*ir.Stmt
	Dead  bool // no way in
}

// First is the block's first statement.
func (b *Block) First() *ir.Stmt { return b.Stmts[0] }

// Last is the block's last statement.
func (b *Block) Last() *ir.Stmt { return b.Stmts[len(b.Stmts)-1] }

// Edge leads from a block (or EntryName) to a block (or ExitName, RaiseName).
type Edge struct {
	From, To string
	Role     Role
	Raising  []*ir.Stmt // of an exception edge: the statements that may raise
	FromStmt *ir.Stmt   // last statement of From; nil for entry
	ToStmt   *ir.Stmt   // first statement of To; nil for exit and raise
}
