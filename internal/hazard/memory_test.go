package hazard_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"flowplan/internal/flow"
	"flowplan/internal/lang"
	"flowplan/internal/lang/c"
	"flowplan/internal/lang/cpp"
	"flowplan/internal/source"
)

func viewIn(t *testing.T, l *lang.Language, name, text, function string) *flow.View {
	t.Helper()
	f, err := flow.Parse(context.Background(), l, source.New(name, []byte(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := f.Lookup(function)
	if len(at) == 0 {
		t.Fatalf("no function %s in %q", function, text)
	}
	return f.View(at[0])
}

// memory holds, for each hazard of memory, an edit that introduces it and a
// proof: a main that makes AddressSanitizer say so.
type memory struct {
	name          string
	before, after string
	want          string
	main          string // statements; "" where there is nothing to prove
	says          string // what the sanitizer must print; "" if it must stay silent
}

var memoryCases = []memory{
	{"a use moved behind the free", `
int f(int n) {
    int *p = malloc(n * sizeof *p);
    p[0] = n;
    int r = p[0];
    free(p);
    return r;
}
`, `
int f(int n) {
    int *p = malloc(n * sizeof *p);
    p[0] = n;
    free(p);
    int r = p[0];
    return r;
}
`, "use_after_free certain 6 p", `f(3);`, "heap-use-after-free"},
	{"a free on one way that goes on to the other", `
int f(int n) {
    char *p = malloc(8);
    if (n > 3)
        return bad(p);
    p[0] = n;
    free(p);
    return 0;
}
`, `
int f(int n) {
    char *p = malloc(8);
    if (n > 3)
        free(p);
    p[0] = n;
    free(p);
    return 0;
}
`, "use_after_free certain 6 p", `f(4);`, "heap-use-after-free"},
	{"freed twice", `
void f(int n) {
    char *p = malloc(8);
    fill(p, n);
    free(p);
}
`, `
void f(int n) {
    char *p = malloc(8);
    if (!fill(p, n))
        free(p);
    free(p);
}
`, "double_free certain 6 p", `f(0);`, "attempting double-free"},
	{"freed at a label that a jump goes to", `
int f(int n) {
    int rc = -1;
    char *p = malloc(8);
    if (!fill(p, n))
        goto out;
    rc = 0;
out:
    free(p);
    return rc;
}
`, `
int f(int n) {
    int rc = -1;
    char *p = malloc(8);
    if (!fill(p, n)) {
        free(p);
        goto out;
    }
    rc = 0;
out:
    free(p);
    return rc;
}
`, "double_free certain 11 p", `f(0);`, "attempting double-free"},
	{"a field, through its owner", `
struct box { char *text; };
int f(struct box *b) {
    int r = b->text[0];
    free(b->text);
    b->text = 0;
    return r;
}
`, `
struct box { char *text; };
int f(struct box *b) {
    free(b->text);
    int r = b->text[0];
    b->text = 0;
    return r;
}
`, "use_after_free certain 5 b->text", `struct box b = { malloc(4) }; f(&b);`, "heap-use-after-free"},
	{"what was freed goes into a call", `
void f(int n) {
    char *p = malloc(8);
    fill(p, n);
    free(p);
}
`, `
void f(int n) {
    char *p = malloc(8);
    free((void *)p);
    fill(p, n);
}
`, "use_after_free certain 5 p", `f(1);`, "heap-use-after-free"},
	{"what was freed is returned", `
char *f(int n) {
    char *p = malloc(8);
    if (n)
        return p;
    free(p);
    return 0;
}
`, `
char *f(int n) {
    char *p = malloc(8);
    if (n)
        return p;
    free(p);
    return p;
}
`, "use_after_free certain 7 p", `return *f(0);`, "heap-use-after-free"},
	{"a loop that goes round with what it freed", `
int f(int n) {
    char *p = malloc(8);
    while (n-- > 0) {
        fill(p, n);
    }
    free(p);
    return n;
}
`, `
int f(int n) {
    char *p = malloc(8);
    while (n-- > 0) {
        fill(p, n);
        free(p);
    }
    return n;
}
`, "use_after_free possible 5 p", `f(2);`, "heap-use-after-free"},
	{"two conditions that exclude each other", `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    free(p);
    return r;
}
`, `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    if (n > 3)
        free(p);
    if (n <= 3)
        free(p);
    return r;
}
`, "double_free possible 8 p", `f(3); f(4);`, ""},
	{"a list walked by what is freed", `
struct node { struct node *next; };
void f(struct node *n) {
    while (n) {
        struct node *next = n->next;
        free(n);
        n = next;
    }
}
`, `
struct node { struct node *next; };
void f(struct node *n) {
    while (n) {
        free(n);
        n = n->next;
    }
}
`, "use_after_free certain 6 n", `f(calloc(1, sizeof(struct node)));`, "heap-use-after-free"},
	{"another value on the way", `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    return r;
}
`, `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    free(p);
    p = malloc(9);
    r += fill(p, n);
    free(p);
    p = 0;
    free(p);
    return r;
}
`, "", `f(3);`, ""},
	{"a pointer looked at, not through", `
int f(int n) {
    char *p = malloc(8);
    return fill(p, n);
}
`, `
int f(int n) {
    char *p = malloc(8);
    free(p);
    if (p)
        n++;
    return n;
}
`, "", `f(3);`, ""},
	{"whoever has its address may give it a value", `
int f(int n) {
    char *p = malloc(8);
    renew(&p);
    int r = fill(p, n);
    free(p);
    return r;
}
`, `
int f(int n) {
    char *p = malloc(8);
    free(p);
    renew(&p);
    int r = fill(p, n);
    free(p);
    return r;
}
`, "", `f(3);`, ""},
	{"whoever has the owner may give it a value", `
struct box { char *text; };
int f(struct box *b) {
    int r = b->text[0];
    free(b->text);
    return r;
}
`, `
struct box { char *text; };
int f(struct box *b) {
    free(b->text);
    restock(b);
    int r = b->text[0];
    free(b->text);
    return r;
}
`, "", `struct box b = { malloc(4) }; f(&b);`, ""},
	{"as it was before", `
int f(int n) {
    char *p = malloc(8);
    free(p);
    return fill(p, n);
}
`, `
int f(int n) {
    char *p = malloc(8);
    free(p);
    if (n > 3)
        n = 3;
    return fill(p, n);
}
`, "", "", ""},

	{"a return that forgets to free", `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    free(p);
    return r;
}
`, `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    if (r < 2)
        return -1;
    free(p);
    return r;
}
`, "unreleased possible 6 p", `f(1); if (live) abort();`, "AddressSanitizer: ABRT"},
	{"a return past the label that frees", `
int f(int n) {
    int rc = -1;
    char *p = malloc(8);
    if (!p)
        goto out;
    rc = fill(p, n);
out:
    free(p);
    return rc;
}
`, `
int f(int n) {
    int rc = -1;
    char *p = malloc(8);
    if (!p)
        goto out;
    if (n < 0)
        return rc;
    rc = fill(p, n);
out:
    free(p);
    return rc;
}
`, "unreleased possible 8 p", `f(-1); if (live) abort();`, "AddressSanitizer: ABRT"},
	{"a file that stays open", `
int f(const char *name) {
    FILE *in = fopen(name, "r");
    int c = fgetc(in);
    fclose(in);
    return c;
}
`, `
int f(const char *name) {
    FILE *in = fopen(name, "r");
    int c = fgetc(in);
    if (c == EOF)
        return -1;
    fclose(in);
    return c;
}
`, "unreleased possible 6 in", "", ""},
	{"nothing was taken", `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    free(p);
    return r;
}
`, `
int f(int n) {
    char *p = malloc(8);
    if (p == NULL)
        return -1;
    int r = fill(p, n);
    free(p);
    return r;
}
`, "", `f(1); if (live) abort();`, ""},
	{"it is given away", `
char *f(int n) {
    char *p = malloc(8);
    fill(p, n);
    free(p);
    return 0;
}
`, `
char *f(int n) {
    char *p = malloc(8);
    if (fill(p, n) > 3)
        return p;
    free(p);
    return 0;
}
`, "", "", ""},
	{"freed before the return", `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    free(p);
    return r;
}
`, `
int f(int n) {
    char *p = malloc(8);
    int r = fill(p, n);
    if (r < 2) {
        free(p);
        return -1;
    }
    free(p);
    return r;
}
`, "", `f(1); f(5); if (live) abort();`, ""},
}

// Edits after which nothing is unbound, although no variable is given a value in
// so many words.
func TestUnboundInC(t *testing.T) {
	for name, code := range map[string]struct {
		l    *lang.Language
		text string
	}{
		"an array":                   {c.Language, "int f(void) {\n    int v[3];\n    v[0] = 1;\n    return v[0] + v[1];\n}\n"},
		"an array that a call fills": {c.Language, "int f(int fd) {\n    char b[8];\n    fetch(fd, b, 8);\n    return b[0];\n}\n"},
		"a struct":                   {c.Language, "int f(void) {\n    struct box b;\n    b.w = 1;\n    return b.w + b.h;\n}\n"},
		"a struct of a type's name":  {c.Language, "int f(void) {\n    box b;\n    b.w = 1;\n    return b.h;\n}\n"},
		"an address that is passed":  {c.Language, "int f(void) {\n    int n;\n    parse(&n);\n    return n;\n}\n"},
		"a macro that is not known":  {c.Language, "int f(void) {\n    int n;\n    LOAD32(n, 3);\n    return n;\n}\n"},
		"a list of arguments":        {c.Language, "int f(int a, ...) {\n    va_list rest;\n    va_start(rest, a);\n    a = va_arg(rest, int);\n    va_end(rest);\n    return a;\n}\n"},
		"an object":                  {cpp.Language, "int f() {\n    std::vector<int> v;\n    v.push_back(1);\n    std::string s;\n    s += 'x';\n    return v[0] + s.size();\n}\n"},
		"passed by reference":        {cpp.Language, "int f(Parser& p) {\n    int n;\n    p.parse(n);\n    return n;\n}\n"},
		"read from a stream":         {cpp.Language, "int f(std::istream& in) {\n    int n;\n    while (in >> n)\n        use(n);\n    return 0;\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			compare(t, viewIn(t, code.l, "f.c", "int f() {\n    return 0;\n}\n", "f"), viewIn(t, code.l, "f.c", code.text, "f"), "")
		})
	}
	compare(t, viewIn(t, c.Language, "f.c", "int f(void) {\n    return 0;\n}\n", "f"), viewIn(t, c.Language, "f.c", "int f(void) {\n    int n;\n    return n;\n}\n", "f"), "unbound_use certain 3 n")
}

// deletes hold edits of C++, and for those of memory a main that makes
// AddressSanitizer bear it out (under the build tag crash, as it takes g++).
var deletes = []struct{ before, after, want, main, says string }{
	{"int f(Node* n) {\n    int r = n->size;\n    delete n;\n    return r;\n}\n", "int f(Node* n) {\n    delete n;\n    int r = n->size;\n    return r;\n}\n",
		"use_after_free certain 3 n", "f(new Node);", "heap-use-after-free"},
	{"int f(int* v) {\n    delete[] v;\n    return 0;\n}\n", "int f(int* v) {\n    delete[] v;\n    if (v[0])\n        return 1;\n    return 0;\n}\n",
		"use_after_free certain 3 v", "f(new int[3]);", "heap-use-after-free"},
	{"void f(Node* n) {\n    delete n;\n}\n", "void f(Node* n) {\n    if (n->size)\n        delete n;\n    delete n;\n}\n",
		"double_free certain 4 n", "f(new Node{1});", "attempting double-free"},
	{"int f(int n) {\n    int* v = new int[n];\n    int r = fill(v, n);\n    delete[] v;\n    return r;\n}\n",
		"int f(int n) {\n    int* v = new int[n];\n    int r = fill(v, n);\n    if (r < 0)\n        throw r;\n    delete[] v;\n    return r;\n}\n", "unreleased possible 5 v", "", ""},
	{"int f(int n) {\n    auto v = std::make_unique<int>(n);\n    return *v;\n}\n",
		"int f(int n) {\n    auto v = std::make_unique<int>(n);\n    if (n > 3)\n        return 1;\n    return *v;\n}\n", "", "", ""},
}

func TestDelete(t *testing.T) {
	for _, d := range deletes {
		compare(t, viewIn(t, cpp.Language, "f.cc", d.before, "f"), viewIn(t, cpp.Language, "f.cc", d.after, "f"), d.want)
	}
}

// preamble counts what is taken and not given back, and has the functions that
// the cases call.
const preamble = `
#include <stdio.h>
#include <stdlib.h>
static int live;
static int fill(char *p, int n) { p[0] = n; return n; }
static int bad(char *p) { free(p); return -1; }
static void renew(char **p) { *p = malloc(8); }
#define malloc(n) (live++, malloc(n))
#define free(p) (live -= (p) != 0, free(p))
struct box;
void restock(struct box *b) { *(char **)b = calloc(1, 4); }
`

func TestMemory(t *testing.T) {
	for _, m := range memoryCases {
		t.Run(m.name, func(t *testing.T) {
			before, after := viewIn(t, c.Language, "f.c", m.before, "f"), viewIn(t, c.Language, "f.c", m.after, "f")
			compare(t, before, after, m.want)
			if m.main == "" {
				return
			}
			out := sanitized(t, "gcc", "f.c", preamble+m.after+"int main(void) { "+m.main+" return 0; }\n")
			if m.says == "" && strings.Contains(out, "AddressSanitizer") || !strings.Contains(out, m.says) {
				t.Errorf("the sanitizer does not bear it out: expected %q\n%s", m.says, out)
			}
		})
	}
}

// sanitized builds and runs a program under AddressSanitizer, without its
// search for leaks, which not every machine allows.
func sanitized(t *testing.T, compiler, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, name), filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-g", "-w", "-O0", "-fsanitize=address", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%s -fsanitize=address: install it with its sanitizers (Debian: %s; Fedora: and libasan): %v\n%s", compiler, compiler, err, out)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0:handle_abort=1")
	out, _ := cmd.CombinedOutput() // it is meant to fail
	return string(out)
}

