// Package plan holds what an agent means to do: planned deltas, the table of
// operations and of what else is accepted for each, and Grade, which compares
// a function's planned deltas with the observed ones.
//
// It finds nothing in files and keeps nothing: the engine resolves a plan's
// lines, the ledger keeps it.
//
//	planned  add_guard at 14, condition `y is None`
//	observed add_guard before 14, condition `y is None`   -> exact
//	observed change_condition on 14                       -> same_family
//	observed add_loop on 40                               -> mismatch
package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/ir"
)

// Delta is a planned delta as an agent states it.
type Delta struct {
	Function  string `json:"function"`
	Op        string `json:"op"`
	Line      int    `json:"line,omitempty"`
	Site      string `json:"site,omitempty"`
	Place     string `json:"place,omitempty"`
	Condition string `json:"condition,omitempty"`
	To        string `json:"to,omitempty"`
}

// Operation is a row of the table of operations.
type Operation struct {
	Kind    delta.Kind
	Meaning string
	Line    bool // needs a line, a site or a place
	// Accepts lists what is graded same_family in the region, besides the
	// operation itself with another condition or elsewhere in the function.
	Accepts []Accepted
}

// Accepted is an observed operation that another planned one covers; When, if
// not nil, narrows it to some forms, as Note says.
type Accepted struct {
	Kind delta.Kind
	Note string
	When func(o *delta.Op, d *delta.Delta, anchor *ir.Stmt) bool
}

func kinds(list ...delta.Kind) []Accepted {
	var out []Accepted
	for _, k := range list {
		out = append(out, Accepted{Kind: k})
	}
	return out
}

