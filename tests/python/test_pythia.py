# SPDX-License-Identifier: MIT
"""Cases of python.test: test_pythia.py --list names them, test_pythia.py NAME runs one, in a directory with ring.pythia
(4 ranks x 2 threads) and hybrid.pythia."""
import errno
import os
import sys

import pythia


def tables():
    job = pythia.Job("ring.pythia")
    assert job.info["ranks"] == 4 and job["job"] is job.info and "callsites" in job and len(job) == len(list(job))
    sites = {row["function"]: row for row in job.callsites}
    assert sites["MPI_Isend"]["bytes"] == 4 * 100 * 800
    assert job.callsites.column("count") == [row["count"] for row in job.callsites]
    assert isinstance(job.streams, pythia.Table) and "ring.pythia: " in repr(job)
    assert "callsites" in dir(job) and not hasattr(job, "nonsense")


def regions():
    job = pythia.Job("hybrid.pythia")
    assert job.regions and all(sum(t["count"] for t in r["team_sizes"]) == r["count"] for r in job.regions)


def sqlite():
    import sqlite3
    path = "hybrid.sqlite"
    one = pythia.Job("hybrid.pythia")
    one.to_sqlite(path)
    base = sqlite3.connect(path)
    assert base.execute("select ranks from job").fetchone()[0] == one.info["ranks"]
    calls, ns = base.execute("select count(*), sum(time_seconds) from callsites").fetchone()
    assert calls == len(one.callsites) and abs(ns - sum(one.callsites.column("time_seconds"))) < 1e-9
    share = base.execute("select json_extract(thread_seconds, '$.useful') from efficiency").fetchone()[0]
    assert share == one["efficiency"]["thread_seconds"]["useful"]
    base.close()
    try:
        one.to_sqlite(path)
    except FileExistsError:
        return
    raise AssertionError("it was written over")


def pandas():
    table = pythia.Job("ring.pythia").callsites
    try:
        import pandas as there
    except ImportError:
        there = None
    try:
        frame = table.to_pandas()
        assert there and len(frame) == len(table) and list(frame["count"]) == table.column("count")
    except ImportError:
        assert there is None


def events():
    job = pythia.Job("ring.pythia")
    rows = list(job.events(rank=2))
    of_two = [s for s in job.streams if s["rank"] == 2 and s["thread"] == 0][0]
    assert len(rows) == of_two["events"] and [e.index for e in rows[:3]] == [rows[0].index + i for i in range(3)]
    assert {e.peer for e in rows if e.function == "MPI_Isend"} == {3}
    sends = {(e.bytes, e.tag, e.communicator, e.completes) for e in rows if e.function == "MPI_Isend"}
    assert all(isinstance(size, int) for size, *_ in sends) and {comm for _, _, comm, _ in sends} == {"world"}
    assert all(e.gap_ns >= 0 and e.duration_ns >= 0 for e in rows)
    first = job.events(rank=0)
    next(first)
    first.close() if hasattr(first, "close") else None  # the rest is not wanted


def grammars():
    job = pythia.Job("ring.pythia")
    assert "R -> " in job.grammar() and "R -> " in job.grammar(0)


def compared():
    same = pythia.compare("ring.pythia", pythia.Job("ring.pythia"))
    other = pythia.compare("ring.pythia", "hybrid.pythia")
    assert same["equal"] and not other["equal"] and isinstance(other["calls"], pythia.Table)


def steps(count, act):
    for i in range(count):
        act("exchange", 1000, 5000)
        for _ in range(4):
            act("solve", 200, 30000)
        if i % 10 == 9:
            act("checkpoint", 0, 1000000)


def oracle():
    recorder = pythia.Recorder()
    steps(100, recorder.event)
    recorder.write("steps.pythia")
    for source in ("steps.pythia", recorder):
        with pythia.Oracle(source) as o:
            steps(25, o.follow)
            a = o.predict(1)
            assert a.word == "exchange" and a.probability > 0.9 and abs(a.until_ns - 1000) < 50 and a.peer is None
            assert a.until_low_ns <= a.until_ns <= a.until_high_ns and a.duration_low_ns <= 5000 <= a.duration_high_ns
            assert o.next("checkpoint").distance == 26 and o.next("nonsense") is None
            assert o.next("nonsense", "solve").word == "solve"
            assert 0 < o.remaining().progress < 1 and o.loop().events >= 0
    assert pythia.Job("steps.pythia").info["events"] == 510
    assert [e.function for e in pythia.Job("steps.pythia").events()][:2] == ["exchange", "solve"]


