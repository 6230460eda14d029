/* SPDX-License-Identifier: MIT */
/*
 * What read_job.py prints, printed by Pythia's own reader.
 *   dump_job FILE
 *   dump_job --simulate SHAPE RANKS FILE     writes a job of simulated ranks first
 *   dump_job --tables                        each table of a job: its name, and the bytes of each field
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "job/flow.h"
#include "job/group.h"
#include "job/course.h"
#include "job/job.h"
#include "job/ranges.h"
#include "job/schema.h"
#include "job/turns.h"
#include "job/starts.h"
#include "merge/merge.h"
#include "tests/unit/simulate.h"

static void print_terminal(const struct job *j, uint32_t terminal)
{
    if (terminal == GRAMMAR_LOST) {
        printf("(lost)");
        return;
    }
    const struct job_terminal *t = &j->terminals[terminal];
    printf("%u.%u.%u.%u.%u %s", t->kind, t->phase, t->call_kind, t->peer_class, t->blocking, job_text(j, t->function));
    if (t->comm != GRAMMAR_NONE)
        printf(" on %s", job_text(j, j->comms[t->comm].name));
    for (uint32_t i = 0; t->callsite != GRAMMAR_NONE && i < j->callsites[t->callsite].count; i++) {
        const struct job_frame *f = &j->frames[j->callsites[t->callsite].first + i];
        printf(" %s+0x%" PRIx64, job_text(j, j->modules[f->module].path), f->offset);
    }
}

static void print_member(const struct job *j, const struct job_class *c, uint32_t rank, uint32_t thread)
{
    struct grammar_cursor at;
    printf("member\t%u\t%u\n", rank, thread);
    struct grammar_flat *g = job_member_grammar(c, rank, thread);
    if (!g)
        abort();
    for (int more = grammar_cursor_open(&at, g); more; more = grammar_cursor_next(&at)) {
        printf("%" PRIu64 "\t", at.index);
        print_terminal(j, at.terminal);
        for (int channel = 0; channel < GRAMMAR_CHANNELS; channel++) {
            int64_t value;
            int known = job_attr_value(j, c, at.node, channel, rank, thread, at.nth, &value);
            if (known == 0)
                printf("\t%" PRId64, value);
            else
                printf("\t%s", known == 1 ? "*" : "-");
        }
        printf("\n");
    }
    grammar_cursor_close(&at);
    job_member_free(g);
}

static void print_members(const struct job *j, const struct job_class *c)
{
    size_t n = job_ranges_size(c->ranges, c->member_ranges);
    struct job_member *m = calloc(n, sizeof *m);
    if (!m)
        abort();
    job_ranges_walk(c->ranges, c->member_ranges, m);
    for (size_t i = 0; i < n; i++) {
        if (job_stream_class(j, m[i].rank, m[i].thread) != (uint32_t)(c - j->classes))
            abort();
        print_member(j, c, m[i].rank, m[i].thread);
    }
    free(m);
}

static void print_stream(const struct job_stream *s)
{
    printf("stream\t%u\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\n", s->rank, s->thread, s->count, s->events, s->wall_ns);
}

static void print_class(const struct job *j, uint32_t i)
{
    const struct job_class *c = &j->classes[i];
    uint64_t gap = 0, duration = 0, members = 0;
    for (uint32_t n = 0; n < c->grammar->rules[0].length; n++) {
        gap += c->grammar->stats[n].gap.sum;
        duration += c->grammar->stats[n].duration.sum;
    }
    for (uint32_t r = 0; r < c->member_ranges; r++)
        members += job_range_size(&c->ranges[r]);
    printf("class\t%u\t%" PRIu64 "\t%u\t%" PRIu64 "\t%" PRIu64 "\n", i, members, c->grammar->node_count, gap, duration);
}

static int simulate(enum simulate_shape shape, uint32_t ranks, const char *path)
{
    char why[300];
    struct job *j = job_create();
    if (!j)
        abort();
    for (uint32_t i = 0; i < ranks; i++) {
        struct simulate_rank r;
        simulate_rank(&r, shape, i, ranks, 21);
        if (merge_job(j, r.job))
            abort();
        simulate_clear(&r);
    }
    int error = file_write(j, path, why, sizeof why);
    if (error)
        fprintf(stderr, "%s\n", why);
    job_destroy(j);
    return error;
}

/* Until they begin anew, at most eight. */
static void print_values(const struct job *j, const struct job_variant *a)
{
    int64_t value[8] = { a->attr.min };
    uint64_t from = 0;
    uint32_t period = 1, count = a->attr.kind == GRAMMAR_ATTR_CONSTANT;
    if (job_course_cycle(j, a, &from, &period))
        count = job_course_expand(j, a, a->sample_rank, value, 8);
    else if (a->attr.kind == GRAMMAR_ATTR_VARIES)
        printf("varies");
    for (uint32_t k = 0; k < count && (!period || k < from + period); k++)
        printf("%s%" PRId64, k ? "," : "", a->relations & JOB_OFFSET && !(a->relations & JOB_ABSOLUTE)
               ? (value[k] - a->sample_rank + a->modulus) % a->modulus : value[k]);
}

