// Package ir is the language-neutral form of a function's body: structured
// statements, conditions, and what each statement reads and writes. Every
// language is lowered into it, so that control flow and data flow are built,
// verified and mended once, in packages cfg and dataflow.
//
// It does not say where control goes (cfg does), resolves no types, and keeps
// expressions only as far as flow needs them: the order of uses, definitions
// and possible exceptions within a statement, and the shape of a condition.
//
// The Python function
//
//	def f(x):
//	    if x:
//	        y = g(x)
//	    return y
//
// becomes
//
//	If{Head: {Kind: If, Text: "if x"}, Then: [Simple{y = g(x)}]}, Return{return y}
//
// where the effects of `y = g(x)` are Seq(Use x, Raise, Def y).
package ir

import "flowplan/internal/source"

// Kind classifies an ordinary statement; its values are those of the graph
// JSON.
type Kind string

const (
	KindAssign      Kind = "assign"
	KindAugAssign   Kind = "augassign"
	KindExpr        Kind = "expr"
	KindCall        Kind = "call"
	KindDecl        Kind = "decl"
	KindIf          Kind = "if"
	KindWhile       Kind = "while"
	KindFor         Kind = "for"
	KindForeach     Kind = "foreach"
	KindDo          Kind = "do"
	KindSwitch      Kind = "switch"
	KindCase        Kind = "case"
	KindMatch       Kind = "match"
	KindWith        Kind = "with"
	KindHandler     Kind = "handler"
	KindReturn      Kind = "return"
	KindRaise       Kind = "raise"
	KindBreak       Kind = "break"
	KindContinue    Kind = "continue"
	KindGoto        Kind = "goto"
	KindLabel       Kind = "label"
	KindFallthrough Kind = "fallthrough"
	KindAssert      Kind = "assert"
	KindDelete      Kind = "delete"
	KindImport      Kind = "import"
	KindGlobal      Kind = "global"
	KindDef         Kind = "def"
	KindClass       Kind = "class"
	KindPass        Kind = "pass"
	KindYield       Kind = "yield"
	KindAwait       Kind = "await"
	KindAsm         Kind = "asm"
	KindPreproc     Kind = "preproc"
	KindOpaque      Kind = "opaque"
)

// FuncKind classifies a function; its values are those of the graph JSON.
type FuncKind string

const (
	FuncModule      FuncKind = "module"
	FuncClass       FuncKind = "class"
	FuncFunction    FuncKind = "function"
	FuncMethod      FuncKind = "method"
	FuncConstructor FuncKind = "constructor"
	FuncNested      FuncKind = "nested"
	FuncLambda      FuncKind = "lambda"
	FuncMacro       FuncKind = "macro"
)

// Func is the body of one function, class or module.
type Func struct {
	Name          string
	QualifiedName string // joined as the language writes it
	Kind          FuncKind
	Span          source.Span // with its decorators
	Line, EndLine int         // Line is that of the def line, not of decorators
	Signature     string      // normalised text of the header, decorators included
	Params        []Param
	Captures      []string // names that come from an enclosing function
	Decorated     bool     // what its name calls may be something else
	Async         bool
	Generator     bool
	Result        Result
	Vars          []Var // what Place.Var indexes
	Body          []Node
	Stmts         []*Stmt  // all ordinary statements; Stmts[i].ID == i+1, in source order
	Notes         []string // what a reader has to know of how the body was read
	Source        *source.File
}

// Result says what the language has a function give back.
type Result uint8

const (
	ResultOpen  Result = iota // not declared: what its returns say
	ResultNone                // falling off its end is as good as a return
	ResultValue               // falling off its end gives back nothing that its callers could use
)

// Param is one parameter, in source order.
type Param struct {
	Var  int    // index into Func.Vars
	Name string // bare, without * or annotation
	Line int
}

// VarScope says where a variable of a function lives.
type VarScope uint8

const (
	Local    VarScope = iota // local, parameters included
	Global                   // declared global, or a variable of the module seen from a function
	Captured                 // of an enclosing function (nonlocal or free)
)

// Var is one variable as one function sees it: two of the same name in
// different scopes are two Vars.
type Var struct {
	Name         string
	Scope        VarScope
	Written      bool // this function (or a closure in it) defines it somewhere
	Shared       bool // captured by an inner function or address taken: hazards stay silent
	AddressTaken bool
}

