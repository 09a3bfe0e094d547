package delta

import (
	"slices"
	"strings"

	"flowplan/internal/ir"
)

// unit is a statement as alignment sees it: with its words, and with where it
// stands among the constructs of its function. A try is a unit too, although
// it is no statement.
type unit struct {
	s     *ir.Stmt // nil for a try
	kind  ir.Kind
	text  string         // normalised, locals renamed as found
	words map[string]int // of text
	size  int            // number of words
	index int            // in the sequence of its function

	parent *unit // innermost construct around it, nil at the top
	arm    string
	depth  int
	chain  *chain     // of an if: the if/elif/else that it belongs to
	config *ir.Config // of an #if, #elif or #else: what they are arms of
	elif   bool       // an arm of a chain whose earlier arms can complete

	header bool
	around []*unit        // of a for: its init and post, which are one with the header
	loop   *unit          // of such an init or post: the for
	leaves map[string]int // texts of the leaves below a header
	held   map[string]int // their words
	arms   map[string][]*unit
	jumps  bool // a statement that is no jump and may leave all the same

	mate  *unit
	moved bool // paired out of order
	flip  bool // the mate has the negated condition and swapped arms
}

const kindTry ir.Kind = "try"

// chain is an if with its elifs and else.
type chain struct {
	ifs     []*unit
	elseOf  *unit // the last if, where there is an else
	relaxed bool  // the arms before the else cannot complete: the else is what follows
	mate    *chain
}

// side is one function as a sequence of units.
type side struct {
	units []*unit
	byS   map[*ir.Stmt]*unit
	top   []*unit
}

func newSide(f *ir.Func) *side {
	sd := &side{byS: map[*ir.Stmt]*unit{}}
	sd.top = sd.seq(f.Body, nil, "")
	sd.held(f)
	for i, u := range sd.units {
		u.index = i
		u.setText(u.text)
	}
	for i := len(sd.units) - 1; i >= 0; i-- {
		sd.units[i].summarise()
	}
	return sd
}

// held finds what else stands within the text of a header, as the init of a
// C++ if.
func (sd *side) held(f *ir.Func) {
	var header *ir.Stmt
	for _, s := range f.Stmts {
		if header == nil || header.Span.Start >= s.Span.Start || s.Span.End > header.Span.End {
			header = s
			continue
		}
		u, h := sd.byS[s], sd.byS[header]
		if u != nil && h != nil && h.header && u.loop == nil {
			u.loop = h
			h.around = append(h.around, u)
		}
	}
}

func (u *unit) setText(text string) {
	u.text = text
	u.words = map[string]int{}
	u.size = 0
	for _, w := range words(text) {
		u.words[w]++
		u.size++
	}
}

