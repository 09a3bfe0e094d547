package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var bg = context.Background()

// tree is a repository under test.
type tree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T) *tree {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_CONFIG_SYSTEM", "/dev/null")
	tr := &tree{t, t.TempDir()}
	tr.git("init", "-q", "-b", "main")
	return tr
}

func (tr *tree) git(args ...string) string {
	tr.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = tr.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		tr.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (tr *tree) write(name, text string) {
	tr.t.Helper()
	p := filepath.Join(tr.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) remove(name string) {
	tr.t.Helper()
	if err := os.RemoveAll(filepath.Join(tr.dir, name)); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) commit() string {
	tr.t.Helper()
	tr.git("add", "-A")
	tr.git("commit", "-q", "-m", "c", "--allow-empty")
	return tr.git("rev-parse", "HEAD")
}

func (tr *tree) open() *Repo {
	tr.t.Helper()
	r, err := Open(bg, tr.dir)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(func() { r.Close() })
	return r
}

// check compares Differences from HEAD with lines like "modified a.py" and
// "renamed a.py b.py".
func (tr *tree) check(want ...string) {
	tr.t.Helper()
	r := tr.open()
	head, err := r.Head(bg)
	if err != nil {
		tr.t.Fatal(err)
	}
	diffs, err := r.Differences(bg, head)
	if err != nil {
		tr.t.Fatal(err)
	}
	var got []string
	for _, d := range diffs {
		line := string(d.Status) + " " + d.Path
		if d.Status == Renamed {
			line = string(d.Status) + " " + d.OldPath + " " + d.Path
		}
		if d.Conflict {
			line += " conflict"
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		tr.t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func body(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line number %d of a file\n", i)
	}
	return b.String()
}

func TestOpen(t *testing.T) {
	tr := newTree(t)
	tr.write("sub/a.py", "x\n")
	tr.commit()
	r, err := Open(bg, filepath.Join(tr.dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Root != real(tr.dir, ".") || r.GitDir != filepath.Join(r.Root, ".git") || r.CommonDir != r.GitDir {
		t.Errorf("got %+v", r)
	}
	if _, err := Open(bg, t.TempDir()); !errors.Is(err, ErrNotRepository) {
		t.Errorf("no repository: %v", err)
	}
	if _, err := Open(bg, filepath.Join(tr.dir, "nowhere")); !errors.Is(err, ErrNotRepository) {
		t.Errorf("no directory: %v", err)
	}
	if _, err := Open(bg, filepath.Join(tr.dir, ".git")); !errors.Is(err, ErrNotRepository) {
		t.Errorf("git directory: %v", err)
	}
	bare := filepath.Join(t.TempDir(), "bare")
	tr.git("clone", "-q", "--bare", ".", bare)
	if _, err := Open(bg, bare); !errors.Is(err, ErrNotRepository) {
		t.Errorf("bare: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(bg, tr.dir); !errors.Is(err, ErrNoGit) {
		t.Errorf("no git: %v", err)
	}
}

func TestUnsafe(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs chown")
	}
	tr := newTree(t)
	if err := os.Chown(tr.dir, 12345, 12345); err != nil {
		t.Skip(err)
	}
	if err := os.Chown(filepath.Join(tr.dir, ".git"), 12345, 12345); err != nil {
		t.Skip(err)
	}
	if _, err := Open(bg, tr.dir); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "safe.directory") {
		t.Errorf("got %v", err)
	}
}

func TestWorktree(t *testing.T) {
	tr := newTree(t)
	tr.write("a.py", "x\n")
	tr.commit()
	other := filepath.Join(t.TempDir(), "wt")
	tr.git("worktree", "add", "-q", other)
	a := tr.open()
	b, err := Open(bg, other)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if !a.SameRepository(b) || a.Root == b.Root || a.GitDir == b.GitDir {
		t.Errorf("got %+v and %+v", a, b)
	}
	tr.write("a.py", "y\n")
	head, _ := b.Head(bg)
	if d, err := b.Differences(bg, head); err != nil || len(d) != 0 {
		t.Errorf("a change in one work tree shows in the other: %v %v", d, err)
	}
	tr.check("modified a.py")
}

func TestCommits(t *testing.T) {
	tr := newTree(t)
	r := tr.open()
	if head, err := r.Head(bg); err != nil || head != "" {
		t.Errorf("no commit yet: %q %v", head, err)
	}
	tr.write("a.py", "1\n")
	tr.write("odd\nname \"q\" ä.py", "odd\n")
	tr.check("added a.py", "added odd\nname \"q\" ä.py")
	first := tr.commit()
	tr.write("a.py", "2\n")
	second := tr.commit()
	tr.git("checkout", "-q", "--detach")
	if head, err := r.Head(bg); err != nil || head != second {
		t.Errorf("head: %q %v", head, err)
	}
	if ok, err := r.IsAncestor(bg, first, second); err != nil || !ok {
		t.Errorf("ancestor: %v %v", ok, err)
	}
	if ok, err := r.IsAncestor(bg, second, first); err != nil || ok {
		t.Errorf("no ancestor: %v %v", ok, err)
	}
	for _, name := range []string{"a.py", filepath.Join(r.Root, "a.py")} {
		if data, err := r.Blob(bg, "HEAD~1", name); err != nil || string(data) != "1\n" {
			t.Errorf("blob: %q %v", data, err)
		}
	}
	if data, err := r.Blob(bg, first, "odd\nname \"q\" ä.py"); err != nil || string(data) != "odd\n" {
		t.Errorf("odd name: %q %v", data, err)
	}
	for _, bad := range []string{"none.py", "", "../x"} {
		if _, err := r.Blob(bg, first, bad); !errors.Is(err, ErrNotFound) {
			t.Errorf("blob %q: %v", bad, err)
		}
	}
	for _, bad := range []string{"nothing", "--all", "", "a b", strings.Repeat("0", 40)} {
		if _, err := r.Resolve(bg, bad); err == nil {
			t.Errorf("resolve %q: no error", bad)
		}
	}
	if d, err := r.Differences(bg, first); err != nil || len(d) != 1 || d[0].Path != "a.py" {
		t.Errorf("from an older base: %v %v", d, err)
	}
}

func TestDifferences(t *testing.T) {
	tr := newTree(t)
	tr.write(".gitignore", "*.log\n")
	for _, n := range []string{"same", "edited", "staged", "gone", "rmcached", "crlf", "reverted", "type", "empty"} {
		tr.write(n+".py", "text of "+n+"\nmore\n")
	}
	tr.write("moved.py", body(20))
	tr.write("rewritten.py", "other\n"+body(40))
	tr.commit()
	tr.check()
	tr.write("edited.py", "text of edited\nless\n")
	tr.write("staged.py", "staged\n")
	tr.git("add", "staged.py")
	tr.write("reverted.py", "staged\n")
	tr.git("add", "reverted.py")
	tr.write("reverted.py", "text of reverted\nmore\n")
	tr.remove("gone.py")
	tr.git("rm", "-q", "--cached", "rmcached.py")
	tr.write("crlf.py", "text of crlf\r\nmore\r\n")
	tr.remove("type.py")
	if err := os.Symlink("same.py", filepath.Join(tr.dir, "type.py")); err != nil {
		t.Fatal(err)
	}
	tr.write("empty.py", "")
	tr.write("new.py", "new\n")
	tr.write("ignored.log", "new\n")
	tr.remove("moved.py")
	tr.write("pkg/moved.py", body(20))
	tr.remove("rewritten.py")
	tr.write("pkg/renamed.py", "another\n"+body(40)+"and more\n")
	os.Chmod(filepath.Join(tr.dir, "same.py"), 0o755)
	tr.check("modified edited.py", "modified empty.py", "deleted gone.py", "added new.py",
		"renamed moved.py pkg/moved.py", "renamed rewritten.py pkg/renamed.py", "modified staged.py", "modified type.py")
}

// A write of the same size within the tick of the last index write must be
// seen although every field of the tuple may be equal.
func TestRacy(t *testing.T) {
	tr := newTree(t)
	for i := range 30 {
		tr.write("a.py", fmt.Sprintf("value = %04d\n", i))
		tr.git("add", "-A")
		tr.git("commit", "-q", "-m", "c")
		tr.write("a.py", fmt.Sprintf("value = %04d\n", i+5000))
		tr.check("modified a.py")
	}
}

func TestConflict(t *testing.T) {
	tr := newTree(t)
	tr.write("a.py", "base\n")
	tr.commit()
	tr.git("checkout", "-q", "-b", "other")
	tr.write("a.py", "other\n")
	tr.commit()
	tr.git("checkout", "-q", "main")
	tr.write("a.py", "main\n")
	tr.commit()
	cmd := exec.Command("git", "-c", "user.name=t", "-c", "user.email=t@t", "merge", "other")
	cmd.Dir = tr.dir
	cmd.Run()
	tr.check("modified a.py conflict")
	if files, err := tr.open().Files(bg); err != nil || len(files) != 1 {
		t.Errorf("files: %v %v", files, err)
	}
}

func TestSubmoduleSparseAndNested(t *testing.T) {
	sub := newTree(t)
	sub.write("s.py", "s\n")
	sub.commit()
	tr := newTree(t)
	tr.write("in/a.py", "a\n")
	tr.write("out/b.py", "b\n")
	tr.git("submodule", "--quiet", "add", sub.dir, "mod")
	tr.commit()
	tr.write("mod/s.py", "changed\n")
	tr.check()
	os.MkdirAll(filepath.Join(tr.dir, "nested"), 0o755)
	cmd := exec.Command("git", "init", "-q")
	cmd.Dir = filepath.Join(tr.dir, "nested")
	cmd.Run()
	tr.write("nested/n.py", "n\n")
	tr.check()
	tr.git("sparse-checkout", "set", "--no-cone", "in")
	tr.check()
	r, err := Open(bg, filepath.Join(tr.dir, "mod"))
	if err == nil {
		r.Close()
	}
}

func TestSymlinkedDirectory(t *testing.T) {
	tr := newTree(t)
	tr.write("d/a.py", "a\n")
	tr.commit()
	outside := t.TempDir()
	os.WriteFile(filepath.Join(outside, "a.py"), []byte("secret\n"), 0o644)
	tr.remove("d")
	os.Symlink(outside, filepath.Join(tr.dir, "d"))
	tr.check("added d", "deleted d/a.py")
	r := tr.open()
	if _, _, err := r.FS.Read("d/a.py", 0); err == nil {
		t.Error("read through a symlink out of the root")
	}
}

// Everything a repository can configure to be run, and a core.worktree that
// points elsewhere.
func TestUntrusted(t *testing.T) {
	tr := newTree(t)
	tr.write("a.py", "a\n")
	tr.write(".gitattributes", "*.py filter=evil diff=evil\n")
	tr.commit()
	mark := filepath.Join(t.TempDir(), "mark")
	evil := "sh -c 'echo ran >> " + mark + "; cat'"
	for _, key := range []string{"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv", "core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "core.editor", "uploadpack.packObjectsHook", "core.alternateRefsCommand"} {
		tr.git("config", key, evil)
	}
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"} {
		os.WriteFile(filepath.Join(tr.dir, ".git/hooks", hook), []byte("#!/bin/sh\necho ran >> "+mark+"\n"), 0o755)
	}
	elsewhere := t.TempDir()
	tr.git("config", "core.worktree", elsewhere)
	os.WriteFile(filepath.Join(tr.dir, "a.py"), []byte("b\n"), 0o644)
	now := time.Now()
	os.Chtimes(filepath.Join(tr.dir, ".gitattributes"), now, now)
	os.Remove(mark)
	tr.check("modified a.py")
	r := tr.open()
	if r.Root != real(tr.dir, ".") {
		t.Errorf("root is %s", r.Root)
	}
	if _, err := r.Files(bg); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("something of the repository was executed: %s", text)
	}
}

func TestPartialCloneFetchesNothing(t *testing.T) {
	src := newTree(t)
	src.write("a.py", "a\n")
	src.commit()
	src.git("config", "uploadpack.allowFilter", "true")
	tr := &tree{t, filepath.Join(t.TempDir(), "clone")}
	cmd := exec.Command("git", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+src.dir, tr.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%v %s", err, out)
	}
	mark := filepath.Join(t.TempDir(), "mark")
	tr.git("config", "remote.origin.uploadpack", "sh -c 'echo ran >> "+mark+"; exec git-upload-pack \"$@\"' --")
	r := tr.open()
	if data, err := r.Blob(bg, "HEAD", "a.py"); err == nil {
		t.Errorf("got %q from a clone without blobs", data)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the configured upload-pack was executed")
	}
}

func TestBlobsConcurrent(t *testing.T) {
	tr := newTree(t)
	for i := range 50 {
		tr.write(fmt.Sprintf("f%d.py", i), strings.Repeat(fmt.Sprintf("%d\n", i), 3000))
	}
	head := tr.commit()
	r := tr.open()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				n := (i + g) % 50
				data, err := r.Blob(bg, head, fmt.Sprintf("f%d.py", n))
				if err != nil || string(data) != strings.Repeat(fmt.Sprintf("%d\n", n), 3000) {
					t.Errorf("f%d: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	r.cat.mu.Lock()
	r.cat.b.cmd.Process.Kill()
	r.cat.mu.Unlock()
	if _, err := r.Blob(bg, head, "f1.py"); err != nil {
		t.Errorf("after the reader died: %v", err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := r.Blob(ctx, head, "f1.py"); err == nil {
		t.Error("cancelled call succeeded")
	}
	if _, err := r.Blob(bg, head, "f1.py"); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}

func TestEqualText(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"a\nb", "a\r\nb", true}, {"a\r", "a", false}, {"a\n", "a", false}, {"a\r\r\n", "a\r\n", false}, {"", "", true}, {"a\nb\n", "a\nc\n", false}} {
		if got := EqualText([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("EqualText(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

// BenchmarkDifferences runs on the work tree named by FLOWPLAN_BENCH_REPO.
func BenchmarkDifferences(b *testing.B) {
	dir := os.Getenv("FLOWPLAN_BENCH_REPO")
	if dir == "" {
		b.Skip("set FLOWPLAN_BENCH_REPO to a work tree")
	}
	for b.Loop() {
		r, err := Open(bg, dir)
		if err != nil {
			b.Fatal(err)
		}
		head, err := r.Head(bg)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Differences(bg, head); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

func BenchmarkGitStatus(b *testing.B) {
	dir := os.Getenv("FLOWPLAN_BENCH_REPO")
	if dir == "" {
		b.Skip("set FLOWPLAN_BENCH_REPO to a work tree")
	}
	for b.Loop() {
		if err := exec.Command("git", "-C", dir, "status", "--porcelain").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
