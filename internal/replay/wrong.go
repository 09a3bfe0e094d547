package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"flowplan/internal/delta"
	"flowplan/internal/plan"
)

// The kinds of wrong plans. Each is tried only where it really is wrong.
const (
	opposite  = "opposite operation"
	foreign   = "operation outside the family"
	elsewhere = "line outside the region"
	otherCond = "another condition"
	takenBack = "half of the patch taken back"
)

// wrongPlans plans on a fix's functions what the fix does not do, and counts
// what is confirmed all the same.
func (r *runner) wrongPlans(tree string, f fix, diff observed) error {
	for _, fn := range diff.Functions {
		if fn.Test || fn.Status != "modified" || strings.HasPrefix(fn.Function, "<") || strings.Contains(fn.Function, "<class") {
			continue
		}
		for _, d := range fn.Deltas {
			if err := r.wrongOnes(tree, f, fn.ID, d, fn.Deltas); err != nil {
				return err
			}
		}
	}
	return r.takeBack(tree, f)
}

// kindsOf lists every operation observed in a function, parts too.
func kindsOf(deltas []map[string]any) map[string]bool {
	out := map[string]bool{}
	for _, d := range deltas {
		out[fmt.Sprint(d["op"])] = true
		if parts, ok := d["parts"].([]any); ok {
			for _, p := range parts {
				if m, ok := p.(map[string]any); ok {
					for k := range kindsOf([]map[string]any{m}) {
						out[k] = true
					}
				}
			}
		}
	}
	return out
}

// absent reports whether neither an operation nor anything that its row of the
// table accepts, or counts as the same, is observed.
func absent(op string, seen map[string]bool) bool {
	same := map[string][]string{
		"add_guard": {"add_branch"}, "add_branch": {"add_guard"}, "remove_guard": {"remove_branch"}, "remove_branch": {"remove_guard"},
		"change_block": {"no_flow_change"}, "no_flow_change": {"change_block"},
	}
	row, _, _ := plan.Lookup(op)
	if seen[op] {
		return false
	}
	for _, s := range same[op] {
		if seen[s] {
			return false
		}
	}
	for _, a := range row.Accepts {
		if seen[string(a.Kind)] {
			return false
		}
	}
	return true
}

func (r *runner) wrongOnes(tree string, f fix, id string, d map[string]any, all []map[string]any) error {
	seen := kindsOf(all)
	op := fmt.Sprint(d["op"])
	line := d["head_line"]
	if line == nil {
		return nil
	}
	try := func(kind string, planned map[string]any, accepted func(grade string) bool) error {
		grade, ok, err := r.gradeOf(tree, f, planned)
		if err != nil || !ok {
			return err
		}
		r.total.tried(kind, accepted(grade))
		if accepted(grade) {
			fmt.Printf("wrong plan accepted: %s, %v graded %s\n", kind, planned, grade)
		}
		return nil
	}
	confirmed := func(grade string) bool { return grade == "exact" || grade == "same_family" }
	exact := func(grade string) bool { return grade == "exact" }
	if strings.HasPrefix(op, "add_") || strings.HasPrefix(op, "remove_") {
		inverse := string(delta.Kind(op).Inverse())
		if absent(inverse, seen) {
			if err := try(opposite, map[string]any{"function": id, "op": inverse, "line": line}, confirmed); err != nil {
				return err
			}
		}
	}
	for _, other := range []string{"change_handler", "remove_loop", "remove_handler", "add_loop", "change_condition"} {
		if absent(other, seen) {
			if err := try(foreign, map[string]any{"function": id, "op": other, "line": line}, confirmed); err != nil {
				return err
			}
			break
		}
	}
	if l, ok := r.outside(tree, id, d); ok && once(all, op) {
		if err := try(elsewhere, map[string]any{"function": id, "op": op, "line": l}, exact); err != nil {
			return err
		}
	}
	if c, _ := d["condition"].(string); c != "" && (op == "add_guard" || op == "add_branch" || op == "change_condition" || op == "remove_guard" || op == "remove_branch") {
		return try(otherCond, map[string]any{"function": id, "op": op, "line": line, "condition": "zz_other(zz_value) > 3"}, exact)
	}
	return nil
}

// once reports whether an operation, or the one that counts as the same, is
// observed but once: then a line outside its region is outside all of them.
func once(all []map[string]any, op string) bool {
	n := 0
	for _, d := range all {
		o := fmt.Sprint(d["op"])
		if o == op || strings.ReplaceAll(o, "branch", "guard") == strings.ReplaceAll(op, "branch", "guard") {
			n++
		}
	}
	return n == 1
}

