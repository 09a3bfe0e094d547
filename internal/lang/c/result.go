package c

import (
	"strings"

	"flowplan/internal/ir"
)

// result says whether a function is declared to return a value. Where the type
// is a macro's, or left out, that is open.
func (l *lowerer) result() ir.Result {
	d := l.d
	switch {
	case l.fn.Kind == ir.FuncConstructor, l.fn.Async, l.fn.Generator, d.open < 0:
		return ir.ResultNone
	case l.fn.QualifiedName == "main": // it returns 0 by itself
		return ir.ResultNone
	}
	toks := d.toks
	for i := d.close + 1; i < d.body; i++ { // auto f() -> int
		if toks[i].is("->") {
			return resultOf(toks[i+1 : d.body])
		}
	}
	if l.fn.Kind == ir.FuncLambda {
		return ir.ResultOpen
	}
	end := d.name
	for end-1 > d.start && toks[end-1].is("::") { // of a method defined outside of its class
		end -= 2
		for depth := 0; end > d.start && (toks[end].is(">") || depth > 0); end-- {
			if toks[end].is(">") {
				depth++
			} else if toks[end].is("<") {
				depth--
			}
		}
	}
	if toks[max(end-1, 0)].is("~") || toks[max(d.name, 0)].is("~") {
		return ir.ResultNone
	}
	return resultOf(toks[d.start:max(end, d.start)])
}

// resultOf reads what stands before a function's name.
func resultOf(toks []token) ir.Result {
	void, value := false, false
	depth := 0
	for i := range toks {
		t := &toks[i]
		switch {
		case t.is("(") || t.is("[") || t.is("<"): // attributes, template heads and arguments
			depth++
		case t.is(")") || t.is("]") || t.is(">"):
			depth--
		case depth > 0 || t.kind == tPunct && t.text != "*" && t.text != "&" && t.text != "&&":
		case t.text == "auto" || t.text == "decltype" || t.text == "operator" || t.text == "concept":
			return ir.ResultOpen
		case t.text == "void":
			void = true
		case t.kind == tPunct:
			return ir.ResultValue
		case strings.HasPrefix(t.text, "__attribute") || strings.HasPrefix(t.text, "__declspec") || storage[t.text]:
		case t.text != strings.ToUpper(t.text): // EXPORT void f(), BOOL f(): a macro, or a type
			value = true
		}
	}
	switch {
	case void:
		return ir.ResultNone
	case value:
		return ir.ResultValue
	}
	return ir.ResultOpen
}

// storage are words before a function's type that say nothing of it.
var storage = map[string]bool{
	"static": true, "extern": true, "inline": true, "__inline": true, "__inline__": true, "register": true, "constexpr": true, "consteval": true, "virtual": true,
	"explicit": true, "friend": true, "template": true, "typename": true, "_Noreturn": true, "const": true, "volatile": true,
	"requires": true, "export": true, "__extension__": true, "alignas": true, "_Alignas": true, "__cdecl": true, "__stdcall": true,
}
