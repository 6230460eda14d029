/* SPDX-License-Identifier: MIT */
/*
 * What a predicted run does before it can follow its first event, by size of its job file.
 *
 *   bench/start_cost write FILE RANKS EVENTS    a job of ranks that each complete requests in an order of their own: hardly
 *                                               anything repeats, so that the file grows with the events
 *   bench/start_cost start FILE RANK RANKS      starts as rank RANK of the job; tab-separated, in us: the file is chosen and
 *                                               opened, the session starts, the first event (its stream and oracle are
 *                                               made) is over; the 1000 that follow, in an order that the job does not
 *                                               know, and the longest of them
 *   bench/start_cost parts FILE RANK            the same without a session: opening the job, the class, its index, an oracle
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "file/file.h"
#include "grammar/grammar.h"
#include "merge/merge.h"
#include "session/life.h"
#include "session/stream.h"

enum { CALLS = 15, MEMORY = 1 << 30, FOLLOWED = 1000 };

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "start_cost: %s\n", what);
    exit(3);
}

static uint64_t state = 1;

static uint64_t below(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

/* Of call `i`; static. */
static const char *name_of(uint32_t i)
{
    static char name[CALLS][16];

    snprintf(name[i], sizeof name[i], "call %u", i);
    return name[i];
}

/* --- Writing --- */

static void define(struct job *j, uint32_t *terminal)
{
    uint32_t module = job_module(j, "/bench/start_cost", ""), world = job_comm(j, "world", j->info.ranks);

    for (uint32_t i = 0; i < CALLS; i++) {
        struct job_frame frame = { module, 0, 4096 + 16 * i };
        struct job_terminal t = { .kind = JOB_CALL, .call_kind = JOB_COMPLETION, .comm = world, .blocking = 1,
                                  .peer_class = JOB_PEER_RANK, .function = job_string(j, name_of(i)),
                                  .callsite = job_callsite(j, &frame, 1) };
        terminal[i] = job_terminal(j, &t);
        must(terminal[i] != GRAMMAR_NONE, "out of memory");
    }
}

static void append(struct grammar *g, uint32_t *wall, const uint32_t *terminal, uint32_t i, uint32_t ranks)
{
    struct grammar_event e = { .terminal = terminal[i], .gap = 200 + below(2000), .duration = 100 + below(5000),
                               .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES,
                               .value = { [GRAMMAR_PEER] = i % ranks, [GRAMMAR_BYTES] = 8 << i } };

    grammar_append(g, &e);
    *wall += (uint32_t)(e.gap + e.duration);
}

static struct job *record(uint32_t rank, uint32_t ranks, uint64_t events)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(MEMORY);
    uint32_t terminal[CALLS], order[12], wall = 0;

    must(j && g, "out of memory");
    j->info = (struct job_info){ .program = job_string(j, "/bench/start_cost"), .program_id = job_string(j, "other"),
                                 .arguments = job_string(j, ""), .mpi = job_string(j, ""), .ranks = ranks, .threads = 1,
                                 .runs = 1, .block = 1 };
    define(j, terminal);
    state = rank + 1;
    for (uint32_t i = 0; i < 12; i++)
        order[i] = i;
    for (uint64_t n = 0; n < events; n += CALLS) {
        append(g, &wall, terminal, 12, ranks);
        for (uint32_t i = 12; i-- > 0;) {
            uint32_t k = (uint32_t)below(i + 1), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
            append(g, &wall, terminal, order[i], ranks);
        }
        append(g, &wall, terminal, 13, ranks);
        append(g, &wall, terminal, 14, ranks);
    }
    struct job_stream s = { .rank = rank, .wall_ns = wall, .mpi_ns = wall / 2 };
    must(merge_add_stream(j, &s, grammar_freeze(g)) == 0, "out of memory");
    grammar_destroy(g);
    return j;
}

