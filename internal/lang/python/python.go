// Package python reads Python, from what of Python 2 still parses to 3.14: it
// lists the definitions of a file and lowers their bodies to package ir.
//
// The syntax tree is first made into one shaped like CPython's ast (parse.go,
// ast.go); scopes (scope.go), normalised texts (text.go) and effects (expr.go)
// are read off that one. The package draws no control flow, resolves no types
// or imports, and does not know what a call does but for a few that never come
// back.
//
//	tree, _ := Language.Parse(ctx, f, lang.Options{})
//	for _, d := range tree.Decls() {
//		fn := tree.Lower(d)
//	}
package python

import (
	"bytes"

	tspython "github.com/smacker/go-tree-sitter/python"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/syntax"
)

// grammar is the parser, as the functions of the Language share it.
type grammar struct{ *syntax.Grammar }

// Language is Python.
var Language = newLanguage()

func newLanguage() *lang.Language {
	g := &grammar{syntax.NewGrammar(tspython.GetLanguage())}
	return &lang.Language{
		Name:       "python",
		Extensions: []string{".py", ".pyi", ".pyw"},
		Filenames:  []string{"SConstruct", "SConscript", "wscript"},
		Detect:     detect,
		Separator:  ".",
		Parse:      g.reader().Parse,
		Condition:  func(text string) (*ir.Cond, error) { return parseCondition(g.Grammar, text) },
		Frames:     frames,
		IsTest:     isTest,
		NoReturn: map[string]lang.NoReturn{
			"sys.exit": lang.Raises, "exit": lang.Raises, "quit": lang.Raises,
			"os._exit": lang.Halts, "os.abort": lang.Halts,
		},
		Releases: []lang.Release{
			{Take: "$.acquire()", Give: "$.release()"}, {Take: "$.lock()", Give: "$.unlock()"},
			{Take: "$.open()", Give: "$.close()"}, {Take: "$.begin()", Give: "$.commit()"},
		},
		Lacks: map[string]string{
			"do":            "Python has no loop with its test at the end",
			"for":           "Python's for goes over an iterable",
			"switch":        "match is a chain of tests",
			"goto":          "Python has none",
			"labelled-jump": "Python has none",
			"fallthrough":   "a case of match ends where the next begins",
			"asm":           "Python has none",
			"preproc":       "Python has no preprocessor",
		},
	}
}

func (g *grammar) reader() *lang.Syntax {
	return &lang.Syntax{Grammar: g.Grammar, Prepare: prepare, Enter: enter, Outline: outline, Lower: g.lower}
}

// detect recognises a script by its #! line.
func detect(path string, head []byte) bool {
	for _, ext := range []string{".py", ".pyi", ".pyw"} {
		if len(path) > len(ext) && path[len(path)-len(ext):] == ext {
			return true
		}
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(line, []byte("#!")) && bytes.Contains(line, []byte("python"))
}
