/* SPDX-License-Identifier: MIT */
/* The replay: skipping turns gives the times of walking them, to the ns; times computed by hand; waits and their
   causes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/blame.h"
#include "replay/calls.h"
#include "replay/collective.h"
#include "replay/engine.h"
#include "replay/goal.h"
#include "tests/unit/replay_programs.h"
#include "tests/unit/unit.h"

static const struct replay_model usual = { .L = 2500, .o = 1500, .g = 1000, .G = 6000, .O = 0, .S = 65535 };
static const struct replay_model free_of_cost = { .S = UINT64_MAX };

static struct replay_result run(const struct program *p, const struct replay_model *m, bool walk,
                                struct replay_blame *b)
{
    struct replay_how how = { .walk = walk, .blame = b };
    struct replay_result r;
    ck_assert_int_eq(replay_run(&p->source, m, &how, &r), 0);
    return r;
}

/* The invariants of blame.h. */
static void audit(const struct replay_blame *b, uint32_t ranks)
{
    double waits = 0, caused = 0;
    uint32_t causes, block;
    const struct replay_cause *cause = replay_blame_causes(b, &causes);

    for (uint32_t r = 0; r < ranks; r++) {
        struct replay_account a = replay_blame_account(b, r);
        int64_t path = 0;
        for (uint32_t i = 0; i < ranks; i++)
            path += replay_blame_path_of(b, r, i, &block);
        ck_assert_int_eq(path, a.work + a.call + a.wait + a.between);
        waits += (double)(a.wait + a.between);
    }
    for (uint32_t i = 0; i < causes; i++)
        caused += cause[i].ns;
    ck_assert_double_le(fabs(caused - waits), waits * 1e-9 + 1);
}

static void compare(const struct program *p, const struct replay_model *m, uint64_t seed)
{
    struct replay_blame *a = replay_blame_create(p->source.ranks, p->source.places);
    struct replay_blame *b = replay_blame_create(p->source.ranks, p->source.places);
    struct replay_result walked = run(p, m, true, a), skipped = run(p, m, false, b);

    for (uint32_t r = 0; r < p->source.ranks; r++) {
        ck_assert_msg(walked.end[r] == skipped.end[r], "seed %llu rank %u: %lld walked, %lld skipped",
                      (unsigned long long)seed, r, (long long)walked.end[r], (long long)skipped.end[r]);
        struct replay_account x = replay_blame_account(a, r), y = replay_blame_account(b, r);
        ck_assert_msg(x.work == y.work && x.call == y.call && x.wait == y.wait && x.between == y.between,
                      "seed %llu rank %u: %lld %lld %lld walked, %lld %lld %lld skipped", (unsigned long long)seed, r,
                      (long long)x.work, (long long)x.call, (long long)x.wait, (long long)y.work, (long long)y.call,
                      (long long)y.wait);
    }
    ck_assert_uint_eq(walked.unmatched, 0);
    ck_assert_uint_eq(skipped.unmatched, 0);
    ck_assert_uint_le(skipped.walked, walked.walked);
    audit(a, p->source.ranks);
    audit(b, p->source.ranks);
    replay_blame_destroy(a);
    replay_blame_destroy(b);
    free(walked.end);
    free(skipped.end);
}

START_TEST(test_skipping_is_exact)
{
    for (uint64_t seed = (uint64_t)_i * 25; seed < (uint64_t)_i * 25 + 25; seed++) {
        static const uint32_t turns[] = { 100, 20, 8 };
        struct program *p = program_random(seed, 1 + (uint32_t)(seed % 9), 1 + (uint32_t)(seed % 3), turns[seed % 3]);
        compare(p, seed % 4 ? &usual : &free_of_cost, seed);
        program_destroy(p);
    }
}
END_TEST

START_TEST(test_turns_cost_nothing)
{
    struct phase body[] = { { .kind = PHASE_HALO, .bytes = 1000, .ns = 50000, .seed = 7 },
                            { .kind = PHASE_COLLECTIVE, .shape = REPLAY_ALL, .bytes = 8, .ns = 3000, .seed = 8 } };
    struct program *few = program_loop(8, body, 2, 1000), *many = program_loop(8, body, 2, 60000000);
    struct replay_result a = run(few, &usual, false, NULL), b = run(many, &usual, false, NULL);

    ck_assert_double_gt(b.events, 9e8);
    ck_assert_uint_le(b.walked, 2 * a.walked);
    ck_assert_uint_ge(b.skips, 1);
    free(a.end);
    free(b.end);
    program_destroy(few);
    program_destroy(many);
}
END_TEST

