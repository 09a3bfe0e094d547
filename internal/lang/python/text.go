package python

import "strings"

// Precedences, lowest first, as in Python's grammar.
const (
	precTop   = iota // a tuple needs no parentheses here, nor does yield
	precNamed        // :=
	precTest         // lambda, if else
	precOr
	precAnd
	precNot
	precCmp
	precBor
	precXor
	precBand
	precShift
	precArith
	precTerm
	precFactor
	precPower
	precAwait
	precAtom
)

func binPrec(op string) int {
	switch op {
	case "|":
		return precBor
	case "^":
		return precXor
	case "&":
		return precBand
	case "<<", ">>":
		return precShift
	case "+", "-":
		return precArith
	case "**":
		return precPower
	}
	return precTerm
}

// text prints an expression the one way in which equal trees are equal texts.
func text(e *expr) string {
	var p printer
	p.expr(e, precTop)
	return p.b.String()
}

type printer struct{ b strings.Builder }

func (p *printer) w(s string) { p.b.WriteString(s) }

func (p *printer) list(es []*expr, prec int) {
	for i, e := range es {
		if i > 0 {
			p.w(", ")
		}
		p.expr(e, prec)
	}
}

func (p *printer) wrap(cond bool, f func()) {
	if cond {
		p.w("(")
	}
	f()
	if cond {
		p.w(")")
	}
}

func (p *printer) expr(e *expr, prec int) {
	if e == nil {
		return
	}
	switch e.kind {
	case eBad, eName, eConst:
		p.w(e.val)
	case eJoined:
		p.w(e.val + "'")
		p.joined(e)
		p.w("'")
	case eFormatted:
		p.formatted(e)
	case eTuple:
		p.wrap(prec > precTop || len(e.kids) < 2, func() {
			p.list(e.kids, precTest)
			if len(e.kids) == 1 {
				p.w(",")
			}
		})
	case eList:
		p.w("[")
		p.list(e.kids, precTest)
		p.w("]")
	case eSet:
		p.w("{")
		p.list(e.kids, precTest)
		p.w("}")
	case eDict:
		p.w("{")
		for i := 0; i+1 < len(e.kids); i += 2 {
			if i > 0 {
				p.w(", ")
			}
			if e.kids[i] == nil {
				p.w("**")
				p.expr(e.kids[i+1], precBor)
				continue
			}
			p.expr(e.kids[i], precTest)
			p.w(": ")
			p.expr(e.kids[i+1], precTest)
		}
		p.w("}")
	case eAttr:
		if k := e.kids[0]; k.kind == eConst && k.str == "" && strings.Trim(k.val, "0123456789") == "" {
			p.w("(" + k.val + ")") // 1.real would be a float
		} else {
			p.expr(k, precAtom)
		}
		p.w("." + e.val)
	case eSub:
		p.expr(e.kids[0], precAtom)
		p.w("[")
		p.expr(e.kids[1], precTop)
		p.w("]")
	case eSlice:
		p.expr(e.kids[0], precTest)
		p.w(":")
		p.expr(e.kids[1], precTest)
		if e.kids[2] != nil {
			p.w(":")
			p.expr(e.kids[2], precTest)
		}
	case eCall:
		p.expr(e.kids[0], precAtom)
		p.w("(")
		p.list(e.kids[1:], precTest)
		p.w(")")
	case eKeyword:
		p.w(e.val + "=")
		p.expr(e.kids[0], precTest)
	case eStar:
		p.w("*")
		p.expr(e.kids[0], precBor)
	case eDoubleStar:
		p.w("**")
		p.expr(e.kids[0], precBor)
	case eBin:
		p.binary(e, prec)
	case eUnary:
		p.wrap(prec > precFactor, func() {
			p.w(e.val)
			p.expr(e.kids[0], precFactor)
		})
	case eNot:
		p.wrap(prec > precNot, func() {
			p.w("not ")
			p.expr(e.kids[0], precNot)
		})
	case eAnd, eOr:
		own, op := precAnd, " and "
		if e.kind == eOr {
			own, op = precOr, " or "
		}
		p.wrap(prec > own, func() {
			for i, k := range e.kids {
				if i > 0 {
					p.w(op)
				}
				p.expr(k, own+1)
			}
		})
	case eCompare:
		p.wrap(prec > precCmp, func() {
			p.expr(e.kids[0], precCmp+1)
			for i, op := range e.ops {
				p.w(" " + op + " ")
				p.expr(e.kids[i+1], precCmp+1)
			}
		})
	case eIf:
		p.wrap(prec > precTest, func() {
			p.expr(e.kids[0], precTest+1)
			p.w(" if ")
			p.expr(e.kids[1], precTest+1)
			p.w(" else ")
			p.expr(e.kids[2], precTest)
		})
	case eLambda:
		p.wrap(prec > precTest, func() {
			p.w("lambda")
			if len(e.params) > 0 {
				p.w(" ")
				p.params(e.params)
			}
			p.w(": ")
			p.expr(e.kids[0], precTest)
		})
	case eComp:
		p.comp(e)
	case eAwait:
		p.wrap(prec > precAwait, func() {
			p.w("await ")
			p.expr(e.kids[0], precAtom)
		})
	case eYield, eYieldFrom:
		p.wrap(prec > precTop, func() {
			p.w("yield")
			if e.kind == eYieldFrom {
				p.w(" from")
			}
			if len(e.kids) > 0 {
				p.w(" ")
				p.expr(e.kids[0], precTop)
			}
		})
	case eWalrus:
		p.wrap(true, func() {
			p.expr(e.kids[0], precAtom)
			p.w(" := ")
			p.expr(e.kids[1], precTest)
		})
	case eRepr:
		p.w("`")
		p.expr(e.kids[0], precTop)
		p.w("`")
	default:
		p.pattern(e, prec)
	}
}

