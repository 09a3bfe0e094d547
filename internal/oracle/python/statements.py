"""Statements, units and the rules that both sides of the comparison are given.

A *unit* is what has a graph of its own: the module, a class body, a function,
a lambda bound to a name. Its *statements* are the ordinary statements of the
design: compound statements by their headers, handlers and cases as statements,
`try` and docstrings not at all.

Two things are decided here once and handed to both sides, because a compiler
cannot know them: which statements may raise, and which calls never return.
Nothing here knows about control flow.
"""

import ast
import io
import re
import tokenize

FIRST_SID = 1000  # statement ids double as line numbers for the compiler

TRY_NODES = (ast.Try,) + ((ast.TryStar,) if hasattr(ast, "TryStar") else ())
FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPE_NODES = FUNCTION_NODES + (ast.ClassDef,)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FOREACH = (ast.For, ast.AsyncFor)
WITHS = (ast.With, ast.AsyncWith)


class Stmt:
    """One ordinary statement: `key` is the (line, col) of its first token."""

    __slots__ = ("sid", "node", "key", "unit", "may_raise")

    def __init__(self, sid, node, key, unit):
        self.sid, self.node, self.key, self.unit = sid, node, key, unit
        self.may_raise = may_raise(node, unit)


class Unit:
    """One graph: its node, its statements by id, and its scope."""

    def __init__(self, node, kind, name, line, parent):
        self.node, self.kind, self.name = node, kind, name
        self.line, self.parent = line, parent
        self.stmts = {}
        self.sid = None  # of the statement that defines it
        self.bindings = list(_bindings(node))
        self.locals = bound_names(node, self.bindings)
        self.file = None

    @property
    def is_function(self):
        return self.kind in ("function", "lambda")

    @property
    def qualified_name(self):
        """The scope path, with . between the parts, without #n."""
        parts, unit = [], self
        while unit is not None and unit.kind != "module":
            parts.append(unit.name)
            unit = unit.parent
        return ".".join(reversed(parts)) or "<module>"

    def mangled(self, name):
        """The name as the compiler stores it inside a class."""
        if not name.startswith("__") or name.endswith("__"):
            return name
        unit = self
        while unit is not None:
            if unit.kind == "class":
                owner = unit.name.lstrip("_")
                return "_" + owner + name if owner else name
            unit = unit.parent
        return name


class File:
    """A parsed file: its tree, its units in source order."""

    def __init__(self, source, path="<source>"):
        self.path, self.source = path, source
        self.tree = ast.parse(source, path)
        self.columns = Columns(source)
        self.units = []
        self.next_sid = FIRST_SID
        self.future_annotations = has_future_annotations(self.tree)
        _Enumerate(self).module()
        for unit in self.units:
            unit.file = self
        self.module = self.units[0]
        self.bindings = module_bindings(self)

    def new_sid(self):
        self.next_sid += 1
        return self.next_sid


class Columns:
    """Byte columns as they stand in the file, whatever its encoding."""

    def __init__(self, source):
        self.encoding = tokenize.detect_encoding(io.BytesIO(source).readline)[0]
        self.bom = self.encoding == "utf-8-sig"
        self.utf8 = self.encoding in ("utf-8", "utf-8-sig")
        self.text = source.decode(self.encoding)
        self.lines = re.split("\r\n|\r|\n", self.text)

    def key(self, line, col):
        if self.utf8:
            return (line, col + (3 if self.bom and line == 1 else 0))
        return (line, len(self.before(line, col).encode(self.encoding)))

    def opening_key(self, node):
        """The first token of an expression, the parentheses around it included."""
        line, before = node.lineno, self.before(node.lineno, node.col_offset)
        key = self.key(node.lineno, node.col_offset)
        while line > 1 or before.strip():
            stripped = before.rstrip(" \t\f\\")
            if not stripped:
                line -= 1
                before = self.lines[line - 1]
            elif stripped[-1] != "(":
                break
            else:
                before = stripped[:-1]
                key = self.key(line, len(before.encode("utf-8")))
        return key

    def before(self, line, col):
        """What stands on a line before a column of the syntax tree."""
        return self.lines[line - 1].encode("utf-8")[:col].decode("utf-8")

    def case_key(self, pattern):
        """Where the `case` before a pattern stands: match_case has no position."""
        line = pattern.lineno
        before = self.before(line, pattern.col_offset)
        while True:
            found = list(re.finditer(r"\bcase\b", before))
            if found:
                return self.key(line, len(before[: found[-1].start()].encode("utf-8")))
            line -= 1
            before = self.lines[line - 1]