/* A turn of many ranks in a collective is thousands of steps, in which its pace-keeper turns once. */
START_TEST(test_collective_alone)
{
    static const struct replay_model no_contention = { .L = 2500, .S = 65535 };
    struct phase body = { .kind = PHASE_COLLECTIVE, .shape = REPLAY_ALL, .bytes = 8, .ns = 3000, .seed = 8 };
    struct program *p = program_loop(256, &body, 1, 1000000000);
    struct replay_how how = { .limit = 4000000 };
    struct replay_result r;

    ck_assert_int_eq(replay_run(&p->source, &no_contention, &how, &r), 0);
    ck_assert_uint_ge(r.skips, 1);
    free(r.end);
    program_destroy(p);
}
END_TEST

/* Neighbours alone, of whom no two compute as long: the whole state does not repeat for long. */
START_TEST(test_neighbours_alone)
{
    enum { MANY = 256 };
    static const struct replay_model no_contention = { .L = 2500, .S = 65535 };
    struct phase body = { .kind = PHASE_HALO, .bytes = 1000, .ns = 50000, .seed = 7 };
    struct program *p = program_loop(MANY, &body, 1, 600);
    struct replay_how walk = { .walk = true }, fast = { .exact_steps = 5000, .limit = 200000 };
    struct replay_result a, b;

    ck_assert_int_eq(replay_run(&p->source, &no_contention, &walk, &a), 0);
    fast.blame = replay_blame_create(p->source.ranks, p->source.places);
    ck_assert_int_eq(replay_run(&p->source, &no_contention, &fast, &b), 0);
    ck_assert_uint_ge(b.skips, 1);
    ck_assert_double_le(fabs((double)b.longest / (double)a.longest - 1), 0.02);
    ck_assert_double_le(b.off, 0.02);
    audit(fast.blame, p->source.ranks);
    replay_blame_destroy(fast.blame);
    free(a.end);
    free(b.end);
    program_destroy(p);
}
END_TEST

/* Every message of a collective is sent and received, and whoever depends on a rank hears of it: reaches[r] are the
   ranks whose part rank r has, eight at a time. */
static void check_collective(uint32_t size, enum replay_shape shape)
{
    uint32_t *step = calloc(size, sizeof *step), left = size;
    uint64_t *has = calloc(size, sizeof *has), messages = 0;
    struct replay_op out;
    uint64_t *mail = calloc((size_t)size * size, sizeof *mail); /* from, to: what is under way, bit 63: something */

    for (uint32_t r = 0; r < size; r++)
        has[r] = UINT64_C(1) << (uint64_t)r * 60 / size;
    while (left) {
        uint32_t before = left, moved = 0;
        for (uint32_t r = 0; r < size; r++) {
            struct replay_op op = { .shape = (uint8_t)shape, .bytes = 8, .size = size, .me = r, .peer = 3 % size };
            while (step[r] != UINT32_MAX) {
                uint32_t at = step[r];
                if (!replay_collective_step(&op, &step[r], &out)) {
                    step[r] = UINT32_MAX;
                    left--;
                    break;
                }
                uint64_t *m = out.kind == REPLAY_RECV ? &mail[(size_t)out.peer * size + r]
                                                      : &mail[(size_t)r * size + out.peer];
                if (out.kind == REPLAY_RECV && !*m) {
                    step[r] = at;
                    break;
                }
                moved++;
                if (out.kind == REPLAY_RECV) {
                    has[r] |= *m & ~(UINT64_C(1) << 63);
                    *m = 0;
                } else if (out.kind == REPLAY_ISEND) {
                    ck_assert_uint_eq(*m, 0);
                    *m = has[r] | UINT64_C(1) << 63;
                    messages++;
                }
            }
        }
        ck_assert_msg(moved || left < before, "%u ranks stay", left);
    }
    for (size_t i = 0; i < (size_t)size * size; i++)
        ck_assert_uint_eq(mail[i], 0);
    for (uint32_t r = 0; r < size && (shape == REPLAY_ALL || shape == REPLAY_GROW || r == 3 % size); r++)
        if (shape != REPLAY_FROM && shape != REPLAY_PREFIX && size >= 60)
            ck_assert_uint_eq(has[r], (UINT64_C(1) << 60) - 1);
    if (size > COLLECTIVE_FEW && shape != REPLAY_PREFIX)
        ck_assert_uint_le(messages, 2 * (uint64_t)size);
    free(step);
    free(has);
    free(mail);
}

