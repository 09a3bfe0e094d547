package flowtest

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// none stands in a golden where nothing was observed.
const none = "(none)\n"

// delta compares what is observed of an edit with what must be.
func (f *fixture) delta(head, work *flow.File) {
	var ops, data, brief strings.Builder
	pair(head, work, func(name string, a, b *flow.View) {
		switch {
		case a == nil:
			fmt.Fprintf(&ops, "%s\n  add_function\n", name)
			fmt.Fprintf(&brief, "%s: add_function\n", name)
		case b == nil:
			fmt.Fprintf(&ops, "%s\n  remove_function\n", name)
			fmt.Fprintf(&brief, "%s: remove_function\n", name)
		default:
			f.inverse(a, b)
			d := delta.Diff(a, b)
			heading(&ops, name, list(d.Ops, "  "))
			heading(&data, name, dataLines(d))
			for _, o := range d.Ops {
				fmt.Fprintf(&brief, "%s: %s\n", name, briefly(o))
			}
		}
	})
	f.expect(brief.String(), ops.String())
	f.golden("delta", orNone(ops.String()))
	f.golden("data", orNone(data.String()))
}

func heading(b *strings.Builder, name, body string) {
	if body != "" {
		b.WriteString(name + "\n" + body)
	}
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

// pair calls fn for every function of two files, by qualified name and number.
func pair(head, work *flow.File, fn func(name string, a, b *flow.View)) {
	seen := map[string]bool{}
	for i, d := range head.Decls {
		name := flow.Name(d)
		seen[name] = true
		var b *flow.View
		for j, e := range work.Decls {
			if flow.Name(e) == name {
				b = work.View(j)
			}
		}
		fn(name, head.View(i), b)
	}
	for j, e := range work.Decls {
		if name := flow.Name(e); !seen[name] {
			fn(name, nil, work.View(j))
		}
	}
}

// expect compares the outermost operations with the hand-written section.
func (f *fixture) expect(got, all string) {
	s := f.section("expect")
	if s == nil {
		f.t.Error("an edit without a section expect: say what must be observed")
		return
	}
	want := string(s.Data)
	if want == none {
		want = ""
	}
	if d := cmp.Diff(sorted(want), sorted(got)); d != "" {
		f.t.Errorf("observed operations (-expected +got):\n%s\nall:\n%s", d, all)
	}
}

func sorted(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	sort.Strings(lines)
	return lines
}

// briefly is an operation with what it is about.
func briefly(o *delta.Op) string {
	if _, text := o.Cond(); text != "" {
		return string(o.Kind) + " " + text
	}
	return string(o.Kind)
}

// opLines is the list of operations between two views.
func opLines(a, b *flow.View) string {
	d := delta.Diff(a, b)
	return list(d.Ops, "") + dataLines(d)
}

func list(ops []*delta.Op, indent string) string {
	var b strings.Builder
	for _, o := range ops {
		fmt.Fprintf(&b, "%s%s %s -> %s", indent, o.Kind, side(&o.Head), side(&o.Work))
		if _, text := o.Cond(); text != "" {
			b.WriteString("  " + text)
		}
		if o.Kind == delta.RewireEdge {
			fmt.Fprintf(&b, "  to %s -> %s", dash(o.Head.To), dash(o.Work.To))
		}
		b.WriteByte('\n')
		b.WriteString(list(o.Parts, indent+"  "))
	}
	return b.String()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// side is the line of an end of an operation; in brackets where the operation
// has no statement there and stands next to one.
func side(s *delta.Side) string {
	switch {
	case s.Anchor == nil:
		return "-"
	case len(s.Stmts) == 0:
		return "(" + strconv.Itoa(s.Anchor.Line) + ")"
	}
	return strconv.Itoa(s.Anchor.Line)
}

func dataLines(d *delta.Delta) string {
	var b strings.Builder
	for _, o := range d.Data {
		fmt.Fprintf(&b, "  %s %s %s -> %s\n", o.Kind, o.Place,
			dataPair(o.HeadDefLine, o.HeadUse), dataPair(o.WorkDefLine, o.WorkUse))
	}
	return b.String()
}

func dataPair(def int, use *ir.Stmt) string {
	if use == nil {
		return "-"
	}
	from := "outside"
	if def > 0 {
		from = strconv.Itoa(def)
	}
	return fmt.Sprintf("%s->%d", from, use.Line)
}

// inverse checks that Diff(b, a) undoes Diff(a, b).
func (f *fixture) inverse(a, b *flow.View) {
	f.t.Helper()
	if d := Inverse(a, b); d != "" {
		f.t.Errorf("Diff of %s is not the inverse of the other way:\n%s", a.ID(), d)
	}
}

// Inverse compares Diff(a, b) with Diff(b, a) turned round; "" where they say
// the same.
func Inverse(a, b *flow.View) string {
	there, back := delta.Diff(a, b), delta.Diff(b, a)
	turn := func(d *delta.Delta) {
		var ops func([]*delta.Op)
		ops = func(list []*delta.Op) {
			for _, o := range list {
				o.Kind = o.Kind.Inverse()
				o.Head, o.Work = o.Work, o.Head
				ops(o.Parts)
			}
		}
		ops(d.Ops)
		for _, o := range d.Data {
			o.Kind = o.Kind.Inverse()
			o.HeadDefLine, o.WorkDefLine = o.WorkDefLine, o.HeadDefLine
			o.HeadUse, o.WorkUse = o.WorkUse, o.HeadUse
		}
	}
	turn(back)
	all := func(d *delta.Delta) []string { return sorted(list(d.Ops, "") + dataLines(d)) }
	return cmp.Diff(all(there), all(back))
}
