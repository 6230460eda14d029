/* SPDX-License-Identifier: MIT */
/*
 * The report as one JSON object, from the same model as the text. Times in seconds, sizes in bytes; absent is null or a
 * missing key, never a made-up value. Readers must accept keys that they do not know.
 */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "report/ranges.h"
#include "report/report.h"

enum { JSON_VERSION = 1 };

/* Length of the UTF-8 sequence at `s`, 0 for what is none (also surrogates, overlong forms, beyond U+10FFFF). */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    uint32_t code = s[0] & (0xffu >> (n + 1));
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

/* Names come from files and file systems: JSON must be UTF-8 all the same. */
static void add_text(cJSON *o, const char *key, const char *text)
{
    char *clean = text ? strdup(text) : NULL;

    for (unsigned char *c = (unsigned char *)clean; c && *c;) {
        int n = utf8_length(c);
        if (n == 0)
            *c = '?';
        c += n ? n : 1;
    }
    if (clean)
        cJSON_AddStringToObject(o, key, clean);
    else
        cJSON_AddNullToObject(o, key);
    free(clean);
}

static void add_number(cJSON *o, const char *key, double value)
{
    cJSON_AddNumberToObject(o, key, value);
}

static void add_seconds(cJSON *o, const char *key, uint64_t ns)
{
    add_number(o, key, (double)ns / 1e9);
}

static cJSON *add_object(cJSON *array)
{
    cJSON *o = cJSON_CreateObject();

    if (o)
        cJSON_AddItemToArray(array, o);
    return o;
}

static void add_job(const struct report *r, cJSON *root)
{
    const struct job_info *i = &r->job->info;
    const struct report_model *m = r->model;
    cJSON *o = cJSON_AddObjectToObject(root, "job");

    add_text(o, "program", job_text(r->job, i->program));
    add_text(o, "build_id", job_text(r->job, i->program_id));
    add_text(o, "arguments", job_text(r->job, i->arguments));
    add_text(o, "mpi", job_text(r->job, i->mpi));
    add_number(o, "ranks", i->ranks);
    add_number(o, "threads", i->threads);
    add_number(o, "missing_ranks", i->missing);
    add_number(o, "runs", i->runs);
    add_number(o, "start_time", (double)i->start_time);
    add_seconds(o, "wall_seconds", m->wall_ns);
    add_number(o, "events", (double)m->events);
    add_number(o, "lost", (double)m->lost);
    add_seconds(o, "mpi_seconds", m->sum_mpi_ns);
    add_seconds(o, "omp_seconds", m->sum_omp_ns);
    add_seconds(o, "computation_seconds", m->sum_compute_ns);
    add_seconds(o, "pythia_seconds", m->cost_ns);
}

static void add_efficiency(const struct report *r, cJSON *root)
{
    const struct report_model *m = r->model;

    if (!m->efficiencies)
        return;
    cJSON *o = cJSON_AddObjectToObject(root, "efficiency");
    add_number(o, "parallel", m->parallel_efficiency);
    add_number(o, "load_balance", m->load_balance);
    add_number(o, "communication", m->communication_efficiency);
}

/* Where a call or a region is in the source; `caller` names the key of the source function. */
static void add_place(struct report *r, cJSON *o, uint32_t terminal, const char *caller)
{
    const struct report_place *p = report_place_of(r, terminal);
    uint32_t number = report_site_number(r->names, r->job->terminals[terminal].callsite);

    add_text(o, caller, p ? p->function : NULL);
    add_text(o, "file", p ? p->file : NULL);
    add_text(o, "path", p ? p->path : NULL);
    if (p && p->line)
        add_number(o, "line", p->line);
    else
        cJSON_AddNullToObject(o, "line");
    add_text(o, "module", p ? p->module : NULL);
    if (p)
        add_number(o, "offset", (double)p->offset);
    else
        cJSON_AddNullToObject(o, "offset");
    if (number != GRAMMAR_NONE)
        add_number(o, "number", number);
    else
        cJSON_AddNullToObject(o, "number");
}

static void add_callsites(struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "callsites");

    for (uint32_t i = 0; i < r->model->site_count; i++) {
        const struct report_site *s = &r->model->sites[i];
        cJSON *o = add_object(array);
        add_text(o, "function", job_text(r->job, s->function));
        add_place(r, o, s->terminal, "caller");
        add_text(o, "class", report_class_name(s->call_class));
        add_number(o, "count", (double)s->count);
        add_seconds(o, "time_seconds", s->time_ns);
        add_seconds(o, "gap_seconds", s->gap_ns);
        add_number(o, "bytes", (double)s->bytes);
    }
}

static void add_regions(struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "regions");

    for (uint32_t i = 0; i < r->model->region_count; i++) {
        const struct report_region *g = &r->model->regions[i];
        cJSON *o = add_object(array);
        add_place(r, o, g->terminal, "function");
        add_number(o, "count", (double)g->count);
        add_seconds(o, "time_seconds", g->time_ns);
        add_seconds(o, "gap_seconds", g->gap_ns);
        cJSON *teams = cJSON_AddArrayToObject(o, "team_sizes");
        for (uint32_t k = 0; k < g->team_count; k++) {
            cJSON *t = add_object(teams);
            if (g->teams[k].size >= 0)
                add_number(t, "size", (double)g->teams[k].size);
            else
                cJSON_AddNullToObject(t, "size");
            add_number(t, "count", (double)g->teams[k].count);
            add_seconds(t, "time_seconds", g->teams[k].time_ns);
        }
    }
}