START_TEST(test_collectives_are_whole)
{
    static const uint32_t sizes[] = { 1, 2, 3, 5, 8, 60, 64, 65, 100, 128, 129, 257 };

    for (int shape = REPLAY_ALL; shape <= REPLAY_PREFIX; shape++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check_collective(sizes[i], (enum replay_shape)shape);
}
END_TEST

/* A forged file's group may be of any size: steps end, and name members. */
START_TEST(test_collectives_of_any_size)
{
    static const uint32_t sizes[] = { (1u << 30) + 1, 1u << 31, (1u << 31) + 1, UINT32_MAX };
    struct replay_op out;

    ck_assert_uint_eq(replay_collective_rounds(0), 0);
    ck_assert_uint_eq(replay_collective_rounds(1), 0);
    ck_assert_uint_eq(replay_collective_rounds(5), 3);
    for (int k = 0; k < 5 * 4 * 2; k++) {
        uint32_t size = sizes[k % 4], step = 0;
        struct replay_op op = { .shape = (uint8_t)(k / 8), .bytes = 8, .size = size, .me = k / 4 % 2 ? size - 1 : 7 };
        ck_assert_uint_eq(replay_collective_rounds(size), 31);
        while (replay_collective_step(&op, &step, &out)) {
            ck_assert_uint_lt(out.peer, size);
            ck_assert_uint_lt(step, 1000);
        }
        step = 0;
        op.starts = 1;
        while (replay_collective_step(&op, &step, &out)) {
            ck_assert_uint_lt(out.peer, size);
            ck_assert_uint_lt(step, 1000);
        }
    }
}
END_TEST

/* Who talks to nobody takes as many steps, however long. */
START_TEST(test_own_work_is_not_walked)
{
    struct phase body = { .kind = PHASE_COMPUTE, .ns = 1000, .seed = 3 };
    uint64_t walked = 0;

    for (uint64_t turns = 1000; turns <= 1000000000; turns *= 1000) {
        struct program *p = program_loop(4, &body, 1, turns);
        struct replay_blame *b = replay_blame_create(4, p->source.places);
        struct replay_result r = run(p, &free_of_cost, false, b);

        ck_assert_uint_lt(r.walked, 100);
        ck_assert(!walked || r.walked == walked);
        walked = r.walked;
        ck_assert_int_eq(r.end[0] % (int64_t)turns, 0);
        ck_assert_int_ge(r.end[0], 1000 * (int64_t)turns);
        ck_assert_int_eq(replay_blame_account(b, 0).work, r.end[0]);
        audit(b, p->source.ranks);
        replay_blame_destroy(b);
        free(r.end);
        program_destroy(p);
    }
}
END_TEST

/* 48 ranks repeat after long: whoever wants few exact steps gets nearly the time of walking. */
START_TEST(test_exact_steps)
{
    static const struct replay_model no_contention = { .L = 2500, .S = 65535 };
    struct phase body[] = { { .kind = PHASE_HALO, .bytes = 1000, .ns = 50000, .seed = 7 },
                            { .kind = PHASE_COLLECTIVE, .shape = REPLAY_ALL, .bytes = 8, .ns = 3000, .seed = 8 } };
    struct program *p = program_loop(48, body, 2, 5000);
    struct replay_how walk = { .walk = true }, fast = { .exact_steps = 5000 };
    struct replay_result a, b;

    ck_assert_int_eq(replay_run(&p->source, &no_contention, &walk, &a), 0);
    ck_assert_int_eq(replay_run(&p->source, &no_contention, &fast, &b), 0);
    ck_assert_uint_lt(b.walked, a.walked / 10);
    for (uint32_t r = 0; r < 48; r++)
        ck_assert_double_le(fabs((double)b.end[r] / (double)a.end[r] - 1), 1e-3);
    ck_assert_double_le(b.off, 1e-3);
    free(a.end);
    free(b.end);
    program_destroy(p);
}
END_TEST

/* LogGP by hand: a message of s bytes is there o + L + o + (s - 1) G after its sender began. */
START_TEST(test_one_message)
{
    struct phase body = { .kind = PHASE_PAIR, .bytes = 101, .ns = 0, .seed = 3 };
    struct program *p = program_loop(2, &body, 1, 1);
    struct replay_blame *b = replay_blame_create(2, p->source.places);
    struct replay_result r = run(p, &usual, false, b);
    int64_t work = replay_blame_account(b, 0).work; /* equal on both: the seed is a multiple of three */

    ck_assert_int_eq(work, replay_blame_account(b, 1).work);
    ck_assert_int_eq(r.end[0], work + 1500);
    ck_assert_int_eq(r.end[1], work + 1500 + 2500 + 1500 + 100 * 6);
    ck_assert_int_eq(replay_blame_account(b, 1).wait, 0);
    replay_blame_destroy(b);
    free(r.end);
    program_destroy(p);
}
END_TEST

/* Rank 0 works 10 us before each message: rank 1 waits for that, and for nothing else. */
START_TEST(test_chain_is_followed)
{
    struct phase body[] = { { .kind = PHASE_CHAIN, .bytes = 8, .ns = 1000000, .seed = 3 },
                            { .kind = PHASE_COLLECTIVE, .shape = REPLAY_ALL, .bytes = 1, .seed = 6 } };
    struct program *p = program_loop(4, body, 2, 100);
    struct replay_blame *b = replay_blame_create(4, p->source.places);
    struct replay_result r = run(p, &free_of_cost, false, b);
    uint32_t count;
    const struct replay_cause *c = replay_blame_causes(b, &count);
    double by[4] = { 0 }, sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_eq(c[i].cause, 0);
        by[c[i].culprit] += c[i].ns;
        sum += c[i].ns;
    }
    /* In each turn rank k waits k ms for those before it, and 3 - k ms for those behind it. */
    ck_assert_double_eq_tol(sum, 100 * 12e6, 1e6);
    for (int k = 0; k < 3; k++)
        ck_assert_double_ge(by[k], 99 * 1e6);
    replay_blame_destroy(b);
    free(r.end);
    program_destroy(p);
}
END_TEST

