/* SPDX-License-Identifier: MIT */
/*
 * A stream of events from a text stream or from a job file, read one event at a time, with terminals in one numbering:
 * equal words have equal numbers, and a job's terminals those that they match in another job.
 *
 * Functions that return TOOL_… have complained where it isn't TOOL_OK.
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>

#include "grammar/grammar.h"
#include "file/ahead.h"
#include "job/job.h"
#include "tools/progress.h"
#include "tools/stream.h"

struct source {
    const char *path;                   /* the caller's */
    struct job *words;                  /* their strings, shared, so that equal words have equal numbers */
    struct stream *text;
    struct job *job;
    struct grammar_flat *grammar; /* of the job's stream; owned */
    struct file_stream stream;    /* the job's; job NULL: of a text stream */
    struct grammar_cursor cursor;
    int more;
    struct progress progress;
    uint32_t *number;                   /* of the job's terminals, as in the other source */
};

/* Which stream of a job file is meant: `rank` NULL where nobody said. */
struct source_stream {
    const uint32_t *rank;
    uint32_t thread;
};

/* Opens `path` (- is standard input) into a zeroed source. `words` outlives it; `like`, NULL or another source, gives
   job terminals that match the number that they have there. Its events are read for `what` ("learning"), for people who
   wait. */
int source_open(struct source *s, const char *path, const char *what, struct job *words,
                const struct source *like, const struct source_stream *stream);

/* Also of a source that is zeroed or could not be opened. */
void source_close(struct source *s);

/* 1 with an event, of a job with its values (GRAMMAR_NONE: its order was given up), 0 at the end, -1 after a complaint. */
int source_next(struct source *s, struct grammar_event *e);

/* The grammar of all that is left of it, terminals in the common numbering; *g is the caller's. */
int source_learn(struct source *s, struct grammar_flat **g);
