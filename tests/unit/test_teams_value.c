/* SPDX-License-Identifier: MIT */
/* What is known of values (teams/value.h), of functions by their names (teams/known.h), and
   once something is known (teams/safety.h). */
#include "job/proofs.h"
#include "teams/known.h"
#include "teams/proof.h"
#include "teams/safety.h"
#include "teams/value.h"
#include "tests/unit/unit.h"

typedef struct teams_value value;

static value number(void) /* of the thread */
{
    return (value){ .kind = TEAMS_LINEAR, .bits = TEAMS_EXACT, .t = 1 };
}

static value size(void) /* of the team */
{
    return (value){ .kind = TEAMS_LINEAR, .bits = TEAMS_EXACT, .n = 1 };
}

static value frame(int offset)
{
    return (value){ .kind = TEAMS_FRAME, .number = offset };
}

static value plus(value a, value b)
{
    return teams_value_add(a, b, false);
}

static value minus(value a, value b)
{
    return teams_value_add(a, b, true);
}

static bool is_bound(value v)
{
    return v.kind == TEAMS_ANY && (v.bits & TEAMS_BOUND);
}

static const value heap = { .kind = TEAMS_HEAP };

START_TEST(constants)
{
    value v = minus(teams_value_constant(5), teams_value_constant(7));
    ck_assert(v.kind == TEAMS_CONSTANT && v.number == -2);
    v = teams_value_scale(v, 8);
    ck_assert(v.kind == TEAMS_CONSTANT && v.number == -16);
    ck_assert(teams_value_constant(1ll << 40).kind == TEAMS_ANY);
    ck_assert(teams_value_constant(0).bits & TEAMS_ZERO);
    ck_assert(!(teams_value_constant(3).bits & TEAMS_ZERO));
    ck_assert(teams_value_scale(teams_value_any(0), 0).kind == TEAMS_CONSTANT);
}
END_TEST

/* q T + r to q T + r + q, and (q + 1) T where T < r; nothing else made of them. */
START_TEST(a_static_schedule)
{
    value rest, q = teams_value_divide(teams_value_any(0), size(), &rest);
    ck_assert(q.kind == TEAMS_QUOTIENT && teams_value_is_raw(&rest));
    value product = teams_value_multiply(q, number()), begin = plus(product, rest);
    ck_assert(teams_value_is_raw(&product));
    ck_assert(is_bound(begin) && is_bound(plus(begin, q)));
    ck_assert(minus(plus(begin, q), begin).bits & TEAMS_LENGTH);
    value longer = plus(q, teams_value_constant(1)), other = plus(q, teams_value_constant(2));
    ck_assert(longer.kind == TEAMS_QUOTIENT_1 && plus(teams_value_constant(1), q).kind == TEAMS_QUOTIENT_1);
    ck_assert(other.kind == TEAMS_ANY && (other.bits & TEAMS_LENGTH));
    ck_assert(is_bound(teams_value_begin(longer, number())));
    ck_assert(teams_value_begin(longer, size()).kind == TEAMS_RAW);
    ck_assert(teams_value_multiply(q, size()).kind == TEAMS_RAW);
    ck_assert(teams_value_join(q, longer).kind == TEAMS_QUOTIENT);
    value r = teams_value_join(teams_value_constant(0), rest);
    ck_assert(teams_value_equal(&r, &rest));
    ck_assert(teams_value_join(teams_value_constant(1), rest).kind == TEAMS_RAW);
    ck_assert(teams_value_compare(number(), rest).kind == TEAMS_IF_REST);
    ck_assert(teams_value_divide(teams_value_any(0), number(), &rest).kind == TEAMS_RAW);
}
END_TEST

