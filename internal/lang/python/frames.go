package python

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"flowplan/internal/lang"
)

// frames finds the frames of tracebacks in a text, in its order, which is that
// from the outermost to the innermost:
//
//	File "a.py", line 12, in f
//	tests/test_a.py:12: in test_f
//	a.py:30: ValueError
func frames(text string) []lang.Frame {
	// The patterns are compiled here, as the package keeps no state.
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	own := regexp.MustCompile(`File "([^"\n]+)", line (\d+)(?:, in (\S+))?`)
	pytest := regexp.MustCompile(`^(?:E?\s*)([^\s:"'()]+\.pyi?):(\d+):(?: in (\S+)|\s+\w[\w.]*|\s*$)`)
	var out []lang.Frame
	for _, line := range strings.Split(colour.ReplaceAllString(text, ""), "\n") {
		m := own.FindStringSubmatch(line)
		if m == nil {
			m = pytest.FindStringSubmatch(strings.TrimRight(line, "\r"))
		}
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		out = append(out, lang.Frame{Path: m[1], Line: n, Func: strings.TrimSuffix(m[3], "()")})
	}
	return out
}

// isTest says whether a symbol of a file is test code, by what pytest and
// unittest collect.
func isTest(file, symbol string) bool {
	file = strings.ReplaceAll(file, "\\", "/")
	base := path.Base(file)
	if strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") || base == "conftest.py" || base == "tests.py" {
		return true
	}
	for _, dir := range strings.Split(path.Dir(file), "/") {
		if dir == "tests" || dir == "test" {
			return true
		}
	}
	last := symbol[strings.LastIndexByte(symbol, '.')+1:]
	return strings.HasPrefix(last, "test_") || strings.HasPrefix(symbol, "Test") && strings.HasPrefix(last, "test")
}
