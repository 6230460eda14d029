/* SPDX-License-Identifier: MIT */
/*
 * The report as one JSON object, from the same model as the text. Times in seconds, sizes in bytes; absent is null or a
 * missing key, never a made-up value. Readers must accept keys that they do not know.
 */
#include <stdlib.h>
#include <string.h>

#include "findings/by_rank.h"
#include "findings/findings.h"
#include "findings/losses.h"
#include "findings/ranges.h"
#include "views/json.h"
#include "views/sums.h"
#include "views/unmatched.h"
#include "views/views.h"

enum { JSON_VERSION = 1, MOST_EDGES = 65536 };

static void add_number(cJSON *o, const char *key, double value)
{
    cJSON_AddNumberToObject(o, key, value);
}

void report_json_seconds(cJSON *o, const char *key, uint64_t ns)
{
    add_number(o, key, (double)ns / 1e9);
}

static void add_job(const struct report *r, cJSON *root)
{
    const struct job_info *i = &r->job->info;
    const struct report_model *m = r->model;
    cJSON *o = cJSON_AddObjectToObject(root, "job");

    report_json_text(o, "program", job_text(r->job, i->program));
    report_json_text(o, "build_id", job_text(r->job, i->program_id));
    report_json_text(o, "arguments", job_text(r->job, i->arguments));
    report_json_text(o, "mpi", job_text(r->job, i->mpi));
    add_number(o, "ranks", i->ranks);
    add_number(o, "threads", i->threads);
    add_number(o, "missing_ranks", i->missing);
    add_number(o, "runs", i->runs);
    add_number(o, "start_time", (double)i->start_time);
    report_json_seconds(o, "wall_seconds", m->wall_ns);
    report_json_seconds(o, "init_seconds", m->launch_ns);
    add_number(o, "events", (double)m->events);
    add_number(o, "lost", (double)m->lost);
    report_json_seconds(o, "mpi_seconds", m->sum_mpi_ns);
    report_json_seconds(o, "omp_seconds", m->sum_omp_ns);
    report_json_seconds(o, "computation_seconds", m->sum_compute_ns);
    report_json_seconds(o, "pythia_seconds", m->cost_ns);
}

static void add_lines(struct report *r, const struct report_findings *f, cJSON *array)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct report_finding *one = &f->finding[i];
        cJSON *o = report_json_object(array);
        cJSON_AddStringToObject(o, "kind", report_finding_name(one->kind));
        report_json_text(o, "where", one->where);
        add_number(o, "more_places", one->more);
        report_json_text(o, "cause", one->cause);
        cJSON_AddStringToObject(o, "ranks", one->ranks);
        add_number(o, "seconds", one->seconds);
        add_number(o, "share", one->share);
        cJSON_AddStringToObject(o, "advice", report_finding_advice(r, one));
    }
}

static void add_findings(struct report *r, cJSON *root)
{
    const struct report_losses *l = report_losses(r);

    add_lines(r, report_findings(r), cJSON_AddArrayToObject(root, "findings"));
    if (!l) {
        cJSON_AddNullToObject(root, "losses");
        return;
    }
    cJSON *o = cJSON_AddObjectToObject(root, "losses");
    add_number(o, "lost", l->lost);
    add_lines(r, &l->lines, cJSON_AddArrayToObject(o, "lines"));
}

/* A number that may not be known. */
void report_json_known(cJSON *o, const char *key, bool known, double value)
{
    if (known)
        add_number(o, key, value);
    else
        cJSON_AddNullToObject(o, key);
}

/* Where the time of all threads went; the parts add up to the capacity. */
static void add_capacity(const struct report_efficiency *e, cJSON *efficiency)
{
    cJSON *o = cJSON_AddObjectToObject(efficiency, "thread_seconds");

    add_number(o, "capacity", e->of.all / 1e9);
    add_number(o, "mpi", e->of.mpi / 1e9);
    add_number(o, "ended", e->of.ended / 1e9);
    report_json_known(o, "useful", e->measured, e->of.useful / 1e9);
    report_json_known(o, "serial", e->measured, e->of.serial / 1e9);
    report_json_known(o, "fork_join", e->measured, e->of.fork_join / 1e9);
    report_json_known(o, "waiting", e->measured, e->of.waiting / 1e9);
    report_json_known(o, "uneven", e->measured, e->of.uneven / 1e9);
}

