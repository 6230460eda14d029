/* SPDX-License-Identifier: MIT */
/*
 * `pythia events`: the exact sequence of one stream, expanded from its class's grammar, an event a line. Constant
 * memory whatever the number of events. The formats are in doc/EVENTS.md.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "findings/names.h"
#include "findings/resolve.h"
#include "findings/units.h"
#include "job/turns.h"
#include "tools/progress.h"
#include "tools/tool.h"

struct request {
    const char *job, *output;
    uint64_t rank, thread;
    int tsv;
    bool force;
};

static const char *const formats[] = { "text", "tsv", NULL };
static const struct tool_option options[] = {
    TOOL_COUNT(rank, 'r', "rank", "R", 0, UINT32_MAX, "rank whose events to print (required)"),
    TOOL_COUNT(thread, 't', "thread", "T", 0, UINT32_MAX, "thread of that rank (default 0)"),
    TOOL_CHOICE(tsv, 'f', "format", "FORMAT", formats, "text (default) or tsv"),
    TOOL_OUTPUT("FILE", "write to FILE"),
    { 0 },
};

static void check(void *request, struct argp_state *state)
{
    if (((struct request *)request)->rank == UINT64_MAX)
        argp_error(state, "no --rank");
}

static const struct tool_line usage = {
    .options = options, .arguments = "JOB --rank=R", TOOL_ONLY("job file", job), .check = check,
    .doc = "Prints the events of one thread of one rank, in the order of the run."
           "\v"
           "Columns of tsv: index, function, callsite, peer, gap_ns (since the event before), duration_ns, bytes, tag, "
           "communicator, completes (the indexes of the events that a completion completes). Gap and duration are "
           "means of the event in its place in the grammar. Peer: a rank of the event's communicator, ANY, NULL, - "
           "(none) or * (varies, and is not kept).\n\n"
           "Example:\n"
           "  pythia events app.pythia --rank 0 --format tsv | cut -f 2 | sort | uniq -c\n",
};

/* --- One event --- */

struct printer {
    const struct job *job;
    const struct job_class *class;
    struct grammar_flat *grammar; /* the member's */
    struct findings_resolver *resolver;
    uint32_t rank, thread;
    char **callsite; /* text by terminal, made when first needed */
    bool tsv;
    FILE *out;
};

static const char *callsite_text(struct printer *p, uint32_t terminal)
{
    char text[1024];

    if (terminal >= p->job->terminal_count)
        return "-";
    if (!p->callsite[terminal]) {
        const struct job_terminal *t = &p->job->terminals[terminal];
        findings_callsite_text(p->resolver, t->callsite, t->kind == JOB_REGION ? FINDINGS_ENTRY : FINDINGS_CALL, text,
                               sizeof text);
        p->callsite[terminal] = strdup(text);
    }
    return p->callsite[terminal];
}

/* Where no value was recorded, what the terminal's identity says. */
static const char *peer_by_class(const struct job_terminal *t)
{
    static const char *const text[] = { "-", "*", "ANY", "NULL", "SELF", "*" };

    return t && t->peer_class < sizeof text / sizeof text[0] ? text[t->peer_class] : "-";
}

/* Whether the peer is always the source of the last receive from anyone. */
static bool answers(const struct printer *p, const struct grammar_cursor *c)
{
    int64_t reply;

    return job_attr_value(p->job, p->class, c->node, GRAMMAR_REPLY, p->rank, p->thread, c->nth, &reply) == 0 &&
           reply == 1;
}

