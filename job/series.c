/* SPDX-License-Identifier: MIT */
#include "job/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "job/check.h"
#include "job/job.h"
#include "job/streams.h"
#include "pythia.h"

/* --- Joining --- */

/* Steps twice as long. */
static void lengthen(struct job_series *s)
{
    for (int kind = 0; kind < JOB_SERIES_KINDS; kind++) {
        uint32_t *sum = s->sum[kind];
        for (uint32_t i = 0; i < JOB_SERIES_STEPS; i++)
            sum[i] = i < JOB_SERIES_STEPS / 2 ? (uint32_t)(((uint64_t)sum[2 * i] + sum[2 * i + 1]) / 2) : 0;
        for (int part = 0; part < JOB_SERIES_PARTS; part++) {
            uint16_t *v = s->part[kind][part];
            for (uint32_t i = 0; i < JOB_SERIES_STEPS; i++)
                v[i] = i < JOB_SERIES_STEPS / 2 ? (uint16_t)(((uint32_t)v[2 * i] + v[2 * i + 1]) / 2) : 0;
        }
    }
    s->step_ns *= 2;
    s->steps = (s->steps + 1) / 2;
}

/* Ranks of one block become one series. */
static void add(struct job_series *a, struct job_series b)
{
    while (a->step_ns < b.step_ns && a->step_ns < UINT64_MAX / 2)
        lengthen(a);
    while (b.step_ns < a->step_ns && b.step_ns < UINT64_MAX / 2)
        lengthen(&b);
    for (int kind = 0; kind < JOB_SERIES_KINDS; kind++)
        for (uint32_t i = 0; i < JOB_SERIES_STEPS; i++) {
            uint16_t *least = &a->part[kind][JOB_SERIES_LEAST][i], *most = &a->part[kind][JOB_SERIES_MOST][i];
            a->sum[kind][i] += b.sum[kind][i];
            if (b.part[kind][JOB_SERIES_LEAST][i] < *least)
                *least = b.part[kind][JOB_SERIES_LEAST][i];
            if (b.part[kind][JOB_SERIES_MOST][i] > *most)
                *most = b.part[kind][JOB_SERIES_MOST][i];
        }
    a->ranks += b.ranks;
    a->steps = a->steps > b.steps ? a->steps : b.steps;
}

static int by_rank(const void *x, const void *y)
{
    const struct job_series *a = x, *b = y;
    return BASE_ORDER(a->rank, b->rank);
}

int job_series_join(const struct job *into, const struct job *from, struct job_series_list *out)
{
    const struct job_series_list *a = &into->series, *b = &from->series;
    uint32_t block = job_streams_block(into, from), kept = 0;
    memset(out, 0, sizeof *out);
    int error = base_array_room(&out->of, &out->room, (uint64_t)a->count + b->count, sizeof *out->of);
    if (error || a->count + b->count == 0)
        return error;
    if (a->count)
        memcpy(out->of, a->of, a->count * sizeof *a->of);
    if (b->count)
        memcpy(out->of + a->count, b->of, b->count * sizeof *b->of);
    out->count = a->count + b->count;
    for (uint32_t i = 0; i < out->count; i++)
        out->of[i].rank -= out->of[i].rank % block;
    qsort(out->of, out->count, sizeof *out->of, by_rank);
    for (uint32_t i = 0; i < out->count; i++)
        if (kept && out->of[kept - 1].rank == out->of[i].rank)
            add(&out->of[kept - 1], out->of[i]);
        else if (kept++ != i)
            out->of[kept - 1] = out->of[i];
    out->count = kept;
    return 0;
}

int job_series_add(struct job *j, uint32_t rank, uint64_t step_ns, uint32_t steps,
                   uint64_t ns[JOB_SERIES_KINDS][JOB_SERIES_STEPS])
{
    struct job_series_list *l = &j->series;
    int error = base_array_room(&l->of, &l->room, (uint64_t)l->count + 1, sizeof *l->of);
    if (error)
        return error;
    struct job_series *s = &l->of[l->count++];
    memset(s, 0, sizeof *s);
    *s = (struct job_series){
        .rank = rank - rank % job_streams_block(j, j), .ranks = 1, .steps = steps, .step_ns = step_ns
    };
    for (int kind = 0; kind < JOB_SERIES_KINDS; kind++)
        for (uint32_t i = 0; i < steps; i++) {
            double part = (double)ns[kind][i] / (double)step_ns * JOB_SERIES_WHOLE + 0.5;
            uint16_t value = part < JOB_SERIES_WHOLE ? (uint16_t)part : JOB_SERIES_WHOLE;
            s->sum[kind][i] = value;
            for (int p = 0; p < JOB_SERIES_PARTS; p++)
                s->part[kind][p][i] = value;
        }
    return 0;
}

int job_series_check(const struct job *j, char *why, size_t size)
{
    for (uint32_t i = 0; i < j->series.count; i++) {
        const struct job_series *s = &j->series.of[i];
        if (!s->ranks || s->ranks > j->info.block || !s->steps || s->steps > JOB_SERIES_STEPS || !s->step_ns ||
            s->step_ns > UINT64_MAX / 256)
            return job_refuse(why, size, "series %u: out of range", i);
        if (s->rank % j->info.block || (i && s[-1].rank >= s->rank))
            return job_refuse(why, size, "series %u: out of order", i);
        for (int kind = 0; kind < JOB_SERIES_KINDS; kind++)
            for (uint32_t k = 0; k < s->steps; k++)
                if (s->sum[kind][k] > (uint64_t)JOB_SERIES_WHOLE * s->ranks)
                    return job_refuse(why, size, "series %u: more than the whole", i);
    }
    return 0;
}
