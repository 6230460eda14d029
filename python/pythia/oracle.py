# SPDX-License-Identifier: MIT
"""Recorder and oracle of include/pythia.h, through ctypes."""
import collections
import ctypes
import functools
import numbers
import os

from ._find import Error, load


class _Answer(ctypes.Structure):  # struct pythia_answer
    _fields_ = [("word", ctypes.c_char_p), ("distance", ctypes.c_uint64)] + [
        (name, ctypes.c_double) for name in ("probability", "until_ns", "until_deviation_ns", "duration_ns",
                                             "duration_deviation_ns", "until_low_ns", "until_high_ns",
                                             "duration_low_ns", "duration_high_ns")] + [
        ("callsite", ctypes.c_uint32)]


Answer = collections.namedtuple("Answer", [name for name, _ in _Answer._fields_] + ["peer"])
Answer.__doc__ = """What is expected: the word, events ahead, calibrated probability, ns until it begins and ns that it takes,
each with its standard deviation and the bounds between which it lies 8 times of 10; a time below 0 is not known. callsite: number of its call in the report, None: it has none. peer: of Oracle.next_peer() only, else None."""
Remaining = collections.namedtuple("Remaining", "events ns progress")

_EIO = -3  # PYTHIA_EIO: errno says why
_POINTER, _TEXT, _NS = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64
_ANSWER, _DOUBLE, _OUT = ctypes.POINTER(_Answer), ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_void_p)
_ARGUMENTS = {
    "pythia_strerror": [ctypes.c_int],
    "pythia_recorder_create": [_OUT],
    "pythia_recorder_destroy": [_POINTER],
    "pythia_recorder_event": [_POINTER, _TEXT, _NS, _NS],
    "pythia_recorder_message": [_POINTER, _TEXT, _NS, _NS, ctypes.c_uint32],
    "pythia_recorder_stream": [_POINTER, ctypes.c_uint32, ctypes.c_uint32, _OUT],
    "pythia_recorder_name": [_POINTER, _TEXT, _TEXT],
    "pythia_recorder_write": [_POINTER, _TEXT],
    "pythia_oracle_open": [_TEXT, ctypes.c_uint32, ctypes.c_uint32, _OUT],
    "pythia_oracle_open_recorder": [_POINTER, _OUT],
    "pythia_oracle_create": [_OUT],
    "pythia_oracle_close": [_POINTER],
    "pythia_oracle_follow": [_POINTER, _TEXT, _NS, _NS],
    "pythia_oracle_follow_message": [_POINTER, _TEXT, _NS, _NS, ctypes.c_uint32],
    "pythia_oracle_predict": [_POINTER, ctypes.c_uint64, _ANSWER],
    "pythia_oracle_next_of": [_POINTER, ctypes.POINTER(_TEXT), ctypes.c_uint32, _ANSWER],
    "pythia_oracle_next_peer": [_POINTER, ctypes.POINTER(ctypes.c_uint32), _ANSWER],
    "pythia_oracle_value": [_POINTER, ctypes.c_uint64, ctypes.c_int, ctypes.POINTER(ctypes.c_int64), _ANSWER],
    "pythia_oracle_remaining": [_POINTER, _DOUBLE, _DOUBLE, _DOUBLE],
    "pythia_oracle_loop": [_POINTER, _DOUBLE, _DOUBLE],
}


@functools.lru_cache(maxsize=None)
def _library():
    library = load()
    for name, arguments in _ARGUMENTS.items():
        getattr(library, name).argtypes = arguments
    library.pythia_strerror.restype = _TEXT
    library.pythia_recorder_destroy.restype = library.pythia_oracle_close.restype = None
    return library


_BITS = {ctypes.c_uint32: 32, ctypes.c_uint64: 64}


def _call(name, *arguments):
    """True: it is done, or answered. False: no prediction. ctypes cuts numbers that do not fit, and says nothing."""
    for kind, value in zip(_ARGUMENTS[name], arguments):
        if kind in _BITS and not (isinstance(value, numbers.Integral) and 0 <= value < 1 << _BITS[kind]):
            raise ValueError(f"{name}: {value!r} is no integer from 0 to 2^{_BITS[kind]} - 1")
    status = getattr(_library(), name)(*arguments)
    if status < 0:
        reason = os.strerror(ctypes.get_errno()) if status == _EIO and ctypes.get_errno() else ""
        raise Error(f"{name}: {_library().pythia_strerror(status).decode()}{reason and ': '}{reason}", status)
    return status == 0


class _Handle:
    """Something of the library's, freed once: by close(), at the end of a `with`, or when it is no longer used."""

    _close = None

    def __init__(self):
        self._pointer = ctypes.c_void_p()

    def close(self):
        """Frees it. It must not be used afterwards, but may be closed again."""
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer:
            getattr(_library(), self._close)(pointer)

    def _open(self):
        if not self._pointer:
            raise ValueError("it is closed")
        return self._pointer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    __del__ = close


