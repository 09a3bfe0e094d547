// Package python_test compares flowplan's graphs of Python with the bytecode
// that CPython makes of the same code; see compare.py and DIFFERENCES.md. It
// needs a python3 of version 3.11 or later: without one it fails.
package python_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func python(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("python3", args...).CombinedOutput()
	if err != nil {
		t.Errorf("python3 %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// build makes the flowplan that is compared.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "flowplan")
	if out, err := exec.Command("go", "build", "-o", binary, "flowplan/cmd/flowplan").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

func logEnd(t *testing.T, out string) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	t.Log("\n" + strings.Join(lines[max(0, len(lines)-7):], "\n"))
}

// TestOwn runs the oracle's own tests.
func TestOwn(t *testing.T) { python(t, "test_oracle.py") }

// TestKinds wants every function equal in the file of what was once different.
func TestKinds(t *testing.T) {
	logEnd(t, python(t, "compare.py", "--flowplan", build(t), "--floors", "cfg=100,du=100", "--files", "testdata/kinds.py"))
}

// TestStandardLibrary compares every 25th file. In the whole of it, 99.99 % of
// the functions are equal.
func TestStandardLibrary(t *testing.T) {
	logEnd(t, python(t, "compare.py", "--flowplan", build(t), "--sample", "25", "--floors", "cfg=99.9,du=99.9"))
}

// TestNegativeControl damages graphs and wants that to be noticed.
func TestNegativeControl(t *testing.T) {
	logEnd(t, python(t, "compare.py", "--flowplan", build(t), "--mutate", "400"))
}

// TestByID asks for each function of a file by its name.
func TestByID(t *testing.T) {
	binary := build(t)
	const path = "testdata/kinds.py"
	graph := func(args ...string) []string {
		out, err := exec.Command(binary, append([]string{"graph", path, "--json"}, args...)...).Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		var file struct {
			Functions []struct{ ID string }
			Function  struct{ ID string }
		}
		if err := json.Unmarshal(out, &file); err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, f := range append(file.Functions, file.Function) {
			if f.ID != "" {
				ids = append(ids, f.ID)
			}
		}
		return ids
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	for _, id := range graph() {
		if got := graph("--function", strings.TrimPrefix(id, path+":")); len(got) != 1 || got[0] != id {
			t.Errorf("%s: found %v", id, got)
		}
	}
}
