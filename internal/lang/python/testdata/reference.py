"""Prints what CPython's ast and symtable say of files: each function with its
parameters, flags, captured names and statements. Read by TestReference."""
import ast
import json
import sys
import symtable


def qual(path, name):
    return path + name


KINDS = {
    ast.FunctionDef: "def", ast.AsyncFunctionDef: "def", ast.ClassDef: "class", ast.Return: "return", ast.Delete: "delete",
    ast.Assign: "assign", ast.AugAssign: "augassign", ast.For: "foreach", ast.AsyncFor: "foreach", ast.While: "while",
    ast.If: "if", ast.With: "with", ast.AsyncWith: "with", ast.Match: "match", ast.Raise: "raise", ast.Assert: "assert",
    ast.Import: "import", ast.ImportFrom: "import", ast.Global: "global", ast.Nonlocal: "global", ast.Pass: "pass",
    ast.Break: "break", ast.Continue: "continue",
}
for extra in ("TypeAlias",):
    if hasattr(ast, extra):
        KINDS[getattr(ast, extra)] = "assign"
TRY = tuple(getattr(ast, n) for n in ("Try", "TryStar") if hasattr(ast, n))
VALUES = {ast.Yield: "yield", ast.YieldFrom: "yield", ast.Await: "await", ast.Call: "call"}


def kind(n):
    if isinstance(n, ast.Expr):
        return VALUES.get(type(n.value), "expr")
    if isinstance(n, ast.AnnAssign):
        return "assign" if n.value is not None else "decl"
    return KINDS[type(n)]


def docless(body):
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
        return body[1:]
    return body


def header_end(n):
    if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Match)):
        return None
    return n.end_lineno


def statements(body, out, elif_of=None):
    for n in body:
        if not isinstance(n, TRY):
            out.append([n.lineno, n.col_offset, kind(n), header_end(n)])
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        statements(getattr(n, "body", []), out)
        for h in getattr(n, "handlers", []):
            out.append([h.lineno, h.col_offset, "handler", None])
            statements(h.body, out)
        if isinstance(n, ast.Match):
            for c in n.cases:
                out.append([c.pattern.lineno, -1, "case", None])
                statements(c.body, out)
        statements(getattr(n, "orelse", []), out)
        statements(getattr(n, "finalbody", []), out)


def functions(n, path, in_class, out):
    for c in ast.iter_child_nodes(n):
        if isinstance(c, (ast.FunctionDef, ast.AsyncFunctionDef)):
            st = []
            statements(docless(c.body), st)
            a = c.args
            params = sorted(((p.lineno, p.col_offset, p.arg) for p in a.posonlyargs + a.args + a.kwonlyargs + [x for x in (a.vararg, a.kwarg) if x]))
            out.append({"name": path + c.name, "line": c.lineno, "end": c.end_lineno, "params": [p[2] for p in params],
                        "async": isinstance(c, ast.AsyncFunctionDef), "stmts": sorted(st)})
            functions(c, path + c.name + ".", False, out)
        elif isinstance(c, ast.ClassDef):
            st = []
            statements(docless(c.body), st)
            out.append({"name": path + "<class " + c.name + ">", "line": c.lineno, "end": c.end_lineno, "params": [], "async": False, "stmts": sorted(st)})
            functions(c, path + c.name + ".", True, out)
        else:
            functions(c, path, in_class, out)


def symbols(t, path, out):
    for c in t.get_children():
        name = c.get_name()
        if c.get_type() == "function" and name not in ("lambda", "genexpr", "listcomp", "setcomp", "dictcomp"):
            out.setdefault("%s%s:%d" % (path, name, c.get_lineno()), []).append(
                {"locals": sorted(c.get_locals()), "frees": sorted(x for x in c.get_frees() if x not in ("__class__", "__classdict__"))})
        if name in ("lambda", "genexpr", "listcomp", "setcomp", "dictcomp"):
            continue
        symbols(c, path + name + ".", out)


for p in open(sys.argv[1]).read().split("\n"):
    try:
        src = open(p, "rb").read()
        tree = ast.parse(src)
        table = symtable.symtable(src, p, "exec")
    except Exception:
        print("null")
        continue
    out, st, sym = [], [], {}
    statements(docless(tree.body), st)
    out.append({"name": "<module>", "line": 1, "end": 0, "params": [], "async": False, "stmts": sorted(st)})
    functions(tree, "", False, out)
    symbols(table, "", sym)
    print(json.dumps({"funcs": out, "syms": sym}))
