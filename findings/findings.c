/* SPDX-License-Identifier: MIT */
#include "findings/findings.h"
#include "findings/hardware.h"
#include "findings/placement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/must.h"
#include "base/order.h"
#include "findings/parts.h"
#include "findings/ranges.h"
#include "job/ranges.h"
#include "job/threads.h"

static const struct { const char *name, *words, *advice; } kinds[FINDING_KINDS] = {
    { "late_sender", "late sender", "send earlier, or overlap" },
    { "late_receiver", "late receiver", "post the receive earlier" },
    { "imbalance", "imbalance", "give these ranks less work" },
    { "moving_imbalance", "imbalance that moves", "wait less often, or share work" },
    { "serial_chain", "serial chain", "break the chain: pipeline it" },
    { "starved_workers", "starved workers", "larger tasks, more masters" },
    { "waiting_master", "master waits", "let the master work, too" },
    { "small_regions", "small regions", "merge small regions, or if clause" },
    { "uneven_threads", "uneven threads", "schedule(dynamic)" },
    { "serial_part", "serial part", "make the serial part parallel" },
    { "many_small_messages", "many small messages", "fewer, larger messages" },
    { "io", "I/O", "fewer, larger accesses" },
    { "communicators", "making communicators", "make them once" },
    { "start_and_end", "MPI_Finalize", "" },
    { "ended_early", "ranks that ended early", "" },
    { "idle_ranks", "idle ranks wait", "give them work, or start fewer" },
    { "transfer", "transfer", "fewer messages, or overlap" },
    { "no_processor", "perhaps no processor", "try fewer ranks or threads a node" },
    { "threads_wait", "threads wait for each other", "smaller critical sections" },
    { "fork_and_join", "fork and join", "larger regions" },
    { "other_threads", "other threads in MPI", "" },
    { "unfinished", "did not end", "" },
    { "not_explained", "not explained", "" },
};

const char *finding_name(enum finding_kind k)
{
    return kinds[k].name;
}

const char *finding_words(enum finding_kind k)
{
    return kinds[k].words;
}

static bool in_call(const struct report *r, const struct finding *one, const char *part)
{
    return strstr(job_text(r->job, r->job->terminals[one->call].function), part) != NULL;
}

/* Processors of the first rank's node; 0: not known. Of jobs without hwloc's XML from the lines of its machine ("2 x
   package", "3 to 4 x core"). */
static double read_processors(const struct job *j)
{
    const char *line = j->machine.present && j->machine.tree != GRAMMAR_NONE ? job_text(j, j->machine.tree) : "";
    struct findings_hardware h;
    bool known = findings_hardware_of(j, &h);
    double all = known ? CPU_COUNT(&h.all) : *line ? 1 : 0;

    for (; !known && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "") {
        unsigned n = 1;
        if (sscanf(line, " %*u to %u x", &n) == 1 || sscanf(line, " %u x", &n) == 1)
            all *= n;
    }
    findings_hardware_free(&h);
    return all;
}

static double processors(struct report *r)
{
    if (!r->asked)
        r->processors = read_processors(r->job);
    r->asked = true;
    return r->processors;
}

/* Whether the job has more threads than a node has processors: the same in each run, whoever else was there. */
static bool crowded(struct report *r)
{
    const struct findings_efficiency *e = &r->model->efficiency;
    double nodes = e->nodes > 1 ? e->nodes : 1, have = processors(r);

    return have > 0 && r->job->info.ranks * (double)e->threads > nodes * have;
}

/* Whether some rank makes the call more than once: else there is none to be left out, or put together. */
static bool repeats(const struct report *r, const struct finding *one)
{
    return one->call < r->job->terminal_count && findings_site_of(r->model, one->call)->count > r->job->info.ranks;
}

/* As measured, else by how many threads there are. */
static const char *who_had_processors(struct report *r)
{
    struct findings_crowd crowd = findings_crowd_of(r);
    const char *text = findings_crowd_text(&crowd);

    if (crowd.known)
        return text ? text : "not by its threads or others: look at other threads of its processes";
    return processors(r) > 0 && !crowded(r) ? "others used the processors" : kinds[FINDINGS_NO_PROCESSOR].advice;
}

const char *finding_advice(struct report *r, const struct finding *one)
{
    if (one->seconds < LEAST_ADVICE || r->model->efficiency.elsewhere) /* what looks like work may wait */
        return "";
    if ((one->kind == FINDINGS_COMMUNICATORS || one->kind == FINDINGS_IO) && !repeats(r, one))
        return "";
    if ((one->kind == FINDINGS_UNEVEN_THREADS || one->kind == FINDINGS_SMALL_REGIONS) && crowded(r))
        return "fewer threads: there are more than processors";
    if (one->kind == FINDINGS_NO_PROCESSOR)
        return who_had_processors(r);
    if (one->kind == FINDINGS_LATE_RECEIVER && in_call(r, one, "endrecv"))
        return "receive with MPI_Irecv before";
    if (one->kind == FINDINGS_IMBALANCE && strncmp(one->ranks, "rank ", 5) == 0)
        return "give it less work";
    return kinds[one->kind].advice;
}