static void add_efficiency(struct report *r, cJSON *root)
{
    const struct report_efficiency *e = &r->model->efficiency;

    if (!e->known)
        return;
    report_split_communication(r);
    cJSON *o = cJSON_AddObjectToObject(root, "efficiency");
    report_json_known(o, "parallel", e->measured, e->parallel);
    add_number(o, "mpi", e->mpi);
    report_json_known(o, "openmp", e->measured, e->openmp);
    add_number(o, "load_balance", e->load_balance);
    report_json_known(o, "load_balance_between_nodes", e->nodes > 1, e->between_nodes);
    report_json_known(o, "load_balance_within_nodes", e->nodes > 1, e->within_nodes);
    add_number(o, "communication", e->communication);
    report_json_known(o, "serialisation", e->split, e->serialisation);
    report_json_known(o, "serialisation_order", e->split, e->order);
    report_json_known(o, "serialisation_moving", e->split, e->moving);
    report_json_known(o, "serialisation_explained", e->split, e->explained);
    report_json_known(o, "transfer", e->split, e->transfer);
    add_number(o, "openmp_threads", e->threads);
    report_json_known(o, "openmp_load_balance", e->measured, e->omp_load_balance);
    report_json_known(o, "openmp_waiting", e->measured, e->omp_waiting);
    report_json_known(o, "openmp_fork_join", e->measured, e->omp_fork_join);
    report_json_known(o, "openmp_serial", e->measured, e->omp_serial);
    add_number(o, "openmp_samples", e->samples);
    report_json_known(o, "openmp_timed_share", e->covered > 0, e->covered);
    add_capacity(e, o);
}

/* Where the wall time of all streams went; the parts add up to it. */
static void add_accounting(const struct report *r, cJSON *root)
{
    const struct report_model *m = r->model;
    cJSON *o = cJSON_AddObjectToObject(root, "accounting");

    report_json_seconds(o, "wall_seconds", m->stream_wall_ns);
    report_json_seconds(o, "call_seconds", m->call_ns);
    report_json_seconds(o, "region_seconds", m->region_ns);
    report_json_seconds(o, "gap_seconds", m->gap_ns);
    report_json_seconds(o, "lost_seconds", m->lost_ns);
}

static void add_spread(cJSON *o, const struct report_spread *s)
{
    report_json_known(o, "min_seconds", s->min_ns != UINT64_MAX, (double)s->min_ns / 1e9);
    report_json_known(o, "max_seconds", s->min_ns != UINT64_MAX, (double)s->max_ns / 1e9);
    add_number(o, "streams", (double)s->streams);
    report_json_known(o, "cov", s->cov >= 0, s->cov);
    report_json_known(o, "worst_rank", s->worst_rank != GRAMMAR_NONE, s->worst_rank);
    report_json_known(o, "worst_seconds", s->worst_rank != GRAMMAR_NONE, (double)s->worst_ns / 1e9);
}

/* Where a call or a region is in the source; `caller` names the key of the source function. */
static void add_place(struct report *r, cJSON *o, uint32_t terminal, const char *caller)
{
    const struct report_place *p = report_place_of(r, terminal);
    uint32_t number = report_site_number(r->names, r->job->terminals[terminal].callsite);

    report_json_text(o, caller, p ? p->full : NULL);
    report_json_text(o, "file", p ? p->file : NULL);
    report_json_text(o, "path", p ? p->path : NULL);
    report_json_known(o, "line", p && p->line, p ? p->line : 0);
    report_json_text(o, "module", p ? p->module : NULL);
    report_json_known(o, "offset", p != NULL, p ? (double)p->offset : 0);
    report_json_known(o, "number", number != GRAMMAR_NONE, number);
}

