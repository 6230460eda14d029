/* SPDX-License-Identifier: MIT */
/* `pythia compare`: what differs between two jobs. */
#include <argp.h>
#include <stdbool.h>
#include <string.h>

#include "pythia.h"
#include "report/compare.h"
#include "tools/tool.h"

struct request {
    const char *job[2];
    struct tool_job from[2];
    int jobs;
    bool json;
};

static const struct argp_option options[] = {
    { "format", 'f', "FORMAT", 0, "text (default) or json", 0 },
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;

    switch (key) {
    case 'f':
        r->json = !strcmp(arg, "json");
        if (!r->json && strcmp(arg, "text") != 0)
            argp_error(state, "FORMAT must be text or json, not '%s'", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (r->jobs == 2)
            argp_error(state, "two job files only");
        r->job[r->jobs++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (r->jobs < 2)
            argp_error(state, r->jobs ? "a second job file is missing" : "no job file");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "A B",
    .doc = "Compares two jobs: calls and regions, loops and their turns, rules and team sizes that changed, and times that "
           "moved beyond their spread. With other numbers of ranks it says how often calls and loops are executed by rank "
           "count P: constant, with P, with P^(1/3), 1/P, or other."
           "\v"
           "Of a rebuilt program calls are mapped by function and order, and the output says which. A time has moved when the "
           "means differ by more than the deviation of one execution, 1 % and 10 ns, and that is more than 0.01 % of the "
           "job's time in all; what was executed once has no spread and is not judged.\n\n"
           "Exit code: 0 when the structure is equal and times are within their spread, 1 when not (always, when the numbers of "
           "ranks or threads differ), 3 when a file cannot be read.\n\n"
           "Example:\n"
           "  pythia compare before.pythia after.pythia\n"
           "  pythia compare app-8.pythia app-27.pythia --format json\n",
};

static int print(const struct request *r)
{
    struct report_comparison *c = report_compare(r->from[0].report, r->job[0], r->from[1].report, r->job[1]);
    int rc = !c ? PYTHIA_ENOMEM : r->json ? report_print_comparison_json(c, stdout) : report_print_comparison(c, stdout);
    int answer = c && (c->structure_differs || c->times_differ) ? TOOL_NO : TOOL_OK;

    report_comparison_destroy(c);
    return rc == PYTHIA_ENOMEM ? TOOL_MEMORY : answer; /* main() looks after standard output */
}

int tool_compare(int argc, char **argv)
{
    struct request r = { 0 };
    int rc = TOOL_OK;

    argp_parse(&argp, argc, argv, 0, NULL, &r);
    for (int i = 0; rc == TOOL_OK && i < 2; i++)
        rc = tool_job_open(&r.from[i], r.job[i]);
    if (rc == TOOL_OK)
        rc = print(&r);
    for (int i = 0; i < 2; i++)
        tool_job_close(&r.from[i]);
    return rc;
}
