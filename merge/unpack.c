/* SPDX-License-Identifier: MIT */
/*
 * From hostile bytes to a job. The container (checksums, sizes, compression) is container.c; here records become
 * definitions, grammars and streams. What points somewhere is checked before it is followed; parts that belong to a
 * class must stand one after the other, so that nothing is used twice and memory is bounded by the input. Everything
 * else is left to job_check(), which audits the finished job.
 */
#include <stdlib.h>

#include "pythia.h"
#include "merge/check.h"
#include "merge/class.h"
#include "merge/container.h"
#include "merge/intern.h"

struct reader {
    struct merge_container in;
    struct job *job;
    uint32_t *local; /* place in the rule store -> number in the class at hand, GRAMMAR_NONE */
    char *why;
    size_t why_size;
};

#define REFUSE(r, ...) merge_refuse((r)->why, (r)->why_size, __VA_ARGS__)

static const unsigned char *at_record(const struct reader *r, enum format_section type, uint64_t i, uint32_t size)
{
    return r->in.section[type].data + i * size;
}

static uint32_t count_of(const struct reader *r, enum format_section type)
{
    return (uint32_t)r->in.section[type].count; /* checked to be below MERGE_LIMIT */
}

static int no_memory(struct reader *r)
{
    REFUSE(r, "out of memory");
    return PYTHIA_ENOMEM;
}

/* What was interned as number `got` stands at place `i` of its section: unless it stood there before. */
static int interned(struct reader *r, enum format_section type, uint32_t got, uint32_t i)
{
    if (got == GRAMMAR_NONE)
        return no_memory(r);
    return got == i ? 0 : REFUSE(r, "damaged: %s %u stands twice", merge_section_name(type), i);
}