START_TEST(a_schedule_with_chunks)
{
    value mine = teams_value_scale(number(), 4), step = teams_value_scale(size(), 4), next = plus(mine, step);
    ck_assert(mine.kind == TEAMS_LINEAR && mine.t == 4);
    ck_assert(is_bound(teams_value_loop(mine, next)));
    ck_assert(!is_bound(teams_value_loop(mine, plus(mine, size()))));
    ck_assert(!is_bound(teams_value_join(mine, next)));
    value after = plus(teams_value_loop(mine, next), step); /* has the size in it, but at the loop's head */
    ck_assert(teams_value_is_raw(&after) && is_bound(teams_value_loop(mine, after)));
    ck_assert(teams_value_compare(after, teams_value_any(0)).kind == TEAMS_IF_CHUNK);
    ck_assert(teams_value_compare(mine, teams_value_any(0)).kind == TEAMS_IF_CHUNK);
    value end = teams_value_join(plus(mine, teams_value_constant(4)), teams_value_any(0));
    ck_assert(end.kind == TEAMS_LINEAR && end.t == 4 && !(end.bits & TEAMS_EXACT));
    ck_assert(teams_value_scale(number(), 1 << 20).kind == TEAMS_RAW);
    ck_assert(teams_value_scale(teams_value_scale(number(), 1 << 14), 4).kind == TEAMS_RAW);
}
END_TEST

/* What a program makes of its number stays known as such. */
START_TEST(questions_of_the_program)
{
    value sum = plus(number(), teams_value_any(0)), both = plus(number(), size());
    ck_assert(teams_value_is_raw(&sum) && teams_value_is_raw(&both));
    value difference = minus(sum, number());
    ck_assert(difference.kind == TEAMS_ANY && is_bound(difference)); /* the number is not in it any more */
    ck_assert(teams_value_mix(number(), teams_value_any(0)).kind == TEAMS_RAW);
    ck_assert(teams_value_join(number(), size()).kind == TEAMS_RAW);
    ck_assert(teams_value_compare(number(), teams_value_constant(0)).kind == TEAMS_IF_MASTER);
    ck_assert(teams_value_compare(number(), teams_value_constant(1)).kind == TEAMS_IF_CHUNK);
    ck_assert(teams_value_compare(size(), teams_value_constant(1)).kind == TEAMS_RAW);
    ck_assert(teams_value_compare(sum, teams_value_constant(0)).kind == TEAMS_IF_CHUNK);
    value one = { .kind = TEAMS_IF_SINGLE };
    ck_assert(teams_value_compare(one, teams_value_constant(1)).kind == TEAMS_IF_SINGLE);
    ck_assert(teams_value_is_raw(&one));
    ck_assert(plus(frame(0), number()).kind == TEAMS_RAW);
}
END_TEST

START_TEST(addresses)
{
    value v = plus(frame(-16), teams_value_constant(8));
    ck_assert(v.kind == TEAMS_FRAME && v.number == -8);
    ck_assert(minus(frame(-16), teams_value_constant(8)).number == -24);
    ck_assert(plus(frame(0), teams_value_any(0)).kind == TEAMS_STACK);
    ck_assert(plus(heap, teams_value_any(0)).kind == TEAMS_HEAP);
    ck_assert(minus(frame(8), frame(0)).kind == TEAMS_ANY);
    ck_assert(minus(teams_value_constant(8), heap).kind == TEAMS_ANY);
    ck_assert(teams_value_join(frame(0), frame(8)).kind == TEAMS_STACK);
    ck_assert(teams_value_join(heap, plus(heap, teams_value_any(TEAMS_CARRIED))).kind == TEAMS_HEAP);
    ck_assert(teams_value_join(heap, frame(0)).kind == TEAMS_ANY);
    ck_assert(teams_value_is_own(&v) && teams_value_is_own(&heap));
    v = teams_value_any(0);
    ck_assert(!teams_value_is_own(&v));
}
END_TEST

