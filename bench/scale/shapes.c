/* SPDX-License-Identifier: MIT */
#include "bench/scale/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/grammar.h"
#include "merge/merge.h"

enum { MEMORY = 64 << 10, KINDS = 64 };

const char *const shape_names[SHAPES] = { "ring", "stencil", "master", "trips", "irregular", "halo", "cube",
                                         "levels" };

enum shape shape_named(const char *name)
{
    enum shape s = 0;
    while (s < SHAPES && strcmp(name, shape_names[s]))
        s++;
    return s;
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A stream being recorded. */
struct recorder {
    struct job *job;
    struct grammar *grammar;
    uint32_t rank, ranks, world, module;
    uint64_t random, wall, mpi;
    uint64_t work; /* ns before the next call */
};

static void must(bool good)
{
    if (good)
        return;
    fputs("out of memory\n", stderr);
    exit(1);
}

static uint64_t any(struct recorder *r, uint64_t below)
{
    return (r->random = mix(r->random)) % below;
}

/* peer, bytes: negative for none. */
static void call(struct recorder *r, const char *function, uint64_t place, int64_t peer, int64_t bytes)
{
    struct job_frame frame[2] = { { r->module, 0, 0x1000 + 16 * place }, { r->module, 0, 0x400 } };
    struct job_terminal t = { .kind = peer < -1 ? JOB_REGION : JOB_CALL,
                              .function = job_string(r->job, function),
                              .callsite = job_callsite(r->job, frame, 2),
                              .comm = r->world,
                              .blocking = strncmp(function, "MPI_I", 5) != 0,
                              .call_kind = peer >= 0                          ? JOB_P2P
                                           : strcmp(function, "MPI_Waitall") ? JOB_COLLECTIVE
                                                                             : JOB_COMPLETION,
                              .peer_class = peer >= 0 ? JOB_PEER_RANK : 0 };
    struct grammar_event e = { .terminal = job_terminal(r->job, &t),
                               .gap = r->work + 1000 + any(r, 200),
                               .duration = 500 + any(r, 100) };
    must(e.terminal != GRAMMAR_NONE);
    if (peer >= 0) {
        e.channels |= 1u << GRAMMAR_PEER;
        e.value[GRAMMAR_PEER] = peer;
    }
    if (bytes >= 0) {
        e.channels |= 1u << GRAMMAR_BYTES;
        e.value[GRAMMAR_BYTES] = bytes;
    }
    grammar_append(r->grammar, &e);
    r->wall += e.gap + e.duration;
    r->mpi += e.duration;
    r->work = 0;
}

static void ring(struct recorder *r)
{
    for (int i = 0; i < 10; i++) {
        call(r, "MPI_Irecv", 1, (r->rank + r->ranks - 1) % r->ranks, 800);
        call(r, "MPI_Isend", 2, (r->rank + 1) % r->ranks, 800);
        call(r, "MPI_Waitall", 3, -1, -1);
        if (i % 5 == 4)
            call(r, "MPI_Allreduce", 4, -1, 8);
    }
}

/* The mesh that is nearest to a cube, for a power of two: x >= y >= z. */
static void mesh_of(uint32_t ranks, uint32_t side[3])
{
    side[0] = side[1] = side[2] = 1;
    for (int d = 0; side[0] * side[1] * side[2] * 2 <= ranks; d = (d + 1) % 3)
        side[d] *= 2;
}

static void stencil(struct recorder *r)
{
    uint32_t side[3];
    mesh_of(r->ranks, side);
    const uint32_t step[3] = { 1, side[0], side[0] * side[1] };
    for (int i = 0; i < 6; i++) {
        for (uint64_t d = 0; d < 3; d++) {
            uint32_t at = r->rank / step[d] % side[d];
            if (at > 0)
                call(r, "MPI_Isend", 10 + d, r->rank - step[d], 100);
            if (at + 1 < side[d])
                call(r, "MPI_Isend", 20 + d, r->rank + step[d], 100);
        }
        call(r, "MPI_Waitall", 3, -1, -1);
        call(r, "MPI_Allreduce", 4, -1, 8);
    }
}

/* The neighbours in a cube that does not wrap, at most `apart` coordinates away; received from all, then sent to. */
static void exchange(struct recorder *r, const char *function, uint64_t place, int apart)
{
    uint32_t side[3];
    mesh_of(r->ranks, side);
    const uint32_t step[3] = { 1, side[0], side[0] * side[1] };
    for (int n = 0; n < 27; n++) {
        const int by[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
        int64_t peer = r->rank, away = 0;
        for (int d = 0; d < 3 && peer >= 0; d++) {
            int64_t at = r->rank / step[d] % side[d] + by[d];
            peer = at < 0 || at >= side[d] ? -1 : peer + by[d] * (int64_t)step[d];
            away += by[d] != 0;
        }
        if (peer >= 0 && away > 0 && away <= apart)
            call(r, function, place + (uint64_t)n, peer, 1000);
    }
}

static void exchanges(struct recorder *r, int apart, bool reduces)
{
    enum { TURNS = 60, WORK = 50000, UNEVEN = 3000 };
    const uint64_t work = WORK + any(r, UNEVEN);
    for (int i = 0; i < TURNS; i++) {
        r->work = work;
        exchange(r, "MPI_Irecv", 100, apart);
        exchange(r, "MPI_Isend", 200, apart);
        call(r, "MPI_Waitall", 3, -1, -1);
        if (reduces)
            call(r, "MPI_Allreduce", 4, -1, 8);
    }
}

static void halo(struct recorder *r)
{
    exchanges(r, 1, false);
}

static void cube(struct recorder *r)
{
    exchanges(r, 3, true);
}

/* A communicator that this rank has, of `count` ranks from `first` on. */
static uint32_t members(struct recorder *r, const char *name, uint32_t first, uint32_t count, uint32_t stride)
{
    uint32_t comm = job_comm(r->job, name, count);
    must(comm != GRAMMAR_NONE &&
         !job_comm_add_members(r->job, comm, &(struct job_run){ first, count, (int32_t)stride }, 1, NULL, 0));
    return comm;
}

static void levels(struct recorder *r)
{
    enum { TURNS = 60, ROW = 32, WORK = 50000, LONGER = 20000 };
    uint32_t first = r->rank / ROW * ROW, count = r->ranks - first < ROW ? r->ranks - first : ROW, world = r->world;
    uint32_t row = members(r, "world/split#0", first, count, 1), leaders = GRAMMAR_NONE;
    if (r->rank == first)
        leaders = members(r, "world/split#1", 0, (r->ranks + ROW - 1) / ROW, ROW);
    for (int i = 0; i < TURNS; i++) {
        r->work = WORK + (r->rank + 1 == r->ranks ? LONGER : 0);
        r->world = row;
        call(r, "MPI_Allreduce", 50, -1, 8);
        r->world = leaders;
        if (r->rank == first)
            call(r, "MPI_Allreduce", 51, -1, 8);
        r->world = row;
        call(r, "MPI_Bcast", 52, -1, 8);
    }
    r->world = world;
    call(r, "MPI_Barrier", 53, -1, -1);
}

static void master(struct recorder *r)
{
    enum { TASKS = 4 };
    for (uint64_t i = 0; !r->rank && i < (uint64_t)TASKS * (r->ranks - 1); i++) {
        call(r, "MPI_Recv", 1, (int64_t)(1 + any(r, r->ranks - 1)), 64);
        call(r, "MPI_Send", 2, (int64_t)(1 + any(r, r->ranks - 1)), 256);
    }
    for (int i = 0; r->rank && i < TASKS; i++) {
        call(r, "MPI_Send", 3, 0, 64);
        call(r, "MPI_Recv", 4, 0, 256);
    }
    call(r, "MPI_Barrier", 5, -1, -1);
}

static void trips(struct recorder *r)
{
    enum { PLACES = 10, FEWEST = 2, COUNTS = 16 };
    for (uint64_t i = 0; i < 2; i++)
        for (uint64_t place = 0; place < PLACES; place++) {
            for (uint64_t t = FEWEST + mix(r->rank * 97 + place) % COUNTS; t > 0; t--) {
                call(r, "MPI_Sendrecv", 50 + place, (r->rank + 1) % r->ranks, 100);
                call(r, "MPI_Barrier", 70 + place, -1, -1);
            }
            call(r, "MPI_Allreduce", 4, -1, 8);
        }
}

static void irregular(struct recorder *r)
{
    uint64_t kind = mix(r->rank) % KINDS;
    for (uint64_t i = 0; i < 24; i++) {
        uint64_t x = mix(kind * 1000 + i) % 5;
        call(r, x ? "MPI_Send" : "MPI_Put", 30 + x, (int64_t)any(r, r->ranks), (int64_t)(8 << any(r, 4)));
    }
}

static void add_stream(struct recorder *r, uint32_t thread)
{
    struct grammar_flat *g = grammar_freeze(r->grammar);
    struct job_stream s = { .rank = r->rank, .thread = thread, .begin_ns = any(r, 1000), .wall_ns = r->wall,
                            .mpi_ns = thread ? 0 : r->mpi, .omp_ns = thread ? r->mpi : 0 };
    must(g && !merge_add_stream(r->job, &s, g));
}

static void second_thread(struct recorder *r)
{
    for (int i = 0; i < 10; i++)
        call(r, "omp parallel", 40, -2, -1);
}

static void (*const bodies[SHAPES])(struct recorder *) = { ring, stencil, master, trips, irregular, halo, cube,
                                                    levels };

struct job *shape_rank(enum shape shape, uint32_t rank, uint32_t ranks)
{
    struct recorder r = { .job = job_create(), .rank = rank, .ranks = ranks, .random = rank * 4 + (uint64_t)shape };
    must(r.job != NULL);
    r.job->info.ranks = ranks;
    r.job->info.threads = 1;
    r.job->info.program = job_string(r.job, "/bin/simulated");
    r.world = job_comm(r.job, "world", ranks);
    must(shape < SHAPE_HALO || !job_comm_add_members(r.job, r.world, &(struct job_run){ 0, ranks, 1 }, 1, NULL, 0));
    r.module = job_module(r.job, "/bin/simulated", "c0ffee");
    for (uint32_t thread = 0; thread < (shape == SHAPE_RING ? 2 : 1); thread++) {
        must((r.grammar = grammar_create(MEMORY)) != NULL);
        r.wall = r.mpi = 0;
        if (thread)
            second_thread(&r);
        else
            bodies[shape](&r);
        add_stream(&r, thread);
        grammar_destroy(r.grammar);
        r.job->info.wall_ns = r.wall > r.job->info.wall_ns ? r.wall : r.job->info.wall_ns;
    }
    return r.job;
}