/* What does not fit goes as whole numbers. */
static void cut_list(char *line, size_t size)
{
    static const char more[] = ",…";
    if (strlen(line) < size || size <= sizeof more)
        return;
    line[size - sizeof more] = '\0';
    char *end = strrchr(line, ',');
    if (end)
        strcpy(end, more);
}

void findings_ranks_set(const bool *in, uint32_t ranks, char *text, size_t size)
{
    struct job_ranges set = { 0 };
    uint32_t members = 0, count = 0;

    for (uint32_t r = 0; r < ranks; r++)
        count += in[r];
    BASE_OWN struct job_member *m = calloc((size_t)count + 1, sizeof *m);
    for (uint32_t r = 0; r < ranks && members < count; r++)
        if (in[r])
            m[members++] = (struct job_member){ r, 0 };
    base_must(job_ranges_members(&set, m, members));
    BASE_OWN char *line = findings_ranges_text(set.range, set.count);
    cut_list(line, size);
    snprintf(text, size, "%s", line);
    free(set.range);
}

/* --- The list --- */

static bool same_finding(const struct finding *a, const struct finding *b)
{
    return a->kind == b->kind && !strcmp(a->where, b->where) && !strcmp(a->cause, b->cause);
}

static bool same_function(const struct findings *f, uint32_t a, uint32_t b)
{
    const struct job *j = f->report->job;
    return j->terminals[a].function == j->terminals[b].function;
}

/* Findings of the same kind and the same lines become one: a line may be called from several places. */
static void add(struct findings *f, const struct finding *one, const bool *in)
{
    struct findings_list *all = f->all;
    uint64_t hash = XXH64(one->where, strlen(one->where), XXH64(one->cause, strlen(one->cause), (uint64_t)one->kind));
    uint32_t i;

    if (one->seconds <= 0 || f->all->base <= 0)
        return;
    i = BASE_HASH_FIND(&f->index, hash, k, same_finding(&all->finding[k], one));
    if (i == BASE_HASH_NONE) {
        base_must(base_hash_reserve(&f->index, 1));
        base_hash_put(&f->index, hash, i = all->count);
        BASE_ADD(all->finding, all->count, *one);
        all->finding[i].seconds = 0;
        f->in = realloc(f->in, (size_t)all->count * f->ranks * sizeof *in);
        memset(f->in + (size_t)i * f->ranks, 0, f->ranks * sizeof *in);
    }
    all->finding[i].seconds += one->seconds;
    all->finding[i].some |= one->some || !same_function(f, all->finding[i].by, one->by); /* of the same line */
    for (uint32_t r = 0; r < f->ranks; r++)
        f->in[(size_t)i * f->ranks + r] |= in[r];
}

/* Shares and ranks of all that was added; what is too cheap goes. */
static void settle(struct findings *f)
{
    struct findings_list *all = f->all;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        struct finding *one = &all->finding[i];
        one->share = one->seconds / f->all->base;
        if (one->share < LEAST_SHARE) {
            all->minor += one->share;
            continue;
        }
        findings_ranks_set(f->in + (size_t)i * f->ranks, f->ranks, one->ranks, sizeof one->ranks);
        all->finding[kept++] = *one;
    }
    all->count = kept;
    free(f->in);
    base_hash_close(&f->index);
}

void findings_site_place(struct report *r, uint32_t terminal, char *text, size_t size)
{
    const struct job_terminal *t = &r->job->terminals[terminal];
    const struct findings_place *p = findings_place_of(r, terminal);

    if (p && p->function && p->file)
        snprintf(text, size, "%s@%s:%u", p->function, p->file, p->line);
    else
        findings_callsite_text(r->resolver, t->callsite, t->kind == JOB_REGION ? FINDINGS_ENTRY : FINDINGS_CALL, text,
                               size);
    char *outer = strchr(text, '<');
    if (outer)
        *outer = '\0';
}

/* The ranks that come to the site of a terminal. */
static bool *ranks_of(const struct findings *f, uint32_t terminal)
{
    bool *in = calloc(f->ranks, sizeof *in);
    double count;

    for (uint32_t r = 0; r < f->ranks; r++) {
        replay_bind_calls(f->bind, r, f->bind->site_of[terminal], &count);
        in[r] = count > 0;
    }
    return in;
}

void findings_add_at(struct findings *f, struct finding one, uint32_t cause, uint32_t of, const bool *in)
{
    BASE_OWN bool *own = in ? NULL : ranks_of(f, of), *come = ranks_of(f, cause);

    one.by = cause;
    for (uint32_t r = 0; r < f->ranks; r++)
        one.some |= (in ? in : own)[r] && !come[r];
    findings_site_place(f->report, one.call, one.where, sizeof one.where);
    findings_site_place(f->report, cause, one.cause, sizeof one.cause);
    add(f, &one, in ? in : own);
}

