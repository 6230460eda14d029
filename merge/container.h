/* SPDX-License-Identifier: MIT */
/*
 * The container of a packed job: header, section table, checksums, compression. Takes hostile bytes.
 *
 * Every byte is vouched for: header and table by one checksum, each section by its own, what is between them must be 0.
 * Lengths are compared with what is there before anything is allocated; a compressed section can't claim more than
 * FORMAT_RATIO_MAX times its stored size, so that memory is bounded by the size of the input.
 *
 * Private to merge/.  Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_MERGE_CONTAINER_H
#define PYTHIA_MERGE_CONTAINER_H

#include <stddef.h>

#include "merge/format.h"

struct merge_section {
    const unsigned char *data; /* uncompressed; NULL: the section is absent */
    uint64_t size, count;
    unsigned char *owned; /* what was decompressed */
};

struct merge_container {
    struct merge_section section[SECTION_TYPES];
};

/* Reads and verifies all sections; they point into `data` where they are stored as they are. 0, PYTHIA_EFORMAT,
   PYTHIA_EVERSION or PYTHIA_ENOMEM with one line in `why`. */
int merge_container_open(struct merge_container *c, const void *data, size_t size, char *why, size_t why_size);
void merge_container_close(struct merge_container *c);

/* As job_pack, for a file: times of blocks of ranks are rounded, see doc/FORMAT.md. */
struct job;
int merge_pack_file(const struct job *j, void **data, size_t *size);

/* Writes a line into `why`; returns PYTHIA_EFORMAT. */
__attribute__((format(printf, 3, 4))) int merge_refuse(char *why, size_t size, const char *format, ...);

const char *merge_section_name(uint32_t type);

#endif
