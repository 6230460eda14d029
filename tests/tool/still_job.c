/* SPDX-License-Identifier: MIT */
/*
 * A job without its times: two runs of one program must then be the same file, byte for byte.
 *   still_job FILE OUT
 */
#include <stdio.h>
#include <string.h>

#include "file/file.h"
#include "job/job.h"

static void still_attr(struct grammar_attr *a)
{
    for (uint32_t k = 0; a->kind == GRAMMAR_ATTR_KEYED && k < a->length; k++)
        a->key[k].sum = 0;
}

static void still_class(struct job_class *c)
{
    struct grammar_flat *g = c->grammar;
    memset(c->spread, 0, g->node_count * sizeof *c->spread); /* who was slowest is chance */
    for (uint32_t n = 0; n < g->node_count; n++) {
        memset(&g->stats[n].gap, 0, sizeof g->stats[n].gap);
        memset(&g->stats[n].duration, 0, sizeof g->stats[n].duration);
    }
    for (uint32_t a = 0; a < g->attr_count; a++)
        still_attr(&g->attrs[a]);
    for (uint32_t v = 0; v < c->variant_count; v++)
        still_attr(&c->variants[v].attr);
}

static void still(struct job *j)
{
    j->info.wall_ns = j->info.start_time = 0;
    j->machine.joules = 0;
    j->clock.error_ns = 0;
    j->delay.ranks = j->took.ranks = j->threads.count = 0; /* measured too */
    for (uint32_t i = 0; i < j->bindings.count; i++)
        j->bindings.row[i].busy_ns = j->bindings.row[i].own_ns = j->bindings.row[i].wall_ns = 0;
    j->named.count = 0; /* measured, too */
    j->region_count = 0; /* nearly all of it is measured */
    j->series.count = j->extremes.count = j->own.count = j->inside.count = 0; /* all of it is */
    for (uint32_t c = 0; c < j->class_count; c++)
        still_class(&j->classes[c]);
    for (uint32_t s = 0; s < j->sum_count; s++)
        if (job_is_exclusive(j, &j->sums[s]))
            j->sums[s].count.total = 0;
    for (uint32_t s = 0; s < j->hops.stop_count; s++)
        j->hops.stop[s].gap_ns = j->hops.stop[s].duration_ns = 0;
    for (uint32_t d = 0; d < j->digrams.count; d++)
        j->digrams.of[d].gap.total = 0;
    for (uint32_t s = 0; s < j->stream_count; s++) {
        struct job_stream *t = &j->streams[s];
        t->drift_ns = 0;
        t->begin_ns = t->wall_ns = t->mpi_ns = t->omp_ns = t->cost_ns = 0;
    }
}

int main(int argc, char **argv)
{
    char why[300] = "two files are needed";
    struct job *j = NULL;
    if (argc != 3 || file_read(argv[1], &j, why, sizeof why)) {
        fprintf(stderr, "still_job: %s\n", why);
        return 1;
    }
    still(j);
    int failed = file_write(j, argv[2], why, sizeof why);
    if (failed)
        fprintf(stderr, "still_job: %s\n", why);
    job_destroy(j);
    return failed != 0;
}
