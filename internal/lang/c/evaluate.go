package c

import (
	"strconv"
	"strings"
)

// truth is the value of a condition as far as it is known.
type truth int8

const (
	unknown truth = iota
	yes
	no
)

// value is a number that may be unknown.
type value struct {
	n     int64
	known bool
}

func (v value) truth() truth {
	switch {
	case !v.known:
		return unknown
	case v.n != 0:
		return yes
	}
	return no
}

// evaluate gives the truth of an #if condition twice: what is certain whatever
// the configuration, and what is likely in a plain build by gcc or clang on
// Linux.
func (r *resolver) evaluate(cond string) (certain, likely truth) {
	e := &evaluator{cpp: r.cpp, toks: scan([]byte(cond), false)}
	certain = e.run()
	if certain != unknown {
		return certain, certain
	}
	e = &evaluator{cpp: r.cpp, toks: e.toks, likely: true, known: r.known}
	return certain, e.run()
}

// foreign are macros that compilers and systems other than gcc and clang on
// Linux define.
var foreign = map[string]bool{
	"_WIN32": true, "_WIN64": true, "WIN32": true, "WIN64": true, "_WINDOWS": true, "__WIN32__": true, "_WIN32_WCE": true, "WINDOWS": true,
	"_MSC_VER": true, "__MINGW32__": true, "__MINGW64__": true, "__CYGWIN__": true, "__BORLANDC__": true, "__WATCOMC__": true,
	"__APPLE__": true, "__MACH__": true, "__VMS": true, "VMS": true, "MSDOS": true, "__MSDOS__": true, "__DJGPP__": true, "DJGPP": true,
	"macintosh": true, "__OS2__": true, "OS2": true, "__BEOS__": true, "__HAIKU__": true, "AMIGA": true, "__amigaos__": true,
	"__sun": true, "_AIX": true, "__hpux": true, "__sgi": true, "__ANDROID__": true, "__EMSCRIPTEN__": true, "__wasm__": true,
	"__INTEL_COMPILER": true, "__clang__": true, "__ICC": true, "__ARMCC_VERSION": true, "__IAR_SYSTEMS_ICC__": true, "__SUNPRO_C": true, "__TURBOC__": true, "_WIN16": true, "__QNX__": true, "RISCOS": true,
}

// native are macros that gcc on Linux defines.
var native = map[string]int64{
	"__GNUC__": 12, "__GNUC_MINOR__": 2, "__GNUC_PATCHLEVEL__": 0, "__linux__": 1, "__linux": 1, "linux": 1, "__unix__": 1, "__unix": 1, "unix": 1, "__STDC__": 1, "__STDC_VERSION__": 201710, "__ELF__": 1,
	"__x86_64__": 1, "__LP64__": 1, "__STDC_HOSTED__": 1,
}

// evaluator reads one #if condition (C11 6.10.1) over values that may be
// unknown.
type evaluator struct {
	cpp    bool
	likely bool
	known  *macros // whose definitions count as likely
	nested int
	toks   []token
	at     int
	bad    bool
	depth  int
}

func (e *evaluator) run() truth {
	e.at, e.bad = 0, false
	v := e.ternary()
	if e.bad || e.at < len(e.toks) {
		return unknown
	}
	return v.truth()
}

func (e *evaluator) peek() string {
	if e.at < len(e.toks) {
		return e.toks[e.at].text
	}
	return ""
}

func (e *evaluator) accept(s string) bool {
	if e.peek() == s {
		e.at++
		return true
	}
	return false
}

func (e *evaluator) ternary() value {
	c := e.binary(0)
	if !e.accept("?") {
		return c
	}
	a := e.ternary()
	if !e.accept(":") {
		e.bad = true
	}
	b := e.ternary()
	switch c.truth() {
	case yes:
		return a
	case no:
		return b
	}
	return value{}
}

var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (e *evaluator) binary(level int) value {
	if level == len(levels) {
		return e.unary()
	}
	a := e.binary(level + 1)
	for {
		op := ""
		for _, o := range levels[level] {
			if e.peek() == o {
				op = o
			}
		}
		if op == "" {
			return a
		}
		e.at++
		a = apply(op, a, e.binary(level+1))
	}
}

func truthValue(b bool) value {
	if b {
		return value{1, true}
	}
	return value{0, true}
}

