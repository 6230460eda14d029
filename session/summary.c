/* SPDX-License-Identifier: MIT */
/* The one line that a predicted run ends with. Scripts read it: names and order stay. */
#include "base/log.h"
#include "session/session.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

void session_print_predicted(const struct job *merged)
{
    const struct job_oracle *o = &merged->oracle;
    const struct oracle_score *s = &o->score;
    double error = oracle_time_median(s->time_error);
    base_log_info("predicted events=%llu accuracy=%.4f unknown=%.4f time_error=%.3f actions=%llu gain_seconds=%.3f "
                  "cost_seconds=%.3f accuracy_16=%.4f accuracy_64=%.4f accuracy_128=%.4f ranks=%u",
                  (unsigned long long)s->events, share(s->at[0].hits, s->at[0].predictions),
                  share(s->at[0].unknown, s->at[0].predictions), error < 0 ? 0.0 : error, (unsigned long long)o->actions,
                  o->gain_seconds, o->cost_seconds, share(s->at[1].hits, s->at[1].predictions),
                  share(s->at[2].hits, s->at[2].predictions), share(s->at[3].hits, s->at[3].predictions), o->ranks);
}
