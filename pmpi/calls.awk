# SPDX-License-Identifier: MIT
#
# Reads the table of MPI calls and gives each of them to emit(), or to emit_hand() where its body is written by hand:
# with call_name, type, parameters, class, waits and the annotations in note[]. Calls that follow from a row are calls,
# too.
#
#   mpicc -E all_of_mpi.h > mpi.i;  awk -f calls.awk -f WHAT_TO_DO.awk mpi.i mpi_calls.def
#
# The first input is the preprocessed mpi.h: a call whose PMPI_ name it does not declare is left out. With -v every=1
# there is no such input, and all calls are taken, but for variants with large counts. Plain POSIX awk.

function fail(why) { print "mpi_calls.def: " why > "/dev/stderr"; failed = 1; exit 1 }

# "const int counts[]" -> "counts"
function argument_name(text) {
    gsub(/\[[^]]*\]/, "", text)
    sub(/[ \t]+$/, "", text)
    sub(/^.*[ *]/, "", text)
    return text
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

# One call is complete: "class waits type name(parameters) annotations".
function finish_call(    text, close_at, open_at, word) {
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
    take_row(substr(text, close_at + 1))
}

# The call of a row, and those that follow from it.
function take_row(notes,    name, arguments, wait, form, n, i) {
    name = call_name; arguments = parameters; wait = waits
    read_annotations(notes)
    n = split("itself" (annotation("also") ? "," annotation("also") : ""), form, /,/)
    for (i = 1; i <= n; i++) {
        call_name = name; parameters = arguments; waits = wait
        read_annotations(notes)
        if (form[i] == "I") make_immediate(name, name ~ /_(File|Comm)_/ ? "i" : "I")
        else if (form[i] == "R") make_immediate(name, "R")
        else if (form[i] == "init") make_persistent(name)
        else if (form[i] == "split") make_split(name)
        else if (form[i] != "itself") fail("no form of a call: " form[i])
        take_call()
    }
}

# Its variant with large counts is one, too.
function take_call(    name, arguments) {
    if (!every && !(("P" call_name) in declared)) return
    if (annotation("hand")) { emit_hand(); return }
    emit()
    if (!(("P" call_name "_c") in declared)) return
    name = call_name; arguments = parameters
    enlarge()
    emit()
    call_name = name; parameters = arguments
}

# What the call had filled in the request's completion does: MPI_Bcast(...) -> MPI_Ibcast(..., MPI_Request *request)
function make_started(notes) {
    waits = "local"
    sub(/, MPI_Status \*[a-z]+$/, "", parameters)
    delete note["status"]
    parameters = parameters ", MPI_Request *request"
    note[notes] = "request"
}

function make_immediate(name, letter,    begins) {
    match(name, /^MPIX?_(File_|Comm_)?/)
    begins = RLENGTH
    call_name = substr(name, 1, begins) letter tolower(substr(name, begins + 1, 1)) substr(name, begins + 2)
    make_started("starts")
    if (!annotation("creates")) return
    note["idups"] = note["creates"]
    delete note["creates"]
}

# Before MPI 4 some libraries have the collectives as MPIX_Bcast_init. Sums by peer are of starts.
function make_persistent(name) {
    call_name = name "_init"
    if (class == "collective") parameters = parameters ", MPI_Info info"
    make_started("inits")
    delete note["sends"]
    delete note["receives"]
    if (class != "collective") return
    take_call()
    call_name = "MPIX" substr(name, 4) "_init"
}

# MPI_File_read_all_begin has no status, MPI_File_read_all_end no more than that.
function make_split(name) {
    call_name = name "_begin"
    sub(/, MPI_Status \*[a-z]+$/, "", parameters)
    take_call()
    call_name = name "_end"
    parameters = "MPI_File fh, " (parameters ~ /const/ ? "const " : "") "void *buf, MPI_Status *status"
    delete note["bytes"]
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
}

FNR == 1 { input++ }

input == 1 && !every {
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
