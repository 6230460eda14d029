# SPDX-License-Identifier: MIT
#
# For pmpi/calls.awk: of each wrapped call one C function that makes it with arguments that one rank may pass, but for
# one of them, which MPI has to refuse. tests/mpi/refused.c includes them.
#
#   static int refused_MPI_Send(int wrong)
#   {
#       const void *buf = refused_room[0]; int count = 1; ...
#       switch (wrong) {
#       case 1: buf = NULL; break;                         each pointer
#       case 2: datatype = MPI_DATATYPE_NULL; break;       each handle: the null handle, and one that is none
#       case 3: datatype = REFUSED_BAD(MPI_Datatype); break;
#       ...
#       }
#       return MPI_Send(buf, count, ...);
#   }
#
# With -v fortran=1 the call is that of mpif.h: every argument is an address, so handles alone are wrong. Not so the
# communicator of MPI_Alltoallw and its like in Open MPI, whose Fortran uses its size before anybody has looked at it.

BEGIN {
    split("MPI_Comm MPI_COMM_NULL MPI_Datatype MPI_DATATYPE_NULL MPI_Request MPI_REQUEST_NULL MPI_Win MPI_WIN_NULL " \
          "MPI_File MPI_FILE_NULL MPI_Message MPI_MESSAGE_NULL MPI_Op MPI_OP_NULL MPI_Group MPI_GROUP_NULL " \
          "MPI_Info MPI_INFO_NULL MPI_Errhandler MPI_ERRHANDLER_NULL", word, " ")
    for (i = 1; i in word; i += 2) null[word[i]] = word[i + 1]
    good["MPI_Comm"] = "refused_comm"; good["MPI_Datatype"] = "MPI_INT"; good["MPI_Request"] = "refused_request()"
    good["MPI_Win"] = "refused_win"; good["MPI_File"] = "refused_file"; good["MPI_Message"] = "MPI_MESSAGE_NO_PROC"
    good["MPI_Op"] = "MPI_SUM"; good["MPI_Group"] = "refused_group"; good["MPI_Info"] = "MPI_INFO_NULL"
    good["MPI_Errhandler"] = "MPI_ERRORS_RETURN"
    to_fortran["MPI_Comm"] = "MPI_Comm_c2f"; to_fortran["MPI_Datatype"] = "MPI_Type_c2f"
    to_fortran["MPI_Request"] = "MPI_Request_c2f"; to_fortran["MPI_Win"] = "MPI_Win_c2f"
    to_fortran["MPI_File"] = "MPI_File_c2f"; to_fortran["MPI_Message"] = "MPI_Message_c2f"
    to_fortran["MPI_Op"] = "MPI_Op_c2f"; to_fortran["MPI_Group"] = "MPI_Group_c2f"
    to_fortran["MPI_Info"] = "MPI_Info_c2f"; to_fortran["MPI_Errhandler"] = "MPI_Errhandler_c2f"
}

# A number that is right for an argument of this name.
function number(name) {
    if (name ~ /^(dest|source|target_rank|rank)$/) return "MPI_PROC_NULL"
    if (name ~ /count$|^partitions$|^disp_unit$|^incount$|^ndims$/) return "1"
    if (name == "size") return "64"
    if (name == "lock_type") return "MPI_LOCK_SHARED"
    if (name == "split_type") return "MPI_COMM_TYPE_SHARED"
    if (name == "amode") return "MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE"
    if (name == "whence") return "MPI_SEEK_SET"
    if (name == "fd" || name == "maxprocs" || name == "array_of_maxprocs") return "-1" # nothing is to be started
    if (name == "remote_leader") return "9"
    if (name ~ /counts$|^dims$/) return "1"
    return "0"
}

# Calls that would reach beyond the process, or wait for another one: not without something wrong, which a
# communicator that they write is not, nor no info (Open MPI 5 waits in MPI_Comm_accept, 4 has no server to ask).
function reaches() { return call_name ~ /accept|connect|port|_name|spawn|Win_(start|complete|post|wait|test)/ }

function say(text) { body = body "    " text "\n" }
function wrong(name, how, statement) {
    cases++
    switches = switches "    case " cases ": " statement "; break;\n"
    labels = labels ", \"" name " " how "\""
}

