"""The statement graph and the def-use pairs of Python code, read from CPython's bytecode.

`graphs(source)` compiles a file (readied by prepare.py), reads each code
object's instructions, jumps and exception table, and contracts them to the
statements of the design. Nothing here decides where control goes: jumps and
the exception table do. NORMALISATIONS lists all that is done to what they say.
"""

import ast
import dis
import types
from bisect import bisect_left

from prepare import COMPREHENSION_PREFIX, prepare
from statements import (
    FOREACH, SCOPE_NODES, TRY_NODES, WITHS, File, endless_candidates, first_statement,
    suppresses,
)

NORMALISATIONS = [
    ("own lines", "each statement is compiled on a line of its own",
     "the compiler drops jumps, pass and NOPs only within a line; lines mean nothing else to it"),
    ("anchors", "global, nonlocal, del and bare annotations get a pass in front, the suites of with and "
     "try one of no statement at their end",
     "some compile to nothing but are statements of the design; what leaves a suite is on its last line"),
    ("constants", "a constant that is tested is hidden behind a name, unless it is the whole "
     "literal condition of a while",
     "the design's rule for constant conditions: a literal loop header keeps the one edge, `if False` both"),
    ("never returns", "a statement that is a call on the no-return list is compiled as raise, "
     "os._exit as an endless loop",
     "the design gives the oracle the same list"),
    ("may raise", "implicit exceptions are followed only from statements that may raise by the "
     "design's rule, and only to a handler or finally of this function",
     "the exception table protects every instruction; the design draws exceptions inside a try alone"),
    ("with", "the exit calls of with are transparent, and suppress an exception only for "
     "contextlib.suppress in its header",
     "design: the exits of with are not drawn"),
    ("clean-up", "instructions without a line of their own, unbinding of a handler's name, and "
     "exception-table targets that only clean up the stack and re-raise are transparent",
     "they are no statement; what they do to variables counts as a kill"),
    ("resumption", "the rest of return, break and continue after the copy of a finally is transparent",
     "the design's finally leaves straight to where the jump goes"),
    ("except*", "an exception in an except* body leaves as if the handlers that follow were not there; "
     "the end of the last body does not raise what is left of the group",
     "design: a raise in any body leaves with role raise, the last body goes to what follows"),
    ("asynchronous iteration", "the table's way to END_ASYNC_FOR and CLEANUP_THROW is no exception",
     "it is how async for ends and how await returns; what they raise themselves is one"),
    ("plain roles", "next, loop, break, continue are one class, and so is a return that is resumed "
     "after a finally",
     "bytecode has only jumps, and a resumed return no instruction of its own in 3.11"),
    ("comprehension variables", "are renamed apart and left out",
     "from 3.12 on they are fast locals of the function"),
    ("names", "flowplan's are normalised to NFKC in compare.py",
     "the compiler stores identifiers so; flowplan shows what the file says"),
    ("super()", "does not read the first parameter", "the source does not either"),
]

ENTRY, EXIT, RAISE = "entry", "exit", "raise"

RETURNS = {"RETURN_VALUE", "RETURN_CONST"}
ENDS = RETURNS | {"RAISE_VARARGS", "RERAISE"}
ENTERS_WITH = {"BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"}
INTERNAL_HANDLERS = {"CLEANUP_THROW", "END_ASYNC_FOR"}
QUIET = {
    "NOP", "RESUME", "POP_TOP", "LOAD_CONST", "LOAD_SMALL_INT", "PUSH_NULL", "COPY", "SWAP",
    "PUSH_EXC_INFO", "POP_EXCEPT", "CACHE", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_VALUE",
    "RETURN_CONST", "LOAD_CLOSURE", "STORE_DEREF", "LOAD_DEREF", "BUILD_TUPLE", "IS_OP", "KW_NAMES",
    "END_FOR", "POP_ITER", "PRECALL", "EXTENDED_ARG", "RETURN_GENERATOR", "MAKE_FUNCTION",
    "SET_FUNCTION_ATTRIBUTE", "END_SEND", "NOT_TAKEN", "LOAD_ASSERTION_ERROR",
    "LOAD_COMMON_CONSTANT", "RAISE_VARARGS", "RERAISE",
}