static const char *peer_text(const struct printer *p, const struct grammar_cursor *c, char *text, size_t size)
{
    const struct job_terminal *t = c->terminal < p->job->terminal_count ? &p->job->terminals[c->terminal] : NULL;
    const struct job_variant *v = job_variant(p->class, c->node, GRAMMAR_PEER, p->rank, p->thread);
    int64_t value;

    if (v && !grammar_attr_constant(&v->attr, &value) && answers(p, c)) /* what holds says more than who it was */
        return "SOURCE";
    switch (
        job_attr_value(p->job, p->class, c->node, GRAMMAR_PEER, p->rank, p->thread, c->nth, &value)) {
    case 0:
        break;
    case 1:
        return "*";
    default:
        return v ? "-" : peer_by_class(t);
    }
    if (value == GRAMMAR_PEER_ANY)
        return "ANY";
    if (value == GRAMMAR_PEER_NULL)
        return "NULL";
    if (value < 0)
        return "-";
    snprintf(text, size, "%" PRId64, value);
    return text;
}

enum { FIELD = 256 };

static const char *value_text(const struct printer *p, const struct grammar_cursor *c, enum grammar_channel channel,
                              char text[FIELD])
{
    int64_t value;
    int status = job_attr_value(p->job, p->class, c->node, channel, p->rank, p->thread, c->nth, &value);

    if (status)
        return status == 1 ? "*" : "-";
    snprintf(text, FIELD, "%" PRId64, value);
    return text;
}

/* What completes has the number of what it completed where a message has its tag. */
static const char *tag_text(const struct printer *p, const struct grammar_cursor *c, char text[FIELD])
{
    uint32_t kind = c->terminal < p->job->terminal_count ? p->job->terminals[c->terminal].call_kind : JOB_NO_CALL_KIND;

    return kind == JOB_P2P || kind == JOB_PROBE ? value_text(p, c, GRAMMAR_INDEX, text) : "-";
}

static const char *communicator_text(const struct printer *p, uint32_t terminal)
{
    uint32_t comm = terminal < p->job->terminal_count ? p->job->terminals[terminal].comm : GRAMMAR_NONE;

    return comm == GRAMMAR_NONE ? "-" : job_text(p->job, p->job->comms[comm].name);
}

/* "12,14,15"; each event that is too far back for this file, 0, is a *, and so is what does not fit. */
static const char *completes_text(const struct printer *p, const struct grammar_cursor *c, char text[FIELD])
{
    const struct job_start_run *run = NULL;
    struct job_start_run one;
    uint32_t count = 0;
    size_t used = 0;
    int status = job_completes(p->job, p->class, c->node, p->rank, p->thread, c->nth, &one, &run, &count);

    if (status)
        return status == 1 ? "*" : status == 3 ? "CANCELLED" : "-";
    for (const struct job_start_run *r = run; r < run + count; r++)
        for (uint32_t k = 0; k < r->count; k++) {
            int64_t distance = r->distance + (int64_t)k * r->step;
            bool there = distance > 0 && (uint64_t)distance <= c->index;
            if (used > FIELD - 32) {
                snprintf(text + used, FIELD - used, ",*");
                return text;
            }
            used += (size_t)(there ? snprintf(text + used, FIELD - used, "%s%" PRIu64, used ? "," : "",
                                              c->index - (uint64_t)distance)
                                   : snprintf(text + used, FIELD - used, "%s*", used ? "," : ""));
        }
    return text;
}

/* The share of occurrence i: shares differ by 1 ns at most, and add up to the sum. */
static uint64_t share(uint64_t sum, uint64_t count, uint64_t i)
{
    if (count == 0)
        return 0;
    unsigned __int128 s = sum;
    return (uint64_t)(s * (i + 1) / count) - (uint64_t)(s * i / count);
}

static void print_event(struct printer *p, const struct grammar_cursor *c)
{
    const struct grammar_stats *s = &p->grammar->stats[c->node];
    uint64_t gap = share(s->gap.sum, s->count, c->occurrence);
    uint64_t duration = share(s->duration.sum, s->count, c->occurrence);
    const char *function = findings_function_text(p->job, c->terminal);
    char peer[FIELD], bytes[FIELD], tag[FIELD], completes[FIELD];

    const char *peer_field = peer_text(p, c, peer, sizeof peer);
    if (p->tsv)
        fprintf(p->out, "%" PRIu64 "\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%s\t%s\n", c->index, function,
                callsite_text(p, c->terminal), peer_field, gap, duration, value_text(p, c, GRAMMAR_BYTES, bytes),
                tag_text(p, c, tag), communicator_text(p, c->terminal), completes_text(p, c, completes));
    else
        fprintf(p->out, "%9" PRIu64 "  %10s  %10s  %-22s %5s  %s\n", c->index, findings_time(gap),
                findings_time(duration), function, peer_field, callsite_text(p, c->terminal));
}

