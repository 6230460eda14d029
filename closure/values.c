/* SPDX-License-Identifier: MIT */
/* Values as expressions of the rank and of how often it was here. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/must.h"
#include "closure/parts.h"
#include "job/turns.h"

static const char *const channel_name[GRAMMAR_CHANNELS] = {
    [GRAMMAR_PEER] = "peer", [GRAMMAR_BYTES] = "bytes", [GRAMMAR_INDEX] = "index", [GRAMMAR_SOURCE] = "source",
    [GRAMMAR_RECEIVED] = "came", [GRAMMAR_SOURCE_TAG] = "source_index", [GRAMMAR_STARTS] = "starts" };

/* --- Lists of starts --- */

static void note_distance(struct closure *g, int64_t distance)
{
    if (distance > 0 && (uint64_t)distance > g->furthest)
        g->furthest = (uint64_t)distance;
}

/* What a value of GRAMMAR_STARTS is in the program: a distance, -1: cancelled, or -2 less the number of a list. */
static int64_t start_value(struct closure *g, int64_t name)
{
    uint32_t count = 0, k = 0;

    note_distance(g, name);
    if (name >= GRAMMAR_CANCELLED)
        return name;
    const struct job_start_run *run = job_starts_find(&g->job->starts, name, &count);
    if (!run)
        return 0;
    while (k < g->list_count && g->list[k] != name)
        k++;
    if (k == g->list_count) {
        base_must(base_array_room(&g->list, &g->list_room, (uint64_t)k + 1, sizeof *g->list));
        g->list[g->list_count++] = name;
        for (uint32_t i = 0; i < count; i++) {
            note_distance(g, run[i].distance);
            note_distance(g, run[i].distance + (int64_t)(run[i].count - 1) * run[i].step);
        }
    }
    return -2 - (int64_t)k;
}

static int64_t literal(struct closure *g, const struct job_variant *v, int64_t value)
{
    return v->attr.channel == GRAMMAR_STARTS ? start_value(g, value) : value;
}

/* --- One formula --- */

/* On other ranks than recorded, what has no rule of the rank. */
static void no_rule(struct closure *g, const char *what)
{
    const struct job_terminal *t = g->now < g->job->terminal_count ? &g->job->terminals[g->now] : NULL;
    char place[512] = "-";

    if (g->made->ranks == g->job->info.ranks || g->made->refused)
        return;
    if (t)
        findings_callsite_text(g->places, t->callsite, FINDINGS_CALL, place, sizeof place);
    closure_refuse(g, "--ranks %u: %s of %s: %s", g->made->ranks, place, t ? job_text(g->job, t->function) : "a loop",
                   what);
}

/* A value of the sample's rank, taken to the rank `me`; below 0 it is no rank. */
static char *relate(struct closure *g, const struct job_variant *v, char *x)
{
    char number[16], *text;

    if (v->relations & JOB_ABSOLUTE || !v->modulus)
        return x;
    no_rule(g, "peers change from turn to turn");
    snprintf(number, sizeof number, "%u", v->modulus);
    text = v->relations & JOB_OFFSET
               ? closure_text("turned(%s, %u, %s)", x, v->modulus - v->sample_rank % v->modulus,
                              v->modulus == g->job->info.ranks ? "ranks" : number)
               : closure_text("flipped(%s, %u)", x, v->sample_rank);
    free(x);
    return text;
}

static char *constant(struct closure *g, const struct job_variant *v, int64_t value)
{
    const char *modulus = v->modulus == g->job->info.ranks ? "ranks" : NULL;
    uint32_t m = v->modulus, k;

    if (value >= 0 && g->call[g->now].message &&
        (v->attr.channel == GRAMMAR_PEER || v->attr.channel == GRAMMAR_SOURCE)) {
        uint32_t away = m ? (uint32_t)(((uint64_t)value + m - v->sample_rank % m) % m) : 0;
        if (!(v->relations & JOB_OFFSET) || !modulus)
            no_rule(g, "its peer is no distance from the own rank");
        else if (away && 2 * away == m)
            no_rule(g, "its peer is half of the ranks away, either way");
    }
    if (v->relations & JOB_ABSOLUTE || !m || value < 0)
        return closure_text("%" PRId64, value);
    if (!(v->relations & JOB_OFFSET))
        return closure_text("(me ^ %" PRId64 ")", value ^ (int64_t)v->sample_rank);
    k = (uint32_t)(((uint64_t)value + m - v->sample_rank % m) % m);
    if (!modulus)
        return closure_text("(me + %u) %% %u", k, m);
    return k > m / 2 ? closure_text("(me + ranks - %u) %% ranks", m - k) : closure_text("(me + %u) %% ranks", k);
}

