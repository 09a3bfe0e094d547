"""The design's rules for Python graphs, read plainly over the ast module.

It knows nothing of bytecode: it exists to show that bytecode.py is sound, by
making the same graphs in another way. Lowering goes from the end to the start:
the successor of a statement is always known, and a finally is lowered once for
each place that it resumes to.
"""

import ast

from effects import Effects, join
from statements import (
    TRY_NODES, File, endless_candidates, is_irrefutable, never_returns,
    parameters, suppresses,
)
from bytecode import ENTRY, EXIT, RAISE, Graph

PLAIN = {"next", "loop", "break", "continue", "goto", "fallthrough"}


class Node:
    """A statement, or a part of one, at one place of the graph.

    sid     its statement; None for the unbinding of a handler's name
    ways    (outcome, role, node)
    caught  nodes where an implicit exception goes
    """

    __slots__ = ("sid", "part", "ways", "caught", "name")

    def __init__(self, sid=None, part=None, name=None):
        self.sid, self.part, self.name = sid, part, name
        self.ways, self.caught = [], ()


class Cont:
    """What comes next: a node, and the role of the edge that goes there."""

    __slots__ = ("node", "role")

    def __init__(self, node, role="next"):
        self.node, self.role = node, role


class Env:
    """Where jumps and exceptions go from here. Jumps are functions that give a
    Cont, so that a finally is lowered only for the ones that occur."""

    def __init__(self, leave, jumps, caught):
        self.leave, self.jumps, self.caught = leave, jumps, caught

    def with_loop(self, after, header):
        jumps = {"break": lambda: Cont(after.node, "break"), "continue": lambda: Cont(header, "continue")}
        return Env(self.leave, jumps, self.caught)

    def with_caught(self, caught):
        return Env(self.leave, self.jumps, caught)

    def through(self, wrap):
        """The same, with everything that leaves going through a clean-up."""
        jumps = {kind: (lambda jump=jump: wrap(jump())) for kind, jump in self.jumps.items()}
        caught = lambda: [wrap(Cont(node, "raise")).node for node in self.caught()]
        return Env(lambda: wrap(self.leave()), jumps, caught)


