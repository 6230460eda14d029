/* SPDX-License-Identifier: MIT */
/* `pythia report`: a job as text, JSON, CSV or HTML; several jobs of a program side by side. */
#include <stdbool.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "file/file.h"
#include "findings/findings.h"
#include "findings/named.h"
#include "findings/hardware.h"
#include "findings/places.h"
#include "page/html.h"
#include "replay/analysis.h"
#include "tools/screen.h"
#include "tools/tool.h"
#include "views/scaling.h"
#include "views/views.h"

enum format { TEXT, JSON, CSV, HTML };

struct request {
    const char *job[VIEWS_SCALING_JOBS], *output;
    struct tool_job from[VIEWS_SCALING_JOBS];
    uint32_t jobs;
    enum format format;
    bool scaling;
    int view; /* below 0: not given */
    int by;   /* the same */
    bool force;
    bool all;
    bool keep;
    const char *region;
    uint64_t depth;
    uint64_t within; /* ms; 0: not given */
    uint64_t since;  /* ns; the same */
    enum screen_color color;
};

static const char *const formats[] = { "text", "json", "csv", "html", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };
/* In the order of enum views_view, then what is none. */
static const char *const views[] = { "summary", "callsites", "structure", "-calltree", "ranks", "omp", "comm", "waits",
                                     "predicted", "named", "machine", "-calls", "-sizes", "-regions", "scaling",
                                     "-path", NULL };
enum { SCALING = VIEWS_REGIONS + 1 /* in views[] */, PATH, KEEP_MS = 50 };
enum { BY_RANK, BY_SIZE, BY_CALLER, BY_REGION };
static const char *const orders[] = { "rank", "size", "caller", "region", NULL };
/* What `--by` makes of a view, and the names that these had until 0.1. */
static const struct { int view, of, by; const char *now; } others[] = {
    { VIEWS_CALLS, VIEWS_CALLSITES, BY_RANK, "callsites --by rank" },
    { VIEWS_DATA, VIEWS_CALLSITES, BY_SIZE, "callsites --by size" },
    { VIEWS_CALLTREE, VIEWS_STRUCTURE, BY_CALLER, "structure --by caller" },
    { VIEWS_REGIONS, VIEWS_OMP, BY_REGION, "omp --by region" },
    { PATH, VIEWS_WAITS, -1, "waits" } };
enum { OTHERS = sizeof others / sizeof *others };
static void (*const csv_of[SCALING + 1])(struct report *, FILE *) = {
    [VIEWS_CALLSITES] = views_print_csv, [VIEWS_CALLTREE] = views_print_calltree_csv,
    [VIEWS_CALLS] = views_print_calls_csv, [VIEWS_DATA] = views_print_sizes_csv };

static const struct tool_option options[] = {
    TOOL_CHOICE(format, 'f', "format", "FORMAT", formats,
                "text (default), json, csv (callsites, structure --by caller), or html (one file for a browser)"),
    TOOL_CHOICE(view, 'v', "view", "VIEW", views,
                "of text: summary (default), callsites, structure, ranks, omp, comm, waits, predicted (how well the last "
                "run was), named (regions that the program names); of csv: callsites, structure --by caller; of two jobs and more scaling, also as json and html"),
    TOOL_CHOICE(by, 0, "by", "WHAT", orders,
                "callsites: by rank, or by size of their data; structure: by caller (who called whom, from main to the "
                "call) instead of by loop; omp: by region (which are changed, why not the others)"),
    TOOL_OUTPUT("OUT", "write to OUT, which appears whole or not at all"),
    TOOL_COUNT(depth, 0, "depth", "N", 1, UINT32_MAX, "structure: show N levels"),
    TOOL_SWITCH(all, 0, "all", "structure: all of it, not only what takes most time"),
    TOOL_TEXT(region, 0, "region", "NAME",
              "only what is in the region that the program calls so: of json, and of text: views summary, callsites, "
              "named, and structure --by caller"),
    TOOL_COUNT(within, 0, "within", "MS", 1, UINT32_MAX,
               "leave out who waits for whom where finding that out would take longer, in ms"),
    TOOL_SWITCH(keep, 0, "keep-places",
                "put into the job file what the program's files say (functions, lines, loops), which it needs no more "
                "then: as the end of a run does; within MS of the processor, at least 50, where that is given"),
    TOOL_COUNT(since, 0, "since", "NS", 1, INT64_MAX,
               "with --keep-places, of the run that ends now: its end began then (ns of CLOCK_MONOTONIC), and what it "
               "took is kept, too"),
    TOOL_CHOICE(color, 0, "color", "WHEN", colors,
                "of text: auto (default: on a terminal, unless NO_COLOR is set), always or never"),
    { 0 },
};

