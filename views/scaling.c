/* SPDX-License-Identifier: MIT */
/* Several jobs side by side; see scaling.h. */
#include "views/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "findings/units.h"
#include "views/table.h"

enum { TOP_CALLS = 12 };

/* Of a rank, as its efficiency has them. */
static uint32_t threads_of(const struct report *r)
{
    uint32_t threads = r->job->info.threads ? r->job->info.threads : 1;

    return r->model->efficiency.known ? r->model->efficiency.threads : threads;
}

static uint64_t processors(const struct report *r)
{
    return (uint64_t)r->job->info.ranks * threads_of(r);
}

/* Insertion sort: few jobs, and equal ones stay in the order in which they were named. */
static void sort_jobs(struct views_scaling *s)
{
    for (uint32_t i = 1; i < s->count; i++)
        for (uint32_t k = i; k > 0 && processors(s->report[k]) < processors(s->report[k - 1]); k--) {
            struct report *r = s->report[k];
            const char *file = s->file[k];
            s->report[k] = s->report[k - 1];
            s->file[k] = s->file[k - 1];
            s->report[k - 1] = r;
            s->file[k - 1] = file;
        }
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* Of all threads; NAN where that was not measured. */
static double useful(const struct findings_efficiency *e)
{
    return views_known(e->known && e->measured, e->of.useful);
}

static bool other_program(const struct views_scaling *s, uint32_t i)
{
    const char *first = findings_program_text(s->report[0]->job, 255);

    return strcmp(first, findings_program_text(s->report[i]->job, 255)) != 0;
}

/* NAN: not known, or, held against the first job, of another program or other arguments than its. */
struct figures { double speedup, efficiency, computation, global, parallel, balance, communication; };

static struct figures figures_of(const struct views_scaling *s, uint32_t i)
{
    const struct findings_model *first = s->report[0]->model, *m = s->report[i]->model;
    const struct findings_efficiency *e = &m->efficiency;
    double known = views_known(!other_program(s, i) && !job_other_arguments(s->report[0]->job, s->report[i]->job), 1);
    struct figures f = { .speedup = known * ratio((double)first->wall_ns, (double)m->wall_ns),
                         .computation = known * useful(&first->efficiency) / useful(e),
                         .parallel = views_known(e->known && e->measured, e->parallel),
                         .balance = views_known(e->known, e->load_balance),
                         .communication = views_known(e->known, e->communication) };

    f.efficiency = f.speedup * ratio((double)processors(s->report[0]), (double)processors(s->report[i]));
    f.global = f.parallel * f.computation;
    return f;
}

/* --- The same call in all jobs --- */

struct call {
    const char *function, *caller;
    /* s, calls, bytes a call */
    double time[VIEWS_SCALING_JOBS], count[VIEWS_SCALING_JOBS], bytes[VIEWS_SCALING_JOBS];
    double share; /* greatest of a job's time in calls */
};

struct calls {
    struct call *call;
    uint32_t count;
};

static const char *caller_of(struct report *r, const struct findings_site *site)
{
    const struct findings_place *p = findings_place_of(r, site->terminal);

    return p && p->function ? p->function : "";
}

BASE_COMPARISON(by_name, struct call, strcmp(a->function, b->function) ?: strcmp(a->caller, b->caller))

BASE_COMPARISON(by_share, struct call, BASE_DOWN(share) ?: by_name(a, b))

static void add(struct call *into, const struct call *from, uint32_t jobs)
{
    for (uint32_t i = 0; i < jobs; i++) {
        into->time[i] += from->time[i];
        into->count[i] += from->count[i];
        into->bytes[i] += from->bytes[i];
    }
}

/* A row for each site of each job, then equal names together. */
static void collect(const struct views_scaling *s, struct calls *calls)
{
    size_t rows = 0;

    for (uint32_t i = 0; i < s->count; i++)
        rows += s->report[i]->model->site_count;
    calls->call = calloc(rows + 1, sizeof *calls->call);
    rows = 0;
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t k = 0; k < s->report[i]->model->site_count; k++) {
            const struct findings_site *site = &s->report[i]->model->sites[k];
            struct call *c = &calls->call[rows++];
            c->function = job_text(s->report[i]->job, site->function);
            c->caller = caller_of(s->report[i], site);
            c->time[i] = (double)site->time_ns / 1e9;
            c->count[i] = (double)site->count;
            c->bytes[i] = (double)site->bytes;
        }
    calls->count = (uint32_t)BASE_ARRAY_JOIN(calls->call, rows, by_name, into, from, add(into, from, s->count));
    for (uint32_t k = 0; k < calls->count; k++)
        for (uint32_t i = 0; i < s->count; i++) {
            double share = findings_share(s->report[i]->model, calls->call[k].time[i] * 1e9);
            calls->call[k].share = share > calls->call[k].share ? share : calls->call[k].share;
            calls->call[k].bytes[i] = ratio(calls->call[k].bytes[i], calls->call[k].count[i]);
        }
    qsort(calls->call, calls->count, sizeof *calls->call, by_share);
}

/* --- Text --- */

/* Of the main loop, a stream's on average; NAN: none is known. */
static double loop_turns(const struct views_scaling *s, uint32_t i)
{
    const struct findings_loop *l = findings_main_loop(s->report[i]);

    return l ? floor(findings_loop_mean_turns(l) + 0.5) : (double)NAN;
}

