/* SPDX-License-Identifier: MIT */
#include "replay/resize.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "grammar/attr.h"
#include "job/course.h"
#include "job/turns.h"
#include "pythia.h"

struct search {
    const struct job *job;
    uint32_t ranks;      /* recorded */
    uint64_t *label;     /* of each: equal where the rules are */
    char *why;
    size_t size;
};

static int refuse(const struct search *s, const char *format, ...)
{
    va_list rest;

    va_start(rest, format);
    vsnprintf(s->why, s->size, format, rest);
    va_end(rest);
    return PYTHIA_EINVAL;
}

/* --- What rules there are --- */

static bool names_a_rank(enum grammar_channel channel)
{
    return channel == GRAMMAR_PEER || channel == GRAMMAR_SOURCE;
}

/* Whether the peers are all other ranks. */
static bool goes_through_all(const struct search *s, const struct job_variant *v)
{
    enum { VALUES = 512 };
    int64_t value[VALUES], min = INT64_MAX, max = 0;
    uint32_t count = job_course_expand(s->job, v, v->sample_rank, value, VALUES);

    for (uint32_t i = 0; i < count; i++)
        if (value[i] >= 0) {
            min = value[i] < min ? value[i] : min;
            max = value[i] > max ? value[i] : max;
        }
    return max >= min && max - min + 1 >= (int64_t)s->ranks - 1;
}

/* Whether peers are so many ranks on, rank xor 1, or always the same: of each occurrence, and not one rank after the
   other. */
static int allow(const struct search *s, const struct job_class *c, const struct job_variant *v)
{
    const struct job_terminal *t = &s->job->terminals[c->grammar->nodes[v->node].symbol];
    const char *function = job_text(s->job, t->function);
    const struct grammar_attr *a = &v->attr;
    uint64_t from;
    uint32_t period;
    int64_t only;

    if (t->peer_class == JOB_PEER_ANY || t->peer_class == JOB_PEER_NULL || grammar_attr_constant(a, &only))
        return 0;
    if (!job_course_cycle(s->job, v, &from, &period)) {
        int64_t reply;
        int unknown = job_attr_value(s->job, c, v->node, GRAMMAR_REPLY, v->sample_rank, 0, JOB_SOMEWHERE, &reply);
        bool answers = !unknown && reply;
        return answers ? 0 : refuse(s, "whom %s is for varies", function);
    }
    return goes_through_all(s, v) ? refuse(s, "%s goes through all ranks", function) : 0;
}

static int allow_xor(const struct search *s, const struct job_class *c, const struct job_variant *v)
{
    int64_t peer;

    if (v->relations & (JOB_ABSOLUTE | JOB_OFFSET))
        return 0;
    if (grammar_attr_constant(&v->attr, &peer) && ((uint64_t)peer ^ v->sample_rank) == 1)
        return 0;
    return refuse(s, "whom %s is for depends on the number of ranks",
                  job_text(s->job, s->job->terminals[c->grammar->nodes[v->node].symbol].function));
}

/* Members of the variant get its number into their labels. */
static void label_variant(struct search *s, const struct job_class *c, uint32_t number)
{
    const struct job_variant *v = &c->variants[number];

    for (struct job_walk w = { .range = c->ranges + v->range_first, .left = v->range_count }; job_walk_next(&w);)
        if (w.at.thread == 0 && w.at.rank < s->ranks)
            s->label[w.at.rank] = base_hash_mix(s->label[w.at.rank] ^ (number + 1u));
}

static int label_class(struct search *s, uint32_t index)
{
    const struct job_class *c = &s->job->classes[index];
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < c->variant_count; i++) {
        const struct job_variant *v = &c->variants[i];
        if (!names_a_rank((enum grammar_channel)v->attr.channel))
            continue;
        rc = allow(s, c, v);
        rc = rc ?: allow_xor(s, c, v);
        label_variant(s, c, i);
    }
    return rc;
}

/* All calls are within the world, or on the rank alone. */
static int check_communicators(const struct search *s)
{
    for (uint32_t t = 0; t < s->job->terminal_count; t++) {
        const struct job_terminal *is = &s->job->terminals[t];
        struct job_members m;
        bool talks = is->call_kind == JOB_P2P || is->call_kind == JOB_COLLECTIVE || is->call_kind == JOB_PROBE;
        if (!talks || is->comm == GRAMMAR_NONE || s->job->comms[is->comm].size <= 1)
            continue;
        if (!job_comm_members(s->job, is->comm, 0, &m) || m.size != s->ranks)
            return refuse(s, "nothing says how large '%s' would be",
                          job_text(s->job, s->job->comms[is->comm].name));
    }
    return 0;
}

