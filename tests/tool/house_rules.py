# SPDX-License-Identifier: MIT
"""What is true of the source tree itself: who includes whom, how long lines are, what comments name, which words are used.

    house_rules.py TREE WHAT: arrows, width, names, words, budgets, circles, figures, keys; a line for each fault, then
    exit 1
"""
import json
import os
import re
import sys

# Who may include whom: a directory and those that it knows, without those that they know in turn.
ROOMS = """
base       include
grammar    base
oracle     grammar
job        oracle
file       job
merge      file
api        merge
replay     merge
watch      job
inside     job
findings   replay loops watch
contracts  findings
views      contracts
page       views
closure    findings
session    api watch inside
libgomp    base
code       base
loops      code
places     session libgomp
teams      session libgomp code
tasks      places teams
omp        tasks
pmpi       session
tools      page closure watch inside
plugins    include
"""
WIDTH = 120
WIDE = re.compile(r"^\|.*\||https?://|^\s*\(?\S{90,}$|^[^\"]*\"[^\"]*\"[),;]*$")  # a table's row, an address, a word, a text
TEXTS = (".c", ".h", ".def", ".awk", ".py", ".js", ".sh", ".test", ".md", ".mk", ".am", ".cpp", ".F90", ".m4")

OURS = (r"(?:pythia|base|grammar|oracle|job|file|merge|api|report|findings|contracts|views|page|replay|session|pmpi|"
        r"omp_hook|libgomp|places|teams|code|loops|tasks|watch|tool|doctor|binary|capture|cost|evaluation|interrupt|"
        r"parts|program|progress|screen|source|stream)_")
# Names that belong to others, or to nobody: families of functions, columns, keys of files.
OTHERS = re.compile(r"^(?:pythia_(?:pmpi|omp)|file_(?:name|size|descriptor)|job_(?:file|step)|tool_)$")


def files(tree):
    for at, directories, names in os.walk(tree):
        directories[:] = sorted(d for d in directories if not re.match(r"[._]|build|autom4te|m4$|corpus", d))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(at, name), tree)
            if name.endswith(TEXTS) and not re.match(r"aclocal\.m4|build-aux/|config", path):
                yield path


