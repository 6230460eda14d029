/* SPDX-License-Identifier: MIT */
#include "omp/crowd.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const uint64_t interval = 25000000; /* ns */
static const double keep = 0.75;           /* of what was counted before, at each look */
static const double before_start = 30e6;   /* ns: a wait while the program is loaded tells little */
static const double noise = 0.02;          /* of the time: every program waits a little */

void omp_hook_crowd_add(struct omp_hook_crowd *c, uint64_t ran, uint64_t waited, uint64_t slices)
{
    if (c->ran == 0)
        c->recent_ran = before_start;
    if (ran >= c->ran && waited >= c->waited && slices >= c->slices) {
        c->recent_ran = keep * c->recent_ran + (double)(ran - c->ran);
        c->recent_waited = keep * c->recent_waited + (double)(waited - c->waited);
        c->recent_slices = keep * c->recent_slices + (double)(slices - c->slices);
    }
    c->ran = ran;
    c->waited = waited;
    c->slices = slices;
    double wanted = c->recent_ran + c->recent_waited;
    c->share = wanted > 0 ? c->recent_waited / wanted : 0;
    if (c->share <= noise || c->recent_slices <= 0)
        c->share = 0;
    c->wait = c->share > 0 ? c->recent_waited / c->recent_slices : 0;
}

void omp_hook_crowd_look(struct omp_hook_crowd *c, uint64_t now)
{
    char text[96];
    unsigned long long ran, waited, slices;
    if (now < c->next)
        return;
    c->next = now + interval;
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    if (n <= 0)
        return;
    text[n] = '\0';
    if (sscanf(text, "%llu %llu %llu", &ran, &waited, &slices) == 3)
        omp_hook_crowd_add(c, ran, waited, slices);
}
