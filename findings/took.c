/* SPDX-License-Identifier: MIT */
#include "findings/took.h"

#include "findings/units.h"

const char *const findings_took_names[JOB_TOOK_PARTS] = { "start", "hooks", "threads", "end", "loading" };

struct findings_took findings_took(const struct job *j)
{
    struct findings_took t = { .known = j->took.ranks && j->took.ranks == j->info.ranks - j->info.missing };

    for (int i = 0; i < JOB_TOOK_LOADING; i++) {
        t.all += (double)j->took.sum[i];
        t.most += (double)j->took.most[i];
    }
    return t;
}

char *findings_took_text(const struct report *r)
{
    const struct job *j = r->job;
    struct findings_took t = findings_took(j);
    const uint64_t *most = j->took.most;

    if (!t.known)
        return findings_text("what Pythia itself took is not known");
    return findings_text("Pythia itself took up to %s a rank, %s of all; the run itself %s\n"
                         "(%s %s, %s %s, %s %s, %s %s; %s %s)",
                         findings_time(t.most), findings_time(t.all), findings_time((double)r->model->wall_ns),
                         findings_took_names[JOB_TOOK_START], findings_time((double)most[JOB_TOOK_START]),
                         findings_took_names[JOB_TOOK_HOOKS], findings_time((double)most[JOB_TOOK_HOOKS]),
                         findings_took_names[JOB_TOOK_THREADS], findings_time((double)most[JOB_TOOK_THREADS]),
                         findings_took_names[JOB_TOOK_END], findings_time((double)most[JOB_TOOK_END]),
                         findings_took_names[JOB_TOOK_LOADING], findings_time((double)most[JOB_TOOK_LOADING]));
}
