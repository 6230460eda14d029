/* SPDX-License-Identifier: MIT */
/* Which processors this process's threads may use, all together, as the program has bound them by the end. */
#include <sched.h>
#include <stdio.h>

#include "base/threads.h"
#include "job/binding.h"
#include "session/internal.h"

enum { THREADS = 1024, TEXT = 4096 };

static void add_threads(cpu_set_t *all)
{
    pid_t thread[THREADS];
    cpu_set_t one;
    uint32_t count = base_threads(thread, THREADS);
    for (uint32_t i = 0; i < count; i++)
        if (!sched_getaffinity(thread[i], sizeof one, &one))
            CPU_OR(all, all, &one);
}

/* "0-3,8"; false: it is longer. */
static bool list_text(const cpu_set_t *set, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0, last; i < CPU_SETSIZE && used < size; i = last + 1) {
        for (last = i; last + 1 < CPU_SETSIZE && CPU_ISSET(i, set) && CPU_ISSET(last + 1, set); last++)
            ;
        if (CPU_ISSET(i, set))
            used += (size_t)snprintf(text + used, size - used, last > i ? "%s%d-%d" : "%s%d", used ? "," : "", i, last);
    }
    return used > 0 && used < size;
}

int session_binding_finish(struct job *job)
{
    cpu_set_t all;
    char text[TEXT];
    CPU_ZERO(&all);
    add_threads(&all);
    return list_text(&all, text, sizeof text) ? job_binding_add(job, session.world.rank, text, job->info.threads) : 0;
}
