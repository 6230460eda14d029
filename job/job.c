/* SPDX-License-Identifier: MIT */
#include "job/job.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/class.h"
#include "job/intern.h"
#include "file/open.h"
#include "job/streams.h"

struct job *job_create(void)
{
    struct job *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->index = calloc(1, sizeof *j->index);
    if (!j->index) {
        free(j);
        return NULL;
    }
    j->machine.tree = j->machine.energy = GRAMMAR_NONE;
    j->info.program = j->info.program_id = j->info.arguments = j->info.mpi = GRAMMAR_NONE;
    j->info.runs = j->info.block = 1;
    return j;
}

static void index_destroy(struct job_index *x)
{
    for (int kind = 0; kind < MERGE_KINDS; kind++)
        merge_table_free(&x->table[kind]);
    for (int kind = 0; kind < MERGE_TERMINAL; kind++)
        free(x->hash[kind]);
    free(x);
}

void job_destroy(struct job *j)
{
    if (!j)
        return;
    for (uint32_t i = 0; i < j->string_count; i++)
        free(j->strings[i]);
    for (uint32_t i = 0; i < j->class_count; i++)
        merge_class_clear(&j->classes[i]);
    free(j->strings);
    free(j->modules);
    free(j->frames);
    free(j->callsites);
    free(j->comms);
    free(j->terminals);
    free(j->terminal_hash);
    free(j->classes);
    free(j->streams);
    free(j->tasks);
    free(j->sums);
    free(j->regions);
    merge_store_close(j->store);
    index_destroy(j->index);
    free(j);
}

/* Room for one more of `kind` in its array, its hashes and its table. */
static int intern_room(struct job *j, enum merge_kind kind, void *array, uint32_t *room, uint32_t count, size_t size)
{
    struct job_index *x = j->index;
    int error = merge_room(array, room, (uint64_t)count + 1, size);
    if (!error && kind < MERGE_TERMINAL)
        error = merge_room(&x->hash[kind], &x->hash_room[kind], (uint64_t)count + 1, sizeof *x->hash[kind]);
    return error ? error : merge_table_reserve(&x->table[kind], 1);
}

static void intern_put(struct job *j, enum merge_kind kind, struct grammar_hash hash, uint32_t number)
{
    if (kind < MERGE_TERMINAL)
        j->index->hash[kind][number] = hash;
    merge_table_put(&j->index->table[kind], hash, number);
}

uint32_t job_string(struct job *j, const char *text)
{
    struct job_index *x = j->index;
    if (!text)
        text = "";
    struct grammar_hash hash = merge_hash_bytes(MERGE_STRING, text, strlen(text));
    uint32_t n = merge_table_find(&x->table[MERGE_STRING], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, MERGE_STRING, &j->strings, &x->string_room, j->string_count, sizeof *j->strings))
        return GRAMMAR_NONE;
    char *copy = strdup(text);
    if (!copy)
        return GRAMMAR_NONE;
    j->strings[j->string_count] = copy;
    intern_put(j, MERGE_STRING, hash, j->string_count);
    return j->string_count++;
}

uint32_t job_module(struct job *j, const char *path, const char *build_id)
{
    struct job_index *x = j->index;
    struct job_module m = { job_string(j, path), job_string(j, build_id) };
    if (m.path == GRAMMAR_NONE || m.build_id == GRAMMAR_NONE)
        return GRAMMAR_NONE;
    const struct grammar_hash *text = x->hash[MERGE_STRING];
    struct grammar_hash hash = merge_hash_pair(MERGE_MODULE, text[m.path], text[m.build_id], 0);
    uint32_t n = merge_table_find(&x->table[MERGE_MODULE], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, MERGE_MODULE, &j->modules, &x->module_room, j->module_count, sizeof *j->modules))
        return GRAMMAR_NONE;
    j->modules[j->module_count] = m;
    intern_put(j, MERGE_MODULE, hash, j->module_count);
    return j->module_count++;
}

uint32_t job_callsite(struct job *j, const struct job_frame *frames, uint32_t count)
{
    struct job_index *x = j->index;
    struct grammar_hash hash = { 0, count };
    for (uint32_t i = 0; i < count; i++) {
        if (frames[i].module >= j->module_count)
            return GRAMMAR_NONE;
        hash = merge_hash_pair(MERGE_CALLSITE, hash, x->hash[MERGE_MODULE][frames[i].module], frames[i].offset);
    }
    uint32_t n = merge_table_find(&x->table[MERGE_CALLSITE], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, MERGE_CALLSITE, &j->callsites, &x->callsite_room, j->callsite_count, sizeof *j->callsites) ||
        merge_room(&j->frames, &x->frame_room, (uint64_t)j->frame_count + count, sizeof *j->frames))
        return GRAMMAR_NONE;
    j->callsites[j->callsite_count] = (struct job_callsite){ j->frame_count, count };
    for (uint32_t i = 0; i < count; i++)
        j->frames[j->frame_count++] = (struct job_frame){ frames[i].module, 0, frames[i].offset };
    intern_put(j, MERGE_CALLSITE, hash, j->callsite_count);
    return j->callsite_count++;
}

