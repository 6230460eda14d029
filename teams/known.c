/* SPDX-License-Identifier: MIT */
#include "teams/known.h"

#include <stddef.h>
#include <string.h>

#include "base/modules.h"
#include "base/name.h"
#include "code/image.h"
#include "code/leaves.h"

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

/* "x*": what begins with x. "x~": x and xf. "?x": x for one of BLAS' four kinds of numbers. The first that fits. */
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
    ROW(TEAMS_TAKES, "omp_set_lock", "omp_set_lock_"),
    ROW(TEAMS_HARMLESS, "omp_unset_lock", "omp_unset_lock_", "omp_init_lock", "omp_init_lock_", "omp_destroy_lock",
        "omp_destroy_lock_"),
    ROW(TEAMS_LOCKS, "__cxa_guard_acquire", "GOMP_atomic_start", "GOMP_critical_name_start", "GOMP_critical_start"),
    ROW(TEAMS_UNLOCKS, "__cxa_guard_*", "GOMP_atomic_end", "GOMP_critical_name_end", "GOMP_critical_end"),
    ROW(TEAMS_NESTS, "GOMP_parallel*", "GOMP_teams*"),
    ROW(TEAMS_JOINS, "GOMP_taskgroup_end", "GOMP_taskwait", "GOMP_taskwait_depend"),
    ROW(TEAMS_WAITS, "GOMP_ordered_*", "GOMP_loop_ordered_*", "GOMP_loop_ull_ordered_*", "GOMP_doacross_*",
        "GOMP_taskyield", "omp_set_lock*", "omp_set_nest_lock*", "omp_test_*", "omp_unset_*"),
    ROW(TEAMS_MAKES_TASKS, "GOMP_task*"),
    ROW(TEAMS_HARMLESS, "omp_get_wtime*", "omp_get_wtick*", "omp_get_num_procs*", "gettimeofday", "time",
        "_ZNSt6chrono3_V212steady_clock3nowEv", "_ZNSt6chrono3_V212system_clock3nowEv"),
    /* of LLVM's libomp (omp/kmpc_work.c); fences come as calls there, which see what others write */
    ROW(TEAMS_BOUNDS, "__kmpc_for_static_init_*", "__kmpc_dispatch_next_*"),
    ROW(TEAMS_MEETS, "__kmpc_for_static_fini", "__kmpc_dispatch_init_*",
        "__kmpc_dispatch_deinit", "__kmpc_barrier", "__kmpc_single", "__kmpc_end_single", "__kmpc_master",
        "__kmpc_end_master", "__kmpc_masked", "__kmpc_end_masked", "__kmpc_copyprivate", "__kmpc_reduce",
        "__kmpc_reduce_nowait", "__kmpc_end_reduce", "__kmpc_end_reduce_nowait"),
    ROW(TEAMS_LOCKS, "__kmpc_critical", "__kmpc_critical_with_hint"),
    ROW(TEAMS_UNLOCKS, "__kmpc_end_critical"),
    ROW(TEAMS_LOOKS, "__kmpc_flush", "__kmpc_global_thread_num"),
    ROW(TEAMS_NESTS, "__kmpc_fork_*", "__kmpc_serialized_parallel", "__kmpc_end_serialized_parallel", "__kmpc_push_*"),
    ROW(TEAMS_WAITS, "__kmpc_ordered", "__kmpc_end_ordered", "__kmpc_dispatch_fini_*", "__kmpc_doacross_*",
        "__kmpc_omp_taskyield"),
    ROW(TEAMS_JOINS, "__kmpc_omp_taskwait*", "__kmpc_end_taskgroup", "__kmpc_omp_wait_deps"),
    ROW(TEAMS_MAKES_TASKS, "__kmpc_omp_task*", "__kmpc_taskloop*", "__kmpc_taskgroup"),
    ROW(TEAMS_THREAD_DATA, "__kmpc_threadprivate*"),
    ROW(TEAMS_ASKS, "omp_*", "__kmpc_*"),
    ROW(TEAMS_CATCHES, "__cxa_begin_catch", "__cxa_end_catch", "__cxa_get_exception_ptr"),
    ROW(TEAMS_MPI, "MPI_*", "PMPI_*", "mpi_*", "pmpi_*"),
    ROW(TEAMS_ERRNO, "__errno_location"),
    ROW(TEAMS_THREAD_DATA, "__tls_get_addr"),
    ROW(TEAMS_ALLOCATES, "malloc", "calloc", "realloc", "free", "aligned_alloc", "memalign", "posix_memalign",
        "reallocarray", "strdup", "_Znam*", "_Znwm*", "_ZdaPv*", "_ZdlPv*"),
    ROW(TEAMS_LOOKS, "_gfortran_compare_string", "_gfortran_string_len_trim", "_gfortran_string_index",
        "_gfortran_string_scan", "_gfortran_string_verify", "bcmp", "memchr", "memcmp", "memrchr", "strcasecmp",
        "strchr", "strcmp", "strcspn", "strlen", "strncasecmp", "strncmp", "strnlen", "strpbrk", "strrchr", "strspn",
        "strstr"),
    /* of libgcc: what processors have no instruction for */
    ROW(TEAMS_HARMLESS, "__popcount*", "__clz*", "__ctz*", "__ffs*", "__parity*", "__udivti3", "__umodti3", "__divti3",
        "__modti3", "__multi3", "__addtf3", "__subtf3", "__multf3", "__divtf3", "__eqtf2", "__netf2", "__lttf2",
        "__letf2", "__gttf2", "__getf2", "__unordtf2", "__extend*", "__trunc*", "__float*", "__fix*", "__powitf2"),
    /* of libstdc++: texts, nodes of containers, what exceptions are made of */
    ROW(TEAMS_HARMLESS, "_ZNSt7__cxx1112basic_stringI*", "_ZNKSt7__cxx1112basic_stringI*", "_ZSt18_Rb_tree_increment*",
        "_ZSt18_Rb_tree_decrement*", "_ZSt29_Rb_tree_insert_and_rebalance*", "_ZSt28_Rb_tree_rebalance_for_erase*",
        "_ZNSt8__detail15_List_node_base*", "_ZNKSt8__detail20_Prime_rehash_policy*", "_ZSt11_Hash_bytes*",
        "_ZNSt9exception*", "_ZNKSt9exception*", "_ZNSt11logic_error*", "_ZNSt11range_error*", "_ZNSt12domain_error*",
        "_ZNSt12length_error*", "_ZNSt12out_of_range*", "_ZNSt13runtime_error*", "_ZNSt14overflow_error*",
        "_ZNSt16invalid_argument*", "_ZNSt9bad_alloc*"),
    /* of libgfortran: what it makes of arrays and texts */
    ROW(TEAMS_HARMLESS, "_gfortran_adjust*", "_gfortran_all_*", "_gfortran_any_*", "_gfortran_concat_string",
        "_gfortran_count_*", "_gfortran_cshift*", "_gfortran_eoshift*", "_gfortran_findloc*", "_gfortran_maxloc*",
        "_gfortran_maxval*", "_gfortran_minloc*", "_gfortran_minval*", "_gfortran_mmaxloc*", "_gfortran_mmaxval*",
        "_gfortran_mminloc*", "_gfortran_mminval*", "_gfortran_msum*", "_gfortran_norm2*", "_gfortran_pack*",
        "_gfortran_product*", "_gfortran_reshape*", "_gfortran_select_string", "_gfortran_spread*",
        "_gfortran_string_trim*", "_gfortran_sum_*", "_gfortran_transpose*", "_gfortran_unpack*"),
    ROW(TEAMS_OPENS, "_gfortran_st_write", "_gfortran_st_iolength"),
    ROW(TEAMS_CLOSES, "_gfortran_st_write_done", "_gfortran_st_iolength_done"),
    ROW(TEAMS_HARMLESS, "_gfortran_transfer_*", "_gfortran_matmul_*"),
    ROW(TEAMS_COMPUTES, "?asum_", "?axpy_", "?copy_", "?dot_", "?dotc_", "?dotu_", "?nrm2_", "?rot_", "?scal_",
        "?swap_", "?gbmv_", "?gemv_", "?ger_", "?gerc_", "?geru_", "?hemv_", "?symv_", "?trmv_", "?trsv_", "?her_",
        "?her2_", "?syr_", "?syr2_", "?gemm_", "?hemm_", "?symm_", "?herk_", "?syrk_", "?her2k_", "?syr2k_", "?trmm_",
        "?trsm_", "cblas_*", "dzasum_", "dznrm2_", "icamax_", "idamax_", "isamax_", "izamax_", "scasum_", "scnrm2_"),
    ROW(TEAMS_HARMLESS, "__cxa_allocate_exception", "__cxa_free_exception", "__divdc3", "__divsc3", "__muldc3",
        "__mulsc3", "__powidf2", "__powisf2", "_gfortran_pow_i4_i4", "_gfortran_pow_i8_i4", "_gfortran_pow_i8_i8",
        "_gfortran_internal_pack", "_gfortran_internal_unpack", "abs", "__fprintf_chk", "__printf_chk", "fprintf",
        "fputc", "fputs", "fwrite", "printf", "putchar", "puts", "fflush", "__memcpy_chk", "__memset_chk",
        "__memmove_chk", "__snprintf_chk", "__sprintf_chk", "__strcat_chk", "__strcpy_chk", "__strncpy_chk",
        "__vfprintf_chk", "__vsnprintf_chk", "__vsprintf_chk", "vfprintf", "vsnprintf", "vsprintf", "snprintf",
        "sprintf", "memcpy", "memmove", "memset", "stpcpy", "strcat", "strcpy", "strncat", "strncpy"),
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
    if (*pattern == '?')
        return *name && strchr("cdsz", *name) && strcmp(pattern + 1, name + 1) == 0;
    if (pattern[length] == '~')
        return begins && strcmp(name + length + (name[length] == 'f'), "") == 0;
    return pattern[length] == '*' ? begins : strcmp(pattern, name) == 0;
}

