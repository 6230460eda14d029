/* SPDX-License-Identifier: MIT */
#include "teams/turns.h"

#include <stddef.h>

enum { RETURNS = 2 };

/* Whether it came back often and long enough. */
static bool regular(struct teams_return *here, uint64_t number, uint64_t now)
{
    uint64_t period = number - here->seen;
    bool first = here->seen == 0, again = !first && period == here->period;
    here->times = again ? here->times + 1 : !first;
    here->since = again ? here->since : here->time;
    here->period = first ? 0 : period;
    here->seen = number;
    return here->times >= (uint64_t)RETURNS << here->lost && now - here->since >= TEAMS_STALL;
}

static enum teams_turn lose(struct teams_turns *t)
{
    t->mark->lost++;
    t->mark->seen = 0;
    t->mark = NULL;
    return TEAMS_LOST;
}

enum teams_turn teams_turns_next(struct teams_turns *t, struct teams_return *here, uint64_t now)
{
    t->number++;
    if (t->mark) {
        if (t->number - t->first < t->period)
            return TEAMS_INSIDE;
        if (here != t->mark)
            return lose(t);
        t->first = t->number;
        return TEAMS_BEGINS;
    }
    uint64_t before = here->time;
    bool found = regular(here, t->number, now);
    here->time = now;
    if (!found)
        return TEAMS_INSIDE;
    t->took = now - before;
    t->mark = here;
    t->period = here->period;
    t->first = t->number;
    return TEAMS_FOUND;
}