// outside finds a statement of the function in HEAD that lies in no region of
// that operation there.
func (r *runner) outside(tree, id string, d map[string]any) (int, bool) {
	path, name, _ := strings.Cut(id, ":")
	cmd := exec.Command(r.binary, "graph", path, "--rev", "HEAD", "--function", name, "--json")
	cmd.Dir = tree
	out, err := cmd.Output()
	if err != nil {
		return 0, false
	}
	var file struct {
		Functions []struct {
			Blocks []struct {
				Statements []struct {
					Line    int `json:"line"`
					EndLine int `json:"end_line"`
				}
			}
		}
	}
	if json.Unmarshal(out, &file) != nil || len(file.Functions) == 0 {
		return 0, false
	}
	inside := func(line int) bool {
		ranges, _ := d["head_region"].([]any)
		for _, x := range ranges {
			if p, ok := x.([]any); ok && len(p) == 2 && float64(line) >= p[0].(float64) && float64(line) <= p[1].(float64) {
				return true
			}
		}
		return false
	}
	for _, b := range file.Functions[0].Blocks {
		for _, s := range b.Statements {
			if !inside(s.Line) && !inside(s.EndLine) {
				return s.Line, true
			}
		}
	}
	return 0, false
}

// gradeOf plans one delta afresh, before the edit, and grades it after; ok is
// false where the plan is refused.
func (r *runner) gradeOf(tree string, f fix, planned map[string]any) (grade string, ok bool, err error) {
	raw, err := json.Marshal([]any{planned})
	if err != nil {
		return "", false, err
	}
	if err := r.unapply(tree, f); err != nil {
		return "", false, err
	}
	_, code := r.command(tree, raw, "plan", "--fresh", "-")
	if err := r.apply(tree, f); err != nil || code != 0 {
		return "", false, err
	}
	out, _ := r.command(tree, nil, "check", "--json")
	var rep report
	if err := json.Unmarshal(out, &rep); err != nil || len(rep.Deltas) != 1 {
		return "", false, fmt.Errorf("check --json: %d deltas: %w", len(rep.Deltas), err)
	}
	return rep.Deltas[0].Grade, true, nil
}

func (r *runner) command(tree string, stdin []byte, args ...string) ([]byte, int) {
	cmd := exec.Command(r.binary, args...)
	cmd.Dir = tree
	cmd.Env = r.env("cli")
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out, exit.ExitCode()
	}
	return out, 0
}

// takeBack restores every other changed function's file to the parent's text
// and holds the verdict to not being a pass.
func (r *runner) takeBack(tree string, f fix) error {
	files := map[string]bool{}
	for _, d := range f.Deltas {
		path, _, _ := strings.Cut(fmt.Sprint(d["function"]), ":")
		files[path] = true
	}
	if len(files) < 2 {
		return nil
	}
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	raw, err := json.Marshal(f.Deltas)
	if err != nil {
		return err
	}
	if err := r.unapply(tree, f); err != nil {
		return err
	}
	_, code := r.command(tree, raw, "plan", "--fresh", "-")
	if err := r.apply(tree, f); err != nil || code != 0 {
		return err
	}
	back := map[string]bool{}
	for i, n := range names {
		if i%2 == 1 {
			data, err := git(tree, "show", f.Parent+":"+n)
			if err != nil {
				continue // a new file
			}
			if err := os.WriteFile(filepath.Join(tree, n), []byte(data), 0o644); err != nil {
				return err
			}
			back[n] = true
		}
	}
	if len(back) == 0 {
		return nil
	}
	out, _ := r.command(tree, nil, "verify", "--json")
	var rep report
	if err := json.Unmarshal(out, &rep); err != nil {
		return fmt.Errorf("verify --json: %w", err)
	}
	accepted := rep.Verdict == "pass"
	for _, d := range rep.Deltas {
		path, _, _ := strings.Cut(d.Function, ":")
		accepted = accepted || back[path] && d.Grade == "exact"
	}
	r.total.tried(takenBack, accepted)
	if accepted {
		fmt.Printf("wrong plan accepted: %s, %s %.10s verdict %s\n", takenBack, f.Repository, f.Fix, rep.Verdict)
	}
	return nil
}

func (t *tally) tried(kind string, accepted bool) {
	w := t.wrong[kind]
	if w == nil {
		w = &wrongCount{}
		t.wrong[kind] = w
	}
	w.tried++
	if accepted {
		w.accepted++
	}
}
