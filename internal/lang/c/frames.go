package c

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flowplan/internal/lang"
)

// This file reads crash reports: of the sanitizers (address, memory, thread,
// undefined behaviour, leak), of Valgrind, gdb, lldb, glibc, and a failed
// assert.
//
//	#0 0x55a3 in job_report /src/jobs.c:48:12
//	==42==    at 0x10927B: job_report (jobs.c:48)
//	#0  0x000055 in node_key (n=0x0) at tree.c:11
//	clamp.c:8:18: runtime error: shift exponent -3 is negative
//
// A report shows several stacks. The first is that of the fault; those that
// tell where its memory came from and went to are kept under that name, and
// what a second fault shows is left out.

// stack is a run of frames, innermost first.
type stack struct {
	name   string // what it shows, by what stands above it; "" where nothing known does
	thread string // of a debugger: the number of its thread
	frames []lang.Frame
}

// report gathers the stacks of a text.
type report struct {
	patterns patterns
	stacks   []*stack
	points   []lang.Frame // places named without a stack: a runtime error, a failed assert
	heading  []string     // lines since the last frame
	last     int          // number of the last frame
	wrapped  *lang.Frame  // a debugger's frame whose place may stand on the next line
	faulted  string       // number of the thread that got the signal
	leak     bool         // the first stack is where something lost was allocated
}

// patterns are compiled for each report, as the package keeps no state.
type patterns struct {
	colour, valgrindPrefix, numbered, address, place, module, debugger, valgrind, placed, fromLibrary,
	runtimeError, global, failed, failedBSD, summary, stopped, boost, catchsegv, symbols, thread, signalled, lldb *regexp.Regexp
}

func newPatterns() patterns {
	return patterns{
		colour:         regexp.MustCompile("\x1b\\[[0-9;]*[a-zA-Z]"),
		valgrindPrefix: regexp.MustCompile(`^(?:==|--|\*\*)(?:[\d:.]+ )?\d+(?:==|--|\*\*) ?`),
		numbered:       regexp.MustCompile(`((?:^|[\s|>]))#(\d+)\s+(\S.*)$`),
		address:        regexp.MustCompile(`^0x[0-9a-fA-F]+(?: in)? `),
		place:          regexp.MustCompile(`:(\d+)(?::(\d+))?$`),
		module:         regexp.MustCompile(` \(([^()]*\+0x[0-9a-fA-F]+|BuildId: \w+)\)$`),
		debugger:       regexp.MustCompile(`^(.*\)) at (.+?):(\d+)(?::(\d+))?$`),
		valgrind:       regexp.MustCompile(`^\s*(at|by) 0x[0-9A-Fa-f]+: (.+?)(?: \((?:in ([^()]+)|([^()]+):(\d+))\))?$`),
		placed:         regexp.MustCompile(`^\s+(?:.* )?at ([^\s:][^:]*|[A-Za-z]:[\\/][^:]*):(\d+)$`),
		fromLibrary:    regexp.MustCompile(`^(.*\)) from (\S.*)$`),
		runtimeError:   regexp.MustCompile(`^\s*(\S.*?):(\d+):(?:(\d+):)? runtime error: `),
		global:         regexp.MustCompile(`global variable '[^']+' defined in '([^']+):(\d+):(\d+)'`),
		failed:         regexp.MustCompile(`^\s*(?:[^\s:]+: )?(\S[^:]*|[A-Za-z]:[^:]*):(\d+): (\S.*): Assertion ` + "[`'\"‘“].* failed\\.?$"),
		failedBSD:      regexp.MustCompile(`^\s*Assertion failed: .*, function ([^,]+), file (.+), line (\d+)\.?$`),
		summary:        regexp.MustCompile(`SUMMARY: \w+Sanitizer: \S+(?: \S+)*? (\S+?):(\d+)(?::(\d+))?(?: in(?: (\S.*))?)?$`),
		stopped:        regexp.MustCompile(`^(?:Thread \S+ "[^"]*" )?(?:0x[0-9a-f]+ in )?([\w:~<>, ]*[\w>] \(.*\)) at (.+):(\d+)$`),
		boost:          regexp.MustCompile(`^\s*(\d+)# (\S.*) at (\S.*):(\d+)$`),
		catchsegv:      regexp.MustCompile(`^(/[^():]+):(\d+)\(([^()]+)\)\[0x[0-9a-f]+\]$`),
		symbols:        regexp.MustCompile(`^\s*(?:\d+: )?([^()\s]+)\(([^()+]+)\+0x[0-9a-f]+\)\s?\[0x[0-9a-f]+\]$`),
		thread:         regexp.MustCompile(`^Thread (\d+) \(`),
		signalled:      regexp.MustCompile(`^Thread (\d+) .*received signal|Current thread is (\d+) \(`),
		lldb:           regexp.MustCompile("^[\\s*]*frame #(\\d+): 0x[0-9a-f]+ [^\\s`]+`(.*?)( \\[(?:opt|inlined)\\])*$"),
	}
}

