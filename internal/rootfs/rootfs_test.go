package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func open(t *testing.T) (*FS, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, f.Root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	f, root := open(t)
	write(t, filepath.Join(root, "a/b c\n.py"), "x = 1\n")
	data, st, err := f.Read("a/b c\n.py", 100)
	if err != nil || string(data) != "x = 1\n" || st.Size != 6 {
		t.Fatalf("got %q %v %v", data, st, err)
	}
	if _, _, err := f.Read("a/b c\n.py", 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("above the limit: %v", err)
	}
	if _, _, err := f.Read("a", 3); !errors.Is(err, ErrNotRegular) {
		t.Errorf("directory: %v", err)
	}
	if head, err := f.Head("a/b c\n.py", 2); err != nil || string(head) != "x " {
		t.Errorf("head: %q %v", head, err)
	}
}

func TestNeverLeaves(t *testing.T) {
	f, root := open(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.py"), "s")
	write(t, filepath.Join(root, "in/x.py"), "s")
	for link, target := range map[string]string{"link.py": outside + "/secret.py", "dir": outside, "inner": "in"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "fifo.py"), 0o600); err != nil {
		t.Fatal(err)
	}
	for rel, want := range map[string]error{
		"link.py": ErrNotRegular, "dir/secret.py": fs.ErrNotExist, "inner/x.py": fs.ErrNotExist,
		"../x": ErrOutside, "/etc/passwd": ErrOutside, ".": ErrOutside, "fifo.py": ErrNotRegular, "in/x.py/y": fs.ErrNotExist,
	} {
		if _, _, err := f.Read(rel, 100); !errors.Is(err, want) {
			t.Errorf("read %s: got %v, want %v", rel, err, want)
		}
	}
}

func TestRel(t *testing.T) {
	f, root := open(t)
	link := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"a/./b.py": "a/b.py", root + "/a.py": "a.py", link + "/x/a.py": "x/a.py",
		"../a.py": "", "/etc/passwd": "", root: "", root + "x/a.py": "",
	} {
		got, ok := f.Rel(in)
		if got != want || ok != (want != "") {
			t.Errorf("Rel(%q) = %q %v, want %q", in, got, ok, want)
		}
	}
}
