package delta_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/ir"
)

// The names that mutators bring in are in no real function.
const (
	newCond = "zz_ready(zz_a)"
	newCall = "zz_note(zz_b)"
)

// mutators is every kind of edit. Each states the operation that the
// definitions give it, not what Diff happens to say.
var mutators = []mutator{
	{"guard return", guardWith("return None", false)},
	{"guard raise", guardWith("raise ValueError(zz_a)", false)},
	{"guard continue", guardWith("continue", true)},
	{"guard break", guardWith("break", true)},
	{"wrap in if", wrapIn("if "+newCond+":", delta.AddGuard, newCond)},
	{"wrap in while", wrapIn("while "+newCond+":", delta.AddLoop, newCond)},
	{"wrap in for", wrapIn("for zz_i in zz_all:", delta.AddLoop, "")},
	{"wrap in with", wrapIn("with zz_lock:", delta.AddHandler, "")},
	{"wrap in try", wrapInTry},
	{"unwrap if", unwrapIf},
	{"drop if", dropIf},
	{"drop else", dropElse},
	{"drop elif", dropElif},
	{"add elif", addElif},
	{"add else", addElse},
	{"add case", addCase},
	{"negate", condition(func(c string) string { return "not (" + c + ")" })},
	{"strengthen", condition(func(c string) string { return "(" + c + ") and " + newCond })},
	{"weaken", condition(func(c string) string { return "(" + c + ") or " + newCond })},
	{"merge ifs", mergeIfs},
	{"swap break and continue", swapJump},
	{"return for raise", returnForRaise},
	{"add return", addReturn},
	{"drop return", dropReturn},
	{"reorder", reorder},
	{"move into arm", moveIn},
	{"move out of arm", moveOut},
	{"loop to comprehension", toComprehension},
	{"add handler", addHandler},
	{"drop handler", dropHandler},
	{"widen handler", widenHandler},
	{"add finally", addFinally},
	{"rename local", renameLocal},
	{"change constant", changeText(regexp.MustCompile(`\b\d+\b`), "987654")},
	{"change callee", changeText(regexp.MustCompile(`\b[a-z_]+\(`), "zz_call(")},
	{"insert plain", insertPlain},
	{"delete plain", deletePlain},
	{"replace plain", replacePlain},
	{"inline condition", inlineCondition},
	{"add assert", addAssert},
	{"drop assert", dropAssert},
	{"add parameter", addParameter},
}

func guardWith(jump string, inLoop bool) func(*subject, *rand.Rand) *mutation {
	return func(s *subject, r *rand.Rand) *mutation {
		it, ok := pick(r, s.where(func(it *item) bool { return !s.elif(it) && (!inLoop || it.loop) }))
		if !ok {
			return nil
		}
		return &mutation{
			lines:    splice(s.lines, it.from, it.from-1, it.indent+"if "+newCond+":", it.indent+"    "+jump),
			expected: []expectation{{delta.AddGuard, newCond, firstLine(it)}},
		}
	}
}

// firstLine is the line of the first statement of an item.
func firstLine(it *item) int {
	if it.s != nil {
		return it.s.Line
	}
	return firstLine(it.kids["body"][0])
}

// run picks some neighbours of one sequence.
func (s *subject) run(r *rand.Rand) []*item {
	it, ok := pick(r, s.where(func(it *item) bool { return !s.elif(it) }))
	if !ok {
		return nil
	}
	n := 1 + r.IntN(3)
	run := it.seq[it.at:min(len(it.seq), it.at+n)]
	if it.arm == "else" && len(run) == len(it.seq) {
		return nil // `else: if c:` is an elif
	}
	if slices.ContainsFunc(run, s.elif) {
		return nil
	}
	return run
}

// binds reports whether a break or continue among these items aims at a loop
// around them: a loop put around them would catch it.
func binds(items []*item, loop bool) bool {
	for _, it := range items {
		if it.s != nil && (it.s.Kind == ir.KindBreak || it.s.Kind == ir.KindContinue) && !loop {
			return true
		}
		for name, kids := range it.kids {
			if binds(kids, loop || isLoopNode(it.node) && name == "body") {
				return true
			}
		}
	}
	return false
}

func wrapIn(header string, kind delta.Kind, cond string) func(*subject, *rand.Rand) *mutation {
	return func(s *subject, r *rand.Rand) *mutation {
		run := s.run(r)
		if run == nil || kind == delta.AddLoop && binds(run, false) {
			return nil
		}
		from, to := run[0].from, run[len(run)-1].to
		with := append([]string{run[0].indent + header}, indented(s.lines[from-1:to], "    ")...)
		return &mutation{lines: splice(s.lines, from, to, with...), expected: []expectation{{kind, cond, firstLine(run[0])}}}
	}
}

