package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// safety is given on every command line: it goes before the repository's own.
var safety = []string{
	"--no-pager", "--no-replace-objects", "--literal-pathspecs",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=/dev/null",
	"-c", "core.quotePath=false",
	"-c", "core.preloadIndex=false",
	"-c", "submodule.recurse=false",
	"-c", "protocol.allow=never",
}

// environ is the caller's environment without what would redirect git, and
// with what keeps it from executing, fetching, asking or writing.
func environ(extra []string) []string {
	env := make([]string, 0, len(os.Environ())+len(extra)+8)
	for _, e := range os.Environ() {
		// The user's configuration stays: safe.directory and excludes live there.
		if strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "GIT_CONFIG") && !strings.HasPrefix(e, "GIT_CEILING_DIRECTORIES=") {
			continue
		}
		if strings.HasPrefix(e, "LC_ALL=") || strings.HasPrefix(e, "LANGUAGE=") {
			continue
		}
		env = append(env, e)
	}
	env = append(env, "LC_ALL=C", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	return append(env, extra...)
}

// timeout bounds one git command: a configuration may point it at a FIFO.
const timeout = 60 * time.Second

type gitError struct {
	command string
	code    int
	stderr  string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s failed (exit %d): %s", e.command, e.code, e.stderr)
}

func command(ctx context.Context, dir string, extra []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, safety...), args...)...)
	cmd.Dir = dir
	cmd.Env = environ(extra)
	cmd.WaitDelay = time.Second
	return cmd
}

func run(ctx context.Context, dir string, extra []string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := command(ctx, dir, extra, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	return nil, explain(ctx, dir, args[0], err, errOut.String())
}

// explain turns a failure into an error that says what to do.
func explain(ctx context.Context, dir, name string, err error, stderr string) error {
	stderr = strings.TrimSpace(strings.Map(printable, stderr))
	var exit *exec.ExitError
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return fmt.Errorf("git %s in %s: no answer within %s; is a file of the repository on a slow or dead mount?", name, dir, timeout)
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", name, ctx.Err())
	case !errors.As(err, &exit):
		if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
			return fmt.Errorf("%w: expected an existing directory, got %s", ErrNotRepository, dir)
		}
		return fmt.Errorf("%w: %v; install git or put it on PATH", ErrNoGit, err)
	case strings.Contains(stderr, "dubious ownership") || strings.Contains(stderr, "unsafe repository"):
		return fmt.Errorf("%w: %s belongs to another user; if you trust it: git config --global --add safe.directory %s", ErrUnsafe, dir, dir)
	case strings.Contains(stderr, "not a git repository"):
		return fmt.Errorf("%w: %s; run git init there, or name a directory inside a repository", ErrNotRepository, dir)
	case strings.Contains(stderr, "must be run in a work tree"):
		return fmt.Errorf("%w: %s has no work tree; name a directory with a checkout", ErrNotRepository, dir)
	}
	return &gitError{command: name, code: exit.ExitCode(), stderr: stderr}
}

func printable(r rune) rune {
	if r == '\n' {
		return ' '
	}
	if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
		return -1
	}
	return r
}
