/* SPDX-License-Identifier: MIT */
#include "teams/known.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 8 }; /* arguments in registers; x86-64 has six */

#define ROW(what, arguments, numbers, ...)              \
    {                                                   \
        what, arguments, numbers, (const char *const[]) \
        {                                               \
            __VA_ARGS__, NULL                           \
        }                                               \
    }

/* "x*": what begins with x. "x~": x of libm, xf, and __x_finite of programs that were built with -ffast-math for an
   older library; not xl, whose arguments are on the stack. The first that fits; names that are whole come first. */
static const struct row {
    enum teams_known what;
    uint8_t arguments, numbers; /* in registers of either kind, at most */
    const char *const *names;
} rows[] = {
    ROW(TEAMS_ASKS_SIZE, 0, 0, "omp_get_num_threads"),
    ROW(TEAMS_ASKS_NUMBER, 0, 0, "omp_get_thread_num"),
    ROW(TEAMS_ASKS_ITSELF, 0, 0, "omp_get_thread_num_*", "omp_get_num_threads_*"),
    ROW(TEAMS_BARRIER, 0, 0, "GOMP_barrier"),
    ROW(TEAMS_SINGLE, 0, 0, "GOMP_single_start"),
    ROW(TEAMS_LOCKS, 0, 0, "GOMP_atomic_start", "GOMP_critical_name_start", "GOMP_critical_start"),
    ROW(TEAMS_UNLOCKS, 0, 0, "GOMP_atomic_end", "GOMP_critical_name_end", "GOMP_critical_end"),
    ROW(TEAMS_SYNC, 0, 0, "GOMP_ordered_start", "GOMP_ordered_end", "GOMP_loop_end*", "GOMP_sections_end*"),
    ROW(TEAMS_BOUNDS, 0, 0, "GOMP_sections_next"),
    ROW(TEAMS_UNKNOWN_CALL, MOST, 8, "GOMP_sections2*"),
    ROW(TEAMS_BOUNDS, MOST, 0, "GOMP_loop*", "GOMP_sections*"),
    ROW(TEAMS_NESTS, MOST, 0, "GOMP_parallel*", "GOMP_teams*"),
    ROW(TEAMS_JOINS, MOST, 0, "GOMP_taskgroup_end", "GOMP_taskwait", "GOMP_taskwait_depend"),
    ROW(TEAMS_WAITS, MOST, 0, "GOMP_taskyield", "omp_set_lock*", "omp_set_nest_lock*", "omp_test_*", "omp_unset_*"),
    ROW(TEAMS_MAKES_TASKS, MOST, 0, "GOMP_task*"),
    ROW(TEAMS_PURE, 0, 0, "omp_get_wtime*", "omp_get_wtick*", "omp_in_parallel*", "omp_get_level*",
        "omp_get_active_level*", /* the same for us */ "__errno_location"),
    ROW(TEAMS_PURE, 0, 4, "_ZGV*"), /* vector mathematics */
    ROW(TEAMS_ASKS, MOST, 0, "omp_*"),
    ROW(TEAMS_LEAVES, 0, 0, "__stack_chk_fail"),
    ROW(TEAMS_LEAVES, MOST, 0, "abort", "exit", "_exit", "MPI_Abort*", "mpi_abort_*", "PMPI_Abort*", "__assert_fail",
        "_Unwind_Resume", "_ZSt9terminatev", "__cxa_call_unexpected", "__cxa_rethrow", "__cxa_throw",
        "_gfortran_error_stop_numeric", "_gfortran_error_stop_string", "_gfortran_os_error", "_gfortran_os_error_at",
        "_gfortran_runtime_error", "_gfortran_runtime_error_at", "_gfortran_stop_numeric", "_gfortran_stop_string"),
    ROW(TEAMS_MPI, MOST, 0, "MPI_*", "PMPI_*", "mpi_*", "pmpi_*"),
    ROW(TEAMS_THREAD_DATA, MOST, 0, "__tls_get_addr"),
    ROW(TEAMS_ALLOCATES, 1, 0, "malloc", "_Znam", "_Znwm"),
    ROW(TEAMS_ALLOCATES, MOST, 0, "calloc", "__cxa_allocate_exception"),
    ROW(TEAMS_PURE, 1, 0, "free", "__cxa_free_exception", "_ZdaPv", "_ZdaPvm", "_ZdlPv", "_ZdlPvm"),
    ROW(TEAMS_PURE, MOST, 4, "__divdc3", "__divsc3", "__muldc3", "__mulsc3", "__powidf2", "__powisf2",
        "_gfortran_compare_string", "_gfortran_pow_i4_i4", "_gfortran_pow_i8_i4", "_gfortran_pow_i8_i8",
        "_gfortran_string_len_trim", "abs", "memchr", "memcmp", "strchr", "strcmp", "strlen", "strncmp", "strrchr",
        "strstr"),
    ROW(TEAMS_ACTS, MOST, 8, "__fprintf_chk", "__printf_chk", "fprintf", "fputc", "fputs", "fwrite", "printf",
        "putchar", "puts"),
    ROW(TEAMS_WRITES, MOST, 8, "__memcpy_chk", "__memset_chk", "snprintf", "sprintf"),
    ROW(TEAMS_WRITES, 3, 0, "memcpy", "memmove", "memset", "strcpy", "strncpy"),
    ROW(TEAMS_WRITES, 2, 1, "frexp~", "ldexp~", "modf~", "sincos~"),
    ROW(TEAMS_PURE, 0, 4, "cpow~"),
    ROW(TEAMS_PURE, 0, 3, "fma~"),
    ROW(TEAMS_PURE, 0, 2, "atan2~", "cabs~", "carg~", "cexp~", "cimag~", "clog~", "conj~", "copysign~", "creal~",
        "csin~", "csqrt~", "fdim~", "fmax~", "fmin~", "fmod~", "hypot~", "pow~", "remainder~"),
    ROW(TEAMS_PURE, 0, 1, "acos~", "acosh~", "asin~", "asinh~", "atan~", "atanh~", "cbrt~", "ceil~", "cos~", "cosh~",
        "erf~", "erfc~", "exp~", "exp10~", "exp2~", "expm1~", "fabs~", "floor~", "j0~", "j1~", "llround~", "log~",
        "log10~", "log1p~", "log2~", "lrint~", "lround~", "nearbyint~", "rint~", "round~", "sin~", "sinh~", "sqrt~",
        "tan~", "tanh~", "tgamma~", "trunc~", "y0~", "y1~"),
};