func wrapInTry(s *subject, r *rand.Rand) *mutation {
	run := s.run(r)
	if run == nil {
		return nil
	}
	from, to := run[0].from, run[len(run)-1].to
	ind := run[0].indent
	with := append([]string{ind + "try:"}, indented(s.lines[from-1:to], "    ")...)
	with = append(with, ind+"except ZzError:", ind+"    "+newCall)
	return &mutation{lines: splice(s.lines, from, to, with...), expected: []expectation{{delta.AddHandler, "", firstLine(run[0])}}}
}

func unwrapIf(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { return s.single(it) && s.headed(it) }))
	if !ok {
		return nil
	}
	then := it.kids["then"]
	body := dedented(s.lines[it.s.EndLine:it.to], len(s.inner(then))-len(it.indent))
	if it.s.EndLine+1 > then[0].from && then[0].from != it.s.EndLine+1 {
		return nil
	}
	m := &mutation{lines: splice(s.lines, it.from, it.to, body...), expected: []expectation{{delta.RemoveGuard, it.s.Condition(), it.s.Line}}}
	if !ir.Completes(it.node.(*ir.If).Then) && it.at+1 < len(it.seq) {
		return nil // what follows is dead then
	}
	return m
}

func dropIf(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { return s.single(it) && len(it.seq) > 1 }))
	if !ok {
		return nil
	}
	kind := delta.RemoveBranch
	if leaves(it.kids["then"], false) || callsOut(it.kids["then"]) {
		kind = delta.RemoveGuard
	}
	return &mutation{lines: splice(s.lines, it.from, it.to), expected: []expectation{{kind, it.s.Condition(), it.s.Line}}}
}

// callsOut reports whether a call among these items may be one that never
// comes back.
func callsOut(items []*item) bool {
	for _, it := range items {
		if it.s != nil && (it.s.Callee == "sys.exit" || it.s.Callee == "exit" || it.s.Callee == "quit" || it.s.Callee == "os._exit") {
			return true
		}
		for _, kids := range it.kids {
			if callsOut(kids) {
				return true
			}
		}
	}
	return false
}

// elseLine is the line of the else of an if, 0 where there is none of its own.
func (s *subject) elseLine(it *item, arm string) int {
	kids := it.kids[arm]
	if len(kids) == 0 || s.elif(kids[0]) {
		return 0
	}
	for l := kids[0].from - 1; l > it.s.EndLine; l-- {
		if strings.TrimSpace(s.lines[l-1]) == "else:" {
			return l
		}
	}
	return 0
}

func dropElse(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		_, is := it.node.(*ir.If)
		return is && s.elseLine(it, "else") > 0
	}))
	if !ok {
		return nil
	}
	return &mutation{lines: splice(s.lines, s.elseLine(it, "else"), it.to), expected: []expectation{{delta.RemoveBranch, "", firstLine(it.kids["else"][0])}}}
}

func dropElif(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		n, is := it.node.(*ir.If)
		return is && n.ElseIf && strings.HasPrefix(strings.TrimSpace(s.lines[it.s.Line-1]), "elif")
	}))
	if !ok {
		return nil
	}
	then := it.kids["then"]
	return &mutation{lines: splice(s.lines, it.from, then[len(then)-1].to), expected: []expectation{{delta.RemoveBranch, it.s.Condition(), it.s.Line}}}
}

func addElif(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { _, is := it.node.(*ir.If); return is && s.headed(it) }))
	if !ok {
		return nil
	}
	then := it.kids["then"]
	end := then[len(then)-1].to
	ind := s.lines[it.s.Line-1][:leading(s.lines[it.s.Line-1])]
	return &mutation{lines: splice(s.lines, end+1, end, ind+"elif "+newCond+":", ind+"    "+newCall), expected: []expectation{{delta.AddBranch, newCond, it.s.Line}}}
}

func addElse(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		n, is := it.node.(*ir.If)
		return is && len(n.Else) == 0 && s.headed(it)
	}))
	if !ok {
		return nil
	}
	ind := s.lines[it.s.Line-1][:leading(s.lines[it.s.Line-1])]
	return &mutation{lines: splice(s.lines, it.to+1, it.to, ind+"else:", ind+"    "+newCall), expected: []expectation{{delta.AddBranch, "", it.to}}}
}