// Place is what a statement reads or writes: a variable, or something below
// it. Path is "" for the variable itself, else a chain of ".f", "[]" and "*"
// for what lies behind a pointer: x.f[] is {x, ".f[]"}, p->f is {p, "*.f"}. A use of Path
// OwnValue reads the variable and nothing below it: the p of `*p = 1`.
type Place struct {
	Var  int
	Path string
}

// OwnValue is the path of a use that follows a variable without reading what
// lies below it.
const OwnValue = "="

// Stmt is an ordinary statement. A compound statement contributes its header.
type Stmt struct {
	ID      int
	Kind    Kind
	Text    string      // normalised: no comments, white space folded, literals by value
	Span    source.Span // its own bytes; of a compound statement, the header's
	Line    int         // where its own keyword or first token stands
	Col     int
	EndLine int
	Eval    Eval  // what it does, in evaluation order
	Pre     Eval  // foreach only: evaluated once, before the first item
	Cond    *Cond // of if, while, for, case, assert
	DefKind DefKind
	Test    string   // what a header tests, without its keyword, where the text has more around it than the keyword
	Callee  string   // a call whose whole statement is `name(...)` or `mod.name(...)`: that name
	Inner   []string // def and class: qualified names of what is defined here
	Reason  string   // of an opaque statement
}

// DefKind says how a statement's definitions come about.
type DefKind string

const (
	DefPlain   DefKind = "def"
	DefParam   DefKind = "param"
	DefHandler DefKind = "handler"
	DefImport  DefKind = "import"
	DefCapture DefKind = "capture"
	DefUnbound DefKind = "unbound"
)

// MayRaise reports whether some point of the statement may raise implicitly.
func (s *Stmt) MayRaise() bool { return s.Eval.raises() || s.Pre.raises() }

// Op is what an Eval node does.
type Op uint8

const (
	OpNop     Op = iota
	OpUse        // reads Place
	OpDef        // writes Place; May: does not kill earlier definitions
	OpUnbind     // Place has no value from here on (del, end of `except E as e`)
	OpCapture    // an inner function reads Place later: reached by what reaches it or follows it
	OpRaise      // an exception may leave here
	OpSeq        // Kids in order
	OpAnd        // Kids[0] and Kids[1]: short circuit
	OpOr         // Kids[0] or Kids[1]: short circuit
	OpNot        // Kids[0] with its outcomes swapped
	OpSelect     // Kids[0] ? Kids[1] : Kids[2]
	OpMaybe      // Kids, in order, once or not at all
	OpRepeat     // Kids, in order, any number of times
	OpMatch      // Kids[0] binds on success only; Kids[1], if any, is the guard: true is both, false either one failing
	OpIfTrue     // Kids, in order, on the true (or iter) outcome alone
	OpExit       // the statement is left here by one of its own ways out (Leaves): nothing behind it in this branch happens
	OpStore      // writes what the pointer Place.Var points to; dataflow.Resolve turns it into may-definitions
)

// Eval is a small tree of effects in evaluation order. The zero Eval does
// nothing. Where a statement has two outcomes (a condition, a case, a handler,
// a foreach), the outcome of the tree is that of its last kid; a tree without
// short circuits has the same state on both.
type Eval struct {
	Op    Op
	Place Place
	May   bool
	Kids  []Eval
	// Points, of an OpDef of a pointer, says what it points to from here on; nil:
	// it may point to anything whose address is taken.
	Points *Points
}

// Points are the variables that a pointer may point to. Moved: those that it
// pointed to before, as after p++.
type Points struct {
	Vars  []int
	Moved bool
}

func (e Eval) raises() bool {
	if e.Op == OpRaise {
		return true
	}
	for i := range e.Kids {
		if e.Kids[i].raises() {
			return true
		}
	}
	return false
}

// Exits reports whether some point of the tree leaves the statement.
func (e Eval) Exits() bool {
	found := false
	e.Walk(func(k Eval) { found = found || k.Op == OpExit })
	return found
}

// Walk calls fn on every node of the tree in evaluation order.
func (e Eval) Walk(fn func(Eval)) {
	fn(e)
	for i := range e.Kids {
		e.Kids[i].Walk(fn)
	}
}

// Node is a structured statement.
type Node interface{ node() }

