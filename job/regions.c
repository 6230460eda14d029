/* SPDX-License-Identifier: MIT */
#include "job/regions.h"

#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "job/intern.h"

const char *job_fixed_text(uint32_t bit)
{
    static const char *const texts[JOB_FIXED_REASONS] = {
        "PYTHIA_OMP_KEEP names it",
        "calls or regions inside",
        "its team is not what was to be expected",
        "it has a num_threads clause",
        "it has a proc_bind clause",
        "a league of teams",
        "more than one level is active",
        "it creates tasks",
        "its team is as large as it has sections",
    };
    for (uint32_t i = 0; i < JOB_FIXED_REASONS; i++)
        if (bit == 1u << i)
            return texts[i];
    return "another reason";
}

void job_region_add_size(struct job_region *r, uint32_t size, uint64_t count, uint64_t ns)
{
    uint32_t at = 0;
    while (at < r->size_count && r->size[at].size < size)
        at++;
    if (at == r->size_count || r->size[at].size != size) {
        if (r->size_count == JOB_REGION_SIZES) {
            at = at < JOB_REGION_SIZES ? at : JOB_REGION_SIZES - 1;
        } else {
            memmove(&r->size[at + 1], &r->size[at], (r->size_count++ - at) * sizeof *r->size);
            r->size[at] = (struct job_region_size){ .size = size };
        }
    }
    r->size[at].count += count;
    r->size[at].ns += ns;
}

/* Adds what another rank or run saw of the same region. */
static void region_add(struct job_region *into, const struct job_region *from)
{
    into->team = into->team > from->team ? into->team : from->team;
    into->fixed |= from->fixed;
    if (job_proof_reason(from->proof) > job_proof_reason(into->proof)) { /* ranks of the same program differ only where
                                                                            one could not read it */
        into->proof = from->proof;
        into->where = from->where;
    }
    into->proof_ns = into->proof_ns > from->proof_ns ? into->proof_ns : from->proof_ns;
    into->executions += from->executions;
    into->verified += from->verified;
    into->changed += from->changed;
    into->trials += from->trials;
    into->controls += from->controls;
    into->control_ns += from->control_ns;
    into->chosen_ns += from->chosen_ns;
    into->gain_ns = (int64_t)((uint64_t)into->gain_ns + (uint64_t)from->gain_ns);
    for (uint32_t i = 0; i < from->size_count; i++)
        job_region_add_size(into, from->size[i].size, from->size[i].count, from->size[i].ns);
}

static struct job_region *find(struct job_region *r, uint32_t count, uint32_t callsite)
{
    for (uint32_t i = 0; i < count; i++)
        if (r[i].callsite == callsite)
            return &r[i];
    return NULL;
}

const struct job_region *job_find_region(const struct job *j, uint32_t callsite)
{
    return find(j->regions, j->region_count, callsite);
}

int job_add_region(struct job *j, const struct job_region *r)
{
    struct job_region *own = find(j->regions, j->region_count, r->callsite);
    if (own) {
        region_add(own, r);
        return 0;
    }
    int error = base_array_room(&j->regions, &j->index->region_room, (uint64_t)j->region_count + 1, sizeof *j->regions);
    if (!error)
        j->regions[j->region_count++] = *r;
    return error;
}

bool job_region_check(const struct job *j, const struct job_region *r)
{
    if (r->callsite >= j->callsite_count || j->callsites[r->callsite].count != 1 || r->size_count > JOB_REGION_SIZES ||
        r->fixed >> JOB_FIXED_REASONS || job_proof_reason(r->proof) >= JOB_PROOFS)
        return false;
    if (r->where != GRAMMAR_NONE && (r->where >= j->callsite_count || j->callsites[r->where].count != 1))
        return false;
    for (uint32_t k = 1; k < r->size_count; k++)
        if (r->size[k].size <= r->size[k - 1].size)
            return false;
    return true;
}
