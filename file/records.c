/* SPDX-License-Identifier: MIT */
#include "file/records.h"

#include <string.h>

#include "file/format.h"
#include "job/extremes.h"
#include "job/flow.h"
#include "job/hops.h"
#include "job/group.h"
#include "job/own.h"
#include "job/series.h"
#include "job/starts.h"

/* --- Fields --- */

/* Where a field of that many bytes is; the cursor goes to the next one. */
static unsigned char *field(struct file_cursor *c, size_t bytes)
{
    unsigned char *at = c->at + bytes * c->row;
    c->at += bytes * ((size_t)c->others + 1);
    return at;
}

static void half(struct file_cursor *c, uint16_t *v)
{
    unsigned char *at = field(c, 2);
    if (c->writes) {
        at[0] = (unsigned char)*v;
        at[1] = (unsigned char)(*v >> 8);
    } else {
        *v = (uint16_t)(at[0] | at[1] << 8);
    }
}

static void word(struct file_cursor *c, uint32_t *v)
{
    unsigned char *at = field(c, 4);
    if (c->writes)
        file_put32(at, *v);
    else
        *v = file_get32(at);
}

static void wide(struct file_cursor *c, uint64_t *v)
{
    unsigned char *at = field(c, 8);
    if (c->writes)
        file_put64(at, *v);
    else
        *v = file_get64(at);
}

static void real(struct file_cursor *c, double *v)
{
    uint64_t bits;

    memcpy(&bits, v, sizeof bits);
    wide(c, &bits);
    memcpy(v, &bits, sizeof bits);
}

static void wide_array(struct file_cursor *c, uint64_t *v, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wide(c, &v[i]);
}

static void words(struct file_cursor *c, uint32_t *const *v, size_t count)
{
    for (size_t i = 0; i < count; i++)
        word(c, v[i]);
}

static void wides(struct file_cursor *c, uint64_t *const *v, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wide(c, v[i]);
}

#define WORDS(c, ...) \
    words(c, (uint32_t *const[]){ __VA_ARGS__ }, sizeof(uint32_t *const[]){ __VA_ARGS__ } / sizeof(uint32_t *))
#define WIDES(c, ...) \
    wides(c, (uint64_t *const[]){ __VA_ARGS__ }, sizeof(uint64_t *const[]){ __VA_ARGS__ } / sizeof(uint64_t *))

/* --- Records --- */

void file_record_info(struct file_cursor *c, struct job_info *f)
{
    WORDS(c, &f->program, &f->program_id, &f->arguments, &f->mpi, &f->ranks, &f->threads, &f->missing, &f->runs,
          &f->block);
    c->at += 4;
    WIDES(c, &f->wall_ns, &f->start_time);
}

void file_record_sum(struct file_cursor *c, struct job_sum *s)
{
    WORDS(c, &s->terminal, &s->name);
    WIDES(c, &s->count.samples, &s->count.total);
}

void file_record_digram(struct file_cursor *c, struct job_digram *d)
{
    WORDS(c, &d->terminal, &d->before);
    WIDES(c, &d->gap.samples, &d->gap.total);
}

void file_record_region(struct file_cursor *c, struct job_region *r)
{
    WORDS(c, &r->callsite, &r->team, &r->fixed, &r->size_count);
    WIDES(c, &r->executions, &r->verified, &r->changed, &r->trials, &r->controls, &r->control_ns, &r->chosen_ns,
          (uint64_t *)&r->gain_ns);
    c->at += 40; /* reserved */
    unsigned char *sizes = c->at;
    for (uint32_t i = 0; i < (c->writes ? r->size_count : JOB_REGION_SIZES); i++) {
        word(c, &r->size[i].size);
        c->at += 4;
        WIDES(c, &r->size[i].count, &r->size[i].ns);
    }
    c->at = sizes + 24 * JOB_REGION_SIZES;
    WORDS(c, &r->proof, &r->where);
    wide(c, &r->proof_ns);
}

void file_record_task(struct file_cursor *c, struct job_task *t)
{
    WORDS(c, &t->callsite, &t->depth);
    WIDES(c, &t->created, &t->at_once, &t->undeferred, &t->loops, &t->timed, &t->time_ns, &t->min_ns, &t->max_ns,
          &t->wait_ns, &t->subtree_ns, &t->cost_ns, &t->proof);
}

void file_record_machine(struct file_cursor *c, struct job_machine *m)
{
    real(c, &m->joules);
    WORDS(c, &m->nodes, &m->tree, &m->energy);
}

