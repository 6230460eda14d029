/* SPDX-License-Identifier: MIT */
#include "omp/hooks.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/energy.h"
#include "base/fpu.h"
#include "include/pythia.h"
#include "libgomp/real.h"
#include "omp/shares.h"
#include "omp/site.h"
#include "omp/team.h"
#include "session/ask.h"
#include "session/life.h"
#include "session/memo.h"
#include "session/site.h"
#include "teams/account.h"

_Thread_local struct omp_hook_thread omp_hook_thread __attribute__((tls_model("initial-exec")));

/* Compared by pointer, as session_key wants it. */
static const char region_name[] = "omp parallel";
static const char league_name[] = "omp teams";

/* Threads that libgomp will take (gomp_resolve_num_threads), 0 where that depends on what others do. */
static uint32_t team_size(const struct libgomp_real *real, const struct omp_hook_thread *t, unsigned nt)
{
    if (nt == 1)
        return 1;
    if (real->omp_get_dynamic())
        return 0;
    int active = t->depth ? real->omp_get_active_level() : 0, limit = real->omp_get_thread_limit();
    if (active >= real->omp_get_max_active_levels())
        return 1;
    if (active > 0 && limit != INT_MAX) /* shared with the teams around */
        return 0;
    uint32_t size = nt ? nt : (uint32_t)real->omp_get_max_threads();
    return size < (uint32_t)limit ? size : (uint32_t)limit;
}

struct session_stream *omp_hook_enter(const struct omp_hook_thread *t, struct base_frame frame)
{
    /* A worker, or inside a region that was not seen: nothing that happens here belongs to a stream of ours. */
    if ((uint32_t)libgomp_real()->omp_get_level() + t->direct != t->depth)
        return NULL;
    struct session_stream *s = session_enter_region(frame);
    if (__builtin_expect(s != NULL, 1))
        return s;
    bool starts = session_mode() == SESSION_OFF && session_start_alone();
    return starts ? session_enter_region(frame) : NULL;
}

/* The session's name of a region that is like the last one from its place (session/memo.h). */
static const void *again_name(void (*fn)(void *))
{
    return (const void *)(uintptr_t)fn;
}

static void begin_span(struct omp_hook_region *r, bool outermost)
{
    uint32_t unknown = GRAMMAR_NONE, *entry = r->site ? &r->site->entry : &unknown;
    struct session_site at = session_site_at(r->stream, r->frame);
    struct session_memo *memo = NULL;
    session_begin_region(r->stream, &r->span, r->traits & OMP_HOOK_LEAGUE ? league_name : region_name, (uintptr_t)r->fn,
                         at.path, entry, r);
    if (outermost && r->site && !r->traits && !r->verify && session_thread(r->stream) == 0 && !base_energy_known())
        memo = session_memo_of(r->stream, at.slot, *entry, at.path);
    if (!memo)
        return;
    memo->of = r->site;
    memo->what = again_name(r->fn);
}

/* A region that was left by a jump is on no stack any more. How deep the thread is stays: libgomp, too, takes it to be
   inside still. */
void omp_hook_look_back(struct omp_hook_thread *t, struct base_frame here)
{
    if (t->region)
        t->region = session_owner(here);
}

/* libgomp ends threads that an outermost team does not need. A team of one leaves them alone. */
static void note_pool(struct omp_hook_thread *t, const struct omp_hook_region *r)
{
    uint32_t size = r->shared ? r->nt : r->program;
    if (t->depth == 0 && !r->direct && size != 1 && !(r->traits & OMP_HOOK_LEAGUE))
        t->pool = size ? size : UINT32_MAX;
}

static inline __attribute__((always_inline)) void push(struct omp_hook_thread *t, struct omp_hook_region *r)
{
    note_pool(t, r);
    r->outer = t->region;
    t->region = r;
    if (r->traits & OMP_HOOK_LEAGUE)
        t->kept++;
    else
        t->depth++;
    t->lowered += r->lowered;
    t->direct += r->direct;
    t->alone += r->program == 1;
}

static void pop(struct omp_hook_thread *t, const struct omp_hook_region *r)
{
    t->region = r->outer;
    if (r->traits & OMP_HOOK_LEAGUE)
        t->kept--;
    else
        t->depth--;
    t->lowered -= r->lowered;
    t->direct -= r->direct;
    t->alone -= r->program == 1;
}

/* --- How its threads spend their time --- */

