/* SPDX-License-Identifier: MIT */
/* Classes out of hostile bytes: rules of the store, statistics, ranges, variants. */
#include "file/unpack.h"

#include <stdlib.h>

#include "file/table.h"
#include "file/values.h"
#include "pythia.h"
#include "job/class.h"
#include "job/intern.h"
#include "job/ranges.h"

/* --- Rules --- */

struct file_body { uint32_t first, length; };

static struct file_body body_of(const struct file_reader *r, uint32_t place)
{
    const unsigned char *at = file_reader_at(r, SECTION_RULES, place, RECORD_RULE);
    return (struct file_body){ file_get32(at), file_get32(at + 4) };
}

/* The store: bodies follow one another. */
static int check_store(struct file_reader *r)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < file_reader_count(r, SECTION_RULES); i++) {
        struct file_body b = body_of(r, i);
        if (b.first != next)
            return REFUSE(r, "damaged: rule %u of the store", i);
        next += b.length;
    }
    return next == r->in.section[SECTION_NODES].count ? 0 : REFUSE(r, "damaged: nodes of no rule");
}

static int fits(const struct file_reader *r, enum file_section_type type, uint64_t first, uint64_t count,
                uint64_t expected)
{
    return first == expected && count <= r->in.section[type].count - first;
}

/* Class parts stand in order: `next` is where this one's must begin, and is moved on. */
static int check_parts(struct file_reader *r, uint32_t i, const struct file_parts *p, struct file_parts *next)
{
    if (!fits(r, SECTION_CLASS_RULES, p->rule_first, p->rules, next->rule_first) ||
        !fits(r, SECTION_STATS, p->stats_first, p->nodes, next->stats_first) ||
        !fits(r, SECTION_RANGES, p->range_first, p->ranges, next->range_first) ||
        !fits(r, SECTION_VARIANTS, p->variant_first, p->variants, next->variant_first) ||
        !fits(r, SECTION_TURNS, p->turn_first, p->turns, next->turn_first) ||
        p->column_first > r->in.section[SECTION_COLUMNS].count || p->column_first < next->column_first ||
        (i == 0 && p->column_first))
        return REFUSE(r, "damaged: parts of class %u are not where they should be", i);
    if ((p->flags & ~(uint32_t)CLASS_BODY) || !(p->flags & CLASS_BODY) != !p->rules || !p->member_ranges ||
        p->member_ranges > p->ranges)
        return REFUSE(r, "damaged: class %u", i);
    next->rule_first += p->rules;
    next->stats_first += p->nodes;
    next->range_first += p->ranges;
    next->variant_first += p->variants;
    next->turn_first += p->turns;
    next->column_first = p->column_first;
    return 0;
}

static uint32_t class_rule(const struct file_reader *r, const struct file_parts *p, uint32_t k)
{
    return file_get32(file_reader_at(r, SECTION_CLASS_RULES, p->rule_first + k, RECORD_CLASS_RULE));
}

/* Numbers the class's rules; what was numbered is taken back by forget_rules. */
static int number_rules(struct file_reader *r, uint32_t i, const struct file_parts *p)
{
    uint64_t nodes = 0;
    for (uint32_t k = 0; k < p->rules; k++) {
        uint32_t place = class_rule(r, p, k);
        if (place >= file_reader_count(r, SECTION_RULES) || r->local[place] != GRAMMAR_NONE)
            return REFUSE(r, "damaged: rule %u of class %u", k, i);
        r->local[place] = k;
        nodes += body_of(r, place).length;
    }
    return !p->rules || nodes == p->nodes ? 0 : REFUSE(r, "damaged: class %u has %llu nodes, statistics for %u", i,
                                                       (unsigned long long)nodes, p->nodes);
}

static void forget_rules(struct file_reader *r, const struct file_parts *p)
{
    for (uint32_t k = 0; k < p->rules; k++) {
        uint32_t place = class_rule(r, p, k);
        if (place < file_reader_count(r, SECTION_RULES))
            r->local[place] = GRAMMAR_NONE;
    }
}

/* --- Nodes, wherever they are --- */

/* The nodes of one class. Of a section in blocks one block is at hand, as long as they come one after the other; a
   class that goes back, to rules that it shares, gets what it needs into the section's own memory: no block is opened
   three times. */