type (
	// Simple goes straight on. Nested definitions are Simple too.
	Simple struct{ S *Stmt }

	// If is a condition with two arms. An elif is an If alone in Else whose
	// header is of kind if; ElseIf says that it is written (or folded) so.
	If struct {
		S          *Stmt
		Then, Else []Node
		ElseIf     bool // this If is an arm of the If that holds it
	}

	// Loop is any loop. For Do the header stands after the body. Forever has a
	// header that is never false.
	Loop struct {
		S     *Stmt
		Kind  LoopKind
		Label string
		Init  []Node // of a C for: statements of their own before the header
		Post  []Node // of a C for: after the body, target of continue
		Body  []Node
		Else  []Node // runs when the loop ends without break
	}

	// Switch dispatches to the CaseLabels anywhere below it.
	Switch struct {
		S    *Stmt
		Body []Node
	}
	// CaseLabel is a label of the nearest Switch around it.
	CaseLabel struct {
		S       *Stmt
		Default bool
	}

	// Match tries its cases in order.
	Match struct {
		S     *Stmt
		Cases []*Case
	}

	// Try protects Body. Group marks handlers that are not exclusive (except*);
	// Rethrows those that raise again where they end (of a C++ constructor).
	Try struct {
		Body     []Node
		Handlers []*Handler
		Else     []Node
		Finally  []Node
		Group    bool
		Rethrows bool
		Span     source.Span
	}

	// Scope is with, using and the like; its clean-up is not drawn. Suppress:
	// an exception in Body may go on after the Scope.
	Scope struct {
		S        *Stmt
		Body     []Node
		Suppress bool
	}

	// Jump is break, continue, goto or fallthrough, by the kind of S.
	Jump struct {
		S     *Stmt
		Label string
	}
	// Leaves is a statement that goes on, unless Stays is false, or leaves in one
	// of several ways: a macro that hides a return, a computed goto, a throw
	// within an expression.
	Leaves struct {
		S     *Stmt
		Exits []Exit
		Stays bool
	}
	// Return leaves the function.
	Return struct{ S *Stmt }
	// Throw raises explicitly.
	Throw struct{ S *Stmt }
	// Assert goes on when its condition holds and raises otherwise.
	Assert struct{ S *Stmt }
	// Label is the target of gotos.
	Label struct {
		S    *Stmt
		Name string
	}
	// Config holds the arms of one #if ... #endif. Complete: some arm is
	// always taken (there is an #else).
	Config struct {
		Arms     []*Arm
		Complete bool
	}
	// Opaque is what the lowerer could not read; S.Reason says why.
	Opaque struct{ S *Stmt }
)

// Exit is one way in which a Leaves may leave: KindReturn, KindRaise,
// KindBreak, KindContinue, or KindGoto to Label.
type Exit struct {
	Kind  Kind
	Label string
}

// Case is an arm of a Match; its header tests pattern and guard.
type Case struct {
	S           *Stmt
	Irrefutable bool
	Body        []Node
}

// Handler is a clause of a Try. CatchAll: it has no false outcome. Unbind is
// the place that has no value any more once its body is left in whatever way
// (the e of `except E as e`).
type Handler struct {
	S        *Stmt
	CatchAll bool
	Body     []Node
	Unbind   *Place
}

// Arm is one arm of a Config.
type Arm struct {
	S    *Stmt // the #if, #elif or #else line
	Body []Node
}

// LoopKind classifies loops.
type LoopKind uint8

const (
	While LoopKind = iota
	Do
	For
	Foreach
	Forever   // a header whose condition is a true constant
	Once      // do {} while (0)
	DoForever // do {} while (1)
	Never     // a header whose condition is a false constant: while False
)

// HeaderLast reports whether the header stands behind the body.
func (k LoopKind) HeaderLast() bool { return k == Do || k == Once || k == DoForever }

func (*Simple) node()    {}
func (*If) node()        {}
func (*Loop) node()      {}
func (*Switch) node()    {}
func (*CaseLabel) node() {}
func (*Match) node()     {}
func (*Try) node()       {}
func (*Scope) node()     {}
func (*Jump) node()      {}
func (*Leaves) node()    {}
func (*Return) node()    {}
func (*Throw) node()     {}
func (*Assert) node()    {}
func (*Label) node()     {}
func (*Config) node()    {}
func (*Opaque) node()    {}