/* Threads that the program asks for, whatever it gets. */
static uint32_t threads_asked(unsigned nt)
{
    return nt ? nt : (uint32_t)libgomp_real()->omp_get_max_threads();
}

static void look_inside(struct omp_hook_region *r)
{
    r->run = omp_hook_team_run;
    r->argument = r;
    if (r->verify)
        r->timed = teams_team_begin(r->span.begin, threads_asked(r->asked));
}

/* A region inside one whose threads are timed: so are its own, wherever it was entered. */
static void look_inside_nested(struct omp_hook_region *r, uint32_t traits)
{
    const struct libgomp_real *real = libgomp_real();
    if (r->nt == 1 || traits & (OMP_HOOK_DIRECT | OMP_HOOK_LEAGUE) ||
        real->omp_get_active_level() >= real->omp_get_max_active_levels())
        return;
    r->timed = teams_share_leave(base_clock_now(), threads_asked(r->nt), &r->share);
    if (!r->timed)
        return;
    r->nested = true;
    r->run = omp_hook_team_run;
    r->argument = r;
}

struct teams_account omp_hook_others;

/* In a region of so many ns: more is none, the recording began anew meanwhile. */
static uint64_t calls_since(const struct session_stream *s, uint64_t calls, uint64_t ns)
{
    uint64_t mpi = session_call_ns(s) - calls;
    return mpi < ns ? mpi : 0;
}

void omp_hook_account(struct teams_account *a, struct session_stream *s, struct teams_team *timed,
                      const struct omp_hook_times *t, uint32_t team)
{
    uint64_t ns = t->end - t->begin, mpi = calls_since(s, t->calls, ns);
    team = team ? team : 1;
    if (!timed) {
        if (a)
            teams_account_add(a, ns, mpi, team);
        return;
    }
    struct job_threads threads = { 0 };
    teams_team_end(timed, t->end, team, &threads);
    if (a) {
        teams_account_timed(a, ns, mpi, &threads);
        session_threads_add(s, &threads);
    }
}

/* Those of threads that are not the process's first are nobody's. */
static void account(struct omp_hook_region *r, bool counts)
{
    const struct omp_hook_times times = { r->span.begin, r->end, r->span.calls };
    struct teams_account *a = r->site ? &r->site->account : &omp_hook_others;
    omp_hook_account(counts ? a : NULL, r->stream, r->timed, &times, r->team);
}

/* Counters are updated every ms and cost 1 us to read: for regions that take 5 ms and more on average. */
static bool worth_measuring(const struct omp_hook_site *site)
{
    enum { LONG_NS = 5000000 };
    uint64_t ns = 0, count = 0;
    for (uint32_t i = 0; i < site->stats.size_count; i++) {
        ns += site->stats.size[i].ns;
        count += site->stats.size[i].count;
    }
    return count > 0 && ns / count >= LONG_NS;
}

static void measure_energy(const struct omp_hook_region *r)
{
    static atomic_int number; /* of the sum, + 1; negative: there is no room for it */
    int sum = atomic_load_explicit(&number, memory_order_relaxed);
    if (sum == 0) {
        sum = session_sum_define("energy_uj") + 1;
        atomic_store_explicit(&number, sum > 0 ? sum : -1, memory_order_relaxed);
    }
    if (sum > 0)
        session_sum_add(r->stream, r->span.entry, sum - 1, base_energy_now() + 1 - r->energy, 1);
}

/* The program said where this team is to run. What libgomp reads itself is not wrapped. */
static void place(struct omp_hook_region *r, uint32_t traits)
{
    struct places_wish wish;
    if (!places_take(&places_team, &wish) || (traits & OMP_HOOK_DIRECT))
        return;
    r->placed = (struct places_run){ r->run, r->argument, wish };
    r->run = places_run;
    r->argument = &r->placed;
    r->direct = false;
}

static inline void region_start(struct omp_hook_region *r, void (*fn)(void *), void *data, unsigned nt)
{
    r->fn = fn;
    r->run = r->body;
    r->data = r->argument = data;
    r->nt = nt;
    r->acts = r->may = r->lowered = r->shared = r->direct = r->verify = r->nested = r->set = false;
    r->again = r->told = false; /* in one store */
    r->timed = NULL;
}

