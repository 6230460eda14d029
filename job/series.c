/* SPDX-License-Identifier: MIT */
#include "job/schema.h"

#include <string.h>

#include "base/array.h"
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
void job_series_add_up(void *x, const void *y)
{
    struct job_series *a = x, b = *(const struct job_series *)y;
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

bool job_series_sane(const struct job *j, const void *row)
{
    const struct job_series *s = row;
    for (int kind = 0; kind < JOB_SERIES_KINDS; kind++)
        for (uint32_t k = 0; k < s->steps; k++)
            if (s->sum[kind][k] > (uint64_t)JOB_SERIES_WHOLE * s->ranks)
                return false;
    return s->ranks <= j->info.block && s->step_ns <= UINT64_MAX / 256;
}