/* What is known of peers: function, communicator, channel, rule, members of each variant, in the order of the
   file. */
static void print_rules(const struct job *j)
{
    static const char *const channel[] = { "peer", "bytes", "index", "team", "reply", "place", "source", "received",
                                           "source tag", "starts" };
    for (uint32_t i = 0; i < j->class_count; i++) {
        const struct job_class *c = &j->classes[i];
        for (uint32_t v = 0; v < c->variant_count; v++) {
            const struct job_variant *a = &c->variants[v];
            const struct job_terminal *t = &j->terminals[c->grammar->nodes[a->node].symbol];
            uint64_t members = 0;
            if (a->attr.channel == GRAMMAR_BYTES || a->attr.channel == GRAMMAR_INDEX ||
                a->attr.channel >= GRAMMAR_SOURCE)
                continue;
            for (uint32_t r = 0; r < a->range_count; r++)
                members += c->ranges[a->range_first + r].count;
            printf("rule\t%u\t%s\t%s\t%s\t%s%s%s\t%u\t", i, job_text(j, t->function),
                   job_text(j, j->comms[t->comm].name), channel[a->attr.channel],
                   a->relations & JOB_ABSOLUTE ? "a" : "", a->relations & JOB_OFFSET ? "o" : "",
                   a->relations & JOB_XOR ? "x" : "", (unsigned)members);
            print_values(j, a);
            putchar('\n');
        }
    }
}

/* Groups of communicators, each origin's own; messages, each rank's own; lists of starts. */
static int print_flow(void *arg, const struct job_flow_pair *p)
{
    (void)arg;
    printf("message\t%u\t%d\t%u\t%d\t%" PRIu64 "\t%" PRIu64 "\t%d\n", p->terminal, p->receives, p->rank,
           (int)p->peer, p->messages, p->bytes, p->mean);
    return 0;
}

static void print_group(const struct job *j, const struct job_group *g)
{
    for (uint32_t k = 0; k < g->range_count; k++) {
        const struct job_range *r = &j->groups.ranges.range[g->range_first + k];
        for (uint64_t i = 0; i < job_range_size(r); i++) {
            struct job_members m = { job_range_rank(r, i), g->size, g->run_count, j->groups.runs + g->run_first };
            printf("group\t%s\t%u", job_text(j, j->comms[g->comm].name), g->remote);
            for (uint32_t n = 0; n < m.size; n++)
                printf("\t%u", job_members_at(&m, n));
            putchar('\n');
        }
    }
    if (!g->size)
        printf("group\t%s\tseveral\n", job_text(j, j->comms[g->comm].name));
}

static void print_traffic(const struct job *j)
{
    for (uint32_t i = 0; i < j->groups.group_count; i++)
        print_group(j, &j->groups.group[i]);
    job_flows_walk(j, print_flow, NULL);
    for (uint32_t i = 0; i < j->starts.count; i++) {
        printf("starts\t%" PRId64, j->starts.list[i].name);
        for (uint32_t k = 0; k < j->starts.list[i].count; k++) {
            const struct job_start_run *r = &j->starts.runs[j->starts.list[i].first + k];
            printf("\t%" PRId64 "+%d*%u", r->distance, r->step, r->count);
        }
        putchar('\n');
    }
}

static void print_timeline(const struct job *j)
{
    for (uint32_t i = 0; i < j->series.count; i++) {
        const struct job_series *s = &j->series.of[i];
        printf("series\t%u\t%u\t%" PRIu64, s->rank, s->ranks, s->step_ns);
        for (int kind = 0; kind < JOB_SERIES_KINDS; kind++) {
            for (uint32_t k = 0; k < s->steps; k++)
                printf("\t%u", s->sum[kind][k]);
            for (int part = 0; part < JOB_SERIES_PARTS && s->ranks > 1; part++)
                for (uint32_t k = 0; k < s->steps; k++)
                    printf("\t%u", s->part[kind][part][k]);
        }
        putchar('\n');
    }
    for (uint32_t i = 0; i < j->extremes.count; i++) {
        const struct job_extremes *e = &j->extremes.of[i];
        printf("extremes\t%u\t%u\t%u\t%u\t%u\t%" PRIu64, e->terminal, e->rank[0], e->rank[1], e->rank[2], e->rank[3],
               e->count);
        for (int k = 0; k < JOB_EXTREMES; k++)
            printf("\t%" PRIu64, e->value[k]);
        for (int k = 0; k < JOB_EXTREMES; k++)
            printf("\t%" PRIu64, e->turn[k]);
        for (int k = 0; k < JOB_BUCKETS; k++)
            printf("\t%" PRIu64, e->gaps[k]);
        for (int k = 0; k < JOB_BUCKETS; k++)
            printf("\t%" PRIu64, e->durations[k]);
        for (int k = 0; k < JOB_USUALS; k++)
            printf("\t%" PRIu64, e->usual[k]);
        putchar('\n');
    }
    for (uint32_t i = 0; i < j->own.count; i++) {
        const struct job_own *o = &j->own.row[i];
        printf("own\t%u\t%u\t%u\t%u\t%u", o->class_index, o->node, o->rank, o->thread, o->ranks);
        for (int k = 0; k < JOB_OWN_SUMS; k++)
            printf("\t%" PRIu64, o->sum[k]);
        putchar('\n');
    }
}

