/* SPDX-License-Identifier: MIT */
/*
 * Material regions: which elements share an equation of state, and how often it is evaluated.
 *
 * Elements are dealt to regions in runs of consecutive numbers, most runs short and a few very long, so that a region
 * is scattered over the block as in a real multi-material code. -b makes regions unequal in size (weights 1, 2^b, 3^b,
 * ...), -c in cost: half of them are evaluated once, nearly all of the others 1 + c times, the last twentieth (at least
 * one) 10 (1 + c) times. Repetitions change the work and never the result.
 */
#include "domain.h"

#include <stdint.h>

/* The lengths of runs: how many in a thousand lie in which range. */
static const struct {
    int below, shortest, longest;
} runs[] = {
    { 773, 1, 15 }, { 937, 16, 31 }, { 970, 32, 63 }, { 974, 64, 127 }, { 978, 128, 255 }, { 981, 256, 511 },
    { 1000, 512, 2048 },
};

/* SplitMix64 (Steele, Lea, Flood 2014): our own, so that a run has the same regions with every C library. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int draw_below(uint64_t *state, int n)
{
    return (int)(draw(state) % (uint64_t)n);
}

static int draw_run(uint64_t *state)
{
    const int kind = draw_below(state, 1000);
    int i = 0;

    while (kind >= runs[i].below)
        i++;
    return runs[i].shortest + draw_below(state, runs[i].longest - runs[i].shortest + 1);
}

/*
 * A region other than the last one, by weight; upto[r] is the sum of the weights of regions 0..r. Leaving out the last
 * one beforehand, and not drawing until another comes, ends however unequal the weights are.
 */
static int draw_region(uint64_t *state, const double *upto, int regions, int last)
{
    const double before = last > 0 ? upto[last - 1] : 0.0;
    const double left_out = last >= 0 ? upto[last] - before : 0.0;
    double at = (double)(draw(state) >> 11) * 0x1p-53 * (upto[regions - 1] - left_out);
    int r = 0;

    if (last >= 0 && at >= before)
        at += left_out;
    while (r < regions - 1 && (at >= upto[r] || r == last))
        r++;
    return r;
}

/* The same runs on every rank, turned by its number: the large regions differ from rank to rank. */
static void deal(const struct domain *d, const double *upto, int *region_of)
{
    uint64_t state = 0;
    int last = -1;

    for (int k = 0; k < d->elems;) {
        const int r = draw_region(&state, upto, d->regions, d->regions > 1 ? last : -1);

        for (int left = draw_run(&state); left > 0 && k < d->elems; left--)
            region_of[k++] = (r + d->rank) % d->regions;
        last = r;
    }
}

/* Counting sort of the elements by region; within a region they stay in order. */
static void list_by_region(struct domain *d, const int *region_of)
{
    int *start = d->region_start;

    for (int k = 0; k < d->elems; k++)
        start[region_of[k] + 1]++;
    for (int r = 0; r < d->regions; r++)
        start[r + 1] += start[r];
    for (int k = 0; k < d->elems; k++)
        d->region_elem[start[region_of[k]]++] = k;
    for (int r = d->regions; r > 0; r--)
        start[r] = start[r - 1];
    start[0] = 0;
}

static int repeats(int r, int regions, int cost)
{
    if (r < regions / 2)
        return 1;
    return r < regions - (regions + 15) / 20 ? 1 + cost : 10 * (1 + cost);
}

int regions_build(struct domain *d, const struct options *o)
{
    const size_t count = (size_t)o->regions;
    double *upto = domain_alloc(d, count, sizeof *upto);
    int *region_of = domain_alloc(d, (size_t)d->elems, sizeof *region_of);

    d->regions = o->regions;
    d->region_start = domain_alloc(d, count + 1, sizeof *d->region_start);
    d->region_repeat = domain_alloc(d, count, sizeof *d->region_repeat);
    d->region_elem = domain_alloc(d, (size_t)d->elems, sizeof *d->region_elem);
    if (!upto || !region_of || !d->region_start || !d->region_repeat || !d->region_elem)
        return -1;

    for (int r = 0; r < d->regions; r++) {
        upto[r] = (r > 0 ? upto[r - 1] : 0.0) + pow(r + 1.0, o->balance);
        d->region_repeat[r] = repeats(r, d->regions, o->cost);
    }
    deal(d, upto, region_of);
    list_by_region(d, region_of);
    return 0;
}
