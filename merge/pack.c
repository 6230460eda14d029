/* SPDX-License-Identifier: MIT */
/*
 * A job as bytes (doc/FORMAT.md). Sections are built one by one, compressed where that pays, and put together.
 *
 * Rules of all classes go into one store: a body is written once, whoever uses it. Its identity is its Merkle hash, so
 * the bodies below it are the same too. A class is then a list of places in the store, in its canonical order.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "pythia.h"
#include "merge/class.h"
#include "merge/container.h"
#include "merge/intern.h"
#include "merge/times.h"

enum { LEVEL = 3, SMALL = 128 };

struct buffer {
    unsigned char *data;
    size_t size, room;
};

struct section {
    struct buffer raw;
    uint64_t count;
    uint64_t raw_size; /* before it was compressed */
    uint32_t flags;    /* ENTRY_ZSTD or ENTRY_BLOCKS, where it is */
};

struct packer {
    const struct job *job;
    const uint8_t *known;
    bool file;
    bool timeless; /* statistics of a strange file, of which no times can be told */
    struct section section[SECTION_TYPES];
    struct merge_table store; /* hash of a rule -> its place among SECTION_RULES */
    int error;
};

/* `size` more bytes at the end of a section, zeroed; NULL (and the packer's error) when out of memory. */
static unsigned char *grow(struct packer *p, enum format_section type, size_t size)
{
    struct buffer *b = &p->section[type].raw;
    if (p->error)
        return NULL;
    if (!b->data || b->room - b->size < size) {
        size_t room = b->room * 2 > b->size + size ? b->room * 2 : b->size + size + 64;
        unsigned char *bigger = realloc(b->data, room);
        if (!bigger) {
            p->error = PYTHIA_ENOMEM;
            return NULL;
        }
        b->data = bigger;
        b->room = room;
    }
    unsigned char *at = b->data + b->size;
    memset(at, 0, size);
    b->size += size;
    return at;
}

/* The next record of a section. */
static unsigned char *record(struct packer *p, enum format_section type, size_t size)
{
    unsigned char *at = grow(p, type, size);
    if (at)
        p->section[type].count++;
    return at;
}

static void put_double(unsigned char *at, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    format_put64(at, bits);
}

static void put32s(unsigned char *at, const uint32_t *v, int n)
{
    for (int i = 0; i < n; i++)
        format_put32(at + 4 * i, v[i]);
}

/* --- Definitions --- */

static void pack_info(struct packer *p)
{
    const struct job_info *f = &p->job->info;
    const uint32_t words[] = { f->program, f->program_id, f->arguments, f->mpi, f->ranks, f->threads, f->missing, f->runs, f->block, 0 };
    unsigned char *at = record(p, SECTION_INFO, RECORD_INFO);
    if (!at)
        return;
    put32s(at, words, 10);
    format_put64(at + 40, f->wall_ns);
    format_put64(at + 48, f->start_time);
}

static void pack_strings(struct packer *p)
{
    const struct job *j = p->job;
    size_t size = 4 * (size_t)j->string_count, at = size;
    for (uint32_t i = 0; i < j->string_count; i++)
        size += strlen(j->strings[i]) + 1;
    if (size > UINT32_MAX)
        p->error = PYTHIA_ELIMIT;
    unsigned char *bytes = grow(p, SECTION_STRINGS, size);
    if (!bytes)
        return;
    for (uint32_t i = 0; i < j->string_count; i++) {
        size_t length = strlen(j->strings[i]) + 1;
        format_put32(bytes + 4 * (size_t)i, (uint32_t)at);
        memcpy(bytes + at, j->strings[i], length);
        at += length;
    }
    p->section[SECTION_STRINGS].count = j->string_count;
}

