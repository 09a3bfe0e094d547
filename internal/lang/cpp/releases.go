package cpp

import (
	"flowplan/internal/lang"
	"flowplan/internal/lang/c"
)

// releases are those that C++ has besides C's.
func releases() []lang.Release {
	return append(c.Releases(), []lang.Release{
		{Take: "new", Give: "delete $", Ends: true},
		{Take: "new", Give: "delete[] $", Ends: true},
		{Take: "$.lock()", Give: "$.unlock()"},
		{Take: "$->lock()", Give: "$->unlock()"},
	}...)
}
