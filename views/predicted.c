/* SPDX-License-Identifier: MIT */
/* The last predicted run: how well it was foretold, and what became of its time beside that of the recording. */
#include <math.h>

#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

enum { MOST_REGIONS = 5 };

/* Whether the two runs were of one size, so that their times can be compared. */
static bool is_comparable(const struct job_oracle *o)
{
    return o->start_time && o->recorded_ns && o->ranks == o->recorded_ranks;
}

static void print_oracle(const struct job *j, FILE *out)
{
    const struct job_oracle *o = &j->oracle;

    fprintf(out, "\npredicted right at distance");
    for (int d = 0; d < ORACLE_DISTANCES; d++)
        if (o->score.at[d].predictions) /* a short run has no event so far ahead */
            fprintf(out, "%s %u: %.1f %%", d ? "," : "", oracle_score_distances[d],
                    findings_percent((double)o->score.at[d].hits, (double)o->score.at[d].predictions));
    if (o->score.peers.asked)
        fprintf(out, "\n  and of the peers of messages %.1f %%",
                findings_percent((double)o->score.peers.right, (double)o->score.peers.asked));
    double error = oracle_time_median(o->score.time_error);
    if (error >= 0)
        fprintf(out, "\n  median error of the time until the next event %.0f %%", 100 * error);
    fprintf(out, "\n  %s action%s, cost of the oracle %.3g s\n", findings_count(o->actions), o->actions == 1 ? "" : "s",
            o->cost_seconds);
}

/* How much a region weighs here: the time that its executions took with the sizes that they had. */
static double weight(const struct job_region *g)
{
    double ns = 0;

    for (uint32_t i = 0; i < g->size_count && i < JOB_REGION_SIZES; i++)
        ns += (double)g->size[i].ns;
    return ns;
}

static const struct job_region *heaviest_below(const struct job_learned *l, const struct job_region *last)
{
    const struct job_region *most = NULL;

    for (uint32_t i = 0; i < l->region_count; i++) {
        const struct job_region *g = &l->regions[i];
        bool below = !last || weight(g) < weight(last) || (weight(g) == weight(last) && g > last);
        if (below && (!most || weight(g) > weight(most)))
            most = g;
    }
    return most;
}

static void print_region(struct report *r, const struct job_region *g, struct views_table *t)
{
    const struct job_region_size *usual = views_usual_size(g);
    char where[256];

    findings_callsite_text(r->resolver, g->callsite, FINDINGS_ENTRY, where, sizeof where);
    findings_cut_place(where, 34);
    ROW(t, TEXT("", where, "parallel region", -34), COUNT("", g->executions, "count", 9),
        PERCENT("", findings_percent((double)g->changed, (double)g->executions), "changed", 9),
        NUMBER("", g->team, "from", 6), NUMBER("", usual ? usual->size : (double)NAN, "to", 5),
        TIME("", findings_mean((uint64_t)weight(g), g->executions), "mean", 10));
}

/* The regions that take most time, a line each; all that is known of them is in the view of regions. */
static void print_regions(struct report *r, FILE *out)
{
    const struct job_learned *l = &r->job->learned;
    const struct job_region *g = heaviest_below(l, NULL);
    struct views_table t = { .out = out };

    if (g) {
        fputc('\n', out);
        print_region(r, g, &t); /* the headings */
    }
    for (uint32_t i = 0; i < MOST_REGIONS && g; i++, g = heaviest_below(l, g))
        print_region(r, g, &t);
    if (l->region_count > MOST_REGIONS)
        fprintf(out, "  and %u more (--view omp)\n", l->region_count - MOST_REGIONS);
    views_print_reading(r, l->regions, l->region_count, " (--view omp says why not)", out);
}

void views_print_learned(struct report *r, FILE *out)
{
    const struct job_learned *l = &r->job->learned;
    char where[256];

    if (l->region_count || l->task_count)
        fputs("\nas predicted runs have seen them:\n", out);
    for (uint32_t i = 0; i < l->region_count; i++) {
        findings_callsite_text(r->resolver, l->regions[i].callsite, FINDINGS_ENTRY, where, sizeof where);
        fprintf(out, "%s: entered %s times\n", where, findings_count(l->regions[i].executions));
        views_print_known(r, &l->regions[i], out);
    }
    views_print_reading(r, l->regions, l->region_count, " (each says why not)", out);
    views_print_tasks(r, l->tasks, l->task_count, out);
}

