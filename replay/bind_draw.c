/* SPDX-License-Identifier: MIT */
/*
 * Work that differs from turn to turn. Of a gap (or of a region) mean, deviation and extremes are
 * known, not which turn had what: each
 * turn gets a value of the beta distribution that has these (two values where the deviation is as large as the extremes
 * allow, a bell where it is small), one of K equally likely ones, each once in K turns, so that what a rank works
 * altogether stays what it was.
 *
 *   independent   which turn gets what: by chance, for each rank
 *   apart         the longest values of ranks are in turns of their own as far as that goes: a rank that is slow in
 *                 each fourth turn, and three others, are never slow together
 *
 * After K turns it begins anew, so that the engine can skip turns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/order.h"
#include "replay/bind_parts.h"

enum { FEW_VISITS = 1000 /* K divides them, then; all are walked anyway */, GRID = 960 };
#define LEAST_PART 5e-4 /* of the rank's work: a node whose deviations are less is not drawn */
#define REACH 12.0

/* --- Shapes: K values of mean 0, and of deviation 1 --- */

/* Cells of equal width in u, x = 1 / (1 + e^-u), where the density is x^alpha (1 - x)^beta and has no poles. */
static double cell_of(double alpha, double beta, int i, double *x)
{
    double u = -REACH + (i + 0.5) * 2 * REACH / GRID;

    *x = 1 / (1 + exp(-u));
    return exp(alpha * log(*x) + beta * log1p(-*x)) * 2 * REACH / GRID;
}

/* Hands out mass at x to values, in order: each gets the mean x of its K-th part of `all`. */
struct pour { double all, filled, *value; uint32_t at, k; };

static void pour(struct pour *p, double mass, double x)
{
    double each = p->all / p->k;

    while (mass > 0 && p->at < p->k) {
        double part = p->filled + mass < each ? mass : each - p->filled;
        p->value[p->at] += x * part / each;
        p->filled += part;
        mass -= part;
        if (p->filled >= each * (1 - 1e-9)) {
            p->filled = 0;
            p->at++;
        }
    }
}

static void beta_values(double alpha, double beta, double *value, uint32_t k)
{
    double left = exp(-REACH * alpha) / alpha, right = exp(-REACH * beta) / beta, x;
    struct pour p = { .all = left + right, .value = value, .k = k };

    for (int i = 0; i < GRID; i++)
        p.all += cell_of(alpha, beta, i, &x);
    pour(&p, left, 0);
    for (int i = 0; i < GRID; i++) {
        double mass = cell_of(alpha, beta, i, &x);
        pour(&p, mass, x);
    }
    pour(&p, right, 1);
}

static void make_shape(struct bind_shape *s)
{
    double middle = s->middle / 32.0, spread = exp2(s->spread / 2.0 - 6), value[BIND_DRAWS] = { 0 };
    double mean = 0, square = 0;

    beta_values(middle * spread, (1 - middle) * spread, value, s->turns);
    for (uint32_t i = 0; i < s->turns; i++)
        mean += value[i] / s->turns;
    for (uint32_t i = 0; i < s->turns; i++)
        square += (value[i] - mean) * (value[i] - mean) / s->turns;
    for (uint32_t i = 0; i < s->turns && square > 0; i++)
        s->value[i] = (float)((value[i] - mean) / sqrt(square));
}

/* The one of that middle (in 32nds of the way from least to most), spread and number of values. */
static uint16_t shape_of(struct replay_bind *b, uint8_t middle, uint8_t spread, uint8_t turns)
{
    uint32_t i = 0;

    while (i < b->shape_count && !(b->shape[i].middle == middle && b->shape[i].spread == spread &&
                                   b->shape[i].turns == turns))
        i++;
    if (i == b->shape_count) {
        b->shape = realloc(b->shape, (i + 1u) * sizeof *b->shape);
        b->shape[b->shape_count++] = (struct bind_shape){ .middle = middle, .spread = spread, .turns = turns };
        make_shape(&b->shape[i]);
    }
    return (uint16_t)(i + 1);
}

