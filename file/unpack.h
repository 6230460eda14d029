/* SPDX-License-Identifier: MIT */
/*
 * Reading a packed job: the parts that unpack.c (the whole) and open.c (classes when they are wanted) share.
 *
 * What points somewhere is checked before it is followed; parts that belong to a class must stand one after the other, so
 * that nothing is used twice and memory is bounded by the input.
 *
 * Private to file/.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_FILE_UNPACK_H
#define PYTHIA_FILE_UNPACK_H

#include "file/container.h"
#include "job/job.h"

struct merge_reader {
    struct merge_container in;
    struct job *job;
    uint32_t *local; /* place in the rule store -> number in the class at hand, GRAMMAR_NONE; owned */
    char *why;
    size_t why_size;
};

#define REFUSE(r, ...) merge_refuse((r)->why, (r)->why_size, __VA_ARGS__)

static inline const unsigned char *merge_reader_at(const struct merge_reader *r, enum format_section type, uint64_t i,
                                                   uint32_t size)
{
    return r->in.section[type].data + i * size;
}

static inline uint32_t merge_reader_count(const struct merge_reader *r, enum format_section type)
{
    return (uint32_t)r->in.section[type].count; /* checked to be below MERGE_LIMIT */
}

static inline double merge_get_double(const unsigned char *at)
{
    uint64_t bits = format_get64(at);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

int merge_reader_no_memory(struct merge_reader *r); /* PYTHIA_ENOMEM, with a line */

/* --- unpack.c --- */
/* Everything but the classes; a line in `why` and a negative PYTHIA_E… on failure. */
int merge_unpack_definitions(struct merge_reader *r); /* strings to terminals; before the classes */
int merge_unpack_others(struct merge_reader *r);      /* streams and all that is optional; after the classes */

struct grammar_time merge_unpack_time(const struct merge_reader *r, uint64_t i); /* record i of the times */

/* --- unpack_class.c --- */
/* Where the parts of a class are. */
struct merge_parts {
    uint32_t flags, rule_first, rules, stats_first, nodes, range_first, ranges, member_ranges, variant_first, variants;
};
/* Parts of all classes, one after the other: *parts is malloc'ed, merge_reader_count(r, SECTION_CLASSES) of them. Makes
   room for the classes, and r->local. */
int merge_unpack_parts(struct merge_reader *r, struct merge_parts **parts);
/* The class with its hash in the table, all of its parts, and what it expands to. */
int merge_unpack_class(struct merge_reader *r, uint32_t i, const struct merge_parts *p);
/* The hash in its place and the table. */
int merge_unpack_hash(struct merge_reader *r, uint32_t i);
/* Parts of a class; of ranges and variants `count` from the class's `first`: they must be there (merge_container_need). */
int merge_unpack_rules(struct merge_reader *r, uint32_t i, const struct merge_parts *p, struct grammar_flat *g);
void merge_unpack_ranges(struct merge_reader *r, const struct merge_parts *p, uint32_t first, uint32_t count,
                         struct job_range *ranges);
int merge_unpack_variants(struct merge_reader *r, uint32_t i, const struct merge_parts *p, uint32_t first, uint32_t count,
                          struct job_variant *variants);
/* One record of the statistics: word w is words[w * stride]. `spread` may be NULL. */
void merge_unpack_stats(const unsigned char *words, size_t stride, struct grammar_stats *s, struct job_spread *spread);

#endif
