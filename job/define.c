/* SPDX-License-Identifier: MIT */
#include "job/define.h"

#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "job/intern.h"
#include "job/job.h"

/* The number of what has this hash; where it is new `row`, of `size` bytes, is appended to the array. GRAMMAR_NONE when
   out of memory. */
static uint32_t intern(struct job *j, enum job_interned kind, struct grammar_hash hash, void *array, uint32_t *count,
                       uint32_t *room, const void *row, size_t size)
{
    struct job_index *x = j->index;
    bool terminal = kind == JOB_INTERNED_TERMINAL;
    struct grammar_hash **hashes = terminal ? &j->terminal_hash : &x->hash[kind];
    uint32_t *hash_room = terminal ? &x->terminal_hash_room : &x->hash_room[kind], number = *count;
    uint32_t known = job_table_find(&x->table[kind], hash);
    if (known != GRAMMAR_NONE)
        return known;
    if (base_array_room(hashes, hash_room, (uint64_t)number + 1, sizeof **hashes) ||
        job_table_reserve(&x->table[kind], 1) || base_array_append(array, count, room, row, 1, size))
        return GRAMMAR_NONE;
    (*hashes)[number] = hash;
    job_table_put(&x->table[kind], hash, number);
    return number;
}

uint32_t job_string(struct job *j, const char *text)
{
    struct job_index *x = j->index;
    if (!text)
        text = "";
    struct grammar_hash hash = job_hash_bytes(JOB_INTERNED_STRING, text, strlen(text));
    uint32_t n = job_table_find(&x->table[JOB_INTERNED_STRING], hash);
    char *copy = n == GRAMMAR_NONE ? strdup(text) : NULL;
    if (!copy)
        return n;
    n = intern(j, JOB_INTERNED_STRING, hash, &j->strings, &j->string_count, &x->string_room, &copy, sizeof copy);
    if (n == GRAMMAR_NONE)
        free(copy);
    return n;
}

uint32_t job_module(struct job *j, const char *path, const char *build_id)
{
    struct job_index *x = j->index;
    struct job_module m = { job_string(j, path), job_string(j, build_id) };
    if (m.path == GRAMMAR_NONE || m.build_id == GRAMMAR_NONE)
        return GRAMMAR_NONE;
    const struct grammar_hash *text = x->hash[JOB_INTERNED_STRING];
    struct grammar_hash hash = job_hash_pair(JOB_INTERNED_MODULE, text[m.path], text[m.build_id], 0);
    return intern(j, JOB_INTERNED_MODULE, hash, &j->modules, &j->module_count, &x->module_room, &m, sizeof m);
}

uint32_t job_callsite(struct job *j, const struct job_frame *frames, uint32_t count)
{
    struct job_index *x = j->index;
    struct grammar_hash hash = { 0, count };
    struct job_callsite c = { j->frame_count, count };
    uint32_t callsites = j->callsite_count;
    for (uint32_t i = 0; i < count; i++) {
        if (frames[i].module >= j->module_count)
            return GRAMMAR_NONE;
        hash = job_hash_pair(JOB_INTERNED_CALLSITE, hash, x->hash[JOB_INTERNED_MODULE][frames[i].module],
                             frames[i].offset);
    }
    if (base_array_room(&j->frames, &x->frame_room, (uint64_t)j->frame_count + count, sizeof *j->frames))
        return GRAMMAR_NONE;
    uint32_t n = intern(j, JOB_INTERNED_CALLSITE, hash, &j->callsites, &j->callsite_count, &x->callsite_room, &c,
                        sizeof c);
    for (uint32_t i = 0; i < count && j->callsite_count > callsites; i++)
        j->frames[j->frame_count++] = (struct job_frame){ frames[i].module, 0, frames[i].offset };
    return n;
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
    return intern(j, JOB_INTERNED_COMM, hash, &j->comms, &j->comm_count, &x->comm_room, &c, sizeof c);
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
    struct job_terminal own = *t;
    memset(own.reserved, 0, sizeof own.reserved);
    return intern(j, JOB_INTERNED_TERMINAL, terminal_hash(j, t), &j->terminals, &j->terminal_count, &x->terminal_room,
                  &own, sizeof own);
}

uint32_t job_find_terminal(const struct job *j, struct grammar_hash hash)
{
    return job_table_find(&j->index->table[JOB_INTERNED_TERMINAL], hash);
}

void job_number_sites(const struct job *j, uint32_t *number)
{
    uint32_t next = 0;
    memset(number, 0xff, ((size_t)j->callsite_count + 1) * sizeof *number);
    for (uint32_t t = 0; t < j->terminal_count; t++) {
        uint32_t site = j->terminals[t].callsite;
        if (site < j->callsite_count && number[site] == GRAMMAR_NONE)
            number[site] = next++;
    }
}

const char *job_text(const struct job *j, uint32_t string)
{
    return string < j->string_count ? j->strings[string] : "";
}

const struct job_frame *job_innermost(const struct job *j, uint32_t callsite)
{
    return callsite == GRAMMAR_NONE || !j->callsites[callsite].count ? NULL : &j->frames[j->callsites[callsite].first];
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
    return !strcmp(base_name(job_text(j, j->info.program)), base_name(program));
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
