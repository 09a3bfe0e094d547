package c

// lacks says which of the shared constructs C does not have.
func lacks() map[string]string {
	return map[string]string{
		"destructure":     "C takes no value apart",
		"delete":          "free is a call: the variable keeps its value",
		"pass":            "an empty statement is no statement",
		"strings":         "C's literals hold no expressions",
		"match":           "a switch dispatches to labels",
		"foreach":         "C has no loop over items but by macros: hard19",
		"loop-else":       "C has none",
		"labelled-jump":   "C leaves an outer loop by goto",
		"raise":           "C has no exceptions",
		"try":             "C has no exceptions",
		"try-else":        "C has no exceptions",
		"finally":         "C has no exceptions",
		"finally-jump":    "C has no exceptions",
		"nested-try":      "C has no exceptions",
		"exception-group": "C has no exceptions",
		"with":            "C has no scopes that give back, but by an attribute: hard18",
		"suppress":        "C has no exceptions",
		"nested-function": "C has none; GNU C's are rare",
		"capture":         "C has no closures",
		"lambda":          "C has none",
		"comprehension":   "C has none",
		"generator":       "C has none",
		"async":           "C has none",
		"decorator":       "C's attributes run nothing",
		"class-body":      "structs hold no statements and belong to the module",
	}
}
