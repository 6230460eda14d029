# SPDX-License-Identifier: MIT
# planted_threads.py JSON OUTPUT: what the report says of the threads of threads.c, held against what these napped, by
# region and as a whole. Prints what is not so.
import json, sys

report = json.load(open(sys.argv[1]))
napped = {name: int(ns) / 1e9 for name, ns in (line.split() for line in open(sys.argv[2]))}
threads = {r["function"]: r["threads"] for r in report["regions"] if r["threads"]}
wrong = []


def need(what, right):
    if not right:
        wrong.append(what)


def part(name, key):
    return threads[name][key + "_seconds"] / threads[name]["team_seconds"]


def between(name, key, low, high):
    need("%s: %s is %.3f, not %.2f to %.2f" % (name, key, part(name, key), low, high), low <= part(name, key) <= high)


for name, useful in napped.items():
    t = threads.get(name)
    if not t:
        need(name + ": no threads", False)
        continue
    need("%s: work %.4f, napped %.4f" % (name, t["work_seconds"], useful),
         useful * 0.95 <= t["work_seconds"] <= useful * 1.1 + 0.01)
    known = sum(t[k + "_seconds"] for k in ("work", "mpi", "uneven", "waiting", "fork", "join"))
    need("%s: parts %.4f of %.4f" % (name, known, t["team_seconds"]), abs(known - t["team_seconds"]) < 1e-3)
for name in ("exclusive", "named", "locks"):  # 4 of 16 ms wait for the other, 4 at the end
    between(name, "waiting", 0.1, 0.35)
between("waited_for", "waiting", 0, 0.5)
between("in_order", "waiting", 0.1, 0.5)
for name in ("phases", "uneven", "later", "eighth", "parts", "one", "at_the_end"):
    between(name, "waiting", 0, 0.01)
for name in ("phases", "uneven", "one"):  # 8 of 20, 4 of 12, 4 of 12
    between(name, "uneven", 0.2, 0.5)
between("at_the_end", "uneven", 0, 0.2)
need("nested: 4 threads", threads["nested"]["largest"] == 4 and threads["alone"]["largest"] == 1)
if report["job"]["ranks"] > 1:  # of thread 0 alone: rank 1 waits for rank 0
    barriers = sum(c["time_seconds"] for c in report["callsites"] if c["function"] == "MPI_Barrier")
    need("calls: MPI %.4f of %.4f" % (threads["calls"]["mpi_seconds"], barriers),
         0 < barriers * 0.98 <= threads["calls"]["mpi_seconds"] <= barriers * 1.02)
e = report["efficiency"]
parts = dict(e["thread_seconds"])
capacity = parts.pop("capacity")
need("threads: %d" % e["openmp_threads"], e["openmp_threads"] == 4)
need("parallel: %.4f, not %.4f" % (e["parallel"], sum(napped.values()) / capacity),
     abs(e["parallel"] - sum(napped.values()) / capacity) < 0.05)
need("useful over capacity", abs(parts["useful"] / capacity - e["parallel"]) < 1e-6)
need("parts of the capacity", abs(sum(parts.values()) / capacity - 1) < 1e-6)
need("factors of OpenMP", abs(e["openmp_load_balance"] * e["openmp_waiting"] * e["openmp_fork_join"] *
                              e["openmp_serial"] / e["openmp"] - 1) < 1e-6)
need("all is measured: %.2f" % e["openmp_timed_share"], e["openmp_timed_share"] > 0.5)
print("; ".join(wrong))