func apply(op string, a, b value) value {
	switch op {
	case "||":
		if a.truth() == yes || b.truth() == yes {
			return truthValue(true)
		}
	case "&&":
		if a.truth() == no || b.truth() == no {
			return truthValue(false)
		}
	}
	if !a.known || !b.known {
		return value{}
	}
	switch op {
	case "||", "&&":
		return truthValue(op == "&&")
	case "|":
		return value{a.n | b.n, true}
	case "^":
		return value{a.n ^ b.n, true}
	case "&":
		return value{a.n & b.n, true}
	case "==":
		return truthValue(a.n == b.n)
	case "!=":
		return truthValue(a.n != b.n)
	case "<":
		return truthValue(a.n < b.n)
	case ">":
		return truthValue(a.n > b.n)
	case "<=":
		return truthValue(a.n <= b.n)
	case ">=":
		return truthValue(a.n >= b.n)
	case "<<":
		return value{a.n << uint(b.n&63), true}
	case ">>":
		return value{a.n >> uint(b.n&63), true}
	case "+":
		return value{a.n + b.n, true}
	case "-":
		return value{a.n - b.n, true}
	case "*":
		return value{a.n * b.n, true}
	}
	if b.n == 0 {
		return value{}
	}
	if op == "/" {
		return value{a.n / b.n, true}
	}
	return value{a.n % b.n, true}
}

func (e *evaluator) unary() value {
	if e.depth++; e.depth > 200 || e.at >= len(e.toks) {
		e.bad = true
		return value{}
	}
	defer func() { e.depth-- }()
	switch {
	case e.accept("!"):
		v := e.unary()
		if v.known {
			return truthValue(v.n == 0)
		}
		return v
	case e.accept("-"):
		v := e.unary()
		v.n = -v.n
		return v
	case e.accept("+"):
		return e.unary()
	case e.accept("~"):
		v := e.unary()
		v.n = ^v.n
		return v
	case e.accept("("):
		v := e.ternary()
		if !e.accept(")") {
			e.bad = true
		}
		return v
	}
	t := e.toks[e.at]
	e.at++
	switch t.kind {
	case tNumber:
		n, err := strconv.ParseInt(strings.TrimRight(strings.ReplaceAll(t.text, "'", ""), "uUlL"), 0, 64)
		return value{n, err == nil}
	case tIdent:
		if t.text == "defined" {
			paren := e.accept("(")
			name := e.peek()
			e.at++
			if paren && !e.accept(")") {
				e.bad = true
			}
			return e.defined(name)
		}
		if e.peek() == "(" { // a macro with arguments, __has_include(<x>)
			depth := 0
			for e.at < len(e.toks) {
				s := e.peek()
				e.at++
				if s == "(" {
					depth++
				} else if s == ")" {
					if depth--; depth == 0 {
						break
					}
				}
			}
			return value{}
		}
		return e.name(t.text)
	}
	e.bad = true
	return value{}
}

func (e *evaluator) defined(name string) value {
	if name == "__cplusplus" {
		return truthValue(e.cpp)
	}
	if e.likely {
		if foreign[name] {
			return truthValue(false)
		}
		if _, ok := native[name]; ok {
			return truthValue(true)
		}
		if e.definition(name) != nil {
			return truthValue(true)
		}
		if e.known != nil && (!isFeature(name) || len(e.known.by[name]) > 0) { // none of the files read defines it
			return truthValue(false)
		}
	}
	return value{}
}

// isFeature reports a name that a configure script or a build defines.
func isFeature(name string) bool {
	for _, p := range []string{"HAVE_", "_HAVE_", "USE_", "WITH_", "ENABLE_", "CONFIG_", "HAS_", "SIZEOF_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.HasPrefix(name, "__") // the compiler's
}

// definition is what a name is defined as in the files read so far.
func (e *evaluator) definition(name string) *macro {
	if e.known == nil {
		return nil
	}
	list := e.known.by[name]
	for i := len(list) - 1; i >= 0; i-- {
		if !list[i].spare {
			if list[i].undef {
				return nil
			}
			return list[i]
		}
	}
	return nil
}

func (e *evaluator) name(name string) value {
	switch name {
	case "__cplusplus":
		if !e.cpp {
			return truthValue(false)
		}
		// which standard a file is read for is a matter of configuration, as all
		// else: the code for an older one is code
		return value{202302, e.likely}
	case "true":
		return truthValue(true)
	case "false":
		return truthValue(false)
	}
	if e.likely {
		if foreign[name] {
			return truthValue(false)
		}
		if n, ok := native[name]; ok {
			return value{n, true}
		}
		if d := e.definition(name); d != nil && !d.function && len(d.body) > 0 && e.nested < 8 {
			in := &evaluator{cpp: e.cpp, likely: true, known: e.known, nested: e.nested + 1, toks: d.body}
			v := in.ternary()
			if !in.bad && in.at == len(in.toks) {
				return v
			}
		}
	}
	return value{}
}