/* --- Which nodes --- */

static uint8_t turns_of(double visits)
{
    uint32_t n = visits < FEW_VISITS ? (uint32_t)visits : FEW_VISITS;

    return (uint8_t)(n >= FEW_VISITS ? BIND_DRAWS : n / ((n + BIND_DRAWS - 1) / BIND_DRAWS));
}

static double mean_of(const struct bind_times *t, enum bind_drawn what)
{
    return what == BIND_DRAWN_GAP ? t->gap : t->call;
}

static double deviation_of(const struct bind_times *t, enum bind_drawn what)
{
    return what == BIND_DRAWN_GAP ? t->gap_deviation : t->call_deviation;
}

static void find_shape(struct replay_bind *b, uint32_t rank, uint32_t n, enum bind_drawn what, double work)
{
    struct bind_times *t = &b->rank[rank].node[n];
    const struct grammar_stats *stats = &bind_class(b, rank)->grammar->stats[n];
    const struct grammar_moments *m = what == BIND_DRAWN_GAP ? &stats->gap : &stats->duration;
    double visits = bind_visits(b, rank, n), least = (double)m->min, most = (double)m->max, mean = mean_of(t, what),
           s = deviation_of(t, what);

    if (visits < 2 || !(s * visits > LEAST_PART * work) || !(mean > least) || !(mean < most))
        return;
    double spread = (mean - least) * (most - mean) / (s * s) - 1, middle = 32 * (mean - least) / (most - least);
    spread = 2 * (6 + log2(spread > 0 ? spread : 1e-9));
    t->shape[what] = shape_of(b, (uint8_t)fmin(fmax(round(middle), 1), 31), (uint8_t)fmin(fmax(round(spread), 0), 28),
                              turns_of(visits));
}

static bool is_region(const struct replay_bind *b, uint32_t symbol)
{
    return symbol < b->job->terminal_count && b->site[b->site_of[symbol]].what == BIND_REGION;
}

static double work_of(const struct replay_bind *b, uint32_t rank)
{
    const struct grammar_flat *g = bind_class(b, rank)->grammar;
    double ns = 0;

    for (uint32_t n = 0; n < g->node_count; n++)
        if (!grammar_is_rule(g->nodes[n].symbol))
            ns += bind_visits(b, rank, n) * (b->rank[rank].node[n].gap +
                                             (is_region(b, g->nodes[n].symbol) ? b->rank[rank].node[n].call : 0));
    return ns;
}

void bind_draw_find(struct replay_bind *b)
{
    for (uint32_t r = 0; r < b->source.ranks; r++) {
        if (b->rank[r].class_index == GRAMMAR_NONE || b->rank[r].shared)
            continue;
        const struct grammar_flat *g = bind_class(b, r)->grammar;
        double work = work_of(b, r);
        for (uint32_t n = 0; n < g->node_count; n++)
            if (g->nodes[n].symbol < b->job->terminal_count) {
                find_shape(b, r, n, BIND_DRAWN_GAP, work);
                if (is_region(b, g->nodes[n].symbol))
                    find_shape(b, r, n, BIND_DRAWN_REGION, work);
            }
    }
}

/* --- Which turn gets what --- */

/* A permutation of the numbers below n, at most 64: one of 0 … 63 until it is below n. */
static uint32_t shuffled(uint64_t seed, uint32_t i, uint32_t n)
{
    do
        for (int k = 0; k < 3; k++) {
            uint64_t s = bind_mix(seed + (uint64_t)k);
            i = (i * (uint32_t)(s | 1) + (uint32_t)(s >> 32)) & 63;
            i ^= i >> 3;
        }
    while (i >= n);
    return i;
}

struct turn { float so_far; uint32_t i; };

BASE_COMPARISON(shortest_first, struct turn, BASE_UP(so_far) ?: BASE_UP(i))

