package python

import (
	"context"
	"os"
	"testing"

	"flowplan/internal/flow"
	"flowplan/internal/flowtest"
	"flowplan/internal/source"
)

// TestFixtures runs what stands in testdata: one file a construct, delta-* for
// edits, hard* for constructs that other tools are known to get wrong.
func TestFixtures(t *testing.T) {
	flowtest.Run(t, Language, "testdata", "#")
}

// TestVerifyCorpus verifies graphs and chains of functions that nobody wrote as
// a fixture.
func TestVerifyCorpus(t *testing.T) {
	nth := 20
	if testing.Short() {
		nth = 100
	}
	for _, path := range stdlib(t, nth) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := flow.Parse(context.Background(), Language, source.New(path, data), nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, err := range flowtest.Verify(file) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
