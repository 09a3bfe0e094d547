package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// Object is one object of the repository as cat-file gives it.
type Object struct {
	ID, Type string
	Data     []byte
}

// catFile is a long-lived `git cat-file --batch`, started when first needed
// and again after it died. Its requests are answered one batch at a time.
type catFile struct {
	start func() (*batch, error)
	mu    sync.Mutex
	b     *batch
}

type batch struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startBatch(root string) (*batch, error) {
	// Not bound to a context: it outlives the call that starts it.
	cmd := command(context.Background(), root, []string{"GIT_WORK_TREE=" + root}, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %v; install git or put it on PATH", ErrNoGit, err)
	}
	return &batch{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}, nil
}

func (b *batch) stop() {
	b.in.Close()
	b.cmd.Process.Kill()
	b.cmd.Wait()
}

func (c *catFile) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.b != nil {
		c.b.stop()
		c.b = nil
	}
}

// read asks for all names at once and calls each with every answer in order; a
// nil object means that there is none. Names hold no newline.
func (c *catFile) read(ctx context.Context, names []string, each func(i int, o *Object) error) error {
	if len(names) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	done := 0
	var err error
	for range 2 { // a process that died since the last call gets one successor
		if c.b == nil {
			if c.b, err = c.start(); err != nil {
				return err
			}
		}
		b := c.b
		stop := context.AfterFunc(ctx, func() { b.cmd.Process.Kill() })
		var n int
		n, err = b.ask(names[done:], func(i int, o *Object) error { return each(done+i, o) })
		killed := !stop()
		if err == nil && !killed {
			return nil
		}
		b.stop()
		c.b = nil
		var mine *callerError
		if errors.As(err, &mine) {
			return mine.err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("git cat-file: %w", ctx.Err())
		}
		if err == nil {
			return nil
		}
		done += n
	}
	return fmt.Errorf("git cat-file ended early: %w; in a partial clone fetch the missing objects first", err)
}

type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }

func (b *batch) ask(names []string, each func(int, *Object) error) (int, error) {
	go func() { // writing beside reading: neither pipe may fill up
		w := bufio.NewWriter(b.in)
		for _, n := range names {
			w.WriteString(n)
			w.WriteByte('\n')
		}
		w.Flush()
	}()
	for i := range names {
		o, err := b.answer()
		if err != nil {
			return i, err
		}
		if err := each(i, o); err != nil {
			return i, &callerError{err}
		}
	}
	return len(names), nil
}

func (b *batch) answer() (*Object, error) {
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head)
	// "<id> <type> <size>", or "<name> missing", "<name> ambiguous": a name may hold spaces.
	last := ""
	if len(fields) > 0 {
		last = fields[len(fields)-1]
	}
	if last == "missing" || last == "ambiguous" {
		return nil, nil
	}
	size, err := strconv.Atoi(last)
	if err != nil || len(fields) != 3 || size < 0 {
		return nil, fmt.Errorf("expected an object's header, got %q", strings.Map(printable, head))
	}
	o := &Object{ID: fields[0], Type: fields[1], Data: make([]byte, size)}
	if _, err := io.ReadFull(b.out, o.Data); err != nil {
		return nil, err
	}
	if _, err := b.out.Discard(1); err != nil {
		return nil, err
	}
	return o, nil
}

// Blobs calls each, in order, with the content of the blobs of those ids. The
// data belongs to the callee. An unknown id is ErrNotFound.
func (r *Repo) Blobs(ctx context.Context, ids []string, each func(i int, data []byte) error) error {
	for _, id := range ids {
		if !hexID.MatchString(id) {
			return fmt.Errorf("%w: expected an object id, got %q", ErrNotFound, id)
		}
	}
	return r.cat.read(ctx, ids, func(i int, o *Object) error {
		if o == nil || o.Type != "blob" {
			return fmt.Errorf("%w: no blob %s; in a partial clone fetch it first", ErrNotFound, ids[i])
		}
		return each(i, o.Data)
	})
}

// BlobByID is the content of one blob.
func (r *Repo) BlobByID(ctx context.Context, id string) ([]byte, error) {
	var data []byte
	err := r.Blobs(ctx, []string{id}, func(_ int, d []byte) error { data = d; return nil })
	return data, err
}

// Blob is the file at path in the commit that rev names. A symlink's content
// is its target. Where there is no such file it is ErrNotFound.
func (r *Repo) Blob(ctx context.Context, rev, path string) ([]byte, error) {
	if !hexID.MatchString(rev) {
		commit, err := r.Resolve(ctx, rev)
		if err != nil {
			return nil, err
		}
		rev = commit
	}
	rel, ok := r.FS.Rel(path)
	if !ok {
		return nil, fmt.Errorf("%w: %q is outside the repository", ErrNotFound, path)
	}
	if strings.Contains(rel, "\n") { // not to be said in cat-file's language
		tree, err := r.ListTree(ctx, rev)
		if err != nil {
			return nil, err
		}
		entry, ok := tree[rel]
		if !ok {
			return nil, fmt.Errorf("%w: no file %q in %.12s", ErrNotFound, rel, rev)
		}
		return r.BlobByID(ctx, entry.ID)
	}
	var data []byte
	err := r.cat.read(ctx, []string{rev + ":" + rel}, func(_ int, o *Object) error {
		if o == nil || o.Type != "blob" {
			return fmt.Errorf("%w: no file %q in %.12s", ErrNotFound, rel, rev)
		}
		data = o.Data
		return nil
	})
	return data, err
}
