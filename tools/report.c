/* SPDX-License-Identifier: MIT */
/* `pythia report`: a job as text, JSON or CSV. */
#include <argp.h>
#include <stdbool.h>
#include <string.h>

#include "pythia.h"
#include "report/html.h"
#include "report/report.h"
#include "tools/tool.h"

enum format { TEXT, JSON, CSV, HTML };

struct request {
    const char *job, *output;
    enum format format;
    enum report_view view;
    struct report_structure how;
};

enum { KEY_DEPTH = 256, KEY_COLLAPSE, KEY_INDENT };

static const struct argp_option options[] = {
    { "format", 'f', "FORMAT", 0, "text (default), json, csv (the callsites), or html (one file for a browser)", 0 },
    { "view", 'v', "VIEW", 0, "of text: summary (default), callsites, structure, ranks, omp, comm", 0 },
    { "output", 'o', "OUT", 0, "write to OUT, which appears whole or not at all", 0 },
    { "depth", KEY_DEPTH, "N", 0, "structure: show N levels of loops", 0 },
    { "collapse", KEY_COLLAPSE, NULL, 0, "structure: totals only, no times inside", 0 },
    { "indent", KEY_INDENT, NULL, 0, "structure: as indented pseudo-code", 0 },
    { 0 },
};

static void parse_format(struct request *r, const char *arg, struct argp_state *state)
{
    if (!strcmp(arg, "text"))
        r->format = TEXT;
    else if (!strcmp(arg, "json"))
        r->format = JSON;
    else if (!strcmp(arg, "csv"))
        r->format = CSV;
    else if (!strcmp(arg, "html"))
        r->format = HTML;
    else
        argp_error(state, "FORMAT must be text, json, csv or html, not '%s'", arg);
}

static void parse_view(struct request *r, const char *arg, struct argp_state *state)
{
    static const char *const names[] = { "summary", "callsites", "structure", "ranks", "omp", "comm" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(arg, names[i])) {
            r->view = (enum report_view)i;
            return;
        }
    argp_error(state, "VIEW must be summary, callsites, structure, ranks, omp or comm, not '%s'", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;
    uint64_t number;

    switch (key) {
    case 'f':
        parse_format(r, arg, state);
        return 0;
    case 'v':
        parse_view(r, arg, state);
        return 0;
    case 'o':
        r->output = arg;
        return 0;
    case KEY_DEPTH:
        if (tool_number(arg, UINT32_MAX, &number) != 0 || number == 0)
            argp_error(state, "N must be a number of at least 1, not '%s'", arg);
        r->how.depth = (uint32_t)number;
        return 0;
    case KEY_COLLAPSE:
        r->how.collapse = true;
        return 0;
    case KEY_INDENT:
        r->how.indented = true;
        return 0;
    default:
        return tool_job_argument(key, arg, state, &r->job);
    }
}

static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "JOB",
    .doc = "Reports what a job did: where the time went, the calls and where they are, the structure of the program, who "
           "talks to whom, and how well the last predicted run was predicted."
           "\v"
           "In the structure view CPUn is the computation before the call at callsite n; times are microseconds; "
           "(...)[4]: total is a loop of 4 turns with mean times inside.\n\n"
           "Examples:\n"
           "  pythia report app.pythia\n"
           "  pythia report app.pythia --view structure --depth 2\n"
           "  pythia report app.pythia --format json -o app.json\n"
           "  pythia report app.pythia --format html -o app.html\n",
};

static int print(struct report *report, const struct request *r, FILE *out)
{
    switch (r->format) {
    case JSON:
        return report_print_json(report, out);
    case HTML:
        return report_print_html(report, out);
    case CSV:
        return report_print_csv(report, out);
    default:
        return report_print_text(report, r->view, &r->how, out);
    }
}

int tool_report(int argc, char **argv)
{
    struct request r = { 0 };
    struct tool_output out;
    struct job *j;

    argp_parse(&argp, argc, argv, 0, NULL, &r);
    int rc = tool_read_job(r.job, &j);
    if (rc != TOOL_OK)
        return rc;
    struct report *report = report_create(j);
    if (!report) {
        tool_complain("out of memory");
        rc = TOOL_MEMORY;
    } else {
        rc = tool_output_open(&out, r.output);
    }
    if (rc == TOOL_OK) {
        int printed = print(report, &r, out.file);
        if (printed == PYTHIA_ENOMEM)
            tool_complain("out of memory");
        rc = printed == PYTHIA_ENOMEM ? TOOL_MEMORY : TOOL_OK;
        int closed = tool_output_close(&out, rc == TOOL_OK);
        rc = rc == TOOL_OK ? closed : rc;
    }
    report_destroy(report);
    job_destroy(j);
    return rc;
}
