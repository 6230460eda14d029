/* SPDX-License-Identifier: MIT */
#include "omp/stall.h"

#include <stdbool.h>

enum { MEMORY = 16, FIRST = 64, CALM = 16 };
static const double most = 16e6; /* ns: longer ones are no team's, the whole process stood still */
static const uint64_t shortest = 50000000, longest = 5000000000; /* half-lives, ns */

void omp_hook_stall_fade(struct omp_hook_stall *s, uint64_t now)
{
    if (s->half_life == 0 || now < s->faded)
        return;
    while (now - s->faded >= s->half_life) {
        s->mean /= 2;
        s->faded += s->half_life;
        if (s->mean < 1) {
            s->mean = 0;
            s->faded = now;
        }
    }
    if (now - s->last > CALM * s->half_life && s->half_life > shortest) {
        s->half_life /= 2;
        s->last = now;
    }
}

void omp_hook_stall_note(struct omp_hook_stall *s, uint64_t now, double excess)
{
    omp_hook_stall_fade(s, now);
    bool first = s->mean == 0;
    excess = excess < most ? excess : most;
    s->mean += (excess - s->mean) / (first ? FIRST : MEMORY);
    if (excess <= 0)
        return;
    if (s->half_life == 0) {
        s->half_life = shortest;
        s->faded = now;
    } else if (s->half_life < longest) {
        s->half_life *= 2;
    }
    s->last = now;
}
