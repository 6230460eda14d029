/* SPDX-License-Identifier: MIT */
#include "findings/own_cost.h"

#include "findings/units.h"

const char *const findings_own_cost_names[JOB_TOOK_PARTS] = { "start", "hooks", "threads", "end", "loading" };

struct findings_own_cost findings_own_cost(const struct job *j)
{
    struct findings_own_cost t = { .known = j->took.ranks && j->took.ranks == j->info.ranks - j->info.missing };

    for (int i = 0; i < JOB_TOOK_LOADING; i++) {
        t.all += (double)j->took.sum[i];
        t.most += (double)j->took.most[i];
    }
    return t;
}

char *findings_own_cost_text(const struct report *r)
{
    const struct job *j = r->job;
    struct findings_own_cost t = findings_own_cost(j);
    const uint64_t *most = j->took.most;

    if (!t.known)
        return findings_text("what Pythia itself took is not known");
    return findings_text("Pythia itself took up to %s a rank, %s of all; the run itself %s\n"
                         "(%s %s, %s %s, %s %s, %s %s; %s %s)",
                         findings_time(t.most), findings_time(t.all), findings_time((double)r->model->wall_ns),
                         findings_own_cost_names[JOB_TOOK_START], findings_time((double)most[JOB_TOOK_START]),
                         findings_own_cost_names[JOB_TOOK_HOOKS], findings_time((double)most[JOB_TOOK_HOOKS]),
                         findings_own_cost_names[JOB_TOOK_THREADS], findings_time((double)most[JOB_TOOK_THREADS]),
                         findings_own_cost_names[JOB_TOOK_END], findings_time((double)most[JOB_TOOK_END]),
                         findings_own_cost_names[JOB_TOOK_LOADING], findings_time((double)most[JOB_TOOK_LOADING]));
}
