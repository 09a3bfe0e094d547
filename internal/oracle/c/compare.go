package oracle

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"flowplan/internal/cfg"
	"flowplan/internal/dataflow"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
	"flowplan/internal/lang"
	"flowplan/internal/source"
)

// Unit is one file to compile.
type Unit struct {
	Path  string
	Flags []string // of the compiler, beside those that the oracle needs
	Dir   string   // where to compile; "": the file's
}

// Function is the outcome of one function.
type Function struct {
	ID      string // path:name:line
	Skipped string // why it could not be compared; "": it was
	Flow    string // how the statement graphs differ; "": not at all
	Pairs   string // the same for def-use pairs
	Edges   int    // compared
	known   map[*ir.Stmt]bool
	view    *flow.View
	want    *graph
	dropped map[arc]bool
}

// Report is the outcome of a unit.
type Report struct {
	Functions []*Function
}

// graph is what is compared: what follows each statement, and the pairs.
type graph struct {
	next  map[key]map[key]bool
	pairs map[pair]bool
	regs  map[string]bool // variables that are registers
}

// key is a statement by its text's place; those of one macro's call are one.
type key struct{ start, end int }

var (
	entryKey = key{-1, -1}
	exitKey  = key{-2, -2}
)

type pair struct {
	name     string
	def, use key
}

// paramKey stands for the definition of a parameter.
var paramKey = key{-3, -3}

func keyOf(s *ir.Stmt) key { return key{s.Span.Start, s.Span.End} }

// Language gives the language of a path.
type Language func(path string, head []byte) *lang.Language

// File compiles a unit and compares every function that gcc compiled of its
// own file, and of those that it includes where headers says so.
func File(ctx context.Context, u Unit, language Language, headers func(path string) bool) (*Report, error) {
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cpp := isCpp(u.Path)
	cc := "gcc"
	if cpp {
		cc = "g++"
	}
	wd := u.Dir
	if wd == "" {
		wd = filepath.Dir(u.Path)
	}
	cfgDump, ssaDump := filepath.Join(dir, "cfg"), filepath.Join(dir, "ssa")
	args := append([]string{"-O0", "-w", "-c", "-o", os.DevNull, "-fno-diagnostics-color", "-fkeep-static-functions", "-fkeep-inline-functions", "-fpermissive",
		"-fdump-tree-cfg-lineno=" + cfgDump, "-fdump-tree-ssa-lineno=" + ssaDump}, u.Flags...)
	if !cpp {
		args = slices.DeleteFunc(args, func(s string) bool { return s == "-fpermissive" })
	}
	cmd := exec.CommandContext(ctx, cc, append(args, u.Path)...)
	cmd.Dir = wd
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", cc, u.Path, err, firstLine(out))
	}
	cfgText, err := os.ReadFile(cfgDump)
	if err != nil {
		return nil, err
	}
	ssaText, err := os.ReadFile(ssaDump)
	if err != nil {
		return nil, err
	}
	pre := exec.CommandContext(ctx, cc, append(append([]string{"-E", "-w"}, u.Flags...), u.Path)...)
	pre.Dir = wd
	expanded, err := pre.Output()
	if err != nil {
		return nil, fmt.Errorf("%s -E %s: %w", cc, u.Path, err)
	}
	c := &comparer{ctx: ctx, wd: wd, language: language, files: map[string]*flow.File{}, active: activeLines(expanded, wd)}
	return c.run(u, readDump(cfgText), readDump(ssaText), headers)
}

func firstLine(b []byte) string {
	for _, l := range strings.Split(string(b), "\n") {
		if strings.Contains(l, "error") {
			return l
		}
	}
	l, _, _ := strings.Cut(string(b), "\n")
	return l
}

func isCpp(path string) bool {
	switch filepath.Ext(path) {
	case ".cc", ".cpp", ".cxx", ".C":
		return true
	}
	return false
}

var lineMark = regexp.MustCompile(`^# (\d+) "([^"]*)"`)

// activeLines are the lines of each file that have tokens after preprocessing.
func activeLines(text []byte, wd string) map[string]map[int]bool {
	out := map[string]map[int]bool{}
	file, line := "", 0
	for _, l := range strings.Split(string(text), "\n") {
		if m := lineMark.FindStringSubmatch(l); m != nil {
			_, _ = fmt.Sscan(m[1], &line)
			file = absolute(m[2], wd)
			continue
		}
		if strings.TrimSpace(l) != "" {
			if out[file] == nil {
				out[file] = map[int]bool{}
			}
			out[file][line] = true
		}
		line++
	}
	return out
}

func absolute(path, wd string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(wd, path)
	}
	return filepath.Clean(path)
}

type comparer struct {
	ctx      context.Context
	wd       string
	language Language
	files    map[string]*flow.File
	active   map[string]map[int]bool
}

