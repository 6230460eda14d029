/* SPDX-License-Identifier: MIT */
/* A profile and a later run: what is kept, and that times still add up exactly. */
#include <stdlib.h>

#include "grammar/grammar.h"
#include "job/job.h"
#include "merge/merge.h"
#include "unit.h"

enum { WORDS = 6 };

/* A job of `ranks` whose streams have `turns` of a nested loop, times drawn about `ns`. */
static struct job *run_of(uint32_t ranks, uint32_t turns, uint64_t ns, unsigned seed)
{
    struct job *j = job_create();
    uint32_t terminal[WORDS];
    srand(seed);
    for (uint32_t w = 0; w < WORDS; w++) {
        char name[2] = {(char)('a' + w), 0};
        terminal[w] = job_terminal(j, &(struct job_terminal){.kind = JOB_WORD, .function = job_string(j, name),
                                                             .callsite = GRAMMAR_NONE, .comm = GRAMMAR_NONE});
    }
    j->info.ranks = ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        struct grammar *g = grammar_create(1 << 20);
        uint64_t wall = 0;
        for (uint32_t i = 0; i < turns; i++)
            for (uint32_t k = 0; k < 7; k++) {
                struct grammar_event e = {.terminal = terminal[k < 3 ? 0 : k - 2 + (r == 0 && i == turns / 2)],
                                          .gap = ns + (uint64_t)rand() % ns, .duration = (uint64_t)rand() % ns};
                wall += e.gap + e.duration;
                grammar_append(g, &e);
            }
        struct grammar_flat *flat = grammar_freeze(g);
        flat->terminals = j->terminal_count;
        struct job_stream s = {.rank = r, .wall_ns = wall, .mpi_ns = wall / 2};
        ck_assert_int_eq(merge_add_stream(j, &s, flat), 0);
        grammar_destroy(g);
    }
    return j;
}

static double root_time(const struct job *j, uint32_t class_index)
{
    const struct grammar_flat *g = j->classes[class_index].grammar;
    double time = 0;
    for (uint32_t n = 0; n < g->rules[0].length; n++)
        time += (double)(g->stats[n].gap.sum + g->stats[n].duration.sum);
    return time;
}

static struct merge_updated update(struct job *run, const struct job *profile)
{
    struct merge_updated u;
    char why[256] = "";
    ck_assert_int_eq(merge_update(run, profile, &u), 0);
    ck_assert_msg(job_check(run, why, sizeof why) == 0, "%s", why);
    return u;
}

/* The share of each run, and that what it gives is that mean. */
START_TEST(test_weights)
{
    static const double share[] = {1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 4, 1.0 / 4};
    struct job *profile = run_of(3, 20, 1000, 1);
    for (uint32_t i = 0; i < 5; i++) {
        struct job *run = run_of(3, 20, 9000 + 1000 * i, 2 + i);
        double old = root_time(profile, 1), new = root_time(run, 1);
        struct merge_updated u = update(run, profile);
        ck_assert_uint_eq(u.kept, 2);
        ck_assert_uint_eq(u.added + u.dropped, 0);
        ck_assert_uint_eq(run->info.runs, i + 2);
        ck_assert_double_eq_tol(u.share, share[i], 1e-12);
        ck_assert_double_eq_tol(root_time(run, 1), share[i] * new + (1 - share[i]) * old, 100);
        ck_assert_double_eq_tol((double)run->streams[0].wall_ns, root_time(run, 0), 100);
        job_destroy(profile);
        profile = run;
    }
    job_destroy(profile);
}
END_TEST

static void check_extremes(const struct job *run)
{
    for (uint32_t c = 0; c < run->class_count; c++) {
        const struct grammar_flat *g = run->classes[c].grammar;
        for (uint32_t n = 0; n < g->node_count; n++) {
            double mean = grammar_moments_mean(&g->stats[n].gap, g->stats[n].count);
            ck_assert_msg((double)g->stats[n].gap.min <= mean + 1 && mean <= (double)g->stats[n].gap.max + 1,
                          "class %u node %u", c, n);
            ck_assert(g->stats[n].gap.square >= 0.999 * mean * mean * (double)g->stats[n].count);
        }
    }
}

/* Extremes stay around the means, with other numbers of members too. */
START_TEST(test_other_ranks)
{
    struct job *profile = run_of(3, 50, 1000, 1), *run = run_of(9, 50, 3000, 7);
    double old = root_time(profile, 1) / 2, new = root_time(run, 1) / 8;
    struct merge_updated u = update(run, profile);
    ck_assert_uint_eq(u.kept, 2);
    ck_assert_double_eq_tol(root_time(run, 1) / 8, (old + new) / 2, 100);
    check_extremes(run);
    job_destroy(profile);
    job_destroy(run);
}
END_TEST

/* Other turns are the same shape: a turn takes the mean of both. */
START_TEST(test_other_turns)
{
    struct job *profile = run_of(3, 20, 1000, 1), *run = run_of(3, 50, 9000, 2);
    double alone = root_time(run, 1) / 50, before = root_time(profile, 1) / 20;
    struct merge_updated u = update(run, profile);
    ck_assert_uint_eq(u.kept, 1); /* not rank 0, whose odd turn stands between others */
    ck_assert_uint_eq(u.added, 1);
    ck_assert_uint_eq(u.dropped, 1);
    ck_assert_uint_eq(run->info.runs, 2);
    ck_assert_double_eq_tol(root_time(run, 1) / 50, (alone + before) / 2, 10);
    check_extremes(run);
    job_destroy(profile);
    job_destroy(run);
}
END_TEST

