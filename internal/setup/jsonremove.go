package setup

import (
	"bytes"

	"github.com/tailscale/hujson"
)

// removeJSON takes the member at the path out of the text, with its line and
// its comma, and then as many of the objects around it as `made` says were
// ours, if nothing is left in them.
func removeJSON(data []byte, path []string, made int) ([]byte, bool) {
	d, err := parseJSON(data)
	if err != nil || d.blank() {
		return data, false
	}
	changed := false
	v, depth := d.find(path[:len(path)-1])
	if obj, ok := v.Value.(*hujson.Object); ok && depth == len(path)-1 {
		if i := member(obj, path[len(path)-1]); i >= 0 {
			m := obj.Members[i]
			prev := -1
			if i > 0 {
				prev = obj.Members[i-1].Value.EndOffset + len(obj.Members[i-1].Value.AfterExtra)
			}
			data, changed = d.cut(m.Name.StartOffset, m.Value.EndOffset, len(m.Value.AfterExtra), prev), true
		}
	}
	if made > 0 && len(path) > 1 {
		if d, err = parseJSON(data); err != nil {
			return data, changed
		}
		v, depth := d.find(path[:len(path)-1])
		if depth == len(path)-1 && empty(v) {
			next, _ := removeJSON(data, path[:len(path)-1], made-1)
			return next, true
		}
	}
	return data, changed
}

// empty says whether a value holds nothing, not even a comment.
func empty(v *hujson.Value) bool {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return len(c.Members) == 0 && len(bytes.TrimSpace(c.AfterExtra)) == 0
	case *hujson.Array:
		return len(c.Elements) == 0 && len(bytes.TrimSpace(c.AfterExtra)) == 0
	}
	return false
}

// removeElements takes the strings out of the array at the path.
func removeElements(data []byte, path, items []string, made int) ([]byte, bool) {
	changed := false
	for _, item := range items {
		d, err := parseJSON(data)
		if err != nil || d.blank() {
			return data, changed
		}
		v, depth := d.find(path)
		array, ok := v.Value.(*hujson.Array)
		if depth < len(path) || !ok {
			return data, changed
		}
		for i, e := range array.Elements {
			if lit, ok := e.Value.(hujson.Literal); ok && lit.Kind() == '"' && lit.String() == item {
				prev := -1
				if i > 0 {
					prev = array.Elements[i-1].EndOffset + len(array.Elements[i-1].AfterExtra)
				}
				data, changed = d.cut(e.StartOffset, e.EndOffset, len(e.AfterExtra), prev), true
				break
			}
		}
	}
	if made > 0 {
		if d, err := parseJSON(data); err == nil && !d.blank() {
			if v, depth := d.find(path); depth == len(path) && empty(v) {
				return removeJSON(data, path, made-1)
			}
		}
	}
	return data, changed
}

// cut takes out [start,end) with the comma behind it, which stands after extra
// bytes; where there is none, the comma at prev goes. A line left blank goes
// with it.
func (d *document) cut(start, end, extra, prev int) []byte {
	data := d.data
	start, end = start+d.skip, end+d.skip
	comma := end + extra
	if comma < len(data) && data[comma] == ',' {
		end, prev = comma+1, -1
	} else if prev >= 0 {
		prev += d.skip
	}
	lineStart := start
	for lineStart > 0 && (data[lineStart-1] == ' ' || data[lineStart-1] == '\t') {
		lineStart--
	}
	lineEnd := end
	for lineEnd < len(data) && (data[lineEnd] == ' ' || data[lineEnd] == '\t' || data[lineEnd] == '\r') {
		lineEnd++
	}
	switch {
	case lineStart > 0 && data[lineStart-1] == '\n' && lineEnd < len(data) && data[lineEnd] == '\n':
		start, end = lineStart, lineEnd+1
	case prev < 0:
		for end < len(data) && data[end] == ' ' {
			end++
		}
	case prev >= 0 && len(bytes.TrimSpace(data[prev+1:start])) == 0:
		start = prev + 1
	}
	out := append([]byte(nil), data[:start]...)
	if prev >= 0 {
		out = append(out[:prev], out[prev+1:]...)
	}
	return append(out, data[end:]...)
}
