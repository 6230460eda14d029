/* SPDX-License-Identifier: MIT */
#include "tools/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pythia.h"

struct stream {
    FILE *file;
    struct job *words;
    char *name;
    uint64_t number;  /* of the line */
    uint64_t bytes;   /* read */
    bool any;         /* there was an event */
    bool ended;       /* the line had a newline */
    uint64_t total;   /* ns so far */
    int status;       /* of a failure */
    char why[512];
    char line[STREAM_LINE + 2];
};

static int fail(struct stream *s, int status, const char *reason)
{
    if (s->number)
        snprintf(s->why, sizeof s->why, "%.300s:%ju: %s", s->name, (uintmax_t)s->number, reason);
    else
        snprintf(s->why, sizeof s->why, "%.300s: %s", s->name, reason);
    s->status = status;
    return status;
}

struct stream *stream_open_file(FILE *file, const char *name, struct job *words)
{
    struct stream *s = calloc(1, sizeof *s);

    s->name = strdup(name);
    s->words = words;
    s->file = file;
    return s;
}

struct stream *stream_open(const char *path, struct job *words)
{
    bool input = strcmp(path, "-") == 0;
    FILE *file = input ? stdin : fopen(path, "re");
    int error = errno;
    struct stream *s = stream_open_file(file, input ? "standard input" : path, words);

    if (!file)
        fail(s, PYTHIA_EIO, strerror(error));
    return s;
}

void stream_close(struct stream *s)
{
    if (!s)
        return;
    if (s->file && s->file != stdin)
        fclose(s->file);
    free(s->name);
    free(s);
}

uint64_t stream_size(const struct stream *s)
{
    struct stat st;

    return s->file && fstat(fileno(s->file), &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

uint64_t stream_bytes(const struct stream *s)
{
    return s->bytes;
}

const char *stream_why(const struct stream *s)
{
    return s->why;
}

/* Length of the next line, in s->line without its end; -1 at the end of the file, else a negative status - 1. */
static long read_line(struct stream *s)
{
    size_t n = 0;
    int c;

    while ((c = getc_unlocked(s->file)) != EOF && c != '\n') {
        if (n == STREAM_LINE)
            break;
        s->line[n++] = (char)c;
    }
    if (c == EOF && ferror(s->file))
        return fail(s, PYTHIA_EIO, strerror(errno)) - 1L;
    if (c == EOF && n == 0)
        return -1;
    s->number++;
    s->bytes += n + 1;
    s->ended = c == '\n';
    if (c != '\n' && c != EOF)
        return fail(s, PYTHIA_EFORMAT, "the line is longer than 4096 bytes") - 1L;
    if (n > 0 && s->line[n - 1] == '\r')
        n--;
    s->line[n] = '\0';
    return (long)n;
}

static const char job_file[] = "PYTHIA\x1a";

static int at_end(struct stream *s)
{
    if (s->any)
        return 0;
    s->number += s->number == 0;
    return fail(s, PYTHIA_EFORMAT, "the stream is empty: no event up to its end");
}

static bool blank(const char *line, size_t n)
{
    return strspn(line, " \t\r\f\v") == n;
}

static const char *check_word(const char *word, size_t n)
{
    if (n == 0)
        return "no word before the tab";
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)word[i];
        if (c == 0)
            return "a NUL byte";
        if (c == ' ')
            return "a blank in the word (fields are separated by tabs)";
        /* C0, DEL, C1 */
        if (c < 0x20 || c == 0x7f || (c == 0xc2 && i + 1 < n && (unsigned char)(word[i + 1] - 0x80) < 0x20))
            return "a control character in the word";
    }
    return NULL;
}

/* A field of decimal digits up to a tab or the end; `*at` is set behind it. */
static const char *read_time(const char **at, const char *end, uint64_t *ns)
{
    const char *p = *at;
    uint64_t x = 0;

    if (p < end && *p == '-')
        return "a negative time";
    for (; p < end && *p != '\t'; p++) {
        if (*p < '0' || *p > '9')
            return "a time that is no decimal number";
        if (x > (INT64_MAX - 9) / 10)
            return "a time beyond 2^63 ns";
        x = 10 * x + (uint64_t)(*p - '0');
    }
    if (p == *at)
        return "an empty time";
    *at = p;
    *ns = x;
    return NULL;
}

static const char *parse(struct stream *s, size_t n, struct grammar_event *e)
{
    char *end = s->line + n, *tab = memchr(s->line, '\t', n), *word_end = tab ? tab : end;
    const char *at = word_end, *reason = check_word(s->line, (size_t)(word_end - s->line));

    grammar_event_set(e, 0, 0, 0);
    if (!reason && at < end && (at++, true))
        reason = read_time(&at, end, &e->gap);
    if (!reason && at < end && (at++, true))
        reason = read_time(&at, end, &e->duration);
    if (!reason && at < end)
        reason = "more than three fields";
    if (reason)
        return reason;
    if (e->gap > INT64_MAX - s->total || e->duration > INT64_MAX - s->total - e->gap)
        return "the times add up to more than 2^63 ns";
    if (!s->ended)
        return "the last line has no newline: the stream may be cut short";
    s->total += e->gap + e->duration;
    *word_end = '\0';
    e->terminal = job_string(s->words, s->line);
    return NULL;
}

int stream_next(struct stream *s, struct grammar_event *e)
{
    const char *reason;
    long n;

    if (s->status)
        return s->status;
    do {
        n = read_line(s);
        if (n < 0)
            return n == -1 ? at_end(s) : (int)(n + 1);
    } while (s->line[0] == '#' || blank(s->line, (size_t)n));
    if (s->number == 1 && strncmp(s->line, job_file, sizeof job_file - 1) == 0)
        return fail(s, PYTHIA_EFORMAT, "this is a job file, not a text stream (pythia events prints one as a stream)");
    reason = parse(s, (size_t)n, e);
    if (reason)
        return fail(s, PYTHIA_EFORMAT, reason);
    if (e->terminal == GRAMMAR_NONE)
        return fail(s, PYTHIA_ELIMIT, "too many different words");
    s->any = true;
    return 1;
}