static double get_double(const unsigned char *at)
{
    uint64_t bits = format_get64(at);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* --- Definitions --- */

static void unpack_info(struct reader *r)
{
    const unsigned char *at = r->in.section[SECTION_INFO].data;
    struct job_info *f = &r->job->info;
    uint32_t *const words[] = { &f->program, &f->program_id, &f->arguments, &f->mpi, &f->ranks, &f->threads, &f->missing, &f->runs, &f->block };
    for (int i = 0; i < 9; i++)
        *words[i] = format_get32(at + 4 * i);
    f->wall_ns = format_get64(at + 40);
    f->start_time = format_get64(at + 48);
}

static int unpack_strings(struct reader *r)
{
    const struct merge_section *s = &r->in.section[SECTION_STRINGS];
    uint64_t next = 4 * s->count;
    if (s->count > s->size / 5 || s->size > UINT32_MAX)
        return REFUSE(r, "damaged: %llu strings", (unsigned long long)s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t offset = format_get32(s->data + 4 * (size_t)i);
        const unsigned char *end = offset == next && next < s->size ? memchr(s->data + next, 0, s->size - next) : NULL;
        if (!end)
            return REFUSE(r, "damaged: string %u is out of its section", i);
        next = (uint64_t)(end - s->data) + 1;
        int error = interned(r, SECTION_STRINGS, job_string(r->job, (const char *)s->data + offset), i);
        if (error)
            return error;
    }
    return next == s->size ? 0 : REFUSE(r, "damaged: bytes after the last string");
}

static int unpack_modules(struct reader *r)
{
    struct job *j = r->job;
    for (uint32_t i = 0; i < count_of(r, SECTION_MODULES); i++) {
        const unsigned char *at = at_record(r, SECTION_MODULES, i, RECORD_MODULE);
        uint32_t path = format_get32(at), id = format_get32(at + 4);
        if (path >= j->string_count || id >= j->string_count)
            return REFUSE(r, "damaged: module %u names string %u or %u", i, path, id);
        int error = interned(r, SECTION_MODULES, job_module(j, j->strings[path], j->strings[id]), i);
        if (error)
            return error;
    }
    return 0;
}

static int unpack_callsite(struct reader *r, uint32_t i, struct job_frame *frames)
{
    const unsigned char *at = at_record(r, SECTION_CALLSITES, i, RECORD_CALLSITE);
    uint32_t first = format_get32(at), count = format_get32(at + 4);
    if (first != r->job->frame_count || count > count_of(r, SECTION_FRAMES) - first)
        return REFUSE(r, "damaged: frames of callsite %u", i);
    for (uint32_t k = 0; k < count; k++) {
        const unsigned char *f = at_record(r, SECTION_FRAMES, first + k, RECORD_FRAME);
        frames[k] = (struct job_frame){ format_get32(f), 0, format_get64(f + 8) };
        if (frames[k].module >= r->job->module_count || format_get32(f + 4))
            return REFUSE(r, "damaged: frame %u", first + k);
    }
    return interned(r, SECTION_CALLSITES, job_callsite(r->job, frames, count), i);
}

static int unpack_callsites(struct reader *r)
{
    uint32_t frames = count_of(r, SECTION_FRAMES);
    struct job_frame *scratch = malloc(((size_t)frames + 1) * sizeof *scratch);
    int error = scratch ? 0 : no_memory(r);
    for (uint32_t i = 0; i < count_of(r, SECTION_CALLSITES) && !error; i++)
        error = unpack_callsite(r, i, scratch);
    free(scratch);
    if (!error && r->job->frame_count != frames)
        error = REFUSE(r, "damaged: frames of no callsite");
    return error;
}

static int unpack_comms(struct reader *r)
{
    struct job *j = r->job;
    for (uint32_t i = 0; i < count_of(r, SECTION_COMMS); i++) {
        const unsigned char *at = at_record(r, SECTION_COMMS, i, RECORD_COMM);
        uint32_t name = format_get32(at);
        if (name >= j->string_count)
            return REFUSE(r, "damaged: communicator %u names string %u", i, name);
        int error = interned(r, SECTION_COMMS, job_comm(j, j->strings[name], format_get32(at + 4)), i);
        if (error)
            return error;
    }
    return 0;
}

static int unpack_terminals(struct reader *r)
{
    struct job *j = r->job;
    for (uint32_t i = 0; i < count_of(r, SECTION_TERMINALS); i++) {
        const unsigned char *at = at_record(r, SECTION_TERMINALS, i, RECORD_TERMINAL);
        struct job_terminal t = { .kind = at[0], .phase = at[1], .call_class = at[2], .peer_class = at[3], .blocking = at[4],
                                  .function = format_get32(at + 8), .callsite = format_get32(at + 12), .comm = format_get32(at + 16) };
        if (t.function >= j->string_count || (t.callsite >= j->callsite_count && t.callsite != GRAMMAR_NONE) ||
            (t.comm >= j->comm_count && t.comm != GRAMMAR_NONE) || at[5] || at[6] || at[7] || format_get32(at + 20))
            return REFUSE(r, "damaged: terminal %u", i);
        int error = interned(r, SECTION_TERMINALS, job_terminal(j, &t), i);
        if (error)
            return error;
    }
    return 0;
}

/* --- Rules --- */

struct body { uint32_t first, length; };

static struct body body_of(const struct reader *r, uint32_t place)
{
    const unsigned char *at = at_record(r, SECTION_RULES, place, RECORD_RULE);
    return (struct body){ format_get32(at), format_get32(at + 4) };
}

/* The store: bodies follow one another. */
static int check_store(struct reader *r)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < count_of(r, SECTION_RULES); i++) {
        struct body b = body_of(r, i);
        if (b.first != next)
            return REFUSE(r, "damaged: rule %u of the store", i);
        next += b.length;
    }
    return next == r->in.section[SECTION_NODES].count ? 0 : REFUSE(r, "damaged: nodes of no rule");
}

/* Where the parts of a class are. */
struct parts {
    uint32_t flags, rule_first, rules, stats_first, nodes, range_first, ranges, member_ranges, variant_first, variants;
};

static struct parts parts_of(const unsigned char *at)
{
    struct parts p;
    uint32_t *const words[] = { &p.flags, &p.rule_first, &p.rules, &p.stats_first, &p.nodes, &p.range_first, &p.ranges, &p.member_ranges, &p.variant_first, &p.variants };
    for (int i = 0; i < 10; i++)
        *words[i] = format_get32(at + 16 + 4 * i);
    return p;
}

