/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "replay/calls.h"

/* A variant with large counts, MPI_Send_c, is the same call. */
static struct replay_call named(const char *name)
{
    size_t length = strlen(name);

    if (length > 2 && !strcmp(name + length - 2, "_c"))
        length -= 2;
    for (const struct replay_call_row *row = replay_calls; row->name; row++)
        if (!strncmp(name, row->name, length) && !row->name[length])
            return row->is;
    return (struct replay_call){ BIND_NOTHING, REPLAY_ALL, REPLAY_CERTAIN };
}

/* A collective that waits: a blocking one, also one that makes communicators or windows. */
static bool synchronises(const struct job_terminal *t)
{
    return t->blocking && t->comm != GRAMMAR_NONE &&
           (t->call_kind == JOB_COLLECTIVE || t->call_kind == JOB_COMMUNICATOR);
}

struct replay_call replay_call_of(const struct job *j, const struct job_terminal *t)
{
    struct replay_call is = named(job_text(j, t->function));

    if (t->phase != JOB_LEAF)
        is.what = BIND_NOTHING;
    else if (t->kind == JOB_REGION)
        is.what = BIND_REGION;
    else if (is.what == BIND_NOTHING)
        is.what = synchronises(t) ? BIND_COLLECTIVE : BIND_LOCAL;
    else if (is.what == BIND_ICOLLECTIVE && t->comm == GRAMMAR_NONE)
        is.what = BIND_LOCAL;
    return is;
}
