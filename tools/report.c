/* SPDX-License-Identifier: MIT */
/* `pythia report`: a job as text, JSON, CSV or HTML; several jobs of a program side by side. */
#include <argp.h>
#include <stdbool.h>
#include <string.h>

#include "replay/analysis.h"
#include "report/html.h"
#include "report/json.h"
#include "report/report.h"
#include "report/scaling.h"
#include "tools/screen.h"
#include "tools/tool.h"

enum format { TEXT, JSON, CSV, HTML };

struct request {
    const char *job[REPORT_SCALING_JOBS], *output;
    struct tool_job from[REPORT_SCALING_JOBS];
    uint32_t jobs;
    enum format format;
    bool view_given, scaling;
    enum report_view view;
    struct report_structure how;
    uint64_t within; /* ms; 0: not given */
    enum screen_color color;
};

enum { KEY_DEPTH = 256, KEY_COLLAPSE, KEY_INDENT, KEY_WITHIN, KEY_COLOR };

static const struct argp_option options[] = {
    { "format", 'f', "FORMAT", 0, "text (default), json, csv (the callsites), or html (one file for a browser)", 0 },
    { "view", 'v', "VIEW", 0,
      "of text: summary (default), callsites, structure, ranks, omp, comm, waits, path, predicted; "
      "of two jobs and more scaling, also as json and html",
      0 },
    { "output", 'o', "OUT", 0, "write to OUT, which appears whole or not at all", 0 },
    { "depth", KEY_DEPTH, "N", 0, "structure: show N levels of loops", 0 },
    { "collapse", KEY_COLLAPSE, NULL, 0, "structure: totals only, no times inside", 0 },
    { "indent", KEY_INDENT, NULL, 0, "structure: as indented pseudo-code", 0 },
    { "within", KEY_WITHIN, "MS", 0, "leave out who waits for whom where finding that out would take longer, in ms",
      0 },
    { "color", KEY_COLOR, "WHEN", 0, "of text: auto (default: on a terminal, unless NO_COLOR is set), always or never",
      0 },
    { 0 },
};

static const char *const formats[] = { "text", "json", "csv", "html", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };
static const char *const views[] = { "summary", "callsites", "structure", "ranks", "omp", "comm", "waits", "path",
                                     "predicted", "scaling", NULL };
enum { SCALING = REPORT_PREDICTED + 1 }; /* in views[] */

/* What does not go together. */
static void check(struct request *r, struct argp_state *state)
{
    bool of_structure = r->how.depth || r->how.collapse || r->how.indented;

    if (of_structure && !r->view_given)
        r->view = REPORT_STRUCTURE;
    else if (of_structure && (r->scaling || r->view != REPORT_STRUCTURE))
        argp_error(state, "--depth, --collapse and --indent are of --view structure");
    if (r->format == CSV && r->view_given && (r->scaling || r->view != REPORT_CALLSITES))
        argp_error(state, "csv has the callsites only: json has all views");
    if (r->jobs == 0)
        argp_error(state, "no job file");
    if (r->jobs > 1 && !r->scaling)
        argp_error(state, "one job file only, but for --view scaling");
    if (r->scaling && r->jobs < 2)
        argp_error(state, "--view scaling compares two job files or more");
    if (r->scaling && r->format == CSV)
        argp_error(state, "--view scaling is text, json or html");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;
    int view;

    switch (key) {
    case 'f':
        r->format = (enum format)tool_choice(arg, "FORMAT", formats, state);
        return 0;
    case 'v':
        view = tool_choice(arg, "VIEW", views, state);
        r->view_given = true;
        r->scaling = view == SCALING;
        r->view = r->scaling ? REPORT_SUMMARY : (enum report_view)view;
        return 0;
    case 'o':
        r->output = arg;
        return 0;
    case KEY_DEPTH:
        r->how.depth = (uint32_t)tool_number(arg, "N", 1, UINT32_MAX, state);
        return 0;
    case KEY_COLLAPSE:
        r->how.collapse = true;
        return 0;
    case KEY_INDENT:
        r->how.indented = true;
        return 0;
    case KEY_WITHIN:
        r->within = tool_number(arg, "MS", 1, UINT32_MAX, state);
        return 0;
    case KEY_COLOR:
        r->color = (enum screen_color)tool_choice(arg, "WHEN", colors, state);
        return 0;
    case ARGP_KEY_ARG:
        if (r->jobs == REPORT_SCALING_JOBS)
            argp_error(state, "%d job files at most", REPORT_SCALING_JOBS);
        r->job[r->jobs++] = arg;
        return 0;
    case ARGP_KEY_END:
        check(r, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "JOB...",
    .doc =
        "Reports what a job did: where the time went, the calls and where they are, the structure of the program, who "
        "talks to whom, and how well the last predicted run was predicted."
        "\v"
        "In the structure view CPUn is the computation before the call at callsite n; times are microseconds; "
        "(...)[4]: total is a loop of 4 turns with mean times inside.\n\n"
        "Examples:\n"
        "  pythia report app.pythia\n"
        "  pythia report app.pythia --view structure --depth 2\n"
        "  pythia report app.pythia --format json -o app.json\n"
        "  pythia report app.pythia --format html -o app.html\n"
        "  pythia report app-8.pythia app-16.pythia app-32.pythia --view scaling\n"
        "  pythia report app-8.pythia app-16.pythia --view scaling --format html -o scaling.html\n",
};

static void print_one(struct report *report, const struct request *r, FILE *out)
{
    if (r->format == JSON)
        report_print_json(report, out);
    else if (r->format == HTML)
        report_print_html(report, out);
    else if (r->format == CSV)
        report_print_csv(report, out);
    else
        report_print_text(report, r->view, &r->how, out);
}

static void print_scaling(const struct request *r, FILE *out)
{
    struct report_scaling s = { .count = r->jobs };

    for (uint32_t i = 0; i < r->jobs; i++) {
        s.file[i] = r->job[i];
        s.report[i] = r->from[i].report;
    }
    if (r->format == HTML)
        report_print_jobs_html(report_scaling_json(&s), out);
    else if (r->format == JSON)
        report_json_write(report_scaling_json(&s), out);
    else
        report_print_scaling(&s, out);
}

static void print(void *request, FILE *out)
{
    const struct request *r = request;

    if (r->scaling)
        print_scaling(r, out);
    else
        print_one(r->from[0].report, r, out);
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
    struct request r = { 0 };
    int rc = TOOL_OK;

    argp_parse(&argp, argc, argv, 0, NULL, &r);
    for (uint32_t i = 0; rc == TOOL_OK && i < r.jobs; i++)
        rc = tool_job_open(&r.from[i], r.job[i]);
    if (rc == TOOL_OK && r.within > 0)
        r.from[0].report->steps = r.within * REPLAY_ANALYSIS_MS;
    if (rc == TOOL_OK && (r.output || r.format != TEXT))
        rc = tool_write(r.output, print, &r);
    else if (rc == TOOL_OK)
        print_on_screen(&r);
    for (uint32_t i = 0; i < r.jobs; i++)
        tool_job_close(&r.from[i]);
    return rc;
}
