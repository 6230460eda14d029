/* SPDX-License-Identifier: MIT */
#include "findings/took.h"

#include "findings/units.h"

const char *const report_took_names[JOB_TOOK_PARTS] = { "start", "hooks", "threads", "end", "loading" };

struct report_took report_took(const struct job *j)
{
    struct report_took t = { .known = j->took.ranks && j->took.ranks == j->info.ranks - j->info.missing };

    for (int i = 0; i < JOB_TOOK_LOADING; i++) {
        t.all += (double)j->took.sum[i];
        t.most += (double)j->took.most[i];
    }
    return t;
}

char *report_took_text(const struct report *r)
{
    const struct job *j = r->job;
    struct report_took t = report_took(j);
    const uint64_t *most = j->took.most;

    if (!t.known)
        return report_text("what Pythia itself took is not known");
    return report_text("Pythia itself took up to %s a rank, %s of all; the run itself %s\n"
                       "(%s %s, %s %s, %s %s, %s %s; %s %s)",
                       report_time(t.most), report_time(t.all), report_time((double)r->model->wall_ns),
                       report_took_names[JOB_TOOK_START], report_time((double)most[JOB_TOOK_START]),
                       report_took_names[JOB_TOOK_HOOKS], report_time((double)most[JOB_TOOK_HOOKS]),
                       report_took_names[JOB_TOOK_THREADS], report_time((double)most[JOB_TOOK_THREADS]),
                       report_took_names[JOB_TOOK_END], report_time((double)most[JOB_TOOK_END]),
                       report_took_names[JOB_TOOK_LOADING], report_time((double)most[JOB_TOOK_LOADING]));
}
