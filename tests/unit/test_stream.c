/* SPDX-License-Identifier: MIT */
/* The reader of text streams: what it gives, what it refuses and where; and mutated streams, thousands of them. */
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "tests/unit/unit.h"
#include "tools/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* tests/fuzz/fuzz_stream.c */

static struct stream *open_text(const char *text, size_t size, struct job *w)
{
    FILE *f = fmemopen((void *)(uintptr_t)text, size, "r");

    ck_assert_ptr_nonnull(f);
    return stream_open_file(f, "bytes", w);
}

START_TEST(events_come_one_by_one)
{
    static const char text[] = "# comment\n\nsend\t5\t6\r\n \t\nrecv\nsend\t7\n# end";
    struct job *w = job_create();
    struct stream *s = open_text(text, sizeof text - 1, w);
    struct grammar_event e;

    ck_assert_int_eq(stream_next(s, &e), 1);
    ck_assert(e.terminal == 0 && e.gap == 5 && e.duration == 6);
    ck_assert_int_eq(stream_next(s, &e), 1);
    ck_assert(e.terminal == 1 && e.gap == 0 && e.duration == 0);
    ck_assert_int_eq(stream_next(s, &e), 1);
    ck_assert(e.terminal == 0 && e.gap == 7 && e.duration == 0);
    ck_assert_int_eq(stream_next(s, &e), 0);
    ck_assert_int_eq(stream_next(s, &e), 0);
    ck_assert_str_eq(job_text(w, 1), "recv");
    ck_assert_uint_eq(w->string_count, 2);
    stream_close(s);
    job_destroy(w);
}
END_TEST

static const struct { const char *text; size_t size; const char *why;
} refused[] = {
#define BYTES(text) text, sizeof text - 1
    { BYTES("a\nb\0c\n"), "bytes:2: a NUL byte" },
    { BYTES("\0"), "bytes:1: a NUL byte" },
    { BYTES("a\t-1"), "bytes:1: a negative time" },
    { BYTES("a\t1\t-1"), "bytes:1: a negative time" },
    { BYTES("a\t9223372036854775808"), "bytes:1: a time beyond 2^63 ns" },
    { BYTES("a\t1e3"), "bytes:1: a time that is no decimal number" },
    { BYTES("a\t+1"), "bytes:1: a time that is no decimal number" },
    { BYTES("a\t 1"), "bytes:1: a time that is no decimal number" },
    { BYTES("a\t1\0"), "bytes:1: a time that is no decimal number" },
    { BYTES("a\n\n\nb c\n"), "bytes:4: a blank in the word (fields are separated by tabs)" },
    { BYTES("a\t9000000000000000000\nb\t300000000000000000\n"), "bytes:2: the times add up to more than 2^63 ns" },
    { BYTES("a\nb\t1"), "bytes:2: the last line has no newline: the stream may be cut short" },
    { BYTES("\n"), "bytes:1: the stream is empty: no event up to its end" },
    { BYTES("# nothing\n\n# at all"), "bytes:3: the stream is empty: no event up to its end" },
    { BYTES("PYTHIA\x1a\0\0\1"),
      "bytes:1: this is a job file, not a text stream (pythia events prints one as a stream)" },
#undef BYTES
};

START_TEST(what_is_no_stream_is_refused)
{
    struct job *w = job_create();
    struct stream *s = open_text(refused[_i].text, refused[_i].size, w);
    struct grammar_event e;
    int status;

    while ((status = stream_next(s, &e)) > 0)
        ;
    ck_assert_int_eq(status, PYTHIA_EFORMAT);
    ck_assert_str_eq(stream_why(s), refused[_i].why);
    stream_close(s);
    job_destroy(w);
}
END_TEST

START_TEST(lines_have_a_longest_length)
{
    for (int more = 0; more <= 1; more++) {
        size_t size = STREAM_LINE + (size_t)more + 1;
        struct job *w = job_create();
        struct grammar_event e;
        char *text = malloc(size);
        memset(text, 'x', size);
        text[size - 1] = '\n';
        struct stream *s = open_text(text, size, w);
        ck_assert_int_eq(stream_next(s, &e), more ? PYTHIA_EFORMAT : 1);
        if (more)
            ck_assert_str_eq(stream_why(s), "bytes:1: the line is longer than 4096 bytes");
        stream_close(s);
        job_destroy(w);
        free(text);
    }
}
END_TEST

/* --- Mutations --- */

static const char *const seeds[] = {
    "a\nb\nb\nc\nb\nc\na\nb\n",
    "send\t10\t20\nrecv\t30\t40\n# turn\n\nsend\t10\t20\nrecv\t30\t40\nwait\t5",
    "x\t9223372036854775807\n",
    "PYTHIA\x1a job",
    "\xef\xbb\xbfw\xc3\xb6rter\t1\t2\r\n",
};

static uint8_t odd_byte(void)
{
    static const char odd[] = "\t\n\r\0 #-9\x7f\xff";

    return rand() % 3 ? (uint8_t)odd[rand() % (int)sizeof odd] : (uint8_t)rand();
}

static size_t mutate(uint8_t *data, size_t size, size_t room)
{
    size_t at = size ? (size_t)rand() % size : 0, n = size ? (size_t)rand() % (size - at) + 1 : 0;

    switch (rand() % 5) {
    case 0: /* another byte */
        if (size)
            data[at] = odd_byte();
        return size;
    case 1: /* cut off */
        return at;
    case 2: /* taken out */
        memmove(data + at, data + at + n, size - at - n);
        return size - n;
    case 3: /* one more byte */
        if (size == room)
            return size;
        memmove(data + at + 1, data + at, size - at);
        data[at] = odd_byte();
        return size + 1;
    default: /* a part again at the end, as loops are */
        n = n < room - size ? n : room - size;
        memmove(data + size, data + at, n);
        return size + n;
    }
}

START_TEST(mutated_streams_are_read_or_refused)
{
    enum { ROOM = 6000, TURNS = 4000 };
    static uint8_t data[ROOM];

    srand((unsigned)_i + 1);
    for (int turn = 0; turn < TURNS; turn++) {
        size_t size = strlen(seeds[_i]);
        memcpy(data, seeds[_i], size);
        for (int n = 1 + rand() % 30; n > 0; n--)
            size = mutate(data, size, ROOM);
        LLVMFuzzerTestOneInput(data, size);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(events_come_one_by_one),
        UNIT_LOOP(what_is_no_stream_is_refused, sizeof refused / sizeof refused[0]),
        UNIT_TEST(lines_have_a_longest_length),
        UNIT_LOOP(mutated_streams_are_read_or_refused, sizeof seeds / sizeof seeds[0]),
    };
    return unit_run("stream", tests, UNIT_COUNT(tests));
}
