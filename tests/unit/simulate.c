/* SPDX-License-Identifier: MIT */
#include "job/flow.h"
#include "job/group.h"
#include "job/starts.h"
#include "merge/merge.h"
#include "session/timeline.h"
#include "tests/unit/simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 4 << 20, SIDE = 4 /* of the smallest cube */ };

uint64_t simulate_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A stream being recorded. */
struct recorder {
    struct job *job;
    struct grammar *grammar;
    struct simulate_stream *stream;
    uint32_t room, world, module;
    uint64_t random;
    int64_t starts; /* what completions complete */
};

static void record(struct recorder *r, const char *function, uint64_t place, uint32_t channels, int64_t peer,
                   int64_t bytes)
{
    struct simulate_stream *s = r->stream;
    struct job_frame frame[2] = { { r->module, 0, 0x1000 + place }, { r->module, 0, 0x400 } };
    struct job_terminal t = { .kind = JOB_CALL, .call_kind = JOB_P2P, .peer_class = JOB_PEER_RANK,
                              .function = job_string(r->job, function), .callsite = job_callsite(r->job, frame, 2),
                              .comm = r->world };
    struct grammar_event e = { .terminal = job_terminal(r->job, &t), .channels = channels };
    e.gap = simulate_random(&r->random) % 1000;
    e.duration = simulate_random(&r->random) % 1000;
    e.value[GRAMMAR_PEER] = peer;
    e.value[GRAMMAR_BYTES] = bytes;
    e.value[GRAMMAR_TEAM] = bytes % 3 + 1;
    e.value[GRAMMAR_STARTS] = r->starts;
    if (s->count == r->room) {
        r->room = r->room ? r->room * 2 : 64;
        s->hash = realloc(s->hash, r->room * sizeof *s->hash);
        s->event = realloc(s->event, r->room * sizeof *s->event);
    }
    s->hash[s->count] = r->job->terminal_hash[e.terminal];
    s->event[s->count++] = e;
    grammar_append(r->grammar, &e);
}

enum { PEER = 1 << GRAMMAR_PEER, BYTES = 1 << GRAMMAR_BYTES, TEAM = 1 << GRAMMAR_TEAM,
       STARTS = 1 << GRAMMAR_STARTS };

static void ring(struct recorder *r, uint32_t rank, uint32_t ranks)
{
    for (int i = 0; i < 20; i++) {
        record(r, "MPI_Isend", 1, PEER | BYTES, (rank + 1) % ranks, 800);
        record(r, "MPI_Irecv", 2, PEER | BYTES, (rank + ranks - 1) % ranks, 800);
        record(r, "MPI_Waitall", 3, STARTS, 0, 0);
        record(r, "omp parallel", 4, TEAM, 0, i);
        if (i % 5 == 4)
            record(r, "MPI_Bcast", 5, PEER | BYTES, 0, 8 * i);
    }
    record(r, "MPI_Finalize", 6, 0, 0, 0);
}

static void butterfly(struct recorder *r, uint32_t rank, uint32_t ranks)
{
    for (int i = 0; i < 6; i++)
        for (uint32_t bit = 1; bit < ranks; bit *= 2)
            record(r, "MPI_Sendrecv", bit, PEER | BYTES, rank ^ bit, (int64_t)bit * 16);
    for (uint32_t bit = 1; bit < ranks; bit *= 2)
        record(r, "MPI_Sendrecv", 99, PEER | BYTES, rank ^ bit, 16); /* one place: peers of a list, or varying */
}

static uint32_t side_of(uint32_t ranks)
{
    uint32_t side = 1;
    while (side * side * side < ranks)
        side++;
    return side;
}

static void stencil(struct recorder *r, uint32_t rank, uint32_t ranks)
{
    uint32_t side = side_of(ranks), step[3] = { 1, side, side * side };
    for (int i = 0; i < 8; i++) {
        for (uint32_t d = 0; d < 3; d++) {
            uint32_t at = rank / step[d] % side;
            if (at > 0)
                record(r, "MPI_Isend", 10 + d, PEER | BYTES, rank - step[d], 100 + rank % 2);
            if (at + 1 < side && rank + step[d] < ranks)
                record(r, "MPI_Isend", 20 + d, PEER | BYTES, rank + step[d], 100);
        }
        record(r, "MPI_Waitall", 3, STARTS, 0, 0);
    }
}