static int write_job(const char *path, uint32_t ranks, uint64_t events)
{
    struct job *j = record(0, ranks, events);
    char why[256];

    for (uint32_t r = 1; r < ranks; r++) {
        struct job *one = record(r, ranks, events);
        must(merge_job(j, one) == 0, "cannot merge");
        job_destroy(one);
    }
    must(file_write(j, path, why, sizeof why) == 0, why);
    job_destroy(j);
    return 0;
}

/* --- Starting --- */

static uint64_t one_event(uint32_t i)
{
    static struct session_key key = { .kind = JOB_CALL, .call_kind = JOB_COMPLETION,
                                      .peer_class = JOB_PEER_RANK, .blocking = 1, .comm = GRAMMAR_NONE };
    static struct grammar_event message = { .channels = 1u << GRAMMAR_PEER };
    uint64_t begin = base_clock_now();
    struct session_stream *s = session_enter_from(base_frame_here());

    must(s != NULL, "no stream");
    key.function = name_of(i);
    key.callsite = session_callsite(s, (void *[]){ (char *)one_event + 16 * (uintptr_t)i }, 1);
    session_whole(s, &key, GRAMMAR_NONE, &message, begin, base_clock_now(), 0);
    return base_clock_now() - begin;
}

static int start(const char *path, uint32_t rank, uint32_t ranks)
{
    struct session_world world = { .rank = rank, .ranks = ranks, .mpi = "" };

    setenv("PYTHIA_MODE", "predict", 1);
    setenv("PYTHIA_INPUT", path, 1);
    setenv("PYTHIA_VERBOSE", "0", 1);
    base_clock_init();
    uint64_t t0 = base_clock_now();
    must(session_choose(&world) == SESSION_PREDICT, "cannot predict");
    const void *reference = session_reference();
    uint64_t t1 = base_clock_now();
    must(session_start(&world, reference, 0) == SESSION_PREDICT, "cannot start");
    uint64_t t2 = base_clock_now(), first = one_event(12), next = 0, longest = 0;
    for (uint32_t i = 0; i < FOLLOWED; i++) {
        uint64_t ns = one_event((uint32_t)below(CALLS));
        next += ns;
        longest = ns > longest ? ns : longest;
    }
    printf("%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", (double)(t1 - t0) / 1e3, (double)(t2 - t1) / 1e3, (double)first / 1e3,
           (double)next / 1e3, (double)longest / 1e3);
    return 0;
}

/* The same by itself, part by part. */
static int parts(const char *path, uint32_t rank)
{
    struct job *j;
    char why[256];

    base_clock_init();
    uint64_t t0 = base_clock_now();
    must(file_open(path, &j, why, sizeof why) == 0, why);
    uint32_t c = job_stream_class(j, rank, 0);
    uint64_t t1 = base_clock_now();
    must(file_open_class(j, c, why, sizeof why) == 0, why);
    uint64_t t2 = base_clock_now();
    const struct oracle_index *x = oracle_index_create(j->classes[c].grammar);
    uint64_t t3 = base_clock_now();
    struct oracle_options how = { .learn = 4 << 20 };
    struct oracle *o = oracle_create(&x, NULL, 1, &how);
    uint64_t t4 = base_clock_now();
    printf("%.0f\t%.0f\t%.0f\t%.0f\n", (double)(t1 - t0) / 1e3, (double)(t2 - t1) / 1e3, (double)(t3 - t2) / 1e3,
           (double)(t4 - t3) / 1e3);
    oracle_destroy(o);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "parts"))
        return parts(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
    if (argc == 5 && !strcmp(argv[1], "write"))
        return write_job(argv[2], (uint32_t)strtoul(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    if (argc == 5 && !strcmp(argv[1], "start"))
        return start(argv[2], (uint32_t)strtoul(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10));
    fprintf(stderr, "usage: start_cost write FILE RANKS EVENTS | start_cost start FILE RANK RANKS\n");
    return 2;
}
