package c

import (
	"path"
	"slices"
	"sort"
	"strings"

	"flowplan/internal/source"
)

// macro is one #define.
type macro struct {
	name     string
	function bool // with parameters
	params   []string
	variadic bool
	body     []token
	at       int         // offset behind which it holds in this file; -1: in a header
	undef    bool        // an #undef
	spare    bool        // in an arm that a plain build does not take
	span     source.Span // of its directive; of a macro of this file
	shape    shape
	shaped   bool
	headers  bool // several headers, one of them a loop
	busy     bool
}

// shape says what a macro's body is as syntax.
type shape uint8

const (
	shapeValue     shape = iota // an expression, a type, or anything that reads like a name or call
	shapeStatement              // whole statements
	shapeOpen                   // brackets or headers without what belongs to them: for (...), {, else
)

// macros are the macros that are known where a file's code stands.
type macros struct {
	by   map[string][]*macro
	cpp  bool
	own  []*macro // those of the file itself, in order
	deep int
}

// lookup is the macro of that name in force at an offset, or nil.
func (m *macros) lookup(name string, at int) *macro {
	if m == nil {
		return nil
	}
	var best, spare *macro
	for _, d := range m.by[name] {
		if d.at >= at && d.at >= 0 {
			break
		}
		if d.spare {
			spare = d
			continue
		}
		best = d
	}
	if best == nil {
		best = spare
	}
	if best == nil || best.undef {
		return nil
	}
	return best
}

// define reads a #define or #undef.
func (m *macros) define(t token, at int, spare bool) *macro {
	name, rest := directiveName(t.text)
	if name != "define" && name != "undef" {
		return nil
	}
	toks := scan([]byte(rest), m.cpp)
	if len(toks) == 0 || toks[0].kind != tIdent {
		return nil
	}
	d := &macro{name: toks[0].text, at: at, undef: name == "undef", spare: spare, span: t.span}
	i := 1
	if len(toks) > 1 && toks[1].text == "(" && toks[1].span.Start == toks[0].span.End {
		d.function = true
		for i = 2; i < len(toks) && toks[i].text != ")"; i++ {
			switch {
			case toks[i].text == "...":
				d.variadic = true
				if i > 2 && toks[i-1].kind == tIdent { // GNU: args...
					continue
				}
				d.params = append(d.params, "__VA_ARGS__")
			case toks[i].kind == tIdent:
				d.params = append(d.params, toks[i].text)
			}
		}
		i++
	}
	if i < len(toks) {
		d.body = toks[i:]
	}
	m.by[d.name] = append(m.by[d.name], d)
	return d
}

// reader reads macros in the order in which a compiler meets them.
type reader struct {
	m      *macros
	r      *resolver
	header bool
	// include reads what a file includes; nil: nothing is opened.
	include func(from, name string)
	path    string
}

// collect reads the macros of a tree of groups. spare: in an arm that a plain
// build does not take.
func (x *reader) collect(elems []elem, spare bool) {
	for i := range elems {
		e := &elems[i]
		if e.g == nil {
			if e.tok.kind != tDirective {
				continue
			}
			if name, rest := directiveName(headText(e.tok.text)); name == "include" && x.include != nil && !spare && len(rest) > 2 {
				if end := strings.IndexAny(rest[1:], "\">"); end > 0 {
					x.include(x.path, rest[1:1+end])
				}
				continue
			}
			at := e.tok.span.Start
			if x.header {
				at = -1
			}
			if d := x.m.define(e.tok, at, spare); d != nil && !x.header && !d.undef {
				x.m.own = append(x.m.own, d)
			}
			continue
		}
		taken := no
		for _, l := range x.r.live(e.g) {
			if l.likely == no {
				continue
			}
			x.collect(l.arm.elems, spare || taken != no)
			if l.likely == yes && taken != unknown {
				break // what follows is for other builds
			}
			taken = unknown
			if l.likely == yes {
				break
			}
		}
	}
}

// maxHeaders and maxHeaderBytes bound what is read for the macros of one file,
// maxIncludes how deep headers include one another.
const (
	maxHeaders     = 100
	maxHeaderBytes = 8 << 20
	maxIncludes    = 40
)