static int print_tables(void)
{
    for (const struct job_schema *s = job_schemas; s < job_schemas + JOB_TABLES; s++) {
        printf("%s:", s->name);
        for (const struct job_field *f = s->field; f < s->field + s->fields; f++)
            for (uint32_t k = 0; k < f->count; k++)
                printf(" %u", f->width);
        putchar('\n');
    }
    return 0;
}

int main(int argc, char **argv)
{
    char why[300];
    struct job *j;
    if (argc == 2 && !strcmp(argv[1], "--tables"))
        return print_tables();
    if (argc == 5 && !strcmp(argv[1], "--simulate") && simulate(atoi(argv[2]), (uint32_t)atoi(argv[3]), argv[4]))
        return 1;
    if (argc < 2 || file_read(argv[argc - 1], &j, why, sizeof why)) {
        fprintf(stderr, "dump_job: %s\n", argc < 2 ? "no file" : why);
        return 1;
    }
    if (!strcmp(argv[1], "--rules")) {
        print_rules(j);
        job_destroy(j);
        return 0;
    }
    if (!strcmp(argv[1], "--comms")) {
        for (uint32_t i = 0; i < j->comm_count; i++)
            puts(job_text(j, j->comms[i].name));
        job_destroy(j);
        return 0;
    }
    for (uint32_t i = 0; i < j->stream_count; i++)
        print_stream(&j->streams[i]);
    for (uint32_t i = 0; i < j->class_count; i++)
        print_members(j, &j->classes[i]);
    for (uint32_t i = 0; i < j->class_count; i++)
        print_class(j, i);
    for (uint32_t i = 0; i < j->sum_count; i++)
        printf("sum\t%u\t%s\t%" PRIu64 "\t%" PRIu64 "\n", j->sums[i].terminal, job_text(j, j->sums[i].name),
               j->sums[i].count.samples, j->sums[i].count.total);
    for (uint32_t i = 0; i < j->digrams.count; i++)
        printf("digram\t%u\t%d\t%" PRIu64 "\t%" PRIu64 "\n", j->digrams.of[i].terminal,
               (int32_t)j->digrams.of[i].before, j->digrams.of[i].gap.samples, j->digrams.of[i].gap.total);
    print_traffic(j);
    print_timeline(j);
    for (uint32_t i = 0; i < j->threads.count; i++) {
        const struct job_threads *t = &j->threads.of[i];
        printf("threads\t%d\t%d\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
               (int32_t)t->rank, (int32_t)t->callsite, t->ranks, t->threads, t->samples, t->region_ns,
               t->region_mpi_ns, t->team_ns, t->timed_ns);
        for (int k = 0; k < JOB_THREADS_PARTS; k++)
            printf("\t%" PRIu64, t->part[k]);
        putchar('\n');
    }
    if (j->took.ranks) {
        printf("took\t%u", j->took.ranks);
        for (int k = 0; k < 2 * JOB_TOOK_PARTS; k++)
            printf("\t%" PRIu64, k < JOB_TOOK_PARTS ? j->took.sum[k] : j->took.most[k - JOB_TOOK_PARTS]);
        putchar('\n');
    }
    for (uint32_t i = 0; i < j->named.count; i++) {
        const struct job_named *n = &j->named.of[i];
        printf("named\t%d\t%d\t%u\t%u", (int)n->path, (int)n->rank, n->thread, n->ranks);
        printf("\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
               n->entries, n->unended, n->ns, n->mpi_ns, n->omp_ns, n->own_ns, n->most_ns, n->most_useful_ns);
        printf("\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, n->teams.threads,
               n->teams.samples, n->teams.region_ns, n->teams.region_mpi_ns, n->teams.team_ns, n->teams.timed_ns);
        for (int k = 0; k < JOB_THREADS_PARTS; k++)
            printf("\t%" PRIu64, n->teams.part[k]);
        putchar('\n');
    }
    if (j->delay.ranks)
        printf("delay\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", j->delay.ranks, j->delay.ready_ns,
               j->delay.wall_ns, j->delay.most_ns);
    job_destroy(j);
    return 0;
}