class _Enumerate:
    """Numbers the statements of a file and puts each into its unit."""

    def __init__(self, file):
        self.file = file

    def module(self):
        unit = Unit(self.file.tree, "module", "<module>", 1, None)
        self.file.units.append(unit)
        self.block(self.file.tree.body, unit, docstring=True)

    def add(self, node, key, unit):
        node._sid = self.file.new_sid()
        unit.stmts[node._sid] = Stmt(node._sid, node, key, unit)

    def block(self, body, unit, docstring=False):
        for position, node in enumerate(body):
            if docstring and position == 0 and is_docstring(node):
                continue
            self.statement(node, unit)

    def statement(self, node, unit):
        if isinstance(node, TRY_NODES):
            self.block(node.body, unit)
            for handler in node.handlers:
                self.add(handler, self.position(handler), unit)
                self.block(handler.body, unit)
            self.block(node.orelse, unit)
            self.block(node.finalbody, unit)
            return
        self.add(node, self.position(node), unit)
        if isinstance(node, SCOPE_NODES):
            self.scope(node, unit)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self.add(case, self.file.columns.case_key(case.pattern), unit)
                self.block(case.body, unit)
        else:
            bound = bound_lambda(node)
            if bound is not None:
                self.bound_lambda(node, bound, unit)
            self.block(getattr(node, "body", []), unit)
            self.block(getattr(node, "orelse", []), unit)

    def scope(self, node, unit):
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        inner = Unit(node, kind, node.name, node.lineno, unit)
        inner.sid = node._sid
        self.file.units.append(inner)
        self.block(node.body, inner, docstring=True)

    def bound_lambda(self, node, function, unit):
        inner = Unit(function, "lambda", bound_name(node), node.lineno, unit)
        inner.sid = self.file.new_sid()  # of the lambda itself, in the outer code
        function._lambda_sid = inner.sid
        self.file.units.append(inner)
        self.add(function, self.file.columns.opening_key(function.body), inner)

    def position(self, node):
        return self.file.columns.key(node.lineno, node.col_offset)


def is_docstring(node):
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def bound_lambda(node):
    """The lambda that a statement binds to one plain name, if it does."""
    if isinstance(node, ast.Assign):
        good = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    else:
        good = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    return node.value if good and isinstance(node.value, ast.Lambda) else None


def bound_name(node):
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return target.id


def has_future_annotations(tree):
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )


def first_statement(body):
    """The id of the first ordinary statement that runs when a body is entered."""
    node = body[0]
    while isinstance(node, TRY_NODES):
        node = node.body[0]
    return node._sid


# ---------------------------------------------------------------- scopes


def parameters(args):
    """Parameters in source order."""
    every = args.posonlyargs + args.args
    every += [args.vararg] if args.vararg else []
    every += args.kwonlyargs
    return every + ([args.kwarg] if args.kwarg else [])


def bound_names(scope, bindings):
    """Names that a scope binds itself, those declared global or nonlocal excepted."""
    bound, declared = set(), set()
    if isinstance(scope, FUNCTION_NODES + (ast.Lambda,)):
        bound.update(arg.arg for arg in parameters(scope.args))
    for name, is_declaration in bindings:
        (declared if is_declaration else bound).add(name)
    return bound - declared


