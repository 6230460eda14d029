/* SPDX-License-Identifier: MIT */
#include "contracts/grown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/order.h"
#include "findings/units.h"

static const double WORTH = 0.05, NORMAL = 1.96;

/* A rebuilt program may have another name: a function of one name is the same. */
static bool is_same(const struct findings_place *a, const struct findings_place *b, bool renamed)
{
    if (!renamed || !a || !b || !a->symbol || !b->symbol)
        return findings_inside_order(a, b) == 0;
    return !strcmp(a->symbol, b->symbol) && !strcmp(a->inlined ?: "", b->inlined ?: "");
}

static const struct findings_inside_function *find(const struct findings_inside_part *p,
                                                   const struct findings_place *place)
{
    for (int renamed = 0; renamed < 2; renamed++)
        for (uint32_t i = 0; i < p->count; i++)
            if (is_same(p->function[i].place, place, renamed))
                return &p->function[i];
    return NULL;
}

/* A part of `of` that `f` is, NULL: none of it; with how far it may be below and above, squared. */
static double time_of(const struct contracts_made *of, const struct findings_inside_function *f, double *share,
                      double *below, double *above)
{
    double low, high, unsure;

    *share = findings_inside_share(f ? f->samples : 0, of->part.samples, &low, &high);
    unsure = pow(NORMAL * of->error * *share * of->ns, 2);
    *below = pow((*share - low) * of->ns, 2) + unsure;
    *above = pow((high - *share) * of->ns, 2) + unsure;
    return *share * of->ns;
}

static struct contracts_grown compare(const struct contracts_made of[2],
                                      const struct findings_inside_function *const f[2], double pace)
{
    struct contracts_grown g = { .place = (f[1] ?: f[0])->place };
    double below[2], above[2], faster = 1 + pace;

    for (int i = 0; i < 2; i++)
        g.ns[i] = time_of(&of[i], f[i], &g.share[i], &below[i], &above[i]);
    g.change = g.ns[1] - faster * g.ns[0];
    g.low = g.change - sqrt(below[1] + faster * faster * above[0]);
    g.high = g.change + sqrt(above[1] + faster * faster * below[0]);
    return g;
}

static int largest_first(const void *a, const void *b)
{
    const struct contracts_grown *x = a, *y = b;
    double p = fabs(x->change), q = fabs(y->change);

    return BASE_ORDER(q, p) ?: findings_inside_order(x->place, y->place);
}

struct contracts_grown *contracts_grown_find(const struct contracts_made of[2], double pace, uint32_t *count)
{
    double whole = of[1].ns - (1 + pace) * of[0].ns;
    struct contracts_grown *all = NULL;

    *count = 0;
    if (of[0].part.samples < FINDINGS_INSIDE_FEW || of[1].part.samples < FINDINGS_INSIDE_FEW)
        return NULL;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < of[side].part.count; i++) {
            const struct findings_inside_function *f = &of[side].part.function[i];
            const struct findings_inside_function *other = find(&of[!side].part, f->place);
            if (side && other) /* it has been met */
                continue;
            struct contracts_grown g = compare(
                of, (const struct findings_inside_function *[]){ side ? other : f, side ? f : other }, pace);
            if (g.change / whole >= WORTH && (whole > 0 ? g.low > 0 : g.high < 0))
                BASE_ADD(all, *count, g);
        }
    BASE_SORT(all, *count, largest_first);
    return all;
}

char *contracts_grown_text(const struct contracts_grown *g)
{
    bool more = g->change > 0;
    double least = more ? g->low : -g->high, most = more ? g->high : -g->low;

    return findings_text("%s %s -> %s (%s to %s %s)", findings_inside_place(g->place), findings_time(g->ns[0]),
                         findings_time(g->ns[1]), findings_time(fmax(least, 0)), findings_time(most),
                         more ? "more" : "less");
}
