/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a text stream: the reader gives events or refuses with one line; what it gives is folded and audited.
 * A target of libFuzzer; tests/unit/test_stream.c feeds it mutated streams in every check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/grammar.h"
#include "tests/unit/audit.h"
#include "tools/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_stream: not so: %s\n", what);
        abort();
    }
}

static void check_word(const char *word)
{
    demand(*word != '\0', "a word has letters");
    for (; *word; word++)
        demand((unsigned char)*word > ' ' && *word != 0x7f, "a word has no blanks and no control characters");
}

static void check_refusal(struct stream *s, int status)
{
    struct grammar_event e;
    const char *why = stream_why(s);

    demand(strncmp(why, "bytes:", 6) == 0, "a refusal names the file");
    demand(strchr(why, '\n') == NULL && strlen(why) < 400, "a refusal is one line");
    demand(stream_next(s, &e) == status, "a refusal is final");
}

static int read_events(struct stream *s, struct job *w, struct grammar *g)
{
    struct grammar_event e;
    uint64_t total = 0;
    int status;

    while ((status = stream_next(s, &e)) > 0) {
        demand(e.terminal < w->string_count, "words are numbered");
        check_word(job_text(w, e.terminal));
        demand(e.gap <= INT64_MAX - total && e.duration <= INT64_MAX - total - e.gap, "times add up below 2^63");
        total += e.gap + e.duration;
        grammar_append(g, &(struct grammar_event){ .terminal = e.terminal, .gap = e.gap, .duration = e.duration });
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    struct job *words = job_create();
    struct grammar *g = grammar_create(1 << 20);
    struct stream *s = file ? stream_open_file(file, "bytes", words) : NULL;
    char why[128] = "";

    if (s) {
        int status = read_events(s, words, g);
        if (status < 0)
            check_refusal(s, status);
        demand(stream_bytes(s) <= size + 1, "no more is read than there is");
        demand(audit_grammar(g, why, sizeof why) == 0, "the grammar is sound");
    }
    stream_close(s);
    grammar_destroy(g);
    job_destroy(words);
    return 0;
}
