package python

import (
	"strings"
	"testing"

	"flowplan/internal/ir"
)

// texts are the texts of a module's statements.
func texts(t *testing.T, src string) []string {
	t.Helper()
	tree := parseFile(t, "x.py", []byte(src))
	var out []string
	for _, s := range tree.Lower(tree.Decls()[0]).Stmts {
		out = append(out, s.Text)
	}
	return out
}

// TestText: what a line holds in any spelling has the one text.
func TestText(t *testing.T) {
	for _, c := range []struct{ text, spellings string }{
		{"x = 255", "x=0xff | x = 0XFF # c | x = 2_5_5 | (x) = (255)"},
		{"x = 1000.0", "x = 1e3 | x = 1_000.00"},
		{"x = 'a\\'b\\n'", `x = "a'b\n" | x = 'a\'b' "\n" | x = u"a'b\n" | x = "a'" r"b" "\x0a"`},
		{"x = b'ab'", `x = b"a" b'b' | x = B"\x61b"`},
		{"x = f'a{b!r:>{c}}{{'", `x = f"a{ b !r:>{c}}{{" | x = "a" f"{b!r:>{c}}" "{"`},
		{"return (1,)", "return (1,) | return 1,"},
		{"return x", "return (x) | return ((x))"},
		{"a, b = c", "(a, b) = c | a,b=c | (a), b, = (c)"},
		{"f(a, b=1)", "f(a, b=1,) | f (a,b = 1) | f(a,  # c\n  b=1)"},
		{"not x in y", "not x in y | not (x in y)"},
		{"x not in y", "x not in y | (x) not  in y"},
		{"x != y", "x != y | x <> y"},
		{"f(*b, a=1)", "f(a=1, *b)"},
		{"a & b ^ c", "a & b ^ c | (a & b) ^ c"},
		{"a & (b ^ c)", "a & (b ^ c)"},
		{"await x ** 2", "(await x) ** 2"},
		{"a and (b and c)", "a and (b and c)"},
		{"a and b and c", "a and b and c | (a) and b and (c)"},
		{"lambda x, *y, z=1: x", "lambda x,*y,z = 1:x | (lambda x, *y, z=1: (x))"},
		{"x[1, 2]", "x[1, 2] | x[(1, 2)]"},
		{"x[1:, ::2]", "x[1:,::2] | x[ 1 : , : : 2 ]"},
		{"del a, b", "del a, b | del a,b,"},
		{"for a, b in c", "for (a, b) in c: pass"},
		{"with a as b, c", "with a as b, c: pass | with (a as b, c,): pass"},
		{"class C", "class C: pass | class C(): pass"},
		{"@d def f(a, /, b: int = 1, *, c=2) -> int", "@d\ndef f(a,/,b:int=1,*,c = 2,)->int: pass"},
		{"x: int = 1", "x : int=1"},
		{"[x async for x in y if z]", "[x async for x in y if (z)]"},
		{"import a.b as c, d", "import a . b as c,d"},
		{"from ..a import b, c", "from .. a import (b, c,)"},
	} {
		for _, s := range strings.Split(c.spellings, " | ") {
			if s == "" {
				continue
			}
			got := texts(t, s+"\n")
			if len(got) == 0 || got[0] != c.text {
				t.Errorf("%q is %q, not %q", s, got, c.text)
			}
		}
	}
}

