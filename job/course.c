/* SPDX-License-Identifier: MIT */
#include "job/course.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "grammar/tally.h"
#include "job/job.h"
#include "job/ranges.h"
#include "job/relation.h"
#include "job/starts.h"
#include "job/value.h"
#include "pythia.h"

/* --- Reading: a file may say anything --- */

static const struct job_start_run *find(const struct job *j, const struct job_variant *v, uint32_t *count)
{
    bool course = v->attr.kind == GRAMMAR_ATTR_VARIES && v->attr.course < 0;
    const struct job_start_run *step = course ? job_starts_find(&j->starts, v->attr.course, count) : NULL;

    return step && *count <= GRAMMAR_COURSE_STEPS ? step : NULL;
}

/* Back by whole periods, to before where the step begins, as often as the value is another step's. */
static bool value_at(const struct job_start_run *step, uint32_t count, uint64_t at, int64_t *value)
{
    uint64_t from = 0, plus = 0;
    uint32_t k = 0;

    while (k + 1 < count && at - from >= step[k].count)
        from += step[k++].count;
    while (step[k].step) {
        uint64_t back = step[k].step > 0 ? (uint64_t)step[k].step : 0;
        if (!back || back > from)
            return false;
        uint64_t times = (at - from) / back + 1;
        plus += times * (uint64_t)step[k].distance;
        at -= times * back;
        while (at < from)
            from -= step[--k].count;
    }
    *value = (int64_t)(plus + (uint64_t)step[k].distance);
    return true;
}

bool job_course_value(const struct job *j, const struct job_variant *v, uint32_t rank, uint64_t nth, int64_t *value)
{
    uint32_t count = 0;
    const struct job_start_run *step = nth == JOB_SOMEWHERE ? NULL : find(j, v, &count);

    if (!step || !value_at(step, count, nth, value))
        return false;
    *value = job_variant_value(v, rank, *value);
    return true;
}

uint32_t job_course_expand(const struct job *j, const struct job_variant *v, uint32_t rank, int64_t *value,
                           uint32_t most)
{
    uint32_t count = 0, n = 0;
    const struct job_start_run *step = find(j, v, &count);

    for (const struct job_start_run *s = step; step && s < step + count; s++) {
        uint32_t back = s->step > 0 ? (uint32_t)s->step : 0, events = s + 1 < step + count ? s->count : back + 1;
        if (back > n || s->step < 0)
            break;
        for (uint32_t k = 0; k < events && n < most; k++, n++)
            value[n] = (int64_t)((uint64_t)s->distance + (back ? (uint64_t)value[n - back] : 0));
    }
    for (uint32_t k = 0; k < n; k++)
        value[k] = job_variant_value(v, rank, value[k]);
    return n;
}

bool job_course_cycle(const struct job *j, const struct job_variant *v, uint64_t *from, uint32_t *period)
{
    uint32_t count = 0;
    const struct job_start_run *step = find(j, v, &count), *last = step ? &step[count - 1] : NULL;

    if (!step || last->step < 0)
        return false;
    *from = 0;
    for (uint32_t k = 0; k + 1 < count; k++)
        *from += step[k].count;
    *period = !last->step ? 1 : last->distance ? 0 : (uint32_t)last->step;
    *from = *from >= *period && last->step ? *from - *period : *from;
    return true;
}

/* Of all members of the variant; of ranks, which are not counted, as many as an average member has. */
static uint64_t events_of(const struct job_class *c, const struct job_variant *v)
{
    uint64_t of = job_ranges_size(c->ranges + v->range_first, v->range_count),
             all = job_ranges_size(c->ranges, c->member_ranges);

    if (v->attr.count != JOB_ALWAYS)
        return v->attr.count;
    return all ? grammar_share(c->grammar->stats[v->node].count, of, all) : 0;
}

uint64_t job_values_not_kept(const struct job *j, const struct job_class *c)
{
    uint64_t sum = 0, of_node = 0, of_channel = 0;
    uint32_t count;

    for (const struct job_variant *v = c->variants, *end = v + c->variant_count; v < end; v++) {
        bool lost = v->attr.kind == GRAMMAR_ATTR_VARIES && !find(j, v, &count);
        bool same_node = v > c->variants && v->node == v[-1].node;
        sum += same_node ? 0 : of_node;
        of_node = same_node ? of_node : 0;
        of_channel = same_node && v->attr.channel == v[-1].attr.channel ? of_channel : 0;
        of_channel += lost ? events_of(c, v) : 0;
        of_node = of_channel > of_node ? of_channel : of_node;
    }
    return sum + of_node;
}

/* --- Taken to another rank --- */

uint32_t job_course_steps(const struct job_starts *s, int64_t name, struct job_start_run *step)
{
    uint32_t count = 0;
    const struct job_start_run *found = name < 0 ? job_starts_find(s, name, &count) : NULL;

    if (!found || count > GRAMMAR_COURSE_STEPS)
        return 0;
    memcpy(step, found, count * sizeof *step);
    return count;
}

void job_course_move(struct job_start_run *step, uint32_t count, uint32_t relation, uint32_t modulus, uint32_t from,
                     uint32_t to)
{
    for (struct job_start_run *s = step; s < step + count && from != to; s++)
        if (!s->step)
            s->distance = job_relation_value(relation, modulus, s->distance, from, to);
}

/* --- Making --- */

/* Where a step is longer than a run can say there is no course. */
static int define(struct job_starts *made, const struct grammar_step *from, uint32_t count, int64_t *name)
{
    BASE_OWN struct job_start_run *run = calloc(count, sizeof *run);
    bool fits = true;

    for (uint32_t k = 0; run && k < count; k++) {
        uint64_t events = k + 1 < count ? from[k + 1].from - from[k].from : UINT32_MAX;
        run[k] = (struct job_start_run){ from[k].value, (int32_t)from[k].back, (uint32_t)events };
        fits &= events <= UINT32_MAX;
    }
    *name = run && fits ? job_starts_name(run, count) : 0;
    return !run ? PYTHIA_ENOMEM : fits ? job_starts_keep(made, *name, run, count) : 0;
}

static uint32_t course_of(const struct grammar_flat *g, uint32_t terminal, unsigned channel)
{
    const struct grammar_flat_course *c = g->courses;
    uint32_t i = BASE_ARRAY_PLACE(g->course_count, k, c[k].terminal < terminal ||
                                  (c[k].terminal == terminal && c[k].channel < channel));

    return i < g->course_count && c[i].terminal == terminal && c[i].channel == channel ? i : GRAMMAR_NONE;
}

int job_courses_add(struct job *j, struct grammar_flat *g)
{
    BASE_OWN int64_t *name = calloc((size_t)g->course_count + 1, sizeof *name);
    struct job_starts made = { 0 };
    int error = name ? 0 : PYTHIA_ENOMEM;

    for (uint32_t n = 0; n < g->node_count && g->course_count && !error; n++)
        for (uint32_t k = 0; k < g->nodes[n].attr_count && !error; k++) {
            struct grammar_attr *a = &g->attrs[g->nodes[n].attr + k];
            uint32_t i = a->kind == GRAMMAR_ATTR_VARIES ? course_of(g, g->nodes[n].symbol, a->channel) : GRAMMAR_NONE;
            if (i == GRAMMAR_NONE)
                continue;
            if (!name[i])
                error = define(&made, g->steps + g->courses[i].first, g->courses[i].count, &name[i]);
            a->course = name[i];
        }
    if (!error)
        return job_starts_put(j, &made);
    job_starts_drop(&made);
    return error;
}
