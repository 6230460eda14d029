/* SPDX-License-Identifier: MIT */
#include "job/define.h"

#include <stdlib.h>
#include <string.h>

#include "job/intern.h"
#include "job/job.h"

/* Room for one more of `kind` in its array, its hashes and its table. */
static int intern_room(struct job *j, enum job_interned kind, void *array, uint32_t *room, uint32_t count, size_t size)
{
    struct job_index *x = j->index;
    int error = base_array_room(array, room, (uint64_t)count + 1, size);
    if (!error && kind < JOB_INTERNED_TERMINAL)
        error = base_array_room(&x->hash[kind], &x->hash_room[kind], (uint64_t)count + 1, sizeof *x->hash[kind]);
    return error ? error : job_table_reserve(&x->table[kind], 1);
}

static void intern_put(struct job *j, enum job_interned kind, struct grammar_hash hash, uint32_t number)
{
    if (kind < JOB_INTERNED_TERMINAL)
        j->index->hash[kind][number] = hash;
    job_table_put(&j->index->table[kind], hash, number);
}

uint32_t job_string(struct job *j, const char *text)
{
    struct job_index *x = j->index;
    if (!text)
        text = "";
    struct grammar_hash hash = job_hash_bytes(JOB_INTERNED_STRING, text, strlen(text));
    uint32_t n = job_table_find(&x->table[JOB_INTERNED_STRING], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, JOB_INTERNED_STRING, &j->strings, &x->string_room, j->string_count, sizeof *j->strings))
        return GRAMMAR_NONE;
    char *copy = strdup(text);
    if (!copy)
        return GRAMMAR_NONE;
    j->strings[j->string_count] = copy;
    intern_put(j, JOB_INTERNED_STRING, hash, j->string_count);
    return j->string_count++;
}

uint32_t job_module(struct job *j, const char *path, const char *build_id)
{
    struct job_index *x = j->index;
    struct job_module m = { job_string(j, path), job_string(j, build_id) };
    if (m.path == GRAMMAR_NONE || m.build_id == GRAMMAR_NONE)
        return GRAMMAR_NONE;
    const struct grammar_hash *text = x->hash[JOB_INTERNED_STRING];
    struct grammar_hash hash = job_hash_pair(JOB_INTERNED_MODULE, text[m.path], text[m.build_id], 0);
    uint32_t n = job_table_find(&x->table[JOB_INTERNED_MODULE], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, JOB_INTERNED_MODULE, &j->modules, &x->module_room, j->module_count, sizeof *j->modules))
        return GRAMMAR_NONE;
    j->modules[j->module_count] = m;
    intern_put(j, JOB_INTERNED_MODULE, hash, j->module_count);
    return j->module_count++;
}

uint32_t job_callsite(struct job *j, const struct job_frame *frames, uint32_t count)
{
    struct job_index *x = j->index;
    struct grammar_hash hash = { 0, count };
    for (uint32_t i = 0; i < count; i++) {
        if (frames[i].module >= j->module_count)
            return GRAMMAR_NONE;
        hash = job_hash_pair(JOB_INTERNED_CALLSITE, hash, x->hash[JOB_INTERNED_MODULE][frames[i].module],
                             frames[i].offset);
    }
    uint32_t n = job_table_find(&x->table[JOB_INTERNED_CALLSITE], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, JOB_INTERNED_CALLSITE, &j->callsites, &x->callsite_room, j->callsite_count,
                    sizeof *j->callsites) ||
        base_array_room(&j->frames, &x->frame_room, (uint64_t)j->frame_count + count, sizeof *j->frames))
        return GRAMMAR_NONE;
    j->callsites[j->callsite_count] = (struct job_callsite){ j->frame_count, count };
    for (uint32_t i = 0; i < count; i++)
        j->frames[j->frame_count++] = (struct job_frame){ frames[i].module, 0, frames[i].offset };
    intern_put(j, JOB_INTERNED_CALLSITE, hash, j->callsite_count);
    return j->callsite_count++;
}

uint32_t job_comm(struct job *j, const char *name, uint32_t size)
{
    struct job_index *x = j->index;
    struct job_comm c = { job_string(j, name), size };
    if (c.name == GRAMMAR_NONE)
        return GRAMMAR_NONE;
    /* The size is not identity: the parts of a split have one name and may differ in size. */
    struct grammar_hash hash = job_hash_pair(JOB_INTERNED_COMM, x->hash[JOB_INTERNED_STRING][c.name],
                                             (struct grammar_hash){ 0, 0 }, 0);
    uint32_t n = job_table_find(&x->table[JOB_INTERNED_COMM], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, JOB_INTERNED_COMM, &j->comms, &x->comm_room, j->comm_count, sizeof *j->comms))
        return GRAMMAR_NONE;
    j->comms[j->comm_count] = c;
    intern_put(j, JOB_INTERNED_COMM, hash, j->comm_count);
    return j->comm_count++;
}

