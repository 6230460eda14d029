/* SPDX-License-Identifier: MIT */
/*
 * Boards of another node, through a file: what a reader there has seen, written anew every other second into a
 * directory that both nodes see, the job's directory of parts.
 *
 *     node a: /dev/shm/pythia-… ──watch_copy_write──> FILE.parts/boards-JOB-RANK ──watch_copy_read──> b
 *             and /proc/PID
 *
 * One file a node, named by the rank that writes it, 0600, replaced as a whole; pages of zeros alone are left out: some
 * 30 KB a rank. Who reads it trusts it as little as a board (watch/read.h). Its age is told by the clock of its
 * file system, and by that of who looks again and again.
 *
 * Threads: any, each with a copier of its own.  Hook-safe: no.
 */
#pragma once

#include "watch/read.h"

struct watch_copier {
    struct watch_used *used; /* of each board */
    uint32_t count;
};
#define WATCH_COPY_STEP UINT64_C(2000000000) /* ns between two copies, where they cost little */

/* "DIRECTORY/boards-JOB-RANK" */
void watch_copy_path(char *path, size_t size, const char *directory, uint64_t job, uint32_t rank);
/* Writes the boards of a job that this node has, unless these are all of its ranks; the next ones come `step` ns later.
   0, or -1 with errno. */
int watch_copy_write(struct watch_copier *c, const char *path, uint64_t job, uint32_t ranks, uint64_t step);
void watch_copier_close(struct watch_copier *c);

/* Adds each board that a directory has copies of. */
void watch_copy_read(const char *directory, struct watch_sights *list);
