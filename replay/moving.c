/* SPDX-License-Identifier: MIT */
#include "replay/moving.h"

#include <math.h>
#include <stdlib.h>

#include "replay/analysis.h"

enum { SEEDS = 3 };
#define LEAST 0.005 /* of the wall time: an excess that is looked at */

/* --- Where the excess is --- */

/* The mean size of what nonblocking calls begin: what completions have is not said. */
static double begun_bytes(const struct replay_bind *b)
{
    double bytes = 0, count = 0;

    for (uint32_t s = 0; s < b->site_count; s++) {
        const struct bind_site *site = &b->site[s];
        bool begins = site->what == BIND_ISEND || site->what == BIND_IRECV;
        bytes += begins ? site->bytes : 0;
        count += begins ? site->count : 0;
    }
    return count > 0 ? bytes / count : 0;
}

static bool is_long(const struct replay_bind *b, uint32_t site, double begun)
{
    const struct bind_site *s = &b->site[site];
    bool completes = s->what == BIND_WAIT_ONE || s->what == BIND_WAIT_ALL;

    return (completes ? begun : s->count > 0 ? s->bytes / s->count : 0) > (double)replay_bind_model(b).S;
}

/* What the ranks' calls at a site took beyond the replay's, ns. */
static double site_excess(const struct replay_analysis *a, uint32_t site)
{
    double ns = 0;

    for (uint32_t r = 0; r < analysis_ranks(a) && analysis_waits(&a->bind->site[site]); r++) {
        double count, more = replay_bind_calls(a->bind, r, site, &count) -
                             (double)replay_blame_spent(a->blame, r, 2 * site + 1);
        ns += more > 0 ? more : 0;
    }
    return ns;
}

/* Fills at[] with the excess of each site. Returns the share of it at calls with long messages. */
static double find_sites(struct replay_analysis *a)
{
    struct replay_moving *m = &a->moving;
    double begun = begun_bytes(a->bind), at_long = 0;

    for (uint32_t s = 0; s < a->bind->site_count; s++) {
        m->at[s] = site_excess(a, s);
        m->at_all += m->at[s];
        at_long += is_long(a->bind, s, begun) ? m->at[s] : 0;
    }
    return m->at_all > 0 ? at_long / m->at_all : 0;
}

/* --- What drawing explains --- */

static int draw(struct replay_analysis *a, enum bind_draw how, uint64_t seed, struct replay_blame *blame,
                double *explained)
{
    struct bind_change c = { .balance = GRAMMAR_NONE, .draw = how, .seed = seed };
    bool known;
    int rc = analysis_wall(a, &c, blame, explained, &known);

    *explained -= (double)a->result.longest / 1e9;
    return rc;
}

static int draw_all(struct replay_analysis *a, struct replay_blame *blame)
{
    struct replay_moving *m = &a->moving;
    double one, sum = 0;
    int rc = draw(a, BIND_APART, 1, blame, &m->apart);

    for (uint64_t seed = 1; rc == 0 && seed <= SEEDS; seed++) {
        rc = draw(a, BIND_INDEPENDENT, seed, NULL, &one);
        sum += one;
    }
    m->independent = fmax(sum / SEEDS, 0);
    m->apart = fmax(m->apart, m->independent);
    return rc;
}

/* --- Whose work it is --- */

/* By site of the wait: how much its causes have in `b`. */
static void add_causes(const struct replay_blame *b, uint32_t places, double sign, double *by)
{
    uint32_t n;
    const struct replay_cause *c = replay_blame_causes(b, &n);

    for (uint32_t i = 0; i < n; i++)
        if (!c[i].between)
            by[(size_t)(c[i].where / 2) * places + c[i].cause] += sign * c[i].ns;
}

static void find_causes(struct replay_analysis *a, const struct replay_blame *drawn)
{
    enum { MOST = 1 << 22 };
    uint32_t sites = a->bind->site_count, places = 2 * sites + 1;

    if ((uint64_t)sites * places > MOST)
        return;
    BASE_OWN double *by = calloc((size_t)sites * places + places, sizeof *by);
    add_causes(drawn, places, 1, by);
    add_causes(a->blame, places, -1, by);
    for (uint32_t s = 0; s < sites; s++) {
        double most = 0;
        for (uint32_t p = 0; p < 2 * sites; p++)
            if (by[(size_t)s * places + p] > most) {
                most = by[(size_t)s * places + p];
                a->moving.cause[s] = p;
            }
    }
}

/* --- Together --- */

static void share_out(struct replay_moving *m, double at_long)
{
    double most = m->independent + (m->apart - m->independent) * (1 - at_long);

    m->moving = fmin(m->excess, most);
    m->varying = (m->excess - m->moving) * at_long;
    m->unexplained = m->excess - m->moving - m->varying;
}

int replay_moving_find(struct replay_analysis *a)
{
    const struct replay_source *source = &a->bind->source;
    struct replay_moving *m = &a->moving;
    uint32_t sites = a->bind->site_count;

    *m = (struct replay_moving){ .at = calloc(sites + 1u, sizeof *m->at),
                                 .cause = malloc((sites + 1u) * sizeof *m->cause),
                                 .excess = a->recorded - (double)a->result.longest / 1e9 };
    for (uint32_t s = 0; s < sites; s++)
        m->cause[s] = GRAMMAR_NONE;
    if (m->excess < LEAST * a->recorded) {
        m->excess = 0;
        return 0;
    }
    double at_long = find_sites(a);
    struct replay_blame *drawn = replay_blame_create(source->ranks, source->places);
    int rc = draw_all(a, drawn);
    bool known = rc == 0;
    if (!known)
        m->independent = m->apart = 0;
    share_out(m, at_long);
    if (known)
        find_causes(a, drawn);
    for (uint32_t s = 0; s < sites; s++)
        m->at[s] *= m->moving / m->excess;
    replay_blame_destroy(drawn);
    return a->left ? 0 : rc;
}

void replay_moving_close(struct replay_moving *m)
{
    free(m->at);
    free(m->cause);
}

struct replay_moving_weight replay_moving_weight(const struct replay_moving *m)
{
    double lone = m->independent > 0 ? fmin(m->moving / m->independent, 1) : 0;

    if (m->moving <= m->independent || m->apart <= m->independent)
        return (struct replay_moving_weight){ 1 - lone, lone, 0 };
    double apart = (m->moving - m->independent) / (m->apart - m->independent);
    return (struct replay_moving_weight){ 0, 1 - apart, apart };
}