static int fits(const struct reader *r, enum format_section type, uint64_t first, uint64_t count, uint64_t expected)
{
    return first == expected && count <= r->in.section[type].count - first;
}

/* Class parts stand in order: `next` is where this one's must begin, and is moved on. */
static int check_parts(struct reader *r, uint32_t i, const struct parts *p, struct parts *next)
{
    if (!fits(r, SECTION_CLASS_RULES, p->rule_first, p->rules, next->rule_first) ||
        !fits(r, SECTION_STATS, p->stats_first, p->nodes, next->stats_first) ||
        !fits(r, SECTION_RANGES, p->range_first, p->ranges, next->range_first) ||
        !fits(r, SECTION_VARIANTS, p->variant_first, p->variants, next->variant_first))
        return REFUSE(r, "damaged: parts of class %u are not where they should be", i);
    if ((p->flags & ~(uint32_t)CLASS_BODY) || !(p->flags & CLASS_BODY) != !p->rules || !p->member_ranges ||
        p->member_ranges > p->ranges)
        return REFUSE(r, "damaged: class %u", i);
    next->rule_first += p->rules;
    next->stats_first += p->nodes;
    next->range_first += p->ranges;
    next->variant_first += p->variants;
    return 0;
}

static uint32_t class_rule(const struct reader *r, const struct parts *p, uint32_t k)
{
    return format_get32(at_record(r, SECTION_CLASS_RULES, p->rule_first + k, RECORD_CLASS_RULE));
}

/* Numbers the class's rules; what was numbered is taken back by forget_rules. */
static int number_rules(struct reader *r, uint32_t i, const struct parts *p)
{
    uint64_t nodes = 0;
    for (uint32_t k = 0; k < p->rules; k++) {
        uint32_t place = class_rule(r, p, k);
        if (place >= count_of(r, SECTION_RULES) || r->local[place] != GRAMMAR_NONE)
            return REFUSE(r, "damaged: rule %u of class %u", k, i);
        r->local[place] = k;
        nodes += body_of(r, place).length;
    }
    return !p->rules || nodes == p->nodes ? 0 : REFUSE(r, "damaged: class %u has %llu nodes, statistics for %u", i,
                                                       (unsigned long long)nodes, p->nodes);
}

static void forget_rules(struct reader *r, const struct parts *p)
{
    for (uint32_t k = 0; k < p->rules; k++) {
        uint32_t place = class_rule(r, p, k);
        if (place < count_of(r, SECTION_RULES))
            r->local[place] = GRAMMAR_NONE;
    }
}

static int unpack_node(struct reader *r, uint32_t i, const unsigned char *at, struct grammar_flat_node *n)
{
    n->symbol = format_get32(at);
    n->exponent = format_get64(at + 8);
    if (grammar_is_rule(n->symbol)) {
        uint32_t place = n->symbol & ~GRAMMAR_RULE;
        if (place >= count_of(r, SECTION_RULES) || r->local[place] == GRAMMAR_NONE)
            return REFUSE(r, "damaged: class %u uses a rule that it does not list", i);
        n->symbol = GRAMMAR_RULE | r->local[place];
    }
    return format_get32(at + 4) ? REFUSE(r, "damaged: class %u: a node's reserved field", i) : 0;
}

static int unpack_rules(struct reader *r, uint32_t i, const struct parts *p, struct grammar_flat *g)
{
    uint32_t node = 0;
    int error = number_rules(r, i, p);
    for (uint32_t k = 0; k < p->rules && !error; k++) {
        struct body b = body_of(r, class_rule(r, p, k));
        g->rules[k] = (struct grammar_flat_rule){ node, b.length };
        for (uint32_t n = 0; n < b.length && !error; n++)
            error = unpack_node(r, i, at_record(r, SECTION_NODES, b.first + n, RECORD_NODE), &g->nodes[node++]);
    }
    forget_rules(r, p);
    return error;
}

