/* SPDX-License-Identifier: MIT */
/*
 * Speaks as programs do that name their regions for others: `speaks kokkos`, `nvtx`, `talp`, `caliper`. As Kokkos and
 * NVTX do it, the library that the environment names is loaded, and asked for its functions.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 5 };

static void *library(const char *variable)
{
    const char *path = getenv(variable);
    void *l = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (path && !l)
        fprintf(stderr, "%s\n", dlerror());
    return l;
}

/* --- Kokkos Tools --- */

struct space { char name[64]; };
typedef void begin_kernel(const char *, uint32_t, uint64_t *);
typedef void end_kernel(uint64_t);
typedef void copy(struct space, const char *, const void *, struct space, const char *, const void *, uint64_t);

static void kokkos(void)
{
    void *l = library("KOKKOS_TOOLS_LIBS");
    struct space host = { "Host" };
    uint64_t outer, inner;
    uint32_t section;
    char name[32];
    if (!l)
        return;
    begin_kernel *begin_for = (begin_kernel *)dlsym(l, "kokkosp_begin_parallel_for"),
                 *begin_reduce = (begin_kernel *)dlsym(l, "kokkosp_begin_parallel_reduce");
    end_kernel *end_for = (end_kernel *)dlsym(l, "kokkosp_end_parallel_for"),
               *end_reduce = (end_kernel *)dlsym(l, "kokkosp_end_parallel_reduce");
    ((void (*)(const char *, uint32_t *))dlsym(l, "kokkosp_create_profile_section"))("section", &section);
    for (int i = 0; i < TURNS; i++) {
        ((void (*)(const char *))dlsym(l, "kokkosp_push_profile_region"))("region");
        strcpy(name, "for"); /* in the same place each time, as a string of the library's user may be */
        begin_for(name, 0, &outer);
        strcpy(name, "reduce");
        begin_reduce(name, 0, &inner);
        MPI_Barrier(MPI_COMM_WORLD);
        end_reduce(inner);
        end_for(outer);
        ((void (*)(uint32_t))dlsym(l, "kokkosp_start_profile_section"))(section);
        ((copy *)dlsym(l, "kokkosp_begin_deep_copy"))(host, "y", NULL, host, "x", NULL, 8);
        ((void (*)(void))dlsym(l, "kokkosp_end_deep_copy"))();
        ((void (*)(uint32_t))dlsym(l, "kokkosp_stop_profile_section"))(section);
        ((void (*)(void))dlsym(l, "kokkosp_pop_profile_region"))();
    }
}

/* --- NVTX: tables of pointers to functions, from 1 on --- */

typedef void (*function)(void);
enum { CORE = 1, CORE2 = 5, FUNCTIONS = 16 };
static function of[6][FUNCTIONS], *pointers[6][FUNCTIONS];

static int table(int module, function ***to, unsigned *size)
{
    if (module != CORE && module != CORE2)
        return 0;
    for (int i = 0; i < FUNCTIONS; i++)
        pointers[module][i] = i ? &of[module][i] : NULL;
    *to = pointers[module];
    *size = FUNCTIONS;
    return 1;
}

static const void *get(uint32_t id)
{
    static const struct { size_t size; int (*table)(int, function ***, unsigned *); } callbacks = { sizeof callbacks,
                                                                                                    table };
    return id == 1 ? &callbacks : NULL;
}

struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

static void nvtx(void)
{
    void *l = library("NVTX_INJECTION64_PATH");
    typedef int injection(const void *(*)(uint32_t));
    injection *inject = l ? (injection *)dlsym(l, "InitializeInjectionNvtx2") : NULL;
    if (!inject || !inject(get))
        return;
    void *domain = ((void *(*)(const char *))of[CORE2][12])("app");
    struct attributes a = { .version = 3, .size = sizeof a, .message_type = 3 };
    a.message = ((void *(*)(void *, const char *))of[CORE2][10])(domain, "registered");
    for (int i = 0; i < TURNS; i++) {
        uint64_t id = ((uint64_t (*)(const char *))of[CORE][5])("started");
        ((int (*)(const char *))of[CORE][9])("pushed");
        ((int (*)(void *, const void *))of[CORE2][4])(domain, &a);
        MPI_Barrier(MPI_COMM_WORLD);
        ((int (*)(void *))of[CORE2][5])(domain);
        ((int (*)(void))of[CORE][11])();
        ((void (*)(uint64_t))of[CORE][7])(id);
    }
}

/* --- TALP and Caliper: functions that are there where their library is, or ours in its place --- */

void *DLB_MonitoringRegionRegister(const char *name) __attribute__((weak));
int DLB_MonitoringRegionStart(void *region) __attribute__((weak));
int DLB_MonitoringRegionStop(void *region) __attribute__((weak));
void cali_begin_region(const char *name) __attribute__((weak));
void cali_end_region(const char *name) __attribute__((weak));

static void talp(void)
{
    if (!DLB_MonitoringRegionRegister)
        return;
    void *solve = DLB_MonitoringRegionRegister("solve"), *halo = DLB_MonitoringRegionRegister("halo");
    for (int i = 0; i < TURNS; i++) {
        DLB_MonitoringRegionStart(solve);
        DLB_MonitoringRegionStart(halo);
        MPI_Barrier(MPI_COMM_WORLD);
        DLB_MonitoringRegionStop((void *)1); /* the one that was opened last */
        DLB_MonitoringRegionStop(solve);
    }
}

static void caliper(void)
{
    for (int i = 0; i < TURNS && cali_begin_region; i++) {
        cali_begin_region("main loop");
        cali_begin_region("exchange");
        MPI_Barrier(MPI_COMM_WORLD);
        cali_end_region("exchange");
        cali_end_region("main loop");
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    if (!strcmp(what, "kokkos"))
        kokkos();
    else if (!strcmp(what, "nvtx"))
        nvtx();
    else if (!strcmp(what, "talp"))
        talp();
    else
        caliper();
    MPI_Finalize();
    return 0;
}
