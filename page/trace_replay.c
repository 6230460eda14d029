/* SPDX-License-Identifier: MIT */
/*
 * A trace event by event: what the replay does, written while it runs.
 *
 *   slice   a call or region, from when its rank comes to it to when it goes on; of a wait in it a slice inside
 *   flow    a message, from the slice that sends it to the slice that has it; and within a collective from who was late
 *           to who waited
 *
 * The replay begins where MPI_Init ends; the trace with the longest MPI_Init. Further threads of a rank take no part in
 * the replay: they are drawn by their own means, since they began. A thread whose class has no times of its own is left
 * out.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "findings/findings.h"
#include "findings/ranges.h"
#include "job/streams.h"
#include "page/replayed.h"
#include "page/trace_parts.h"

struct running {
    struct page_replayed replayed;
    struct trace *t;
    struct { int64_t clock; uint32_t late; } *rank; /* late: whom the present call waited for last, or REPLAY_NONE */
    uint64_t flows;
};

static void print_ns(struct trace *t, const char *key, int64_t ns)
{
    fprintf(t->out, "\"%s\":%" PRId64 ".%03d,", key, ns / 1000, (int)(ns % 1000));
}

static void print_at(struct trace *t, int64_t ns)
{
    print_ns(t, "ts", ns + t->launch);
}

/* --- Slices --- */

static void print_values(struct trace *t, const struct job_class *class, const struct grammar_cursor *c, uint32_t rank,
                         uint32_t thread)
{
    static const struct { enum grammar_channel channel; const char *key; } values[] = {
        { GRAMMAR_PEER, "peer" }, { GRAMMAR_BYTES, "bytes" } };
    int64_t value;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (job_attr_value(t->r->job, class, c->node, values[i].channel, rank, thread, c->nth, &value) == 0 &&
            value >= 0)
            fprintf(t->out, ",\"%s\":%" PRId64, values[i].key, value);
}

static void print_slice(struct trace *t, const struct job_class *class, const struct grammar_cursor *c, uint32_t rank,
                        uint32_t thread, int64_t begin, int64_t end)
{
    static const char *const phases[] = { "X", "B", "E" };
    const struct job_terminal *terminal =
        c->terminal < t->r->job->terminal_count ? &t->r->job->terminals[c->terminal] : NULL;
    int phase = terminal ? terminal->phase % 3 : 0;

    page_trace_event(t, phases[phase], rank, thread);
    print_at(t, phase == JOB_CLOSE ? end : begin);
    if (phase == JOB_LEAF)
        print_ns(t, "dur", end - begin);
    if (terminal) {
        fputs(t->name[c->terminal], t->out);
        print_values(t, class, c, rank, thread);
        fputs("}}", t->out);
    } else {
        fputs("\"name\":\"LOST\",\"cat\":\"lost\"}", t->out);
    }
    if (t->how->step)
        t->how->step(t->how->context, t->done);
}

static void print_wait(struct trace *t, uint32_t rank, int64_t begin, int64_t end, uint32_t late)
{
    page_trace_event(t, "X", rank, 0);
    print_at(t, begin);
    print_ns(t, "dur", end - begin);
    fprintf(t->out, "\"name\":\"wait for rank %u\",\"cat\":\"wait\",\"args\":{\"late\":%u}}", late, late);
}

/* --- The replay --- */

static void event(void *context, uint32_t rank, int64_t begin, int64_t end)
{
    struct running *g = context;
    const struct page_rank *p = &g->replayed.rank[rank];

    print_slice(g->t, p->c, &p->at, rank, 0, begin, end);
    g->rank[rank].late = REPLAY_NONE;
}

static void spent(void *context, uint32_t rank, int64_t until, const struct replay_op *op, uint32_t late)
{
    struct running *g = context;
    const struct page_rank *p = &g->replayed.rank[rank];
    int64_t end = late == REPLAY_NONE ? until : g->rank[late].clock, clock = g->rank[rank].clock;

    (void)op;
    if (end <= clock || end > until)
        return;
    if (late != REPLAY_NONE && p->begun) {
        print_wait(g->t, rank, clock > p->begin ? clock : p->begin, end, late);
        g->rank[rank].late = late;
    }
    g->rank[rank].clock = end;
}