// include reads the macros of a file anew, with those of the headers of the
// repository that it includes by name, and that these include: what a header
// defines decides which arms of a file a build takes. facts is given the tokens
// of each header.
func (m *macros) include(path string, elems []elem, readFile func(string) ([]byte, error), facts func(toks []token)) {
	if readFile == nil {
		return
	}
	own := m.own
	m.by, m.own = map[string][]*macro{}, nil
	r := &resolver{cpp: m.cpp, known: m, line: func(int) int { return 0 }}
	seen := map[string]bool{path: true}
	size, depth := 0, 0
	var open func(from, name string)
	open = func(from, name string) {
		if len(seen) > maxHeaders || size > maxHeaderBytes || depth > maxIncludes {
			return
		}
		for _, p := range headerPaths(from, name) {
			if seen[p] {
				return
			}
			data, err := readFile(p)
			if err != nil {
				continue
			}
			seen[p] = true
			size += len(data)
			toks := scan(data, m.cpp)
			facts(toks)
			depth++
			(&reader{m: m, r: r, header: true, include: open, path: p}).collect(nest(toks), false)
			depth--
			return
		}
	}
	(&reader{m: m, r: r, include: open, path: path}).collect(elems, false)
	m.own = own
	for _, list := range m.by {
		sort.SliceStable(list, func(a, b int) bool { return list[a].at < list[b].at })
	}
}

// headerPaths are the places where a header of the repository may be: beside
// the file, and below the usual folders of the folders around it.
func headerPaths(from, name string) []string {
	dir := path.Dir(from)
	out := []string{path.Join(dir, name)}
	for d := dir; ; d = path.Dir(d) {
		for _, sub := range []string{"include", "src", "", "src/include", "src/headers", "headers", "inc", "lib"} {
			if p := path.Join(d, sub, name); p != out[0] {
				out = append(out, p)
			}
		}
		if d == "." || d == "/" || d == "" {
			break
		}
	}
	return out
}

// call is one use of a macro in a list of tokens.
type call struct {
	m    *macro
	args [][]token
	end  int // index behind it
}

// callAt recognises a call of a macro at toks[i].
func (m *macros) callAt(toks []token, i int, hidden map[string]bool) (call, bool) {
	t := &toks[i]
	if t.kind != tIdent || hidden[t.text] || m == nil || len(m.by[t.text]) == 0 {
		return call{}, false
	}
	d := m.lookup(t.text, t.span.Start)
	if d == nil {
		return call{}, false
	}
	if !d.function {
		return call{m: d, end: i + 1}, true
	}
	if i+1 >= len(toks) || toks[i+1].text != "(" {
		return call{}, false
	}
	c := call{m: d}
	depth, start := 0, i+2
	for j := i + 1; j < len(toks); j++ {
		if toks[j].kind != tPunct {
			continue
		}
		switch toks[j].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				c.args = append(c.args, toks[start:j])
				c.end = j + 1
				if len(d.params) == 0 && len(c.args) == 1 && len(c.args[0]) == 0 {
					c.args = nil
				}
				return c, true
			}
		case ",":
			if depth == 1 && !(d.variadic && len(c.args) >= len(d.params)-1) {
				c.args = append(c.args, toks[start:j])
				start = j + 1
			}
		}
	}
	return call{}, false
}

// maxExpansion bounds the tokens of one expansion: macros can double their
// size at every level.
const maxExpansion = 20000

// expand gives the tokens that a call stands for, all of them at the call's
// place. ok is false where it is too large.
func (m *macros) expand(c call, at source.Span) (out []token, ok bool) {
	budget := maxExpansion
	out, ok = m.substitute(c, at, map[string]bool{}, &budget, 0)
	return out, ok
}

func (m *macros) substitute(c call, at source.Span, hidden map[string]bool, budget *int, depth int) ([]token, bool) {
	if depth > 60 {
		return nil, false
	}
	index := map[string]int{}
	for i, p := range c.m.params {
		index[p] = i
	}
	full := make([][]token, len(c.args)) // arguments, expanded
	var out []token
	add := func(t token) {
		t.first = false
		t.made = true
		t.span = at
		out = append(out, t)
	}
	b := c.m.body
	for i := 0; i < len(b); i++ {
		t := b[i]
		if t.text == "#" && c.m.function && i+1 < len(b) { // a parameter as a string
			if k, ok := index[b[i+1].text]; ok {
				text := ""
				if k < len(c.args) {
					text = joined(c.args[k])
				}
				add(token{kind: tString, text: "\"" + text + "\""})
				i++
				continue
			}
		}
		paste := i+1 < len(b) && b[i+1].text == "##" || i > 0 && b[i-1].text == "##"
		if t.text == "##" && i > 0 && i+1 < len(b) {
			continue
		}
		if t.text == "__VA_OPT__" && i+1 < len(b) && b[i+1].text == "(" {
			continue
		}
		k, isParam := index[t.text]
		var piece []token
		switch {
		case !isParam || t.kind != tIdent:
			piece = []token{t}
		case k >= len(c.args):
			if i+1 < len(b) && b[i+1].text == "##" || i > 0 && b[i-1].text == "##" {
				// , ## __VA_ARGS__ with none: the comma goes
				if i > 1 && b[i-1].text == "##" && b[i-2].text == "," && len(out) > 0 && out[len(out)-1].text == "," {
					out = out[:len(out)-1]
				}
			}
			continue
		case paste:
			piece = c.args[k]
		default:
			if full[k] == nil {
				e, ok := m.rescan(c.args[k], at, hidden, budget, depth+1)
				if !ok {
					return nil, false
				}
				full[k] = e
			}
			piece = full[k]
		}
		glue := i > 0 && b[i-1].text == "##"
		for j, p := range piece {
			if *budget--; *budget < 0 {
				return nil, false
			}
			if j == 0 && glue && len(out) > 0 && b[max(i-2, 0)].text != "," {
				last := &out[len(out)-1]
				last.text += p.text
				continue
			}
			add(p)
		}
	}
	inner := map[string]bool{c.m.name: true}
	for h := range hidden {
		inner[h] = true
	}
	return m.rescan(out, at, inner, budget, depth+1)
}

