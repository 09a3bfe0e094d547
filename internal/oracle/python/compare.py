"""Compares graphs with CPython's bytecode, function by function.

    compare.py --flowplan BIN [--files PATH...]   flowplan's graphs (default: the standard library)
    compare.py --rules [--files PATH...]          rules.py in flowplan's place
    compare.py ... --mutate N --seed S            negative control: is a damaged graph noticed?

Every function counts: one that cannot be compared is listed with its reason
and counts as different. Exit code 0 when the floors are reached.
"""

import argparse
import collections
import json
import multiprocessing
import os
import random
import subprocess
import sys
import sysconfig
import time
import unicodedata
import warnings

import bytecode
import mutate
import rules

KINDS = ("missing edge", "extra edge", "missing pair", "extra pair")


# ---------------------------------------------------------------- what is compared


class Difference:
    """One function's differences: sets of edges and pairs by KINDS."""

    def __init__(self, oracle, other):
        plain = oracle.plain
        pairs = {pair for pair in other.pairs if pair[0] in plain}
        self.sets = {
            "missing edge": oracle.edges - other.edges,
            "extra edge": other.edges - oracle.edges,
            "missing pair": oracle.pairs - pairs,
            "extra pair": pairs - oracle.pairs,
        }

    @property
    def edges_equal(self):
        return not (self.sets["missing edge"] or self.sets["extra edge"])

    @property
    def pairs_equal(self):
        return not (self.sets["missing pair"] or self.sets["extra pair"])


class Report:
    """What one file came to; sums of files are Reports too."""

    def __init__(self):
        self.counts = collections.Counter()
        self.different = []  # (function, kind, text)
        self.left_out = []  # (function, reason)
        self.files_left_out = []  # (path, reason)
        self.kinds = collections.Counter()
        self.opaque = []  # (path, function, reason)

    def add(self, other):
        self.counts.update(other.counts)
        self.kinds.update(other.kinds)
        self.different += other.different
        self.left_out += other.left_out
        self.opaque += other.opaque
        self.files_left_out += other.files_left_out

    def leave_out(self, name, reason):
        self.counts["functions"] += 1
        self.left_out.append((name, reason))

    def look_at(self, path, others):
        """What one side's graphs must be by themselves: read, and told apart by their ids."""
        graphs = [graph.function for graph in others if isinstance(graph, JSONGraph)]
        seen = collections.Counter(function["id"] for function in graphs)
        self.counts["ids twice"] += sum(count > 1 for count in seen.values())
        for function in graphs:
            if function["opaque"]:
                self.counts["opaque"] += 1
                self.opaque.append((path, function["id"], function["opaque"][0]["reason"]))

    def take(self, name, oracle, other):
        """Compares two graphs of one function."""
        self.counts["functions"] += 1
        self.counts["compared"] += 1
        difference = Difference(oracle, other)
        self.counts["equal cfg"] += difference.edges_equal
        self.counts["equal du"] += difference.pairs_equal
        self.counts["edges"] += len(oracle.edges)
        self.counts["pairs"] += len(oracle.pairs)
        for kind in KINDS:
            for entry in sorted(difference.sets[kind], key=str):
                self.counts[kind] += 1
                self.kinds[(kind, shape(kind, entry))] += 1
                self.different.append((name, kind, show(kind, entry)))


def shape(kind, entry):
    """A difference without its positions, to count alike ones."""
    if kind.endswith("pair"):
        return "param" if entry[1] == "param" else "def"
    ends = [end if isinstance(end, str) else "stmt" for end in entry[:2]]
    return f"{ends[0]} -{entry[2]}-> {ends[1]}"


def show(kind, entry):
    place = lambda p: p if isinstance(p, str) else f"{p[0]}:{p[1]}"
    if kind.endswith("pair"):
        return f"{entry[0]}: {place(entry[1])} -> {place(entry[2])}"
    return f"{place(entry[0])} -{entry[2]}-> {place(entry[1])}"


# ---------------------------------------------------------------- flowplan's JSON