def is_quiet(name):
    """Whether an instruction cannot raise, plain locals taken as bound."""
    return (
        name in QUIET
        or name.startswith(("LOAD_FAST", "STORE_FAST"))
        or is_unconditional(name)
        or name.endswith(("IF_NONE", "IF_NOT_NONE"))
    )


class Graph:
    """What is compared of one unit. Edges are (from, to, class), pairs are
    (variable, definition, use); statements are keys (line, col)."""

    def __init__(self, unit, edges=(), pairs=(), plain=(), reason=None):
        self.kind, self.name, self.line = unit.kind, unit.qualified_name, unit.line
        self.edges, self.pairs, self.plain = set(edges), set(pairs), frozenset(plain)
        self.reason = reason  # why it cannot be compared


def graphs(source, path="<source>"):
    """The graphs of all units of a file, in the order of File.units."""
    endless = frozenset()
    while True:
        file = File(source, path)
        candidates = {id(unit): unit.name for unit in endless_candidates(file)}
        root = compile(prepare(file, endless), path, "exec", dont_inherit=True, optimize=0)
        codes = code_of_units(file, root)
        flows = [Flow(unit, code) if code else None for unit, code in zip(file.units, codes)]
        found = frozenset(
            candidates[id(unit)]
            for unit, flow in zip(file.units, flows)
            if flow and id(unit) in candidates and not flow.returns
        )
        if found <= endless or not calls_any(file, found):
            break
        endless = endless | found
    return [
        flow.graph() if flow else Graph(unit, reason="the compiler left it out: its def is dead code")
        for unit, flow in zip(file.units, flows)
    ]


def calls_any(file, names):
    """Whether a statement calls one of these by its bare name."""
    return any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in names
        for node in ast.walk(file.tree)
    )


def code_of_units(file, root):
    """For each unit its code object, or None where the compiler made none."""
    by_line = {}
    stack = [root]
    while stack:
        code = stack.pop()
        by_line.setdefault((code.co_firstlineno, code.co_name), code)
        stack.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
    found = [root]
    for unit in file.units[1:]:
        name = "<lambda>" if unit.kind == "lambda" else unit.name
        found.append(by_line.get((unit.sid, name)))
    return found


