package c

import (
	"strings"

	"flowplan/internal/source"
)

// group is one #if ... #endif.
type group struct {
	arms     []*arm
	complete bool // it has an #else
	span     source.Span
}

// arm is one arm of a group.
type arm struct {
	head  token // its #if, #elif or #else line
	elems []elem
	toks  []token // once it is known to stay
}

// elem is a token, or a group that stands between tokens.
type elem struct {
	tok token
	g   *group
}

// resolved is a group of which one arm was kept, since its arms split a
// construct.
type resolved struct {
	line int
	text string // the line of the arm that was kept; "" where none was
}

// directiveName splits a # line into its name and the rest, comments gone.
func directiveName(text string) (name, rest string) {
	t := strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(text, "#"), "%:"), " \t\\\r\n")
	i := 0
	for i < len(t) && isLetter(t[i]) {
		i++
	}
	return t[:i], strings.TrimSpace(t[i:])
}

// nest makes the tree of groups. A lone #else or #endif stays a token and is
// passed over later.
func nest(toks []token) []elem {
	type level struct {
		g   *group
		out []elem
	}
	stack := []level{{}}
	put := func(e elem) {
		top := &stack[len(stack)-1]
		if top.g == nil {
			top.out = append(top.out, e)
			return
		}
		a := top.g.arms[len(top.g.arms)-1]
		a.elems = append(a.elems, e)
	}
	closeTop := func(end int) {
		g := stack[len(stack)-1].g
		g.span.End = end
		stack = stack[:len(stack)-1]
		put(elem{g: g})
	}
	for _, t := range toks {
		if t.kind != tDirective {
			put(elem{tok: t})
			continue
		}
		name, _ := directiveName(t.text)
		top := &stack[len(stack)-1]
		switch name {
		case "if", "ifdef", "ifndef":
			stack = append(stack, level{g: &group{arms: []*arm{{head: t}}, span: t.span}})
		case "elif", "else", "elifdef", "elifndef":
			if top.g != nil {
				top.g.arms = append(top.g.arms, &arm{head: t})
				top.g.complete = top.g.complete || name == "else"
			}
		case "endif":
			if top.g != nil {
				closeTop(t.span.End)
			}
		default:
			put(elem{tok: t})
		}
	}
	for len(stack) > 1 { // an #if without its #endif
		end := 0
		if len(toks) > 0 {
			end = toks[len(toks)-1].span.End
		}
		closeTop(end)
	}
	return stack[0].out
}

// holder says what the innermost open bracket around a place holds.
type holder uint8

const (
	inFile  holder = iota // declarations
	inBlock               // statements
	inList                // parentheses, initialisers, enumerators
)

// resolver makes a flat list of tokens out of a tree of groups: a group whose
// arms all hold whole statements or declarations stays as one token, of every
// other one arm is kept.
type resolver struct {
	data     []byte
	cpp      bool
	resolved []resolved
	line     func(int) int
	known    *macros // what is defined so far; nil: nothing is known
}

// state is what the resolver knows at a place of the output.
type state struct {
	open  []holder
	prev  []token // what has been put out so far in the current list
	outer *token  // what stood before the list
}

func (r *resolver) holder(st *state) holder {
	if n := len(st.open); n > 0 {
		return st.open[n-1]
	}
	return inFile
}

func (r *resolver) flatten(elems []elem, st *state) []token {
	for i, e := range elems {
		if e.g == nil {
			r.push(st, e.tok)
			continue
		}
		r.place(e.g, st, following(elems[i+1:]))
	}
	return st.prev
}

// following is the first token of what comes next.
func following(elems []elem) *token {
	for i := range elems {
		if elems[i].g == nil {
			if elems[i].tok.kind == tDirective {
				continue
			}
			return &elems[i].tok
		}
		for _, a := range elems[i].g.arms {
			if t := following(a.elems); t != nil {
				return t
			}
		}
	}
	return nil
}

