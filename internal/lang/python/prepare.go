package python

import "bytes"

// prepare writes newer Python in the words of the grammar, byte for byte: the
// tree then has the right shape, and whoever reads a token looks at the file to
// see what it was.
//
//	t"..."                 f"..."
//	except A, B, C:        except A| B| C:
//	except *A:             except* A:
//	class C[T = int]:      class C[T | int]:
//
// Where a line inside brackets has less indentation than its statement, the
// grammar ends the block: the line is joined to the one before. A comment left
// of a decorator does the same between it and its def: it is blanked.
func prepare(data []byte) []byte {
	s := scanner{data: data}
	var out []byte
	set := func(i int, c byte) {
		if out == nil {
			out = bytes.Clone(data)
		}
		out[i] = c
	}
	s.onPrefix = func(start, quote int) {
		for i := start; i < quote; i++ {
			if data[i]|0x20 == 't' {
				set(i, 'f')
			}
		}
	}
	s.onLine = func(start int) { prepareLine(data, start, set) }
	s.onDedent = func(from, to int) {
		for i := from; i <= to; i++ {
			set(i, ' ')
		}
	}
	s.onComment = func(from, to int) {
		for i := from; i < to; i++ {
			set(i, ' ')
		}
	}
	s.scan()
	if out == nil {
		return data
	}
	return out
}

func prepareLine(data []byte, start int, set func(int, byte)) {
	word, at := nextWord(data, start)
	switch word {
	case "except":
		prepareExcept(data, at, set)
	case "type":
		// type(x).y = z is no alias: the word gets a capital
		if next, _ := nextWord(data, at); next == "" {
			set(at-len(word), 'T')
			return
		}
		_, at = nextWord(data, at)
		prepareAfterName(data, at, set)
	case "async":
		if word, at = nextWord(data, at); word != "def" {
			return
		}
		fallthrough
	case "def", "class":
		_, at = nextWord(data, at)
		prepareAfterName(data, at, set)
	}
}

func prepareAfterName(data []byte, at int, set func(int, byte)) {
	for at < len(data) && (data[at] == ' ' || data[at] == '\t') {
		at++
	}
	if at < len(data) && data[at] == '[' {
		prepareTypeParams(data, at, set)
	}
}

func nextWord(data []byte, at int) (string, int) {
	for at < len(data) && (data[at] == ' ' || data[at] == '\t') {
		at++
	}
	start := at
	for at < len(data) && isWord(data[at]) {
		at++
	}
	return string(data[start:at]), at
}

// prepareExcept puts bars for the commas that the grammar does not know: it
// reads one comma, as in Python 2, and none after except*.
func prepareExcept(data []byte, at int, set func(int, byte)) {
	group := false
	i := at
	for i < len(data) && (data[i] == ' ' || data[i] == '\t') {
		i++
	}
	if i < len(data) && data[i] == '*' {
		group = true
		if i > at {
			set(at, '*')
			set(i, ' ')
		}
		i++
	}
	depth := 0
	var commas []int
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			commas = append(commas, i)
		case c == '#' || c == '\n' && depth == 0 || c == '"' || c == '\'':
			return
		case c == ':' && depth == 0:
			if group || len(commas) > 1 {
				for _, k := range commas {
					set(k, '|')
				}
			}
			return
		}
	}
}

// prepareTypeParams puts a bar for the equals sign of a default.
func prepareTypeParams(data []byte, at int, set func(int, byte)) {
	depth := 0
	var equals []int
	for i := at; i < len(data); i++ {
		switch c := data[i]; c {
		case '[', '(', '{':
			depth++
		case ')', ']', '}':
			depth--
			if depth == 0 {
				for _, k := range equals {
					set(k, '|')
				}
				return
			}
		case '=':
			if depth != 1 || i+1 < len(data) && data[i+1] == '=' {
				return
			}
			equals = append(equals, i)
		}
	}
}

// scanner finds strings and the starts of logical lines. Brackets left open do
// not hold it up: a line that begins with a keyword of a statement is a new one.
type scanner struct {
	data     []byte
	unclosed bool                   // the string just reported has no end
	onPrefix func(start, quote int) // the letters before a string's quote
	onString func(start, end int)
	onLine   func(start int) // first byte of a physical line that is not in a string
	// onDedent gets the end of a line in brackets, with its comment, before a
	// line of less indentation than that of the statement.
	onDedent func(from, to int)
	// onComment gets a comment between a decorator and its def that stands
	// left of both.
	onComment func(from, to int)
}

// dedents reports whether the next line that is not blank stands left of
// indent and goes on with what the brackets hold; starts says that it begins a
// statement, so that a bracket must have been left open.
func (s *scanner) dedents(newline, indent int) (dedents, starts bool) {
	begin := newline + 1
	for i := begin; i < len(s.data); i++ {
		switch s.data[i] {
		case ' ', '\t', '\f', '\r':
			continue
		case '\n':
			begin = i + 1
			continue
		}
		switch word, _ := nextWord(s.data, i); word {
		case "def", "class", "return", "while", "with", "try", "raise", "pass", "break", "continue", "del", "global", "nonlocal",
			"assert", "import", "except", "finally", "elif":
			return false, true
		}
		return i-begin < indent, false
	}
	return false, true
}

