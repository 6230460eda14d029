/* SPDX-License-Identifier: MIT */
#include "job/schema.h"

#include <string.h>

const char *job_fixed_text(uint32_t bit)
{
    static const char *const texts[JOB_FIXED_REASONS] = {
        "PYTHIA_OMP_KEEP names it",
        "calls or regions inside",
        "its team is not what was to be expected",
        "it has a num_threads clause",
        "it has a proc_bind clause",
        "a league of teams or a target region, inside one, or after one (libomp)",
        "more than one level is active",
        "it creates tasks",
        "its team is as large as it has sections",
        "the environment asks for cancellation, or changes how libomp works",
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

void job_region_join(void *x, const void *y)
{
    struct job_region *into = x;
    const struct job_region *from = y;
    if (job_proof_reason(from->proof) > job_proof_reason(into->proof)) { /* ranks of the same program differ only where
                                                                            one could not read it */
        into->proof = from->proof;
        into->where = from->where;
    }
    into->fixed |= from->fixed;
    for (uint32_t i = 0; i < from->size_count; i++)
        job_region_add_size(into, from->size[i].size, from->size[i].count, from->size[i].ns);
}

const struct job_region *job_find_region(const struct job *j, uint32_t callsite)
{
    return job_rows_find(j, JOB_TABLE_REGIONS, &(struct job_region){ .callsite = callsite });
}

int job_add_region(struct job *j, const struct job_region *r)
{
    return job_rows_add(j, JOB_TABLE_REGIONS, r);
}
