/* SPDX-License-Identifier: MIT */
#include "code/leaves.h"

#include <stddef.h>
#include <string.h>

#include "base/name.h"

static const struct { const char *name; enum code_leaves how; } rows[] = {
    { "abort", CODE_EXITS },            { "exit", CODE_EXITS },
    { "_exit", CODE_EXITS },            { "_Exit", CODE_EXITS },
    { "quick_exit", CODE_EXITS },       { "__assert_fail", CODE_EXITS },
    { "__assert", CODE_EXITS },         { "__stack_chk_fail", CODE_EXITS },
    { "__chk_fail", CODE_EXITS },       { "__fortify_fail", CODE_EXITS },
    { "err", CODE_EXITS },              { "errx", CODE_EXITS },
    { "verr", CODE_EXITS },             { "verrx", CODE_EXITS },
    { "_ZSt9terminatev", CODE_EXITS },  { "__clang_call_terminate", CODE_EXITS },
    { "__cxa_pure_virtual", CODE_EXITS }, { "__libc_start_main", CODE_JUMPS_AWAY },
    { "_Unwind_Resume", CODE_THROWS },  { "__cxa_call_unexpected", CODE_THROWS },
    { "__cxa_throw", CODE_THROWS },     { "__cxa_rethrow", CODE_THROWS },
    { "__cxa_bad_cast", CODE_THROWS },  { "__cxa_bad_typeid", CODE_THROWS },
    { "__cxa_throw_bad_array_new_length", CODE_THROWS },
    { "longjmp", CODE_JUMPS_AWAY },     { "_longjmp", CODE_JUMPS_AWAY },
    { "siglongjmp", CODE_JUMPS_AWAY },  { "__longjmp_chk", CODE_JUMPS_AWAY },
    { "pthread_exit", CODE_JUMPS_AWAY },
};

enum code_leaves code_leaves(const char *name)
{
    static const char *const exits[] = { "MPI_Abort", "PMPI_Abort", "mpi_abort_", "_gfortran_stop",
                                         "_gfortran_error_stop", "_gfortran_runtime_error", "_gfortran_os_error" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(name, rows[i].name))
            return rows[i].how;
    if (base_name_begins(name, exits, sizeof exits / sizeof *exits))
        return CODE_EXITS;
    return !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_") ? CODE_THROWS : CODE_COMES_BACK; /* std::__throw_… */
}
