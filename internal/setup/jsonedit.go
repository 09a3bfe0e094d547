package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// splice is one contiguous change of a file's bytes.
type splice struct {
	Offset   int    `json:"offset"`
	Removed  []byte `json:"removed"`
	Inserted []byte `json:"inserted"`
}

func (s splice) apply(data []byte) []byte {
	return slices.Concat(data[:s.Offset], s.Inserted, data[s.Offset+len(s.Removed):])
}

func (s splice) undo(data []byte) []byte {
	return splice{s.Offset, s.Inserted, s.Removed}.apply(data)
}

const bom = "\ufeff"

// document is a JSON file (comments and trailing commas allowed) with the
// offsets of what stands in it.
type document struct {
	data []byte
	skip int // a byte order mark
	root hujson.Value
}

func parseJSON(data []byte) (*document, error) {
	d := &document{data: data}
	if bytes.HasPrefix(data, []byte(bom)) {
		d.skip = len(bom)
	}
	body := data[d.skip:]
	if len(bytes.TrimSpace(body)) == 0 {
		return d, nil
	}
	root, err := hujson.Parse(body)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, errors.New("it holds no object")
	}
	d.root = root
	return d, nil
}

func (d *document) blank() bool { return d.root.Value == nil }

// member is the last member of that name: of two, clients use the last.
func member(obj *hujson.Object, name string) int {
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if lit, ok := obj.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			return i
		}
	}
	return -1
}

// find descends the path as far as it exists; depth is how many names of the
// path were found and v is the value reached.
func (d *document) find(path []string) (v *hujson.Value, depth int) {
	v = &d.root
	for depth < len(path) {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			return v, depth
		}
		i := member(obj, path[depth])
		if i < 0 {
			return v, depth
		}
		v = &obj.Members[i].Value
		depth++
	}
	return v, depth
}

// value is the JSON of the value at the path, without comments; nil when
// there is none.
func (d *document) value(path ...string) []byte {
	if d.blank() {
		return nil
	}
	v, depth := d.find(path)
	if depth < len(path) {
		return nil
	}
	std, err := hujson.Standardize(bytes.Clone(d.data[d.skip+v.StartOffset : d.skip+v.EndOffset])) // it works in place
	if err != nil {
		return nil
	}
	return std
}

// set makes the value at the path v: replaces it, or adds it and the objects
// that lead to it as the first member where the path ends.
func (d *document) set(path []string, v any) (splice, error) {
	style := d.style()
	if d.blank() {
		text := style.render(nest(path, v), "") + style.eol
		return splice{Offset: len(d.data), Inserted: []byte(text)}, nil
	}
	at, depth := d.find(path)
	if depth == len(path) {
		start, end := d.skip+at.StartOffset, d.skip+at.EndOffset
		style.flat = !bytes.ContainsRune(d.data[start:end], '\n') && style.flat
		return splice{start, slices.Clone(d.data[start:end]), []byte(style.render(v, d.indentAt(start)))}, nil
	}
	obj, ok := at.Value.(*hujson.Object)
	if !ok {
		return splice{}, fmt.Errorf("%q is not an object", strings.Join(path[:depth], "."))
	}
	first := -1
	if len(obj.Members) > 0 {
		first = obj.Members[0].Name.StartOffset
	}
	name, _ := json.Marshal(path[depth]) // a string
	return d.insert(at, first, func(style jsonStyle, indent string) string {
		return string(name) + ": " + style.render(nest(path[depth+1:], v), indent)
	}), nil
}

// prepend adds strings at the head of the array at the path.
func (d *document) prepend(path, items []string) (splice, error) {
	var at *hujson.Value
	depth := 0
	if !d.blank() {
		at, depth = d.find(path)
	}
	if depth < len(path) {
		return d.set(path, items)
	}
	array, ok := at.Value.(*hujson.Array)
	if !ok {
		return splice{}, fmt.Errorf("%q is not an array", strings.Join(path, "."))
	}
	first := -1
	if len(array.Elements) > 0 {
		first = array.Elements[0].StartOffset
	}
	return d.insert(at, first, func(style jsonStyle, indent string) string {
		sep := "," + style.eol + indent
		if style.flat {
			sep = ", "
		}
		var b strings.Builder
		for i, item := range items {
			if i > 0 {
				b.WriteString(sep)
			}
			b.WriteString(style.render(item, indent))
		}
		return b.String()
	}), nil
}

// insert puts text behind the opening bracket of a value, in the value's own
// style. first is where the first thing in it begins, or -1.
func (d *document) insert(at *hujson.Value, first int, text func(style jsonStyle, indent string) string) splice {
	style := d.style()
	open := d.skip + at.StartOffset + 1
	outer := d.indentAt(open)
	stop := d.skip + at.EndOffset - 1 // the closing bracket
	if first >= 0 {
		stop = d.skip + first
	}
	between := d.data[open:stop]
	nl := bytes.IndexByte(between, '\n')
	if first >= 0 && nl < 0 { // on one line: stay on it
		style.flat = true
		return splice{Offset: stop, Inserted: []byte(text(style, outer) + ", ")}
	}
	offset, spans := open, false
	if nl >= 0 { // behind a comment on the bracket's line, unless it goes on below
		head := bytes.TrimSuffix(between[:nl], []byte("\r"))
		spans = bytes.Count(head, []byte("/*")) != bytes.Count(head, []byte("*/"))
		if !spans {
			offset = open + len(head)
		}
	}
	indent := outer + style.unit
	if first >= 0 {
		indent = d.indentAt(stop)
		return splice{Offset: offset, Inserted: []byte(style.eol + indent + text(style, indent) + "," + tail(spans, style, indent))}
	}
	out := style.eol + indent + text(style, indent)
	if nl < 0 || spans {
		out += style.eol + outer
	}
	return splice{Offset: offset, Inserted: []byte(out)}
}

// tail ends the line where what follows on it is not the line's end.
func tail(more bool, style jsonStyle, indent string) string {
	if more {
		return style.eol + indent
	}
	return ""
}

// nest wraps a value in objects of one member each.
func nest(path []string, v any) any {
	for i := len(path) - 1; i >= 0; i-- {
		v = map[string]any{path[i]: v}
	}
	return v
}

// jsonStyle is how a file is laid out.
type jsonStyle struct {
	unit, eol string
	flat      bool
}

func (d *document) style() jsonStyle {
	s := jsonStyle{unit: "  ", eol: "\n"}
	if i := bytes.IndexByte(d.data, '\n'); i > 0 && d.data[i-1] == '\r' {
		s.eol = "\r\n"
	}
	if d.blank() {
		return s
	}
	if obj := d.root.Value.(*hujson.Object); len(obj.Members) > 0 {
		at := d.skip + obj.Members[0].Name.StartOffset
		if in := d.indentAt(at); in != "" {
			s.unit = in
		}
		s.flat = !bytes.ContainsRune(d.data[:at], '\n')
	}
	return s
}

// indentAt is the white space that the line of an offset begins with.
func (d *document) indentAt(offset int) string {
	start := bytes.LastIndexByte(d.data[:offset], '\n') + 1
	end := start
	for end < offset && (d.data[end] == ' ' || d.data[end] == '\t') {
		end++
	}
	return string(d.data[start:end])
}

func (s jsonStyle) render(v any, indent string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if !s.flat {
		enc.SetIndent(indent, s.unit)
	}
	if err := enc.Encode(v); err != nil {
		panic(err) // entries are structs of strings
	}
	return strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "\n", s.eol)
}