struct nodes {
    struct file_reader *reader;
    const unsigned char *block; /* by columns; NULL: none */
    uint64_t first;             /* its first node */
    uint32_t length;
    bool back;
};

static int open_block(struct nodes *c, uint64_t n)
{
    struct file_section *s = &c->reader->in.section[SECTION_NODES];
    uint32_t i = (uint32_t)(n / s->blocks.per);
    c->back |= c->block && n < c->first;
    if (c->back)
        return file_container_need(&c->reader->in, SECTION_NODES, n, 1);
    c->block = file_container_block(&c->reader->in, SECTION_NODES, i);
    c->first = (uint64_t)i * s->blocks.per;
    c->length = file_blocks_length(&s->blocks, i);
    return c->block ? 0 : PYTHIA_EFORMAT;
}

/* The node with number `n` of the section: where its two words are. */
static int unpack_class_find_node(struct nodes *c, uint64_t n, const unsigned char **symbol,
                                  const unsigned char **exponent)
{
    struct file_section *s = &c->reader->in.section[SECTION_NODES];
    bool elsewhere = s->in_blocks && !s->ready[n / s->blocks.per];
    if (elsewhere && (c->back || !c->block || n < c->first || n - c->first >= c->length) && open_block(c, n))
        return REFUSE(c->reader, "damaged: checksum of section %s is wrong", file_section_name(SECTION_NODES));
    if (elsewhere && !c->back) {
        *symbol = c->block + 8 * (n - c->first);
        *exponent = *symbol + 8 * (size_t)c->length;
    } else {
        *symbol = file_reader_at(c->reader, SECTION_NODES, n, RECORD_NODE);
        *exponent = *symbol + 8;
    }
    return 0;
}

static int unpack_node(struct file_reader *r, uint32_t i, const unsigned char *symbol, const unsigned char *exponent,
                       struct grammar_flat_node *n)
{
    n->symbol = file_get32(symbol);
    n->exponent = file_get64(exponent);
    if (grammar_is_rule(n->symbol)) {
        uint32_t place = n->symbol & ~GRAMMAR_RULE;
        if (place >= file_reader_count(r, SECTION_RULES) || r->local[place] == GRAMMAR_NONE)
            return REFUSE(r, "damaged: class %u uses a rule that it does not list", i);
        n->symbol = GRAMMAR_RULE | r->local[place];
    }
    return file_get32(symbol + 4) ? REFUSE(r, "damaged: class %u: a node's reserved field", i) : 0;
}

static int unpack_rules(struct file_reader *r, uint32_t i, const struct file_parts *p, struct grammar_flat *g)
{
    struct nodes nodes = { .reader = r };
    const unsigned char *symbol = NULL, *exponent = NULL;
    uint32_t node = 0;
    int error = number_rules(r, i, p);
    for (uint32_t k = 0; k < p->rules && !error; k++) {
        struct file_body b = body_of(r, class_rule(r, p, k));
        g->rules[k] = (struct grammar_flat_rule){ node, b.length };
        for (uint32_t n = 0; n < b.length && !error; n++) {
            error = unpack_class_find_node(&nodes, (uint64_t)b.first + n, &symbol, &exponent);
            error = error ?: unpack_node(r, i, symbol, exponent, &g->nodes[node++]);
        }
    }
    forget_rules(r, p);
    return error;
}

/* --- Statistics, ranges, variants --- */

enum { STATS_SPREAD = 72 }; /* bytes of a record before the spread */

void file_unpack_ranges(struct file_reader *r, const struct file_parts *p, uint32_t first, uint32_t count,
                         struct job_range *ranges)
{
    for (uint32_t i = 0; i < count; i++)
        file_record_get(&file_record_range, &ranges[i],
                        file_reader_at(r, SECTION_RANGES, (uint64_t)p->range_first + first + i, RECORD_RANGE), 8);
}

