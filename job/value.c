/* SPDX-License-Identifier: MIT */
/* Reading attributes of a job for one member. */
#include "job/job.h"

#include "base/array.h"
#include "job/course.h"
#include "job/ranges.h"
#include "job/relation.h"

/* How many are before (node, channel). */
static uint32_t variant_place(const struct job_class *c, uint32_t node, unsigned channel)
{
    const struct job_variant *v = c->variants;
    return BASE_ARRAY_PLACE(c->variant_count, i,
                            v[i].node < node || (v[i].node == node && v[i].attr.channel < channel));
}

const struct job_variant *job_variants(const struct job_class *c, uint32_t node, enum grammar_channel channel,
                                       uint32_t *count)
{
    uint32_t first = variant_place(c, node, channel);
    *count = variant_place(c, node, channel + 1u) - first;
    return c->variants + first;
}

const struct job_variant *job_variant(const struct job_class *c, uint32_t node, enum grammar_channel channel,
                                      uint32_t rank, uint32_t thread)
{
    uint32_t count;
    for (const struct job_variant *v = job_variants(c, node, channel, &count); count; v++, count--)
        if (job_ranges_contain(c->ranges + v->range_first, v->range_count, rank, thread))
            return v;
    return NULL;
}

const struct job_variant *job_variant_most(const struct job_class *c, uint32_t node, enum grammar_channel channel)
{
    enum { LOOKED_AT = 8, RANGES = 64 }; /* variants, and ranges of each: asked for each event */
    const struct job_variant *most = NULL;
    uint64_t members = 0;
    uint32_t count;
    const struct job_variant *v = job_variants(c, node, channel, &count);
    for (uint32_t i = 0; i < count && i < LOOKED_AT; i++, v++) {
        uint64_t here = job_ranges_size(c->ranges + v->range_first, v->range_count < RANGES ? v->range_count : RANGES);
        if (here > members) {
            most = v;
            members = here;
        }
    }
    return most;
}

double job_attr_mean(const struct grammar_attr *a)
{
    uint64_t count = a->count != JOB_ALWAYS ? a->count : 1;
    return count ? (double)a->sum / (double)count : 0;
}

int64_t job_variant_value(const struct job_variant *v, uint32_t rank, int64_t value)
{
    return job_relation_value(v->relations, v->modulus, value, v->sample_rank, rank);
}

int job_attr_value(const struct job *j, const struct job_class *c, uint32_t node, enum grammar_channel channel,
                   uint32_t rank, uint32_t thread, uint64_t nth, int64_t *value)
{
    const struct job_variant *v = job_variant(c, node, channel, rank, thread);
    int64_t own;
    if (!v)
        return 2;
    if (v->attr.kind == GRAMMAR_ATTR_VARIES)
        return !job_course_value(j, v, rank, nth, value) ? 1 : *value == GRAMMAR_ABSENT ? 2 : 0;
    if (!grammar_attr_constant(&v->attr, &own) || v->attr.kind == GRAMMAR_ATTR_KEYED)
        return 1;
    *value = job_variant_value(v, rank, own);
    return 0;
}