func addCase(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { _, is := it.node.(*ir.Match); return is }))
	if !ok {
		return nil
	}
	first := it.node.(*ir.Match).Cases[0].S
	ind := s.lines[first.Line-1][:leading(s.lines[first.Line-1])]
	return &mutation{lines: splice(s.lines, first.Line, first.Line-1, ind+"case ZzPoint():", ind+"    "+newCall), expected: []expectation{{delta.AddBranch, "", first.Line}}}
}

func condition(change func(string) string) func(*subject, *rand.Rand) *mutation {
	return func(s *subject, r *rand.Rand) *mutation {
		it, ok := pick(r, s.where(func(it *item) bool {
			return s.headed(it) && (it.s.Kind == ir.KindIf || it.s.Kind == ir.KindWhile)
		}))
		if !ok {
			return nil
		}
		line := s.lines[it.s.Line-1]
		text := strings.TrimSuffix(strings.TrimRight(line, " "), ":")
		word, cond, ok := strings.Cut(strings.TrimSpace(text), " ")
		if !ok || word != "if" && word != "elif" && word != "while" || cond == "True" || cond == "1" || cond == "0" || cond == "False" {
			return nil
		}
		changed := change(cond)
		return &mutation{
			lines:    splice(s.lines, it.s.Line, it.s.Line, line[:leading(line)]+word+" "+changed+":"),
			expected: []expectation{{delta.ChangeCondition, changed, it.s.Line}},
		}
	}
}

func mergeIfs(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		then := it.kids["then"]
		return s.single(it) && s.headed(it) && len(then) == 1 && s.single(then[0]) && s.headed(then[0])
	}))
	if !ok {
		return nil
	}
	in := it.kids["then"][0]
	header := func(x *item) string {
		return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s.lines[x.s.Line-1]), "if "), ":")
	}
	merged := "(" + header(it) + ") and (" + header(in) + ")"
	body := dedented(s.lines[in.s.Line:in.to], len(in.indent)-len(it.indent))
	with := append([]string{it.indent + "if " + merged + ":"}, body...)
	return &mutation{lines: splice(s.lines, it.from, in.to, with...), expected: []expectation{{delta.ChangeCondition, merged, it.s.Line}}}
}

func swapJump(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		return it.s != nil && (it.s.Kind == ir.KindBreak || it.s.Kind == ir.KindContinue)
	}))
	if !ok {
		return nil
	}
	word := "break"
	if it.s.Kind == ir.KindBreak {
		word = "continue"
	}
	return &mutation{lines: splice(s.lines, it.from, it.to, it.indent+word), expected: []expectation{{delta.RewireEdge, "", it.from}}}
}

func returnForRaise(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { return it.s != nil && it.s.Kind == ir.KindRaise }))
	if !ok {
		return nil
	}
	return &mutation{lines: splice(s.lines, it.from, it.to, it.indent+"return None"), expected: []expectation{{delta.RewireEdge, "", it.from}}}
}

func addReturn(s *subject, r *rand.Rand) *mutation {
	if !ir.Completes(s.view.Func.Body) {
		return nil
	}
	top := s.where(func(it *item) bool { return it.owner == nil })
	last := top[len(top)-1]
	return &mutation{lines: splice(s.lines, last.to+1, last.to, last.indent+"return zz_b"), expected: []expectation{{delta.RewireEdge, "", 0}}}
}

func dropReturn(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		return it.s != nil && it.s.Kind == ir.KindReturn && len(it.seq) > 1 && it.at == len(it.seq)-1
	}))
	if !ok {
		return nil
	}
	return &mutation{lines: splice(s.lines, it.from, it.to), expected: []expectation{{delta.RewireEdge, "", it.from}}}
}

func reorder(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		return it.plain() && it.at+1 < len(it.seq) && it.seq[it.at+1].plain() && it.s.Text != it.seq[it.at+1].s.Text
	}))
	if !ok {
		return nil
	}
	next := it.seq[it.at+1]
	with := append(slices.Clone(s.stem(next)), s.stem(it)...)
	return &mutation{lines: splice(s.lines, it.from, next.to, with...), expected: []expectation{{delta.ChangeBlock, "", it.from}}}
}

// distinct reports whether no other statement of the function has its text.
func (s *subject) distinct(it *item) bool {
	n := 0
	for _, st := range s.view.Func.Stmts {
		if st.Text == it.s.Text {
			n++
		}
	}
	return n == 1
}

