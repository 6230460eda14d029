/* SPDX-License-Identifier: MIT */
#include "session/self.h"

#include <errno.h>

#include "api/api.h"
#include "base/fpu.h"
#include "base/guard.h"
#include "pythia.h"
#include "session/internal.h"

static __thread struct { base_fpu_t fpu; int error; } kept;

static bool self_enter(void *context)
{
    struct session_stream *s = context;

    kept.error = errno;
    kept.fpu = base_fpu_hold();
    return stream_take(s) && s->oracle;
}

static void self_leave(void *context)
{
    stream_release(context);
    base_fpu_give_back(kept.fpu);
    errno = kept.error;
}

static struct session_stream *own_stream(void)
{
    return base_here.generation == session.generation ? base_here.stream : NULL;
}

static void lend(struct session_stream *s)
{
    uint32_t class_index = job_stream_class(session.reference, session.world.rank, s->thread);
    const struct api_loan loan = { .lender = { self_enter, self_leave, s },
                                   .oracle = s->oracle,
                                   .job = session.reference,
                                   .class_index = class_index,
                                   .rank = session.world.rank,
                                   .thread = s->thread,
                                   .courses = &s->peers.follow };
    int error = errno;

    if (class_index == GRAMMAR_NONE || api_lend(&loan, &s->lent))
        s->lent = NULL;
    errno = error;
}

pythia_oracle_t *pythia_oracle_self(void)
{
    struct session_stream *s = session_mode() == SESSION_PREDICT ? own_stream() : NULL;

    if (!s || !s->oracle)
        return NULL;
    if (!s->lent && session.reference)
        lend(s);
    return s->lent;
}

void session_self_close(struct session_stream *s)
{
    api_lent_destroy(s->lent);
    s->lent = NULL;
}
