#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`agree.py PYTHIA JOB`, of a run of a real program: the same figures everywhere. Adds up callsites, regions, ranks, peers, matrix, series and CSV,
and compares the sums; then what scripts may rely on in the JSON of `report` and `replay`. Prints what differs; exit code 1."""
import csv
import io
import json
import re
import subprocess
import sys

KINDS = {"late_sender", "late_receiver", "imbalance", "moving_imbalance", "serial_chain", "starved_workers",
         "waiting_master", "small_regions", "uneven_threads", "serial_part", "many_small_messages"}
bad = []


def pythia(*arguments):
    return subprocess.run(sys.argv[1:2] + list(arguments), stdout=subprocess.PIPE, check=True).stdout.decode()


def same(what, a, b, tolerance=1e-6, absolute=1e-7):
    """Times are whole ns in the file: sums of many means may be off by as many half ns."""
    if abs(a - b) > tolerance * max(abs(a), abs(b)) + absolute:
        bad.append("%s: %r and %r" % (what, a, b))


def need(what, fine):
    if not fine:
        bad.append(what)


def times(r):
    a, calls, regions = r["accounting"], r["callsites"], r["regions"]
    same("callsites, calls", sum(c["time_seconds"] for c in calls), a["call_seconds"])
    same("regions", sum(g["time_seconds"] for g in regions), a["region_seconds"])
    same("gaps", sum(c["gap_seconds"] for c in calls) + sum(g["gap_seconds"] for g in regions), a["gap_seconds"])
    same("parts, wall time", a["call_seconds"] + a["region_seconds"] + a["gap_seconds"] + a["lost_seconds"],
         a["wall_seconds"], 1e-4)
    same("streams, wall time", sum(s["wall_seconds"] * s["ranks"] for s in r["streams"]), a["wall_seconds"])
    first = [s for s in r["streams"] if s["thread"] == 0]
    same("ranks, MPI", sum(s["mpi_seconds"] * s["ranks"] for s in first), r["job"]["mpi_seconds"])
    same("ranks, OpenMP", sum(s["omp_seconds"] * s["ranks"] for s in first), r["job"]["omp_seconds"])
    same("events", sum(s["events"] for s in r["streams"]), r["job"]["events"])
    for one in r["series"]:
        stream = next((s for s in first if s["rank"] == one["rank"]), None)
        if stream and one["ranks"] == 1: # a value is a 65535th of a step
            steps = len(one["mpi"]) * one["step_seconds"] / 65535
            same("series of rank %d, MPI" % one["rank"], sum(one["mpi"]), stream["mpi_seconds"], 1e-3, steps + 2e-4)


def messages(r):
    m, sent = r["matrix"], [p for p in r["comm"] if p["direction"] == "send"]
    need("matrix: edges are [from, to, messages, bytes] of ranks of the job",
         all(len(e) == 4 and 0 <= e[0] < r["job"]["ranks"] and 0 <= e[1] < r["job"]["ranks"] for e in m["edges"]))
    need("matrix: each pair once", len({(e[0], e[1]) for e in m["edges"]}) == len(m["edges"]))
    sent += [p for p in r["comm"] if p["direction"] == "receive" and p["onesided"]] # who is read from sends
    for i, key in (2, "messages"), (3, "bytes"):
        same("peers and matrix, %s" % key, sum(p[key] for p in sent),
             sum(e[i] for e in m["edges"]) + m["unplaced_" + key], 0, 0.5)
    need("matrix: by_mean_bytes", 0 <= m["by_mean_bytes"] <= sum(e[3] for e in m["edges"]))
    whole = [p for p in m["patterns"] if p["function"] is None]
    for p in whole:
        same("pattern of all calls, bytes", p["bytes"], sum(e[3] for e in m["edges"]), 0, 0.5)


def tables(r):
    rows = list(csv.DictReader(io.StringIO(pythia("report", sys.argv[2], "--format", "csv"))))
    need("CSV: as many rows as callsites", len(rows) == len(r["callsites"]))
    for key in ("count", "time_seconds", "bytes"):
        column = next((k for k in rows[0] if k.startswith(key.split("_")[0])), None) if rows else None
        need("CSV: a column of %s" % key, not rows or column)
        if column:
            same("CSV, %s" % key, sum(float(x[column]) for x in rows), sum(c[key] for c in r["callsites"]), 1e-6, 1e-6)
    text = pythia("report", sys.argv[2], "--view", "callsites")
    counts = sum(int(x) for x in re.findall(r"^ *(?:[0-9]+|-)  MPI_\S+ +([0-9]+) ", text, re.M))
    same("text, calls", counts, sum(c["count"] for c in r["callsites"] if c["function"].startswith("MPI_")), 0, 0)


def contracts(r):
    e = r.get("efficiency")
    if e:
        parts = dict(e["thread_seconds"])
        capacity = parts.pop("capacity")
        if e["parallel"] is not None:
            same("efficiency: MPI x OpenMP", e["mpi"] * e["openmp"], e["parallel"], 1e-6)
            same("efficiency: OpenMP's factors", e["openmp_load_balance"] * e["openmp_waiting"] *
                 e["openmp_fork_join"] * e["openmp_serial"], e["openmp"], 1e-6)
            same("efficiency: the capacity's parts", sum(parts.values()), capacity, 1e-6)
            same("efficiency: useful / capacity", parts["useful"] / capacity, e["parallel"], 1e-6)
        same("efficiency: load balance x communication", e["load_balance"] * e["communication"], e["mpi"], 1e-6)
    for c in r["callsites"]:
        for key in ("gap_min_seconds", "gap_max_seconds", "gap_max_turn"):
            need("callsites: %s of %s" % (key, c["function"]), key in c)
    for one in r["series"]:
        need("series: rank, step, three arrays of at most 128",
             one["step_seconds"] > 0 and len({len(one[k]) for k in ("computation", "omp", "mpi")}) == 1 and len(one["mpi"]) <= 128)
        need("series: no step has more than it is long", all(
            sum(x) <= one["step_seconds"] * 1.001 for x in zip(one["computation"], one["omp"], one["mpi"])))
    loop = r.get("main_loop")
    need("main_loop", not loop or (loop["turns"] >= 1 and loop["turns"] * loop["seconds_per_turn"] <= r["job"]["wall_seconds"] * 1.001))
    costs = [f["seconds"] for f in r["findings"]]
    need("findings: most expensive first", costs == sorted(costs, reverse=True))
    for f in r["findings"]:
        need("finding: keys", set(f) >= {"kind", "where", "cause", "ranks", "seconds", "share", "advice"})
        need("finding: kind %s" % f["kind"], f["kind"] in KINDS)
        need("finding: what costs less than 1 %% is not said (%s)" % f["kind"], f["share"] >= 0.01)
        need("finding: ranks %s" % f["ranks"], re.match(r"(all|ranks?) ?[0-9,/…-]*", f["ranks"]))
    for c in r["classes"]:
        need("classes: members", c["members"] >= 1)
    p = json.loads(pythia("replay", sys.argv[2], "--format", "json"))
    need("replay: recorded and replayed", p["recorded_seconds"] > 0 and p["replayed_seconds"] > 0)
    p = json.loads(pythia("replay", sys.argv[2], "--network", "ideal", "--format", "json"))
    need("replay: what if", p["low_seconds"] <= p["predicted_seconds"] <= p["high_seconds"])


report = json.loads(pythia("report", sys.argv[2], "--format", "json"))
times(report)
messages(report)
tables(report)
contracts(report)
for line in bad[:20]:
    print(line)
sys.exit(1 if bad else 0)
