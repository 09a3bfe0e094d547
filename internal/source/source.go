// Package source holds the text of one file and converts between byte offsets
// and lines. The bytes are the truth; lines are derived from them.
//
// It does no I/O and knows no language.
//
//	f := source.New("a.py", []byte("x = 1\ny = x\n"))
//	f.Line(6)        // 2
//	f.LineText(2)    // "y = x"
package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"sort"
)

// Span is a half-open range of byte offsets in one file.
type Span struct{ Start, End int }

// Contains reports whether o lies inside s.
func (s Span) Contains(o Span) bool { return s.Start <= o.Start && o.End <= s.End }

// Overlaps reports whether s and o share a byte.
func (s Span) Overlaps(o Span) bool { return s.Start < o.End && o.Start < s.End }

// Pos is a place in a file: Line counts from 1, Col counts bytes from 0.
type Pos struct{ Line, Col int }

// File is the text of one file under the path by which it is shown.
type File struct {
	Path  string
	Bytes []byte
	lines []int // offset of the first byte of each line
}

// New makes a File. The bytes are kept, not copied, and must not change.
func New(path string, data []byte) *File {
	lines := make([]int, 1, 1+len(data)/24)
	for i := 0; i < len(data); {
		n := bytes.IndexByte(data[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		lines = append(lines, i)
	}
	return &File{Path: path, Bytes: data, lines: lines}
}

// NumLines is the number of lines; a final newline begins no line.
func (f *File) NumLines() int {
	n := len(f.lines)
	if n > 1 && f.lines[n-1] == len(f.Bytes) {
		n--
	}
	return n
}

// Line is the 1-based line of a byte offset.
func (f *File) Line(offset int) int {
	return sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > offset })
}

// Pos is the line and column of a byte offset.
func (f *File) Pos(offset int) Pos {
	l := f.Line(offset)
	return Pos{Line: l, Col: offset - f.lines[l-1]}
}

// LineSpan is the span of a 1-based line without its line ending; the empty
// span at the end of the file for a line that does not exist.
func (f *File) LineSpan(line int) Span {
	if line < 1 || line > len(f.lines) {
		return Span{len(f.Bytes), len(f.Bytes)}
	}
	end := len(f.Bytes)
	if line < len(f.lines) {
		end = f.lines[line] - 1
	}
	start := f.lines[line-1]
	if end > start && f.Bytes[end-1] == '\r' {
		end--
	}
	return Span{start, end}
}

// LineText is the text of a 1-based line without its line ending.
func (f *File) LineText(line int) string { return f.Text(f.LineSpan(line)) }

// Text is the text of a span.
func (f *File) Text(s Span) string { return string(f.Bytes[s.Start:s.End]) }

// LastLine is the line on which a non-empty span ends: that of its last byte.
func (f *File) LastLine(s Span) int {
	if s.End > s.Start {
		return f.Line(s.End - 1)
	}
	return f.Line(s.Start)
}

// Hash is the SHA-256 of data in hexadecimal.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