static void add_classes(const struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "classes");

    for (uint32_t i = 0; i < r->job->class_count; i++) {
        const struct job_class_entry *c = &r->job->classes[i];
        char *text = report_ranges_text(c);
        cJSON *o = add_object(array);
        cJSON *ranges = cJSON_AddArrayToObject(o, "ranks");
        for (uint32_t k = 0; k < c->member_ranges; k++) {
            cJSON *range = add_object(ranges);
            add_number(range, "first", c->ranges[k].first);
            add_number(range, "count", c->ranges[k].count);
            add_number(range, "stride", c->ranges[k].stride);
            add_number(range, "thread", c->ranges[k].thread);
        }
        add_text(o, "ranks_text", text);
        add_number(o, "members", (double)report_members(c));
        add_number(o, "events", c->grammar ? (double)c->grammar->events : 0);
        add_number(o, "rules", c->grammar ? c->grammar->rule_count : 0);
        add_number(o, "nodes", c->grammar ? c->grammar->node_count : 0);
        free(text);
    }
}

static void add_streams(const struct report *r, cJSON *root)
{
    cJSON *array = cJSON_AddArrayToObject(root, "streams");

    for (uint32_t i = 0; i < r->job->stream_count; i++) {
        const struct job_stream *s = &r->job->streams[i];
        cJSON *o = add_object(array);
        add_number(o, "rank", s->rank);
        add_number(o, "thread", s->thread);
        add_number(o, "class", s->class_index);
        add_number(o, "events", (double)s->events);
        add_number(o, "lost", (double)s->lost);
        add_seconds(o, "wall_seconds", s->wall_ns);
        add_seconds(o, "mpi_seconds", s->mpi_ns);
        add_seconds(o, "omp_seconds", s->omp_ns);
        add_seconds(o, "pythia_seconds", s->cost_ns);
    }
}

static void add_comm(const struct report *r, cJSON *root)
{
    static const char *const relations[] = { "rank", "offset", "xor", "any", "varies" };
    cJSON *array = cJSON_AddArrayToObject(root, "comm");

    for (uint32_t i = 0; i < r->model->peer_count; i++) {
        const struct report_peer *p = &r->model->peers[i];
        cJSON *o = add_object(array);
        add_text(o, "communicator", report_comm_text(r, p->comm));
        add_text(o, "direction", p->receives ? "receive" : "send");
        add_text(o, "relation", relations[p->relation]);
        if (p->relation <= REPORT_XOR)
            add_number(o, "peer", (double)p->value);
        else
            cJSON_AddNullToObject(o, "peer");
        add_number(o, "messages", (double)p->messages);
        add_number(o, "bytes", (double)p->bytes);
    }
}

static void add_loop(const struct report *r, cJSON *root)
{
    const struct report_loop *l = &r->model->loop;

    if (!l->present)
        return;
    cJSON *o = cJSON_AddObjectToObject(root, "main_loop");
    add_number(o, "class", l->class_index);
    add_number(o, "turns", (double)l->turns);
    add_number(o, "executions", (double)l->executions);
    add_number(o, "turn_seconds", l->turn_ns / 1e9);
    add_number(o, "total_seconds", l->total_ns / 1e9);
}

static void add_oracle(const struct report *r, cJSON *root)
{
    const struct job_oracle *j = &r->job->oracle;
    double error = oracle_time_median(j->score.time_error);

    if (!j->present)
        return;
    cJSON *o = cJSON_AddObjectToObject(root, "oracle");
    cJSON *accuracy = cJSON_AddObjectToObject(o, "accuracy");
    cJSON *distances = cJSON_AddArrayToObject(o, "distances");
    for (int d = 0; d < ORACLE_DISTANCES; d++) {
        uint64_t predictions = j->score.at[d].predictions;
        cJSON *row = add_object(distances);
        char key[16];
        snprintf(key, sizeof key, "%u", oracle_score_distances[d]);
        if (predictions)
            add_number(accuracy, key, (double)j->score.at[d].hits / (double)predictions);
        add_number(row, "distance", oracle_score_distances[d]);
        add_number(row, "predictions", (double)predictions);
        add_number(row, "hits", (double)j->score.at[d].hits);
        add_number(row, "unknown", (double)j->score.at[d].unknown);
        add_number(row, "brier", predictions ? j->score.at[d].brier / (double)predictions : 0);
    }
    if (error >= 0)
        add_number(o, "time_error_median", error);
    else
        cJSON_AddNullToObject(o, "time_error_median");
    add_number(o, "events", (double)j->score.events);
    add_number(o, "known", (double)j->score.known);
    add_number(o, "ranks", j->ranks);
    add_number(o, "actions", (double)j->actions);
    add_number(o, "gain_seconds", j->gain_seconds);
    add_number(o, "cost_seconds", j->cost_seconds);
    add_seconds(o, "wall_seconds", j->wall_ns);
}

int report_print_json(struct report *r, FILE *out)
{
    cJSON *root = cJSON_CreateObject();
    char *text = NULL;

    if (root) {
        add_number(root, "version", JSON_VERSION);
        add_job(r, root);
        add_efficiency(r, root);
        add_callsites(r, root);
        add_regions(r, root);
        add_classes(r, root);
        add_streams(r, root);
        add_comm(r, root);
        add_loop(r, root);
        add_oracle(r, root);
        text = cJSON_Print(root);
    }
    cJSON_Delete(root);
    if (!text)
        return PYTHIA_ENOMEM;
    fprintf(out, "%s\n", text);
    free(text);
    return ferror(out) ? PYTHIA_EIO : 0;
}
