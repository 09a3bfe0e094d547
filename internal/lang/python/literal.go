package python

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"flowplan/internal/syntax"
)

// number is a number by its value: 0xff is 255, 1e3 is 1000.0.
func number(raw string) *expr {
	s := strings.ToLower(strings.ReplaceAll(raw, "_", ""))
	e := &expr{kind: eConst, val: s, truth: 1}
	if strings.HasSuffix(s, "j") {
		v, err := strconv.ParseFloat(s[:len(s)-1], 64)
		if err != nil && v == 0 {
			return e
		}
		e.val = float(v) + "j"
		if v == 0 {
			e.truth = -1
		}
		return e
	}
	s = strings.TrimSuffix(s, "l") // long integers of Python 2
	base := 10
	digits := s
	switch {
	case strings.HasPrefix(s, "0x"):
		base, digits = 16, s[2:]
	case strings.HasPrefix(s, "0o"):
		base, digits = 8, s[2:]
	case strings.HasPrefix(s, "0b"):
		base, digits = 2, s[2:]
	case len(s) > 1 && s[0] == '0' && strings.Trim(s, "01234567") == "":
		base, digits = 8, s[1:] // an octal of Python 2
	}
	if v, ok := new(big.Int).SetString(digits, base); ok {
		e.val = v.String()
		if len(e.val) > 4000 {
			e.val = s // CPython refuses to print these too
		}
		if v.Sign() == 0 {
			e.truth = -1
		}
		return e
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && v == 0 {
		return e
	}
	e.val = float(v)
	if !strings.ContainsAny(e.val, ".e") {
		e.val += ".0"
	}
	if v == 0 {
		e.truth = -1
	}
	return e
}

func float(v float64) string {
	if math.IsInf(v, 0) {
		return "1e309"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// strings joins the adjacent string literals ns to one constant or, when one of
// them is an f-string, to one eJoined.
func (p *parser) strings(n *syntax.Node, ns []*syntax.Node) *expr {
	var parts []*expr
	format, bytes := "", false
	add := func(body string) {
		if len(parts) > 0 && parts[len(parts)-1].kind == eConst {
			parts[len(parts)-1].body += body
			return
		}
		parts = append(parts, &expr{kind: eConst, str: "s", body: body})
	}
	for _, s := range ns {
		// The quotes are counted here: what the grammar calls their tokens may
		// reach into the string.
		raw := p.text(s)
		if raw[0] == '`' {
			return p.backquoted(s)
		}
		prefix, quotes, ok := opening(raw)
		if !ok || len(raw) < len(prefix)+2*quotes {
			return p.bad(n)
		}
		prefix = strings.ToLower(prefix)
		lit := literal{raw: strings.Contains(prefix, "r"), bytes: strings.Contains(prefix, "b")}
		bytes = bytes || lit.bytes
		if strings.Contains(prefix, "f") {
			format, lit.braces = "f", true
		}
		if strings.Contains(prefix, "t") {
			format, lit.braces = "t", true
		}
		at := s.Span.Start + len(prefix) + quotes
		for _, c := range s.Children {
			if c.Kind == "interpolation" {
				add(lit.value(string(p.data[at:c.Span.Start])))
				for _, e := range p.interpolation(c, lit) {
					if e.kind == eConst {
						add(e.body)
					} else {
						parts = append(parts, e)
					}
				}
				at = c.Span.End
			}
		}
		add(lit.value(string(p.data[at:max(at, s.Span.End-quotes)])))
	}
	if format != "" {
		e := &expr{kind: eJoined, val: format}
		for _, k := range parts {
			if k.kind != eConst || k.body != "" {
				e.kids = append(e.kids, k)
			}
		}
		return e
	}
	body := ""
	for _, k := range parts {
		body += k.body
	}
	e := &expr{kind: eConst, str: "s", body: body, val: "'" + body + "'", truth: 1}
	if bytes {
		e.str, e.val = "b", "b'"+body+"'"
	}
	if body == "" {
		e.truth = -1
	}
	return e
}

// opening splits off a literal's prefix and says of how many quotes it is.
func opening(raw string) (prefix string, quotes int, ok bool) {
	i := strings.IndexAny(raw, `"'`)
	if i < 0 || i > 2 {
		return "", 0, false
	}
	if q := strings.Repeat(raw[i:i+1], 3); strings.HasPrefix(raw[i:], q) && len(raw) >= i+6 {
		return raw[:i], 3, true
	}
	return raw[:i], 1, true
}

// backquoted is `x` of Python 2, which the grammar takes for a string.
func (p *parser) backquoted(s *syntax.Node) *expr {
	inner := strings.Trim(p.text(s), "`")
	return &expr{kind: eRepr, kids: []*expr{{kind: eName, val: fold(inner), span: s.Span}}}
}

// interpolation is {value!conversion:spec}; with `=` its own text goes before.
func (p *parser) interpolation(n *syntax.Node, lit literal) []*expr {
	e := &expr{kind: eFormatted, span: n.Span, kids: []*expr{p.expr(n.Child("expression"))}}
	if w := n.Child("expression"); w != nil && w.Kind == "named_expression" { // {x:=10} is x, aligned: no walrus without parentheses
		spec := &expr{kind: eConst, str: "s", body: lit.value(string(p.data[w.Child("name").Span.End+1 : w.Span.End]))}
		e.kids = []*expr{p.expr(w.Child("name")), {kind: eJoined, val: "f", kids: []*expr{spec}, span: w.Span}}
	}
	var out []*expr
	equals := -1
	for _, c := range n.Children {
		switch c.Kind {
		case "=":
			equals = c.Span.End
		case "type_conversion":
			e.val = strings.TrimSpace(strings.TrimPrefix(p.text(c), "!"))
		case "format_specifier":
			e.kids = append(e.kids, p.formatSpec(c, lit))
		}
	}
	if equals >= 0 {
		for equals < n.Span.End && isSpace(p.data[equals]) {
			equals++
		}
		raw := literal{raw: true}
		out = append(out, &expr{kind: eConst, str: "s", body: raw.value(string(p.data[n.Span.Start+1 : equals]))})
		if e.val == "" && len(e.kids) == 1 {
			e.val = "r"
		}
	}
	return append(out, e)
}

func (p *parser) formatSpec(n *syntax.Node, lit literal) *expr {
	e := &expr{kind: eJoined, val: "f", span: n.Span}
	at := n.Span.Start + 1
	lit.braces = false
	add := func(end int) {
		if end > at {
			e.kids = append(e.kids, &expr{kind: eConst, str: "s", body: lit.value(string(p.data[at:end]))})
		}
	}
	for _, c := range n.Children {
		if c.Kind != "format_expression" && c.Kind != "interpolation" {
			continue
		}
		add(c.Span.Start)
		e.kids = append(e.kids, p.interpolation(c, lit)...)
		at = c.Span.End
	}
	add(n.Span.End)
	return e
}

// literal decodes what stands between the quotes of a string.
type literal struct {
	raw, bytes, braces bool
}

// value is the decoded string, printed with canonical escapes: two literals are
// equal exactly when these are.
func (l literal) value(s string) string {
	var b strings.Builder
	s = strings.ReplaceAll(s, "\r\n", "\n")
	for i := 0; i < len(s); {
		c := s[i]
		if l.braces && (c == '{' || c == '}') && i+1 < len(s) && s[i+1] == c {
			b.WriteByte(c)
			i += 2
			continue
		}
		if c == '\\' && !l.raw && i+1 < len(s) {
			n := l.escape(&b, s[i:])
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, c)
			i++
			continue
		}
		l.put(&b, r)
		i += n
	}
	return b.String()
}

// escape decodes one escape sequence and says how long it was.
func (l literal) escape(b *strings.Builder, s string) int {
	if i := strings.IndexByte("abfnrtv\\'\"", s[1]); i >= 0 {
		l.put(b, rune("\a\b\f\n\r\t\v\\'\""[i]))
		return 2
	}
	hex := func(digits int) int {
		if len(s) < 2+digits {
			l.put(b, '\\')
			return 1
		}
		v, err := strconv.ParseUint(s[2:2+digits], 16, 32)
		if err != nil {
			l.put(b, '\\')
			return 1
		}
		l.put(b, rune(v))
		return 2 + digits
	}
	switch c := s[1]; {
	case c == '\n':
		return 2
	case c >= '0' && c <= '7':
		n, v := 1, 0
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			v = v*8 + int(s[n]-'0')
			n++
		}
		if l.bytes {
			v &= 0xff
		}
		l.put(b, rune(v))
		return n
	case c == 'x':
		return hex(2)
	case c == 'u' && !l.bytes:
		return hex(4)
	case c == 'U' && !l.bytes:
		return hex(8)
	case c == 'N' && !l.bytes && len(s) > 2 && s[2] == '{':
		if end := strings.IndexByte(s, '}'); end > 0 {
			b.WriteString(strings.ToUpper(s[:end+1])) // names are not looked up
			return end + 1
		}
	}
	l.put(b, '\\')
	return 1
}

func (l literal) put(b *strings.Builder, r rune) {
	switch r {
	case '\n':
		b.WriteString(`\n`)
	case '\r':
		b.WriteString(`\r`)
	case '\t':
		b.WriteString(`\t`)
	case '\\':
		b.WriteString(`\\`)
	case '\'':
		b.WriteString(`\'`)
	default:
		switch {
		case r < ' ' || r == 0x7f || l.bytes && r > 0x7f || r > 0x7f && r < 0x100 && !unicode.IsPrint(r):
			fmt.Fprintf(b, `\x%02x`, r)
		case r < 0x7f || utf8.ValidRune(r) && unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
}
