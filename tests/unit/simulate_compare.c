/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "tests/unit/simulate.h"

uint64_t simulate_courses;

/* Whether the model that the stream had by itself knew this value. */
static int known_alone(const struct simulate_stream *s, uint32_t node, uint32_t channel, int64_t *value)
{
    const struct grammar_flat_node *n = &s->alone->nodes[node];
    for (uint32_t k = 0; k < n->attr_count; k++)
        if (s->alone->attrs[n->attr + k].channel == channel)
            return s->alone->attrs[n->attr + k].kind == GRAMMAR_ATTR_CONSTANT &&
                           grammar_attr_constant(&s->alone->attrs[n->attr + k], value) ? 0 : 1;
    return 2;
}

static void compare_values(const struct job *merged, const struct job_class *c, const struct simulate_stream *s,
                           const struct grammar_cursor *at, const struct grammar_event *e)
{
    for (uint32_t channel = 0; channel < GRAMMAR_CHANNELS; channel++) {
        int64_t alone = 0, value = 0;
        int expected = known_alone(s, at->node, channel, &alone);
        int got = job_attr_value(merged, c, at->node, channel, s->rank, s->thread, at->nth, &value);
        if (expected == 1 && got != 1) { /* by the order of the stream */
            ck_assert_int_eq(got, e->channels & 1u << channel ? 0 : 2);
            if (!got)
                ck_assert_int_eq(value, e->value[channel]);
            simulate_courses++;
            continue;
        }
        ck_assert_msg(got == expected, "rank %u event %llu channel %u: %d alone, %d merged", s->rank,
                      (unsigned long long)at->index, channel, expected, got);
        if (got)
            continue;
        ck_assert_msg(value == alone, "rank %u event %llu channel %u: %lld, recorded %lld", s->rank,
                      (unsigned long long)at->index, channel, (long long)value, (long long)alone);
        if (e->channels & 1u << channel &&
            s->alone->attrs[s->alone->nodes[at->node].attr].count == c->grammar->stats[at->node].count)
            ck_assert_int_eq(value, e->value[channel]);
    }
}

void simulate_compare(const struct job *merged, const struct simulate_stream *s)
{
    const struct job_stream *stream = job_find_stream(merged, s->rank, s->thread);
    struct grammar_cursor at;
    uint32_t i = 0;
    ck_assert_ptr_nonnull(stream);
    if (merged->info.block == 1)
        ck_assert_uint_eq(stream->events, s->count);
    const struct job_class *c = &merged->classes[job_stream_class(merged, s->rank, s->thread)];
    for (int more = grammar_cursor_open(&at, c->grammar); more; more = grammar_cursor_next(&at), i++) {
        struct grammar_hash hash = merged->terminal_hash[at.terminal];
        ck_assert_uint_lt(i, s->count);
        ck_assert_msg(hash.low == s->hash[i].low && hash.high == s->hash[i].high, "rank %u event %u", s->rank, i);
        compare_values(merged, c, s, &at, &s->event[i]);
    }
    grammar_cursor_close(&at);
    ck_assert_uint_eq(i, s->count);
}
