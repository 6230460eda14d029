/* SPDX-License-Identifier: MIT */
/* Which terminals of two jobs belong together. */
#include "contracts/compare_parts.h"

#include <string.h>

enum { PAIRS_AT_MOST = 1 << 26 }; /* terminals looked at to map those without an equal: seconds */

uint32_t contracts_match_root(uint32_t *set, uint32_t i)
{
    while (set[i] != i)
        i = set[i] = set[set[i]];
    return i;
}

static void join(uint32_t *set, uint32_t a, uint32_t b)
{
    uint32_t x = contracts_match_root(set, a), y = contracts_match_root(set, b);

    set[x > y ? x : y] = x > y ? y : x;
}

static const struct job_frame *innermost(const struct job *j, uint32_t terminal)
{
    return job_innermost(j, j->terminals[terminal].callsite);
}

/* In one build of a module another address is another call, whatever the order. */
static bool same_build(const struct job *a, uint32_t s, const struct job *b, uint32_t t)
{
    const struct job_frame *f = innermost(a, s), *g = innermost(b, t);
    const char *id = f ? job_text(a, a->modules[f->module].build_id) : "";

    return f && g && *id && !strcmp(id, job_text(b, b->modules[g->module].build_id));
}

/* Whether what was found for `t` has an equal at another callsite: then `t` is one more way there, not the same one. */
static bool is_taken(const struct job *to, uint32_t found, const struct job *from, uint32_t t)
{
    uint32_t equal = job_find_terminal(from, to->terminal_hash[found]);

    return equal != GRAMMAR_NONE && from->terminals[equal].callsite != from->terminals[t].callsite;
}

static enum contracts_match match(const struct job *to, const struct job *from, uint32_t t, bool exact, uint32_t *found)
{
    *found = job_find_terminal(to, from->terminal_hash[t]);
    if (*found != GRAMMAR_NONE)
        return CONTRACTS_SAME;
    if (exact)
        return CONTRACTS_ONLY;
    *found = job_match_frame(to, from, t);
    if (*found != GRAMMAR_NONE)
        return is_taken(to, *found, from, t) ? CONTRACTS_ONLY : CONTRACTS_PLACE;
    *found = job_match_terminal(to, from, t);
    if (*found == GRAMMAR_NONE || is_taken(to, *found, from, t) || same_build(from, t, to, *found))
        return CONTRACTS_ONLY;
    return CONTRACTS_ORDER;
}

static uint32_t without_equal(const struct job *to, const struct job *from)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < from->terminal_count; t++)
        count += job_find_terminal(to, from->terminal_hash[t]) == GRAMMAR_NONE;
    return count;
}

/* Both ways: a place of A may have become several of B. how[] of each terminal of both. */
void contracts_match_terminals(struct contracts_comparison *c, uint32_t *set, uint8_t *how)
{
    const struct job *job[2] = { c->report[0]->job, c->report[1]->job };
    uint64_t all = (uint64_t)job[0]->terminal_count + job[1]->terminal_count;
    uint64_t left = (uint64_t)without_equal(job[1], job[0]) + without_equal(job[0], job[1]);

    c->gave_up = left * all > PAIRS_AT_MOST;
    for (int side = 0; side < 2; side++) {
        uint32_t own = side ? job[0]->terminal_count : 0, other = side ? 0 : job[0]->terminal_count;
        for (uint32_t t = 0; t < job[side]->terminal_count; t++) {
            uint32_t found;
            enum contracts_match m = match(job[!side], job[side], t, c->gave_up, &found);
            how[own + t] = (uint8_t)m;
            if (m != CONTRACTS_ONLY)
                join(set, own + t, other + found);
            if (side == 0)
                c->matched[m]++;
            else
                c->only_b += m == CONTRACTS_ONLY;
        }
    }
}

void contracts_match_sites(const struct findings_model *m, uint32_t *set, uint32_t base)
{
    for (uint32_t t = 0; t < m->job->terminal_count; t++)
        join(set, base + t, base + findings_site_of(m, t)->terminal);
}
