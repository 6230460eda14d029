/* SPDX-License-Identifier: MIT */
/* A team that is looked at from inside: how large it is, when each thread works, and who asks for numbers. */
#include "libgomp/real.h"
#include "omp/share.h"
#include "omp/team.h"

/* A worker in a team that is looked at: what it asks, the one of a `single` say, counts as what the others do. */
static void work(struct omp_hook_region *r, uint32_t number, uint32_t threads)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    uint32_t before = t->asked_alone;
    t->asked_size = false;
    if (r->shares)
        omp_hook_share_run(r, number, threads);
    else
        r->fn(r->data);
    if (number > 0 && omp_hook_asked_alone(t) != before)
        atomic_store_explicit(&r->worker_asked, true, memory_order_relaxed);
}

/* Where libgomp alone can tell how large the team is: one more cache line that the workers wait for, 100 ns and more. */
void omp_hook_team_run(void *region)
{
    struct omp_hook_region *r = region;
    uint32_t number = (uint32_t)libgomp_real_table.omp_get_thread_num();
    uint32_t threads = (uint32_t)libgomp_real_table.omp_get_num_threads();
    if (number == 0)
        r->team = threads;
    work(r, number, threads);
}
