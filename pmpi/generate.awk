# SPDX-License-Identifier: MIT
#
# Turns the table of MPI calls into the wrappers of one binding:
#
#   mpicc -E all_of_mpi.h | awk -f generate.awk -f emit_c.awk - mpi_calls.def > wrappers.c
#
# The first input is the preprocessed mpi.h: a call whose PMPI_ name it does not declare is left out. The second program
# writes one call: emit() where the table says all about it, emit_hand() where its body is written by hand, and what
# differs between the bindings: bytes_function(), idup_made(), request_started(). Plain POSIX awk.

function fail(why) { print "mpi_calls.def: " why > "/dev/stderr"; failed = 1; exit 1 }

# "const int counts[]" -> "counts"
function argument_name(text) {
    gsub(/\[[^]]*\]/, "", text)
    sub(/[ \t]+$/, "", text)
    sub(/^.*[ *]/, "", text)
    return text
}

# "*comm" -> "comm ? *comm : null"; the call itself complains about a null pointer.
function value(text, null) {
    if (text !~ /^\*/) return text
    return "(" substr(text, 2) " ? " text " : " null ")"
}

function annotation(name) { return (name in note) ? note[name] : "" }

function read_annotations(text,    part, n, i, at) {
    split("", note)
    n = split(text, part, /[ \t]+/)
    for (i = 1; i <= n; i++) {
        if (part[i] == "") continue
        at = index(part[i], "=")
        if (at) note[substr(part[i], 1, at - 1)] = substr(part[i], at + 1)
        else note[part[i]] = 1
    }
}

# "of(count,datatype)" -> "pmpi_hook_bytes_of(&call, count, datatype)"; first: ", false" goes before these
function bytes_expression(text, kind, first,    open_at, rest, n, i, argument_of) {
    open_at = index(text, "(")
    rest = substr(text, open_at + 1)
    sub(/\)$/, "", rest)
    n = split(rest, argument_of, /,/)
    rest = first
    for (i = 1; i <= n; i++) rest = rest ", " (is_counts(argument_of[i]) ? "PMPI_HOOK_COUNTS(" argument_of[i] ")" : argument_of[i])
    return bytes_function(kind substr(text, 1, open_at - 1)) "(&call" rest ")"
}

# Whether an argument is an array of counts, int or MPI_Count.
function is_counts(name,    list, n, i) {
    n = split(parameters, list, /,/)
    for (i = 1; i <= n; i++)
        if (argument_name(list[i]) == name) return list[i] ~ /(int|MPI_Count) [a-z]+\[\]/
    return 0
}

# Whether the call ends what says where it happens (*comm): then that is looked up before.
function ends_place() { return note_text("comm") note_text("win") note_text("file") ~ /\*/ }
function note_text(name) { return (name in note) ? note[name] : "" }

function place(indent) {
    if (annotation("comm")) print indent "pmpi_hook_on_comm(&call, " value(note["comm"], "MPI_COMM_NULL") ");"
    if (annotation("win")) print indent "pmpi_hook_on_window(&call, " value(note["win"], "MPI_WIN_NULL") ");"
    if (annotation("file")) print indent "pmpi_hook_on_file(&call, " value(note["file"], "MPI_FILE_NULL") ");"
}

# What the call is about.
function describe(indent) {
    if (!ends_place()) place(indent)
    if (annotation("of")) print indent "pmpi_hook_on_request(&call, " note["of"] ");"
    if (annotation("peer")) print indent "pmpi_hook_peer(&call, " note["peer"] ");"
    if (annotation("source")) print indent "pmpi_hook_peer(&call, " note["source"] ");"
    if (annotation("root")) print indent "pmpi_hook_root(&call, " note["root"] ");"
    if (annotation("index")) print indent "pmpi_hook_value(&call, GRAMMAR_INDEX, " note["index"] ");"
    if (annotation("bytes")) print indent "pmpi_hook_value(&call, GRAMMAR_BYTES, " bytes_expression(note["bytes"], "bytes_", "") ");"
}

