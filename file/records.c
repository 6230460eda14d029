/* SPDX-License-Identifier: MIT */
#include "file/records.h"

#include <string.h>

#include "file/format.h"

/* --- Fields --- */

static void word(struct file_cursor *c, uint32_t *v)
{
    if (c->writes)
        file_put32(c->at, *v);
    else
        *v = file_get32(c->at);
    c->at += 4;
}

static void wide(struct file_cursor *c, uint64_t *v)
{
    if (c->writes)
        file_put64(c->at, *v);
    else
        *v = file_get64(c->at);
    c->at += 8;
}

static void real(struct file_cursor *c, double *v)
{
    uint64_t bits;

    memcpy(&bits, v, sizeof bits);
    wide(c, &bits);
    memcpy(v, &bits, sizeof bits);
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

void file_record_region(struct file_cursor *c, struct job_region *r)
{
    WORDS(c, &r->callsite, &r->team, &r->keep, &r->size_count);
    WIDES(c, &r->executions, &r->verified, &r->changed, &r->trials, &r->controls, &r->control_ns, &r->chosen_ns,
          (uint64_t *)&r->gain_ns, &r->samples, &r->fork_ns, &r->work_ns, &r->wait_ns, &r->join_ns);
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

static void score(struct file_cursor *c, struct oracle_score *s)
{
    WIDES(c, &s->events, &s->known, &s->cost_ns);
    for (int d = 0; d < ORACLE_DISTANCES; d++) {
        uint64_t distance = oracle_score_distances[d];
        WIDES(c, &distance, &s->at[d].predictions, &s->at[d].hits, &s->at[d].unknown);
        real(c, &s->at[d].brier);
        for (int i = 0; i < ORACLE_DECILES; i++)
            wide(c, &s->at[d].answers[i]);
        for (int i = 0; i < ORACLE_DECILES; i++)
            wide(c, &s->at[d].right[i]);
    }
    for (int i = 0; i < ORACLE_TIME_BUCKETS; i++)
        wide(c, &s->time_error[i]);
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
