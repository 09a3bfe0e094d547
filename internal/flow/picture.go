package flow

import (
	"fmt"
	"strconv"
	"strings"

	"flowplan/internal/cfg"
)

// Dot is a picture of a function's graph for Graphviz: a node a block, an edge
// an edge, exceptions dashed.
func Dot(v *View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  node [shape=box, fontname=monospace];\n", dotText(v.ID()))
	for _, n := range pictureNodes(v) {
		shape := ""
		if n.pseudo {
			shape = ", shape=oval"
		}
		fmt.Fprintf(&b, "  %s [label=%s%s];\n", dotText(n.id), dotLabel(n.lines), shape)
	}
	for _, e := range v.Graph.Edges {
		style := ""
		if e.Role == cfg.Exception {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s];\n", dotText(e.From), dotText(e.To), dotText(edgeLabel(e)), style)
	}
	b.WriteString("}\n")
	return b.String()
}

// Mermaid is the same picture as a Mermaid flowchart.
func Mermaid(v *View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: %s\n---\nflowchart TD\n", strconv.Quote(Printable(v.ID())))
	for _, n := range pictureNodes(v) {
		open, end := `["`, `"]`
		if n.pseudo {
			open, end = `(["`, `"])`
		}
		fmt.Fprintf(&b, "  n_%s%s%s%s\n", n.id, open, mermaidText(strings.Join(n.lines, "\n")), end)
	}
	for _, e := range v.Graph.Edges {
		arrow := "-->"
		if e.Role == cfg.Exception {
			arrow = "-.->"
		}
		label := ""
		if text := edgeLabel(e); text != "" {
			label = `|"` + mermaidText(text) + `"|`
		}
		fmt.Fprintf(&b, "  n_%s %s%s n_%s\n", e.From, arrow, label, e.To)
	}
	return b.String()
}

type pictureNode struct {
	id     string
	lines  []string
	pseudo bool
}

// pictureNodes lists the blocks, and the pseudo nodes that an edge touches.
func pictureNodes(v *View) []pictureNode {
	out := []pictureNode{{cfg.EntryName, []string{Name(v.Decl)}, true}}
	for _, blk := range v.Graph.Blocks {
		n := pictureNode{id: blk.ID}
		for _, s := range blk.Stmts {
			text := strings.Join(strings.Fields(Printable(v.File.Source.Text(s.Span))), " ")
			if short := Cut(text, 60); short != text {
				text = short + "..."
			}
			n.lines = append(n.lines, fmt.Sprintf("%d %s", s.Line, text))
		}
		out = append(out, n)
	}
	for _, name := range []string{cfg.ExitName, cfg.RaiseName} {
		for _, e := range v.Graph.Edges {
			if e.To == name {
				out = append(out, pictureNode{name, []string{name}, true})
				break
			}
		}
	}
	return out
}

func edgeLabel(e cfg.Edge) string {
	if e.Role == cfg.Next {
		return ""
	}
	return string(e.Role)
}

func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(s) + `"`
}

// dotLabel sets each line flush left.
func dotLabel(lines []string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(quoted.Replace(l) + `\l`)
	}
	return `"` + b.String() + `"`
}

func mermaidText(s string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "`", "&#96;", "#", "&#35;", "\n", "<br>").Replace(s)
}
