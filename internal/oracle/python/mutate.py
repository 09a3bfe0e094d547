"""Damages one edge or one def-use pair of a graph: the negative control.

A graph of flowplan is damaged in its JSON, so that reading the JSON is put to
the test too; one of rules.py in its sets.
"""

import copy


def damage(graph, plain, chosen):
    """(a copy with one edge or pair dropped, added or redirected, what was done);
    (None, "") where there is nothing to damage. `plain` names the variables compared."""
    if hasattr(graph, "function"):
        return damage_json(graph, plain, chosen)
    return damage_sets(graph, plain, chosen)


def damage_sets(graph, plain, chosen):
    new = copy.copy(graph)
    pairs = sorted((pair for pair in graph.pairs if pair[0] in plain), key=str)
    edges = sorted(graph.edges, key=str)
    is_edge = not pairs or chosen.random() < 0.5
    old = chosen.choice(edges if is_edge else pairs)
    places = sorted({end for edge in edges for end in edge[:2] if end != "entry"}, key=str)
    if not is_edge:
        places = [place for place in places if not isinstance(place, str)]
    to = chosen.choice(places)
    other = (old[0], to, old[2]) if is_edge else (old[0], old[1], to)
    entries = set(graph.edges if is_edge else graph.pairs)
    how = apply(entries, old, other, chosen)
    if is_edge:
        new.edges = entries
    else:
        new.pairs = entries
    return new, f"{how} {old} {other}"


def apply(entries, old, other, chosen):
    """Changes a set of entries; falls back to dropping where `other` is there already."""
    how = "drop" if other in entries else chosen.choice(("drop", "add", "redirect"))
    if how != "add":
        entries.discard(old)
    if how != "drop":
        entries.add(other)
    return how


def damage_json(graph, plain, chosen):
    function = copy.deepcopy(graph.function)
    live = [block["id"] for block in function["blocks"] if not block.get("dead")]
    edges = [edge for edge in function["edges"] if edge["from"] in live + ["entry"]]
    uses = sorted({pair["use"] for pair in function["def_use"]})
    pairs = [pair for pair in function["def_use"] if pair["var"] in plain and pair["def_kind"] not in ("unbound", "capture")]
    if pairs and chosen.random() < 0.5:
        what = damage_entries(function["def_use"], chosen.choice(pairs), "use", uses, chosen)
    elif edges:
        what = damage_entries(function["edges"], chosen.choice(edges), "to", live + ["exit", "raise"], chosen)
    else:
        return None, ""
    return type(graph)(function), what


def damage_entries(entries, old, field, targets, chosen):
    """Drops, adds or redirects one entry of a JSON list."""
    other = {**old, field: chosen.choice(targets)}
    position = entries.index(old)
    what = lambda entry: {key: value for key, value in entry.items() if not key.endswith("_line")}
    how = "drop" if what(other) in map(what, entries) else chosen.choice(("drop", "add", "redirect"))
    if how == "drop":
        entries.pop(position)
    elif how == "add":
        entries.append(other)
    else:
        entries[position] = other
    return f"{how} {old} {field}={other[field]}"
