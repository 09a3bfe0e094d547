package python

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"flowplan/internal/ir"
)

// TestEffects gives, for a statement in `def f(a, b, o, i):` whose other names
// are global, what it does in order.
func TestEffects(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"x = 1", "def x"},
		{"x = a", "use a; def x"},
		{"x = g(a)", "use g; raise; use a; raise; def x"},
		{"a, o.f = b", "use b; raise; def a; use o; raise; def o.f"},
		{"o.f = a", "use a; use o; raise; def o.f"},
		{"o.f.g = a", "use a; use o.f; raise; def o.f.g"},
		{"o[i] = a", "use a; use o; use i; raise; may def o[]"},
		{"o.f[i].g = a", "use a; use o.f[]; raise; use i; raise; may def o.f[].g"},
		{"x = o.f", "use o.f; raise; def x"},
		{"a += b", "use a; use b; raise; def a"},
		{"o.f += b", "use o.f; raise; use b; raise; def o.f"},
		{"o[i] += b", "use o[]; use i; raise; use b; raise; may def o[]"},
		{"del a", "raise; unbind a"},
		{"del o.f, o[i]", "use o; raise; use o; use i; raise"},
		{"x: int = 1", "def x"},
		{"x: int", "-"},
		{"pass", "-"},
		{"return a", "use a"},
		{"return a, (b, 1)", "use a; use b"},
		{"return a, *b", "use a; use b; raise"},
		{"return [a]", "use a; raise"},
		{"x = f'{a:=10}'", "use a; raise; def x"},
		{"return a is None", "use a"},
		{"return a == b", "use a; use b; raise"},
		{"x = a and b", "and(use a; raise | use b); def x"},
		{"x = a or b or o", "or(use a; raise | or(use b; raise | use o)); def x"},
		{"x = not a", "not(use a; raise); def x"},
		{"x = a if b else o", "select(use b; raise | use a | use o); def x"},
		{"x = a < (y := b) < y", "and(use a; use b; def y; raise | use y; raise); def x"},
		{"if a is None and b: pass", "and(use a | use b; raise)"},
		{"if not (a or b): pass", "not(or(use a; raise | use b; raise))"},
		{"while True: pass", "-"},
		{"assert a", "use a; raise"},
		{"assert a, b", "not(not(use a; raise); iftrue(use b))"},
		{"for x, o.f in a: pass", "raise; iftrue(raise; def x; use o; raise; def o.f)"},
		{"x = [y + b for y in a if y for z in y]", "use a; raise; repeat(raise; use b; raise); def x"},
		{"x = [y for z in a if b and (y := z)]", "use a; raise; repeat(and(use b; raise | def y; raise); iftrue(use y; raise)); def x"},
		{"x = any((y := z) for z in a)", "use any; raise; use a; raise; repeat(def y; raise); raise; def x"},
		{"x = lambda y, z=a: y + z + b", "use a; maybe(use b); raise; def x"},
		{"import p.q, r as s", "raise; def p; def s"},
		{"from p import q as r", "raise; def r"},
		{"global x; x = 1", "-"},
		{"with a as x, b: pass", "use a; raise; def x; use b; raise"},
		{"x = f'{a}'", "use a; raise; def x"},
		{"x = yield a", "use a; raise; def x"},
		{"g(*a, k=b)", "use g; raise; use a; raise; use b; raise"},
		{"def g(y=a) -> b: return o", "use a; use b; raise; capture o; def g"},
		{"class C(a):\n        y = b\n        def m(self): return o", "use a; raise; use b; capture o; def C"},
		{"raise a from b", "use a; use b"},
	} {
		tree := parseFile(t, "x.py", []byte("def f(a, b, o, i):\n    "+c.src+"\n"))
		fn := tree.Lower(tree.Decls()[1])
		for _, err := range ir.Verify(fn) {
			t.Errorf("%s: %v", c.src, err)
		}
		if got := ir.FormatEval(fn, fn.Stmts[0].Eval); got != c.want {
			t.Errorf("%s:\n  %s, want\n  %s", c.src, got, c.want)
		}
	}
}