static void print_job(const struct views_scaling *s, uint32_t i, struct views_table *t)
{
    const struct report *r = s->report[i];
    const struct figures f = figures_of(s, i);

    ROW(t, NUMBER("", r->job->info.ranks, "ranks", 6), NUMBER("", threads_of(r), "threads", 8),
        TIME("", r->model->wall_ns, "wall", 9), RATIO("", f.speedup, "speed-up", 9),
        PERCENT("", 100 * f.efficiency, "efficiency", 11), PERCENT("", 100 * f.global, "global", 8),
        PERCENT("", 100 * f.parallel, "parallel", 9), PERCENT("", 100 * f.balance, "balance", 9),
        PERCENT("", 100 * f.communication, "communication", 14), PERCENT("", 100 * f.computation, "computation", 12),
        TEXT("", s->file[i], " job", 0));
}

static void print_jobs(const struct views_scaling *s, FILE *out)
{
    struct views_table t = { .out = out };
    bool others = false, unknown = false, programs = false;

    for (uint32_t i = 0; i <= s->count; i++) {
        print_job(s, i ? i - 1 : 0, &t);
        programs |= i && other_program(s, i - 1);
        others |= i && !other_program(s, i - 1) && isnan(figures_of(s, i - 1).speedup);
        unknown |= i && isnan(figures_of(s, i - 1).parallel);
    }
    if (programs)
        fprintf(out, "-: times are not compared with those of the first job, which is of another program (%s)\n",
                findings_program_text(s->report[0]->job, 20));
    if (others)
        fputs("-: times are not compared with those of the first job, whose arguments are others\n", out);
    if (unknown)
        fputs("-: what all threads did was not measured\n", out);
    fprintf(out, "\nmain loop, turns:");
    for (uint32_t i = 0; i < s->count; i++)
        fprintf(out, " %12s", isnan(loop_turns(s, i)) ? "-" : findings_text("%.0f", loop_turns(s, i)));
    fputc('\n', out);
}

static void print_calls(const struct views_scaling *s, const struct calls *calls, FILE *out)
{
    fprintf(out, "\n%-40s", "calls: share of the ranks' time, bytes a call");
    for (uint32_t i = 0; i < s->count; i++) {
        const struct report *r = s->report[i];
        fprintf(out, " %18s", findings_text("%u x %u", r->job->info.ranks, threads_of(r)));
    }
    fputc('\n', out);
    for (uint32_t k = 0; k < calls->count && k < TOP_CALLS; k++) {
        const struct call *c = &calls->call[k];
        const char *name = findings_text("%.70s%s%.70s", c->function, *c->caller ? " in " : "", c->caller);
        views_column(findings_line(name, 44), -45, out);
        for (uint32_t i = 0; i < s->count; i++)
            fprintf(out, " %7.2f%% %9s", findings_share(s->report[i]->model, c->time[i] * 1e9),
                    findings_bytes(c->bytes[i]));
        fputc('\n', out);
    }
}

void views_print_scaling(struct views_scaling *s, FILE *out)
{
    struct calls calls = { 0 };

    sort_jobs(s);
    collect(s, &calls);
    print_jobs(s, out);
    print_calls(s, &calls, out);
    free(calls.call);
}

/* --- JSON --- */

static void add_job(const struct views_scaling *s, uint32_t i, cJSON *jobs)
{
    const struct report *r = s->report[i];
    const struct figures f = figures_of(s, i);

    ADD(jobs, TEXT("file", s->file[i]), NUMBER("ranks", r->job->info.ranks), NUMBER("threads", threads_of(r)),
        TIME("wall_seconds", r->model->wall_ns), TIME("all_seconds", r->model->base.ns),
        NUMBER("speedup", f.speedup), NUMBER("efficiency", f.efficiency), NUMBER("global_efficiency", f.global),
        NUMBER("parallel_efficiency", f.parallel), NUMBER("load_balance", f.balance),
        NUMBER("communication_efficiency", f.communication), NUMBER("computation_scaling", f.computation),
        NUMBER("main_loop_turns", loop_turns(s, i)));
}

cJSON *views_scaling_json(struct views_scaling *s)
{
    struct calls calls = { 0 };
    cJSON *root = cJSON_CreateObject();

    sort_jobs(s);
    collect(s, &calls);
    ADD(root, NUMBER("version", 1), TEXT("program", findings_program_text(s->report[0]->job, 255)));
    cJSON *jobs = cJSON_AddArrayToObject(root, "jobs"), *rows = cJSON_AddArrayToObject(root, "calls");
    for (uint32_t i = 0; i < s->count; i++)
        add_job(s, i, jobs);
    for (uint32_t k = 0; k < calls.count; k++) {
        cJSON *o = ADD(rows, TEXT("function", calls.call[k].function),
                       TEXT("caller", *calls.call[k].caller ? calls.call[k].caller : NULL));
        cJSON_AddItemToObject(o, "count", cJSON_CreateDoubleArray(calls.call[k].count, (int)s->count));
        cJSON_AddItemToObject(o, "time_seconds", cJSON_CreateDoubleArray(calls.call[k].time, (int)s->count));
        cJSON_AddItemToObject(o, "bytes_per_call", cJSON_CreateDoubleArray(calls.call[k].bytes, (int)s->count));
    }
    free(calls.call);
    return root;
}
