/* SPDX-License-Identifier: MIT */
#include "teams/known.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6 }; /* arguments in registers */

struct known {
    const char *name;
    enum teams_known what;
};

/* By their beginnings; the first that fits. */
static const struct known prefixes[] = {
    { "GOMP_parallel", TEAMS_NESTS },
    { "GOMP_teams", TEAMS_NESTS },
    { "GOMP_task", TEAMS_MAKES_TASKS },
    { "GOMP_loop_end", TEAMS_SYNC },
    { "GOMP_loop", TEAMS_BOUNDS },
    { "GOMP_sections_end", TEAMS_SYNC },
    { "GOMP_sections2", TEAMS_UNKNOWN_CALL },
    { "GOMP_sections", TEAMS_BOUNDS },
    { "omp_set_lock", TEAMS_WAITS },
    { "omp_set_nest_lock", TEAMS_WAITS },
    { "omp_test_", TEAMS_WAITS },
    { "omp_unset_", TEAMS_WAITS },
    { "omp_get_wtime", TEAMS_PURE },
    { "omp_get_wtick", TEAMS_PURE },
    { "omp_in_parallel", TEAMS_PURE },
    { "omp_get_level", TEAMS_PURE },
    { "omp_get_active_level", TEAMS_PURE }, /* the same for us */
    { "omp_get_thread_num_", TEAMS_ASKS_ITSELF },
    { "omp_get_num_threads_", TEAMS_ASKS_ITSELF },
    { "omp_", TEAMS_ASKS },
    { "MPI_Abort", TEAMS_LEAVES },
    { "mpi_abort_", TEAMS_LEAVES },
    { "PMPI_Abort", TEAMS_LEAVES },
    { "MPI_", TEAMS_MPI },
    { "PMPI_", TEAMS_MPI },
    { "mpi_", TEAMS_MPI },
    { "pmpi_", TEAMS_MPI },
    { "_ZGV", TEAMS_PURE }, /* vector mathematics */
};

/* Sorted. */
static const struct known names[] = {
    { "GOMP_atomic_end", TEAMS_UNLOCKS },
    { "GOMP_atomic_start", TEAMS_LOCKS },
    { "GOMP_barrier", TEAMS_BARRIER },
    { "GOMP_critical_end", TEAMS_UNLOCKS },
    { "GOMP_critical_name_end", TEAMS_UNLOCKS },
    { "GOMP_critical_name_start", TEAMS_LOCKS },
    { "GOMP_critical_start", TEAMS_LOCKS },
    { "GOMP_ordered_end", TEAMS_SYNC },
    { "GOMP_ordered_start", TEAMS_SYNC },
    { "GOMP_single_start", TEAMS_SINGLE },
    { "GOMP_taskgroup_end", TEAMS_JOINS },
    { "GOMP_taskwait", TEAMS_JOINS },
    { "GOMP_taskwait_depend", TEAMS_JOINS },
    { "GOMP_taskyield", TEAMS_WAITS },
    { "_Unwind_Resume", TEAMS_LEAVES },
    { "_ZSt9terminatev", TEAMS_LEAVES },
    { "_ZdaPv", TEAMS_PURE },
    { "_ZdaPvm", TEAMS_PURE },
    { "_ZdlPv", TEAMS_PURE },
    { "_ZdlPvm", TEAMS_PURE },
    { "_Znam", TEAMS_ALLOCATES },
    { "_Znwm", TEAMS_ALLOCATES },
    { "__assert_fail", TEAMS_LEAVES },
    { "__cxa_allocate_exception", TEAMS_ALLOCATES },
    { "__cxa_call_unexpected", TEAMS_LEAVES },
    { "__cxa_rethrow", TEAMS_LEAVES },
    { "__cxa_throw", TEAMS_LEAVES },
    { "__divdc3", TEAMS_PURE },
    { "__divsc3", TEAMS_PURE },
    { "__errno_location", TEAMS_PURE },
    { "__fprintf_chk", TEAMS_ACTS },
    { "__memcpy_chk", TEAMS_WRITES },
    { "__memset_chk", TEAMS_WRITES },
    { "__muldc3", TEAMS_PURE },
    { "__mulsc3", TEAMS_PURE },
    { "__powidf2", TEAMS_PURE },
    { "__powisf2", TEAMS_PURE },
    { "__printf_chk", TEAMS_ACTS },
    { "__stack_chk_fail", TEAMS_LEAVES },
    { "__tls_get_addr", TEAMS_THREAD_DATA },
    { "_exit", TEAMS_LEAVES },
    { "_gfortran_compare_string", TEAMS_PURE },
    { "_gfortran_error_stop_numeric", TEAMS_LEAVES },
    { "_gfortran_error_stop_string", TEAMS_LEAVES },
    { "_gfortran_os_error", TEAMS_LEAVES },
    { "_gfortran_os_error_at", TEAMS_LEAVES },
    { "_gfortran_pow_i4_i4", TEAMS_PURE },
    { "_gfortran_pow_i8_i4", TEAMS_PURE },
    { "_gfortran_pow_i8_i8", TEAMS_PURE },
    { "_gfortran_runtime_error", TEAMS_LEAVES },
    { "_gfortran_runtime_error_at", TEAMS_LEAVES },
    { "_gfortran_stop_numeric", TEAMS_LEAVES },
    { "_gfortran_stop_string", TEAMS_LEAVES },
    { "_gfortran_string_len_trim", TEAMS_PURE },
    { "abort", TEAMS_LEAVES },
    { "abs", TEAMS_PURE },
    { "calloc", TEAMS_ALLOCATES },
    { "exit", TEAMS_LEAVES },
    { "fprintf", TEAMS_ACTS },
    { "fputc", TEAMS_ACTS },
    { "fputs", TEAMS_ACTS },
    { "free", TEAMS_PURE },
    { "fwrite", TEAMS_ACTS },
    { "malloc", TEAMS_ALLOCATES },
    { "memchr", TEAMS_PURE },
    { "memcmp", TEAMS_PURE },
    { "memcpy", TEAMS_WRITES },
    { "memmove", TEAMS_WRITES },
    { "memset", TEAMS_WRITES },
    { "printf", TEAMS_ACTS },
    { "putchar", TEAMS_ACTS },
    { "puts", TEAMS_ACTS },
    { "snprintf", TEAMS_WRITES },
    { "sprintf", TEAMS_WRITES },
    { "strchr", TEAMS_PURE },
    { "strcmp", TEAMS_PURE },
    { "strcpy", TEAMS_WRITES },
    { "strlen", TEAMS_PURE },
    { "strncmp", TEAMS_PURE },
    { "strncpy", TEAMS_WRITES },
    { "strrchr", TEAMS_PURE },
    { "strstr", TEAMS_PURE },
};

