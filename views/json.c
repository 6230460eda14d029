/* SPDX-License-Identifier: MIT */
/*
 * The report as one JSON object, from the same model as the text. Times in seconds, sizes in bytes; absent is null or a
 * missing key, never a made-up value. Readers must accept keys that they do not know.
 */
#include <math.h>
#include <stdlib.h>

#include "findings/by_rank.h"
#include "findings/findings.h"
#include "findings/named.h"
#include "findings/ranges.h"
#include "findings/sums.h"
#include "findings/own_cost.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

enum { JSON_VERSION = 1, MOST_EDGES = 65536 };

static cJSON *left_out(const struct job *j)
{
    cJSON *names = cJSON_CreateArray();

    for (uint32_t i = 0; i < j->left.count; i++)
        cJSON_AddItemToArray(names, cJSON_CreateString(job_text(j, j->left.of[i].table)));
    return names;
}

static void add_took(const struct report *r, bool known, cJSON *to)
{
    const struct job_took *t = &r->job->took;

    ADD(to, TEXT("text", findings_own_cost_text(r)));
    for (int i = 0; i < JOB_TOOK_PARTS; i++)
        ADD(cJSON_AddObjectToObject(to, findings_own_cost_names[i]), TIME("seconds", views_known(known, (double)t->sum[i])),
            TIME("longest_rank_seconds", views_known(known, (double)t->most[i])));
}

static void add_job(struct report *r, cJSON *root)
{
    const struct findings_list *f = findings_list(r);
    const struct job_info *i = &r->job->info;
    const struct findings_model *m = r->model;
    struct findings_own_cost took = findings_own_cost(r->job);

    ADD(cJSON_AddObjectToObject(root, "job"), TEXT("program", job_text(r->job, i->program)),
        TEXT("build_id", job_text(r->job, i->program_id)), TEXT("arguments", job_text(r->job, i->arguments)),
        TEXT("mpi", job_text(r->job, i->mpi)), NUMBER("ranks", i->ranks), NUMBER("threads", i->threads),
        NUMBER("missing_ranks", i->missing), NUMBER("runs", i->runs), NUMBER("start_time", i->start_time),
        TIME("wall_seconds", m->wall_ns), TIME("base_seconds", m->base.ns),
        NUMBER("findings_base_seconds", views_known(f->known, f->base)),
        TIME("init_seconds", m->launch_ns),
        NUMBER("events", m->events), NUMBER("lost", m->lost), NUMBER("values_not_kept", m->values_not_kept),
        TIME("mpi_seconds", m->sum_mpi_ns), TIME("omp_seconds", m->sum_omp_ns),
        TIME("computation_seconds", m->sum_compute_ns), TIME("pythia_seconds", views_known(took.known, took.all)));
    cJSON_AddItemToObject(cJSON_GetObjectItem(root, "job"), "left_out", left_out(r->job));
    add_took(r, took.known, cJSON_AddObjectToObject(root, "pythia"));
    /* Where the wall time of all streams went; the parts add up to it. */
    ADD(cJSON_AddObjectToObject(root, "accounting"), TIME("wall_seconds", m->stream_wall_ns),
        TIME("call_seconds", m->call_ns), TIME("region_seconds", m->region_ns), TIME("gap_seconds", m->gap_ns),
        TIME("lost_seconds", m->lost_ns), TIME("unfinished_seconds", m->unfinished_ns));
}

static void add_findings(struct report *r, cJSON *root)
{
    const struct findings_list *f = findings_list(r);
    cJSON *array = cJSON_AddArrayToObject(root, "findings");

    for (uint32_t i = 0; i < f->count; i++) {
        const struct finding *one = &f->finding[i];
        ADD(array, TEXT("kind", finding_name(one->kind)), TEXT("where", one->where),
            NUMBER("more_places", one->more), TEXT("cause", one->cause), TEXT("ranks", one->ranks),
            NUMBER("seconds", one->seconds), NUMBER("share", one->share),
            TEXT("advice", finding_advice(r, one)), TEXT("inside", views_inside_text(r, one)));
    }
    if (!f->known || isnan(f->lost))
        cJSON_AddNullToObject(root, "losses");
    else
        ADD(cJSON_AddObjectToObject(root, "losses"), NUMBER("lost", f->lost), NUMBER("minor", f->minor));
}

