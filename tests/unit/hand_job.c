/* SPDX-License-Identifier: MIT */
#include "merge/merge.h"
#include "tests/unit/hand_job.h"

#include "tests/unit/unit.h"

uint32_t hand_call(struct job *j, const char *function, uint64_t offset, uint8_t call_kind)
{
    struct job_frame f = {.module = job_module(j, "/nowhere/app", "00ff"), .offset = offset};
    struct job_terminal t = {.kind = JOB_CALL, .call_kind = call_kind, .function = job_string(j, function)};
    t.callsite = job_callsite(j, &f, 1);
    t.comm = job_comm(j, "world", 4);
    t.peer_class = call_kind == JOB_P2P ? JOB_PEER_RANK : JOB_PEER_NONE;
    return job_terminal(j, &t);
}

uint32_t hand_region(struct job *j, uint64_t offset)
{
    struct job_frame f = {.module = job_module(j, "/nowhere/app", "00ff"), .offset = offset};
    struct job_terminal t = {.kind = JOB_REGION, .function = job_string(j, "omp parallel"), .comm = GRAMMAR_NONE};
    t.callsite = job_callsite(j, &f, 1);
    return job_terminal(j, &t);
}

uint32_t hand_word(struct job *j, const char *word)
{
    struct job_terminal t = {
        .kind = JOB_WORD, .function = job_string(j, word), .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE
    };
    return job_terminal(j, &t);
}

void hand_append(struct grammar *g, uint32_t terminal, uint64_t gap_us, uint64_t duration_us)
{
    struct grammar_event e = {.terminal = terminal, .gap = gap_us * 1000, .duration = duration_us * 1000};
    grammar_append(g, &e);
}

void hand_stream(struct job *j, struct grammar *g, uint32_t rank, uint64_t wall_us, uint64_t mpi_us)
{
    struct grammar_flat *flat = grammar_freeze(g);
    ck_assert_ptr_nonnull(flat);
    struct job_stream s = {.rank = rank, .events = flat->events, .wall_ns = wall_us * 1000, .mpi_ns = mpi_us * 1000};
    grammar_destroy(g);
    ck_assert_int_eq(merge_add_stream(j, &s, flat), 0);
    j->info.ranks = rank + 1 > j->info.ranks ? rank + 1 : j->info.ranks;
    j->info.threads = 1;
    j->info.runs = 1;
    j->info.wall_ns = s.wall_ns > j->info.wall_ns ? s.wall_ns : j->info.wall_ns;
}

void hand_once(struct job *j, const uint32_t *terminal, uint32_t count)
{
    struct grammar *g = grammar_create(1 << 20);

    for (uint32_t i = 0; i < count; i++)
        hand_append(g, terminal[i], 10, 1);
    hand_stream(j, g, 0, 11 * count, count);
}

struct job *hand_nested(void)
{
    struct job *j = job_create();
    uint32_t send = hand_call(j, "MPI_Send", 0x10, JOB_P2P);
    uint32_t recv = hand_call(j, "MPI_Recv", 0x20, JOB_P2P);
    uint32_t reduce = hand_call(j, "MPI_Allreduce", 0x30, JOB_COLLECTIVE);
    struct grammar *g = grammar_create(1 << 20);
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < 124; i++)
            hand_append(g, send, 2, 1);
        for (int i = 0; i < 3; i++) {
            hand_append(g, recv, 10, 4);
            hand_append(g, reduce, 6, 20);
        }
    }
    hand_append(g, reduce, 1, 1);
    hand_stream(j, g, 0, 5 * (372 + 120) + 2, 1000);
    return j;
}