static int find_labels(struct search *s)
{
    int rc = check_communicators(s);

    for (uint32_t r = 0; rc == 0 && r < s->ranks; r++) {
        uint32_t c = job_stream_class(s->job, r, 0);
        s->label[r] = base_hash_mix(c + 1u);
        if (c == GRAMMAR_NONE)
            rc = refuse(s, "rank %u was not recorded", r);
        else
            s->label[r] = base_hash_mix(s->label[r] ^ job_turns_hash(&s->job->classes[c], r, 0));
    }
    for (uint32_t c = 0; rc == 0 && c < s->job->class_count; c++)
        rc = label_class(s, c);
    return rc;
}

/* --- Head, pattern, tail --- */

/* Twice at least: what was seen once may be anything. */
static bool repeats(const struct search *s, uint32_t head, uint32_t tail, uint32_t step)
{
    uint32_t end = s->ranks - tail;

    if (head + tail + 2 * step > s->ranks)
        return false;
    for (uint32_t r = head; r + step < end; r++)
        if (s->label[r] != s->label[r + step])
            return false;
    return true;
}

/* The shortest of them together. */
static bool find_pattern(const struct search *s, struct replay_resize *z)
{
    enum { LONGEST = 64 };

    for (uint32_t sum = 1; sum <= LONGEST && sum < s->ranks; sum++)
        for (z->step = 1; z->step <= sum; z->step++)
            for (z->tail = 0; z->tail + z->step <= sum; z->tail++) {
                z->head = sum - z->step - z->tail;
                if (repeats(s, z->head, z->tail, z->step))
                    return true;
            }
    return false;
}

static void fill_like(struct replay_resize *z)
{
    uint32_t middle = z->from - z->head - z->tail;

    for (uint32_t r = 0; r < z->to; r++)
        z->like[r] = r < z->head            ? r
                     : r >= z->to - z->tail ? z->from - (z->to - r)
                                            : z->head + (r - z->head) % (middle / z->step * z->step);
}

static int resize(struct search *s, struct replay_resize *z)
{
    int rc = find_labels(s);

    if (rc)
        return rc;
    if (!find_pattern(s, z))
        return refuse(s, "its %u ranks have too many different rules", s->ranks);
    if (z->to < z->head + z->tail + z->step || llabs((long long)z->to - z->from) % z->step != 0)
        return refuse(s, "its rules are for %u ranks and groups of %u", z->head + z->tail, z->step);
    fill_like(z);
    return 0;
}

int replay_resize_create(const struct job *j, uint32_t ranks, struct replay_resize **out, char *why, size_t size)
{
    struct search s = { .job = j, .ranks = j->info.ranks, .why = why, .size = size };
    struct replay_resize *z = calloc(1, sizeof *z);

    s.label = calloc(j->info.ranks + 1u, sizeof *s.label);
    *z = (struct replay_resize){ .from = j->info.ranks, .to = ranks, .like = calloc(ranks + 1u, sizeof *z->like) };
    int rc = resize(&s, z);
    free(s.label);
    if (rc) {
        replay_resize_destroy(z);
        return rc;
    }
    *out = z;
    return 0;
}

void replay_resize_destroy(struct replay_resize *z)
{
    if (z)
        free(z->like);
    free(z);
}

int64_t replay_resize_peer(const struct replay_resize *z, const struct job_variant *v, uint32_t rank, int64_t peer)
{
    int64_t like = z->like[rank], from = z->from, to = z->to;
    uint32_t relations = v ? v->relations : JOB_ABSOLUTE;

    if (peer < 0 || peer >= from)
        return peer;
    if (relations & JOB_OFFSET) {
        int64_t on = (peer - like + from) % from;
        on -= 2 * on > from ? from : 0;
        return (rank + on + to) % to;
    }
    if (relations & JOB_ABSOLUTE)
        return peer >= from - z->tail ? to - (from - peer) : peer;
    return (int64_t)((uint64_t)rank ^ (uint64_t)(peer ^ like));
}
