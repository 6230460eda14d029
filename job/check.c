/* SPDX-License-Identifier: MIT */
/*
 * Audit of a job, whatever made it. Each step relies only on what earlier ones have shown. Linear in the size of the
 * job (times a logarithm), not in the numbers that stand in it: the sets of a class must follow one another, so that
 * each is looked at once, and no set of a node may have more members than the class.
 */
#include "job/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/class.h"
#include "job/intern.h"
#include "job/ranges.h"
#include "job/relation.h"
#include "job/schema.h"
#include "job/turns.h"

int job_refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return PYTHIA_EFORMAT;
}

struct audit {
    const struct job *job;
    int message;
    char *why;
    size_t size;
};

#define REFUSE(a, ...) job_refuse((a)->why, (a)->size, __VA_ARGS__)

static int check_places(const struct audit *a)
{
    const struct job *j = a->job;
    for (uint32_t i = 0; i < j->callsite_count; i++)
        if (j->callsites[i].first > j->frame_count || j->callsites[i].count > j->frame_count - j->callsites[i].first)
            return REFUSE(a, "callsite %u: frames out of range", i);
    for (uint32_t i = 0; i < j->terminal_count; i++)
        if (job_find_terminal(j, j->terminal_hash[i]) != i)
            return REFUSE(a, "terminal %u: stands twice", i);
    return 0;
}

/* --- Classes --- */

/* The sets of members in a class: the members, then each other set where it is first used. What is known of the set
   that begins at a range is kept: thousands of variants may name the same large set. */
struct sets {
    struct set {
        uint32_t count; /* ranges; 0: none begins here */
        struct job_member first;
        uint64_t size;
    } *at;
    uint32_t end;
};

static struct set set_of(const struct job_range *r, uint32_t count)
{
    return (struct set){ count, job_ranges_first(r, count), job_ranges_size(r, count) };
}

static int check_new_set(const struct audit *a, uint32_t i, const struct job_class *c, const struct job_range *r,
                         uint32_t count)
{
    if (!job_ranges_canonical(r, count, a->job->info.ranks))
        return REFUSE(a, "class %u: ranges out of order", i);
    for (uint32_t k = 0; k < count; k++)
        if (!job_ranges_contain(c->ranges, c->member_ranges, r[k].first, r[k].thread) ||
            !job_ranges_contain(c->ranges, c->member_ranges, job_range_last(&r[k]), r[k].thread))
            return REFUSE(a, "class %u: ranges of no members", i);
    return 0;
}

static int check_set(const struct audit *a, uint32_t i, const struct job_class *c, struct sets *s, uint32_t first,
                     uint32_t count)
{
    if (!count || first > s->end || first >= c->range_count || count > c->range_count - first ||
        (first < s->end && s->at[first].count != count))
        return REFUSE(a, "class %u: ranges out of range", i);
    if (first < s->end)
        return 0;
    s->at[first] = set_of(c->ranges + first, count);
    s->end += count;
    return check_new_set(a, i, c, c->ranges + first, count);
}

static int check_model(const struct grammar_attr *t)
{
    struct grammar_attr canonical = *t;
    if (t->channel >= GRAMMAR_CHANNELS || t->kind > GRAMMAR_ATTR_KEYED || !t->count)
        return -1;
    if (t->kind == GRAMMAR_ATTR_KEYED && t->length > GRAMMAR_ATTR_KEYS)
        return -1;
    job_relation_canonical(&canonical);
    return memcmp(&canonical, t, sizeof canonical) ? -1 : 0;
}

static int same_place(const struct job_variant *v)
{
    return v->node == v[-1].node && v->attr.channel == v[-1].attr.channel;
}

/* Of two neighbours: by channel, then by first member. */
static int in_order(const struct job_variant *v, struct job_member before, struct job_member first)
{
    if (v->node != v[-1].node || v->attr.channel != v[-1].attr.channel)
        return v->node != v[-1].node || v->attr.channel > v[-1].attr.channel;
    return job_member_before(before, first);
}

/* `of`: whose it is; `covered`: the set before, of as many as all variants there have so far; `most`: of the class. */
static int check_variant(const struct audit *a, uint32_t i, const struct job_class *c, const struct job_variant *v,
                         struct set of, struct set *covered, uint64_t most)
{
    bool first = v == c->variants;
    if (check_model(&v->attr) || v->node >= c->grammar->node_count)
        return REFUSE(a, "class %u: model of an attribute of node %u", i, v->node);
    if (!v->relations || (v->relations & ~job_relation_possible(&a->job->starts, &v->attr, v->modulus)))
        return REFUSE(a, "class %u: relations %#x of an attribute of node %u", i, v->relations, v->node);
    if (of.first.rank != v->sample_rank)
        return REFUSE(a, "class %u: an attribute of node %u has a sample that is not its first member", i, v->node);
    if (!first && !in_order(v, covered->first, of.first))
        return REFUSE(a, "class %u: variants of node %u out of order", i, v->node);
    of.size += !first && same_place(v) ? covered->size : 0;
    *covered = of;
    return of.size <= most ? 0 : REFUSE(a, "class %u: variants of node %u cover members twice", i, v->node);
}

