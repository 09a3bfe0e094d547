package c

import "strings"

// text is the normalised text of tokens: one space or none between two, as
// their kinds have it, whatever the file has. Tokens that a macro brought in
// are the macro's call, once.
func (p *parser) text(toks []token) string {
	var b strings.Builder
	write(&b, p.data, p.cpp, toks)
	return b.String()
}

func write(b *strings.Builder, data []byte, cpp bool, toks []token) {
	var last *token
	for i := 0; i < len(toks); i++ {
		t := &toks[i]
		if t.kind == tDirective {
			continue
		}
		if t.made && t.span.End <= len(data) {
			j := i
			for j+1 < len(toks) && toks[j+1].made && toks[j+1].span == t.span {
				j++
			}
			call := scan(data[t.span.Start:t.span.End], cpp)
			if len(call) > 0 {
				if last != nil && spaced(last, &call[0]) {
					b.WriteByte(' ')
				}
				write(b, nil, cpp, call)
				last = &call[len(call)-1]
			}
			i = j
			continue
		}
		// the : of ?:, of a range, of bases; one at the end is a label's
		if last != nil && (spaced(last, t) || t.is(":") && i+1 < len(toks) && !last.is("?")) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		last = t
	}
}

// spaced reports whether a space stands between two tokens.
func spaced(a, b *token) bool {
	if b.kind == tPunct {
		switch b.text {
		case ")", "]", ",", ";", ".", "->", "::", "[", "}":
			return b.text == "[" && a.kind == tIdent && isKeyword(a.text) || b.text == "::" && a.kind == tIdent && isKeyword(a.text)
		case "(":
			if a.kind == tIdent {
				switch a.text {
				case "if", "while", "for", "switch", "return", "case", "catch", "and", "or", "not", "co_return", "co_await", "co_yield", "throw", "constexpr":
					return true
				}
				return false
			}
			if a.kind == tPunct && (a.text == ")" || a.text == "]" || a.angle) {
				return false
			}
		case "++", "--":
			if !b.tight {
				return false
			}
		case "<", ">":
			if b.angle {
				return false
			}
		case ":":
			return false
		case "...":
			return false
		}
	}
	if a.kind == tPunct {
		switch a.text {
		case "(", "[", "{", ".", "->", "::", "!", "~":
			return false
		case "<":
			if a.angle {
				return false
			}
		}
		if a.tight {
			return false
		}
	}
	return true
}

// bare drops parentheses that enclose all of an expression.
func bare(e *expr) *expr {
	for e != nil && e.kind == eSame && e.paren {
		e = e.kids[0]
	}
	return e
}
