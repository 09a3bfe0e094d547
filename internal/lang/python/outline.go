package python

import (
	"sort"
	"strings"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// enter says below which nodes definitions may stand.
func enter(kind string) bool {
	switch kind {
	case "module", "block", "decorated_definition", "function_definition", "class_definition", "expression_statement", "assignment",
		"if_statement", "elif_clause", "else_clause", "for_statement", "while_statement", "try_statement", "except_clause",
		"except_group_clause", "finally_clause", "with_statement", "match_statement", "case_clause", "parenthesized_expression", "ERROR":
		return true
	}
	return false
}

// entry is a definition before its names are joined.
type entry struct {
	name   string
	class  bool
	lambda bool
	span   source.Span
	start  int // of the def, class or lambda itself
	node   *syntax.Node
	indent int
	line   int // of the statement that binds a lambda; 0: that of start
}

// outline lists the definitions of a file.
func outline(f *source.File, root *syntax.Node) []*lang.Decl {
	var es []*entry
	collect(f, root, &es)
	if root.HasError {
		es = mend(f, es)
	}
	sort.SliceStable(es, func(i, j int) bool {
		if es[i].start != es[j].start {
			return es[i].start < es[j].start
		}
		return es[i].span.End > es[j].span.End
	})
	return declare(f, root, es)
}

func collect(f *source.File, n *syntax.Node, es *[]*entry) {
	for _, c := range n.Children {
		switch c.Kind {
		case "function_definition", "class_definition":
			if name := c.Child("name"); name != nil && !name.Missing {
				start := c.Span.Start
				if n.Kind == "decorated_definition" {
					start = n.Span.Start
				}
				*es = append(*es, &entry{name: name.Text(f.Bytes), class: c.Kind == "class_definition",
					span: source.Span{Start: start, End: lastEnd(c)}, start: c.Span.Start, node: c})
			}
		case "assignment":
			boundLambda(f, c, es)
			continue
		}
		if len(c.Children) > 0 {
			collect(f, c, es)
		}
	}
}

// boundLambda is the lambda of `name = lambda: ...`.
func boundLambda(f *source.File, n *syntax.Node, es *[]*entry) {
	name, line := "", f.Line(n.Span.Start)
	if l := n.Child("left"); l != nil && l.Kind == "identifier" {
		name = l.Text(f.Bytes)
	}
	n = n.Child("right")
	for n != nil && n.Kind == "parenthesized_expression" {
		var next *syntax.Node
		for _, c := range n.Children {
			if c.Named && !c.Extra {
				next = c
			}
		}
		n = next
	}
	if name == "" || n == nil || n.Kind != "lambda" {
		return
	}
	*es = append(*es, &entry{name: name, lambda: true, span: n.Span, start: n.Span.Start, line: line, node: n})
}

// lastEnd is where the last statement of a definition ends: no blank lines or
// comments behind it count.
func lastEnd(n *syntax.Node) int {
	for i := len(n.Children) - 1; i >= 0; i-- {
		c := n.Children[i]
		if c.Extra || c.Span.End == c.Span.Start {
			continue
		}
		return lastEnd(c)
	}
	return n.Span.End
}

// declare joins the names along the nesting of the entries, which are sorted.
func declare(f *source.File, root *syntax.Node, es []*entry) []*lang.Decl {
	decls := []*lang.Decl{{Name: "<module>", QualifiedName: "<module>", Ordinal: 1, Kind: ir.FuncModule,
		Span: source.Span{End: len(f.Bytes)}, Line: 1, EndLine: f.NumLines(), Parent: -1, Node: root}}
	type frame struct {
		e    *entry
		decl int
		path string
	}
	stack := []frame{{decl: 0}}
	ordinals := map[string]int{}
	for _, e := range es {
		for len(stack) > 1 && !stack[len(stack)-1].e.span.Contains(source.Span{Start: e.start, End: e.span.End}) {
			stack = stack[:len(stack)-1]
		}
		top := stack[len(stack)-1]
		d := &lang.Decl{Name: e.name, QualifiedName: top.path + e.name, Span: e.span, Parent: top.decl, Node: e.node,
			Line: f.Line(e.start), EndLine: f.LastLine(e.span)}
		if e.line > 0 {
			d.Line = e.line
		}
		switch {
		case e.class:
			d.Kind = ir.FuncClass
			d.Name = "<class " + e.name + ">"
			d.QualifiedName = top.path + d.Name
		case e.lambda:
			d.Kind = ir.FuncLambda
		case top.e == nil:
			d.Kind = ir.FuncFunction
		case !top.e.class:
			d.Kind = ir.FuncNested
		case e.name == "__init__":
			d.Kind = ir.FuncConstructor
		default:
			d.Kind = ir.FuncMethod
		}
		ordinals[d.QualifiedName]++
		d.Ordinal = ordinals[d.QualifiedName]
		decls = append(decls, d)
		stack = append(stack, frame{e, len(decls) - 1, top.path + e.name + "."})
	}
	return decls
}

// scopePath is what stands before the names of the definitions inside d.
func scopePath(d *lang.Decl) string {
	switch d.Kind {
	case ir.FuncModule:
		return ""
	case ir.FuncClass:
		outer := strings.TrimSuffix(d.QualifiedName, d.Name)
		return outer + strings.TrimSuffix(strings.TrimPrefix(d.Name, "<class "), ">") + "."
	}
	return d.QualifiedName + "."
}

// mend adds the definitions that an ERROR swallowed, and cuts those that
// swallowed others: of a broken file the lines that begin with def or class and
// their indentation are what is certain.
func mend(f *source.File, es []*entry) []*entry {
	byStart := map[int]*entry{}
	for _, e := range es {
		byStart[e.start] = e
	}
	lx := newLines(f)
	for _, d := range lx.defs {
		end := lx.endOf(d)
		e := byStart[d.start]
		if e == nil {
			es = append(es, &entry{name: d.name, class: d.class, start: d.start,
				span: source.Span{Start: lx.decorated(d), End: end}})
			continue
		}
		if e.node.HasError || f.LastLine(e.span) != f.Line(end-1) {
			e.span.End = end
		}
	}
	return es
}

// defLine is a line that begins a definition.
type defLine struct {
	name   string
	class  bool
	start  int
	line   int
	indent int
}

// lines reads a file by its lines alone, as strings and indentation allow.
type lines struct {
	f      *source.File
	inside []bool // the line begins within a string
	defs   []defLine
}

func newLines(f *source.File) *lines {
	l := &lines{f: f, inside: make([]bool, f.NumLines()+2)}
	s := scanner{data: f.Bytes}
	s.onString = func(start, end int) {
		if s.unclosed {
			return
		}
		for n := f.Line(start) + 1; n <= f.Line(end-1); n++ {
			l.inside[n] = true
		}
	}
	s.scan()
	for n := 1; n <= f.NumLines(); n++ {
		if l.inside[n] {
			continue
		}
		t := f.LineText(n)
		trimmed := strings.TrimLeft(t, " \t")
		d := defLine{line: n, indent: len(t) - len(trimmed), start: f.LineSpan(n).Start + len(t) - len(trimmed)}
		rest := trimmed
		if r, ok := strings.CutPrefix(rest, "async"); ok && strings.TrimLeft(r, " \t") != r {
			rest = strings.TrimLeft(r, " \t")
		}
		r, ok := strings.CutPrefix(rest, "def")
		if !ok {
			r, ok = strings.CutPrefix(rest, "class")
			d.class = true
		}
		name := strings.TrimLeft(r, " \t")
		if !ok || name == r {
			continue
		}
		i := 0
		for i < len(name) && isWord(name[i]) {
			i++
		}
		if i == 0 {
			continue
		}
		d.name = name[:i]
		l.defs = append(l.defs, d)
	}
	return l
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// endOf is where the last line of a definition ends, by indentation.
func (l *lines) endOf(d defLine) int {
	end := l.f.LineSpan(d.line).End
	header := true // lines of the header may stand at any indentation
	for n := d.line; n <= l.f.NumLines(); n++ {
		sp := l.f.LineSpan(n)
		t := l.f.Text(sp)
		trimmed := strings.TrimSpace(t)
		if l.inside[n] {
			end = sp.End
			continue
		}
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		if n > d.line {
			indent := len(t) - len(strings.TrimLeft(t, " \t"))
			closes := header && strings.IndexByte(")]}", trimmed[0]) >= 0
			if indent <= d.indent && !closes {
				break
			}
		}
		end = sp.Start + len(strings.TrimRight(t, " \t\r"))
		if strings.HasSuffix(trimmed, ":") {
			header = false
		}
	}
	return end
}

// decorated is where the decorators above a definition begin.
func (l *lines) decorated(d defLine) int {
	start := d.start
	for n := d.line - 1; n >= 1; n-- {
		t := l.f.LineText(n)
		trimmed := strings.TrimLeft(t, " \t")
		if len(t)-len(trimmed) != d.indent || !strings.HasPrefix(trimmed, "@") {
			break
		}
		start = l.f.LineSpan(n).Start + d.indent
	}
	return start
}

// locate is the node of d in a whole tree.
func locate(root *syntax.Node, d *lang.Decl) *syntax.Node {
	if d.Kind == ir.FuncModule {
		return root
	}
	want := "function_definition"
	switch d.Kind {
	case ir.FuncClass:
		want = "class_definition"
	case ir.FuncLambda:
		want = "lambda"
	}
	var found *syntax.Node
	var walk func(n *syntax.Node)
	walk = func(n *syntax.Node) {
		for _, c := range n.Children {
			if found != nil || c.Span.Start >= d.Span.End && c.Span.Start > d.Span.Start {
				return
			}
			if c.Span.End <= d.Span.Start {
				continue
			}
			if c.Kind == want && c.Span.Start >= d.Span.Start && lastEnd(c) == d.Span.End && isDecl(c, d) {
				found = c
				return
			}
			walk(c)
		}
	}
	walk(root)
	return found
}

// isDecl reports whether the node is the definition itself and not one inside
// it that ends where it ends.
func isDecl(c *syntax.Node, d *lang.Decl) bool {
	if c.Span.Start == d.Span.Start {
		return true
	}
	return c.Parent != nil && c.Parent.Kind == "decorated_definition" && c.Parent.Span.Start == d.Span.Start
}

// futureAnnotations reports a `from __future__ import annotations`.
func futureAnnotations(f *source.File, root *syntax.Node) bool {
	for _, c := range root.Children {
		if c.Kind == "future_import_statement" && strings.Contains(c.Text(f.Bytes), "annotations") {
			return true
		}
	}
	return false
}
