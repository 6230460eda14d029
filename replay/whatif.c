/* SPDX-License-Identifier: MIT */
/* What a job would take if something were otherwise, and its efficiencies. */
#include <math.h>
#include <stdlib.h>

#include "replay/analysis.h"

enum {
    DRAWS = 8, FEW_DRAWS = 2, /* few: of replays of many steps */
    MANY_STEPS = 300000
};

double replay_analysis_unmatched(const struct replay_result *r)
{
    return r->events > 0 ? (double)r->unmatched / r->events : 0;
}

static bool is_known(const struct replay_result *r)
{
    return replay_analysis_unmatched(r) <= REPLAY_FEW_UNMATCHED;
}

int analysis_wall(struct replay_analysis *a, const struct bind_change *c, struct replay_blame *blame, double *seconds,
                  bool *known)
{
    struct replay_result r;

    replay_bind_set(a->bind, c);
    int rc = analysis_run(a, true, blame, &r);
    replay_bind_set(a->bind, NULL);
    if (rc == 0) {
        *seconds = (double)r.longest / 1e9;
        *known = is_known(&r);
        free(r.end);
    }
    return rc;
}

/* --- With imbalance that moves --- */

static bool moves(const struct replay_analysis *a)
{
    return a->moving.moving > 0;
}

/* Rests make the replay of means as long as the recording: what is drawn, or is transfer that there is none of, must
   not be in them, too. */
static void fill(struct replay_analysis *a, bool drawn, bool no_transfer)
{
    const struct replay_moving *m = &a->moving;
    double rests = a->fill > 1 ? a->fill - 1 : 0, out = (drawn ? m->moving : 0) + (no_transfer ? m->varying : 0);

    replay_bind_fill(a->bind, rests > 0 && m->excess > 0 ? 1 + rests * (1 - out / m->excess) : a->fill);
}

/* As the recording has it: of drawn replays so much of each kind. */
static int weighed(struct replay_analysis *a, struct bind_change *c, double *seconds, bool *known)
{
    struct replay_moving_weight w = replay_moving_weight(&a->moving);
    const struct { enum bind_draw draw; double weight; } part[] = {
        { BIND_MEANS, w.means }, { BIND_INDEPENDENT, w.independent }, { BIND_APART, w.apart }
    };
    double one;
    int rc = 0;

    *seconds = 0;
    fill(a, true, c->no_extra);
    for (size_t i = 0; i < sizeof part / sizeof *part && rc == 0; i++) {
        c->draw = part[i].draw;
        if (part[i].weight > 0)
            rc = analysis_wall(a, c, NULL, &one, known);
        *seconds += part[i].weight > 0 ? part[i].weight * one : 0;
    }
    fill(a, false, false);
    return rc;
}

static uint32_t draws_of(const struct replay_analysis *a)
{
    return a->result.walked > MANY_STEPS ? FEW_DRAWS : DRAWS;
}

/* With drawn work the replay is so much longer than with rests, a factor. */
static double drawn_factor(struct replay_analysis *a)
{
    double sum = 0, one;
    bool known;
    int rc = 0;

    if (a->drawn > 0 || !moves(a))
        return a->drawn = a->drawn > 0 ? a->drawn : 1;
    for (uint64_t seed = 1; rc == 0 && seed <= draws_of(a); seed++) {
        struct bind_change c = { .balance = GRAMMAR_NONE, .seed = seed };
        rc = weighed(a, &c, &one, &known);
        sum += one;
    }
    a->drawn = rc == 0 && sum > 0 && a->result.longest > 0 ? sum / draws_of(a) / replay_analysis_replayed(a) : 1;
    return a->drawn;
}

/* --- What if --- */

static int once(struct replay_analysis *a, struct bind_change *c, double *seconds, bool *known)
{
    double longer = drawn_factor(a);
    int rc = weighed(a, c, seconds, known);

    *seconds /= longer;
    return rc;
}

int replay_analysis_predict(struct replay_analysis *a, const struct bind_change *change,
                            struct replay_prediction *out)
{
    struct bind_change c = *change;
    double missed = fabs(a->missed), drawn, sum = 0;
    bool known;

    c.seed = 0;
    int rc = once(a, &c, &out->seconds, &out->known);
    out->low = out->high = out->seconds;
    out->draws = draws_of(a);
    for (c.seed = 1; rc == 0 && c.seed <= out->draws; c.seed++) {
        rc = once(a, &c, &drawn, &known);
        sum += drawn;
        out->low = drawn < out->low ? drawn : out->low;
        out->high = drawn > out->high ? drawn : out->high;
    }
    if (moves(a))
        out->seconds = sum / out->draws;
    out->low *= 1 - (missed < 0.5 ? missed : 0.5);
    out->high *= 1 + missed;
    return rc;
}

/* --- Efficiencies --- */

static double longest_work(const struct replay_analysis *a, double *sum)
{
    double most = 0;

    *sum = 0;
    for (uint32_t r = 0; r < analysis_ranks(a); r++) {
        struct replay_account of = replay_blame_account(a->blame, r);
        double work = (double)(of.work + of.between) / 1e9; /* as the recording has it */
        *sum += work;
        most = work > most ? work : most;
    }
    return most;
}

static double part(double of, double whole)
{
    return whole > 0 ? of / whole : 1;
}

/* Of the time without transfer: what the order of dependences takes with mean work; then what moves, what is left. */
static void split_serialisation(const struct replay_analysis *a, double most, double ideal,
                                struct replay_efficiency *out)
{
    double known = fmax(ideal - a->moving.unexplained, most), order = fmax(known - a->moving.moving, most);

    out->order = part(most, order);
    out->moving = part(order, known);
    out->explained = part(known, ideal);
}

int replay_analysis_efficiency(struct replay_analysis *a, struct replay_blame *ideal_blame,
                               struct replay_efficiency *out)
{
    static const struct bind_network none;
    struct bind_change c = { .balance = GRAMMAR_NONE, .no_extra = true, .network = &none };
    double sum, most = longest_work(a, &sum), ideal, all = replay_analysis_replayed(a);

    fill(a, false, true);
    int rc = analysis_wall(a, &c, ideal_blame, &ideal, &out->known);
    fill(a, false, false);
    if (rc != 0)
        return rc;
    out->known &= is_known(&a->result);
    ideal = fmax(ideal, most);
    out->balance = job_balance(sum, analysis_ranks(a), most);
    out->serialisation = part(most, ideal);
    out->transfer = part(ideal, all);
    split_serialisation(a, most, ideal, out);
    return 0;
}
