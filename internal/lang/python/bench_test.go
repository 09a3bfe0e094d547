package python

import (
	"context"
	"os"
	"testing"

	"flowplan/internal/lang"
	"flowplan/internal/source"
)

// BenchmarkOutline is the index's way through a file; the three parts are
// reported apart.
func BenchmarkOutline(b *testing.B) {
	var texts [][]byte
	size := 0
	for _, path := range stdlib(b, 20) {
		if data, err := os.ReadFile(path); err == nil {
			texts = append(texts, data)
			size += len(data)
		}
	}
	b.Run("prepare", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			for _, t := range texts {
				prepare(t)
			}
		}
	})
	b.Run("all", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			for _, t := range texts {
				if _, err := Language.Parse(context.Background(), source.New("x.py", t), lang.Options{Outline: true}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