static void pack_places(struct packer *p)
{
    const struct job *j = p->job;
    unsigned char *at;
    for (uint32_t i = 0; i < j->module_count && (at = record(p, SECTION_MODULES, RECORD_MODULE)); i++)
        put32s(at, (const uint32_t[]){ j->modules[i].path, j->modules[i].build_id }, 2);
    for (uint32_t i = 0; i < j->frame_count && (at = record(p, SECTION_FRAMES, RECORD_FRAME)); i++) {
        format_put32(at, j->frames[i].module);
        format_put64(at + 8, j->frames[i].offset);
    }
    for (uint32_t i = 0; i < j->callsite_count && (at = record(p, SECTION_CALLSITES, RECORD_CALLSITE)); i++)
        put32s(at, (const uint32_t[]){ j->callsites[i].first, j->callsites[i].count }, 2);
    for (uint32_t i = 0; i < j->comm_count && (at = record(p, SECTION_COMMS, RECORD_COMM)); i++)
        put32s(at, (const uint32_t[]){ j->comms[i].name, j->comms[i].size }, 2);
}

static void pack_terminals(struct packer *p)
{
    for (uint32_t i = 0; i < p->job->terminal_count; i++) {
        const struct job_terminal *t = &p->job->terminals[i];
        unsigned char *at = record(p, SECTION_TERMINALS, RECORD_TERMINAL);
        if (!at)
            return;
        at[0] = t->kind;
        at[1] = t->phase;
        at[2] = t->call_class;
        at[3] = t->peer_class;
        at[4] = t->blocking;
        put32s(at + 8, (const uint32_t[]){ t->function, t->callsite, t->comm }, 3);
    }
}

/* --- Rules --- */

static void pack_body(struct packer *p, const struct grammar_flat *g, uint32_t rule, const struct grammar_hash *hash)
{
    unsigned char *at;
    for (uint32_t i = 0; i < g->rules[rule].length && (at = record(p, SECTION_NODES, RECORD_NODE)); i++) {
        const struct grammar_flat_node *n = &g->nodes[g->rules[rule].first + i];
        uint32_t symbol = n->symbol;
        if (grammar_is_rule(symbol))
            symbol = GRAMMAR_RULE | merge_table_find(&p->store, hash[symbol & ~GRAMMAR_RULE]);
        format_put32(at, symbol);
        format_put64(at + 8, n->exponent);
    }
}

/* Names every rule of the class first, new ones too: a body may use a rule that comes later. */
static void name_rules(struct packer *p, const struct grammar_flat *g, const struct grammar_hash *hash, uint32_t *place)
{
    uint32_t stored = (uint32_t)p->section[SECTION_RULES].count;
    p->error = merge_table_reserve(&p->store, g->rule_count);
    for (uint32_t r = 0; r < g->rule_count && !p->error; r++) {
        place[r] = merge_table_find(&p->store, hash[r]);
        if (place[r] == GRAMMAR_NONE)
            merge_table_put(&p->store, hash[r], place[r] = stored++);
    }
}

static void pack_rules(struct packer *p, const struct grammar_flat *g)
{
    struct grammar_hash *hash = calloc((size_t)g->rule_count + 1, sizeof *hash);
    uint32_t *place = calloc((size_t)g->rule_count + 1, sizeof *place);
    unsigned char *at;
    if (!hash || !place) {
        p->error = PYTHIA_ENOMEM;
    } else {
        if (merge_hash_none(grammar_flat_hash(g, p->job->terminal_hash, hash)))
            p->error = PYTHIA_ENOMEM;
        else
            name_rules(p, g, hash, place);
    }
    for (uint32_t r = 0; !p->error && r < g->rule_count; r++) {
        if ((at = record(p, SECTION_CLASS_RULES, RECORD_CLASS_RULE)))
            format_put32(at, place[r]);
        if (place[r] != p->section[SECTION_RULES].count || !(at = record(p, SECTION_RULES, RECORD_RULE)))
            continue; /* its body is there already */
        put32s(at, (const uint32_t[]){ (uint32_t)p->section[SECTION_NODES].count, g->rules[r].length }, 2);
        pack_body(p, g, r, hash);
    }
    free(hash);
    free(place);
}

/* --- Classes --- */

static void put_moments(unsigned char *at, const struct grammar_moments *m)
{
    format_put64(at, m->sum);
    format_put64(at + 8, m->min);
    format_put64(at + 16, m->max);
    put_double(at + 24, m->square);
}