/* An outermost region like the last one from its place, whose team stays: it begins. */
static __attribute__((noinline)) bool region_again(struct omp_hook_region *r, void (*fn)(void *), void *data,
                                                   unsigned nt, struct base_frame frame)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    if (t->depth || t->region || teams_share_timed() || places_team.kind)
        return false;
    const struct session_memo *memo = session_memo_find(again_name(fn), frame.at);
    const struct libgomp_real *real = &libgomp_real_table; /* of a memo it is known */
    if (!memo || real->omp_get_level())
        return false;
    uint32_t team = team_size(real, t, nt);
    r->site = (struct omp_hook_site *)memo->of;
    if (!team || !omp_hook_team_again(r->site, team))
        return false;
    region_start(r, fn, data, nt);
    r->stream = memo->stream;
    r->traits = 0;
    r->asked = nt;
    r->team = r->program = team;
    r->again = true;
    push(t, r);
    session_memo_open(memo, frame, &r->span, r);
    if (omp_hook_team_passes(team)) {
        base_fpu_t kept = base_fpu_hold();
        omp_hook_team_pass(r->site, team, r->span.begin - session_call_ns(r->stream));
        base_fpu_give_back(kept);
    }
    return true;
}

static void region_open(struct omp_hook_region *r, void (*fn)(void *), void *data, unsigned nt, unsigned flags,
                        uint32_t traits, struct base_frame frame)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    omp_hook_look_back(t, frame);
    /* Inside a lowered region one thread is what the program's own nested regions would get. */
    region_start(r, fn, data, t->lowered ? 1 : nt);
    r->stream = omp_hook_enter(t, frame);
    if (teams_share_timed() && teams_share_runs())
        look_inside_nested(r, traits);
    if (!r->stream)
        return;
    r->traits = traits;
    r->frame = frame;
    r->asked = nt;
    r->site = NULL;
    r->program = traits & OMP_HOOK_LEAGUE ? 0 : team_size(libgomp_real(), t, r->nt);
    r->flags = flags;
    if (t->depth == t->alone && !omp_shares_inside(frame))
        omp_hook_team_prepare(r);
    begin_span(r, t->depth == 0);
    if (r->acts) {
        base_fpu_t kept = base_fpu_hold();
        omp_hook_team_choose(r);
        base_fpu_give_back(kept);
    }
    r->team = r->nt == r->asked ? r->program : r->nt;
    push(t, r);
    if (r->shared) {
        r->run = omp_hook_team_run;
        r->argument = r;
    }
    if (!r->nested && !(traits & OMP_HOOK_DIRECT) && (r->team == 0 || (r->verify && r->team > 1)))
        look_inside(r);
    place(r, traits);
    r->energy = r->site && base_energy_known() && worth_measuring(r->site) ? base_energy_now() + 1 : 0;
}

/* errno is the program's: what a first sight does to it, and restoring control variables, shows nowhere. */
static void region_begin(struct omp_hook_region *r, void (*fn)(void *), void *data, unsigned nt, unsigned flags,
                         uint32_t traits, struct base_frame frame)
{
    int kept = errno;
    region_open(r, fn, data, nt, flags, traits, frame);
    errno = kept;
}

/* --- What a region sets for itself --- */

void omp_hook_save_icv(struct base_frame here)
{
    const struct libgomp_real *real = libgomp_real();
    omp_hook_look_back(&omp_hook_thread, here);
    struct omp_hook_region *r = omp_hook_thread.region;
    if (!r || !r->direct || r->set)
        return;
    r->set = true;
    r->icv.threads = real->omp_get_max_threads();
    r->icv.dynamic = real->omp_get_dynamic();
    r->icv.levels = real->omp_get_max_active_levels();
    real->omp_get_schedule(&r->icv.schedule, &r->icv.chunk);
}

static void restore_icv(const struct omp_hook_icv *icv)
{
    const struct libgomp_real *real = libgomp_real();
    real->omp_set_num_threads(icv->threads);
    real->omp_set_dynamic(icv->dynamic);
    real->omp_set_max_active_levels(icv->levels);
    real->omp_set_schedule(icv->schedule, icv->chunk);
}