func moveIn(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		if !it.plain() || !s.distinct(it) || len(it.s.Text) < 6 || it.at+1 >= len(it.seq) || it.at == 0 {
			return false
		}
		next := it.seq[it.at+1]
		return next.s != nil && s.headed(next) && len(next.kids["then"]) > 0
	}))
	if !ok {
		return nil
	}
	next := it.seq[it.at+1]
	inner := s.inner(next.kids["then"])
	with := []string{s.lines[next.from-1]}
	for _, l := range s.stem(it) {
		with = append(with, inner+strings.TrimPrefix(l, it.indent))
	}
	if next.from != it.to+1 || next.s.EndLine != next.from {
		return nil
	}
	return &mutation{lines: splice(s.lines, it.from, next.from, with...), expected: []expectation{{delta.RewireEdge, "", it.from}}}
}

func moveOut(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		return it.plain() && s.distinct(it) && len(it.s.Text) >= 6 && len(it.seq) > 1 && it.at == 0 && it.owner != nil && it.arm == "then" &&
			!s.elif(it.owner) && s.headed(it.owner) && it.owner.s.Line+1 == it.from
	}))
	if !ok {
		return nil
	}
	own := it.owner
	var with []string
	for _, l := range s.stem(it) {
		with = append(with, own.indent+strings.TrimPrefix(l, it.indent))
	}
	with = append(with, s.lines[own.from-1])
	return &mutation{lines: splice(s.lines, own.from, it.to, with...), expected: []expectation{{delta.RewireEdge, "", it.from}}}
}

var appending = regexp.MustCompile(`^(\w+)\.append\((.+)\)$`)

func toComprehension(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		n, is := it.node.(*ir.Loop)
		body := it.kids["body"]
		return is && n.Kind == ir.Foreach && s.headed(it) && len(n.Else) == 0 && len(body) == 1 && body[0].s != nil && body[0].from == body[0].to &&
			appending.MatchString(strings.TrimSpace(s.lines[body[0].from-1])) && !strings.HasPrefix(strings.TrimSpace(s.lines[it.from-1]), "async")
	}))
	if !ok {
		return nil
	}
	m := appending.FindStringSubmatch(strings.TrimSpace(s.lines[it.kids["body"][0].from-1]))
	header := strings.TrimSuffix(strings.TrimSpace(s.lines[it.from-1]), ":")
	return &mutation{
		lines:    splice(s.lines, it.from, it.to, fmt.Sprintf("%s%s.extend([%s %s])", it.indent, m[1], m[2], header)),
		expected: []expectation{{delta.RemoveLoop, "", it.from}, {delta.ChangeBlock, "", it.from}},
	}
}

func (s *subject) tries(ok func(*item, *ir.Try) bool) []*item {
	return s.where(func(it *item) bool {
		n, is := it.node.(*ir.Try)
		return is && ok(it, n)
	})
}

func addHandler(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.tries(func(_ *item, n *ir.Try) bool { return len(n.Handlers) > 0 && !n.Group }))
	if !ok {
		return nil
	}
	first := it.node.(*ir.Try).Handlers[0].S
	return &mutation{
		lines:    splice(s.lines, first.Line, first.Line-1, it.indent+"except ZzError:", it.indent+"    "+newCall),
		expected: []expectation{{delta.AddHandler, "", first.Line}},
	}
}

func dropHandler(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.tries(func(_ *item, n *ir.Try) bool { return len(n.Handlers) > 1 }))
	if !ok {
		return nil
	}
	n := it.node.(*ir.Try)
	i := r.IntN(len(n.Handlers) - 1)
	return &mutation{
		lines:    splice(s.lines, n.Handlers[i].S.Line, n.Handlers[i+1].S.Line-1),
		expected: []expectation{{delta.RemoveHandler, "", n.Handlers[i].S.Line}},
	}
}

var excepts = regexp.MustCompile(`^(\s*)except (\w+)( as \w+)?:$`)

func widenHandler(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.tries(func(_ *item, n *ir.Try) bool { return len(n.Handlers) > 0 && !n.Group }))
	if !ok {
		return nil
	}
	h, _ := pick(r, it.node.(*ir.Try).Handlers)
	m := excepts.FindStringSubmatch(s.lines[h.S.Line-1])
	if m == nil {
		return nil
	}
	return &mutation{
		lines:    splice(s.lines, h.S.Line, h.S.Line, fmt.Sprintf("%sexcept (%s, ZzError)%s:", m[1], m[2], m[3])),
		expected: []expectation{{delta.ChangeHandler, "", h.S.Line}},
	}
}

