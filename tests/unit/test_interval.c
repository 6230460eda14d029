/* SPDX-License-Identifier: MIT */
/* Intervals of times: coverage on made streams, at every distance, whatever the times are like. */
#include <math.h>
#include <string.h>

#include "follower.h"
#include "oracle/interval.h"
#include "audit.h"
#include "unit.h"

static struct oracle_intervals v;

static double uniform(void)
{
    return (follower_random(1000000) + 0.5) / 1e6;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

enum law { CONSTANT, LOGNORMAL, SKEWED, TWO_MODES, DRIFTING, LAWS };

static uint64_t gap_of(enum law law, int turn)
{
    switch (law) {
    case CONSTANT: return 1000;
    case LOGNORMAL: return (uint64_t)(1000 * exp(0.5 * normal()));
    case SKEWED: return (uint64_t)(100 + 1000 * pow(uniform(), 8) * 100);
    case TWO_MODES: return follower_random(4) ? 500 : 50000;
    default: return (uint64_t)(1000 * exp(0.2 * normal()) * (1 + turn / 5000));
    }
}

/* Asks before each event; the share of the times that were inside, and the root mean square of the errors over that of
   the deviations. */
struct measured { double inside, off; };

static struct measured measure(enum law law, uint64_t distance, double said)
{
    enum { TURNS = 20000 };
    static uint64_t begin[TURNS + 300];
    uint64_t now = 0, inside = 0, asked = 0;
    double squares = 0, variances = 0;
    struct { double low, high, until, deviation; uint64_t at; } waiting[256];

    memset(&v, 0, sizeof v);
    oracle_interval_start(&v);
    for (int i = 0; i < TURNS; i++) {
        struct oracle_answer a = { .terminal = 1, .until = said * (double)distance, .until_deviation = said / 10,
                                   .duration = -1, .duration_deviation = -1, .node = 3 };
        oracle_interval_answer(&v, distance, &a);
        ck_assert(a.until_low >= 0 && a.until_low <= a.until && a.until <= a.until_high);
        ck_assert(a.duration_low < 0 && a.duration_high < 0);
        waiting[(i + distance - 1) % 256].low = floor(a.until_low);
        waiting[(i + distance - 1) % 256].high = ceil(a.until_high);
        waiting[(i + distance - 1) % 256].until = a.until;
        waiting[(i + distance - 1) % 256].deviation = a.until_deviation;
        waiting[(i + distance - 1) % 256].at = now;
        uint64_t gap = gap_of(law, i);
        begin[i] = now + gap;
        if (i >= 4000) {
            double took = (double)(begin[i] - waiting[i % 256].at);
            asked++;
            inside += took >= waiting[i % 256].low && took <= waiting[i % 256].high;
            squares += (took - waiting[i % 256].until) * (took - waiting[i % 256].until);
            variances += waiting[i % 256].deviation * waiting[i % 256].deviation;
        }
        oracle_interval_event(&v, 1, gap, 10);
        now = begin[i] + 10;
        ck_assert(audit_intervals(&v));
    }
    return (struct measured){ (double)inside / (double)asked, sqrt(squares / variances) };
}

START_TEST(eight_of_ten_lie_inside_and_deviations_are_so)
{
    static const uint64_t distances[] = { 1, 3, 16, 64, 200 };

    for (int law = LOGNORMAL; law < LAWS; law++)
        for (unsigned d = 0; d < sizeof distances / sizeof *distances; d++) {
            struct measured m = measure((enum law)law, distances[d], 1000);
            double least = 0.77, most = law == TWO_MODES && distances[d] < 16 ? 1 : 0.83;
            ck_assert_msg(m.inside > least && m.inside < most, "law %d at %u: %.3f inside", law, (unsigned)distances[d],
                          m.inside);
            ck_assert_msg(m.off > 0.85 && m.off < 1.15, "law %d at %u: %.3f of the deviation", law,
                          (unsigned)distances[d], m.off);
        }
}
END_TEST

START_TEST(what_is_constant_is_narrow)
{
    ck_assert(measure(CONSTANT, 1, 3000).inside > 0.99);
    struct oracle_answer a = { .terminal = 1, .until = 3000, .until_deviation = 300, .duration = -1, .node = 3 };
    oracle_interval_answer(&v, 1, &a);
    ck_assert_msg(a.until_deviation < 20, "and its deviation is what is so: %.0f", a.until_deviation);
    ck_assert_msg(a.until_high - a.until_low < 100, "%.0f to %.0f", a.until_low, a.until_high);
    ck_assert_msg(fabs(a.until - 1000) < 20, "a prediction that is always too long is mended: %.0f", a.until);
}
END_TEST

START_TEST(anything_may_be_asked)
{
    static const uint64_t distances[] = { 1, 255, 256, 257, 512, 513, 100000, UINT64_MAX };

    memset(&v, 0, sizeof v);
    oracle_interval_start(&v);
    for (int i = 0; i < 20000; i++) {
        struct oracle_answer a = { .terminal = follower_random(5),
                                   .until = follower_random(3) ? (double)follower_random(1000000000) : -1,
                                   .until_deviation = follower_random(2) ? -1 : 1e9,
                                   .duration = follower_random(2) ? -1 : 1e18,
                                   .duration_deviation = -1,
                                   .node = follower_random(3) ? follower_random(5000) : GRAMMAR_NONE };
        oracle_interval_answer(&v, distances[follower_random(8)], &a);
        ck_assert((a.until < 0) == (a.until_low < 0) && a.until_low <= a.until_high &&
                  a.duration_low <= a.duration_high);
        if (follower_random(3))
            oracle_interval_event(&v, follower_random(5),
                                  follower_random(10) ? follower_random(1000) : (uint64_t)1 << 62, 0);
        ck_assert(audit_intervals(&v));
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(eight_of_ten_lie_inside_and_deviations_are_so), UNIT_TEST(what_is_constant_is_narrow),
        UNIT_TEST(anything_may_be_asked),
    };
    return unit_run("oracle/interval", tests, UNIT_COUNT(tests));
}
