"""Tests of the oracle: python3 test_oracle.py

Graphs that were worked out by hand, the reading of flowplan's JSON, and rules.py
against bytecode.py over generated functions.
"""

import unittest
import warnings

import bytecode
import compare
import generate
import rules

FINALLY = b"""\
def f(n):
    s = 0
    try:
        s = g(n)
    except ValueError as e:
        s = -len(e.args)
    else:
        s += 2
    finally:
        h(s)
    return s
"""

SUPPRESS = b"""\
def f(d):
    r = None
    with suppress(KeyError):
        r = d["a"]
        return r
    return r
"""

JUMPS = b"""\
def f(xs):
    for x in xs:
        try:
            if x: break
            g(x)
        finally:
            h(x)
    while True:
        pass
"""


def by_line(graph):
    """Edges and pairs with lines for statements, as text."""
    line = lambda place: str(place[0]) if isinstance(place, tuple) else place
    edges = {f"{line(a)} {role} {line(b)}" for a, b, role in graph.edges}
    return edges, {f"{name} {line(d)} {line(u)}" for name, d, u in graph.pairs if name in graph.plain}


class Graphs(unittest.TestCase):
    def check(self, source, edges, pairs=None):
        for side in (bytecode, rules):
            found_edges, found_pairs = by_line(side.graphs(source)[1])
            self.assertEqual(found_edges, set(edges.split("; ")), side.__name__)
            if pairs is not None:
                self.assertEqual(found_pairs, set(pairs.split("; ")), side.__name__)

    def test_finally(self):
        self.check(
            FINALLY,
            "entry plain 2; 2 plain 4; 4 plain 8; 4 exception 5; 5 true 6; 5 exception 10; 5 raise 10; 6 plain 10; "
            "6 exception 10; 8 plain 10; 8 exception 10; 10 plain 11; 10 raise raise; 11 return exit",
            "n param 4; s 2 10; s 4 8; s 4 10; s 6 10; s 8 10; s 6 11; s 8 11; e 5 6",
        )

    def test_suppress(self):
        self.check(
            SUPPRESS,
            "entry plain 2; 2 plain 3; 3 plain 4; 4 plain 5; 4 exception 6; 5 return exit; 6 return exit",
            "d param 4; r 2 6; r 4 5",
        )

    def test_jumps_on_one_line_and_endless_loop(self):
        source = JUMPS
        for side in (bytecode, rules):
            edges = {(a, b, role) for a, b, role in side.graphs(source)[1].edges}
            self.assertIn(((4, 12), (4, 18), "true"), edges)
            self.assertIn(((4, 18), (7, 12), "plain"), edges)
            self.assertIn(((7, 12), (8, 4), "plain"), edges)
            self.assertIn(((7, 12), "raise", "raise"), edges)
            self.assertIn(((8, 4), (9, 8), "true"), edges)
            self.assertFalse([edge for edge in edges if edge[0] == (8, 4) and edge[2] != "true"])

    def test_calls_that_never_return(self):
        source = b"def fail():\n    raise E\ndef f():\n    fail()\n    g()\n"
        for side in (bytecode, rules):
            self.assertEqual(side.graphs(source)[2].edges, {("entry", (4, 4), "plain"), ((4, 4), "raise", "raise")})

    def test_generated_functions_agree(self):
        for seed in (101, 103):
            source = generate.source(40, seed).encode()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sides = zip(bytecode.graphs(source), rules.graphs(source))
            for oracle, other in sides:
                difference = compare.Difference(oracle, other)
                self.assertEqual(difference.sets, {kind: set() for kind in compare.KINDS}, oracle.name)


def statement(number, line, col, kind):
    return {"id": number, "line": line, "col": col, "kind": kind}


SUPPRESS_JSON = {
    "kind": "function", "line": 1, "qualified_name": "f",
    "blocks": [
        {"id": "2", "statements": [statement(1, 2, 4, "assign"), statement(2, 3, 4, "with"), statement(3, 4, 8, "assign"),
                                   statement(4, 5, 8, "return")]},
        {"id": "6", "statements": [statement(5, 6, 4, "return")]},
    ],
    "edges": [
        {"from": "entry", "to": "2", "role": "next"},
        {"from": "2", "to": "exit", "role": "return"},
        {"from": "2", "to": "6", "role": "exception", "statements": [3]},
        {"from": "6", "to": "exit", "role": "return"},
    ],
    "def_use": [
        {"var": "d", "def_kind": "param", "def": None, "use": 3},
        {"var": "r", "def_kind": "def", "def": 1, "use": 5},
        {"var": "r", "def_kind": "def", "def": 3, "use": 4},
        {"var": "suppress", "def_kind": "unbound", "def": None, "use": 2},
    ],
}


class JSON(unittest.TestCase):
    def test_reading(self):
        oracle = bytecode.graphs(SUPPRESS)[1]
        self.assertTrue(compare.is_equal(oracle, compare.JSONGraph(SUPPRESS_JSON)))

    def test_dead_blocks_are_left_out(self):
        blocks = SUPPRESS_JSON["blocks"] + [{"id": "9", "dead": True, "statements": [statement(6, 9, 4, "pass")]}]
        edges = SUPPRESS_JSON["edges"] + [{"from": "9", "to": "exit", "role": "next"}]
        graph = compare.JSONGraph({**SUPPRESS_JSON, "blocks": blocks, "edges": edges})
        self.assertTrue(compare.is_equal(bytecode.graphs(SUPPRESS)[1], graph))


if __name__ == "__main__":
    unittest.main()
