package ir

import (
	"errors"
	"fmt"

	"flowplan/internal/source"
)

// Verify checks what every Func promises:
//
//   - Stmts are numbered 1, 2, 3, ... in order of line and column;
//   - each stands in Body exactly once, and Body holds no other;
//   - every span lies inside the file, that of a statement inside the function;
//   - lines fit the spans;
//   - every place and parameter names a variable;
//   - every node of an Eval has as many kids as its operator needs.
//
// The errors say all that is wrong; none means none.
func Verify(f *Func) []error {
	v := &verifier{f: f, seen: map[*Stmt]int{}}
	v.function()
	v.nodes(f.Body)
	for i, s := range f.Stmts {
		v.stmt(i, s)
	}
	for s, n := range v.seen {
		if n != 1 {
			v.errorf("statement %d %q stands in the body %d times", s.ID, s.Text, n)
		}
		if s.ID < 1 || s.ID > len(f.Stmts) || f.Stmts[s.ID-1] != s {
			v.errorf("statement %d %q is not listed", s.ID, s.Text)
		}
	}
	return v.errs
}

type verifier struct {
	f    *Func
	seen map[*Stmt]int
	errs []error
}

func (v *verifier) errorf(format string, args ...any) {
	v.errs = append(v.errs, errors.New(v.f.QualifiedName+": "+fmt.Sprintf(format, args...)))
}

func (v *verifier) function() {
	f := v.f
	if f.Source == nil {
		v.errorf("no source")
		return
	}
	if f.QualifiedName == "" || f.Kind == "" {
		v.errorf("no name or kind")
	}
	if f.Span.Start < 0 || f.Span.End > len(f.Source.Bytes) || f.Span.Start > f.Span.End {
		v.errorf("span %v is outside the file", f.Span)
	}
	if f.EndLine < f.Line {
		v.errorf("line %d is after end line %d", f.Line, f.EndLine)
	}
	for _, p := range f.Params {
		if p.Var < 0 || p.Var >= len(f.Vars) || f.Vars[p.Var].Name != p.Name {
			v.errorf("parameter %s is no variable", p.Name)
		}
	}
}

func (v *verifier) stmt(i int, s *Stmt) {
	if s.ID != i+1 {
		v.errorf("statement %q has id %d at index %d", s.Text, s.ID, i)
	}
	if v.seen[s] == 0 {
		v.errorf("statement %d %q is not in the body", s.ID, s.Text)
	}
	if i > 0 {
		if p := v.f.Stmts[i-1]; p.Line > s.Line || p.Line == s.Line && p.Col > s.Col {
			v.errorf("statement %d %q is before its predecessor", s.ID, s.Text)
		}
	}
	if s.Kind == "" {
		v.errorf("statement %d %q has no kind", s.ID, s.Text)
	}
	if s.Text == "" {
		v.errorf("statement %d at line %d has no text", s.ID, s.Line)
	}
	if (s.Kind == KindOpaque) && s.Reason == "" {
		v.errorf("opaque statement %d has no reason", s.ID)
	}
	if !v.f.Span.Contains(s.Span) || s.Span.Start > s.Span.End {
		v.errorf("statement %d %q: span %v is not inside %v", s.ID, s.Text, s.Span, v.f.Span)
	} else if src := v.f.Source; src != nil && (s.Line < src.Line(s.Span.Start) || s.EndLine != src.LastLine(s.Span) || s.Line > s.EndLine) {
		v.errorf("statement %d %q: lines %d-%d do not fit its span", s.ID, s.Text, s.Line, s.EndLine)
	}
	v.eval(s, s.Eval)
	v.eval(s, s.Pre)
}

// arity is the least and greatest number of kids of an operator.
func arity(op Op) (least, most int) {
	const any = 1 << 30
	switch op {
	case OpAnd, OpOr:
		return 2, 2
	case OpNot:
		return 1, 1
	case OpSelect:
		return 3, 3
	case OpMatch:
		return 1, 2
	case OpSeq, OpMaybe, OpRepeat, OpIfTrue:
		return 1, any
	}
	return 0, 0
}

func (v *verifier) eval(s *Stmt, e Eval) {
	least, most := arity(e.Op)
	if n := len(e.Kids); n < least || n > most {
		v.errorf("statement %d %q: operator %d has %d kids", s.ID, s.Text, e.Op, n)
	}
	switch e.Op {
	case OpUse, OpDef, OpUnbind, OpCapture, OpStore:
		if e.Place.Var < 0 || e.Place.Var >= len(v.f.Vars) {
			v.errorf("statement %d %q: place of no variable", s.ID, s.Text)
		}
	}
	for _, k := range e.Kids {
		v.eval(s, k)
	}
}

func (v *verifier) see(s *Stmt) {
	if s == nil {
		v.errorf("a node without a statement")
		return
	}
	v.seen[s]++
}

func (v *verifier) nodes(ns []Node) {
	for _, n := range ns {
		v.node(n)
	}
}

func (v *verifier) node(n Node) {
	switch n := n.(type) {
	case *Simple:
		v.see(n.S)
	case *If:
		v.see(n.S)
		v.nodes(n.Then)
		v.nodes(n.Else)
	case *Loop:
		v.see(n.S)
		for _, b := range [][]Node{n.Init, n.Body, n.Post, n.Else} {
			v.nodes(b)
		}
	case *Switch:
		v.see(n.S)
		v.nodes(n.Body)
	case *CaseLabel:
		v.see(n.S)
	case *Match:
		v.see(n.S)
		for _, c := range n.Cases {
			v.see(c.S)
			v.nodes(c.Body)
		}
	case *Try:
		v.nodes(n.Body)
		for i, h := range n.Handlers {
			v.see(h.S)
			v.nodes(h.Body)
			if h.CatchAll && i < len(n.Handlers)-1 {
				v.errorf("a handler stands behind one that catches all")
			}
			if h.Unbind != nil && (h.Unbind.Var < 0 || h.Unbind.Var >= len(v.f.Vars)) {
				v.errorf("a handler unbinds no variable")
			}
		}
		v.nodes(n.Else)
		v.nodes(n.Finally)
		v.span("try", n.Span)
	case *Scope:
		v.see(n.S)
		v.nodes(n.Body)
	case *Jump:
		v.see(n.S)
	case *Leaves:
		v.see(n.S)
		if len(n.Exits) == 0 {
			v.errorf("a statement that leaves in no way")
		}
	case *Return:
		v.see(n.S)
	case *Throw:
		v.see(n.S)
	case *Assert:
		v.see(n.S)
	case *Label:
		v.see(n.S)
	case *Config:
		for _, a := range n.Arms {
			v.see(a.S)
			v.nodes(a.Body)
		}
	case *Opaque:
		v.see(n.S)
		if n.S != nil && n.S.Reason == "" {
			v.errorf("statement %d is opaque without a reason", n.S.ID)
		}
	default:
		v.errorf("unknown node %T", n)
	}
}

func (v *verifier) span(what string, s source.Span) {
	if !v.f.Span.Contains(s) {
		v.errorf("%s: span %v is not inside %v", what, s, v.f.Span)
	}
}
