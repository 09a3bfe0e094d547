package ir

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
