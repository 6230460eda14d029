#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a little program, then predicts it while it runs again: libpythia through ctypes, without a binding.
    python3 example.py [libpythia.so]
"""
import ctypes
import sys


class Answer(ctypes.Structure):  # struct pythia_answer
    _fields_ = [("word", ctypes.c_char_p), ("distance", ctypes.c_uint64)] + [
        (name, ctypes.c_double) for name in ("probability", "until_ns", "until_deviation_ns", "duration_ns",
                                             "duration_deviation_ns", "until_low_ns", "until_high_ns",
                                             "duration_low_ns", "duration_high_ns")] + [
        ("callsite", ctypes.c_uint32)]


pythia = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libpythia.so.0")
pythia.pythia_strerror.restype = ctypes.c_char_p
for function in (pythia.pythia_recorder_event, pythia.pythia_oracle_follow):
    function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
pythia.pythia_oracle_predict.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(Answer)]
pythia.pythia_oracle_next.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Answer)]
for function in (pythia.pythia_recorder_destroy, pythia.pythia_oracle_close):
    function.argtypes = [ctypes.c_void_p]


def checked(status):
    if status < 0:
        sys.exit(pythia.pythia_strerror(status).decode())
    return status == 0  # 1: no prediction


def steps(count, act, what):
    for i in range(count):
        checked(act(what, b"exchange", 1000, 5000))
        for _ in range(4):
            checked(act(what, b"solve", 200, 30000))
        if i % 10 == 9:
            checked(act(what, b"checkpoint", 0, 1000000))


recorder, oracle, answer = ctypes.c_void_p(), ctypes.c_void_p(), Answer()
checked(pythia.pythia_recorder_create(ctypes.byref(recorder)))
steps(100, pythia.pythia_recorder_event, recorder)
checked(pythia.pythia_oracle_open_recorder(recorder, ctypes.byref(oracle)))
pythia.pythia_recorder_destroy(recorder)
steps(25, pythia.pythia_oracle_follow, oracle)
if checked(pythia.pythia_oracle_predict(oracle, 1, ctypes.byref(answer))):
    print(f"next: {answer.word.decode()} in {answer.until_ns:.0f} ns, for {answer.duration_ns:.0f} ns")
if checked(pythia.pythia_oracle_next(oracle, b"checkpoint", ctypes.byref(answer))):
    print(f"{answer.word.decode()}: {answer.distance} events ahead, in {answer.until_ns / 1000:.0f} us")
pythia.pythia_oracle_close(oracle)
