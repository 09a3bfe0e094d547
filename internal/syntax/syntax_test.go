package syntax

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/python"
)

// A context that is cancelled right after each parse must not spoil the
// parser: with the binding's own cancellation one in a few parses did.
func TestCancelledAfterwards(t *testing.T) {
	g := NewGrammar(python.GetLanguage())
	for range 2000 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_, err := g.Parse(ctx, []byte("x = 1\n"), nil)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCancelled(t *testing.T) {
	g := NewGrammar(python.GetLanguage())
	big := []byte(strings.Repeat("x = f(a, [b, (c, d)])\n", 200_000))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := g.Parse(ctx, big, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	root, err := g.Parse(context.Background(), []byte("y = 2\n"), nil)
	if err != nil || root.Span.End != 6 || root.HasError {
		t.Fatalf("after a cancelled parse: %+v %v", root, err)
	}
}

// A parse that was interrupted many times gives the tree of one that was not.
func TestResumed(t *testing.T) {
	text := []byte(strings.Repeat("def f(a):\n    if a: return [a, (b, c)]\n    x = {'k': a}\n", 2000) + "def (:\n")
	whole := sitter.NewParser()
	whole.SetLanguage(python.GetLanguage())
	want, err := whole.ParseCtx(context.Background(), nil, text)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	p := sitter.NewParser()
	p.SetLanguage(python.GetLanguage())
	p.SetOperationLimit(300)
	for stops := 0; ; stops++ {
		got, err := p.ParseCtx(context.Background(), nil, text)
		if errors.Is(err, sitter.ErrOperationLimit) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		if stops == 0 {
			t.Skip("the machine was too fast to interrupt it")
		}
		if got.RootNode().String() != want.RootNode().String() {
			t.Errorf("after %d stops the tree is another", stops)
		}
		return
	}
}