static void take_job(void *request, char *arg, struct argp_state *state)
{
    struct request *r = request;

    if (r->jobs == VIEWS_SCALING_JOBS)
        argp_error(state, "%d job files at most", VIEWS_SCALING_JOBS);
    r->job[r->jobs++] = arg;
}

/* An old name is taken for what it is now, with a line; `--by` makes another view of one. */
static bool choose_view(struct request *r)
{
    for (int i = 0; i < OTHERS; i++)
        if (r->view == others[i].view) {
            tool_complain("--view %s is --view %s now", views[r->view] + 1, others[i].now);
            r->view = others[i].view == PATH ? VIEWS_WAITS : r->view;
            return r->by < 0;
        }
    if (r->by < 0)
        return true;
    for (int i = 0; i < OTHERS; i++)
        if (others[i].by == r->by && (r->view == others[i].of || r->view < 0)) {
            r->view = others[i].view;
            return true;
        }
    return false;
}

/* What does not go together. */
static void check(void *request, struct argp_state *state)
{
    struct request *r = request;
    bool of_tree = r->depth || r->all;

    if (of_tree && r->view < 0 && r->by < 0)
        r->view = VIEWS_STRUCTURE;
    if (!choose_view(r))
        argp_error(state, "--by rank and size are of --view callsites, caller of structure, region of omp");
    r->scaling = r->view == SCALING;
    if (of_tree && r->view != VIEWS_STRUCTURE && r->view != VIEWS_CALLTREE)
        argp_error(state, "--depth and --all are of --view structure");
    if (r->format == CSV && r->view >= 0 && !csv_of[r->view] && !r->scaling)
        argp_error(state, "csv has --view callsites, and structure --by caller, only: json has all views");
    if (r->format == HTML && r->view >= 0 && !r->scaling)
        argp_error(state, "the page has all views: leave --view out");
    bool narrows = r->view < 0 || r->view == VIEWS_SUMMARY || r->view == VIEWS_CALLSITES ||
                   r->view == VIEWS_NAMED || r->view == VIEWS_CALLTREE;
    if (r->region && r->format != JSON && (r->format != TEXT || !narrows))
        argp_error(state, "--region is of json, and of text: --view summary, callsites, named, structure --by caller");
    if (r->jobs == 0)
        argp_error(state, "no job file");
    if (r->jobs > 1 && !r->scaling)
        argp_error(state, "one job file only, but for --view scaling");
    if (r->scaling && r->keep)
        argp_error(state, "--keep-places is of one job file");
    if (r->scaling && r->jobs < 2)
        argp_error(state, "--view scaling compares two job files or more");
    if (r->scaling && r->format == CSV)
        argp_error(state, "--view scaling is text, json or html");
}

static const struct tool_line usage = {
    .options = options, .arguments = "JOB...", .take = take_job, .check = check,
    .doc =
        "Reports what a job did: where the time went, the calls and where they are, the structure of the program, who "
        "talks to whom."
        "\v"
        "The structure view shows the loops of the program as its machine code has them, each with the calls made "
        "in it, how often it turned, its share of the time and the time of a turn. \"23-61 turns, 15 times\" is a loop "
        "entered 15 times; \"1 in 5 turns\" a call that is not made in each; \"x 2\" one that is made twice.\n\n"
        "With --by caller it shows the same time by who called whom, from main to the call: a function with all that is "
        "called in it, and its own, which is the computation before the calls that stand in it.\n\n"
        "Examples:\n"
        "  pythia report app.pythia\n"
        "  pythia report app.pythia --view structure --depth 2\n"
        "  pythia report app.pythia --view structure --by caller --all\n"
        "  pythia report app.pythia --format json -o app.json\n"
        "  pythia report app.pythia --format html -o app.html\n"
        "  pythia report app-8.pythia app-16.pythia app-32.pythia --view scaling\n"
        "  pythia report app-8.pythia app-16.pythia --view scaling --format html -o scaling.html\n",
};