class JSONGraph:
    """A function of `flowplan graph --json` as statement edges and pairs."""

    def __init__(self, function):
        self.function = function
        self.kind, self.line = function["kind"], function["line"]
        self.name = function["qualified_name"]
        blocks = {block["id"]: block for block in function["blocks"]}
        self.keys, self.kinds = {}, {}
        for block in function["blocks"]:
            for statement in block["statements"]:
                self.keys[statement["id"]] = (statement["line"], statement["col"])
                self.kinds[statement["id"]] = statement["kind"]
        edges = set(self.statement_edges(function, blocks))
        self.edges = {(self.keys.get(a, a), self.keys.get(b, b), role) for a, b, role in from_entry(edges)}
        self.pairs = {
            (unicodedata.normalize("NFKC", p["var"]), "param" if p["def_kind"] == "param" else self.keys[p["def"]], self.keys[p["use"]])
            for p in function["def_use"]
            if p["def_kind"] not in ("unbound", "capture")
        }

    def statement_edges(self, function, blocks):
        for block in function["blocks"]:
            ids = [statement["id"] for statement in block["statements"]]
            yield from ((a, b, "plain") for a, b in zip(ids, ids[1:]))
        for edge in function["edges"]:
            to = first_of(edge["to"], blocks)
            if edge["role"] == "exception":
                yield from ((source, to, "exception") for source in edge["statements"])
                continue
            source = last_of(edge["from"], blocks)
            is_return = self.kinds.get(source) == "return"
            yield source, to, rules.role_class(edge["role"], is_return)


def first_of(name, blocks):
    return blocks[name]["statements"][0]["id"] if name in blocks else name


def last_of(name, blocks):
    return blocks[name]["statements"][-1]["id"] if name in blocks else name


def from_entry(edges):
    """The edges that can be reached: the compiler leaves dead code out."""
    by_source = collections.defaultdict(list)
    for edge in edges:
        by_source[edge[0]].append(edge)
    seen, stack = {bytecode.ENTRY}, [bytecode.ENTRY]
    while stack:
        for edge in by_source[stack.pop()]:
            yield edge
            if edge[1] not in seen:
                seen.add(edge[1])
                stack.append(edge[1])


def flowplan_graphs(binary, path):
    """flowplan's graphs of one file."""
    run = subprocess.run([binary, "graph", path, "--json"], capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        raise RuntimeError(f"flowplan graph: exit {run.returncode}: {run.stderr.strip()[:200]}")
    found = []
    for line in run.stdout.splitlines():
        found += [JSONGraph(function) for function in json.loads(line)["functions"]]
    return found


# ---------------------------------------------------------------- pairing and running


def identity(graphs):
    """A name for each graph that both sides give: group, line, number on the line."""
    seen, names = collections.Counter(), []
    for graph in graphs:
        group = graph.kind if graph.kind in ("module", "class", "lambda") else "function"
        seen[(group, graph.line)] += 1
        names.append((group, graph.line, seen[(group, graph.line)]))
    return names


def read(path):
    """The oracle's graphs of a file; raises what the compiler raises."""
    with open(path, "rb") as file:
        source = file.read()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return source, bytecode.graphs(source, path)


def other_graphs(options, path, source):
    if options.rules:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return rules.graphs(source, path)
    return flowplan_graphs(options.flowplan, path)


def compare_file(job):
    """The report of one file."""
    options, path = job
    sys.setrecursionlimit(20000)
    report = Report()
    report.counts["files"] += 1
    try:
        source, oracle = read(path)
    except (SyntaxError, ValueError, RecursionError, MemoryError, UnicodeError) as error:
        report.files_left_out.append((path, f"{type(error).__name__}: {error}"))
        return report
    try:
        others = other_graphs(options, path, source)
    except (RuntimeError, KeyError, ValueError, IndexError) as error:
        others = []
        report.files_left_out.append((path, f"{type(error).__name__}: {error}"))
    report.look_at(path, others)
    pairs = list(pair(report, path, oracle, others))
    if options.mutate:
        negative_control(report, pairs, options, path)
    else:
        for label, graph, other in pairs:
            report.take(label, graph, other)
    return report


def pair(report, path, oracle, others):
    """(label, oracle's graph, the other's) for what both have; notes the rest."""
    by_identity = dict(zip(identity(others), others))
    for name, graph in zip(identity(oracle), oracle):
        label = f"{path}:{graph.line}:{graph.name}"
        other = by_identity.pop(name, None)
        if graph.reason:
            report.leave_out(label, graph.reason)
        elif other is None:
            report.leave_out(label, "the other side has no such function")
        else:
            yield label, graph, other
    for graph in by_identity.values():
        report.leave_out(f"{path}:{graph.line}:{graph.name}", "the compiler has no such function")


def standard_library():
    """The .py files of the standard library of the python that runs this."""
    top = sysconfig.get_paths()["stdlib"]
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in ("site-packages", "__pycache__"))
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".py"))


def all_files(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".py"))


# ---------------------------------------------------------------- negative control


