// Package syntax is the only importer of the tree-sitter binding. It parses
// bytes and hands out nodes of its own, so that no C memory outlives a call.
//
// It knows no language: a Grammar is passed in. It gives no positions in
// lines (package source does) and interprets nothing.
//
//	root, err := grammar.Parse(ctx, []byte("x = 1"), nil)
//	root.Kind                  // "module"
//	root.Children[0].Kind      // "expression_statement"
package syntax

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sitter "github.com/smacker/go-tree-sitter"

	"flowplan/internal/source"
)

// MaxBytes is the largest text that is parsed; a longer one is refused.
const MaxBytes = 16 << 20

// ErrTooLarge is returned for a text above MaxBytes.
var ErrTooLarge = errors.New("text is larger than flowplan reads (16 MiB)")

// Node is one node of a syntax tree. Parent is nil for the root.
type Node struct {
	Kind     string // the grammar's name of it; "ERROR" for what could not be parsed
	Field    string // its field in the parent, or ""
	Named    bool
	Extra    bool // may stand anywhere: a comment
	Missing  bool // inserted by error recovery, of zero width
	HasError bool // it or something below it is an ERROR or Missing
	Span     source.Span
	Parent   *Node
	Children []*Node
}

// IsError reports whether the node itself is an ERROR.
func (n *Node) IsError() bool { return n.Kind == "ERROR" }

// Child is the first child with that field, or nil.
func (n *Node) Child(field string) *Node {
	for _, c := range n.Children {
		if c.Field == field {
			return c
		}
	}
	return nil
}

// ChildOf is the first child of that kind, or nil.
func (n *Node) ChildOf(kind string) *Node {
	for _, c := range n.Children {
		if c.Kind == kind {
			return c
		}
	}
	return nil
}

// Text is the node's own text.
func (n *Node) Text(data []byte) string { return string(data[n.Span.Start:n.Span.End]) }

// Grammar is a tree-sitter language and its parsers. It is safe for use by
// several goroutines.
type Grammar struct {
	language *sitter.Language
	parsers  sync.Pool
	kinds    []string // by symbol: Type() would make a new string at every call
	named    []bool
}

// NewGrammar wraps a compiled grammar.
func NewGrammar(language *sitter.Language) *Grammar {
	g := &Grammar{language: language}
	n := language.SymbolCount()
	g.kinds = make([]string, n)
	g.named = make([]bool, n)
	for i := range g.kinds {
		g.kinds[i] = language.SymbolName(sitter.Symbol(i))
		g.named[i] = language.SymbolType(sitter.Symbol(i)) == sitter.SymbolTypeRegular
	}
	g.parsers.New = func() any {
		p := sitter.NewParser()
		p.SetLanguage(language)
		return p
	}
	return g
}

// errorSymbol is tree-sitter's symbol of an ERROR node.
const errorSymbol = sitter.Symbol(1<<16 - 1)

// Parse parses data into a tree of Nodes. Nothing below a node whose kind
// enter refuses is converted; a nil enter converts everything. Syntax errors
// are no error: they are in the tree.
func (g *Grammar) Parse(ctx context.Context, data []byte, enter func(kind string) bool) (*Node, error) {
	if len(data) > MaxBytes {
		return nil, ErrTooLarge
	}
	p := g.parsers.Get().(*sitter.Parser)
	tree, err := parseInSlices(ctx, p, data)
	if err != nil {
		p.Reset() // else it would resume this text at its next call
		g.parsers.Put(p)
		return nil, fmt.Errorf("parse: %w", err)
	}
	g.parsers.Put(p)
	defer tree.Close()
	return g.convert(tree, enter), nil
}

// slice is how long the parser runs before it looks whether it is still wanted.
const slice = 20 * time.Millisecond

// parseInSlices parses with a time limit and resumes until it is done. The
// binding's own cancellation is not used: a context that ends just after a
// parse leaves its flag set, and every later parse of that parser fails.
func parseInSlices(ctx context.Context, p *sitter.Parser, data []byte) (*sitter.Tree, error) {
	p.SetOperationLimit(int(slice.Microseconds()))
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tree, err := p.ParseCtx(context.Background(), nil, data)
		if !errors.Is(err, sitter.ErrOperationLimit) {
			return tree, err
		}
	}
}

// convert walks the tree once with a cursor, without recursion: the nesting of
// a text has no bound.
func (g *Grammar) convert(tree *sitter.Tree, enter func(string) bool) *Node {
	cursor := sitter.NewTreeCursor(tree.RootNode())
	defer cursor.Close()
	var slab []Node // nodes are allocated in runs: half the time of a walk went into single ones
	alloc := func() *Node {
		if len(slab) == 0 {
			slab = make([]Node, 256)
		}
		n := &slab[0]
		slab = slab[1:]
		return n
	}
	visit := func(parent *Node) *Node {
		t := cursor.CurrentNode()
		n := alloc()
		sym := t.Symbol()
		if sym == errorSymbol {
			n.Kind, n.Named = "ERROR", true
		} else {
			n.Kind, n.Named = g.kinds[sym], g.named[sym]
		}
		n.Span = source.Span{Start: int(t.StartByte()), End: int(t.EndByte())}
		n.Extra = t.IsExtra()
		n.HasError = t.HasError()
		n.Missing = n.Span.Start == n.Span.End && t.IsMissing()
		n.Parent = parent
		if parent != nil {
			n.Field = cursor.CurrentFieldName()
			parent.Children = append(parent.Children, n)
		}
		return n
	}
	root := visit(nil)
	at := root
	for {
		if (enter == nil || at == root || enter(at.Kind)) && cursor.GoToFirstChild() {
			at = visit(at)
			continue
		}
		for !cursor.GoToNextSibling() {
			if !cursor.GoToParent() {
				return root
			}
			at = at.Parent
			if at == root {
				return root
			}
		}
		at = visit(at.Parent)
	}
}