static void print_one(struct report *report, const struct request *r, FILE *out)
{
    const struct views_tree_how how = { .depth = (uint32_t)r->depth, .all = r->all, .region = r->region };

    if (r->format == JSON)
        views_print_json(report, r->region, out);
    else if (r->format == HTML)
        page_print_html(report, out);
    else if (r->format == CSV)
        csv_of[r->view < 0 ? VIEWS_CALLSITES : r->view](report, out);
    else
        views_print_text(report, r->view < 0 ? VIEWS_SUMMARY : (enum views_view)r->view, &how, out);
}

static void print_scaling(const struct request *r, FILE *out)
{
    struct views_scaling s = { .count = r->jobs };

    for (uint32_t i = 0; i < r->jobs; i++) {
        s.file[i] = r->job[i];
        s.report[i] = r->from[i].report;
    }
    if (r->format == HTML)
        page_print_jobs_html(views_scaling_json(&s), out);
    else if (r->format == JSON)
        views_json_write(views_scaling_json(&s), out);
    else
        views_print_scaling(&s, out);
}

static void print(void *request, FILE *out)
{
    const struct request *r = request;

    if (r->scaling)
        print_scaling(r, out);
    else
        print_one(r->from[0].report, r, out);
}

/* The first rank's end is the longest: with it goes what this process has taken by now. */
static bool keep_end(const struct request *r)
{
    struct job_took *t = &r->from[0].job->took;

    if (!r->since || !t->ranks || base_clock_system() < r->since)
        return false;
    if (r->view == VIEWS_SUMMARY) /* most of what is to be printed */
        (void)findings_list(r->from[0].report);
    job_took_longer(t, JOB_TOOK_END, t->most[JOB_TOOK_END], base_clock_system() - r->since);
    return true;
}

/* What takes longer is read by each report, as long as the program's files are there. */
static int keep_places(const struct request *r)
{
    char why[512];
    struct stat st;
    uint64_t limit = r->within && r->within < KEEP_MS ? KEEP_MS : r->within;

    if (stat(r->job[0], &st) || !S_ISREG(st.st_mode)) /* parts of a run, a pipe */
        return TOOL_OK;
    bool places = findings_places_keep(r->from[0].job, limit * 1000000);
    places |= r->since && findings_hardware_keep(r->from[0].job); /* of the node that it ran on */
    if ((!keep_end(r) && !places) || !file_write(r->from[0].job, r->job[0], why, sizeof why))
        return TOOL_OK;
    tool_complain("%s", why);
    return TOOL_OUTPUT;
}

/* Text for people who look at it goes through a screen. */
static void print_on_screen(struct request *r)
{
    FILE *out = screen_open(r->color);

    print(r, out);
    screen_close(out);
}

int tool_report(int argc, char **argv)
{
    struct request r = { .view = -1, .by = -1 };
    int rc = TOOL_OK;

    tool_parse(&usage, argc, argv, &r);
    for (uint32_t i = 0; rc == TOOL_OK && i < r.jobs; i++)
        rc = tool_job_open(&r.from[i], r.job[i]);
    if (rc == TOOL_OK && r.within > 0)
        r.from[0].report->steps = r.within * REPLAY_ANALYSIS_MS;
    if (rc == TOOL_OK && r.region && !findings_named_find(r.from[0].report, r.region)) {
        tool_complain("%s: no region is called '%s' (--view named has all)", r.job[0], r.region);
        rc = TOOL_NO;
    }
    if (rc == TOOL_OK && r.keep)
        rc = keep_places(&r);
    if (rc == TOOL_OK && (r.output || r.format != TEXT))
        rc = tool_write(r.output, r.force, print, &r);
    else if (rc == TOOL_OK)
        print_on_screen(&r);
    for (uint32_t i = 0; i < r.jobs; i++)
        tool_job_close(&r.from[i]);
    return rc;
}