static struct grammar_hash hash_of(const struct job *j, enum job_interned kind, uint32_t number)
{
    return number == GRAMMAR_NONE ? (struct grammar_hash){ 0, 0 } : j->index->hash[kind][number];
}

static struct grammar_hash terminal_hash(const struct job *j, const struct job_terminal *t)
{
    uint64_t bytes = (uint64_t)t->kind | (uint64_t)t->phase << 8 | (uint64_t)t->call_kind << 16 |
                     (uint64_t)t->peer_class << 24 | (uint64_t)t->blocking << 32;
    struct grammar_hash place = job_hash_pair(JOB_INTERNED_TERMINAL, hash_of(j, JOB_INTERNED_CALLSITE, t->callsite),
                                                hash_of(j, JOB_INTERNED_COMM, t->comm), bytes);
    return job_hash_pair(JOB_INTERNED_TERMINAL, hash_of(j, JOB_INTERNED_STRING, t->function), place, 0);
}

static int in_range(uint32_t number, uint32_t count)
{
    return number < count || number == GRAMMAR_NONE;
}

uint32_t job_terminal(struct job *j, const struct job_terminal *t)
{
    struct job_index *x = j->index;
    if (t->function >= j->string_count || !in_range(t->callsite, j->callsite_count) ||
        !in_range(t->comm, j->comm_count))
        return GRAMMAR_NONE;
    struct grammar_hash hash = terminal_hash(j, t);
    uint32_t n = job_table_find(&x->table[JOB_INTERNED_TERMINAL], hash);
    if (n != GRAMMAR_NONE)
        return n;
    if (intern_room(j, JOB_INTERNED_TERMINAL, &j->terminals, &x->terminal_room, j->terminal_count,
                    sizeof *j->terminals) ||
        base_array_room(&j->terminal_hash, &x->terminal_hash_room, (uint64_t)j->terminal_count + 1,
                        sizeof *j->terminal_hash))
        return GRAMMAR_NONE;
    j->terminals[j->terminal_count] = *t;
    memset(j->terminals[j->terminal_count].reserved, 0, sizeof t->reserved);
    j->terminal_hash[j->terminal_count] = hash;
    intern_put(j, JOB_INTERNED_TERMINAL, hash, j->terminal_count);
    return j->terminal_count++;
}

uint32_t job_find_terminal(const struct job *j, struct grammar_hash hash)
{
    return job_table_find(&j->index->table[JOB_INTERNED_TERMINAL], hash);
}

const char *job_text(const struct job *j, uint32_t string)
{
    return string < j->string_count ? j->strings[string] : "";
}

const char *job_arguments(const struct job *j)
{
    const char *text = job_text(j, j->info.arguments), *blank = strchr(text, ' ');
    return blank ? blank + 1 : "";
}

bool job_other_arguments(const struct job *a, const struct job *b)
{
    return strcmp(job_arguments(a), job_arguments(b)) != 0;
}

bool job_is_of(const struct job *j, const char *program)
{
    const char *recorded = job_text(j, j->info.program), *a = strrchr(recorded, '/'), *b = strrchr(program, '/');
    return !strcmp(a ? a + 1 : recorded, b ? b + 1 : program);
}

static const char *const call_kinds[JOB_CALL_KINDS] = {
    [JOB_NO_CALL_KIND] = "none",
    [JOB_P2P] = "p2p",
    [JOB_COMPLETION] = "completion",
    [JOB_PROBE] = "probe",
    [JOB_COLLECTIVE] = "collective",
    [JOB_ONESIDED] = "onesided",
    [JOB_IO] = "io",
    [JOB_COMMUNICATOR] = "communicator",
    [JOB_LIFE] = "life",
    [JOB_OTHER] = "other",
};

bool job_is_start(const struct job *j, uint32_t terminal)
{
    const struct job_terminal *t = &j->terminals[terminal];
    return t->kind == JOB_CALL && t->call_kind == JOB_LIFE && !strncmp(job_text(j, t->function), "MPI_Init", 8);
}

const char *job_call_kind_text(unsigned call_kind)
{
    return call_kind < JOB_CALL_KINDS ? call_kinds[call_kind] : call_kinds[JOB_OTHER];
}

unsigned job_call_kind_named(const char *word, size_t length)
{
    for (unsigned kind = 0; kind < JOB_CALL_KINDS; kind++)
        if (kind != JOB_NO_CALL_KIND && kind != JOB_OTHER && !strncmp(call_kinds[kind], word, length) &&
            !call_kinds[kind][length])
            return kind;
    return JOB_NO_CALL_KIND;
}
