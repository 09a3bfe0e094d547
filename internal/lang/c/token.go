package c

import (
	"bytes"
	"strings"

	"flowplan/internal/source"
)

// tokenKind classifies tokens as far as the reader tells them apart.
type tokenKind uint8

const (
	tEOF    tokenKind = iota
	tIdent            // identifiers and keywords
	tNumber           // numbers, and strings and characters below
	tString
	tChar
	tPunct
	tDirective // a whole # line, continuation lines included
)

// token is one token. Those that a macro brought in have the span of the
// macro's call, as compilers place them.
type token struct {
	kind  tokenKind
	text  string
	span  source.Span
	first bool   // the first of its line
	made  bool   // from the body of a macro
	pair  int32  // of a bracket: how far its partner stands from it; 0: it has none
	group *group // of a tDirective that stands for arms kept side by side
	tight bool   // a prefix operator: no space behind it
	angle bool   // a bracket of template arguments
}

func (t *token) is(text string) bool {
	return t.text == text && t.kind == tPunct || t.text == text && t.kind == tIdent
}

// scanner makes tokens of text.
type scanner struct {
	data []byte
	at   int
	cpp  bool
	out  []token
	line bool // nothing but white space since the line began
}

// scan makes all tokens of a text, with positions counted from base.
func scan(data []byte, cpp bool) []token {
	s := &scanner{data: data, cpp: cpp, line: true, out: make([]token, 0, len(data)/4)}
	for s.next() {
	}
	return s.out
}

func (s *scanner) emit(kind tokenKind, start int) {
	s.out = append(s.out, token{kind: kind, text: string(s.data[start:s.at]), span: source.Span{Start: start, End: s.at}, first: s.line})
	s.line = false
}

// spliced is how long a backslash and line end at i are, or 0.
func (s *scanner) spliced(i int) int {
	if i < len(s.data) && s.data[i] == '\\' {
		switch {
		case i+1 < len(s.data) && s.data[i+1] == '\n':
			return 2
		case i+2 < len(s.data) && s.data[i+1] == '\r' && s.data[i+2] == '\n':
			return 3
		}
	}
	return 0
}

func (s *scanner) peek(i int) byte {
	if s.at+i < len(s.data) {
		return s.data[s.at+i]
	}
	return 0
}

func (s *scanner) next() bool {
	for s.at < len(s.data) {
		c := s.data[s.at]
		switch {
		case c == '\n':
			s.line = true
			s.at++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			s.at++
			continue
		case c == '\\' && s.spliced(s.at) > 0:
			s.at += s.spliced(s.at)
			continue
		case c == '/' && s.peek(1) == '*':
			end := bytes.Index(s.data[s.at+2:], []byte("*/"))
			if end < 0 {
				s.at = len(s.data)
			} else {
				s.at += end + 4
			}
			continue
		case c == '/' && s.peek(1) == '/':
			s.toLineEnd()
			continue
		}
		break
	}
	if s.at >= len(s.data) {
		return false
	}
	start := s.at
	c := s.data[start]
	switch {
	case c == '#' && s.line, c == '%' && s.peek(1) == ':' && s.line:
		s.directive()
		s.emit(tDirective, start)
		s.line = true
	case isLetter(c) || c == '\\' && (s.peek(1) == 'u' || s.peek(1) == 'U'):
		s.word()
		if s.at < len(s.data) && (s.data[s.at] == '"' || s.data[s.at] == '\'') && isPrefix(string(s.data[start:s.at]), s.data[s.at]) {
			s.quoted(start)
			return true
		}
		s.emit(tIdent, start)
	case c >= '0' && c <= '9' || c == '.' && isDigit(s.peek(1)):
		s.number()
		s.emit(tNumber, start)
	case c == '"' || c == '\'':
		s.quoted(start)
	default:
		s.punct()
		s.emit(tPunct, start)
	}
	return true
}

func (s *scanner) toLineEnd() {
	for s.at < len(s.data) && s.data[s.at] != '\n' {
		if n := s.spliced(s.at); n > 0 {
			s.at += n
			continue
		}
		s.at++
	}
}

