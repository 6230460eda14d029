/* SPDX-License-Identifier: MIT */
/* `pythia watch`: the command line, looking again and again; see watch.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/terminal.h"
#include "tools/tool.h"
#include "tools/watch.h"
#include "views/views.h"

#define NO_RANK UINT64_MAX
enum { LOOKS = 3 }; /* at stacks */

struct request {
    const char *job, *on_hang;
    struct watch_wanted wanted;
    uint64_t interval;
    uint64_t rank, pid, looks;    /* NO_RANK: all; 0: none, not said */
    bool once;
    enum { NO_STACKS, WAYS, NOW } stacks;
    enum { TEXT, JSON } form;
};

/* "2h", "90m", "30s", "1:30:00", "5400" */
static void take_limit(void *request, char *arg, struct argp_state *state)
{
    double *limit = &((struct request *)request)->wanted.limit_seconds;
    bool right = true;
    char *end;
    *limit = 0;
    for (const char *at = arg; at == arg || *end == ':'; at = end + 1) {
        double next = strtod(at, &end);
        right &= end > at && next >= 0 && (at == arg || next < 60);
        *limit = *limit * 60 + next;
    }
    *limit *= !strcmp(end, "h") ? 3600 : !strcmp(end, "m") ? 60 : !*end || !strcmp(end, "s") ? 1 : 0;
    if (!right || !(*limit > 0))
        argp_error(state, "--limit must be a time such as 2h, 90m or 1:30:00, not '%s'", arg);
}

static void take_stacks(void *request, char *arg, struct argp_state *state)
{
    struct request *r = request;
    if (arg && strcmp(arg, "now") != 0)
        argp_error(state, "--stacks must be now, or nothing, not '%s'", arg);
    r->stacks = arg ? NOW : WAYS;
}

static void check(void *request, struct argp_state *state)
{
    const struct request *r = request;
    if ((r->rank != NO_RANK || r->looks) && r->stacks != NOW)
        argp_error(state, "--%s goes with --stacks=now", r->looks ? "looks" : "rank");
    if (r->pid && (r->job || r->stacks != NOW))
        argp_error(state, "--pid goes with --stacks=now, and no job");
}

static void take_job(void *request, char *arg, struct argp_state *state)
{
    struct request *r = request;
    if (r->job)
        argp_error(state, "one job only");
    r->job = arg;
    if (!arg[strspn(arg, "0123456789")])
        r->wanted.pid = (uint32_t)tool_number(arg, "PID", 1, INT32_MAX, state);
}

static const char *const forms[] = { "text", "json", NULL };
static const struct tool_option options[] = {
    TOOL_SWITCH(once, 0, "once", "look for a second, print, and say by the exit code whether all is well"),
    TOOL_COUNT(interval, 'n', "interval", "S", 1, 3600, "seconds between two looks (default 2)"),
    TOOL_CHOICE(form, 'f', "format", "FORMAT", forms,
                "text (default), or json: a document, without --once a line a look"),
    TOOL_TAKEN(take_limit, 0, "limit", "TIME",
               "how long the job may run in all, as 2h, 90m or 1:30:00; default what Slurm or PBS told it"),
    TOOL_TEXT(on_hang, 0, "on-hang", "COMMAND",
              "run this in a shell once for each verdict, with the job as JSON on its standard input"),
    TOOL_TAKEN(take_stacks, 0, "stacks", "[now]",
               "also how each named rank came to its call, function by function; now: where all threads of all ranks on "
               "this node are at this moment, as one tree"),
    TOOL_COUNT(rank, 0, "rank", "R", 0, UINT32_MAX, "stacks of this rank only"),
    TOOL_COUNT(looks, 0, "looks", "N", 1, 100,
               "looks at stacks, a second apart (default 3): what is not in the same functions at each moves"),
    TOOL_COUNT(pid, 0, "pid", "PID", 1, INT32_MAX,
               "stacks of this process, or of the ranks below it (mpirun's), with or without Pythia in them"),
    { 0 },
};

static const struct tool_line usage = {
    .options = options, .arguments = "[JOB | DIR | PID]", .take = take_job, .check = check,
    .doc =
        "Shows running jobs of yours on this node: where each rank is, who holds it up, when it ends. The job is not "
        "touched: no MPI, no debugger, no signal; but --stacks=now stops the processes for some ms."
        "\v"
        "JOB is the job file that the job writes or is predicted from, DIR the directory of its parts (JOB.parts), by "
        "which a job of several nodes is seen from any of them; PID the process of one of its ranks; without any the "
        "jobs of this node are shown. A job that was started with PYTHIA_BOARD=no cannot be seen.\n\n"
        "The verdict comes first. stopped: a rank's process is gone or halted, or nothing comes from its node, or "
        "others wait for it and it sleeps. "
        "deadlock: ranks wait for each other, and nobody computes for them. missing_rank: others wait, and this rank is "
        "elsewhere. slow: a rank computes at least twice as long as before at the same places, and the others do not; "
        "time without a processor is left out. "
        "Else it is none (in JSON). "
        "A wait is long when it is three times the longest pause that this run has had, and at least 4 s; it is too "
        "long if both ranks, the one that waits and the other one, have been where they are at least 100 times, and "
        "100 / (n + 1) times as long if n times. If these times come in no particular order, that is a false alarm "
        "with a chance of at most 1 / (n + 1). A predicted run also knows its recording. What is met for the first time "
        "is told, and is no verdict.\n\n"
        "--stacks=now attaches to each process as a debugger does, copies its stacks and lets it go, three times a "
        "second apart: what is elsewhere each time moves, what is not is stuck or waits. Where the kernel "
        "forbids it, a line says what allows it. [0-3, 2.1] are the first threads of ranks 0 "
        "to 3, and thread 1 of rank 2.\n\n"
        "Exit code of --once: 0, 1 with a verdict other than none, 2 when there is no such job, 3 when no job is "
        "named and there are none but of another version of Pythia.\n\n"
        "Example:\n"
        "  pythia watch\n"
        "  pythia watch app.pythia --once --format json\n"
        "  pythia watch --once --stacks=now --rank 3\n"
        "  pythia watch --limit 2h --on-hang 'mail -s hang me'\n",
};