/* --- Statistics, ranges, variants --- */

static struct grammar_moments get_moments(const unsigned char *at)
{
    return (struct grammar_moments){ format_get64(at), format_get64(at + 8), format_get64(at + 16), get_double(at + 24) };
}

static void unpack_stats(struct reader *r, const struct parts *p, struct job_class_entry *c)
{
    for (uint32_t n = 0; n < p->nodes; n++) {
        const unsigned char *at = at_record(r, SECTION_STATS, p->stats_first + n, RECORD_STATS);
        struct grammar_stats *s = &c->grammar->stats[n];
        s->count = format_get64(at);
        s->gap = get_moments(at + 8);
        s->duration = get_moments(at + 40);
        c->spread[n] = (struct job_spread){ format_get64(at + 72), format_get64(at + 80), format_get32(at + 88), format_get32(at + 92),
                                            format_get64(at + 96), format_get64(at + 104), format_get32(at + 112),
                                            format_get32(at + 116), get_double(at + 120) };
    }
}

static void unpack_ranges(struct reader *r, const struct parts *p, struct job_class_entry *c)
{
    for (uint32_t i = 0; i < p->ranges; i++) {
        const unsigned char *at = at_record(r, SECTION_RANGES, p->range_first + i, RECORD_RANGE);
        c->ranges[i] = (struct job_range){ format_get32(at),      format_get32(at + 4),  format_get32(at + 8),  format_get32(at + 12),
                                           format_get32(at + 16), format_get32(at + 20), format_get32(at + 24), format_get32(at + 28) };
    }
}

static void unpack_values(const unsigned char *at, struct grammar_attr *a)
{
    if (a->kind == GRAMMAR_ATTR_RAMP) {
        a->ramp.base = (int64_t)format_get64(at);
        a->ramp.step = (int64_t)format_get64(at + 8);
    }
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_LIST && i < a->length; i++)
        a->list[i] = (int64_t)format_get64(at + 8 * i);
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_KEYED && i < a->length; i++)
        a->key[i] = (struct grammar_attr_key){ (int64_t)format_get64(at + 24 * i), format_get64(at + 24 * i + 8),
                                               format_get64(at + 24 * i + 16) };
}

static int unpack_attr(const unsigned char *at, struct grammar_attr *a)
{
    memset(a, 0, sizeof *a);
    a->channel = at[0];
    a->kind = at[1];
    a->length = at[2];
    a->period = format_get32(at + 4);
    a->count = format_get64(at + 8);
    a->first = format_get64(at + 16);
    a->last = format_get64(at + 24);
    a->min = (int64_t)format_get64(at + 32);
    a->max = (int64_t)format_get64(at + 40);
    a->sum = (int64_t)format_get64(at + 48);
    uint32_t most = a->kind == GRAMMAR_ATTR_LIST ? GRAMMAR_ATTR_LENGTH : a->kind == GRAMMAR_ATTR_KEYED ? GRAMMAR_ATTR_KEYS : 0;
    if (a->length > most || at[3])
        return -1;
    unpack_values(at + 56, a);
    return 0;
}

static int unpack_variants(struct reader *r, uint32_t i, const struct parts *p, struct job_class_entry *c)
{
    for (uint32_t k = 0; k < p->variants; k++) {
        const unsigned char *at = at_record(r, SECTION_VARIANTS, p->variant_first + k, RECORD_VARIANT);
        struct job_variant *v = &c->variants[k];
        v->node = format_get32(at);
        v->relations = format_get32(at + 4);
        v->sample_rank = format_get32(at + 8);
        v->modulus = format_get32(at + 12);
        v->range_first = format_get32(at + 16);
        v->range_count = format_get32(at + 20);
        if (unpack_attr(at + 24, &v->attr) || v->node >= p->nodes || v->attr.channel >= GRAMMAR_CHANNELS)
            return REFUSE(r, "damaged: variant %u of class %u", k, i);
    }
    return 0;
}

/* --- Classes --- */