def _bindings(scope):
    """(name, is it a global or nonlocal declaration) for each binding in a scope."""
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    stack = [(node, False) for node in body]
    while stack:
        node, in_comprehension = stack.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from ((name, True) for name in node.names)
        for name in _names_bound_by(node, in_comprehension):
            yield name, False
        stack.extend(_inside(node, in_comprehension))


def _names_bound_by(node, in_comprehension):
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, (ast.Store, ast.Del)) and not in_comprehension:
            return [node.id]
    elif isinstance(node, ast.NamedExpr):
        return [node.target.id]
    elif isinstance(node, SCOPE_NODES):
        return [node.name]
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    elif isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return []


def _inside(node, in_comprehension):
    """Children that belong to the same scope, with comprehensions entered for
    their walruses alone."""
    if isinstance(node, SCOPE_NODES):
        outside = list(node.decorator_list)
        if isinstance(node, ast.ClassDef):
            outside += node.bases + node.keywords
        else:
            outside += [default for default in node.args.defaults + node.args.kw_defaults if default]
        return [(child, in_comprehension) for child in outside]
    if isinstance(node, ast.Lambda):
        defaults = node.args.defaults + node.args.kw_defaults
        return [(child, in_comprehension) for child in defaults if child]
    inner = in_comprehension or isinstance(node, COMPREHENSIONS)
    return [(child, inner) for child in ast.iter_child_nodes(node)]


def is_generator(function):
    """Whether a def's own body yields."""
    stack = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, SCOPE_NODES + (ast.Lambda,)):
            stack.extend(ast.iter_child_nodes(node))
    return False


def module_bindings(file):
    """How often each name is bound in the module's scope."""
    counts = {}
    for unit in file.units:
        declared = {name for name, is_declaration in unit.bindings if is_declaration}
        for name, is_declaration in unit.bindings:
            if not is_declaration and (unit.kind == "module" or name in declared):
                counts[name] = counts.get(name, 0) + 1
    return counts


# ---------------------------------------------------------------- calls that never return


def never_returns(node, unit, endless):
    """'raise', 'halt' or None for a statement: is it one call known not to return?

    `endless` holds the names of the module's own functions that never return.
    """
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return None
    function = node.value.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        called = (function.value.id, function.attr)
        return {("sys", "exit"): "raise", ("os", "_exit"): "halt", ("os", "abort"): "halt"}.get(called)
    if isinstance(function, ast.Name) and is_global_name(function.id, unit):
        if function.id in ("exit", "quit") and function.id not in unit.file.bindings:
            return "raise"
        if function.id in endless:
            return "raise"
    return None


def is_global_name(name, unit):
    """Whether a name used in a unit is the module's or a builtin."""
    if unit.kind == "class" and name in unit.locals:
        return False
    while unit.kind != "module":
        if unit.kind != "class" and name in unit.locals:
            return False
        unit = unit.parent
    return True


def endless_candidates(file):
    """Units whose calls by name may be known not to return: plain, undecorated
    functions of the module whose name is bound once."""
    return [
        unit
        for unit in file.units
        if unit.kind == "function"
        and unit.parent.kind == "module"
        and isinstance(unit.node, ast.FunctionDef)
        and not unit.node.decorator_list
        and file.bindings.get(unit.name) == 1
        and not is_generator(unit.node)
    ]


def is_suppress(context):
    """Whether a with item's context is contextlib.suppress(...)."""
    if not isinstance(context, ast.Call):
        return False
    function = context.func
    if isinstance(function, ast.Attribute):
        return (
            function.attr == "suppress"
            and isinstance(function.value, ast.Name)
            and function.value.id == "contextlib"
        )
    return isinstance(function, ast.Name) and function.id == "suppress"


def suppresses(node):
    """Whether an exception in the body of a with may go on after it."""
    return any(is_suppress(item.context_expr) for item in node.items)


# ---------------------------------------------------------------- MayRaise


