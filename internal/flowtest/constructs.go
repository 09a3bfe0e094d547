package flowtest

// Construct is something that most languages have and that a view must get
// right. A language has a fixture of that name, or says in Lacks why not.
type Construct struct{ Name, What string }

// Constructs is the list that all languages share.
var Constructs = []Construct{
	// statements that go straight on
	{"assign", "plain assignments, several targets"},
	{"augassign", "a target that is read and written"},
	{"annotation", "declarations with and without a value"},
	{"destructure", "one value taken apart into several targets"},
	{"field-element", "fields and elements as places"},
	{"delete", "a place that loses its value"},
	{"import", "imports inside and outside of functions"},
	{"outer-names", "variables of the module or of a function around"},
	{"pass", "statements that do nothing"},
	{"strings", "literals with expressions in them"},
	{"asm", "inline assembly"},
	{"preproc", "arms of a preprocessor"},

	// conditions
	{"if", "if and else"},
	{"elif", "chains"},
	{"short-circuit", "and, or, and conditional expressions"},
	{"walrus", "definitions inside a condition"},
	{"switch", "dispatch to labels"},
	{"fallthrough", "from one label to the next"},
	{"match", "chains of patterns"},
	{"constant-condition", "conditions that are known"},
	{"assert", "assertions"},

	// loops
	{"while", "test before the body"},
	{"do", "test after the body"},
	{"for", "init, test, post"},
	{"foreach", "items of something"},
	{"forever", "loops that never end by themselves"},
	{"loop-else", "what runs when a loop was not broken off"},
	{"break-continue", "jumps inside nested loops"},
	{"labelled-jump", "break and continue of an outer loop"},
	{"goto", "goto and its labels"},

	// exceptions and clean-ups
	{"raise", "explicit exceptions"},
	{"try", "handlers as a chain of tests"},
	{"try-else", "what runs when nothing was raised"},
	{"finally", "a clean-up entered and left in every way"},
	{"finally-jump", "jumps inside a clean-up"},
	{"nested-try", "a try inside a try"},
	{"exception-group", "handlers that are not exclusive"},
	{"with", "resources with a scope"},
	{"suppress", "scopes that swallow exceptions"},

	// functions and what is around them
	{"return", "early returns"},
	{"parameters", "defaults and variable arguments"},
	{"nested-function", "functions inside functions"},
	{"capture", "variables shared with closures"},
	{"lambda", "functions without a name"},
	{"comprehension", "loops inside expressions"},
	{"generator", "functions that yield"},
	{"async", "functions that wait"},
	{"decorator", "what runs around a definition"},
	{"class-body", "statements of a class"},
	{"module", "statements of a file"},
	{"twins", "several functions of one name"},
	{"type-alias", "named types and type parameters"},
	{"no-return", "calls that never come back"},
	{"dead-code", "statements that nothing reaches"},
	{"syntax-error", "what cannot be read, and its neighbours"},
}
