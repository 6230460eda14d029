#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Validates JSON: `validate.py SCHEMA FILE` for the part of JSON Schema that doc/report.schema.json uses, `validate.py
--trace FILE` for the Trace Event Format. Prints what is wrong and where; exit code 1."""
import bisect
import itertools
import json
import math
import sys

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float), "integer": int,
}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties", "required", "items", "enum", "minimum", "maximum",
         "minItems", "maxItems", "additionalProperties", "const", "allOf"}


def is_a(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, TYPES[name])


def check(value, schema, root, path, errors):
    unknown = set(schema) - KNOWN
    if unknown:
        errors.append("%s: the schema says what this validator does not know: %s" % (path, unknown))
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            target = target[part]
        return check(value, target, root, path, errors)
    for part in schema.get("allOf", []):
        check(value, part, root, path, errors)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_a(value, n) for n in names):
        errors.append("%s: %r is no %s" % (path, value, " or ".join(names)))
        return
    if "const" in schema and value != schema["const"]:
        errors.append("%s: %r is not %r" % (path, value, schema["const"]))
    if "enum" in schema and value not in schema["enum"]:
        errors.append("%s: %r is none of %s" % (path, value, schema["enum"]))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value) or value < schema.get("minimum", -math.inf) or value > schema.get("maximum", math.inf):
            errors.append("%s: %r is out of range" % (path, value))
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                errors.append("%s: no %s" % (path, key))
        for key, item in value.items():
            if key in schema.get("properties", {}):
                check(item, schema["properties"][key], root, path + "." + key, errors)
            elif schema.get("additionalProperties", True) is False:
                errors.append("%s: %s is not described" % (path, key))
            elif isinstance(schema.get("additionalProperties"), dict):
                check(item, schema["additionalProperties"], root, path + "." + key, errors)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0) or len(value) > schema.get("maxItems", math.inf):
            errors.append("%s: %d items" % (path, len(value)))
        for i, item in enumerate(value if "items" in schema else []):
            check(item, schema["items"], root, "%s[%d]" % (path, i), errors)


def check_flows(events, slices, errors):
    """Each flow has a begin and an end, in a slice of its thread each, and begins before it ends."""
    flows = {}
    latest = {thread: list(itertools.accumulate((end for begin, end in around), max)) for thread, around in slices.items()}
    for e in events:
        if e["ph"] not in "sf":
            continue
        if e["ph"] == "f" and e.get("bp") != "e":
            errors.append("flow %s: binds to the next slice, not to the one around it" % e.get("id"))
        flow = flows.setdefault((e["cat"], e["name"], e["id"]), {})
        if e["ph"] in flow:
            errors.append("flow %s: two of %s" % (e["id"], e["ph"]))
        flow[e["ph"]] = e
        thread = (e["pid"], e["tid"])
        begun = bisect.bisect_right(slices.get(thread, []), (e["ts"] + 0.0005, math.inf))
        if not begun or latest[thread][begun - 1] + 0.0005 < e["ts"]:
            errors.append("flow %s: %s at %s is in no slice of rank %s" % (e["id"], e["ph"], e["ts"], e["pid"]))
    for key, flow in flows.items():
        if set(flow) != {"s", "f"}:
            errors.append("flow %s: only its %s" % (key, "".join(flow)))
        elif flow["s"]["ts"] >= flow["f"]["ts"]:
            errors.append("flow %s: ends before it begins" % (key,))


def check_synchronising(events, ranks, errors):
    """No rank leaves an Allreduce, Barrier or Alltoall of all before another one enters it. Ranks may make the same one
    at different places of the source, so they are told by their order."""
    kinds = ("MPI_Allreduce", "MPI_Barrier", "MPI_Alltoall")
    calls = {}
    for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"]):
        kind = e["name"]
        if kind in kinds and e["args"].get("communicator", "world") in ("world", "MPI_COMM_WORLD"):
            calls.setdefault(e["pid"], []).append((kind, e))
    if len(calls) != ranks or len({tuple(kind for kind, e in of) for of in calls.values()}) != 1:
        return 0
    for together in zip(*calls.values()):
        if min(e["ts"] + e["dur"] for kind, e in together) < max(e["ts"] for kind, e in together):
            errors.append("%s: left by one rank before another enters it" % together[0][1]["name"])
    return len(next(iter(calls.values())))


def check_trace(trace, errors):
    """What the Trace Event Format asks for, that slices of a thread nest, and that time runs forward between ranks."""
    open_slices, ends, slices = {}, {}, {}
    for i, e in enumerate(trace["traceEvents"]):
        thread = (e.get("pid"), e.get("tid"))
        if not isinstance(e.get("name"), str) or not all(isinstance(t, int) for t in thread):
            errors.append("event %d: name, pid or tid" % i)
        if e.get("ph") != "M" and (e.get("ph") not in ("X", "B", "E", "s", "f", "C") or
                                   not isinstance(e.get("ts"), (int, float)) or e["ts"] < 0):
            errors.append("event %d: phase or time" % i)
        if e.get("ph") == "X" and (not isinstance(e.get("dur"), (int, float)) or e["dur"] < 0):
            errors.append("event %d: duration" % i)
        if e.get("ph") == "C" and not all(isinstance(v, (int, float)) for v in e["args"].values()):
            errors.append("event %d: a counter without numbers" % i)
    if errors:
        return
    events = [e for e in trace["traceEvents"] if e["ph"] != "M"]
    # Viewers sort by time; of those that begin together the longer one is around the other.
    for e in sorted((e for e in events if e["ph"] in "XBE"), key=lambda e: (e["ts"], -e.get("dur", 0))):
        thread = (e["pid"], e["tid"])
        stack = ends.setdefault(thread, [])
        begin, end = e["ts"], e["ts"] + e.get("dur", 0)
        while stack and begin >= stack[-1] - 0.002:
            stack.pop()
        if stack and end > stack[-1] + 0.002:
            errors.append("%s at %s on %s: ends after the one around it" % (e["name"], begin, thread))
        if e["ph"] == "X":
            stack.append(end)
            slices.setdefault(thread, []).append((begin, end))
    for e in (e for e in events if e["ph"] in "BE"):
        thread = (e["pid"], e["tid"])
        if e["ph"] == "B":
            open_slices.setdefault(thread, []).append(e["name"])
        elif not open_slices.get(thread) or open_slices[thread].pop() != e["name"]:
            errors.append("%s at %s: ends what did not begin" % (e["name"], e["ts"]))
    if any(open_slices.values()):
        errors.append("a slice did not end")
    check_flows(events, slices, errors)
    checked = check_synchronising(events, len({e["pid"] for e in events}), errors)
    if "-v" in sys.argv:
        print("%d slices, %d flows, %d synchronising calls" %
              (sum(len(s) for s in slices.values()), sum(e["ph"] == "s" for e in events), checked))


if __name__ == "__main__":
    problems = []
    with open(sys.argv[2], encoding="utf-8") as f:
        document = json.load(f)
    if sys.argv[1] == "--trace":
        check_trace(document, problems)
    else:
        with open(sys.argv[1], encoding="utf-8") as f:
            description = json.load(f)
        check(document, description, description, "$", problems)
    for p in problems[:20]:
        print(p)
    sys.exit(1 if problems else 0)
