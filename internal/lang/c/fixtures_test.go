package c

import (
	"testing"

	"flowplan/internal/flowtest"
)

// TestFixtures runs what stands in testdata: one file a construct, delta-* for
// edits, hard* for constructs that other tools are known to get wrong.
func TestFixtures(t *testing.T) {
	flowtest.Run(t, Language, "testdata", "//")
}
