/* SPDX-License-Identifier: MIT */
/* Where this process stands, for its part: a run that dies is told by it. */
#include <stdlib.h>

#include "job/schema.h"
#include "pythia.h"
#include "session/internal.h"
#include "watch/kept.h"

static struct watch_sight *last; /* of a board that is gone */

void session_ends_close(void)
{
    free(last);
    last = watch_kept_see();
}

/* The time since its last event is of the run, and in a call of the call. */
static void add_time(struct job *job, uint64_t since, bool in_call)
{
    for (uint32_t i = 0; i < job->stream_count; i++)
        if (job->streams[i].thread == 0) { /* all are this rank's */
            job->streams[i].wall_ns += since;
            job->streams[i].mpi_ns += in_call ? since : 0;
            job_stream_alone(&job->streams[i], session.world.rank);
        }
}

static int ends_add(struct job *job, const struct watch_sight *s)
{
    const struct watch_board *b = &s->board;
    bool inside;
    uint64_t since = watch_kept_since(s, &inside), from = b->from & ~WATCH_OF_REGION;
    char *board = watch_kept_text(s);
    struct job_end end = {.rank = session.world.rank, .inside = inside, .since_ns = since};
    end.function = job_string(job, b->is.function);
    end.board = board ? job_string(job, board) : GRAMMAR_NONE;
    end.callsite = from ? session_define_place(job, from) : GRAMMAR_NONE;
    free(board);
    if (end.function == GRAMMAR_NONE || end.board == GRAMMAR_NONE)
        return PYTHIA_ENOMEM;
    add_time(job, since, inside && b->is.what.call_kind != WATCH_REGION);
    return job_rows_add(job, JOB_TABLE_ENDS, &end);
}

/* Another thread that waits in a call. */
static void add_thread(struct job *job, const struct watch_sight *s, uint32_t thread)
{
    struct job_end end = {.rank = session.world.rank, .thread = thread + 1, .inside = 1};
    const struct watch_named *call = watch_thread_waits(s, thread, &end.since_ns);
    if (!call)
        return;
    end.function = job_string(job, call->function);
    end.board = job_string(job, "");
    end.callsite = session_define_place(job, s->board.thread[thread].from);
    if (end.function != GRAMMAR_NONE && end.board != GRAMMAR_NONE)
        (void)job_rows_add(job, JOB_TABLE_ENDS, &end);
}

bool session_ends_add(struct job *job)
{
    struct watch_sight *now = watch_kept_see();
    const struct watch_sight *s = now ? now : last;
    bool added = s && s->board.rank == session.world.rank && !ends_add(job, s);
    for (uint32_t i = 0; added && i < WATCH_THREADS; i++)
        add_thread(job, s, i);
    free(now);
    return added;
}