def negative_control(report, oracle_and_others, options, path):
    """Damages some of a file's graphs that are equal and sees whether that is noticed."""
    chosen = random.Random(f"{options.seed} {path}")
    equal = [(label, oracle, other) for label, oracle, other in oracle_and_others if is_equal(oracle, other)]
    for label, oracle, other in chosen.sample(equal, min(len(equal), options.quota)):
        damaged, what = mutate.damage(other, oracle.plain, chosen)
        if damaged is None:
            continue
        report.counts["damaged"] += 1
        if is_equal(oracle, damaged):
            report.different.append((label, "not noticed", what))
        else:
            report.counts["noticed"] += 1


def is_equal(oracle, other):
    difference = Difference(oracle, other)
    return difference.edges_equal and difference.pairs_equal


# ---------------------------------------------------------------- main


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--flowplan", metavar="BIN", help="the flowplan binary")
    parser.add_argument("--rules", action="store_true", help="compare rules.py instead of flowplan")
    parser.add_argument("--files", nargs="+", metavar="PATH", help="files and folders (default: the standard library)")
    parser.add_argument("--sample", type=int, metavar="N", help="every N-th file only")
    parser.add_argument("--floors", default="", metavar="cfg=99.9,du=99.5", help="shares in percent that must be reached")
    parser.add_argument("--mutate", type=int, default=0, metavar="N", help="negative control over about N functions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=40, metavar="N", help="functions with differences to list")
    options = parser.parse_args()
    if not options.rules and not options.flowplan:
        parser.error("say --flowplan BIN or --rules")
    options.quota = 0
    return options


def run(options, files):
    total = Report()
    jobs = [(options, path) for path in files]
    with multiprocessing.Pool(options.jobs) as pool:
        for report in pool.imap_unordered(compare_file, jobs, chunksize=4):
            total.add(report)
    return total


def share(part, whole):
    return 100.0 * part / whole if whole else 100.0


def print_report(total, options):
    counts = total.counts
    different = collections.defaultdict(list)
    for name, kind, text in sorted(total.different):
        different[name].append(f"{kind}: {text}")
    for name in list(different)[: options.show]:
        print(name)
        for line in different[name][:12]:
            print("   ", line)
    if len(different) > options.show:
        print(f"... and {len(different) - options.show} functions more with differences")
    for name, reason in sorted(total.left_out):
        print(f"not comparable: {name}: {reason}")
    for path, reason in sorted(total.files_left_out):
        print(f"file not read: {path}: {reason}")
    for _, function, reason in sorted(total.opaque):
        print(f"opaque in part: {function}: {reason}")
    for (kind, text), count in total.kinds.most_common():
        print(f"{count:7d} {kind}: {text}")
    print(f"python {sys.version.split()[0]}, {counts['files']} files, {len(total.files_left_out)} not read")
    print(f"functions {counts['functions']}, compared {counts['compared']}, not comparable {len(total.left_out)}")
    print(f"opaque in part {counts['opaque']}, ids that two functions have {counts['ids twice']}")
    print(f"edges {counts['edges']}, missing {counts['missing edge']}, extra {counts['extra edge']}")
    print(f"pairs {counts['pairs']}, missing {counts['missing pair']}, extra {counts['extra pair']}")


def floors_reached(total, options):
    """Prints the two shares; whether they are at least the floors."""
    wanted = dict(part.split("=") for part in options.floors.split(",") if part)
    good = total.counts["functions"] > 0 and total.counts["ids twice"] == 0
    for name in ("cfg", "du"):
        reached = share(total.counts["equal " + name], total.counts["functions"])
        floor = float(wanted.get(name, 0))
        good = good and reached >= floor
        print(f"equal {name}: {total.counts['equal ' + name]} = {reached:.3f} %" + (f" (floor {floor})" if floor else ""))
    return good


def main():
    options = arguments()
    started = time.time()
    files = list(all_files(options.files)) if options.files else list(standard_library())
    files = files[:: options.sample] if options.sample else files
    if options.mutate:
        return main_mutate(options, files)
    total = run(options, files)
    print_report(total, options)
    good = floors_reached(total, options)
    print(f"{time.time() - started:.0f} s")
    return 0 if good else 1


def main_mutate(options, files):
    """The share of damaged graphs that was noticed; at least 99 % is wanted."""
    chosen = random.Random(options.seed).sample(files, min(len(files), max(1, options.mutate // 5)))
    options.quota = -(-options.mutate // len(chosen)) * 2
    total = run(options, chosen)
    for name, _, damage in total.different:
        print(f"not noticed: {name}: {damage}")
    damaged, noticed = total.counts["damaged"], total.counts["noticed"]
    print(f"damaged {damaged}, noticed {noticed} = {share(noticed, damaged):.2f} %")
    return 0 if damaged and share(noticed, damaged) >= 99 else 1


if __name__ == "__main__":
    sys.exit(main())
