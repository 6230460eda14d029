/* SPDX-License-Identifier: MIT */
/* Trace Event Format, for Perfetto and chrome://tracing; see export.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/must.h"
#include "findings/findings.h"
#include "findings/ranges.h"
#include "findings/units.h"
#include "job/turns.h"
#include "page/export.h"
#include "page/trace_parts.h"
#include "replay/goal.h"
#include "views/views.h"

enum { DEEPEST = 100 }; /* slices in slices */

/* --- Texts --- */

/* "name":"MPI_Isend","cat":"p2p" and the place, once for each terminal. */
static char *describe(struct report *r, uint32_t terminal)
{
    const struct job_terminal *t = &r->job->terminals[terminal];
    const char *where = t->callsite < r->job->callsite_count ? findings_where(r, terminal, 250) : "-";
    char *text;

    BASE_OWN char *name = views_json_quoted(findings_site_name(r->names, terminal)), *place = views_json_quoted(where);
    BASE_OWN char *comm = t->comm < r->job->comm_count ? views_json_quoted(findings_comm_text(r, t->comm)) : NULL;
    base_must(asprintf(&text, "\"name\":%s,\"cat\":\"%s\",\"args\":{\"callsite\":%s%s%s", name,
                       t->kind == JOB_REGION ? "omp" : job_call_kind_text(t->call_kind), place,
                       comm ? ",\"communicator\":" : "", comm ? comm : "") < 0);
    return text;
}

