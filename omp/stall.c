/* SPDX-License-Identifier: MIT */
#include "omp/stall.h"

#include <stdbool.h>

enum { CALM = 16 };
static const double memory = 50e6; /* ns of exposure */
static const double least = 1e-5;  /* a share that is none */
static const double most = 16e6; /* ns: longer ones are no team's, the whole process stood still */
static const uint64_t shortest = 50000000, longest = 5000000000; /* half-lives, ns */

void omp_hook_stall_fade(struct omp_hook_stall *s, uint64_t now)
{
    if (s->half_life == 0 || now < s->faded)
        return;
    while (now - s->faded >= s->half_life) {
        s->share /= 2;
        s->faded += s->half_life;
        if (s->share < least) {
            s->share = 0;
            s->faded = now;
        }
    }
    if (now - s->last > CALM * s->half_life && s->half_life > shortest) {
        s->half_life /= 2;
        s->last = now;
    }
}

void omp_hook_stall_expose(struct omp_hook_stall *s, double exposed)
{
    s->exposed += exposed;
}

void omp_hook_stall_note(struct omp_hook_stall *s, uint64_t now, double exposed, double excess)
{
    exposed += s->exposed;
    s->exposed = 0;
    omp_hook_stall_fade(s, now);
    excess = excess < most ? excess : most;
    exposed = exposed < memory ? exposed : memory;
    s->share += (excess - s->share * exposed) / memory;
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
