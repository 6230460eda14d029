/* SPDX-License-Identifier: MIT */
/* `pythia export`: a job for Perfetto, Graphviz, flame graphs and spreadsheets. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "page/export.h"
#include "tools/progress.h"
#include "tools/tool.h"
#include "views/views.h"

enum target { PERFETTO, DOT, CSV, STACKS, GOAL, NONE };
enum { TRACE_LIMIT = 1000000, DOT_LIMIT = 200, GOAL_LIMIT = 1000000 };

struct request {
    const char *job, *output;
    struct tool_job from;
    enum target to;
    uint64_t limit;
    bool folded, force;
    const char *why_folded; /* the trace that was written; NULL: it is not */
};

static const char *const targets[] = { "perfetto", "dot", "csv", "stacks", "goal", NULL };
static const struct tool_option options[] = {
    TOOL_CHOICE(to, 't', "to", "FORMAT", targets, "perfetto (Trace Event JSON, also for chrome://tracing), dot "
                "(Graphviz), csv (the callsites), stacks (call paths with their own ns, for flame graphs and "
                "speedscope.app), goal (what each rank does, for LogGOPSim)"),
    TOOL_OUTPUT("OUT", "write to OUT, which appears whole or not at all"),
    TOOL_COUNT(limit, 0, "limit", "N", 1, 0, "perfetto: expand up to N events, and fold a job that has more (1000000); "
               "dot: up to N edges (200); goal: refuse a job of more events (1000000)"),
    TOOL_SWITCH(folded, 0, "folded", "perfetto: fold by the grammar: a slice stands for all turns of a loop"),
    { 0 },
};

static void check(void *request, struct argp_state *state)
{
    if (((struct request *)request)->to == NONE)
        argp_error(state, "to which format? --to perfetto, dot, csv, stacks or goal");
}

static const struct tool_line usage = {
    .options = options, .arguments = "JOB", TOOL_ONLY("job file", job), .check = check,
    .doc = "Writes a job for other tools."
           "\v"
           "A trace is a replay of the job from each rank's own mean times: all ranks are on one clock, messages are "
           "flows, and what a call waited is a slice inside it. Folded, a process is a group of ranks that do the same.\n\n"
           "Examples:\n"
           "  pythia export app.pythia --to perfetto -o app.json   for ui.perfetto.dev\n"
           "  pythia export app.pythia --to dot | dot -Tsvg >app.svg\n"
           "  pythia export app.pythia --to csv -o calls.csv\n"
           "  pythia export app.pythia --to stacks | flamegraph.pl >app.svg\n"
           "  pythia export app.pythia --to goal -o app.goal       its first lines say how to run it\n",
};

static void step(void *context, uint64_t done)
{
    progress_at(context, done);
}

static void print_trace(struct report *report, struct request *r, FILE *out)
{
    struct progress progress;
    struct report_export how = { .limit = r->limit ? r->limit : TRACE_LIMIT, .folded = r->folded, .step = step,
                                 .context = &progress };
    uint64_t events = report_trace_events(report->job);
    const char *why = report_trace_folds(report, &how);

    r->why_folded = why;
    progress_begin(&progress, "exporting", out == stdout || why ? PROGRESS_NONE : events);
    report_print_trace(report, &how, out);
    progress_end(&progress);
}

static void print(void *request, FILE *out)
{
    struct request *r = request;
    struct report *report = r->from.report;
    struct report_export how = { .limit = r->limit ? r->limit : DOT_LIMIT };

    static void (*const plain[])(struct report *, FILE *) = {
        [CSV] = report_print_csv, [STACKS] = report_print_folded, [GOAL] = report_print_goal };

    if (r->to == PERFETTO)
        print_trace(report, r, out);
    else if (r->to == DOT)
        report_print_dot(report, &how, out);
    else
        plain[r->to](report, out);
}

int tool_export(int argc, char **argv)
{
    struct request r = { .to = NONE };

    tool_parse(&usage, argc, argv, &r);
    int rc = tool_job_open(&r.from, r.job);
    if (rc == TOOL_OK && r.to == GOAL && report_trace_events(r.from.job) > (r.limit ? r.limit : GOAL_LIMIT)) {
        tool_complain("%s has %" PRIu64 " events: too many to write out one by one (--limit)", r.job,
                      report_trace_events(r.from.job));
        rc = TOOL_NO;
    }
    if (rc == TOOL_OK)
        rc = tool_write(r.output, r.force, print, &r);
    if (rc == TOOL_OK && r.why_folded && !r.folded)
        tool_complain("%s: the trace is folded, a process is a group of ranks: %s", r.job, r.why_folded);
    tool_job_close(&r.from);
    return rc;
}
