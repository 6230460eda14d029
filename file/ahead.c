/* SPDX-License-Identifier: MIT */
#include "file/ahead.h"

#include "job/follow.h"
#include "job/job.h"
#include "job/value.h"
#include "oracle/oracle.h"

/* Events of the terminal that come before that one. */
static uint64_t between(struct oracle *o, uint64_t distance, uint32_t terminal)
{
    struct oracle_answer a;
    uint64_t count = 0;

    for (uint64_t d = 1; d < distance; d++)
        count += oracle_predict(o, d, &a) == 0 && a.terminal == terminal;
    return count;
}

int file_value_ahead(const struct file_stream *s, struct oracle *o, uint64_t distance,
                     enum grammar_channel channel, struct oracle_answer *answer, int64_t *value, double *chance)
{
    const struct job_class *c = &s->job->classes[s->class_index];

    if (oracle_predict(o, distance, answer) || answer->reference != 0 || answer->node == GRAMMAR_NONE)
        return 1;
    const struct job_variant *v = job_variant(c, answer->node, channel, s->rank, s->thread);
    *chance = 1;
    if (!v || channel == GRAMMAR_TEAM)
        return 1;
    if (grammar_attr_constant(&v->attr, value)) {
        *value = job_variant_value(v, s->rank, *value);
        return 0;
    }
    if (!s->follow || !job_follow_say(s->follow, answer->terminal, v, between(o, distance, answer->terminal), value))
        return 1;
    *chance = job_follow_chance(s->follow, answer->terminal);
    return 0;
}