// TestOutline covers names, kinds, twins and lines.
func TestOutline(t *testing.T) {
	src := `"""Doc."""
import os

@deco
def f(a):
    def g():
        return 1

    k = lambda: 0
    return g
    # trailing


class C:
    x = (lambda s: s)

    def __init__(self): pass

    @property
    def p(self): return 1

    @p.setter
    def p(self, v):
        class D:
            async def m(self): pass

if os:
    def f(): pass
`
	tree := parseFile(t, "x.py", []byte(src))
	var out []string
	for _, d := range tree.Decls() {
		out = append(out, fmt.Sprintf("%s#%d %s %d-%d", d.QualifiedName, d.Ordinal, d.Kind, d.Line, d.EndLine))
	}
	want := strings.Split(`<module>#1 module 1-28
f#1 function 5-10
f.g#1 nested 6-7
f.k#1 lambda 9-9
<class C>#1 class 14-24
C.x#1 lambda 15-15
C.__init__#1 constructor 17-17
C.p#1 method 20-20
C.p#2 method 23-25
C.p.<class D>#1 class 24-25
C.p.D.m#1 method 25-25
f#2 function 28-28`, "\n")
	for i := range want {
		if i >= len(out) || out[i] != want[i] && !strings.HasPrefix(want[i], "<class C>") {
			t.Errorf("%d: %s, want %s", i, append(out, "nothing")[min(i, len(out))], want[i])
		}
	}
}

// TestBroken: a syntax error costs its own statement and no more.
func TestBroken(t *testing.T) {
	src := `@deco
def f(:
    x = 1
    return x

def g(a):
    if a:
        return os.path(a
    y = 2
    return y

class C:
    def m(self):
        x = foo(1, 2
        return x

    def n(self):
        s = """
def fake():
"""
        return s + )

def h(x):
    return x
`
	tree := parseFile(t, "x.py", []byte(src))
	var out []string
	for _, fn := range lowerAll(tree) {
		for _, err := range ir.Verify(fn) {
			t.Error(err)
		}
		line := fn.QualifiedName + ":"
		for _, s := range fn.Stmts {
			line += " " + string(s.Kind)
			if s.Kind == ir.KindOpaque {
				line += "(" + s.Text + ")"
			}
		}
		out = append(out, line)
	}
	want := `<module>: def def class def
f: opaque(@deco def f(:) assign return
g: if opaque(return os.path(a) assign return
<class C>: def def
C.m: opaque(x = foo(1, 2) return
C.n: assign opaque(return s + ))
h: return`
	if got := strings.Join(out, "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestNothingPanics feeds every prefix of a text, and deep nesting.
func TestNothingPanics(t *testing.T) {
	src := "@d(1)\nasync def f(a, *b, c=[1], **d) -> x:\n    try:\n        with a as b, c: pass\n    except* A as e:\n        x = f'{a!r:>{b}}' 'c'\n" +
		"    match x:\n        case {'a': [1, *r], **k} | C(y=-1) if z: del a[1:2].b\n    for i, in (yield): print >>f, lambda: 0\n    else: x: int = y = {**a, b: [i async for i in j]}\nclass C[T: int = 1](A, m=B): type X = int\n"
	for i := range src {
		tree := parseFile(t, "x.py", []byte(src[:i]))
		for _, fn := range lowerAll(tree) {
			for _, err := range ir.Verify(fn) {
				t.Errorf("%q: %v", src[:i], err)
			}
		}
		cut := src[:i] + src[min(i+3, len(src)):]
		tree = parseFile(t, "x.py", []byte(cut))
		for _, fn := range lowerAll(tree) {
			for _, err := range ir.Verify(fn) {
				t.Errorf("%q: %v", cut, err)
			}
		}
	}
	deep := []string{
		"x = " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + "\n",
		"x = 1" + strings.Repeat(" + 1", 50000) + "\n",
		"x = a" + strings.Repeat(".b", 20000) + "\n",
		"x = " + strings.Repeat("not ", 5000) + "1\n",
		"x = " + strings.Repeat("-", 5000) + "1\n",
		"x = " + strings.Repeat("lambda: ", 3000) + "1\n",
		"if a: pass\n" + strings.Repeat("elif b: pass\n", 5000),
	}
	nest := ""
	for i := range 300 {
		nest += strings.Repeat(" ", i) + "if a:\n"
	}
	deep = append(deep, nest+strings.Repeat(" ", 300)+"pass\n", nest)
	for _, src := range deep {
		start := time.Now()
		tree := parseFile(t, "x.py", []byte(src))
		for _, fn := range lowerAll(tree) {
			for _, err := range ir.Verify(fn) {
				t.Errorf("%s: %v", clip(src), err)
			}
		}
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("%s took %v", clip(src), d)
		}
	}
}