// directive runs to the end of a # line. A comment that begins in it may end
// on a later line, which is then part of it.
func (s *scanner) directive() {
	for s.at < len(s.data) && s.data[s.at] != '\n' {
		if n := s.spliced(s.at); n > 0 {
			s.at += n
			continue
		}
		c := s.data[s.at]
		switch {
		case c == '/' && s.peek(1) == '*':
			end := bytes.Index(s.data[s.at+2:], []byte("*/"))
			if end < 0 {
				s.at = len(s.data)
				return
			}
			s.at += end + 4
		case c == '/' && s.peek(1) == '/':
			s.toLineEnd()
		case c == '"' || c == '\'':
			s.at++
			for s.at < len(s.data) && s.data[s.at] != '\n' && s.data[s.at] != c {
				if s.data[s.at] == '\\' && s.spliced(s.at) == 0 && s.at+1 < len(s.data) && s.data[s.at+1] != '\n' {
					s.at++
				} else if n := s.spliced(s.at); n > 0 {
					s.at += n - 1
				}
				s.at++
			}
			if s.at < len(s.data) && s.data[s.at] == c {
				s.at++
			}
		default:
			s.at++
		}
	}
	if s.at > 0 && s.at <= len(s.data) && s.data[s.at-1] == '\r' {
		s.at--
	}
}

func isLetter(c byte) bool {
	return c == '_' || c == '$' || c == '@' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (s *scanner) word() {
	for s.at < len(s.data) {
		c := s.data[s.at]
		switch {
		case isLetter(c) || isDigit(c):
			s.at++
		case c == '\\' && (s.peek(1) == 'u' || s.peek(1) == 'U'):
			s.at += 2
		case s.spliced(s.at) > 0 && s.at+s.spliced(s.at) < len(s.data) && (isLetter(s.data[s.at+s.spliced(s.at)]) || isDigit(s.data[s.at+s.spliced(s.at)])):
			return // an identifier split over lines: two words, which nobody writes
		default:
			return
		}
	}
}

// number is a preprocessing number (C11 6.4.8), with C++'s digit separators.
func (s *scanner) number() {
	for s.at < len(s.data) {
		c := s.data[s.at]
		switch {
		case (c == '+' || c == '-') && s.at > 0 && strings.IndexByte("eEpP", s.data[s.at-1]) >= 0:
			// 0xE+1 is one number for the preprocessor, too
		case isLetter(c) || isDigit(c) || c == '.':
		case c == '\'' && s.cpp && s.at+1 < len(s.data) && (isLetter(s.data[s.at+1]) || isDigit(s.data[s.at+1])):
		default:
			return
		}
		s.at++
	}
}

func isPrefix(word string, quote byte) bool {
	switch word {
	case "L", "u", "U", "u8":
		return true
	case "R", "LR", "uR", "UR", "u8R":
		return quote == '"'
	}
	return false
}

// quoted reads a string or character; s.at stands at its quote.
func (s *scanner) quoted(start int) {
	q := s.data[s.at]
	kind := tString
	if q == '\'' {
		kind = tChar
	}
	if s.at > start && s.data[s.at-1] == 'R' && q == '"' {
		if open := bytes.IndexByte(s.data[s.at:], '('); open > 0 && open < 20 {
			close := append([]byte(")"), s.data[s.at+1:s.at+open]...)
			close = append(close, '"')
			if end := bytes.Index(s.data[s.at+open:], close); end >= 0 {
				s.at += open + end + len(close)
				s.emit(kind, start)
				return
			}
		}
	}
	s.at++
	for s.at < len(s.data) && s.data[s.at] != q {
		if s.data[s.at] == '\n' { // unclosed: it ends with its line
			break
		}
		if s.data[s.at] == '\\' {
			if n := s.spliced(s.at); n > 0 {
				s.at += n
				continue
			}
			if s.at+1 < len(s.data) && s.data[s.at+1] != '\n' {
				s.at++
			}
		}
		s.at++
	}
	if s.at < len(s.data) && s.data[s.at] == q {
		s.at++
	}
	if s.cpp { // a literal's suffix
		for s.at < len(s.data) && (s.data[s.at] == '_' || kind == tString && s.data[s.at] == 's' || isLetter(s.data[s.at]) && s.data[s.at-1] == '_') {
			s.word()
		}
	}
	s.emit(kind, start)
}

var puncts = []string{
	"<<=", ">>=", "...", "->*", "<=>",
	"->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "::", "##", ".*",
}

func (s *scanner) punct() {
	rest := s.data[s.at:]
	for _, p := range puncts {
		if len(rest) >= len(p) && string(rest[:len(p)]) == p {
			if !s.cpp && (p == "::" || p == "->*" || p == "<=>" || p == ".*") {
				continue
			}
			s.at += len(p)
			return
		}
	}
	s.at++
}
