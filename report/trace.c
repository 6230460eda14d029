/* SPDX-License-Identifier: MIT */
/* Trace Event Format, for Perfetto and chrome://tracing; see export.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "report/export.h"
#include "report/json.h"
#include "report/units.h"

enum { DEEPEST = 100 }; /* slices in slices */

struct trace {
    struct report *r;
    const struct report_export *how;
    const struct job_stream *stream;
    const struct job_class *c;
    char **name; /* by terminal, quoted for JSON */
    uint64_t done, left; /* slices written; that this stream may still write */
    bool first;
    FILE *out;
};

/* --- Texts --- */

/* "name":"Isend3","cat":"p2p" and the place, once for each terminal. */
static char *describe(struct report *r, uint32_t terminal)
{
    const struct job_terminal *t = &r->job->terminals[terminal];
    char short_name[256], where[256] = "-", *text = NULL;

    report_site_name(r->names, terminal, short_name, sizeof short_name);
    if (t->callsite < r->job->callsite_count)
        report_where(r, terminal, where, 250);
    char *name = report_json_quoted(short_name), *place = report_json_quoted(where);
    if (name && place && asprintf(&text, "\"name\":%s,\"cat\":\"%s\",\"args\":{\"callsite\":%s", name,
                                  t->kind == JOB_REGION ? "omp" : job_call_kind_text(t->call_kind), place) < 0)
        text = NULL;
    free(name);
    free(place);
    return text;
}

static void begin_event(struct trace *t, const char *phase)
{
    fprintf(t->out, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,", t->first ? "" : ",\n", phase, t->stream->rank,
            t->stream->thread);
    t->first = false;
    t->done++;
}

static void print_names(struct trace *t)
{
    if (t->stream->thread == 0) {
        begin_event(t, "M");
        fprintf(t->out, "\"name\":\"process_name\",\"args\":{\"name\":\"rank %u%s\"}}", t->stream->rank,
                t->stream->count > 1 ? " and the like" : "");
        begin_event(t, "M");
        fprintf(t->out, "\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}", t->stream->rank);
    }
    begin_event(t, "M");
    fprintf(t->out, "\"name\":\"thread_name\",\"args\":{\"name\":\"thread %u\"}}", t->stream->thread);
}

static double begin_of(const struct job_stream *s)
{
    return (double)job_stream_mean(s, s->begin_ns);
}

/* --- Expanded --- */

static void print_values(struct trace *t, const struct grammar_cursor *c)
{
    static const struct { enum grammar_channel channel; const char *key; } values[] = {
        { GRAMMAR_PEER, "peer" }, { GRAMMAR_BYTES, "bytes" } };
    int64_t value;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (job_attr_value(t->r->job, t->c, c->node, values[i].channel, t->stream->rank, t->stream->thread,
                           c->occurrence, &value) == 0 &&
            value >= 0)
            fprintf(t->out, ",\"%s\":%" PRId64, values[i].key, value);
}

static void print_event(struct trace *t, const struct grammar_cursor *c, double begin, double duration)
{
    const struct job_terminal *terminal = c->terminal < t->r->job->terminal_count ? &t->r->job->terminals[c->terminal]
                                                                                  : NULL;
    static const char *const phases[] = { "X", "B", "E" };

    begin_event(t, phases[terminal ? terminal->phase % 3 : 0]);
    fprintf(t->out, "\"ts\":%.3f,", begin / 1e3);
    if (!terminal || terminal->phase == JOB_LEAF)
        fprintf(t->out, "\"dur\":%.3f,", duration / 1e3);
    if (terminal) {
        fputs(t->name[c->terminal], t->out);
        print_values(t, c);
        fputs("}}", t->out);
    } else {
        fputs("\"name\":\"LOST\",\"cat\":\"lost\"}", t->out);
    }
}

static int print_expanded(struct trace *t)
{
    double now = begin_of(t->stream);
    struct grammar_cursor c;
    int more = grammar_cursor_open(&c, t->c->grammar);

    if (!more && t->c->grammar->events)
        return PYTHIA_ENOMEM;
    for (; more && !ferror(t->out); more = grammar_cursor_next(&c)) {
        const struct grammar_stats *s = &t->c->grammar->stats[c.node];
        double duration = grammar_moments_mean(&s->duration, s->count);
        now += grammar_moments_mean(&s->gap, s->count);
        print_event(t, &c, now, duration);
        now += duration;
        if (t->how->step)
            t->how->step(t->how->context, t->done);
    }
    grammar_cursor_close(&c);
    return 0;
}

/* --- Folded --- */

static double all_turns(const struct grammar_flat *g, uint32_t node)
{
    const struct grammar_stats *s = &g->stats[node];
    double turn = grammar_moments_mean(&s->gap, s->count) + grammar_moments_mean(&s->duration, s->count);

    return turn * (double)g->nodes[node].exponent;
}