func (s *scanner) scan() {
	d := s.data
	lineStart := true
	depth, indent := 0, 0
	decorated := false                // the last line that holds code begins with a decorator
	ends := func(from, newline int) { // a line ends, from is where its comment begins
		lineStart = true
		if depth == 0 {
			return
		}
		dedents, starts := s.dedents(newline, indent)
		if starts {
			depth = 0
		} else if dedents && s.onDedent != nil {
			s.onDedent(from, newline)
		}
	}
	for i := 0; i < len(d); {
		if lineStart {
			lineStart = false
			begin := i
			for i < len(d) && (d[i] == ' ' || d[i] == '\t' || d[i] == '\f') {
				i++
			}
			if depth == 0 && i < len(d) && d[i] != '\n' && d[i] != '\r' && d[i] != '#' {
				indent = i - begin
				decorated = d[i] == '@'
			}
			if depth == 0 && decorated && i < len(d) && d[i] == '#' && i-begin < indent && s.onComment != nil {
				end := len(d)
				if n := bytes.IndexByte(d[i:], '\n'); n >= 0 {
					end = i + n
				}
				s.onComment(i, end)
				i = end
				continue
			}
			if s.onLine != nil && i < len(d) {
				switch d[i] {
				case 'e', 'd', 'c', 't', 'a':
					s.onLine(i)
				}
			}
			continue
		}
		switch c := d[i]; {
		case c == '\n':
			ends(len(bytes.TrimSuffix(bytes.TrimSuffix(d[:i], []byte("\r")), []byte("\\"))), i)
			i++
		case c == '#':
			n := bytes.IndexByte(d[i:], '\n')
			if n < 0 {
				return
			}
			ends(i, i+n)
			i += n + 1
		case c == '(' || c == '[' || c == '{':
			depth++
			i++
		case c == ')' || c == ']' || c == '}':
			depth = max(0, depth-1)
			i++
		case c == '"' || c == '\'':
			i = s.str(i, i, 0)
		case isWord(c):
			start := i
			for i < len(d) && isWord(d[i]) {
				i++
			}
			if i < len(d) && (d[i] == '"' || d[i] == '\'') && i-start <= 2 && isPrefix(d[start:i]) {
				i = s.str(start, i, 0)
			}
		default:
			i++
		}
	}
}

func isPrefix(w []byte) bool {
	for _, c := range w {
		switch c | 0x20 {
		case 'r', 'b', 'u', 'f', 't':
		default:
			return false
		}
	}
	return true
}

// str skips a string whose quote is at i and gives where it ends. One that is
// not closed ends with its line, or with the file.
func (s *scanner) str(start, i, depth int) int {
	d := s.data
	if s.onPrefix != nil && start < i {
		s.onPrefix(start, i)
	}
	format := bytes.ContainsAny(d[start:i], "fFtT")
	raw := bytes.ContainsAny(d[start:i], "rR")
	q := d[i]
	n := 1
	if i+2 < len(d) && d[i+1] == q && d[i+2] == q {
		n = 3
	}
	end := func(at int, unclosed bool) int {
		s.unclosed = unclosed
		if s.onString != nil && depth == 0 {
			s.onString(start, at)
		}
		return at
	}
	for i += n; i < len(d); {
		switch c := d[i]; {
		case c == '\\':
			i += 2 // in a raw string, too, a quote after a backslash does not end it
		case c == q && (n == 1 || i+2 < len(d) && d[i+1] == q && d[i+2] == q):
			return end(i+n, false)
		case c == '\n' && n == 1:
			return end(i, true)
		case c == '{' && format && depth < 20:
			if i+1 < len(d) && d[i+1] == '{' {
				i += 2
				continue
			}
			i = s.braces(i+1, depth, q, n, raw)
		default:
			i++
		}
	}
	return end(len(d), true)
}

// braces skips the expression in an f-string and what is nested in it.
func (s *scanner) braces(i, depth int, q byte, n int, raw bool) int {
	d := s.data
	open := 1
	spec := false
	for i < len(d) {
		switch c := d[i]; {
		case c == '{' || c == '[' || c == '(':
			open++
			i++
		case c == '}' || c == ']' || c == ')':
			open--
			i++
			if open <= 0 {
				return i
			}
		case c == '\n' && n == 1:
			return i
		case c == ':' && open == 1:
			spec = true
			i++
		case (c == '"' || c == '\'') && (spec || c == q && n == 3 && i+2 < len(d) && d[i+1] == q && d[i+2] == q):
			return i // the string ends here, whatever is missing
		case c == '"' || c == '\'':
			i = s.str(i, i, depth+1)
		case isWord(c):
			start := i
			for i < len(d) && isWord(d[i]) {
				i++
			}
			if i < len(d) && (d[i] == '"' || d[i] == '\'') && i-start <= 2 && isPrefix(d[start:i]) {
				i = s.str(start, i, depth+1)
			}
		default:
			i++
		}
	}
	return i
}
