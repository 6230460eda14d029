/* SPDX-License-Identifier: MIT */
/*
 * Streams of events for measuring the grammar and the oracle, one event a line, of the shapes that MPI programs have.
 *
 *     streams FAMILY [SEED [SCALE [NOISE RATE]]]
 *
 *     stencil     one loop of 54 events                               cg          a loop of 16 in a loop
 *     lu          two long pipelines of 4 events, a checkpoint        cg_inner    cg with another inner trip count
 *     irregular   loops whose trip counts vary, events that may be    shuffle     12 completions in any order
 *     random      nothing to learn: costs must be bounded all the same
 *
 * NOISE is substitute, insert, drop or mix; RATE the share of the events that it befalls.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* xorshift64*: the same stream everywhere. */
static uint64_t next_random(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(2685821657736338717);
}

static int below(int n)
{
    return (int)((next_random() >> 33) % (uint64_t)n);
}

static int chance(double rate)
{
    return (double)(next_random() >> 11) / (double)(UINT64_C(1) << 53) < rate;
}

/* --- What is said, disturbed or not --- */

static enum { NONE, SUBSTITUTE, INSERT, DROP, MIX } noise;
static double noise_rate;
static int alphabet;
static long said;

static void say(int event)
{
    said++;
    if (noise == NONE || !chance(noise_rate)) {
        printf("%d\n", event);
        return;
    }
    int what = noise == MIX ? SUBSTITUTE + below(3) : (int)noise;
    if (what != DROP)
        printf("%d\n", below(alphabet));
    if (what == INSERT)
        printf("%d\n", event);
}

static void loop(int turns, int first, int events)
{
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < events; i++)
            say(first + i);
}

/* --- Families --- */

static void stencil(double scale)
{
    alphabet = 57;
    loop(1, 54, 2);
    loop((int)(20000 * scale), 0, 54);
    say(56);
}

static void cg_of(int inner, double scale)
{
    alphabet = 21;
    say(19);
    for (int i = 0; i < (int)(750 * scale); i++) {
        loop(inner, 0, 16);
        loop(1, 16, 3);
    }
    say(20);
}

static void cg(double scale)
{
    cg_of(25, scale);
}

static void cg_inner(double scale)
{
    cg_of(40, scale);
}

static void lu(double scale)
{
    alphabet = 15;
    loop(10, 0, 1);
    for (int i = 0; i < (int)(1000 * scale); i++) {
        loop(124, 1, 4);
        loop(124, 5, 4);
        loop(2, 9, 4);
        if (i % 20 == 19)
            say(13);
    }
    loop(3, 14, 1);
}

static void irregular(double scale)
{
    alphabet = 12;
    while (said < (long)(500000 * scale)) {
        loop(10 + below(21), 1, 6);
        loop(1, 7, 2);
        if (chance(0.1))
            say(9);
        loop(1 + below(8), 10, 2);
    }
}

static void shuffle(double scale)
{
    enum { REQUESTS = 12 };
    alphabet = REQUESTS + 3;
    while (said < (long)(500000 * scale)) {
        int order[REQUESTS];
        for (int i = 0; i < REQUESTS; i++) {
            int j = below(i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        say(REQUESTS);
        for (int i = 0; i < REQUESTS; i++)
            say(order[i]);
        loop(1, REQUESTS + 1, 2);
    }
}

static void chaos(double scale)
{
    alphabet = 10;
    while (said < (long)(300000 * scale))
        say(below(10));
}

static const struct { const char *name; void (*make)(double scale); } families[] = {
    { "stencil", stencil }, { "cg", cg }, { "cg_inner", cg_inner }, { "lu", lu },
    { "irregular", irregular }, { "shuffle", shuffle }, { "random", chaos },
};

static int set_noise(const char *name)
{
    static const char *const names[] = { "none", "substitute", "insert", "drop", "mix" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            noise = i;
            return 1;
        }
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    double scale = argc > 3 ? atof(argv[3]) : 1;

    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    noise_rate = argc > 5 ? atof(argv[5]) : 0;
    if (argc > 1 && (argc < 5 || set_noise(argv[4])))
        for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
            if (strcmp(argv[1], families[i].name) == 0) {
                families[i].make(scale);
                return fflush(stdout) != 0;
            }
    fprintf(stderr, "streams FAMILY [SEED [SCALE [none|substitute|insert|drop|mix RATE]]]\n");
    return 2;
}