// telling are words that only a crash report has: a text without any is not
// looked at further.
var telling = []string{"#", "at 0x", "by 0x", "runtime error:", "Assertion", "Sanitizer", ") at ", "[0x"}

// frames finds the frames of crash reports in a text: see lang.Language.
func frames(text string) []lang.Frame {
	if !slices.ContainsFunc(telling, func(w string) bool { return strings.Contains(text, w) }) {
		return nil
	}
	r := &report{patterns: newPatterns()}
	for _, line := range strings.Split(r.patterns.colour.ReplaceAllString(text, ""), "\n") {
		line = strings.TrimRight(line, " \t\r")
		r.line(r.patterns.valgrindPrefix.ReplaceAllString(line, ""))
	}
	return r.frames()
}

// line reads one line.
func (r *report) line(line string) {
	p := &r.patterns
	if r.wrapped != nil {
		if m := p.placed.FindStringSubmatch(line); m != nil {
			r.wrapped.Path, r.wrapped.Line = m[1], number(m[2])
			r.wrapped = nil
			return
		}
		if line == "" || strings.Contains(line, " = ") {
			r.wrapped = nil
		}
	}
	switch {
	case r.lldb(p.lldb.FindStringSubmatch(line)), r.numbered(p.numbered.FindStringSubmatch(line)):
	case r.valgrind(p.valgrind.FindStringSubmatch(line)):
	case r.listed(line):
	case r.point(line):
	default:
		r.heading = append(r.heading, line)
		if m := p.global.FindStringSubmatch(line); m != nil && len(r.stacks) > 0 {
			r.stacks = append(r.stacks, &stack{name: "defined", frames: []lang.Frame{{Path: m[1], Line: number(m[2]), Col: number(m[3])}}})
		}
		if m := p.signalled.FindStringSubmatch(line); m != nil {
			r.faulted = m[1] + m[2]
		}
	}
}