// words splits a normalised text into identifiers, numbers, strings and
// single signs.
func words(text string) []string {
	var out []string
	for i := 0; i < len(text); {
		c := text[i]
		j := i + 1
		switch {
		case wordByte(c):
			for j < len(text) && wordByte(text[j]) {
				j++
			}
		case c == '\'' || c == '"':
			for j < len(text) && text[j] != c {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j+1, len(text))
		case c == ' ' || c == '\n' || c == '\t':
			i = j
			continue
		}
		out = append(out, text[i:j])
		i = j
	}
	return out
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func (sd *side) add(s *ir.Stmt, kind ir.Kind, text string, parent *unit, arm string) *unit {
	u := &unit{s: s, kind: kind, text: text, parent: parent, arm: arm, arms: map[string][]*unit{}}
	if parent != nil {
		u.depth = parent.depth + 1
	}
	sd.units = append(sd.units, u)
	if s != nil {
		sd.byS[s] = u
	}
	return u
}

func (sd *side) stmt(s *ir.Stmt, parent *unit, arm string) *unit {
	return sd.add(s, s.Kind, s.Text, parent, arm)
}

func (sd *side) seq(nodes []ir.Node, parent *unit, arm string) []*unit {
	var out []*unit
	for _, n := range nodes {
		out = append(out, sd.node(n, parent, arm)...)
	}
	return out
}

// body builds an arm of a construct.
func (sd *side) body(owner *unit, arm string, nodes []ir.Node) {
	if len(nodes) > 0 {
		owner.arms[arm] = append(owner.arms[arm], sd.seq(nodes, owner, arm)...)
	}
}

func (sd *side) node(n ir.Node, parent *unit, arm string) []*unit {
	switch n := n.(type) {
	case *ir.If:
		return sd.ifChain(n, parent, arm)
	case *ir.Loop:
		out := sd.seq(n.Init, parent, arm)
		u := sd.stmt(n.S, parent, arm)
		u.header = true
		sd.body(u, "post", n.Post)
		u.around = append(slices.Clone(out), u.arms["post"]...)
		for _, k := range u.around {
			k.loop = u
		}
		sd.body(u, "body", n.Body)
		sd.body(u, "else", n.Else)
		return append(out, u)
	case *ir.Switch:
		u := sd.stmt(n.S, parent, arm)
		u.header = true
		sd.labels(u, n.Body)
		return []*unit{u}
	case *ir.Match:
		u := sd.stmt(n.S, parent, arm)
		u.header = true
		for _, c := range n.Cases {
			cu := sd.stmt(c.S, u, "cases")
			cu.header = true
			u.arms["cases"] = append(u.arms["cases"], cu)
			sd.body(cu, "then", c.Body)
		}
		return []*unit{u}
	case *ir.Try:
		u := sd.add(nil, kindTry, "try", parent, arm)
		u.header = true
		sd.body(u, "body", n.Body)
		for _, h := range n.Handlers {
			hu := sd.stmt(h.S, u, "handlers")
			hu.header = true
			u.arms["handlers"] = append(u.arms["handlers"], hu)
			sd.body(hu, "then", h.Body)
		}
		sd.body(u, "else", n.Else)
		sd.body(u, "finally", n.Finally)
		return []*unit{u}
	case *ir.Scope:
		u := sd.stmt(n.S, parent, arm)
		u.header = true
		sd.body(u, "body", n.Body)
		return []*unit{u}
	case *ir.Config:
		var out []*unit
		for _, a := range n.Arms {
			u := sd.stmt(a.S, parent, arm)
			u.header, u.config = true, n
			sd.body(u, "then", a.Body)
			out = append(out, u)
		}
		return out
	}
	u := sd.stmt(ir.StmtOf(n), parent, arm)
	if l, ok := n.(*ir.Leaves); ok {
		u.jumps = len(l.Exits) > 0
	}
	return []*unit{u}
}

// labels builds the arms of a switch: what stands behind a label, up to the
// next one, belongs to it. Labels inside other constructs are plain statements.
func (sd *side) labels(u *unit, nodes []ir.Node) {
	at, arm := u, "body"
	for _, n := range nodes {
		if l, ok := n.(*ir.CaseLabel); ok {
			at, arm = sd.stmt(l.S, u, "cases"), "then"
			at.header = true
			u.arms["cases"] = append(u.arms["cases"], at)
			continue
		}
		at.arms[arm] = append(at.arms[arm], sd.node(n, at, arm)...)
	}
}

// ifChain builds an if with its elifs and else. An else or elif after arms that
// cannot complete is what follows the chain: `if a: return` with and without
// an else are the same graph.
func (sd *side) ifChain(n *ir.If, parent *unit, arm string) []*unit {
	c := &chain{}
	var out []*unit
	closed := true // every arm so far cannot complete
	for {
		u := sd.stmt(n.S, parent, arm)
		u.header, u.chain = true, c
		u.elif = len(c.ifs) > 0 && !closed
		c.ifs = append(c.ifs, u)
		out = append(out, u)
		sd.body(u, "then", n.Then)
		closed = closed && !ir.Completes(n.Then)
		if len(n.Else) == 1 {
			if next, ok := n.Else[0].(*ir.If); ok && next.ElseIf {
				n = next
				continue
			}
		}
		if len(n.Else) > 0 {
			c.elseOf, c.relaxed = u, closed
			sd.body(u, "else", n.Else)
		}
		return out
	}
}

// summarise fills what is known of a header from what stands below it; the
// units below have been summarised before.
func (u *unit) summarise() {
	if !u.header {
		return
	}
	u.leaves, u.held = map[string]int{}, map[string]int{}
	for _, arm := range u.arms {
		for _, k := range arm {
			if !k.header {
				u.leaves[k.text]++
			}
			for t, n := range k.leaves {
				u.leaves[t] += n
			}
			for _, words := range []map[string]int{k.words, k.held} {
				for w, n := range words {
					u.held[w] += n
				}
			}
		}
	}
}

// heldWords counts the words of everything below a header.
func (u *unit) heldWords() map[string]int {
	out := map[string]int{}
	for _, k := range u.below() {
		for w, n := range k.words {
			out[w] += n
		}
	}
	return out
}

// below lists the units of a construct's arms, outermost first, in order.
func (u *unit) below() []*unit {
	var out []*unit
	for _, arm := range armOrder {
		for _, k := range u.arms[arm] {
			out = append(out, k)
			out = append(out, k.below()...)
		}
	}
	return out
}

var armOrder = []string{"post", "then", "body", "cases", "handlers", "else", "finally"}

// isJump reports whether a unit sends control elsewhere.
func (u *unit) isJump() bool {
	switch u.kind {
	case ir.KindReturn, ir.KindRaise, ir.KindBreak, ir.KindContinue, ir.KindGoto, ir.KindFallthrough:
		return true
	}
	return false
}

// leavesOn reports whether some statement among these leaves them: a return or
// raise, a goto, or a break or continue of a loop around.
func leavesOn(units []*unit, inLoop, inSwitch bool) bool {
	for _, u := range units {
		switch u.kind {
		case ir.KindReturn, ir.KindRaise, ir.KindGoto:
			return true
		case ir.KindBreak:
			if !inLoop && !inSwitch {
				return true
			}
		case ir.KindContinue:
			if !inLoop {
				return true
			}
		}
		if u.jumps {
			return true
		}
		for arm, kids := range u.arms {
			loop := inLoop || isLoop(u.kind) && arm != "else"
			if leavesOn(kids, loop, inSwitch || u.kind == ir.KindSwitch) {
				return true
			}
		}
	}
	return false
}

func isLoop(k ir.Kind) bool {
	switch k {
	case ir.KindWhile, ir.KindFor, ir.KindForeach, ir.KindDo:
		return true
	}
	return false
}

// renamed replaces whole identifiers in a normalised text; what stands behind
// a dot or an arrow is a field, not a variable.
func renamed(text string, names map[string]string) string {
	if len(names) == 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		j := i + 1
		switch {
		case wordByte(c):
			for j < len(text) && wordByte(text[j]) {
				j++
			}
			if to, ok := names[text[i:j]]; ok && (i == 0 || text[i-1] != '.' && (text[i-1] != '>' || i < 2 || text[i-2] != '-')) {
				b.WriteString(to)
				i = j
				continue
			}
		case c == '\'' || c == '"':
			for j < len(text) && text[j] != c {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j+1, len(text))
		}
		b.WriteString(text[i:j])
		i = j
	}
	return b.String()
}