static void master(struct recorder *r, uint32_t rank, uint32_t ranks)
{
    if (r->stream->thread) {
        for (int i = 0; i < 4; i++)
            record(r, "omp task", 30, BYTES, 0, rank * 10 + (uint32_t)i);
        return;
    }
    for (uint32_t i = 1; i < ranks && !rank; i++)
        record(r, "MPI_Recv", 1, PEER | BYTES, (int64_t)(simulate_random(&r->random) % ranks), 64);
    if (rank % 7 == 5)
        return; /* a rank without any event */
    record(r, "MPI_Send", 2, PEER | BYTES, 0, rank % 3 ? 64 : 128);
    record(r, "MPI_Recv", 3, PEER, rank % 2 ? 0 : GRAMMAR_PEER_ANY, 0);
}

/* Few structures, many values; sometimes a channel is missing on some ranks. */
static void anything(struct recorder *r, uint32_t rank, uint32_t ranks)
{
    uint64_t structure = simulate_random(&r->random) % 3;
    uint32_t same = (uint32_t)(simulate_random(&r->random) % ranks);
    for (uint64_t i = 0; i < 12 + structure; i++) {
        uint64_t x = simulate_random(&r->random);
        record(r, "MPI_Send", i % 3, x % 11 ? PEER | BYTES | TEAM : PEER,
               x % 2 ? (int64_t)same : (int64_t)((rank + same) % ranks), x % 4);
        record(r, "MPI_Put", 7, PEER, (int64_t)(rank ^ (same & 1)), 0);
    }
}

typedef void (*shape_fn)(struct recorder *, uint32_t, uint32_t);
static const shape_fn shapes[SIMULATE_SHAPES] = { ring, butterfly, stencil, master, anything };

/* Terminals are numbered as first seen: make ranks see them in different orders. */
static void disturb_numbers(struct job *j, uint32_t rank)
{
    char name[16];
    snprintf(name, sizeof name, "extra%u", rank % 3);
    for (uint32_t i = 0; i < rank % 4; i++) {
        struct job_terminal t = {
            .kind = JOB_WORD, .function = job_string(j, name), .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE
        };
        job_terminal(j, &t);
        name[0]++;
    }
}

static struct job_start_run starts_of(void)
{
    return (struct job_start_run){ 2, -1, 2 };
}

/* Who is in the world and in the rank's row of a grid; its messages; what completions complete. */
static void send_and_receive(struct recorder *r, uint32_t rank, uint32_t ranks)
{
    struct simulate_stream *s = r->stream;
    const struct job_run world = { 0, ranks, 1 },
                         row = { rank - rank % 4, rank - rank % 4 + 4 > ranks ? ranks % 4 : 4, 1 };
    const struct job_start_run runs = starts_of();
    int error = job_comm_add_members(r->job, r->world, &world, 1, NULL, 0);
    error |= job_comm_add_members(r->job, job_comm(r->job, "world/split#0", 4), &row, 1, NULL, 0);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct grammar_event *e = &s->event[i];
        const char *function = job_text(r->job, r->job->terminals[e->terminal].function);
        if (e->channels & STARTS)
            error |= job_starts_add(r->job, r->starts, &runs, 1);
        if (e->channels & 1 << GRAMMAR_PEER && e->value[GRAMMAR_PEER] >= 0 && e->value[GRAMMAR_PEER] < ranks)
            error |= job_flow_add(r->job, rank, e->terminal, strstr(function, "ecv") != NULL,
                                  (uint32_t)e->value[GRAMMAR_PEER], 1, (uint64_t)e->value[GRAMMAR_BYTES]);
    }
    if (error || job_flows_settle(r->job))
        abort();
}

