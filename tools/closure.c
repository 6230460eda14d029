/* SPDX-License-Identifier: MIT */
/*
 * `pythia closure`: whether a job file is the whole of what the program did with MPI. A program is made of it,
 * compiled, run and recorded; both recordings are held against each other, event by event.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "closure/closure.h"
#include "findings/units.h"
#include "tools/program.h"
#include "tools/tool.h"
#include "views/table.h"
#include "views/views.h"

enum { WORDS = 256 };

struct request {
    const char *job, *keep;
    int json;
    double time;
    char *launcher[WORDS]; /* NULL-terminated */
    size_t launcher_words;
};

static void take_word(void *request, char *arg, struct argp_state *state)
{
    struct request *r = request;

    if (!r->job)
        r->job = arg;
    else if (r->launcher_words + 1 < WORDS)
        r->launcher[r->launcher_words++] = arg;
    else
        argp_error(state, "more than %d words", WORDS);
}

static void check(void *request, struct argp_state *state)
{
    if (!((struct request *)request)->job)
        argp_error(state, "no job file");
}

static const char *const formats[] = { "text", "json", NULL };
static const struct tool_option options[] = {
    TOOL_CHOICE(json, 'f', "format", "FORMAT", formats, "text (default) or json"),
    TOOL_MEASURE(time, 0, "time", "FACTOR", "computation takes so many times what was recorded (1)"),
    TOOL_TEXT(keep, 0, "keep", "DIR", "leave proxy.c, proxy and proxy.pythia in DIR"),
    { 0 },
};

static const struct tool_line usage = {
    .options = options, .arguments = "JOB [-- MPIRUN...]", .take = take_word, .check = check,
    .doc = "Makes a program of a job (pythia export --to c), compiles it (mpicc, or $MPICC), runs it recorded and "
           "compares the two recordings event by event: calls, communicators and their members, peers, bytes, tags."
           "\v"
           "MPIRUN is what starts it, by default mpirun -n RANKS. The exit code is 1 where a rank is not exact.\n\n"
           "Examples:\n"
           "  pythia closure app.pythia\n"
           "  pythia closure app.pythia --format json -- srun -n 64\n",
};

/* --- Running --- */

static void show_end(const char *log)
{
    char line[512], last[3][512] = { "", "", "" };
    FILE *f = fopen(log, "re");

    while (f && fgets(line, sizeof line, f)) {
        memmove(last[0], last[1], sizeof last[0] * 2);
        snprintf(last[2], sizeof last[2], "%s", line);
    }
    for (int k = 0; k < 3; k++)
        if (last[k][0])
            fprintf(stderr, "  %s%s", last[k], strchr(last[k], '\n') ? "" : "\n");
    if (f)
        fclose(f);
}

/* Runs it with its output in `log`; seconds, below 0 after a complaint. */
static double run(char **argv, const char *log)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    uint64_t begin = base_clock_system();
    int status = 0;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        tool_complain("%s: %s", argv[0], strerror(error));
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return (double)(base_clock_system() - begin) * 1e-9;
    tool_complain("%s failed: its last lines are", argv[0]);
    show_end(log);
    return -1;
}

struct paths { char *dir, *source, *program, *file, *log; };

static char *inside(const char *dir, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

static int open_paths(struct paths *p, const char *keep)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = keep ? strdup(keep) : inside(tmp && *tmp ? tmp : "/tmp", "pythia-closure.XXXXXX");

    if (keep ? mkdir(dir, 0777) && errno != EEXIST : !mkdtemp(dir)) {
        tool_complain("%s: %s", dir, strerror(errno));
        free(dir);
        return TOOL_OUTPUT;
    }
    *p = (struct paths){ dir, inside(dir, "proxy.c"), inside(dir, "proxy"), inside(dir, "proxy.pythia"),
                         inside(dir, "proxy.log") };
    unlink(p->file);
    unlink(p->log);
    return TOOL_OK;
}

static void close_paths(struct paths *p, const char *keep)
{
    char *const of[] = { p->source, p->program, p->file, p->log };

    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        if (!keep)
            unlink(of[k]);
        free(of[k]);
    }
    if (!keep)
        rmdir(p->dir);
    free(p->dir);
}

static void print_text(void *text, FILE *out)
{
    fputs(text, out);
}

static double compile(const struct paths *p)
{
    char *compiler = getenv("MPICC");
    char *argv[] = { compiler && *compiler ? compiler : "mpicc", "-O1", "-g", "-fopenmp", p->source, "-o", p->program,
                     NULL };

    return run(argv, p->log);
}

static double record(struct request *r, const struct paths *p, uint32_t ranks)
{
    char self[PATH_MAX], number[16], *argv[WORDS + 8], *usual[] = { "mpirun", "-n", number, NULL };
    size_t n = 0;

    snprintf(number, sizeof number, "%u", ranks);
    for (char **w = r->launcher_words ? r->launcher : usual; *w; w++)
        argv[n++] = *w;
    if (program_find_library("pythia", self, sizeof self)) {
        tool_complain("the command pythia is not beside this program");
        return -1;
    }
    char *rest[] = { self, "record", "-o", p->file, p->program, NULL };
    memcpy(argv + n, rest, sizeof rest);
    return run(argv, p->log);
}

/* --- What came of it --- */

struct outcome {
    struct closure_comparison c;
    uint32_t lines;
    double compile_seconds, run_seconds;
    const struct closure_program *program;
};

