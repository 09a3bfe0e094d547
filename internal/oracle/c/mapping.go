package oracle

import (
	"regexp"
	"strconv"
	"strings"

	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// mapping finds the statement of flowplan's that a statement of gcc's is part
// of: the one with the shortest text around its position.
type mapping struct {
	v    *flow.View
	path string
	wd   string
}

func newMapping(v *flow.View, path, wd string) *mapping { return &mapping{v: v, path: path, wd: wd} }

func (m *mapping) stmt(g *gimple) *ir.Stmt {
	if g.at.line == 0 || absolute(g.at.file, m.wd) != m.path {
		return nil
	}
	at := offset(m.v.File.Source, g.at)
	var best *ir.Stmt
	for _, s := range m.v.Func.Stmts {
		if s.Span.Start <= at && at < s.Span.End && (best == nil || s.Span.End-s.Span.Start < best.Span.End-best.Span.Start) {
			best = s
		}
	}
	return best
}

// stands reports whether something of a function of gcc's is in a statement.
func (m *mapping) stands(f *function) bool {
	for _, id := range f.order {
		for i := range f.blocks[id].stmts {
			if g := &f.blocks[id].stmts[i]; !g.inert() && m.stmt(g) != nil {
				return true
			}
		}
	}
	return false
}

// ends reports whether flowplan's graph has no way on from a statement.
func (m *mapping) ends(s *ir.Stmt) bool {
	for _, p := range m.v.Graph.Instances[s.ID-1] {
		for _, a := range m.v.Graph.Points[p].Out {
			if !a.Virtual {
				return false
			}
		}
	}
	return true
}

// node is one of gcc's statements with the statement it belongs to.
type node struct {
	k    key
	ok   bool
	outs []int
	stop bool
}

// flow adds gcc's graph of a function, contracted to statements.
func (m *mapping) flow(f *function, out *graph, known map[key]bool, never map[string]bool) {
	var nodes []node
	first := map[int]int{} // block to its first node
	last := map[int]int{}
	for _, id := range f.order {
		b := f.blocks[id]
		start := len(nodes)
		nodes = append(nodes, node{}) // so that every block has one
		for i := range b.stmts {
			g := &b.stmts[i]
			if g.inert() {
				continue
			}
			n := node{}
			if s := m.stmt(g); s != nil && !passed(s) {
				n.k, n.ok = keyOf(s), true
				known[n.k] = true
				if s.Callee != "" && never[called(g.text)] && m.ends(s) {
					n.stop = true
				}
			}
			nodes[len(nodes)-1].outs = []int{len(nodes)}
			nodes = append(nodes, n)
		}
		first[id], last[id] = start, len(nodes)-1
	}
	const end = -1
	for _, id := range f.order {
		n := &nodes[last[id]]
		for _, s := range f.blocks[id].succs {
			if s == 1 {
				n.outs = append(n.outs, end)
				continue
			}
			if b := f.blocks[s]; b == nil || b.landing {
				continue
			}
			n.outs = append(n.outs, first[s])
		}
	}
	walk := func(from key, starts []int) {
		seen := map[int]bool{}
		work := append([]int(nil), starts...)
		for len(work) > 0 {
			i := work[len(work)-1]
			work = work[:len(work)-1]
			if i == end {
				out.edge(from, exitKey)
				continue
			}
			if seen[i] {
				continue
			}
			seen[i] = true
			n := &nodes[i]
			if n.ok && n.k != from {
				out.edge(from, n.k)
				continue
			}
			if !n.stop {
				work = append(work, n.outs...)
			}
		}
	}
	if s, ok := first[2]; ok {
		walk(entryKey, []int{s})
	}
	for i := range nodes {
		if nodes[i].ok && !nodes[i].stop {
			walk(nodes[i].k, nodes[i].outs)
		}
	}
}

var (
	ssaName = regexp.MustCompile(`([A-Za-z_$][\w$]*(?:\.\d+)?)_(\d+)(\(D\))?`)
	phiLine = regexp.MustCompile(`^# (\S+) = PHI <(.*)>$`)
	defLine = regexp.MustCompile(`^([A-Za-z_$][\w$.]*_\d+) = (.*)$`)
)

// value is where an SSA name comes from.
type value struct {
	stmt key
	ok   bool
	phi  []string
}

// pairs adds the def-use pairs of gcc's registers.
func (m *mapping) pairs(f *function, out *graph) {
	values := map[string]value{}
	type use struct {
		name string
		at   key
	}
	var uses []use
	memory := map[string]bool{} // names that stand for memory, too: another variable of the name, whose address is taken
	for _, id := range f.order {
		for i := range f.blocks[id].stmts {
			g := &f.blocks[id].stmts[i]
			if p := phiLine.FindStringSubmatch(g.text); p != nil {
				values[p[1]] = value{phi: phiNames(p[2], f)}
				continue
			}
			if g.phi || strings.HasPrefix(g.text, "//") || strings.HasPrefix(g.text, "return") {
				continue
			}
			rest := g.text
			s := m.stmt(g)
			if d := defLine.FindStringSubmatch(g.text); d != nil {
				v := value{}
				if s != nil {
					v.stmt, v.ok = keyOf(s), true
				}
				values[d[1]] = v
				rest = d[2]
			}
			if i := strings.Index(rest, "__asm__"); i >= 0 {
				for _, o := range asmOutput.FindAllStringSubmatch(rest, -1) {
					v := value{}
					if s != nil {
						v.stmt, v.ok = keyOf(s), true
					}
					values[o[1]] = v
				}
				rest = asmOutput.ReplaceAllString(rest, "")
			}
			if s == nil {
				continue
			}
			for _, w := range bareName.FindAllStringSubmatch(fieldName.ReplaceAllString(quotedText.ReplaceAllString(g.text, ""), ""), -1) {
				memory[w[1]] = true
			}
			for _, n := range names(rest) {
				uses = append(uses, use{n, keyOf(s)})
			}
		}
	}
	// A variable may be called x_13, as a version of x is.
	declared := map[string]bool{}
	for _, x := range m.v.Func.Vars {
		declared[x.Name] = true
	}
	for n := range values {
		if declared[n] {
			delete(values, n)
			continue
		}
		if base := baseName(n); base != "" {
			out.regs[base] = true
		}
	}
	for n := range memory {
		delete(out.regs, n)
	}
	params := map[string]bool{}
	for _, p := range m.v.Func.Params {
		params[p.Name] = true
	}
	for _, u := range uses {
		base := baseName(u.name)
		if _, ok := values[u.name]; base == "" || memory[base] || declared[u.name] || !ok && !strings.HasSuffix(u.name, "(D)") {
			continue // made up, in memory, or the name of a function
		}
		out.regs[base] = true
		for _, d := range resolve(u.name, values, map[string]bool{}) {
			if strings.HasSuffix(d, "(D)") {
				if params[baseName(d)] {
					out.pairs[pair{name: base, def: paramKey, use: u.at}] = true
				}
				continue
			}
			if v := values[d]; v.ok && v.stmt != u.at {
				out.pairs[pair{name: base, def: v.stmt, use: u.at}] = true
			}
		}
	}
}

// bareName is a name without a version, fieldName one behind a dot or arrow.
var (
	bareName  = regexp.MustCompile(`(?:^|[^\w.$>])([A-Za-z_$][A-Za-z0-9$]*(?:_[A-Za-z$][A-Za-z0-9$]*)*)\b(?:[^\w(]|$)`)
	fieldName = regexp.MustCompile(`(?:\.|->)[A-Za-z_$][\w$]*`)
)

var asmOutput = regexp.MustCompile(`"[=+][^"]*"\s+([A-Za-z_$][\w$.]*_\d+)\b`)

var phiArg = regexp.MustCompile(`(\S+)\((\d+)\)$`)

// phiNames are the names that a PHI chooses from, those that a longjmp brings
// aside.
func phiNames(text string, f *function) []string {
	var out []string
	for _, a := range strings.Split(text, ", ") {
		m := phiArg.FindStringSubmatch(strings.TrimSpace(a))
		if m == nil {
			continue
		}
		if id, err := strconv.Atoi(m[2]); err == nil && f.blocks[id] != nil && f.blocks[id].dispatch {
			continue
		}
		out = append(out, names(m[1])...)
	}
	return out
}

// names are the SSA names in a piece of a dump, strings aside.
func names(text string) []string {
	if strings.Contains(text, `"`) {
		text = quotedText.ReplaceAllString(text, `""`)
	}
	var out []string
	for _, m := range ssaName.FindAllStringIndex(text, -1) {
		if m[0] > 0 && (text[m[0]-1] == '.' || text[m[0]-1] == '>' && m[0] > 1 && text[m[0]-2] == '-') {
			continue // a field
		}
		if m[1] < len(text) && (text[m[1]] == '_' || text[m[1]] >= 'a' && text[m[1]] <= 'z' || text[m[1]] >= 'A' && text[m[1]] <= 'Z') {
			continue // a longer name
		}
		out = append(out, text[m[0]:m[1]])
	}
	return out
}

var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// baseName is the variable that an SSA name is a version of; "" for what gcc
// made up.
func baseName(n string) string {
	m := ssaName.FindStringSubmatch(n)
	if m == nil {
		return ""
	}
	b := m[1]
	if strings.Contains(b, ".") || b == "_" || strings.HasPrefix(b, "iftmp") || strings.HasPrefix(b, "retval") || strings.HasPrefix(b, "D") && strings.Trim(b[1:], "0123456789.") == "" {
		return ""
	}
	return b
}

// resolve follows PHIs to definitions.
func resolve(n string, values map[string]value, seen map[string]bool) []string {
	if seen[n] {
		return nil
	}
	seen[n] = true
	v, ok := values[n]
	if !ok || v.phi == nil {
		return []string{n}
	}
	var out []string
	for _, k := range v.phi {
		out = append(out, resolve(k, values, seen)...)
	}
	return out
}
