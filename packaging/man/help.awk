# SPDX-License-Identifier: MIT
# What `pythia COMMAND --help` says, printed without line ends inside a paragraph, as a part of pythia(1).
# With -v synopsis=1 only its first line.

function option(line,    names, help, at) {
    match(line, /^ +[-?a-z, ]*--?[^ ]+/)
    names = substr(line, 1, RLENGTH)
    help = substr(line, RLENGTH + 1)
    sub(/^ +/, "", names)
    sub(/^ +/, "", help)
    at = index(names, "=")
    printf ".TP\n\\fB%s\\fR%s\n%s\n", typed(at ? substr(names, 1, at) : names),
        at ? "\\fI" typed(substr(names, at + 1)) "\\fR" : "", plain(help)
}

function end_examples() {
    if (examples)
        print ".fi\n.RE"
    examples = 0
}

/^Usage: / {
    sub(/^Usage: /, "")
    if (synopsis) {
        name = $1 " " $2
        rest = substr($0, length(name) + 2)
        gsub(/\[OPTION\.\.\.\]/, "[option...]", rest)
        printf ".B %s\n\\fI%s\\fR\n.br\n", typed(name), typed(tolower(rest))
    } else
        printf ".SS %s\n", typed($1 " " $2)
    next
}
synopsis { next }
/--help +Give this help list$|--usage +Give a short usage message$/ { next }
/^ +-/ && !examples { option($0); next }
/^Examples?:$/ { print ".PP\n" $0 "\n.PP\n.RS\n.nf"; examples = 1; next }
/^ *$/ { end_examples(); fresh = 1; next }
examples { sub(/^  /, ""); print typed($0); next }
{
    if (fresh)
        print ".PP"
    fresh = 0
    print plain($0)
}
END { end_examples() }