class Builder:
    """Lowers one unit."""

    def __init__(self, unit, endless):
        self.unit, self.endless = unit, endless
        self.exit, self.raise_, self.entry = Node(EXIT), Node(RAISE), Node(ENTRY)
        env = Env(lambda: Cont(self.exit, "return"), {}, lambda: [self.raise_])
        body = unit.node.body
        body = body if isinstance(body, list) else [unit.node]
        if unit.kind != "lambda" and body and not hasattr(body[0], "_sid") and not isinstance(body[0], TRY_NODES):
            body = body[1:]  # the docstring
        first = self.block(body, Cont(self.exit), env)
        self.entry.ways.append(("next", "next", first.node))

    def block(self, body, after, env):
        """Lowers statements from the last to the first; gives where to enter."""
        for node in reversed(body):
            after = self.statement(node, after, env)
        return after

    def simple(self, node, env, part=None):
        """A new node for a statement, with its implicit exceptions."""
        new = Node(node._sid, part)
        if self.unit.stmts[node._sid].may_raise:
            new.caught = [to for to in env.caught() if to is not self.raise_]
        return new

    def statement(self, node, after, env):
        if isinstance(node, TRY_NODES):
            return self.try_(node, after, env)
        special = {
            ast.If: self.if_, ast.While: self.while_, ast.For: self.for_, ast.AsyncFor: self.for_,
            ast.With: self.with_, ast.AsyncWith: self.with_, ast.Match: self.match_,
        }.get(type(node))
        if special:
            return special(node, after, env)
        new = self.simple(node, env)
        if isinstance(node, (ast.Return, ast.Lambda)):
            new.ways = [("next", "return", env.leave().node)]
        elif isinstance(node, (ast.Break, ast.Continue)):
            kind = type(node).__name__.lower()
            new.ways = [("next", kind, env.jumps[kind]().node)]
        elif isinstance(node, ast.Raise):
            new.ways = [("next", "raise", to) for to in env.caught()]
        elif isinstance(node, ast.Assert):
            new.ways = [("true", "true", after.node)]
            new.ways += [("false", "false", to) for to in env.caught()]
        else:
            new.ways = self.plain_ways(node, after, env)
        return Cont(new)

    def plain_ways(self, node, after, env):
        how = never_returns(node, self.unit, self.endless)
        if how == "raise":
            return [("next", "raise", to) for to in env.caught()]
        return [] if how == "halt" else [("next", after.role, after.node)]

    # ------------------------------------------------------------ branches and loops

    def if_(self, node, after, env):
        new = self.simple(node, env)
        true = self.block(node.body, after, env)
        false = self.block(node.orelse, after, env)
        new.ways = [("true", "true", true.node), ("false", "false", false.node)]
        return Cont(new)

    def while_(self, node, after, env):
        header = self.simple(node, env)
        false = self.block(node.orelse, after, env)
        true = self.block(node.body, Cont(header, "loop"), env.with_loop(after, header))
        ways = [("true", "true", true.node), ("false", "false", false.node)]
        if isinstance(node.test, ast.Constant):
            ways = ways[:1] if node.test.value else ways[1:]
        header.ways = ways
        return Cont(header)

    def for_(self, node, after, env):
        header = self.simple(node, env)
        done = self.block(node.orelse, after, env)
        body = self.block(node.body, Cont(header, "loop"), env.with_loop(after, header))
        header.ways = [("true", "iter", body.node), ("false", "done", done.node)]
        iterable = self.simple(node, env, "iterable")
        iterable.ways = [("next", "next", header)]
        return Cont(iterable)

    def match_(self, node, after, env):
        following = after
        for number, case in enumerate(reversed(node.cases)):
            new = self.simple(case, env)
            body = self.block(case.body, after, env)
            new.ways = [("true", "true", body.node)]
            if case.guard is not None or not is_irrefutable(case.pattern):
                new.ways.append(("false", "false", following.node))
            following = Cont(new)
        header = self.simple(node, env)
        header.ways = [("next", "next", following.node)]
        return Cont(header)

    def with_(self, node, after, env):
        header = self.simple(node, env)
        inner = env
        if suppresses(node):
            inner = env.with_caught(lambda: env.caught() + [after.node])
        body = self.block(node.body, after, inner)
        header.ways = [("next", "next", body.node)]
        return Cont(header)

    # ------------------------------------------------------------ try

    def try_(self, node, after, env):
        inner = env
        if node.finalbody:
            wrap = self.cleanup(lambda cont: self.block(node.finalbody, cont, env))
            after, inner = self.normally(wrap, after), env.through(wrap)
        handlers = self.handlers(node, after, inner)
        body_after = self.block(node.orelse, after, inner)
        if handlers:
            return self.block(node.body, body_after, inner.with_caught(lambda: handlers[:1]))
        return self.block(node.body, body_after, inner)

    def cleanup(self, lower):
        """A function that puts a clean-up before a Cont, one copy for each."""
        copies = {}

        def wrap(cont):
            key = (id(cont.node), cont.role)
            if key not in copies:
                copies[key] = Cont(lower(cont).node, cont.role)
            return copies[key]

        return wrap

    def normally(self, wrap, after):
        return Cont(wrap(after).node)

    def handlers(self, node, after, env):
        """The nodes of the handlers' tests, in order."""
        is_group = type(node).__name__ == "TryStar"
        following, tests = None, []
        for handler in reversed(node.handlers):
            test = self.simple(handler, env)
            body_after = after
            if is_group and following is not None:
                body_after = Cont(following)
            test.ways = [("true", "true", self.handler_body(handler, body_after, env).node)]
            if following is not None:
                test.ways.append(("false", "false", following))
            elif handler.type is not None:
                test.ways += [("false", "raise", to) for to in env.caught()]
                if is_group:
                    test.ways.append(("false", "false", after.node))
            following = test
            tests.insert(0, test)
        return tests

    def handler_body(self, handler, after, env):
        """Its name has no value any more once the body is left in whatever way."""
        if handler.name is None:
            return self.block(handler.body, after, env)

        def unbind(cont):
            new = Node(None, name=handler.name)
            new.ways = [("next", cont.role, cont.node)]
            return Cont(new, cont.role)

        wrap = self.cleanup(unbind)
        return self.block(handler.body, wrap(after), env.through(wrap))


