package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// arguments are a call's arguments, read leniently: clients send arrays and
// objects as JSON strings, numbers as strings, keys in any case.
type arguments struct {
	raw     map[string]json.RawMessage
	ignored []string
}

func read(raw json.RawMessage, schema *jsonschema.Schema) (arguments, error) {
	a := arguments{raw: map[string]json.RawMessage{}}
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return a, fmt.Errorf("expected an object with %s", strings.Join(schema.Required, ", "))
	}
	for k, v := range fields {
		name := strings.ToLower(strings.TrimSpace(k))
		if _, ok := schema.Properties[name]; !ok {
			a.ignored = append(a.ignored, k)
			continue
		}
		a.raw[name] = v
	}
	slices.Sort(a.ignored)
	return a, nil
}

// note names what was ignored.
func (a arguments) note() string {
	if len(a.ignored) == 0 {
		return ""
	}
	return fmt.Sprintf("ignored: %s\n", strings.Join(a.ignored, ", "))
}

// text is an argument as text, whatever scalar it came as.
func (a arguments) text(name string) string {
	raw, ok := a.raw[name]
	if !ok || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if list := a.list(name); len(list) == 1 {
		return list[0]
	}
	return string(raw)
}

// list is an argument as a list of texts: an array, a JSON string of one, or a
// single text.
func (a arguments) list(name string) []string {
	raw, ok := a.raw[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		var inner []string
		if strings.HasPrefix(strings.TrimSpace(s), "[") && json.Unmarshal([]byte(s), &inner) == nil {
			return inner
		}
		return []string{s}
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return []string{string(raw)}
	}
	var out []string
	for _, item := range items {
		var t string
		if json.Unmarshal(item, &t) != nil {
			t = string(item)
		}
		out = append(out, t)
	}
	return out
}

func (a arguments) integer(name string) (int, error) {
	s := strings.TrimSpace(a.text(name))
	if s == "" {
		return 0, nil
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "L"), "l")
	if f, err := strconv.ParseFloat(s, 64); err == nil && f >= 0 && f < 1<<30 {
		return int(f), nil
	}
	return 0, fmt.Errorf("%s: expected a line number, got %q", name, s)
}

func (a arguments) boolean(name string) bool {
	switch strings.ToLower(strings.TrimSpace(a.text(name))) {
	case "true", "1", "yes":
		return true
	}
	return false
}
