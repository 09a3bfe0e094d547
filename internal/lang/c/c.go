// Package c reads C, from K&R to C23 with GNU's extensions, and is the core of
// what reads C++: it lists the definitions of a file and lowers their bodies
// to package ir, straight from the text as it is written, preprocessor and all.
//
// No compiler and no build is asked. Of a conditional both arms are read where
// they hold whole statements or declarations (arms.go); where they split a
// construct, the one that a plain build takes. A macro stays the call that it
// looks like, with the effects and jumps of what it expands to (macro.go); one
// that holds half a construct is put in its place. Then the tokens are parsed
// (parse.go, decl.go, expr.go), as far as statements, definitions and uses need
// it: types are told from values by position and by the names seen so far, not
// by a symbol table. The package draws no control flow and follows no pointer;
// it says what is stored through one.
//
//	tree, _ := Language.Parse(ctx, f, lang.Options{})
//	for _, d := range tree.Decls() {
//		fn := tree.Lower(d)
//	}
package c

import (
	"bytes"
	"context"
	"path"
	"regexp"
	"strings"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
)

// Language is C.
var Language = &lang.Language{
	Name:       "c",
	Extensions: []string{".c", ".h"},
	Detect: func(p string, head []byte) bool {
		switch strings.ToLower(path.Ext(p)) {
		case ".c":
			return true
		case ".h":
			return !LooksLikeCPlusPlus(p, head)
		}
		return false
	},
	Separator: "::",
	Parse: func(ctx context.Context, f *source.File, o lang.Options) (lang.Tree, error) {
		return Parse(ctx, f, o, false)
	},
	Condition: func(text string) (*ir.Cond, error) { return ParseCondition(text, false) },
	Frames:    frames,
	Releases:  Releases(),
	IsTest:    IsTest,
	NoReturn:  NoReturn(),
	Lacks:     lacks(),
}

// NoReturn are the functions of C's and POSIX's libraries, and of gcc, that
// never return.
func NoReturn() map[string]lang.NoReturn {
	out := map[string]lang.NoReturn{}
	for _, name := range []string{"abort", "exit", "_exit", "_Exit", "quick_exit", "longjmp", "_longjmp", "siglongjmp", "pthread_exit", "thrd_exit",
		"__assert_fail", "__builtin_unreachable", "__builtin_trap", "__builtin_abort", "__builtin_exit", "__builtin_longjmp", "err", "errx", "verr", "verrx",
		"__stack_chk_fail", "__chk_fail"} {
		out[name] = lang.Halts
	}
	return out
}

// LooksLikeCPlusPlus tells C++ from C in a header by its content: a class, a
// namespace, a template or an editor's mode line outside of comments.
func LooksLikeCPlusPlus(p string, head []byte) bool {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.Contains(first, []byte("-*-")) && bytes.Contains(first, []byte("C++")) {
		return true
	}
	text := uncomment(head)
	// what stands in #ifdef __cplusplus is for C++ readers of a C header
	sign := regexp.MustCompile(`(?m)^[ \t]*(?:(?:inline[ \t]+)?namespace\b[ \t\w:]*(?:\{|$)|template[ \t]*<|class[ \t]+\w[\w \t]*(?:[:{;]|$)|(?:public|private|protected)[ \t]*:|using[ \t]+(?:namespace\b|\w+[ \t]*=|\w+::)|#[ \t]*include[ \t]*<(?:string|vector|memory|map|iostream|utility|algorithm|functional|cstdint|cstddef|cstring|type_traits)>)|\bstd::\w|\boperator[ \t]*(?:[-+*/=<>!&|\[(]|\w+[ \t]*\()|\b(?:constexpr|noexcept|decltype|static_cast|reinterpret_cast)\b`)
	return sign.Match(outsideCPlusPlus(text))
}

// uncomment blanks comments and strings.
func uncomment(data []byte) []byte {
	return regexp.MustCompile(`(?s)/\*.*?(?:\*/|$)|//[^\n]*|"(?:[^"\\\n]|\\.)*"`).ReplaceAllFunc(data, func(m []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(m, []byte("\n")))
	})
}

// outsideCPlusPlus leaves out what a C compiler does not read.
func outsideCPlusPlus(text []byte) []byte {
	var out []byte
	depth, skip := 0, 0
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		t := bytes.ReplaceAll(bytes.TrimSpace(line), []byte(" "), nil)
		switch {
		case bytes.HasPrefix(t, []byte("#if")):
			depth++
			if skip == 0 && bytes.Contains(t, []byte("__cplusplus")) && !bytes.HasPrefix(t, []byte("#ifndef")) && !bytes.Contains(t, []byte("!defined")) {
				skip = depth
			}
		case bytes.HasPrefix(t, []byte("#endif")):
			if skip == depth {
				skip = 0
			}
			depth--
		case bytes.HasPrefix(t, []byte("#else")), bytes.HasPrefix(t, []byte("#elif")):
			if skip == depth {
				skip = 0
			}
		}
		if skip == 0 {
			out = append(out, line...)
		}
	}
	return out
}