static void print_slice(struct trace *t, uint32_t node, double begin, double length)
{
    const struct grammar_flat *g = t->c->grammar;
    uint32_t symbol = g->nodes[node].symbol;
    uint64_t turns = g->nodes[node].exponent;
    char turn[32];

    begin_event(t, "X");
    fprintf(t->out, "\"ts\":%.3f,\"dur\":%.3f,", begin / 1e3, length / 1e3);
    if (grammar_is_rule(symbol) || symbol >= t->r->job->terminal_count)
        fprintf(t->out, "\"name\":\"%" PRIu64 " x [%s]\",\"cat\":\"loop\",\"args\":{\"turns\":%" PRIu64 "}}", turns,
                report_time(length / (double)turns, turn), turns);
    else
        fprintf(t->out, "%s,\"turns\":%" PRIu64 "}}", t->name[symbol], turns);
}

/* The body of a rule within [begin, begin + length): as long as its parts are in all turns together. */
static void print_body(struct trace *t, uint32_t rule, double begin, double length, int depth)
{
    const struct grammar_flat *g = t->c->grammar;
    const struct grammar_flat_rule *body = &g->rules[rule];
    double all = 0;

    for (uint32_t n = body->first; n < body->first + body->length; n++)
        all += all_turns(g, n);
    for (uint32_t n = body->first; n < body->first + body->length && !ferror(t->out); n++) {
        double own = all > 0 ? all_turns(g, n) / all * length : 0;
        uint32_t symbol = g->nodes[n].symbol;
        if (t->left && (own > 0 || g->nodes[n].exponent == 1)) {
            double gap = 0;
            /* one event: its gap is seen */
            if (!grammar_is_rule(symbol) && g->nodes[n].exponent == 1 && all_turns(g, n) > 0)
                gap = own * grammar_moments_mean(&g->stats[n].gap, g->stats[n].count) / all_turns(g, n);
            t->left--;
            print_slice(t, n, begin + gap, own - gap);
            if (grammar_is_rule(symbol) && depth < DEEPEST)
                print_body(t, symbol & ~GRAMMAR_RULE, begin, own, depth + 1);
        }
        begin += own;
    }
}

static int print_folded(struct trace *t, uint64_t share)
{
    double all = 0;

    for (uint32_t n = 0; n < t->c->grammar->rules[0].length; n++)
        all += all_turns(t->c->grammar, n);
    t->left = share;
    print_body(t, 0, begin_of(t->stream), all, 0);
    if (t->how->step)
        t->how->step(t->how->context, t->done);
    return 0;
}

/* --- All --- */

uint64_t report_trace_events(const struct job *j)
{
    uint64_t events = 0;

    for (uint32_t i = 0; i < j->stream_count; i++)
        events += j->streams[i].events < UINT64_MAX - events ? j->streams[i].events : UINT64_MAX - events;
    return events;
}

static int print_streams(struct trace *t)
{
    const struct job *j = t->r->job;
    bool folded = t->how->folded || report_trace_events(j) > t->how->limit;
    uint64_t share = j->stream_count ? t->how->limit / j->stream_count + 1 : 0;
    int rc = 0;

    for (uint32_t i = 0; i < j->stream_count && rc == 0; i++) {
        t->stream = &j->streams[i];
        uint32_t index = job_stream_class(j, t->stream->rank, t->stream->thread); /* of a block, of its first rank */
        if (index >= j->class_count)
            continue;
        t->c = &j->classes[index];
        print_names(t);
        if (t->c->grammar)
            rc = folded ? print_folded(t, share) : print_expanded(t);
    }
    return rc;
}

int report_print_trace(struct report *r, const struct report_export *how, FILE *out)
{
    uint32_t terminals = r->job->terminal_count;
    struct trace t = {
        .r = r, .how = how, .first = true, .out = out, .name = calloc((size_t)terminals + 1, sizeof *t.name)
    };
    char *program = report_json_quoted(job_text(r->job, r->job->info.program));
    int rc = t.name && program ? 0 : PYTHIA_ENOMEM;

    for (uint32_t i = 0; i < terminals && rc == 0; i++)
        if (!(t.name[i] = describe(r, i)))
            rc = PYTHIA_ENOMEM;
    if (rc == 0) {
        fprintf(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":%s,\"times\":\"means of each event in its place\"},\n"
                     "\"traceEvents\":[\n", program);
        rc = print_streams(&t);
        fputs("\n]}\n", out);
    }
    for (uint32_t i = 0; i < terminals && t.name; i++)
        free(t.name[i]);
    free(t.name);
    free(program);
    return rc == 0 && ferror(out) ? PYTHIA_EIO : rc;
}
