/* SPDX-License-Identifier: MIT */
/* Verdicts from tables of boards: who waits for whom. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sights.h"
#include "tests/unit/unit.h"

START_TEST(a_rank_that_computes_is_missing)
{
    sights_set_up();
    sights_all_in("Allreduce", 20);
    sights_computes(3, 20);
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    ck_assert_uint_eq(sights_verdict.since_ns, 20 * SIGHTS_SECOND);
    sights[3].board.comm[0].collectives = 51; /* it has been through: then it is not waited for */
    ck_assert_str_eq(sights_told(), "none 0 1 2 4 5");
    ck_assert_int_eq(sights_verdict.why, WATCH_ALL_THERE);
}
END_TEST

START_TEST(nobody_is_missing_yet)
{
    sights_set_up();
    sights_all_in("Allreduce", 3.9);
    sights_computes(3, 3.9);
    ck_assert_str_eq(sights_told(), "none"); /* less than the shortest time */
    sights_all_in("Allreduce", 20);
    sights_computes(3, 20);
    sights[5].board.longest = 10 * SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "none"); /* 30 s would be too long */
    sights[5].board.longest = 6 * SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
}
END_TEST

/* How long a pause may be is said by those that were there before: of who waits, and of whom it waits for. */
START_TEST(a_first_pause_is_no_verdict)
{
    sights_set_up();
    sights_all_in("Allreduce", 39);
    sights_computes(3, 39);
    sights_seen(3, 1); /* this time alone */
    ck_assert_str_eq(sights_told(), "none 3 waiting 0 1 2 4 5");
    sights_seen(3, 10); /* nine pauses, ten times as long: 40 s */
    ck_assert_str_eq(sights_told(), "none 3 waiting 0 1 2 4 5");
    sights_seen(3, 11);
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    sights_seen(3, 1000);
    for (uint32_t r = 0; r < SIGHTS; r++)
        if (r != 3)
            sights_seen(r, 0); /* none has been in this call before */
    ck_assert_str_eq(sights_told(), "none 3 waiting 0 1 2 4 5");
    sights_usual[4].count = 500; /* but in the recorded run */
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    sights_usual[4].count = 0;
    sights_computes(4, 39); /* two are waited for, as nobody knows how long; rank 2 by one that knows */
    sights_receive(2, 3, 39);
    sights_seen(2, 1000);
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 5");
    sights[3].process.state = 'T';
    ck_assert_str_eq(sights_told(), "stopped 3 waiting 0 1 2 5");
    sights_set_up();
    sights[3].board.from = 0; /* before its first call */
    sights_computes(3, 39);
    sights_receive(2, 3, 39);
    ck_assert_str_eq(sights_told(), "none 3 waiting 2");
}
END_TEST

START_TEST(a_long_computation_is_known_from_the_recording)
{
    sights_set_up();
    sights_all_in("Allreduce", 20);
    sights_computes(3, 20);
    sights_usual[3].longest = 9 * SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "none");
    sights_usual[3].longest = 6 * SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
}
END_TEST

START_TEST(who_goes_on_is_not_missing)
{
    sights_set_up();
    sights_all_in("Barrier", 8);
    sights_computes(3, .5); /* a serial part: it has met calls since */
    ck_assert_str_eq(sights_told(), "none");
    sights_all_in("Barrier", 13); /* far too long for that */
    sights_computes(3, .5);
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
}
END_TEST

START_TEST(a_collective_left_out)
{
    sights_set_up();
    sights_all_in("Allreduce", 20);
    sights_call(3, "Finalize", JOB_LIFE, WATCH_PLAIN, 0, 20);
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    for (uint32_t r = 0; r < SIGHTS; r++)
        sights_call(r, "Finalize", JOB_LIFE, WATCH_PLAIN, 0, 20);
    sights_computes(3, 20); /* it is through */
    ck_assert_str_eq(sights_told(), "none");
    for (uint32_t r = 0; r < SIGHTS; r++) /* some are through: another call of rank 3's was taken for it */
        if (r == 0 || r == 2)
            sights_collective(r, "Allreduce", WORLD, 20);
        else if (r != 3)
            sights[r].board.comm[0].collectives = 51;
    sights_seen(3, 1);
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    sights_set_up();
    sights_all_in("Allreduce", 20);
    sights_collective(3, "Barrier", WORLD, 20); /* left out, or in another order: they wait for each other */
    ck_assert_str_eq(sights_told(), "deadlock 0 3 waiting 1 2 4 5");
    sights_collective(3, "Allreduce", WORLD, 20);
    sights[3].board.comm[0].collectives = 49; /* in an earlier one: the others are through */
    for (uint32_t r = 0; r < SIGHTS; r++)
        if (r != 3)
            sights_computes(r, .1);
    ck_assert_str_eq(sights_told(), "none 3");
    ck_assert_int_eq(sights_verdict.why, WATCH_ALL_THERE);
}
END_TEST

