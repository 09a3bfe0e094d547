// Package cpp is C++, up to C++23: what package c reads, with the constructs of
// C++ switched on.
package cpp

import (
	"context"
	"path"
	"strings"

	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/lang/c"
	"flowplan/internal/source"
)

// Language is C++.
var Language = &lang.Language{
	Name:       "cpp",
	Extensions: []string{".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".h", ".ipp", ".inl", ".tcc", ".tpp", ".cppm", ".ixx"},
	Detect: func(p string, head []byte) bool {
		switch ext := strings.ToLower(path.Ext(p)); {
		case ext == ".h":
			return c.LooksLikeCPlusPlus(p, head)
		case ext == "": // the headers of a C++ library have no extension
			first, _, _ := strings.Cut(string(head), "\n")
			return strings.Contains(first, "-*-") && strings.Contains(first, "C++")
		}
		return true
	},
	Separator: "::",
	Parse: func(ctx context.Context, f *source.File, o lang.Options) (lang.Tree, error) {
		return c.Parse(ctx, f, o, true)
	},
	Condition: func(text string) (*ir.Cond, error) { return c.ParseCondition(text, true) },
	IsTest:    c.IsTest,
	Releases:  releases(),
	NoReturn:  noReturn(),
	Lacks:     lacks(),
}

// noReturn adds what the standard library of C++ has.
func noReturn() map[string]lang.NoReturn {
	out := c.NoReturn()
	for _, name := range []string{"terminate", "std::terminate", "std::abort", "std::exit", "std::_Exit", "std::quick_exit", "std::unreachable", "std::longjmp"} {
		out[name] = lang.Halts
	}
	for _, name := range []string{"std::rethrow_exception", "std::__throw_length_error", "std::__throw_out_of_range"} {
		out[name] = lang.Raises
	}
	return out
}
