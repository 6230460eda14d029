/* SPDX-License-Identifier: MIT */
#include "omp/site.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/fpu.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/modules.h"
#include "libgomp/safe.h"
#include "omp/team.h"
#include "session/ask.h"

enum { SITES = 512 }; /* a power of two */

/* Apart from the sites, which stand side by side: each page that is touched first costs up to some us. */
static struct slot { atomic_uintptr_t fn; struct omp_hook_site *site; } slots[SITES];
static struct omp_hook_site sites[SITES];
static uint32_t site_count;

void omp_hook_site_fix(struct omp_hook_site *site, uint32_t reason)
{
    uint64_t offset;
    int kept = errno;
    if (site->stats.fixed & reason)
        return;
    site->stats.fixed |= reason;
    uint32_t module = base_modules_find((void *)site->fn, &offset);
    base_log_debug("omp: region at offset 0x%llx of module %u keeps its team: %s", (unsigned long long)offset, module,
                   job_fixed_text(reason));
    errno = kept;
}

/* Times that it knows, where the program asks for as many threads as then. */
static void take_times(struct teams_times *times, const struct job_region *recorded, uint32_t own)
{
    for (uint32_t i = 0; i < recorded->size_count && recorded->team == own; i++) {
        const struct job_region_size *s = &recorded->size[i];
        enum teams_size size = s->size == own ? TEAMS_OWN : s->size == 1 ? TEAMS_ONE : TEAMS_SIZES;
        if (size != TEAMS_SIZES && s->count)
            times->time[size] = (float)((double)s->ns / (double)s->count);
    }
}

/* What the reference knows: what showed, and what reading its code said. */
static void take_reference(struct omp_hook_site *site, uint32_t own)
{
    enum { SHOWN = JOB_FIXED_CALLS | JOB_FIXED_TASKS };
    struct job_region recorded;
    uint64_t where;
    if (session_region(site->fn, &recorded, &where))
        return;
    for (uint32_t bit = 1; bit < 1u << JOB_FIXED_REASONS; bit <<= 1)
        if (recorded.fixed & SHOWN & bit)
            omp_hook_site_fix(site, bit);
    take_times(&site->choice.times, &recorded, own);
    teams_safety_know(site->proof, recorded.proof, (uintptr_t)where, recorded.proof_ns);
}

/* What holds for a site before it ever ran. A handler of the program's may have jumped out of this before
   (siglongjmp). */
static void site_start(struct omp_hook_site *site, const struct omp_hook_region *r)
{
    *site = (struct omp_hook_site){.fn = (uintptr_t)r->fn};
    site->entry = GRAMMAR_NONE;
    enum libgomp_listed listed =
        libgomp_safe_named(session_kept(), (uintptr_t)r->fn, libgomp_safe_function(r->frame.word - 1));
    site->allowed = listed == LIBGOMP_ALLOWED;
    if (listed == LIBGOMP_DENIED)
        omp_hook_site_fix(site, JOB_FIXED_LISTED);
    site->thread_data = libgomp_safe_module_has_tls((uintptr_t)r->fn);
    site->proof = teams_safety_of((uintptr_t)r->fn, TEAMS_REGION);
    take_reference(site, r->program);
}

void omp_hook_site_ask(struct omp_hook_site *site)
{
    base_fpu_t kept = base_fpu_hold();
    site->asked = true;
    teams_safety_ask(site->proof);
    base_fpu_give_back(kept);
}

bool omp_hook_site_may_change(const struct omp_hook_site *site)
{
    return !site->stats.fixed &&
           (site->allowed || job_proof_reason(teams_safety_answer(site->proof)) == JOB_PROOF_HARMLESS);
}

struct omp_hook_site *omp_hook_site_find(const struct omp_hook_region *r)
{
    bool claimed = false;
    struct slot *slot = base_fixed_find(slots, sizeof *slots, SITES, SITES / 2, (uintptr_t)r->fn, &claimed);
    if (__builtin_expect(slot && !slot->site && site_count < SITES, 0)) {
        struct omp_hook_site *site = &sites[site_count];
        base_fpu_t kept = base_fpu_hold();
        site_start(site, r);
        site_count++;
        slot->site = site;
        base_fpu_give_back(kept);
    }
    return slot ? slot->site : NULL;
}

void omp_hook_site_count(uint32_t *count, uint32_t *kept)
{
    *count = site_count;
    *kept = 0;
    for (uint32_t i = 0; i < site_count; i++)
        *kept += !omp_hook_site_may_change(&sites[i]);
}

struct omp_hook_site *omp_hook_site_next(uint32_t *place)
{
    return *place < site_count ? &sites[(*place)++] : NULL;
}