void views_add_efficiency(const struct findings_efficiency *e, cJSON *to)
{
    if (!e->known)
        return;
    double nodes = views_known(e->nodes > 1, 1), split = views_known(e->split, 1),
           threads = views_known(e->measured, 1);
    cJSON *o = ADD(cJSON_AddObjectToObject(to, "efficiency"), NUMBER("parallel", threads * e->parallel),
                   NUMBER("mpi", e->mpi), NUMBER("openmp", threads * e->openmp),
                   NUMBER("load_balance", e->load_balance),
                   NUMBER("load_balance_between_nodes", nodes * e->between_nodes),
                   NUMBER("load_balance_within_nodes", nodes * e->within_nodes),
                   NUMBER("communication", e->communication), NUMBER("serialisation", split * e->serialisation),
                   NUMBER("serialisation_order", split * e->order), NUMBER("serialisation_moving", split * e->moving),
                   NUMBER("serialisation_explained", split * e->explained), NUMBER("transfer", split * e->transfer),
                   NUMBER("openmp_threads", e->threads), NUMBER("openmp_load_balance", threads * e->omp_load_balance),
                   NUMBER("openmp_waiting", threads * e->omp_waiting),
                   NUMBER("openmp_fork_join", threads * e->omp_fork_join),
                   NUMBER("openmp_serial", threads * e->omp_serial), NUMBER("openmp_samples", e->samples),
                   NUMBER("openmp_timed_share", views_known(e->covered > 0, e->covered)));
    /* Where the time of all threads went; the parts add up to the capacity. */
    ADD(cJSON_AddObjectToObject(o, "thread_seconds"), TIME("capacity", e->of.all), TIME("mpi", e->of.mpi),
        TIME("ended", e->of.ended), TIME("useful", threads * e->of.useful), TIME("serial", threads * e->of.serial),
        TIME("fork_join", threads * e->of.fork_join), TIME("waiting", threads * e->of.waiting),
        TIME("uneven", threads * e->of.uneven));
}

static void add_spread(cJSON *o, const struct findings_spread *s)
{
    double executed = views_known(s->min_ns != UINT64_MAX, 1), worst = views_known(s->worst_rank != GRAMMAR_NONE, 1);

    ADD(o, TIME("min_seconds", executed * (double)s->min_ns), TIME("max_seconds", executed * (double)s->max_ns),
        NUMBER("streams", s->streams), RATIO("cov", views_known(s->cov >= 0, s->cov)),
        NUMBER("worst_rank", worst * s->worst_rank), TIME("worst_seconds", worst * (double)s->worst_ns));
}

/* Where a call or a region is in the source; `caller` names the key of the source function. */
static void add_place(struct report *r, cJSON *o, uint32_t terminal, const char *caller)
{
    static const struct findings_place nowhere;
    const struct findings_place *p = findings_place_of(r, terminal) ?: &nowhere;

    ADD(o, TEXT(caller, p->full), TEXT("file", p->file), TEXT("path", p->path),
        NUMBER("line", views_known(p->line, p->line)), TEXT("module", p->module),
        NUMBER("offset", views_known(p->module, (double)p->offset)),
        NUMBER("number", views_site_number(r, r->job->terminals[terminal].callsite)));
}

/* What plugins counted in the bursts before the calls. */
static void add_sums(cJSON *o, const struct findings_sums *sums, const struct findings_site *s)
{
    cJSON *all = cJSON_AddObjectToObject(o, "sums");
    double ipc = findings_sums_ipc(sums, s);

    for (uint32_t i = 0; i < sums->names; i++) {
        struct job_count c = findings_sums_of(sums, s, i);
        if (c.samples)
            ADD(cJSON_AddObjectToObject(all, job_text(sums->job, sums->name[i])), NUMBER("samples", c.samples),
                NUMBER("total", c.total));
    }
    if (ipc >= 0)
        ADD(o, NUMBER("ipc", ipc));
}

/* Gaps and durations at their least and greatest, in which turn (from 0) and on which rank. */
static void add_extremes(cJSON *o, const struct job_extremes *e)
{
    static const char *const names[] = { "gap_min", "gap_max", "duration_min", "duration_max" };

    for (int k = 0; k < JOB_EXTREMES && e->count; k++)
        ADD(o, TIME(findings_text("%s_seconds", names[k]), e->value[k]),
            NUMBER(findings_text("%s_turn", names[k]), e->turn[k]),
            NUMBER(findings_text("%s_rank", names[k]), e->rank[k]));
}

static void add_callsites(struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "callsites");
    struct findings_sums *sums = findings_sums_create(r->job);

    for (uint32_t i = 0; i < r->model->site_count; i++) {
        const struct findings_site *s = &r->model->sites[i];
        cJSON *o = ADD(array, TEXT("function", job_text(r->job, s->function)));
        add_place(r, o, s->terminal, "caller");
        ADD(o, TEXT("class", job_call_kind_text(s->call_kind)), COUNT("count", s->count),
            TIME("time_seconds", s->time_ns), TIME("gap_seconds", s->gap_ns), BYTES("bytes", s->bytes));
        add_extremes(o, &s->extremes);
        double of_run = views_known(!s->launch, 1); /* MPI_Init is before it */
        ADD(o, PERCENT("app_percent", of_run * findings_share(r->model, (double)s->time_ns)),
            PERCENT("mpi_percent", of_run * findings_percent((double)s->time_ns,
                                                             (double)(r->model->call_ns - r->model->sum_launch_ns))));
        add_spread(o, &s->spread);
        if (sums)
            add_sums(o, sums, s);
    }
    findings_sums_destroy(sums);
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
    cJSON *o = ADD(cJSON_AddObjectToObject(region, "threads"), NUMBER("largest", t->threads),
                   NUMBER("samples", t->samples), TIME("team_seconds", t->team_ns),
                   TIME("timed_seconds", t->timed_ns));
    for (int i = 0; i < JOB_THREADS_PARTS; i++)
        ADD(o, TIME(part[i], t->part[i]));
}