# Opening variables of one argument; sets `passed`.
function argument_of(text, i,    name, base, stars) {
    name = argument_name(text)
    base = text
    stars = gsub(/\*/, " ", base) + gsub(/\[[^]]*\]/, " ", base)
    gsub(/const /, " ", base)
    sub(/^ +/, "", base)
    sub(/ .*$/, "", base)
    if (base in null) handle_argument(name, base, stars)
    else if (stars == 0) say(base " " name " = " number(name) ";")
    else if (base == "void") say("void *" name " = " (call_name ~ /detach|allocate/ ? "&refused_pointer" : "refused_room[" i "]") ";")
    else if (base == "char" && stars == 1) say("char *" name " = " (text ~ /const/ ? "(char *)\"refused.file\"" : "refused_room[" i "]") ";")
    else if (base == "char") say("char *v_" name "[] = {(char *)\"nothing\", NULL}, **" name " = v_" name ";")
    else if (base == "MPI_Status") say((fortran ? "MPI_Fint v_" name "[64], *" : "MPI_Status v_" name "[4], *") name " = v_" name ";")
    else say(base " v_" name "[4] = {" number(name) ", " number(name) "}, *" name " = v_" name ";")
    if (stars && !fortran && !(base in null)) wrong(name, "null", name " = NULL")
    passed = passed (i > 1 ? ", " : "") (fortran && !stars ? "&" : "") (base == "char" && stars == 3 ? "(void *)" : "") name
    if (base == "char") { lengths = lengths ", (size_t)12"; strings += stars > 1 }
}

function handle_argument(name, base, stars,    right, kind_of, bad, nothing) {
    right = good[base]
    if (stars && name == "comm" && call_name ~ /free|disconnect/) right = "refused_fresh()"
    if (stars && base == "MPI_Win" && call_name ~ /Win_free/) right = "refused_fresh_win()"
    if (stars && base == "MPI_File") right = call_name ~ /close/ ? "refused_fresh_file()" : "MPI_FILE_NULL"
    kind_of = fortran ? "MPI_Fint" : base
    bad = fortran ? "12345" : "REFUSED_BAD(" base ")"
    nothing = fortran ? to_fortran[base] "(" null[base] ")" : null[base]
    if (fortran) right = to_fortran[base] "(" right ")"
    if (!stars && fortran && flavour == "openmpi" && base == "MPI_Comm" && call_name ~ /alltoallw/) {
        say(kind_of " " name " = " right ";")
        return
    }
    if (!stars) {
        say(kind_of " " name " = " right ";")
        if (nothing != right || !reaches()) wrong(name, "none", name " = " nothing)
        wrong(name, "bad", name " = " bad)
        return
    }
    say(kind_of " v_" name "[2] = {" right ", " right "}, *" name " = v_" name ";")
    if (base != "MPI_Comm" || !reaches()) {
        wrong(name, "at none", "v_" name "[0] = " nothing)
        wrong(name, "at bad", "v_" name "[0] = " bad)
    }
    if (!fortran) wrong(name, "null", name " = NULL")
}

# Without MPI_Comm_join, which speaks to whatever its number is a socket of, and MPI_Intercomm_merge: one rank has nothing to
# merge, and what MPICH makes of that is chance.
function emit(    list, n, i) {
    if (class == "life" || call_name ~ /^MPI_(Comm_join|Intercomm_merge)$/ || (fortran && call_name ~ /_c$/)) return
    n = parameters == "void" ? 0 : split(parameters, list, /,/)
    body = switches = labels = passed = lengths = ""
    cases = strings = 0
    for (i = 1; i <= n; i++) argument_of(list[i], i)
    if (fortran && strings) return
    print "\n#define REFUSED_HAS_" call_name
    if (fortran) print "void " tolower(call_name) "_() __attribute__((weak));"
    print "static int refused_" call_name "(int wrong)\n{\n" body "    switch (wrong) {\n" switches "    }"
    if (fortran) {
        print "    MPI_Fint error = MPI_SUCCESS;"
        print "    if (!" tolower(call_name) "_)\n        return -1;"
        print "    " tolower(call_name) "_(" passed (n ? ", " : "") "&error" lengths ");\n    return error;\n}"
    } else {
        print "    return " call_name "(" passed ");\n}"
    }
    table = table "    {\"" call_name "\", refused_" call_name ", " (reaches() ? 1 : 0) ", (const char *const[]){\"right\"" labels ", NULL}},\n"
}

function emit_hand() { emit() }

# A weak name alone does not have the library linked.
END { if (fortran) print "\nvoid mpi_initialized_();\nvoid (*volatile refused_needs)() = mpi_initialized_;" }
END { if (!failed) print "\nstatic const struct refused_call refused_calls[] = {\n" table "};" }
