package delta_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"flowplan/internal/ir"
)

var (
	trials = flag.Int("mutations", 3000, "how many mutations to try")
	seed   = flag.Uint64("seed", 1, "seed of the mutations")
	shown  = flag.Int("show", 0, "print so many of the wrong ones of each kind")
	every  = flag.Int("every", 8, "take one in so many functions of the standard library where all could be")
)

// stdlib finds the standard library of the machine's python3.
func stdlib(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Fatalf("python3 is needed for its standard library: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// subjects are real functions of 3 to 80 statements, one in so many.
func subjects(t *testing.T, oneIn int) []*subject {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(stdlib(t), "*.py"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(stdlib(t), "*", "*.py"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*subject
	n := 0
	for _, name := range append(files, more...) {
		if strings.Contains(name, "site-packages") || strings.Contains(name, "/test/") || strings.Contains(name, "lib2to3") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parse(string(data))
		if err != nil || len(f.Errors) > 0 {
			continue
		}
		for _, d := range f.Decls {
			if d.Kind != ir.FuncFunction && d.Kind != ir.FuncMethod && d.Kind != ir.FuncConstructor {
				continue
			}
			if n++; n%oneIn != 0 {
				continue
			}
			first := f.Source.Line(d.Span.Start)
			var lines []string
			by := leading(f.Source.LineText(first))
			for l := first; l <= d.EndLine; l++ {
				lines = append(lines, f.Source.LineText(l))
			}
			text := strings.Join(dedented(lines, by), "\n") + "\n"
			if s := newSubject(filepath.Base(name)+":"+d.QualifiedName, text); s != nil && len(s.view.Func.Stmts) >= 3 && len(s.view.Func.Stmts) <= 80 {
				out = append(out, s)
			}
		}
	}
	return out
}

// rare are constructs that the standard library hardly uses.
var rare = []string{
	`def area(shape, scale):
    size = 1
    match shape:
        case Circle(radius=r):
            size = r * r * 3
        case Square(side) if side > 0:
            size = side * side
        case [width, height]:
            size = width * height
    return size * scale
`, `def names(rows, seen):
    found = []
    for row in rows:
        found.append(row.name.strip())
    others = []
    for key in sorted(seen):
        others.append(key)
    return found, others
`, `def kind(token):
    match token:
        case "(" | ")":
            return "bracket"
        case str() as text:
            label = text.lower()
        case _:
            label = "other"
    return label
`,
}

// ownSubjects are the rare ones, often enough to be picked.
func ownSubjects() []*subject {
	var out []*subject
	for range 20 {
		for i, text := range rare {
			out = append(out, newSubject("rare"+strconv.Itoa(i), text))
		}
	}
	return out
}

// TestMutations edits real functions in known ways and holds Diff to what was
// constructed.
func TestMutations(t *testing.T) {
	all := append(subjects(t, 4), ownSubjects()...)
	if len(all) < 500 {
		t.Fatalf("expected hundreds of functions to edit, found %d", len(all))
	}
	r := rand.New(rand.NewPCG(*seed, 7))
	right, wrong := map[string]int{}, map[string]int{}
	total, bad := 0, 0
	for tries := 0; total < *trials && tries < 60*(*trials); tries++ {
		s := all[r.IntN(len(all))]
		m := mutators[r.IntN(len(mutators))]
		mut := m.make(s, r)
		if mut == nil {
			continue
		}
		problem, skipped := mut.check(s)
		if skipped {
			continue
		}
		total++
		if problem == "" {
			right[m.name]++
			continue
		}
		bad++
		if wrong[m.name]++; wrong[m.name] <= *shown {
			t.Logf("%s in %s: %s\n%s", m.name, s.name, problem, unified(s.lines, mut.lines))
		}
	}
	var kinds []string
	for _, m := range mutators {
		kinds = append(kinds, m.name)
	}
	sort.Strings(kinds)
	for _, k := range kinds {
		if right[k]+wrong[k] == 0 {
			t.Errorf("no mutation %q could be made", k)
		}
		if wrong[k] > 0 {
			t.Logf("%-26s %5d right %4d wrong", k, right[k], wrong[k])
		}
	}
	share := 100 * float64(total-bad) / float64(total)
	t.Logf("%d mutations of %d functions, %.2f %% as constructed", total, len(all), share)
	if share < 99.5 {
		t.Errorf("expected at least 99.5 %% as constructed")
	}
}

// TestMutationPairs makes two edits of one function, in places apart.
func TestMutationPairs(t *testing.T) {
	all := subjects(t, 4)
	r := rand.New(rand.NewPCG(*seed, 11))
	total, bad := 0, 0
	wrong := map[string]int{}
	for tries := 0; total < *trials/3 && tries < 60*(*trials); tries++ {
		s := all[r.IntN(len(all))]
		a, b := mutators[r.IntN(len(mutators))], mutators[r.IntN(len(mutators))]
		first := a.make(s, r)
		if first == nil || first.content {
			continue
		}
		between := newSubject(s.name, strings.Join(first.lines, "\n")+"\n")
		if between == nil {
			continue
		}
		second := b.make(between, r)
		if second == nil || second.content || !apart(s.lines, first.lines, second.lines) {
			continue
		}
		both := &mutation{lines: second.lines, expected: append([]expectation(nil), first.expected...)}
		for _, e := range second.expected {
			e.line = 0 // its lines are those of the text in between
			both.expected = append(both.expected, e)
		}
		problem, skipped := both.check(s)
		if skipped {
			continue
		}
		total++
		if problem != "" {
			bad++
			k := a.name + " + " + b.name
			if wrong[k]++; bad <= *shown {
				t.Logf("%s in %s: %s\n%s", k, s.name, problem, unified(s.lines, both.lines))
			}
		}
	}
	share := 100 * float64(total-bad) / float64(total)
	t.Logf("%d pairs of mutations, %.2f %% as constructed; wrong: %v", total, share, wrong)
	if share < 98 {
		t.Errorf("expected at least 98 %% as constructed")
	}
}

// apart reports whether a second edit lies some lines away from the first.
func apart(before, between, after []string) bool {
	from, to := changedLines(before, between)
	from2, to2 := changedLines(after, between)
	return to2+4 < from || to+4 < from2
}

// changedLines is the stretch of b that differs from a.
func changedLines(a, b []string) (from, to int) {
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	i, j := len(a), len(b)
	for i > from && j > from && a[i-1] == b[j-1] {
		i--
		j--
	}
	return from, j
}

// unified shows where two texts differ, with a little around it.
func unified(a, b []string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	j, k := len(a), len(b)
	for j > i && k > i && a[j-1] == b[k-1] {
		j--
		k--
	}
	var out strings.Builder
	for _, l := range a[max(0, i-4):i] {
		out.WriteString("   " + l + "\n")
	}
	for _, l := range a[i:j] {
		out.WriteString(" - " + l + "\n")
	}
	for _, l := range b[i:k] {
		out.WriteString(" + " + l + "\n")
	}
	for _, l := range a[j:min(len(a), j+4)] {
		out.WriteString("   " + l + "\n")
	}
	return out.String()
}