/* Rank 0 receives from anyone, three times: the waits say from 2, from 1, and that the third one was cancelled. */
static uint32_t named(void *context, uint32_t rank, uint32_t node, struct replay_moment at, struct replay_op *out)
{
    static const struct replay_op later = { .kind = REPLAY_IRECV, .peer = REPLAY_LATER, .tag = 64, .anyone = 1 };
    static const struct replay_op wait = { .kind = REPLAY_WAIT, .back = REPLAY_BACK_OLDEST };
    static const struct replay_op send = { .kind = REPLAY_SEND, .peer = 0, .tag = 64 };
    static const struct replay_op work = { .kind = REPLAY_COMPUTE, .ns = 1000 };
    const struct replay_op first[] = { later, later, wait, work, wait, later, wait, later };
    const struct replay_op others[] = { work, send, send };

    (void)context, (void)node, (void)at;
    memcpy(out, rank ? others : first, rank ? sizeof others : sizeof first);
    if (rank == 0) {
        out[2].peer = 2;
        out[4].peer = 1;
        out[6].peer = REPLAY_ANY;
        out[6].cancelled = 1;
        out[7].kind = REPLAY_RECV;
        out[7].peer = 1;
    }
    out[0].ns *= rank == 2 ? 5 : 1;
    return rank == 0 ? 8 : rank == 1 ? 3 : 2;
}

START_TEST(test_waits_name_sources)
{
    struct phase body = { .kind = PHASE_COMPUTE };
    struct program *p = program_loop(3, &body, 1, 1);

    p->source.event = named;
    for (int walk = 0; walk < 2; walk++) {
        struct replay_result r = run(p, &free_of_cost, walk, NULL);
        ck_assert_int_eq(r.end[0], 5000 + 1000);
        ck_assert_uint_eq(r.unmatched, 0);
        ck_assert_uint_eq(r.left, 0);
        free(r.end);
    }
    program_destroy(p);
}
END_TEST

