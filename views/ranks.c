/* SPDX-License-Identifier: MIT */
/* The view of ranks: classes of equal structure and what tells them apart, then how the time of each rank was spent,
   and where one computes longer than the others (own.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "findings/ranges.h"
#include "findings/units.h"
#include "views/json.h"
#include "views/views.h"

/* --- What tells classes apart: how often a member makes each call --- */

static void count_calls(const struct report *r, uint32_t index, uint64_t *count)
{
    const struct job_class *c = &r->job->classes[index];
    uint64_t members = report_members(c);

    memset(count, 0, r->job->terminal_count * sizeof *count);
    for (uint32_t n = 0; c->grammar && members && n < c->grammar->node_count; n++)
        if (c->grammar->nodes[n].symbol < r->job->terminal_count)
            count[c->grammar->nodes[n].symbol] += c->grammar->stats[n].count / members;
}

/* Calls of one site or region, whatever their peers and communicators. */
struct calls { uint64_t own, first, own_null, first_null; bool other; };

/* Adds terminals to their sites; regions stand after the sites. */
static struct calls *add_calls(const struct report *r, const uint64_t *own, const uint64_t *first)
{
    const struct report_model *m = r->model;
    struct calls *calls = calloc((size_t)m->site_count + m->region_count + 1, sizeof *calls);

    for (uint32_t t = 0; t < r->job->terminal_count; t++) {
        const struct job_terminal *terminal = &r->job->terminals[t];
        struct calls *c = &calls[m->place[t] + (terminal->kind == JOB_REGION ? m->site_count : 0)];
        bool null = terminal->peer_class == JOB_PEER_NULL;
        if (terminal->phase == JOB_CLOSE)
            continue;
        c->own += own[t];
        c->first += first[t];
        c->own_null += null ? own[t] : 0;
        c->first_null += null ? first[t] : 0;
        c->other |= own[t] != first[t] && !null;
    }
    return calls;
}

static void print_calls(const struct report *r, const struct calls *c, uint32_t site, FILE *out)
{
    const struct report_model *m = r->model;
    const char *name = report_name(r->names, site < m->site_count ? m->sites[site].terminal
                                                                  : m->regions[site - m->site_count].terminal);

    if (!c->own)
        fprintf(out, "no %.40s", name);
    else if (!c->first)
        fprintf(out, "%" PRIu64 " x %.40s", c->own, name);
    else if (c->own != c->first)
        fprintf(out, "%" PRIu64 " x %.40s instead of %" PRIu64, c->own, name, c->first);
    else if (c->own_null > c->first_null)
        fprintf(out, "%.40s with MPI_PROC_NULL", name);
    else if (c->own_null < c->first_null)
        fprintf(out, "%.40s with a rank", name);
    else
        fprintf(out, "%.40s with others", name);
}

static void print_difference(const struct report *r, const uint64_t *own, const uint64_t *first, FILE *out)
{
    uint32_t differences = 0, sites = r->model->site_count + r->model->region_count;
    struct calls *calls = add_calls(r, own, first);

    for (uint32_t i = 0; i < sites; i++) {
        const struct calls *c = &calls[i];
        if ((c->own == c->first && c->own_null == c->first_null && !c->other) || differences++ >= 3)
            continue;
        if (differences > 1)
            fputs(", ", out);
        print_calls(r, c, i, out);
    }
    free(calls);
    if (differences > 3)
        fprintf(out, " and %u more", differences - 3);
    if (!differences)
        fputs("the same calls in another order", out);
}

void report_class_difference(const struct report *r, uint32_t index, char *text, size_t size)
{
    uint64_t *count = calloc(2 * (size_t)r->job->terminal_count + 1, sizeof *count);
    FILE *out = fmemopen(text, size, "w");

    text[0] = '\0';
    if (index) {
        count_calls(r, index, count);
        count_calls(r, 0, count + r->job->terminal_count);
        print_difference(r, count, count + r->job->terminal_count, out);
    }
    fclose(out);
    text[size - 1] = '\0';
    free(count);
}

