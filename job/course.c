/* SPDX-License-Identifier: MIT */
#include "job/course.h"

#include <stdlib.h>

#include "base/array.h"
#include "job/job.h"
#include "job/starts.h"
#include "job/value.h"
#include "pythia.h"

/* --- Reading: a file may say anything --- */

static const struct job_start_run *find(const struct job *j, const struct grammar_attr *a, uint32_t *count)
{
    const struct job_start_run *step = a->list[0] ? job_starts_find(j, a->list[0], count) : NULL;

    return step && *count <= GRAMMAR_COURSE_STEPS && (uint64_t)a->list[1] <= UINT32_MAX ? step : NULL;
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

static void of_rank(const struct grammar_attr *a, uint32_t rank, int64_t *value)
{
    uint64_t modulus = (uint64_t)a->list[1];

    if (modulus && *value >= 0)
        *value = (int64_t)(((uint64_t)*value + rank) % modulus);
}

bool job_course_value(const struct job *j, const struct grammar_attr *a, uint32_t rank, uint64_t nth, int64_t *value)
{
    uint32_t count = 0;
    const struct job_start_run *step = nth == JOB_SOMEWHERE ? NULL : find(j, a, &count);

    if (!step || !value_at(step, count, nth, value))
        return false;
    of_rank(a, rank, value);
    return true;
}

uint32_t job_course_expand(const struct job *j, const struct grammar_attr *a, uint32_t rank, int64_t *value,
                           uint32_t most)
{
    uint32_t count = 0, n = 0;
    const struct job_start_run *step = find(j, a, &count);

    for (const struct job_start_run *s = step; step && s < step + count; s++) {
        uint32_t back = s->step > 0 ? (uint32_t)s->step : 0, events = s + 1 < step + count ? s->count : back + 1;
        if (back > n || s->step < 0)
            break;
        for (uint32_t k = 0; k < events && n < most; k++, n++)
            value[n] = (int64_t)((uint64_t)s->distance + (back ? (uint64_t)value[n - back] : 0));
    }
    for (uint32_t k = 0; k < n; k++)
        of_rank(a, rank, &value[k]);
    return n;
}

bool job_course_cycle(const struct job *j, const struct grammar_attr *a, uint64_t *from, uint32_t *period)
{
    uint32_t count = 0;
    const struct job_start_run *step = find(j, a, &count), *last = step ? &step[count - 1] : NULL;

    if (!step || last->step < 0)
        return false;
    *from = 0;
    for (uint32_t k = 0; k + 1 < count; k++)
        *from += step[k].count;
    *period = !last->step ? 1 : last->distance ? 0 : (uint32_t)last->step;
    *from = *from >= *period && last->step ? *from - *period : *from;
    return true;
}

uint64_t job_values_not_kept(const struct job *j, const struct job_class *c)
{
    uint64_t sum = 0, of_node = 0, of_channel = 0;
    uint32_t count;

    for (const struct job_variant *v = c->variants, *end = v + c->variant_count; v < end; v++) {
        bool lost = v->attr.kind == GRAMMAR_ATTR_VARIES && !find(j, &v->attr, &count);
        bool same_node = v > c->variants && v->node == v[-1].node;
        sum += same_node ? 0 : of_node;
        of_node = same_node ? of_node : 0;
        of_channel = (same_node && v->attr.channel == v[-1].attr.channel ? of_channel : 0) + (lost ? v->attr.count : 0);
        of_node = of_channel > of_node ? of_channel : of_node;
    }
    return sum + of_node;
}

/* --- Making --- */

/* Whether the peers are ranks of the world that a message may go to. */
static bool relative(const struct job *j, uint32_t terminal, const struct grammar_step *step, uint32_t count,
                     uint32_t modulus)
{
    uint32_t kind = j->terminals[terminal].call_kind;

    for (uint32_t k = 0; modulus && k < count; k++)
        if (!step[k].back && step[k].value >= 0 && (uint64_t)step[k].value >= modulus)
            return false;
    return modulus && (kind == JOB_P2P || kind == JOB_COMPLETION || kind == JOB_PROBE);
}

/* Where a step is longer than a run can say there is no course. */
static int define(struct job_starts *made, const struct grammar_step *from, uint32_t count, uint32_t rank,
                  uint32_t modulus, int64_t *name)
{
    struct job_start_run *run = calloc(count, sizeof *run);
    uint32_t own = modulus ? modulus - rank % modulus : 0;
    bool fits = true;

    for (uint32_t k = 0; run && k < count; k++) {
        uint64_t events = k + 1 < count ? from[k + 1].from - from[k].from : UINT32_MAX;
        bool moves = modulus && !from[k].back && from[k].value >= 0;
        run[k] = (struct job_start_run){
            .distance = moves ? (int64_t)(((uint64_t)from[k].value + own) % modulus) : from[k].value,
            .step = (int32_t)from[k].back, .count = (uint32_t)events };
        fits &= events <= UINT32_MAX;
    }
    *name = run && fits ? job_starts_name(run, count) : 0;
    int error = !run ? PYTHIA_ENOMEM : fits ? job_starts_keep(made, *name, run, count) : 0;
    free(run);
    return error;
}

/* What was found out of a course: name 0: not yet. */
struct known { int64_t name; uint32_t modulus; };

static int name_course(const struct job *j, struct job_starts *made, const struct grammar_flat *g, uint32_t terminal,
                       struct grammar_attr *a, uint32_t rank, const uint32_t *modulus, struct known *known)
{
    uint32_t own = a->channel == GRAMMAR_PEER || a->channel == GRAMMAR_SOURCE ? modulus[terminal] : 0;
    const struct grammar_flat_course *c = g->courses;
    uint32_t i = BASE_ARRAY_PLACE(g->course_count, k, c[k].terminal < terminal ||
                                  (c[k].terminal == terminal && c[k].channel < a->channel));
    if (i == g->course_count || c[i].terminal != terminal || c[i].channel != a->channel)
        return 0;
    const struct grammar_step *step = g->steps + c[i].first;
    if (!known[i].name) {
        known[i].modulus = relative(j, terminal, step, c[i].count, own) ? own : 0;
        int error = define(made, step, c[i].count, rank, known[i].modulus, &known[i].name);
        if (error)
            return error;
    }
    a->list[0] = known[i].name;
    a->list[1] = known[i].name ? known[i].modulus : 0;
    return 0;
}

int job_courses_add(struct job *j, struct grammar_flat *g, uint32_t rank, const uint32_t *modulus)
{
    struct known *known = calloc((size_t)g->course_count + 1, sizeof *known);
    struct job_starts made = { 0 };
    int error = known ? 0 : PYTHIA_ENOMEM;

    for (uint32_t n = 0; n < g->node_count && g->course_count && !error; n++)
        for (uint32_t k = 0; k < g->nodes[n].attr_count && !error; k++) {
            struct grammar_attr *a = &g->attrs[g->nodes[n].attr + k];
            if (a->kind == GRAMMAR_ATTR_VARIES)
                error = name_course(j, &made, g, g->nodes[n].symbol, a, rank, modulus, known);
        }
    free(known);
    if (!error)
        return job_starts_put(j, &made);
    job_starts_drop(&made);
    return error;
}
