package python

import (
	"context"
	"strings"

	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// Of a broken file the tree says little: one open bracket swallows what
// follows. Its lines and their indentation still say where each statement ends,
// so such a file is read statement by statement, and inside a broken compound
// statement body by body; what is left then is opaque.
//
//	def f(x):
//	    y = g(x          opaque
//	    return y         read

// region reads statements from runs of lines.
type region struct {
	g     *grammar
	l     *lines
	p     *parser
	spent int // bytes parsed so far
}

// Every level of a broken file is parsed once more. maxBroken bounds the levels,
// spend what all of them may take together, for a text of that many bytes.
const maxBroken = 100

func spend(size int) int { return 4<<20 + 16*size }

// chunk is the lines of one statement, both ends included.
type chunk struct{ from, to, indent int }

func (r *region) blank(n int) bool {
	if r.l.inside[n] {
		return false
	}
	t := strings.TrimSpace(r.l.f.LineText(n))
	return t == "" || t[0] == '#'
}

func (r *region) indent(n int) int {
	t := r.l.f.LineText(n)
	return len(t) - len(strings.TrimLeft(t, " \t\f"))
}

// continues reports whether a line at the indentation of a statement still
// belongs to it: a further clause, a closing bracket, the def below a decorator.
func (r *region) continues(n int, decorated bool) bool {
	t := strings.TrimSpace(r.l.f.LineText(n))
	if decorated || strings.IndexByte(")]}", t[0]) >= 0 {
		return true
	}
	word, _ := nextWord([]byte(t), 0)
	switch word {
	case "elif", "else", "except", "finally":
		return true
	}
	return false
}

// chunks splits lines into statements.
func (r *region) chunks(from, to int) []chunk {
	var out []chunk
	base := -1
	decorated := false
	for n := from; n <= to; n++ {
		if r.blank(n) {
			continue
		}
		if r.l.inside[n] && len(out) > 0 {
			out[len(out)-1].to = n
			continue
		}
		in := r.indent(n)
		if base < 0 {
			base = in
		}
		if len(out) == 0 || in <= base && !r.continues(n, decorated) {
			out = append(out, chunk{n, n, in})
		} else {
			out[len(out)-1].to = n
		}
		if in <= base {
			decorated = strings.HasPrefix(strings.TrimSpace(r.l.f.LineText(n)), "@")
		}
	}
	return out
}

func (r *region) span(c chunk) source.Span {
	f := r.l.f
	last := f.LineSpan(c.to)
	return source.Span{Start: f.LineSpan(c.from).Start + c.indent, End: last.Start + len(strings.TrimRight(f.Text(last), " \t\r"))}
}

// statements reads the lines from..to.
func (r *region) statements(from, to int, doc bool) []*stmt {
	r.p.depth++
	defer func() { r.p.depth-- }()
	var out []*stmt
	for i, c := range r.chunks(from, to) {
		out = append(out, r.statement(c, doc && i == 0)...)
	}
	return out
}

func (r *region) statement(c chunk, doc bool) []*stmt {
	span := r.span(c)
	start := r.l.f.LineSpan(c.from).Start
	text := r.l.f.Bytes[start:r.l.f.LineSpan(c.to).End]
	n := r.parse(text, start, c.indent)
	if n != nil && !n.HasError {
		return r.p.block(n, doc)
	}
	bad := &stmt{kind: sOpaque, node: n, start: span.Start, span: span, whole: span, reason: "syntax error"}
	if r.p.depth > maxBroken || r.spent > spend(len(r.l.f.Bytes)) {
		return []*stmt{bad}
	}
	skeleton, bodies := r.skeleton(c, text, start)
	if len(bodies) == 0 {
		return []*stmt{bad}
	}
	if n = r.parse(skeleton, start, c.indent); n == nil || n.HasError {
		// The header is broken, but what follows it may be read.
		first := bodies[0]
		end := r.l.f.LineSpan(first.from - 1)
		bad.span.End = end.Start + len(strings.TrimRight(r.l.f.Text(end), " \t\r"))
		bad.whole = span
		return []*stmt{r.nameless(bad, chunk{c.from, first.from - 1, c.indent})}
	}
	if r.p.bodies == nil {
		r.p.bodies = map[int]func(bool) []*stmt{}
	}
	for _, b := range bodies {
		r.p.bodies[r.l.f.LineSpan(b.from).Start+b.indent] = func(doc bool) []*stmt { return r.statements(b.from, b.to, doc) }
	}
	out := r.p.block(n, false)
	if len(out) == 1 {
		out[0].whole = span // that of the skeleton ended at its last 0
	}
	return out
}

// nameless keeps the body of a def or class with a broken header, the lines of
// c, and says so of the header.
func (r *region) nameless(bad *stmt, c chunk) *stmt {
	for _, d := range r.l.defs {
		if d.line < c.from || d.line > c.to || d.indent != c.indent {
			continue
		}
		kind := sDef
		if d.class {
			kind = sClass
		}
		end := r.l.endOf(d)
		body := r.bodyLines(chunk{d.line, r.l.f.Line(end), c.indent})
		s := &stmt{kind: kind, node: bad.node, start: d.start, span: bad.span, name: d.name,
			whole: source.Span{Start: bad.span.Start, End: end}, value: &expr{kind: eBad, val: "?"}}
		if body.from > 0 {
			s.body = r.statements(body.from, body.to, true)
		}
		return s
	}
	bad.span = bad.whole
	return bad
}

// bodyLines are the lines below the header of a one-clause chunk.
func (r *region) bodyLines(c chunk) chunk {
	for n := c.from; n < c.to; n++ {
		if r.endsHeader(n) {
			return r.trim(chunk{n + 1, c.to, 0})
		}
	}
	// No colon: the first deeper line begins the body.
	return r.trim(chunk{c.from + 1, c.to, 0})
}

func (r *region) trim(c chunk) chunk {
	for c.from <= c.to && r.blank(c.from) {
		c.from++
	}
	if c.from > c.to {
		return chunk{}
	}
	c.indent = r.indent(c.from)
	return c
}

func (r *region) endsHeader(n int) bool {
	t := r.l.f.LineText(n)
	if i := strings.Index(t, " #"); i >= 0 {
		t = t[:i]
	}
	return strings.HasSuffix(strings.TrimSpace(t), ":")
}

// skeleton is the text of a compound statement in which each body is but a 0,
// and the lines of those bodies.
func (r *region) skeleton(c chunk, text []byte, start int) ([]byte, []chunk) {
	out := append([]byte(nil), text...)
	var bodies []chunk
	header := true // within the lines of a clause's header
	var body *chunk
	for n := c.from; n <= c.to; n++ {
		if !r.l.inside[n] && !r.blank(n) && n > c.from && r.indent(n) <= c.indent {
			header, body = true, nil
		}
		if header {
			header = !r.endsHeader(n)
			continue
		}
		if body == nil {
			if r.blank(n) {
				continue
			}
			bodies = append(bodies, chunk{n, n, r.indent(n)})
			body = &bodies[len(bodies)-1]
		}
		body.to = n
		sp := r.l.f.LineSpan(n)
		for i := sp.Start; i < sp.End; i++ {
			out[i-start] = ' '
		}
		if n == body.from {
			out[sp.Start+body.indent-start] = '0'
		}
	}
	return out, bodies
}

// parse reads the lines of one statement alone and moves the tree to where they
// stand in the file; it gives the block that holds the statement.
func (r *region) parse(text []byte, start, indent int) *syntax.Node {
	wrap := ""
	if indent > 0 {
		wrap = "if 1:\n"
	}
	data := append([]byte(wrap), text...)
	r.spent += len(data)
	root, err := r.g.Parse(context.Background(), prepare(append(data, '\n')), nil)
	if err != nil {
		return nil
	}
	shift(root, start-len(wrap))
	if wrap == "" {
		return root
	}
	ks := named(root)
	if len(ks) != 1 || ks[0].Kind != "if_statement" || ks[0].Child("consequence") == nil {
		root.HasError = true
		return root
	}
	if b := ks[0].Child("consequence"); !root.HasError {
		return b
	}
	return root
}

func shift(n *syntax.Node, by int) {
	n.Span.Start += by
	n.Span.End += by
	for _, c := range n.Children {
		shift(c, by)
	}
}