// rescan expands the calls in a list of tokens.
func (m *macros) rescan(toks []token, at source.Span, hidden map[string]bool, budget *int, depth int) ([]token, bool) {
	if depth > 60 {
		return nil, false
	}
	var out []token
	for i := 0; i < len(toks); {
		c, ok := m.callAt(toks, i, hidden)
		if !ok {
			t := toks[i]
			t.made, t.span, t.first = true, at, false
			out = append(out, t)
			i++
			continue
		}
		e, ok := m.substitute(c, at, hidden, budget, depth+1)
		if !ok {
			return nil, false
		}
		out = append(out, e...)
		i = c.end
	}
	return out, true
}

// joined is the text of tokens with a space where there was white space.
func joined(toks []token) string {
	var b strings.Builder
	for i := range toks {
		if i > 0 && toks[i].span.Start > toks[i-1].span.End {
			b.WriteByte(' ')
		}
		b.WriteString(toks[i].text)
	}
	return b.String()
}

// shapeOf says what a macro's body is, parameters standing for themselves.
func (m *macros) shapeOf(d *macro) shape {
	if d.shaped || d.busy {
		return d.shape
	}
	d.busy = true
	defer func() { d.busy, d.shaped = false, true }()
	c := call{m: d}
	for _, p := range d.params {
		c.args = append(c.args, []token{{kind: tIdent, text: p}})
	}
	if !d.function {
		c.args = nil
	}
	budget := maxExpansion
	at := d.at
	if at < 0 {
		at = 0
	}
	toks, ok := m.substitute(c, source.Span{Start: 1 << 40, End: 1 << 40}, map[string]bool{}, &budget, 0)
	if !ok || len(toks) == 0 {
		return d.shape
	}
	d.shape = shapeFor(toks)
	d.headers = d.shape == shapeOpen && manyHeaders(toks)
	return d.shape
}

// shapeFor classifies the tokens of an expansion.
func shapeFor(toks []token) shape {
	if !balanced(toks) {
		return shapeOpen
	}
	first := &toks[0]
	if len(toks) == 1 {
		switch first.text {
		case "try", "if", "for", "while", "do", "switch", "return", "goto", "case":
			return shapeOpen
		}
	}
	switch first.text {
	case "else", "catch":
		return shapeOpen
	case "case", "default":
		return shapeOpen
	case "for", "while", "if", "switch", "do":
		if toks[0].kind == tIdent && openEnded(toks) {
			return shapeOpen
		}
		return shapeStatement
	case "{":
		if toks[len(toks)-1].text == "else" || toks[len(toks)-1].text == ")" {
			return shapeOpen
		}
		for i := 1; i < len(toks)-1; i++ { // { 1, 2 } is an initialiser
			if toks[i].text == ";" || toks[i].kind == tIdent && isStatementWord(toks[i].text) {
				return shapeStatement
			}
		}
		return shapeValue
	case "return", "goto", "break", "continue", "throw", "co_return":
		return shapeStatement
	}
	depth, statement := 0, false
	for i := range toks {
		if toks[i].kind == tPunct {
			switch toks[i].text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			case ";":
				if depth == 0 && i < len(toks)-1 {
					statement = true
				}
			}
		}
		if depth == 0 && toks[i].kind == tIdent && isStatementWord(toks[i].text) {
			statement = true
		}
	}
	if !statement {
		return shapeValue
	}
	if openEnded(toks) {
		return shapeOpen
	}
	return shapeStatement
}

func isStatementWord(s string) bool {
	switch s {
	case "for", "while", "if", "switch", "do", "return", "goto", "break", "continue", "else", "case":
		return true
	}
	return false
}

