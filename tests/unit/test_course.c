/* SPDX-License-Identifier: MIT */
/* Courses against lists of values: what a grammar keeps, what a job makes of it, what a forged file may say. */
#include <stdlib.h>
#include <string.h>

#include "grammar/internal.h"
#include "job/course.h"
#include "job/follow.h"
#include "job/job.h"
#include "job/starts.h"
#include "job/value.h"
#include "merge/merge.h"
#include "tests/unit/hand_job.h"
#include "tests/unit/simulate.h"
#include "tests/unit/unit.h"

enum { LENGTH = 6000, MEMORY = 16 << 20, NO_VALUE = -99 };

/* Values by the number of the terminal's event. */
typedef int64_t stream_fn(uint64_t seed, uint64_t i);

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
}

static int64_t periodic(uint64_t seed, uint64_t i)
{
    return (int64_t)(mix(seed * 1000 + i % (1 + seed * 37 % 500)) % 4096);
}

/* A period in a period: 1 to 9 turns of one, then something else. */
static int64_t nested(uint64_t seed, uint64_t i)
{
    uint64_t inner = 2 + seed % 7, at = i % (inner * (1 + seed % 9) + 1);
    return at == inner * (1 + seed % 9) ? 77 : (int64_t)(at % inner);
}

static int64_t phases(uint64_t seed, uint64_t i)
{
    uint64_t phase = i / (200 + seed * 13) % 3;
    return (int64_t)(mix(phase + seed) % 100 + i % (3 + phase * 8));
}

static int64_t runs(uint64_t seed, uint64_t i)
{
    return (int64_t)(mix(seed + i / 20) % 1000);
}

/* Blocks of six values in one of two orders, as ScaLAPACK's rings have them in pw.x. */
static int64_t blocks(uint64_t seed, uint64_t i)
{
    static const int64_t order[2][6] = { { 3, 1, 3, 1, 3, 1 }, { 3, 0, 1, 3, 0, 1 } };
    return order[mix(seed + i / 48) % 8 == 0][i % 6];
}

static int64_t chance(uint64_t seed, uint64_t i)
{
    return (int64_t)(mix(seed * 77777 + i) % 4096);
}

/* Some events have no value, from the first one on. */
static int64_t sometimes(uint64_t seed, uint64_t i)
{
    return i % 11 < seed % 5 + 1 ? NO_VALUE : (int64_t)(i % 11);
}

/* What is left of a matrix, block by block: shrinks in each turn by as much. */
static int64_t shrinking(uint64_t seed, uint64_t i)
{
    uint64_t of = 3 + seed % 40;
    return (int64_t)((100000 - i / of * (1 + seed % 9)) * 8 + mix(i % of) % 3 * 999 + ((uint64_t)1 << 33));
}

/* Falls to nothing and begins anew. */
static int64_t ramps(uint64_t seed, uint64_t i)
{
    return -(int64_t)(i % (20 + seed * 3)) * 64;
}

