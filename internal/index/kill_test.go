package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"flowplan/internal/flowtest/minilang"
	"flowplan/internal/lang"
	"flowplan/internal/rootfs"
)

func TestMain(m *testing.M) {
	if root := os.Getenv("INDEX_CHILD_ROOT"); root != "" {
		child(root, os.Getenv("INDEX_CHILD_DB"))
		return
	}
	os.Exit(m.Run())
}

// child indexes the root into the database until it is killed.
func child(root, db string) {
	fs, err := rootfs.Open(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	reg, err := lang.NewRegistry(minilang.Python())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready")
	for {
		ix, err := Open(bg, Config{FS: fs, Languages: reg, Database: db})
		if err == nil {
			_, err = ix.Refresh(bg)
			ix.Close()
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
}

// Whenever an indexer is killed, the next one ends with the index built from
// nothing.
func TestKilled(t *testing.T) {
	x := newFixture(t)
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		for i := range 60 {
			x.write(fmt.Sprintf("d/f%d.py", i), fmt.Sprintf("def g%d_%d(): pass\nclass C%d:\n    def m(self): pass\n", i, round, i))
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "INDEX_CHILD_ROOT="+x.dir, "INDEX_CHILD_DB="+x.db)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 6)
		if _, err := out.Read(line); err != nil || string(line) != "ready\n" {
			t.Fatalf("child: %q %v", line, err)
		}
		time.Sleep(time.Duration(rand.IntN(15_000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		ix := x.open(x.db, nil)
		refresh(t, ix)
		full := x.open("", nil)
		refresh(t, full)
		if got, want := names(t, ix), names(t, full); got != want {
			t.Fatalf("round %d: the index differs from a full one", round)
		}
		n := fmt.Sprintf("g7_%d", round)
		if got, err := ix.Named(bg, n); err != nil || len(got) != 1 {
			t.Fatalf("round %d: %s: %v %v", round, n, got, err)
		}
		ix.Close()
		full.Close()
	}
}