START_TEST(receives_in_a_circle)
{
    sights_set_up();
    sights_all_in("Barrier", 20);
    sights_receive(0, 1, 20);
    sights_receive(1, 0, 20);
    ck_assert_str_eq(sights_told(), "deadlock 0 1 waiting 2 3 4 5");
    sights_receive(1, 2, 20);
    sights_receive(2, 0, 20);
    ck_assert_str_eq(sights_told(), "deadlock 0 1 2 waiting 3 4 5");
    sights_computes(2, 20); /* no circle, but one that all wait for */
    ck_assert_str_eq(sights_told(), "missing_rank 2 waiting 0 1 3 4 5");
    sights_receive(0, 1, 20);
    sights_receive(1, 0, 1); /* not for long: it has just come */
    sights_collective(2, "Barrier", WORLD, 20);
    ck_assert_str_eq(sights_told(), "none");
}
END_TEST

START_TEST(a_message_that_never_comes)
{
    sights_set_up();
    sights_all_in("Barrier", 20);
    sights_receive(0, 1, 20); /* under another tag than rank 1 has sent it */
    ck_assert_str_eq(sights_told(), "deadlock 0 1 waiting 2 3 4 5");
}
END_TEST

/* It may be large: nothing says that these two wait for each other. */
START_TEST(a_message_that_is_under_way)
{
    sights_set_up();
    sights_all_in("Barrier", 20);
    sights_receive(0, 1, 20);
    sights_call(1, "Send", JOB_P2P, WATCH_PLAIN, WORLD, 20);
    sights[1].board.dest = 0;
    sights[1].board.tag = 5;
    ck_assert_str_eq(sights_told(), "deadlock 0 1 waiting 2 3 4 5"); /* another tag */
    sights[0].board.tag = 5;
    sights_seen(0, 0);
    sights_seen(1, 0);
    ck_assert_str_eq(sights_told(), "none 0 1 waiting 2 3 4 5");
    sights[0].board.tag = -1;
    sights[0].board.source = ANY;
    ck_assert_str_eq(sights_told(), "none 1 waiting 0 2 3 4 5");
    sights[1].board.dest = 2;
    ck_assert_str_eq(sights_told(), "deadlock 0 1 2 waiting 3 4 5");
}
END_TEST

START_TEST(from_anyone_or_nobody)
{
    sights_set_up();
    sights_all_in("Barrier", 20);
    sights_receive(0, ANY, 20);
    ck_assert_str_eq(sights_told(), "deadlock 0 1 waiting 2 3 4 5");
    sights_computes(4, 20); /* it may send yet */
    ck_assert_str_eq(sights_told(), "missing_rank 4 waiting 0 1 2 3 5");
    sights_all_in("Barrier", 20);
    sights_receive(0, NOBODY_HERE, 20);
    ck_assert_str_eq(sights_told(), "missing_rank 0 waiting 1 2 3 4 5"); /* it waits for nobody that can be named */
}
END_TEST

START_TEST(requests_name_whom_they_wait_for)
{
    sights_set_up();
    sights_all_in("Barrier", 20);
    sights_call(2, "Waitall", JOB_COMPLETION, WATCH_PLAIN, 0, 20);
    struct watch_request *q = sights[2].board.request;
    q[9] = (struct watch_request){0x900, 0, ROW, 1, 0, WATCH_RECEIVES};  /* rank 3 */
    q[70] = (struct watch_request){0x910, 0, WORLD, 5, 0, WATCH_SENDS};
    sights_computes(3, 20);
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    sights_collective(3, "Barrier", WORLD, 20);
    ck_assert_str_eq(sights_told(), "deadlock 2 3 waiting 0 1 4 5");
    sights_call(2, "Wait", JOB_COMPLETION, WATCH_PLAIN, 0x910, 20); /* that one alone */
    sights_computes(5, 20);
    sights_computes(3, 20);
    q[9].peer = 0;
    ck_assert_str_eq(sights_told(), "missing_rank 3 5 waiting 0 1 2 4");
    q[70] = (struct watch_request){0x910, 50, WORLD, 0, 0, WATCH_TAKES_PART};
    for (uint32_t r = 0; r < SIGHTS; r++)
        sights[r].board.comm[0].collectives = r == 4 ? 50 : 51;
    for (uint32_t r = 0; r < SIGHTS; r++)
        sights_computes(r, 1);
    sights_call(2, "Wait", JOB_COMPLETION, WATCH_PLAIN, 0x910, 20);
    sights_computes(4, 20);
    ck_assert_str_eq(sights_told(), "missing_rank 4 waiting 2");
}
END_TEST

