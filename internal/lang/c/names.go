package c

import "strings"

// This file brings the names of functions in crash reports to the form that a
// file's definitions have: shop::Cheapest::operator(), without return type,
// template arguments, parameters and what compilers append.

// lambdaName is the name of a function without one: it is found by its line.
const lambdaName = "<lambda>"

// functionName cleans a demangled name, or demangles what is simple.
func functionName(s string) string {
	s = strings.TrimSpace(s)
	switch s {
	case "", "??", "<unknown>", "<null>":
		return ""
	case "operator()", "operator() const": // gcc's name for a lambda's body: a class's own has its class in front
		return lambdaName
	}
	s = mangled(s)
	for _, w := range []string{"{lambda", "<lambda", "'lambda", "::$_", "__lambda"} {
		if strings.Contains(s, w) {
			return lambdaName
		}
	}
	for _, anonymous := range []string{"(anonymous namespace)::", "{anonymous}::", "(anonymous class)::", "`anonymous namespace'::", "<unnamed>::"} {
		s = strings.ReplaceAll(s, anonymous, "")
	}
	s = withoutBrackets(s)
	s = strings.TrimSpace(s)
	for _, tail := range []string{" const", " volatile", " &&", " &", " noexcept"} {
		s = strings.TrimSpace(strings.TrimSuffix(s, tail))
	}
	s = withoutType(s)
	// f.constprop.0, f.part.1, f.cold, f@plt, f@@GLIBC_2.2.5
	if i := strings.IndexAny(s, ".@"); i > 0 && !strings.Contains(s, "operator") {
		s = s[:i]
	}
	return strings.TrimPrefix(s, "::")
}

// operatorAt is the length of `operator` and its signs at s[i]; 0 where there
// is none. The brackets of operator(), operator[], operator<, operator-> are no
// brackets.
func operatorAt(s string, i int) int {
	const word = "operator"
	if !strings.HasPrefix(s[i:], word) || i > 0 && isNameByte(s[i-1]) {
		return 0
	}
	n := len(word)
	rest := s[i+n:]
	for _, sign := range []string{"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "&&", "||", "++", "--", "==", "!=",
		"+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", ","} {
		if strings.HasPrefix(rest, sign) {
			return n + len(sign)
		}
	}
	if rest != "" && rest[0] == ' ' { // a conversion, new, delete
		return n
	}
	return 0
}

func isNameByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// withoutBrackets takes out template arguments, parameters and [clone ...].
func withoutBrackets(s string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		if n := operatorAt(s, i); n > 0 {
			if depth == 0 {
				b.WriteString(s[i : i+n])
			}
			i += n - 1
			continue
		}
		switch s[i] {
		case '(', '<', '[', '{':
			depth++
		case ')', '>', ']', '}':
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				b.WriteByte(s[i])
			}
		}
	}
	return b.String()
}

// withoutType takes the return type off the front.
func withoutType(s string) string {
	for i := range s {
		if operatorAt(s, i) > 0 {
			return s[strings.LastIndexByte(s[:i], ' ')+1:]
		}
	}
	return s[strings.LastIndexByte(s, ' ')+1:]
}

// mangled reads the names of _ZN4shop6lowestERKNS_..., as far as they are plain.
func mangled(s string) string {
	rest, ok := strings.CutPrefix(s, "_Z")
	if !ok {
		return s
	}
	rest = strings.TrimPrefix(rest, "N")
	rest = strings.TrimLeft(rest, "KVrLO") // const, volatile, static, & of the member
	var parts []string
	for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		n, i := 0, 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' && n < len(s) {
			n, i = n*10+int(rest[i]-'0'), i+1
		}
		if i+n > len(rest) {
			return s
		}
		if part := rest[i : i+n]; !strings.HasPrefix(part, "_GLOBAL__N") {
			parts = append(parts, part)
		}
		rest = rest[i+n:]
	}
	if len(parts) == 0 {
		return s
	}
	if (strings.HasPrefix(rest, "C1") || strings.HasPrefix(rest, "C2")) && strings.Contains(rest, "E") { // a constructor
		parts = append(parts, parts[len(parts)-1])
	} else if strings.HasPrefix(rest, "D1") || strings.HasPrefix(rest, "D2") || strings.HasPrefix(rest, "D0") {
		parts = append(parts, "~"+parts[len(parts)-1])
	}
	return strings.Join(parts, "::")
}