/* A look for a message that comes late: the work until the next look is done by then. */
static uint32_t looks(void *context, uint32_t rank, uint32_t node, struct replay_moment at, struct replay_op *out)
{
    static const struct replay_op work = { .kind = REPLAY_COMPUTE, .ns = 1000 };
    static const struct replay_op send = { .kind = REPLAY_SEND, .peer = 0 };
    static const struct replay_op receive = { .kind = REPLAY_IRECV, .peer = 1 };
    static const struct replay_op look = { .kind = REPLAY_WAIT, .back = REPLAY_BACK_OLDEST, .peer = 1, .polls = 1 };
    const struct replay_op first[] = { receive, work, look, receive, work, look };
    const struct replay_op others[] = { work, send, send };

    (void)context, (void)node, (void)at;
    memcpy(out, rank ? others : first, rank ? sizeof others : sizeof first);
    if (rank == 0)
        out[1].polls = out[4].polls = 1;
    else
        out[0].ns = 1700;
    return rank ? 3 : 6;
}

START_TEST(test_looks_do_not_wait_twice)
{
    struct phase body = { .kind = PHASE_COMPUTE };
    struct program *p = program_loop(2, &body, 1, 1);

    p->source.event = looks;
    struct replay_blame *b = replay_blame_create(2, p->source.places);
    struct replay_result r = run(p, &free_of_cost, true, b);
    ck_assert_int_eq(r.end[0], 2000);
    ck_assert_int_eq(replay_blame_account(b, 0).wait, 0);
    ck_assert_int_gt(replay_blame_account(b, 0).between, 0);
    audit(b, p->source.ranks);
    replay_blame_destroy(b);
    free(r.end);
    program_destroy(p);
}
END_TEST

/* Sends of which no completion is known: their requests are no part of what repeats. */
static uint32_t forgotten(void *context, uint32_t rank, uint32_t node, struct replay_moment at, struct replay_op *out)
{
    static const struct replay_op work = { .kind = REPLAY_COMPUTE, .ns = 1000 };
    static const struct replay_op send = { .kind = REPLAY_ISEND, .peer = 1 };
    static const struct replay_op receive = { .kind = REPLAY_RECV, .peer = 0 };

    (void)context, (void)node, (void)at;
    out[0] = rank ? receive : work;
    out[1] = send;
    return rank ? 1 : 2;
}

START_TEST(test_sends_nobody_waits_for)
{
    struct phase body = { .kind = PHASE_COMPUTE };
    struct program *p = program_loop(2, &body, 1, 100000);

    p->source.event = forgotten;
    struct replay_result r = run(p, &free_of_cost, false, NULL);
    ck_assert_int_eq(r.end[1], 100000 * 1000);
    ck_assert_uint_eq(r.unmatched, 0);
    ck_assert_uint_lt(r.walked, 1000);
    free(r.end);
    program_destroy(p);
}
END_TEST

START_TEST(test_goal_has_every_operation)
{
    struct phase body = { .kind = PHASE_RING, .bytes = 10, .ns = 5, .seed = 3 };
    struct program *p = program_loop(2, &body, 1, 3);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    replay_goal_write(&p->source, &usual, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "num_ranks 2"));
    ck_assert_ptr_nonnull(strstr(text,
                                 "l2: recv 10b from 1 tag 0\nl2 requires l1\nl3: send 10b to 1 tag 0\nl3 irequires l2\n"
                                 "l4: calc 0\nl4 irequires l3\nl4 requires l2\nl4 requires l3\n"));
    ck_assert_ptr_nonnull(strstr(text, "l12: calc 0"));
    ck_assert_ptr_null(strstr(text, "l13"));
    free(text);
    program_destroy(p);
}
END_TEST

/* A receive from anyone has the name of who sent. */
START_TEST(test_goal_names_senders)
{
    struct phase body = { .kind = PHASE_ANY, .bytes = 10, .ns = 5, .seed = 3 };
    struct program *p = program_loop(3, &body, 1, 4);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    replay_goal_write(&p->source, &usual, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "recv"));
    ck_assert_ptr_null(strchr(text, '@'));
    ck_assert_ptr_null(strstr(text, "from -1"));
    ck_assert_ptr_null(strstr(text, "from 429"));
    free(text);
    program_destroy(p);
}
END_TEST