func addFinally(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.tries(func(_ *item, n *ir.Try) bool { return len(n.Finally) == 0 }))
	if !ok {
		return nil
	}
	return &mutation{
		lines:    splice(s.lines, it.to+1, it.to, it.indent+"finally:", it.indent+"    "+newCall),
		expected: []expectation{{delta.AddHandler, "", it.to}},
	}
}

func renameLocal(s *subject, r *rand.Rand) *mutation {
	var names []string
	text := strings.Join(s.lines, "\n")
	for _, v := range s.view.Func.Vars {
		if v.Scope == ir.Local && !v.Shared && len(v.Name) > 1 && !strings.Contains(text, v.Name+"=") && !strings.Contains(text, "."+v.Name) &&
			!strings.Contains(text, `"`+v.Name) && !strings.Contains(text, "'"+v.Name) && !strings.Contains(text, "{"+v.Name) {
			names = append(names, v.Name)
		}
	}
	name, ok := pick(r, names)
	if !ok || strings.ContainsAny(text, `"'`) && strings.Contains(text, name) && regexp.MustCompile(`["'][^"'\n]*\b`+name+`\b`).MatchString(text) {
		return nil
	}
	out := regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(text, "zz_renamed")
	return &mutation{lines: strings.Split(out, "\n"), content: true}
}

func changeText(what *regexp.Regexp, with string) func(*subject, *rand.Rand) *mutation {
	return func(s *subject, r *rand.Rand) *mutation {
		it, ok := pick(r, s.where(func(it *item) bool {
			return it.plain() && it.from == it.to && !strings.ContainsAny(s.lines[it.from-1], `'"#`) && what.MatchString(s.lines[it.from-1])
		}))
		if !ok {
			return nil
		}
		done := false
		line := what.ReplaceAllStringFunc(s.lines[it.from-1], func(m string) string {
			if done {
				return m
			}
			done = true
			return with
		})
		return &mutation{lines: splice(s.lines, it.from, it.to, line), expected: []expectation{{delta.ChangeBlock, "", it.from}}}
	}
}

func insertPlain(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { return !s.elif(it) }))
	if !ok {
		return nil
	}
	return &mutation{lines: splice(s.lines, it.from, it.from-1, it.indent+newCall), expected: []expectation{{delta.ChangeBlock, "", firstLine(it)}}}
}

func deletePlain(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { return it.plain() && len(it.seq) > 1 }))
	if !ok {
		return nil
	}
	return &mutation{lines: splice(s.lines, it.from, it.to), expected: []expectation{{delta.ChangeBlock, "", it.from}}}
}

func replacePlain(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { return it.plain() }))
	if !ok {
		return nil
	}
	return &mutation{lines: splice(s.lines, it.from, it.to, it.indent+newCall), expected: []expectation{{delta.ChangeBlock, "", it.from}}}
}

func inlineCondition(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool {
		return it.plain() && it.s.Kind == ir.KindAssign && it.from == it.to && !strings.Contains(s.lines[it.from-1], "#") && !strings.Contains(it.s.Text, "yield")
	}))
	if !ok {
		return nil
	}
	return &mutation{
		lines:    splice(s.lines, it.from, it.to, s.lines[it.from-1]+" if "+newCond+" else None"),
		expected: []expectation{{delta.ChangeBlock, "", it.from}},
	}
}

func addAssert(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { return !s.elif(it) }))
	if !ok {
		return nil
	}
	return &mutation{lines: splice(s.lines, it.from, it.from-1, it.indent+"assert "+newCond), expected: []expectation{{delta.ChangeBlock, "", firstLine(it)}}}
}

func dropAssert(s *subject, r *rand.Rand) *mutation {
	it, ok := pick(r, s.where(func(it *item) bool { _, is := it.node.(*ir.Assert); return is && len(it.seq) > 1 }))
	if !ok {
		return nil
	}
	return &mutation{lines: splice(s.lines, it.from, it.to), expected: []expectation{{delta.ChangeBlock, "", it.from}}}
}

var header = regexp.MustCompile(`^((?:async )?def \w+)\((.*)\)(\s*->.*)?:$`)

func addParameter(s *subject, r *rand.Rand) *mutation {
	line := s.view.Decl.Line
	m := header.FindStringSubmatch(s.lines[line-1])
	if m == nil || strings.Contains(m[2], "**") {
		return nil
	}
	params := m[2]
	if params != "" {
		params += ", "
	}
	return &mutation{
		lines:    splice(s.lines, line, line, m[1]+"("+params+"zz_p=None)"+m[3]+":"),
		expected: []expectation{{delta.ChangeSignature, "", 0}},
	}
}