func join(lists ...[]Accepted) []Accepted {
	var out []Accepted
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// Operations is the table, in the order in which it is printed.
func Operations() []Operation {
	guards := kinds(delta.AddGuard, delta.AddBranch, delta.RemoveGuard, delta.RemoveBranch)
	block := func(note string, when func(*delta.Op, *delta.Delta, *ir.Stmt) bool) []Accepted {
		return []Accepted{{delta.ChangeBlock, note, when}}
	}
	addsCondition := block("that adds an inline condition or an assert", func(o *delta.Op, _ *delta.Delta, _ *ir.Stmt) bool { return conditions(&o.Work) > conditions(&o.Head) })
	dropsCondition := block("that drops an inline condition or an assert", func(o *delta.Op, _ *delta.Delta, _ *ir.Stmt) bool { return conditions(&o.Head) > conditions(&o.Work) })
	addsIteration := block("that turned an expression into an iteration", func(o *delta.Op, _ *delta.Delta, _ *ir.Stmt) bool { return iterations(&o.Work) > iterations(&o.Head) })
	dropsIteration := block("that turned an iteration into an expression", func(o *delta.Op, _ *delta.Delta, _ *ir.Stmt) bool { return iterations(&o.Head) > iterations(&o.Work) })
	onLoop := func(o *delta.Op, _ *delta.Delta, _ *ir.Stmt) bool {
		return isLoop(o.Head.Anchor) || isLoop(o.Work.Anchor)
	}
	data := kinds(delta.AddDefUse, delta.RemoveDefUse, delta.MoveDefUse)
	return []Operation{
		{delta.AddGuard, "a new condition one arm of which leaves (return, raise, break, continue, exit), or that wraps existing statements and has no other arm", true,
			join(kinds(delta.AddBranch, delta.ChangeCondition, delta.RewireEdge, delta.AddHandler, delta.AddLoop), addsCondition)},
		{delta.RemoveGuard, "such a condition is gone", true,
			join(kinds(delta.RemoveBranch, delta.ChangeCondition, delta.RewireEdge), dropsCondition)},
		{delta.AddBranch, "a new arm (elif, else, case) of an existing if, switch or match, or a new condition that is no guard", true,
			join(kinds(delta.AddGuard, delta.ChangeCondition, delta.RewireEdge, delta.AddHandler, delta.AddLoop), addsCondition)},
		{delta.RemoveBranch, "such an arm or condition is gone", true,
			join(kinds(delta.RemoveGuard, delta.ChangeCondition, delta.RewireEdge), dropsCondition)},
		{delta.ChangeCondition, "the condition of an existing if, loop or case is another", true,
			join(guards, kinds(delta.RewireEdge), block("on a definition or inline condition that feeds it", feeds))},
		{delta.AddLoop, "a new loop around new or existing statements", true,
			join(kinds(delta.AddBranch, delta.RewireEdge), []Accepted{{delta.ChangeCondition, "on a loop header", onLoop}}, addsIteration)},
		{delta.RemoveLoop, "a loop is gone", true,
			join(kinds(delta.RemoveBranch, delta.RewireEdge), []Accepted{{delta.ChangeCondition, "on a loop header", onLoop}}, dropsIteration)},
		{delta.AddHandler, "a new try, with or defer, or a new except, else or finally of an existing try", true, kinds(delta.ChangeHandler, delta.AddGuard)},
		{delta.RemoveHandler, "such a construct or clause is gone", true, kinds(delta.ChangeHandler, delta.RewireEdge, delta.AddGuard)},
		{delta.ChangeHandler, "a handler catches another type, a with or defer holds another resource", true, kinds(delta.AddHandler, delta.RemoveHandler, delta.AddGuard)},
		{delta.RewireEdge, "an existing statement goes elsewhere: another jump or target, a jump added or dropped, a statement moved into or out of an arm, loop or handler", true,
			join(kinds(delta.ChangeCondition), guards, kinds(delta.ChangeBlock))},
		{delta.ChangeBlock, "plain statements added, removed, rewritten or reordered; control unchanged there", true,
			join(kinds(delta.ChangeSignature), []Accepted{{delta.RewireEdge, "where a plain statement moved, or became or lost a jump", plainMoved}}, data)},
		{delta.NoFlowChange, "the text at the anchor changes and the flow of its block does not", true, nil},
		{delta.ChangeSignature, "parameters, defaults, decorators or return annotation change", false, nil},
		{delta.AddDefUse, "a definition newly reaches a use: `x@12->20`, `x@12->?`, `x@?->20`, or place and line", true, join(kinds(delta.RemoveDefUse, delta.MoveDefUse), kinds(delta.ChangeBlock))},
		{delta.RemoveDefUse, "a definition no longer reaches a use", true, join(kinds(delta.AddDefUse, delta.MoveDefUse), kinds(delta.ChangeBlock))},
		{delta.MoveDefUse, "a use is reached by another definition, or a definition reaches another use", true, join(kinds(delta.AddDefUse, delta.RemoveDefUse), kinds(delta.ChangeBlock))},
		{delta.AddFunction, "a function that HEAD lacks", false, nil},
		{delta.RemoveFunction, "a function of HEAD is gone", false, nil},
		{delta.RenameFunction, "a function goes on under another name, class or file, given in `to`; plan changes of its body under the old name", false, nil},
	}
}

// plainMoved reports whether a plain statement is among those that an
// operation moved or turned into a jump, or a jump came or went among them: not
// where one jump became another.
func plainMoved(o *delta.Op, _ *delta.Delta, _ *ir.Stmt) bool {
	if len(o.Head.Stmts) == 0 || len(o.Work.Stmts) == 0 {
		return true
	}
	for _, side := range []*delta.Side{&o.Head, &o.Work} {
		for _, s := range side.Stmts {
			switch s.Kind {
			case ir.KindReturn, ir.KindRaise, ir.KindBreak, ir.KindContinue, ir.KindGoto, ir.KindFallthrough:
			default:
				return true
			}
		}
	}
	return false
}

// conditions counts the inline conditions and asserts of a side's statements.
func conditions(s *delta.Side) int {
	n := 0
	for _, st := range s.Stmts {
		if st.Kind == ir.KindAssert {
			n++
		}
		for _, w := range strings.FieldsFunc(st.Text, func(r rune) bool { return r == ' ' || r == '(' || r == '[' || r == '{' || r == ',' }) {
			switch w {
			case "if", "and", "or", "&&", "||", "?":
				n++
			}
		}
	}
	return n
}

// iterations counts the comprehensions of a side's statements.
func iterations(s *delta.Side) int {
	n := 0
	for _, st := range s.Stmts {
		n += strings.Count(st.Text, " for ")
	}
	return n
}

func isLoop(s *ir.Stmt) bool {
	if s == nil {
		return false
	}
	switch s.Kind {
	case ir.KindWhile, ir.KindFor, ir.KindForeach, ir.KindDo:
		return true
	}
	return false
}

// feeds reports whether a changed statement defines something that the anchor
// uses, or is itself at the anchor.
func feeds(o *delta.Op, d *delta.Delta, anchor *ir.Stmt) bool {
	if anchor == nil {
		return false
	}
	in := map[*ir.Stmt]bool{}
	for _, s := range o.Head.Stmts {
		in[s] = true
		if s == anchor {
			return true
		}
	}
	for _, p := range d.Head.Chains.Pairs {
		if p.Use == anchor && in[p.Def.Stmt] {
			return true
		}
	}
	now := map[*ir.Stmt]bool{}
	for _, s := range o.Work.Stmts {
		now[s] = true
	}
	for _, p := range d.Work.Chains.Pairs {
		if p.Use == d.ToWork[anchor] && p.Use != nil && now[p.Def.Stmt] {
			return true
		}
	}
	return false
}

// Lookup finds an operation by the name that an agent gave it, in any case and
// with common other words for it; ok is false when nothing fits, and then
// nearest is the closest name.
func Lookup(name string) (op Operation, ok bool, nearest string) {
	key := strings.ToLower(strings.TrimSpace(name))
	key = strings.NewReplacer("-", "_", " ", "_").Replace(key)
	if s, found := synonyms[key]; found {
		key = string(s)
	}
	best := 1 << 30
	for _, o := range Operations() {
		if string(o.Kind) == key {
			return o, true, key
		}
		if dist := distance(key, string(o.Kind)); dist < best {
			best, nearest = dist, string(o.Kind)
		}
	}
	return Operation{}, false, nearest
}

// synonyms are other words for the operations, each of one meaning only.
var synonyms = map[string]delta.Kind{
	"insert_guard": delta.AddGuard, "new_guard": delta.AddGuard, "delete_guard": delta.RemoveGuard, "drop_guard": delta.RemoveGuard,
	"insert_branch": delta.AddBranch, "delete_branch": delta.RemoveBranch, "drop_branch": delta.RemoveBranch,
	"modify_condition": delta.ChangeCondition, "edit_condition": delta.ChangeCondition, "update_condition": delta.ChangeCondition,
	"insert_loop": delta.AddLoop, "delete_loop": delta.RemoveLoop, "drop_loop": delta.RemoveLoop,
	"insert_handler": delta.AddHandler, "delete_handler": delta.RemoveHandler, "drop_handler": delta.RemoveHandler, "modify_handler": delta.ChangeHandler,
	"redirect_edge": delta.RewireEdge, "change_edge": delta.RewireEdge, "rewire": delta.RewireEdge,
	"modify_block": delta.ChangeBlock, "edit_block": delta.ChangeBlock, "change_statement": delta.ChangeBlock, "update_block": delta.ChangeBlock,
	"modify_signature": delta.ChangeSignature, "edit_signature": delta.ChangeSignature, "update_signature": delta.ChangeSignature,
	"new_function": delta.AddFunction, "delete_function": delta.RemoveFunction, "drop_function": delta.RemoveFunction, "move_function": delta.RenameFunction,
	"insert_def_use": delta.AddDefUse, "delete_def_use": delta.RemoveDefUse, "drop_def_use": delta.RemoveDefUse, "change_def_use": delta.MoveDefUse,
	"no_change": delta.NoFlowChange, "text_change": delta.NoFlowChange,
}

// distance is the Levenshtein distance of two short words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// Parse reads planned deltas as an agent sends them: an array, one object, or
// either as a JSON string; numbers as strings; keys in any case. Unknown keys
// are named in notes.
func Parse(raw json.RawMessage) (deltas []Delta, notes []string, err error) {
	raw = json.RawMessage(strings.TrimSpace(string(raw)))
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(strings.TrimSpace(text))
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		var one map[string]json.RawMessage
		if json.Unmarshal(raw, &one) != nil {
			return nil, nil, fmt.Errorf("deltas: expected an array such as [{\"function\":\"C.f\",\"op\":\"add_guard\",\"line\":14,\"condition\":\"x is None\"}]")
		}
		if inner, ok := one["deltas"]; ok && len(one) == 1 {
			return Parse(inner)
		}
		items = []json.RawMessage{raw}
	}
	unknown := map[string]bool{}
	for i, item := range items {
		d, err := parseOne(item, unknown)
		if err != nil {
			return nil, nil, fmt.Errorf("delta %d: %w", i+1, err)
		}
		deltas = append(deltas, d)
	}
	for k := range unknown {
		notes = append(notes, k)
	}
	sort.Strings(notes)
	if len(deltas) == 0 {
		return nil, nil, fmt.Errorf("deltas: expected at least one delta such as {\"function\":\"C.f\",\"op\":\"add_guard\",\"line\":14}")
	}
	return deltas, notes, nil
}

