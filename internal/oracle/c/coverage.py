#!/usr/bin/env python3
"""How much of whole trees of C and C++ flowplan reads.

    python3 coverage.py --flowplan BIN [--plain BIN] [--mistakes FILE] DIR...

Three questions, each with its bar:

  found    of the functions that universal-ctags lists, how many does
           `flowplan graph --json` list too, by file, name and line (bar: 99.5 %)
  read     how many of flowplan's functions hold neither a parse error nor an
           Opaque (bar: more than 98.5 %)
  crashes  none

What is missing is listed in full and by cause, the commonest unread lines are
shown, functions that only flowplan lists are sampled. ctags is no truth: where
it is wrong, the entry stands in --mistakes, a table of

    file's end of path <tab> name <tab> why it is no function

that was filled by hand, and is counted apart, never dropped. With --plain (the
built internal/oracle/c/plaints) the same is said of the plain tree-sitter
grammars.
"""
import argparse
import bisect
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

FOUND_BAR, UNREAD_BAR = 99.5, 1.5
TOLERANCE = 3  # lines between a name as ctags and as flowplan sees it
LANGUAGES = {"c": "C", "cpp": "C++"}


def squeeze(name):
    return re.sub(r"\s+", "", name)


def percent(n, of):
    return 100.0 * n / of if of else 0.0


class Text:
    """The lines of files, read once."""

    def __init__(self):
        self.files = {}
        self.under = {}

    def lines(self, path):
        if path not in self.files:
            with open(path, encoding="utf-8", errors="replace", newline="") as f:
                self.files[path] = [line.rstrip("\r") for line in f.read().split("\n")]
        return self.files[path]

    def directives(self, path):
        if path not in self.under:
            self.under[path] = directives(self.lines(path))
        return self.under[path]

    def line(self, path, number):
        lines = self.lines(path)
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def run_flowplan(flowplan, args, crashes):
    """The files that graph prints, by path; what it says on stderr."""
    with tempfile.TemporaryDirectory() as nowhere:  # outside every root, so that paths are printed as given
        p = subprocess.run([flowplan, "graph", "--json", *args], cwd=nowhere, capture_output=True)
    err = p.stderr.decode("utf-8", "replace")
    if p.returncode not in (0, 3) or "panic:" in err or "goroutine " in err:
        crashes.append((p.returncode, err[-2000:]))
    out = {}
    for line in p.stdout.splitlines():
        try:
            f = json.loads(line)
        except ValueError:
            crashes.append((p.returncode, "unreadable JSON: " + line[:200].decode("utf-8", "replace")))
            continue
        out[f["file"]] = f
    return out, [line for line in err.splitlines() if line.strip()]


def without_extension(root):
    """Files of a tree that a walk by extension does not open: the C++ library's headers are such."""
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != ".git"]
        for name in names:
            path = os.path.join(folder, name)
            if "." not in name and os.path.isfile(path) and not os.path.islink(path):
                yield path


def run_ctags(files):
    """What ctags takes for functions, a language at a time: a header's language is the one that flowplan gave it."""
    out = []
    for language, name in LANGUAGES.items():
        paths = [p for p, f in files.items() if f["language"] == language]
        if not paths:
            continue
        p = subprocess.run(
            ["ctags", "--options=NONE", "--output-format=json", "--language-force=" + name, "--kinds-C=f", "--kinds-C++=f",
             "--fields=+neKS", "--sort=no", "-f", "-", "-L", "-"],
            input="\n".join(paths) + "\n", capture_output=True, text=True, errors="replace", check=True)
        for line in p.stdout.splitlines():
            tag = json.loads(line)
            if tag.get("_type") == "tag":
                out.append(tag)
    return out