START_TEST(collectives_in_another_order)
{
    sights_set_up();
    sights_all_in("Reduce", 20);
    for (uint32_t r = 0; r < SIGHTS; r++)
        sights[r].board.dest = r == 0 ? 0 : 1; /* to another root */
    ck_assert_str_eq(sights_told(), "deadlock 0 1 waiting 2 3 4 5");
    sights_set_up();
    for (uint32_t r = 0; r < 4; r++) {
        bool column = r == 0 || r == 3;
        sights_collective(r, "Allreduce", column ? COLUMN : ROW, 20);
    }
    sights_collective(4, "Allreduce", COLUMN, 20);
    sights_collective(5, "Allreduce", COLUMN, 20);
    ck_assert_str_eq(sights_told(), "deadlock 0 1 2 3 waiting 4 5");
}
END_TEST

START_TEST(who_does_not_run)
{
    sights_set_up();
    sights_all_in("Allreduce", 20);
    sights[3].process.state = 'T'; /* inside the same call as all others */
    ck_assert_str_eq(sights_told(), "stopped 3 waiting 0 1 2 4 5");
    sights[3].process.state = 'R';
    ck_assert_str_eq(sights_told(), "none 0 1 2 3 4 5"); /* all of them are there: their types may differ */
    ck_assert_int_eq(sights_verdict.why, WATCH_ALL_THERE);
    sights[4].process.state = 'X';
    ck_assert_str_eq(sights_told(), "stopped 4 waiting 0 1 2 3 5");
    sights[4].process.state = 'R';
    sights_computes(3, 20);
    sights[3].process.state = 'S';
    sights[3].idle_ns = SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "stopped 3 waiting 0 1 2 4 5");
    sights[3].process.state = 'R'; /* it would run if it had a processor */
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    sights[0].starves = true; /* who waits is not to blame */
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    sights[3].starves = true;
    ck_assert_str_eq(sights_told(), "none 3 waiting 0 1 2 4 5");
    ck_assert_int_eq(sights_verdict.why, WATCH_NO_PROCESSOR);
    sights_receive(3, 0, 20); /* who waits in a call gives its processor away */
    sights_receive(0, 3, 20);
    ck_assert_str_eq(sights_told(), "deadlock 0 3 waiting 1 2 4 5");
    sights[3].process.state = 'T';
    ck_assert_str_eq(sights_told(), "stopped 3 waiting 0 1 2 4 5");
    sights_set_up();
    sights_all_in("Allreduce", 20);
    sights_computes(3, 20);
    sights_absent[3] = true;
    ck_assert_str_eq(sights_told(), "missing_rank 3 waiting 0 1 2 4 5");
    sights_set_up();
    sights_all_in("Allreduce", 3);
    for (uint32_t r = 4; r < SIGHTS; r++) { /* of another node, seen every 2 s */
        sights[r].copied = true;
        sights[r].step_ns = 2 * SIGHTS_SECOND;
        sights[r].age_ns = 5 * SIGHTS_SECOND;
    }
    ck_assert_str_eq(sights_told(), "none");
    for (uint32_t r = 4; r < SIGHTS; r++)
        sights[r].age_ns = 7 * SIGHTS_SECOND;
    sights_computes(4, 3);
    ck_assert_str_eq(sights_told(), "stopped 4 5 waiting 0 1 2 3");
}
END_TEST

START_TEST(all_ask_again_and_again)
{
    sights_set_up();
    for (uint32_t r = 0; r < SIGHTS; r++)
        sights_call(r, "Test", JOB_COMPLETION, WATCH_POLLS, 0, 20);
    ck_assert_str_eq(sights_told(), "deadlock 0 1 2 3 4 5");
    sights_computes(2, 20);
    ck_assert_str_eq(sights_told(), "none"); /* nobody is known to wait for it */
}
END_TEST

START_TEST(nothing_is_wrong)
{
    sights_set_up();
    for (uint32_t r = 0; r < SIGHTS; r++)
        sights_computes(r, 30);
    ck_assert_str_eq(sights_told(), "none"); /* all compute for long */
    sights_all_in("Allreduce", 3);
    ck_assert_str_eq(sights_told(), "none"); /* all are there: the library is at it */
    atomic_store(&sights[2].board.since, WATCH_CHANGES);
    ck_assert_str_eq(sights_told(), "none");
    ck_assert_int_eq(sights_verdict.why, WATCH_WELL);
    sights_call(0, "Comm_join", JOB_COMMUNICATOR, WATCH_PLAIN, 0, 30);
    ck_assert_str_eq(sights_told(), "none 0 waiting 1 3 4 5");
    ck_assert_int_eq(sights_verdict.why, WATCH_FOR_WHOM);
    sights_call(0, "File_write", JOB_IO, WATCH_PLAIN, WORLD, 30);
    sights[2].board.longest = 60 * SIGHTS_SECOND;
    ck_assert_str_eq(sights_told(), "none");
    for (uint32_t r = 0; r < SIGHTS; r++)
        sights_absent[r] = true;
    ck_assert_str_eq(sights_told(), "none");
}
END_TEST