/* (node, channel) pairs: variants of one are neighbours. */
static uint32_t sample_count(const struct reader *r, const struct parts *p)
{
    uint32_t samples = 0;
    for (uint32_t k = 0; k < p->variants; k++) {
        const unsigned char *at = at_record(r, SECTION_VARIANTS, p->variant_first + k, RECORD_VARIANT);
        samples += !k || format_get32(at) != format_get32(at - RECORD_VARIANT) || at[24] != *(at - RECORD_VARIANT + 24);
    }
    return samples;
}

static int class_alloc(struct job_class_entry *c, const struct parts *p, uint32_t samples)
{
    c->grammar = grammar_flat_create(p->rules, p->nodes, samples);
    c->spread = calloc((size_t)p->nodes + 1, sizeof *c->spread);
    c->ranges = calloc((size_t)p->ranges + 1, sizeof *c->ranges);
    c->variants = calloc((size_t)p->variants + 1, sizeof *c->variants);
    c->range_count = p->ranges;
    c->member_ranges = p->member_ranges;
    c->variant_count = p->variants;
    return c->grammar && c->spread && c->ranges && c->variants;
}

static int class_length(struct reader *r, struct grammar_flat *g)
{
    uint64_t *length = calloc((size_t)g->rule_count + 1, sizeof *length);
    if (!length)
        return no_memory(r);
    /* Only the audit knows whether these rules are sane; what is needed for walking them is checked already: symbols are
       in range, and the walk survives cycles. */
    if (g->rule_count)
        grammar_flat_lengths(g, length);
    g->events = length[0];
    free(length);
    return 0;
}

static int unpack_class(struct reader *r, uint32_t i, const struct parts *p, struct job_class_entry *c)
{
    const unsigned char *at = at_record(r, SECTION_CLASSES, i, RECORD_CLASS);
    struct job_index *x = r->job->index;
    c->hash = (struct grammar_hash){ format_get64(at), format_get64(at + 8) };
    if (!class_alloc(c, p, sample_count(r, p)))
        return no_memory(r);
    c->grammar->terminals = r->job->terminal_count;
    int error = unpack_rules(r, i, p, c->grammar);
    if (!error)
        error = class_length(r, c->grammar);
    if (!error)
        error = unpack_variants(r, i, p, c);
    if (error)
        return error;
    unpack_stats(r, p, c);
    unpack_ranges(r, p, c);
    if (merge_place_samples(c))
        return REFUSE(r, "damaged: variants of class %u are out of order", i);
    if (merge_table_find(&x->table[MERGE_CLASS], c->hash) != GRAMMAR_NONE)
        return REFUSE(r, "damaged: class %u stands twice", i);
    merge_table_put(&x->table[MERGE_CLASS], c->hash, i);
    return 0;
}

static int unpack_classes(struct reader *r)
{
    struct job *j = r->job;
    uint32_t count = count_of(r, SECTION_CLASSES), rules = count_of(r, SECTION_RULES);
    struct parts next = { 0 };
    int error = check_store(r);
    r->local = malloc(((size_t)rules + 1) * sizeof *r->local);
    if (!error && (!r->local || merge_room(&j->classes, &j->index->class_room, count, sizeof *j->classes) ||
                   merge_table_reserve(&j->index->table[MERGE_CLASS], count)))
        error = no_memory(r);
    if (error)
        return error;
    memset(r->local, 0xff, rules * sizeof *r->local);
    for (uint32_t i = 0; i < count && !error; i++) {
        struct parts p = parts_of(at_record(r, SECTION_CLASSES, i, RECORD_CLASS));
        error = check_parts(r, i, &p, &next);
        if (error)
            break;
        memset(&j->classes[i], 0, sizeof j->classes[i]);
        j->class_count = i + 1;
        error = unpack_class(r, i, &p, &j->classes[i]);
    }
    if (!error && (next.rule_first != count_of(r, SECTION_CLASS_RULES) || next.stats_first != count_of(r, SECTION_STATS) ||
                   next.range_first != count_of(r, SECTION_RANGES) || next.variant_first != count_of(r, SECTION_VARIANTS)))
        error = REFUSE(r, "damaged: parts of no class");
    return error;
}