static int unpack_variants(struct file_reader *r, uint32_t i, const struct file_parts *p, struct job_variant *variants)
{
    for (uint32_t k = 0; k < p->variants; k++) {
        struct job_variant *v = &variants[k];
        *v = (struct job_variant){ 0 };
        file_record_get(&file_record_variant, v,
                        file_reader_at(r, SECTION_VARIANTS, (uint64_t)p->variant_first + k, RECORD_VARIANT), 8);
        if (v->node >= p->nodes || v->attr.channel >= GRAMMAR_CHANNELS)
            return REFUSE(r, "damaged: variant %u of class %u", k, i);
        file_attr_enter(r->job, &v->attr);
    }
    return 0;
}

/* --- Exponents that differ --- */

/* The columns of a class end where those of the next one begin: no byte is in two of them. */
static int unpack_column(struct file_reader *r, uint32_t i, uint32_t width, uint64_t members, uint64_t *at,
                         uint64_t end, struct job_class *c)
{
    const struct file_section *s = &r->in.section[SECTION_COLUMNS];
    if ((width != 1 && width != 2 && width != 4 && width != 8) || *at > end || members > (end - *at) / width)
        return REFUSE(r, "damaged: columns of class %u", i);
    struct job_column *column = &c->columns[c->column_count];
    *column = (struct job_column){ width, malloc(members * width + 1) };
    if (!column->data)
        return file_reader_no_memory(r);
    memcpy(column->data, s->data + *at, members * width);
    *at += members * width;
    c->column_count++;
    return 0;
}

int file_unpack_turns(struct file_reader *r, uint32_t i, const struct file_parts *p, uint64_t members,
                      struct job_class *c)
{
    bool last = i + 1 == file_reader_count(r, SECTION_CLASSES);
    uint64_t column = p->column_first, end = last ? r->in.section[SECTION_COLUMNS].count : p[1].column_first;
    int error = 0;
    c->turns = calloc((size_t)p->turns + 1, sizeof *c->turns);
    c->columns = calloc((size_t)p->turns + 1, sizeof *c->columns);
    if (!c->turns || !c->columns)
        return file_reader_no_memory(r);
    for (uint32_t k = 0; k < p->turns && !error; k++) {
        struct job_turn *t = &c->turns[c->turn_count++];
        file_record_get(&file_record_turn, t,
                        file_reader_at(r, SECTION_TURNS, (uint64_t)p->turn_first + k, RECORD_TURN), 8);
        uint32_t width = t->column;
        t->column = width ? c->column_count : GRAMMAR_NONE;
        if (t->node >= p->nodes || (k && t->node < t[-1].node))
            error = REFUSE(r, "damaged: exponents of class %u", i);
        else if (width)
            error = unpack_column(r, i, width, members, &column, end, c);
    }
    return !error && column != end ? REFUSE(r, "damaged: columns of class %u", i) : error;
}

/* --- Classes --- */

/* (node, channel) pairs: variants of one are neighbours. */
static uint32_t count_samples(const struct file_reader *r, const struct file_parts *p)
{
    uint32_t samples = 0;
    for (uint32_t k = 0; k < p->variants; k++) {
        const unsigned char *at = file_reader_at(r, SECTION_VARIANTS, p->variant_first + k, RECORD_VARIANT);
        samples += !k || file_get32(at) != file_get32(at - RECORD_VARIANT) || at[24] != *(at - RECORD_VARIANT + 24);
    }
    return samples;
}

static int class_alloc(struct file_reader *r, struct job_class *c, const struct file_parts *p)
{
    c->grammar = grammar_flat_create(p->rules, p->nodes, count_samples(r, p));
    c->spread = calloc((size_t)p->nodes + 1, sizeof *c->spread);
    c->ranges = calloc((size_t)p->ranges + 1, sizeof *c->ranges);
    c->variants = calloc((size_t)p->variants + 1, sizeof *c->variants);
    c->range_count = p->ranges;
    c->member_ranges = p->member_ranges;
    c->variant_count = p->variants;
    return c->grammar && c->spread && c->ranges && c->variants ? 0 : file_reader_no_memory(r);
}

/* Its records of the sections that are read block by block; of nodes it is the rules that know which. */
static int need_records(struct file_reader *r, uint32_t i, const struct file_parts *p)
{
    if (file_container_need(&r->in, SECTION_STATS, p->stats_first, p->nodes) ||
        file_container_need(&r->in, SECTION_RANGES, p->range_first, p->ranges) ||
        file_container_need(&r->in, SECTION_VARIANTS, p->variant_first, p->variants))
        return REFUSE(r, "damaged: checksum of a block of class %u is wrong", i);
    return 0;
}