uint32_t job_comm(struct job *j, const char *name, uint32_t size)
{
    struct job_index *x = j->index;
    struct job_comm c = { job_string(j, name), size };
    if (c.name == GRAMMAR_NONE)
        return GRAMMAR_NONE;
    /* The size is not identity: the parts of a split have one name and may differ in size. */
    struct grammar_hash hash = merge_hash_pair(MERGE_COMM, x->hash[MERGE_STRING][c.name], (struct grammar_hash){ 0, 0 }, 0);
    uint32_t n = merge_table_find(&x->table[MERGE_COMM], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, MERGE_COMM, &j->comms, &x->comm_room, j->comm_count, sizeof *j->comms))
        return GRAMMAR_NONE;
    j->comms[j->comm_count] = c;
    intern_put(j, MERGE_COMM, hash, j->comm_count);
    return j->comm_count++;
}

static struct grammar_hash hash_of(const struct job *j, enum merge_kind kind, uint32_t number)
{
    return number == GRAMMAR_NONE ? (struct grammar_hash){ 0, 0 } : j->index->hash[kind][number];
}

static struct grammar_hash terminal_hash(const struct job *j, const struct job_terminal *t)
{
    uint64_t bytes = (uint64_t)t->kind | (uint64_t)t->phase << 8 | (uint64_t)t->call_class << 16 |
                     (uint64_t)t->peer_class << 24 | (uint64_t)t->blocking << 32;
    struct grammar_hash place = merge_hash_pair(MERGE_TERMINAL, hash_of(j, MERGE_CALLSITE, t->callsite),
                                                hash_of(j, MERGE_COMM, t->comm), bytes);
    return merge_hash_pair(MERGE_TERMINAL, hash_of(j, MERGE_STRING, t->function), place, 0);
}

static int in_range(uint32_t number, uint32_t count)
{
    return number < count || number == GRAMMAR_NONE;
}

uint32_t job_terminal(struct job *j, const struct job_terminal *t)
{
    struct job_index *x = j->index;
    if (t->function >= j->string_count || !in_range(t->callsite, j->callsite_count) || !in_range(t->comm, j->comm_count))
        return GRAMMAR_NONE;
    struct grammar_hash hash = terminal_hash(j, t);
    uint32_t n = merge_table_find(&x->table[MERGE_TERMINAL], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, MERGE_TERMINAL, &j->terminals, &x->terminal_room, j->terminal_count, sizeof *j->terminals) ||
        merge_room(&j->terminal_hash, &x->terminal_hash_room, (uint64_t)j->terminal_count + 1, sizeof *j->terminal_hash))
        return GRAMMAR_NONE;
    j->terminals[j->terminal_count] = *t;
    memset(j->terminals[j->terminal_count].reserved, 0, sizeof t->reserved);
    j->terminal_hash[j->terminal_count] = hash;
    intern_put(j, MERGE_TERMINAL, hash, j->terminal_count);
    return j->terminal_count++;
}

uint32_t job_find_terminal(const struct job *j, struct grammar_hash hash)
{
    return merge_table_find(&j->index->table[MERGE_TERMINAL], hash);
}

const char *job_text(const struct job *j, uint32_t string)
{
    return string < j->string_count ? j->strings[string] : "";
}

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
static int class_add(struct job *j, struct job_class_entry *c, uint32_t *number)
{
    struct job_index *x = j->index;
    uint32_t n = merge_table_find(&x->table[MERGE_CLASS], c->hash);
    if (n == GRAMMAR_NONE) {
        int error = merge_room(&j->classes, &x->class_room, (uint64_t)j->class_count + 1, sizeof *j->classes);
        if (!error)
            error = merge_table_reserve(&x->table[MERGE_CLASS], 1);
        if (error)
            return error;
        *number = j->class_count++;
        j->classes[*number] = *c;
        merge_table_put(&x->table[MERGE_CLASS], c->hash, *number);
        return 0;
    }
    struct merge_joint joint;
    int error = merge_class_join(&j->classes[n], c, &joint);
    if (error)
        return error;
    merge_class_commit(&j->classes[n], c, &joint);
    merge_class_clear(c);
    *number = n;
    return 0;
}

int job_add_stream(struct job *j, const struct job_stream *s, struct grammar_flat *g)
{
    struct job_class_entry c = { 0 };
    struct job_stream stream = *s;
    uint32_t *modulus = NULL;
    int error = PYTHIA_EINVAL;
    if (g->terminals > j->terminal_count || job_find_stream(j, s->rank, s->thread) || s->rank >= MERGE_LIMIT)
        goto drop_grammar;
    stream.events = g->events;
    error = PYTHIA_ENOMEM;
    modulus = peer_moduli(j);
    if (!modulus)
        goto drop_grammar;
    error = merge_room(&j->streams, &j->index->stream_room, (uint64_t)j->stream_count + 1, sizeof *j->streams);
    if (error)
        goto drop_modulus;
    struct grammar_hash hash = grammar_flat_hash(g, j->terminal_hash, NULL);
    error = merge_hash_none(hash) ? PYTHIA_ENOMEM : merge_class_single(&c, g, hash, s->rank, s->thread, modulus);
    if (error)
        goto drop_modulus;
    error = class_add(j, &c, &stream.class_index);
    if (error)
        merge_class_clear(&c); /* the grammar is in there */
    else
        merge_streams_add(j, &stream);
    free(modulus);
    return error;

drop_modulus:
    free(modulus);
drop_grammar:
    grammar_flat_destroy(g);
    return error;
}