/* Of the blocks that begin in this class. */
static void pack_times(struct packer *p, const struct grammar_flat *g)
{
    uint64_t first = p->section[SECTION_STATS].count % BLOCK_STATS; /* in the block that it begins in */
    uint64_t blocks = (first + g->node_count + BLOCK_STATS - 1) / BLOCK_STATS;
    struct grammar_time *times = calloc((size_t)blocks + 1, sizeof *times);
    unsigned char *at;
    if (!times)
        p->error = PYTHIA_ENOMEM;
    else
        merge_times_fill(g, first, BLOCK_STATS, times);
    for (uint64_t k = first != 0; k < blocks && !p->error && (at = record(p, SECTION_TIMES, RECORD_TIME)); k++) {
        p->timeless |= !merge_times_sane(&times[k]);
        put_double(at, times[k].gap);
        put_double(at + 8, times[k].duration);
        put_double(at + 16, times[k].variance);
    }
    free(times);
}

static void pack_stats(struct packer *p, const struct job_class_entry *c)
{
    const struct grammar_flat *g = c->grammar;
    unsigned char *at;
    pack_times(p, g);
    for (uint32_t n = 0; n < g->node_count && (at = record(p, SECTION_STATS, RECORD_STATS)); n++) {
        const struct grammar_stats *s = &g->stats[n];
        format_put64(at, s->count);
        put_moments(at + 8, &s->gap);
        put_moments(at + 40, &s->duration);
        format_put64(at + 72, c->spread[n].min);
        format_put64(at + 80, c->spread[n].max);
        put32s(at + 88, (const uint32_t[]){ c->spread[n].min_rank, c->spread[n].max_rank }, 2);
        format_put64(at + 96, c->spread[n].call_min);
        format_put64(at + 104, c->spread[n].call_max);
        put32s(at + 112, (const uint32_t[]){ c->spread[n].call_min_rank, c->spread[n].call_max_rank }, 2);
        put_double(at + 120, c->spread[n].call_square);
    }
}

static void pack_ranges(struct packer *p, const struct job_class_entry *c)
{
    unsigned char *at;
    for (uint32_t i = 0; i < c->range_count && (at = record(p, SECTION_RANGES, RECORD_RANGE)); i++) {
        const struct job_range *r = &c->ranges[i];
        put32s(at, (const uint32_t[]){ r->first, r->count, r->stride, r->thread, r->rows, r->row_stride, r->planes, r->plane_stride }, 8);
    }
}

/* The part of a model that depends on its kind, 96 bytes. */
static void put_values(unsigned char *at, const struct grammar_attr *a)
{
    if (a->kind == GRAMMAR_ATTR_RAMP) {
        format_put64(at, (uint64_t)a->ramp.base);
        format_put64(at + 8, (uint64_t)a->ramp.step);
    }
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_LIST && i < a->length; i++)
        format_put64(at + 8 * i, (uint64_t)a->list[i]);
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_KEYED && i < a->length; i++) {
        format_put64(at + 24 * i, (uint64_t)a->key[i].value);
        format_put64(at + 24 * i + 8, a->key[i].count);
        format_put64(at + 24 * i + 16, a->key[i].sum);
    }
}

static void put_attr(unsigned char *at, const struct grammar_attr *a)
{
    at[0] = a->channel;
    at[1] = a->kind;
    at[2] = (unsigned char)a->length;
    format_put32(at + 4, a->period);
    format_put64(at + 8, a->count);
    format_put64(at + 16, a->first);
    format_put64(at + 24, a->last);
    format_put64(at + 32, (uint64_t)a->min);
    format_put64(at + 40, (uint64_t)a->max);
    format_put64(at + 48, (uint64_t)a->sum);
    put_values(at + 56, a);
}

static void pack_variants(struct packer *p, const struct job_class_entry *c)
{
    unsigned char *at;
    for (uint32_t i = 0; i < c->variant_count && (at = record(p, SECTION_VARIANTS, RECORD_VARIANT)); i++) {
        const struct job_variant *v = &c->variants[i];
        put32s(at, (const uint32_t[]){ v->node, v->relations, v->sample_rank, v->modulus, v->range_first, v->range_count }, 6);
        put_attr(at + 24, &v->attr);
    }
}