// numbered reads what follows #N: a frame of a sanitizer or a debugger. A
// number is also how people cite an issue, so that a frame must have something
// else of its kind: an address, a module, its place in the margin.
func (r *report) numbered(m []string) bool {
	if m == nil {
		return false
	}
	p := &r.patterns
	indented, n, body := m[1] != "", number(m[2]), m[3]
	if strings.HasPrefix(body, "<signal handler called>") {
		// What the handler itself did is not the fault.
		if s := r.current(); s != nil {
			s.frames = nil
			r.last = n
		}
		return true
	}
	hadAddress := p.address.MatchString(body)
	body = p.address.ReplaceAllString(body, "")
	if d := p.debugger.FindStringSubmatch(body); d != nil {
		r.add(n, lang.Frame{Path: d[2], Line: number(d[3]), Col: number(d[4]), Func: beforeArguments(d[1])})
		return true
	}
	if d := p.fromLibrary.FindStringSubmatch(body); d != nil {
		r.add(n, lang.Frame{Path: d[2], Func: beforeArguments(d[1])})
		return true
	}
	f := lang.Frame{}
	modules := 0
	for d := p.module.FindStringSubmatch(body); d != nil; d = p.module.FindStringSubmatch(body) {
		if !strings.HasPrefix(d[1], "BuildId") {
			f.Path, _, _ = strings.Cut(d[1], "+0x")
		}
		body = strings.TrimSuffix(body, d[0])
		modules++
	}
	if d := p.place.FindStringSubmatch(body); d != nil && (hadAddress || modules > 0 || indented) {
		var path string
		f.Func, path = splitPlace(strings.TrimSuffix(body, d[0]))
		f.Path, f.Line, f.Col = path, number(d[1]), number(d[2])
		if path == "" || path == "??" || path == "<null>" {
			f.Path, f.Line, f.Col = "", 0, 0
		}
		if f.Func == "" && f.Line == 0 {
			return true
		}
		r.add(n, f)
		return true
	}
	if modules > 0 {
		if body != "" && !strings.HasPrefix(body, "(") && body != "<null>" {
			f.Func = body
			r.add(n, f)
		} else { // a frame of which nothing is known keeps its place in the count
			r.skip(n)
		}
		return true
	}
	// A debugger's frame without debug information, or with its place on the
	// next line: f (x=3)
	if i := argumentsAt(body); i > 0 && (hadAddress || strings.HasSuffix(body, "()") || strings.HasSuffix(body, "(") || strings.Contains(body[i:], "=")) {
		f.Func = body[:i]
		r.add(n, f)
		s := r.current()
		r.wrapped = &s.frames[len(s.frames)-1]
		return true
	}
	if hadAddress && !strings.ContainsAny(body, " \t") && body != "" {
		f.Func = body
		r.add(n, f)
		return true
	}
	return false
}

// lldb reads what follows the ` of `frame #0: 0x1f50 prog`f(x=3) at a.c:12:5`.
func (r *report) lldb(m []string) bool {
	if m == nil {
		return false
	}
	f := lang.Frame{Func: m[2]}
	if name, place, ok := strings.Cut(m[2], " at "); ok {
		if d := r.patterns.place.FindStringSubmatch(place); d != nil {
			f = lang.Frame{Path: strings.TrimSuffix(place, d[0]), Line: number(d[1]), Col: number(d[2]), Func: name}
		}
	}
	f.Func, _, _ = strings.Cut(f.Func, " + ")
	r.add(number(m[1]), f)
	return true
}

// valgrind reads `at 0x10927B: job_report (jobs.c:48)`.
func (r *report) valgrind(m []string) bool {
	if m == nil {
		return false
	}
	n := r.last + 1
	if m[1] == "at" {
		n = 0
	}
	f := lang.Frame{Func: m[2], Path: m[3]}
	if m[5] != "" {
		f.Path, f.Line = m[4], number(m[5])
	}
	if f.Func == "???" {
		r.skip(n)
		return true
	}
	r.add(n, f)
	return true
}

// listed reads a line of a list of addresses: of boost, catchsegv or
// backtrace_symbols.
func (r *report) listed(line string) bool {
	p := &r.patterns
	if m := p.boost.FindStringSubmatch(line); m != nil {
		r.add(number(m[1]), lang.Frame{Func: m[2], Path: m[3], Line: number(m[4])})
		return true
	}
	if m := p.catchsegv.FindStringSubmatch(line); m != nil {
		r.add(r.last+1, lang.Frame{Func: m[3], Path: m[1], Line: number(m[2])})
		return true
	}
	if m := p.symbols.FindStringSubmatch(line); m != nil {
		r.add(r.last+1, lang.Frame{Func: m[2], Path: m[1]})
		return true
	}
	return false
}