def may_raise(node, unit):
    """The design's rule: everything may raise but pass, break, continue, global,
    `is` tests, and assignment to a plain local, or return, of constants and
    plain locals."""
    quiet = Quiet(unit.locals, unit.is_function)
    if isinstance(node, (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)):
        return False
    if isinstance(node, ast.Lambda):
        return not quiet.value(node.body)
    if isinstance(node, (ast.Expr, ast.Return)):
        return node.value is not None and not quiet.value(node.value)
    if isinstance(node, ast.Assign):
        return not (all(map(quiet.target, node.targets)) and quiet.value(node.value))
    if isinstance(node, ast.AnnAssign):
        evaluated = not unit.is_function and not quiet.value(node.annotation)
        value = node.value is not None and not quiet.value(node.value)
        return evaluated or value or not quiet.target(node.target)
    if isinstance(node, ast.Raise):
        return any(part is not None and not quiet.value(part) for part in (node.exc, node.cause))
    if isinstance(node, ast.Assert):
        message = node.msg is not None and not quiet.value(node.msg)
        return message or not quiet.truth(node.test)
    if isinstance(node, (ast.If, ast.While)):
        return not quiet.truth(node.test)
    if isinstance(node, ast.Match):
        return not quiet.value(node.subject)
    if isinstance(node, ast.match_case):
        guard = node.guard is not None and not quiet.truth(node.guard)
        return guard or not quiet.pattern(node.pattern)
    if isinstance(node, ast.ExceptHandler):
        return node.type is not None
    return True


class Quiet:
    """Which expressions can be evaluated, tested or stored to without raising."""

    def __init__(self, local_names, in_function=True):
        self.locals = local_names
        self.in_function = in_function  # elsewhere, a name is looked up and may not be found

    def target(self, node):
        return isinstance(node, ast.Name) and node.id in self.locals

    def value(self, node):
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return self.in_function and node.id in self.locals
        if isinstance(node, ast.UnaryOp):
            return self.truth(node.operand) if isinstance(node.op, ast.Not) else is_signed_number(node)
        if isinstance(node, ast.Compare):
            return self.is_test(node)
        if isinstance(node, ast.Tuple):
            return all(map(self.value, node.elts))
        if isinstance(node, ast.BoolOp):
            return all(map(self.truth, node.values[:-1])) and self.value(node.values[-1])
        if isinstance(node, ast.IfExp):
            return self.truth(node.test) and self.value(node.body) and self.value(node.orelse)
        if isinstance(node, ast.NamedExpr):
            return self.target(node.target) and self.value(node.value)
        if isinstance(node, ast.JoinedStr):
            return all(map(self.value, node.values))
        return False

    def truth(self, node):
        if isinstance(node, ast.Name):
            return False
        if isinstance(node, ast.BoolOp):
            return all(map(self.truth, node.values))
        if isinstance(node, ast.IfExp):
            return all(map(self.truth, (node.test, node.body, node.orelse)))
        if isinstance(node, ast.NamedExpr):
            return self.target(node.target) and self.truth(node.value)
        return self.value(node)

    def is_test(self, node):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops) and all(
            map(self.value, [node.left] + node.comparators)
        )

    def pattern(self, node):
        if isinstance(node, ast.MatchSingleton):
            return True
        if isinstance(node, ast.MatchAs):
            named = node.name is None or node.name in self.locals
            return named and (node.pattern is None or self.pattern(node.pattern))
        if isinstance(node, ast.MatchOr):
            return all(map(self.pattern, node.patterns))
        return False


def is_signed_number(node):
    return (
        isinstance(node.op, (ast.USub, ast.UAdd))
        and isinstance(node.operand, ast.Constant)
        and isinstance(node.operand.value, (int, float, complex))
        and not isinstance(node.operand.value, bool)
    )


def is_irrefutable(pattern):
    """Whether a pattern matches everything."""
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or is_irrefutable(pattern.pattern)
    return isinstance(pattern, ast.MatchOr) and is_irrefutable(pattern.patterns[-1])
