/* SPDX-License-Identifier: MIT */
/* What a process is to its session, whatever goes on in it: its state, who asks to be told of what, its threads. */
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "session/internal.h"
#include "session/tree.h"

struct session session = {.lock = PTHREAD_MUTEX_INITIALIZER};

const struct session_hooks *session_hooks; /* set before there are threads */

void session_hooks_set(const struct session_hooks *hooks)
{
    session_hooks = hooks;
}

bool session_start_alone(void)
{
    return session_hooks && session_hooks->start && session_hooks->start();
}

void session_give_way(void)
{
    if (session_hooks && session_hooks->give_way)
        session_hooks->give_way();
}

void session_tell_end(void)
{
    if (session_hooks && session_hooks->thread_ends)
        session_hooks->thread_ends();
}

void session_off(const char *why)
{
    int was = atomic_exchange(&base_hot.mode, SESSION_OFF);
    session_epoch_next();
    if (was != SESSION_OFF && why)
        base_log_warn("%s: switched off; the program runs on unrecorded", why);
}

void session_barrier(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
        usleep(1000); /* any store made before is visible long before that */
}

/* Through the loader: the session itself needs no OpenMP. */
uint32_t session_team(void)
{
    int (*ask)(void);
    void *symbol = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    if (!symbol)
        return 0;
    memcpy(&ask, &symbol, sizeof ask);
    int threads = ask();
    return threads > 0 ? (uint32_t)threads : 1;
}

void session_ask_team(void)
{
    uint32_t team = session_team();
    if (team)
        atomic_store(&session.team, team);
}

void session_find_next(const char *name, void *function)
{
    void *next = dlsym(RTLD_NEXT, name);
    memcpy(function, &next, sizeof next);
}