/* What a session would note beside the events. */
static void timeline(struct recorder *r, uint32_t rank, uint32_t thread)
{
    static uint64_t ns[JOB_SERIES_KINDS][JOB_SERIES_STEPS];
    struct simulate_stream *s = r->stream;
    struct job_noted *e = calloc(r->job->terminal_count + 1, sizeof *e);
    int error = !e;
    for (uint32_t i = 0; i < r->job->terminal_count && !error; i++)
        job_noted_begin(&e[i]);
    memset(ns, 0, sizeof ns);
    for (uint32_t i = 0; i < s->count && !error; i++) {
        job_noted_add(&e[s->event[i].terminal], s->event[i].gap, s->event[i].duration);
        ns[i % JOB_SERIES_KINDS][i % 100] += s->event[i].gap;
    }
    for (uint32_t i = 0; i < r->job->terminal_count && !error; i++) {
        struct job_extremes said;
        job_noted_say(&e[i], &said);
        error = job_extremes_add(r->job, rank, i, &said);
    }
    if (!error && !thread)
        error = job_series_add(r->job, rank, UINT64_C(65536) << rank / 64 % 3, 100, ns);
    free(e);
    if (error)
        abort();
}

static void finish(struct recorder *r, uint32_t rank, uint32_t thread)
{
    struct simulate_stream *s = r->stream;
    struct grammar_flat *g = grammar_freeze(r->grammar);
    uint64_t wall = 0;
    if (!g)
        abort();
    for (uint32_t i = 0; i < s->count; i++)
        wall += s->event[i].gap + s->event[i].duration;
    s->alone = grammar_flat_copy(g);
    struct job_stream stream = {
        .rank = rank, .thread = thread, .begin_ns = rank, .wall_ns = wall, .mpi_ns = wall / 2
    };
    if (merge_add_stream(r->job, &stream, g))
        abort();
    for (uint32_t i = 0; i < r->job->terminal_count; i += 2)
        if (job_count(r->job, i, i % 4 ? "cycles" : "instructions", (struct job_count){ 1 + rank, 1000 * i + thread }))
            abort();
}

void simulate_rank(struct simulate_rank *out, enum simulate_shape shape, uint32_t rank, uint32_t ranks, uint64_t seed)
{
    memset(out, 0, sizeof *out);
    out->job = job_create();
    out->job->info.ranks = ranks;
    out->job->info.wall_ns = 1000 + rank;
    out->job->delay = (struct job_delay){ 1, rank, 1000 + rank, rank };
    out->job->took = (struct job_took){ 1, { rank, 2, 3, 4, 5 }, { rank, 2, 3, 4, 5 } };
    uint32_t name = job_named_path(out->job, "solve", GRAMMAR_NONE);
    struct job_named named = { .path = name, .rank = rank, .ranks = 1, .entries = 2 + rank, .unended = rank % 2,
                               .ns = 500 + rank, .mpi_ns = 100, .omp_ns = 50, .own_ns = 7, .most_ns = 500 + rank,
                               .most_useful_ns = 400 + rank };
    if (job_named_add(out->job, &named))
        abort();
    struct job_threads threads = { .rank = rank, .callsite = GRAMMAR_NONE, .ranks = 1, .threads = 1 + rank % 3,
                                   .samples = rank, .region_ns = 100, .region_mpi_ns = 10, .team_ns = 300 + rank,
                                   .timed_ns = 200, .part = { 100, 20, 30, rank % 7, 5, 6 } };
    if (job_threads_add(out->job, &threads))
        abort();
    disturb_numbers(out->job, rank);
    out->job->info.program = job_string(out->job, "/bin/simulated");
    out->stream_count = shape == SIMULATE_MASTER && rank % 2 ? 2 : 1;
    for (uint32_t thread = 0; thread < out->stream_count; thread++) {
        struct recorder r = { .job = out->job, .grammar = grammar_create(MEMORY), .stream = &out->stream[thread] };
        r.world = job_comm(out->job, "world", ranks);
        r.module = job_module(out->job, "/bin/simulated", "c0ffee");
        r.random = seed * 1000003 + (shape == SIMULATE_RANDOM ? rank % 5 * 77 : rank) + thread;
        r.stream->rank = rank;
        r.stream->thread = thread;
        const struct job_start_run runs = starts_of();
        r.starts = job_starts_name(&runs, 1);
        shapes[shape](&r, rank, ranks);
        send_and_receive(&r, rank, ranks);
        timeline(&r, rank, thread);
        finish(&r, rank, thread);
        grammar_destroy(r.grammar);
    }
}

void simulate_clear(struct simulate_rank *r)
{
    job_destroy(r->job);
    for (uint32_t i = 0; i < r->stream_count; i++) {
        free(r->stream[i].hash);
        free(r->stream[i].event);
        grammar_flat_destroy(r->stream[i].alone);
    }
}