static struct { const char *name; stream_fn *value; uint32_t steps; } const shapes[] = {
    { "periodic", periodic, 502 }, { "nested", nested, 70 }, { "phases", phases, 300 }, { "runs", runs, 400 },
    { "blocks", blocks, 200 }, { "chance", chance, 0 }, { "sometimes", sometimes, 20 },
    { "shrinking", shrinking, 60 }, { "ramps", ramps, 10 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Names as whom a Sendrecv receives from, amounts as how much. */
static const enum grammar_channel channels[] = { GRAMMAR_PEER, GRAMMAR_SOURCE, GRAMMAR_PLACE, GRAMMAR_BYTES,
                                                 GRAMMAR_INDEX, GRAMMAR_RECEIVED, GRAMMAR_SOURCE_TAG };
enum { CHANNELS = sizeof channels / sizeof *channels, AMOUNTS = 3 };

/* Names are compared for being equal alone. */
static enum grammar_channel channel_of(uint32_t shape, uint64_t seed)
{
    return shape < SHAPES - 2 ? channels[seed % CHANNELS] : channels[AMOUNTS + seed % (CHANNELS - AMOUNTS)];
}

/* Terminal 1 has the values, among events of others; and a tag, which is always the same. */
static struct grammar *append_all(stream_fn *value, uint64_t seed, enum grammar_channel channel)
{
    struct grammar *g = grammar_create(MEMORY);
    for (uint64_t i = 0; i < LENGTH; i++) {
        struct grammar_event other = { .terminal = i % 3 ? 0 : 2, .gap = 1, .duration = 1 }, e = other;
        int64_t v = value(seed, i);
        e.terminal = 1;
        e.channels = v == NO_VALUE ? 0 : 1u << channel;
        e.value[channel] = v;
        if (channel == GRAMMAR_BYTES) {
            e.channels |= 1u << GRAMMAR_INDEX;
            e.value[GRAMMAR_INDEX] = 5;
        }
        grammar_append(g, &e);
        for (uint64_t k = mix(seed + i) % 3; k > 0; k--)
            grammar_append(g, &other);
    }
    return g;
}

/* The naive reading: one value after the other. */
static void expand(const struct grammar_step *step, uint32_t count, int64_t *value)
{
    uint32_t k = 0;
    for (uint64_t i = 0; i < LENGTH; i++) {
        k += k + 1 < count && step[k + 1].from == i;
        value[i] = step[k].value + (step[k].back ? value[i - step[k].back] : 0);
    }
}

static void compare_steps(const struct grammar_flat *f, uint32_t shape, uint64_t seed, enum grammar_channel channel)
{
    static int64_t value[LENGTH];
    const struct grammar_step *s = f->steps;
    ck_assert_msg(f->course_count == 1, "%s, seed %d: %u courses", shapes[shape].name, (int)seed, f->course_count);
    ck_assert_uint_eq(f->courses[0].terminal, 1);
    ck_assert_uint_eq(f->courses[0].channel, channel);
    ck_assert_msg(f->courses[0].count <= shapes[shape].steps, "%s, seed %d: %u steps", shapes[shape].name, (int)seed,
                  f->courses[0].count);
    for (uint32_t k = 0; k < f->courses[0].count; k++) {
        ck_assert(k ? s[k].from > s[k - 1].from : s[k].from == 0);
        ck_assert(s[k].back <= s[k].from && (s[k].back || k == 0 || s[k].value != s[k - 1].value || s[k - 1].back));
    }
    expand(s, f->courses[0].count, value);
    for (uint64_t i = 0; i < LENGTH; i++) {
        int64_t v = shapes[shape].value(seed, i);
        ck_assert_msg(value[i] == (v == NO_VALUE ? GRAMMAR_ABSENT : v), "%s, seed %d, event %d",
                      shapes[shape].name, (int)seed, (int)i);
    }
}

START_TEST(a_course_is_its_values)
{
    for (uint32_t shape = 0; shape < SHAPES; shape++)
        for (uint64_t seed = 1; seed <= 30; seed++) {
            enum grammar_channel channel = channel_of(shape, seed);
            struct grammar *g = append_all(shapes[shape].value, seed, channel);
            struct grammar_flat *f = grammar_freeze(g);
            ck_assert_ptr_nonnull(f);
            bool varies = shape != 0 || seed * 37 % 500 > 0;
            if (shapes[shape].steps && varies)
                compare_steps(f, shape, seed, channel);
            else
                ck_assert_uint_eq(f->course_count, 0);
            grammar_flat_destroy(f);
            grammar_destroy(g);
        }
}
END_TEST

/* What repeats takes its period in steps, whatever it is. */
START_TEST(a_period_is_found)
{
    for (uint32_t period = 2; period <= 500; period += 1 + period / 8) {
        struct grammar *g = grammar_create(MEMORY);
        for (uint64_t i = 0; i < 20 * period; i++) {
            struct grammar_event e = { .terminal = 3, .channels = 1u << GRAMMAR_PEER };
            e.value[GRAMMAR_PEER] = (int64_t)(i % period);
            grammar_append(g, &e);
        }
        struct grammar_flat *f = grammar_freeze(g);
        ck_assert_uint_eq(f->course_count, 1);
        ck_assert_uint_eq(f->courses[0].count, period + 1);
        ck_assert_uint_eq(f->steps[period].back, period);
        grammar_flat_destroy(f);
        grammar_destroy(g);
    }
}
END_TEST

/* What is given up gives its memory back; looks are bounded; others are kept. */
START_TEST(chance_is_given_up)
{
    struct grammar *g = append_all(chance, 7, GRAMMAR_SOURCE);
    const struct grammar_courses *c = &g->courses[1];
    ck_assert_uint_eq(c->channels, 1u << GRAMMAR_SOURCE);
    ck_assert_uint_eq(c->watched, 0);
    ck_assert_uint_eq(c->going, 0);
    ck_assert_uint_le(c->of[GRAMMAR_SOURCE].looks, GRAMMAR_COURSE_STEPS + 1);
    ck_assert_uint_eq(g->windows_used, 0);
    ck_assert_uint_eq(c->of[GRAMMAR_SOURCE].steps, 0);
    struct grammar_event e = { .terminal = 4, .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES };
    for (int i = 0; i < 100; i++) {
        e.value[GRAMMAR_PEER] = i % 20;
        grammar_append(g, &e);
    }
    ck_assert_uint_eq(g->window_top, 1); /* the same one again; what is constant needs none */
    ck_assert_uint_eq(g->courses[4].going, 1u << GRAMMAR_PEER);
    ck_assert_uint_eq(g->courses[4].of[GRAMMAR_PEER].steps, 21);
    grammar_destroy(g);
}
END_TEST

/* A longer course of few values a step is not kept: it would swell files. */
START_TEST(a_course_is_worth_its_steps)
{
    for (uint32_t length = 100; length <= 400; length += 300) {
        struct grammar *g = grammar_create(MEMORY);
        for (uint64_t i = 0; i < length; i++) {
            struct grammar_event e = { .terminal = 3, .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES };
            e.value[GRAMMAR_PEER] = e.value[GRAMMAR_BYTES] = i < 60 ? (int64_t)mix(i) : 7;
            grammar_append(g, &e);
        }
        struct grammar_flat *f = grammar_freeze(g);
        ck_assert_uint_eq(f->course_count, length == 400 ? 2 : 1);
        grammar_flat_destroy(f);
        grammar_destroy(g);
    }
}
END_TEST

/* Windows are in the bound of the memory, and courses of before are given up where order is. */
START_TEST(memory_is_bounded)
{
    struct grammar *g = grammar_create(256 << 10);
    uint64_t seed = 5;
    for (uint32_t i = 0; i < 200000; i++) {
        struct grammar_event e = { .terminal = (uint32_t)(simulate_random(&seed) % 300),
                                   .channels = 1u << GRAMMAR_PEER };
        e.value[GRAMMAR_PEER] = i % 7;
        grammar_append(g, &e);
        ck_assert_uint_le(grammar_memory(g), (256 << 10) + 8 * sizeof(struct grammar_window));
    }
    ck_assert_uint_gt(grammar_lost(g), 0);
    ck_assert_uint_le(g->windows_used, g->window_limit);
    grammar_destroy(g);
}
END_TEST

/* --- In a job --- */

/* A rank talks to 20 others in turn, in an order without a formula; to some of them often. */
enum relations { THE_SAME, BY_RANK, BY_XOR, CHANCE, OFTEN_THE_SAME };

static int64_t related(enum relations how, uint32_t rank, uint32_t ranks, uint64_t i)
{
    uint64_t list = mix(i % 20) % 50;
    switch (how) {
    case THE_SAME: return (int64_t)list;
    case BY_RANK: return (int64_t)((rank + 1 + list) % ranks);
    case BY_XOR: return (int64_t)(rank ^ list);
    case OFTEN_THE_SAME: return rank % 2 ? (int64_t)list : (int64_t)(rank ^ list);
    default: return (int64_t)(mix(i % 20 + 20 * rank) % 50);
    }
}

static struct job *talks(enum relations how, uint32_t rank, uint32_t ranks, uint32_t turns)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(MEMORY);
    struct job_terminal t = { .kind = JOB_CALL, .call_kind = JOB_P2P, .function = job_string(j, "MPI_Isend"),
                              .callsite = GRAMMAR_NONE, .peer_class = JOB_PEER_RANK };
    t.comm = job_comm(j, "world", ranks);
    uint32_t number = job_terminal(j, &t);
    for (uint32_t i = 0; i < 20 * turns; i++) {
        struct grammar_event e = { .terminal = number, .channels = 1u << GRAMMAR_PEER, .gap = 1, .duration = 1 };
        e.value[GRAMMAR_PEER] = related(how, rank, ranks, i);
        grammar_append(g, &e);
    }
    hand_stream(j, g, rank, 1000, 10);
    return j;
}

/* Ranks that talk to others in the same order have one list, also where their loops turn more often. */
START_TEST(ranks_share_a_course)
{
    struct job *j = talks(BY_RANK, 0, 64, 30);
    for (uint32_t rank = 1; rank < 64; rank++) {
        struct job *more = talks(BY_RANK, rank, 64, 30 + rank % 5);
        ck_assert_int_eq(merge_job(j, more), 0);
        job_destroy(more);
    }
    simulate_check(j);
    ck_assert_uint_eq(j->starts.count, 1);
    ck_assert_uint_eq(j->class_count, 1);
    ck_assert_uint_eq(j->classes[0].variant_count, 1);
    for (uint32_t rank = 0; rank < 64; rank++)
        for (uint32_t i = 0; i < 600; i++) {
            int64_t v;
            ck_assert_int_eq(job_attr_value(j, &j->classes[0], 0, GRAMMAR_PEER, rank, 0, i, &v), 0);
            ck_assert_int_eq(v, (int64_t)((rank + 1 + mix(i % 20) % 50) % 64));
        }
    uint64_t from;
    uint32_t period;
    ck_assert(job_course_cycle(j, &j->classes[0].variants[0], &from, &period));
    ck_assert_uint_eq(period, 20);
    ck_assert_uint_eq(from, 0);
    job_destroy(j);
}
END_TEST

/* Ranks first to end - 1, joined one after the other, or two halves joined. */
static struct job *joined(enum relations how, uint32_t first, uint32_t end, uint32_t ranks, bool halves)
{
    if (end - first == 1)
        return talks(how, first, ranks, 10);
    uint32_t middle = halves ? (first + end) / 2 : end - 1;
    struct job *left = joined(how, first, middle, ranks, halves), *right = joined(how, middle, end, ranks, halves);
    ck_assert_int_eq(merge_job(left, right), 0);
    job_destroy(right);
    return left;
}

/* At any number of ranks a course is kept once for all that share it by a relation, in whatever order they meet; where
   too many have their own, none is. */
START_TEST(courses_by_any_relation)
{
    enum { RANKS = 320 };
    for (enum relations how = THE_SAME; how <= OFTEN_THE_SAME; how++)
        for (int halves = 0; halves < 2; halves++) {
            struct job *j = joined(how, 0, RANKS, RANKS, halves);
            const struct job_class *c = &j->classes[0];
            bool kept = how != CHANCE;
            char why[200] = "";
            ck_assert_msg(job_check(j, why, sizeof why) == 0, "%d: %s", how, why);
            ck_assert_uint_eq(j->class_count, 1);
            ck_assert_msg(c->variant_count == (how == OFTEN_THE_SAME ? RANKS / 2 : 1), "%d: %u variants", how,
                          c->variant_count);
            ck_assert_uint_eq(j->starts.count, kept ? c->variant_count : 0);
            ck_assert_uint_eq(job_values_not_kept(j, c), kept ? 0 : 200 * RANKS);
            for (uint32_t rank = 0; rank < RANKS; rank += 7)
                for (uint32_t i = 0; i < 200; i++) {
                    int64_t v = 0;
                    ck_assert_int_eq(job_attr_value(j, c, 0, GRAMMAR_PEER, rank, 0, i, &v), kept ? 0 : 1);
                    ck_assert(!kept || v == related(how, rank, RANKS, i));
                }
            job_destroy(j);
        }
}
END_TEST

static int64_t told(uint64_t i)
{
    return (int64_t)(mix(i % 20) % 50 + 1);
}

/* A run that follows the recording is known from its first value on; where values are left out, come twice or are
   others, the place is found anew; what has nothing of it is given up. */
START_TEST(a_place_is_found_anew)
{
    struct job *j = talks(BY_RANK, 3, 64, 40);
    const struct job_variant *a = &j->classes[0].variants[0];
    for (int change = 0; change < 4; change++) {
        struct job_follow *f = job_follow_create(j, 3);
        uint64_t at = 0, right = 0, seed = 9;
        int64_t v;
        for (uint32_t i = 0; i < 600; i++, at++) {
            at += change == 1 && i % 50 == 49 ? 3 : 0;
            at -= change == 2 && i % 50 == 49 ? 5 : 0;
            int64_t came = (3 + told(at)) % 64;
            if (change == 3)
                came = (int64_t)(simulate_random(&seed) % 64);
            right += job_follow_say(f, 0, a, 0, &v) && v == came;
            job_follow_pass(f, 0, 1u << GRAMMAR_PEER, &came);
        }
        ck_assert_msg(change == 0   ? right == 600
                      : change == 3 ? !job_follow_say(f, 0, a, 0, &v)
                                    : right > 560, "%d: %d right", change, (int)right);
        job_follow_destroy(f);
    }
    job_destroy(j);
}
END_TEST

/* Whatever a list says, its values are those of the naive reading, or not known. */
START_TEST(forged_lists)
{
    static int64_t value[LENGTH];
    uint64_t seed = 3, known = 0;
    for (uint32_t turn = 0; turn < 3000; turn++) {
        struct job *j = job_create();
        struct job_start_run run[600];
        uint32_t count = 1 + simulate_random(&seed) % (turn % 100 ? 6 : 600);
        int64_t v;
        for (uint32_t k = 0; k < count; k++)
            run[k] = (struct job_start_run){
                (int64_t)simulate_random(&seed), (int32_t)(simulate_random(&seed) % 9) - 2,
                1 + simulate_random(&seed) % (turn % 7 ? 9 : UINT32_MAX)
            };
        struct job_variant a = { .attr = { .kind = GRAMMAR_ATTR_VARIES, .course = job_starts_name(run, count) } };
        a.modulus = turn % 3 ? (uint32_t)simulate_random(&seed) : 0;
        a.relations = 1u << turn % 4 / 2;
        ck_assert_int_eq(job_starts_add(j, a.attr.course, run, count), 0);
        for (uint64_t at = 0; at < 100; at++)
            known += job_course_value(j, &a, (uint32_t)turn, turn % 2 ? at : at * simulate_random(&seed), &v);
        ck_assert(!job_course_value(j, &a, 0, JOB_SOMEWHERE, &v));
        uint64_t from;
        uint32_t period;
        (void)job_course_cycle(j, &a, &from, &period);
        uint32_t expanded = job_course_expand(j, &a, (uint32_t)turn, value, LENGTH);
        for (uint32_t at = 0; at < expanded && at < 100; at++)
            ck_assert(job_course_value(j, &a, (uint32_t)turn, at, &v) && v == value[at]);
        a.attr.course = -5;
        ck_assert(!job_course_value(j, &a, 0, 0, &v));
        job_destroy(j);
    }
    ck_assert_uint_gt(known, 1000);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(a_course_is_its_values),
        UNIT_TEST(a_period_is_found),
        UNIT_TEST(chance_is_given_up),
        UNIT_TEST(a_course_is_worth_its_steps),
        UNIT_TEST(memory_is_bounded),
        UNIT_TEST(ranks_share_a_course),
        UNIT_TEST(courses_by_any_relation),
        UNIT_TEST(a_place_is_found_anew),
        UNIT_TEST(forged_lists),
    };
    return unit_run("course", tests, UNIT_COUNT(tests));
}
