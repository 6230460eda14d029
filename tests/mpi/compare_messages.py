# SPDX-License-Identifier: MIT
"""Compares a report with what count_messages.c counted, and says where they differ.

    compare_messages.py REPORT.json COUNTED...
"""
import json
import sys

with open(sys.argv[1]) as report:
    job = json.load(report)
told = {}
totals = {"sent": [0, 0], "put": [0, 0], "got": [0, 0]}
for name in sys.argv[2:]:
    for line in open(name):
        *figures, how = line.split()
        source, target, messages, size = map(int, figures)
        before = told.get((source, target), (0, 0))
        told[source, target] = before[0] + messages, before[1] + size
        totals[how] = [totals[how][0] + messages, totals[how][1] + size]

said = {(int(source), int(target)): (int(n), int(size)) for source, target, n, size in job["matrix"]["edges"]}
bad = False
for pair in sorted(said.keys() | told.keys()):
    if said.get(pair) != told.get(pair):
        print("from, to", pair, "messages, bytes: said", said.get(pair), "sent", told.get(pair))
        bad = True
for direction, more in (("send", "put"), ("receive", "got")):
    rows = [row for row in job["comm"] if row["direction"] == direction]
    shown = [sum(row[key] for row in rows) for key in ("messages", "bytes")]
    true = [a + b for a, b in zip(totals["sent"], totals[more])]
    if shown != true:
        print(direction, "messages, bytes: said", shown, "counted", true)
        bad = True
for doubt in "by_mean_bytes", "unplaced_messages":
    if job["matrix"][doubt]:
        print(doubt, job["matrix"][doubt])
        bad = True
print(len(told), "pairs", totals)
sys.exit(bad or not told)