func (c *comparer) file(path string) *flow.File {
	if f, ok := c.files[path]; ok {
		return f
	}
	c.files[path] = nil
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	l := c.language(path, data[:min(len(data), lang.HeadBytes)])
	if l == nil {
		return nil
	}
	f, err := flow.Parse(c.ctx, l, source.New(path, data), func(p string) ([]byte, error) { return os.ReadFile(p) })
	if err != nil {
		return nil
	}
	c.files[path] = f
	return f
}

// place is a function of flowplan's that functions of gcc's dump belong to.
type place struct {
	file  *flow.File
	path  string
	index int
}

// home finds the function that a function of gcc's is.
func (c *comparer) home(f *function) (place, bool) {
	votes := map[place]int{}
	for _, id := range f.order {
		for _, g := range f.blocks[id].stmts {
			if g.at.line == 0 || g.inert() {
				continue
			}
			path := absolute(g.at.file, c.wd)
			file := c.file(path)
			if file == nil {
				continue
			}
			at := offset(file.Source, g.at)
			best := -1
			for i, d := range file.Decls {
				switch d.Kind {
				case ir.FuncModule, ir.FuncClass, ir.FuncMacro:
					continue
				}
				if d.Span.Start <= at && at < d.Span.End && (best < 0 || d.Span.End-d.Span.Start <= file.Decls[best].Span.End-file.Decls[best].Span.Start) {
					best = i
				}
			}
			if best >= 0 {
				votes[place{file, path, best}]++
			}
		}
	}
	var best place
	n := 0
	for p, v := range votes {
		if v > n || v == n && (p.path < best.path || p.path == best.path && p.index < best.index) {
			best, n = p, v
		}
	}
	return best, n > 0
}

func offset(f *source.File, at position) int {
	sp := f.LineSpan(at.line)
	return min(sp.Start+max(at.col-1, 0), sp.End)
}

func (c *comparer) run(u Unit, cfgs, ssas []*function, headers func(string) bool) (*Report, error) {
	own := absolute(u.Path, c.wd)
	never := stops(cfgs)
	groups := map[place][]*function{}
	var order []place
	r := &Report{}
	for _, f := range cfgs {
		p, ok := c.home(f)
		if !ok {
			continue // nothing of it stands in a file: made by the compiler, or empty
		}
		if p.path != own && !headers(p.path) {
			continue
		}
		if groups[p] == nil {
			order = append(order, p)
		}
		groups[p] = append(groups[p], f)
	}
	ssa := map[place][]*function{}
	for _, f := range ssas {
		if p, ok := c.home(f); ok {
			ssa[p] = append(ssa[p], f)
		}
	}
	for _, p := range order {
		r.Functions = append(r.Functions, c.compare(p, groups[p], ssa[p], never))
	}
	return r, nil
}

func (c *comparer) compare(p place, cfgs, ssas []*function, never map[string]bool) *Function {
	v := p.file.View(p.index)
	out := &Function{ID: fmt.Sprintf("%s:%s:%d", p.path, flow.Name(v.Decl), v.Decl.Line), view: v}
	m := newMapping(v, p.path, c.wd)
	want := &graph{next: map[key]map[key]bool{}, pairs: map[pair]bool{}, regs: map[string]bool{}}
	known := map[key]bool{}
	var own []*function // those that stand in statements, not in a macro that makes functions
	for _, f := range cfgs {
		if m.stands(f) {
			own = append(own, f)
		}
	}
	if len(own) > 0 {
		cfgs = own
	}
	for _, f := range cfgs {
		m.flow(f, want, known, never)
	}
	for _, f := range ssas {
		m.pairs(f, want)
	}
	out.known = map[*ir.Stmt]bool{}
	for _, s := range v.Func.Stmts {
		out.known[s] = known[keyOf(s)] && !passed(s)
	}
	out.dropped = map[arc]bool{}
	configured(v, c.active[p.path], out.dropped)
	pruned(v, out.known, out.dropped)
	falseAsserts(v, out.known, want, out.dropped)
	out.want = want
	out.judge()
	if out.Flow != "" || out.Pairs != "" { // what is equal all the same needs no excuse
		out.Skipped = c.incomparable(v, p, cfgs)
	}
	return out
}

// incomparable says why gcc's graph of a function cannot be held against
// flowplan's.
func (c *comparer) incomparable(v *flow.View, p place, cfgs []*function) string {
	active := c.active[p.path]
	for _, n := range v.Func.Notes {
		line, took := 0, true
		if _, err := fmt.Sscanf(n, "line %d:", &line); err != nil {
			continue
		}
		took = strings.Contains(n, "read with")
		// the arm that was read is the one that gcc compiled if it has code there
		next := line + 1
		for next <= v.Decl.EndLine && strings.TrimSpace(v.File.Source.LineText(next)) == "" {
			next++
		}
		if took && !active[next] {
			return "another arm of a split construct is compiled"
		}
	}
	for _, f := range cfgs {
		if strings.Contains(f.name, ".actor") || strings.Contains(f.name, ".destroy") {
			return "coroutine"
		}
	}
	for _, s := range v.Func.Stmts {
		if strings.HasPrefix(s.Text, "co_") || s.Kind == ir.KindAwait || s.Kind == ir.KindYield {
			return "coroutine"
		}
	}
	return ""
}