class Recorder(_Handle):
    """Records events, each named by a word, and writes them as a job file: one stream, or with stream() several. `program`
    and `arguments` are what reports call the job."""

    _close = "pythia_recorder_destroy"

    def __init__(self, program=None, arguments=None):
        super().__init__()
        self._of = None
        _call("pythia_recorder_create", ctypes.byref(self._pointer))
        if program is not None or arguments is not None:
            _call("pythia_recorder_name", self._open(), *(None if name is None else os.fsencode(name)
                                                          for name in (program, arguments)))

    def stream(self, rank=0, thread=0):
        """A recorder that appends to the stream of (rank, thread) of this recording. (0, 0) is this one's own."""
        stream = Recorder.__new__(Recorder)
        stream._pointer = ctypes.c_void_p()
        stream._of = self._of or self  # lives as long as its streams
        _call("pythia_recorder_stream", self._open(), rank, thread, ctypes.byref(stream._pointer))
        return stream

    def close(self):
        """Frees the recording; a stream of it only forgets it."""
        if getattr(self, "_of", None) is not None:
            self._pointer = None
        else:
            super().close()

    __del__ = close

    def _open(self):
        if self._of is not None and not self._of._pointer:
            raise ValueError("its recorder is closed")
        return super()._open()

    def event(self, word, gap_ns=0, duration_ns=0, peer=None):
        """`word` happened gap_ns after the event before it ended, and took duration_ns; `peer`: its peer, if it has one."""
        if peer is None:
            _call("pythia_recorder_event", self._open(), word.encode(), gap_ns, duration_ns)
        else:
            _call("pythia_recorder_message", self._open(), word.encode(), gap_ns, duration_ns, peer)

    def write(self, path):
        """Writes what was recorded so far as a job file; recording may go on."""
        _call("pythia_recorder_write", self._open(), os.fsencode(path))

    def oracle(self):
        """An oracle that knows what was recorded so far."""
        return Oracle(self)


class Oracle(_Handle):
    """Follows a run and says what comes next. `source`: path of a job file (with rank and thread), a Recorder, or None for
    an oracle that knows only what this run shows it."""

    _close = "pythia_oracle_close"

    def __init__(self, source=None, rank=0, thread=0):
        super().__init__()
        out = ctypes.byref(self._pointer)
        if source is None:
            _call("pythia_oracle_create", out)
        elif isinstance(source, Recorder):
            _call("pythia_oracle_open_recorder", source._open(), out)
        else:
            _call("pythia_oracle_open", os.fsencode(source), rank, thread, out)

    def follow(self, word, gap_ns=0, duration_ns=0, peer=None):
        """The run's next event happened; arguments as of Recorder.event."""
        if peer is None:
            _call("pythia_oracle_follow", self._open(), word.encode(), gap_ns, duration_ns)
        else:
            _call("pythia_oracle_follow_message", self._open(), word.encode(), gap_ns, duration_ns, peer)

    def predict(self, distance=1):
        """The event `distance` ahead as an Answer; None: no prediction."""
        answer = _Answer()
        return _given(_call("pythia_oracle_predict", self._open(), distance, ctypes.byref(answer)), answer)

    def next(self, *words):
        """The next occurrence of any of these words, however far ahead; None: none is in sight."""
        answer, texts = _Answer(), (_TEXT * len(words))(*(word.encode() for word in words))
        return _given(_call("pythia_oracle_next_of", self._open(), texts, len(words), ctypes.byref(answer)), answer)

    def next_peer(self):
        """The next event that has a peer, which is in `peer`; None: none is in sight, or anybody's guess."""
        answer, peer = _Answer(), ctypes.c_uint32()
        known = _call("pythia_oracle_next_peer", self._open(), ctypes.byref(peer), ctypes.byref(answer))
        return _given(known, answer, peer.value)

    def value(self, distance=1, what="peer"):
        """(value, Answer) of the event `distance` ahead: its "peer", "bytes" or "tag"; None: not known."""
        answer, value = _Answer(), ctypes.c_int64()
        known = _call("pythia_oracle_value", self._open(), distance, ("peer", "bytes", "tag").index(what),
                      ctypes.byref(value), ctypes.byref(answer))
        return (value.value, _given(known, answer)) if known else None

    def remaining(self):
        """Events and ns that remain of the run, and the share that is done; None: not known."""
        values = [ctypes.c_double() for _ in range(3)]
        known = _call("pythia_oracle_remaining", self._open(), *map(ctypes.byref, values))
        return Remaining(*(value.value for value in values)) if known else None

    def loop(self):
        """Events and ns until the innermost loop ends; None: not in a loop. Its progress is not known: None."""
        values = [ctypes.c_double() for _ in range(2)]
        known = _call("pythia_oracle_loop", self._open(), *map(ctypes.byref, values))
        return Remaining(*(value.value for value in values), None) if known else None


def _given(known, answer, peer=None):
    if not known:
        return None
    values = [getattr(answer, name) for name, _ in _Answer._fields_]
    if values[-1] == 0xffffffff:
        values[-1] = None
    return Answer(values[0].decode("utf-8", "replace"), *values[1:], peer)
