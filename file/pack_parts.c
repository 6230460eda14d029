/* SPDX-License-Identifier: MIT */
/* A packed job without its classes. */
#include "file/pack.h"

#include <stdlib.h>
#include <string.h>

#include "file/table.h"
#include "file/timeline.h"
#include "file/values.h"

#include "pythia.h"

static void pack_strings(struct file_packer *p)
{
    const struct job *j = p->job;
    size_t size = 4 * (size_t)j->string_count, at = size;
    for (uint32_t i = 0; i < j->string_count; i++)
        size += strlen(j->strings[i]) + 1;
    if (size > UINT32_MAX)
        p->error = PYTHIA_ELIMIT;
    unsigned char *bytes = file_pack_grow(p, SECTION_STRINGS, size);
    if (!bytes)
        return;
    for (uint32_t i = 0; i < j->string_count; i++) {
        size_t length = strlen(j->strings[i]) + 1;
        file_put32(bytes + 4 * (size_t)i, (uint32_t)at);
        memcpy(bytes + at, j->strings[i], length);
        at += length;
    }
    p->section[SECTION_STRINGS].count = j->string_count;
}

/* --- Streams: by columns, which compress better; ranks as differences; sums as mean and remainder --- */

enum { SUMS = 8, EXACT = 2 /* the first of them: events, lost */, DRIFT = 7 /* the last one, signed */, WORDS = 4 };

/* A file has no use for the remainder of a block's times, and noise does not compress: it is 0 there. */
static uint32_t remainder_of(const struct file_packer *p, const struct job_stream *s, uint64_t sum, size_t column)
{
    return p->file && column >= EXACT ? 0 : (uint32_t)(sum % s->count);
}

/* Rounded down, as a remainder that is not negative needs it; also of what is below 0. */
static uint64_t mean_of(const struct job_stream *s, int64_t sum, uint32_t *remainder)
{
    int64_t mean = sum / (int64_t)s->count, left = sum % (int64_t)s->count;
    if (left < 0) {
        left += s->count;
        mean--;
    }
    *remainder = (uint32_t)left;
    return (uint64_t)mean;
}

static void pack_streams(struct file_packer *p)
{
    const struct job *j = p->job;
    size_t n = j->stream_count;
    unsigned char *at = file_pack_grow(p, SECTION_STREAMS, n * RECORD_STREAM), *rest = at + n * 8 * SUMS,
                  *words = rest + n * 4 * SUMS;
    if (!at)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct job_stream *s = &j->streams[i];
        const uint64_t wide[] = { s->events, s->lost, s->begin_ns, s->wall_ns, s->mpi_ns, s->omp_ns, s->cost_ns };
        const uint32_t narrow[WORDS] = { s->rank - (i ? s[-1].rank : 0), s->thread, s->class_index, s->count };
        uint32_t remainder;
        for (size_t k = 0; k < DRIFT; k++) {
            file_put64(at + 8 * (k * n + i), wide[k] / s->count);
            file_put32(rest + 4 * (k * n + i), remainder_of(p, s, wide[k], k));
        }
        file_put64(at + 8 * (DRIFT * n + i), mean_of(s, s->drift_ns, &remainder));
        file_put32(rest + 4 * (DRIFT * n + i), p->file ? 0 : remainder);
        for (size_t k = 0; k < WORDS; k++)
            file_put32(words + 4 * (k * n + i), narrow[k]);
    }
    p->section[SECTION_STREAMS].count = n;
}

void file_pack_parts(struct file_packer *p)
{
    const struct job *j = p->job;
    struct job said = *j;
    pack_strings(p);
    pack_streams(p);
    if (p->file && file_round_own(j, &said.own))
        p->error = PYTHIA_ENOMEM;
    p->job = &said;
    file_pack_tables(p);
    p->job = j;
    if (p->file)
        free(said.own.row);
    file_pack_starts(p);
    file_pack_series(p);
    file_pack_extents(p);
}
