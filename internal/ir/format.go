package ir

import (
	"fmt"
	"strings"
)

// Format is the text form of a Func, for tests and people:
//
//	function f(x)
//	  1 if      if x            {use x; raise}
//	    then
//	      2 assign  y = g(x)    {use g; raise; use x; raise; def y}
//	  3 return  return y        {use y}
func Format(f *Func) string {
	p := &formatter{f: f}
	p.line(0, "%s %s(%s)", f.Kind, f.QualifiedName, strings.Join(p.params(), ", "))
	p.nodes(1, f.Body)
	return p.b.String()
}

// FormatEval is the text form of a tree of effects of a function.
func FormatEval(f *Func, e Eval) string {
	p := &formatter{f: f}
	return p.eval(e)
}

type formatter struct {
	f *Func
	b strings.Builder
}

func (p *formatter) params() []string {
	var out []string
	for _, a := range p.f.Params {
		out = append(out, a.Name)
	}
	return out
}

func (p *formatter) line(depth int, format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

func (p *formatter) stmt(depth int, s *Stmt, note string) {
	if note != "" {
		note = " [" + note + "]"
	}
	effects := ""
	if s.Pre.Op != OpNop {
		effects = " pre {" + p.eval(s.Pre) + "}"
	}
	if s.Eval.Op != OpNop {
		effects += " {" + p.eval(s.Eval) + "}"
	}
	if s.Reason != "" {
		effects += " (" + s.Reason + ")"
	}
	p.line(depth, "%d %s%s `%s`%s", s.ID, s.Kind, note, s.Text, effects)
}

func (p *formatter) arm(depth int, name string, ns []Node) {
	if len(ns) > 0 {
		p.line(depth, "%s", name)
		p.nodes(depth+1, ns)
	}
}

func (p *formatter) nodes(depth int, ns []Node) {
	for _, n := range ns {
		p.node(depth, n)
	}
}

func (p *formatter) node(depth int, n Node) {
	switch n := n.(type) {
	case *Simple:
		p.stmt(depth, n.S, "")
	case *If:
		note := ""
		if n.ElseIf {
			note = "elif"
		}
		p.stmt(depth, n.S, note)
		p.arm(depth, "then", n.Then)
		p.arm(depth, "else", n.Else)
	case *Loop:
		p.arm(depth, "init", n.Init)
		p.stmt(depth, n.S, [...]string{"while", "do", "for", "foreach", "forever", "once", "do forever", "never"}[n.Kind])
		p.arm(depth, "body", n.Body)
		p.arm(depth, "post", n.Post)
		p.arm(depth, "else", n.Else)
	case *Switch:
		p.stmt(depth, n.S, "")
		p.nodes(depth+1, n.Body)
	case *CaseLabel:
		p.stmt(depth, n.S, "label")
	case *Match:
		p.stmt(depth, n.S, "")
		for _, c := range n.Cases {
			note := ""
			if c.Irrefutable {
				note = "irrefutable"
			}
			p.stmt(depth, c.S, note)
			p.nodes(depth+1, c.Body)
		}
	case *Try:
		p.arm(depth, "try", n.Body)
		for _, h := range n.Handlers {
			var notes []string
			if h.CatchAll {
				notes = append(notes, "catch all")
			}
			if n.Group {
				notes = append(notes, "group")
			}
			if h.Unbind != nil {
				notes = append(notes, "unbind "+p.place(*h.Unbind))
			}
			p.stmt(depth, h.S, strings.Join(notes, ", "))
			p.nodes(depth+1, h.Body)
		}
		p.arm(depth, "else", n.Else)
		p.arm(depth, "finally", n.Finally)
	case *Scope:
		note := ""
		if n.Suppress {
			note = "suppress"
		}
		p.stmt(depth, n.S, note)
		p.nodes(depth+1, n.Body)
	case *Leaves:
		var ways []string
		for _, e := range n.Exits {
			ways = append(ways, strings.TrimSpace(string(e.Kind)+" "+e.Label))
		}
		p.stmt(depth, n.S, "or "+strings.Join(ways, ", "))
	case *Jump:
		p.stmt(depth, n.S, n.Label)
	case *Return:
		p.stmt(depth, n.S, "")
	case *Throw:
		p.stmt(depth, n.S, "")
	case *Assert:
		p.stmt(depth, n.S, "")
	case *Label:
		p.stmt(depth, n.S, n.Name)
	case *Config:
		for _, a := range n.Arms {
			p.stmt(depth, a.S, "")
			p.nodes(depth+1, a.Body)
		}
	case *Opaque:
		p.stmt(depth, n.S, "")
	}
}

func (p *formatter) place(pl Place) string {
	if pl.Var < 0 || pl.Var >= len(p.f.Vars) {
		return "?" + pl.Path
	}
	return p.f.Vars[pl.Var].Name + pl.Path
}

func (p *formatter) kids(e Eval, sep string) string {
	var out []string
	for _, k := range e.Kids {
		out = append(out, p.eval(k))
	}
	return strings.Join(out, sep)
}

func (p *formatter) eval(e Eval) string {
	may := ""
	if e.May {
		may = "may "
	}
	switch e.Op {
	case OpNop:
		return "-"
	case OpUse:
		return "use " + p.place(e.Place)
	case OpDef:
		return may + "def " + p.place(e.Place)
	case OpExit:
		return "exit"
	case OpStore:
		return "store " + p.place(e.Place)
	case OpUnbind:
		return "unbind " + p.place(e.Place)
	case OpCapture:
		return "capture " + p.place(e.Place)
	case OpRaise:
		return "raise"
	case OpSeq:
		return p.kids(e, "; ")
	}
	name := map[Op]string{OpAnd: "and", OpOr: "or", OpNot: "not", OpSelect: "select", OpMaybe: "maybe", OpRepeat: "repeat",
		OpMatch: "match", OpIfTrue: "iftrue"}[e.Op]
	sep := " | "
	if e.Op == OpMaybe || e.Op == OpRepeat || e.Op == OpIfTrue {
		sep = "; "
	}
	return name + "(" + p.kids(e, sep) + ")"
}