void file_record_clock(struct file_cursor *c, struct job_clock *k)
{
    wide(c, &k->error_ns);
    word(c, &k->nodes);
}

void file_record_delay(struct file_cursor *c, struct job_delay *d)
{
    WIDES(c, &d->ranks, &d->ready_ns, &d->wall_ns, &d->most_ns);
}

void file_record_threads(struct file_cursor *c, struct job_threads *t)
{
    WORDS(c, &t->rank, &t->callsite, &t->ranks, &t->threads);
    WIDES(c, &t->samples, &t->region_ns, &t->region_mpi_ns, &t->team_ns, &t->timed_ns);
    wide_array(c, t->part, JOB_THREADS_PARTS);
}

static void score(struct file_cursor *c, struct oracle_score *s)
{
    WIDES(c, &s->events, &s->known, &s->cost_ns);
    for (int d = 0; d < ORACLE_DISTANCES; d++) {
        uint64_t distance = oracle_score_distances[d];
        WIDES(c, &distance, &s->at[d].predictions, &s->at[d].hits, &s->at[d].unknown);
        real(c, &s->at[d].brier);
        wide_array(c, s->at[d].answers, ORACLE_DECILES);
        wide_array(c, s->at[d].right, ORACLE_DECILES);
    }
    wide_array(c, s->time_error, ORACLE_TIME_BUCKETS);
    WIDES(c, &s->peers.asked, &s->peers.foretold, &s->peers.right);
}

void file_record_oracle(struct file_cursor *c, struct job_oracle *o)
{
    uint32_t distances = ORACLE_DISTANCES, deciles = ORACLE_DECILES, buckets = ORACLE_TIME_BUCKETS;

    WORDS(c, &distances, &deciles, &buckets, &o->ranks);
    wide(c, &o->actions);
    real(c, &o->gain_seconds);
    real(c, &o->cost_seconds);
    wide(c, &o->wall_ns);
    score(c, &o->score);
    wide(c, &o->start_time);
    WORDS(c, &o->threads, &o->recorded_ranks);
    WIDES(c, &o->recorded_ns, &o->recorded_time);
}

/* --- Tables by columns --- */

/* Rows of `size` bytes in memory. The cursor is behind them then. */
static void table(struct file_cursor *c, void (*record)(struct file_cursor *, void *), void *rows, size_t size,
                  uint32_t count)
{
    unsigned char *end = c->at;

    for (uint32_t i = 0; i < count; i++) {
        struct file_cursor one = { .at = c->at, .writes = c->writes, .row = i, .others = count - 1 };
        record(&one, (char *)rows + i * size);
        end = one.at;
        c->bad |= one.bad;
    }
    c->at = end;
}

#define TABLE(c, record, rows, count) table(c, record, rows, sizeof *(rows), count)

static void range(struct file_cursor *c, void *row)
{
    struct job_range *r = row;
    WORDS(c, &r->first, &r->count, &r->stride, &r->thread, &r->rows, &r->row_stride, &r->planes, &r->plane_stride);
}

static void group(struct file_cursor *c, void *row)
{
    struct job_group *g = row;
    WORDS(c, &g->comm, &g->remote, &g->size, &g->run_count, &g->range_count);
}

static void run(struct file_cursor *c, void *row)
{
    struct job_run *r = row;
    WORDS(c, &r->first, &r->count, (uint32_t *)&r->stride);
}

static void flow(struct file_cursor *c, void *row)
{
    struct job_flow *f = row;
    uint32_t kind = c->writes ? f->receives | (uint32_t)f->relation << 8 | (uint32_t)f->mean << 16 : 0;

    WORDS(c, &f->terminal, &kind, &f->value, &f->range_count);
    WIDES(c, &f->messages, &f->bytes);
    if (c->writes)
        return;
    f->receives = (uint8_t)kind;
    f->relation = (uint8_t)(kind >> 8);
    f->mean = (uint8_t)(kind >> 16);
    c->bad |= kind >> 24 != 0;
}

static void stop(struct file_cursor *c, void *row)
{
    struct job_stop *s = row;
    WORDS(c, &s->terminal, &s->path);
    WIDES(c, &s->count, &s->gap_ns, &s->duration_ns);
}

static void hop(struct file_cursor *c, void *row)
{
    struct job_hop *h = row;
    WORDS(c, &h->from, &h->to, &h->mean, &h->range_count);
    wide(c, &h->count);
}

static void start_list(struct file_cursor *c, void *row)
{
    struct job_start_list *l = row;
    wide(c, (uint64_t *)&l->name);
    word(c, &l->count);
}

