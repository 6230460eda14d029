# SPDX-License-Identifier: MIT
"""Where the command and the library are, and how they are called."""
import ctypes
import os
import shutil
import subprocess

try:
    from ._installed import BINDIR, LIBDIR  # written by `make install`
except ImportError:  # in the source tree
    BINDIR = LIBDIR = None


class Error(Exception):
    """What the command or the library says, in one line. `code`: the command's exit code, or a negative PYTHIA_E…."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def command():
    """Path of the `pythia` command."""
    named = os.environ.get("PYTHIA_COMMAND")
    if named:
        return named
    installed = os.path.join(BINDIR, "pythia") if BINDIR else ""
    found = installed if os.access(installed, os.X_OK) else shutil.which("pythia")
    if not found:
        raise Error("the command pythia is not in PATH; PYTHIA_COMMAND can name it", 2)
    return found


def _reason(code, said):
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"pythia ended with exit code {code}"


def run(*arguments, accept=(0,)):
    """Standard output of `pythia ARGUMENTS`, as text; Error unless its exit code is in `accept`."""
    done = subprocess.run([command(), *map(os.fspath, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in accept:
        raise Error(_reason(done.returncode, done.stderr), done.returncode)
    return done.stdout.decode("utf-8", "replace")


def lines(*arguments):
    """The same, line by line while the command prints them, without their ends."""
    with subprocess.Popen([command(), *map(os.fspath, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL) as process:
        whole = False
        try:
            for line in process.stdout:
                yield line.decode("utf-8", "replace").rstrip("\n")
            whole = True
        finally:
            if not whole:  # nobody reads the rest
                process.kill()
        said = process.stderr.read()
    if process.returncode != 0:
        raise Error(_reason(process.returncode, said), process.returncode)


def version():
    """Version of the `pythia` command: "0.1.0"."""
    return run("--version").split()[1]


def load():
    """libpythia, as ctypes loads it."""
    names = ["libpythia.so.0"]
    if LIBDIR:
        names.insert(0, os.path.join(LIBDIR, names[0]))
    for name in names:
        try:
            return ctypes.CDLL(name, use_errno=True)
        except OSError as error:
            reason = str(error)
    raise Error(f"libpythia cannot be loaded: {reason}", -3)
