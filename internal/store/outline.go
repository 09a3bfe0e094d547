package store

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
)

// Symbol is one definition of a file.
type Symbol struct {
	Path          string // of the file; not part of an outline
	Language      string // likewise
	Name          string
	QualifiedName string
	Ordinal       int // 1, and 2, 3, ... for twins of the same qualified name
	Kind          string
	Line, EndLine int
	Parent        int // index within the file's outline; -1 for the module
	Test          bool
}

// firstKinds and firstName are part of the format: change indexVersion with
// them.
var firstKinds = []string{"module", "class", "function", "method", "constructor", "nested", "lambda", "macro"}

const firstName = "<module>"

// An outline is kept as one value a file, not as rows: front coding of the
// qualified names makes it a third of the size, and a query reads few files.
//
//	symbol = shared suffix nameRef kind flags parent+1 dLine len ordinal
//
// shared and suffix give the qualified name from the one before; nameRef is
// len<<1 where the name is its end, else len<<1|1 and the name.
//
// Both sides begin with what nearly every outline begins with.
func encodeOutline(symbols []Symbol) []byte {
	b := []byte{} // not nil: an empty outline is one too
	num := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	str := func(s string) { num(len(s)); b = append(b, s...) }
	kinds := map[string]int{}
	for i, k := range firstKinds {
		kinds[k] = i
	}
	prev, line := firstName, 0
	for _, s := range symbols {
		n := 0
		for n < len(prev) && n < len(s.QualifiedName) && prev[n] == s.QualifiedName[n] {
			n++
		}
		num(n)
		str(s.QualifiedName[n:])
		if strings.HasSuffix(s.QualifiedName, s.Name) {
			num(len(s.Name) << 1)
		} else {
			num(len(s.Name)<<1 | 1)
			b = append(b, s.Name...)
		}
		k, ok := kinds[s.Kind]
		if ok {
			num(k)
		} else { // another kind is spelled out where it first stands
			k = len(kinds)
			kinds[s.Kind] = k
			num(k)
			str(s.Kind)
		}
		flags := max(s.Ordinal, 1) << 1
		if s.Test {
			flags |= 1
		}
		num(flags)
		num(s.Parent + 1)
		b = binary.AppendVarint(b, int64(s.Line-line))
		num(max(s.EndLine-s.Line, 0))
		prev, line = s.QualifiedName, s.Line
	}
	return b
}

func decodeOutline(data []byte, path, language string) ([]Symbol, error) {
	d := decoder{data: data}
	var out []Symbol
	kinds := slices.Clone(firstKinds)
	prev, line := firstName, 0
	for len(d.data) > 0 && !d.bad {
		s := Symbol{Path: path, Language: language}
		shared := d.num()
		suffix := d.str()
		if shared > len(prev) {
			d.bad = true
			break
		}
		s.QualifiedName = prev[:shared] + suffix
		ref := d.num()
		switch n := ref >> 1; {
		case ref&1 == 1:
			s.Name = d.take(n)
		case n <= len(s.QualifiedName):
			s.Name = s.QualifiedName[len(s.QualifiedName)-n:]
		default:
			d.bad = true
		}
		k := d.num()
		if k == len(kinds) {
			kinds = append(kinds, d.str())
		}
		if k >= len(kinds) {
			d.bad = true
			break
		}
		s.Kind = kinds[k]
		flags := d.num()
		s.Ordinal, s.Test = flags>>1, flags&1 == 1
		s.Parent = d.num() - 1
		s.Line = line + d.signed()
		s.EndLine = s.Line + d.num()
		prev, line = s.QualifiedName, s.Line
		out = append(out, s)
	}
	if d.bad {
		return nil, fmt.Errorf("outline of %s: %w", path, errDamaged)
	}
	return out, nil
}

type decoder struct {
	data []byte
	bad  bool
}

func (d *decoder) num() int {
	n, size := binary.Uvarint(d.data)
	if size <= 0 || n > 1<<40 {
		d.bad, d.data = true, nil
		return 0
	}
	d.data = d.data[size:]
	return int(n)
}

func (d *decoder) signed() int {
	n, size := binary.Varint(d.data)
	if size <= 0 {
		d.bad, d.data = true, nil
		return 0
	}
	d.data = d.data[size:]
	return int(n)
}

func (d *decoder) take(n int) string {
	if n > len(d.data) {
		d.bad, d.data = true, nil
		return ""
	}
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}

func (d *decoder) str() string { return d.take(d.num()) }

// pathID is where a file's row stands, or just before.
func pathID(path string) int64 {
	h := fnv.New32a()
	h.Write([]byte(path))
	return int64(h.Sum32() >> 9) // three bytes in a record
}

// nameKey is the key under which a name is looked up, whatever its case. Two
// names may share one: the outline decides.
func nameKey(name string) int64 {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(name)))
	return int64(h.Sum32() >> 9) // three bytes in a record
}

func sortNames(rows []nameRow) {
	slices.SortFunc(rows, func(a, b nameRow) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.file, b.file))
	})
}

// packer compresses outlines: neighbours share words that front coding misses.
type packer struct {
	out bytes.Buffer
	z   *flate.Writer
}

// pack is the stored form: a byte that says how, and the outline.
func (p *packer) pack(outline []byte) []byte {
	if len(outline) > 64 {
		p.out.Reset()
		p.out.WriteByte(packed)
		if p.z == nil {
			p.z, _ = flate.NewWriter(&p.out, flate.DefaultCompression) // fails for unknown levels only
		} else {
			p.z.Reset(&p.out)
		}
		p.z.Write(outline) // a Buffer never fails
		p.z.Close()
		if p.out.Len() <= len(outline) {
			return bytes.Clone(p.out.Bytes())
		}
	}
	return append([]byte{plain}, outline...)
}

const (
	plain  = 0
	packed = 1
	// maxOutline bounds what a damaged record may expand to.
	maxOutline = 64 << 20
)

func unpackOutline(data []byte, path, language string) ([]Symbol, error) {
	if len(data) == 0 || data[0] > packed {
		return nil, fmt.Errorf("outline of %s: %w", path, errDamaged)
	}
	if data[0] == plain {
		return decodeOutline(data[1:], path, language)
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[1:])), maxOutline))
	if err != nil {
		return nil, fmt.Errorf("outline of %s: %w", path, errDamaged)
	}
	return decodeOutline(text, path, language)
}
