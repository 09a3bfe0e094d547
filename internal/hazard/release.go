package hazard

import (
	"strings"

	"flowplan/internal/cfg"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/lang"
)

// This file watches what is taken and given back: memory, files, locks. Which
// calls do that the language says.

// given is a statement that gives back what a place holds.
type given struct {
	stmt  *ir.Stmt
	place ir.Place
	text  string // the owner as it is written
}

// gives finds the statements that give something back for good.
func gives(v *flow.View) []given {
	var out []given
	for _, s := range v.Func.Stmts {
		for _, r := range v.File.Lang.Releases {
			if !r.Ends {
				continue
			}
			owner, ok := fill(s.Text, r.Give)
			if !ok {
				continue
			}
			if p, ok := used(v, s, owner); ok {
				out = append(out, given{s, p, owner})
				break
			}
		}
	}
	return out
}

// fill finds what stands for $ in a text of that form.
func fill(text, form string) (string, bool) {
	before, after, _ := strings.Cut(form, "$")
	rest, ok := strings.CutPrefix(strings.TrimSuffix(text, ";"), before)
	if !ok {
		return "", false
	}
	owner, ok := strings.CutSuffix(rest, after)
	owner = uncast(owner)
	return owner, ok && owner != ""
}

// uncast takes a leading (type) off.
func uncast(s string) string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "(") {
		return s
	}
	if i := strings.IndexByte(s, ')'); i > 0 && i+1 < len(s) {
		return strings.TrimSpace(s[i+1:])
	}
	return s
}

// used is the place of that text among those that a statement reads. An
// element is none: another index is another owner.
func used(v *flow.View, s *ir.Stmt, text string) (place ir.Place, ok bool) {
	s.Eval.Walk(func(e ir.Eval) {
		e.Place.Path = strings.TrimSuffix(e.Place.Path, ir.OwnValue)
		if e.Op == ir.OpUse && v.PlaceName(e.Place) == text && !strings.Contains(e.Place.Path, "[]") {
			place, ok = e.Place, true
		}
	})
	return place, ok
}

// freed reports uses of what was given back, and giving it back again.
func (c *comparison) freed() {
	before := map[finding]bool{}
	for _, f := range dangling(c.d.Head) {
		f.stmt = c.d.ToWork[f.stmt]
		before[f] = true
		if f.certain { // not so sure any more is no news
			f.certain = false
			before[f] = true
		}
	}
	for _, f := range dangling(c.d.Work) {
		if !before[f] {
			c.add(f.kind, f.certain, f.stmt.Line, f.place)
		}
	}
}

// finding is one use of what was given back.
type finding struct {
	kind    string
	certain bool
	stmt    *ir.Stmt
	place   string
}