class Flow:
    """The control flow of one code object, instruction by instruction.

    sid[k]    the statement of instruction k, None if it is transparent
    normal[k] where it may go on, EXIT included
    caught[k] where an exception in it goes: a handler's instruction, or RAISE
    """

    def __init__(self, unit, code):
        self.unit, self.code = unit, code
        self.ins = list(dis.get_instructions(code))
        self.index = {ins.offset: k for k, ins in enumerate(self.ins)}
        self.names = [ins.opname for ins in self.ins]
        self.aliases = {u.sid: owner_of(u) for u in unit.file.units if u.kind == "lambda" and u.parent is unit}
        self.inside = finally_scopes(unit)
        self.read_targets()
        self.read_labels()
        self.mark_with_exits()
        self.mark_clean_ups()
        self.find_group_ends()
        self.raises = self.read_raises()
        self.reach()

    # ------------------------------------------------------------ reading

    def read_targets(self):
        self.caught = [RAISE] * len(self.ins)
        offsets = [ins.offset for ins in self.ins]
        for entry in dis._parse_exception_table(self.code):
            for k in range(bisect_left(offsets, entry.start), bisect_left(offsets, entry.end)):
                self.caught[k] = self.index[entry.target]
        self.normal = []
        for k, ins in enumerate(self.ins):
            name, to = ins.opname, []
            if name in RETURNS:
                to.append(EXIT)
            if is_jump(name):
                to.append(self.index[ins.argval])
            if name not in ENDS and not is_unconditional(name) and k + 1 < len(self.ins):
                to.append(k + 1)
            self.normal.append(to)
        for k, target in enumerate(self.caught):
            if target != RAISE and self.names[target] in INTERNAL_HANDLERS and self.names[k] != self.names[target]:
                self.normal[k] = self.normal[k] + [target]
                self.caught[k] = self.caught[target]

    def read_labels(self):
        own = self.unit.stmts
        self.sid = []
        for ins in self.ins:
            line = ins.positions.lineno if ins.positions else None
            line = self.aliases.get(line, line)
            self.sid.append(line if line in own else None)
        for k, name in enumerate(self.names):
            if name in ("RERAISE", "PUSH_EXC_INFO"):
                self.sid[k] = None

    def node(self, sid):
        return self.unit.stmts[sid].node

    # ------------------------------------------------------------ normalising

    def mark_with_exits(self):
        """Of a with's instructions, those that enter it are its statement; the
        calls of __exit__ are transparent and suppress only where the design says so."""
        by_with = {}
        for k, sid in enumerate(self.sid):
            if sid is not None and isinstance(self.node(sid), WITHS):
                by_with.setdefault(sid, set()).add(k)
        for sid, members in by_with.items():
            before = {k: [] for k in members}
            for k in members:
                for to in self.normal[k]:
                    if to in members:
                        before[to].append(k)
            marks = [k for k in members if self.names[k] in ENTERS_WITH]
            entering = closure(marks, lambda k: before[k]) | closure(
                marks, lambda k: [to for to in self.normal[k] if to in members]
            )
            self.cut_suppression(sid, members)
            for k in members - entering:
                self.sid[k] = None

    def cut_suppression(self, sid, members):
        if suppresses(self.node(sid)):
            return
        for k in members:
            if self.names[k] == "WITH_EXCEPT_START":
                while not self.names[k].startswith("POP_JUMP"):
                    k += 1
                self.normal[k] = [k + 1]
                if self.names[k + 1] == "NOT_TAKEN":
                    self.normal[k + 1] = [k + 2]

    def mark_clean_ups(self):
        """Exception-table targets that are no handler, and the unbinding of names."""
        for target in set(self.caught) - {RAISE}:
            if self.names[target] != "PUSH_EXC_INFO" and self.names[target] not in INTERNAL_HANDLERS:
                self.mark_clean_up(target)
        self.unbinds = set()
        for k in range(len(self.ins) - 1):
            store, _, kind = self.names[k].partition("_")
            if store == "STORE" and self.names[k + 1] == "DELETE_" + kind and k:
                is_none = self.names[k - 1] == "LOAD_CONST" and self.ins[k - 1].argval is None
                if is_none and self.ins[k].argval == self.ins[k + 1].argval:
                    self.unbinds.add(k)

    def mark_clean_up(self, k):
        """A clean-up runs straight into its re-raise. That of an except* body is to
        collect the exception and go on to the next handler: it re-raises instead."""
        while self.names[k] not in ENDS and not is_unconditional(self.names[k]):
            self.sid[k] = None
            if self.names[k] == "LIST_APPEND":
                self.names[k], self.normal[k] = "RERAISE", []
            k += 1

    def find_group_ends(self):
        """Where except* is over: what is left of the group is raised, or nothing is."""
        self.group_ends = set()
        for k, ins in enumerate(self.ins):
            if "PREP_RERAISE_STAR" in (ins.opname, ins.argrepr.removeprefix("INTRINSIC_")):
                for j in closure([k - 1], self.of_handlers):
                    self.sid[j] = None
                while not self.names[k].startswith("POP_JUMP"):
                    k += 1
                self.group_ends.add(k)

    def of_handlers(self, k):
        """Where k goes on to within the lines of handlers, or no line."""
        for to in self.normal[k]:
            sid = None if to == EXIT else self.sid[to]
            if to != EXIT and (sid is None or isinstance(self.node(sid), ast.ExceptHandler)):
                yield to

    def onwards(self, k, origin):
        """Where a transparent instruction goes on to, coming from a statement."""
        if k not in self.group_ends or origin is None or isinstance(self.node(origin), ast.ExceptHandler):
            return self.normal[k]
        return [to for to in self.normal[k] if not self.is_straight_to_reraise(to)]

    def is_straight_to_reraise(self, k):
        while not is_jump(self.names[k]) and self.names[k] not in ENDS:
            k += 1
        return self.names[k] == "RERAISE"

    def read_raises(self):
        """Which instructions raise implicitly: the loud ones of statements that may
        raise; of a statement without any, the first."""
        may = {sid: stmt.may_raise for sid, stmt in self.unit.stmts.items()}
        raises = [sid is not None and may[sid] and not is_quiet(self.names[k]) for k, sid in enumerate(self.sid)]
        for k in self.unbinds:
            raises[k + 1] = False
        loud = {self.sid[k] for k, is_raising in enumerate(raises) if is_raising}
        for k, sid in enumerate(self.sid):
            if sid is not None and may[sid] and sid not in loud and (k == 0 or self.sid[k - 1] != sid):
                raises[k] = True
        return raises

    # ------------------------------------------------------------ following

    def successors(self, k):
        """(instruction or EXIT or RAISE, by exception) for all ways out of k."""
        out = [(to, False) for to in self.normal[k]]
        if self.names[k] in ("RAISE_VARARGS", "RERAISE") or (self.raises[k] and self.caught[k] != RAISE):
            out.append((self.caught[k], True))
        return out

    def reach(self):
        self.reached = closure([0], lambda k: [to for to, _ in self.successors(k) if to not in (EXIT, RAISE)])
        self.returns = any(EXIT in self.normal[k] for k in self.reached)

    def resumes(self, origin, sid):
        """Whether an instruction of a jump is its rest after a finally that `origin` is in."""
        return origin is not None and bool(self.inside.get(origin, frozenset()) & self.inside.get(("jump", sid), frozenset()))

    def statements_after(self, starts, origin):
        """(statement or pseudo node, past a re-raise) seen first from these instructions."""
        found, stack, seen = set(), [(k, False) for k in starts], set()
        while stack:
            state = stack.pop()
            if state in seen:
                continue
            seen.add(state)
            k, reraised = state
            if k in (EXIT, RAISE):
                found.add(state)
                continue
            sid = self.sid[k]
            if sid is not None and not self.resumes(origin, sid):
                found.add((sid, reraised))
                continue
            if self.names[k] == "RERAISE":
                stack.append((self.caught[k], True))
            stack.extend((to, reraised) for to in self.onwards(k, origin))
        return found

    def edges(self):
        """The contracted edges between statement ids and pseudo nodes."""
        edges = {(ENTRY, to, "plain") for to, _ in self.statements_after([0], None)}
        for k in self.reached:
            sid = self.sid[k]
            if sid is not None:
                edges |= {(sid, to, role) for to, role in self.edges_from(k, sid) if to != sid}
        return edges

    def edges_from(self, k, sid):
        """(statement or pseudo node, class) for the ways out of one instruction."""
        for to, reraised in self.statements_after(self.normal[k], sid):
            yield to, self.class_of(sid, to, reraised)
        if self.names[k] == "RAISE_VARARGS":
            role = "false" if isinstance(self.node(sid), ast.Assert) else "raise"
            yield from ((to, role) for to, _ in self.statements_after([self.caught[k]], None))
        if self.raises[k] and self.caught[k] != RAISE:
            for to, _ in self.statements_after([self.caught[k]], None):
                if to != RAISE:
                    yield to, "exception"

    def class_of(self, sid, to, reraised):
        """The class of a normal way out of a statement."""
        node = self.node(sid)
        if isinstance(node, FOREACH):
            return "iter" if to == first_statement(node.body) else "done"
        if isinstance(node, ast.ExceptHandler):
            return "true" if to == first_statement(node.body) else "raise" if reraised else "false"
        if isinstance(node, (ast.If, ast.While, ast.match_case)):
            return "true" if to == first_statement(node.body) else "false"
        if isinstance(node, ast.Assert):
            return "true"
        if isinstance(node, (ast.Return, ast.Lambda)):
            return "return"
        if isinstance(node, (ast.Break, ast.Continue)):
            return "plain"
        return "raise" if reraised else "plain"

    # ------------------------------------------------------------ def-use

    def plain_locals(self):
        if not self.unit.is_function:
            return frozenset()
        code = self.code
        return frozenset(
            name
            for name in code.co_varnames
            if name not in code.co_cellvars and not name.startswith((".", COMPREHENSION_PREFIX))
        )

    def pairs(self):
        """(variable, definition, use): reaching definitions over the instructions.

        A definition is a statement id or "param". An exception leaves with what
        held before its instruction.
        """
        plain = self.plain_locals()
        if not plain:
            return set()
        effects = [self.effects(k, plain) for k in range(len(self.ins))]
        params = self.code.co_argcount + self.code.co_kwonlyargcount
        params += bool(self.code.co_flags & 4) + bool(self.code.co_flags & 8)
        reaching = {0: {(name, "param") for name in self.code.co_varnames[:params] if name in plain}}
        work, pairs = [0], set()
        while work:
            k = work.pop()
            state = reaching[k]
            for to, by_exception in self.successors(k):
                if to in (EXIT, RAISE):
                    continue
                out = state if by_exception else after(state, effects[k])
                known = reaching.get(to)
                if known is None:
                    reaching[to] = set(out)
                    work.append(to)
                elif not out <= known:
                    known |= out
                    work.append(to)
        for k, state in reaching.items():
            pairs |= self.uses(k, state, effects[k])
        return pairs

    def effects(self, k, plain):
        """The effects of one instruction in order: (use/def/kill, variable, statement)."""
        name, value = self.names[k], self.ins[k].argval
        if "_FAST" not in name:
            return ()
        if name == "LOAD_FAST_AND_CLEAR":
            return (("kill", value, None),) if value in plain else ()
        operands = value if isinstance(value, tuple) else (value,)
        verbs = [word for word in name.split("_") if word in ("LOAD", "STORE", "DELETE")]
        found = []
        for verb, variable in zip(verbs, operands):
            if variable not in plain:
                continue
            sid = self.sid[k]
            if verb == "LOAD" and sid is not None:
                found.append(("use", variable, sid))
            elif verb == "STORE" and sid is not None and k not in self.unbinds:
                found.append(("def", variable, sid))
            elif verb != "LOAD":
                found.append(("kill", variable, None))
        return tuple(found)

    def uses(self, k, state, effects):
        pairs = set()
        for effect in effects:
            verb, variable, sid = effect
            if verb == "use":
                pairs |= {(variable, definition, sid) for name, definition in state if name == variable}
            state = after(state, (effect,))
        return pairs

    # ------------------------------------------------------------ result

    def graph(self):
        keys = {sid: stmt.key for sid, stmt in self.unit.stmts.items()}
        source_name = {self.unit.mangled(name): name for name in self.unit.locals}
        edges = {(keys.get(a, a), keys.get(b, b), role) for a, b, role in self.edges()}
        pairs = {
            (source_name.get(v, v), keys.get(d, d), keys[u]) for v, d, u in self.pairs()
        }
        plain = {source_name.get(name, name) for name in self.plain_locals()}
        return Graph(self.unit, edges, pairs, plain)