static int check_variants(const struct audit *a, uint32_t i, const struct job_class *c, struct sets *s)
{
    struct set covered = { 0 };
    for (uint32_t k = 0; k < c->variant_count; k++) {
        const struct job_variant *v = &c->variants[k];
        int error = check_set(a, i, c, s, v->range_first, v->range_count);
        error = error ?: check_variant(a, i, c, v, s->at[v->range_first], &covered, s->at[0].size);
        if (error)
            return error;
    }
    return s->end == c->range_count ? 0 : REFUSE(a, "class %u: ranges of no variant", i);
}

/* They stand before those of the variants. */
static int check_turn_sets(const struct audit *a, uint32_t i, const struct job_class *c, struct sets *s)
{
    int error = 0;
    for (uint32_t k = 0; k < c->turn_count && !error; k++)
        if (c->turns[k].column == GRAMMAR_NONE)
            error = check_set(a, i, c, s, c->turns[k].range_first, c->turns[k].range_count);
    return error;
}

static int check_sets(const struct audit *a, uint32_t i, const struct job_class *c)
{
    struct sets s = { calloc((size_t)c->range_count + 1, sizeof *s.at), 0 };
    int error = 0;
    if (!s.at) {
        REFUSE(a, "out of memory");
        return PYTHIA_ENOMEM;
    }
    if (!c->member_ranges || c->member_ranges > c->range_count || 
        !job_ranges_canonical(c->ranges, c->member_ranges, a->job->info.ranks))
        error = REFUSE(a, "class %u: members", i);
    if (!error) {
        s.at[0] = set_of(c->ranges, c->member_ranges);
        s.end = c->member_ranges;
        error = check_turn_sets(a, i, c, &s);
    }
    error = error ?: check_variants(a, i, c, &s);
    if (!error) {
        char reason[160] = "";
        error = job_turns_check(c, reason, sizeof reason);
        if (error)
            REFUSE(a, "class %u: %s", i, *reason ? reason : "out of memory");
    }
    free(s.at);
    return error;
}

static int check_spread(const struct audit *a, uint32_t i, const struct job_class *c)
{
    for (uint32_t n = 0; n < c->grammar->node_count; n++)
        if (c->spread[n].all.least > c->spread[n].all.most || c->spread[n].call.least > c->spread[n].call.most)
            return REFUSE(a, "class %u: spread of node %u", i, n);
    return 0;
}

/* None is expanded less often than there are members. That counts are what the members expand is not looked at, nor
   that a rule's times are those of its uses: who reads them must not rely on it. */
static int check_counts(const struct audit *a, uint32_t i, const struct job_class *c)
{
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges);
    for (uint32_t n = 0; n < c->grammar->node_count; n++)
        if (c->grammar->stats[n].count < members || c->grammar->stats[n].count > INT64_MAX)
            return REFUSE(a, "class %u: node %u counts %llu expansions by %llu members", i, n,
                          (unsigned long long)c->grammar->stats[n].count, (unsigned long long)members);
    return 0;
}

static int check_body(const struct audit *a, uint32_t i, const struct job_class *c)
{
    struct job_member first = job_ranges_first(c->ranges, c->member_ranges);
    char reason[160] = "";
    if (job_class_bodiless(c))
        return a->message ? 0 : REFUSE(a, "class %u: its rules were left out", i);
    int error = c->grammar->terminals > a->job->terminal_count ? REFUSE(a, "class %u: terminals out of range", i)
                                                               : grammar_flat_check(c->grammar, reason, sizeof reason);
    if (error)
        return *reason ? (REFUSE(a, "class %u: %s", i, reason), error) : error;
    if (!job_turns_same(c, c->grammar, first.rank, first.thread))
        return REFUSE(a, "class %u: exponents are not those of the first member", i);
    error = check_counts(a, i, c);
    if (error)
        return error;
    struct grammar_hash hash = grammar_flat_shape(c->grammar, a->job->terminal_hash);
    if (job_hash_none(hash)) {
        REFUSE(a, "out of memory");
        return PYTHIA_ENOMEM;
    }
    if (!job_hash_equal(hash, c->hash))
        return REFUSE(a, "class %u: its hash is not that of its rules", i);
    return 0;
}

static int check_class(const struct audit *a, uint32_t i, const struct job_class *c)
{
    int error = check_sets(a, i, c);
    error = error ?: check_spread(a, i, c);
    error = error ?: check_body(a, i, c);
    if (!error && job_table_find(&a->job->index->table[JOB_INTERNED_CLASS], c->hash) != i)
        error = REFUSE(a, "class %u: stands twice", i);
    return error;
}

