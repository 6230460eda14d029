# SPDX-License-Identifier: MIT
# For the generators of manual pages, before each: text as man(7) takes it.

# What roff would take for its own: backslashes, and a dot or a quote that begins a line.
function plain(s) {
    gsub(/\\/, "\\e", s)
    return s ~ /^[.']/ ? "\\&" s : s
}

# Words that are typed: their dashes are hyphens, not soft ones.
function typed(s) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    return s
}

# `code`, **bold** and *italic*.
function marked(s,    out, m, n) {
    while (match(s, /`[^`]+`|\*\*[^*]+\*\*|\*[a-zA-Z]+\*/)) {
        m = substr(s, RSTART, RLENGTH)
        n = m ~ /^\*\*/ ? 2 : 1
        out = out plain_inside(substr(s, 1, RSTART - 1)) (m ~ /^\*[a-zA-Z]/ ? "\\fI" : "\\fB") typed(substr(m, n + 1, RLENGTH - 2 * n)) "\\fR"
        s = substr(s, RSTART + RLENGTH)
    }
    out = out plain_inside(s)
    return out ~ /^[.']/ ? "\\&" out : out
}

function plain_inside(s) {
    gsub(/\\/, "\\e", s)
    return s
}

function heading(name, section, what) {
    printf "'\\\" t\n.\\\" Generated; do not edit.\n.TH \"%s\" %s \"\" \"pythia %s\" \"Pythia\"\n", toupper(name), section, version
    printf ".SH NAME\n%s \\- %s\n", name, what
}
