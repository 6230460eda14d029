/* SPDX-License-Identifier: MIT */
/* Members of communicators, messages by peer, lists of starts: as ranks have them, joined, packed and read. */
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "job/flow.h"
#include "job/group.h"
#include "job/starts.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

enum { ROWS = 3, COLUMNS = 4, RANKS = ROWS * COLUMNS };

static struct job *empty(uint32_t ranks)
{
    struct job *j = job_create();
    ck_assert_ptr_nonnull(j);
    j->info.ranks = ranks;
    return j;
}

static void join(struct job *into, struct job *from)
{
    ck_assert_int_eq(merge_job(into, from), 0);
    job_destroy(from);
}

/* Packed and read. */
static struct job *again(struct job *j)
{
    char why[200] = "";
    void *data;
    size_t size;
    struct job *back;
    ck_assert_int_eq(file_pack(j, NULL, &data, &size), 0);
    ck_assert_msg(file_unpack(data, size, &back, why, sizeof why) == 0, "%s", why);
    free(data);
    job_destroy(j);
    return back;
}

/* --- Groups --- */

/* A rank of a grid, as it knows its communicators. */
static struct job *grid_rank(uint32_t rank)
{
    struct job *j = empty(RANKS);
    const struct job_run world = { 0, RANKS, 1 }, self = { rank, 1, 0 };
    const struct job_run row = { rank / COLUMNS * COLUMNS, COLUMNS, 1 }, column = { rank % COLUMNS, ROWS, COLUMNS };
    const struct job_run backwards = { RANKS - 1, RANKS, -1 };
    const struct job_run low = { 0, 5, 1 }, high = { 5, RANKS - 5, 1 };
    ck_assert_int_eq(job_comm_add_members(j, job_comm(j, "world", RANKS), &world, 1, NULL, 0), 0);
    ck_assert_int_eq(job_comm_add_members(j, job_comm(j, "self", 1), &self, 1, NULL, 0), 0);
    ck_assert_int_eq(job_comm_add_members(j, job_comm(j, "row", COLUMNS), &row, 1, NULL, 0), 0);
    ck_assert_int_eq(job_comm_add_members(j, job_comm(j, "column", ROWS), &column, 1, NULL, 0), 0);
    ck_assert_int_eq(job_comm_add_members(j, job_comm(j, "backwards", RANKS), &backwards, 1, NULL, 0), 0);
    ck_assert_int_eq(
        job_comm_add_members(j, job_comm(j, "between", 5), rank < 5 ? &low : &high, 1, rank < 5 ? &high : &low, 1), 0);
    return j;
}

static uint32_t groups_of(const struct job *j, uint32_t comm)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->groups.group_count; i++)
        n += j->groups.group[i].comm == comm;
    return n;
}

START_TEST(groups_that_differ_in_their_origin_are_one)
{
    struct job *j = grid_rank(_i ? RANKS - 1 : 0);
    for (uint32_t i = 1; i < RANKS; i++)
        join(j, grid_rank(_i ? RANKS - 1 - i : i));
    j = again(j);
    uint32_t world = job_comm(j, "world", 0), self = job_comm(j, "self", 0), row = job_comm(j, "row", 0),
             column = job_comm(j, "column", 0), backwards = job_comm(j, "backwards", 0),
             between = job_comm(j, "between", 0);
    ck_assert_uint_eq(groups_of(j, world), 1);
    ck_assert_uint_eq(groups_of(j, self), 1);
    ck_assert_uint_eq(groups_of(j, row), 1);
    ck_assert_uint_eq(groups_of(j, column), 1);
    ck_assert_uint_eq(groups_of(j, between), 4);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct job_members m;
        ck_assert(job_comm_members(j, row, rank, &m) && m.size == COLUMNS);
        ck_assert_int_eq(job_comm_rank(j, row, rank), rank % COLUMNS);
        ck_assert_int_eq(job_comm_rank(j, column, rank), rank / COLUMNS);
        ck_assert_int_eq(job_comm_rank(j, backwards, rank), RANKS - 1 - rank);
        ck_assert_int_eq(job_comm_world(j, world, rank, 7), 7);
        ck_assert_int_eq(job_comm_world(j, self, rank, 0), rank);
        ck_assert_int_eq(job_comm_world(j, self, rank, 1), GRAMMAR_PEER_NONE);
        ck_assert_int_eq(job_comm_world(j, column, rank, 2), rank % COLUMNS + 2 * COLUMNS);
        ck_assert_int_eq(job_comm_world(j, between, rank, 3), rank < 5 ? 8 : 3);
        ck_assert_int_eq(job_comm_rank(j, between, rank), rank < 5 ? rank : rank - 5);
        ck_assert_int_eq(job_comm_world(j, row, rank, GRAMMAR_PEER_ANY), GRAMMAR_PEER_ANY);
    }
    job_destroy(j);
}
END_TEST