func (r *resolver) push(st *state, t token) {
	if t.kind == tPunct {
		switch t.text {
		case "(", "[":
			st.open = append(st.open, inList)
		case "{":
			st.open = append(st.open, r.braceHolds(st))
		case ")", "]", "}":
			if n := len(st.open); n > 0 {
				st.open = st.open[:n-1]
			}
		}
	}
	st.prev = append(st.prev, t)
}

// braceHolds says what the brace holds that is about to be opened.
func (r *resolver) braceHolds(st *state) holder {
	at := r.holder(st)
	if at == inList {
		// a lambda's body or a statement expression in parentheses, else a list
		if p := st.last(); p != nil && (p.text == ")" || p.text == "(" || p.text == "mutable" || p.text == "noexcept") {
			return inBlock
		}
		for i := len(st.prev) - 1; r.cpp && i > 0 && i > len(st.prev)-40; i-- { // a lambda's return type
			if st.prev[i].text == "->" && st.prev[i-1].text == ")" {
				return inBlock
			}
			if t := &st.prev[i]; t.text == ";" || t.text == "{" || t.text == "=" {
				break
			}
		}
		return inList
	}
	n := len(st.prev)
	for i := n - 1; i >= 0 && i > n-200; i-- {
		t := &st.prev[i]
		if t.kind == tString && i == n-1 && i > 0 && st.prev[i-1].text == "extern" {
			return inFile
		}
		switch t.text {
		case "namespace", "class", "struct", "union":
			if i == n-1 || st.prev[n-1].text != ")" {
				return inFile
			}
		case "enum", "=", "return":
			if t.text != "=" || i == n-1 {
				return inList
			}
		}
		if t.text == ";" || t.text == "}" || t.text == "{" || t.text == ")" || t.group != nil || t.kind == tDirective {
			break
		}
	}
	return inBlock
}

// last is the token before the place, directives other than groups aside.
func (st *state) last() *token {
	for i := len(st.prev) - 1; i >= 0; i-- {
		if st.prev[i].kind == tDirective && st.prev[i].group == nil {
			continue
		}
		return &st.prev[i]
	}
	return st.outer
}

// place puts a group into the output.
func (r *resolver) place(g *group, st *state, next *token) {
	if r.guard(g, st) {
		r.flatten(g.arms[0].elems, st)
		return
	}
	live := r.live(g)
	if len(live) == 0 {
		return
	}
	if live[0].always {
		r.flatten(live[0].arm.elems, st)
		return
	}
	at := r.holder(st)
	outer := st.last()
	whole := at != inList
	pos := boundary
	if whole {
		pos = r.position(st)
		whole = pos != middle
	}
	kept := make([]*arm, 0, len(live))
	var saved []resolved
	if whole {
		saved = append(saved, r.resolved...)
		for _, l := range live {
			a := l.arm
			sub := &state{open: []holder{at}, outer: outer}
			a.toks = r.flatten(a.elems, sub)
			if len(sub.open) != 1 || !balanced(a.toks) || !r.isWhole(a.toks, at, pos, next) {
				whole = false
				break
			}
			kept = append(kept, a)
		}
	}
	last := live[len(live)-1]
	complete := last.otherwise
	if whole && pos == body && !complete {
		whole = false
	}
	if whole {
		empty := true
		for _, a := range kept {
			empty = empty && len(a.toks) == 0
		}
		if !empty {
			st.prev = append(st.prev, token{kind: tDirective, text: g.arms[0].head.text, span: g.span, first: true,
				group: &group{arms: kept, complete: complete, span: g.span}})
		}
		return
	}
	if saved != nil {
		r.resolved = saved
	}
	for _, l := range live {
		if l.plain {
			r.resolved = append(r.resolved, resolved{line: r.line(l.arm.head.span.Start), text: headText(l.arm.head.text)})
			r.flatten(l.arm.elems, st)
			return
		}
	}
	r.resolved = append(r.resolved, resolved{line: r.line(g.span.Start)})
}

