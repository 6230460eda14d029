/* SPDX-License-Identifier: MIT */
/* What an opened job keeps of its file. Private to merge/. */
#ifndef PYTHIA_MERGE_OPEN_H
#define PYTHIA_MERGE_OPEN_H

#include <stddef.h>
#include <stdint.h>

struct merge_store;
void merge_store_close(struct merge_store *s); /* NULL is legal */

/* file.c: a regular file, open for reading. */
int merge_file_open(const char *path, int *fd, uint64_t *size, char *why, size_t why_size);

#endif