// openEnded reports whether statements end in a header that lacks its body.
func openEnded(toks []token) bool {
	n := len(toks)
	if toks[n-1].text == "else" || toks[n-1].text == "do" {
		return true
	}
	if toks[n-1].text != ")" {
		return false
	}
	i := opening(toks)
	if i < 1 {
		return false
	}
	switch toks[i-1].text {
	case "for", "if", "switch":
		return true
	case "constexpr":
		return i > 1 && toks[i-2].text == "if"
	case "while": // of a do
		return !(i > 1 && (toks[i-2].text == "}" && hasDo(toks[:i-1]) || hasDo(toks[:i-1])))
	}
	return false
}

// hasDo reports whether a do at the same depth waits for its while.
func hasDo(toks []token) bool {
	depth, open := 0, 0
	for i := range toks {
		switch toks[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case "do":
			if depth == 0 {
				open++
			}
		case "while":
			if depth == 0 && open > 0 {
				open--
			}
		}
	}
	return open > 0
}

// splice puts the expansions of macros that hold half a construct in their
// place; statements, values and types stay calls.
func (m *macros) splice(toks []token) []token {
	if m == nil || len(m.by) == 0 {
		return toks
	}
	var out []token
	copied := 0
	for i := 0; i < len(toks); i++ {
		if toks[i].kind != tIdent || len(m.by[toks[i].text]) == 0 {
			continue
		}
		c, ok := m.callAt(toks, i, nil)
		if !ok || !m.opens(c.m) && !m.callOpens(c, toks[i].span) {
			continue
		}
		at := source.Span{Start: toks[i].span.Start, End: toks[c.end-1].span.End}
		e, ok := m.expand(c, at)
		if !ok {
			continue
		}
		out = append(out, toks[copied:i]...)
		if len(e) > 0 {
			e[0].first = toks[i].first
		}
		out = append(out, e...)
		copied = c.end
		i = c.end - 1
	}
	if copied == 0 {
		return toks
	}
	return append(out, toks[copied:]...)
}

// opens reports whether a macro is to be put in place of its call. One that is
// a loop within other headers stays one header.
func (m *macros) opens(d *macro) bool {
	if len(d.body) == 0 { // an attribute that is none here
		return !d.function && d.name != ""
	}
	return m.shapeOf(d) == shapeOpen && !d.headers
}

// callOpens reports a call of a macro whose parameters are macros themselves,
// and that is half a construct with these: LIST(CASE) of X-macros.
func (m *macros) callOpens(c call, at source.Span) bool {
	if !c.m.function || len(c.args) == 0 {
		return false
	}
	calls := false
	for i := 0; i+1 < len(c.m.body) && !calls; i++ {
		calls = c.m.body[i].kind == tIdent && c.m.body[i+1].is("(") && slices.Contains(c.m.params, c.m.body[i].text)
	}
	if !calls {
		return false
	}
	toks, ok := m.expand(c, at)
	return ok && len(toks) > 0 && shapeFor(toks) == shapeOpen
}

// qualifies reports a macro that stands for qualifiers, storage classes or
// attributes, or for nothing.
func (m *macros) qualifies(t *token) bool {
	if m == nil || len(m.by[t.text]) == 0 {
		return false
	}
	d := m.lookup(t.text, t.span.Start)
	if d == nil || d.function {
		return false
	}
	for i := 0; i < len(d.body); i++ {
		b := &d.body[i]
		switch {
		case b.kind == tIdent && takesParens(b.text):
			depth := 0
			for i++; i < len(d.body); i++ {
				if d.body[i].is("(") {
					depth++
				} else if d.body[i].is(")") {
					if depth--; depth == 0 {
						break
					}
				}
			}
		case b.kind == tIdent && isSpecifier(b.text, m.cpp) && b.text != "auto" && b.text != "typename":
		default:
			return false
		}
	}
	return true
}

// manyHeaders reports several headers of which one is a loop, with no braces:
// if (x) for (...) if (...).
func manyHeaders(toks []token) bool {
	loops, all := 0, 0
	for i := 0; i < len(toks); {
		if toks[i].text == "else" {
			i++
			continue
		}
		switch toks[i].text {
		case "for", "while":
			loops++
		case "if":
		default:
			return false
		}
		all++
		i++
		if i < len(toks) && toks[i].text == "constexpr" {
			i++
		}
		if i >= len(toks) || toks[i].text != "(" {
			return false
		}
		depth := 0
		for ; i < len(toks); i++ {
			if toks[i].text == "(" {
				depth++
			} else if toks[i].text == ")" {
				if depth--; depth == 0 {
					i++
					break
				}
			}
		}
		// if (!x) ; else if ...
		if i < len(toks) && toks[i].text == ";" {
			i++
		} else if i+1 < len(toks) && toks[i].text == "{" && toks[i+1].text == "}" {
			i += 2
		}
	}
	return loops == 1 && all > 1
}
