/* SPDX-License-Identifier: MIT */
/* The view of parallel regions: where they are, how long each team size takes, and what that says about the best
   one. */
#include <inttypes.h>
#include <math.h>

#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

enum { FEW_CONTROLS = 5 }; /* fewer tell nothing */

/* Under the region that it is of. */
static void print_team(const struct report *r, const struct findings_site *g, const struct findings_team *t,
                       struct views_table *table)
{
    double efficiency = findings_team_efficiency(t), fork = findings_fork_share(r->model, t);
    const char *share = fork >= 0 ? findings_text("<%.0f%%", 100 * fork + 0.5) : "-";

    ROW(table, TEXT("", t->size >= 0 ? findings_text("  team of %" PRId64, t->size) : "  other sizes", "", -14),
        COUNT("", t->count, "", 10), TIME("", t->time_ns, "", 10),
        TIME("", findings_mean(t->time_ns, t->count), "", 10), TEXT("", "", "", 7),
        TEXT("", efficiency >= 0 ? findings_text("%.0f%%", 100 * efficiency) : "-", "", 6),
        TEXT("", findings_text("%9s%s", share, t == findings_best_team(g) ? "  best" : ""), "", 0));
}

/* "  of its threads' time: work 52 %, …" */
static void print_threads(const struct report *r, uint32_t callsite, FILE *out)
{
    const struct job_threads *t = job_threads_of_region(r->job, callsite);
    double all = t ? (double)job_threads_known(t) : 0, share[JOB_THREADS_PARTS];

    if (all <= 0 || t->threads < 2)
        return;
    for (int i = 0; i < JOB_THREADS_PARTS; i++)
        share[i] = findings_percent((double)t->part[i], all);
    fprintf(out, "  of its threads' time: work %.0f%%, MPI %.0f%%, waiting for the last %.0f%%, for each other %.0f%%, "
            "fork %.0f%%, join %.0f%% (%s timed, %.0f%% of its time)\n", share[JOB_THREADS_WORK],
            share[JOB_THREADS_MPI], share[JOB_THREADS_UNEVEN], share[JOB_THREADS_WAIT], share[JOB_THREADS_FORK],
            share[JOB_THREADS_JOIN], findings_count(t->samples),
            findings_percent((double)t->timed_ns, (double)t->team_ns));
}

static void print_region(struct report *r, const struct findings_site *g, struct views_table *t)
{
    bool uneven = g->spread.cov >= 0.1 && g->spread.worst_rank != GRAMMAR_NONE;
    const char *more = uneven ? findings_text(" (uneven: cov %.2f, worst rank %u)", g->spread.cov, g->spread.worst_rank)
                              : "";

    ROW(t, TEXT("", findings_site_name(r->names, g->terminal), "region", -14), COUNT("", g->count, "count", 10),
        TIME("", g->time_ns, "total", 10), TIME("", findings_mean(g->time_ns, g->count), "mean", 10),
        PERCENT2("", findings_share(r->model, (double)g->time_ns), "share", 7),
        TEXT("", "", "eff.", 6), TEXT("", "", "fork/join", 9),
        TEXT("", findings_text("%s%s", findings_where(r, g->terminal, 255), more), " place", 0));
}

/* What the oracle does with these figures. */
static void print_choice(const struct report *r, FILE *out)
{
    const struct findings_model *m = r->model;
    uint32_t several = 0, one = 0;

    for (uint32_t i = 0; i < m->region_count; i++) {
        const struct findings_team *best = findings_best_team(&m->regions[i]);
        several += best != NULL;
        one += best && best->size == 1;
    }
    fprintf(
        out,
        "\neff.: time of one thread / (time x threads), at places that ran with both; fork/join: the shortest region "
        "of that size had it too\n");
    views_print_reading(r, r->job->regions, r->job->region_count, " (each says why not)", out);
    if (several)
        fprintf(out, "several sizes did the same work in %u of %u regions; one thread was best in %u\n", several,
                m->region_count, one);
    else
        fprintf(
            out,
            "no region did the same work with several team sizes: the oracle learns what one thread takes when it "
            "predicts\n");
}

void views_print_omp(struct report *r, FILE *out)
{
    const struct findings_model *m = r->model;
    struct views_table t = { .out = out };

    if (!m->region_count)
        fprintf(out, "no parallel region was recorded\n");
    else
        print_region(r, &m->regions[0], &t);
    for (uint32_t i = 0; i < m->region_count; i++) {
        const struct findings_site *g = &m->regions[i];
        print_region(r, g, &t);
        for (uint32_t k = 0; k < g->team_count; k++)
            print_team(r, g, &g->teams[k], &t);
        print_threads(r, g->callsite, out);
        views_print_known(r, job_find_region(r->job, g->callsite), out);
    }
    if (m->region_count)
        print_choice(r, out);
    views_print_tasks(r, r->job->tasks, r->job->task_count, out);
    views_print_machine(r, out);
    views_print_learned(r, out);
}

/* --- What is known of changing the teams of regions, and was done: when recorded, or as predicted runs learned --- */

