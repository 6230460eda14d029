/* SPDX-License-Identifier: MIT */
/* Which loop is the main one, and the call that marks its turns; of which loops the turns are not seen. */
#include <stdlib.h>

#include "findings/loops_parts.h"

static bool is_in(const struct findings_loops *l, int loop, int outer)
{
    while (loop > outer)
        loop = l->loop[loop].parent;
    return loop == outer;
}

static bool turned(const struct findings_loops *l, int loop)
{
    return l->loop[loop].turns.sum > l->loop[loop].entries.sum;
}

/* One where nothing is called but in one loop within. */
static bool is_unseen(const struct findings_loops *l, int loop)
{
    uint32_t within = 0;
    for (uint32_t i = 0; i < l->loops; i++)
        within += l->loop[i].parent == loop && l->loop[i].streams;
    for (uint32_t i = 0; i < l->stops && within == 1; i++)
        within += l->stop[i].loop == loop;
    return within == 1 && !turned(l, loop);
}

/* --- One place that calls one function or another --- */

/* The frame of a stop in which the loop is the innermost one; NULL: it has none, or is in a loop within. */
static const struct loops_frame *frame_in(const struct loops_search *s, const struct loops_stop *stop, int loop)
{
    for (uint32_t k = 0; k + 1 < stop->frames; k++) {
        const struct loops_frame *f = &stop->frame[k];
        if (f->count && s->chain[f->first + f->count - 1] == loop)
            return f;
    }
    return NULL;
}

/* Of a stop in `loop` the loop next within, which the function that is called has; -1: none. */
static int within_of(const struct loops_search *s, uint32_t stop, int loop)
{
    int at = loops_of_stop(s, stop);

    while (at >= 0 && at != loop && s->l->loop[at].parent != loop)
        at = s->l->loop[at].parent;
    return at == loop ? -1 : at;
}

/* Whether all that is called in a loop is called at one place (a pointer), where some function has all its calls in one
   loop: called twice in a row it is entered anew as if it turned. */
static bool calls_by_pointer(const struct loops_search *s, int loop)
{
    const struct loops_frame *one = NULL;
    bool *in = calloc((size_t)s->hops->stop_count + 1, sizeof *in), same = s->l->by_code, unseen = false;

    for (uint32_t i = 0; i < s->hops->stop_count && same; i++) {
        in[i] = is_in(s->l, loops_of_stop(s, i), loop);
        const struct loops_frame *f = in[i] ? frame_in(s, &s->stop[i], loop) : NULL;
        same = !in[i] || (f && (!one || loops_same_frame(f, one)));
        one = f ? f : one;
    }
    for (uint32_t i = 0; i < s->hops->stop_count && same && !unseen; i++) {
        int within = in[i] ? within_of(s, i, loop) : -1;
        unseen = within >= 0 && turned(s->l, within);
        for (uint32_t k = 0; k < s->hops->stop_count && unseen; k++)
            unseen = !in[k] || within_of(s, k, loop) == within ||
                     !findings_places_share(frame_in(s, &s->stop[i], loop)[1].place,
                                            frame_in(s, &s->stop[k], loop)[1].place);
    }
    free(in);
    return unseen;
}

/* The loop that takes most of the time of another one, of which most turns do not come to it: those around it read
   commands, or do one thing after the other. -1: there is none. */
static int main_within(const struct findings_loops *l, int outer)
{
    const struct findings_loop *o = &l->loop[outer];
    for (uint32_t i = (uint32_t)outer + 1; i < l->loops; i++)
        if (is_in(l, (int)i, outer) && 2 * l->loop[i].ns > o->ns && 2 * l->loop[i].entries.sum <= o->turns.sum &&
            turned(l, (int)i))
            return (int)i;
    return -1;
}

int findings_loop_turned(const struct findings_loops *l, int loop)
{
    while (loop >= 0 && l->loop[loop].parent >= 0 && !turned(l, loop))
        loop = l->loop[loop].parent;
    return loop;
}

/* In no loop that turned. */
static bool is_outer(const struct findings_loops *l, int loop)
{
    int around = findings_loop_turned(l, l->loop[loop].parent);
    return around < 0 || !turned(l, around) || l->loop[around].unseen;
}

static void choose(struct findings_loops *l)
{
    l->main = -1;
    for (int once = 0; once <= 1 && l->main < 0; once++)
        for (int i = 0; i < (int)l->loops; i++)
            if (l->loop[i].streams && !l->loop[i].unseen && (once || turned(l, i)) && is_outer(l, i) &&
                (l->main < 0 || l->loop[i].ns > l->loop[l->main].ns))
                l->main = i;
    for (int within = l->main; within >= 0; within = main_within(l, l->main))
        l->main = within;
}

static void find_mark(struct loops_search *s)
{
    uint64_t *all = calloc((size_t)s->j->terminal_count + 1, sizeof *all), l = (uint64_t)s->l->main;
    struct findings_loop *loop = &s->l->loop[l];
    for (uint64_t m = s->streams; m--;)
        if (s->entries[l * s->streams + m] > 0)
            loop->rank = s->stream[m].rank;
    for (uint32_t i = 0; i < s->hops->stop_count; i++)
        all[s->hops->stop[i].terminal] += s->hops->stop[i].count;
    for (uint32_t i = s->hops->stop_count; i--;)
        if (loops_of_stop(s, i) == s->l->main && s->hops->stop[i].count == loop->turns.sum &&
            all[s->hops->stop[i].terminal] == loop->turns.sum)
            loop->mark = s->hops->stop[i].terminal;
    free(all);
}

void loops_choose_main(struct loops_search *s)
{
    for (uint32_t i = 0; i < s->l->loops; i++)
        s->l->loop[i].unseen = s->l->unknown || is_unseen(s->l, (int)i) || calls_by_pointer(s, (int)i);
    choose(s->l);
    if (s->l->main >= 0)
        find_mark(s);
}
