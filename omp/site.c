/* SPDX-License-Identifier: MIT */
#include "omp/site.h"

#include "base/fpu.h"
#include "base/log.h"
#include "base/modules.h"
#include "base/options.h"
#include "omp/ask.h"
#include "libgomp/safe.h"

enum { SITES = 512, STARTS = 512 }; /* powers of two */

static struct omp_hook_site sites[SITES];

/* Where regions are entered from: a return address, the function that it is in, and whether that asked, as of `epoch`. Several
   places enter one region where the function around it was inlined. */
static struct start {
    struct omp_hook_site *site; /* NULL: free */
    uintptr_t caller, function;
    uint32_t epoch;
    bool asked;
} starts[STARTS];

static uint32_t site_count, kept_count;

static uint32_t slot_of(void (*fn)(void *))
{
    return (uint32_t)(((uintptr_t)fn >> 2) * 0x9e3779b97f4a7c15u >> 32) % SITES;
}

void omp_hook_site_keep(struct omp_hook_site *site, uint32_t reason)
{
    uint64_t offset;
    if (site->stats.keep & reason)
        return;
    kept_count += site->stats.keep == 0;
    site->stats.keep |= reason;
    uint32_t module = base_modules_find((void *)(uintptr_t)site->fn, &offset);
    base_log_debug("omp: region at offset 0x%llx of module %u keeps its team: %s", (unsigned long long)offset, module,
                   job_keep_text(reason));
}

/* Once a rank, and short. */
static bool prepares(const struct job_region *recorded)
{
    enum { SHORT_NS = 10000000 };
    uint64_t ns = 0;
    for (uint32_t i = 0; i < recorded->size_count; i++)
        ns += recorded->size[i].ns;
    return recorded->executions <= session_ranks() && ns <= recorded->executions * SHORT_NS;
}

/* Whether its module makes tasks, or lets some go on. */
static bool makes_tasks(uintptr_t function)
{
    static const char *const calls[] = { "GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull", "omp_fulfill_event" };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (libgomp_safe_module_calls(function, calls[i]))
            return true;
    return false;
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

/* What the reference knows: that it ran at the program's size and nothing showed, or what did. */
static void take_reference(struct omp_hook_site *site, uint32_t own)
{
    enum { SHOWN = JOB_KEEP_ASKED_INSIDE | JOB_KEEP_NUMBERS | JOB_KEEP_CALLS | JOB_KEEP_TASKS };
    struct job_region recorded;
    if (session_region((uint64_t)(uintptr_t)site->fn, &recorded))
        return;
    uint32_t shown = recorded.keep & (site->allowed ? SHOWN & ~(uint32_t)JOB_KEEP_NUMBERS : SHOWN);
    for (uint32_t bit = 1; bit < 1u << JOB_KEEP_REASONS; bit <<= 1)
        if (shown & bit)
            omp_hook_site_keep(site, bit);
    take_times(&site->choice.times, &recorded, own);
    site->known = recorded.verified > 0 && !prepares(&recorded);
}

/* What holds for a site before it ever ran. */
static void site_start(struct omp_hook_site *site, const struct omp_hook_region *r)
{
    struct pythia_options options;
    base_options_load(&options);
    site->fn = r->fn;
    site->entry = GRAMMAR_NONE;
    site_count++;
    enum libgomp_listed listed =
        libgomp_safe_named(options.omp_keep, (uintptr_t)r->fn, omp_hook_function((uintptr_t)r->caller - 1));
    site->allowed = listed == LIBGOMP_ALLOWED;
    if (listed == LIBGOMP_DENIED)
        omp_hook_site_keep(site, JOB_KEEP_LISTED);
    site->tasks = makes_tasks((uintptr_t)r->fn);
    if (!site->allowed && libgomp_safe_module_has_tls((uintptr_t)r->fn))
        omp_hook_site_keep(site, JOB_KEEP_TLS);
    take_reference(site, r->program);
}

static __attribute__((noinline)) struct omp_hook_site *site_search(const struct omp_hook_region *r, uint32_t slot)
{
    for (uint32_t i = 0; i < SITES / 2; i++, slot = (slot + 1) % SITES) {
        if (sites[slot].fn == r->fn)
            return &sites[slot];
        if (!sites[slot].fn) {
            base_fpu_t kept = base_fpu_hold();
            site_start(&sites[slot], r);
            base_fpu_give_back(kept);
            return &sites[slot];
        }
    }
    return NULL;
}

struct omp_hook_site *omp_hook_site_find(const struct omp_hook_region *r)
{
    uint32_t slot = slot_of(r->fn);
    return __builtin_expect(sites[slot].fn == r->fn, 1) ? &sites[slot] : site_search(r, slot);
}

/* The function of a caller is looked up by the unwinder's tables: 1 us and system calls. */
static struct start *start_of(struct omp_hook_site *site, uintptr_t caller)
{
    struct start *s = &starts[(caller * 0x9e3779b97f4a7c15u >> 40) % STARTS];
    if (__builtin_expect(s->caller == caller && s->site == site, 1))
        return s;
    *s = (struct start){ .site = site, .caller = caller, .function = omp_hook_function(caller - 1) };
    if (s->function)
        omp_hook_ask_starts_region(s->function);
    s->epoch = omp_hook_ask_epoch() - 1;
    return s;
}

bool omp_hook_site_asked(struct omp_hook_site *site, uintptr_t caller)
{
    struct start *s = start_of(site, caller);
    uint32_t epoch = omp_hook_ask_epoch();
    if (s->epoch == epoch)
        return s->asked;
    s->epoch = epoch;
    s->asked = !site->allowed && (!s->function || omp_hook_ask_did(s->function) || omp_hook_ask_did((uintptr_t)site->fn));
    if (s->asked && !(site->stats.keep & JOB_KEEP_ASKED))
        omp_hook_site_keep(site, JOB_KEEP_ASKED);
    return s->asked;
}

void omp_hook_site_count(uint32_t *count, uint32_t *kept)
{
    *count = site_count;
    *kept = kept_count;
}

const struct omp_hook_site *omp_hook_site_next(uint32_t *place)
{
    while (*place < SITES)
        if (sites[(*place)++].fn)
            return &sites[*place - 1];
    return NULL;
}
