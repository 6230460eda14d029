/* SPDX-License-Identifier: MIT */
/*
 * A job as bytes: in a message, or in a file. doc/FORMAT.md says which bytes.
 *
 *   file_pack    job -> bytes            file_write   job -> file, at once or not at all
 *   file_unpack  bytes -> job, all       file_read    file -> job, all
 *   file_open    file -> job, of which a class is read when somebody asks
 *
 * Every byte that is read is verified: checksums, lengths before memory is asked for, then the invariants of the job.
 *
 * Errors: 0 or a negative PYTHIA_E…, with one line in `why`.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "job/job.h"

/* Who is to understand messages of whom: equal where both do. What it is called. */
uint64_t file_language(void);
extern const char file_language_text[];
/* Serialises for a message: exact, and only what is large is compressed; *data is malloc'ed. `known` (may be NULL):
   class_count flags, bodies of classes with known[i] != 0 are left out (for a receiver that has them). */
int file_pack(const struct job *j, const uint8_t *known, void **data, size_t *size);
/* The same for a file: small, and times of blocks of ranks are rounded, see doc/FORMAT.md. */
int file_pack_for_file(const struct job *j, void **data, size_t *size);
/* Parses untrusted bytes; checksums and invariants verified. `why` gets one line on failure. */
int file_unpack(const void *data, size_t size, struct job **j, char *why, size_t why_size);
/* Whole or not at all, as base/replace.h says: on failure the old file is untouched, nothing is left beside it and
   `why` says what, where. */
int file_write(const struct job *j, const char *path, char *why, size_t why_size);
int file_read(const char *path, struct job **j, char *why, size_t why_size);
/* Of a file with several, and anything between them: each one that is whole is given to `each`, who owns it, until it
   says other than 0. PYTHIA_EFORMAT: there is none. */
int file_read_each(const char *path, int (*each)(struct job *j, void *context), void *context, char *why,
                   size_t why_size);

/* --- Opening: for predicting, which needs little of a large file (open.c) --- */
/* A job whose classes have members, and no rules, statistics or attributes until they are opened: for reading only, and
   neither to be merged nor packed. Checksums are verified; takes `bytes` (malloc'ed) over, unless it fails. */
int file_open_bytes(void *bytes, size_t size, struct job **j, char *why, size_t why_size);
int file_open(const char *path, struct job **j, char *why, size_t why_size);
/* All bytes that it was opened from, which it owns. NULL: it was not opened, or they cannot be read any more. */
const void *file_bytes(const struct job *j, size_t *size);
/* What tells its file from every other: the checksum of the header, which covers all others. */
uint64_t file_mark(const struct job *j);
/* Gives a class its rules, statistics and variants. Again, or where everything is here: nothing.  Threads: one at a
   time. */
int file_open_class(struct job *j, uint32_t class_index, char *why, size_t why_size);
/* The same, and the grammar with the exponents of a member; the same one for members with the same exponents. It
   belongs to the job. */
int file_open_member(struct job *j, uint32_t class_index, uint32_t rank, uint32_t thread, const struct grammar_flat **g,
                     char *why, size_t why_size);
