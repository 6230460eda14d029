/* SPDX-License-Identifier: MIT */
/* A stream joins a job: as a class of one member. */
#include "merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/course.h"
#include "job/streams.h"
#include "merge/union.h"

/* The number of ranks in the world as far as it is known yet: a communicator of that size is taken for a copy of it. */
static uint32_t world_size(const struct job *j)
{
    for (uint32_t i = 0; i < j->comm_count; i++)
        if (!strcmp(job_text(j, j->comms[i].name), "world"))
            return j->comms[i].size;
    return j->info.ranks;
}

/* For each terminal the modulus of its peers: the size of its communicator where that is (a copy of) the world. */
static uint32_t *peer_moduli(const struct job *j)
{
    uint32_t *modulus = calloc((size_t)j->terminal_count + 1, sizeof *modulus), world = world_size(j);
    for (uint32_t i = 0; modulus && i < j->terminal_count; i++)
        if (j->terminals[i].comm != GRAMMAR_NONE && j->comms[j->terminals[i].comm].size == world)
            modulus[i] = world;
    return modulus;
}

/* Joins the class of one member to the job's; on success the job owns what is in `c`. */
static int class_add(struct job *j, struct job_class *c, uint32_t *number)
{
    struct job_index *x = j->index;
    uint32_t n = job_table_find(&x->table[JOB_INTERNED_CLASS], c->hash);
    if (n == GRAMMAR_NONE) {
        int error = base_array_room(&j->classes, &x->class_room, (uint64_t)j->class_count + 1, sizeof *j->classes);
        error = error ?: job_table_reserve(&x->table[JOB_INTERNED_CLASS], 1);
        if (error)
            return error;
        *number = j->class_count++;
        j->classes[*number] = *c;
        job_table_put(&x->table[JOB_INTERNED_CLASS], c->hash, *number);
        return 0;
    }
    struct merge_union both;
    int error = merge_class_join(&j->starts, &j->classes[n], c, &both);
    if (error)
        return error;
    merge_class_commit(&j->classes[n], c, &both);
    job_class_clear(c);
    *number = n;
    return 0;
}

int merge_add_stream(struct job *j, const struct job_stream *s, struct grammar_flat *g)
{
    struct job_class c = { 0 };
    struct job_stream stream = *s;
    uint32_t *modulus = NULL;
    int error = PYTHIA_EINVAL;
    if (g->terminals > j->terminal_count || job_find_stream(j, s->rank, s->thread) || s->rank >= JOB_LIMIT)
        goto drop_grammar;
    stream.events = g->events;
    error = PYTHIA_ENOMEM;
    modulus = peer_moduli(j);
    if (!modulus)
        goto drop_grammar;
    error = job_streams_room(j);
    error = error ?: job_courses_add(j, g);
    if (error)
        goto drop_modulus;
    struct grammar_hash hash = grammar_flat_shape(g, j->terminal_hash);
    error = job_hash_none(hash) ? PYTHIA_ENOMEM : job_class_single(j, &c, g, hash, s->rank, s->thread, modulus);
    if (error)
        goto drop_modulus;
    stream.class_index = job_table_find(&j->index->table[JOB_INTERNED_CLASS], hash);
    if (stream.class_index == GRAMMAR_NONE)
        stream.class_index = j->class_count;
    error = job_own_add(j, stream.class_index, g, s->rank, s->thread); /* while the times are this stream's alone */
    error = error ?: class_add(j, &c, &stream.class_index);
    if (error) {
        job_own_drop(j, s->rank, s->thread);
        job_class_clear(&c); /* the grammar is in there */
    } else {
        job_streams_add(j, &stream);
    }
    free(modulus);
    return error;

drop_modulus:
    free(modulus);
drop_grammar:
    grammar_flat_destroy(g);
    return error;
}
