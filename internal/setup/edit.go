package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
)

// edit is a change about to be made to one file.
type edit struct {
	kind      changeKind
	path      string // as the client names it
	before    []byte
	after     []byte
	unchanged bool
	upgrade   bool
	change    *change // nil where nothing of ours is recorded
}

func (e *edit) summary() string {
	switch {
	case e.unchanged:
		return fmt.Sprintf("%s: unchanged, %s", e.kind, e.shown())
	case e.upgrade:
		return fmt.Sprintf("%s: brought up to date, %s", e.kind, e.shown())
	}
	return fmt.Sprintf("%s: written, %s", e.kind, e.shown())
}

func (e *edit) shown() string {
	if e.path == "" {
		return e.change.Path
	}
	return e.path
}

func (e *edit) preview() []string {
	if e.unchanged {
		return []string{e.summary()}
	}
	return preview(e.path, e.before, e.after)
}

// preview shows the lines of a change.
func preview(path string, before, after []byte) []string {
	s := between(before, after)
	start := bytes.LastIndexByte(before[:s.Offset], '\n') + 1
	cut := func(data []byte, end int) []string {
		for end < len(data) && end > 0 && data[end-1] != '\n' {
			end++
		}
		if end <= start {
			return nil
		}
		return strings.Split(strings.TrimSuffix(string(data[start:end]), "\n"), "\n")
	}
	lines := []string{"would change " + path}
	if before == nil {
		lines[0] = "would write " + path
	}
	for _, l := range cut(before, s.Offset+len(s.Removed)) {
		lines = append(lines, "- "+strings.TrimSuffix(l, "\r"))
	}
	for _, l := range cut(after, s.Offset+len(s.Inserted)) {
		lines = append(lines, "+ "+strings.TrimSuffix(l, "\r"))
	}
	return lines
}

// base is what the file was before an earlier setup, so that a second one is
// an edit of the original and its undoing still restores it.
func base(p place, c *change, data []byte, existed bool) (before []byte, was bool) {
	if c == nil || !existed {
		return data, existed
	}
	return p.restored(c, data), c.Existed
}

// newChange records the edit from base to after.
func newChange(kind changeKind, real string, existed bool, s splice, after []byte) *change {
	return &change{Kind: kind, Path: real, Existed: existed, splice: s, After: hash(after)}
}

// registration edits the client's configuration.
func registration(p place, old *receipt) (*edit, error) {
	real, data, existed, err := load(p.config)
	if err != nil {
		return nil, err
	}
	e := &edit{kind: kindConfig, path: p.config, before: data, change: old.find(kindConfig)}
	current, err := p.registered(data)
	if err != nil {
		return nil, malformed(p.config, err)
	}
	if current != nil && same(current, p.client.entry(p.Command)) {
		e.unchanged = true
		return e, nil
	}
	e.upgrade = current != nil
	from, was := base(p, e.change, data, existed)
	made := 0
	if e.change == nil && ours(current) { // an installation without a receipt: its removal leaves nothing
		from, _ = p.without(data, 0)
	}
	var s splice
	if p.client.toml {
		s, err = setTOML(from, p.path(), p.client.entry(p.Command).(plainEntry))
	} else {
		var d *document
		if d, err = parseJSON(from); err == nil {
			made = 1
			if !d.blank() {
				_, depth := d.find(p.path())
				made = 1 - depth
			}
			s, err = d.set(p.path(), p.client.entry(p.Command))
		}
	}
	if err != nil {
		return nil, malformed(p.config, err)
	}
	e.after = s.apply(from)
	if got, err := p.registered(e.after); err != nil || !same(got, p.client.entry(p.Command)) {
		return nil, fmt.Errorf("%s: the edit did not come out as meant and was not made; please report this with the file's shape", p.config)
	}
	e.change = newChange(kindConfig, real, was, s, e.after)
	e.change.Made = made
	return e, nil
}

func malformed(path string, err error) error {
	return fmt.Errorf("%s was left alone: %w; mend it, then run this again", path, err)
}

func (p place) path() []string { return []string{p.client.container, "flowplan"} }

// registered is the server's entry as the configuration has it, nil if none.
func (p place) registered(data []byte) (any, error) {
	if p.client.toml {
		if _, err := parseTOML(data); err != nil {
			return nil, err
		}
		return tomlValue(data, p.path()...), nil
	}
	d, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	raw := d.value(p.path()...)
	if raw == nil {
		return nil, nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return v, nil
}

// same says whether an entry that was read does what the wanted one does; what
// a user added to it (an environment, a timeout) may stay.
func same(got, want any) bool {
	raw, err := json.Marshal(want)
	if err != nil {
		return false
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return false
	}
	have, ok := got.(map[string]any)
	if !ok {
		return false
	}
	for name, v := range fields {
		if m, ok := v.(map[string]any); ok && len(m) == 0 {
			continue
		}
		if !reflect.DeepEqual(have[name], v) {
			return false
		}
	}
	return true
}

// command is the server's command line in an entry.
func command(entry any) []string {
	m, ok := entry.(map[string]any)
	if !ok {
		return nil
	}
	var out []string
	for _, key := range []string{"command", "args"} {
		switch v := m[key].(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, item := range v {
				if s, ok := item.(string); ok {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// ours says whether an entry without a receipt is one of flowplan.
func ours(entry any) bool {
	line := command(entry)
	return len(line) > 1 && strings.TrimSuffix(filepath.Base(line[0]), ".exe") == "flowplan" && line[1] == "serve"
}

// skillFile installs the skill.
func skillFile(p place, old *receipt) (*edit, error) {
	real, data, existed, err := load(p.skill)
	if err != nil {
		return nil, err
	}
	c := old.find(kindSkill)
	e := &edit{kind: kindSkill, path: p.skill, before: data, change: c, after: []byte(p.Skill), upgrade: existed}
	if existed && string(data) == p.Skill {
		e.unchanged = true
		return e, nil
	}
	if existed && c != nil && hash(data) != c.After {
		return nil, fmt.Errorf("%s was changed by hand and was left alone; delete it, then run this again", p.skill)
	}
	from, was := base(p, c, data, existed)
	if c == nil && existed && ourSkill(data) { // an older installation: its removal leaves nothing
		from, was = nil, false
	}
	e.change = newChange(kindSkill, real, was, splice{Removed: from, Inserted: e.after}, e.after)
	return e, nil
}

// ourSkill knows a skill of flowplan's by its name and its tools.
func ourSkill(data []byte) bool {
	return bytes.Contains(data, []byte("name: flowfix")) && bytes.Contains(data, []byte("mcp__flowplan__"))
}
