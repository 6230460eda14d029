#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`agree.py PYTHIA JOB [LOG]`, of a run of any program: the same figures everywhere. Adds up callsites, regions, ranks,
peers, matrix, series and CSV, and compares the sums; then what two views say of the same thing, in text, JSON, CSV and
on the page; that shares of one base are no more than all of it; that loops fit into each other; and what scripts may
rely on in the JSON of `report` and `replay`. LOG: what the recording said at its end. Prints what differs; exit code 1.
"""
import csv
import io
import json
import re
import subprocess
import sys

KINDS = {"late_sender", "late_receiver", "imbalance", "moving_imbalance", "serial_chain", "starved_workers",
         "waiting_master", "small_regions", "uneven_threads", "serial_part", "many_small_messages",
         "io", "communicators", "start_and_end", "ended_early", "idle_ranks", "transfer", "no_processor",
         "threads_wait", "fork_and_join", "other_threads", "unfinished", "not_explained"}
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
    gaps = sum(c["gap_seconds"] for c in calls + regions) # those inside a region are its time
    need("gaps: %r and %r" % (gaps, a["gap_seconds"]), -1e-6 <= gaps - a["gap_seconds"] <= a["region_seconds"] + 1e-6)
    parts = [a[k + "_seconds"] for k in ("call", "region", "gap", "lost", "unfinished")]
    same("parts, wall time", sum(parts), a["wall_seconds"], 1e-4)
    same("streams, wall time", sum(s["wall_seconds"] * s["ranks"] for s in r["streams"]), a["wall_seconds"])
    first = [s for s in r["streams"] if s["thread"] == 0]
    same("ranks, MPI", sum(s["mpi_seconds"] * s["ranks"] for s in first), r["job"]["mpi_seconds"])
    same("ranks, OpenMP", sum(s["omp_seconds"] * s["ranks"] for s in first), r["job"]["omp_seconds"])
    same("events", sum(s["events"] for s in r["streams"]), r["job"]["events"])
    for one in r["series"]:
        stream = next((s for s in first if s["rank"] == one["rank"]), None)
        if stream and one["ranks"] == 1 and not a["unfinished_seconds"]: # a value is a 65535th of a step
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
    text = pythia("report", sys.argv[2], "--view", "callsites").split("# calls that found nothing")[0]
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
             one["step_seconds"] > 0 and len(one["mpi"]) <= 128 and
             len({len(one[k]) for k in ("computation", "omp", "mpi")}) == 1)
        need("series: no step has more than it is long", all(
            sum(x) <= one["step_seconds"] * 1.001 for x in zip(one["computation"], one["omp"], one["mpi"])))
    loop = r.get("main_loop")
    need("main_loop: in the list", not loop or any(all(loop[k] == l[k] for k in loop) for l in all_loops(r["loops"])))
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


def all_loops(loops):
    for l in loops:
        yield l
        yield from all_loops(l["loops"])


def fits(outer, known):
    """Each entry of a loop is in a turn of the one around, each turn of it in an entry."""
    name = "loop %s:%s" % (outer["file"], outer["line"])
    turns, entries = outer["turns"], outer["entries"]
    if turns is not None and entries is not None:
        need("%s: turns once an entry, at least" % name, turns >= entries * 0.999999)
        if outer["turns_min"] is not None:
            need("%s: turns of its entries" % name, outer["turns_min"] * entries <= turns * 1.000001 and
                 turns <= outer["turns_max"] * entries * 1.000001)
    for inner in outer["loops"]:
        at = "loop %s:%s in %s" % (inner["file"], inner["line"], name)
        need("%s: takes no more" % at, all(inner[k] <= outer[k] * 1.000001 for k in ("seconds", "share")))
        need("%s: entered in turns that are not known" % at, inner["entries"] is None or turns is not None)
        fits(inner, known)
    inside = sum(i["seconds"] for i in outer["loops"])
    need("%s: what is in it takes no more" % name, inside <= outer["seconds"] * 1.000001)
    for c in outer["calls"]:
        need("%s: %s takes no more than with what is before it" % (name, c["call"]), c["call_seconds"] <= c["seconds"])
        if c["every"] is not None:
            same("%s: every of %s" % (name, c["call"]), c["every"] * c["per_turn"], 1)


SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}


def bases(r):
    """One base: the wall time after MPI_Init times ranks, times the threads that have streams where it says so."""
    j, e = r["job"], r.get("efficiency")
    there = sum(s["ranks"] for s in r["streams"] if s["thread"] == 0)
    of_all = j["wall_seconds"] * there
    threads = round(j["base_seconds"] / of_all) if of_all else 1
    same("base: wall time x ranks x threads", j["base_seconds"], of_all * threads, 1e-6, 1e-6)
    need("base: no more threads than streams", threads <= max([1] + [s["thread"] + 1 for s in r["streams"]]))
    if e:
        capacity = e["thread_seconds"]["capacity"]
        same("capacity: wall time x ranks x threads", capacity, of_all * e["openmp_threads"], 1e-6, 1e-6)
    calls = [c for c in r["callsites"] if c["app_percent"] is not None]
    for c in calls:
        share = 100 * c["time_seconds"] / j["base_seconds"]
        same("callsite %s: its share" % c["function"], c["app_percent"], share, 1e-6, 1e-6)
    need("callsites: shares", sum(c["app_percent"] for c in calls) <= 100.01)
    need("callsites: shares of MPI", not calls or abs(sum(c["mpi_percent"] for c in calls) - 100) < 0.01)
    for l in all_loops(r["loops"]):
        same("loop: its share", l["share"], 100 * l["seconds"] / j["base_seconds"], 1e-6, 1e-6)
    need("loops: shares", sum(l["share"] for l in r["loops"]) <= 100.01)
    need("calltree: share", r["calltree"]["share"] <= 100.01)
    for f in r["findings"]:
        same("finding: its share", f["share"], f["seconds"] / j["findings_base_seconds"], 1e-6, 1e-6)
    told, losses = sum(f["share"] for f in r["findings"]), r["losses"]
    need("findings: no more than all (%.3f)" % told, told <= 1.0001)
    if losses:
        all_of_it = told + losses["minor"]
        need("findings: what is lost, once (%.4f of %.4f)" % (all_of_it, losses["lost"]),
             0.95 * losses["lost"] - 0.01 <= all_of_it <= losses["lost"] + 0.001)
        need("losses: 1 - parallel efficiency", abs(1 - e["parallel"] - losses["lost"]) < 1e-6)
    else:
        need("no losses: no parallel efficiency", not e or e["parallel"] is None)
    end = sum(f["seconds"] for f in r["findings"] if f["kind"] == "start_and_end")
    need("MPI_Finalize: a finding has no more than its calls",
         end <= sum(c["time_seconds"] for c in calls if c["class"] == "life") * 1.001 + 1e-6)


def shown(r):
    """The first screen, the views and the page say what the JSON says."""
    text, waits = pythia("report", sys.argv[2]), pythia("report", sys.argv[2], "--view", "waits")
    for number, unit, share in re.findall(r"^ *([0-9.]+) (ns|us|ms|s) +([0-9.]+)%  (?:at |late |between)", waits, re.M):
        same("waits: the base of findings", float(share) / 100,
             float(number) * SECONDS[unit] / r["job"]["findings_base_seconds"], 0.02, 0.0006)
    calls = [c for c in r["callsites"] if c["app_percent"] is not None]
    of_mpi = sum(c["app_percent"] for c in calls if c["function"].startswith("MPI_"))
    of_mpi += 100 * r["accounting"]["unfinished_seconds"] / r["job"]["base_seconds"]
    time = re.search(r"^time: computation ([0-9.]+) %, OpenMP ([0-9.]+) %, MPI ([0-9.]+) %(?:, ended ([0-9.]+) %)?",
                     text, re.M)
    if r["job"]["events"]:
        parts = [float(x or 0) for x in time.groups()]
        same("first screen: parts of the time", sum(parts), 100, 0, 0.25)
        same("first screen: MPI, and callsites", parts[2], of_mpi, 0, 0.06)
        for m in re.finditer(r"^(MPI_\S+) +([0-9.]+[kMG]?) .* ([0-9.]+)%  (.*)$", text, re.M):
            need("first screen: %s is in the callsites" % m.group(1), any(
                c["function"].startswith(m.group(1).rstrip("~")) and abs(c["app_percent"] - float(m.group(3))) <= 0.06
                for c in calls))
    if len(sys.argv) > 3:
        said = re.search(r"^pythia: recorded .* mpi=([0-9.]+)%", open(sys.argv[3]).read(), re.M)
        same("what the recording said: MPI", float(said.group(1)), of_mpi, 0, # a file has 14 bits of MPI_Init
             0.06 + 0.01 * r["job"]["init_seconds"] / r["job"]["wall_seconds"])
    e = r.get("efficiency")
    head = re.search(r"^parallel efficiency ([0-9.]+) %", text, re.M)
    need("first screen: the parallel efficiency", bool(head) == bool(e and e["parallel"] is not None) and
         (not head or abs(float(head.group(1)) - 100 * e["parallel"]) <= 0.06))
    for view, where in (text, "first screen"), (waits, "waits"):
        lines = re.findall(r"^ *([0-9.]+) % +([0-9.]+) (ns|us|ms|s|min|h)  (\S.*)$",
                           view.split("in MPI, all ranks")[0], re.M)
        all_of_them = min(len(r["findings"]), 20)
        need("%s: findings" % where, len(lines) == all_of_them if where == "waits" else len(lines) <= all_of_them)
        for (share, time, unit, _), f in zip(lines, r["findings"]):
            same("%s: share" % where, float(share), 100 * f["share"], 0, 0.06)
            same("%s: seconds" % where, float(time) * SECONDS[unit], f["seconds"], 0.06, 0)
    loop = r.get("main_loop")
    said = re.search(r"^main loop.*\n  (\S+) turns? (?:on average )?of .*, ([0-9.]+) % of the time", text, re.M)
    if said:
        need("first screen: a loop that is known", loop and loop["turns"] is not None)
        same("first screen: share of the main loop", float(said.group(2)), loop["share"], 0, 0.06)
    html = pythia("report", sys.argv[2], "--format", "html")
    page = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S).group(1))
    for key in r:
        need("page: %s" % key, page.get(key) == r[key] or key in ("calltree", "loops"))
    named(text + waits, by_rank(r))
    ranks(r)


def named(text, rows):
    """Who is said to be in a call, or before it, makes it."""
    lines = re.findall(r"^ {17}(?:ranks?|all ranks) ([0-9,-]+) (in|before) (MPI_[A-Za-z_]+)", text, re.M)
    for ranks, how, call in lines:
        for part in ranks.split(","):
            first, last = (part.split("-") + [part])[:2]
            for rank in range(int(first), int(last) + 1):
                need("rank %d %s %s" % (rank, how, call), any(x["function"] == call and int(x["count"]) > 0 and
                     int(x["rank"]) <= rank < int(x["rank"]) + int(x["ranks"]) for x in rows))


def ranks(r):
    """The ranks' view: each rank's parts, and what is useful, from the end of MPI_Init on."""
    first = [s for s in r["streams"] if s["thread"] == 0]
    rows = re.findall(r"^ *([0-9]+)(?:-[0-9]+)? .* ([0-9.]+)% +([0-9.]+)% +([0-9.]+)% +([0-9.]+)% ",
                      pythia("report", sys.argv[2], "--view", "ranks"), re.M)
    need("ranks: a line each", len(rows) == len(first))
    for row, s in zip(rows, first):
        of = s["wall_seconds"] - s["init_seconds"]
        if of > 0:
            same("rank %s: MPI" % row[0], float(row[3]), 100 * (s["mpi_seconds"] - s["init_seconds"]) / of, 0, 0.06)
            same("rank %s: all of it" % row[0], sum(float(x) for x in row[1:4]), 100, 0, 0.2)


def by_rank(r):
    """What each rank has of a call adds up to what all have."""
    place = ("function", "caller", "file", "module", "offset")
    text = pythia("report", sys.argv[2], "--view", "callsites", "--by", "rank", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    whole = {}
    for c in r["callsites"]:
        key = tuple(str(c[k] if k != "offset" or c[k] is None else "0x%x" % c[k]) for k in place)
        whole.setdefault(key, []).append(c)
    for key, sites in whole.items():
        own = [x for x in rows if tuple(x[k] or "None" for k in place) == key]
        for i, figure in enumerate(("count", "bytes", "time_seconds")):
            sums = [sum(float(x[figure]) for x in own), sum(c[figure] for c in sites)]
            same("calls by rank: %s of %s" % (figure, key[0]), sums[0], sums[1], 1e-3 if i == 2 else 1e-9, i % 2 + 1e-6)
    return rows


report = json.loads(pythia("report", sys.argv[2], "--format", "json"))
times(report)
messages(report)
tables(report)
contracts(report)
bases(report)
shown(report)
for outer in report["loops"]:
    fits(outer, not report["loops_unknown_events"])
for line in bad[:20]:
    print(line)
sys.exit(1 if bad else 0)
