/* SPDX-License-Identifier: MIT */
#include "findings/named.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "findings/loops_parts.h"
#include "findings/model.h"

static uint32_t module_of(const struct job *j, uint32_t path, uint32_t depth)
{
    const struct job_callsite *c = &j->callsites[path];

    return j->frames[c->first + depth].module;
}

/* Whether one of the names around a path's end is that, but for so many innermost ones; `depths`: of each path. */
static bool is_within(const struct job *j, const uint32_t *depths, uint32_t path, uint32_t module, uint32_t inner)
{
    uint32_t depth = path == GRAMMAR_NONE ? 0 : depths[path],
             count = path == GRAMMAR_NONE ? 0 : j->callsites[path].count;

    for (uint32_t i = count - depth + inner; i < count; i++)
        if (module_of(j, path, i) == module)
            return true;
    return false;
}

/* --- Times and efficiency --- */

/* The ranks of a region, as the model has those of the job. */
struct part { struct job job; struct findings_model model; struct job_threads *threads; };

static struct findings_rank *rank_in(struct part *p, const struct job_named *n)
{
    struct findings_rank *r = p->model.rank_count ? &p->model.ranks[p->model.rank_count - 1] : NULL;

    if (r && r->rank == n->rank)
        return r;
    r = &p->model.ranks[p->model.rank_count];
    *r = (struct findings_rank){ .rank = n->rank, .ranks = n->ranks };
    p->threads[p->model.rank_count++] = (struct job_threads){ .rank = n->rank, .callsite = GRAMMAR_NONE,
                                                              .ranks = n->ranks };
    return r;
}

static void add_row(struct findings_named *one, struct part *p, const struct job_named *n)
{
    struct findings_rank *r = rank_in(p, n);
    uint64_t most = n->most_ns > 0 && n->ranks == 1 ? n->ns : n->most_ns;

    r->wall_ns += n->ns;
    r->mpi_ns += n->mpi_ns;
    r->omp_ns += n->omp_ns;
    r->wall.most += most;
    r->useful.most += n->most_useful_ns;
    job_threads_sum(&p->threads[p->model.rank_count - 1], &n->teams);
    one->ns += (double)n->ns;
    one->call_ns += (double)n->mpi_ns;
}

static int by_rank(const void *a, const void *b)
{
    const struct job_named *x = *(const struct job_named *const *)a, *y = *(const struct job_named *const *)b;

    return BASE_ORDER(x->rank, y->rank) ?: BASE_ORDER(x, y);
}

/* Of each rank all of its paths. */
static void fill_efficiency(struct report *r, struct findings_named *one, const uint32_t *depths)
{
    const struct job *j = r->job;
    BASE_OWN const struct job_named **rows = malloc((j->named.count + (size_t)1) * sizeof *rows);
    uint32_t count = 0;
    struct part p = { .job = *j, .model = *r->model };

    p.model.job = &p.job;
    p.model.rank_count = 0;
    p.model.ranks = calloc(j->named.count + (size_t)1, sizeof *p.model.ranks);
    p.threads = calloc(j->named.count + (size_t)1, sizeof *p.threads);
    for (uint32_t i = 0; i < j->named.count; i++) {
        const struct job_named *n = &j->named.of[i];
        if (n->path == GRAMMAR_NONE || module_of(j, n->path, 0) != one->module)
            continue;
        one->entries += n->entries;
        one->unended += n->unended;
        if (!n->thread && n->entries && !is_within(j, depths, n->path, one->module, 1))
            rows[count++] = n;
    }
    qsort(rows, count, sizeof *rows, by_rank);
    for (uint32_t i = 0; i < count; i++)
        add_row(one, &p, rows[i]);
    one->of = calloc(p.model.rank_count + (size_t)1, sizeof *one->of);
    one->of_count = p.model.rank_count;
    for (uint32_t i = 0; i < p.model.rank_count; i++) {
        struct findings_rank *k = &p.model.ranks[i];
        one->ranks += k->ranks;
        one->longest_ns = fmax(one->longest_ns, (double)k->wall.most);
        p.threads[i].threads = r->model->efficiency.threads;
        k->wall_ns /= k->ranks;
        k->mpi_ns /= k->ranks;
        k->omp_ns /= k->ranks;
        one->of[i] = (struct findings_named_rank){ k->rank, k->ranks, (double)k->wall_ns,
                                                   (double)(k->wall_ns - k->mpi_ns) };
    }
    p.job.threads = (struct job_threads_list){ .of = p.threads,
                                               .count = r->model->efficiency.threads > 1 ? p.model.rank_count : 0 };
    p.model.base.wall_ns = one->longest_ns;
    p.model.base.ranks = one->ranks;
    memset(&p.model.efficiency, 0, sizeof p.model.efficiency);
    findings_efficiency_fill(&p.model);
    one->efficiency = p.model.efficiency;
    free(p.model.ranks);
    free(p.threads);
}

