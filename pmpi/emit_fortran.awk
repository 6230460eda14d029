# SPDX-License-Identifier: MIT
#
# The Fortran bindings, for generate.awk: mpif.h and `use mpi` call mpi_send_, `use mpi_f08` calls mpi_send_f08_. Both
# pass an address for every argument, then the error's (NULL when omitted), then the lengths of strings by value;
# handles of mpi_f08 are structures of one integer. So one body serves both:
#
#   mpi_send_      -.
#   mpi_send_f08_  --> fortran_send(target, return address, f_buf, f_count, ..., ierror) --> *target (pmpi_send_...)
#
# MPICH's mpi_f08 has mpi_send_f08ts_, whose buffers are descriptors, and mpi_send_f08ts_large_ for large counts.
#
# The target, the MPI library's function, gets the program's own arguments. For recording, what the annotations of the
# table name is converted into C
# variables of the same names.

BEGIN {
    print "#include \"pmpi/again.h\""
    print "#include \"pmpi/children.h\"\n#include \"pmpi/complete.h\"\n#include \"pmpi/fortran.h\""
    fortran = "true"
    handle["MPI_Comm"] = "comm"; handle["MPI_Datatype"] = "type"; handle["MPI_Request"] = "request"
    handle["MPI_Win"] = "window"; handle["MPI_File"] = "file"; handle["MPI_Message"] = "message"
    # Further names of the same call: `use mpi` has interfaces with a C pointer.
    alias["MPI_Win_allocate"] = "mpi_win_allocate_cptr_"
    alias["MPI_Win_allocate_shared"] = "mpi_win_allocate_shared_cptr_"
}

function program(name) { return "f_" name }
function own_handle(name) { return "(uint64_t)*(const MPI_Fint *)f_" name }
function print_own_handles(indent,    lines) {
    lines = own_handles
    gsub(/@/, indent, lines)
    printf "%s", lines
}
function received_status() { return "pmpi_hook_fortran_status(f_" note["status"] ", &c_status)" }
function first_index() { return "pmpi_hook_fortran_first(target)" }

function print_equips(    part) {
    split(note["equips"], part, /,/)
    print "    struct pmpi_hook_children children;"
    print "    f_" part[1] " = pmpi_hook_children_equip(&children, &call, " note["root"] ", " part[2] ", " \
        handles(part[1]) ");"
}

