package cfg

import (
	"errors"
	"fmt"
	"slices"

	"flowplan/internal/ir"
)

// small is the largest number of points at which Verify recomputes what takes
// quadratic time.
const small = 150

// Verify checks what every Graph promises:
//
//   - arcs are dual: each Out has its In and the reverse, none twice;
//   - nothing enters Entry, nothing leaves Exit or Raise, and a join that was
//     contracted is cut off from everything;
//   - a point is Live exactly when it can be reached from Entry;
//   - every statement has an instance, and stands in exactly one block;
//   - blocks stand in source order under ids of their own, do not cross the
//     border of a try's parts, and are maximal;
//   - only the last statement of a block has ways out other than next and
//     exceptions;
//   - both arms of a condition are there, but of constant headers, and the
//     roles of a statement's ways out fit its kind;
//   - the edges are the union of what the copies of clean-ups do;
//   - immediate dominators and post-dominators are those of the definition
//     (recomputed on small graphs), and every live point can leave by
//     something that is no implicit exception, virtual arcs included.
//
// The errors say all that is wrong; none means none.
func Verify(g *Graph) []error {
	v := &verifier{g: g, shape: shapeOf(g.Func)}
	v.duals()
	v.pseudo()
	v.liveness()
	v.statements()
	if len(v.errs) > 0 {
		return v.errs // what follows would stumble over it
	}
	v.arms()
	v.blocks()
	v.edges()
	v.dominance()
	return v.errs
}

type verifier struct {
	g     *Graph
	shape *shape
	errs  []error
}

func (v *verifier) errorf(format string, args ...any) {
	v.errs = append(v.errs, errors.New(v.g.Func.QualifiedName+": cfg: "+fmt.Sprintf(format, args...)))
}

// point names a point in an error.
func (v *verifier) point(p int) string {
	switch p {
	case Entry:
		return EntryName
	case Exit:
		return ExitName
	case RaiseTo:
		return RaiseName
	}
	if s := v.g.Points[p].Stmt; s != nil {
		return fmt.Sprintf("point %d (line %d %q)", p, s.Line, s.Text)
	}
	return fmt.Sprintf("point %d", p)
}

func (v *verifier) duals() {
	type end struct {
		from, to int
		role     Role
		virtual  bool
	}
	out, in := map[end]int{}, map[end]int{}
	for p := range v.g.Points {
		for _, a := range v.g.Points[p].Out {
			out[end{p, a.To, a.Role, a.Virtual}]++
		}
		for _, a := range v.g.Points[p].In {
			in[end{a.To, p, a.Role, a.Virtual}]++
		}
	}
	for e, n := range out {
		if n != 1 || in[e] != 1 {
			v.errorf("the arc %s -%s-> %s is there %d times out, %d times in", v.point(e.from), e.role, v.point(e.to), n, in[e])
		}
	}
	for e := range in {
		if out[e] == 0 {
			v.errorf("the arc %s -%s-> %s only comes in", v.point(e.from), e.role, v.point(e.to))
		}
	}
}

func (v *verifier) pseudo() {
	if len(v.g.Points[Entry].In) > 0 {
		v.errorf("something enters entry")
	}
	for _, p := range []int{Exit, RaiseTo} {
		if len(v.g.Points[p].Out) > 0 {
			v.errorf("something leaves %s", v.point(p))
		}
	}
	for p := first; p < len(v.g.Points); p++ {
		pt := &v.g.Points[p]
		if pt.Stmt == nil && pt.Unbind == nil && len(pt.In)+len(pt.Out) > 0 {
			v.errorf("%s is a join that was not contracted", v.point(p))
		}
	}
}

func (v *verifier) liveness() {
	live := map[int]bool{}
	var visit []int
	for visit = append(visit, Entry); len(visit) > 0; {
		p := visit[len(visit)-1]
		visit = visit[:len(visit)-1]
		if live[p] {
			continue
		}
		live[p] = true
		for _, a := range v.g.Points[p].Out {
			if !a.Virtual {
				visit = append(visit, a.To)
			}
		}
	}
	for p := range v.g.Points {
		if v.g.Points[p].Live != live[p] {
			v.errorf("%s: live is %v", v.point(p), v.g.Points[p].Live)
		}
	}
}