static void add_regions(struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "regions");

    for (uint32_t i = 0; i < r->model->region_count; i++) {
        const struct findings_site *g = &r->model->regions[i];
        cJSON *o = views_json_object(array);
        add_place(r, o, g->terminal, "function");
        ADD(o, COUNT("count", g->count), TIME("time_seconds", g->time_ns), TIME("gap_seconds", g->gap_ns));
        add_spread(o, &g->spread);
        add_threads(r, o, g->callsite);
        views_add_choice(r, job_find_region(r->job, g->callsite), o);
        const struct findings_team *best = findings_best_team(g);
        ADD(o, NUMBER("best_size", best ? (double)best->size : NAN));
        cJSON *teams = cJSON_AddArrayToObject(o, "team_sizes");
        for (uint32_t k = 0; k < g->team_count; k++) {
            const struct findings_team *t = &g->teams[k];
            double efficiency = findings_team_efficiency(t), fork = findings_fork_share(r->model, t);
            ADD(teams, NUMBER("size", views_known(t->size >= 0, (double)t->size)), COUNT("count", t->count),
                TIME("time_seconds", t->time_ns), NUMBER("efficiency", views_known(efficiency >= 0, efficiency)),
                NUMBER("fork_join_at_most", views_known(fork >= 0, fork)));
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
        char *text = findings_ranges_text(c->ranges, c->member_ranges), difference[256] = "";
        cJSON *o = views_json_object(array), *ranges = cJSON_AddArrayToObject(o, "ranks");
        for (uint32_t k = 0; k < c->member_ranges; k++) {
            const struct job_range *g = &c->ranges[k];
            ADD(ranges, NUMBER("first", g->first), NUMBER("count", g->count), NUMBER("stride", g->stride),
                NUMBER("rows", g->rows + 1.0), NUMBER("row_stride", g->row_stride), NUMBER("planes", g->planes + 1.0),
                NUMBER("plane_stride", g->plane_stride), NUMBER("thread", g->thread));
        }
        findings_class_difference(r, i, difference, sizeof difference);
        ADD(o, TEXT("ranks_text", text), TEXT("difference", i ? difference : NULL),
            NUMBER("members", findings_members(c)), NUMBER("events", (uint64_t)findings_class_events(c)),
            NUMBER("different_exponents", different_exponents(c)),
            NUMBER("rules", c->grammar ? c->grammar->rule_count : 0),
            NUMBER("nodes", c->grammar ? c->grammar->node_count : 0));
        free(text);
    }
}

/* The shortest and the longest of the ranks: "wall_least_seconds", "wall_least_rank", ... */
static void add_extent(cJSON *o, const char *what, const struct job_extent *e)
{
    ADD(o, TIME(findings_text("%s_least_seconds", what), e->least),
        NUMBER(findings_text("%s_least_rank", what), e->least_rank),
        TIME(findings_text("%s_most_seconds", what), e->most),
        NUMBER(findings_text("%s_most_rank", what), e->most_rank));
}

static void add_streams(const struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "streams");

    for (uint32_t i = 0; i < r->job->stream_count; i++) {
        const struct job_stream *s = &r->job->streams[i];
        cJSON *o = ADD(array, NUMBER("rank", s->rank), NUMBER("thread", s->thread),
                       NUMBER("ranks", s->count), /* 1; in a large job so many from "rank" on: times are means */
                       NUMBER("class", views_known(s->class_index != GRAMMAR_NONE, s->class_index)),
                       NUMBER("events", s->events), NUMBER("lost", s->lost),
                       TIME("begin_seconds", job_stream_mean(s, s->begin_ns)), NUMBER("clock_rate", job_stream_rate(s)),
                       TIME("wall_seconds", job_stream_mean(s, s->wall_ns)),
                       TIME("init_seconds", fmin((double)job_stream_launch(r->job, s),
                                                  (double)job_stream_mean(s, s->mpi_ns))),
                       TIME("mpi_seconds", job_stream_mean(s, s->mpi_ns)),
                       TIME("omp_seconds", job_stream_mean(s, s->omp_ns)),
                       TIME("pythia_seconds", job_stream_mean(s, s->cost_ns)));
        add_extent(o, "wall", &s->wall);
        add_extent(o, "useful", &s->useful);
    }
}