/* What plugins counted in the bursts before the calls. */
static void add_sums(cJSON *o, const struct report_sums *sums, const struct report_site *s)
{
    cJSON *all = cJSON_AddObjectToObject(o, "sums");
    double ipc = report_sums_ipc(sums, s);

    for (uint32_t i = 0; i < report_sums_names(sums); i++) {
        struct job_count c = report_sums_of(sums, s, i);
        cJSON *sum = c.samples ? cJSON_AddObjectToObject(all, report_sums_name(sums, i)) : NULL;
        if (!sum)
            continue;
        add_number(sum, "samples", (double)c.samples);
        add_number(sum, "total", (double)c.total);
    }
    if (ipc >= 0)
        add_number(o, "ipc", ipc);
}

/* Gaps and durations at their least and greatest, in which turn (from 0) and on which rank. */
static void add_extremes(cJSON *o, const struct job_extremes *e)
{
    static const char *const names[] = { "gap_min", "gap_max", "duration_min", "duration_max" };
    char key[40];

    for (int k = 0; k < JOB_EXTREMES && e->count; k++) {
        snprintf(key, sizeof key, "%s_seconds", names[k]);
        report_json_seconds(o, key, e->value[k]);
        snprintf(key, sizeof key, "%s_turn", names[k]);
        add_number(o, key, (double)e->turn[k]);
        snprintf(key, sizeof key, "%s_rank", names[k]);
        add_number(o, key, e->rank[k]);
    }
}

static void add_callsites(struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "callsites");
    struct report_sums *sums = report_sums_create(r->job);

    for (uint32_t i = 0; i < r->model->site_count; i++) {
        const struct report_site *s = &r->model->sites[i];
        cJSON *o = report_json_object(array);
        report_json_text(o, "function", job_text(r->job, s->function));
        add_place(r, o, s->terminal, "caller");
        report_json_text(o, "class", job_call_kind_text(s->call_kind));
        add_number(o, "count", (double)s->count);
        report_json_seconds(o, "time_seconds", s->time_ns);
        report_json_seconds(o, "gap_seconds", s->gap_ns);
        add_number(o, "bytes", (double)s->bytes);
        add_extremes(o, &s->extremes);
        add_number(o, "app_percent", report_percent((double)s->time_ns, (double)r->model->stream_wall_ns));
        add_number(o, "mpi_percent", report_percent((double)s->time_ns, (double)r->model->call_ns));
        add_spread(o, &s->spread);
        if (sums)
            add_sums(o, sums, s);
    }
    report_sums_destroy(sums);
}

/* Of the threads of a region's teams; null where none was timed. */
static void add_threads(const struct report *r, cJSON *region, uint32_t callsite)
{
    static const char *const part[] = { "work_seconds", "mpi_seconds", "uneven_seconds", "waiting_seconds",
                                        "fork_seconds", "join_seconds" };
    const struct job_threads *t = job_threads_of_region(r->job, callsite);

    if (!t || !job_threads_known(t)) {
        cJSON_AddNullToObject(region, "threads");
        return;
    }
    cJSON *o = cJSON_AddObjectToObject(region, "threads");
    add_number(o, "largest", t->threads);
    add_number(o, "samples", (double)t->samples);
    report_json_seconds(o, "team_seconds", t->team_ns);
    report_json_seconds(o, "timed_seconds", t->timed_ns);
    for (int i = 0; i < JOB_THREADS_PARTS; i++)
        report_json_seconds(o, part[i], t->part[i]);
}