START_TEST(a_name_for_several_groups_in_turn_is_not_known)
{
    struct job *j = empty(8), *other = empty(8);
    const struct job_run even = { 0, 4, 2 }, half = { 0, 4, 1 }, odd = { 1, 4, 2 };
    uint32_t comm = job_comm(j, "world/split#0", 4);
    ck_assert_int_eq(job_comm_add_members(j, comm, &even, 1, NULL, 0), 0);
    ck_assert_int_eq(job_comm_add_members(j, comm, &even, 1, NULL, 0), 0); /* the same again */
    ck_assert_int_eq(job_comm_world(j, comm, 2, 1), 2);
    ck_assert_int_eq(job_comm_add_members(j, comm, &half, 1, NULL, 0), 0);
    ck_assert_int_eq(job_comm_world(j, comm, 2, 1), GRAMMAR_PEER_NONE);
    ck_assert_int_eq(job_comm_add_members(other, job_comm(other, "world/split#0", 4), &odd, 1, NULL, 0), 0);
    join(j, other);
    j = again(j);
    ck_assert_uint_eq(j->groups.group_count, 1);
    ck_assert_int_eq(job_comm_world(j, comm, 3, 1), GRAMMAR_PEER_NONE);
    job_destroy(j);
}
END_TEST

/* --- Messages --- */

/* What each rank sends to each, as it was told and as a job says. */
struct matrix { uint64_t messages[64][64], bytes[64][64]; bool mean; };

static int note(void *arg, const struct job_flow_pair *p)
{
    struct matrix *m = arg;
    ck_assert_uint_lt(p->rank, 64);
    ck_assert_uint_lt(p->peer, 64);
    m->messages[p->rank][p->peer] += p->messages;
    m->bytes[p->rank][p->peer] += p->bytes;
    m->mean |= p->mean;
    return 0;
}

enum pattern { SHIFT, PAIRS, STAR, HALO, CHANCE, PATTERNS };

static uint32_t peer_of(enum pattern p, uint32_t rank, uint32_t ranks, uint32_t k)
{
    static const uint32_t fixed[] = { 1, 0, 0, 2, 0 };
    switch (p) {
    case SHIFT: return (rank + 1) % ranks;
    case PAIRS: return rank ^ 1;
    case STAR: return fixed[1];
    case HALO: return (rank + (k % 2 ? 1 : ranks - 1)) % ranks;
    default: return (rank * 2654435761u + k * 40503u) % ranks;
    }
}

START_TEST(sums_by_peer_are_what_was_sent)
{
    static struct matrix told, said;
    static const uint32_t rows[PATTERNS] = { 1, 1, 1, 2, UINT32_MAX };
    uint32_t ranks = 16;
    memset(&told, 0, sizeof told);
    memset(&said, 0, sizeof said);
    struct job *j = empty(ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct job *one = empty(ranks);
        uint32_t send = hand_call(one, rank % 2 ? "MPI_Isend" : "MPI_Other", 0x10, JOB_P2P);
        send = hand_call(one, "MPI_Send", 0x20, JOB_P2P); /* numbered otherwise on other ranks */
        for (uint32_t k = 0; k < 6; k++) {
            uint32_t to = peer_of((enum pattern)_i, rank, ranks, k);
            uint64_t bytes = _i == CHANCE ? 1 + rank * k : 100;
            told.messages[rank][to]++;
            told.bytes[rank][to] += bytes;
            ck_assert_int_eq(job_flow_add(one, rank, send, false, to, 1, bytes), 0);
        }
        ck_assert_int_eq(job_flows_settle(one), 0);
        join(j, one);
    }
    j = again(j);
    ck_assert_int_eq(job_flows_walk(j, note, &said), 0);
    ck_assert(!said.mean && !memcmp(&told, &said, sizeof told));
    if (rows[_i] != UINT32_MAX)
        ck_assert_uint_eq(j->flows.count, rows[_i]);
    job_destroy(j);
}
END_TEST

