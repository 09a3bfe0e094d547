"""What a statement does to plain locals, interpreted over sets of definitions.

A *state* maps a variable to the definitions that may reach; None is a state
that cannot occur. `Effects` walks one statement's expressions in evaluation
order, collects the definitions that each use meets, and joins the states in
which an exception may leave.
"""

import ast

from statements import COMPREHENSIONS, FOREACH, Quiet, parameters


def join(a, b):
    """The union of two states."""
    if a is None or b is None or a is b:
        return b if a is None else a
    out = dict(a)
    for name, definitions in b.items():
        known = out.get(name)
        out[name] = definitions if known is None else known | definitions
    return out


class Effects:
    """One run over one statement from one state in."""

    def __init__(self, stmt, state):
        self.stmt, self.sid, self.state = stmt, stmt.sid, state
        self.locals = stmt.unit.locals
        self.quiet = Quiet(self.locals)
        self.uses = set()
        self.exception = None  # the join of the states in which it may raise
        self.hidden = []  # variables of the comprehensions around

    # ------------------------------------------------------------ primitives

    def is_local(self, name):
        return name in self.locals and not any(name in names for names in self.hidden)

    def use(self, name):
        if self.state is not None and self.is_local(name):
            self.uses.update((name, d, self.sid) for d in self.state.get(name, ()))

    def define(self, name):
        if self.state is not None and self.is_local(name):
            self.state = {**self.state, name: frozenset([self.sid])}

    def kill(self, name):
        if self.state is not None and name in self.state:
            self.state = {k: v for k, v in self.state.items() if k != name}

    def raises(self):
        self.exception = join(self.exception, self.state)

    # ------------------------------------------------------------ expressions

    def values(self, nodes):
        for node in nodes:
            if node is not None:
                self.value(node)

    def value(self, node):
        special = getattr(self, "value_" + type(node).__name__, None)
        if special is not None:
            special(node)
            return
        if isinstance(node, COMPREHENSIONS):
            self.comprehension(node)
            return
        self.values(child for child in ast.iter_child_nodes(node) if isinstance(child, (ast.expr, ast.keyword)))
        if not self.quiet.value(node):
            self.raises()

    def value_Name(self, node):
        if self.is_local(node.id):
            self.use(node.id)
        else:
            self.raises()

    def value_keyword(self, node):
        self.value(node.value)

    def value_Dict(self, node):
        for key, value in zip(node.keys, node.values):
            self.values((key, value))
        self.raises()

    def value_NamedExpr(self, node):
        self.value(node.value)
        self.define(node.target.id)

    def value_Lambda(self, node):
        self.values(node.args.defaults + node.args.kw_defaults)
        self.raises()

    def value_BoolOp(self, node):
        whole = None
        for operand in node.values[:-1]:
            true, false = self.truth(operand)
            stays, goes = (true, false) if isinstance(node.op, ast.And) else (false, true)
            whole, self.state = join(whole, goes), stays
        self.value(node.values[-1])
        self.state = join(whole, self.state)

    def value_IfExp(self, node):
        true, false = self.truth(node.test)
        self.state = true
        self.value(node.body)
        true, self.state = self.state, false
        self.value(node.orelse)
        self.state = join(true, self.state)

    def value_Compare(self, node):
        self.state = join(*self.compare(node))

    def value_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            self.state = join(*self.truth(node.operand))
            return
        self.value(node.operand)
        if not self.quiet.value(node):
            self.raises()

    def compare(self, node):
        """(state if true, state if false) of a chain of comparisons."""
        self.value(node.left)
        false = None
        for position, (op, right) in enumerate(zip(node.ops, node.comparators)):
            self.value(right)
            if not isinstance(op, (ast.Is, ast.IsNot)):
                self.raises()
            if position < len(node.ops) - 1:
                false = join(false, self.state)
        return self.state, join(false, self.state)

    def truth(self, node):
        """(state if true, state if false) of an expression that is tested."""
        if isinstance(node, ast.BoolOp):
            return self.truth_of_operands(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            true, false = self.truth(node.operand)
            return false, true
        if isinstance(node, ast.IfExp):
            true, false = self.truth(node.test)
            self.state = true
            first = self.truth(node.body)
            self.state = false
            second = self.truth(node.orelse)
            return join(first[0], second[0]), join(first[1], second[1])
        if isinstance(node, ast.Compare):
            return self.compare(node)
        self.value(node)
        if not self.quiet.truth(node):
            self.raises()
        return self.state, self.state

    def truth_of_operands(self, node):
        is_and = isinstance(node.op, ast.And)
        decided = None
        for operand in node.values:
            true, false = self.truth(operand)
            goes, self.state = (false, true) if is_and else (true, false)
            decided = join(decided, goes)
        return (self.state, decided) if is_and else (decided, self.state)

    def comprehension(self, node):
        """The first iterable once, then the rest any number of times."""
        first = node.generators[0]
        self.value(first.iter)
        self.raises()
        if isinstance(node, ast.GeneratorExp):
            return  # a function of its own: what it uses of ours is captured
        targets = {n.id for g in node.generators for n in ast.walk(g.target)
                   if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.hidden.append(targets)
        before = None
        while before != self.state:
            before = self.state
            self.round(node)
            self.state = join(before, self.state)
        self.hidden.pop()

    def round(self, node):
        skipped = None
        for position, generator in enumerate(node.generators):
            if position:
                self.value(generator.iter)
                skipped = join(skipped, self.state)
            self.raises()
            self.target(generator.target)
            for test in generator.ifs:
                self.state, false = self.truth(test)
                skipped = join(skipped, false)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self.values(parts)
        self.raises()
        self.state = join(self.state, skipped)

    # ------------------------------------------------------------ targets

    def target(self, node):
        """Stores to an assignment target."""
        if isinstance(node, ast.Name):
            if not self.quiet.target(node):
                self.raises()
            self.define(node.id)
        elif isinstance(node, (ast.Tuple, ast.List)):
            self.raises()
            for element in node.elts:
                self.target(element)
        elif isinstance(node, ast.Starred):
            self.target(node.value)
        else:
            self.values(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
            self.raises()

    def delete(self, node):
        if isinstance(node, ast.Name):
            self.raises()
            self.kill(node.id)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for element in node.elts:
                self.delete(element)
        else:
            self.target(node)

    # ------------------------------------------------------------ statements

    def run(self, part):
        """The states after one part of a statement, by outcome."""
        node = self.stmt.node
        if part == "iterable":
            self.value(node.iter)
            self.raises()
            return {"next": self.state}
        if isinstance(node, FOREACH):
            self.raises()
            done = self.state
            self.target(node.target)
            return {"true": self.state, "false": done}
        if isinstance(node, (ast.If, ast.While)):
            return outcomes(self.truth(node.test))
        if isinstance(node, ast.Assert):
            return self.assertion(node)
        if isinstance(node, ast.match_case):
            return self.case(node)
        if isinstance(node, ast.ExceptHandler):
            return self.handler(node)
        getattr(self, "run_" + type(node).__name__, self.plain)(node)
        return {"next": self.state}

    def plain(self, node):
        self.values(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))

    def assertion(self, node):
        true, false = self.truth(node.test)
        if node.msg is not None:
            self.state = false
            self.value(node.msg)
            false = self.state
        return {"true": true, "false": false}

    def handler(self, node):
        if node.type is not None:
            self.value(node.type)
            self.raises()
        no_match = self.state
        if node.name:
            self.define(node.name)
        return {"true": self.state, "false": no_match}

    def case(self, node):
        self.pattern_values(node.pattern)
        no_match = self.state
        for name in pattern_names(node.pattern):
            self.define(name)
        if node.guard is None:
            return {"true": self.state, "false": no_match}
        true, false = self.truth(node.guard)
        return {"true": true, "false": join(no_match, false)}

    def pattern_values(self, pattern):
        for child in ast.walk(pattern):
            if isinstance(child, ast.expr) and isinstance(child, (ast.Name,)):
                self.value(child)
        if not self.quiet.pattern(pattern):
            self.raises()

    def run_Assign(self, node):
        self.value(node.value)
        for target in node.targets:
            self.target(target)

    def run_AnnAssign(self, node):
        if node.value is not None:
            self.value(node.value)
            self.target(node.target)
        elif not isinstance(node.target, ast.Name):
            self.values(child for child in ast.iter_child_nodes(node.target) if isinstance(child, ast.expr))

    def run_AugAssign(self, node):
        target = node.target
        if isinstance(target, ast.Name):
            self.value(ast.Name(id=target.id, ctx=ast.Load()))
        else:
            self.values(child for child in ast.iter_child_nodes(target) if isinstance(child, ast.expr))
        self.value(node.value)
        self.raises()
        if isinstance(target, ast.Name):
            self.define(target.id)

    def run_Delete(self, node):
        for target in node.targets:
            self.delete(target)

    def run_Import(self, node):
        for alias in node.names:
            self.raises()
            self.define(alias.asname or alias.name.split(".")[0])

    run_ImportFrom = run_Import

    def run_With(self, node):
        for item in node.items:
            self.value(item.context_expr)
            self.raises()
            if item.optional_vars is not None:
                self.target(item.optional_vars)

    run_AsyncWith = run_With

    def run_Match(self, node):
        self.value(node.subject)

    def run_Lambda(self, node):
        self.value(node.body)

    def run_FunctionDef(self, node):
        self.values(node.decorator_list + node.args.defaults + node.args.kw_defaults)
        if not self.stmt.unit.file.future_annotations:
            self.values([arg.annotation for arg in parameters(node.args)] + [node.returns])
        self.raises()
        self.define(node.name)

    run_AsyncFunctionDef = run_FunctionDef

    def run_ClassDef(self, node):
        self.values(node.decorator_list + node.bases + node.keywords)
        self.raises()
        self.define(node.name)

    def run_TypeAlias(self, node):
        self.define(node.name.id)


def outcomes(pair):
    return {"true": pair[0], "false": pair[1]}


def pattern_names(pattern):
    """Names that a pattern captures."""
    for node in ast.walk(pattern):
        name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
        if isinstance(node, (ast.MatchAs, ast.MatchStar, ast.MatchMapping)) and name:
            yield name