function describes() {
    return note_text("comm") note_text("win") note_text("file") ~ /^[^*]/ || annotation("of") || annotation("peer") || \
           annotation("source") || annotation("root") || annotation("index") || annotation("bytes")
}

function before_call() {
    if (ends_place() || annotation("equips")) place("    ")
    if (annotation("message")) print "    pmpi_hook_on_message(&call, " value(note["message"], "MPI_MESSAGE_NULL") ");"
    if (annotation("equips")) print_equips()
    if (annotation("closes")) print "    pmpi_hook_forget_" closing_kind() "(" value(note["closes"], closing_null()) ");"
    if (!describes()) return
    print "    if (__builtin_expect(call.watched, 0)) {"
    describe("        ")
    print "    }"
}

function closing_kind() { return note["closes"] ~ /win/ ? "window" : "file" }
function closing_null() { return note["closes"] ~ /win/ ? "MPI_WIN_NULL" : "MPI_FILE_NULL" }

# Polls that found nothing are over.
function after_call(    receive) {
    receive = annotation("source") != "" || call_name ~ /recv/ ? "true" : "false"
    describe("    ")
    if (annotation("from")) print_half()
    else if (annotation("status")) print "    pmpi_hook_received(&call, used);"
    if (annotation("peer") && !annotation("inits") && (class == "p2p" || (class == "onesided" && annotation("bytes"))))
        print "    pmpi_hook_moved(&call, " (class == "onesided" && call_name !~ /Put|put|ccumulate/ ? "true" : "false") ");"
    if (annotation("sends")) print "    " bytes_expression(note["sends"], "", ", false") ";"
    if (annotation("receives")) print "    " bytes_expression(note["receives"], "", ", true") ";"
    if (annotation("matches")) print "    pmpi_hook_matched(&call, call.accepted ? *" note["matches"] " : MPI_MESSAGE_NULL);"
    if (annotation("starts"))
        request_started(note["starts"], receive ", false, " (annotation("idups") ? idup_made(note["kind"], note["idups"]) : "NULL"))
    if (annotation("inits")) request_started(note["inits"], receive ", true, NULL")
    if (annotation("creates")) print "    pmpi_hook_created(&call, \"" note["kind"] "\", " note["creates"] ");"
    if (annotation("opens")) print "    pmpi_hook_opened_" (note["opens"] == "win" ? "window" : "file") "(&call, " note["opens"] ");"
}

# "source,recvtag": what the call receives; known once it has, of a call that only starts it not at all.
function print_half(    part) {
    split(note["from"], part, /,/)
    print "    pmpi_hook_received_half(&call, " (annotation("status") ? "used" : "NULL") ", " part[1] ", " part[2] ");"
}

# Where a call waits, and for whom, goes to the board before it.
function print_begin(from,    at, source, dest, tag, part) {
    if (waits != "blocks") {
        print "    pmpi_hook_begin(&call, " from ");"
        return
    }
    at = "0"; source = dest = "WATCH_NOBODY"; tag = "0"
    if (annotation("comm")) at = "PMPI_HOOK_HANDLE(" value(note["comm"], "MPI_COMM_NULL") ")"
    if (annotation("win")) at = "pmpi_hook_handle_of(pmpi_hook_comm_of_window(" value(note["win"], "MPI_WIN_NULL") "))"
    if (annotation("file")) at = "pmpi_hook_handle_of(pmpi_hook_comm_of_file(" value(note["file"], "MPI_FILE_NULL") "))"
    if (annotation("peer")) dest = note["peer"]
    if (annotation("source")) source = note["source"]
    if (annotation("index") && (class == "p2p" || class == "probe")) tag = note["index"]
    if (annotation("from")) { split(note["from"], part, /,/); source = part[1]; tag = part[2] }
    print "    pmpi_hook_begin_at(&call, " from ", " at ", " source ", " dest ", " tag ");"
}