def peers():
    recorder = pythia.Recorder()
    for i in range(60):
        recorder.event("task", 10, 20, peer=i % 3)
    with recorder.oracle() as o:
        for i in range(30):
            o.follow("task", 10, 20, peer=i % 3)
        assert o.next_peer().peer == 0
        assert o.value(o.next_peer().distance)[0] == 0


def streams():
    recorder = pythia.Recorder("/opt/solver", "solver --tasks 4")
    for rank in range(2):
        for thread in range(2):
            one = recorder.stream(rank, thread)
            for i in range(40):
                one.event(("solve", "send", "recv")[i % (2 + rank)], 100 * (1 + rank), 10)
    recorder.write("streams.pythia")
    job = pythia.Job("streams.pythia")
    assert (job.info["ranks"], job.info["threads"], job.info["events"]) == (2, 2, 160)
    assert (job.info["program"], job.info["arguments"]) == ("/opt/solver", "solver --tasks 4")
    assert [e.function for e in job.events(rank=1, thread=1)][:3] == ["solve", "send", "recv"]
    with pythia.Oracle("streams.pythia", rank=0, thread=1) as o:
        for i in range(11):
            o.follow(("solve", "send")[i % 2], 100, 10)
        assert o.predict().word == "send"
    one = recorder.stream(0, 1)
    recorder.close()
    try:
        one.event("late")
    except ValueError:
        return
    raise AssertionError("a stream of a closed recorder is used")


def reasons():
    recorder = pythia.Recorder()
    recorder.event("a")
    try:
        recorder.write("no such directory/x.pythia")
    except pythia.Error as error:
        assert str(error).endswith(": " + os.strerror(errno.ENOENT)), error
        return
    raise AssertionError("no error")


def without_recording():
    with pythia.Oracle() as o:
        assert o.predict(1) is None
        steps(20, o.follow)
        assert o.predict(1) is not None


def errors():
    for act, code in ((lambda: pythia.Job("missing.pythia"), 3), (lambda: next(pythia.Job("ring.pythia").events(9)), 3),
                      (lambda: pythia.Oracle("missing.pythia"), -3), (lambda: pythia.Oracle("ring.pythia", 99), -2),
                      (lambda: pythia.Recorder().event(""), -2), (lambda: pythia.compare("ring.pythia", "no"), 3)):
        try:
            act()
        except pythia.Error as error:
            assert error.code == code and str(error) and "\n" not in str(error), (error, error.code)
        else:
            raise AssertionError("no error")
    closed = pythia.Recorder()
    closed.close()
    closed.close()
    try:
        closed.event("a")
    except ValueError:
        return
    raise AssertionError("a closed recorder is used")


def numbers():
    recorder = pythia.Recorder()
    for act in (lambda: recorder.event("a", -1), lambda: recorder.event("a", 1 << 64), lambda: recorder.event("a", 1.5),
                lambda: recorder.event("a", 0, 0, 1 << 32), lambda: recorder.stream(-1),
                lambda: recorder.stream(0, .5),
                lambda: pythia.Oracle(recorder).predict(1 << 64)):
        try:
            act()
        except ValueError as error:
            assert " is no integer from 0 to 2^" in str(error), error
        else:
            raise AssertionError("a number that does not fit")
    recorder.event("a", (1 << 64) - 1)


def versions():
    assert pythia.version()[0].isdigit()


CASES = {f.__name__: f for f in (tables, regions, sqlite, pandas, events, grammars, compared, oracle, peers, streams,
                                 reasons, without_recording, errors, numbers,
                                 versions)}

if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print(*CASES, sep="\n")
    else:
        CASES[sys.argv[1]]()
