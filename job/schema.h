/* SPDX-License-Identifier: MIT */
/*
 * What the tables of a job are made of, said once (schema.c): of each field where it is, how wide, what its number is a
 * number of, and what becomes of two rows that are the same. From this come packing and unpacking (file/table.h), the
 * audit of ranges and order, renumbering and joining of two jobs, and their end.
 *
 *     struct job_sum     terminal    name       samples     total
 *                        key         key        added       added
 *                        terminals   strings    not 0
 *
 * A keyed table has its rows in the order of their keys, each once. Where ranks share records (info.block), a rank that
 * is a key is the first of its block. Rows of a part belong to rows of another table, one after the other. A row may be
 * of a set of ranks: two that are the same become one of both sets.
 *
 * Cost: a row is added in as many steps as stand behind it; two tables are joined by sorting.
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <string.h>

#include "job/job.h"

/* In the order of what is said of what: a table names only those above it. */
enum job_tables {
    JOB_TABLE_INFO, JOB_TABLE_MODULES, JOB_TABLE_FRAMES, JOB_TABLE_CALLSITES, JOB_TABLE_COMMS, JOB_TABLE_TERMINALS,
    JOB_TABLE_STREAMS, JOB_TABLE_ORACLE, JOB_TABLE_SUMS, JOB_TABLE_REGIONS, JOB_TABLE_TASKS, JOB_TABLE_MACHINE,
    JOB_TABLE_GROUPS, JOB_TABLE_GROUP_RUNS, JOB_TABLE_GROUP_RANGES, JOB_TABLE_FLOWS, JOB_TABLE_FLOW_RANGES,
    JOB_TABLE_STARTS, JOB_TABLE_START_RUNS, JOB_TABLE_SERIES, JOB_TABLE_EXTREMES, JOB_TABLE_OWN, JOB_TABLE_CLOCK,
    JOB_TABLE_DELAY, JOB_TABLE_TOOK, JOB_TABLE_DIGRAMS, JOB_TABLE_THREADS, JOB_TABLE_LEARNED_REGIONS,
    JOB_TABLE_LEARNED_TASKS, JOB_TABLE_ENDS, JOB_TABLE_INSIDE, JOB_TABLE_NAMED,
    JOB_TABLE_BINDINGS, JOB_TABLE_BINDING_RANGES, JOB_TABLE_HOSTS, JOB_TABLE_HOST_RANGES,
    JOB_TABLE_HARDWARE, JOB_TABLE_LEFT, JOB_TABLE_STOPS,
    JOB_TABLE_HOPS, JOB_TABLE_HOP_RANGES, JOB_TABLE_PLACES, JOB_TABLE_WAYS, JOB_TABLE_SPOTS, JOB_TABLES
};

/* What a field's number is a number of. */
enum job_refers { JOB_OF_NOTHING, JOB_OF_STRINGS, JOB_OF_MODULES, JOB_OF_CALLSITES, JOB_OF_COMMS, JOB_OF_TERMINALS,
                  JOB_OF_CLASSES, JOB_OF_STOPS, JOB_OF_PLACES, JOB_REFERS };
/* What two rows become. */
enum job_joined { JOB_KEPT, JOB_KEY, JOB_ADDED, JOB_ADDED_AT_MOST /* no more than fits */, JOB_ADDED_REAL, JOB_GREATEST,
                  JOB_EARLIEST /* 0: not known */, JOB_EITHER /* the text that says something */ };
enum job_field_flags { JOB_OR_NONE = 1, JOB_NOT_0 = 2, JOB_BLOCK = 4 /* a rank, the first of its block */ };

struct job_field {
    uint16_t at, stride, count; /* bytes in the row; of several: from one to the next, and how many */
    uint8_t width;              /* 1, 2, 4 or 8 bytes */
    uint8_t refers, joined, flags;
    uint32_t below;             /* of what refers to nothing; 0: any */
};

