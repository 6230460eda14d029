/* SPDX-License-Identifier: MIT */
/* The view of ranks: classes of equal structure and what tells them apart, then how the time of each rank was spent,
   and where one computes longer than the others (own.c). */
#include <stdlib.h>

#include "findings/ranges.h"
#include "findings/units.h"
#include "views/table.h"
#include "views/views.h"

static void print_classes(struct report *r, FILE *out)
{
    char difference[256];

    for (uint32_t i = 0; i < r->job->class_count; i++) {
        const struct job_class *c = &r->job->classes[i];
        BASE_OWN char *ranks = findings_ranges_text(c->ranges, c->member_ranges);
        findings_class_difference(r, i, difference, sizeof difference);
        fprintf(out, "group %u: %s: %s%s events%s%s\n", i, ranks, c->turn_count ? "about " : "",
                findings_count((uint64_t)findings_class_events(c)), i ? "; other than group 0: " : "", difference);
    }
    if (r->job->class_count)
        fputc('\n', out);
}

/* --- Balance --- */

/* Computation, OpenMP and MPI of a rank, from the end of MPI_Init on, as a bar of `width`: the longest rank's time. */
static const char *bar_text(const struct findings_rank *k, uint64_t wall, int width)
{
    const uint64_t part[] = { k->compute_ns, k->omp_ns, k->mpi_ns - k->launch_ns };
    char *bar = findings_text("|%*s|", width, "");
    uint64_t sum = 0;
    int at = 0;

    for (int i = 0; i < 3 && wall; i++) {
        sum += part[i];
        int end = (int)((double)sum / (double)wall * width + 0.5);
        for (; at < end && at < width; at++)
            bar[1 + at] = "#=."[i];
    }
    return bar;
}

static void print_rank(const struct findings_rank *k, uint64_t most, struct views_table *t)
{
    double wall = (double)(k->wall_ns - k->launch_ns), mpi = findings_percent((double)(k->mpi_ns - k->launch_ns), wall);

    ROW(t, TEXT("", findings_rank_text(k->rank, k->ranks), "rank", 6), NUMBER("", k->streams, "streams", 8),
        COUNT("", k->events, "events", 10), TIME("", wall, "wall", 10),
        PERCENT("", findings_percent((double)k->compute_ns, wall), "computation", 12),
        PERCENT("", findings_percent((double)k->omp_ns, wall), "OpenMP", 7), PERCENT("", mpi, "MPI", 7),
        PERCENT("", 100 - mpi, "useful", 7), TIME("", k->cost_ns, "cost", 10),
        TEXT("", bar_text(k, most, 40), " # computation  = OpenMP  . MPI", 0));
}

void views_print_ranks(struct report *r, FILE *out)
{
    static const struct findings_rank none;
    const struct findings_model *m = r->model;
    struct views_table t = { .out = out };

    print_classes(r, out);
    for (uint32_t i = 0; i <= m->rank_count; i++)
        print_rank(i ? &m->ranks[i - 1] : &none, m->wall_ns, &t);
    if (m->efficiency.known) {
        const struct job_extent *e = &m->efficiency.useful;
        views_print_efficiency(&m->efficiency, out);
        fprintf(out, "outside MPI: least %s, rank %u; most %s, rank %u\n", findings_time((double)e->least),
                e->least_rank, findings_time((double)e->most), e->most_rank);
    }
    views_print_own(r, out);
}

void views_add_series(const struct report *r, cJSON *root)
{
    static const char *const names[] = { "computation", "omp", "mpi" };
    static const char *const parts[] = { "_least", "_most", "" };
    cJSON *array = cJSON_AddArrayToObject(root, "series");

    for (uint32_t i = 0; i < r->job->series.count; i++) {
        const struct job_series *s = &r->job->series.of[i];
        const struct job_stream *stream = job_find_stream(r->job, s->rank, 0);
        cJSON *o = ADD(array, NUMBER("rank", s->rank), NUMBER("ranks", s->ranks),
                       TIME("begin_seconds", stream ? job_stream_mean(stream, stream->begin_ns) : 0),
                       TIME("step_seconds", s->step_ns));
        for (int kind = 0; kind < JOB_SERIES_KINDS; kind++)
            for (int part = s->ranks > 1 ? JOB_SERIES_LEAST : JOB_SERIES_MEAN; part <= JOB_SERIES_MEAN; part++) {
                double seconds[JOB_SERIES_STEPS];
                for (uint32_t k = 0; k < s->steps; k++)
                    seconds[k] = job_series_seconds(s, kind, part, k);
                cJSON_AddItemToObject(o, findings_text("%s%s", names[kind], parts[part]),
                                      cJSON_CreateDoubleArray(seconds, (int)s->steps));
            }
    }
}