def text(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def closure():
    knows = {}
    for line in ROOMS.split("\n"):
        if line:
            room, *others = line.split()
            knows[room] = {room}.union(others, *(knows.get(o, ()) for o in others))
    return knows


def arrows(tree):
    knows = closure()
    for path in files(tree):
        room = path.split("/")[0]
        if room not in knows or not path.endswith((".c", ".h", ".def")):
            continue
        for number, line in enumerate(text(tree, path).split("\n"), 1):
            m = re.match(r'\s*#\s*include "([a-z0-9_]+)/', line)
            if m and m.group(1) not in knows[room]:
                yield f"{path}:{number}: {room} may not know {m.group(1)}"


def width(tree):
    for path in files(tree):
        for number, line in enumerate([] if path.endswith(".js") else text(tree, path).split("\n"), 1):
            if len(line) > WIDTH and not WIDE.search(line):
                yield f"{path}:{number}: {len(line)} columns"


# Lines of C that a room may have, as ARCHITECTURE.md says: who needs more says in the commit what went for it.


def budgets(tree):
    found = re.search(r"^## Budgets\n.*?```\n(.*?)```", text(tree, "ARCHITECTURE.md"), re.M | re.S)
    allowed = dict(re.findall(r"([a-z]+) +([0-9]+)", found.group(1) if found else ""))
    lines = {}
    for path in files(tree):
        room = path.split(os.sep)[0]
        if path.endswith((".c", ".h")) and room not in ("tests", "bench", "doc"):
            lines[room] = lines.get(room, 0) + text(tree, path).count("\n")
    for room, count in sorted(lines.items()):
        if count > int(allowed.get(room, 0)):
            yield f"{room}: {count} lines, its budget is {allowed.get(room, 'none')}"


# Who calls whom within session/: session/internal.h has the groups, " *   GROUP -> GROUP …  FILE what it has  FILE …".


def groups(header):
    may, room = {}, {}
    for line in re.findall(r"^ \*(   .*)", header.split("*/", 2)[1], re.M):
        start = re.match(r"   (\w+)(?: ->((?: \w+)+))?  +(?=\w+\.[ch])", line)
        if start:
            group = start.group(1)
            may[group] = {group}.union((start.group(2) or "").split())
        for name in re.findall(r"(\w+\.[ch])\b", line) if may else []:
            room["session/" + name] = group
    return may, room


def circles(tree):
    sources = {p: split(text(tree, p))[1] for p in files(tree) if p.startswith("session/") and p.endswith((".c", ".h"))}
    may, room = groups(text(tree, "session/internal.h"))
    defined = {name: path for path, source in sources.items() if path.endswith(".c")
               for name in re.findall(r"^(?!static|extern|typedef)[A-Za-z][\w *]*?\b(session_\w+)(?:\([^;{]*\)\n\{|;| =)",
                                      source, re.M)}
    for path, source in sorted(sources.items()):
        if path not in room and path.endswith(".c"):
            yield f"{path}: in no group of session/internal.h"
        for name in sorted(set(re.findall(r"\bsession_\w+", source))) if path in room else []:
            to = room.get(defined.get(name, path))
            if to and to not in may[room[path]]:
                yield f"{path}: {room[path]} may not call {name} of {to}"


# Words that another one stands for: nowhere but in keys of the JSON report, and here.
WORDS = {
    r"partner(?!s[\"`])": "peer",
    r"(?<!dis)joint": "union, or joined",
    r"\bsession_course": "timeline",
    r"(?<!PYTHIA_)patience": "timeout, time or steps",
    r"\bhabits?\b": "context frequency",
    r"\bcoast(s|ing)?\b": "dead reckoning",
    r"\bteach(es)?\b|\btaught\b": "preload",
    r"\btwins?\b": "counterpart",
    r"\bcompanions?\b": "present ranks",
    r"\bheard\b": "learned",
    r"\batoms?\b": "call",
    r"(?<!text-)anchor": "mark, of turns",
    r"teams_way|TEAMS_WAYS": "setting",
    r"\bcredit\b": "what is gained",
    r"job_keep\b|JOB_KEEP": "fixed: why a region's team is the program's",
}


def words(tree):
    for path in files(tree):
        for number, line in enumerate([] if path.startswith("tests/tool/house") else text(tree, path).split("\n"), 1):
            for word, instead in WORDS.items():
                if re.search(word, line, re.I):
                    yield f"{path}:{number}: {instead}, not {re.search(word, line, re.I).group()}"


COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def split(source):
    """Comments with their places, and what is left."""
    comments, rest, at = [], [], 0
    for m in COMMENT.finditer(source):
        if m.group().startswith("/"):
            comments.append((m.start(), m.group()))
            rest.append(source[at : m.start()])
            at = m.end()
    rest.append(source[at:])
    return comments, " ".join(rest)


PATH = re.compile(r"(?<![\w./…-])((?:[a-z0-9_]+/)*[a-z0-9_]+\.(?:c|h|def|awk|py|sh|test|md|mk))(?![\w/])")
NAME = re.compile(r"(?<![\w.])(" + OURS + r"[a-z0-9_]+|(?:" + OURS[:-1].upper().replace("(?:", "(?:") + r"_[A-Z0-9_]+))(?![\w*…])")
CALL = re.compile(r"(?<![\w.>])([A-Za-z_][A-Za-z0-9_]{3,})\(\)")


def names(tree):
    paths, bases, tokens, said = set(), set(), set(), []
    for path in files(tree):
        paths.add(path)
        bases.add(os.path.basename(path))
        source = text(tree, path)
        if path.endswith((".c", ".h", ".def", ".cpp")):
            comments, rest = split(source)
            said += [(path, source.count("\n", 0, at) + 1, c) for at, c in comments]
            tokens.update(re.findall(r"[A-Za-z_]\w+", rest))
        elif path.endswith(".md"):
            said += [(path, n, line) for n, line in enumerate(source.split("\n"), 1)]
        else:
            said += [(path, n, line) for n, line in enumerate(source.split("\n"), 1) if re.match(r"\s*(# |//)", line)]
            tokens.update(re.findall(r"[A-Za-z_]\w+", re.sub(r"(?m)^\s*(# |//).*", "", source)))
    pasted = [t for t in tokens if t.endswith("_")]
    for path, first, comment in said:
        for offset, line in enumerate(comment.split("\n")):
            for name in PATH.findall(line):
                if name not in paths and os.path.basename(name) not in bases | KNOWN_FILES:
                    yield f"{path}:{first + offset}: there is no file {name}"
            for name in sorted(set(NAME.findall(line) + CALL.findall(line))):
                if name in tokens or name in KNOWN or re.match(FOREIGN, name) or name.endswith("_"):
                    continue
                if OTHERS.match(name) or any(name.startswith(p) for p in pasted):
                    continue
                yield f"{path}:{first + offset}: nothing is called {name}"


# A figure in a document says where it comes from: its paragraph (a table is of the paragraph before it), or the listing
# above it, has a command, a test, bench/RESULTS.md, or the file that defines it. What is quoted is no figure, nor is all.
FIGURE = re.compile(r"(?<![\w.])(?!100 ?%)[0-9][0-9.,]* ?(?:ns|us|ms|s|%|[KMG]i?B|times|instructions)(?!\w)")
SOURCE = re.compile(r"`(?:pythia|make|mpirun|bench/[\w.]+|\./\w+)[ `]|\b[a-z]+/[\w/-]+\.(?:test|sh|c|h|py|def)\b|bench/[A-Z]+\.md")


def paragraphs(lines):
    """(number, text, the listing above it) of each; a heading ends what a listing says."""
    listing, inside, number, said = "", False, 1, []
    for at, line in enumerate(lines + [""], 1):
        fence = line.startswith("```")
        if said and (fence or not line or re.match(r"#|\s*(?:[-*]|\d+\.) ", line)):
            if not re.match(r"\|", (lines + ["", ""])[at]):
                yield number, " ".join(said), listing
                said = []
        if fence:
            inside, listing = not inside, listing if inside else ""
        elif inside:
            listing += line + "\n"
        elif line.startswith("#"):
            listing = ""
        elif line and not line.startswith("    "):
            number, said = (number if said else at), said + [line]


def figures(tree):
    for path in files(tree):
        if re.match(r"(?:README|ARCHITECTURE|HACKING|doc/[A-Z]+)\.md$", path):
            for number, said, listing in paragraphs(text(tree, path).split("\n")):
                found = FIGURE.search(re.sub(r"`[^`]*`|\"[^\"]*\"", "", said))
                if found and not SOURCE.search(said) and not re.search(r"^(?:\$ )?(?:pythia|mpirun|\./)", listing, re.M):
                    yield f"{path}:{number}: {found.group()}: measured by what, or defined where?"


def keys(tree):
    """Each key of the report's schema is in the document."""
    def named(value):
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from inside if key == "properties" else ()
            yield from named(inside) if isinstance(inside, (dict, list)) else ()
    told = set(re.findall(r"`(\w+)`", text(tree, "doc/EVENTS.md")))
    for key in sorted(set(named(json.loads(text(tree, "doc/report.schema.json")))) - told):
        yield f"doc/EVENTS.md: no key {key}"


# Functions of C, POSIX, Linux and the libraries that comments speak of, and files of others.
FOREIGN = r"P?MPI_|MPIX?_|GOMP_|omp_|ompt_|pthread_|dl_?[a-z]+|PAPI_|hwloc_|PMIx?_|unw_|_Unwind|XXH|ZSTD_|cxa|__"
KNOWN = set("X_check X_dump malloc calloc realloc fork exec main getenv setenv clock_gettime membarrier".split())
KNOWN_FILES = set("a.c b.c mpi.h omp.h config.h mpif.h fenv.h libgomp_g.h x.c app.c exchange.c kept_calls.c wrappers.c "
                  "fit.h proof.h assets.h _installed.py".split())


def main():
    tree, what = sys.argv[1], sys.argv[2]
    faults = list({"arrows": arrows, "width": width, "names": names, "words": words,
                   "budgets": budgets, "circles": circles, "figures": figures, "keys": keys}[what](tree))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
