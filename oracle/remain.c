/* SPDX-License-Identifier: MIT */
/* What remains: of the run, of the loop around the position. Where it is in the top rule. */
#include <math.h>

#include "oracle/internal.h"

static void remain(const struct oracle *o, const struct oracle_hypothesis *h, struct oracle_remaining *r)
{
    const struct oracle_reference *ref = &o->reference[h->reference];
    const struct oracle_index *x = ref->index;
    double gap = oracle_gap_factor(o), duration = oracle_duration_factor(o), events = 0, ns = 0;

    if (h->depth == 0) {
        r->events = (double)x->length[0];
        struct oracle_time all = oracle_rule_time(x, 0);
        r->ns = all.gap * gap + all.duration * duration;
        return;
    }
    for (uint32_t i = h->depth; i-- > 0;) {
        uint32_t n = h->frames[i].node, rule = x->rule[n];
        const struct oracle_time *mean = oracle_mean(x, n);
        double exponent = (double)x->grammar->nodes[n].exponent, turns = (double)h->frames[i].turn + 1;
        double left = fmax((double)oracle_turns(ref, n) - turns, 0);
        double length = (double)oracle_length(x, x->grammar->nodes[n].symbol);
        events += left * length;
        ns += left * (mean->gap * gap + mean->duration * duration);
        if (exponent > 1 && r->loop_events < 0) {
            r->loop_events = events;
            r->loop_ns = fmax(ns, 0);
        }
        events += (double)x->length[rule] - (double)x->before[n] - exponent * length;
        struct oracle_time whole = oracle_rule_time(x, rule);
        const struct oracle_time *before = oracle_elapsed(x, n);
        ns += gap * (whole.gap - before->gap - exponent * mean->gap);
        ns += duration * (whole.duration - before->duration - exponent * mean->duration);
    }
    if (oracle_rooted(o, h)) {
        r->events = events;
        r->ns = fmax(ns, 0);
    }
}

int oracle_here(const struct oracle *o, uint32_t terminal, uint32_t *reference, uint32_t *node, uint64_t *turn)
{
    const struct oracle_hypothesis *h = o->count == 1 ? &o->now[0] : oracle_heaviest(o);
    if (o->count == 0 || h->depth == 0)
        return 1;
    const struct oracle_frame *f = &h->frames[h->depth - 1];
    if (oracle_of(o, h)->grammar->nodes[f->node].symbol != terminal)
        return 1;
    *reference = h->reference;
    *node = f->node;
    *turn = f->turn;
    return 0;
}

int oracle_phase(const struct oracle *o, struct oracle_phase *p)
{
    const struct oracle_hypothesis *h = oracle_heaviest(o);

    if (o->count == 0 || h->depth == 0 || !oracle_rooted(o, h))
        return 1;
    const struct oracle_reference *ref = &o->reference[h->reference];
    const struct grammar_flat *g = ref->index->grammar;
    *p = (struct oracle_phase){ h->frames[0].node - g->rules[0].first + 1, g->rules[0].length, 0, 0 };
    for (uint32_t i = 0; i < h->depth && !p->turns; i++)
        if (g->nodes[h->frames[i].node].exponent > 1) {
            p->turn = h->frames[i].turn + 1;
            p->turns = oracle_turns(ref, h->frames[i].node);
        }
    return 0;
}

/* More is done than was recorded, and the position is far from the end: it was found anew in a run that goes on. */
static bool is_longer(const struct oracle *o, const struct oracle_hypothesis *h, double done, double left)
{
    enum { FAR = 8 }; /* an eighth of the recording */
    double recorded = (double)o->reference[h->reference].index->length[0];

    return done > recorded && left * FAR > recorded;
}

void oracle_remaining(struct oracle *o, struct oracle_remaining *r)
{
    const struct oracle_hypothesis *best = oracle_heaviest(o);
    double done = (double)(o->score.events + o->fast);

    *r = (struct oracle_remaining){ -1, -1, -1, -1, -1 };
    if (o->count == 0)
        return;
    remain(o, best, r);
    if (is_longer(o, best, done, r->events)) {
        r->events = r->ns = -1;
        r->progress = 1;
    } else if (r->events >= 0)
        r->progress = done + r->events > 0 ? done / (done + r->events) : 1;
}
