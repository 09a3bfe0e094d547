package python

import (
	"flowplan/internal/source"
	"flowplan/internal/syntax"
)

// The tree of tree-sitter is looser than Python's own: it groups operators by
// other precedences, has several shapes for one construct and keeps redundant
// parentheses. It is first made into the tree below, which is shaped like
// CPython's ast, so that scopes, texts and effects have one shape to read.

type exprKind uint8

const (
	eBad        exprKind = iota // val is its raw text
	eName                       // val
	eConst                      // val is its canonical text; str, body for strings
	eJoined                     // kids: eConst (strings) and eFormatted; val is f or t
	eFormatted                  // kids[0] the value, kids[1] the format spec, if any; val is the conversion
	eTuple                      // kids
	eList                       // kids
	eSet                        // kids
	eDict                       // kids: key, value, key, value; a nil key is `**value`
	eAttr                       // kids[0].val
	eSub                        // kids[0][kids[1]]
	eSlice                      // kids: lower, upper, step; each may be nil
	eCall                       // kids[0](kids[1:]...)
	eKeyword                    // val=kids[0]
	eStar                       // *kids[0]
	eDoubleStar                 // **kids[0]
	eBin                        // kids[0] val kids[1]
	eUnary                      // val kids[0]
	eNot                        // kids[0]
	eAnd                        // kids
	eOr                         // kids
	eCompare                    // kids[0] ops[0] kids[1] ops[1] ...
	eIf                         // kids[0] if kids[1] else kids[2]
	eLambda                     // params, kids[0] the body
	eComp                       // val is one of ( [ { and : for a dict; kids the element(s), clauses
	eAwait                      // kids[0]
	eYield                      // kids[0] or nothing
	eYieldFrom                  // kids[0]
	eWalrus                     // kids[0] := kids[1]
	eRepr                       // `kids[0]` of Python 2

	pWild    // _
	pCapture // val
	pValue   // kids[0]
	pSeq     // kids
	pStar    // *val, or * for _
	pMap     // kids: key, pattern, ...; val is the name of **rest
	pClass   // kids[0] the class, then patterns; pKeyword among them
	pKeyword // val=kids[0]
	pOr      // kids
	pAs      // kids[0] as val
)

type expr struct {
	kind    exprKind
	val     string
	kids    []*expr
	ops     []string
	params  []*param
	clauses []*compFor
	truth   int8   // of a constant: 1 true, -1 false
	str     string // of a string constant: "s" for text, "b" for bytes
	body    string // of a string constant: its value, escaped canonically
	paren   bool   // it stood in parentheses of its own
	span    source.Span
}

type compFor struct {
	async  bool
	target *expr
	iter   *expr
	ifs    []*expr
}

// param is a parameter, a type parameter, or one of the separators / and *.
type param struct {
	name    string
	star    string // "", "*" or "**"
	sep     string // "/" or "*" when it is no parameter
	pattern *expr  // a tuple parameter of Python 2
	ann     *expr
	def     *expr
	pos     int
}

type stmtKind uint8

const (
	sOpaque stmtKind = iota
	sExpr
	sAssign
	sAug
	sAnn
	sReturn
	sRaise
	sAssert
	sDel
	sPass
	sBreak
	sContinue
	sGlobal
	sNonlocal
	sImport
	sFrom
	sType
	sPrint
	sExec
	sIf
	sWhile
	sFor
	sTry
	sWith
	sMatch
	sDef
	sClass
)

type stmt struct {
	kind    stmtKind
	node    *syntax.Node
	start   int         // of its own keyword or first token
	span    source.Span // of a compound statement, the header's
	name    string      // def, class, type; module of a from
	op      string
	reason  string
	targets []*expr
	value   *expr // value, condition, iterable, subject
	extra   *expr // cause, message, annotation, return annotation
	args    []*expr
	names   []alias
	items   []withItem
	params  []*param
	tparams []*param
	decos   []*expr
	async   bool
	group   bool // except*
	elif    bool
	body    []*stmt
	orelse  []*stmt
	final   []*stmt
	arms    []*arm
	whole   source.Span
}

// arm is an except or case clause.
type arm struct {
	start int
	span  source.Span
	test  *expr // exception type or pattern; nil for a bare except
	guard *expr
	name  *expr // except ... as name
	body  []*stmt
}

type alias struct {
	name, as string
	pos      int
}

type withItem struct{ value, target *expr }
