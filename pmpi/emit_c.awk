# SPDX-License-Identifier: MIT
# The C binding, for generate.awk.

BEGIN {
    print "#include \"pmpi/again.h\""
    print "#include \"pmpi/callback.h\"\n#include \"pmpi/children.h\"\n#include \"pmpi/complete.h\""
    fortran = "false"
}

function program(name) { return name }
function first_index() { return "0" }


# One info goes by value, several by address.
function print_equips(    part) {
    split(note["equips"], part, /,/)
    print "    struct pmpi_hook_children children;"
    print "    " part[1] " = " (part[2] == 1 ? "*(const MPI_Info *)" : "") \
        "pmpi_hook_children_equip(&children, &call, " note["root"] ", " part[2] ", " \
        handles((part[2] == 1 ? "&" : "") part[1]) ");"
}

# Every call is known by name to callbacks.
function note_name() { functions = functions "    \"" call_name "\",\n" }
END { if (!failed) printf "\nconst char *const pmpi_hook_functions[] = {\n%s    NULL};\n", functions }

function own_handle(name) { return "PMPI_HOOK_HANDLE(" name ")" }
function print_own_handles(indent) { }
function received_status() { return "used" }

function emit(    list, n, i, name, passed, used_args) {
    note_name()
    n = split(parameters, list, /,/)
    passed = used_args = ""
    for (i = 1; i <= n && parameters != "void"; i++) {
        name = argument_name(list[i])
        passed = passed (i > 1 ? ", " : "") name
        used_args = used_args (i > 1 ? ", " : "") (name == annotation("status") annotation("statuses") ? "used" : name)
    }
    print "\nPYTHIA_API " type " " call_name "(" parameters ")"
    print "{"
    if (annotation("frees")) {
        print "    pmpi_hook_request_freed(" requests() ");\n    return P" call_name "(" passed ");\n}"
        return
    }
    print_info()
    short = remembers()
    alone = is_alone()
    print "    " type " result;"
    if (annotation("status"))
        print "    MPI_Status own;\n    MPI_Status *used = pmpi_hook_status(" note["status"] ", &own);"
    print "    struct base_frame frame = base_frame_here();"
    if (short) print_again("result = P" call_name "(" used_args ")", "result", " result")
    print "    if (!" opened() ")"
    print "        return P" call_name "(" passed ");"
    before_call()
    if (annotation("statuses"))
        print "    MPI_Status *used = pmpi_hook_complete_used(&before, " note["statuses"] ");"
    print_begin("__builtin_return_address(0)")
    print "    result = P" call_name "(" used_args ");"
    if (short) print "    }"
    print_returned("result", " result")
    after_call()
    print_end()
    print "    return result;"
    print "}"
}

function emit_hand() { note_name() }