static int total(void *arg, const struct job_flow_pair *p)
{
    uint64_t *sum = arg;
    sum[0] += p->messages;
    sum[1] += p->bytes;
    sum[2] += p->mean ? p->bytes : 0;
    return 0;
}

/* Many ranks that have nothing in common: the rows stay few, the sums exact, and it is said. */
START_TEST(what_is_too_much_becomes_a_mean)
{
    enum { MANY = 3000, EACH = 8 };
    uint64_t told[2] = { 0, 0 }, said[3] = { 0, 0, 0 };
    struct job *j = empty(MANY);
    uint32_t send = hand_call(j, "MPI_Send", 0x10, JOB_P2P);
    for (uint32_t at = 0; at < MANY; at += 100) {
        struct job *part = empty(MANY);
        ck_assert_uint_eq(hand_call(part, "MPI_Send", 0x10, JOB_P2P), send);
        for (uint32_t rank = at; rank < at + 100; rank++)
            for (uint32_t k = 0; k < EACH; k++) {
                uint64_t bytes = rank * 17 + k;
                told[0]++;
                told[1] += bytes;
                ck_assert_int_eq(
                    job_flow_add(part, rank, send, false, (rank * 2654435761u + k * 40503u) % MANY, 1, bytes), 0);
            }
        ck_assert_int_eq(job_flows_settle(part), 0);
        join(j, part);
    }
    ck_assert_int_eq(job_flows_walk(j, total, said), 0);
    ck_assert_uint_le(j->flows.count, 4096);
    ck_assert_uint_eq(said[0], told[0]);
    ck_assert_uint_eq(said[1], told[1]);
    ck_assert_uint_eq(said[2], told[1]);
    job_destroy(again(j));
}
END_TEST

/* Ranks beyond those that are written out: what is joined has no more rows either, and adds up. */
START_TEST(many_ranks_have_few_rows)
{
    enum { CONTENTS = 3000, EACH = 6, SIDES = 3, ALL = CONTENTS * EACH * SIDES };
    struct job *j = NULL;
    uint64_t sent = 0, said[3] = { 0 };
    for (uint32_t side = 0; side < SIDES; side++) {
        struct job *part = empty(ALL);
        uint32_t send = hand_call(part, "MPI_Send", 0x10, JOB_P2P);
        for (uint32_t i = 0; i < CONTENTS * EACH; i++) {
            uint64_t messages = 1 + i % CONTENTS + side * CONTENTS;
            ck_assert_int_eq(job_flow_add(part, side * CONTENTS * EACH + i, send, false, 5, messages, 1), 0);
            sent += messages;
        }
        ck_assert_int_eq(job_flows_settle(part), 0);
        ck_assert_uint_eq(part->flows.count, CONTENTS);
        if (j)
            join(j, part);
        else
            j = part;
        ck_assert_uint_le(j->flows.count, 4096);
    }
    ck_assert_int_eq(job_flows_walk(j, total, said), 0);
    ck_assert_uint_eq(said[0], sent);
    job_destroy(again(j));
}
END_TEST

/* --- Starts --- */

