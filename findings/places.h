/* SPDX-License-Identifier: MIT */
/*
 * What the program's files say of a job's addresses (job/places.h): read from them, or found in the job.
 *
 * Cost: of each function that is read some us, of each address that is named about 10 us; of a module with debug
 * information once about a millisecond.
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>

#include "job/job.h"

/* Whether the job has all places of its paths. */
bool findings_places_known(const struct job *j);
/* Reads them, without names; `made` is zeroed before, the caller's after (findings_places_free). False: it took more
   than `limit` ns of the processor, 0: as long as it takes. */
bool findings_places_read(const struct job *j, uint64_t limit, struct job_places *made);
void findings_places_free(struct job_places *p);
/* Reads and names them, and puts them into the job. False: it has them, or nothing can be read, or no more than
   `limit`, as above; then it stays as it was. */
bool findings_places_keep(struct job *j, uint64_t limit);

/* The place of an address; of an entry (kind JOB_PLACE_ENTRY) also that of a loop. NULL: there is none. */
const struct job_place *findings_places_find(const struct job_places *p, uint32_t module, uint64_t offset,
                                             enum job_place_kind kind);
/* Where a sample lies; NULL: the job does not have it. */
const struct job_spot *findings_places_spot(const struct job *j, uint32_t module, uint64_t offset);
/* Whether both are in one function whose code was read. */
static inline bool findings_places_share(const struct job_place *a, const struct job_place *b)
{
    return a->code && a->code == b->code && a->module == b->module;
}
/* Whether there is a way from one to the other. */
bool findings_places_lead(const struct job_places *p, const struct job_place *from, const struct job_place *to);