/* --- Waits and losses --- */

/* Of each site and region of the model: ns of it and how often, in all and in the region at hand. */
struct share { double all, in, count, wait_ns; };

static double time_of(const struct job *j, const struct job_stop *s)
{
    const struct job_terminal *t = &j->terminals[s->terminal];

    return (double)(t->kind == JOB_REGION && t->phase == JOB_CLOSE ? s->gap_ns : s->duration_ns);
}

static void fill_shares(const struct report *r, const struct findings_named *one, const uint32_t *depths,
                        struct share *share)
{
    const struct job *j = r->job;

    for (uint32_t i = 0; i < j->hops.stop_count; i++) {
        const struct job_stop *s = &j->hops.stop[i];
        struct share *of = &share[r->model->place[s->terminal]];
        if (!one) {
            of->all += time_of(j, s);
        } else if (is_within(j, depths, s->path, one->module, 0)) {
            of->in += time_of(j, s);
            of->count += j->terminals[s->terminal].phase == JOB_CLOSE ? 0 : (double)s->count;
        }
    }
}

/* Nobody waited longer in calls than these took. */
static void fill_waits(struct report *r, struct share *share)
{
    struct replay_analysis *a = findings_analysis(r);

    for (uint32_t s = 0; a && s < a->bind->site_count; s++) {
        const struct bind_site *site = &a->bind->site[s];
        if (r->job->terminals[site->terminal].kind != JOB_REGION)
            share[r->model->place[site->terminal]].wait_ns +=
                fmin(replay_blame_waits(a->blame, 2 * s + 1), (double)site->call_ns);
    }
}

BASE_COMPARISON(most_waits, struct findings_named_call, BASE_DOWN(wait_ns) ?: BASE_DOWN(ns) ?: BASE_UP(terminal))

BASE_COMPARISON(most_lost, struct findings_named_loss, BASE_DOWN(seconds) ?: BASE_UP(finding))

static double part_of(const struct share *s)
{
    return s->all > 0 ? s->in / s->all : 0;
}

static void take_calls(struct report *r, struct findings_named *one, const struct share *share)
{
    const struct findings_model *m = r->model;

    one->calls = calloc(m->site_count + (size_t)1, sizeof *one->calls);
    for (uint32_t i = 0; i < m->site_count; i++) {
        const struct share *s = &share[i];
        if (s->count <= 0)
            continue;
        one->calls[one->call_count++] = (struct findings_named_call){ m->sites[i].terminal, s->count, s->in,
                                                                      s->wait_ns * part_of(s) };
        one->wait_ns += s->wait_ns * part_of(s);
    }
    qsort(one->calls, one->call_count, sizeof *one->calls, most_waits);
}

static void take_losses(struct report *r, struct findings_named *one, const struct share *share)
{
    const struct findings_list *f = findings_list(r);

    one->losses = calloc(f->count + (size_t)1, sizeof *one->losses);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct finding *of = &f->finding[i];
        double part = of->call < r->job->terminal_count ? part_of(&share[r->model->place[of->call]]) : 0;
        if (part * of->seconds > 0)
            one->losses[one->loss_count++] = (struct findings_named_loss){ of, part * of->seconds };
    }
    qsort(one->losses, one->loss_count, sizeof *one->losses, most_lost);
}

/* Of the replay with an ideal network; NULL: not known. The caller's. */
static struct replay_blame *ideal_replay(struct report *r)
{
    struct replay_efficiency e;
    struct replay_analysis *a = r->job->info.missing ? NULL : findings_analysis(r);
    struct replay_blame *b = a ? replay_blame_create_sums(r->job->info.ranks, 2 * a->bind->site_count) : NULL;

    if (!b || (replay_analysis_efficiency(a, b, &e) == 0 && e.known))
        return b;
    replay_blame_destroy(b);
    return NULL;
}

