/* SPDX-License-Identifier: MIT */
/*
 * Marks as keys of PMIx (Open MPI). Its library is opened, not linked: a program that was not launched, or by something
 * else, needs none. PMIx counts its users in a process, so Open MPI shares what is initialised here.
 *
 * MPI_Init of Open MPI 5 fails where PMIx is initialised already (ompi_rte_init then asks for a process with no name).
 * There the mark is put *after* MPI_Init, and who has none is asked again until PMIX_LATE_SECONDS after that: all ranks
 * leave MPI_Init together, so those that put one do it within moments.
 */
#include "pmpi/present.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define PMIX_KEY_MARK "pythia.here"

enum { PMIX_LATE_SECONDS = 20, PMIX_NAP_US = 500, PMIX_NAP_MOST_US = 20000 };

static struct {
    pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t);
    pmix_status_t (*put)(pmix_scope_t, const char *, pmix_value_t *);
    pmix_status_t (*commit)(void);
    pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **);
    pmix_status_t (*finalize)(const pmix_info_t *, size_t);
    pmix_status_t (*fence)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t, pmix_op_cbfunc_t, void *);
    pmix_proc_t me;
    uint64_t shared; /* ns that opening it took, which MPI_Init then need not do */
    bool late;      /* the mark waits for MPI_Init's end */
    uint64_t until; /* this one asks again */
} pmix;

static bool pmix_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* May be called before MPI_Init. */
static bool pmix_is_late(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    PMPI_Get_library_version(version, &length);
    return strncmp(version, "Open MPI v", 10) == 0 && atoi(version + 10) >= 5;
}

/* After MPI_Init: that library only which Open MPI has opened. */
static bool pmix_load(int only)
{
    void *library = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_LOCAL | only);
    return library && pmix_find(library, "PMIx_Init", &pmix.init) && pmix_find(library, "PMIx_Put", &pmix.put) &&
           pmix_find(library, "PMIx_Commit", &pmix.commit) && pmix_find(library, "PMIx_Get", &pmix.get) &&
           pmix_find(library, "PMIx_Finalize", &pmix.finalize) && pmix_find(library, "PMIx_Fence_nb", &pmix.fence);
}

static int pmix_put(int only)
{
    pmix_value_t mark;
    uint64_t before = base_clock_now();
    if (!pmix_load(only) || pmix.init(&pmix.me, NULL, 0) != PMIX_SUCCESS)
        return -1;
    pmix.shared = base_clock_now() - before;
    memset(&mark, 0, sizeof mark);
    mark.type = PMIX_BOOL;
    mark.data.flag = true;
    if (pmix.put(PMIX_GLOBAL, PMIX_KEY_MARK, &mark) == PMIX_SUCCESS && pmix.commit() == PMIX_SUCCESS)
        return 0;
    pmix.finalize(NULL, 0);
    return -1;
}

static int pmix_announce(uint64_t *shared)
{
    pmix.init = NULL;
    pmix.shared = 0;
    if (!getenv("PMIX_NAMESPACE"))
        return -1;
    pmix.late = pmix_is_late();
    pmix.until = 0;
    int error = pmix.late ? 0 : pmix_put(0);
    *shared = pmix.shared;
    return error;
}

/* What is known now, and here. */
static int pmix_ask(int rank)
{
    pmix_proc_t whose = pmix.me;
    pmix_info_t at_once;
    pmix_value_t *value = NULL;
    memset(&at_once, 0, sizeof at_once);
    memcpy(at_once.key, PMIX_IMMEDIATE, sizeof PMIX_IMMEDIATE);
    at_once.value.type = PMIX_BOOL;
    at_once.value.data.flag = true;
    whose.rank = (pmix_rank_t)rank;
    pmix_status_t status = pmix.get(&whose, PMIX_KEY_MARK, &at_once, 1, &value);
    free(value); /* a bool: nothing inside */
    return status == PMIX_SUCCESS ? 1 : status == PMIX_ERR_NOT_FOUND ? 0 : -1;
}

/* Whoever has not put the mark by then never will. */
static int pmix_present(int rank)
{
    useconds_t nap = PMIX_NAP_US;
    int present;
    if (pmix.late && !pmix.until) {
        if (pmix_put(RTLD_NOLOAD))
            pmix.init = NULL;
        pmix.until = base_clock_system() + PMIX_LATE_SECONDS * UINT64_C(1000000000);
    }
    if (!pmix.init)
        return -1;
    while ((present = pmix_ask(rank)) == 0 && base_clock_system() < pmix.until) {
        usleep(nap);
        nap = 2 * nap < PMIX_NAP_MOST_US ? 2 * nap : PMIX_NAP_MOST_US;
    }
    return present;
}

static void pmix_close(void)
{
    if (pmix.init)
        pmix.finalize(NULL, 0);
}

static _Atomic int pmix_met; /* 1: all are there, -1: not */

static void pmix_fenced(pmix_status_t status, void *data)
{
    (void)data;
    atomic_store(&pmix_met, status == PMIX_SUCCESS ? 1 : -1);
}

static int pmix_meet(void (*meanwhile)(void))
{
    if (pmix.init(&pmix.me, NULL, 0) != PMIX_SUCCESS)
        return -1;
    pmix_status_t status = pmix.fence(NULL, 0, NULL, 0, pmix_fenced, NULL);
    while (status == PMIX_SUCCESS && !atomic_load(&pmix_met))
        meanwhile();
    pmix.finalize(NULL, 0);
    return status == PMIX_SUCCESS && atomic_load(&pmix_met) > 0 ? 0 : -1;
}

const struct pmpi_hook_launcher pmpi_hook_launcher = {pmix_announce, pmix_present, pmix_close, pmix_meet};
