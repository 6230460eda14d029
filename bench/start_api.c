/* SPDX-License-Identifier: MIT */
/*
 * The same for a runtime that uses libpythia: what pythia_oracle_open() takes, by size of the job file.
 *
 *   bench/start_api FILE RANK    of a file that start_cost wrote; tab-separated, in us: opening, the first question and event,
 *                                the 1000 that follow, in an order that the job does not know, and the longest of them
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pythia.h"

enum { CALLS = 15, FOLLOWED = 1000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double one_event(pythia_oracle_t *o, unsigned call)
{
    struct pythia_answer answer;
    char word[16];

    snprintf(word, sizeof word, "call %u", call);
    double begin = now();
    pythia_oracle_predict(o, 1, &answer);
    pythia_oracle_follow_message(o, word, 1000, 1000, 0);
    return now() - begin;
}

static unsigned any_call(void)
{
    static uint64_t state = 1;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((state >> 33) % CALLS);
}

int main(int argc, char **argv)
{
    pythia_oracle_t *o;

    if (argc != 3) {
        fprintf(stderr, "usage: start_api FILE RANK\n");
        return 2;
    }
    double t0 = now();
    int error = pythia_oracle_open(argv[1], (uint32_t)strtoul(argv[2], NULL, 10), 0, &o);
    double t1 = now();
    if (error) {
        fprintf(stderr, "start_api: %s: %s\n", argv[1], pythia_strerror(error));
        return 3;
    }
    double first = one_event(o, 12), next = 0, longest = 0;
    for (int i = 0; i < FOLLOWED; i++) {
        double us = one_event(o, any_call());
        next += us;
        longest = us > longest ? us : longest;
    }
    printf("%.0f\t%.0f\t%.0f\t%.0f\n", t1 - t0, first, next, longest);
    pythia_oracle_close(o);
    return 0;
}