/* --- Streams --- */

/* A member of a class, in their order. */
struct owned { struct job_member member; uint32_t class_index; };

/* All members of all classes, in order, are the streams; each record is of one, so that there are as many. */
static int check_owners(const struct audit *a)
{
    const struct job *j = a->job;
    struct owned *all = malloc(((size_t)j->stream_count + 1) * sizeof *all), *o = all;
    int error = 0;
    if (!all) {
        REFUSE(a, "out of memory");
        return PYTHIA_ENOMEM;
    }
    for (uint32_t i = 0; i < j->class_count; i++)
        for (struct job_walk w = { .range = j->classes[i].ranges, .left = j->classes[i].member_ranges };
             job_walk_next(&w);)
            *o++ = (struct owned){ w.at, i };
    qsort(all, (size_t)(o - all), sizeof *all, job_member_order);
    for (uint32_t i = 0; i < j->stream_count && !error; i++) {
        const struct job_stream *s = &j->streams[i];
        if (s->rank != all[i].member.rank || s->thread != all[i].member.thread || s->class_index != all[i].class_index)
            error = REFUSE(a, "stream %u: not a member of its class", i);
    }
    free(all);
    return error;
}

static bool extent_sane(const struct job_stream *s, const struct job_extent *e, uint32_t block)
{
    return e->least <= e->most && e->least_rank - s->rank < block && e->most_rank - s->rank < block;
}

static int check_block(const struct audit *a, uint32_t i)
{
    const struct job_stream *s = &a->job->streams[i];
    if (a->job->info.block > 1 &&
        (!extent_sane(s, &s->wall, a->job->info.block) || !extent_sane(s, &s->useful, a->job->info.block)))
        return REFUSE(a, "streams %u: extremes of other ranks", i);
    return 0;
}

/* All classes together have as many members as there are streams; sums of events do not wrap, whoever counts them: by
   grammars, by statistics (which may lie), or by streams. */
static int check_totals(const struct audit *a)
{
    const struct job *j = a->job;
    uint64_t members = 0, expanded = 0, counted = 0, streams = 0;
    bool wraps = false;
    for (uint32_t i = 0; i < j->class_count; i++) {
        const struct job_class *c = &j->classes[i];
        members += job_ranges_size(c->ranges, c->member_ranges);
        wraps |= __builtin_add_overflow(expanded, job_turns_most_events(c), &expanded);
        wraps |= __builtin_add_overflow(counted, job_class_bodiless(c) ? 0 : job_class_events(c), &counted);
    }
    for (uint32_t i = 0; i < j->stream_count; i++)
        wraps |= __builtin_add_overflow(streams, j->streams[i].events, &streams);
    if (wraps || expanded > INT64_MAX || counted > INT64_MAX || streams > INT64_MAX)
        return REFUSE(a, "2^63 events or more");
    if (members != job_streams(j))
        return REFUSE(a, "%llu members of classes, %llu streams", (unsigned long long)members,
                      (unsigned long long)job_streams(j));
    return 0;
}

static int check_streams(const struct audit *a)
{
    const struct job *j = a->job;
    int error = 0;
    if (!j->info.block || (j->info.block & (j->info.block - 1)))
        error = REFUSE(a, "info: blocks of %u ranks", j->info.block);
    for (uint32_t i = 0; i < j->stream_count && !error; i++)
        error = check_block(a, i);
    error = error ?: check_totals(a);
    return !error && j->info.block == 1 ? check_owners(a) : error;
}

/* Definitions come before the classes, what names these after them. */
int job_check_parts(const struct job *j, int message, char *why, size_t size)
{
    struct audit a = { j, message, why, size };
    int error = j->info.runs ? 0 : REFUSE(&a, "info: no runs");
    for (enum job_tables t = 0; t <= JOB_TABLE_TERMINALS && !error; t++)
        error = job_rows_check(j, t, why, size);
    error = error ?: check_places(&a);
    error = error ?: job_rows_check(j, JOB_TABLE_STARTS, why, size); /* what varies names them */
    for (uint32_t i = 0; i < j->class_count && !error; i++)
        error = check_class(&a, i, &j->classes[i]);
    for (enum job_tables t = JOB_TABLE_TERMINALS + 1; t < JOB_TABLES && !error; t++)
        error = job_rows_check(j, t, why, size);
    return error ?: check_streams(&a);
}

int job_check_class(const struct job *j, uint32_t class_index, const struct job_class *c, char *why, size_t size)
{
    struct audit a = { j, 0, why, size };
    return check_class(&a, class_index, c);
}

int job_check(const struct job *j, char *why, size_t size)
{
    return job_check_parts(j, 0, why, size);
}