# A poll that failed, or found nothing, is no event.
function print_returned(result, back) {
    if (annotation("poll")) {
        print "    if (!pmpi_hook_polled(&call, " result " == MPI_SUCCESS && *" note["poll"] "))"
        print "        return" back ";"
        return
    }
    print "    pmpi_hook_returned(&call, " result " == MPI_SUCCESS);"
    if (annotation("equips")) print "    pmpi_hook_children_spawned(&children);"
}

# All members of its communicator call it, in one order.
function takes_all() {
    return class == "collective" || \
           (class == "communicator" && annotation("comm") ~ /^[^*]/ && \
            call_name !~ /create_group|Intercomm_create|MPIX/)
}

function print_info(    how) {
    how = annotation("poll") != "" ? "WATCH_POLLS" : takes_all() ? "WATCH_COLLECTIVE" : "WATCH_PLAIN"
    print "    static const struct pmpi_hook_info hook_info = {\"" call_name "\", " class_name[class] ", " \
        (waits == "blocks") ", " how "};"
    print "    struct pmpi_hook_call call;"
}

# One call is complete: "class waits type name(parameters) annotations".
function finish_call(    text, rest, close_at, open_at, word) {
    if (pending == "") return
    text = pending
    pending = ""
    open_at = index(text, "(")
    close_at = index(text, ")")
    if (!open_at || !close_at) fail("not a call: " text)
    split(substr(text, 1, open_at - 1), word, /[ \t]+/)
    class = word[1]; waits = word[2]; type = word[3]; call_name = word[4]
    if (!(class in class_name)) fail("unknown class: " text)
    if (waits != "blocks" && waits != "local") fail("neither blocks nor local: " text)
    parameters = substr(text, open_at + 1, close_at - open_at - 1)
    gsub(/[ \t]+/, " ", parameters)
    read_annotations(substr(text, close_at + 1))
    if (!(("P" call_name) in declared)) return
    if (annotation("hand")) emit_hand()
    else emit()
    if (!annotation("hand") && (("P" call_name "_c") in declared)) {
        enlarge()
        emit()
    }
}

# The variant of MPI 4 with large counts: MPI_Count for counts, MPI_Aint for displacements.
function enlarge(    list, n, i, name) {
    call_name = call_name "_c"
    n = split(parameters, list, /,/)
    parameters = ""
    for (i = 1; i <= n; i++) {
        name = argument_name(list[i])
        if (list[i] ~ /MPI_/) name = "" # has a type of its own already
        if (name ~ /counts?$/ || name == "size") sub(/int /, "MPI_Count ", list[i])
        if (name ~ /displs$/ || name == "disp_unit") sub(/int /, "MPI_Aint ", list[i])
        parameters = parameters (i > 1 ? "," : "") list[i]
    }
}

BEGIN {
    class_name["p2p"] = "JOB_P2P"; class_name["completion"] = "JOB_COMPLETION"; class_name["probe"] = "JOB_PROBE"
    class_name["collective"] = "JOB_COLLECTIVE"; class_name["onesided"] = "JOB_ONESIDED"; class_name["io"] = "JOB_IO"
    class_name["communicator"] = "JOB_COMMUNICATOR"; class_name["life"] = "JOB_LIFE"
    print "/* Generated by pmpi/generate.awk from pmpi/mpi_calls.def. */"
}

FNR == 1 { input++ }

input == 1 {
    while (match($0, /PMPIX?_[A-Za-z0-9_]+/)) {
        declared[substr($0, RSTART, RLENGTH)] = 1
        $0 = substr($0, RSTART + RLENGTH)
    }
    next
}

/^#/ || /^[ \t]*$/ { next }
/^[ \t]/ { sub(/^[ \t]+/, " "); pending = pending $0; next }
{ finish_call() }
/^left / { next }
{ pending = $0 }

END { if (!failed) finish_call() }
