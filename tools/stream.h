/* SPDX-License-Identifier: MIT */
/*
 * Text streams: one event a line, read one by one; never more than a line is held.
 *
 *     word [TAB gap_ns [TAB duration_ns]]
 *
 * A word is any sequence of bytes without blanks and control characters. Times are decimal integers. Blank lines and
 * lines that begin with # are skipped. Everything else is refused, with file, line and reason: a last line without
 * its newline (the stream may be cut short) and a stream without any event, too.
 *
 *     struct job *words = job_create();
 *     struct stream *s = stream_open(path, words);              // "-": standard input
 *     struct grammar_event e;
 *     int status;
 *     while ((status = stream_next(s, &e)) > 0)
 *         use(job_text(words, e.terminal), e.gap, e.duration);
 *     if (status < 0)
 *         fprintf(stderr, "%s\n", stream_why(s));               // "FILE:12: the gap is no number"
 *     stream_close(s);
 *
 * Words are strings of a job, numbered from 0 as first seen; streams that share it share the numbers.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "grammar/grammar.h"
#include "job/job.h"

enum { STREAM_LINE = 4096 }; /* bytes of the longest line */

struct stream;

/* A file that cannot be opened is reported by the first stream_next. */
struct stream *stream_open(const char *path, struct job *words);
/* The same from an open file, which becomes the stream's; `name` is for messages. */
struct stream *stream_open_file(FILE *file, const char *name, struct job *words);
void stream_close(struct stream *s); /* NULL is legal */
/* 1 with an event, its terminal the word, 0 at the end, a negative PYTHIA_E… on failure (the same from then on). */
int stream_next(struct stream *s, struct grammar_event *e);
/* Bytes of the file, 0 where it is not known (a pipe), and of them read so far. */
uint64_t stream_size(const struct stream *s);
uint64_t stream_bytes(const struct stream *s);
/* One line on the failure: file, line and reason. */
const char *stream_why(const struct stream *s);
