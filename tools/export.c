/* SPDX-License-Identifier: MIT */
/* `pythia export`: a job for Perfetto, Graphviz, flame graphs and spreadsheets, and as a program. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "closure/closure.h"
#include "findings/hardware.h"
#include "page/export.h"
#include "tools/progress.h"
#include "tools/tool.h"
#include "views/views.h"

enum target { PERFETTO, DOT, CSV, STACKS, GOAL, PROGRAM, OTF2, HWLOC, NONE };
enum { TRACE_LIMIT = 1000000, DOT_LIMIT = 200, GOAL_LIMIT = 1000000 };

struct request {
    const char *job, *output;
    struct tool_job from;
    enum target to;
    uint64_t limit;
    bool folded, force;
    uint64_t ranks;
    struct closure_how how;
    struct closure_program program;
    const char *why_folded; /* the trace that was written; NULL: it is not */
};

static void take_time(void *request, char *arg, struct argp_state *state)
{
    struct request *r = request;
    char *end = arg;

    r->how.time = !strcmp(arg, "same") ? 1 : !strcmp(arg, "none") ? 0 : strtod(arg, &end);
    if (strcmp(arg, "same") != 0 && strcmp(arg, "none") != 0 && (end == arg || *end || !(r->how.time >= 0)))
        argp_error(state, "--time must be same, none or a factor, not '%s'", arg);
}

static const char *const targets[] = { "perfetto", "dot", "csv", "stacks", "goal", "c", "otf2", "hwloc", NULL };
static const struct tool_option options[] = {
    TOOL_CHOICE(to, 't', "to", "FORMAT", targets, "perfetto (Trace Event JSON, also for chrome://tracing), dot "
                "(Graphviz), csv (the callsites), stacks (call paths with their own ns, for flame graphs and "
                "speedscope.app), goal (what each rank does, for LogGOPSim), c (a program that makes the "
                "same calls), otf2 (an archive for Vampir and Scalasca; OUT is its new directory), hwloc (the machine of "
                "the first rank, for lstopo -i)"),
    TOOL_OUTPUT("OUT", "write to OUT, which appears whole or not at all"),
    TOOL_COUNT(limit, 0, "limit", "N", 1, 0, "perfetto: expand up to N events, and fold a job that has more (1000000); "
               "otf2: refuse a job of more; dot: up to N edges (200); goal: refuse a job of more events (1000000)"),
    TOOL_COUNT(ranks, 0, "ranks", "P", 1, 65536, "c: a program for P ranks, where all ranks follow one rule"),
    TOOL_TAKEN(take_time, 0, "time", "TIME", "c: computation as recorded (same, the default), none, or so many times "
               "that"),
    TOOL_SWITCH(folded, 0, "folded", "perfetto: fold by the grammar: a slice stands for all turns of a loop"),
    { 0 },
};

static void check(void *request, struct argp_state *state)
{
    const struct request *r = request;

    if (r->to == NONE)
        argp_error(state, "to which format? --to perfetto, dot, csv, stacks, goal, c, otf2 or hwloc");
    if (r->to == OTF2 && !r->output)
        argp_error(state, "--to otf2 needs a directory to make (-o DIR)");
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
           "  pythia export app.pythia --to goal -o app.goal       its first lines say how to run it\n"
           "  pythia export app.pythia --to c -o proxy.c           mpicc -O1 -fopenmp proxy.c; the same calls\n",
};

static void step(void *context, uint64_t done)
{
    progress_at(context, done);
}

static void print_trace(struct report *report, struct request *r, FILE *out)
{
    struct progress progress;
    struct page_export how = { .limit = r->limit ? r->limit : TRACE_LIMIT, .folded = r->folded, .step = step,
                               .context = &progress };
    uint64_t events = page_trace_events(report->job);
    const char *why = page_trace_folds(report, &how);

    r->why_folded = why;
    progress_begin(&progress, "exporting", out == stdout || why ? PROGRESS_NONE : events);
    page_print_trace(report, &how, out);
    progress_end(&progress);
}

/* What the program lacks is said before it is there. */
static int make_program(struct request *r)
{
    struct findings_resolver *places = findings_resolver_create(r->from.job);

    r->how.ranks = (uint32_t)r->ranks;
    r->program = closure_make(r->from.job, places, &r->how);
    findings_resolver_destroy(places);
    if (r->program.refused) {
        tool_complain("%s: no program: %s", r->job, r->program.refused);
        return TOOL_NO;
    }
    for (uint32_t k = 0; k < r->program.lack_count; k++)
        tool_complain("%s: not as recorded: %" PRIu64 " %s", r->job, r->program.lacks[k].events,
                      r->program.lacks[k].what);
    return TOOL_OK;
}

static int write_archive(struct request *r)
{
    uint64_t events = page_trace_events(r->from.job), limit = r->limit ? r->limit : TRACE_LIMIT;
    const char *why = events > limit ? "it has more events than --limit" : page_write_otf2(r->from.report, r->output);

    if (why)
        tool_complain("%s: no archive %s: %s", r->job, r->output, why);
    return why ? TOOL_NO : TOOL_OK;
}

static void print(void *request, FILE *out)
{
    struct request *r = request;
    struct report *report = r->from.report;
    struct page_export how = { .limit = r->limit ? r->limit : DOT_LIMIT };

    static void (*const plain[])(struct report *, FILE *) = {
        [CSV] = views_print_csv, [STACKS] = page_print_folded, [GOAL] = page_print_goal };

    if (r->to == PERFETTO)
        print_trace(report, r, out);
    else if (r->to == DOT)
        page_print_dot(report, &how, out);
    else if (r->to == PROGRAM)
        fputs(r->program.text, out);
    else if (r->to == HWLOC)
        fputs(findings_hardware_xml(r->from.job), out);
    else
        plain[r->to](report, out);
}

int tool_export(int argc, char **argv)
{
    struct request r = { .to = NONE, .how.time = 1 };

    tool_parse(&usage, argc, argv, &r);
    int rc = tool_job_open(&r.from, r.job);
    if (rc == TOOL_OK && r.to == GOAL && page_trace_events(r.from.job) > (r.limit ? r.limit : GOAL_LIMIT)) {
        tool_complain("%s has %" PRIu64 " events: too many to write out one by one (--limit)", r.job,
                      page_trace_events(r.from.job));
        rc = TOOL_NO;
    }
    if (rc == TOOL_OK && r.to == PROGRAM)
        rc = make_program(&r);
    if (rc == TOOL_OK && r.to == HWLOC && !r.from.job->hardware.count) {
        tool_complain("%s does not say what it ran on: that is kept where pythia record started the run", r.job);
        rc = TOOL_NO;
    }
    if (rc == TOOL_OK && r.to == OTF2)
        rc = write_archive(&r);
    else if (rc == TOOL_OK)
        rc = tool_write(r.output, r.force, print, &r);
    if (rc == TOOL_OK && r.why_folded && !r.folded)
        tool_complain("%s: the trace is folded, a process is a group of ranks: %s", r.job, r.why_folded);
    closure_free(&r.program);
    tool_job_close(&r.from);
    return rc;
}
