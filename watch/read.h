/* SPDX-License-Identifier: MIT */
/*
 * The reader's side of boards: finding them, copying what they say, refusing what is not one.
 *
 * A board is any file of a name that fits, and whoever may write there may have made it: it is opened without following
 * links, must be a regular file of this user that nobody else may touch, is read (not mapped: it may be cut off
 * meanwhile) and has every field checked before it is used. Texts lose their control characters.
 *
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_WATCH_READ_H
#define PYTHIA_WATCH_READ_H

#include "watch/board.h"
#include "watch/process.h"

/* What became of a board file. */
enum watch_reading { WATCH_READ, WATCH_OTHER_VERSION, WATCH_REFUSED, WATCH_GONE };

/* A board as it was at one moment, and its process. */
struct watch_sight {
    struct watch_board board; /* since: WATCH_CHANGES where it was being written all the time */
    struct watch_process process;
    bool alive;               /* its process runs, or has ended and nobody has asked (Z) */
    bool near;                /* its process was asked about: it is of this node, or of that where it was copied */
    uint64_t now;             /* ns: when that was, on its clock */
    uint64_t idle_ns;         /* for so long its process had no processor time, as who looks again and again has seen */
    bool copied, asked;       /* from a file (watch/copy.h); of a directory that was asked for */
    uint64_t changed_ns, step_ns, age_ns; /* of such a file: when, since 1970; how often; how old it is */
    uint64_t seen_ns;         /* when it was read, on the reader's clock */
};

/* Its file's name, "pythia-UID-JOB-RANK". */
enum { WATCH_NAME = 48 };
void watch_name(char name[WATCH_NAME], uint64_t job, uint32_t rank);
/* Reads a board in a directory. Refused: the reason in `why`. */
enum watch_reading watch_read(const char *directory, uint64_t job, uint32_t rank, struct watch_sight *s, char *why,
                              size_t size);

/* Opens a file that must be one of this user's alone; -1 with errno, and in `why` the reason. */
int watch_read_open(const char *path, char *why, size_t size);
/* Whether what is used in there may be; cleans its texts. */
bool watch_is_sound(struct watch_board *b);

/* Boards of this user in a directory, as their names say, by job, then rank; the caller frees the list. */
struct watch_found { uint64_t job; uint32_t rank; };
uint32_t watch_find(const char *directory, struct watch_found **found);

/* Removes the boards of jobs of which no process lives on this node. */
void watch_sweep(void);

#endif
