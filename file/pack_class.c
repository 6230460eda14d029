/* SPDX-License-Identifier: MIT */
/*
 * Classes of a packed job.
 *
 * Rules of all classes go into one store: a body is written once, whoever uses it. Its identity is its Merkle hash, so
 * the bodies below it are the same too. A class is then a list of places in the store, in its canonical order.
 */
#include "file/pack.h"

#include <stdlib.h>

#include "pythia.h"
#include "job/class.h"
#include "job/ranges.h"
#include "file/times.h"

/* --- Rules --- */

static void pack_body(struct file_packer *p, const struct grammar_flat *g, uint32_t rule,
                      const struct grammar_hash *hash)
{
    unsigned char *at;
    for (uint32_t i = 0; i < g->rules[rule].length && (at = file_pack_record(p, SECTION_NODES, RECORD_NODE)); i++) {
        const struct grammar_flat_node *n = &g->nodes[g->rules[rule].first + i];
        uint32_t symbol = n->symbol;
        if (grammar_is_rule(symbol))
            symbol = GRAMMAR_RULE | job_table_find(&p->store, hash[symbol & ~GRAMMAR_RULE]);
        file_put32(at, symbol);
        file_put64(at + 8, n->exponent);
    }
}

/* Names every rule of the class first, new ones too: a body may use a rule that comes later. */
static void name_rules(struct file_packer *p, const struct grammar_flat *g, const struct grammar_hash *hash,
                       uint32_t *place)
{
    uint32_t stored = (uint32_t)p->section[SECTION_RULES].count;
    p->error = job_table_reserve(&p->store, g->rule_count);
    for (uint32_t r = 0; r < g->rule_count && !p->error; r++) {
        place[r] = job_table_find(&p->store, hash[r]);
        if (place[r] == GRAMMAR_NONE)
            job_table_put(&p->store, hash[r], place[r] = stored++);
    }
}

static void pack_rules(struct file_packer *p, const struct grammar_flat *g)
{
    struct grammar_hash *hash = calloc((size_t)g->rule_count + 1, sizeof *hash);
    uint32_t *place = calloc((size_t)g->rule_count + 1, sizeof *place);
    unsigned char *at;
    if (!hash || !place) {
        p->error = PYTHIA_ENOMEM;
    } else {
        if (job_hash_none(grammar_flat_hash(g, p->job->terminal_hash, hash)))
            p->error = PYTHIA_ENOMEM;
        else
            name_rules(p, g, hash, place);
    }
    for (uint32_t r = 0; !p->error && r < g->rule_count; r++) {
        if ((at = file_pack_record(p, SECTION_CLASS_RULES, RECORD_CLASS_RULE)))
            file_put32(at, place[r]);
        if (place[r] != p->section[SECTION_RULES].count || !(at = file_pack_record(p, SECTION_RULES, RECORD_RULE)))
            continue; /* its body is there already */
        file_put32s(at, (const uint32_t[]){ (uint32_t)p->section[SECTION_NODES].count, g->rules[r].length }, 2);
        pack_body(p, g, r, hash);
    }
    free(hash);
    free(place);
}

/* --- Classes --- */

static void put_moments(unsigned char *at, const struct grammar_moments *m)
{
    file_put64(at, m->sum);
    file_put64(at + 8, m->min);
    file_put64(at + 16, m->max);
    file_put_double(at + 24, m->square);
}

/* Of the blocks that begin in this class. */
static void pack_times(struct file_packer *p, const struct grammar_flat *g)
{
    uint64_t first = p->section[SECTION_STATS].count % BLOCK_STATS; /* in the block that it begins in */
    uint64_t blocks = (first + g->node_count + BLOCK_STATS - 1) / BLOCK_STATS;
    struct grammar_time *times = calloc((size_t)blocks + 1, sizeof *times);
    unsigned char *at;
    if (!times)
        p->error = PYTHIA_ENOMEM;
    else
        file_times_fill(g, first, BLOCK_STATS, times);
    for (uint64_t k = first != 0; k < blocks && !p->error && (at = file_pack_record(p, SECTION_TIMES, RECORD_TIME));
         k++) {
        p->timeless |= !file_times_sane(&times[k]);
        file_put_double(at, times[k].gap);
        file_put_double(at + 8, times[k].duration);
        file_put_double(at + 16, times[k].variance);
    }
    free(times);
}

static void pack_stats(struct file_packer *p, const struct job_class *c)
{
    const struct grammar_flat *g = c->grammar;
    unsigned char *at;
    pack_times(p, g);
    for (uint32_t n = 0; n < g->node_count && (at = file_pack_record(p, SECTION_STATS, RECORD_STATS)); n++) {
        const struct grammar_stats *s = &g->stats[n];
        file_put64(at, s->count);
        put_moments(at + 8, &s->gap);
        put_moments(at + 40, &s->duration);
        file_put64(at + 72, c->spread[n].min);
        file_put64(at + 80, c->spread[n].max);
        file_put32s(at + 88, (const uint32_t[]){ c->spread[n].min_rank, c->spread[n].max_rank }, 2);
        file_put64(at + 96, c->spread[n].call_min);
        file_put64(at + 104, c->spread[n].call_max);
        file_put32s(at + 112, (const uint32_t[]){ c->spread[n].call_min_rank, c->spread[n].call_max_rank }, 2);
        file_put_double(at + 120, c->spread[n].call_square);
    }
}