static void print_classes(struct report *r, FILE *out)
{
    char difference[256];

    for (uint32_t i = 0; i < r->job->class_count; i++) {
        const struct job_class *c = &r->job->classes[i];
        char *ranks = report_ranges_text(c);
        report_class_difference(r, i, difference, sizeof difference);
        fprintf(out, "class %u: %s: %s%s events%s%s\n", i, ranks, c->turn_count ? "about " : "",
                report_count((uint64_t)report_class_events(c)), i ? "; other than class 0: " : "", difference);
        free(ranks);
    }
    if (r->job->class_count)
        fputc('\n', out);
}

/* --- Balance --- */

/* Computation, OpenMP and MPI of a rank as a bar of `width`, the longest rank's wall time being the whole. */
static void print_bar(const struct report_rank *k, uint64_t wall, int width, FILE *out)
{
    const uint64_t part[] = { k->compute_ns, k->omp_ns, k->mpi_ns };
    static const char mark[] = { '#', '=', '.' };
    uint64_t sum = 0;
    int at = 0;

    fputc('|', out);
    for (int i = 0; i < 3 && wall; i++) {
        sum += part[i];
        int end = (int)((double)sum / (double)wall * width + 0.5);
        for (; at < end && at < width; at++)
            fputc(mark[i], out);
    }
    fprintf(out, "%*s|", width - at, "");
}

void report_print_ranks(struct report *r, FILE *out)
{
    const struct report_model *m = r->model;

    print_classes(r, out);
    fprintf(out, "%6s %8s %10s %10s %12s %7s %7s %7s %10s  %s\n", "rank", "streams", "events", "wall", "computation",
            "OpenMP", "MPI", "useful", "cost", "# computation  = OpenMP  . MPI");
    for (uint32_t i = 0; i < m->rank_count; i++) {
        const struct report_rank *k = &m->ranks[i];
        double wall = (double)k->wall_ns;
        fprintf(out, "%6s %8u %10s %10s %11.1f%% %6.1f%% %6.1f%% %6.1f%% %10s  ",
                report_rank_text(k->rank, k->ranks), k->streams,
                report_count(k->events), report_time(wall), report_percent((double)k->compute_ns, wall),
                report_percent((double)k->omp_ns, wall), report_percent((double)k->mpi_ns, wall),
                100 - report_percent((double)k->mpi_ns, wall), report_time((double)k->cost_ns));
        print_bar(k, m->wall_ns, 40, out);
        fputc('\n', out);
    }
    if (m->efficiency.known) {
        const struct job_extent *e = &m->efficiency.useful;
        report_print_efficiency(&m->efficiency, out);
        fprintf(out, "outside MPI: least %s, rank %u; most ", report_time((double)e->least), e->least_rank);
        fprintf(out, "%s, rank %u\n", report_time((double)e->most), e->most_rank);
    }
    report_print_own(r, out);
}

void report_add_series(const struct report *r, cJSON *root)
{
    static const char *const names[] = { "computation", "omp", "mpi" };
    static const char *const parts[] = { "_least", "_most", "" };
    cJSON *array = cJSON_AddArrayToObject(root, "series");

    for (uint32_t i = 0; i < r->job->series.count; i++) {
        const struct job_series *s = &r->job->series.of[i];
        const struct job_stream *stream = job_find_stream(r->job, s->rank, 0);
        cJSON *o = report_json_object(array);
        cJSON_AddNumberToObject(o, "rank", s->rank);
        cJSON_AddNumberToObject(o, "ranks", s->ranks);
        cJSON_AddNumberToObject(o, "begin_seconds",
                                stream ? (double)job_stream_mean(stream, stream->begin_ns) / 1e9 : 0);
        cJSON_AddNumberToObject(o, "step_seconds", (double)s->step_ns / 1e9);
        for (int kind = 0; kind < JOB_SERIES_KINDS; kind++)
            for (int part = s->ranks > 1 ? JOB_SERIES_LEAST : JOB_SERIES_MEAN; part <= JOB_SERIES_MEAN; part++) {
                double seconds[JOB_SERIES_STEPS];
                char key[40];
                for (uint32_t k = 0; k < s->steps; k++)
                    seconds[k] = job_series_seconds(s, kind, part, k);
                snprintf(key, sizeof key, "%s%s", names[kind], parts[part]);
                cJSON_AddItemToObject(o, key, cJSON_CreateDoubleArray(seconds, (int)s->steps));
            }
    }
}
