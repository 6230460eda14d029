/* SPDX-License-Identifier: MIT */
#include "job/intern.h"

#define XXH_INLINE_ALL
#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"

/* Files choose hashes: that of a class is what they say. So where a hash is put is nobody else's business, or a small
   file would fill a table with collisions. Numbers are given in the order of insertion: no result depends on this. */
static uint64_t intern_place_of(struct grammar_hash hash)
{
    return XXH3_64bits_withSeed(&hash, sizeof hash, base_hash_secret());
}

uint32_t job_table_find(const struct job_table *t, struct grammar_hash hash)
{
    if (!t->entries.used)
        return GRAMMAR_NONE;
    uint64_t place = intern_place_of(hash);
    uint32_t n = BASE_HASH_FIND(&t->entries, place, i, job_hash_equal(t->entry[i].hash, hash));
    return n == BASE_HASH_NONE ? GRAMMAR_NONE : t->entry[n].number;
}

void job_table_put(struct job_table *t, struct grammar_hash hash, uint32_t number)
{
    t->entry[t->entries.used] = (struct job_entry){ hash, number };
    base_hash_put(&t->entries, intern_place_of(hash), t->entries.used);
}

int job_table_reserve(struct job_table *t, uint32_t extra)
{
    int error = base_array_room(&t->entry, &t->room, (uint64_t)t->entries.used + extra, sizeof *t->entry);
    return error ?: base_hash_reserve(&t->entries, extra);
}

void job_table_free(struct job_table *t)
{
    base_hash_close(&t->entries);
    free(t->entry);
    *t = (struct job_table){ 0 };
}

struct grammar_hash job_hash_bytes(uint64_t seed, const void *data, size_t size)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(data, size, seed);
    return (struct grammar_hash){ h.low64, h.high64 };
}

struct grammar_hash job_hash_pair(uint64_t seed, struct grammar_hash a, struct grammar_hash b, uint64_t number)
{
    const uint64_t words[5] = { htole64(a.low), htole64(a.high), htole64(b.low), htole64(b.high), htole64(number) };
    return job_hash_bytes(seed, words, sizeof words);
}

struct job_mark job_mark(const struct job *j)
{
    return (struct job_mark){ j->string_count,   j->module_count, j->frame_count,
                                j->callsite_count, j->comm_count,   j->terminal_count };
}

static void refill(struct job_table *t, const struct grammar_hash *hash, uint32_t count)
{
    base_hash_clear(&t->entries);
    for (uint32_t i = 0; i < count; i++)
        job_table_put(t, hash[i], i);
}

void job_rollback(struct job *j, struct job_mark mark)
{
    struct job_index *x = j->index;
    job_match_free(x->match);
    x->match = NULL;
    for (uint32_t i = mark.strings; i < j->string_count; i++)
        free(j->strings[i]);
    j->string_count = mark.strings;
    j->module_count = mark.modules;
    j->frame_count = mark.frames;
    j->callsite_count = mark.callsites;
    j->comm_count = mark.comms;
    j->terminal_count = mark.terminals;
    refill(&x->table[JOB_INTERNED_STRING], x->hash[JOB_INTERNED_STRING], mark.strings);
    refill(&x->table[JOB_INTERNED_MODULE], x->hash[JOB_INTERNED_MODULE], mark.modules);
    refill(&x->table[JOB_INTERNED_CALLSITE], x->hash[JOB_INTERNED_CALLSITE], mark.callsites);
    refill(&x->table[JOB_INTERNED_COMM], x->hash[JOB_INTERNED_COMM], mark.comms);
    refill(&x->table[JOB_INTERNED_TERMINAL], j->terminal_hash, mark.terminals);
}