/* --- Streams, sums, oracle --- */

static int unpack_stream(struct reader *r, size_t i, size_t n, struct job_stream *s)
{
    const unsigned char *means = r->in.section[SECTION_STREAMS].data, *rest = means + n * 56, *words = rest + n * 28;
    uint64_t *const column[] = { &s->events, &s->lost, &s->begin_ns, &s->wall_ns, &s->mpi_ns, &s->omp_ns, &s->cost_ns };
    s->rank = format_get32(words + 4 * i) + (i ? s[-1].rank : 0);
    s->thread = format_get32(words + 4 * (n + i));
    s->class_index = format_get32(words + 4 * (2 * n + i));
    s->count = format_get32(words + 4 * (3 * n + i));
    for (size_t k = 0; k < 7; k++) {
        uint32_t remainder = format_get32(rest + 4 * (k * n + i));
        *column[k] = format_get64(means + 8 * (k * n + i)) * s->count + remainder;
        if (remainder >= s->count)
            return REFUSE(r, "damaged: remainder of stream %zu", i);
    }
    return 0;
}

static int unpack_streams(struct reader *r)
{
    struct job *j = r->job;
    size_t n = count_of(r, SECTION_STREAMS);
    int error = 0;
    if (merge_room(&j->streams, &j->index->stream_room, n, sizeof *j->streams))
        return no_memory(r);
    for (size_t i = 0; i < n && !error; i++)
        error = unpack_stream(r, i, n, &j->streams[i]);
    if (!error)
        j->stream_count = (uint32_t)n;
    return error;
}

static int unpack_sums(struct reader *r)
{
    struct job *j = r->job;
    uint32_t n = count_of(r, SECTION_SUMS);
    if (merge_sums_reserve(j, n))
        return no_memory(r);
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *at = at_record(r, SECTION_SUMS, i, RECORD_SUM);
        j->sums[i] = (struct job_sum){ format_get32(at), format_get32(at + 4),
                                       { format_get64(at + 8), format_get64(at + 16) } };
    }
    j->sum_count = n;
    return 0;
}

static uint64_t next64(const unsigned char **at)
{
    *at += 8;
    return format_get64(*at - 8);
}

static double next_double(const unsigned char **at)
{
    *at += 8;
    return get_double(*at - 8);
}

/* `peers`: what a file of an earlier Pythia does not end with. */
static void unpack_score(const unsigned char *at, bool peers, struct oracle_score *s)
{
    s->events = next64(&at);
    s->known = next64(&at);
    s->cost_ns = next64(&at);
    for (int d = 0; d < ORACLE_DISTANCES; d++) {
        at += 8; /* the distance */
        s->at[d].predictions = next64(&at);
        s->at[d].hits = next64(&at);
        s->at[d].unknown = next64(&at);
        s->at[d].brier = next_double(&at);
        for (int i = 0; i < ORACLE_DECILES; i++)
            s->at[d].answers[i] = next64(&at);
        for (int i = 0; i < ORACLE_DECILES; i++)
            s->at[d].right[i] = next64(&at);
    }
    for (int i = 0; i < ORACLE_TIME_BUCKETS; i++)
        s->time_error[i] = next64(&at);
    if (peers) {
        s->peers.asked = next64(&at);
        s->peers.foretold = next64(&at);
        s->peers.right = next64(&at);
    }
}

enum { SCORE_PEERS = 8 * 3, SCORE_SIZE = 8 * (3 + ORACLE_DISTANCES * (5 + 2 * ORACLE_DECILES) + ORACLE_TIME_BUCKETS) };

