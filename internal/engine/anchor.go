package engine

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// anchor is what a line or site means in one view.
type anchor struct {
	stmt      *ir.Stmt
	signature bool // the def line, a decorator
	to        *ir.Stmt
	variable  string // of a def-use pair
	def, use  *ir.Stmt
	pair      bool
}

// lineAnchor finds what a line of a function means: the statement that covers
// it, the signature, or for a blank line, an else or a comment the nearest
// statement of the same arm. ok is false for a line outside the function.
func lineAnchor(v *flow.View, line int) (a anchor, ok bool) {
	whole := v.Decl.Kind == ir.FuncModule
	if !whole && (line < v.FirstLine() || line > v.Decl.EndLine+1) {
		return a, false
	}
	if s := v.StmtAt(line); s != nil {
		return anchor{stmt: s}, true
	}
	if !whole && line <= headerEnd(v) {
		return anchor{signature: true}, true
	}
	if len(v.Func.Stmts) == 0 {
		return anchor{signature: true}, true
	}
	return anchor{stmt: neighbour(v, line)}, true
}

// headerEnd is the last line of a function's header.
func headerEnd(v *flow.View) int {
	last := v.Decl.Line
	limit := v.Decl.EndLine
	if len(v.Func.Stmts) > 0 {
		limit = max(last, v.Func.Stmts[0].Line-1)
	}
	for l := last; l <= limit; l++ {
		text := strings.TrimSpace(v.File.Source.LineText(l))
		if i := strings.Index(text, "  #"); i >= 0 {
			text = strings.TrimSpace(text[:i])
		}
		if strings.HasSuffix(text, ":") || strings.HasSuffix(text, "{") {
			return l
		}
	}
	return last
}

// neighbour is the statement that a line without one stands at: the next one
// if it is as deep as the line or the line opens an arm, else the one before.
func neighbour(v *flow.View, line int) *ir.Stmt {
	var before, after *ir.Stmt
	for _, s := range v.Func.Stmts {
		if s.EndLine < line && (before == nil || s.Line >= before.Line) {
			before = s
		}
		if s.Line > line && (after == nil || s.Line < after.Line) {
			after = s
		}
	}
	switch {
	case before == nil:
		return after
	case after == nil:
		return before
	}
	text := v.File.Source.LineText(line)
	trimmed := strings.TrimSpace(text)
	if strings.HasSuffix(trimmed, ":") || strings.HasSuffix(trimmed, "{") {
		return after
	}
	if trimmed != "" {
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		if indent == after.Col {
			return after
		}
		if indent == before.Col {
			return before
		}
	}
	if before.Col == after.Col || line-before.EndLine >= after.Line-line {
		return after
	}
	return before
}

var (
	edgeSite = regexp.MustCompile(`^[Ll]?(\d+)[a-z]*\s*(?:->|→)\s*(?:[Ll]?(\d+)[a-z]*|exit|raise)$`)
	pairSite = regexp.MustCompile(`^(.+?)@(?:[Ll]?(\d+)|\?)\s*(?:->|→)\s*(?:[Ll]?(\d+)|\?)$`)
	lineSite = regexp.MustCompile(`^[Ll]?(?:ine )?(\d+)[a-z]?(?:-\d+)?$`)
)

// siteAnchor finds what a site means: a line, an edge, a def-use pair, or a
// piece of a statement's text. problem says why it means nothing.
func siteAnchor(v *flow.View, site string) (a anchor, problem string) {
	site = strings.TrimSpace(site)
	if m := lineSite.FindStringSubmatch(site); m != nil {
		n, _ := strconv.Atoi(m[1])
		a, ok := lineAnchor(v, n)
		if !ok {
			return a, fmt.Sprintf("line %d lies outside %s", n, v.Range())
		}
		return a, ""
	}
	if m := edgeSite.FindStringSubmatch(site); m != nil {
		return edgeAnchor(v, site, m)
	}
	if m := pairSite.FindStringSubmatch(site); m != nil {
		return pairAnchor(v, m)
	}
	needle := strings.Join(strings.Fields(site), " ")
	var hit *ir.Stmt
	n := 0
	for _, s := range v.Func.Stmts {
		if strings.Contains(strings.Join(strings.Fields(v.File.Source.Text(s.Span)), " "), needle) || strings.Contains(s.Text, needle) {
			n++
			if hit == nil {
				hit = s
			}
		}
	}
	switch {
	case needle == "" || n == 0:
		return a, "no statement holds that text"
	case n > 1:
		return a, fmt.Sprintf("%d statements hold that text; give a line", n)
	}
	return anchor{stmt: hit}, ""
}

