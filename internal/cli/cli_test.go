package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"flowplan": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"code":     code,
		"fields":   fields,
	})
}

// code runs a command and wants an exit code: `exec code 2 flowplan of`.
func code() {
	want := os.Args[1]
	if os.Args[2] != "flowplan" {
		panic("only flowplan")
	}
	got := Main(os.Args[3:], os.Stdin, os.Stdout, os.Stderr)
	if fmt.Sprint(got) != want {
		fmt.Fprintf(os.Stderr, "exit code %d, want %s\n", got, want)
		os.Exit(1)
	}
}

// fields prints the names of the fields of the JSON on standard input, nested
// ones by their path, arrays by their first element: `fields` pins a shape.
func fields() {
	dec := json.NewDecoder(os.Stdin)
	set := map[string]bool{}
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		walk("", v, set)
	}
	var names []string
	for n := range set {
		names = append(names, n)
	}
	slices.Sort(names)
	fmt.Println(strings.Join(names, "\n"))
}

func walk(at string, v any, set map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			set[at+k] = true
			walk(at+k+".", x, set)
		}
	case []any:
		for _, x := range v {
			walk(at, x, set)
		}
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("FLOWPLAN_HOME", env.WorkDir+"/.home")
			env.Setenv("HOME", env.WorkDir+"/.user")
			for _, k := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
				env.Setenv(k, "/dev/null")
			}
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				env.Setenv("GIT_"+who+"_NAME", "t")
				env.Setenv("GIT_"+who+"_EMAIL", "t@example.org")
			}
			return nil
		},
	})
}

// TestUsage: every command refuses what it does not know, and says where help is.
func TestUsage(t *testing.T) {
	for _, c := range newRoot().Commands() {
		var out, err bytes.Buffer
		if got := Main([]string{c.Name(), "--nonsense"}, strings.NewReader(""), &out, &err); got != 2 {
			t.Errorf("%s --nonsense: exit code %d", c.Name(), got)
		}
		if out.Len() > 0 || !strings.Contains(err.String(), "see `flowplan "+c.Name()+" --help`") {
			t.Errorf("%s --nonsense: stdout %q, stderr %q", c.Name(), out.String(), err.String())
		}
	}
}