/* Of libm, without the f or l of other precisions; sorted. Those with results behind pointers are below. */
static const char *const mathematics[] = {
    "acos",  "acosh", "asin",  "asinh", "atan",   "atan2",     "atanh", "cabs",      "carg",    "cbrt",
    "ceil",  "cexp",  "cimag", "clog",  "conj",   "copysign",  "cos",   "cosh",      "cpow",    "creal",
    "csin",  "csqrt", "erf",   "erfc",  "exp",    "exp10",     "exp2",  "expm1",     "fabs",    "fdim",
    "floor", "fma",   "fmax",  "fmin",  "fmod",   "hypot",     "j0",    "j1",        "llround", "log",
    "log10", "log1p", "log2",  "lrint", "lround", "nearbyint", "pow",   "remainder", "rint",    "round",
    "sin",   "sinh",  "sqrt",  "tan",   "tanh",   "tgamma",    "trunc", "y0",        "y1",
};
static const char *const mathematics_writing[] = { "frexp", "ldexp", "modf", "sincos" };

static int compare_known(const void *key, const void *entry)
{
    return strcmp(key, ((const struct known *)entry)->name);
}

static int compare_text(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry);
}

static bool is_among(const char *name, const char *const *list, size_t count)
{
    char shorter[24];
    size_t length = strlen(name);
    if (bsearch(name, list, count, sizeof *list, compare_text))
        return true;
    if (length < 2 || length >= sizeof shorter || (name[length - 1] != 'f' && name[length - 1] != 'l'))
        return false;
    memcpy(shorter, name, length - 1);
    shorter[length - 1] = '\0';
    return bsearch(shorter, list, count, sizeof *list, compare_text);
}

/* __sqrt_finite and the like, of programs that were built with -ffast-math for an older library */
static bool is_mathematics(const char *name, const char *const *list, size_t count)
{
    char inner[24];
    size_t length = strlen(name);
    if (is_among(name, list, count))
        return true;
    if (strncmp(name, "__", 2) != 0 || length - 9 >= sizeof inner || strcmp(name + length - 7, "_finite") != 0)
        return false;
    memcpy(inner, name + 2, length - 9);
    inner[length - 9] = '\0';
    return is_among(inner, list, count);
}

static bool begins(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

enum teams_known teams_known(const char *name)
{
    if (strcmp(name, "omp_get_num_threads") == 0)
        return TEAMS_ASKS_SIZE;
    if (strcmp(name, "omp_get_thread_num") == 0)
        return TEAMS_ASKS_NUMBER;
    const struct known *k = bsearch(name, names, sizeof names / sizeof *names, sizeof *names, compare_known);
    if (k)
        return k->what;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (begins(name, prefixes[i].name))
            return prefixes[i].what;
    if (is_mathematics(name, mathematics, sizeof mathematics / sizeof *mathematics))
        return TEAMS_PURE;
    if (is_mathematics(name, mathematics_writing, sizeof mathematics_writing / sizeof *mathematics_writing))
        return TEAMS_WRITES;
    return TEAMS_UNKNOWN_CALL;
}

static unsigned arguments_of_pure(const char *name)
{
    bool none = begins(name, "omp_") || begins(name, "_ZGV") || strcmp(name, "__errno_location") == 0 ||
                is_mathematics(name, mathematics, sizeof mathematics / sizeof *mathematics);
    return none ? 0 : strcmp(name, "free") == 0 || begins(name, "_Zd") ? 1 : MOST;
}

unsigned teams_known_arguments(const char *name)
{
    switch (teams_known(name)) {
    case TEAMS_ASKS_SIZE:
    case TEAMS_ASKS_NUMBER:
    case TEAMS_ASKS_ITSELF:
    case TEAMS_BARRIER:
    case TEAMS_SINGLE:
    case TEAMS_LOCKS:
    case TEAMS_UNLOCKS:
    case TEAMS_SYNC:
        return 0;
    case TEAMS_BOUNDS:
        return strcmp(name, "GOMP_sections_next") == 0 ? 0 : strstr(name, "_next") ? 2 : MOST;
    case TEAMS_ALLOCATES:
        return strcmp(name, "malloc") == 0 || begins(name, "_Zn") ? 1 : MOST;
    case TEAMS_PURE:
        return arguments_of_pure(name);
    case TEAMS_WRITES:
        return is_mathematics(name, mathematics_writing, sizeof mathematics_writing / sizeof *mathematics_writing)
                   ? 2
                   : MOST;
    default:
        return strcmp(name, "__stack_chk_fail") == 0 ? 0 : MOST;
    }
}
