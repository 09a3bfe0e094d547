"""Readies a tree for the compiler so that its bytecode can be read by statement.

CPython keeps one NOP for every line that has nothing else, and otherwise
optimises freely within a line. So every statement is given a line of its own:
its id. No jump, `pass` or `while True` is lost then, one-line suites are as
good as indented ones, and the line of an instruction *is* its statement.

The other changes are the rules that the design gives to both sides:
calls that never return, and constants that are no loop's whole condition.
What each is for stands in NORMALISATIONS of bytecode.py.
"""

import ast

from statements import TRY_NODES, is_docstring, never_returns

UNMARKED = 1  # the line of what is no statement: try, docstrings
OPAQUE = ".opaque"  # a global that nobody else reads, in the place of a constant
SUPER = ".super"  # in the place of super
COMPREHENSION_PREFIX = ".of"  # of variables of comprehensions


def prepare(file, endless):
    """Rewrites file.tree in place; `endless` as for never_returns."""
    owner = {sid: unit for unit in file.units for sid in unit.stmts}
    _NeverReturns(owner, endless).visit(file.tree)
    _Rename().visit(file.tree)
    _HideConstants().visit(file.tree)
    _Anchor().visit(file.tree)
    _place(file.tree, UNMARKED)
    return file.tree


class _NeverReturns(ast.NodeTransformer):
    """`sys.exit()` becomes `raise sys.exit()`, `os._exit()` an endless loop."""

    def __init__(self, owner, endless):
        self.owner, self.endless = owner, endless

    def visit_Expr(self, node):
        if not hasattr(node, "_sid"):
            return node
        how = never_returns(node, self.owner[node._sid], self.endless)
        if how is None:
            return node
        if how == "raise":
            new = ast.Raise(exc=node.value, cause=None)
        else:
            new = ast.While(test=ast.Constant(value=True), body=[node], orelse=[])
        new._sid = node._sid
        return new

    def visit_Lambda(self, node):
        return node


class _HideConstants(ast.NodeTransformer):
    """Constants that are tested become a name, or the compiler would fold the test.

    A literal that is the whole condition of a while stays: the design folds it too.
    """

    def visit_While(self, node):
        if not isinstance(node.test, ast.Constant):
            node.test = self.tested(node.test)
        return self.generic_visit(node)

    def visit_test(self, node):
        node.test = self.tested(node.test)
        return self.generic_visit(node)

    visit_If = visit_IfExp = visit_Assert = visit_test

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            node.operand = self.tested(node.operand)
        return self.generic_visit(node)

    def visit_BoolOp(self, node):
        node.values[:-1] = map(self.tested, node.values[:-1])
        return self.generic_visit(node)

    def visit_match_case(self, node):
        if node.guard is not None:
            node.guard = self.tested(node.guard)
        return self.generic_visit(node)

    def visit_comprehension(self, node):
        node.ifs = [self.tested(test) for test in node.ifs]
        return self.generic_visit(node)

    def tested(self, node):
        """The node where its truth is taken, hidden if it is made of constants."""
        if isinstance(node, ast.BoolOp):
            node.values[-1] = self.tested(node.values[-1])
        elif isinstance(node, ast.IfExp):
            node.body, node.orelse = self.tested(node.body), self.tested(node.orelse)
        if is_constant(node):
            return ast.copy_location(ast.Name(id=OPAQUE, ctx=ast.Load()), node)
        return node


CONSTANT_PARTS = (
    ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.Subscript, ast.Slice, ast.JoinedStr,
    ast.operator, ast.unaryop, ast.expr_context,
)


def is_constant(node):
    """Whether the compiler may know the value: nothing but constants in it."""
    if isinstance(node, ast.Name):
        return node.id == "__debug__"
    return isinstance(node, CONSTANT_PARTS) and all(map(is_constant, ast.iter_child_nodes(node)))


class _Rename(ast.NodeTransformer):
    """Variables of comprehensions get names of their own, since 3.12 and later
    put them among the function's fast locals; so does `super` in `super()`, which
    would read the first parameter unseen."""

    def __init__(self):
        self.names = {}
        self.count = 0

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            node.func.id = SUPER
        return self.generic_visit(node)

    def visit_Lambda(self, node):
        arguments = node.args
        node.args.defaults = [self.visit(default) for default in arguments.defaults]
        node.args.kw_defaults = [default and self.visit(default) for default in arguments.kw_defaults]
        own = {n.arg for n in ast.walk(arguments) if isinstance(n, ast.arg)}
        outer, self.names = self.names, {k: v for k, v in self.names.items() if k not in own}
        node.body = self.visit(node.body)
        self.names = outer
        return node

    def comprehension(self, node):
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        outer = self.names
        self.count += 1
        self.names = dict(outer)
        for generator in node.generators:
            for target in ast.walk(generator.target):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    self.names[target.id] = f"{COMPREHENSION_PREFIX}{self.count}.{target.id}"
        for position, generator in enumerate(node.generators):
            generator.target = self.visit(generator.target)
            if position:
                generator.iter = self.visit(generator.iter)
            generator.ifs = [self.visit(test) for test in generator.ifs]
        for field in ("elt", "key", "value"):
            if getattr(node, field, None) is not None:
                setattr(node, field, self.visit(getattr(node, field)))
        self.names = outer
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension


class _Anchor(ast.NodeTransformer):
    """Statements that compile to nothing get a `pass` of the same id in front.

    The suites of with and try get one of no statement at their end: the
    compiler puts what leaves them on the line that it compiled last.
    """

    def anchored(self, node):
        anchor = ast.Pass()
        anchor._sid = node._sid
        return [anchor, node]

    visit_Global = visit_Nonlocal = visit_Delete = anchored

    def visit_AnnAssign(self, node):
        return self.anchored(node) if node.value is None else node

    def closed(self, node):
        self.generic_visit(node)
        for suite in (node.body, getattr(node, "orelse", None), getattr(node, "finalbody", None)):
            if suite:
                end = ast.Pass()
                end._sid = UNMARKED
                suite.append(end)
        return node

    visit_With = visit_AsyncWith = visit_Try = visit_TryStar = visit_ExceptHandler = closed


def _place(node, sid):
    """Gives every node the line of the statement that it belongs to."""
    stack = [(node, sid)]
    while stack:
        node, sid = stack.pop()
        own = getattr(node, "_sid", None)
        if isinstance(node, ast.Lambda):
            own = getattr(node, "_lambda_sid", sid)
        elif own is None and (isinstance(node, TRY_NODES) or is_docstring(node)):
            own = UNMARKED
        sid = own if own is not None else sid
        node.lineno = node.end_lineno = sid
        node.col_offset = node.end_col_offset = 0
        if isinstance(node, ast.Lambda) and hasattr(node, "_lambda_sid"):
            stack.append((node.args, sid))
            stack.append((node.body, node._sid))
        else:
            stack.extend((child, sid) for child in ast.iter_child_nodes(node))