static void start_run(struct file_cursor *c, void *row)
{
    struct job_start_run *r = row;
    WORDS(c, &r->distance, (uint32_t *)&r->step, &r->count);
}

static void extremes(struct file_cursor *c, void *row)
{
    struct job_extremes *e = row;

    word(c, &e->terminal);
    for (size_t k = 0; k < JOB_EXTREMES; k++)
        word(c, &e->rank[k]);
    wide(c, &e->count);
    wide_array(c, e->value, JOB_EXTREMES);
    wide_array(c, e->turn, JOB_EXTREMES);
    wide_array(c, e->gaps, JOB_BUCKETS);
    wide_array(c, e->durations, JOB_BUCKETS);
}

static void usual(struct file_cursor *c, void *row)
{
    struct job_extremes *e = row;

    wide_array(c, e->usual, JOB_USUALS);
}

void file_record_own(struct file_cursor *c, struct job_own *o)
{
    WORDS(c, &o->class_index, &o->node, &o->rank, &o->thread, &o->ranks);
    wide_array(c, o->sum, JOB_OWN_SUMS);
}

/* Ranks are counted from the first of the block. */
static void extent_ranks(struct file_cursor *c, uint32_t first, struct job_extent *e)
{
    uint32_t least = e->least_rank - first, most = e->most_rank - first;
    WORDS(c, &least, &most);
    e->least_rank = first + least;
    e->most_rank = first + most;
}

void file_record_extents(struct file_cursor *c, struct job_stream *s)
{
    WIDES(c, &s->wall.least, &s->wall.most, &s->useful.least, &s->useful.most);
    extent_ranks(c, s->rank, &s->wall);
    extent_ranks(c, s->rank, &s->useful);
}

/* Of one rank the parts are the sum, which then fits 16 bits. */
static void steps(struct file_cursor *c, struct job_series *s, uint32_t kind)
{
    for (uint32_t i = 0; i < s->steps; i++) {
        struct file_cursor one = { .at = c->at, .writes = c->writes, .row = i, .others = s->steps - 1 };
        uint16_t *least = &s->part[kind][JOB_SERIES_LEAST][i], *most = &s->part[kind][JOB_SERIES_MOST][i];
        if (s->ranks > 1) {
            word(&one, &s->sum[kind][i]);
            half(&one, least);
            half(&one, most);
        } else {
            uint16_t sum = (uint16_t)s->sum[kind][i];
            half(&one, &sum);
            if (!c->writes)
                s->sum[kind][i] = *least = *most = sum;
        }
    }
    c->at += s->steps * (s->ranks > 1 ? 8u : 2u);
}

void file_record_series_head(struct file_cursor *c, struct job_series *s)
{
    uint32_t none = 0;

    WORDS(c, &s->rank, &s->ranks, &s->steps, &none);
    wide(c, &s->step_ns);
    c->bad |= none != 0;
}

void file_record_series_steps(struct file_cursor *c, struct job_series *s)
{
    for (uint32_t kind = 0; kind < JOB_SERIES_KINDS; kind++)
        steps(c, s, kind);
}

void file_record_groups(struct file_cursor *c, struct job_groups *g)
{
    WORDS(c, &g->run_count, &g->ranges.count);
    TABLE(c, group, g->group, g->group_count);
    TABLE(c, run, g->runs, g->run_count);
    TABLE(c, range, g->ranges.range, g->ranges.count);
}

void file_record_flows(struct file_cursor *c, struct job_flows *f)
{
    word(c, &f->ranges.count);
    TABLE(c, flow, f->row, f->count);
    TABLE(c, range, f->ranges.range, f->ranges.count);
}

void file_record_hops(struct file_cursor *c, struct job_hops *h)
{
    WORDS(c, &h->hop_count, &h->ranges.count);
    TABLE(c, stop, h->stop, h->stop_count);
    TABLE(c, hop, h->hop, h->hop_count);
    TABLE(c, range, h->ranges.range, h->ranges.count);
}

void file_record_starts(struct file_cursor *c, struct job_starts *s)
{
    word(c, &s->run_count);
    TABLE(c, start_list, s->list, s->count);
    TABLE(c, start_run, s->runs, s->run_count);
}

void file_record_extremes(struct file_cursor *c, struct job_extremes_list *l)
{
    TABLE(c, extremes, l->of, l->count);
}

void file_record_usual(struct file_cursor *c, struct job_extremes_list *l)
{
    TABLE(c, usual, l->of, l->count);
}