func (p *printer) binary(e *expr, prec int) {
	own := binPrec(e.val)
	p.wrap(prec > own, func() {
		if own == precPower {
			p.expr(e.kids[0], precAwait)
			p.w(" ** ")
			p.expr(e.kids[1], precFactor)
			return
		}
		p.expr(e.kids[0], own)
		p.w(" " + e.val + " ")
		p.expr(e.kids[1], own+1)
	})
}

func (p *printer) comp(e *expr) {
	open, shut := e.val, "]"
	switch e.val {
	case "(":
		shut = ")"
	case "{":
		shut = "}"
	case ":":
		open, shut = "{", "}"
	}
	p.w(open)
	p.expr(e.kids[0], precTest)
	if len(e.kids) > 1 {
		p.w(": ")
		p.expr(e.kids[1], precTest)
	}
	for _, c := range e.clauses {
		if c.async {
			p.w(" async")
		}
		p.w(" for ")
		p.expr(c.target, precTop)
		p.w(" in ")
		p.expr(c.iter, precTest+1)
		for _, k := range c.ifs {
			p.w(" if ")
			p.expr(k, precTest+1)
		}
	}
	p.w(shut)
}

func (p *printer) joined(e *expr) {
	for _, k := range e.kids {
		if k.kind == eFormatted {
			p.formatted(k)
			continue
		}
		p.w(strings.NewReplacer("{", "{{", "}", "}}").Replace(k.body))
	}
}

func (p *printer) formatted(e *expr) {
	p.w("{")
	p.expr(e.kids[0], precTop)
	if e.val != "" {
		p.w("!" + e.val)
	}
	if len(e.kids) > 1 {
		p.w(":")
		p.joined(e.kids[1])
	}
	p.w("}")
}

func (p *printer) params(ps []*param) {
	for i, a := range ps {
		if i > 0 {
			p.w(", ")
		}
		if a.sep != "" {
			p.w(a.sep)
			continue
		}
		p.w(a.star)
		if a.pattern != nil {
			p.expr(a.pattern, precTest)
		} else {
			p.w(a.name)
		}
		if a.ann != nil {
			p.w(": ")
			p.expr(a.ann, precTest)
		}
		if a.def != nil {
			if a.ann != nil {
				p.w(" = ")
			} else {
				p.w("=")
			}
			p.expr(a.def, precTest)
		}
	}
}

func (p *printer) pattern(e *expr, prec int) {
	switch e.kind {
	case pWild:
		p.w("_")
	case pCapture:
		p.w(e.val)
	case pValue:
		p.expr(e.kids[0], precBor)
	case pSeq:
		p.w("[")
		p.list(e.kids, precTest)
		p.w("]")
	case pStar:
		p.w("*" + e.val)
	case pMap:
		p.w("{")
		for i := 0; i+1 < len(e.kids); i += 2 {
			if i > 0 {
				p.w(", ")
			}
			p.expr(e.kids[i], precTest)
			p.w(": ")
			p.expr(e.kids[i+1], precTest)
		}
		if e.val != "" {
			if len(e.kids) > 0 {
				p.w(", ")
			}
			p.w("**" + e.val)
		}
		p.w("}")
	case pClass:
		p.expr(e.kids[0], precAtom)
		p.w("(")
		p.list(e.kids[1:], precTest)
		p.w(")")
	case pKeyword:
		p.w(e.val + "=")
		p.expr(e.kids[0], precTest)
	case pOr:
		p.wrap(prec > precBor, func() {
			for i, k := range e.kids {
				if i > 0 {
					p.w(" | ")
				}
				p.expr(k, precBor+1)
			}
		})
	case pAs:
		p.wrap(prec > precTest, func() {
			p.expr(e.kids[0], precBor)
			p.w(" as " + e.val)
		})
	}
}

// signature is the text of a def or class statement, decorators included.
func signature(s *stmt) string {
	var p printer
	for _, d := range s.decos {
		p.w("@")
		p.expr(d, precTop)
		p.w(" ")
	}
	if s.async {
		p.w("async ")
	}
	if s.kind == sClass {
		p.w("class " + s.name)
		p.typeParams(s.tparams)
		if len(s.args) > 0 {
			p.w("(")
			p.list(s.args, precTest)
			p.w(")")
		}
		return p.b.String()
	}
	p.w("def " + s.name)
	p.typeParams(s.tparams)
	p.w("(")
	p.params(s.params)
	p.w(")")
	if s.extra != nil {
		p.w(" -> ")
		p.expr(s.extra, precTest)
	}
	return p.b.String()
}

