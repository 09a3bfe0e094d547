// Package oracle compares flowplan's graphs of C and C++ with those of gcc:
// statement by statement with the control-flow graph that gcc prints before
// any optimisation, and definition by definition with its SSA names.
//
// It compiles with `gcc -O0 -fdump-tree-cfg-lineno -fdump-tree-ssa-lineno`,
// maps each of gcc's statements to the statement of flowplan's whose text its
// position lies in, contracts both graphs to the statements that both have,
// and compares what follows each of them. What is done before comparing is
// listed in normalise.go, and nowhere else. It proves nothing about which of a
// condition's arms is the true one: gcc turns conditions as it likes.
//
//	report, err := oracle.File(ctx, oracle.Unit{Path: "a.c"})
//	report.Functions[0].Flow // "" where equal
package oracle

import (
	"bufio"
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// position is where gcc says that something stands.
type position struct {
	file      string
	line, col int
}

// gimple is one statement of a dump.
type gimple struct {
	at   position
	text string
	phi  bool
}

// block is a basic block of a dump.
type block struct {
	id       int
	stmts    []gimple
	succs    []int
	landing  bool // it is entered by exceptions alone, or by a longjmp
	dispatch bool // by a longjmp
}

// function is one function of a dump.
type function struct {
	name   string // as gcc prints it
	blocks map[int]*block
	order  []int
}

var (
	functionLine = regexp.MustCompile(`^;; Function (.*) \(([^ ,()]+), funcdef_no=`)
	succsLine    = regexp.MustCompile(`^;; (\d+) succs \{([^}]*)\}`)
	blockLine    = regexp.MustCompile(`^\s*<bb (\d+)>\s*:`)
	positionMark = regexp.MustCompile(`\[([^\[\]]*?):(\d+):(\d+)(?: discrim \d+)?\] ?`)
)

// readDump reads a -lineno dump.
func readDump(data []byte) []*function {
	var out []*function
	var f *function
	var b *block
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		line := sc.Text()
		if m := functionLine.FindStringSubmatch(line); m != nil {
			f = &function{name: m[1], blocks: map[int]*block{}}
			b = nil
			out = append(out, f)
			continue
		}
		if f == nil {
			continue
		}
		if m := succsLine.FindStringSubmatch(line); m != nil {
			id, _ := strconv.Atoi(m[1])
			x := f.block(id)
			for _, s := range strings.Fields(m[2]) {
				if n, err := strconv.Atoi(s); err == nil {
					x.succs = append(x.succs, n)
				}
			}
			continue
		}
		if m := blockLine.FindStringSubmatch(line); m != nil {
			id, _ := strconv.Atoi(m[1])
			b = f.block(id)
			continue
		}
		if b == nil || strings.TrimSpace(line) == "" || line == "}" {
			continue
		}
		b.add(line)
	}
	return out
}

func (f *function) block(id int) *block {
	if f.blocks[id] == nil {
		f.blocks[id] = &block{id: id}
		f.order = append(f.order, id)
	}
	return f.blocks[id]
}

func (b *block) add(line string) {
	g := gimple{}
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "# ") {
		g.phi = true
	} else if m := positionMark.FindStringSubmatchIndex(trimmed); m != nil && m[0] == 0 {
		g.at.file = trimmed[m[2]:m[3]]
		g.at.line, _ = strconv.Atoi(trimmed[m[4]:m[5]])
		g.at.col, _ = strconv.Atoi(trimmed[m[6]:m[7]])
	}
	g.text = positionMark.ReplaceAllString(trimmed, "")
	if strings.Contains(g.text, "ABNORMAL_DISPATCHER") {
		b.landing, b.dispatch = true, true
	}
	if strings.Contains(g.text, "[LP ") {
		b.landing = true
	}
	b.stmts = append(b.stmts, g)
}

// label reports a line that is a label and no statement.
var label = regexp.MustCompile(`^(<[^<>]*>|[\w.$]+)( \[[^\]]*\])*:$`)

// inert reports a line of a dump that does nothing by itself.
func (g *gimple) inert() bool {
	t := g.text
	return g.phi || strings.HasPrefix(t, "goto <bb") || strings.HasPrefix(t, "//") || strings.HasPrefix(t, "return") || strings.HasPrefix(t, "else") ||
		label.MatchString(t) || strings.HasPrefix(t, "<L") && strings.HasSuffix(t, ":") || strings.Contains(t, "{CLOBBER") || strings.HasPrefix(t, "resx ") ||
		strings.HasPrefix(t, "__builtin_stack_restore") || strings.HasPrefix(t, "# DEBUG")
}
