/* SPDX-License-Identifier: MIT */
/* `pythia compare`: what differs between two jobs, and whether a job keeps its contract. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/compare.h"
#include "contracts/contract.h"
#include "page/html.h"
#include "tools/tool.h"
#include "views/views.h"

enum { MOST_JOBS = 1000, RULES_BYTES = 1 << 20 };

enum form { TEXT, JSON, JUNIT, HTML };

struct request {
    const char **job; /* the baseline's files, and the new one's last */
    struct tool_job *from;
    uint32_t jobs;
    uint64_t baseline;
    enum form form;
    struct contract contract;
};

static void take_rules(void *request, char *text, struct argp_state *state)
{
    struct request *r = request;
    char why[160];

    if (!contract_parse(&r->contract, text, why, sizeof why))
        argp_error(state, "%s", why);
}

static void read_rules(void *request, char *path, struct argp_state *state)
{
    struct request *r = request;
    FILE *f = fopen(path, "r");
    BASE_OWN char *text = malloc(RULES_BYTES + 1);
    size_t size = f ? fread(text, 1, RULES_BYTES + 1, f) : 0;

    if (!f || ferror(f))
        argp_failure(state, TOOL_INPUT, errno, "%s", path);
    if (size > RULES_BYTES || memchr(text, '\0', size))
        argp_failure(state, TOOL_INPUT, 0, "%s: no file of rules", path);
    text[size] = '\0';
    uint32_t before = r->contract.rule_count;
    take_rules(r, text, state);
    if (r->contract.rule_count == before)
        argp_failure(state, TOOL_INPUT, 0, "%s: no rule in it", path);
    fclose(f);
}

static void check(void *request, struct argp_state *state)
{
    const struct request *r = request;
    unsigned baseline = (unsigned)r->baseline, wanted = baseline + 1;

    if (r->jobs < wanted)
        argp_error(state, r->jobs == 0 ? "no job file" : r->baseline == 1 ? "a second job file is missing" :
                   "the baseline has %u runs: %u job files are needed, there are %u", baseline, wanted, r->jobs);
    if (r->jobs > wanted)
        argp_error(state, r->baseline == 1 ? "two job files only, or --baseline" :
                   "the baseline has %u runs: %u job files are needed, there are %u", baseline, wanted, r->jobs);
    if (!r->contract.rule_count && (r->baseline > 1 || r->form == JUNIT))
        argp_error(state, "%s needs rules: --fail-if or --rules", r->form == JUNIT ? "junit" : "--baseline");
    if (r->contract.rule_count && r->form == HTML)
        argp_error(state, "a contract is text, json or junit");
}

static void take_job(void *request, char *arg, struct argp_state *state)
{
    struct request *r = request;

    (void)state;
    if (r->jobs <= MOST_JOBS)
        r->job[r->jobs++] = arg;
}

static const char *const forms[] = { "text", "json", "junit", "html", NULL };
static const struct tool_option options[] = {
    TOOL_CHOICE(form, 'f', "format", "FORMAT", forms,
                "text (default), json or html (one file for a browser); of a contract also junit, not html"),
    TOOL_TAKEN(take_rules, 0, "fail-if", "RULE", "what the second job must not do; several with commas"),
    TOOL_TAKEN(read_rules, 0, "rules", "FILE", "a file of such rules, a line each, comments from #"),
    TOOL_COUNT(baseline, 0, "baseline", "N", 1, MOST_JOBS,
               "the first N job files are runs of the baseline (default 1)"),
    { 0 },
};