/* Ranks in one call have one list of whom they wait for, not one each: 10 000 would have 10 000 times as many. */
START_TEST(many_ranks)
{
    enum { MANY = 400 };
    struct watch_sight *all[MANY];
    for (uint32_t r = 0; r < MANY; r++) {
        struct watch_board *b = &(all[r] = calloc(1, sizeof **all))->board;
        all[r]->now = SIGHTS_NOW;
        b->rank = r;
        b->ranks = MANY;
        b->any = ANY;
        b->source = b->dest = WATCH_NOBODY;
        b->comm[0] = (struct watch_comm){WORLD, 1, 50, WORLD, (int32_t)r, MANY, "world"};
        b->is.what = (struct watch_what){JOB_COLLECTIVE, true, WATCH_COLLECTIVE, true};
        b->where = WORLD;
        strcpy(b->is.function, r % 4 == 3 ? "MPI_Barrier" : r % 4 == 2 ? "MPI_Recv" : "MPI_Allreduce");
        if (r % 4 == 2) {
            b->is.what = (struct watch_what){JOB_P2P, true, WATCH_PLAIN, true};
            b->source = ANY;
        }
        atomic_store(&b->since, (SIGHTS_NOW - 20 * SIGHTS_SECOND) << 1 | 1);
    }
    struct watch_row *rows = watch_rows(all, MANY, MANY);
    for (uint32_t r = 4; r < MANY; r++)
        ck_assert(r % 4 == 1 ? rows[r].peer == rows[0].peer : rows[r].peer == rows[r % 4].peer);
    ck_assert_uint_eq(rows[0].peer_count, MANY / 2);
    ck_assert_uint_eq(rows[2].peer_count, MANY);
    ck_assert_uint_eq(rows[3].peer_count, MANY * 3 / 4);
    watch_verdict_free(&sights_verdict);
    watch_judge(rows, MANY, &sights_verdict);
    ck_assert_int_eq(sights_verdict.kind, WATCH_DEADLOCK);
    ck_assert_uint_eq(sights_verdict.rank[0], 0);
    ck_assert_uint_eq(sights_verdict.rank_count + sights_verdict.waiting_count, MANY);
    watch_rows_free(rows, MANY);
    for (uint32_t r = 0; r < MANY; r++)
        free(all[r]);
}
END_TEST

/* A board says what it likes: nothing breaks. */
START_TEST(hostile_numbers)
{
    srand(1);
    for (int turn = 0; turn < 300; turn++) {
        sights_set_up();
        sights_all_in("Allreduce", 20);
        for (uint32_t r = 0; r < SIGHTS; r++) {
            unsigned char *at = (unsigned char *)&sights[r].board + offsetof(struct watch_board, any);
            for (int i = 0; i < 300; i++)
                at[(unsigned)rand() % (unsigned)(sizeof(struct watch_board) - offsetof(struct watch_board, any))] =
                    (unsigned char)rand();
            sights[r].board.is.function[WATCH_FUNCTION - 1] = '\0';
            for (unsigned i = 0; i < WATCH_COMMS; i++)
                sights[r].board.comm[i].name[sizeof sights[r].board.comm[i].name - 1] = '\0';
        }
        sights_told();
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(a_rank_that_computes_is_missing),
        UNIT_TEST(nobody_is_missing_yet),
        UNIT_TEST(a_first_pause_is_no_verdict),
        UNIT_TEST(a_long_computation_is_known_from_the_recording),
        UNIT_TEST(who_goes_on_is_not_missing),
        UNIT_TEST(a_collective_left_out),
        UNIT_TEST(receives_in_a_circle),
        UNIT_TEST(a_message_that_never_comes),
        UNIT_TEST(a_message_that_is_under_way),
        UNIT_TEST(from_anyone_or_nobody),
        UNIT_TEST(requests_name_whom_they_wait_for),
        UNIT_TEST(collectives_in_another_order),
        UNIT_TEST(who_does_not_run),
        UNIT_TEST(all_ask_again_and_again),
        UNIT_TEST(nothing_is_wrong),
        UNIT_TEST(many_ranks),
        UNIT_TEST(hostile_numbers),
    };
    return unit_run("watch/verdict", tests, UNIT_COUNT(tests));
}