BASE_COMPARISON(by_cost, struct finding, BASE_DOWN(seconds))

/* --- What there is to be lost --- */

/* Of calls: what first threads spent in them. Within a region that is one thread's of a team, so that they lose no more
   than the capacity has lost by MPI. */
static void find_times(struct findings *f)
{
    const struct findings_model *m = f->report->model;
    double sum = 0, lost = m->efficiency.of.mpi / m->efficiency.threads;

    f->time = calloc(m->job->terminal_count + 1u, sizeof *f->time);
    f->attributed = calloc(m->job->terminal_count + 1u, sizeof *f->attributed);
    for (uint32_t s = 0; s < f->bind->site_count; s++) {
        const struct bind_site *b = &f->bind->site[s];
        if (b->what == BIND_REGION || findings_site_of(m, b->terminal)->launch)
            continue;
        f->time[m->place[b->terminal]] += b->call_ns;
        sum += b->call_ns;
    }
    f->in_mpi = sum > 0 ? fmin(lost / sum, 1) : 1;
    for (uint32_t i = 0; i < m->site_count; i++)
        f->time[i] *= f->in_mpi;
}

double findings_in_region(const struct findings *f, const struct findings_site *region, unsigned parts)
{
    const struct findings_model *m = f->report->model;
    const struct job_threads *t = job_threads_of_region(m->job, region->callsite);
    double known = t ? (double)job_threads_known(t) : 0, sum = 0;

    for (int i = 0; i < JOB_THREADS_PARTS && known > 0; i++)
        sum += parts & 1u << i ? (double)t->part[i] : 0;
    return sum > 0 ? f->in_regions * sum * (double)t->team_ns / known / m->efficiency.threads : 0;
}

/* What regions have lost is known by rank: that by region is no more. */
static void bound_regions(struct findings *f)
{
    const struct findings_model *m = f->report->model;
    const struct findings_capacity *of = &m->efficiency.of;
    double sum = 0;

    f->in_regions = 1;
    for (uint32_t i = 0; i < m->region_count; i++)
        sum += findings_in_region(f, &m->regions[i], FINDINGS_LOST);
    f->in_regions = sum > 0 ? fmin((of->uneven + of->waiting + of->fork_join) / m->efficiency.threads / sum, 1) : 1;
}

static void begin(struct findings *f, struct report *r, struct findings_list *all)
{
    struct replay_analysis *a = findings_analysis(r);
    const struct findings_model *m = r->model;

    *f = (struct findings){ .report = r, .all = all, .ranks = r->job->info.ranks, .analysis = a };
    all->known = a != NULL;
    all->lost = NAN;
    if (!a)
        return;
    f->bind = a->bind;
    all->base = (m->efficiency.elsewhere ? m->base.ns : m->base.wall_ns * m->base.ranks) / 1e9;
    find_times(f);
    bound_regions(f);
    if (m->efficiency.known && m->efficiency.measured)
        all->lost = fmax(1 - m->efficiency.parallel, 0);
}

static void find(struct report *r, struct findings_list *all)
{
    struct findings f;

    begin(&f, r, all);
    if (!all->known)
        return;
    findings_of_regions(&f);
    findings_of_waits(&f);
    findings_of_moving(&f);
    findings_of_messages(&f);
    findings_of_remainder(&f);
    settle(&f);
    BASE_SORT(all->finding, all->count, by_cost);
    free(f.time);
    free(f.attributed);
}

const struct findings_list *findings_list(struct report *r)
{
    if (!r->findings)
        find(r, r->findings = calloc(1, sizeof *r->findings));
    return r->findings;
}

void findings_list_destroy(struct findings_list *f)
{
    if (f)
        free(f->finding);
    free(f);
}

struct replay_analysis *findings_analysis(struct report *r)
{
    if (!r->replayed) {
        r->not_replayed = replay_analysis_create(r->job, r->steps, &r->analysis);
        r->replayed = true;
    }
    return r->analysis;
}

double findings_unmatched(struct report *r)
{
    return replay_analysis_unmatched(&findings_analysis(r)->result);
}

const char *findings_cannot_replay(struct report *r, double most)
{
    struct replay_analysis *a = findings_analysis(r);

    if (!a)
        return r->not_replayed == PYTHIA_ELIMIT
                   ? "it has too many ranks and calls, or its loops do not repeat soon enough"
                   : pythia_strerror(r->not_replayed);
    return findings_unmatched(r) > most ? "the peers of too many messages are not known" : NULL;
}

double findings_delay_share(const struct report *r)
{
    const struct job_delay *d = &r->job->delay;
    double wall = 0, calls = 0;

    for (uint32_t i = 0; i < r->job->stream_count; i++)
        if (r->job->streams[i].thread == 0) {
            wall += (double)r->job->streams[i].wall_ns;
            calls += (double)r->job->streams[i].mpi_ns;
        }
    if (!d->wall_ns || wall <= 0)
        return 0;
    return fmin((double)d->ready_ns / (double)d->wall_ns, fmax(1 - calls / wall, 0));
}
