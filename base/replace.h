/* SPDX-License-Identifier: MIT */
/*
 * A file that appears whole or not at all: written under a temporary name beside the final one, synced, renamed.
 *
 *   open ── write to r.fd ──┬── commit    the new file has the name; a reader sees the old one or the new one
 *                           └── abandon   the old one stays, nothing is left
 *
 *   1. What the name links to is replaced, never the link.
 *   2. A regular file that is replaced hands its mode and, where that is allowed, its owner on to the new one.
 *   3. What is there and is no regular file (a pipe, /dev/null) is written directly: a rename would take its place.
 *   4. A temporary name tells the process that made it (and its machine): who died before the rename leaves one, which
 *      the next one to sweep removes.
 *
 * Functions return 0, or -1 with errno and the step that failed in r.what ("can't write").
 * Threads: any, each with a structure of its own.  Hook-safe: no.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct base_replace {
    char path[PATH_MAX]; /* the final name, links followed */
    char name[PATH_MAX]; /* the temporary one, "" where it is written directly */
    int fd;
    int directory;       /* -1 where it is written directly */
    bool at_once;        /* who writes is about to end: neither file nor name is synced */
    const char *what;
};

/* `wait`: whether a pipe without a reader is waited for; else it is refused. */
int base_replace_open(struct base_replace *r, const char *path, bool wait);
/* Closes r.fd, unless it is -1: then who closed it has synced it. On failure as abandon. */
int base_replace_commit(struct base_replace *r);
void base_replace_abandon(struct base_replace *r);

/* What is at `path` is kept beside it, as PATH.old-1 or with the first number that is free: kept[] says where. It has
   its old name, too, until that is given to another file, where the file system can do so. */
int base_replace_keep(const char *path, char kept[PATH_MAX]);
/* Whether it could be written now: -1 with errno where not. Nothing is changed, nothing is left. */
int base_replace_possible(const char *path);
/* Removes what dead processes of this machine left beside `path`. errno is kept. */
void base_replace_sweep(const char *path);