func (p *printer) typeParams(ps []*param) {
	if len(ps) == 0 {
		return
	}
	p.w("[")
	for i, a := range ps {
		if i > 0 {
			p.w(", ")
		}
		p.w(a.star + a.name)
		if a.ann != nil {
			p.w(": ")
			p.expr(a.ann, precTest)
		}
		if a.def != nil {
			p.w(" = ")
			p.expr(a.def, precTest)
		}
	}
	p.w("]")
}

// stmtText is the normalised text of a statement, of a compound one its header.
func stmtText(s *stmt) string {
	var p printer
	switch s.kind {
	case sExpr:
		p.expr(s.value, precTop)
	case sAssign:
		for _, t := range s.targets {
			p.expr(t, precTop)
			p.w(" = ")
		}
		p.expr(s.value, precTop)
	case sAug:
		p.expr(s.targets[0], precTop)
		p.w(" " + s.op + " ")
		p.expr(s.value, precTop)
	case sAnn:
		// (x): int is another statement than x: int, as it binds nothing.
		p.wrap(s.targets[0].kind == eName && s.targets[0].paren, func() { p.expr(s.targets[0], precTop) })
		p.w(": ")
		p.expr(s.extra, precTest)
		if s.value != nil {
			p.w(" = ")
			p.expr(s.value, precTop)
		}
	case sReturn:
		p.word("return", s.value)
	case sRaise:
		p.word("raise", s.value)
		if s.extra != nil {
			p.w(" from ")
			p.expr(s.extra, precTest)
		}
	case sAssert:
		p.w("assert ")
		p.expr(s.value, precTest)
		if s.extra != nil {
			p.w(", ")
			p.expr(s.extra, precTest)
		}
	case sDel:
		p.w("del ")
		p.list(s.targets, precTest)
	case sPass:
		p.w("pass")
	case sBreak:
		p.w("break")
	case sContinue:
		p.w("continue")
	case sGlobal, sNonlocal:
		if s.kind == sNonlocal {
			p.w("nonlocal ")
		} else {
			p.w("global ")
		}
		p.aliases(s.names)
	case sImport:
		p.w("import ")
		p.aliases(s.names)
	case sFrom:
		p.w("from " + s.name + " import ")
		p.aliases(s.names)
	case sType:
		p.w("type " + s.name)
		p.typeParams(s.tparams)
		p.w(" = ")
		p.expr(s.value, precTest)
	case sPrint:
		p.w("print")
		if s.extra != nil {
			p.w(" >> ") // as the tuple that Python 3 reads here
			p.expr(s.extra, precTest)
			if len(s.args) > 0 {
				p.w(",")
			}
		}
		if len(s.args) > 0 {
			p.w(" ")
			p.list(s.args, precTest)
		}
		p.w(s.op) // a trailing comma means something here
	case sExec:
		p.w("exec ")
		p.expr(s.value, precTest)
		if len(s.args) > 0 {
			p.w(" in ")
			p.list(s.args, precTest)
		}
	case sIf:
		p.word("if", s.value)
	case sWhile:
		p.word("while", s.value)
	case sFor:
		if s.async {
			p.w("async ")
		}
		p.w("for ")
		p.expr(s.targets[0], precTop)
		p.w(" in ")
		p.expr(s.value, precTop)
	case sWith:
		if s.async {
			p.w("async ")
		}
		p.w("with ")
		for i, it := range s.items {
			if i > 0 {
				p.w(", ")
			}
			p.expr(it.value, precTest)
			if it.target != nil {
				p.w(" as ")
				p.expr(it.target, precTest)
			}
		}
	case sMatch:
		p.word("match", s.value)
	case sDef, sClass:
		return signature(s)
	}
	return p.b.String()
}

func (p *printer) word(w string, e *expr) {
	p.w(w)
	if e != nil {
		p.w(" ")
		p.expr(e, precTop)
	}
}

func (p *printer) aliases(as []alias) {
	for i, a := range as {
		if i > 0 {
			p.w(", ")
		}
		p.w(a.name)
		if a.as != "" {
			p.w(" as " + a.as)
		}
	}
}

// armText is the text of an except or case header.
func armText(s *stmt, a *arm) string {
	var p printer
	if s.kind == sMatch {
		p.w("case ")
		p.expr(a.test, precTop)
		if a.guard != nil {
			p.w(" if ")
			p.expr(a.guard, precTest)
		}
		return p.b.String()
	}
	p.w("except")
	if s.group {
		p.w("*")
	}
	if a.test != nil {
		p.w(" ")
		p.expr(a.test, precTest)
	}
	if a.name != nil {
		p.w(" as ")
		p.expr(a.name, precTest)
	}
	return p.b.String()
}