func parseOne(raw json.RawMessage, unknown map[string]bool) (Delta, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return Delta{}, fmt.Errorf("expected an object with function and op, got %.60s", string(raw))
	}
	var d Delta
	for k, v := range fields {
		s := scalar(v)
		switch strings.ToLower(k) {
		case "function", "func", "name":
			d.Function = s
		case "op", "operation", "kind":
			d.Op = s
		case "line":
			n, err := lineNumber(s)
			if err != nil {
				return Delta{}, err
			}
			d.Line = n
		case "site":
			d.Site = s
		case "place", "var":
			d.Place = s
		case "condition", "cond":
			d.Condition = s
		case "to":
			d.To = s
		default:
			unknown[k] = true
		}
	}
	return d, nil
}

// scalar is a JSON string, number or boolean as text; null is "".
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	t := strings.TrimSpace(string(raw))
	if t == "null" {
		return ""
	}
	return t
}

var leadingNumber = regexp.MustCompile(`^[Ll]?(?:ine )?([0-9]+)`)

// lineNumber reads 14, "14", "L14", "14-16" or 14.0.
func lineNumber(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	m := leadingNumber.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("line: expected a line number, got %q", s)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > 1<<30 {
		return 0, fmt.Errorf("line: %q is no line of a file", s)
	}
	return n, nil
}
