# SPDX-License-Identifier: MIT
# A document of doc/ as a manual page. Knows what these documents use: headings, paragraphs, lists, tables, fenced code.
#   awk -f roff.awk -f markdown.awk -v name=pythia-job -v section=5 -v what='…' -v version=0.1 FORMAT.md

function end_table() {
    if (in_table)
        print ".TE"
    in_table = 0
}

function cells(row,    i) {
    sub(/^\| */, "", row)
    sub(/ *\|$/, "", row)
    columns = split(row, cell, / *\| */)
}

function table_row(row,    i, format) {
    cells(row)
    if (!in_table) {
        for (i = 1; i < columns; i++)
            format = format "lb "
        print ".PP\n.TS"
        print format "lb"
        gsub(/lb/, "l", format)
        print format "lx."
        in_table = 1
    }
    for (i = 1; i < columns; i++)
        printf "%s\t", marked(cell[i])
    printf "T{\n%s\nT}\n", marked(cell[columns])
}

BEGIN { heading(name, section, what); print ".SH DESCRIPTION" }

/^```/ {
    end_table()
    print (in_code = !in_code) ? ".PP\n.RS 4\n.nf" : ".fi\n.RE"
    fresh = 1
    next
}
in_code { print plain($0); next }
/^\|[-|: ]+\|$/ { next }
/^\|/ { table_row($0); next }
{ end_table() }
/^# / { next }
/^## / { printf ".SH \"%s\"\n", toupper(marked(substr($0, 4))); fresh = 0; next }
/^###+ / { sub(/^#+ /, ""); printf ".SS \"%s\"\n", marked($0); fresh = 0; next }
/^- / { printf ".IP \\(bu 2\n%s\n", marked(substr($0, 3)); fresh = 0; next }
/^[0-9]+\. / { n = $1; sub(/^[0-9]+\. +/, ""); printf ".IP %s 4\n%s\n", n, marked($0); fresh = 0; next }
/^ *$/ { fresh = 1; next }
{
    if (fresh)
        print ".PP"
    fresh = 0
    sub(/^ +/, "")
    print marked($0)
}
END { end_table() }
