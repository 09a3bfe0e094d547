package delta_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
)

// signature is a delta as text: what two runs, or a delta and an inverse, are
// compared by.
func signature(d *delta.Delta) string {
	var b strings.Builder
	var write func(o *delta.Op)
	write = func(o *delta.Op) {
		fmt.Fprintf(&b, "%s %v %v %q %q;", o.Kind, ids(o.Head), ids(o.Work), o.Head.Text, o.Work.Text)
		for _, p := range o.Parts {
			write(p)
		}
	}
	for _, o := range d.Ops {
		write(o)
	}
	for _, o := range d.Data {
		fmt.Fprintf(&b, "%s %s;", o.Kind, o.Place)
	}
	return b.String()
}

func ids(s delta.Side) []int {
	var out []int
	for _, st := range s.Stmts {
		out = append(out, st.ID)
	}
	return out
}

// inverted writes the signature that the inverse of d must have.
func inverted(d *delta.Delta) map[string]int {
	out := map[string]int{}
	for _, o := range d.Ops {
		out[fmt.Sprintf("%s %v %v %q %q", o.Kind.Inverse(), ids(o.Work), ids(o.Head), o.Work.Text, o.Head.Text)]++
	}
	return out
}

func set(d *delta.Delta) map[string]int {
	out := map[string]int{}
	for _, o := range d.Ops {
		out[fmt.Sprintf("%s %v %v %q %q", o.Kind, ids(o.Head), ids(o.Work), o.Head.Text, o.Work.Text)]++
	}
	return out
}

// TestAlgebra holds Diff to its laws on pairs of real functions that have
// nothing to do with each other, and on edited ones.
func TestAlgebra(t *testing.T) {
	all := subjects(t, 12)
	r := rand.New(rand.NewPCG(*seed, 13))
	for range 1500 {
		a, b := all[r.IntN(len(all))], all[r.IntN(len(all))]
		other := b.view
		if m := mutators[r.IntN(len(mutators))].make(a, r); m != nil && r.IntN(2) == 0 {
			if f, err := parse(strings.Join(m.lines, "\n") + "\n"); err == nil && len(f.Decls) > 1 {
				other = f.View(1)
			}
		}
		lawful(t, a.name+" against "+b.name, a.view, other)
	}
}

// lawful checks determinism, inverse and identity of one pair.
func lawful(t *testing.T, name string, a, b *flow.View) {
	t.Helper()
	d := delta.Diff(a, b)
	if again := delta.Diff(a, b); signature(d) != signature(again) {
		t.Fatalf("%s: two runs differ:\n%s\n%s", name, signature(d), signature(again))
	}
	back := delta.Diff(b, a)
	want, have := inverted(d), set(back)
	for k, n := range want {
		if have[k] != n {
			t.Fatalf("%s: the inverse lacks %s\n%s\n%s", name, k, signature(d), signature(back))
		}
	}
	if len(want) != len(have) {
		t.Fatalf("%s: the inverse has more\n%s\n%s", name, signature(d), signature(back))
	}
	if same := delta.Diff(a, a); !same.Empty() || len(same.Data) > 0 {
		t.Fatalf("%s: differs from itself: %s", name, signature(same))
	}
}

// TestFormatting compares functions with what Python prints of their syntax
// tree: other quotes, brackets, line breaks, no comments.
func TestFormatting(t *testing.T) {
	all := subjects(t, *every)
	const mark = "\n#### flowplan ####\n"
	var in strings.Builder
	for i, s := range all {
		if i > 0 {
			in.WriteString(mark)
		}
		in.WriteString(strings.Join(s.lines, "\n") + "\n")
	}
	script := "import ast, sys\nparts = sys.stdin.read().split(" + fmt.Sprintf("%q", mark) + ")\n" +
		"sys.stdout.write(" + fmt.Sprintf("%q", mark) + ".join(ast.unparse(ast.parse(p)) for p in parts))\n"
	cmd := exec.Command("python3", "-c", script)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3 is needed to print functions anew: %v", err)
	}
	parts := strings.Split(string(out), mark)
	if len(parts) != len(all) {
		t.Fatalf("expected %d functions back, got %d", len(all), len(parts))
	}
	for i, s := range all {
		f, err := parse(parts[i] + "\n")
		if err != nil || len(f.Decls) < 2 {
			t.Fatalf("%s: printed anew it does not parse: %v", s.name, err)
		}
		if d := delta.Diff(s.view, f.View(1)); !d.Empty() {
			t.Errorf("%s: differs from itself printed anew: %s", s.name, signature(d))
		}
	}
	t.Logf("%d functions", len(all))
}