static void pack_ranges(struct file_packer *p, const struct job_class *c)
{
    unsigned char *at;
    for (uint32_t i = 0; i < c->range_count && (at = file_pack_record(p, SECTION_RANGES, RECORD_RANGE)); i++) {
        const struct job_range *r = &c->ranges[i];
        file_put32s(at,
                    (const uint32_t[]){ r->first, r->count, r->stride, r->thread, r->rows, r->row_stride, r->planes,
                                        r->plane_stride },
                    8);
    }
}

/* The part of a model that depends on its kind, 96 bytes. */
static void put_values(unsigned char *at, const struct grammar_attr *a)
{
    if (a->kind == GRAMMAR_ATTR_RAMP) {
        file_put64(at, (uint64_t)a->ramp.base);
        file_put64(at + 8, (uint64_t)a->ramp.step);
    }
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_VARIES && i < 2; i++)
        file_put64(at + 8 * i, (uint64_t)a->list[i]);
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_LIST && i < a->length; i++)
        file_put64(at + 8 * i, (uint64_t)a->list[i]);
    for (uint32_t i = 0; a->kind == GRAMMAR_ATTR_KEYED && i < a->length; i++) {
        file_put64(at + 24 * i, (uint64_t)a->key[i].value);
        file_put64(at + 24 * i + 8, a->key[i].count);
        file_put64(at + 24 * i + 16, a->key[i].sum);
    }
}

static void put_attr(unsigned char *at, const struct grammar_attr *a)
{
    at[0] = a->channel;
    at[1] = a->kind;
    at[2] = (unsigned char)a->length;
    file_put32(at + 4, a->period);
    file_put64(at + 8, a->count);
    file_put64(at + 16, (uint64_t)a->min);
    file_put64(at + 24, (uint64_t)a->max);
    file_put64(at + 32, (uint64_t)a->sum);
    put_values(at + 40, a);
}

static void pack_variants(struct file_packer *p, const struct job_class *c)
{
    unsigned char *at;
    for (uint32_t i = 0; i < c->variant_count && (at = file_pack_record(p, SECTION_VARIANTS, RECORD_VARIANT)); i++) {
        const struct job_variant *v = &c->variants[i];
        file_put32s(
            at, (const uint32_t[]){ v->node, v->relations, v->sample_rank, v->modulus, v->range_first, v->range_count },
            6);
        put_attr(at + 24, &v->attr);
    }
}

/* A column's width stands in its record; its numbers, in the columns. */
static void pack_turns(struct file_packer *p, const struct job_class *c)
{
    uint64_t members = c->column_count ? job_ranges_size(c->ranges, c->member_ranges) : 0;
    unsigned char *at;
    for (uint32_t i = 0; i < c->turn_count && (at = file_pack_record(p, SECTION_TURNS, RECORD_TURN)); i++) {
        const struct job_turn *t = &c->turns[i];
        const struct job_column *column = t->column == GRAMMAR_NONE ? NULL : &c->columns[t->column];
        file_put32s(at, (const uint32_t[]){ t->node, t->range_first, t->range_count, column ? column->width : 0 }, 4);
        file_put64(at + 16, t->exponent);
        if (column && (at = file_pack_grow(p, SECTION_COLUMNS, members * column->width))) {
            memcpy(at, column->data, members * column->width);
            p->section[SECTION_COLUMNS].count += members * column->width;
        }
    }
}

void file_pack_class(struct file_packer *p, uint32_t number)
{
    const struct job_class *c = &p->job->classes[number];
    int body = !job_class_bodiless(c) && !(p->known && p->known[number]);
    const uint32_t words[] = { body ? CLASS_BODY : 0,
                               (uint32_t)p->section[SECTION_CLASS_RULES].count,
                               body ? c->grammar->rule_count : 0,
                               (uint32_t)p->section[SECTION_STATS].count,
                               c->grammar->node_count,
                               (uint32_t)p->section[SECTION_RANGES].count,
                               c->range_count,
                               c->member_ranges,
                               (uint32_t)p->section[SECTION_VARIANTS].count,
                               c->variant_count,
                               (uint32_t)p->section[SECTION_TURNS].count,
                               c->turn_count };
    unsigned char *at = file_pack_record(p, SECTION_CLASSES, RECORD_CLASS);
    if (!at)
        return;
    file_put64(at, c->hash.low);
    file_put64(at + 8, c->hash.high);
    file_put32s(at + 16, words, 12);
    file_put64(at + 64, p->section[SECTION_COLUMNS].count);
    if (body)
        pack_rules(p, c->grammar);
    pack_stats(p, c);
    pack_ranges(p, c);
    pack_turns(p, c);
    pack_variants(p, c);
    for (int type = SECTION_RULES; type <= SECTION_VARIANTS; type++)
        if (p->section[type].count > JOB_LIMIT)
            p->error = PYTHIA_ELIMIT;
    if (p->section[SECTION_TURNS].count > JOB_LIMIT)
        p->error = PYTHIA_ELIMIT;
}
