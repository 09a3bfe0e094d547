package hazard_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/hazard"
	"flowplan/internal/lang/python"
	"flowplan/internal/source"
)

func view(t *testing.T, text string) *flow.View {
	t.Helper()
	f, err := flow.Parse(context.Background(), python.Language, source.New("f.py", []byte(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Decls) < 2 {
		t.Fatalf("expected a function in %q", text)
	}
	return f.View(1)
}

// cases hold, for each kind of hazard, an edit that introduces it and a proof:
// Python statements that fail unless CPython does what the hazard says.
var cases = []struct {
	name          string
	before, after string
	want          string
	proof         string
}{
	{"a use before any definition", `
def f(c):
    x = 1
    return x
`, `
def f(c):
    y = x
    x = 1
    return y
`, "unbound_use certain 3 x", `
try:
    f(0)
except UnboundLocalError:
    pass
else:
    raise SystemExit("x was bound")
`},
	{"a definition that a path lacks", `
def f(c):
    x = 1
    return x
`, `
def f(c):
    if c:
        x = 1
    return x
`, "possibly_unbound possible 5 x", `
assert f(1) == 1
try:
    f(0)
except UnboundLocalError:
    pass
else:
    raise SystemExit("x was bound")
`},
	{"the name of a handler after it", `
def f(g):
    e = None
    try:
        g()
    except ValueError as e:
        return 1
    return e
`, `
def f(g):
    e = None
    try:
        g()
    except ValueError as e:
        pass
    return e
`, "possibly_unbound possible 8 e", `
def g():
    raise ValueError
try:
    f(g)
except UnboundLocalError:
    pass
else:
    raise SystemExit("e was bound")
`},
	{"code behind a return", `
def f(c):
    c += 1
    return c
`, `
def f(c):
    return c
    c += 1
    return c
`, "unreachable certain 4", `
import dis
assert 4 not in {line for _, line in dis.findlinestarts(f.__code__)}, "line 4 has code"
`},
	{"a path that forgets the value", `
def f(c):
    if c:
        return 1
    return 2
`, `
def f(c):
    if c:
        return 1
    c += 2
`, "missing_return certain 5", `
assert f(1) == 1 and f(0) is None
`},
	{"a loop that can no longer end", `
def f(n):
    while True:
        n -= 1
        if n < 0:
            break
    return n
`, `
def f(n):
    while True:
        n -= 1
        if n < 0:
            continue
    return n
`, "endless_loop certain 3; unreachable certain 7", `
import sys
class Enough(Exception): pass
steps = 0
def watch(frame, event, arg):
    global steps
    steps += 1
    if steps > 20000:
        raise Enough
    return watch
sys.settrace(watch)
try:
    f(3)
except Enough:
    sys.settrace(None)
else:
    raise SystemExit("it ended")
`},
	{"a lock that is kept", `
def f(lock, c):
    lock.acquire()
    c += 1
    lock.release()
    return c
`, `
def f(lock, c):
    lock.acquire()
    if c is None:
        return 0
    c += 1
    lock.release()
    return c
`, "unreleased possible 5 lock", `
import threading
lock = threading.Lock()
f(lock, None)
assert lock.locked()
`},
	{"text that cannot be read", `
def f(c):
    return c
`, `
def f(c):
    c = = 1
    return c
`, "syntax_error certain 3", ""},
	{"the same as before", `
def f(c):
    if c:
        x = 1
    return x
    print(x)
`, `
def f(c):
    if c > 1:
        x = 1
    return x
    print(x)
`, "", ""},
	{"a name that an inner function shares", `
def f(c):
    x = 1
    def g():
        nonlocal x
        x = 2
    g()
    return x
`, `
def f(c):
    def g():
        nonlocal x
        x = 2
    g()
    return x
    x = 1
`, "unreachable certain 8", ""},
}

func TestHazards(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			compare(t, view(t, c.before), view(t, c.after), c.want)
			if c.proof == "" {
				return
			}
			cmd := exec.Command("python3", "-c", c.after+c.proof)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("CPython does not bear it out: %v\n%s", err, out)
			}
		})
	}
}

// compare says what hazards must be found between two views, as `kind sure line
// place; ...`, and that none is where nothing was edited.
func compare(t *testing.T, before, after *flow.View, want string) {
	t.Helper()
	var got []string
	for _, h := range hazard.Compare(delta.Diff(before, after)) {
		sure := "possible"
		if h.Certain {
			sure = "certain"
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", h.Kind, sure, h.Line, h.Place)))
	}
	if strings.Join(got, "; ") != want {
		t.Errorf("expected %q, got %q", want, strings.Join(got, "; "))
	}
	for _, h := range hazard.Compare(delta.Diff(after, after)) {
		t.Errorf("no edit, and yet %s at %d", h.Kind, h.Line)
	}
}
