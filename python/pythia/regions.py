# SPDX-License-Identifier: MIT
"""Names of the program's own: pythia_region_begin() and pythia_region_end() of include/pythia_region.h.

    from pythia import region

    with region("solve"):               # ends with its block, also by an exception
        ...

    @region("assemble")                 # each call is one
    def assemble(mesh): ...

    remaining("solve")              # in a predicted run: Left(seconds, low, high), low to high with a chance of 80 %

Without Pythia around the program a region does nothing. This file needs no other one of the package.
"""
import collections
import contextlib
import ctypes


def _call(name):
    # The interpreter's lock is kept: a begin takes less than to give it back.
    function = getattr(ctypes.PyDLL(None), name, None)
    if function is not None:
        function.argtypes = [ctypes.c_char_p]
        function.restype = None
    return function


_begin = _call("pythia_region_begin")
_end = _call("pythia_region_end")
Left = collections.namedtuple("Left", "seconds low high")


def remaining(name=None):
    """Left(seconds, low, high): when the region of this thread ends that is open and has that name (None: the
    innermost), low to high with a chance of 80 %; None: not known, as where nothing is predicted."""
    function = getattr(ctypes.PyDLL(None), "pythia_region_remaining", None)
    if function is None:
        return None
    values = [ctypes.c_double() for _ in range(3)]
    if function(None if name is None else name.encode(), *map(ctypes.byref, values)) != 0:
        return None
    return Left(*(v.value * 1e-9 if v.value >= 0 else None for v in values))


class region(contextlib.ContextDecorator):
    """A region by name, of the thread that enters it."""

    def __init__(self, name):
        self.name = name
        self._name = name.encode()

    def __enter__(self):
        if _begin is not None:
            _begin(self._name)
        return self

    def __exit__(self, *failure):
        if _end is not None:
            _end(self._name)
        return False
