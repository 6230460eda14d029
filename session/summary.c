/* SPDX-License-Identifier: MIT */
/* The one line that a predicted run ends with. Scripts read it: names and order stay. */
#include <stdio.h>

#include "base/log.h"
#include "session/session.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

/* " accuracy_16=0.9987", or nothing where the run was too short to tell. */
static void print_accuracy(char *text, size_t size, const struct oracle_score *s, unsigned d)
{
    text[0] = '\0';
    if (s->at[d].predictions)
        snprintf(text, size, " accuracy_%u=%.4f", oracle_score_distances[d], share(s->at[d].hits, s->at[d].predictions));
}

void session_print_predicted(const struct job *merged)
{
    const struct job_oracle *o = &merged->oracle;
    const struct oracle_score *s = &o->score;
    double error = oracle_time_median(s->time_error);
    char further[ORACLE_DISTANCES][32];
    for (unsigned d = 1; d < ORACLE_DISTANCES; d++)
        print_accuracy(further[d], sizeof further[d], s, d);
    base_log_info("predicted events=%llu accuracy=%.4f unknown=%.4f time_error=%.3f actions=%llu gain_seconds=%.3f "
                  "cost_seconds=%.3f ranks=%u%s%s%s",
                  (unsigned long long)s->events, share(s->at[0].hits, s->at[0].predictions),
                  share(s->at[0].unknown, s->at[0].predictions), error < 0 ? 0.0 : error, (unsigned long long)o->actions,
                  o->gain_seconds, o->cost_seconds, o->ranks, further[1], further[2], further[3]);
}