static char *of_course(struct closure *g, const struct job_variant *v, const char *nth, int64_t absent)
{
    uint32_t count = 0;
    const struct job_starts *all = &g->job->starts;
    const struct job_start_run *s = v->attr.course < 0 ? job_starts_find(all, v->attr.course, &count) : NULL;
    char *body = NULL, *text;
    size_t size;

    if (!s || !count)
        return NULL;
    FILE *f = open_memstream(&body, &size);
    fputs("static const struct step course_#[] = {", f);
    for (uint32_t i = 0; i < count; i++)
        if (s[i].distance == GRAMMAR_ABSENT)
            fprintf(f, "%s{ LONG_MIN, %d, %u }", i ? i % 6 ? ", " : ",\n    " : " ", s[i].step, s[i].count);
        else
            fprintf(f, "%s{ %" PRId64 ", %d, %u }", i ? i % 6 ? ", " : ",\n    " : " ",
                    s[i].step ? s[i].distance : literal(g, v, s[i].distance), s[i].step, s[i].count);
    fputs(" };\n", f);
    fclose(f);
    g->sections |= CLOSURE_NEEDS(CLOSURE_COURSE);
    BASE_OWN char *name = closure_shared(g, g->tables, "course", body);
    text = relate(g, v, closure_text("course(%s, %u, %s, %" PRId64 ")", name, count, nth, absent));
    return text;
}

static char *formula(struct closure *g, const struct job_variant *v, const char *nth, int64_t absent, bool *counts)
{
    int64_t value;

    if (grammar_attr_constant(&v->attr, &value))
        return constant(g, v, literal(g, v, value));
    *counts = true;
    return v->attr.kind == GRAMMAR_ATTR_VARIES ? of_course(g, v, nth, absent) : NULL;
}

/* --- By rank --- */

bool closure_constant(const struct job_class *c, uint32_t node, enum grammar_channel channel, const int64_t *value)
{
    uint32_t count;
    const struct job_variant *v = job_variants(c, node, channel, &count);
    int64_t own;

    for (uint32_t k = 0; k < count; k++)
        if (!grammar_attr_constant(&v[k].attr, &own) || (value && own != *value))
            return false;
    return count > 0 || !value;
}

static char *print_table(struct closure *g, const char *name, const char *type, const int64_t *value)
{
    char *body = NULL;
    size_t size;
    FILE *f = open_memstream(&body, &size);

    no_rule(g, "it differs from rank to rank");
    fprintf(f, "static const %s %s_#[RANKS] = {", type, name);
    for (uint32_t r = 0; r < g->job->info.ranks; r++)
        fprintf(f, "%s%" PRId64, r ? r % 24 ? ", " : ",\n    " : " ", value[r]);
    fputs(" };\n", f);
    fclose(f);
    char *table = closure_shared(g, g->tables, name, body), *text = closure_text("%s[me]", table);
    free(table);
    return text;
}

static uint64_t members_of(const struct job_class *c)
{
    return job_ranges_size(c->ranges, c->member_ranges);
}

/* All constant: a table, or one number. */
static char *table_of(struct closure *g, const struct job_class *c, const struct job_variant *v, uint32_t count,
                      int64_t absent)
{
    int64_t *value = calloc(g->job->info.ranks, sizeof *value), own = 0, least = absent, most = absent;
    bool first = true;

    for (struct job_walk w = { .range = c->ranges, .left = c->member_ranges }; job_walk_next(&w);) {
        int64_t x = absent;
        if (w.at.thread)
            continue;
        for (uint32_t k = 0; k < count; k++)
            if (job_ranges_contain(c->ranges + v[k].range_first, v[k].range_count, w.at.rank, w.at.thread)) {
                grammar_attr_constant(&v[k].attr, &own);
                x = literal(g, &v[k], own < 0 ? own : job_variant_value(&v[k], w.at.rank, own));
            }
        value[w.at.rank] = x;
        least = first || x < least ? x : least;
        most = first || x > most ? x : most;
        first = false;
    }
    const char *type = least < INT32_MIN || most > INT32_MAX ? "long" : "int";
    char *text = least == most ? closure_text("%" PRId64, least)
                               : print_table(g, channel_name[v->attr.channel], type, value);
    free(value);
    return text;
}

