package flow

// Tokens estimates how many tokens of the o200k_base vocabulary a text takes,
// from above: budgets must hold for the real count. A test compares it with
// the real tokenizer.
func Tokens(s string) int {
	n := 0
	i := 0
	for i < len(s) {
		c := s[i]
		j := i + 1
		switch {
		case isLetter(c):
			for j < len(s) && isLetter(s[j]) && !(isUpper(s[j]) && !isUpper(s[j-1])) {
				j++
			}
			n += 1 + (j-i-1)/8
			if j-i > 3 && isUpper(s[i+1]) {
				n++ // capitals are seldom one token
			}
		case c >= '0' && c <= '9':
			for j < len(s) && j-i < 3 && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			n++
		case c == ' ':
			for j < len(s) && s[j] == ' ' {
				j++
			}
			if j-i > 1 || j == len(s) || !isLetter(s[j]) {
				n++ // one space goes with the word that follows it
			}
		case c >= 0x80:
			for j < len(s) && s[j] >= 0x80 {
				j++
			}
			n += (j - i + 1) / 2
		default:
			for j < len(s) && s[j] == c {
				j++
			}
			n += 1 + (j-i-1)/16
			if j < len(s) && isPunct(s[j]) && j-i == 1 && isPunct(c) {
				j++ // pairs such as `('` and `):` are mostly one token
			}
		}
		i = j
	}
	return n
}

func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool { return isUpper(c) || c >= 'a' && c <= 'z' }
func isPunct(c byte) bool {
	return c > ' ' && c < 0x7f && !isLetter(c) && !(c >= '0' && c <= '9')
}
