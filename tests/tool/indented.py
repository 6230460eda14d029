#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`indented.py FILE`: of `pythia report --view structure --indent`, that the lines inside a loop add up to it. Prints what
does not; exit code 1. A figure has three digits, so it is off by half of the last."""
import sys

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}


def lines(path):
    for text in open(path, encoding="utf-8"):
        figures, code = text[:29], text[31:].rstrip("\n")
        if text.startswith("#") or not code.strip():
            if text.startswith("# callsites"):
                return
            continue
        words = figures.split()
        seconds = float(words[0]) * UNITS[words[1]] if len(words) > 1 and words[1] in UNITS else None
        yield (len(code) - len(code.lstrip())) // 4, seconds, code.strip()


def children(rows, at):
    depth = rows[at][0]
    for row in rows[at + 1:]:
        if row[0] <= depth:
            return
        if row[0] == depth + 1:
            yield row


rows = list(lines(sys.argv[1]))
bad = not any(r[2].startswith("loop") for r in rows)
for at, (depth, whole, code) in enumerate(rows):
    inside = list(children(rows, at))
    if whole is None or not inside or any(r[1] is None for r in inside): # a rule apart, or what --depth left out
        continue
    total = sum(r[1] for r in inside)
    if abs(total - whole) > 0.006 * (whole + total) + 1e-9 * len(inside):
        print("%s: %g, inside %g" % (code, whole, total))
        bad = True
print("%d lines" % len(rows))
sys.exit(bad)
