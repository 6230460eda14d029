/* SPDX-License-Identifier: MIT */
#include "job/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "job/ranges.h"
#include "pythia.h"

/* --- Columns --- */

uint64_t job_column_get(const struct job_column *c, uint64_t member)
{
    const unsigned char *at = c->data + member * c->width;
    uint64_t v = 0;
    for (uint32_t i = 0; i < c->width; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

int job_column_make(struct job_column *c, const uint64_t *number, uint64_t count)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < count; i++)
        all |= number[i];
    c->width = all >> 32 ? 8 : all >> 16 ? 4 : all >> 8 ? 2 : 1;
    c->data = malloc(count * c->width + 1);
    if (!c->data)
        return PYTHIA_ENOMEM;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < c->width; k++)
            c->data[i * c->width + k] = (unsigned char)(number[i] >> (8 * k));
    return 0;
}

void job_columns_free(struct job_column *columns, uint32_t count)
{
    for (uint32_t i = 0; columns && i < count; i++)
        free(columns[i].data);
    free(columns);
}

struct job_column *job_columns_copy(const struct job_class *c)
{
    uint64_t members = c->column_count ? job_ranges_size(c->ranges, c->member_ranges) : 0;
    struct job_column *copy = calloc((size_t)c->column_count + 1, sizeof *copy);
    for (uint32_t i = 0; copy && i < c->column_count; i++) {
        copy[i] = (struct job_column){ c->columns[i].width,
                                       base_array_copy(c->columns[i].data, members, c->columns[i].width) };
        if (!copy[i].data) {
            job_columns_free(copy, c->column_count);
            return NULL;
        }
    }
    return copy;
}

/* --- One member --- */

uint64_t job_ranges_place(const struct job_range *r, uint32_t count, uint32_t rank, uint32_t thread)
{
    uint64_t place = 0;
    for (const struct job_range *end = r + count; r < end; place += job_range_size(r++))
        if (job_ranges_contain(r, 1, rank, thread)) {
            uint32_t at = rank - r->first, l = r->planes ? at / r->plane_stride : 0;
            l = l < r->planes ? l : r->planes;
            at -= l * r->plane_stride;
            uint32_t k = r->rows ? at / r->row_stride : 0;
            k = k < r->rows ? k : r->rows;
            at -= k * r->row_stride;
            return place + ((uint64_t)l * ((uint64_t)r->rows + 1) + k) * r->count + at / r->stride;
        }
    return place;
}

uint32_t job_turns_of(const struct job_class *c, uint32_t node, uint32_t *first)
{
    *first = BASE_ARRAY_PLACE(c->turn_count, i, c->turns[i].node < node);
    return *first < c->turn_count && c->turns[*first].node == node ? job_turns_end(c, *first) - *first : 0;
}

uint32_t job_turns_end(const struct job_class *c, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < c->turn_count && c->turns[end].node == c->turns[first].node)
        end++;
    return end;
}

uint32_t job_turns_nodes(const struct job_class *c)
{
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < c->turn_count; i = job_turns_end(c, i))
        nodes++;
    return nodes;
}

uint64_t job_turns_at(const struct job_class *c, uint32_t first, uint32_t end, uint32_t rank, uint32_t thread)
{
    for (const struct job_turn *t = c->turns + first; t < c->turns + end; t++) {
        if (t->column != GRAMMAR_NONE)
            return job_column_get(&c->columns[t->column],
                                  job_ranges_place(c->ranges, c->member_ranges, rank, thread));
        if (job_ranges_contain(c->ranges + t->range_first, t->range_count, rank, thread))
            return t->exponent;
    }
    return 1; /* no member */
}

bool job_turns_same(const struct job_class *c, const struct grammar_flat *g, uint32_t rank, uint32_t thread)
{
    for (uint32_t i = 0, end; i < c->turn_count; i = end) {
        end = job_turns_end(c, i);
        if (job_turns_at(c, i, end, rank, thread) != g->nodes[c->turns[i].node].exponent)
            return false;
    }
    return true;
}

uint64_t job_turns_hash(const struct job_class *c, uint32_t rank, uint32_t thread)
{
    uint64_t hash = 0;
    for (uint32_t i = 0, end; i < c->turn_count; i = end) {
        end = job_turns_end(c, i);
        hash = base_hash_mix(hash ^ job_turns_at(c, i, end, rank, thread));
    }
    return hash;
}

void job_turns_extent(const struct job_class *c, uint32_t node, uint64_t *least, uint64_t *most)
{
    uint32_t first, count = job_turns_of(c, node, &first);
    *least = *most = c->grammar->nodes[node].exponent;
    for (const struct job_turn *t = c->turns + first; t < c->turns + first + count; t++) {
        uint64_t members = t->column == GRAMMAR_NONE ? 1 : job_ranges_size(c->ranges, c->member_ranges);
        for (uint64_t i = 0; i < members; i++) {
            uint64_t turns = t->column == GRAMMAR_NONE ? t->exponent : job_column_get(&c->columns[t->column], i);
            *least = turns < *least ? turns : *least;
            *most = turns > *most ? turns : *most;
        }
    }
}

/* --- All members --- */

/* Place of a member among `m`, from `at` on: mostly there, or soon after. */
static uint64_t place_from(const struct job_member *m, uint64_t members, uint64_t at, struct job_member own)
{
    uint64_t reach = 1;
    while (at + reach <= members && job_member_walked_before(m[at + reach - 1], own)) {
        at += reach;
        reach *= 2;
    }
    uint64_t most = at + reach < members ? reach : members - at;
    return at + BASE_ARRAY_PLACE(most, k, job_member_walked_before(m[at + k], own));
}

void job_members_put(const struct job_member *m, uint64_t members, const struct job_set *s, uint64_t v,
                     uint64_t *number)
{
    uint64_t at = 0;
    for (struct job_walk w = { .range = s->ranges, .left = s->count }; job_walk_next(&w);) {
        at = place_from(m, members, at, w.at);
        if (at < members && !job_member_walked_before(w.at, m[at]))
            number[at++] = v;
    }
}

int job_turns_fill(const struct job_class *c, uint32_t node, uint64_t *exponent)
{
    uint64_t members = job_ranges_size(c->ranges, c->member_ranges);
    uint32_t first, count = job_turns_of(c, node, &first);
    if (count && c->turns[first].column != GRAMMAR_NONE) {
        for (uint64_t i = 0; i < members; i++)
            exponent[i] = job_column_get(&c->columns[c->turns[first].column], i);
        return 0;
    }
    for (uint64_t i = 0; i < members && !count; i++)
        exponent[i] = c->grammar->nodes[node].exponent;
    if (!count)
        return 0;
    struct job_member *m = malloc((members + 1) * sizeof *m);
    if (m)
        job_ranges_walk(c->ranges, c->member_ranges, m);
    for (const struct job_turn *t = c->turns + first; m && t < c->turns + first + count; t++)
        job_members_put(m, members, &(struct job_set){ c->ranges + t->range_first, t->range_count }, t->exponent,
                        exponent);
    free(m);
    return m ? 0 : PYTHIA_ENOMEM;
}
