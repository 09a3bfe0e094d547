// Package lang describes what flowplan needs to know of a programming
// language, as data and functions. No language is named here: each is a folder
// below, which registers one Language.
//
// A Language classifies syntax into package ir. It does not build control flow
// and does not see packages cfg or above.
package lang

import (
	"flowplan/internal/ir"
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// Language is one programming language.
type Language struct {
	Name       string   // as in the JSON: python, c, cpp, ...
	Extensions []string // with the dot, lower case
	Filenames  []string
	// Detect decides for a file that has one of Extensions in common with
	// another language, or none (a #! line). Nil: extensions decide.
	Detect  func(path string, head []byte) bool
	Grammar *syntax.Grammar
	// Separator joins the parts of a qualified name.
	Separator string
	// Prepare gives the bytes to parse, of the same length as data. Nil: data.
	Prepare func(data []byte, readFile func(path string) ([]byte, error)) []byte
	// Enter says which nodes the walk for Outline must enter: the index
	// converts nothing below the others.
	Enter func(kind string) bool
	// Outline lists what the file defines, in order of line, outer before
	// inner: the module first, then classes, functions, methods, nested ones
	// and lambdas bound to a name. It works on a pruned tree too.
	Outline func(f *source.File, root *syntax.Node) []*Decl
	// Lower makes the body of one Decl from a whole tree. It never fails:
	// what it cannot read is Opaque.
	Lower func(f *source.File, root *syntax.Node, d *Decl) *ir.Func
	// Condition reads a condition as an agent states it.
	Condition func(text string) (*ir.Cond, error)
	// Frames finds the frames of a traceback or crash report, innermost last.
	Frames func(text string) []Frame
	// IsTest says whether a symbol of a file is test code; symbol may be "".
	IsTest func(path, symbol string) bool
	// NoReturn names calls that never come back.
	NoReturn map[string]NoReturn
	// Lacks says which of the shared constructs the language does not have,
	// and why.
	Lacks map[string]string
}

// NoReturn says what a call does that never comes back.
type NoReturn uint8

const (
	Returns NoReturn = iota // it does come back
	Raises                  // it leaves by an exception, through handlers and clean-ups
	Halts                   // it ends the process: no way out
)

// Decl is one definition in a file.
type Decl struct {
	Name          string
	QualifiedName string // without #n
	Ordinal       int    // 1 for the first of its qualified name in the file, 2, 3, ... for its twins
	Kind          ir.FuncKind
	Span          source.Span // with decorators
	Line, EndLine int         // Line is that of the def line, not of decorators
	Parent        int         // index of the enclosing Decl; -1 for the module
	Node          *syntax.Node
}

// Frame is one frame of a traceback or stack.
type Frame struct {
	Path string
	Line int
	Func string
}
