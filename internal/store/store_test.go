package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var bg = context.Background()

func TestFindHome(t *testing.T) {
	env := func(kv ...string) func(string) string {
		return func(k string) string {
			for i := 0; i < len(kv); i += 2 {
				if kv[i] == k {
					return kv[i+1]
				}
			}
			return ""
		}
	}
	h, err := FindHome(env("FLOWPLAN_HOME", "/fp", "HOME", "/home/me"))
	if err != nil || h.IndexDir != "/fp/index" || h.LedgerDir != "/fp/ledger" {
		t.Errorf("%+v %v", h, err)
	}
	h, err = FindHome(env("HOME", "/home/me", "XDG_STATE_HOME", "/state"))
	if err != nil || !strings.HasPrefix(h.IndexDir, "/home/me/") || h.LedgerDir != "/state/flowplan" {
		t.Errorf("%+v %v", h, err)
	}
	if _, err := FindHome(env()); err == nil || !strings.Contains(err.Error(), "FLOWPLAN_HOME") {
		t.Errorf("no home: %v", err)
	}
	if h.IndexFile("/a") == h.IndexFile("/b") || h.SessionLock("/a", "x") == h.SessionLock("/a", "y") {
		t.Error("two work trees or sessions share a file")
	}
}

func symbols(path string) []Symbol {
	return []Symbol{
		{Path: path, Language: "python", Name: "<module>", QualifiedName: "<module>", Ordinal: 1, Kind: "module", Line: 1, EndLine: 90, Parent: -1},
		{Path: path, Language: "python", Name: "C", QualifiedName: "C", Ordinal: 1, Kind: "class", Line: 3, EndLine: 9, Parent: 0},
		{Path: path, Language: "python", Name: "f", QualifiedName: "C.f", Ordinal: 1, Kind: "method", Line: 4, EndLine: 5, Parent: 1, Test: true},
		{Path: path, Language: "python", Name: "f", QualifiedName: "C.f", Ordinal: 2, Kind: "method", Line: 6, EndLine: 9, Parent: 1},
		{Path: path, Language: "python", Name: "odd name", QualifiedName: "Größe", Ordinal: 1, Kind: "lambda", Line: 5, EndLine: 5, Parent: 3},
	}
}

func TestOutlineCodec(t *testing.T) {
	want := symbols("a.py")
	data := encodeOutline(want)
	got, err := decodeOutline(data, "a.py", "python")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	var p packer
	for range 2 {
		long := slices.Repeat(want, 10)
		got, err := unpackOutline(p.pack(encodeOutline(long)), "a.py", "python")
		if err != nil || len(got) != len(long) || p.out.Len() == 0 {
			t.Errorf("packed: %d of %d, %v", len(got), len(long), err)
		}
	}
	for i := range data { // damage is an error or another outline, never a panic
		bad := bytes.Clone(data)
		bad[i] ^= 0xff
		decodeOutline(bad, "a.py", "python")
		decodeOutline(data[:i], "a.py", "python")
	}
}

func TestIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd ?#% dir", "ix.db")
	ix, note, err := OpenIndex(bg, path, "/root")
	if err != nil || note != "" || ix.Memory {
		t.Fatal(note, err)
	}
	up := func(p string) Update {
		return Update{File: File{Path: p, Language: "python", Stat: -5, Hash: "h", Racy: true}, Symbols: symbols(p)}
	}
	if err := ix.Write(bg, []Update{up("a.py"), up("b.py")}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := ix.Named(bg, "F"); err != nil || len(got) != 4 {
		t.Errorf("F: %v %v", got, err)
	}
	b := up("b.py")
	b.Symbols = b.Symbols[:2]
	if err := ix.Write(bg, []Update{b}, []string{"none.py"}); err != nil {
		t.Fatal(err)
	}
	if got, err := ix.Named(bg, "f"); err != nil || len(got) != 2 || got[0].Path != "a.py" {
		t.Errorf("f: %v %v", got, err)
	}
	if got, err := ix.Outline(bg, "b.py"); err != nil || cmp.Diff(symbols("b.py")[:2], got) != "" {
		t.Errorf("outline: %v %v", got, err)
	}
	if err := ix.Write(bg, nil, []string{"a.py"}); err != nil {
		t.Fatal(err)
	}
	files, err := ix.Files(bg)
	if err != nil || len(files) != 1 || files["b.py"].Stat != -5 || !files["b.py"].Racy {
		t.Errorf("files: %v %v", files, err)
	}
	if n, s, err := ix.Totals(bg); err != nil || n != 1 || s != 2 {
		t.Errorf("totals: %d %d %v", n, s, err)
	}
	ix.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	os.WriteFile(path, []byte("this is no database, but long enough to be taken for one"), 0o600)
	ix, note, err = OpenIndex(bg, path, "/root")
	if err != nil || note == "" || ix.Memory {
		t.Fatalf("unreadable index: %q %v", note, err)
	}
	ix.Close()
}

