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
#pragma once

#include "watch/board.h"
#include "watch/process.h"

/* A board as it was at one moment, and its process. */
struct watch_sight {
    struct watch_board board; /* since: WATCH_CHANGES where it was being written all the time */
    struct watch_process process;
    uint64_t now, idle_ns; /* when that was, on its node's clock; and how long it had had no processor time */

    /* What is not copied (watch/copy.h). */
    enum watch_reading { WATCH_READ, WATCH_OTHER_VERSION, WATCH_REFUSED, WATCH_GONE } reading;
    const char *why;          /* of what is refused */
    struct watch_used used;   /* idle_ns is made of it */
    bool copied, asked;       /* from a file (watch/copy.h); of a directory that was asked for */
    bool starves;             /* it could have run since it was seen before, and had next to no processor time */
    uint64_t changed_ns, step_ns, age_ns; /* of such a file: when, since 1970; how often; how old it is */
    uint64_t seen_ns;         /* when it was read, on the reader's clock */
    const struct watch_sight *before; /* the same at an earlier look; NULL: none */
    uint64_t delayed_ns[WATCH_SEASONS]; /* what its process lacked until each season ended, at least */
};
/* A list of these. */
struct watch_sights {
    struct watch_sight **of;
    uint32_t count, other_version; /* boards that another version of Pythia has made are left out */
    bool failed;                   /* out of memory: some are missing */
    void (*refuse)(const char *path, const char *why); /* is told what is left out else; may be NULL */
};

/* Its file's name, "/dev/shm/pythia-UID-JOB-RANK". */
enum { WATCH_PATH = 64 };
void watch_path(char path[WATCH_PATH], uint64_t job, uint32_t rank);
/* The board of a rank; what became of it is in s->reading. */
void watch_read(uint64_t job, uint32_t rank, struct watch_sight *s);
/* Adds those of a job, or of all (0), by job, then rank. */
void watch_read_all(uint64_t job, struct watch_sights *list);
/* The list owns it, or drops it: what could not be read. NULL: there was no memory for it. */
void watch_sights_add(struct watch_sights *list, struct watch_sight *s);
void watch_sights_free(struct watch_sights *list);

/* Opens a file that must be one of this user's alone; -1 with errno, and the reason. */
int watch_read_open(const char *path, const char **why);
/* Whether what is used in there may be; cleans its texts. */
bool watch_is_sound(struct watch_board *b);

/* The call that another thread waits in, and for how long, ns; NULL: it is in none that blocks. */
const struct watch_named *watch_thread_waits(const struct watch_sight *s, uint32_t thread, uint64_t *since_ns);

/* Boards of this user, as their names say, of a job, or of all (0), by job, then rank; the caller frees the list. */
struct watch_found { uint64_t job; uint32_t rank; };
uint32_t watch_find(uint64_t job, struct watch_found **found);

/* Removes the boards of jobs of which no process lives on this node. */
void watch_sweep(void);
