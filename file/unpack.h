/* SPDX-License-Identifier: MIT */
/*
 * Reading a packed job: the parts that unpack.c (the whole) and open.c (classes when they are wanted) share.
 *
 * What points somewhere is checked before it is followed; parts that belong to a class must stand one after the other,
 * so that nothing is used twice and memory is bounded by the input.
 *
 * Private to file/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "file/container.h"
#include "job/check.h"
#include "job/job.h"

struct file_reader {
    struct file_container in;
    struct job *job;
    uint32_t *local; /* place in the rule store -> number in the class at hand, GRAMMAR_NONE; owned */
    char *why;
    size_t why_size;
};

#define REFUSE(r, ...) job_refuse((r)->why, (r)->why_size, __VA_ARGS__)

static inline const unsigned char *file_reader_at(const struct file_reader *r, enum file_section_type type, uint64_t i,
                                                   uint32_t size)
{
    return r->in.section[type].data + i * size;
}

static inline uint32_t file_reader_count(const struct file_reader *r, enum file_section_type type)
{
    return (uint32_t)r->in.section[type].count; /* checked to be below JOB_LIMIT */
}

int file_reader_no_memory(struct file_reader *r); /* PYTHIA_ENOMEM, with a line */

/* --- unpack.c --- */
/* Everything but the classes; a line in `why` and a negative PYTHIA_E… on failure. */
int file_unpack_definitions(struct file_reader *r); /* strings to terminals, starts; before the classes */
int file_unpack_others(struct file_reader *r);      /* streams and all that is optional; after the classes */

/* --- unpack_class.c --- */
/* Where the parts of a class are. */
struct file_parts {
    struct grammar_hash hash;
    uint32_t flags, rule_first, rules, stats_first, nodes, range_first, ranges, member_ranges, variant_first, variants,
        turn_first, turns;
    uint64_t column_first; /* bytes */
};
/* Parts of all classes, one after the other: *parts is malloc'ed, file_reader_count(r, SECTION_CLASSES) of them. Makes
   room for the classes, and r->local. */
int file_unpack_parts(struct file_reader *r, struct file_parts **parts);
/* The class with its hash in the table, all of its parts, and what it expands to. */
int file_unpack_class(struct file_reader *r, uint32_t i, const struct file_parts *p);
/* The hash in its place and the table. */
int file_unpack_hash(struct file_reader *r, uint32_t i, const struct file_parts *p);
/* All but its hash and the exponents that differ, into *c, whose pointers are NULL; on failure, too, the caller frees
   what they point to then. */
int file_unpack_body(struct file_reader *r, uint32_t i, const struct file_parts *p, struct job_class *c);
/* `count` ranges from the class's `first` on: they must be there (file_container_need). */
void file_unpack_ranges(struct file_reader *r, const struct file_parts *p, uint32_t first, uint32_t count,
                         struct job_range *ranges);
/* Exponents that differ between members: fills the class's turns and columns. 0, or an error with a line. */
int file_unpack_turns(struct file_reader *r, uint32_t i, const struct file_parts *p, uint64_t members,
                      struct job_class *c);
