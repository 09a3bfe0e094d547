package engine

import (
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

func realTokens(t *testing.T, s string) int {
	t.Helper()
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Count(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