/* What holds of one way only, and what of both. */
START_TEST(marks)
{
    value bound = teams_value_any(TEAMS_BOUND | TEAMS_EDGE), carried = teams_value_any(TEAMS_CARRIED);
    value zero = teams_value_any(TEAMS_ZERO), plain = teams_value_any(0), nothing = { .kind = TEAMS_UNSEEN };
    ck_assert(!is_bound(teams_value_join(bound, plain)) && is_bound(teams_value_join(bound, carried)) == false);
    ck_assert(teams_value_join(plain, carried).bits & TEAMS_CARRIED);
    ck_assert(!(teams_value_join(zero, plain).bits & TEAMS_ZERO));
    ck_assert(teams_value_join(zero, teams_value_constant(0)).bits & TEAMS_ZERO);
    ck_assert(is_bound(teams_value_join(nothing, bound)) && is_bound(teams_value_join(bound, nothing)));
    ck_assert(teams_value_join(number(), plain).kind == TEAMS_LINEAR);
    ck_assert(teams_value_join(size(), plain).kind == TEAMS_RAW);
    ck_assert(is_bound(teams_value_loop(bound, teams_value_constant(3))));
    ck_assert(!is_bound(teams_value_join(bound, teams_value_constant(3))));
    ck_assert(minus(bound, bound).bits & TEAMS_LENGTH);
    ck_assert(!(minus(teams_value_any(TEAMS_BOUND), bound).bits & TEAMS_LENGTH));
    ck_assert(!(teams_value_mix(bound, teams_value_any(TEAMS_COUNTER)).bits & TEAMS_COUNTER));
    ck_assert(teams_value_mix(plain, teams_value_any(TEAMS_COUNTER)).bits & TEAMS_COUNTER);
    ck_assert(teams_value_mix(bound, carried).bits & TEAMS_CARRIED);
}
END_TEST

START_TEST(names)
{
    static const struct {
        const char *name;
        enum teams_known known;
        unsigned arguments;
    } rows[] = {
        { "omp_get_num_threads", TEAMS_ASKS_SIZE, 0 },  { "omp_get_thread_num", TEAMS_ASKS_NUMBER, 0 },
        { "omp_get_num_threads_", TEAMS_ASKS_ITSELF, 0 }, { "omp_get_thread_num_", TEAMS_ASKS_ITSELF, 0 },
        { "omp_get_max_threads", TEAMS_ASKS, 8 },       { "omp_in_parallel", TEAMS_PURE, 0 },
        { "omp_get_level", TEAMS_PURE, 0 },             { "omp_get_active_level", TEAMS_PURE, 0 },
        { "omp_get_wtime", TEAMS_PURE, 0 },             { "omp_set_lock", TEAMS_WAITS, 8 },
        { "omp_set_nest_lock", TEAMS_WAITS, 8 },        { "omp_test_lock", TEAMS_WAITS, 8 },
        { "omp_unset_lock", TEAMS_WAITS, 8 },           { "GOMP_parallel", TEAMS_NESTS, 8 },
        { "GOMP_teams_reg", TEAMS_NESTS, 8 },           { "GOMP_task", TEAMS_MAKES_TASKS, 8 },
        { "GOMP_taskwait", TEAMS_JOINS, 8 },            { "GOMP_taskyield", TEAMS_WAITS, 8 },
        { "GOMP_loop_end", TEAMS_SYNC, 0 },             { "GOMP_loop_end_nowait", TEAMS_SYNC, 0 },
        { "GOMP_loop_dynamic_start", TEAMS_BOUNDS, 8 }, { "GOMP_loop_dynamic_next", TEAMS_BOUNDS, 2 },
        { "GOMP_sections_start", TEAMS_BOUNDS, 8 },     { "GOMP_sections_next", TEAMS_BOUNDS, 0 },
        { "GOMP_sections_end", TEAMS_SYNC, 0 },         { "GOMP_sections2_start", TEAMS_UNKNOWN_CALL, 8 },
        { "GOMP_barrier", TEAMS_BARRIER, 0 },           { "GOMP_single_start", TEAMS_SINGLE, 0 },
        { "GOMP_single_copy_start", TEAMS_UNKNOWN_CALL, 8 }, { "GOMP_atomic_start", TEAMS_LOCKS, 0 },
        { "GOMP_atomic_end", TEAMS_UNLOCKS, 0 },        { "GOMP_critical_name_start", TEAMS_LOCKS, 0 },
        { "GOMP_ordered_start", TEAMS_SYNC, 0 },        { "MPI_Send", TEAMS_MPI, 8 },
        { "mpi_send_", TEAMS_MPI, 8 },                  { "PMPI_Send", TEAMS_MPI, 8 },
        { "MPI_Abort", TEAMS_LEAVES, 8 },               { "__cxa_throw", TEAMS_LEAVES, 8 },
        { "__stack_chk_fail", TEAMS_LEAVES, 0 },        { "__tls_get_addr", TEAMS_THREAD_DATA, 8 },
        { "__errno_location", TEAMS_PURE, 0 },          { "malloc", TEAMS_ALLOCATES, 1 },
        { "_Znwm", TEAMS_ALLOCATES, 1 },                { "free", TEAMS_PURE, 1 },
        { "_ZdlPvm", TEAMS_PURE, 1 },                   { "memcpy", TEAMS_WRITES, 3 },
        { "strstr", TEAMS_PURE, 8 },                    { "printf", TEAMS_ACTS, 8 },
        { "acos", TEAMS_PURE, 0 },                      { "y1", TEAMS_PURE, 0 },
        { "sqrtf", TEAMS_PURE, 0 },                     { "sinl", TEAMS_UNKNOWN_CALL, 8 },
        { "__exp_finite", TEAMS_PURE, 0 },              { "__expf_finite", TEAMS_PURE, 0 },
        { "__sincos_finite", TEAMS_WRITES, 2 },         { "modff", TEAMS_WRITES, 2 },
        { "_ZGVbN2v_sin", TEAMS_PURE, 0 },              { "rand", TEAMS_UNKNOWN_CALL, 8 },
        { "sine", TEAMS_UNKNOWN_CALL, 8 },              { "f", TEAMS_UNKNOWN_CALL, 8 },
        { "", TEAMS_UNKNOWN_CALL, 8 },                  { "__finite", TEAMS_UNKNOWN_CALL, 8 },
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        ck_assert_msg(teams_known(rows[i].name) == rows[i].known, "%s", rows[i].name);
        ck_assert_msg(teams_known_arguments(rows[i].name) == rows[i].arguments, "arguments of %s", rows[i].name);
    }
}
END_TEST

