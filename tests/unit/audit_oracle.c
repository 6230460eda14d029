/* SPDX-License-Identifier: MIT */
/* Audit of an oracle: its hypotheses, the matches with what happened before, the intervals of its times. */
#include <stdio.h>

#include "oracle/internal.h"
#include "pythia.h"
#include "tests/unit/audit.h"

/* --- What happened before --- */

static int no_match(char *why, size_t size, uint32_t match, const char *what)
{
    snprintf(why, size, "match %u: %s", match, what);
    return PYTHIA_EFORMAT;
}

static int check_past(const struct oracle_past *l, char *why, size_t size)
{
    const struct oracle_history *t = &l->history;
    bool looked = l->here.next == t->count;

    for (uint32_t i = 0; i < l->matches; i++) {
        const struct oracle_match *m = &l->match[i];
        uint64_t known = m->length < 32 ? m->length : 32;
        if (m->at + 1 >= l->here.next || m->length == 0)
            return no_match(why, size, i, "not in the past");
        if (looked && m->at >= t->fixed && m->at < oracle_history_oldest(t))
            return no_match(why, size, i, "no longer there");
        for (uint64_t n = 0; looked && n < known && m->at - n > oracle_history_first(t, m->at); n++)
            if (oracle_history_symbol(t, m->at - n) != oracle_history_symbol(t, t->count - 1 - n))
                return no_match(why, size, i, "another past");
    }
    return 0;
}

bool audit_intervals(const struct oracle_intervals *v)
{
    for (int i = 0; i < ORACLE_INTERVAL_CONTEXTS; i++)
        if (!(v->context[i].low <= v->context[i].median && v->context[i].median <= v->context[i].high))
            return false;
    uint64_t due = UINT64_MAX;
    for (int r = 0; r < ORACLE_INTERVAL_RANGES; r++) {
        uint64_t first = v->waiting[r].first, came = v->waiting[r].came, last = v->waiting[r].last;
        if (came < first || last < came || last - first > ORACLE_INTERVAL_WAITING)
            return false;
        for (; came < last; came++)
            due = v->waiting[r].at[came % ORACLE_INTERVAL_WAITING].due < due
                      ? v->waiting[r].at[came % ORACLE_INTERVAL_WAITING].due : due;
    }
    return v->due == due && due >= v->events;
}

/* --- The position --- */

static int wrong(char *why, size_t size, uint32_t i, const char *what)
{
    snprintf(why, size, "hypothesis %u: %s", i, what);
    return PYTHIA_EFORMAT;
}

static const char *check_frames(const struct oracle *o, const struct oracle_hypothesis *h)
{
    const struct grammar_flat *g = oracle_of(o, h)->grammar;

    if (h->depth > o->capacity)
        return "deeper than its room";
    for (uint32_t i = 0; i < h->depth; i++) {
        if (h->frames[i].node >= g->node_count)
            return "a node that is not there";
        uint32_t symbol = g->nodes[h->frames[i].node].symbol;
        bool bottom = i + 1 == h->depth;
        if (bottom == (bool)grammar_is_rule(symbol))
            return bottom ? "ends at a rule" : "a terminal above the bottom";
        if (!bottom && (symbol & ~GRAMMAR_RULE) != oracle_of(o, h)->rule[h->frames[i + 1].node])
            return "a frame outside of the rule above it";
    }
    return NULL;
}

int audit_oracle(const struct oracle *o, char *why, size_t size)
{
    double all = 0;

    if (o->mixer.past && check_past(o->mixer.past, why, size) != 0)
        return PYTHIA_EFORMAT;
    if (!audit_intervals(&o->intervals))
        return wrong(why, size, 0, "quantiles of times out of order");
    if (o->references == 0)
        return 0;
    if (o->count == 0 || o->count > o->limit)
        return wrong(why, size, o->count, "their number is out of bounds");
    for (uint32_t i = 0; i < o->count; i++) {
        const struct oracle_hypothesis *h = &o->now[i];
        const char *what = h->reference >= o->references ? "no such reference" : check_frames(o, h);
        if (!what && !(h->weight > 0 && h->weight <= 1 + 1e-9))
            what = "weight out of bounds";
        if (what)
            return wrong(why, size, i, what);
        all += h->weight;
    }
    if (all < 1 - 1e-6 || all > 1 + 1e-6)
        return wrong(why, size, 0, "the weights do not sum to 1");
    return 0;
}