// Files whose ids would be the same stand side by side.
func TestSameID(t *testing.T) {
	ix, err := OpenMemoryIndex(bg, "/root")
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	// Others in the way of a.py, as if their paths hashed alike.
	for i := range int64(3) {
		if _, err := ix.db.Exec("INSERT INTO files VALUES(?, ?, '', 0, 0, x'', '', 0, x'00')", pathID("a.py")+i, fmt.Sprint("other", i)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := ix.Write(bg, []Update{{File: File{Path: "a.py", Language: "python"}, Symbols: symbols("a.py")}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ix.Outline(bg, "a.py"); err != nil || len(got) != 5 {
		t.Errorf("%v %v", got, err)
	}
	if files, err := ix.Files(bg); err != nil || len(files) != 4 {
		t.Errorf("%v %v", files, err)
	}
}

func TestUnwritableHome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	ix, note, err := OpenIndex(bg, filepath.Join(file, "sub", "ix.db"), "/root")
	if err != nil || !ix.Memory || !strings.Contains(note, "FLOWPLAN_HOME") {
		t.Fatalf("index: %q %v", note, err)
	}
	if err := ix.Write(bg, []Update{{File: File{Path: "a"}, Symbols: symbols("a")}}, nil); err != nil {
		t.Error(err)
	}
	if got, err := ix.Named(bg, "f"); err != nil || len(got) != 2 {
		t.Error(got, err)
	}
	ix.Close()
	l, note, err := OpenLedger(bg, filepath.Join(file, "sub", "l.db"), "/root")
	if err != nil || !l.Memory || !strings.Contains(note, "in memory") {
		t.Fatalf("ledger: %q %v", note, err)
	}
	l.Close()
}

func TestLedgerIsNeverLost(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l.db")
	garbage := strings.Repeat("not a database ", 400)
	os.WriteFile(path, []byte(garbage), 0o600)
	l, note, err := OpenLedger(bg, path, "/root")
	if err != nil || l.Memory || !strings.Contains(note, "moved to") {
		t.Fatalf("%q %v", note, err)
	}
	l.Close()
	moved, _ := filepath.Glob(path + ".unreadable-*")
	if len(moved) != 1 {
		t.Fatalf("moved: %v", moved)
	}
	if text, err := os.ReadFile(moved[0]); err != nil || string(text) != garbage {
		t.Errorf("the old file changed: %v", err)
	}
	l, _, err = OpenLedger(bg, path, "/root")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	l, note, err = OpenLedger(bg, path, "/root")
	if err != nil || !l.Memory || !strings.Contains(note, "newer flowplan") {
		t.Errorf("newer: %q %v", note, err)
	}
	l.Close()
}

func TestSeveralWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.db")
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			l, _, err := OpenLedger(bg, path, "/root")
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			for i := range 20 {
				err := l.Update(bg, func(tx *LedgerTx) error {
					if _, err := tx.Plans(); err != nil {
						return err
					}
					return tx.AddEvent(Event{Time: time.Now(), Session: fmt.Sprint(g), Event: "plan", Data: fmt.Appendf(nil, "%d", i)})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	l, _, err := OpenLedger(bg, path, "/root")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.View(bg, func(tx *LedgerTx) error {
		events, err := tx.Events()
		if err != nil || len(events) != 120 {
			t.Errorf("%d events, %v", len(events), err)
		}
		return nil
	})
}
