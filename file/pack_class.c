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
#include "file/table.h"
#include "file/values.h"

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
    BASE_OWN struct grammar_hash *hash = calloc((size_t)g->rule_count + 1, sizeof *hash);
    BASE_OWN uint32_t *place = calloc((size_t)g->rule_count + 1, sizeof *place);
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
}

/* --- Classes --- */

static void pack_stats(struct file_packer *p, const struct job_class *c)
{
    const struct grammar_flat *g = c->grammar;
    unsigned char *at;
    for (uint32_t n = 0; n < g->node_count && (at = file_pack_record(p, SECTION_STATS, RECORD_STATS)); n++) {
        file_record_put(&file_record_stats, &g->stats[n], at);
        file_record_put(&file_record_spread, &c->spread[n], at + 72);
    }
}

/* Records of an array. */
static void pack_all(struct file_packer *p, enum file_section_type type, const struct file_record *r, const void *rows,
                     size_t size, uint32_t count)
{
    uint32_t bytes = file_row_size(r->field, r->fields);
    unsigned char *at;
    for (uint32_t i = 0; i < count && (at = file_pack_record(p, type, bytes)); i++)
        file_record_put(r, (const char *)rows + i * size, at);
}

/* A column's width stands in its record; its numbers, in the columns. */
static void pack_turns(struct file_packer *p, const struct job_class *c)
{
    uint64_t members = c->column_count ? job_ranges_size(c->ranges, c->member_ranges) : 0;
    unsigned char *at;
    for (uint32_t i = 0; i < c->turn_count && (at = file_pack_record(p, SECTION_TURNS, RECORD_TURN)); i++) {
        struct job_turn t = c->turns[i];
        const struct job_column *column = t.column == GRAMMAR_NONE ? NULL : &c->columns[t.column];
        t.column = column ? column->width : 0;
        file_record_put(&file_record_turn, &t, at);
        if (column && (at = file_pack_grow(p, SECTION_COLUMNS, members * column->width))) {
            memcpy(at, column->data, members * column->width);
            p->section[SECTION_COLUMNS].count += members * column->width;
        }
    }
}

static void pack_variants(struct file_packer *p, const struct job_class *c)
{
    for (uint32_t i = 0; i < c->variant_count && !p->error; i++) {
        struct job_variant v = c->variants[i];
        file_attr_leave(p->job, &v.attr);
        pack_all(p, SECTION_VARIANTS, &file_record_variant, &v, 0, 1);
    }
}

void file_pack_class(struct file_packer *p, uint32_t number)
{
    const struct job_class *c = &p->job->classes[number];
    int body = !job_class_bodiless(c) && !(p->known && p->known[number]);
    const struct file_packed *s = p->section;
    const struct file_parts parts = { .hash = c->hash,
                                      .flags = body ? CLASS_BODY : 0,
                                      .rule_first = (uint32_t)s[SECTION_CLASS_RULES].count,
                                      .rules = body ? c->grammar->rule_count : 0,
                                      .stats_first = (uint32_t)s[SECTION_STATS].count,
                                      .nodes = c->grammar->node_count,
                                      .range_first = (uint32_t)s[SECTION_RANGES].count,
                                      .ranges = c->range_count,
                                      .member_ranges = c->member_ranges,
                                      .variant_first = (uint32_t)s[SECTION_VARIANTS].count,
                                      .variants = c->variant_count,
                                      .turn_first = (uint32_t)s[SECTION_TURNS].count,
                                      .turns = c->turn_count,
                                      .column_first = s[SECTION_COLUMNS].count };
    pack_all(p, SECTION_CLASSES, &file_record_parts, &parts, 0, 1);
    if (p->error)
        return;
    if (body)
        pack_rules(p, c->grammar);
    pack_stats(p, c);
    pack_all(p, SECTION_RANGES, &file_record_range, c->ranges, sizeof *c->ranges, c->range_count);
    pack_turns(p, c);
    pack_variants(p, c);
    for (int type = SECTION_RULES; type <= SECTION_VARIANTS; type++)
        if (p->section[type].count > JOB_LIMIT)
            p->error = PYTHIA_ELIMIT;
    if (p->section[SECTION_TURNS].count > JOB_LIMIT)
        p->error = PYTHIA_ELIMIT;
}
