/* SPDX-License-Identifier: MIT */
/*
 * Which communicator a rank means: one name stands for several, the parts of a split, and in turn for some with other
 * members, which each rank tells apart in its own way (pmpi/variants.h). So messages have the name without that, and
 * the members. The two groups of an intercommunicator may have made it of parents with different names: it has its
 * members alone, and what is made of it its own part of the name.
 *
 * Cost: a look-up of members for each rank and communicator that it uses.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/must.h"
#include "job/group.h"
#include "replay/bind_parts.h"

/* Name and members. */
struct comm { uint64_t members; uint32_t name; };

struct bind_comms {
    const struct job *job;
    uint32_t *name_of; /* of each communicator of the job */
    uint32_t *known;   /* ranks x these: which one it is, one more; 0: not looked up */
    struct comm *comm; /* each once */
    struct base_hash index;
    uint32_t count, room;
};

/* The name without what tells those of one name from each other (pmpi/variants.h); `to` has room for it. */
static void plain_name(const char *name, char *to)
{
    for (const char *inter; (inter = strstr(name, "/inter#"));)
        name = inter + 1 + strcspn(inter + 1, "/");
    for (; *name; name++)
        if (*name == '.')
            name += strcspn(name, "/") - 1;
        else
            *to++ = *name;
    *to = 0;
}

static void find_names(struct bind_comms *b)
{
    uint32_t n = b->job->comm_count, count = 0;
    struct base_hash names = { 0 };
    BASE_OWN char **name = calloc(n + 1u, sizeof *name);

    b->name_of = calloc(n + 1u, sizeof *b->name_of);
    base_must(base_hash_reserve(&names, n));
    for (uint32_t c = 0; c < n; c++) {
        const char *full = job_text(b->job, b->job->comms[c].name);
        char *plain = malloc(strlen(full) + 1);
        plain_name(full, plain);
        uint64_t hash = XXH3_64bits_withSeed(plain, strlen(plain), base_hash_secret());
        uint32_t k = BASE_HASH_FIND(&names, hash, i, strcmp(name[i], plain) == 0);
        b->name_of[c] = k == BASE_HASH_NONE ? count : k;
        if (k != BASE_HASH_NONE) {
            free(plain);
            continue;
        }
        base_hash_put(&names, hash, count);
        name[count++] = plain;
    }
    for (uint32_t k = 0; k < count; k++)
        free(name[k]);
    base_hash_close(&names);
}

struct bind_comms *bind_comms_create(const struct job *j, uint32_t ranks)
{
    struct bind_comms *c = calloc(1, sizeof *c);

    c->job = j;
    find_names(c);
    c->known = calloc((size_t)ranks * j->comm_count + 1, sizeof *c->known);
    return c;
}

void bind_comms_destroy(struct bind_comms *c)
{
    free(c->name_of);
    free(c->known);
    free(c->comm);
    base_hash_close(&c->index);
    free(c);
}

/* Of the ranks in their order, wherever the runs count from. */
static uint64_t hash_of(const struct job_members *m)
{
    uint64_t hash = base_hash_secret();

    for (uint32_t i = 0; i < m->run_count; i++)
        hash = base_hash_mix(base_hash_mix(hash ^ ((uint64_t)(m->origin + m->runs[i].first) << 32 | m->runs[i].count)) ^
                             (uint32_t)m->runs[i].stride);
    return hash;
}

static struct comm look_up(const struct replay_bind *b, uint32_t rank, uint32_t comm)
{
    struct comm is = { .name = b->comms->name_of[comm] };
    struct job_members own, peers;

    if (!job_comm_members(b->job, comm, rank, &own) || !job_comm_peers(b->job, comm, rank, &peers))
        return is;
    is.members = hash_of(&own);
    if (peers.runs != own.runs)
        is = (struct comm){ .members = is.members + hash_of(&peers), .name = GRAMMAR_NONE };
    return is;
}

uint32_t bind_comm(const struct replay_bind *b, uint32_t rank, uint32_t comm)
{
    struct bind_comms *c = b->comms;
    uint32_t *known = comm == GRAMMAR_NONE ? NULL : &c->known[(size_t)rank * b->job->comm_count + comm];

    if (!known || *known)
        return known ? *known : comm;
    struct comm is = look_up(b, rank, comm);
    uint64_t hash = base_hash_mix(is.members ^ base_hash_mix(is.name ^ base_hash_secret()));
    uint32_t k = BASE_HASH_FIND(&c->index, hash, i, c->comm[i].members == is.members && c->comm[i].name == is.name);
    if (k == BASE_HASH_NONE)
        k = base_hash_append(&c->index, hash, &c->comm, &c->count, &c->room, &is, sizeof is);
    base_must(k == BASE_HASH_NONE);
    return *known = k + 1;
}