struct job_schema {
    const char *name;             /* of one row, for who reads why it was refused */
    const struct job_field *field; /* keys first */
    uint16_t fields, size;        /* size: of a row in memory */
    uint16_t rows, count, room;   /* where the job has them; of a single one `count` is there or not, and no room */
    bool single;
    bool keyed;
    uint8_t sets;                 /* each row is of a set of members: the table that has their ranges, a part of this */
    uint8_t whole;                /* of a part: the table that its rows belong to … */
    uint16_t first, number;       /* … and where that says which */
    bool (*sane)(const struct job *j, const void *row);          /* what fields alone do not say; may be NULL */
    void (*join)(void *into, const void *from);                  /* before the fields' own; may be NULL */
    int (*check)(const struct job *j, char *why, size_t size);   /* of the table, after its rows; may be NULL */
};

extern const struct job_schema job_schemas[JOB_TABLES];

/* By what a number of one job is called in another: NULL where it stays. */
struct job_maps { const uint32_t *of[JOB_REFERS]; };

/* 1, 2, 4 or 8 bytes. */
static inline void job_word_copy(void *to, const void *from, uint32_t width)
{
    switch (width) {
    case 1: memcpy(to, from, 1); return;
    case 2: memcpy(to, from, 2); return;
    case 4: memcpy(to, from, 4); return;
    default: memcpy(to, from, 8);
    }
}

static inline uint64_t job_field_get(const struct job_field *f, const void *row, uint32_t k)
{
    union { uint8_t v1; uint16_t v2; uint32_t v4; uint64_t v8; } v;
    job_word_copy(&v, (const char *)row + f->at + k * (size_t)f->stride, f->width);
    return f->width == 8 ? v.v8 : f->width == 4 ? v.v4 : f->width == 2 ? v.v2 : v.v1;
}

void job_field_put(const struct job_field *f, void *row, uint32_t k, uint64_t v);

/* Interns a row of modules, callsites (of these frames), communicators or terminals, with this job's numbers: its
   number, GRAMMAR_NONE when out of memory (define.h). */
uint32_t job_define(struct job *j, enum job_tables t, const void *row, const struct job_frame *frames);
/* The rows of a job: *count of them. */
void *job_rows_of(const struct job *j, enum job_tables t, uint32_t *count);
/* Makes room for `count` rows in all. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT. */
int job_rows_room(struct job *j, enum job_tables t, uint64_t count);
/* So many are there; of a single one nothing where a field says it. */
void job_rows_counted(struct job *j, enum job_tables t, uint32_t count);
/* The row with the keys of `key`, NULL without. */
void *job_rows_find(const struct job *j, enum job_tables t, const void *key);
/* Adds a row to a keyed table without sets, or to the row with its keys. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT. */
int job_rows_add(struct job *j, enum job_tables t, const void *row);
/* Appends a row of the union of n sets (job_sets_join). Returns as that; on failure all is as it was. */
int job_rows_append(struct job *j, enum job_tables t, void *row, const struct job_set *sets, size_t apart, uint32_t n);
/* `into` gets what `from`, renumbered, says, whatever their keys. */
void job_row_join(const struct job *j, enum job_tables t, void *into, const void *from);
void job_row_rename(enum job_tables t, void *row, const struct job_maps *maps);
/* `made` gets what both have of a keyed table, as it will be in `into`, in order. 0, PYTHIA_ENOMEM, PYTHIA_ELIMIT. */
int job_rows_join(const struct job *into, const struct job *from, enum job_tables t, const struct job_maps *maps,
                  struct job *made);
void job_rows_swap(struct job *a, struct job *b, enum job_tables t);
/* The same of tables that rows alone do not say how to join. On failure `made` has some of it. */
typedef int job_joins(const struct job *into, const struct job *from, const struct job_maps *maps, struct job *made);
/* A job gets what it and another one with its definitions have of some tables. 0, or what `join` returned: it has what
   it had. */
int job_rows_take(struct job *j, const struct job *from, job_joins *join, enum job_tables first, enum job_tables last);
/* Sorts rows without sets by their keys, those of equal keys become one. 0, PYTHIA_ENOMEM: they are as they were. */
int job_rows_settle(struct job *j, enum job_tables t);

/* How many there are of what numbers refer to. */
uint32_t job_rows_named(const struct job *j, enum job_refers what);
/* Whether each number of a row is one of what it refers to, as far as these are known. */
bool job_row_sane(const struct job *j, enum job_tables t, const void *row);
/* Audits one table, or all. 0 or PYTHIA_EFORMAT with a line. */
int job_rows_check(const struct job *j, enum job_tables t, char *why, size_t size);
void job_rows_free(struct job *j); /* all */