static void add_regions(struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "regions");

    for (uint32_t i = 0; i < r->model->region_count; i++) {
        const struct report_region *g = &r->model->regions[i];
        cJSON *o = report_json_object(array);
        add_place(r, o, g->terminal, "function");
        add_number(o, "count", (double)g->count);
        report_json_seconds(o, "time_seconds", g->time_ns);
        report_json_seconds(o, "gap_seconds", g->gap_ns);
        add_spread(o, &g->spread);
        add_threads(r, o, g->callsite);
        report_add_choice(r, job_find_region(r->job, g->callsite), o);
        const struct report_team *best = report_best_team(r->job, g);
        report_json_known(o, "best_size", best != NULL, best ? (double)best->size : 0);
        cJSON *teams = cJSON_AddArrayToObject(o, "team_sizes");
        for (uint32_t k = 0; k < g->team_count; k++) {
            cJSON *t = report_json_object(teams);
            report_json_known(t, "size", g->teams[k].size >= 0, (double)g->teams[k].size);
            add_number(t, "count", (double)g->teams[k].count);
            report_json_seconds(t, "time_seconds", g->teams[k].time_ns);
            report_json_known(t, "efficiency", report_team_efficiency(&g->teams[k]) >= 0,
                      report_team_efficiency(&g->teams[k]));
            report_json_known(t, "fork_join_at_most", report_fork_share(r->model, &g->teams[k]) >= 0,
                      report_fork_share(r->model, &g->teams[k]));
        }
    }
}

/* Places in the grammar where not all members have the same exponent. */
static double different_exponents(const struct job_class *c)
{
    double nodes = 0;

    for (uint32_t i = 0; i < c->turn_count; i++)
        nodes += !i || c->turns[i].node != c->turns[i - 1].node;
    return nodes;
}

static void add_classes(const struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "classes");

    for (uint32_t i = 0; i < r->job->class_count; i++) {
        const struct job_class *c = &r->job->classes[i];
        char *text = report_ranges_text(c), difference[256] = "";
        cJSON *o = report_json_object(array);
        cJSON *ranges = cJSON_AddArrayToObject(o, "ranks");
        for (uint32_t k = 0; k < c->member_ranges; k++) {
            cJSON *range = report_json_object(ranges);
            add_number(range, "first", c->ranges[k].first);
            add_number(range, "count", c->ranges[k].count);
            add_number(range, "stride", c->ranges[k].stride);
            add_number(range, "rows", (double)c->ranges[k].rows + 1);
            add_number(range, "row_stride", c->ranges[k].row_stride);
            add_number(range, "planes", (double)c->ranges[k].planes + 1);
            add_number(range, "plane_stride", c->ranges[k].plane_stride);
            add_number(range, "thread", c->ranges[k].thread);
        }
        report_json_text(o, "ranks_text", text);
        report_class_difference(r, i, difference, sizeof difference);
        report_json_text(o, "difference", i ? difference : NULL);
        add_number(o, "members", (double)report_members(c));
        add_number(o, "events", (double)(uint64_t)report_class_events(c));
        add_number(o, "different_exponents", different_exponents(c));
        add_number(o, "rules", c->grammar ? c->grammar->rule_count : 0);
        add_number(o, "nodes", c->grammar ? c->grammar->node_count : 0);
        free(text);
    }
}

/* The shortest and the longest of the ranks: "wall_least_seconds", "wall_least_rank", ... */
static void add_extent(cJSON *o, const char *what, const struct job_extent *e)
{
    char key[40];

    snprintf(key, sizeof key, "%s_least_seconds", what);
    report_json_seconds(o, key, e->least);
    snprintf(key, sizeof key, "%s_least_rank", what);
    add_number(o, key, e->least_rank);
    snprintf(key, sizeof key, "%s_most_seconds", what);
    report_json_seconds(o, key, e->most);
    snprintf(key, sizeof key, "%s_most_rank", what);
    add_number(o, key, e->most_rank);
}

static void add_streams(const struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "streams");

    for (uint32_t i = 0; i < r->job->stream_count; i++) {
        const struct job_stream *s = &r->job->streams[i];
        cJSON *o = report_json_object(array);
        add_number(o, "rank", s->rank);
        add_number(o, "thread", s->thread);
        add_number(o, "ranks", s->count); /* 1; in a large job so many from "rank" on: times are means */
        report_json_known(o, "class", s->class_index != GRAMMAR_NONE, s->class_index);
        add_number(o, "events", (double)s->events);
        add_number(o, "lost", (double)s->lost);
        report_json_seconds(o, "begin_seconds", job_stream_mean(s, s->begin_ns));
        add_number(o, "clock_rate", job_stream_rate(s));
        report_json_seconds(o, "wall_seconds", job_stream_mean(s, s->wall_ns));
        report_json_seconds(o, "mpi_seconds", job_stream_mean(s, s->mpi_ns));
        report_json_seconds(o, "omp_seconds", job_stream_mean(s, s->omp_ns));
        report_json_seconds(o, "pythia_seconds", job_stream_mean(s, s->cost_ns));
        add_extent(o, "wall", &s->wall);
        add_extent(o, "useful", &s->useful);
    }
}

