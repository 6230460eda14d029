# SPDX-License-Identifier: MIT
"""The job that this process is a rank of, while it runs under Pythia: pythia_job_… of include/pythia.h.

For a thread that monitors; the functions are those of the library that watches this process.
"""
import collections
import ctypes

Efficiency = collections.namedtuple("Efficiency", "mpi load_balance")
Left = collections.namedtuple("Left", "seconds low high progress")


def _function(name):
    return getattr(ctypes.CDLL(None), name, None)


def _values(name, count):
    values = [ctypes.c_double() for _ in range(count)]
    function = _function(name)
    known = function is not None and function(*map(ctypes.byref, values)) == 0
    return [v.value for v in values] if known else None


def waiting_for():
    """Ranks that this rank waits for at this moment; none where it does not, or nothing watches it."""
    function = _function("pythia_job_waiting_for")
    if function is None:
        return []
    count = function(None, 0)
    ranks = (ctypes.c_uint32 * max(count, 1))()
    return list(ranks[:max(0, min(function(ranks, max(count, 0)), count))])


def remaining():
    """Left(seconds, low, high, progress) of a predicted run, low to high with a chance of 80 %; None: not known."""
    values = _values("pythia_job_remaining", 4)
    return Left(*(v if v >= 0 else None for v in values)) if values else None


def efficiency():
    """Efficiency(mpi, load_balance) so far, of the ranks on this node; None: not known."""
    values = _values("pythia_job_efficiency", 2)
    return Efficiency(*values) if values else None