static void pack_class(struct packer *p, uint32_t number)
{
    const struct job_class_entry *c = &p->job->classes[number];
    int body = !merge_class_bodiless(c) && !(p->known && p->known[number]);
    const uint32_t words[] = { body ? CLASS_BODY : 0,
                               (uint32_t)p->section[SECTION_CLASS_RULES].count,
                               body ? c->grammar->rule_count : 0,
                               (uint32_t)p->section[SECTION_STATS].count,
                               c->grammar->node_count,
                               (uint32_t)p->section[SECTION_RANGES].count,
                               c->range_count,
                               c->member_ranges,
                               (uint32_t)p->section[SECTION_VARIANTS].count,
                               c->variant_count };
    unsigned char *at = record(p, SECTION_CLASSES, RECORD_CLASS);
    if (!at)
        return;
    format_put64(at, c->hash.low);
    format_put64(at + 8, c->hash.high);
    put32s(at + 16, words, 10);
    if (body)
        pack_rules(p, c->grammar);
    pack_stats(p, c);
    pack_ranges(p, c);
    pack_variants(p, c);
    for (int type = SECTION_RULES; type <= SECTION_VARIANTS; type++)
        if (p->section[type].count > MERGE_LIMIT)
            p->error = PYTHIA_ELIMIT;
}

/* --- Streams: by columns, which compress better; ranks as differences; sums as mean and remainder --- */

enum { SUMS = 7, EXACT = 2 /* the first of them: events, lost */, WORDS = 4 };

/* A file has no use for the remainder of a block's times, and noise does not compress: it is 0 there. */
static uint32_t remainder_of(const struct packer *p, const struct job_stream *s, uint64_t sum, size_t column)
{
    return p->file && column >= EXACT ? 0 : (uint32_t)(sum % s->count);
}

static void pack_streams(struct packer *p)
{
    const struct job *j = p->job;
    size_t n = j->stream_count;
    unsigned char *at = grow(p, SECTION_STREAMS, n * RECORD_STREAM), *rest = at + n * 8 * SUMS, *words = rest + n * 4 * SUMS;
    if (!at)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct job_stream *s = &j->streams[i];
        const uint64_t wide[SUMS] = { s->events, s->lost, s->begin_ns, s->wall_ns, s->mpi_ns, s->omp_ns, s->cost_ns };
        const uint32_t narrow[WORDS] = { s->rank - (i ? s[-1].rank : 0), s->thread, s->class_index, s->count };
        for (size_t k = 0; k < SUMS; k++) {
            format_put64(at + 8 * (k * n + i), wide[k] / s->count);
            format_put32(rest + 4 * (k * n + i), remainder_of(p, s, wide[k], k));
        }
        for (size_t k = 0; k < WORDS; k++)
            format_put32(words + 4 * (k * n + i), narrow[k]);
    }
    p->section[SECTION_STREAMS].count = n;
}

/* --- The oracle's record --- */

static void put_next(struct packer *p, uint64_t v)
{
    unsigned char *at = grow(p, SECTION_ORACLE, 8);
    if (at)
        format_put64(at, v);
}

static void put_next_double(struct packer *p, double v)
{
    unsigned char *at = grow(p, SECTION_ORACLE, 8);
    if (at)
        put_double(at, v);
}

static void pack_score(struct packer *p, const struct oracle_score *s)
{
    put_next(p, s->events);
    put_next(p, s->known);
    put_next(p, s->cost_ns);
    for (int d = 0; d < ORACLE_DISTANCES; d++) {
        put_next(p, oracle_score_distances[d]);
        put_next(p, s->at[d].predictions);
        put_next(p, s->at[d].hits);
        put_next(p, s->at[d].unknown);
        put_next_double(p, s->at[d].brier);
        for (int i = 0; i < ORACLE_DECILES; i++)
            put_next(p, s->at[d].answers[i]);
        for (int i = 0; i < ORACLE_DECILES; i++)
            put_next(p, s->at[d].right[i]);
    }
    for (int i = 0; i < ORACLE_TIME_BUCKETS; i++)
        put_next(p, s->time_error[i]);
    put_next(p, s->peers.asked);
    put_next(p, s->peers.foretold);
    put_next(p, s->peers.right);
}