void views_print_predicted(struct report *r, FILE *out)
{
    const struct job *j = r->job;
    const struct job_oracle *o = &j->oracle;
    const char *program = findings_program_text(j, 40);

    if (!o->present) {
        fprintf(out, "%s: no run was predicted with this file\n", program);
        return;
    }
    fprintf(out, "%s, predicted: %s", program, findings_size_text(o->ranks, o->threads));
    if (o->start_time)
        fprintf(out, ", %s", findings_date_text(o->start_time));
    fprintf(out, "\nwall time %s", findings_time((double)o->wall_ns));
    if (is_comparable(o))
        fprintf(out, ", %s when recorded", findings_time((double)o->recorded_ns));
    else if (o->recorded_ns)
        fprintf(out, "\nrecorded: %s, %s, %s (of another size: times are not compared)",
                findings_time((double)o->recorded_ns), findings_size_text(o->recorded_ranks, 0),
                findings_date_text(o->recorded_time));
    if (o->start_time && !o->recorded_ns)
        fputs("\nrecorded with other arguments: times are not compared", out);
    fputc('\n', out);
    print_oracle(j, out);
    print_regions(r, out);
}

/* Of the answers given at each tenth of probability, how many there were and how many were right. */
static void add_calibration(cJSON *row, const struct oracle_score *s, int distance)
{
    cJSON *answers = cJSON_AddArrayToObject(row, "answers"), *right = cJSON_AddArrayToObject(row, "right");

    for (int i = 0; i < ORACLE_DECILES; i++) {
        cJSON_AddItemToArray(answers, cJSON_CreateNumber((double)s->at[distance].answers[i]));
        cJSON_AddItemToArray(right, cJSON_CreateNumber((double)s->at[distance].right[i]));
    }
}

static void add_learned_regions(const struct report *r, cJSON *oracle)
{
    cJSON *array = cJSON_AddArrayToObject(oracle, "regions");

    for (uint32_t i = 0; i < r->job->learned.region_count; i++) {
        const struct job_region *g = &r->job->learned.regions[i];
        const struct findings_place *p = findings_resolve(r->resolver, g->callsite, 0, FINDINGS_ENTRY);
        views_add_choice(r, g, ADD(array, TEXT("function", p->function), TEXT("file", p->file),
                                   NUMBER("line", p->line), TEXT("module", p->module), NUMBER("offset", p->offset)));
    }
}

/* What acting gained, s: of regions where enough is known of all that were changed, and of tasks. */
static double all_gain(const struct report *r)
{
    const struct job_oracle *j = &r->job->oracle;
    double gain = j->gain_seconds;

    for (uint32_t i = 0; i < r->job->learned.region_count; i++) {
        const struct job_region *g = &r->job->learned.regions[i];
        gain += views_gain(r, g) / 1e9 - (double)g->gain_ns / 1e9;
    }
    return gain;
}

void views_add_oracle(struct report *r, cJSON *root)
{
    const struct job_oracle *j = &r->job->oracle;
    double error = oracle_time_median(j->score.time_error), asked = (double)j->score.peers.asked;

    if (!j->present)
        return;
    cJSON *o = cJSON_AddObjectToObject(root, "oracle");
    cJSON *accuracy = cJSON_AddObjectToObject(o, "accuracy"), *distances = cJSON_AddArrayToObject(o, "distances");
    for (int d = 0; d < ORACLE_DISTANCES; d++) {
        double predictions = (double)j->score.at[d].predictions, hits = (double)j->score.at[d].hits;
        if (predictions > 0)
            ADD(accuracy, NUMBER(findings_text("%u", oracle_score_distances[d]), hits / predictions));
        cJSON *row = ADD(distances, NUMBER("distance", oracle_score_distances[d]), NUMBER("predictions", predictions),
                         NUMBER("hits", hits), NUMBER("unknown", j->score.at[d].unknown),
                         NUMBER("brier", predictions > 0 ? j->score.at[d].brier / predictions : 0));
        add_calibration(row, &j->score, d);
    }
    ADD(o, NUMBER("time_error_median", views_known(error >= 0, error)),
        NUMBER("partners", views_known(asked > 0, (double)j->score.peers.right / asked)),
        NUMBER("events", j->score.events), NUMBER("known", j->score.known), NUMBER("ranks", j->ranks),
        NUMBER("actions", j->actions), NUMBER("gain_seconds", all_gain(r)),
        NUMBER("cost_seconds", j->cost_seconds), TIME("wall_seconds", j->wall_ns),
        NUMBER("start_time", views_known(j->start_time > 0, (double)j->start_time)),
        TIME("recorded_wall_seconds", views_known(j->recorded_ns > 0, (double)j->recorded_ns)));
    add_learned_regions(r, o);
    views_add_tasks(r, r->job->learned.tasks, r->job->learned.task_count, o);
}