// judge compares, and writes what differs.
func (f *Function) judge() {
	got := f.got()
	f.Flow, f.Pairs = "", ""
	f.Edges = 0
	var lines []string
	src := f.view.File.Source
	name := func(k key) string {
		switch k {
		case entryKey:
			return "entry"
		case exitKey:
			return "exit"
		case paramKey:
			return "param"
		}
		pos := src.Pos(k.start)
		return fmt.Sprintf("%d:%d", pos.Line, pos.Col+1)
	}
	keys := map[key]bool{}
	for k := range f.want.next {
		keys[k] = true
	}
	for k := range got.next {
		keys[k] = true
	}
	for k := range keys {
		for t := range f.want.next[k] {
			f.Edges++
			if !got.next[k][t] {
				lines = append(lines, name(k)+"->"+name(t)+" is gcc's alone")
			}
		}
		for t := range got.next[k] {
			if !f.want.next[k][t] {
				lines = append(lines, name(k)+"->"+name(t)+" is flowplan's alone")
			}
		}
	}
	sort.Strings(lines)
	f.Flow = strings.Join(lines, "; ")
	lines = nil
	for x := range f.want.pairs {
		if !got.pairs[x] {
			lines = append(lines, fmt.Sprintf("%s %s->%s is gcc's alone", x.name, name(x.def), name(x.use)))
		}
	}
	for x := range got.pairs {
		if !f.want.pairs[x] {
			lines = append(lines, fmt.Sprintf("%s %s->%s is flowplan's alone", x.name, name(x.def), name(x.use)))
		}
	}
	sort.Strings(lines)
	f.Pairs = strings.Join(lines, "; ")
}

// got contracts flowplan's graph to the statements that gcc knows.
func (f *Function) got() *graph {
	v := f.view
	out := &graph{next: map[key]map[key]bool{}, pairs: map[pair]bool{}}
	live := reachable(v, f.dropped)
	add := func(from key, p int) {
		seen := map[int]bool{}
		work := []int{p}
		for len(work) > 0 {
			q := work[len(work)-1]
			work = work[:len(work)-1]
			if seen[q] {
				continue
			}
			seen[q] = true
			pt := &v.Graph.Points[q]
			switch {
			case q == cfg.Exit:
				out.edge(from, exitKey)
			case q == cfg.RaiseTo:
			case pt.Stmt != nil && f.known[pt.Stmt] && keyOf(pt.Stmt) != from:
				out.edge(from, keyOf(pt.Stmt))
			default:
				work = append(work, arcs(v, q, f.dropped)...)
			}
		}
	}
	for p := range v.Graph.Points {
		s := v.Graph.Points[p].Stmt
		switch {
		case p == cfg.Entry:
			for _, to := range arcs(v, p, f.dropped) {
				add(entryKey, to)
			}
		case s != nil && f.known[s] && live[p]:
			for _, to := range arcs(v, p, f.dropped) {
				add(keyOf(s), to)
			}
		}
	}
	chains := v.Chains
	if len(f.dropped) > 0 {
		chains = dataflow.Solve(without(v.Graph, f.dropped))
	}
	for _, x := range chains.Pairs {
		place := x.Def.Place
		name := v.Func.Vars[place.Var].Name
		if place.Path != "" || v.Func.Vars[place.Var].Scope != ir.Local || !f.want.regs[name] || !f.known[x.Use] {
			continue
		}
		if v.Func.Vars[place.Var].Shared || x.Def.Stmt == x.Use {
			continue
		}
		k := pair{name: name, use: keyOf(x.Use)}
		switch x.Def.Kind {
		case ir.DefUnbound, ir.DefCapture:
			continue
		case ir.DefParam:
			k.def = paramKey
		default:
			if x.Def.Stmt == nil || !f.known[x.Def.Stmt] {
				continue
			}
			k.def = keyOf(x.Def.Stmt)
		}
		out.pairs[k] = true
	}
	return out
}

// reachable tells which points the compared graph reaches: gcc drops the
// others, but for handlers, which exceptions enter.
func reachable(v *flow.View, dropped map[arc]bool) []bool {
	seen := make([]bool, len(v.Graph.Points))
	work := []int{cfg.Entry}
	for p := range v.Graph.Points {
		if s := v.Graph.Points[p].Stmt; s != nil && s.Kind == ir.KindHandler && v.Graph.Points[p].Live {
			work = append(work, p)
		}
	}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[p] {
			continue
		}
		seen[p] = true
		work = append(work, arcs(v, p, dropped)...)
	}
	return seen
}

func (g *graph) edge(from, to key) {
	if g.next[from] == nil {
		g.next[from] = map[key]bool{}
	}
	g.next[from][to] = true
}