static void pack_oracle(struct packer *p)
{
    const struct job_oracle *o = &p->job->oracle;
    if (!o->present)
        return;
    unsigned char *at = record(p, SECTION_ORACLE, 16);
    if (at)
        put32s(at, (const uint32_t[]){ ORACLE_DISTANCES, ORACLE_DECILES, ORACLE_TIME_BUCKETS, o->ranks }, 4);
    put_next(p, o->actions);
    put_next_double(p, o->gain_seconds);
    put_next_double(p, o->cost_seconds);
    put_next(p, o->wall_ns);
    pack_score(p, &o->score);
}

static void pack_sums(struct packer *p)
{
    unsigned char *at;
    for (uint32_t i = 0; i < p->job->sum_count && (at = record(p, SECTION_SUMS, RECORD_SUM)); i++) {
        const struct job_sum *s = &p->job->sums[i];
        put32s(at, (const uint32_t[]){ s->terminal, s->name }, 2);
        format_put64(at + 8, s->count.samples);
        format_put64(at + 16, s->count.total);
    }
}

static void pack_regions(struct packer *p)
{
    for (uint32_t i = 0; i < p->job->region_count; i++) {
        unsigned char *at = record(p, SECTION_REGIONS, RECORD_REGION);
        if (at)
            merge_region_pack(&p->job->regions[i], at);
    }
}

/* --- Tasks --- */

static void pack_tasks(struct packer *p)
{
    unsigned char *at;
    for (uint32_t i = 0; i < p->job->task_count && (at = record(p, SECTION_TASKS, RECORD_TASK)); i++) {
        const struct job_task *t = &p->job->tasks[i];
        const uint64_t wide[] = { t->created, t->at_once, t->undeferred, t->loops, t->timed, t->time_ns,
                                  t->min_ns, t->max_ns, t->wait_ns, t->subtree_ns, t->cost_ns };
        put32s(at, (const uint32_t[]){ t->callsite, t->depth }, 2);
        for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
            format_put64(at + 8 + 8 * k, wide[k]);
    }
}

static void pack_machine(struct packer *p)
{
    const struct job_machine *m = &p->job->machine;
    unsigned char *at = m->present ? record(p, SECTION_MACHINE, RECORD_MACHINE) : NULL;
    if (!at)
        return;
    put_double(at, m->joules);
    put32s(at + 8, (const uint32_t[]){ m->nodes, m->tree, m->energy }, 3);
}

/* --- The whole --- */

/* Optional sections are there when they have something to say. */
static int present(const struct packer *p, uint32_t type)
{
    return type < SECTION_ORACLE || p->section[type].count;
}

/* Sections of which a reader may want a part: records a block. */
static const struct { uint32_t record, block; } in_blocks[SECTION_TYPES] = {
    [SECTION_NODES] = { RECORD_NODE, BLOCK_NODES },
    [SECTION_STATS] = { RECORD_STATS, BLOCK_STATS },
    [SECTION_RANGES] = { RECORD_RANGE, BLOCK_RANGES },
    [SECTION_VARIANTS] = { RECORD_VARIANT, BLOCK_VARIANTS },
};

static void replace(struct section *s, unsigned char *packed, size_t size, uint32_t flag)
{
    free(s->raw.data);
    s->raw.data = packed;
    s->raw.size = size;
    s->flags = flag;
}

static void compress_blocks(struct packer *p, enum format_section type)
{
    struct section *s = &p->section[type];
    unsigned char *packed;
    size_t size;
    int status = merge_blocks_pack(s->raw.data, s->count, in_blocks[type].record, in_blocks[type].block, &packed, &size);
    if (status < 0)
        p->error = status;
    else if (status == 0)
        replace(s, packed, size, ENTRY_BLOCKS);
}

