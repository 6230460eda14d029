/* SPDX-License-Identifier: MIT */
/*
 * The tables of a job (job/schema.h) as sections: by columns, all first fields, all second ones, ...
 *
 *     a b c  a b c  a b c   ->   a a a  b b b  c c c         rows of a part stand behind those of the whole:
 *                                                            u32 rows of each part | columns of the whole | of a part
 *
 * Which of a part's rows belong to which row follows from how many: they stand one after the other.
 * Private to file/.  Threads: owner.  Hook-safe: no.
 */
#pragma once

#include "file/pack.h"
#include "file/unpack.h"
#include "job/schema.h"

/* Bytes of one row. */
uint32_t file_row_size(const struct job_field *field, uint32_t fields);
/* Rows of `size` bytes in memory, to and from columns. */
void file_columns_put(const struct job_field *field, uint32_t fields, const void *rows, size_t size, uint32_t count,
                      unsigned char *at);
void file_columns_get(const struct job_field *field, uint32_t fields, void *rows, size_t size, uint32_t count,
                      const unsigned char *at);
/* One record of what is in blocks, or like it, and back: word w of it is words[w * stride] (file/blocks.h). */
struct file_record { const struct job_field *field; uint32_t fields; };
extern const struct file_record file_record_parts, file_record_stats, file_record_spread, file_record_range,
    file_record_variant, file_record_turn;
void file_record_put(const struct file_record *r, const void *row, unsigned char *at);
void file_record_get(const struct file_record *r, void *row, const unsigned char *words, size_t stride);

/* All but streams and series; those that are there once, too. */
void file_pack_tables(struct file_packer *p);
/* Those that are no definitions. 0, or a negative PYTHIA_E… with a line in `why`. */
int file_unpack_tables(struct file_reader *r);
/* Rows of a table alone, malloc'ed. Same returns. */
int file_unpack_rows(struct file_reader *r, enum file_section_type type, enum job_tables t, void **rows);
