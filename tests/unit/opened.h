/* SPDX-License-Identifier: MIT */
/*
 * For unit tests of opened jobs: a job file with many rules, each in few places; the oracle of one of its ranks; and
 * the rank's events. What fails aborts the test.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "file/container.h"
#include "file/format.h"
#include "job/job.h"
#include "oracle/oracle.h"

enum { OPENED_RANKS = 5, OPENED_CALLS = 14, OPENED_EVENTS = 30000, OPENED_ASKED = 4000, OPENED_MEMORY = 1 << 20 };

extern char opened_path[]; /* of the file that was written last; the test removes it */

/* A random number below n; opened_write() and opened_events() begin the sequence anew. */
uint32_t opened_below(uint32_t n);

/* Writes `j`, which is destroyed, under a new name. */
void opened_write_job(struct job *j);
/* The same with a job whose ranks complete what they wait for in an order of their own. */
void opened_write(void);

/* The file, opened; the whole of it, read. The caller destroys them. */
struct job *opened_file(void);
struct job *opened_whole(void);

struct opened { struct job *job; uint32_t class_index; const struct oracle_index *index; struct oracle *oracle; };

/* An oracle that follows this rank; it takes the job over. `learn`: bytes for what the run shows. */
struct opened opened_follow(struct job *j, uint32_t rank, size_t learn);
void opened_end(struct opened *f);

/* The rank's first events, with `wrong` of a hundred missing, exchanged, or such as nobody knows. The caller frees
   them. */
uint32_t *opened_events(const struct job *whole, uint32_t rank, uint32_t wrong, uint32_t *count);
/* Follows these events; how many were foreseen. */
uint32_t opened_right(struct opened *f, const uint32_t *list, uint32_t count);

/* Bytes that this process has read so far. */
uint64_t opened_bytes_read(void);

/* Where in a file's bytes the third block of a section begins. */
size_t opened_block(const unsigned char *data, size_t size, enum file_section_type type);