/* A function that chooses the formula by the rank. NULL: one of them is not kept. */
static char *choice_of(struct closure *g, const struct job_class *c, const struct job_variant *v, uint32_t count,
                       int64_t absent, const char *nth, bool *counts)
{
    BASE_OWN int64_t *part = calloc(g->job->info.ranks, sizeof *part);
    char *body = NULL, *name, *text;
    size_t size;
    bool lost = false;

    for (struct job_walk w = { .range = c->ranges, .left = c->member_ranges }; job_walk_next(&w);)
        for (uint32_t k = 0; k < count; k++)
            if (!w.at.thread && job_ranges_contain(c->ranges + v[k].range_first, v[k].range_count, w.at.rank, 0))
                part[w.at.rank] = k + 1;
    BASE_OWN char *table = print_table(g, "part", count < 255 ? "unsigned char" : "int", part);
    FILE *f = open_memstream(&body, &size);
    const char *kind = channel_name[v->attr.channel];
    fprintf(f, "static long %s_of_#(long n)\n{\n    (void)n;\n    switch (%s) {\n", kind, table);
    for (uint32_t k = 0; k < count; k++) {
        BASE_OWN char *x = formula(g, &v[k], "n", absent, counts);
        lost = lost || !x;
        fprintf(f, "    case %u:\n        return %s;\n", k + 1, x ? x : "0");
    }
    fprintf(f, "    default:\n        return %" PRId64 ";\n    }\n}\n", absent);
    fclose(f);
    if (lost) {
        free(body);
        return NULL;
    }
    BASE_OWN char *label = closure_text("%s_of", kind);
    name = closure_shared(g, g->tables, label, body);
    text = closure_text("%s(%s)", name, *counts ? nth : "0");
    free(name);
    return text;
}

char *closure_value(struct closure *g, const struct job_class *c, uint32_t node, enum grammar_channel channel,
                    int64_t absent, bool *counts)
{
    uint32_t count, covered = 0;
    const struct job_variant *v = job_variants(c, node, channel, &count);
    char *nth = closure_text("nth[%u]", c->grammar->nodes[node].symbol), *text;
    int64_t value;
    bool constants = true;

    g->now = c->grammar->nodes[node].symbol;
    for (uint32_t k = 0; k < count; k++) {
        constants = constants && grammar_attr_constant(&v[k].attr, &value);
        covered += (uint32_t)job_ranges_size(c->ranges + v[k].range_first, v[k].range_count);
    }
    if (!count)
        text = closure_text("%" PRId64, absent);
    else if (count == 1 && covered == members_of(c))
        text = formula(g, v, nth, absent, counts);
    else if (constants)
        text = table_of(g, c, v, count, absent);
    else
        text = choice_of(g, c, v, count, absent, nth, counts);
    free(nth);
    return text;
}

char *closure_turns(struct closure *g, const struct job_class *c, uint32_t node)
{
    uint32_t first, count = job_turns_of(c, node, &first), k = 0;

    if (!count)
        return closure_text("%" PRIu64, c->grammar->nodes[node].exponent);
    g->now = c->grammar->nodes[node].symbol;
    BASE_OWN uint64_t *own = calloc(members_of(c), sizeof *own);
    BASE_OWN int64_t *value = calloc(g->job->info.ranks, sizeof *value);
    base_must(job_turns_fill(c, node, own));
    for (struct job_walk w = { .range = c->ranges, .left = c->member_ranges }; job_walk_next(&w); k++)
        value[w.at.rank] = w.at.thread ? value[w.at.rank] : (int64_t)own[k];
    return print_table(g, "turns", "long", value);
}