static void print_all(void *printer, FILE *out)
{
    struct printer *p = printer;
    struct grammar_cursor c;
    struct progress progress;

    p->out = out;
    if (p->tsv)
        fputs("index\tfunction\tcallsite\tpeer\tgap_ns\tduration_ns\tbytes\ttag\tcommunicator\tcompletes\n", p->out);
    else
        fprintf(p->out, "%9s  %10s  %10s  %-22s %5s  %s\n", "index", "gap", "duration", "function", "peer", "callsite");
    progress_begin(&progress, "expanding", p->out == stdout ? PROGRESS_NONE : p->grammar->events);
    for (int more = grammar_cursor_open(&c, p->grammar); more; more = grammar_cursor_next(&c)) {
        print_event(p, &c);
        progress_at(&progress, c.index);
        if (ferror(p->out)) /* a closed pipe: no use in going on */
            break;
    }
    grammar_cursor_close(&c);
    progress_end(&progress);
}

/* --- The stream --- */

/* "ranks 0-7, threads 0-3": bounds are enough to correct a typing error. */
static int no_stream(const struct job *j, const struct request *r)
{
    uint32_t lowest = UINT32_MAX, highest = 0, threads = 0;

    for (uint32_t i = 0; i < j->stream_count; i++) {
        const struct job_stream *s = &j->streams[i];
        lowest = s->rank < lowest ? s->rank : lowest;
        highest = s->rank + j->info.block - 1 > highest ? s->rank + j->info.block - 1 : highest;
        threads = job_stream_class(j, (uint32_t)r->rank, s->thread) != GRAMMAR_NONE && s->thread + 1 > threads
                      ? s->thread + 1
                      : threads;
    }
    highest = j->info.ranks && highest >= j->info.ranks ? j->info.ranks - 1 : highest;
    if (!j->stream_count)
        tool_complain("%s: no events: no stream was recorded", r->job);
    else if (threads)
        tool_complain("%s: rank %" PRIu64 " has no thread %" PRIu64 "; it has %u to %u", r->job, r->rank, r->thread, 0U,
                      threads - 1);
    else
        tool_complain("%s: no rank %" PRIu64 "; there are ranks %u to %u", r->job, r->rank, lowest, highest);
    return TOOL_INPUT;
}

static int print_stream(const struct job *j, uint32_t class, const struct request *r)
{
    struct printer p = {
        .job = j, .class = &j->classes[class], .rank = (uint32_t)r->rank, .thread = (uint32_t)r->thread, .tsv = r->tsv
    };

    p.resolver = findings_resolver_create(j);
    p.callsite = calloc((size_t)j->terminal_count + 1, sizeof *p.callsite);
    p.grammar = job_member_grammar(p.class, p.rank, p.thread);
    int rc = tool_write(r->output, r->force, print_all, &p);
    for (uint32_t t = 0; t < j->terminal_count; t++)
        free(p.callsite[t]);
    free(p.callsite);
    job_member_free(p.grammar);
    findings_resolver_destroy(p.resolver);
    return rc;
}

int tool_events(int argc, char **argv)
{
    struct request r = { .rank = UINT64_MAX };
    struct job *j;

    tool_parse(&usage, argc, argv, &r);
    int rc = tool_read_job(r.job, &j);
    if (rc != TOOL_OK)
        return rc;
    uint32_t class = job_stream_class(j, (uint32_t)r.rank, (uint32_t)r.thread);
    rc = class != GRAMMAR_NONE && j->classes[class].grammar ? print_stream(j, class, &r) : no_stream(j, &r);
    job_destroy(j);
    return rc;
}
