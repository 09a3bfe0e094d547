// Package minilang is a small Python for tests of what lies beside lowering:
// it outlines files and reads tracebacks, and lowers nothing. Test-only; use
// lang/python for everything else.
//
//	reg, err := lang.NewRegistry(minilang.Python())
package minilang

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	sitter "github.com/smacker/go-tree-sitter/python"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

var entered = map[string]bool{
	"module": true, "function_definition": true, "class_definition": true, "decorated_definition": true, "block": true,
	"if_statement": true, "else_clause": true, "elif_clause": true, "try_statement": true, "except_clause": true, "finally_clause": true,
	"with_statement": true, "for_statement": true, "while_statement": true, "ERROR": true,
}

// Python is the language.
func Python() *lang.Language {
	reader := &lang.Syntax{
		Grammar: syntax.NewGrammar(sitter.GetLanguage()),
		Enter:   func(kind string) bool { return entered[kind] },
		Outline: outline,
		Lower:   func(*source.File, *syntax.Node, *lang.Decl) *ir.Func { return nil },
	}
	return &lang.Language{
		Name: "python", Extensions: []string{".py"}, Separator: ".",
		Detect: func(_ string, head []byte) bool { return strings.HasPrefix(string(head), "#!/usr/bin/env python") },
		Parse:  reader.Parse,
		Frames: frames,
		IsTest: func(p, _ string) bool {
			return strings.HasPrefix(path.Base(p), "test_") || strings.Contains("/"+p, "/test/")
		},
	}
}

func outline(f *source.File, root *syntax.Node) []*lang.Decl {
	decls := []*lang.Decl{{Name: "<module>", QualifiedName: "<module>", Ordinal: 1, Kind: ir.FuncModule, Span: root.Span, Line: 1, EndLine: f.NumLines(), Parent: -1, Node: root}}
	seen := map[string]int{}
	var visit func(n *syntax.Node, prefix string, parent int, in ir.FuncKind)
	visit = func(n *syntax.Node, prefix string, parent int, in ir.FuncKind) {
		for _, c := range n.Children {
			kind := ir.FuncKind("")
			switch c.Kind {
			case "class_definition":
				kind = ir.FuncClass
			case "function_definition":
				switch in {
				case ir.FuncClass:
					kind = ir.FuncMethod
				case ir.FuncModule:
					kind = ir.FuncFunction
				default:
					kind = ir.FuncNested
				}
			}
			name := c.Child("name")
			if kind == "" || name == nil {
				visit(c, prefix, parent, in)
				continue
			}
			d := &lang.Decl{Name: name.Text(f.Bytes), Kind: kind, Span: c.Span, Line: f.Line(c.Span.Start), EndLine: f.LastLine(c.Span), Parent: parent, Node: c}
			if n.Kind == "decorated_definition" {
				d.Span = n.Span
			}
			d.QualifiedName = prefix + d.Name
			inner := d.QualifiedName + "."
			if kind == ir.FuncClass {
				d.QualifiedName = prefix + "<class " + d.Name + ">"
			}
			seen[d.QualifiedName]++
			d.Ordinal = seen[d.QualifiedName]
			decls = append(decls, d)
			visit(c, inner, len(decls)-1, kind)
		}
	}
	visit(root, "", 0, ir.FuncModule)
	return decls
}

var frameLine = regexp.MustCompile(`File "([^"\n]+)", line (\d+), in (\S+)`)

func frames(text string) []lang.Frame {
	var out []lang.Frame
	for _, m := range frameLine.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[2]); err == nil {
			out = append(out, lang.Frame{Path: m[1], Line: n, Func: m[3]})
		}
	}
	return out
}