def directives(lines):
    """For each line, the conditions it stands under; and the lines of macro bodies."""
    under, stack, macro, in_macro = [], [], set(), False
    for number, line in enumerate(lines, 1):
        m = None if in_macro else re.match(r"\s*#\s*(\w+)(.*)", line)
        if in_macro or m and m[1] == "define":
            macro.add(number)
            in_macro = line.endswith("\\")
        elif m and m[1] in ("if", "ifdef", "ifndef"):
            stack.append(m[1] + m[2])
        elif m and m[1] in ("elif", "else") and stack:
            stack[-1] = m[1] + m[2] + " after " + stack[-1]
        elif m and m[1] == "endif" and stack:
            stack.pop()
        under.append(tuple(stack))
    return under, macro


def cause(text, tag, file):
    """Why a function that ctags lists may be missing: a guess from the text, for whoever examines the list."""
    lines = text.lines(tag["path"])
    under, macro = text.directives(tag["path"])
    number = tag["line"]
    if number in macro:
        return "in the body of a macro"
    if any(re.match(r"if\s+0\b", c) for c in under[number - 1]):
        return "under #if 0"
    if any(e["line"] <= number <= e["end_line"] for e in file["parse_errors"]):
        return "in a parse error"
    inside = [f for f in file["functions"] if f["line"] < number <= f["end_line"] and f["kind"] not in ("module", "class")]
    if inside:
        return "inside a function that flowplan lists"
    body = "\n".join(lines[number - 1:number + 30])
    if re.match(r"[^{;]*;", body) and not re.match(r"[^;]*\)\s*(\w[^;{]*;\s*)+\{", body):
        return "no body follows: a declaration"
    if re.fullmatch(r"[A-Z_][A-Z0-9_]*", tag["name"]):
        return "an upper-case name: a macro's invocation?"
    if under[number - 1]:
        return "under a condition of the preprocessor"
    return "other"


def listed(functions):
    """(squeezed name) -> sorted lines."""
    out = collections.defaultdict(list)
    for f in functions:
        out[squeeze(f["name"])].append(f["line"])
    for lines in out.values():
        lines.sort()
    return out


def near(lines, number):
    i = bisect.bisect_left(lines, number - TOLERANCE)
    return i < len(lines) and lines[i] <= number + TOLERANCE


def named_by_macro(text, tag, file):
    """Whether ctags took the macro's name for the function's: DEFINE_TEST(test_0) { ... } is test_0."""
    m = re.search(re.escape(tag["name"]) + r"\s*\(([^()]*)\)?", "\n".join(text.lines(tag["path"])[tag["line"] - 1:tag["line"] + 2]))
    arguments = re.findall(r"\w+", m[1]) if m else []
    return any(is_function(f) and f["kind"] != "macro" and f["name"] in arguments and abs(f["line"] - tag["line"]) <= TOLERANCE for f in file["functions"])


def is_function(f):
    return f["kind"] not in ("module", "class")


def unread(file, f, innermost):
    """The parse errors and Opaques of one function, as (line, reason)."""
    out = [(o["line"], o["reason"]) for o in f.get("opaque") or []]
    for e in file["parse_errors"]:
        if f["line"] <= e["end_line"] and e["line"] <= f["end_line"] and innermost(e) is f:
            out.append((e["line"], "parse error"))
    return out


def shape(line):
    """A line with its names and numbers taken out, so that like stands with like."""
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    line = re.sub(r"\b(?!if\b|for\b|while\b|do\b|switch\b|case\b|return\b|else\b|goto\b|template\b|operator\b|static\b|const\b|struct\b|asm\b)[A-Za-z_]\w*", "x", line)
    return re.sub(r"\b\d\w*", "0", line)[:60]


def plain(binary, files, tags):
    """The same two shares for the plain grammars."""
    order = "".join("%s %s\n" % (f["language"], p) for p, f in files.items())
    p = subprocess.run([binary], input=order, capture_output=True, text=True, check=True)
    found = {}
    total = bad = 0
    for line in p.stdout.splitlines():
        f = json.loads(line)
        found[f["file"]] = listed(f["functions"])
        total += len(f["functions"])
        bad += sum(fn["error"] for fn in f["functions"])
    got = sum(near(found[t["path"]].get(squeeze(t["name"]), []), t["line"]) for t in tags)
    print("  plain grammars: found %.2f %% (%d of %d), in or around an ERROR %.2f %% (%d of %d)" %
          (percent(got, len(tags)), got, len(tags), percent(bad, total), bad, total))


