package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// crash is a program of testdata/crash, and what flow_of must lead to when it
// is given what a tool printed.
type crash struct {
	name    string
	source  string
	build   []string // a compiler and its flags; PROGRAM and SOURCE are filled in
	run     []string // nil: PROGRAM alone
	install string   // what to do where a tool is missing
	fault   string   // the function that is shown; its line says fault
	caller  string   // the one below it; its line says caller
	also    []string // what else the reply must hold; a word in <> is the line that holds it in the source
}

const installGCC = "install gcc with its sanitizers (Debian: gcc; Fedora: gcc libasan libubsan)"

// What gcc alone can find is tried everywhere; crash_tools_test.go has the
// rest.
func TestCrashGCC(t *testing.T) {
	for _, c := range []crash{
		{name: "address", source: "jobs.c", build: []string{"gcc", "-g", "-fsanitize=address"}, fault: "job_report(j, code)", caller: "queue_run",
			also: []string{"freed: queue_drop jobs.c:41 free(j)  from queue_run:58 main:68\n", "allocated: job_new jobs.c:19 struct job *j = malloc(sizeof *j)  from queue_push:31 main:67\n"}},
		{name: "overflow", source: "words.c", build: []string{"gcc", "-g", "-fsanitize=address"}, fault: "append(out, at, word)", caller: "join",
			also: []string{"allocated: join words.c:25 char *out = malloc(room)"}},
		{name: "undefined", source: "clamp.c", build: []string{"gcc", "-g", "-fsanitize=undefined", "-fno-sanitize-recover"}, fault: "scale(level, by)"},
		{name: "undefined with a stack", source: "clamp.c", build: []string{"gcc", "-g", "-fsanitize=undefined"}, run: []string{"env", "UBSAN_OPTIONS=print_stacktrace=1", "PROGRAM"}, fault: "scale(level, by)", caller: "adjust"},
	} {
		c.install = installGCC
		t.Run(c.name, func(t *testing.T) { c.try(t) })
	}
}

// try builds the program, lets it crash, and asks flow_of about what it
// printed.
func (c crash) try(t *testing.T) {
	t.Helper()
	w := newWorld(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "crash", c.source))
	if err != nil {
		t.Fatal(err)
	}
	w.write(c.source, string(text))
	program := filepath.Join(t.TempDir(), "program")
	c.command(t, append(c.build, "-o", program, filepath.Join(w.dir, c.source)), program)
	run := c.run
	if run == nil {
		run = []string{"PROGRAM"}
	}
	report := c.command(t, run, program)
	reply := w.of(report)
	if !strings.HasPrefix(reply, c.fault+" "+c.source+":") {
		t.Errorf("shown first is not %s", c.fault)
	}
	c.wants(t, reply, string(text), "fault", "<== here")
	if c.caller != "" {
		if !strings.Contains(reply, "called from "+c.caller+"  "+c.source) {
			t.Errorf("the caller is not %s", c.caller)
		}
		c.wants(t, reply, string(text), "caller", "<== call")
	}
	for _, want := range c.also {
		if !strings.Contains(reply, want) {
			t.Errorf("the reply lacks %q", want)
		}
	}
	if t.Failed() {
		t.Logf("the reply:\n%s\nto:\n%s", reply, report)
	}
}

// wants looks for the line that a comment of the source marks, with a note
// behind it.
func (c crash) wants(t *testing.T, reply, source, comment, note string) {
	t.Helper()
	for i, line := range strings.Split(source, "\n") {
		if !strings.HasSuffix(line, "/* "+comment+" */") && !strings.HasSuffix(line, "// "+comment) {
			continue
		}
		for shown := range strings.Lines(reply) {
			if strings.HasPrefix(shown, strconv.Itoa(i+1)+" ") && strings.Contains(shown, note) {
				return
			}
		}
		t.Errorf("line %d, of the %s, is not shown with %q", i+1, comment, note)
		return
	}
	t.Errorf("%s has no line with the comment %s", c.source, comment)
}

// command runs a command whose failure is what is wanted, but for a missing
// tool.
func (c crash) command(t *testing.T, args []string, program string) string {
	t.Helper()
	args = append([]string(nil), args...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "PROGRAM", program)
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		t.Fatalf("%s was not found: %s", args[0], c.install)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = filepath.Dir(program)
	out, err := cmd.CombinedOutput()
	if _, missing := os.Stat(program); missing != nil {
		t.Fatalf("%s did not build the program (%v): %s\n%s", args[0], err, c.install, out)
	}
	return string(out)
}

// Frames given one by one are one stack; a place without a function, and a name
// without a place, are found all the same.
func TestFramesOneByOne(t *testing.T) {
	w := newWorld(t)
	w.write("src/a.c", `static int last(const int *v, int n)
{
    return v[n];
}

int sum(const int *v, int n)
{
    int r = 0;
    for (int i = 0; i < n; i++)
        r += last(v, i);
    if (r > 9)
        r = last(v, n);
    return r;
}
`)
	reply := w.of("#0 0x55 in last /build/p/src/a.c:3:12", "#1 0x56 in sum /build/p/src/a.c:12:13")
	for _, want := range []string{"last(v, n) src/a.c:1-4 cfg\n3 return v[n]\t<== here <v,n:1\n", "called from sum  src/a.c:6-14\n", "11 if (r > 9)  T\n12 r = last(v, n)  <== call  parameter: v, n\n"} {
		if !strings.Contains(reply, want) {
			t.Errorf("the reply lacks %q:\n%s", want, reply)
		}
	}
	for _, report := range []string{
		"src/a.c:3:12: runtime error: index 9 out of bounds for type 'int [9]'",
		"==7==    at 0x109151: last (a.c:3)",
		"./prog(last+0x2a) [0x55d0]",
	} {
		if reply := w.of(report); !strings.HasPrefix(reply, "last(v, n) src/a.c") {
			t.Errorf("%s:\n%s", report, reply)
		}
	}
	_, err := w.e.Of(bg, OfParams{Function: []string{"#0 0x7f in qsort /usr/src/glibc/stdlib/msort.c:30"}})
	if text := w.callError(err); !strings.Contains(text, "inside the root") {
		t.Errorf("a report of a library alone: %s", text)
	}
}