/* The i-th reason to leave a team alone, of a region that worker threads begin where `g` is NULL; NULL: that is none.
   `text`: room for it. */
static const char *left_alone(const struct report *r, const struct job_region *g, int i, char text[320])
{
    if (!g)
        return i ? NULL : "a worker thread begins it";
    if (i < JOB_FIXED_REASONS)
        return g->fixed & 1u << i ? job_fixed_text(1u << i) : NULL;
    if (job_proof_reason(g->proof) == JOB_PROOF_HARMLESS || (g->proof == JOB_PROOF_NONE && g->team <= 1))
        return NULL;
    findings_reason(r, g, text, 320);
    return text;
}

const struct job_region_size *views_usual_size(const struct job_region *g)
{
    const struct job_region_size *most = NULL;

    for (uint32_t i = 0; g->changed && i < g->size_count && i < JOB_REGION_SIZES; i++)
        if (g->size[i].size != g->team && (!most || g->size[i].count > most->count))
            most = &g->size[i];
    return most;
}

/* What the oracle knows of changing this team, and did: "  oracle: 3 of 50 with another size, …". */
void views_print_known(const struct report *r, const struct job_region *g, FILE *out)
{
    char room[320];

    if (!g)
        return;
    const char *left = g->changed ? "otherwise left alone" : "left alone"; /* it has got a proof since, or lost one */
    const struct job_region_size *most = views_usual_size(g);
    if (most)
        fprintf(out, "  oracle: %s of %s executions with another team than the program's %u, mostly %u (mean %s)\n",
                findings_count(g->changed), findings_count(g->executions), g->team, most->size,
                findings_time(findings_mean(most->ns, most->count)));
    if (g->controls >= FEW_CONTROLS)
        fprintf(out, "  oracle: %s control turns with %u: mean %s, where the chosen size takes %s\n",
                findings_count(g->controls), g->team, findings_time(findings_mean(g->control_ns, g->controls)),
                findings_time(findings_mean(g->chosen_ns, g->controls)));
    for (int i = 0; i <= JOB_FIXED_REASONS; i++)
        if (left_alone(r, g, i, room))
            fprintf(out, "  oracle: %s: %s\n", left, left_alone(r, g, i, room));
}

/* How many regions fewer threads may run, as far as this is known, and what reading their code took. */
void views_print_reading(const struct report *r, const struct job_region *g, uint32_t count, const char *why,
                         FILE *out)
{
    char room[320];
    uint64_t ns = 0;
    uint32_t free = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool left = false;
        for (int k = 0; k <= JOB_FIXED_REASONS; k++)
            left |= left_alone(r, &g[i], k, room) != NULL;
        ns += g[i].proof_ns;
        free += !left && g[i].team > 1;
    }
    if (count)
        fprintf(out, "fewer threads may do the work of %u of %u regions%s; reading their code took %s\n", free, count,
                free < count ? why : "", findings_time((double)ns));
}

double views_gain(const struct report *r, const struct job_region *g)
{
    double took = INFINITY;

    for (uint32_t i = 0; i < r->model->region_count; i++)
        if (r->model->regions[i].callsite == g->callsite)
            took = (double)r->model->regions[i].time_ns;
    return g->changed && g->controls < FEW_CONTROLS ? NAN : fmin((double)g->gain_ns, took);
}

void views_add_choice(const struct report *r, const struct job_region *g, cJSON *region)
{
    static const char *const figures[] = { "proven", "proof_seconds", "own_size", "executions", "changed", "trials",
                                           "gain_seconds", "controls", "control_seconds", "control_chosen_seconds",
                                           "sizes" };
    char room[320];
    const char *lift, *why = views_why_kept(g, false, &lift);
    cJSON *o = cJSON_AddObjectToObject(region, "choice"), *kept = cJSON_AddArrayToObject(o, "kept");

    for (int i = 0; i <= JOB_FIXED_REASONS; i++)
        if (left_alone(r, g, i, room))
            cJSON_AddItemToArray(kept, cJSON_CreateString(left_alone(r, g, i, room)));
    ADD(o, TEXT("reason", why), TEXT("lift", lift));
    for (size_t i = 0; !g && i < sizeof figures / sizeof *figures; i++)
        cJSON_AddNullToObject(o, figures[i]);
    if (!g)
        return;
    ADD(o, BOOL("proven", job_proof_reason(g->proof) == JOB_PROOF_HARMLESS), TIME("proof_seconds", g->proof_ns),
        NUMBER("own_size", g->team), COUNT("executions", g->executions), COUNT("changed", g->changed),
        COUNT("trials", g->trials), TIME("gain_seconds", views_gain(r, g)), COUNT("controls", g->controls),
        TIME("control_seconds", g->control_ns), TIME("control_chosen_seconds", g->chosen_ns));
    cJSON *sizes = cJSON_AddArrayToObject(o, "sizes");
    for (uint32_t i = 0; i < g->size_count && i < JOB_REGION_SIZES; i++)
        ADD(sizes, NUMBER("size", g->size[i].size), COUNT("count", g->size[i].count),
            TIME("time_seconds", g->size[i].ns));
}
