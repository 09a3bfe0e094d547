package setup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

func parseTOML(data []byte) (map[string]any, error) {
	var out map[string]any
	err := toml.Unmarshal(bytes.TrimPrefix(data, []byte(bom)), &out)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, col := at.Position()
		return nil, fmt.Errorf("line %d, column %d: %w", line, col, err)
	}
	return out, err
}

func tomlValue(data []byte, path ...string) any {
	all, err := parseTOML(data)
	if err != nil {
		return nil
	}
	var v any = all
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// setTOML adds a table of the entry at the end, where nothing has to move; in
// a file that keeps its servers in an inline table, there. An older entry is
// replaced. The result is parsed again: it must say what was asked and leave
// the rest as it was.
func setTOML(data []byte, path []string, entry plainEntry) (splice, error) {
	before, err := parseTOML(data)
	if err != nil {
		return splice{}, err
	}
	base, _ := removeTOML(data, path)
	eol := "\n"
	if i := bytes.IndexByte(base, '\n'); i > 0 && base[i-1] == '\r' {
		eol = "\r\n"
	}
	lead := ""
	if len(bytes.TrimSpace(bytes.TrimPrefix(base, []byte(bom)))) > 0 {
		lead = eol
		if !bytes.HasSuffix(base, []byte("\n")) {
			lead += eol
		}
	}
	table := fmt.Sprintf("%s[%s]%scommand = %s%sargs = [\"serve\"]%s", lead, strings.Join(path, "."), eol, tomlString(entry.Command), eol, eol)
	candidates := [][]byte{append(bytes.Clone(base), table...)}
	if at := inlineTable(base, path[0]); at > 0 {
		inline := fmt.Sprintf(" %s = { command = %s, args = [\"serve\"] },", path[1], tomlString(entry.Command))
		if v, ok := tomlValue(base, path[0]).(map[string]any); ok && len(v) == 0 {
			inline = strings.TrimSuffix(inline, ",") + " "
		}
		candidates = append(candidates, splice{Offset: at, Inserted: []byte(inline)}.apply(base))
	}
	want := withEntry(before, path, map[string]any{"command": entry.Command, "args": []any{"serve"}})
	for _, after := range candidates {
		got, err := parseTOML(after)
		if err == nil && reflect.DeepEqual(got, want) {
			return between(data, after), nil
		}
	}
	return splice{}, fmt.Errorf("%s is written in a way that no entry can be added to without rewriting it; add by hand: [%s] command = %s, args = [\"serve\"]",
		path[0], strings.Join(path, "."), tomlString(entry.Command))
}

// between is the change from one text to another as one splice.
func between(before, after []byte) splice {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	return splice{head, bytes.Clone(before[head : len(before)-tail]), bytes.Clone(after[head : len(after)-tail])}
}

func withEntry(before map[string]any, path []string, entry any) map[string]any {
	out := map[string]any{}
	for k, v := range before {
		out[k] = v
	}
	servers := map[string]any{}
	if old, ok := out[path[0]].(map[string]any); ok {
		for k, v := range old {
			servers[k] = v
		}
	}
	servers[path[1]] = entry
	out[path[0]] = servers
	return out
}

// tomlString is a TOML string: a literal one where it can be, so that the
// backslashes of Windows stay readable.
func tomlString(s string) string {
	if !strings.ContainsAny(s, "'\n\r") {
		if strings.ContainsAny(s, `\"`) {
			return "'" + s + "'"
		}
		return `"` + s + `"`
	}
	return fmt.Sprintf("%q", s)
}

// expression is one line, or several, of a TOML file that defines something.
type expression struct {
	path       []string
	table      bool
	start, end int // whole lines
}

// expressions lists what a TOML file defines, with the lines it takes.
func expressions(data []byte) []expression {
	skip := len(data) - len(bytes.TrimPrefix(data, []byte(bom)))
	p := &unstable.Parser{}
	p.Reset(data[skip:])
	var out []expression
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
			continue
		}
		var names []string
		first := -1
		for it := e.Key(); it.Next(); {
			if first < 0 {
				first = int(p.Range(it.Node().Data).Offset)
				if it.Node().Raw.Length > 0 {
					first = int(it.Node().Raw.Offset)
				}
			}
			names = append(names, string(it.Node().Data))
		}
		x := expression{table: e.Kind != unstable.KeyValue}
		if x.table {
			table = names
			x.path = names
		} else {
			x.path = append(append([]string(nil), table...), names...)
		}
		x.start = bytes.LastIndexByte(data[:skip+first], '\n') + 1
		if len(out) > 0 {
			out[len(out)-1].end = x.start
		}
		x.end = len(data)
		out = append(out, x)
	}
	for i, x := range out { // blank lines and comments before the next one are the next one's
		lines := bytes.SplitAfter(data[x.start:x.end], []byte("\n"))
		for len(lines) > 1 {
			last := bytes.TrimSpace(lines[len(lines)-1])
			if len(last) > 0 && last[0] != '#' {
				break
			}
			out[i].end -= len(lines[len(lines)-1])
			lines = lines[:len(lines)-1]
		}
	}
	return out
}

// removeTOML takes out the lines that define the entry. An entry inside an
// inline table is left: see setTOML, whose check then refuses.
func removeTOML(data []byte, path []string) ([]byte, bool) {
	all := expressions(data)
	out := data
	for i := len(all) - 1; i >= 0; i-- {
		x := all[i]
		if len(x.path) >= len(path) && x.path[0] == path[0] && x.path[1] == path[1] {
			start, rest := x.start, bytes.TrimLeft(out[x.end:], "\r")
			if x.table && (len(rest) == 0 || rest[0] == '\n') { // one of the blank lines around the table goes with it
				for _, blank := range []string{"\n\n", "\n\r\n"} {
					if bytes.HasSuffix(out[:start], []byte(blank)) {
						start -= len(blank) - 1
						break
					}
				}
			}
			out = append(bytes.Clone(out[:start]), out[x.end:]...)
		}
	}
	return out, len(out) != len(data)
}

// inlineTable is the offset behind the bracket of `name = {`, or -1.
func inlineTable(data []byte, name string) int {
	for _, x := range expressions(data) {
		if x.table || len(x.path) != 1 || x.path[0] != name {
			continue
		}
		if i := bytes.IndexByte(data[x.start:x.end], '{'); i >= 0 {
			return x.start + i + 1
		}
	}
	return -1
}