static void add_comm(const struct report *r, cJSON *root)
{
    static const char *const relations[] = { "rank", "offset", "xor", "any", "varies" };
    cJSON *array = cJSON_AddArrayToObject(root, "comm");

    for (uint32_t i = 0; i < r->model->peer_count; i++) {
        const struct report_peer *p = &r->model->peers[i];
        cJSON *o = report_json_object(array);
        report_json_text(o, "communicator", report_comm_text(r, p->comm));
        report_json_text(o, "direction", p->receives ? "receive" : "send");
        cJSON_AddBoolToObject(o, "onesided", p->onesided);
        report_json_text(o, "relation", relations[p->relation]);
        report_json_known(o, "peer", p->relation <= REPORT_XOR, (double)p->value);
        add_number(o, "messages", (double)p->messages);
        add_number(o, "bytes", (double)p->bytes);
    }
}

/* Edges up to MOST_EDGES, as arrays of from, to, messages, bytes: there are many. */
static void add_matrix(const struct report *r, cJSON *root)
{
    const struct report_model *m = r->model;
    cJSON *o = cJSON_AddObjectToObject(root, "matrix"), *edges = cJSON_AddArrayToObject(o, "edges");
    cJSON *patterns = cJSON_AddArrayToObject(o, "patterns");

    for (uint32_t i = 0; i < m->edge_count && m->edge_count <= MOST_EDGES; i++) {
        const struct report_edge *e = &m->edges[i];
        const double figures[] = { e->from, e->to, (double)e->messages, (double)e->bytes };
        cJSON_AddItemToArray(edges, cJSON_CreateDoubleArray(figures, 4));
    }
    cJSON_AddBoolToObject(o, "complete", m->edge_count <= MOST_EDGES && !m->unplaced_messages);
    add_number(o, "unplaced_messages", (double)m->unplaced_messages);
    add_number(o, "unplaced_bytes", (double)m->unplaced_bytes);
    add_number(o, "by_mean_bytes", (double)m->by_mean_bytes);
    for (uint32_t i = 0; i < m->pattern_count; i++) {
        const struct report_pattern *p = &m->patterns[i];
        bool all = p->site == GRAMMAR_NONE;
        cJSON *row = report_json_object(patterns);
        report_json_text(row, "pattern", p->name);
        report_json_text(row, "function", all ? NULL : job_text(r->job, m->sites[p->site].function));
        report_json_known(row, "number", !all, all ? 0 : report_site_number(r->names, m->sites[p->site].callsite));
        add_number(row, "messages", (double)p->messages);
        add_number(row, "bytes", (double)p->bytes);
    }
}

cJSON *report_json(struct report *r)
{
    cJSON *root = cJSON_CreateObject();

    add_number(root, "version", JSON_VERSION);
    add_job(r, root);
    add_accounting(r, root);
    add_findings(r, root);
    if (report_analysis(r))
        report_json_unmatched(r, report_analysis(r), root);
    else
        cJSON_AddNullToObject(root, "unmatched_calls");
    add_efficiency(r, root);
    add_callsites(r, root);
    report_add_polls(r, root);
    report_add_sizes(r, root);
    add_regions(r, root);
    report_add_tasks(r, r->job->tasks, r->job->task_count, root);
    report_add_machine(r, root);
    report_add_clock(r, root);
    report_add_delay(r, root);
    add_classes(r, root);
    add_streams(r, root);
    add_comm(r, root);
    add_matrix(r, root);
    report_add_series(r, root);
    report_add_own(r, root);
    report_json_loops(r, root);
    report_add_oracle(r, root);
    return root;
}

void report_print_json(struct report *r, FILE *out)
{
    report_json_write(report_json(r), out);
}