static int class_length(struct file_reader *r, struct grammar_flat *g)
{
    BASE_OWN uint64_t *length = calloc((size_t)g->rule_count + 1, sizeof *length);
    if (!length)
        return file_reader_no_memory(r);
    /* Only the audit knows whether these rules are sane; what is needed for walking them is checked already: symbols
       are in range, and the walk survives cycles. */
    if (g->rule_count)
        grammar_flat_lengths(g, length);
    g->events = length[0];
    return 0;
}

int file_unpack_hash(struct file_reader *r, uint32_t i, const struct file_parts *p)
{
    struct job_table *t = &r->job->index->table[JOB_INTERNED_CLASS];
    if (job_table_find(t, p->hash) != GRAMMAR_NONE)
        return REFUSE(r, "damaged: class %u stands twice", i);
    job_table_put(t, p->hash, i);
    r->job->classes[i].hash = p->hash;
    return 0;
}

int file_unpack_body(struct file_reader *r, uint32_t i, const struct file_parts *p, struct job_class *c)
{
    int error = need_records(r, i, p);
    error = error ?: class_alloc(r, c, p);
    if (error)
        return error;
    c->grammar->terminals = r->job->terminal_count;
    error = unpack_rules(r, i, p, c->grammar);
    error = error ?: class_length(r, c->grammar);
    error = error ?: unpack_variants(r, i, p, c->variants);
    if (error)
        return error;
    for (uint32_t n = 0; n < p->nodes; n++) {
        const unsigned char *words = file_reader_at(r, SECTION_STATS, p->stats_first + n, RECORD_STATS);
        file_record_get(&file_record_stats, &c->grammar->stats[n], words, 8);
        file_record_get(&file_record_spread, &c->spread[n], words + STATS_SPREAD, 8);
    }
    file_unpack_ranges(r, p, 0, p->ranges, c->ranges);
    return job_class_samples(c) ? REFUSE(r, "damaged: variants of class %u are out of order", i) : 0;
}

int file_unpack_class(struct file_reader *r, uint32_t i, const struct file_parts *p)
{
    struct job_class *c = &r->job->classes[i];
    memset(c, 0, sizeof *c);
    r->job->class_count = i + 1;
    int error = file_unpack_body(r, i, p, c);
    error = error ?: file_unpack_turns(r, i, p, job_ranges_size(c->ranges, c->member_ranges), c);
    return error ?: file_unpack_hash(r, i, p);
}

int file_unpack_parts(struct file_reader *r, struct file_parts **parts)
{
    struct job *j = r->job;
    uint32_t count = file_reader_count(r, SECTION_CLASSES), rules = file_reader_count(r, SECTION_RULES);
    struct file_parts next = { 0 };
    int error = check_store(r);
    *parts = malloc(((size_t)count + 1) * sizeof **parts);
    r->local = malloc(((size_t)rules + 1) * sizeof *r->local);
    if (!error &&
        (!*parts || !r->local || base_array_room(&j->classes, &j->index->class_room, count, sizeof *j->classes) ||
         job_table_reserve(&j->index->table[JOB_INTERNED_CLASS], count)))
        error = file_reader_no_memory(r);
    if (!error)
        memset(r->local, 0xff, rules * sizeof *r->local);
    for (uint32_t i = 0; i < count && !error; i++) {
        file_record_get(&file_record_parts, &(*parts)[i], file_reader_at(r, SECTION_CLASSES, i, RECORD_CLASS), 8);
        error = check_parts(r, i, &(*parts)[i], &next);
    }
    if (!error && (next.rule_first != file_reader_count(r, SECTION_CLASS_RULES) ||
                   next.stats_first != file_reader_count(r, SECTION_STATS) ||
                   next.range_first != file_reader_count(r, SECTION_RANGES) ||
                   next.variant_first != file_reader_count(r, SECTION_VARIANTS) ||
                   next.turn_first != file_reader_count(r, SECTION_TURNS)))
        error = REFUSE(r, "damaged: parts of no class");
    return error;
}
