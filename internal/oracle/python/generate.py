"""Random Python functions that nest what flow builders get wrong.

    generate.py FUNCTIONS SEED > file.py

Loops with else, try with any mix of clauses, with, suppress, match, jumps,
assignments to a few locals. Real code nests these a level or two deep; this
nests them four.
"""

import random
import sys

NAMES = "abcd"
MAX_DEPTH = 4


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def name(self):
        return self.random.choice(NAMES)

    def expression(self):
        a, b = self.name(), self.name()
        return self.random.choice((
            a, "1", f"{a} is {b}", f"g({a})", f"{a} and g({b})", f"{a} if {b} else 0", f"({a} := g({b}))",
            f"[x for x in {a} if x or {b}]", f"{a} or ({b} := 2)", f"not {a}", f"{a}.f[{b}]", f"({a}, {b})",
            f"{a} < {b} < g({a})", "None", "not (a and (b := g(c)))",
        ))

    def function(self, number):
        kind = self.random.choice(("def", "def", "def", "async def"))
        self.line(0, f"{kind} f{number}({self.name()}, {self.random.choice('xyz')}=1):")
        self.suite(1, loop=False, can_jump=True)
        self.line(0, "")

    def suite(self, depth, loop, can_jump):
        """Some statements; `can_jump` is False where except* forbids jumps."""
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            self.statement(depth, loop, can_jump)

    def statement(self, depth, loop, can_jump):
        choices = [self.plain] * 5 + [self.jump] * 2
        if depth <= MAX_DEPTH:
            choices += [self.if_, self.while_, self.for_, self.try_, self.try_, self.with_, self.match]
        self.random.choice(choices)(depth, loop, can_jump)

    def plain(self, depth, loop, can_jump):
        self.line(depth, self.random.choice((
            f"{self.name()} = {self.expression()}", f"{self.name()} = {self.expression()}", f"g({self.expression()})",
            f"{self.name()} += {self.expression()}", "pass", f"del {self.name()}", f"assert {self.expression()}",
            f"{self.name()}, {self.name()} = g({self.expression()})", f"import m as {self.name()}", "...",
            f"assert {self.expression()}, {self.expression()}",
        )))

    def jump(self, depth, loop, can_jump):
        jumps = [f"raise E({self.name()})", "raise", "sys.exit()", f"raise {self.name()}"]
        if can_jump:
            jumps += [f"return {self.expression()}", "return", "return 1"]
        if loop:
            jumps += ["break", "continue"] * 3
        self.line(depth, self.random.choice(jumps))

    def if_(self, depth, loop, can_jump):
        self.line(depth, f"if {self.expression()}:")
        self.suite(depth + 1, loop, can_jump)
        for word in ("elif", "else"):
            if self.random.random() < 0.4:
                self.line(depth, f"{word}:" if word == "else" else f"elif {self.expression()}:")
                self.suite(depth + 1, loop, can_jump)

    def loop_suites(self, depth, loop, can_jump):
        self.suite(depth + 1, True, can_jump)
        if self.random.random() < 0.4:
            self.line(depth, "else:")
            self.suite(depth + 1, loop, can_jump)

    def while_(self, depth, loop, can_jump):
        self.line(depth, f"while {self.random.choice(('True', '0', self.expression(), self.expression()))}:")
        self.loop_suites(depth, loop, can_jump)

    def for_(self, depth, loop, can_jump):
        self.line(depth, f"for {self.name()} in {self.expression()}:")
        self.loop_suites(depth, loop, can_jump)

    def with_(self, depth, loop, can_jump):
        manager = self.random.choice((f"g({self.name()})", f"g({self.name()})", "suppress(E)", "contextlib.suppress(E)"))
        name = self.random.choice(("", f" as {self.name()}"))
        self.line(depth, f"with {manager}{name}:")
        self.suite(depth + 1, loop, can_jump)

    def match(self, depth, loop, can_jump):
        self.line(depth, f"match {self.expression()}:")
        for pattern in self.random.sample(("1", "[x, *_]", "E(f=a)", "None", "'k' | 2"), self.random.choice((1, 2))):
            guard = self.random.choice(("", f" if {self.expression()}"))
            self.line(depth + 1, f"case {pattern}{guard}:")
            self.suite(depth + 2, loop, can_jump)
        if self.random.random() < 0.5:
            self.line(depth + 1, f"case {self.random.choice(('_', self.name()))}:")
            self.suite(depth + 2, loop, can_jump)

    def try_(self, depth, loop, can_jump):
        handlers = self.random.choice((0, 1, 1, 2))
        group = handlers > 0 and self.random.random() < 0.1
        finally_ = handlers == 0 or self.random.random() < 0.4
        self.line(depth, "try:")
        self.suite(depth + 1, loop, can_jump)
        for number in range(handlers):
            bare = not group and number == handlers - 1 and self.random.random() < 0.3
            name = "" if bare else self.random.choice(("", f" as {self.name()}"))
            self.line(depth, f"except{'*' * group}{'' if bare else ' E'}{name}:")
            self.suite(depth + 1, loop and not group, can_jump and not group)
        if handlers and self.random.random() < 0.4:
            self.line(depth, "else:")
            self.suite(depth + 1, loop, can_jump)
        if finally_:
            self.line(depth, "finally:")
            self.suite(depth + 1, loop, can_jump)


def source(functions, seed):
    """A module of that many functions."""
    writer = Writer(seed)
    for number in range(functions):
        writer.function(number)
    return "\n".join(writer.lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(source(int(sys.argv[1]), int(sys.argv[2])))