// dangling finds the uses of what is gone by then: certain where whoever gets
// to the use has given it back, or whoever gives it back gets to the use.
func dangling(v *flow.View) []finding {
	var out []finding
	seen := map[finding]bool{}
	all := gives(v)
	tracers := map[ir.Place]*tracer{}
	for _, g := range all {
		info := v.Func.Vars[g.place.Var]
		if info.Shared || info.AddressTaken || info.Scope != ir.Local {
			continue
		}
		t := tracers[g.place]
		if t == nil {
			t = newTracer(v, g.place, all)
			tracers[g.place] = t
		}
		for _, s := range t.reached(g.stmt) {
			f := finding{UseAfterFree, false, s, v.PlaceName(g.place)}
			if t.isGive(s) {
				f.kind = DoubleFree
			}
			for _, p := range v.Graph.Instances[s.ID-1] {
				f.certain = f.certain || t.always[p]
			}
			for _, p := range v.Graph.Instances[g.stmt.ID-1] {
				f.certain = f.certain || t.allNext(p)
			}
			f.certain = f.certain && t.touches[s.ID-1] == surely
			if !seen[f] {
				seen[f] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// tracer follows one place through a graph.
type tracer struct {
	v       *flow.View
	place   ir.Place
	gives   []given
	touches []touch // by Stmt.ID-1
	// always says of each point whether the place has been given back, and not
	// been renewed, on every way there; inevitable whether every way on from
	// there uses what the place held before it is renewed.
	always, inevitable []bool
}

func newTracer(v *flow.View, place ir.Place, gives []given) *tracer {
	t := &tracer{v: v, place: place, gives: gives, touches: make([]touch, len(v.Func.Stmts))}
	for i, s := range v.Func.Stmts {
		t.touches[i] = t.touch(s)
	}
	t.past()
	t.future()
	return t
}

func (t *tracer) isGive(s *ir.Stmt) bool {
	for _, g := range t.gives {
		if g.stmt == s && g.place == t.place {
			return true
		}
	}
	return false
}

// How a statement touches what a place holds.
type touch uint8

const (
	leaves  touch = iota // not at all
	perhaps              // it may use it
	surely               // it uses it whenever it runs
	renews               // it gives the place another value first, or may
)

// touch says how a statement touches the place.
func (t *tracer) touch(s *ir.Stmt) touch {
	if t.isGive(s) {
		return surely
	}
	if s.Kind == ir.KindFor || s.Kind == ir.KindForeach { // each time round it gives its variable another value first
		own := false
		s.Eval.Walk(func(e ir.Eval) { own = own || e.Op == ir.OpDef && related(e.Place, t.place) })
		if own {
			return renews
		}
	}
	out := leaves
	deep := callsIn(s) || s.Kind == ir.KindReturn // a bare pointer goes where it is used
	var walk func(e ir.Eval, sure bool)
	walk = func(e ir.Eval, sure bool) {
		if out != leaves && out != perhaps {
			return
		}
		e.Place.Path = strings.TrimSuffix(e.Place.Path, ir.OwnValue)
		switch e.Op {
		case ir.OpDef, ir.OpUnbind:
			switch {
			case e.Place.Var != t.place.Var:
			case below(e.Place.Path, t.place.Path): // a store through it
				if out = perhaps; sure {
					out = surely
				}
			case related(e.Place, t.place) && out == leaves:
				out = renews
			}
		case ir.OpUse:
			switch {
			case e.Place.Var != t.place.Var:
			case e.Place.Path == t.place.Path && deep, below(e.Place.Path, t.place.Path):
				if out = perhaps; sure {
					out = surely
				}
			case below(t.place.Path, e.Place.Path) && callsIn(s) && out == leaves:
				out = renews // whoever gets what holds the place may change it
			}
		case ir.OpSeq, ir.OpNot:
			for _, k := range e.Kids {
				walk(k, sure)
			}
		default:
			for i, k := range e.Kids {
				walk(k, sure && i == 0 && e.Op != ir.OpMaybe && e.Op != ir.OpRepeat)
			}
		}
	}
	walk(s.Pre, true)
	walk(s.Eval, true)
	return out
}

// related reports whether writing d changes what p holds.
func related(d, p ir.Place) bool {
	return d.Var == p.Var && (d.Path == p.Path || below(p.Path, d.Path))
}

// below reports whether path is a place below top.
func below(path, top string) bool {
	if len(path) <= len(top) || path[:len(top)] != top {
		return false
	}
	return strings.IndexByte(".[-*", path[len(top)]) >= 0
}

// callsIn reports whether the text of a statement holds a call: a name right
// before a bracket.
func callsIn(s *ir.Stmt) bool {
	text := s.Text
	if c := s.Condition(); c != "" {
		text = c
	}
	for i := 1; i < len(text); i++ {
		if b := text[i-1]; text[i] == '(' && (b == '_' || b == '>' || b == ']' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z') {
			return true
		}
	}
	return false
}

// reached lists the first statements on each way from s that touch what the
// place held.
func (t *tracer) reached(s *ir.Stmt) []*ir.Stmt {
	g := t.v.Graph
	var out []*ir.Stmt
	seen := map[int]bool{}
	work := append([]int(nil), g.Instances[s.ID-1]...)
	for len(work) > 0 {
		p := &g.Points[work[len(work)-1]]
		work = work[:len(work)-1]
		for _, a := range p.Out {
			if a.Virtual || seen[a.To] {
				continue
			}
			seen[a.To] = true
			if st := g.Points[a.To].Stmt; st != nil {
				switch t.touches[st.ID-1] {
				case perhaps, surely:
					out = append(out, st)
					continue
				case renews:
					continue
				}
			}
			work = append(work, a.To)
		}
	}
	return out
}

// past computes always.
func (t *tracer) past() {
	g := t.v.Graph
	in := make([]bool, len(g.Points))
	for p := range in {
		in[p] = p != cfg.Entry
	}
	for again := true; again; {
		again = false
		for p := range g.Points {
			if !g.Points[p].Live || !in[p] {
				continue
			}
			for _, a := range g.Points[p].In {
				if from := &g.Points[a.To]; !a.Virtual && from.Live && !t.after(from.Stmt, in[a.To]) {
					in[p], again = false, true
				}
			}
		}
	}
	t.always = in
}

// after is whether the place is given back behind a statement.
func (t *tracer) after(s *ir.Stmt, before bool) bool {
	switch {
	case s == nil:
		return before
	case t.isGive(s):
		return true
	}
	return before && !t.renewed(s)
}

func (t *tracer) renewed(s *ir.Stmt) bool {
	found := t.touches[s.ID-1] == renews
	s.Eval.Walk(func(e ir.Eval) {
		found = found || (e.Op == ir.OpDef || e.Op == ir.OpUnbind) && related(e.Place, t.place)
	})
	return found
}

// future computes inevitable. It goes backwards, as the points stand in source
// order.
func (t *tracer) future() {
	g := t.v.Graph
	t.inevitable = make([]bool, len(g.Points))
	for again := true; again; {
		again = false
		for p := len(g.Points) - 1; p > cfg.RaiseTo; p-- {
			if t.inevitable[p] {
				continue
			}
			touched := leaves
			if s := g.Points[p].Stmt; s != nil {
				touched = t.touches[s.ID-1]
			}
			if touched == surely || touched != renews && t.allNext(p) {
				t.inevitable[p], again = true, true
			}
		}
	}
}

func (t *tracer) allNext(p int) bool {
	n := 0
	for _, a := range t.v.Graph.Points[p].Out {
		if a.Virtual {
			continue
		}
		if n++; !t.inevitable[a.To] {
			return false
		}
	}
	return n > 0
}

// unreleased reports a new return or raise between taking something and giving
// it back, where the rest of the function gives it back.
func (c *comparison) unreleased() {
	v := c.d.Work
	for _, s := range v.Func.Stmts {
		if s.Kind != ir.KindReturn && s.Kind != ir.KindRaise || c.d.ToHead[s] != nil || !live(v, s) {
			continue
		}
		seen := map[string]bool{}
		for _, r := range v.File.Lang.Releases {
			for _, t := range v.Func.Stmts {
				owner, ok := taken(v, t, r)
				if ok && !seen[owner] && c.d.ToHead[t] != nil && !mentions(v, s, owner) && c.between(t, s, r, owner) {
					seen[owner] = true
					c.add(Unreleased, false, s.Line, owner)
				}
			}
		}
	}
}

// taken is the owner of what a statement takes.
func taken(v *flow.View, s *ir.Stmt, r lang.Release) (string, bool) {
	if strings.Contains(r.Take, "$") {
		return fill(s.Text, r.Take)
	}
	if r.Take == "" || !callsName(s.Text, r.Take) {
		return "", false
	}
	owner := ""
	s.Eval.Walk(func(e ir.Eval) {
		if e.Op == ir.OpDef && !strings.Contains(e.Place.Path, "[]") && owner == "" {
			owner = v.PlaceName(e.Place)
		}
	})
	return owner, owner != ""
}

// callsName reports whether a text calls that name, or for an operator like new
// uses it.
func callsName(text, name string) bool {
	for i := 0; ; {
		j := strings.Index(text[i:], name)
		if j < 0 {
			return false
		}
		i += j
		end := i + len(name)
		if (i == 0 || !wordByte(text[i-1])) && end < len(text) && (text[end] == '(' || text[end] == ' ') {
			return true
		}
		i = end
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// mentions reports whether a statement reads the owner, so that it is given
// away, or runs only where nothing was taken.
func mentions(v *flow.View, s *ir.Stmt, owner string) bool {
	if _, ok := used(v, s, owner); ok {
		return true
	}
	for _, g := range v.Graph.Guards(s) {
		if g.Header.Cond != nil && untaken(g.Header.Cond, g.Role == cfg.True, owner) {
			return true
		}
	}
	return false
}

// untaken reports whether a condition, when it comes out so, may mean that the
// owner holds nothing: !p, p == NULL, fd < 0.
func untaken(c *ir.Cond, outcome bool, owner string) bool {
	switch c.Op {
	case ir.CondNot:
		return untaken(c.Kids[0], !outcome, owner)
	case ir.CondLeaf:
		return !outcome && strings.Contains(c.Text, owner) && !callsName(c.Text, owner)
	case ir.CondCompare:
		other := ""
		for i, k := range c.Kids {
			if strings.Contains(k.Text, owner) {
				other = c.Kids[1-i].Text
			}
		}
		switch other {
		case "NULL", "0", "nullptr", "-1", "None", "NUL", "nil":
			return outcome == (c.Rel == "==" || c.Rel == "<" || c.Rel == "<=" || c.Rel == "is")
		}
		return false
	}
	for _, k := range c.Kids {
		if untaken(k, outcome, owner) {
			return true
		}
	}
	return false
}

// between reports whether s follows t with nothing on the way that gives the
// owner back, while the function does so elsewhere after t.
func (c *comparison) between(t, s *ir.Stmt, r lang.Release, owner string) bool {
	g := c.d.Work.Graph
	exists, reached := false, false
	seen := map[int]bool{}
	work := append([]int(nil), g.Instances[t.ID-1]...)
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if st := g.Points[p].Stmt; st != nil {
			if got, ok := fill(st.Text, r.Give); ok && got == owner {
				exists = true
				continue
			}
			reached = reached || st == s
		}
		for _, a := range g.Points[p].Out {
			if !a.Virtual && a.Role != cfg.Exception && !seen[a.To] {
				seen[a.To] = true
				work = append(work, a.To)
			}
		}
	}
	return exists && reached
}