/* A rank whose completions complete these lists, one after the other. */
static void complete(struct job *j, uint32_t rank, const int64_t *name, uint32_t count)
{
    struct grammar *g = grammar_create(1 << 20);
    struct grammar_event e = { .terminal = hand_call(j, "MPI_Waitsome", 0x20, JOB_COMPLETION), .gap = 1,
                               .channels = 1u << GRAMMAR_STARTS };
    for (uint32_t i = 0; i < count; i++) {
        e.value[GRAMMAR_STARTS] = name[i];
        grammar_append(g, &e);
    }
    hand_stream(j, g, rank, 1, 1);
}

START_TEST(lists_of_starts_have_one_name_everywhere)
{
    struct job *j = empty(2), *other = empty(2);
    const struct job_start_run some[] = { { 9, -1, 4 }, { 2, 0, 2 } }, more[] = { { 1, 1, 3 } },
                               third[] = { { 5, 2, 3 } };
    int64_t a = job_starts_name(some, 2), b = job_starts_name(more, 1), unnamed = job_starts_name(third, 1);
    uint32_t count;
    ck_assert(a < 0 && b < 0 && a != b);
    ck_assert_int_eq(job_starts_add(j, a, some, 2), 0);
    ck_assert_int_eq(job_starts_add(j, a, some, 2), 0);
    ck_assert_int_eq(job_starts_add(j, unnamed, third, 1), 0);
    ck_assert_int_eq(job_starts_add(other, b, more, 1), 0);
    ck_assert_int_eq(job_starts_add(other, a, some, 2), 0);
    ck_assert_uint_eq(j->starts.count, 2);
    complete(j, 0, (const int64_t[]){ a, a, a }, 3);
    complete(other, 1, (const int64_t[]){ a, b, a }, 3);
    join(j, other);
    j = again(j);
    ck_assert_uint_eq(j->starts.count, 3);
    const struct job_start_run *r = job_starts_find(&j->starts, a, &count);
    ck_assert(r && count == 2 && r[0].step == -1 && r[1].count == 2);
    ck_assert_ptr_null(job_starts_find(&j->starts, -7, &count));
    ck_assert_ptr_null(job_starts_find(&j->starts, unnamed, &count));
    job_destroy(j);
}
END_TEST

/* In whatever order they meet, and no more of them than fit; what is left out nobody knows. */
START_TEST(lists_of_starts_have_a_bound)
{
    enum { LISTS = 6, LONG = JOB_STARTS_RUNS / 3 - 1 };
    struct job *whole[2] = { empty(LISTS), empty(LISTS) };
    struct job_start_run *run = calloc(LONG, sizeof *run);
    int64_t name[LISTS];
    for (uint32_t i = 0; i < LISTS; i++)
        for (int way = 0; way < 2; way++) {
            uint32_t rank = way ? LISTS - 1 - i : i, known;
            struct job *j = empty(LISTS);
            for (uint32_t k = 0; k < LONG; k++)
                run[k] = (struct job_start_run){ 2 * k + rank, 0, 1 };
            name[rank] = job_starts_name(run, LONG);
            ck_assert_int_eq(job_starts_add(j, name[rank], run, LONG), 0);
            complete(j, rank, &name[rank], 1);
            join(whole[way], j);
            ck_assert_uint_le(whole[way]->starts.run_count, JOB_STARTS_RUNS);
            ck_assert_uint_eq(whole[way]->starts.count, i < 3 ? i + 1 : 3);
            ck_assert(i > 2 || job_starts_find(&whole[way]->starts, name[rank], &known));
        }
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_int_eq(whole[0]->starts.list[i].name, whole[1]->starts.list[i].name);
    free(run);
    job_destroy(again(whole[0]));
    job_destroy(whole[1]);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_LOOP(groups_that_differ_in_their_origin_are_one, 2),
    UNIT_TEST(a_name_for_several_groups_in_turn_is_not_known),
    UNIT_LOOP(sums_by_peer_are_what_was_sent, PATTERNS),
    UNIT_TEST(what_is_too_much_becomes_a_mean),
    UNIT_TEST(many_ranks_have_few_rows),
    UNIT_TEST(lists_of_starts_have_one_name_everywhere),
    UNIT_TEST(lists_of_starts_have_a_bound),
};

int main(void)
{
    return unit_run("job/traffic", tests, UNIT_COUNT(tests));
}