# Names that the annotations mention, but for those that are read where they are: see handles().
function find_used(    key, text, word, n, i) {
    split("", used)
    for (key in note) {
        if (key ~ /^(starts|inits|creates|idups|opens|matches|kind|status|statuses|equips|op|shape|chance)$/) continue
        text = note[key]
        if (key == "requests") sub(/^[^,]*,/, "", text)
        sub(/^[a-z_]+\(/, "", text)
        gsub(/[^A-Za-z0-9_]+/, " ", text)
        n = split(text, word, / /)
        for (i = 1; i <= n; i++) used[word[i]] = 1
    }
}

# The C variable of one argument.
function print_local(text, name,    base, array, pointer) {
    base = text
    array = text ~ /\[/
    pointer = text ~ /\*/
    gsub(/const|\[[^]]*\]|\*/, " ", base)
    sub(/^ +/, "", base)
    sub(/ .*$/, "", base)
    if (!(name in used) || (array && (base in handle))) {
        return
    } else if (base == "void") {
        print "    const void *" name " = pmpi_hook_fortran_buffer(target, f_" name ");"
    } else if (array && base == "MPI_Count") {
        print "    const MPI_Count *" name " = f_" name ";"
    } else if (array || (pointer && base == "int")) {
        print "    const MPI_Fint *" name " = f_" name ";"
    } else if (pointer) {
        print "    " base " value_" name " = pmpi_hook_" handle[base] "_at(" handles(name) ", 0), *" name \
            " = &value_" name ";"
    } else if (base in handle) {
        print "    " base " " name ";"
        own_handles = own_handles "@" name " = pmpi_hook_" handle[base] "_at(" handles(name) ", 0);\n"
    } else {
        print "    " base " " name " = *(const " (base == "int" ? "MPI_Fint" : base) " *)f_" name ";"
    }
}

function more(list, item) { return list (list == "" ? "" : ", ") item }

# Lists of one call: declared and passed arguments, their types.
function read_parameters(    i) {
    count = parameters == "void" ? 0 : split(parameters, parameter, /,/)
    declared_args = passed = types = lengths = length_args = length_types = ""
    for (i = 1; i <= count; i++) {
        argument[i] = argument_name(parameter[i])
        declared_args = more(declared_args, "void *f_" argument[i])
        passed = more(passed, "f_" argument[i])
        types = more(types, "void *")
        if (parameter[i] !~ /char /) continue
        length_args = length_args ", size_t length_" argument[i]
        lengths = lengths ", length_" argument[i]
        length_types = length_types ", size_t"
    }
    declared_args = more(declared_args, "MPI_Fint *ierror") length_args
    types = more(types, "MPI_Fint *") length_types
}

function print_entry(name, body, descriptors) {
    print "\nPYTHIA_API void " name "(" declared_args ");"
    print "PYTHIA_API void " name "(" declared_args ")"
    print "{"
    print "    static struct pmpi_hook_target target = {.profiled = \"p" name "\", .plain = \"" name "\"" (descriptors ? ", .descriptors = true" : "") "};"
    print "    " body "(&target, base_frame_here(), " more(passed, "ierror") lengths ");"
    print "    __asm__ volatile(\"\"); /* no jump: this frame has to be there */"
    print "}"
}

# Whether an argument may be of any type; what these two give back is an address.
function has_buffers() { return parameters ~ /void \*/ && call_name !~ /^MPI_(Buffer_detach|Win_allocate)/ }

function print_entries(body,    name, choice) {
    name = tolower(call_name)
    if (name ~ /_c$/) {
        sub(/_c$/, "", name)
        choice = has_buffers()
        print_entry(name (choice ? "_f08ts_large_" : "_f08_large_"), body, choice)
        return
    }
    print_entry(name "_", body)
    print_entry(name "_f08_", body)
    if (flavour == "mpich" && has_buffers()) print_entry(name "_f08ts_", body, 1)
    if (call_name in alias) print_entry(alias[call_name], body)
}

function emit(    body, i) {
    read_parameters()
    find_used()
    body = "fortran_" tolower(substr(call_name, 5))
    print "\nstatic void " body "(struct pmpi_hook_target *target, struct base_frame frame, " declared_args ")"
    print "{"
    if (!annotation("frees")) print_info()
    print "    void (*real)(" types ") = (void (*)(" types "))pmpi_hook_target_find(target, ierror);"
    print "    if (!real)"
    print "        return;"
    if (annotation("frees")) {
        print "    (void)frame;\n    pmpi_hook_request_freed(" requests() ");"
        print "    real(" more(passed, "ierror") lengths ");\n}"
        print_entries(body)
        return
    }
    short = remembers()
    alone = is_alone()
    own_handles = ""
    print "    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;"
    if (annotation("status")) print "    MPI_Status c_status;"
    if (short) {
        for (i = 1; i <= count; i++) print_local(parameter[i], argument[i])
        if (annotation("status")) print_handed(note["status"])
        print_again("real(" more(passed, "error") lengths ")", "*error", "")
    }
    print "    if (!" opened() ") {"
    print "        real(" more(passed, "ierror") lengths ");"
    print "        return;"
    print "    }"
    for (i = 1; i <= count && !short; i++) print_local(parameter[i], argument[i])
    print_own_handles("    ")
    before_call()
    if (annotation("status") && !short) print_handed(note["status"])
    if (annotation("statuses")) print_all_handed(note["statuses"])
    print_begin("(void *)frame.word")
    print "    real(" more(passed, "error") lengths ");"
    if (short) print "    }"
    print_returned("*error", "")
    if (annotation("status"))
        print "    const MPI_Status *used = call.accepted ? pmpi_hook_fortran_status(f_" \
            note["status"] ", &c_status) : NULL;"
    if (annotation("statuses"))
        print "    const MPI_Status *used = call.accepted ? pmpi_hook_fortran_statuses(f_" note["statuses"] ", room, " \
            status_number() ") : MPI_STATUSES_IGNORE;"
    after_call()
    print_end()
    print "}"
    print_entries(body)
}

function print_handed(name) {
    print "    union pmpi_hook_fortran_room own;\n    f_" name " = pmpi_hook_fortran_handed(f_" name ", &own);"
}

function print_all_handed(name) {
    print "    MPI_Status *room = pmpi_hook_complete_statuses(&before);"
    print "    f_" name " = pmpi_hook_fortran_handed_all(f_" name ", &room);"
}

# The calls of life differ in their arguments (fortran_life.c).
function emit_hand() { }