def mistakes_of(path):
    out = []
    if path:
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    out.append(line.rstrip("\n").split("\t"))
    return out


def cover(tree, options, mistakes, text):
    crashes = []
    start = time.monotonic()
    files, said = run_flowplan(options.flowplan, [tree], crashes)
    took = time.monotonic() - start
    files = {p: f for p, f in files.items() if f["language"] in LANGUAGES}
    others = [p for p in without_extension(tree) if p not in files]
    detected = 0
    for i in range(0, len(others), 100):  # not seen by the walk; is it known for what it is when named?
        more, err = run_flowplan(options.flowplan, others[i:i + 100], crashes)
        said += [line for line in err if "does not read" not in line]
        more = {p: f for p, f in more.items() if f["language"] in LANGUAGES}
        detected += len(more)
        files.update(more)
    count = collections.Counter(f["language"] for f in files.values())
    print("%s: %s, %.1f s" % (tree, ", ".join("%d files of %s" % (n, LANGUAGES[l]) for l, n in sorted(count.items())), took))
    if others:
        print("  without an extension and passed over by the walk: %d, of which C or C++ when named: %d (%.1f %%)" % (len(others), detected, percent(detected, len(others))))
    for line in said[:20]:
        print("  stderr:", line)

    tags = run_ctags(files)
    lists = {p: listed(f["functions"]) for p, f in files.items()}
    missing, wrong, got, renamed = [], [], 0, 0
    for t in tags:
        lines = lists[t["path"]].get(squeeze(t["name"]), [])
        if near(lines, t["line"]):
            got += 1
            continue
        if named_by_macro(text, t, files[t["path"]]):
            got += 1
            renamed += 1
            continue
        if t["name"].startswith("__anon"):
            wrong.append(("a lambda without a name is part of its statement", t))
            continue
        why = next((m[2] for m in mistakes if t["path"].endswith(m[0]) and m[1] in ("*", t["name"])), None)
        if why:
            wrong.append((why, t))
        else:
            missing.append((cause(text, t, files[t["path"]]), t))
    real = len(tags) - len(wrong)
    print("  found: %.3f %% (%d of %d)%s" % (percent(got, real), got, real, "; ctags is wrong in %d more" % len(wrong) if wrong else ""))
    if renamed:
        print("    of these under the name that a macro gives them, where ctags has the macro's own: %d" % renamed)
    for why, n in collections.Counter(w for w, _ in wrong).most_common():
        print("    ctags' mistake, %s: %d" % (why, n))
    by_cause = collections.Counter(c for c, _ in missing)
    for c, n in by_cause.most_common():
        print("    missing, %s: %d" % (c, n))
    for c, t in sorted(missing, key=lambda m: (m[0], m[1]["path"], m[1]["line"]))[:options.list]:
        print("      %s:%d %s: %s" % (t["path"], t["line"], t["name"], text.line(t["path"], t["line"])[:110]))

    end_of = {}
    for p, f in files.items():
        for fn in f["functions"]:
            end_of[p, squeeze(fn["name"]), fn["line"]] = fn["end_line"]
    known = [(t, end_of.get((t["path"], squeeze(t["name"]), t["line"]))) for t in tags if "end" in t]
    same = sum(e == t["end"] for t, e in known if e)
    print("  last lines that agree with ctags': %.2f %% of %d" % (percent(same, sum(1 for _, e in known if e)), sum(1 for _, e in known if e)))
    differ = [(t, e) for t, e in known if e and e != t["end"]]
    for t, e in random.Random(1).sample(differ, min(options.sample, len(differ))):
        print("      %s:%d %s ends at %d, ctags says %d" % (t["path"], t["line"], t["name"], e, t["end"]))

    total = macros = 0
    bad, bad_macros, reasons, shapes, outside = [], [], collections.Counter(), collections.defaultdict(list), 0
    for p, f in files.items():
        own = [fn for fn in f["functions"] if is_function(fn)]

        def innermost(e, own=own):
            around = [fn for fn in own if fn["line"] <= e["end_line"] and e["line"] <= fn["end_line"]]
            return max(around, key=lambda fn: fn["line"], default=None)
        for fn in own:
            is_macro = fn["kind"] == "macro"
            macros += is_macro
            total += not is_macro
            why = unread(f, fn, innermost)
            if why:
                (bad_macros if is_macro else bad).append((p, fn, why))
        outside += sum(innermost(e) is None for e in f["parse_errors"])
    for p, fn, why in bad + bad_macros:
        for reason in {r for _, r in why}:
            reasons[reason] += 1
        for number, reason in why:
            shapes[reason, shape(text.line(p, number))].append((p, number))
    print("  not read in full: %.3f %% of functions (%d of %d), %.3f %% of macros (%d of %d); parse errors outside functions: %d" %
          (percent(len(bad), total), len(bad), total, percent(len(bad_macros), macros), len(bad_macros), macros, outside))
    for reason, n in reasons.most_common(20):
        print("    %d: %s" % (n, reason))
    for (reason, _), where in sorted(shapes.items(), key=lambda s: -len(s[1]))[:10]:
        p, number = where[0]
        print("      %dx %s: %s:%d: %s" % (len(where), reason, p, number, text.line(p, number)[:110]))

    known = collections.defaultdict(lambda: collections.defaultdict(list))
    for t in tags:
        known[t["path"]][squeeze(t["name"])].append(t["line"])
    only = [(p, fn) for p, f in files.items() for fn in f["functions"]
            if fn["kind"] not in ("module", "class", "macro", "lambda") and not near(sorted(known[p][squeeze(fn["name"])]), fn["line"])]
    print("  listed by flowplan only: %d (%.2f %%)" % (len(only), percent(len(only), total)))
    for p, fn in random.Random(1).sample(only, min(options.sample, len(only))):
        print("      %s:%d %s: %s" % (p, fn["line"], fn["qualified_name"], text.line(p, fn["line"])[:110]))
    if options.plain:
        plain(options.plain, files, tags)
    for code, err in crashes:
        print("  CRASH, exit code %d: %s" % (code, err))
    return real, got, total, len(bad), len(crashes)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--flowplan", required=True, help="the built program")
    ap.add_argument("--plain", help="the built internal/oracle/c/plaints")
    ap.add_argument("--mistakes", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "ctags_mistakes.tsv"), help="what ctags is known to be wrong about")
    ap.add_argument("--list", type=int, default=200, help="how many missing functions are listed a tree")
    ap.add_argument("--sample", type=int, default=8, help="how many of other lists are shown")
    ap.add_argument("trees", nargs="+", metavar="DIR")
    options = ap.parse_args()
    options.flowplan = os.path.abspath(options.flowplan)
    mistakes = mistakes_of(options.mistakes if os.path.exists(options.mistakes) else None)
    totals = [0] * 5
    for tree in options.trees:
        totals = [a + b for a, b in zip(totals, cover(os.path.abspath(tree), options, mistakes, Text()))]
        sys.stdout.flush()
    real, got, total, bad, crashes = totals
    found, not_read = percent(got, real), percent(bad, total)
    print("all: found %.3f %% of %d (bar %.1f %%), not read in full %.3f %% of %d (bar below %.1f %%), crashes %d" % (found, real, FOUND_BAR, not_read, total, UNREAD_BAR, crashes))
    if found < FOUND_BAR or not_read >= UNREAD_BAR or crashes:
        sys.exit(1)


if __name__ == "__main__":
    main()