enum teams_known teams_known(const char *name)
{
    enum code_leaves how = code_leaves(name);
    if (how == CODE_EXITS || how == CODE_THROWS)
        return how == CODE_EXITS ? TEAMS_EXITS : TEAMS_THROWS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *const *n = rows[i].names; *n; n++)
            if (fits(*n, name))
                return rows[i].what;
    return TEAMS_UNKNOWN_CALL;
}

bool teams_known_library(const char *path)
{
    static const char *const names[] = { "libc.so",      "libm.so",        "libmvec.so",     "libpthread.so",
                                         "libdl.so",     "ld-linux",       "libgomp.so",     "libgcc_s.so",
                                         "libstdc++.so", "libgfortran.so", "libquadmath.so", "libmpi",
                                         "linux-vdso",   "libpythia",      "libomp.so",      "libiomp5.so" };
    return path && base_name_begins(path, names, sizeof names / sizeof *names);
}

bool teams_known_computes(const struct code_image *m)
{
    static const char *const names[] = { "libblas.so", "libblas-", "libblis", "libcblas", "libopenblas" };
    static struct { uint64_t base, unloaded; bool computes; } last;
    if (last.base != m->base || last.unloaded != base_modules_unloaded()) {
        last.base = m->base;
        last.unloaded = base_modules_unloaded();
        last.computes = base_name_begins(m->path, names, sizeof names / sizeof *names) &&
                        !code_image_imports(m, "GOMP_") && !code_image_imports(m, "omp_") &&
                        !code_image_imports(m, "__kmpc_");
    }
    return last.computes;
}