static void add_comm(const struct report *r, cJSON *root)
{
    static const char *const relations[] = { "rank", "offset", "xor", "any", "varies" };
    cJSON *array = cJSON_AddArrayToObject(root, "comm");

    for (uint32_t i = 0; i < r->model->peer_count; i++) {
        const struct findings_peer *p = &r->model->peers[i];
        ADD(array, TEXT("communicator", findings_comm_text(r, p->comm)),
            TEXT("direction", p->receives ? "receive" : "send"), BOOL("onesided", p->onesided),
            TEXT("relation", relations[p->relation]),
            NUMBER("peer", views_known(p->relation <= FINDINGS_XOR, (double)p->value)), COUNT("messages", p->messages),
            BYTES("bytes", p->bytes));
    }
}

/* Edges up to MOST_EDGES, as arrays of from, to, messages, bytes: there are many. */
static void add_matrix(const struct report *r, cJSON *root)
{
    const struct findings_model *m = r->model;
    cJSON *o = cJSON_AddObjectToObject(root, "matrix"), *edges = cJSON_AddArrayToObject(o, "edges");
    cJSON *patterns = cJSON_AddArrayToObject(o, "patterns");

    for (uint32_t i = 0; i < m->edge_count && m->edge_count <= MOST_EDGES; i++) {
        const struct findings_edge *e = &m->edges[i];
        const double figures[] = { e->from, e->to, (double)e->messages, (double)e->bytes };
        cJSON_AddItemToArray(edges, cJSON_CreateDoubleArray(figures, 4));
    }
    ADD(o, BOOL("complete", m->edge_count <= MOST_EDGES && !m->unplaced_messages),
        NUMBER("unplaced_messages", m->unplaced_messages), NUMBER("unplaced_bytes", m->unplaced_bytes),
        NUMBER("by_mean_bytes", m->by_mean_bytes));
    for (uint32_t i = 0; i < m->pattern_count; i++) {
        const struct findings_pattern *p = &m->patterns[i];
        const struct findings_site *s = p->site == GRAMMAR_NONE ? NULL : &m->sites[p->site];
        ADD(patterns, TEXT("pattern", p->name), TEXT("function", s ? job_text(r->job, s->function) : NULL),
            NUMBER("number", s ? views_site_number(r, s->callsite) : NAN), COUNT("messages", p->messages),
            BYTES("bytes", p->bytes));
    }
}

cJSON *views_json(struct report *r)
{
    cJSON *root = cJSON_CreateObject();

    ADD(root, NUMBER("version", JSON_VERSION));
    add_job(r, root);
    views_add_ended(r, root);
    add_findings(r, root);
    if (findings_analysis(r))
        views_json_unmatched(r, findings_analysis(r), root);
    else
        cJSON_AddNullToObject(root, "unmatched_calls");
    findings_split_communication(r);
    views_add_efficiency(&r->model->efficiency, root);
    views_add_named(r, NULL, root);
    add_callsites(r, root);
    views_add_polls(r, root);
    views_add_sizes(r, root);
    add_regions(r, root);
    views_add_tasks(r, r->job->tasks, r->job->task_count, root);
    views_add_machine(r, root);
    add_classes(r, root);
    add_streams(r, root);
    add_comm(r, root);
    add_matrix(r, root);
    views_add_series(r, root);
    views_add_own(r, root);
    views_json_loops(r, root);
    views_json_calltree(r, NULL, root);
    views_add_inside(r, root);
    views_add_oracle(r, root);
    return root;
}

/* What is in it alone: keys as of the whole job. */
static cJSON *json_of_region(struct report *r, const char *name)
{
    const struct findings_named *n = findings_named_find(r, name);
    cJSON *root = cJSON_CreateObject(), *array;

    ADD(root, NUMBER("version", JSON_VERSION), TEXT("region", name));
    add_job(r, root);
    views_add_named(r, n, root);
    array = cJSON_AddArrayToObject(root, "callsites");
    for (uint32_t i = 0; i < n->call_count; i++) {
        const struct findings_named_call *c = &n->calls[i];
        cJSON *o = ADD(array, TEXT("function", job_text(r->job, r->job->terminals[c->terminal].function)));
        add_place(r, o, c->terminal, "caller");
        ADD(o, COUNT("count", c->count), TIME("time_seconds", c->ns),
            TIME("waiting_seconds", views_known(findings_named_of(r)->waits, c->wait_ns)));
    }
    views_json_calltree(r, name, root);
    return root;
}

void views_print_json(struct report *r, const char *region, FILE *out)
{
    views_json_write(region ? json_of_region(r, region) : views_json(r), out);
}
