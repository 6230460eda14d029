#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Validates JSON: `validate.py SCHEMA FILE` for the part of JSON Schema that doc/report.schema.json uses, `validate.py
--trace FILE` for the Trace Event Format. Prints what is wrong and where; exit code 1."""
import json
import math
import sys

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float), "integer": int,
}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties", "required", "items", "enum", "minimum", "maximum",
         "minItems", "maxItems", "additionalProperties", "const"}


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


def check_trace(trace, errors):
    """What the Trace Event Format asks for, and that slices of a thread nest."""
    open_slices, ends = {}, {}
    for i, e in enumerate(trace["traceEvents"]):
        thread = (e.get("pid"), e.get("tid"))
        if not isinstance(e.get("name"), str) or not all(isinstance(t, int) for t in thread):
            errors.append("event %d: name, pid or tid" % i)
        if e.get("ph") == "M":
            continue
        if e.get("ph") not in ("X", "B", "E") or not isinstance(e.get("ts"), (int, float)) or e["ts"] < 0:
            errors.append("event %d: phase or time" % i)
            continue
        stack = ends.setdefault(thread, [])
        begin, end = e["ts"], e["ts"] + e.get("dur", 0)
        while stack and begin >= stack[-1] - 0.002:
            stack.pop()
        if stack and end > stack[-1] + 0.002:
            errors.append("event %d: ends after the one around it" % i)
        if e["ph"] == "X":
            if not isinstance(e.get("dur"), (int, float)) or e["dur"] < 0:
                errors.append("event %d: duration" % i)
            stack.append(end)
        elif e["ph"] == "B":
            open_slices.setdefault(thread, []).append(e["name"])
        elif not open_slices.get(thread) or open_slices[thread].pop() != e["name"]:
            errors.append("event %d: ends what did not begin" % i)
    if any(open_slices.values()):
        errors.append("a slice did not end")


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
