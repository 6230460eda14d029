/* SPDX-License-Identifier: MIT */
#include "teams/known.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ROW(what, ...)                      \
    {                                       \
        what, (const char *const[])         \
        {                                   \
            __VA_ARGS__, NULL               \
        }                                   \
    }
/* The schedules of loops whose iterations shares are handed (omp/constructs.c). */
#define SCHEDULES(prefix)                                                                                    \
    prefix "static_*", prefix "dynamic_*", prefix "guided_*", prefix "runtime_*", prefix "nonmonotonic_*",   \
        prefix "maybe_nonmonotonic_runtime_*"

/* "x*": what begins with x. "x~": x and xf. The first that fits. */
static const struct row {
    enum teams_known what;
    const char *const *names;
} rows[] = {
    ROW(TEAMS_ASKS_ITSELF, "omp_get_thread_num", "omp_get_thread_num_", "omp_get_num_threads", "omp_get_num_threads_",
        "omp_get_ancestor_thread_num*", "omp_get_team_size*", "omp_in_parallel*", "omp_get_level*",
        "omp_get_active_level*", "omp_get_max_threads", "omp_get_max_threads_"),
    ROW(TEAMS_BOUNDS, SCHEDULES("GOMP_loop_"), SCHEDULES("GOMP_loop_ull_"), "GOMP_sections_start",
        "GOMP_sections_next"),
    ROW(TEAMS_MEETS, "GOMP_barrier", "GOMP_loop_end", "GOMP_loop_end_nowait", "GOMP_sections_end",
        "GOMP_sections_end_nowait", "GOMP_single_start", "GOMP_single_copy_start", "GOMP_single_copy_end"),
    ROW(TEAMS_LOCKS, "GOMP_atomic_start", "GOMP_critical_name_start", "GOMP_critical_start", "GOMP_atomic_end",
        "GOMP_critical_name_end", "GOMP_critical_end"),
    ROW(TEAMS_NESTS, "GOMP_parallel*", "GOMP_teams*"),
    ROW(TEAMS_JOINS, "GOMP_taskgroup_end", "GOMP_taskwait", "GOMP_taskwait_depend"),
    ROW(TEAMS_WAITS, "GOMP_ordered_*", "GOMP_loop_ordered_*", "GOMP_loop_ull_ordered_*", "GOMP_doacross_*",
        "GOMP_taskyield", "omp_set_lock*", "omp_set_nest_lock*", "omp_test_*", "omp_unset_*"),
    ROW(TEAMS_MAKES_TASKS, "GOMP_task*"),
    ROW(TEAMS_HARMLESS, "omp_get_wtime*", "omp_get_wtick*", "omp_get_num_procs*", "gettimeofday", "time",
        "_ZNSt6chrono3_V212steady_clock3nowEv", "_ZNSt6chrono3_V212system_clock3nowEv"),
    ROW(TEAMS_ASKS, "omp_*"),
    ROW(TEAMS_LEAVES, "__stack_chk_fail", "abort", "exit", "_exit", "MPI_Abort*", "mpi_abort_*", "PMPI_Abort*",
        "__assert_fail", "_Unwind_Resume", "_ZSt9terminatev", "__cxa_call_unexpected", "__cxa_rethrow", "__cxa_throw",
        "_gfortran_error_stop_numeric", "_gfortran_error_stop_string", "_gfortran_os_error", "_gfortran_os_error_at",
        "_gfortran_runtime_error", "_gfortran_runtime_error_at", "_gfortran_stop_numeric", "_gfortran_stop_string"),
    ROW(TEAMS_MPI, "MPI_*", "PMPI_*", "mpi_*", "pmpi_*"),
    ROW(TEAMS_THREAD_DATA, "__tls_get_addr", "__errno_location"),
    ROW(TEAMS_ALLOCATES, "malloc", "calloc", "realloc", "free", "_Znam", "_Znwm", "_ZdaPv", "_ZdaPvm", "_ZdlPv",
        "_ZdlPvm"),
    ROW(TEAMS_LOOKS, "_gfortran_compare_string", "_gfortran_string_len_trim", "memchr", "memcmp", "strchr", "strcmp",
        "strlen", "strncmp", "strrchr", "strstr"),
    ROW(TEAMS_HARMLESS, "__cxa_allocate_exception", "__cxa_free_exception", "__divdc3", "__divsc3", "__muldc3",
        "__mulsc3", "__powidf2", "__powisf2", "_gfortran_pow_i4_i4", "_gfortran_pow_i8_i4",
        "_gfortran_pow_i8_i8", "_gfortran_internal_pack", "_gfortran_internal_unpack", "abs", "__fprintf_chk",
        "__printf_chk", "fprintf", "fputc", "fputs", "fwrite", "printf", "putchar", "puts", "fflush", "__memcpy_chk",
        "__memset_chk", "__memmove_chk", "snprintf", "sprintf", "memcpy", "memmove", "memset", "strcpy", "strncpy"),
    ROW(TEAMS_HARMLESS, "_ZGV*", /* vector mathematics */ "frexp~", "ldexp~", "modf~", "sincos~", "cpow~", "fma~",
        "atan2~", "cabs~", "carg~", "cexp~", "cimag~", "clog~", "conj~", "copysign~", "creal~", "csin~", "csqrt~",
        "fdim~", "fmax~", "fmin~", "fmod~", "hypot~", "pow~", "remainder~", "acos~", "acosh~", "asin~", "asinh~",
        "atan~", "atanh~", "cbrt~", "ceil~", "cos~", "cosh~", "erf~", "erfc~", "exp~", "exp10~", "exp2~", "expm1~",
        "fabs~", "floor~", "j0~", "j1~", "llround~", "log~", "log10~", "log1p~", "log2~", "lrint~", "lround~",
        "nearbyint~", "rint~", "round~", "sin~", "sinh~", "sqrt~", "tan~", "tanh~", "tgamma~", "trunc~", "y0~", "y1~"),
};

static bool fits(const char *pattern, const char *name)
{
    size_t length = strlen(pattern) - 1;
    bool begins = strncmp(pattern, name, length) == 0;
    if (pattern[length] == '~')
        return begins && strcmp(name + length + (name[length] == 'f'), "") == 0;
    return pattern[length] == '*' ? begins : strcmp(pattern, name) == 0;
}

enum teams_known teams_known(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *const *n = rows[i].names; *n; n++)
            if (fits(*n, name))
                return rows[i].what;
    return TEAMS_UNKNOWN_CALL;
}
