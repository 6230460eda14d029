/* SPDX-License-Identifier: MIT */
/*
 * Marks as keys of PMIx (Open MPI). Its library is opened, not linked: a program that was not launched, or by something
 * else, needs none. PMIx counts its users in a process, so Open MPI shares what is initialised here.
 */
#include "pmpi/present.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PMIX_KEY_MARK "pythia.here"

static struct {
    pmix_status_t (*init)(pmix_proc_t *, pmix_info_t *, size_t);
    pmix_status_t (*put)(pmix_scope_t, const char *, pmix_value_t *);
    pmix_status_t (*commit)(void);
    pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **);
    pmix_status_t (*finalize)(const pmix_info_t *, size_t);
    pmix_status_t (*fence)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t, pmix_op_cbfunc_t, void *);
    pmix_proc_t me;
} pmix;

static bool pmix_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool pmix_load(void)
{
    void *library = getenv("PMIX_NAMESPACE") ? dlopen("libpmix.so.2", RTLD_LAZY | RTLD_LOCAL) : NULL;
    return library && pmix_find(library, "PMIx_Init", &pmix.init) && pmix_find(library, "PMIx_Put", &pmix.put) &&
           pmix_find(library, "PMIx_Commit", &pmix.commit) && pmix_find(library, "PMIx_Get", &pmix.get) &&
           pmix_find(library, "PMIx_Finalize", &pmix.finalize) && pmix_find(library, "PMIx_Fence_nb", &pmix.fence);
}

static int pmix_announce(void)
{
    pmix_value_t mark;
    if (!pmix_load() || pmix.init(&pmix.me, NULL, 0) != PMIX_SUCCESS)
        return -1;
    memset(&mark, 0, sizeof mark);
    mark.type = PMIX_BOOL;
    mark.data.flag = true;
    if (pmix.put(PMIX_GLOBAL, PMIX_KEY_MARK, &mark) == PMIX_SUCCESS && pmix.commit() == PMIX_SUCCESS)
        return 0;
    pmix.finalize(NULL, 0);
    return -1;
}

/* At once: whoever has not put the mark before MPI_Init never will. */
static int pmix_present(int rank)
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

static void pmix_close(void)
{
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