/* As the table of MPI calls has it, and what follows from a row there. */
START_TEST(test_calls_by_name)
{
    static const struct { const char *name; uint8_t call_kind, blocking; struct replay_call is; } calls[] = {
        { "MPI_Rsend", JOB_P2P, 1, { BIND_SEND, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Isend_c", JOB_P2P, 0, { BIND_ISEND, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Send_init", JOB_P2P, 0, { BIND_LOCAL, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Imrecv", JOB_P2P, 0, { BIND_IRECV, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Sendrecv_replace", JOB_P2P, 1, { BIND_SENDRECV, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Startall", JOB_P2P, 0, { BIND_STARTALL, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Testall", JOB_COMPLETION, 0, { BIND_WAIT_ALL, REPLAY_ALL, REPLAY_ORDER } },
        { "MPI_Waitsome", JOB_COMPLETION, 1, { BIND_WAIT_ONE, REPLAY_ALL, REPLAY_NUMBER } },
        { "MPI_Improbe", JOB_PROBE, 0, { BIND_PROBE, REPLAY_ALL, REPLAY_NUMBER } },
        { "MPI_Alltoallw", JOB_COLLECTIVE, 1, { BIND_COLLECTIVE, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Gatherv_c", JOB_COLLECTIVE, 1, { BIND_COLLECTIVE, REPLAY_TO, REPLAY_CERTAIN } },
        { "MPI_Iallgather", JOB_COLLECTIVE, 0, { BIND_ICOLLECTIVE, REPLAY_GROW, REPLAY_CERTAIN } },
        { "MPI_Ineighbor_alltoallv", JOB_COLLECTIVE, 0, { BIND_ICOLLECTIVE, REPLAY_NEAR, REPLAY_CERTAIN } },
        { "MPI_Exscan", JOB_COLLECTIVE, 1, { BIND_COLLECTIVE, REPLAY_PREFIX, REPLAY_CERTAIN } },
        { "MPI_Bcast_init", JOB_COLLECTIVE, 0, { BIND_LOCAL, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Fetch_and_op", JOB_ONESIDED, 0, { BIND_LOCAL, REPLAY_ALL, REPLAY_ORDER } },
        { "MPI_Win_free", JOB_ONESIDED, 1, { BIND_WINDOW, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Comm_split", JOB_COMMUNICATOR, 1, { BIND_COLLECTIVE, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Comm_free", JOB_COMMUNICATOR, 1, { BIND_LOCAL, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_Finalize", JOB_LIFE, 1, { BIND_FINALIZE, REPLAY_ALL, REPLAY_CERTAIN } },
        { "MPI_S", JOB_P2P, 1, { BIND_LOCAL, REPLAY_ALL, REPLAY_CERTAIN } },
    };
    struct job *j = job_create();

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct job_terminal t = { .call_kind = calls[i].call_kind, .blocking = calls[i].blocking,
                                  .function = job_string(j, calls[i].name), .callsite = GRAMMAR_NONE };
        struct replay_call is = replay_call_of(j, &t);
        ck_assert_msg(is.what == calls[i].is.what && is.shape == calls[i].is.shape && is.chance == calls[i].is.chance,
                      "%s: %u %u %u", calls[i].name, is.what, is.shape, is.chance);
    }
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(test_skipping_is_exact, 12),
        UNIT_TEST(test_turns_cost_nothing),
        UNIT_TEST(test_collective_alone),
        UNIT_TEST(test_neighbours_alone),
        UNIT_TEST(test_collectives_are_whole),
        UNIT_TEST(test_collectives_of_any_size),
        UNIT_TEST(test_own_work_is_not_walked),
        UNIT_TEST(test_exact_steps),
        UNIT_TEST(test_one_message),
        UNIT_TEST(test_chain_is_followed),
        UNIT_TEST(test_waits_name_sources),
        UNIT_TEST(test_looks_do_not_wait_twice),
        UNIT_TEST(test_sends_nobody_waits_for),
        UNIT_TEST(test_goal_has_every_operation),
        UNIT_TEST(test_goal_names_senders),
        UNIT_TEST(test_calls_by_name),
    };
    return unit_run("replay", tests, UNIT_COUNT(tests));
}