// point reads a line that names a place without a stack.
func (r *report) point(line string) bool {
	p := &r.patterns
	f := lang.Frame{}
	if m := p.runtimeError.FindStringSubmatch(line); m != nil {
		f = lang.Frame{Path: m[1], Line: number(m[2]), Col: number(m[3])}
	} else if m := p.failed.FindStringSubmatch(line); m != nil {
		f = lang.Frame{Path: m[1], Line: number(m[2]), Func: m[3]}
	} else if m := p.failedBSD.FindStringSubmatch(line); m != nil {
		f = lang.Frame{Path: m[2], Line: number(m[3]), Func: m[1]}
	} else if m := p.summary.FindStringSubmatch(line); m != nil {
		f = lang.Frame{Path: m[1], Line: number(m[2]), Col: number(m[3]), Func: m[4]}
	} else if m := p.stopped.FindStringSubmatch(line); m != nil {
		f = lang.Frame{Path: m[2], Line: number(m[3]), Func: beforeArguments(m[1])}
	} else {
		return false
	}
	f.Func = functionName(f.Func)
	for i := range r.points {
		if r.points[i].Path == f.Path && r.points[i].Line == f.Line {
			if r.points[i].Func == "" {
				r.points[i].Func = f.Func
			}
			return true
		}
	}
	r.points = append(r.points, f)
	return true
}

func (r *report) current() *stack {
	if len(r.stacks) == 0 {
		return nil
	}
	return r.stacks[len(r.stacks)-1]
}

// skip counts a frame of which nothing is known.
func (r *report) skip(n int) {
	if r.begins(n) {
		r.begin()
	}
	r.last = n
}

func (r *report) begins(n int) bool {
	return len(r.stacks) == 0 || n <= r.last
}

// add adds a frame; one numbered no higher than the last begins another stack.
func (r *report) add(n int, f lang.Frame) {
	if r.begins(n) {
		r.begin()
	}
	f.Func = functionName(f.Func)
	if f.Line == 0 {
		f.Path = elsewhere(f.Path, f.Func)
	}
	s := r.current()
	s.frames = append(s.frames, f)
	r.last, r.wrapped = n, nil
	r.heading = r.heading[:0]
}

// begin begins a stack, and names it by what stands above it.
func (r *report) begin() {
	s := &stack{}
	for _, line := range slices.Backward(r.heading) {
		if s.name = naming(line); s.name != "" {
			break
		}
	}
	for _, line := range r.heading {
		if m := r.patterns.thread.FindStringSubmatch(line); m != nil {
			s.thread = m[1]
		}
		if len(r.stacks) == 0 && (strings.Contains(line, "leak of ") || strings.Contains(line, " lost in loss record")) {
			r.leak = true
		}
	}
	r.stacks = append(r.stacks, s)
	r.heading = r.heading[:0]
}

// names says what a stack shows, by words above it.
var names = []struct{ words, name string }{
	{"freed by thread", "freed"},
	{" free'd", "freed"},
	{"allocated by ", "allocated"},
	{" alloc'd", "allocated"},
	{"created by a", "uninitialised since"}, // an allocation, a heap allocation, a stack allocation
	{"was stored to memory at", "stored"},
	{"revious write", "other write"},
	{"revious atomic write", "other write"},
	{"revious read", "other read"},
	{"revious atomic read", "other read"},
	{"located in stack of thread", "on the stack of"},
	{"created by ", "thread begun"},
	{" created at:", "mutex made"},
}

func naming(line string) string {
	for _, n := range names {
		if strings.Contains(line, n.words) {
			return n.name
		}
	}
	return ""
}