static const struct tool_line usage = {
    .options = options, .arguments = "A B\nBASE... NEW", .take = take_job, .check = check,
    .doc = "Compares two jobs: calls and regions, loops and their turns, team sizes that changed, and times that "
           "moved beyond their spread. With other numbers of ranks it says how often calls and loops are executed by rank "
           "count P: constant, with P, with P^(1/3), 1/P, or other. With rules it says which promises the second job breaks."
           "\v"
           "Of a rebuilt program calls are mapped by function and order, and the output says which. A time has moved when the "
           "means differ by more than the deviation of one execution, 1 % and 10 ns, and that is more than 0.01 % of the "
           "job's time in all; what was executed once has no spread and is not judged.\n\n"
           "Rules: structure, wall > 5%, callsite > 10%, region > 10% (also region[NAME], which the program calls "
           "so), loop > 10%; of efficiencies, by how much they are less: parallel > 5%, load_balance > 5%, serialisation > 5%, openmp > 5%. In brackets: messages, "
           "bytes, collectives, turns, callsites or classes (groups of ranks that do the same); a word of the name as the report shows "
           "it of the others, callsite[MPI_Send] > 5%. A time is the mean of the shortest three quarters of its "
           "executions, beside what most times changed by. It breaks a rule when it is longer by more than that, "
           "than in each run of the baseline, and by more than chance: what times vary by between its runs and "
           "inside them, 2 % for all rules together. Against one run nothing is said below the scatter inside the "
           "runs. Where most times are longer by more than the tolerance, and than the baseline's runs differ, a "
           "rule cannot be judged. What is executed fewer than eight times a rank is judged only by its name. Where "
           "arguments differ times are not compared.\n\n"
           "Exit code: 0 when the structure is equal and times are within their spread, 1 when not (always, when the numbers of "
           "ranks or threads differ), 3 when a file cannot be read. With rules: 0 when all are kept, 1 when one is broken, 2 "
           "when one cannot be judged.\n\n"
           "Example:\n"
           "  pythia compare before.pythia after.pythia\n"
           "  pythia compare app-8.pythia app-27.pythia --format json\n"
           "  pythia compare before.pythia after.pythia --format html >compared.html\n"
           "  pythia compare --baseline 5 run?.pythia new.pythia --fail-if 'structure, region > 10%'\n"
           "  pythia compare --baseline 5 run?.pythia new.pythia --fail-if 'parallel > 5%, callsite > 3%'\n",
};

static int compare(const struct request *r)
{
    struct contracts_comparison *c = contracts_compare(r->from[0].report, r->job[0], r->from[1].report, r->job[1]);
    int answer = c->structure_differs || c->times_differ ? TOOL_NO : TOOL_OK;

    if (r->form == JSON)
        views_json_write(views_comparison_json(c), stdout);
    else if (r->form == HTML)
        page_print_jobs_html(views_comparison_json(c), stdout);
    else
        views_print_comparison(c, stdout);
    contracts_comparison_destroy(c);
    return answer;
}

static int judge(struct request *r)
{
    static void (*const print[])(const struct contract *, FILE *) = {
        contract_print, contract_print_json, contract_print_junit };
    static const int answer[] = { TOOL_OK, TOOL_NO, TOOL_USAGE };
    BASE_OWN struct report **baseline = malloc(r->baseline * sizeof *baseline);

    for (uint32_t i = 0; i < r->baseline; i++)
        baseline[i] = r->from[i].report;
    contract_judge(&r->contract, baseline, r->job, (uint32_t)r->baseline, r->from[r->baseline].report,
                   r->job[r->baseline]);
    print[r->form](&r->contract, stdout);
    return answer[contract_verdict(&r->contract)];
}

int tool_compare(int argc, char **argv)
{
    struct request r = { .baseline = 1, .job = calloc(MOST_JOBS + 1, sizeof *r.job),
                         .from = calloc(MOST_JOBS + 1, sizeof *r.from) };
    int rc = TOOL_OK;

    tool_parse(&usage, argc, argv, &r);
    for (uint32_t i = 0; rc == TOOL_OK && i < r.jobs; i++)
        rc = tool_job_open(&r.from[i], r.job[i]);
    if (rc == TOOL_OK)
        rc = r.contract.rule_count ? judge(&r) : compare(&r);
    for (uint32_t i = 0; i < r.jobs; i++)
        tool_job_close(&r.from[i]);
    contract_clear(&r.contract);
    free(r.job);
    free(r.from);
    return rc;
}