/* Compresses a section where that saves an eighth. A reader refuses what grows beyond the ratio, so nothing does. */
static void compress_section(struct packer *p, enum format_section type)
{
    struct section *s = &p->section[type];
    size_t bound = ZSTD_compressBound(s->raw.size);
    s->raw_size = s->raw.size;
    if (p->error || s->raw.size < SMALL)
        return;
    if (in_blocks[type].record) {
        compress_blocks(p, type);
        return;
    }
    unsigned char *packed = malloc(bound);
    if (!packed) {
        p->error = PYTHIA_ENOMEM;
        return;
    }
    size_t size = ZSTD_compress(packed, bound, s->raw.data, s->raw.size, LEVEL);
    if (ZSTD_isError(size) || size > s->raw.size - s->raw.size / 8 ||
        s->raw.size > size * (size_t)FORMAT_RATIO_MAX + FORMAT_RATIO_SLACK) {
        free(packed);
        return;
    }
    replace(s, packed, size, ENTRY_ZSTD);
}

static size_t aligned(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static void put_entry(unsigned char *at, int type, const struct section *s, size_t offset)
{
    format_put32(at + ENTRY_TYPE, (uint32_t)type);
    format_put32(at + ENTRY_FLAGS, s->flags | (type >= SECTION_ORACLE ? ENTRY_OPTIONAL : 0));
    format_put64(at + ENTRY_OFFSET, offset);
    format_put64(at + ENTRY_STORED, s->raw.size);
    format_put64(at + ENTRY_RAW, s->raw_size);
    size_t vouched = s->flags & ENTRY_BLOCKS ? (size_t)merge_blocks_head(s->raw.data, s->raw.size) : s->raw.size;
    format_put64(at + ENTRY_CHECKSUM, XXH64(s->raw.data, vouched, 0));
    format_put64(at + ENTRY_COUNT, s->count);
}

static int assemble(struct packer *p, void **data, size_t *size)
{
    uint32_t sections = 0;
    size_t whole = 0;
    for (uint32_t type = 1; type < SECTION_TYPES; type++) {
        sections += present(p, type) ? 1 : 0;
        whole += present(p, type) ? aligned(p->section[type].raw.size) : 0;
    }
    size_t entry = FORMAT_HEADER, table = FORMAT_HEADER + (size_t)sections * FORMAT_ENTRY, offset = table;
    whole += table;
    unsigned char *bytes = calloc(1, whole);
    if (!bytes)
        return PYTHIA_ENOMEM;
    for (uint32_t type = 1; type < SECTION_TYPES; type++) {
        const struct section *s = &p->section[type];
        if (!present(p, type))
            continue;
        put_entry(bytes + entry, (int)type, s, offset);
        entry += FORMAT_ENTRY;
        if (s->raw.size)
            memcpy(bytes + offset, s->raw.data, s->raw.size);
        offset += aligned(s->raw.size);
    }
    memcpy(bytes, FORMAT_MAGIC, 8);
    format_put32(bytes + HEADER_VERSION, FORMAT_VERSION);
    format_put32(bytes + HEADER_SECTIONS, sections);
    format_put64(bytes + HEADER_SIZE, whole);
    format_put64(bytes + HEADER_CHECKSUM, XXH64(bytes, table, 0)); /* computed while its own field is 0 */
    *data = bytes;
    *size = whole;
    return 0;
}

static int pack(const struct job *j, const uint8_t *known, bool file, void **data, size_t *size)
{
    struct packer p = { .job = j, .known = known, .file = file };
    pack_info(&p);
    pack_strings(&p);
    pack_places(&p);
    pack_terminals(&p);
    for (uint32_t i = 0; i < j->class_count && !p.error; i++)
        pack_class(&p, i);
    pack_streams(&p);
    pack_oracle(&p);
    pack_sums(&p);
    pack_regions(&p);
    pack_tasks(&p);
    pack_machine(&p);
    for (int type = 1; type < SECTION_TYPES; type++)
        compress_section(&p, (enum format_section)type);
    if (p.section[SECTION_STATS].flags != ENTRY_BLOCKS || p.timeless)
        p.section[SECTION_TIMES].count = 0;
    int error = p.error ? p.error : assemble(&p, data, size);
    for (int type = 1; type < SECTION_TYPES; type++)
        free(p.section[type].raw.data);
    merge_table_free(&p.store);
    return error;
}

int job_pack(const struct job *j, const uint8_t *known, void **data, size_t *size)
{
    return pack(j, known, false, data, size);
}

int merge_pack_file(const struct job *j, void **data, size_t *size)
{
    return pack(j, NULL, true, data, size);
}
