package lang

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"flowplan/internal/source"
)

func fake(name string, detect string, ext ...string) *Language {
	l := &Language{
		Name: name, Extensions: ext, Separator: ".",
		Parse: func(context.Context, *source.File, Options) (Tree, error) { return nil, nil },
	}
	if detect != "" {
		l.Detect = func(_ string, head []byte) bool { return bytes.Contains(head, []byte(detect)) }
	}
	return l
}

func TestForPath(t *testing.T) {
	r, err := NewRegistry(fake("py", "#!python", ".py"), fake("c", "int", ".c", ".h"), fake("cpp", "class", ".cc", ".h"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, head, want string }{
		{"a.py", "", "py"}, {"A.PY", "", "py"}, {"a.h", "class X", "cpp"}, {"a.h", "", "c"},
		{"script", "#!python", "py"}, {"README", "text", ""}, {".profile", "x", ""}, {"a.txt", "#!python", ""},
	} {
		got := ""
		if l := r.ForPath(c.path, []byte(c.head)); l != nil {
			got = l.Name
		}
		if got != c.want {
			t.Errorf("%s with %q: got %q, want %q", c.path, c.head, got, c.want)
		}
	}
	if r.NeedsHead("a.py") || !r.NeedsHead("a.h") || !r.NeedsHead("script") || r.NeedsHead("a.txt") {
		t.Error("NeedsHead is wrong")
	}
}

func TestValidate(t *testing.T) {
	for want, langs := range map[string][]*Language{
		"twice":      {fake("a", "", ".a"), fake("a", "", ".b")},
		"no Detect":  {fake("a", "x", ".a"), fake("b", "", ".a")},
		"extension":  {fake("a", "", "a")},
		"lower case": {fake("A", "", ".a")},
		"lacks":      {{Name: "a"}},
		"nil":        {nil},
	} {
		if _, err := NewRegistry(langs...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
