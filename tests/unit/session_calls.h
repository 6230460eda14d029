/* SPDX-License-Identifier: MIT */
/* The session driven as hooks drive it, without MPI or OpenMP: calls and regions in, a job out. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "session/internal.h"
#include "tests/unit/audit.h"
#include "tests/unit/unit.h"

/* A hook that begins here, and a span that ends now. */
static inline __attribute__((always_inline)) struct session_stream *session_enter(void)
{
    return session_enter_from(base_frame_here());
}

static inline void session_end(struct session_stream *s, struct session_span *span, struct grammar_event *e)
{
    session_end_at(s, span, e, session_now(s), 0);
}

static const struct session_world alone = {.rank = 0, .ranks = 1, .mpi = ""};

static inline struct session_key key_of(const char *function)
{
    struct session_key key;
    memset(&key, 0, sizeof key);
    key.function = function;
    key.kind = JOB_CALL;
    key.callsite = key.comm = GRAMMAR_NONE;
    return key;
}

static inline void region_from(struct base_frame frame, struct session_stream **s, struct session_span *span,
                               const char *name)
{
    uint32_t unknown = GRAMMAR_NONE;
    *s = session_enter_from(frame);
    ck_assert_ptr_nonnull(*s);
    session_begin_region(*s, span, name, 0, GRAMMAR_NONE, &unknown, NULL);
}

/* The region ends with the function that this stands in; there may be calls and others in it. */
static inline __attribute__((always_inline)) void region_in(struct session_stream **s, struct session_span *span,
                                                            const char *name)
{
    region_from(base_frame_at(base_frame_here().at), s, span, name);
}

/* A call that has been entered returns. */
static inline void whole_call(struct session_stream *s, const struct session_key *key, struct grammar_event *event)
{
    uint64_t begin = session_now(s);
    session_whole(s, key, GRAMMAR_NONE, event, begin, session_now(s), 0);
}

/* False: it passed through, nothing is recorded. */
static inline bool call_is_seen(const char *function)
{
    struct session_key key = key_of(function);
    struct session_stream *s = session_enter();
    if (s)
        whole_call(s, &key, &(struct grammar_event){.channels = 0});
    return s != NULL;
}

static inline void call(const char *function)
{
    ck_assert(call_is_seen(function));
}

static inline struct job *finish_and_check(void)
{
    char why[256] = "";
    struct job *j = session_finish();
    ck_assert_ptr_nonnull(j);
    ck_assert_msg(audit_job(j, why, sizeof why) == 0, "%s", why);
    return j;
}

/* "a b{ c b}": functions of a stream's events in order, with { and } for openings and closings. */
static inline void expect_events(const struct job *j, uint32_t thread, const char *expected)
{
    static const char *const suffix[] = {"", "{", "}"};
    char text[4096] = "";
    const struct job_stream *stream = job_find_stream(j, 0, thread);
    ck_assert_ptr_nonnull(stream);
    struct grammar_cursor c;
    const struct grammar_flat *g = j->classes[stream->class_index].grammar;
    for (int more = grammar_cursor_open(&c, g); more; more = grammar_cursor_next(&c)) {
        const struct job_terminal *t = &j->terminals[c.terminal];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s%s", n ? " " : "", job_text(j, t->function), suffix[t->phase]);
    }
    grammar_cursor_close(&c);
    ck_assert_str_eq(text, expected);
}

static inline void expect_times_add_up(const struct job *j, uint32_t thread)
{
    const struct job_stream *stream = job_find_stream(j, 0, thread);
    const struct grammar_flat *g = j->classes[stream->class_index].grammar;
    uint64_t sum = 0;
    for (uint32_t n = 0; n < g->rules[0].length; n++)
        sum += g->stats[n].gap.sum + g->stats[n].duration.sum;
    ck_assert_uint_eq(sum, stream->wall_ns);
}

/* Calls until the session is finished. */
static inline void *hammer_until_off(void *unused)
{
    while (call_is_seen("x"))
        continue;
    return unused;
}

static inline void loop_program(void)
{
    call("init");
    for (int i = 0; i < 200; i++) {
        call("send");
        call("recv");
        if (i % 10 == 9)
            call("reduce");
    }
    call("end");
}

/* As a job file in memory; *data is the caller's. Returns its size. */
static inline size_t record_loop_program(void **data)
{
    size_t size;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    loop_program();
    struct job *recorded = finish_and_check();
    ck_assert_int_eq(file_pack(recorded, NULL, data, &size), 0);
    job_destroy(recorded);
    return size;
}