func edgeAnchor(v *flow.View, site string, m []string) (a anchor, problem string) {
	from, _ := strconv.Atoi(m[1])
	s := v.StmtAt(from)
	if s == nil {
		return a, fmt.Sprintf("no statement begins or ends at line %d", from)
	}
	blk := v.Graph.Blocks[v.Graph.BlockOf[s.ID-1]]
	to := ""
	if i := strings.LastIndexAny(site, ">→"); i >= 0 {
		to = strings.Trim(site[i:], ">→ Ll\x92")
	}
	for _, e := range v.Graph.Edges {
		if e.From != blk.ID {
			continue
		}
		target := e.To
		if e.ToStmt != nil {
			target = strconv.Itoa(e.ToStmt.Line)
		}
		if target == to || e.To == to {
			return anchor{stmt: blk.Last(), to: e.ToStmt}, ""
		}
	}
	return a, fmt.Sprintf("no edge leads from the block of line %d to %s", from, to)
}

func pairAnchor(v *flow.View, m []string) (a anchor, problem string) {
	a.pair, a.variable = true, strings.TrimSpace(m[1])
	if m[2] != "" {
		n, _ := strconv.Atoi(m[2])
		atParam := func(p ir.Param) bool { return p.Line == n }
		if a.def = v.StmtAt(n); a.def == nil && n != v.Decl.Line && !slices.ContainsFunc(v.Func.Params, atParam) {
			return a, fmt.Sprintf("no statement at line %d", n)
		}
	}
	if m[3] != "" {
		n, _ := strconv.Atoi(m[3])
		if a.use = v.StmtAt(n); a.use == nil {
			return a, fmt.Sprintf("no statement at line %d", n)
		}
	}
	a.stmt = a.use
	if a.stmt == nil {
		a.stmt = a.def
	}
	known := false
	for i := range v.Func.Vars {
		rest, ok := strings.CutPrefix(strings.TrimLeft(a.variable, "*"), v.Func.Vars[i].Name)
		known = known || ok && (rest == "" || strings.ContainsAny(rest[:1], ".[*") || strings.HasPrefix(rest, "->"))
	}
	if !known && (a.def != nil && a.use != nil) {
		return a, "no variable " + a.variable + " in the function"
	}
	return a, ""
}

// nearestSites lists the statements that a wrong site may have meant.
func nearestSites(v *flow.View, site string) []*ir.Stmt {
	line := 0
	if m := regexp.MustCompile(`\d+`).FindString(site); m != "" {
		line, _ = strconv.Atoi(m)
	}
	want := map[string]bool{}
	for _, w := range strings.FieldsFunc(site, func(r rune) bool { return !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') }) {
		want[w] = true
	}
	score := func(s *ir.Stmt) int {
		n := 0
		for w := range want {
			if strings.Contains(s.Text, w) {
				n += 1000
			}
		}
		if line > 0 {
			n -= max(s.Line-line, line-s.Line)
		}
		return n
	}
	all := append([]*ir.Stmt(nil), v.Func.Stmts...)
	sort.SliceStable(all, func(i, j int) bool { return score(all[i]) > score(all[j]) })
	return all[:min(3, len(all))]
}

// stmtLine is a statement as a reply cites it.
func stmtLine(v *flow.View, s *ir.Stmt) string {
	return fmt.Sprintf("%d %s", s.Line, oneLine(v.File.Source.Text(s.Span), 60))
}

// shownView is the function as the session last saw it: in the file it was
// shown, else as it is in the work tree.
func (t *tree) shownView(ctx context.Context, work *flow.View) *flow.View {
	t.mu.Lock()
	s, ok := t.shown[work.File.Source.Path]
	t.mu.Unlock()
	if ok {
		if v := view(s.file, flow.Name(work.Decl)); v != nil {
			return v
		}
	}
	return work
}

// toHead maps a statement of what was shown to HEAD: its pair, else the
// nearest statement before it that has one.
func toHead(d *delta.Delta, v *flow.View, s *ir.Stmt) *ir.Stmt {
	if s == nil {
		return nil
	}
	for i := s.ID - 1; i >= 0; i-- {
		if h := d.ToHead[v.Func.Stmts[i]]; h != nil {
			return h
		}
	}
	for i := s.ID; i < len(v.Func.Stmts); i++ {
		if h := d.ToHead[v.Func.Stmts[i]]; h != nil {
			return h
		}
	}
	return nil
}

// mapToHead carries an anchor of the shown text over to HEAD.
func mapToHead(a anchor, shown, head *flow.View) anchor {
	if shown == head || shown.File == head.File {
		return a
	}
	d := delta.Diff(head, shown)
	a.stmt, a.to, a.def, a.use = toHead(d, shown, a.stmt), toHead(d, shown, a.to), toHead(d, shown, a.def), toHead(d, shown, a.use)
	return a
}
