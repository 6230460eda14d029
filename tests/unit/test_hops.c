/* SPDX-License-Identifier: MIT */
/* Stops and hops: counted, joined over streams in any order, kept in a file. */
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "job/job.h"
#include "merge/merge.h"
#include "session/hops.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/unit.h"

/* One rank: Bcast, then `turns` times Send by one path and Send by another, of which every third is skipped. */
static struct job *rank_of(uint32_t rank, uint32_t turns, bool other_numbers)
{
    struct job *j = job_create();
    if (other_numbers)
        hand_call(j, "MPI_Other", 0x90, JOB_P2P);
    uint32_t bcast = hand_call(j, "MPI_Bcast", 0x10, JOB_COLLECTIVE), send = hand_call(j, "MPI_Send", 0x20, JOB_P2P);
    uint32_t far = j->terminals[hand_call(j, "MPI_Nobody", 0x30, JOB_P2P)].callsite;
    uint32_t near = j->terminals[send].callsite, first = j->terminals[bcast].callsite;
    struct session_hops h = { 0 };
    uint32_t number[] = { bcast, send };

    j->info.ranks = 64;
    session_hops_note(&h, 0, first, 5, 1);
    for (uint32_t i = 0; i < turns; i++) {
        session_hops_note(&h, 1, near, 10, 2);
        if (i % 3)
            session_hops_note(&h, 1, far, 20, 3);
    }
    ck_assert_int_eq(session_hops_finish(&h, j, rank, 0, number), 0);
    session_hops_close(&h);
    return j;
}

static uint64_t hops_of(const struct job *j, const char *from, uint64_t from_at, const char *to, uint64_t to_at,
                        uint32_t rank, bool *mean)
{
    const struct job_hops *h = &j->hops;
    for (uint32_t i = 0; i < h->hop_count; i++) {
        const struct job_hop *p = &h->hop[i];
        const struct job_stop *b = &h->stop[p->to], *a = p->from == GRAMMAR_NONE ? NULL : &h->stop[p->from];
        if (!a != !from || (a && strcmp(job_text(j, j->terminals[a->terminal].function), from)) ||
            strcmp(job_text(j, j->terminals[b->terminal].function), to))
            continue;
        if ((a && j->frames[j->callsites[a->path].first].offset != from_at) ||
            j->frames[j->callsites[b->path].first].offset != to_at)
            continue;
        if (!job_ranges_contain(h->ranges.range + p->range_first, p->range_count, rank, 0))
            continue;
        *mean = p->mean;
        return p->count;
    }
    return 0;
}

static struct job *again(struct job *j)
{
    char why[200] = "";
    void *bytes = NULL;
    size_t size = 0;
    ck_assert_msg(job_check(j, why, sizeof why) == 0, "%s", why);
    ck_assert_int_eq(file_pack(j, NULL, &bytes, &size), 0);
    struct job *k = NULL;
    ck_assert_msg(file_unpack(bytes, size, &k, why, sizeof why) == 0, "%s", why);
    ck_assert_uint_eq(k->hops.hop_count, j->hops.hop_count);
    ck_assert_uint_eq(k->hops.stop_count, j->hops.stop_count);
    free(bytes);
    job_destroy(j);
    return k;
}

/* Whatever the order of the merge; ranks that turn alike share a row. */
START_TEST(what_ranks_do_alike_is_one_row)
{
    struct job *j = job_create();
    j->info.ranks = 64;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t rank = _i ? 63 - i : i;
        struct job *one = rank_of(rank, rank % 2 ? 9 : 12, rank % 3 == 0);
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    j = again(j);
    bool mean = true;
    ck_assert_uint_eq(j->hops.stop_count, 3);
    ck_assert_uint_eq(hops_of(j, NULL, 0, "MPI_Bcast", 0x10, 17, &mean), 1);
    ck_assert_uint_eq(hops_of(j, "MPI_Bcast", 0x10, "MPI_Send", 0x20, 17, &mean), 1);
    for (uint32_t rank = 0; rank < 64; rank++) {
        uint32_t turns = rank % 2 ? 9 : 12, twice = turns - turns / 3;
        ck_assert_uint_eq(hops_of(j, "MPI_Send", 0x20, "MPI_Send", 0x30, rank, &mean), twice);
        ck_assert_uint_eq(hops_of(j, "MPI_Send", 0x20, "MPI_Send", 0x20, rank, &mean), turns / 3);
        ck_assert_uint_eq(hops_of(j, "MPI_Send", 0x30, "MPI_Send", 0x20, rank, &mean), twice - 1);
        ck_assert(!mean);
    }
    ck_assert_uint_eq(j->hops.hop_count, 2 + 3 * 2);
    const struct job_stop *s = j->hops.stop;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t at = j->frames[j->callsites[s[i].path].first].offset, sends = 32 * (9 + 12), far = 32 * (6 + 8);
        ck_assert_uint_eq(s[i].count, at == 0x10 ? 64 : at == 0x20 ? sends : far);
        ck_assert_uint_eq(s[i].gap_ns, at == 0x10 ? 64 * 5 : at == 0x20 ? sends * 10 : far * 20);
        ck_assert_uint_eq(s[i].duration_ns, at == 0x10 ? 64 : at == 0x20 ? sends * 2 : far * 3);
    }
    job_destroy(j);
}
END_TEST

/* Each rank another number: a sum, which is said. */
START_TEST(what_differs_too_much_is_a_sum)
{
    struct job *j = job_create();
    uint64_t sum = 0;
    j->info.ranks = 64;
    for (uint32_t rank = 0; rank < 40; rank++) {
        struct job *one = rank_of(rank, 3 * rank + 3, false);
        sum += 2 * rank + 2;
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    j = again(j);
    bool mean = false;
    ck_assert_uint_eq(hops_of(j, "MPI_Send", 0x20, "MPI_Send", 0x30, 39, &mean), sum);
    ck_assert(mean);
    ck_assert_uint_eq(hops_of(j, NULL, 0, "MPI_Bcast", 0x10, 39, &mean), 1);
    ck_assert(!mean);
    job_destroy(j);
}
END_TEST

START_TEST(a_break_begins_anew)
{
    struct session_hops h = { 0 };
    for (int i = 0; i < 4; i++) {
        session_hops_note(&h, 0, 1, 1, 1);
        session_hops_note(&h, 1, 1, 1, 1);
        if (i == 1)
            session_hops_break(&h);
    }
    ck_assert_uint_eq(h.stops, 2);
    ck_assert_uint_eq(h.hops, 3);
    for (uint32_t i = 0; i < h.hops; i++)
        ck_assert_uint_eq(h.hop[i].gap.samples, h.hop[i].from == GRAMMAR_NONE ? 2 : h.hop[i].from == 0 ? 4 : 2);
    session_hops_close(&h);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(what_ranks_do_alike_is_one_row, 2), UNIT_TEST(what_differs_too_much_is_a_sum),
        UNIT_TEST(a_break_begins_anew),
    };
    return unit_run("job/hops", tests, UNIT_COUNT(tests));
}
