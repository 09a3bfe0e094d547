package locate

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	leading  = regexp.MustCompile(`^(?:async\s+def|def|class|func|function|fn)\s+`)
	trailing = regexp.MustCompile(`\s*\([^()]*\)?\s*:?\s*$`)
)

// clean takes off what agents put around a reference: quotes, `def`, (), a
// list's dash.
func clean(q string) string {
	q = strings.TrimSpace(q)
	q = strings.TrimSpace(strings.TrimPrefix(q, "- "))
	q = strings.Trim(q, "`'\",; \t")
	q = leading.ReplaceAllString(q, "")
	if !strings.Contains(q, "operator(") && !strings.HasSuffix(q, "operator()") {
		q = trailing.ReplaceAllString(q, "")
	}
	return strings.TrimSpace(strings.TrimRight(q, ":,;"))
}

// name is a parsed reference by name.
type name struct {
	parts   []string // pkg, mod, Class, method
	ordinal int      // of name#2; 0 where not given
	body    bool     // <class C>: the class's own body
}

func (n name) last() string {
	if len(n.parts) == 0 {
		return ""
	}
	return n.parts[len(n.parts)-1]
}

var twin = regexp.MustCompile(`^(.*)#(\d+)$`)

func parseName(text string) name {
	var n name
	text = strings.TrimLeft(text, ":.")
	if m := twin.FindStringSubmatch(text); m != nil {
		if k, err := strconv.Atoi(m[2]); err == nil {
			n.ordinal, text = k, m[1]
		}
	}
	n.parts, n.body = split(text)
	return n
}

// split takes a qualified name apart, in whatever way it is joined. A class
// body's `<class C>` is the part C.
func split(text string) (parts []string, body bool) {
	depth, start := 0, 0
	cut := func(end int) {
		p := strings.TrimSpace(text[start:end])
		body = false
		if inner, ok := strings.CutPrefix(p, "<class "); ok {
			p, body = strings.TrimSuffix(inner, ">"), true
		}
		if p != "" && p != "<locals>" {
			parts = append(parts, p)
		}
	}
	for i := 0; i < len(text); i++ {
		if text[start:i] == "operator" && strings.IndexByte("()[]<>=+-*/%^&|~!,", text[i]) >= 0 {
			for i < len(text) && !strings.HasPrefix(text[i:], "::") && text[i] != '#' { // its signs are no brackets, and / joins nothing
				i++
			}
			if i == len(text) {
				break
			}
		}
		switch c := text[i]; {
		case c == '<' || c == '(':
			depth++
		case (c == '>' || c == ')') && depth > 0:
			depth--
		case depth == 0 && (c == '.' || c == ':' || c == '#' || c == '/'):
			cut(i)
			start = i + 1
		}
	}
	cut(len(text))
	return parts, body
}

var lineRef = regexp.MustCompile(`^[Ll]?(?:ine )?(\d+)(?:[:\-–,]\d+)*$`)

// lineNumber reads 123, 123:5, 10-20, L123.
func lineNumber(text string) (int, bool) {
	m := lineRef.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}