void page_trace_event(struct trace *t, const char *phase, uint32_t process, uint32_t thread)
{
    fprintf(t->out, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,", t->first ? "" : ",\n", phase, process, thread);
    t->first = false;
    t->done++;
}

void page_trace_process(struct trace *t, uint32_t process, const char *name)
{
    BASE_OWN char *quoted = views_json_quoted(name);

    page_trace_event(t, "M", process, 0);
    fprintf(t->out, "\"name\":\"process_name\",\"args\":{\"name\":%s}}", quoted);
    page_trace_event(t, "M", process, 0);
    fprintf(t->out, "\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}", process);
}

void page_trace_thread(struct trace *t, uint32_t process, uint32_t thread)
{
    page_trace_event(t, "M", process, thread);
    fprintf(t->out, "\"name\":\"thread_name\",\"args\":{\"name\":\"thread %u\"}}", thread);
}

/*
 * --- Folded ---
 * Too many events to write: a process is a class of ranks, whose means are drawn once, not for each of its ranks. What
 * is each rank's own is how its time goes by (job/series.h): a counter.
 */

struct folded { struct trace *t; const struct job_class *c; uint32_t process; };

static double all_turns(const struct job_class *c, uint32_t node)
{
    const struct grammar_stats *s = &c->grammar->stats[node];
    double turn = grammar_moments_mean(&s->gap, s->count) + grammar_moments_mean(&s->duration, s->count);

    return turn * job_mean_turns(c, node);
}

static void print_slice(const struct folded *f, uint32_t node, double begin, double length)
{
    struct trace *t = f->t;
    const struct grammar_flat *g = f->c->grammar;
    uint32_t symbol = g->nodes[node].symbol;
    uint64_t turns = (uint64_t)(job_mean_turns(f->c, node) + 0.5);

    page_trace_event(t, "X", f->process, 0);
    fprintf(t->out, "\"ts\":%.3f,\"dur\":%.3f,", begin / 1e3, length / 1e3);
    if (grammar_is_rule(symbol) || symbol >= t->r->job->terminal_count)
        fprintf(t->out, "\"name\":\"%" PRIu64 " x [%s]\",\"cat\":\"loop\",\"args\":{\"turns\":%" PRIu64 "}}", turns,
                findings_time(length / (double)turns), turns);
    else
        fprintf(t->out, "%s,\"turns\":%" PRIu64 "}}", t->name[symbol], turns);
}

/* The body of a rule within [begin, begin + length): as long as its parts are in all turns together. */
static void print_body(const struct folded *f, uint32_t rule, double begin, double length, int depth)
{
    const struct grammar_flat *g = f->c->grammar;
    const struct grammar_flat_rule *body = &g->rules[rule];
    double all = 0;

    for (uint32_t n = body->first; n < body->first + body->length; n++)
        all += all_turns(f->c, n);
    for (uint32_t n = body->first; n < body->first + body->length && !ferror(f->t->out); n++) {
        double own = all > 0 ? all_turns(f->c, n) / all * length : 0;
        uint32_t symbol = g->nodes[n].symbol;
        if (f->t->left && (own > 0 || g->nodes[n].exponent == 1)) {
            double gap = 0;
            /* one event: its gap is seen */
            if (!grammar_is_rule(symbol) && g->nodes[n].exponent == 1 && all_turns(f->c, n) > 0)
                gap = own * grammar_moments_mean(&g->stats[n].gap, g->stats[n].count) / all_turns(f->c, n);
            f->t->left--;
            print_slice(f, n, begin + gap, own - gap);
            if (grammar_is_rule(symbol) && depth < DEEPEST)
                print_body(f, symbol & ~GRAMMAR_RULE, begin, own, depth + 1);
        }
        begin += own;
    }
}

/* When its streams began, on average, ns after the first rank. */
static double mean_begin(const struct job *j, uint32_t class_index)
{
    double sum = 0, streams = 0;

    for (uint32_t i = 0; i < j->stream_count; i++)
        if (j->streams[i].class_index == class_index) {
            sum += (double)job_stream_mean(&j->streams[i], j->streams[i].begin_ns) * j->streams[i].count;
            streams += j->streams[i].count;
        }
    return streams > 0 ? sum / streams : 0;
}

static void print_class(struct trace *t, uint32_t index, uint64_t share)
{
    struct folded f = { .t = t, .c = &t->r->job->classes[index], .process = index };
    char *ranks = findings_ranges_text(f.c->ranges, f.c->member_ranges), *name;
    double all = 0;

    base_must(asprintf(&name, "group %u: mean of %s", index, ranks) < 0);
    free(ranks);
    page_trace_process(t, index, name);
    free(name);
    for (uint32_t n = 0; f.c->grammar && n < f.c->grammar->rules[0].length; n++)
        all += all_turns(f.c, n);
    t->left = share;
    if (f.c->grammar)
        print_body(&f, 0, mean_begin(t->r->job, index), all, 0);
    if (t->how->step)
        t->how->step(t->how->context, t->done);
}

static void print_series(struct trace *t, const struct job_series *s, uint32_t process)
{
    static const char *const keys[] = { "computation", "omp", "mpi" };
    char name[64];

    if (s->ranks == 1)
        snprintf(name, sizeof name, "rank %u: share of its time", s->rank);
    else
        snprintf(name, sizeof name, "ranks %u-%u: mean share of their time", s->rank, s->rank + s->ranks - 1);
    page_trace_process(t, process, name);
    for (uint32_t k = 0; k < s->steps; k++) {
        page_trace_event(t, "C", process, 0);
        fprintf(t->out, "\"ts\":%.3f,\"name\":\"time\",\"args\":{", (double)k * (double)s->step_ns / 1e3);
        for (int kind = 0; kind < JOB_SERIES_KINDS; kind++)
            fprintf(t->out, "%s\"%s\":%.4f", kind ? "," : "", keys[kind],
                    job_series_seconds(s, kind, JOB_SERIES_MEAN, k) / ((double)s->step_ns / 1e9));
        fputs("}}", t->out);
    }
}

static void print_folded(struct trace *t)
{
    const struct job *j = t->r->job;

    for (uint32_t i = 0; i < j->class_count; i++)
        print_class(t, i, t->how->limit / j->class_count + 1);
    for (uint32_t i = 0; i < j->series.count; i++)
        print_series(t, &j->series.of[i], j->class_count + i);
}

/* --- All --- */

uint64_t page_trace_events(const struct job *j)
{
    uint64_t events = 0;

    for (uint32_t i = 0; i < j->class_count; i++)
        if (__builtin_add_overflow(events, job_class_expands(&j->classes[i]), &events))
            return UINT64_MAX;
    return events;
}

const char *page_trace_folds(struct report *r, const struct page_export *how)
{
    if (how->folded)
        return "as asked for";
    if (page_trace_events(r->job) > how->limit)
        return "it has more events than --limit";
    if (r->job->info.block > 1)
        return "its file has no times of single ranks";
    return findings_cannot_replay(r, REPLAY_FEW_UNMATCHED);
}

/* What times are: none is a rank's that is another's. */
static void print_head(struct trace *t, const char *program, bool folded)
{
    struct replay_analysis *a = folded ? NULL : findings_analysis(t->r);

    fprintf(t->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":%s,\"times\":\"", program);
    if (a)
        fprintf(t->out, "replayed from each rank's own mean times in each place; replayed %s, recorded %s",
                findings_time(replay_analysis_replayed(a) * 1e9),
                findings_time(a->recorded * 1e9));
    else
        fputs("means of each group of ranks, folded by its grammar; each rank's own time as counters", t->out);
    fputs("\"},\n\"traceEvents\":[\n", t->out);
}

void page_print_trace(struct report *r, const struct page_export *how, FILE *out)
{
    uint32_t terminals = r->job->terminal_count;
    struct trace t = {
        .r = r, .how = how, .first = true, .out = out, .name = calloc((size_t)terminals + 1, sizeof *t.name)
    };
    BASE_OWN char *program = views_json_quoted(job_text(r->job, r->job->info.program));
    bool folded = page_trace_folds(r, how) != NULL;

    for (uint32_t i = 0; i < terminals; i++)
        t.name[i] = describe(r, i);
    print_head(&t, program, folded);
    if (folded)
        print_folded(&t);
    else
        page_trace_ranks(&t);
    fputs("\n]}\n", out);
    for (uint32_t i = 0; i < terminals; i++)
        free(t.name[i]);
    free(t.name);
}

/* --- GOAL: see replay/goal.h --- */

void page_print_goal(struct report *r, FILE *out)
{
    struct replay_analysis *a = findings_analysis(r);

    if (!a) {
        fputs("num_ranks 0\n", out);
        return;
    }
    struct replay_model m = replay_bind_model(a->bind);
    fprintf(out,
            "// LogGOPSim -f FILE -L %" PRId64 " -o %" PRId64 " -g %" PRId64 " -O %" PRId64 " -G %" PRId64
            " -S %" PRIu64 "\n",
            m.L, m.o, m.g, m.O, m.G / 1000, m.S);
    replay_goal_write(&a->bind->source, &m, out);
}
