# SPDX-License-Identifier: MIT
"""Job files as plain data: what `pythia report --format json` and `pythia events` say."""
import collections
import json
import os

from ._find import lines, run


class Table(list):
    """A list of dicts, one a row; all rows of a table have the same keys, as doc/report.schema.json lists them."""

    def to_pandas(self):
        """The same as a pandas.DataFrame. ImportError where pandas is not installed."""
        import pandas

        return pandas.DataFrame(list(self))

    def column(self, name):
        """A column as a list; None in rows that have no such key."""
        return [row.get(name) for row in self]


Event = collections.namedtuple("Event", "index function callsite peer gap_ns duration_ns bytes tag communicator "
                                        "completes")
Event.__doc__ = """An event of one thread. peer: a rank of the event's communicator as int, "ANY", "NULL", None (it has
no peer) or "*" (varies, and is not kept); bytes, tag likewise. communicator: its name or None. completes: the indexes
of the events that it completes. Gap and duration: ns, means of the event in its place in the grammar."""


def _value(text):
    return None if text == "-" else int(text) if text.lstrip("-").isdigit() else text


def _event(line):
    index, function, callsite, peer, gap, duration, size, tag, communicator, completes = line.split("\t")
    done = tuple(map(_value, completes.split(","))) if completes != "-" else ()
    return Event(int(index), function, callsite, _value(peer), int(gap), int(duration), _value(size), _value(tag),
                 _value(communicator), done)


class Job(collections.abc.Mapping):
    """A job file. As a mapping it is the report's JSON object; its arrays and objects are attributes, too:

        job.callsites, job.regions, job.classes, job.streams, …       Table: lists of dicts
        job.info                                                      dict: program, ranks, wall_seconds, …
        job["efficiency"]["parallel"]                                 anything else, as the JSON has it

    The file is read when the object is made; Error when it cannot be."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._data = {key: _table(value) for key, value in
                      json.loads(run("report", "--format", "json", "--", self.path)).items()}

    def __getitem__(self, key):
        return self._data[key]

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)

    def __getattr__(self, name):
        try:
            return self.__dict__["_data"][name]
        except KeyError:
            raise AttributeError(f"the report of a job has no '{name}'") from None

    def __dir__(self):
        return [*super().__dir__(), *self._data]

    def __repr__(self):
        info = self.info
        return f"<pythia.Job {self.path}: {info['program']}, {info['ranks']} ranks x {info['threads']} threads>"

    @property
    def info(self):
        """What the run was: the report's "job" object."""
        return self._data["job"]

    def events(self, rank=0, thread=0):
        """Iterates over the events of one thread of one rank, in the order of the run; constant memory. Error when there is
        no such stream."""
        rows = lines("events", "--format", "tsv", "--rank", str(rank), "--thread", str(thread), "--", self.path)
        next(rows, None)  # the names of the columns
        return map(_event, rows)

    def to_sqlite(self, path):
        """Writes a new SQLite database for who asks in SQL: a table for each of the report's tables and objects, by the
        same names ("job" has one row); what is nested in a row is JSON text, for json_extract(). FileExistsError where
        there is a file already. Returns the path."""
        import sqlite3

        with open(path, "x"):
            pass
        base = sqlite3.connect(os.fspath(path))
        with base:
            for name, value in self._data.items():
                _write_table(base, name, value if isinstance(value, Table) else [value])
        base.close()
        return path

    def grammar(self, class_index=None):
        """The rules of a class (all classes without one), in the paper's notation, as text."""
        chosen = [] if class_index is None else ["--class", str(class_index)]
        return run("grammar", *chosen, "--", self.path)


def _write_table(base, name, rows):
    rows = [row if isinstance(row, dict) else {"value": row} for row in rows]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    if not columns:
        return
    named = ", ".join(f'"{key}"' for key in columns)
    base.execute(f'create table "{name}" ({named})')
    base.executemany(f'insert into "{name}" values ({", ".join("?" * len(columns))})',
                     [[json.dumps(row[key]) if isinstance(row.get(key), (dict, list)) else row.get(key)
                       for key in columns] for row in rows])


def _table(value):
    return Table(value) if isinstance(value, list) and all(isinstance(row, dict) for row in value) else value


def compare(base, new):
    """What differs between two jobs (Job or path): the JSON object of `pythia compare`, its arrays as tables."""
    paths = [getattr(job, "path", job) for job in (base, new)]
    text = run("compare", "--format", "json", "--", *paths, accept=(0, 1))
    return {key: _table(value) for key, value in json.loads(text).items()}
