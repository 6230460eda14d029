/* SPDX-License-Identifier: MIT */
#include "file/regions.h"

#include <string.h>

#include "file/format.h"

enum { REGION_WORDS = 13 };

static uint64_t *const *words_of(struct job_region *r, uint64_t *words[REGION_WORDS])
{
    uint64_t *const all[REGION_WORDS] = { &r->executions, &r->verified,   &r->changed,   &r->trials,
                                          &r->controls,   &r->control_ns, &r->chosen_ns, (uint64_t *)&r->gain_ns,
                                          &r->samples,    &r->fork_ns,    &r->work_ns,   &r->wait_ns,
                                          &r->join_ns };
    memcpy(words, all, sizeof all);
    return words;
}

void file_region_pack(const struct job_region *region, unsigned char *at)
{
    struct job_region r = *region;
    uint64_t *words[REGION_WORDS];
    file_put32(at, r.callsite);
    file_put32(at + 4, r.team);
    file_put32(at + 8, r.keep);
    file_put32(at + 12, r.size_count);
    words_of(&r, words);
    for (int i = 0; i < REGION_WORDS; i++)
        file_put64(at + 16 + 8 * i, *words[i]);
    at += 16 + 8 * REGION_WORDS;
    unsigned char *proof = at + 24 * JOB_REGION_SIZES;
    file_put32(proof, r.proof);
    file_put32(proof + 4, r.where);
    file_put64(proof + 8, r.proof_ns);
    for (uint32_t i = 0; i < r.size_count; i++, at += 24) {
        file_put64(at, r.size[i].size);
        file_put64(at + 8, r.size[i].count);
        file_put64(at + 16, r.size[i].ns);
    }
}

void file_region_unpack(const unsigned char *at, struct job_region *r)
{
    uint64_t *words[REGION_WORDS];
    memset(r, 0, sizeof *r);
    r->callsite = file_get32(at);
    r->team = file_get32(at + 4);
    r->keep = file_get32(at + 8);
    r->size_count = file_get32(at + 12);
    words_of(r, words);
    for (int i = 0; i < REGION_WORDS; i++)
        *words[i] = file_get64(at + 16 + 8 * i);
    at += 16 + 8 * REGION_WORDS;
    const unsigned char *proof = at + 24 * JOB_REGION_SIZES;
    r->proof = file_get32(proof);
    r->where = file_get32(proof + 4);
    r->proof_ns = file_get64(proof + 8);
    for (uint32_t i = 0; i < JOB_REGION_SIZES; i++, at += 24) {
        r->size[i].size = file_get32(at);
        r->size[i].count = file_get64(at + 8);
        r->size[i].ns = file_get64(at + 16);
    }
}
