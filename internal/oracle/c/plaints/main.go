// Command plaints says what the plain tree-sitter grammars for C and C++ make
// of files: how many functions they find, and how many of these cannot be
// trusted. coverage.py prints it beside flowplan's own figures, since these
// grammars are what flowplan would read C and C++ with, had it no reader of
// its own.
//
// It reads lines "c PATH" or "cpp PATH" from stdin and prints one JSON object
// a file: {"file", "functions": [{"name", "line", "end_line", "error"}]}. A
// function is in error where an ERROR or a missing node lies in it or around it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"

	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

type function struct {
	Name    string `json:"name"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Error   bool   `json:"error"`
}

type file struct {
	File      string     `json:"file"`
	Functions []function `json:"functions"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "plaints:", err)
		os.Exit(1)
	}
}

func run() error {
	grammars := map[string]*syntax.Grammar{"c": syntax.NewGrammar(c.GetLanguage()), "cpp": syntax.NewGrammar(cpp.GetLanguage())}
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		language, path, _ := strings.Cut(lines.Text(), " ")
		grammar := grammars[language]
		if grammar == nil {
			return fmt.Errorf("expected a line like \"c PATH\" or \"cpp PATH\", got %q", lines.Text())
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		root, err := grammar.Parse(context.Background(), data, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := enc.Encode(file{path, functions(source.New(path, data), root)}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}

// functions lists the function definitions of a tree.
func functions(f *source.File, root *syntax.Node) []function {
	out := []function{}
	type visit struct {
		node  *syntax.Node
		error bool // an ERROR is around it
	}
	for stack := []visit{{root, false}}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v.node.Kind == "function_definition" {
			if name := declared(v.node); name != nil {
				out = append(out, function{strings.Join(strings.Fields(name.Text(f.Bytes)), " "), f.Line(name.Span.Start), f.Line(v.node.Span.End - 1), v.error || v.node.HasError})
			}
		}
		for _, child := range v.node.Children {
			stack = append(stack, visit{child, v.error || v.node.IsError()})
		}
	}
	return out
}

// declared is the node of the name that a function definition declares.
func declared(n *syntax.Node) *syntax.Node {
	for {
		next := n.Child("declarator")
		if n.Kind == "qualified_identifier" || n.Kind == "template_function" {
			next = n.Child("name")
		}
		if next == nil { // a reference declarator has no field
			next = n.ChildOf("function_declarator")
		}
		if next == nil {
			if n.Kind == "function_definition" {
				return nil
			}
			return n
		}
		n = next
	}
}
