//go:build crash

package hazard_test

import (
	"strings"
	"testing"
)

func TestDeleteProof(t *testing.T) {
	for _, d := range deletes {
		if d.main == "" {
			continue
		}
		out := sanitized(t, "g++", "f.cc", "struct Node { int size; };\n"+d.after+"int main() { "+d.main+" }\n")
		if !strings.Contains(out, d.says) {
			t.Errorf("the sanitizer does not bear out %q: expected %q\n%s", d.want, d.says, out)
		}
	}
}
