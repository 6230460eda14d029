# SPDX-License-Identifier: MIT
"""Runs a command on a terminal of 80 columns; prints what it wrote to it, each piece with the seconds since the begin."""
import fcntl
import os
import pty
import struct
import sys
import termios
import time

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    print(repr((time.monotonic(), piece.decode(errors="replace"))))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else 0)
