/* SPDX-License-Identifier: MIT */
/* What an analysis consists of: private to analysis.c, moving.c, whatif.c. See analysis.h. */
#ifndef PYTHIA_REPLAY_ANALYSIS_PARTS_H
#define PYTHIA_REPLAY_ANALYSIS_PARTS_H

#include "replay/analysis.h"

struct replay_analysis {
    const struct job *job;
    struct replay_bind *bind;
    struct replay_blame *blame;
    struct replay_result result;
    struct replay_moving moving;
    double recorded, missed; /* missed: by how much the replay is longer than that, a share */
    double fill;             /* how much of extras and rests is counted (replay_bind_fill) */
    double drawn;            /* with drawn work the replay is so much longer, a factor; 0: not asked yet */
    uint64_t steps;          /* of one replay, at most */
};

static inline uint32_t analysis_ranks(const struct replay_analysis *a)
{
    return replay_bind_source(a->bind)->ranks;
}

uint64_t analysis_exact_steps(const struct replay_analysis *a);

/* A replay with a change. 0 or PYTHIA_ELIMIT; `blame` may be NULL. */
int analysis_wall(struct replay_analysis *a, const struct bind_change *c, uint64_t limit, struct replay_blame *blame,
                  double *seconds, bool *known);

/* With drawn work the replay is so much longer than with rests, a factor. */
double analysis_drawn(struct replay_analysis *a);

/* Whether what a call there takes may be a wait. */
bool analysis_waits(const struct bind_site *s);

#endif