/* --- Looking again and again --- */

static void run_on_hang(const char *command, struct watch_jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct watch_job *j = &jobs->job[i];
        if (!watch_news(j) || watch_news(j) == j->told)
            continue;
        j->told = watch_news(j);
        BASE_OWN char *text = watch_json(j);
        fflush(NULL);
        FILE *f = popen(command, "w");
        if (f)
            fprintf(f, "%s\n", text);
        if (!f || pclose(f) != 0)
            tool_complain("--on-hang: '%s' failed", command);
    }
}

/* Dead jobs go when other watchers, too, have had the time to see it. */
static void bury(const struct watch_jobs *jobs)
{
    uint32_t i = 0;
    while (i < jobs->count && jobs->job[i].dead < 2)
        i++;
    if (i < jobs->count)
        watch_sweep();
}

static int no_job(const struct request *r, const struct watch_jobs *jobs)
{
    tool_complain(jobs->now.other_version
                      ? "no job %s runs under Pythia on this node; %u boards are of another version of it"
                      : "no job %s runs under Pythia on this node", r->job ? r->job : "of yours",
                  jobs->now.other_version);
    return jobs->now.other_version && !r->job ? TOOL_INPUT : TOOL_USAGE;
}

static void look_at_stacks(const struct request *r, struct watch_jobs *jobs)
{
    for (uint64_t look = 0; look < r->looks; look++) {
        if (look)
            sleep(1);
        for (uint32_t i = 0; i < jobs->count; i++)
            watch_stacks(&jobs->job[i], r->rank == NO_RANK ? NULL : &r->rank);
    }
}

/* With or without boards. */
static int look_below(const struct request *r)
{
    struct stacks *s = stacks_create();
    for (uint64_t look = 0; look < r->looks; look++) {
        if (look)
            sleep(1);
        if (watch_stacks_below(s, (uint32_t)r->pid, r->rank == NO_RANK ? NULL : &r->rank) || look)
            continue;
        tool_complain("there is no process %llu", (unsigned long long)r->pid);
        stacks_destroy(s);
        return TOOL_USAGE;
    }
    if (r->form == JSON)
        views_json_write(stacks_json(s), stdout);
    else
        stacks_print(s, stdout);
    stacks_destroy(s);
    return TOOL_OK;
}

int tool_watch(int argc, char **argv)
{
    struct request r = { .interval = 2, .rank = NO_RANK };
    struct watch_jobs jobs = { 0 }, earlier = { 0 };
    char file[sizeof ((struct watch_board *)0)->file];

    tool_parse(&usage, argc, argv, &r);
    r.looks = r.looks ? r.looks : LOOKS;
    base_clock_init();
    if (r.pid)
        return look_below(&r);
    if (r.job && !r.wanted.pid) {
        watch_process_file(r.job, file, sizeof file);
        r.wanted.file = file;
    }
    bool redraw = !r.once && r.form == TEXT && isatty(STDOUT_FILENO) && !base_terminal_is_dumb();
    watch_look(&earlier, &(struct watch_jobs){ 0 }, &r.wanted);
    watch_sweep();
    if (!earlier.count)
        return no_job(&r, &earlier);
    for (;;) {
        sleep(r.once ? 1 : (unsigned)r.interval);
        watch_look(&jobs, &earlier, &r.wanted);
        if (!jobs.count && !r.once)
            return TOOL_OK;
        if (!jobs.count)
            return no_job(&r, &jobs);
        if (r.stacks == NOW)
            look_at_stacks(&r, &jobs);
        if (redraw)
            fputs("\033[H\033[J", stdout);
        if (r.form == JSON)
            watch_print_json(stdout, &jobs, !r.once);
        else
            watch_print_text(stdout, &jobs, r.stacks == WAYS);
        if (fflush(stdout)) /* nobody reads it any more: main() says so */
            return TOOL_OK;
        if (r.on_hang)
            run_on_hang(r.on_hang, &jobs);
        if (r.once)
            break;
        bury(&jobs);
        earlier = jobs;
    }
    int rc = TOOL_OK;
    for (uint32_t i = 0; i < jobs.count; i++)
        rc = watch_news(&jobs.job[i]) ? TOOL_NO : rc;
    watch_jobs_free(&jobs);
    return rc;
}
