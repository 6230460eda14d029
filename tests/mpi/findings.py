# SPDX-License-Identifier: MIT
"""findings.py EXPECTED REPORT.json [--seconds SHARE]: whether the report has the findings that a program says, and no others.

EXPECTED: lines "kind function seconds ranks". One line for each that is missing, wrong or too much."""
import json
import sys

expected, report = sys.argv[1:3]
tolerance = float(sys.argv[4]) if len(sys.argv) > 4 else 0.1
found = json.load(open(report))["findings"]
wall = json.load(open(report))["accounting"]["wall_seconds"]
delay = (json.load(open(report))["run_delay"] or {}).get("share", 0) # on a busy machine ranks are late in turn
wrong = 0

for line in open(expected):
    kind, function, seconds, ranks = line.split(maxsplit=3)
    seconds, ranks = float(seconds), ranks.strip()
    match = [f for f in found if f["kind"] == kind and (function == "-" or f["where"].startswith(function + "@")) and f["ranks"] == ranks]
    if not match:
        print(f"missing: {line.strip()}; there are {found}")
        wrong += 1
        continue
    found.remove(match[0])
    if abs(match[0]["seconds"] - seconds) > tolerance * seconds:
        print(f"{kind}: {match[0]['seconds']} s where the source says {seconds}")
        wrong += 1
RESTS = ("io", "communicators", "start_and_end", "ended_early", "idle_ranks", "transfer", "no_processor",
         "threads_wait", "fork_and_join", "other_threads", "unfinished", "not_explained") # in no wait for a rank
for f in found:
    if f["kind"] not in RESTS and f["share"] > 0.02 + (delay if f["kind"] == "moving_imbalance" else 0):
        print(f"too much: {f}")
        wrong += 1
sys.exit(wrong > 0)