/* What a rank's calls take in the region beyond what they take with an ideal network, ns. */
static double transfer_of(struct report *r, const struct findings_named_rank *k, const struct share *share,
                          const struct replay_blame *ideal)
{
    const struct replay_analysis *a = findings_analysis(r);
    double ns = 0;

    for (uint32_t s = 0; s < a->bind->site_count; s++) {
        const struct share *of = &share[r->model->place[a->bind->site[s].terminal]];
        for (uint32_t i = k->rank; of->in > 0 && i < k->rank + k->ranks; i++)
            ns += of->in / of->all * (double)(replay_blame_spent(a->blame, i, 2 * s + 1) -
                                              replay_blame_spent(ideal, i, 2 * s + 1)) / k->ranks;
    }
    return ns;
}

static void split_communication(struct report *r, struct findings_named *one, const struct share *share,
                                const struct replay_blame *ideal)
{
    struct findings_efficiency *e = &one->efficiency;
    double longest = 0, without = 0;

    for (uint32_t i = 0; i < one->of_count; i++) {
        longest = fmax(longest, one->of[i].ns);
        without = fmax(without, fmax(one->of[i].ns - transfer_of(r, &one->of[i], share, ideal), one->of[i].useful_ns));
    }
    if (!e->known || longest <= 0 || e->communication <= 0)
        return;
    e->split = true;
    e->transfer = fmin(fmax(without / longest, e->communication), 1);
    e->serialisation = e->communication / e->transfer;
    e->order = e->moving = e->explained = NAN;
}

static void fill_costs(struct report *r, struct findings_named_list *l, const uint32_t *depths)
{
    size_t places = (size_t)r->model->all_sites + 1;
    BASE_OWN struct share *all = calloc(places, sizeof *all), *own = malloc(places * sizeof *own);

    fill_shares(r, NULL, depths, all);
    fill_waits(r, all);
    struct replay_blame *ideal = ideal_replay(r);
    for (uint32_t i = 0; i < l->count; i++) {
        memcpy(own, all, places * sizeof *own);
        fill_shares(r, &l->of[i], depths, own);
        take_calls(r, &l->of[i], own);
        take_losses(r, &l->of[i], own);
        if (ideal)
            split_communication(r, &l->of[i], own, ideal);
    }
    replay_blame_destroy(ideal);
}

/* --- All --- */

BASE_COMPARISON(most_time, struct findings_named, BASE_DOWN(ns) ?: strcmp(a->name, b->name))

const struct findings_named_list *findings_named_of(struct report *r)
{
    const struct job *j = r->job;
    struct findings_named_list *l = r->named;

    if (l)
        return l;
    BASE_OWN uint32_t *depths = calloc(j->callsite_count + (size_t)1, sizeof *depths);
    for (uint32_t i = 0; i < j->callsite_count; i++)
        depths[i] = job_named_depth(j, i);
    l = r->named = calloc(1, sizeof *l);
    l->of = calloc(j->named.count + (size_t)1, sizeof *l->of);
    for (uint32_t i = 0; i < j->named.count; i++) {
        uint32_t path = j->named.of[i].path, k = 0;
        while (path != GRAMMAR_NONE && k < l->count && l->of[k].module != module_of(j, path, 0))
            k++;
        if (path != GRAMMAR_NONE && k == l->count) {
            uint32_t module = module_of(j, path, 0);
            l->of[l->count++] = (struct findings_named){ .name = job_text(j, j->modules[module].path),
                                                         .module = module };
        }
    }
    for (uint32_t i = 0; i < l->count; i++)
        fill_efficiency(r, &l->of[i], depths);
    qsort(l->of, l->count, sizeof *l->of, most_time);
    if (l->count) {
        fill_costs(r, l, depths);
        l->waits = findings_analysis(r) != NULL;
    }
    return l;
}

const struct findings_named *findings_named_find(struct report *r, const char *name)
{
    const struct findings_named_list *l = findings_named_of(r);

    for (uint32_t i = 0; i < l->count; i++)
        if (!strcmp(l->of[i].name, name))
            return &l->of[i];
    return NULL;
}

void findings_named_destroy(struct findings_named_list *l)
{
    for (uint32_t i = 0; l && i < l->count; i++) {
        free(l->of[i].calls);
        free(l->of[i].losses);
        free(l->of[i].of);
    }
    if (l)
        free(l->of);
    free(l);
}
