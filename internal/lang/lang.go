// Package lang describes what flowplan needs to know of a programming
// language, as data and functions. No language is named here: each is a folder
// below, which registers one Language.
//
// A Language classifies syntax into package ir. It does not build control flow
// and does not see packages cfg or above.
package lang

import (
	"context"

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
	Detect func(path string, head []byte) bool
	// Separator joins the parts of a qualified name.
	Separator string
	// Parse reads a file. It fails only where nothing could be read at all (the
	// text is too large, the context has ended): what does not parse is in the
	// tree.
	Parse func(ctx context.Context, f *source.File, o Options) (Tree, error)
	// Condition reads a condition as an agent states it.
	Condition func(text string) (*ir.Cond, error)
	// Frames finds the frames of a traceback or crash report: other stacks of it
	// first, each innermost last, then the stack that led to the fault,
	// innermost last.
	Frames func(text string) []Frame
	// IsTest says whether a symbol of a file is test code; symbol may be "".
	IsTest func(path, symbol string) bool
	// NoReturn names calls that never come back.
	NoReturn map[string]NoReturn
	// Releases pair what takes something with what gives it back.
	Releases []Release
	// Lacks says which of the shared constructs the language does not have,
	// and why.
	Lacks map[string]string
}

// Release is a way to take something and the way to give it back.
type Release struct {
	// Take is a call whose value somebody keeps (`malloc`), or a statement with $
	// for the owner (`$.acquire()`).
	Take string
	// Give is the statement that gives back, with $ for the owner: `free($)`,
	// `delete $`, `$.release()`.
	Give string
	// Ends: what the owner held is gone then, and must not be used or given back
	// again.
	Ends bool
}

// Options say what a parse is for.
type Options struct {
	// Outline: only the definitions are wanted, Lower is never called.
	Outline bool
	// ReadFile gives the text of another file by its path from the root, slashes
	// as separators; nil where there are none.
	ReadFile func(path string) ([]byte, error)
}

// Tree is a file that has been read. It is safe for use by several goroutines.
type Tree interface {
	// Decls lists what the file defines, in order of line, outer before inner:
	// the module first, then classes, functions, methods, nested ones and lambdas
	// bound to a name.
	Decls() []*Decl
	// Errors lists what could not be parsed, in order.
	Errors() []source.Span
	// Lower makes the body of one Decl. It never fails: what it cannot read is
	// Opaque.
	Lower(d *Decl) *ir.Func
	// NoReturn says what a call of that name does, where the file declares it.
	NoReturn(callee string) NoReturn
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
	Span          source.Span  // with decorators
	Line, EndLine int          // Line is that of the def line, not of decorators
	Parent        int          // index of the enclosing Decl; -1 for the module
	Node          *syntax.Node // of a language that reads syntax trees
}

// Frame is one frame of a traceback or stack.
type Frame struct {
	Path string // "" where only a name is known: the name is looked up
	Line int    // 0: not known
	Col  int    // from 1; 0: not known
	Func string
	// Stack says what another stack of a report shows (freed, allocated, ...);
	// "" in the one that led to the fault.
	Stack string
}