// headText is the text of a # line on one line, without comments.
func headText(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '/' && i+1 < len(text) && text[i+1] == '*' {
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				break
			}
			i += end + 3
			b.WriteByte(' ')
			continue
		}
		if text[i] == '/' && i+1 < len(text) && text[i+1] == '/' {
			break
		}
		if text[i] == '\\' && (strings.HasPrefix(text[i+1:], "\n") || strings.HasPrefix(text[i+1:], "\r\n")) {
			b.WriteByte(' ')
			continue
		}
		b.WriteByte(text[i])
	}
	name, rest := directiveName(b.String())
	return strings.TrimSpace("#" + name + " " + strings.Join(strings.Fields(rest), " "))
}

// guard recognises an include guard: #ifndef X, #define X, the whole file.
func (r *resolver) guard(g *group, st *state) bool {
	if len(g.arms) != 1 || len(st.prev) > 0 && st.last() != nil || len(g.arms[0].elems) == 0 {
		return false
	}
	name, cond := directiveName(headText(g.arms[0].head.text))
	if name == "if" {
		cond = strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(cond, " ", ""), "!defined("), ")")
		cond = strings.TrimPrefix(cond, "!defined")
	} else if name != "ifndef" {
		return false
	}
	for _, e := range g.arms[0].elems {
		if e.g != nil || e.tok.kind != tDirective {
			return false
		}
		if n, rest := directiveName(headText(e.tok.text)); n == "define" {
			f := strings.Fields(rest)
			return len(f) > 0 && f[0] == cond
		}
	}
	return false
}

// liveArm is an arm that some configuration takes.
type liveArm struct {
	arm       *arm
	always    bool  // whatever the configuration, once the ones before are not
	plain     bool  // a plain build may take it
	likely    truth // whether it does
	otherwise bool  // it is taken when no other is
}

// live lists the arms that are not known to be false, up to one that is known
// to be true.
func (r *resolver) live(g *group) []liveArm {
	var out []liveArm
	for _, a := range g.arms {
		name, cond := directiveName(headText(a.head.text))
		certain, likely := unknown, unknown
		switch name {
		case "else":
			certain, likely = yes, yes
		case "ifdef", "elifdef":
			certain, likely = r.evaluate("defined " + cond)
		case "ifndef", "elifndef":
			certain, likely = r.evaluate("!defined " + cond)
		default:
			certain, likely = r.evaluate(cond)
		}
		if certain == no {
			continue
		}
		out = append(out, liveArm{arm: a, always: certain == yes && len(out) == 0, plain: likely != no, likely: likely, otherwise: certain == yes})
		if certain == yes {
			break
		}
	}
	return out
}

// position says how a group's place relates to statements.
type position uint8

const (
	middle   position = iota // inside a statement
	boundary                 // between two
	body                     // where exactly one has to stand
)

func (r *resolver) position(st *state) position {
	p := st.last()
	if p == nil || p.group != nil {
		return boundary
	}
	switch p.text {
	case ";", "{", "}", ":":
		return boundary
	case "else", "do":
		return body
	case ")":
		i := opening(st.prev)
		if i < 1 {
			return middle
		}
		switch st.prev[i-1].text {
		case "if", "while", "for", "switch":
			return body
		}
		if isMacroName(st.prev[i-1].text) && st.prev[i-1].first && r.startsHere(st.prev[:i-1]) {
			return boundary
		}
		return middle
	}
	if p.kind == tIdent && p.first && isMacroName(p.text) && len(st.prev) > 0 && r.startsHere(st.prev[:len(st.prev)-1]) {
		return boundary
	}
	return middle
}

// startsHere reports whether a statement can begin behind these tokens.
func (r *resolver) startsHere(prev []token) bool {
	if len(prev) == 0 {
		return true
	}
	t := &prev[len(prev)-1]
	if t.kind == tDirective {
		return true
	}
	switch t.text {
	case ";", "{", "}", ":":
		return true
	}
	return false
}