// returns holds edits that let a function fall off its end.
var returns = []struct {
	name          string
	before, after string
	want          string
}{
	{"a path that forgets the value", "int f(int n) {\n    if (n)\n        return 1;\n    return 2;\n}\n", "int f(int n) {\n    if (n)\n        return 1;\n    n = 2;\n}\n", "missing_return certain 4"},
	{"no value at all any more", "int f(int n) {\n    return n;\n}\n", "int f(int n) {\n    n++;\n}\n", "missing_return certain 2"},
	{"nothing is left", "const char *f(int n) {\n    return 0;\n}\n", "const char *f(int n) {\n}\n", "missing_return certain 1"},
	{"void", "void f(int n) {\n    if (n)\n        return;\n    n = 2;\n}\n", "void f(int n) {\n    if (n)\n        n = 2;\n}\n", ""},
	{"a call that never returns", "int f(int n) {\n    if (n)\n        return 1;\n    return 2;\n}\n", "int f(int n) {\n    if (n)\n        return 1;\n    abort();\n}\n", ""},
	{"a loop without an end", "int f(int n) {\n    return n;\n}\n", "int f(int n) {\n    for (;;)\n        if (n++ > 3)\n            return n;\n}\n", ""},
	{"a switch without default", "int f(int n) {\n    switch (n) {\n    case 1:\n        return 1;\n    default:\n        return 2;\n    }\n}\n", "int f(int n) {\n    switch (n) {\n    case 1:\n        return 1;\n    }\n}\n", "missing_return certain 2"},
}

// What falls off the end, gcc warns of too.
func TestMissingReturn(t *testing.T) {
	for _, r := range returns {
		t.Run(r.name, func(t *testing.T) {
			compare(t, viewIn(t, c.Language, "f.c", r.before, "f"), viewIn(t, c.Language, "f.c", r.after, "f"), r.want)
			file := filepath.Join(t.TempDir(), "f.c")
			if err := os.WriteFile(file, []byte("void abort(void);\n"+r.after), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("gcc", "-S", "-o", os.DevNull, "-Werror=return-type", "-O0", file).CombinedOutput()
			if (err != nil) != (r.want != "") {
				t.Errorf("gcc does not bear it out: %v\n%s", err, out)
			}
		})
	}
	main := viewIn(t, c.Language, "f.c", "int main(void) {\n    return 0;\n}\n", "main")
	compare(t, main, viewIn(t, c.Language, "f.c", "int main(void) {\n    f();\n}\n", "main"), "")
}
