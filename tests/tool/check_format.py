# SPDX-License-Identifier: MIT
"""What doc/FORMAT.md says of a table's fields is what job/schema.c says: check_format.py FORMAT.md < dump_job --tables

Reads "u32", "3 × u64", "4 × 10 × u64" in the order of the text, parentheses aside; the tables of one section follow one
another. Prints each section where the two differ."""
import re
import sys

SECTIONS = {
    "**Info**": ["info"], "**Modules**": ["module"], "**Frames**": ["frame"], "**Callsites**": ["callsite"],
    "**Communicators**": ["comm"], "**Terminals**": ["terminal"], "## Oracle": ["oracle"], "## Sums": ["sum"],
    "## Digrams": ["digram"], "## Ends": ["end"], "## Regions": ["region"], "## Tasks": ["task"],
    "## Machine": ["machine"],
    "## Groups": ["group", "run", "range"], "## Messages": ["messages", "range"],
    "## Extremes": ["extremes"], "## Own times": ["own times"],
    "## Clock": ["clock"], "## Run delay": ["delay"], "## Took": ["took"], "## Named": ["named region"],
    "## Samples": ["samples"],
    "## Bindings": ["bindings", "range"], "## Hardware": ["hardware"],
    "## Hosts": ["hosts", "range"],
    "## Threads": ["threads"], "## Hops": ["stop", "hop", "range"],
    "## Places": ["place", "way", "spot"], "## Left out": ["table that was left out"],
}
ELSEWHERE = {"stream", "series", "list of starts", "run of starts",  # by other columns
             "learned region", "learned task"}  # as regions and tasks

text = open(sys.argv[1], encoding="utf-8").read()
tables = dict(line.strip().split(":") for line in sys.stdin)


def told(mark):
    """Widths of the fields in the section, or paragraph and table, that begins with `mark`."""
    rest = text[text.index("\n" + mark) + len(mark) + 1:]
    end = r"\n## " if mark.startswith("#") else r"\n\n(?!\|)"
    rest = re.split(end, rest)[0]
    while re.search(r"\([^()]*\)", rest):
        rest = re.sub(r"\([^()]*\)", "", rest)
    rest, widths = " ".join(rest.split()), []
    for times, bits in re.findall(r"((?:\d+ × )*)[uif](8|32|64)\b", rest):
        number = 1
        for factor in re.findall(r"\d+", times):
            number *= int(factor)
        widths += [int(bits) // 8] * number
    return widths


assert {name for names in SECTIONS.values() for name in names} | ELSEWHERE == set(tables), tables
for mark, names in SECTIONS.items():
    there = [int(width) for name in names for width in tables[name].split()]
    if told(mark) != there:
        print(f"{mark}: told {told(mark)}, is {there}")