# ---------------------------------------------------------------- results


def reachable(entry):
    """The nodes reached from the entry, by ways and exceptions."""
    seen, stack = {id(entry): entry}, [entry]
    while stack:
        node = stack.pop()
        for to in [to for _, _, to in node.ways] + list(node.caught):
            if id(to) not in seen:
                seen[id(to)] = to
                stack.append(to)
    return list(seen.values())


def visible(node):
    """The node itself, past unbindings."""
    while node.sid is None:
        node = node.ways[0][2]
    return node


def role_class(role, is_return):
    """A role as bytecode can tell it apart; `is_return`: the edge leaves a return."""
    return "plain" if role in PLAIN or (role == "return" and not is_return) else role


def edges_of(unit, nodes):
    edges = set()
    for node in nodes:
        if node.sid is None:
            continue
        stmt = unit.stmts.get(node.sid)
        is_return = stmt is not None and isinstance(stmt.node, (ast.Return, ast.Lambda))
        edges.update((node.sid, visible(to).sid, role_class(role, is_return)) for _, role, to in node.ways)
        edges.update((node.sid, visible(to).sid, "exception") for to in node.caught if visible(to).sid != RAISE)
    return {edge for edge in edges if edge[0] != edge[1]}


def pairs_of(unit, nodes, entry):
    """Reaching definitions over the nodes."""
    arguments = unit.node.args
    states = {id(entry): {arg.arg: frozenset(["param"]) for arg in parameters(arguments)}}
    work, uses = [entry], {}
    while work:
        node = work.pop()
        for to, state in flows(unit, node, states[id(node)], uses):
            known = states.get(id(to))
            new = state if known is None else join(known, state)
            if known is None or new != known:
                states[id(to)] = new
                work.append(to)
    return set().union(*uses.values()) if uses else set()


def flows(unit, node, state, uses):
    """(node, state) for all that a node leads to; notes the uses it has."""
    if node.sid is None:
        out = {k: v for k, v in state.items() if k != node.name}
        return [(to, out) for _, _, to in node.ways]
    if isinstance(node.sid, str):
        return [(to, state) for _, _, to in node.ways]
    effects = Effects(unit.stmts[node.sid], state)
    by_outcome = effects.run(node.part)
    uses[id(node)] = effects.uses
    left = [(to, by_outcome[outcome]) for outcome, _, to in node.ways]
    exception = state if effects.exception is None else effects.exception
    left += [(to, exception) for to in node.caught]
    return [(to, out) for to, out in left if out is not None]


def build_all(file, endless):
    return [Builder(unit, endless) for unit in file.units]


def graphs(source, path="<source>"):
    """The graphs of all units of a file, in the order of File.units."""
    file = File(source, path)
    endless = frozenset()
    candidates = endless_candidates(file)
    while True:
        builders = build_all(file, endless)
        nodes = [reachable(builder.entry) for builder in builders]
        found = frozenset(
            unit.name
            for unit, builder, reached in zip(file.units, builders, nodes)
            if unit in candidates and builder.exit not in reached
        )
        if found <= endless:
            break
        endless |= found
    return [finish(unit, builder, reached) for unit, builder, reached in zip(file.units, builders, nodes)]


def finish(unit, builder, reached):
    keys = {sid: stmt.key for sid, stmt in unit.stmts.items()}
    edges = {(keys.get(a, a), keys.get(b, b), role) for a, b, role in edges_of(unit, reached)}
    if not unit.is_function:
        return Graph(unit, edges)
    pairs = {(v, keys.get(d, d), keys[u]) for v, d, u in pairs_of(unit, reached, builder.entry)}
    return Graph(unit, edges, pairs, unit.locals)
