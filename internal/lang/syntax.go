package lang

import (
	"context"

	"flowplan/internal/ir"
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// Syntax is the Parse of a language that is read from a tree-sitter tree.
type Syntax struct {
	Grammar *syntax.Grammar
	// Prepare gives the bytes to parse, of the same length as data. Nil: data.
	Prepare func(data []byte) []byte
	// Enter says which nodes the walk for Outline must enter: nothing below the
	// others is converted where only the definitions are wanted.
	Enter func(kind string) bool
	// Outline is Tree.Decls. It works on a pruned tree too.
	Outline func(f *source.File, root *syntax.Node) []*Decl
	// Lower is Tree.Lower, from a whole tree.
	Lower func(f *source.File, root *syntax.Node, d *Decl) *ir.Func
}

// Root gives the syntax tree of a file, pruned where only an outline is wanted.
func (s *Syntax) Root(ctx context.Context, data []byte, o Options) (*syntax.Node, error) {
	if s.Prepare != nil {
		data = s.Prepare(data)
	}
	if o.Outline {
		return s.Grammar.Parse(ctx, data, s.Enter)
	}
	return s.Grammar.Parse(ctx, data, nil)
}

// Parse is Language.Parse.
func (s *Syntax) Parse(ctx context.Context, f *source.File, o Options) (Tree, error) {
	root, err := s.Root(ctx, f.Bytes, o)
	if err != nil {
		return nil, err
	}
	return &syntaxTree{s: s, f: f, root: root, decls: s.Outline(f, root)}, nil
}

type syntaxTree struct {
	s     *Syntax
	f     *source.File
	root  *syntax.Node
	decls []*Decl
}

func (t *syntaxTree) Decls() []*Decl           { return t.decls }
func (t *syntaxTree) Lower(d *Decl) *ir.Func   { return t.s.Lower(t.f, t.root, d) }
func (t *syntaxTree) NoReturn(string) NoReturn { return Returns }

// Errors lists the outermost errors of the tree.
func (t *syntaxTree) Errors() []source.Span {
	var out []source.Span
	work := []*syntax.Node{t.root}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if n.IsError() || n.Missing {
			out = append(out, n.Span)
			continue
		}
		for i := len(n.Children) - 1; i >= 0; i-- {
			if n.Children[i].HasError || n.Children[i].Missing {
				work = append(work, n.Children[i])
			}
		}
	}
	return out
}
