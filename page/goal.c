/* SPDX-License-Identifier: MIT */
/* A job as GOAL: see replay/goal.h. */
#include <inttypes.h>

#include "replay/goal.h"
#include "findings/findings.h"
#include "page/export.h"

void report_print_goal(struct report *r, FILE *out)
{
    struct replay_analysis *a = report_analysis(r);

    if (!a) {
        fputs("num_ranks 0\n", out);
        return;
    }
    struct replay_model m = replay_bind_model(replay_analysis_bind(a));
    fprintf(out,
            "// LogGOPSim -f FILE -L %" PRId64 " -o %" PRId64 " -g %" PRId64 " -O %" PRId64 " -G %" PRId64
            " -S %" PRIu64 "\n",
            m.L, m.o, m.g, m.O, m.G / 1000, m.S);
    replay_goal_write(replay_bind_source(replay_analysis_bind(a)), &m, out);
}