/* Another structure: the run's; where one class of two is the same, that one stays. */
START_TEST(test_structure)
{
    struct job *profile = run_of(3, 20, 1000, 1), *run = run_of(3, 20, 5000, 2);
    for (uint32_t t = 0; t < run->terminal_count; t++)
        run->terminal_hash[t].low ^= 1; /* other calls */
    for (uint32_t c = 0; c < run->class_count; c++)
        run->classes[c].hash = grammar_flat_hash(run->classes[c].grammar, run->terminal_hash, NULL);
    double alone = root_time(run, 1);
    profile->info.runs = 7;
    struct merge_updated u;
    ck_assert_int_eq(merge_update(run, profile, &u), 0);
    ck_assert_uint_eq(u.kept, 0);
    ck_assert_uint_eq(u.added, 2);
    ck_assert_uint_eq(u.dropped, 2);
    ck_assert_uint_eq(run->info.runs, 1);
    ck_assert_double_eq(root_time(run, 1), alone);
    job_destroy(run);
    run = run_of(1, 20, 5000, 2); /* rank 0 only: its class */
    u = update(run, profile);
    ck_assert_uint_eq(u.kept, 1);
    ck_assert_uint_eq(u.added, 0);
    ck_assert_uint_eq(u.dropped, 1);
    ck_assert_uint_eq(run->info.runs, 8);
    job_destroy(run);
    job_destroy(profile);
}
END_TEST

/* What a plugin counted stays, by what its terminal is, unless the run counted too. */
START_TEST(test_sums)
{
    struct job *profile = run_of(2, 5, 1000, 1), *run = run_of(2, 5, 1000, 2);
    ck_assert_int_eq(job_count(profile, 3, "instructions", (struct job_count){5, 500}), 0);
    update(run, profile);
    ck_assert_uint_eq(run->sum_count, 1);
    ck_assert_uint_eq(run->sums[0].count.total, 500);
    ck_assert_str_eq(job_text(run, run->sums[0].name), "instructions");
    struct job *again = run_of(2, 5, 1000, 3);
    ck_assert_int_eq(job_count(again, 1, "instructions", (struct job_count){5, 700}), 0);
    update(again, run);
    ck_assert_uint_eq(again->sum_count, 1);
    ck_assert_uint_eq(again->sums[0].count.total, 700);
    struct job *spans = run_of(2, 5, 1000, 4), *later = run_of(2, 5, 1000, 5); /* exclusive times are no plugin's */
    ck_assert_int_eq(job_count(spans, 1, JOB_EXCLUSIVE_NS, (struct job_count){3, 100}), 0);
    ck_assert_int_eq(job_count(spans, 2, JOB_EXCLUSIVE_NS, (struct job_count){3, 100}), 0);
    update(spans, again);
    ck_assert_uint_eq(spans->sum_count, 3);
    ck_assert_int_eq(job_count(later, 1, JOB_EXCLUSIVE_NS, (struct job_count){3, 200}), 0);
    ck_assert_double_lt(update(later, spans).share, 1);
    ck_assert_uint_eq(later->sum_count, 2);
    ck_assert_uint_lt(job_find_sum(later, 1, JOB_EXCLUSIVE_NS)->count.total, 200);
    ck_assert_uint_gt(job_find_sum(later, 1, JOB_EXCLUSIVE_NS)->count.total, 100);
    job_destroy(spans);
    job_destroy(later);
    job_destroy(profile);
    job_destroy(run);
    job_destroy(again);
}
END_TEST

/* A profile that says anything: what comes of it is as much as a number holds, and passes the check. */
START_TEST(test_endless_times)
{
    struct job *profile = run_of(3, 20, 1000, 1), *run = run_of(9, 20, 3000, 7);
    for (uint32_t c = 0; c < profile->class_count; c++) {
        struct grammar_flat *g = profile->classes[c].grammar;
        for (uint32_t n = 0; n < g->node_count; n++)
            g->stats[n].gap = (struct grammar_moments){ UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1, 1e200 };
    }
    update(run, profile);
    for (uint32_t c = 0; c < run->class_count; c++) {
        const struct grammar_flat *g = run->classes[c].grammar;
        uint64_t most = 0;
        for (uint32_t n = 0; n < g->node_count; n++) {
            most = n < g->rules[0].length && g->stats[n].gap.sum > most ? g->stats[n].gap.sum : most;
            ck_assert_uint_le(g->stats[n].gap.min, g->stats[n].gap.max);
        }
        ck_assert_uint_ge(most, UINT64_C(1) << 61);
    }
    job_destroy(profile);
    job_destroy(run);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_TEST(test_weights),   UNIT_TEST(test_other_ranks),
                                              UNIT_TEST(test_structure), UNIT_TEST(test_other_turns),
                                              UNIT_TEST(test_sums),      UNIT_TEST(test_endless_times) };
    return unit_run("merge/update", tests, UNIT_COUNT(tests));
}
