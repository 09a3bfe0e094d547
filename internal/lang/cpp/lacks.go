package cpp

// lacks says which of the shared constructs C++ does not have.
func lacks() map[string]string {
	return map[string]string{
		"pass":            "an empty statement is no statement",
		"strings":         "C++'s literals hold no expressions",
		"match":           "a switch dispatches to labels",
		"loop-else":       "C++ has none",
		"labelled-jump":   "C++ leaves an outer loop by goto",
		"try-else":        "C++ has none",
		"finally":         "C++ gives back by destructors, which are not drawn",
		"finally-jump":    "C++ gives back by destructors, which are not drawn",
		"exception-group": "C++'s handlers exclude one another",
		"with":            "C++ gives back by destructors, which are not drawn: hard11",
		"suppress":        "a destructor cannot swallow an exception",
		"comprehension":   "C++ has none",
		"decorator":       "C++'s attributes run nothing",
	}
}