def after(state, effects):
    """The reaching definitions after some effects."""
    for verb, variable, sid in effects:
        if verb != "use":
            state = {entry for entry in state if entry[0] != variable}
            if verb == "def":
                state.add((variable, sid))
    return state


def closure(starts, successors):
    """All that can be reached from starts, starts included."""
    seen, stack = set(starts), list(starts)
    while stack:
        for to in successors(stack.pop()):
            if to != EXIT and to not in seen:
                seen.add(to)
                stack.append(to)
    return seen


def is_jump(name):
    return ("JUMP" in name or name in ("FOR_ITER", "SEND")) and name not in INTERNAL_HANDLERS


def is_unconditional(name):
    return name.startswith("JUMP") and "_IF_" not in name


def owner_of(lambda_unit):
    """The statement that binds a lambda: the one numbered just before it."""
    return lambda_unit.sid - 1


def finally_scopes(unit):
    """Which finally bodies a statement stands in, and which ones a jump leaves through.

    Maps a statement id to the ids of the tries whose finally holds it, and
    ("jump", id) of a return, break or continue to the tries it is in elsewhere.
    """
    inside = {}

    def visit(node, in_finally, protected):
        sid = getattr(node, "_sid", None)
        if sid is not None and sid in unit.stmts:
            inside[sid] = in_finally
            if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
                inside[("jump", sid)] = protected
        if isinstance(node, SCOPE_NODES + (ast.expr,)):
            return
        if isinstance(node, TRY_NODES) and node.finalbody:
            final = {id(child) for child in node.finalbody}
            for child in ast.iter_child_nodes(node):
                if id(child) in final:
                    visit(child, in_finally | {id(node)}, protected)
                else:
                    visit(child, in_finally, protected | {id(node)})
            return
        for child in ast.iter_child_nodes(node):
            visit(child, in_finally, protected)

    body = unit.node.body if isinstance(unit.node.body, list) else [unit.node.body]
    for child in body:
        visit(child, frozenset(), frozenset())
    return inside
