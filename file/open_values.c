/* SPDX-License-Identifier: MIT */
/*
 * Attributes of an opened job, node by node: a class may have hundreds of thousands of variants, and a run meets its
 * nodes one after the other.
 *
 *   variants    ... | node 7: peer, peer, bytes | node 9: peer | ...     ordered by node: found by bisection, a block a step
 *                          |
 *   ranges      the members | a set | a set | ...                        no two sets share a range: each is read once
 *
 * Arrays have room for all that the file has, and pages that nobody touches take no memory. What is there never
 * changes, so that it is read without a lock: `seen` of a node is the last thing that is stored.
 */
#include "base/array.h"
#include "base/lock.h"
#include "file/file.h"
#include "file/open.h"

#include <stdlib.h>

#include "pythia.h"
#include "job/check.h"

static const struct file_parts *parts_of(const struct file_page *page)
{
    return &page->store->parts[page->class_index];
}

/* --- Sets of members --- */

static bool set_free(const struct file_page *page, uint32_t first, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (page->set[first + k])
            return false;
    return true;
}

static void mark_set(struct file_page *page, uint32_t first, uint32_t count)
{
    page->set[first] = count;
    for (uint32_t k = 1; k < count; k++)
        page->set[first + k] = FILE_INSIDE;
}

static int read_set(struct file_page *page, uint32_t first, uint32_t count)
{
    struct file_reader *r = &page->store->reader;
    const struct file_parts *p = parts_of(page);
    if (!count || first >= p->ranges || count > p->ranges - first)
        return REFUSE(r, "class %u: ranges out of range", page->class_index);
    if (page->set[first] == count)
        return 0;
    if (!set_free(page, first, count))
        return REFUSE(r, "class %u: ranges of two sets", page->class_index);
    if (file_container_need(&r->in, SECTION_RANGES, (uint64_t)p->range_first + first, count))
        return REFUSE(r, "damaged: ranges of class %u do not decompress", page->class_index);
    file_unpack_ranges(r, p, first, count, page->values.ranges + first);
    int error = job_check_set(r->job, page->class_index, &page->values, first, count, r->why, r->why_size);
    if (!error)
        mark_set(page, first, count);
    return error;
}

/* --- Variants of a node --- */

/* The node of variant `k`; GRAMMAR_NONE: it cannot be read. */
static uint32_t node_of(struct file_page *page, uint32_t k)
{
    struct file_reader *r = &page->store->reader;
    uint64_t at = (uint64_t)parts_of(page)->variant_first + k;
    if (file_container_need(&r->in, SECTION_VARIANTS, at, 1))
        return GRAMMAR_NONE;
    return file_get32(file_reader_at(r, SECTION_VARIANTS, at, RECORD_VARIANT));
}

/* Where something cannot be read the search stands before it. */
static int find_variants(struct file_page *page, uint32_t node, struct file_node_values *found)
{
    struct file_reader *r = &page->store->reader;
    uint32_t end = parts_of(page)->variants, count = 0, next = node;
    uint32_t low = BASE_ARRAY_PLACE(end, i, node_of(page, i) < node);
    while (count < end - low && (next = node_of(page, low + count)) == node)
        count++;
    *found = (struct file_node_values){ low, count };
    return next != GRAMMAR_NONE ? 0 : REFUSE(r, "damaged: variants of class %u do not decompress", page->class_index);
}

/* A class of this node alone. */
static struct job_class class_at(const struct file_page *page, uint32_t node)
{
    struct job_class c = page->values;
    c.variants += page->node[node].first;
    c.variant_count = page->node[node].count;
    return c;
}

static int read_node(struct file_page *page, uint32_t node)
{
    struct file_reader *r = &page->store->reader;
    struct file_node_values *here = &page->node[node];
    int error = find_variants(page, node, here);
    struct job_class c = class_at(page, node);
    error = error ?: file_unpack_variants(r, page->class_index, parts_of(page), here->first, here->count, c.variants);
    for (uint32_t k = 0; k < here->count && !error; k++)
        error = read_set(page, c.variants[k].range_first, c.variants[k].range_count);
    return error ?: job_check_node(r->job, page->class_index, &c, r->why, r->why_size);
}

/* The samples of its channels: their places are those of the node's first variants, which are at least as many. */
static void place_samples(const struct file_page *page, uint32_t node)
{
    struct job_class c = class_at(page, node);
    struct grammar_flat_node *n = &c.grammar->nodes[node];
    n->attr = page->node[node].first;
    for (uint32_t k = 0; k < c.variant_count; k++)
        if (!k || c.variants[k].attr.channel != c.variants[k - 1].attr.channel)
            c.grammar->attrs[n->attr + n->attr_count++] = c.variants[k].attr;
}

static void page_attrs(struct file_page *page, uint32_t node)
{
    if (atomic_load_explicit(&page->seen[node], memory_order_acquire))
        return;
    base_lock_take(&page->store->lock, BASE_LOCK_FILE);
    if (!atomic_load_explicit(&page->seen[node], memory_order_relaxed)) {
        if (read_node(page, node))
            page->node[node].count = 0;
        place_samples(page, node);
        atomic_store_explicit(&page->seen[node], 1, memory_order_release);
    }
    base_lock_release(&page->store->lock, BASE_LOCK_FILE);
}

/* --- The class --- */

int file_values_open(struct file_page *page, struct grammar_flat *g)
{
    const struct file_parts *p = parts_of(page);
    const struct job_class *c = &page->store->reader.job->classes[page->class_index];
    page->values = *c;
    page->values.grammar = g;
    page->values.range_count = p->ranges;
    page->values.variant_count = p->variants;
    page->values.ranges = calloc((size_t)p->ranges + 1, sizeof *page->values.ranges);
    page->values.variants = calloc((size_t)p->variants + 1, sizeof *page->values.variants);
    page->node = calloc((size_t)p->nodes + 1, sizeof *page->node);
    page->seen = calloc((size_t)p->nodes + 1, sizeof *page->seen);
    page->set = calloc((size_t)p->ranges + 1, sizeof *page->set);
    free(g->attrs);
    g->attrs = calloc((size_t)p->variants + 1, sizeof *g->attrs);
    if (!page->values.ranges || !page->values.variants || !page->node || !page->seen || !page->set || !g->attrs)
        return file_reader_no_memory(&page->store->reader);
    memcpy(page->values.ranges, c->ranges, c->member_ranges * sizeof *c->ranges);
    mark_set(page, 0, c->member_ranges);
    return 0;
}

void file_values_close(struct file_page *page)
{
    free(page->values.ranges);
    free(page->values.variants);
    free(page->node);
    free((void *)page->seen);
    free(page->set);
    page->values = (struct job_class){ 0 };
    page->node = NULL;
    page->seen = NULL;
    page->set = NULL;
}

bool file_class_at(const struct job *j, uint32_t class_index, uint32_t node, struct job_class *c)
{
    struct file_page *page = j->store ? &file_store_of(j)->page[class_index] : NULL;
    if ((page && !page->open) || node >= j->classes[class_index].grammar->node_count)
        return false;
    if (page)
        page_attrs(page, node);
    *c = page ? class_at(page, node) : j->classes[class_index];
    return true;
}
