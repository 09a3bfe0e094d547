package c

import "flowplan/internal/source"

// The tree that the parser makes: statements exactly, expressions as far as
// definitions, uses, calls and jumps need them.

type exprKind uint8

const (
	eBad    exprKind = iota
	eName            // val; qualified names and template arguments included
	eConst           // numbers, characters, strings
	eType            // a type where an expression may stand
	eCall            // kids[0](kids[1:]...)
	eIndex           // kids[0][kids[1]]
	eMember          // kids[0] val name, where val is . or ->
	eUnary           // val kids[0]
	ePost            // kids[0] val
	eBin             // kids[0] val kids[1]
	eAnd             // kids[0] && kids[1]
	eOr              // kids[0] || kids[1]
	eAssign          // kids[0] val kids[1]
	eCond            // kids[0] ? kids[1] : kids[2]; kids[1] is nil in GNU's a ?: b
	eComma           // kids
	eCast            // (type)kids[0]
	eSizeof          // not evaluated
	eInit            // { kids }
	eDesig           // designators = kids[len-1]; the ones before are evaluated indices
	eLambda          // [captures](params) { body }
	eNew             // new T(kids)
	eDelete          // delete kids[0]
	eThrow           // throw kids[0]
	eStmts           // ({ body })
	eLabel           // &&val
	eAwait           // co_await kids[0]
	eYield           // co_yield kids[0]
	eMacro           // a call of a macro; kids[0] is the call as written, expansion what it stands for
	eSame            // parentheses or a suffix around kids[0] that changes nothing
)

type expr struct {
	kind   exprKind
	val    string
	name   string // of a member
	kids   []*expr
	toks   []token
	lambda *lambda
	body   []*stmt // of a statement expression, of a macro that is statements
	paren  bool
}

// lambda is a lambda expression.
type lambda struct {
	captures []capture
	byRef    bool // [&]
	byCopy   bool // [=]
	params   []*param
	body     []*stmt
	open     source.Span // from the [ to the body's {
	whole    source.Span
	mutable  bool
}

type capture struct {
	name string
	ref  bool
	init *expr
	pos  int
}

type param struct {
	name string
	pos  int
	init *expr
	kind declKind
}

// declKind says what a declarator makes, as far as data flow cares.
type declKind uint8

const (
	kValue declKind = iota
	kPointer
	kArray
	kReference
	kFunction
)

// declarator is one name of a declaration.
type declarator struct {
	name  string
	names []string // of a structured binding
	pos   int
	kind  declKind
	dims  []*expr // array bounds
	init  *expr   // = init, or { init }
	args  []*expr // T x(args)
	class bool    // its type may have a constructor: not a built-in one and no pointer
}

type declaration struct {
	items     []*declarator
	static    bool // or thread_local, extern: no initialisation at every passage
	typedef   bool
	extern    bool
	constexpr bool
	integer   bool     // its type is a built-in number, or named like one
	struct_   bool     // its type is a struct or union
	type_     *typeDef // a struct, class, union or enum defined in it
	evals     []*expr  // typeof(e) with side effects and the like: none so far
}

// typeDef is the definition of a struct, class, union or enum.
type typeDef struct {
	keyword string
	name    string
	open    int // index of its { in the tokens
	close   int
	toks    []token // those between the braces
	methods bool
}

type stmtKind uint8

const (
	sExpr stmtKind = iota
	sDecl
	sPlain // typedef, using, static_assert: declares, evaluates nothing
	sImport
	sClass
	sIf
	sWhile
	sDo
	sFor
	sRange
	sSwitch
	sCase
	sLabel
	sGoto
	sBreak
	sContinue
	sReturn
	sTry
	sAsm
	sBlock
	sConfig
	sMacro
	sEmpty
	sOpaque
)

type stmt struct {
	kind      stmtKind
	start     token
	head      []token // tokens of the statement, of a compound one those of its header
	span      source.Span
	reason    string
	value     *expr        // condition, value, target
	decl      *declaration // sDecl; of if, while, switch: the declaration in the condition; of a range-for the variable
	init      *stmt        // of for; of if and switch with an initialiser
	post      *stmt        // of for
	label     string       // of goto, label
	names     []string
	isDefault bool
	isConst   bool // if constexpr
	elseIf    bool
	made      bool // the header comes from a macro
	co        bool // co_return
	body      []*stmt
	orelse    []*stmt
	hasElse   bool
	catches   []*catch
	group     *group
	arms      []configArm
	asm       []asmOperand
	whole     source.Span
}

type configArm struct {
	head token
	body []*stmt
}

// asmOperand is an operand of an extended asm.
type asmOperand struct {
	out, in bool
	value   *expr
}

type catch struct {
	start token
	head  []token
	span  source.Span
	all   bool
	param *param
	body  []*stmt
}