static void print_flow(struct running *g, const char *phase, uint32_t rank, int64_t ts, const char *name)
{
    page_trace_event(g->t, phase, rank, 0);
    print_at(g->t, ts);
    fprintf(g->t->out, "%s\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"%s\"}", *phase == 'f' ? "\"bp\":\"e\"," : "",
            g->flows, name, name);
}

static void delivered(void *context, const struct replay_delivery *d)
{
    struct running *g = context;
    const struct page_rank *to = &g->replayed.rank[d->to];
    const struct replay_bind *bind = findings_analysis(g->t->r)->bind;
    bool message = bind->site[d->place / 2].call_kind == JOB_P2P;

    if (!to->begun || (!message && g->rank[d->to].late != d->from))
        return;
    const char *name = message ? "message" : "late";
    g->flows++;
    print_flow(g, "s", d->from, d->sent, name);
    print_flow(g, "f", d->to, d->arrived > to->begin ? d->arrived : to->begin, name);
}

static void replay(struct trace *t)
{
    uint32_t ranks = t->r->job->info.ranks;
    struct running g = { .replayed = { .event = event, .watch = { .spent = spent, .delivered = delivered } }, .t = t,
                         .rank = calloc(ranks + 1u, sizeof *g.rank) };

    for (uint32_t r = 0; r < ranks; r++)
        g.rank[r].late = REPLAY_NONE;
    page_replayed_open(&g.replayed, t->r);
    page_replayed_run(&g.replayed);
    page_replayed_close(&g.replayed);
    free(g.rank);
}

/* --- Further threads --- */

/* The stream's own times, where its class has more members than it. */
static bool own_times(const struct job *j, uint32_t c, uint32_t node, const struct job_stream *s, double *gap,
                      double *duration)
{
    const struct grammar_stats *mean = &j->classes[c].grammar->stats[node];
    const struct job_own *o = job_own_of(j, c, node, s->rank, s->thread);

    *gap = o ? job_own_mean(o, JOB_OWN_GAP) : grammar_moments_mean(&mean->gap, mean->count);
    *duration = o ? job_own_mean(o, JOB_OWN_DURATION) : grammar_moments_mean(&mean->duration, mean->count);
    return o != NULL;
}

static bool has_own(const struct job *j, uint32_t c, const struct job_stream *s)
{
    double gap, duration;

    for (uint32_t n = 0; n < j->classes[c].grammar->node_count; n++)
        if (own_times(j, c, n, s, &gap, &duration))
            return true;
    return findings_members(&j->classes[c]) == 1;
}

static void print_thread(struct trace *t, uint32_t c, const struct job_stream *s)
{
    const struct job *j = t->r->job;
    double now = (double)job_stream_mean(s, s->begin_ns), gap, duration;
    struct grammar_cursor at;

    if (!has_own(j, c, s))
        return;
    page_trace_thread(t, s->rank, s->thread);
    struct grammar_flat *own = job_member_grammar(&j->classes[c], s->rank, s->thread);
    int more = grammar_cursor_open(&at, own);
    for (; more && !ferror(t->out); more = grammar_cursor_next(&at)) {
        own_times(j, c, at.node, s, &gap, &duration);
        print_slice(t, &j->classes[c], &at, s->rank, s->thread, (int64_t)(now + gap), (int64_t)(now + gap + duration));
        now += gap + duration;
    }
    grammar_cursor_close(&at);
    job_member_free(own);
}

void page_trace_ranks(struct trace *t)
{
    const struct job *j = t->r->job;
    char name[32];

    for (uint32_t r = 0; r < j->info.ranks; r++) {
        snprintf(name, sizeof name, "rank %u", r);
        page_trace_process(t, r, name);
        page_trace_thread(t, r, 0);
    }
    t->launch = (int64_t)t->r->model->launch_ns;
    replay(t);
    t->launch = 0;
    for (uint32_t i = 0; i < j->stream_count; i++) {
        const struct job_stream *s = &j->streams[i];
        if (s->thread && s->class_index < j->class_count && j->classes[s->class_index].grammar)
            print_thread(t, s->class_index, s);
    }
}