// TestNewerPython: what the grammar does not know by itself.
func TestNewerPython(t *testing.T) {
	for src, want := range map[string]string{
		"try: pass\nexcept A, B, C: pass\n":      "except (A, B, C)",
		"try: pass\nexcept A, B: pass\n":         "except (A, B)",
		"try: pass\nexcept A, e: pass\n":         "except A as e",
		"try: pass\nexcept *A, B: pass\n":        "except* (A, B)",
		"try: pass\nexcept* A: pass\n":           "except* A",
		"class C[T = int, *U = *V, **P]: pass\n": "class C[T = int, *U = *V, **P]",
		"def f[T: int = str](): pass\n":          "def f[T: int = str]()",
		"type A[T] = list[T]\n":                  "type A[T] = list[T]",
		"type(x).y = 1\n":                        "type(x).y = 1",
		"x = t'{a}' t\"b\"\n":                    "x = t'{a}b'",
		"x = f\"{d[\"a\"]}\"\n":                  "x = f'{d['a']}'",
		"return *f(), x\n":                       "return *f(), x",
		"print >>f, x,\n":                        "print >> f, x,",
		"exec 'x' in d\n":                        "exec 'x' in d",
	} {
		found := false
		for _, s := range texts(t, src) {
			found = found || s == want
		}
		if !found {
			t.Errorf("%q: %q, want %q", src, texts(t, src), want)
		}
	}
}

func TestCondition(t *testing.T) {
	show := func(c *ir.Cond) string {
		var f func(c *ir.Cond) string
		f = func(c *ir.Cond) string {
			var ks []string
			for _, k := range c.Kids {
				ks = append(ks, f(k))
			}
			switch c.Op {
			case ir.CondAnd:
				return "and(" + strings.Join(ks, ", ") + ")"
			case ir.CondOr:
				return "or(" + strings.Join(ks, ", ") + ")"
			case ir.CondNot:
				return "not(" + ks[0] + ")"
			case ir.CondCompare:
				return ks[0] + " " + c.Rel + " " + ks[1]
			}
			return c.Text
		}
		return f(c)
	}
	for src, want := range map[string]string{
		"x":                             "x",
		"if x is None:":                 "x is None",
		"elif not (a and b):":           "not(and(a, b))",
		"while a < b <= 0x10 or c:":     "or(and(a < b, b <= 16), c)",
		"for x in range(3):":            "x in range(3)",
		"not isinstance(x, (int, str))": "not(isinstance(x, (int, str)))",
		"(y := f(x)) > 1":               "(y := f(x)) > 1",
		"a and (b and c)":               "and(a, b, c)",
		"x[1:]":                         "x[1:]",
		"if(x)":                         "x",
	} {
		c, err := Language.Condition(src)
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		if got := show(c); got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
	}
	for _, src := range []string{"", "if", "x =", "x y", "a; b", ")(", "x):\n  y\nif (z"} {
		if c, err := Language.Condition(src); err == nil {
			t.Errorf("%q is taken for %s", src, show(c))
		}
	}
}

func TestFrames(t *testing.T) {
	got := Language.Frames(`Traceback (most recent call last):
  File "/a/b.py", line 12, in f
    g(1)
    ~^^^
  File "c.py", line 3, in <module>
  File "d.py", line 4
    x = = 1
tests/test_a.py:7: in test_a
    run()
src/a.py:30: ValueError
E   src/z.py:9: AssertionError
not a frame: 12:30: hello
`)
	var out []string
	for _, f := range got {
		out = append(out, f.Path+" "+f.Func)
	}
	want := []string{"/a/b.py f", "c.py <module>", "d.py ", "tests/test_a.py test_a", "src/a.py ", "src/z.py "}
	if strings.Join(out, "|") != strings.Join(want, "|") || got[0].Line != 12 || got[4].Line != 30 {
		t.Errorf("%q, want %q", out, want)
	}
}

func TestIsTest(t *testing.T) {
	for _, c := range []struct {
		path, symbol string
		want         bool
	}{
		{"a/test_b.py", "", true}, {"tests/util.py", "helper", true}, {"src/a.py", "f", false},
		{"src/a.py", "test_f", true}, {"src/a.py", "TestC.test_f", true}, {"src/latest.py", "", false}, {"contest/a.py", "f", false},
	} {
		if Language.IsTest(c.path, c.symbol) != c.want {
			t.Errorf("%s %s: not %v", c.path, c.symbol, c.want)
		}
	}
}
