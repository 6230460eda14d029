# SPDX-License-Identifier: MIT
"""Pythia in Python: job files as tables, their events, the recorder and the oracle.

    import pythia

    job = pythia.Job("app.pythia")
    for call in job.callsites[:5]:                  # lists of dicts: the report's JSON
        print(call["function"], call["count"], call["time_seconds"])
    job.callsites.to_pandas()                       # where pandas is installed
    for event in job.events(rank=0):                # one by one, in the order of the run
        print(event.function, event.gap_ns, event.duration_ns)

    recorder = pythia.Recorder()                    # any program's own events
    recorder.event("solve", gap_ns=200, duration_ns=30000)
    recorder.write("mine.pythia")
    with pythia.Oracle("mine.pythia") as oracle:
        oracle.follow("solve", gap_ns=200, duration_ns=30000)
        answer = oracle.predict(1)                  # None: no prediction

    with pythia.region("solve"):                    # names of the program's own, when it runs under Pythia
        ...
    pythia.running.efficiency()                     # of the job that this process is a rank of

Nothing here is compiled: jobs are read by the `pythia` command, recorder and oracle are libpythia through ctypes. Both
are found where `make install` put them, else in PATH and by the loader; PYTHIA_COMMAND names another command.

Errors: pythia.Error, with the command's or the library's own line.
Threads: one Job, Recorder or Oracle is used by one thread at a time.
"""
from . import running
from ._find import Error, version
from .job import Event, Job, Table, compare
from .oracle import Answer, Oracle, Recorder, Remaining
from .regions import region

__all__ = ["Answer", "Error", "Event", "Job", "Oracle", "Recorder", "Remaining", "Table", "compare", "region",
           "running", "version"]
