/* SPDX-License-Identifier: MIT */
/* What loops take, and which calls stand in them. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/must.h"
#include "findings/loops_parts.h"

/* What calls are the same by: the function, the place where it is called, and the region by name around it. */
struct call_key { int loop; uint32_t function, kind, module, site; uint64_t offset; const char *region; };

static struct call_key key_of(const struct loops_search *s, uint32_t stop)
{
    const struct job_stop *p = &s->hops->stop[stop];
    const struct job_terminal *t = &s->j->terminals[p->terminal];
    struct call_key k = { loops_of_stop(s, stop), t->function, t->kind, GRAMMAR_NONE, GRAMMAR_NONE, 0,
                          job_named_innermost(s->j, p->path) };
    if (p->path == GRAMMAR_NONE || t->kind == JOB_REGION)
        k.site = t->callsite;
    const struct job_frame *f = job_innermost(s->j, p->path);
    if (f) {
        k.module = f->module;
        k.offset = f->offset;
    }
    return k;
}

static bool same_key(const struct call_key *a, const struct call_key *b)
{
    return a->loop == b->loop && a->function == b->function && a->kind == b->kind && a->module == b->module &&
           a->site == b->site && a->offset == b->offset && a->region == b->region; /* strings stand once */
}

static uint64_t key_hash(const struct call_key *k)
{
    uint64_t h = base_hash_mix((uint64_t)(uint32_t)k->loop << 32 | k->function);
    h = base_hash_mix(h ^ ((uint64_t)k->module << 32 | k->site));
    h = base_hash_mix(h ^ (uint64_t)(uintptr_t)k->region);
    return base_hash_mix(h ^ k->offset) + k->kind;
}

/* Returns its number. */
static uint32_t add_call(struct loops_search *s, struct base_hash *known, struct call_key *keys, uint32_t stop)
{
    const struct job_stop *p = &s->hops->stop[stop];
    struct call_key key = key_of(s, stop);
    uint64_t hash = key_hash(&key);
    uint32_t n = BASE_HASH_FIND(known, hash, i, same_key(&keys[i], &key));
    if (n == BASE_HASH_NONE) {
        n = s->l->calls++;
        base_must(base_hash_reserve(known, 1));
        base_hash_put(known, hash, n);
        keys[n] = key;
        s->l->call[n] = (struct findings_loop_call){ .loop = key.loop, .terminal = p->terminal, .path = p->path,
                                                     .order = stop };
    }
    s->l->call[n].count += s->j->terminals[p->terminal].phase == JOB_CLOSE ? 0 : p->count;
    s->l->call[n].ns += (double)p->gap_ns + (double)p->duration_ns;
    s->l->call[n].call_ns += (double)p->duration_ns;
    return n;
}

/* --- Turns of those who make a call --- */

static double turns_of(const struct loops_search *s, int loop, uint64_t stream)
{
    uint64_t at = (uint64_t)loop * s->streams + stream;
    return loop < 0 ? 0 : s->turns[at] + s->entries[at];
}

/* The hops to its stops are `first` and those that follow it in `next`. */
static void add_turns(struct loops_search *s, struct findings_loop_call *c, uint32_t first, const uint32_t *next,
                      bool *makes)
{
    double turns = 0, outer = 0, each = (double)s->all_streams / (double)s->streams;
    int around = findings_loop_turned(s->l, c->loop);
    memset(makes, s->streams < s->all_streams, s->streams);
    for (uint32_t h = first; h != GRAMMAR_NONE; h = next[h]) {
        loops_take_hop(s, h);
        for (uint64_t i = 0; i < s->takers; i++)
            makes[s->taker[i]] = true;
    }
    for (uint64_t m = 0; m < s->streams; m++)
        if (makes[m]) {
            c->streams += s->all_streams / s->streams;
            turns += turns_of(s, c->loop, m);
            outer += turns_of(s, around, m);
        }
    c->turns = (uint64_t)(turns * each + 0.5);
    c->outer = (uint64_t)(outer * each + 0.5);
}

/* `of`: the call of each stop. */
static void find_turns(struct loops_search *s, const uint32_t *of)
{
    BASE_OWN uint32_t *first = malloc(((size_t)s->l->calls + 1) * sizeof *first);
    BASE_OWN uint32_t *next = malloc(((size_t)s->hops->hop_count + 1) * sizeof *next);
    BASE_OWN bool *makes = malloc(s->streams + 1);
    memset(first, 0xff, ((size_t)s->l->calls + 1) * sizeof *first);
    for (uint32_t h = 0; h < s->hops->hop_count; h++) {
        uint32_t n = of[s->hops->hop[h].to];
        next[h] = first[n];
        first[n] = h;
    }
    for (uint32_t n = 0; n < s->l->calls; n++)
        add_turns(s, &s->l->call[n], first[n], next, makes);
}

void loops_add_time(struct loops_search *s)
{
    struct base_hash known = { 0 };
    BASE_OWN struct call_key *keys = calloc((size_t)s->hops->stop_count + 1, sizeof *keys);
    BASE_OWN uint32_t *of = calloc((size_t)s->hops->stop_count + 1, sizeof *of);

    s->l->call = calloc((size_t)s->hops->stop_count + 1, sizeof *s->l->call);
    for (uint32_t i = 0; i < s->hops->stop_count; i++) {
        for (int l = loops_of_stop(s, i); l >= 0; l = s->l->loop[l].parent)
            s->l->loop[l].ns += (double)s->hops->stop[i].gap_ns + (double)s->hops->stop[i].duration_ns;
        of[i] = add_call(s, &known, keys, i);
    }
    find_turns(s, of);
    base_hash_close(&known);
}
