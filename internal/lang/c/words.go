package c

// isKeyword reports a word that cannot name a variable or function.
func isKeyword(s string) bool {
	switch s {
	case "if", "else", "while", "for", "do", "switch", "case", "default", "goto", "break", "continue", "return", "sizeof", "typedef",
		"struct", "union", "enum", "static", "extern", "register", "const", "volatile", "void", "int", "char", "short", "long",
		"float", "double", "signed", "unsigned", "asm", "__asm__", "__extension__", "_Generic", "_Alignof", "__alignof__":
		return true
	}
	return false
}

// isCppKeyword reports what C++ reserves besides.
func isCppKeyword(s string) bool {
	switch s {
	case "class", "namespace", "template", "typename", "new", "delete", "throw", "try", "catch", "operator", "public", "private", "protected",
		"using", "friend", "virtual", "explicit", "mutable", "this", "co_await", "co_yield", "co_return", "static_cast", "dynamic_cast",
		"const_cast", "reinterpret_cast", "typeid", "noexcept", "constexpr", "consteval", "constinit", "decltype", "concept", "requires", "alignof":
		return true
	}
	return false
}

// isBuiltin reports a word that is a type by itself, or part of one.
func isBuiltin(s string, cpp bool) bool {
	switch s {
	case "void", "int", "char", "short", "long", "float", "double", "signed", "unsigned", "_Bool", "_Complex", "_Imaginary",
		"__signed__", "__signed", "__int128", "__int64", "__float128", "_Float16", "_Float32", "_Float64", "_Float128", "__complex__",
		"__builtin_va_list", "_Decimal32", "_Decimal64", "_Decimal128", "__auto_type":
		return true
	case "bool", "wchar_t", "char8_t", "char16_t", "char32_t":
		return cpp || s == "bool"
	}
	return false
}

// isSpecifier reports a word that begins or continues a declaration.
func isSpecifier(s string, cpp bool) bool {
	switch s {
	case "static", "extern", "register", "auto", "const", "volatile", "inline", "restrict", "__restrict", "__restrict__", "__inline", "__inline__",
		"__const", "__const__", "__volatile__", "__volatile", "_Noreturn", "_Thread_local", "__thread", "_Atomic", "thread_local", "typedef", "__forceinline":
		return true
	case "constexpr", "constinit", "consteval", "mutable", "virtual", "explicit", "friend", "typename":
		return cpp || s == "constexpr"
	}
	return false
}

// takesParens reports a word of a declaration that is followed by something in
// parentheses.
func takesParens(s string) bool {
	switch s {
	case "__attribute__", "__attribute", "__declspec", "_Alignas", "alignas", "typeof", "__typeof__", "__typeof", "typeof_unqual", "decltype",
		"_BitInt", "__underlying_type", "_Atomic":
		return true
	}
	return false
}

// isAllocation reports a function whose result points to nothing that a local
// name stands for.
func isAllocation(s string) bool {
	switch s {
	case "malloc", "calloc", "realloc", "strdup", "strndup", "alloca", "aligned_alloc", "fopen", "fdopen", "opendir", "getenv", "xmalloc", "xcalloc",
		"xrealloc", "xstrdup", "mmap", "valloc", "memalign", "__builtin_alloca", "kmalloc", "kzalloc":
		return true
	}
	return false
}
