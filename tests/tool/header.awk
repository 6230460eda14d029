# SPDX-License-Identifier: MIT
# Checks that what pythia.h says of each function is complete: the comment before it (or before its group: declarations without a
# blank line between) has "Threads:" and "Hook-safe:", of an int "eturn" (returns, return), of times their unit. A line for each
# that lacks something; at last "functions N".
function missing(what) { print FILENAME ": " name ": its comment has no " what }

/^\/\*/ { comment = ""; inside = 1 }
inside { comment = comment $0 "\n"; if (/\*\/ *$/) inside = 0; next }
/^$/ && !declaration { comment = "" }
/^PYTHIA_(API|CALLBACK) / { declaration = "" ; open = 1 }
open {
    declaration = declaration $0
    if (/;/) {
        open = 0
        name = declaration
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        count++
        if (comment == "") missing("line at all")
        if (comment !~ /Threads: /) missing("Threads:")
        if (comment !~ /Hook-safe: /) missing("Hook-safe:")
        if (declaration ~ /^[A-Z_]+ int / && comment !~ /eturn/) missing("returns")
        if (declaration ~ /double \*ns/ && comment !~ / ns[ ,.]/) missing("unit")
        declaration = ""
    }
}
END { print "functions " count + 0 }