/* Compilers may make one function of a region's and a task's. */
START_TEST(a_task_is_no_region)
{
    uintptr_t f = (uintptr_t)&is_bound;
    struct teams_proof *task = teams_safety_of(f, TEAMS_TASK), *region = teams_safety_of(f, TEAMS_REGION);
    teams_safety_know(task, TEAMS_VERSION * JOB_PROOF_VERSION | JOB_PROOF_HARMLESS, 0, 0);
    ck_assert(teams_safety_of(f, TEAMS_TASK) == task);
    ck_assert(teams_safety_of(f, TEAMS_REGION) == region);
    ck_assert_uint_eq(teams_safety_answer(task), JOB_PROOF_HARMLESS);
    ck_assert_uint_eq(teams_safety_answer(region), 0);
}
END_TEST

/* What is kept of another run holds where it rests on the same; the first answer holds for good. */
START_TEST(an_answer_rests_on_something)
{
    enum { NOW = TEAMS_VERSION * JOB_PROOF_VERSION, OTHER = NOW + JOB_PROOF_VERSION };
    struct teams_proof *p = teams_safety_of((uintptr_t)&is_bound + 64, TEAMS_REGION);
    static const uint32_t others[] = { 0, JOB_PROOF_HARMLESS, OTHER | JOB_PROOF_HARMLESS, NOW,
                                       NOW | JOB_PROOF_ELSEWHERE | JOB_PROOF_HARMLESS };
    for (size_t i = 0; i < UNIT_COUNT(others); i++)
        teams_safety_know(p, others[i], 0, 0);
    ck_assert_uint_eq(teams_safety_answer(p), 0);
    teams_safety_know(p, NOW | JOB_PROOF_SIZE | JOB_PROOF_IN_TURN, 5, 0);
    teams_safety_know(p, NOW | JOB_PROOF_HARMLESS, 7, 0);
    ck_assert_uint_eq(teams_safety_answer(p), JOB_PROOF_SIZE | JOB_PROOF_IN_TURN);
    ck_assert_uint_eq(p->where, 5);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_TEST(an_answer_rests_on_something),
    UNIT_TEST(a_task_is_no_region),
    UNIT_TEST(constants),
    UNIT_TEST(a_static_schedule),
    UNIT_TEST(a_schedule_with_chunks),
    UNIT_TEST(questions_of_the_program),
    UNIT_TEST(addresses),
    UNIT_TEST(marks),
    UNIT_TEST(names),
};

int main(void)
{
    return unit_run("teams/value", tests, UNIT_COUNT(tests));
}