// opening is the index of the bracket that the last token closes, or -1.
func opening(toks []token) int {
	depth := 0
	for i := len(toks) - 1; i >= 0; i-- {
		if toks[i].kind != tPunct {
			continue
		}
		switch toks[i].text {
		case ")", "]", "}":
			depth++
		case "(", "[", "{":
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

func balanced(toks []token) bool {
	var stack []byte
	for i := range toks {
		if toks[i].kind != tPunct || len(toks[i].text) != 1 {
			continue
		}
		switch c := toks[i].text[0]; c {
		case '(', '[', '{':
			stack = append(stack, c)
		case ')', ']', '}':
			if len(stack) == 0 || stack[len(stack)-1] != map[byte]byte{')': '(', ']': '[', '}': '{'}[c] {
				return false
			}
			stack = stack[:len(stack)-1]
		}
	}
	return len(stack) == 0
}

// isWhole reports whether an arm's tokens are whole statements or
// declarations.
func (r *resolver) isWhole(toks []token, at holder, pos position, next *token) bool {
	first, last := -1, -1
	for i := range toks {
		if toks[i].kind == tDirective && toks[i].group == nil {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	if first < 0 {
		return pos == boundary && !(next != nil && next.text == "else")
	}
	f := &toks[first]
	switch f.text {
	case "else", "catch", ")", "]", ",", "=", "==", "!=", "&&", "||", "+", "-", "/", "%", "|", "^", "?", ":", "<", ">", "<=", ">=", "<<", ">>", ".", "->":
		return false
	}
	if f.kind == tString {
		return false
	}
	if next != nil && next.text == "else" && (pos == boundary || !oneStatement(toks[first:])) {
		return false
	}
	if pos == body && !oneStatement(toks[first:]) {
		return false
	}
	l := &toks[last]
	switch {
	case l.group != nil, l.text == ";", l.text == "}", l.text == ":" && (at == inBlock || last > 0 && isAccess(toks[last-1].text)):
		// a function's head may be inside the arms and its body behind them
		return !(l.text == "}" && next != nil && (next.text == "catch"))
	case l.text == ")":
		i := opening(toks[:last+1])
		return i >= 1 && isMacroName(toks[i-1].text) && r.startsHere(toks[:i-1]) && !(next != nil && next.text == "{") && !isControl(toks[i-1].text)
	case l.kind == tIdent:
		return isMacroName(l.text) && r.startsHere(toks[:last]) && !(next != nil && !next.first)
	}
	return false
}

func isControl(word string) bool {
	switch word {
	case "if", "while", "for", "switch", "else", "do":
		return true
	}
	return false
}

// oneStatement reports whether tokens are exactly one plain or braced
// statement.
func oneStatement(toks []token) bool {
	if len(toks) == 0 {
		return false
	}
	depth, ends := 0, 0
	for i := range toks {
		switch toks[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
			if depth == 0 && toks[i].text == "}" && toks[0].text == "{" {
				return i == len(toks)-1
			}
		case ";":
			if depth == 0 {
				ends++
			}
		case "else":
			return false
		}
	}
	return ends == 1 && toks[len(toks)-1].text == ";"
}

// isMacroName reports a word in capitals, as macros are written.
func isMacroName(s string) bool {
	upper := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= 'a' && c <= 'z':
			// Py_BEGIN_ALLOW_THREADS: a lower-case prefix before an underscore
			if j := strings.IndexByte(s, '_'); j <= 0 || i > j || j > 4 {
				return false
			}
		}
	}
	return upper && len(s) > 1
}

// pairs fills in how far the partner of each bracket stands.
func pairs(toks []token) {
	var stack []int
	for i := range toks {
		toks[i].pair = 0
		if toks[i].kind != tPunct || len(toks[i].text) != 1 {
			continue
		}
		switch c := toks[i].text[0]; c {
		case '(', '[', '{':
			stack = append(stack, i)
		case ')', ']', '}':
			want := map[byte]string{')': "(", ']': "[", '}': "{"}[c]
			// a bracket that does not fit closes nothing, unless one further out
			// waits for it: then what is open inside is left open
			k := len(stack) - 1
			for k >= 0 && toks[stack[k]].text != want && !(c != '}' && toks[stack[k]].text == "{") {
				k--
			}
			if k < 0 || toks[stack[k]].text != want {
				continue
			}
			toks[i].pair = int32(stack[k] - i)
			toks[stack[k]].pair = int32(i - stack[k])
			stack = stack[:k]
		}
	}
}
