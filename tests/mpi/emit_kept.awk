# SPDX-License-Identifier: MIT
#
# For pmpi/calls.awk: of each call a stand-in for the MPI library's function, and a call of the wrapper, for
# tests/mpi/kept.c.
#
#   int PMPI_Send(const void *buf, ...)          leaves errno and the floating-point state as kept.c wants to find them
#   static void drive_MPI_Send(void)             MPI_Send(kept_bytes, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
#   void pmpi_send_(void *a0, ...)               the same for Fortran: mpi_send_(...)

BEGIN {
    print "#pragma GCC visibility push(default)\n#include \"tests/mpi/kept.h\""
    constant["MPI_Comm"] = "MPI_COMM_WORLD"; constant["MPI_Datatype"] = "MPI_INT"; constant["MPI_Op"] = "MPI_SUM"
    constant["MPI_Info"] = "MPI_INFO_NULL"; constant["MPI_Win"] = "MPI_WIN_NULL"; constant["MPI_File"] = "MPI_FILE_NULL"
    constant["MPI_Group"] = "MPI_GROUP_EMPTY"; constant["MPI_Request"] = "MPI_REQUEST_NULL"
    constant["MPI_Message"] = "MPI_MESSAGE_NO_PROC"; constant["MPI_Session"] = "MPI_SESSION_NULL"
    constant["MPI_Errhandler"] = "MPI_ERRORS_RETURN"
}

function base_of(text) {
    gsub(/const|\[[^]]*\]/, " ", text)
    sub(/^ +/, "", text)
    sub(/[ *].*$/, "", text)
    return text
}

function is_pointer(text) { return text ~ /[*\[]/ }

# What is passed for one argument, in C and in Fortran.
function c_value(text,    base) {
    base = base_of(text)
    if (is_pointer(text)) return (base in constant) ? "kept_" base : "(void *)kept_bytes"
    if (base in constant) return constant[base]
    return argument_name(text) ~ /count/ ? "1" : "0"
}

function f_value(text,    base) {
    base = base_of(text)
    if (base in constant) return "kept_f_" base
    return !is_pointer(text) && argument_name(text) ~ /count/ ? "kept_f_one" : "kept_bytes"
}

function emit(    list, n, i, passed, args, f_types, f_args, f_names, f_lengths, name) {
    if (class == "life" || parameters == "void") return
    n = split(parameters, list, /,/)
    passed = args = f_types = f_args = f_names = f_lengths = ""
    for (i = 1; i <= n; i++) {
        passed = passed (i > 1 ? ", " : "") argument_name(list[i])
        args = args (i > 1 ? ", " : "") c_value(list[i])
        f_types = f_types "void *, "
        f_args = f_args f_value(list[i]) ", "
        f_names = f_names "void *a" i ", "
        if (list[i] ~ /char /) f_lengths = f_lengths ", size_t"
    }
    print "\nint P" call_name "(" parameters ")\n{"
    print "    static int (*real)(" parameters ");"
    print "    if (!kept_is(\"" call_name "\")) {"
    print "        if (!real)\n            real = (int (*)(" parameters "))kept_real(\"P" call_name "\");"
    print "        return real(" passed ");\n    }"
    print "    return kept_inside();\n}"
    print "static void drive_" call_name "(void)\n{\n    (void)" call_name "(" args ");\n}"
    calls = calls "    {\"" call_name "\", drive_" call_name "},\n"
    if (call_name ~ /_c$/) return
    name = tolower(call_name) "_"
    print "void p" name "(" f_names "MPI_Fint *error);"
    print "void p" name "(" f_names "MPI_Fint *error)\n{"
    for (i = 1; i <= n; i++) print "    (void)a" i ";"
    print "    *error = kept_inside();\n}"
    print "static void drive_" name "(void)\n{"
    print "    void (*wrapper)(" f_types "MPI_Fint *" f_lengths ") = (void (*)(" f_types "MPI_Fint *" f_lengths "))kept_wrapper(\"" name "\");"
    print "    MPI_Fint error = 0;"
    gsub(/size_t/, "(size_t)0", f_lengths)
    print "    if (wrapper)\n        wrapper(" f_args "&error" f_lengths ");\n}"
    calls = calls "    {\"" name "\", drive_" name "},\n"
}

function emit_hand() { emit() }

END { if (!failed) printf "\nconst struct kept_call kept_calls[] = {\n%s    {NULL, NULL}};\n", calls }