/* The score of a Pythia that measured something else is of no use: as if it were not there. */
static void unpack_oracle(struct reader *r)
{
    const struct merge_section *s = &r->in.section[SECTION_ORACLE];
    const unsigned char *at = s->data;
    struct job_oracle *o = &r->job->oracle;
    uint64_t size = 48 + (uint64_t)SCORE_SIZE;
    if (!at || (s->size != size && s->size != size + SCORE_PEERS) || format_get32(at) != ORACLE_DISTANCES ||
        format_get32(at + 4) != ORACLE_DECILES || format_get32(at + 8) != ORACLE_TIME_BUCKETS)
        return;
    o->present = 1;
    o->ranks = format_get32(at + 12);
    o->actions = format_get64(at + 16);
    o->gain_seconds = get_double(at + 24);
    o->cost_seconds = get_double(at + 32);
    o->wall_ns = format_get64(at + 40);
    unpack_score(at + 48, s->size > size, &o->score);
}

static int unpack_regions(struct reader *r)
{
    uint32_t n = r->in.section[SECTION_REGIONS].data ? count_of(r, SECTION_REGIONS) : 0;
    if (merge_room(&r->job->regions, &r->job->index->region_room, n, sizeof *r->job->regions))
        return no_memory(r);
    for (uint32_t i = 0; i < n; i++)
        merge_region_unpack(at_record(r, SECTION_REGIONS, i, RECORD_REGION), &r->job->regions[i]);
    r->job->region_count = n;
    return 0;
}

static int unpack_tasks(struct reader *r)
{
    uint32_t n = count_of(r, SECTION_TASKS);
    if (n && job_task_room(r->job, n))
        return no_memory(r);
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *at = at_record(r, SECTION_TASKS, i, RECORD_TASK);
        struct job_task *t = &r->job->tasks[i];
        uint64_t *const wide[] = { &t->created, &t->at_once, &t->undeferred, &t->loops, &t->timed, &t->time_ns,
                                   &t->min_ns, &t->max_ns, &t->wait_ns, &t->subtree_ns, &t->cost_ns };
        t->callsite = format_get32(at);
        t->depth = format_get32(at + 4);
        for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
            *wide[k] = format_get64(at + 8 + 8 * k);
    }
    r->job->task_count = n;
    return 0;
}

static int unpack_machine(struct reader *r)
{
    const unsigned char *at = r->in.section[SECTION_MACHINE].data;
    struct job_machine *m = &r->job->machine;
    if (count_of(r, SECTION_MACHINE) > 1)
        return REFUSE(r, "damaged: several machines");
    if (!at || count_of(r, SECTION_MACHINE) == 0)
        return 0;
    m->present = true;
    m->joules = get_double(at);
    m->nodes = format_get32(at + 8);
    m->tree = format_get32(at + 12);
    m->energy = format_get32(at + 16);
    return 0;
}

static int check_counts(struct reader *r)
{
    if (r->in.section[SECTION_INFO].count != 1)
        return REFUSE(r, "damaged: %llu info records", (unsigned long long)r->in.section[SECTION_INFO].count);
    for (uint32_t type = SECTION_STRINGS; type < SECTION_TYPES; type++)
        if (type != SECTION_ORACLE && r->in.section[type].count > MERGE_LIMIT)
            return REFUSE(r, "damaged: too many %s", merge_section_name(type));
    return 0;
}

static int unpack_all(struct reader *r)
{
    static int (*const part[])(struct reader *) = { check_counts,     unpack_strings,   unpack_modules, unpack_callsites,
                                                    unpack_comms,     unpack_terminals, unpack_classes, unpack_streams,
                                                    unpack_sums,      unpack_regions, unpack_tasks,
                                                    unpack_machine };
    int error = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part && !error; i++)
        error = part[i](r);
    if (error)
        return error;
    unpack_info(r);
    unpack_oracle(r);
    return merge_check(r->job, 1, r->why, r->why_size);
}

int job_unpack(const void *data, size_t size, struct job **j, char *why, size_t why_size)
{
    struct reader r = { .why = why, .why_size = why_size };
    int error = merge_container_open(&r.in, data, size, why, why_size);
    if (error)
        return error;
    r.job = job_create();
    error = r.job ? unpack_all(&r) : no_memory(&r);
    free(r.local);
    merge_container_close(&r.in);
    if (error)
        job_destroy(r.job);
    else
        *j = r.job;
    return error;
}
