# SPDX-License-Identifier: MIT
# include/pythia.h as a manual page: its opening comment is the description, each declaration stands with its comment.
#   awk -f roff.awk -f header.awk -v version=0.1 pythia.h

# A comment's line without its frame.
function bare(line) {
    sub(/^ *\/\*+ ?/, "", line)
    sub(/ *\*+\/ *$/, "", line)
    sub(/^ \*( |$)/, "", line)
    return line
}

# Text of a comment: indented lines are code.
function prose(text,    line, n, i, code) {
    n = split(text, line, "\n")
    for (i = 1; i <= n; i++) {
        if (line[i] ~ /^    +[^ ]/ && !code) {
            print ".PP\n.RS 4\n.nf"
            code = 1
        } else if (code && line[i] !~ /^    / && line[i] != "") {
            print ".fi\n.RE\n.PP"
            code = 0
        }
        if (line[i] == "" && !code)
            print ".PP"
        else if (code)
            print typed(line[i])
        else {
            sub(/^ +/, "", line[i])
            print marked(line[i])
        }
    }
    if (code)
        print ".fi\n.RE"
}

function flush() {
    if (declaration != "") {
        printf ".PP\n.nf\n%s.fi\n", declaration
        if (comment != "") {
            print ".RS 4"
            prose(comment)
            print ".RE"
        }
    } else if (comment != "")
        print ".PP", prose(comment)
    declaration = comment = ""
}

BEGIN {
    heading("pythia.h", 3, "record a stream of events and predict it")
    print ".SH LIBRARY\nlibpythia (\\fI\\-lpythia\\fR, \\fBpkg\\-config \\-\\-libs pythia\\fR)"
    print ".SH SYNOPSIS\n.B #include <pythia.h>\n.SH DESCRIPTION"
}

/^\/\* SPDX/ { next }
/^#ifndef PYTHIA_H/ { started = 1; print ".SH DECLARATIONS"; next }
!started {
    if (/^\/\*/) { opening = 1; text = bare($0) }
    else if (opening) text = text (text == "" ? "" : "\n") bare($0)
    if (opening && /\*\//) { prose(text); opening = 0 }
    next
}
/^#ifdef __cplusplus/ { skipping = 1 }
skipping { if (/^#endif/) skipping = 0; next }
/^#(ifdef|ifndef|endif|include|else|if|elif)|^#define PYTHIA_(H|API|CALLBACK)/ { next }
/^\/\* --- .* --- \*\// { flush(); gsub(/^\/\* --- | --- \*\/$/, ""); printf ".SS \"%s\"\n", $0; next }
in_comment || /^\/\*/ {
    if (!in_comment)
        flush()
    comment = comment (comment == "" ? "" : "\n") bare($0)
    in_comment = !/\*\//
    next
}
/^ *$/ { flush(); next }
{
    sub(/^PYTHIA_(API|CALLBACK) /, "")
    declaration = declaration "\\fB" typed($0) "\\fR\n"
}
END {
    flush()
    print ".SH SEE ALSO\n.BR pythia (1),\n.BR pythia\\-job (5)"
}