static void region_close(struct omp_hook_region *r)
{
    struct omp_hook_thread *t = &omp_hook_thread;
    struct grammar_event event;
    double gain = 0;
    if (r->nested) {
        teams_share_return(&r->share, r->timed, base_clock_now(), r->team);
        r->timed = NULL;
    }
    if (!r->stream)
        return;
    r->end = base_clock_now();
    pop(t, r);
    if (r->set)
        restore_icv(&r->icv);
    if (r->site)
        gain = omp_hook_team_learn(r);
    if (r->energy)
        measure_energy(r);
    bool outermost = t->depth == 0 && !(r->traits & OMP_HOOK_LEAGUE);
    if (outermost || r->timed)
        account(r, outermost && session_thread(r->stream) == 0);
    event.channels = r->team ? 1u << GRAMMAR_TEAM : 0;
    event.value[GRAMMAR_TEAM] = r->team;
    session_end_at(r->stream, &r->span, &event, r->end, 0);
    if (r->nt != r->asked && r->acts)
        session_count_action(r->stream, gain);
}

/* Of a region that was like the last one. What is called here keeps errno. */
static void region_close_again(struct omp_hook_region *r)
{
    struct omp_hook_site *site = r->site;
    struct grammar_event event;
    uint64_t end = base_clock_now(), ns = end - r->span.begin;
    pop(&omp_hook_thread, r);
    event.channels = 1u << GRAMMAR_TEAM;
    event.value[GRAMMAR_TEAM] = r->team;
    bool contains = session_end_at(r->stream, &r->span, &event, end, 0);
    omp_hook_team_ran(site, contains);
    teams_account_add(&site->account, ns, contains ? calls_since(r->stream, r->span.calls, ns) : 0, r->team);
}

static void region_end(struct omp_hook_region *r)
{
    if (r->again) {
        region_close_again(r);
        return;
    }
    int kept = errno;
    region_close(r);
    errno = kept;
}

void omp_hook_region_begin(struct omp_hook_region *r, void (*fn)(void *), void *data, unsigned nt, unsigned flags,
                           uint32_t traits, struct base_frame frame)
{
    if (traits || !region_again(r, fn, data, nt, frame))
        region_begin(r, fn, data, nt, flags, traits, frame);
}

void omp_hook_region_end(struct omp_hook_region *r)
{
    region_end(r);
}

#define OMP_HOOK_REGION(name, parameters, work, arguments)                                \
    PYTHIA_API void name parameters;                                                      \
    void name parameters                                                                  \
    {                                                                                     \
        struct omp_hook_region r;                                                         \
        r.body = fn;                                                                      \
        if (!region_again(&r, fn, data, nt, base_frame_here()))                           \
            region_begin(&r, fn, data, nt, flags, 0, base_frame_here());                  \
        if (r.shared) {                                                                   \
            r.loop = work;                                                                \
            omp_shares_run(&r);                                                           \
        } else {                                                                          \
            libgomp_real()->name arguments;                                               \
        }                                                                                 \
        region_end(&r);                                                                   \
    }
#define NO_LOOP ((struct omp_hook_loop){ .schedule = OMP_HOOK_NO_LOOP })
#define SECTIONS(count) omp_constructs_loop(OMP_HOOK_DYNAMIC, true, 1, (count) + 1ull, 1, 1, (count) > 0)
#define LOOP(schedule, chunk)                                                                             \
    omp_constructs_loop(schedule, incr > 0, (uint64_t)start, (uint64_t)end, (uint64_t)incr, (uint64_t)(chunk), \
                        incr > 0 ? start < end : start > end)

#include "libgomp/gomp_calls.def"

/* libgomp reads the reductions from *data, so that data must stay what it is; but it tells the size of the team. */
PYTHIA_API unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned nt, unsigned flags);
unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned nt, unsigned flags)
{
    struct omp_hook_region r = { .body = fn };
    region_begin(&r, fn, data, nt, flags, OMP_HOOK_DIRECT, base_frame_here());
    unsigned team = libgomp_real()->GOMP_parallel_reductions(fn, data, r.nt, flags);
    r.team = team;
    region_end(&r);
    return team;
}

PYTHIA_API void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned teams, unsigned limit, unsigned flags);
void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned teams, unsigned limit, unsigned flags)
{
    struct omp_hook_region r = { .body = fn };
    region_begin(&r, fn, data, 0, flags, OMP_HOOK_DIRECT | OMP_HOOK_LEAGUE, base_frame_here());
    libgomp_real()->GOMP_teams_reg(fn, data, teams, limit, flags);
    region_end(&r);
}

static void own_parallel(void (*fn)(void *), void *data, unsigned nt, unsigned flags)
    __attribute__((alias("GOMP_parallel")));

void *omp_hook_own_parallel(void)
{
    void (*own)(void (*)(void *), void *, unsigned, unsigned) = own_parallel;
    void *address;
    memcpy(&address, &own, sizeof address);
    return address;
}