/* The rank's longest value goes to the turn that is shortest so far, and so on. */
static void set_apart(struct replay_bind *b, uint32_t rank, uint32_t n, enum bind_drawn what, struct turn *turn)
{
    const struct bind_times *t = &b->rank[rank].node[n];
    const struct bind_shape *s = &b->shape[t->shape[what] - 1];
    uint8_t *to = b->rank[rank].apart + (2 * (size_t)n + what) * BIND_DRAWS;

    qsort(turn, s->turns, sizeof *turn, shortest_first);
    for (uint32_t k = 0; k < s->turns; k++) {
        uint32_t value = s->turns - 1u - k;
        float ns = (float)(mean_of(t, what) + deviation_of(t, what) * s->value[value]);
        to[turn[k].i] = (uint8_t)value;
        turn[k].so_far = ns > turn[k].so_far ? ns : turn[k].so_far;
    }
}

BASE_COMPARISON(by_index, struct turn, BASE_UP(i))

/* What the ranks so far have in each turn of the nodes of a key. Nodes of a terminal belong together on all ranks by
   their order, as do those of one class. */
struct row { uint64_t key; struct turn turn[BIND_DRAWS]; };
struct rows {
    struct row *row;
    uint32_t room;
    struct base_hash index;
    uint32_t *before; /* of each terminal: its nodes before the present one */
};

static struct turn *row_of(struct rows *all, const struct grammar_flat *g, uint32_t n, enum bind_drawn what)
{
    uint32_t symbol = g->nodes[n].symbol;
    uint64_t key = 2 * ((uint64_t)all->before[symbol] * g->terminals + symbol) + what;
    uint32_t i = BASE_HASH_FIND(&all->index, base_hash_mix(key), k, all->row[k].key == key);

    if (i == BASE_HASH_NONE) {
        i = all->index.used;
        base_must(base_array_room(&all->row, &all->room, (uint64_t)i + 1, sizeof *all->row));
        base_must(base_hash_reserve(&all->index, 1));
        base_hash_put(&all->index, base_hash_mix(key), i);
        all->row[i].key = key;
        for (uint32_t k = 0; k < BIND_DRAWS; k++)
            all->row[i].turn[k] = (struct turn){ 0, k };
    }
    qsort(all->row[i].turn, BIND_DRAWS, sizeof *all->row[i].turn, by_index);
    return all->row[i].turn;
}

void bind_draw_apart(struct replay_bind *b)
{
    struct rows all = { .before = calloc(b->job->terminal_count + 1u, sizeof *all.before) };

    for (uint32_t r = 0; r < b->source.ranks; r++) {
        if (b->rank[r].class_index == GRAMMAR_NONE || b->rank[r].apart)
            continue;
        const struct grammar_flat *g = bind_class(b, r)->grammar;
        memset(all.before, 0, b->job->terminal_count * sizeof *all.before);
        b->rank[r].apart = calloc(g->node_count + 1u, 2 * BIND_DRAWS);
        for (uint32_t n = 0; n < g->node_count; n++) {
            for (enum bind_drawn what = 0; what < BIND_DRAWN_KINDS; what++)
                if (b->rank[r].node[n].shape[what])
                    set_apart(b, r, n, what, row_of(&all, g, n, what));
            if (g->nodes[n].symbol < b->job->terminal_count)
                all.before[g->nodes[n].symbol]++;
        }
    }
    base_hash_close(&all.index);
    free(all.before);
    free(all.row);
}

double bind_draw(const struct replay_bind *b, uint32_t rank, uint32_t node, enum bind_drawn what, uint64_t turn)
{
    const struct bind_times *t = &b->rank[rank].node[node];
    const struct bind_change *c = b->change;
    const struct bind_shape *s = &b->shape[t->shape[what] - 1];
    uint64_t seed = bind_mix(c->seed + 1);
    uint32_t i = (uint32_t)(turn % s->turns);

    if (c->draw == BIND_APART)
        i = b->rank[rank].apart[(2 * (size_t)node + what) * BIND_DRAWS + shuffled(seed, i, s->turns)];
    else
        i = shuffled(seed + bind_mix(((uint64_t)rank << 32) + 2 * node + what), i, s->turns);
    return s->value[i] * deviation_of(t, what);
}
