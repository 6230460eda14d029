/* SPDX-License-Identifier: MIT */
/* A team that is looked at from inside: how large it is, and when each thread works. */
#include "libgomp/real.h"
#include "omp/team.h"

/* Where libgomp alone can tell how large the team is: one more cache line that the workers wait for, 100 ns and
   more. */
void omp_hook_team_run(void *region)
{
    struct omp_hook_region *r = region;
    uint32_t number = (uint32_t)libgomp_real_table.omp_get_thread_num();
    uint32_t threads = (uint32_t)libgomp_real_table.omp_get_num_threads();
    if (number == 0)
        r->team = threads;
    if (!r->timed) {
        r->fn(r->data);
        return;
    }
    teams_share_begin(r->timed);
    r->fn(r->data);
    teams_share_end();
}