func (v *verifier) statements() {
	at := map[int]*ir.Stmt{}
	for i, s := range v.g.Func.Stmts {
		if len(v.g.Instances[i]) == 0 {
			v.errorf("line %d %q has no instance", s.Line, s.Text)
		}
		for _, p := range v.g.Instances[i] {
			if v.g.Points[p].Stmt != s || at[p] != nil {
				v.errorf("%s is no instance of line %d %q", v.point(p), s.Line, s.Text)
			}
			at[p] = s
		}
	}
	for p := range v.g.Points {
		if s := v.g.Points[p].Stmt; s != nil && at[p] != s {
			v.errorf("%s is not among the instances", v.point(p))
		}
	}
	stands := map[*ir.Stmt]int{}
	for i, b := range v.g.Blocks {
		if len(b.Stmts) == 0 {
			v.errorf("block %s is empty", b.ID)
		}
		for _, s := range b.Stmts {
			stands[s]++
			if v.g.BlockOf[s.ID-1] != i {
				v.errorf("line %d %q stands in block %s and is said not to", s.Line, s.Text, b.ID)
			}
		}
	}
	for _, s := range v.g.Func.Stmts {
		if stands[s] != 1 {
			v.errorf("line %d %q stands in %d blocks", s.Line, s.Text, stands[s])
		}
	}
}

// arms checks the ways out of every statement by its kind.
func (v *verifier) arms() {
	for p := first; p < len(v.g.Points); p++ {
		s := v.g.Points[p].Stmt
		if s == nil {
			continue
		}
		has := map[Role]int{}
		for _, a := range v.g.Points[p].Out {
			if a.Virtual {
				continue
			}
			has[a.Role]++
			if !v.mayLeave(s, a.Role) {
				v.errorf("%s of kind %s has a way out of role %s", v.point(p), s.Kind, a.Role)
			}
		}
		want := v.shape.arms[s]
		for _, r := range []Role{True, False, Iter, Done} {
			switch {
			case slices.Contains(want, r) && has[r] == 0:
				v.errorf("%s lacks its arm %s", v.point(p), r)
			case !slices.Contains(want, r) && has[r] > 0:
				v.errorf("%s has an arm %s", v.point(p), r)
			}
		}
	}
}

// ways are the roles that a kind of statement gives its own ways out. What is
// not listed simply goes on.
var ways = map[ir.Kind][]Role{
	ir.KindIf:      {True, False},
	ir.KindWhile:   {True, False},
	ir.KindFor:     {True, False},
	ir.KindDo:      {True, False},
	ir.KindForeach: {Iter, Done},
	ir.KindSwitch:  {Case, Default},
	ir.KindAssert:  {True, False},
	ir.KindHandler: {True, False, Raise},
	ir.KindReturn:  {Return},
	ir.KindRaise:   {Raise},
	ir.KindBreak:   {Break},
	ir.KindGoto:    {Goto},
	ir.KindContinue: {
		Continue,
	},
	ir.KindFallthrough: {Fallthrough},
	ir.KindCase:        {True, False, Next}, // of a match, or a label of a switch
	ir.KindCall:        {Next, Raise},       // those that never come back
}

func (v *verifier) mayLeave(s *ir.Stmt, r Role) bool {
	if r == Exception {
		return s.MayRaise()
	}
	own, ok := ways[s.Kind]
	if !ok {
		own = []Role{Next}
	}
	if s.Kind == ir.KindOpaque { // a broken header of a case
		own = append([]Role{Next}, v.shape.arms[s]...)
	}
	if slices.Contains(own, r) || slices.Contains(v.shape.leaves[s], r) {
		return true
	}
	if !slices.Contains(own, Next) {
		return false
	}
	switch r { // going on, renamed by what it goes on to
	case Loop, IfConfig, ElseConfig:
		return true
	case Return, Raise, Break, Continue, Goto: // the end of a finally resumes a jump
		return v.shape.inFinally[s]
	}
	return false
}