// frames puts the stacks in the order that lang.Language asks for.
func (r *report) frames() []lang.Frame {
	stacks := slices.DeleteFunc(r.stacks, func(s *stack) bool { return len(s.frames) == 0 })
	first := 0
	for i, s := range stacks {
		if r.faulted != "" && s.thread == r.faulted && stacks[0].thread != "" {
			first = i
			break
		}
	}
	var out []lang.Frame
	seen := map[string]bool{}
	point := r.lone(stacks)
	if len(stacks) == 0 {
		if point != nil {
			out = append(out, *point)
		}
		return out
	}
	main := stacks[first].frames
	if point != nil && r.leak { // what was lost matters less than what went wrong
		for _, f := range slices.Backward(main) {
			f.Stack = "leaked"
			out = append(out, f)
		}
		return append(out, *point)
	}
	if point != nil {
		point.Stack = "runtime error"
		out = append(out, *point)
	}
	for _, s := range stacks[first+1:] {
		if s.name == "" { // a second fault, another thread
			break
		}
		if seen[s.name] {
			continue
		}
		seen[s.name] = true
		for _, f := range slices.Backward(s.frames) {
			f.Stack = s.name
			out = append(out, f)
		}
	}
	for _, f := range slices.Backward(main) {
		out = append(out, f)
	}
	return out
}

// lone is the first place named without a stack, if no stack has it.
func (r *report) lone(stacks []*stack) *lang.Frame {
	for i := range r.points {
		p := &r.points[i]
		for _, s := range stacks {
			for _, f := range s.frames {
				if f.Line == p.Line && sameFile(f.Path, p.Path) {
					return nil
				}
			}
		}
		return p
	}
	return nil
}

// sameFile: one report may name a file in full here and in short there.
func sameFile(a, b string) bool {
	a, b = strings.ReplaceAll(a, "\\", "/"), strings.ReplaceAll(b, "\\", "/")
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // not there, or too long to be a line
	}
	return n
}

// splitPlace takes `int const& std::min<int>(int const&) /usr/include/a.h`
// apart into function and path. Both may hold spaces.
func splitPlace(s string) (fn, path string) {
	for i := 0; i+1 < len(s); i++ {
		if s[i] != ' ' {
			continue
		}
		rest := s[i+1:]
		if rest[0] == '/' || len(rest) > 2 && rest[1] == ':' && (rest[2] == '\\' || rest[2] == '/') {
			return s[:i], rest
		}
	}
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// beforeArguments takes a debugger's ` (x=3)` off.
func beforeArguments(s string) string {
	if i := argumentsAt(s); i > 0 {
		return s[:i]
	}
	return s
}

// argumentsAt is where ` (` opens the arguments that a debugger prints, at no
// depth of the name's own brackets; -1 where it does not.
func argumentsAt(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		if n := operatorAt(s, i); n > 0 {
			i += n - 1
			continue
		}
		switch s[i] {
		case '(':
			if depth == 0 && i > 1 && s[i-1] == ' ' {
				return i - 1
			}
			depth++
		case '<', '{', '[':
			depth++
		case ')', '>', '}', ']':
			depth--
		}
	}
	return -1
}

// elsewhere is the path of a frame without a line: that of the library where
// it is not the program's own, else "", so that its name is looked up.
func elsewhere(module, fn string) string {
	for _, dir := range []string{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/libexec/", "/usr/local/lib/", "/System/", "C:\\Windows\\"} {
		if strings.HasPrefix(module, dir) {
			return module
		}
	}
	if runtimeFunction(fn) {
		return "<runtime>"
	}
	return ""
}

// runtimeFunction: functions that a sanitizer puts into the program itself.
func runtimeFunction(fn string) bool {
	for _, prefix := range []string{"__interceptor_", "__asan_", "__msan_", "__tsan_", "__ubsan_", "__lsan_", "__hwasan_", "__sanitizer", "___interceptor_", "operator new", "operator delete", "wrap_", "_start"} {
		if strings.HasPrefix(fn, prefix) {
			return true
		}
	}
	switch fn {
	case "malloc", "calloc", "realloc", "free", "strdup", "memcpy", "memmove", "memset", "memcmp", "strcpy", "strncpy", "strcat", "strlen", "strcmp", "abort", "raise":
		return true
	}
	return false
}
