/* SPDX-License-Identifier: MIT */
/*
 * The merge of a job of any size, without MPI:   merge_scale SHAPE RANKS [FILE [PARTS]]
 *
 * Goes through the binomial tree of merge/merge_mpi.h depth first, so that it holds one job a level. Some edges of each
 * level are done as over MPI, with hashes, message, unpacking, and are measured; the others join directly, which gives
 * the same. One line a level, tab-separated; then the file that would be written, and its size. PARTS gets the part of
 * each rank, one after the other, as a run that died leaves them: for `pythia merge`.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/scale/shapes.h"
#include "file/file.h"
#include "job/intern.h"
#include "merge/merge.h"

enum { LEVELS = 32, SAMPLES = 32 };

struct level {
    uint64_t edges, samples;
    uint64_t bytes, most_bytes, memory; /* sums; of a message and of the job in it */
    double time[SAMPLES];               /* us: pack, unpack and join */
    uint32_t classes;
};

static struct level levels[LEVELS];
static enum shape shape;
static FILE *parts;
static uint32_t ranks;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static uint64_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void fail(const char *what)
{
    fprintf(stderr, "merge_scale: %s\n", what);
    exit(1);
}

static struct job *receive(const struct job *into, const struct job *from, struct level *l)
{
    uint8_t *known = calloc((size_t)from->class_count + 1, 1);
    struct job *theirs;
    char why[200];
    void *data;
    size_t size;
    for (uint32_t i = 0; known && i < from->class_count; i++) {
        struct merge_body body = merge_body_of(from, i);
        known[i] = merge_knows(into, &body);
    }
    if (!known || file_pack(from, known, &data, &size))
        fail("out of memory");
    uint64_t before = allocated(), bytes = size + from->class_count * (sizeof(struct merge_body) + 1);
    if (file_unpack(data, size, &theirs, why, sizeof why))
        fail(why);
    l->memory += allocated() - before;
    l->bytes += bytes;
    l->most_bytes = bytes > l->most_bytes ? bytes : l->most_bytes;
    free(data);
    free(known);
    return theirs;
}

/* Takes what the child has. */
static void take(struct job *into, struct job *from, int depth)
{
    struct level *l = &levels[depth];
    uint64_t every = ((uint64_t)ranks >> (depth + 1)) / SAMPLES;
    bool sampled = l->edges++ % (every ? every : 1) == 0 && l->samples < SAMPLES;
    double begin = now_us();
    if (sampled) {
        struct job *theirs = receive(into, from, l);
        job_destroy(from);
        from = theirs;
    }
    if (merge_job(into, from))
        fail("cannot merge");
    if (sampled)
        l->time[l->samples++] = now_us() - begin;
    job_destroy(from);
    l->classes = into->class_count > l->classes ? into->class_count : l->classes;
}

static struct job *one_rank(uint32_t rank)
{
    struct job *j = shape_rank(shape, rank, ranks);
    void *data;
    size_t size;
    if (parts && (file_pack_for_file(j, &data, &size) || fwrite(data, 1, size, parts) != size))
        fail("cannot write the parts");
    if (parts)
        free(data);
    return j;
}

/* Ranks first … first + 2^depth - 1, as far as there are any. */
static struct job *merge_all(uint32_t first, int depth)
{
    if (depth == 0)
        return one_rank(first);
    uint32_t half = 1u << (depth - 1);
    struct job *left = merge_all(first, depth - 1);
    if (half < ranks && first < ranks - half)
        take(left, merge_all(first + half, depth - 1), depth - 1);
    return left;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_level(int i)
{
    struct level *l = &levels[i];
    uint64_t n = l->samples ? l->samples : 1;
    qsort(l->time, l->samples, sizeof *l->time, by_value);
    printf("level\t%s\t%u\t%d\t%llu\t%llu\t%llu\t%llu\t%.0f\t%u\n", shape_names[shape], ranks, i + 1,
           (unsigned long long)l->edges, (unsigned long long)(l->bytes / n), (unsigned long long)l->most_bytes,
           (unsigned long long)(l->memory / n), l->time[l->samples / 2], l->classes);
}

/* The size of a file is that of the file: times of blocks are rounded there. */
static void print_file(const struct job *j, const char *path)
{
    char why[300];
    uint64_t ranges = 0, variants = 0, nodes = 0;
    long size = -1;
    if (file_write(j, path, why, sizeof why))
        fail(why);
    FILE *f = fopen(path, "rb");
    if (f && !fseek(f, 0, SEEK_END))
        size = ftell(f);
    if (f)
        fclose(f);
    for (uint32_t i = 0; i < j->class_count; i++) {
        ranges += j->classes[i].range_count;
        variants += j->classes[i].variant_count;
        nodes += j->classes[i].grammar->node_count;
    }
    /* What is different from what else there is: nodes of structure, rules of values, sets of ranks, records of
       totals. */
    uint64_t distinct = nodes + variants + ranges + j->stream_count;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("file\t%s\t%u\t%ld\t%u\t%llu\t%llu\t%u\t%ld\t%llu\t%.1f\n", shape_names[shape], ranks, size, j->class_count,
           (unsigned long long)ranges, (unsigned long long)variants, j->stream_count, usage.ru_maxrss,
           (unsigned long long)distinct, (double)size / (double)distinct);
}

int main(int argc, char **argv)
{
    int depth = 0;
    shape = argc > 2 ? shape_named(argv[1]) : SHAPES;
    ranks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (shape == SHAPES || !ranks || ranks > 1u << 30) {
        fprintf(stderr, "usage: merge_scale ring|stencil|master|trips|irregular|halo|cube|levels RANKS "
                        "[FILE [PARTS]]\n");
        return 2;
    }
    while (1u << depth < ranks)
        depth++;
    parts = argc > 4 ? fopen(argv[4], "wb") : NULL;
    struct job *j = merge_all(0, depth);
    if (parts && fclose(parts))
        fail("cannot write the parts");
    for (int i = 0; i < depth; i++)
        print_level(i);
    print_file(j, argc > 3 ? argv[3] : "merge_scale.pythia");
    job_destroy(j);
    return 0;
}