/* Mean difference of a call's time (the gap before it and itself), weighted by what each takes; of the recorded. */
static double time_error(const struct closure_comparison *c)
{
    double off = 0, all = 0;

    for (uint32_t k = 0; k < c->time_count; k++) {
        const struct closure_time *t = &c->times[k];
        off += fabs(t->gap[1] + t->duration[1] - t->gap[0] - t->duration[0]);
        all += t->gap[0] + t->duration[0];
    }
    return all > 0 ? off / all : 0;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void print_outcome(void *outcome, FILE *out)
{
    const struct outcome *o = outcome;
    const struct closure_comparison *c = &o->c;

    fprintf(out, "%s: %" PRIu64 " of %" PRIu64 " events equal (%.4g %%), %u of %u ranks exact\n",
            c->exact == c->ranks ? "exact" : "not exact", c->equal, c->events,
            100 * ratio((double)c->equal, (double)c->events), c->exact, c->ranks);
    if (c->first[0])
        fprintf(out, "first difference: %s\n", c->first);
    fprintf(out, "wall time: %s recorded, %s of the program: %.3f times; error of time per call %.1f %%\n",
            findings_time(c->wall_ns[0]), findings_time(c->wall_ns[1]), ratio(c->wall_ns[1], c->wall_ns[0]),
            100 * time_error(c));
    fprintf(out, "program: %u lines, %zu bytes, compiled in %.2f s\n", o->lines, strlen(o->program->text),
            o->compile_seconds);
    fprintf(out, "\n%-28s %10s   %11s %11s   %11s %11s\n", "function", "calls", "before it", "now", "in it", "now");
    for (uint32_t k = 0; k < c->time_count; k++) {
        const struct closure_time *t = &c->times[k];
        double n = t->calls ? (double)t->calls : 1;
        fprintf(out, "%-28s %10" PRIu64 "   %11s %11s   %11s %11s\n", t->function, t->calls,
                findings_time(t->gap[0] / n), findings_time(t->gap[1] / n), findings_time(t->duration[0] / n),
                findings_time(t->duration[1] / n));
    }
}

static void print_json(void *outcome, FILE *out)
{
    const struct outcome *o = outcome;
    const struct closure_comparison *c = &o->c;
    cJSON *top = ADD(cJSON_CreateObject(), NUMBER("version", 1), BOOL("exact", c->exact == c->ranks),
                     NUMBER("events", c->events), NUMBER("equal_events", c->equal), NUMBER("ranks", c->ranks),
                     NUMBER("exact_ranks", c->exact), TEXT("first_difference", c->first[0] ? c->first : NULL),
                     TIME("recorded_wall_seconds", c->wall_ns[0]), TIME("wall_seconds", c->wall_ns[1]),
                     NUMBER("wall_ratio", ratio(c->wall_ns[1], c->wall_ns[0])), NUMBER("time_error", time_error(c)),
                     NUMBER("lines", o->lines), NUMBER("bytes", strlen(o->program->text)),
                     NUMBER("compile_seconds", o->compile_seconds));

    cJSON *lacks = cJSON_AddArrayToObject(top, "not_as_recorded"), *times = cJSON_AddArrayToObject(top, "calls");
    for (uint32_t k = 0; k < o->program->lack_count; k++)
        ADD(lacks, TEXT("what", o->program->lacks[k].what), NUMBER("events", o->program->lacks[k].events));
    for (uint32_t k = 0; k < c->time_count; k++) {
        const struct closure_time *t = &c->times[k];
        ADD(times, TEXT("function", t->function), COUNT("count", t->calls), TIME("recorded_gap_seconds", t->gap[0]),
            TIME("gap_seconds", t->gap[1]), TIME("recorded_call_seconds", t->duration[0]),
            TIME("call_seconds", t->duration[1]));
    }
    views_json_write(top, out);
}

static int judge(struct request *r, struct outcome *o, const struct job *j, const struct paths *p)
{
    struct job *proxy;
    int rc = tool_read_job(p->file, &proxy);

    if (rc != TOOL_OK)
        return rc;
    closure_compare(j, proxy, &o->c);
    (r->json ? print_json : print_outcome)(o, stdout);
    rc = o->c.exact == o->c.ranks ? TOOL_OK : TOOL_NO;
    free(o->c.times);
    job_destroy(proxy);
    return rc;
}

static int close_loop(struct request *r, const struct job *j, const struct closure_program *made)
{
    struct outcome o = { .program = made };
    struct paths p;
    int rc = open_paths(&p, r->keep);

    if (rc != TOOL_OK)
        return rc;
    for (const char *at = made->text; (at = strchr(at, '\n')); at++)
        o.lines++;
    rc = tool_write(p.source, true, print_text, made->text);
    if (rc == TOOL_OK && ((o.compile_seconds = compile(&p)) < 0 || (o.run_seconds = record(r, &p, made->ranks)) < 0))
        rc = TOOL_NO;
    if (rc == TOOL_OK)
        rc = judge(r, &o, j, &p);
    close_paths(&p, r->keep);
    return rc;
}

int tool_closure(int argc, char **argv)
{
    struct request r = { .time = 1 };
    struct job *j;

    tool_parse(&usage, argc, argv, &r);
    int rc = tool_read_job(r.job, &j);
    if (rc != TOOL_OK)
        return rc;
    struct findings_resolver *places = findings_resolver_create(j);
    struct closure_how how = { .time = r.time };
    struct closure_program made = closure_make(j, places, &how);
    for (uint32_t k = 0; k < made.lack_count; k++)
        tool_complain("%s: not as recorded: %" PRIu64 " %s", r.job, made.lacks[k].events, made.lacks[k].what);
    if (made.refused) {
        tool_complain("%s: no program: %s", r.job, made.refused);
        rc = TOOL_NO;
    } else {
        rc = close_loop(&r, j, &made);
    }
    closure_free(&made);
    findings_resolver_destroy(places);
    job_destroy(j);
    return rc;
}
