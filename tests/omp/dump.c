/* SPDX-License-Identifier: MIT */
/*
 * What a job file says of parallel regions, for the tests:
 *   events E                          of thread 0 of rank 0
 *   streams S
 *   FUNCTION SIZE COUNT               a line for each function and team size, SIZE "-" where none was recorded
 *   wall DIFFERENCE                   ns by which gaps and durations miss the stream's wall time
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "job/job.h"

static struct { const char *function; long size; unsigned long count; } lines[64];
static int line_count;

static void add(const char *function, long size, unsigned long count)
{
    for (int i = 0; i < line_count; i++)
        if (lines[i].size == size && !strcmp(lines[i].function, function)) {
            lines[i].count += count;
            return;
        }
    if (line_count == 64)
        exit(1);
    lines[line_count].function = function;
    lines[line_count].size = size;
    lines[line_count++].count = count;
}

static void add_node(const struct job *j, const struct grammar_flat *g, const struct grammar_flat_node *n,
                     uint64_t times)
{
    if (grammar_is_rule(n->symbol) || n->symbol == GRAMMAR_LOST)
        return;
    const struct job_terminal *t = &j->terminals[n->symbol];
    const char *function = job_text(j, t->function);
    uint64_t sized = 0;
    if (t->phase == JOB_OPEN)
        return;
    for (uint32_t a = 0; a < n->attr_count; a++) {
        const struct grammar_attr *attr = &g->attrs[n->attr + a];
        if (attr->channel != GRAMMAR_TEAM || attr->kind != GRAMMAR_ATTR_KEYED)
            continue;
        for (uint32_t k = 0; k < attr->length; k++) {
            add(function, (long)attr->key[k].value, attr->key[k].count);
            sized += attr->key[k].count;
        }
    }
    if (times > sized)
        add(function, 0, times - sized);
}

static int by_name_and_size(const void *a, const void *b)
{
    int names = strcmp(*(const char *const *)a, *(const char *const *)b);
    long x = ((const long *)a)[1], y = ((const long *)b)[1];
    return names ? names : (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct job *j;
    char why[512];
    if (argc != 2 || file_read(argv[1], &j, why, sizeof why)) {
        fprintf(stderr, "%s\n", argc == 2 ? why : "dump FILE");
        return 1;
    }
    const struct job_stream *s = job_find_stream(j, 0, 0);
    if (!s)
        return 1;
    const struct grammar_flat *g = j->classes[s->class_index].grammar;
    uint64_t *uses = malloc(sizeof *uses * g->rule_count), total = 0;
    grammar_flat_uses(g, uses);
    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t i = 0; i < g->rules[r].length; i++) {
            const struct grammar_flat_node *n = &g->nodes[g->rules[r].first + i];
            add_node(j, g, n, uses[r] * n->exponent);
            const struct grammar_stats *stats = &g->stats[g->rules[r].first + i];
            total += r == 0 ? stats->gap.sum + stats->duration.sum : 0;
        }
    printf("events %llu\nstreams %u\n", (unsigned long long)s->events, j->stream_count);
    qsort(lines, (size_t)line_count, sizeof *lines, by_name_and_size);
    for (int i = 0; i < line_count; i++)
        if (lines[i].size)
            printf("%s %ld %lu\n", lines[i].function, lines[i].size, lines[i].count);
        else
            printf("%s - %lu\n", lines[i].function, lines[i].count);
    printf("wall %lld\n", (long long)(s->wall_ns - total));
    free(uses);
    job_destroy(j);
    return 0;
}