/* "" or "f", perhaps with "_finite" behind. */
static bool is_precision(const char *end, bool finite)
{
    end += *end == 'f';
    return strcmp(end, finite ? "_finite" : "") == 0;
}

static bool fits(const char *pattern, const char *name)
{
    bool finite = name[0] == '_' && name[1] == '_' && pattern[0] == name[2];
    if (pattern[0] != name[0] && !finite)
        return false;
    size_t length = strlen(pattern) - 1;
    if (pattern[length] == '~')
        return strncmp(pattern, name + 2 * finite, length) == 0 && is_precision(name + 2 * finite + length, finite);
    return pattern[length] == '*' ? strncmp(pattern, name, length) == 0 : strcmp(pattern, name) == 0;
}

/* NULL: on no list. */
static const struct row *find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *const *n = rows[i].names; *n; n++)
            if (fits(*n, name))
                return &rows[i];
    return NULL;
}

enum teams_known teams_known(const char *name)
{
    const struct row *row = find(name);
    return row ? row->what : TEAMS_UNKNOWN_CALL;
}

unsigned teams_known_numbers(const char *name)
{
    const struct row *row = find(name);
    return row ? row->numbers : MOST;
}

unsigned teams_known_arguments(const char *name)
{
    const struct row *row = find(name);
    bool next = row && row->what == TEAMS_BOUNDS && row->arguments && strstr(name, "_next");
    return next ? 2 : row ? row->arguments : MOST;
}
