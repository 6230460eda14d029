/* SPDX-License-Identifier: MIT */
#include "findings/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/findings.h"
#include "findings/model.h"

/* --- What is known of the ranks' threads --- */

static uint32_t size_of(const struct findings_team *t, const struct job_region *known)
{
    return t->size > 0 ? (uint32_t)t->size : known && known->team ? known->team : 1;
}

/* What teams asked for, or, where that is not known, were. */
static uint32_t threads_of(const struct findings_model *m)
{
    uint32_t most = 1;

    for (uint32_t i = 0; i < m->job->threads.count; i++)
        most = m->job->threads.of[i].threads > most ? m->job->threads.of[i].threads : most;
    for (uint32_t i = 0; i < m->region_count && !m->job->threads.count; i++) {
        const struct job_region *known = job_find_region(m->job, m->regions[i].callsite);
        for (uint32_t k = 0; k < m->regions[i].team_count; k++) {
            uint32_t size = size_of(&m->regions[i].teams[k], known);
            most = size > most ? size : most;
        }
    }
    return most;
}

static struct job_threads sum_of_ranks(const struct findings_model *m)
{
    struct job_threads sum = { 0 };

    for (uint32_t i = 0; i < m->job->threads.count && m->job->threads.of[i].rank != GRAMMAR_NONE; i++)
        job_threads_sum(&sum, &m->job->threads.of[i]);
    return sum;
}

/* Threads beside the first that make calls by themselves, or have regions of their own. */
static bool others_work(const struct findings_model *m)
{
    for (uint32_t i = 0; i < m->job->stream_count; i++)
        if (m->job->streams[i].thread && m->job->streams[i].events)
            return true;
    return false;
}

/* The same for a good part of the time, in MPI: then the first threads may wait for them, and tell of nothing. */
static bool others_call(const struct findings_model *m)
{
    const double least = 0.01;
    double mpi = 0;

    for (uint32_t i = 0; i < m->job->stream_count; i++)
        mpi += m->job->streams[i].thread ? (double)m->job->streams[i].mpi_ns : 0;
    return mpi >= least * m->base.wall_ns * m->base.ranks;
}

/* Whether the timed executions tell what all of them were like, or teams do not matter: what a thread does that is in
   none is not known where it has a stream of its own. */
static bool is_measured(const struct findings_model *m, const struct job_threads *all, uint32_t threads)
{
    const double least_covered = 0.05, least_time = 0.01;

    if (threads == 1)
        return true;
    if (all->team_ns && (double)all->timed_ns >= least_covered * (double)all->team_ns)
        return true;
    double regions = (double)(all->team_ns ? all->region_ns : m->sum_omp_ns);
    return regions <= least_time * (double)m->sum_wall_ns && !others_work(m);
}

/* Threads of a rank in regions, ns a rank; `of_all`: what stands for those that were not measured. */
struct teams { double region, region_mpi, all, part[JOB_THREADS_PARTS]; };

static struct teams teams_of(const struct findings_model *m, const struct findings_rank *r,
                             const struct job_threads *of_all)
{
    const struct job_threads *t = job_threads_of_rank(m->job, r->rank), *known = t;
    struct teams k = { .region = (double)r->omp_ns };
    double one = 1.0 / r->ranks;

    if (!t) {
        k.all = k.part[JOB_THREADS_WORK] = k.region;
        return k;
    }
    k = (struct teams){ one * (double)t->region_ns, one * (double)t->region_mpi_ns, one * (double)t->team_ns, { 0 } };
    if (!job_threads_known(t))
        known = of_all;
    double scale = job_threads_known(known) ? k.all / (double)job_threads_known(known) : 0;
    for (int i = 0; i < JOB_THREADS_PARTS; i++)
        k.part[i] = scale * (double)known->part[i];
    if (scale <= 0) {
        k.part[JOB_THREADS_MPI] = k.region_mpi;
        k.part[JOB_THREADS_WORK] = k.all - k.region_mpi;
    }
    return k;
}

/* --- The definition --- */

static double above(double a, double b)
{
    return fmax(a - b, 0);
}

/* What is not MPI, of the ranks of each node; `first`: the node's lowest rank. */
struct node { uint32_t first, ranks; double left; };
struct nodes { uint32_t comm, count; struct node *of; };

/* Where ranks say which node they share (pmpi/clocks.c), as they do where there are several. */
static struct nodes nodes_of(const struct job *j)
{
    struct nodes n = { .comm = GRAMMAR_NONE };

    for (uint32_t i = 0; i < j->comm_count && j->info.block == 1; i++)
        if (!strcmp(job_text(j, j->comms[i].name), "node"))
            n.comm = i;
    n.of = n.comm == GRAMMAR_NONE ? NULL : calloc((size_t)j->info.ranks + 1, sizeof *n.of);
    return n;
}

static void add_to_node(struct nodes *n, const struct job *j, uint32_t rank, double left)
{
    struct job_members m;
    uint32_t i = 0;

    if (!n->of || !job_comm_members(j, n->comm, rank, &m))
        return;
    uint32_t first = job_members_at(&m, 0);
    while (i < n->count && n->of[i].first != first)
        i++;
    n->count += i == n->count;
    n->of[i].first = first;
    n->of[i].ranks++;
    n->of[i].left += left;
}

static void fill_nodes(struct findings_efficiency *e, struct nodes *n, double ranks, double most)
{
    double mean = 0, known = 0;

    for (uint32_t i = 0; i < n->count; i++) {
        known += n->of[i].ranks;
        mean = fmax(mean, n->of[i].left / n->of[i].ranks);
    }
    free(n->of);
    if (known < ranks || mean <= 0 || most <= 0)
        return;
    e->nodes = n->count;
    e->within_nodes = mean / most;
    e->between_nodes = e->load_balance / e->within_nodes;
}

/* Returns what of it is not MPI. */
static double add_rank(struct findings_efficiency *e, const struct findings_rank *r, const struct teams *k,
                       double *most)
{
    double launch = (double)r->launch_ns, wall = above((double)r->wall_ns, launch);
    double outside_mpi = above((double)r->mpi_ns, k->region_mpi + launch);
    double mpi = e->threads * outside_mpi + k->part[JOB_THREADS_MPI], inside = above(k->all, k->part[JOB_THREADS_MPI]);
    double serial = above(above(wall, outside_mpi), k->region), own = above(e->threads * wall, mpi);
    /* Teams have no more time than there is, though their threads' own clocks may say a little more. */
    double fits = inside > above(own, serial) ? above(own, serial) / inside : 1;
    double useful = serial + fits * k->part[JOB_THREADS_WORK];

    /* Of a block's ranks its longest one is known by its first thread. */
    double longest = e->threads * ((double)r->useful.most + k->region_mpi) - k->part[JOB_THREADS_MPI];
    *most = fmax(*most, fmax(own, longest));
    job_extent_join(&e->useful, &r->useful);
    e->of.mpi += mpi * r->ranks;
    e->of.serial += above(own, serial + inside) * r->ranks;
    e->of.fork_join += fits * (k->part[JOB_THREADS_FORK] + k->part[JOB_THREADS_JOIN]) * r->ranks;
    e->of.waiting += fits * k->part[JOB_THREADS_WAIT] * r->ranks;
    e->of.uneven += fits * k->part[JOB_THREADS_UNEVEN] * r->ranks;
    e->of.useful += useful * r->ranks;
    return own;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 1;
}

/* Each factor is what is left over what there was. */
static void fill_factors(struct findings_efficiency *e, double ranks, double most, double wall)
{
    const struct findings_capacity *of = &e->of;
    double left = of->useful, all = of->useful + of->uneven + of->waiting + of->fork_join + of->serial;

    e->load_balance = job_balance(all, ranks, most);
    e->communication = share(most, e->threads * wall);
    e->mpi = e->load_balance * e->communication;
    e->omp_load_balance = share(left, left + of->uneven);
    left += of->uneven;
    e->omp_waiting = share(left, left + of->waiting);
    left += of->waiting;
    e->omp_fork_join = share(left, left + of->fork_join);
    left += of->fork_join;
    e->omp_serial = share(left, left + of->serial);
    e->openmp = share(of->useful, all);
    e->parallel = e->mpi * e->openmp;
}

void findings_efficiency_fill(struct findings_model *m)
{
    struct findings_efficiency *e = &m->efficiency;
    struct job_threads all = sum_of_ranks(m);
    struct nodes nodes = nodes_of(m->job);
    double most = 0, wall = m->base.wall_ns, ranks = m->base.ranks;

    e->useful = (struct job_extent){ .least = UINT64_MAX };
    e->threads = threads_of(m);
    e->measured = is_measured(m, &all, e->threads);
    e->samples = (double)all.samples;
    e->covered = all.team_ns ? (double)all.timed_ns / (double)all.team_ns : 0;
    for (uint32_t i = 0; i < m->rank_count; i++) {
        struct teams k = teams_of(m, &m->ranks[i], &all);
        add_to_node(&nodes, m->job, m->ranks[i].rank, add_rank(e, &m->ranks[i], &k, &most));
    }
    e->of.all = ranks * e->threads * wall;
    e->of.ended = above(e->of.all, e->of.useful + e->of.mpi + e->of.serial + e->of.fork_join + e->of.waiting +
                                       e->of.uneven);
    e->elsewhere = e->threads == 1 && others_call(m);
    e->known = e->of.useful > 0 && wall > 0 && !e->elsewhere;
    if (e->known)
        fill_factors(e, ranks, most, wall);
    fill_nodes(e, &nodes, ranks, most);
}

double findings_serial_share(struct report *r)
{
    struct replay_bind *b = findings_analysis(r)->bind;
    double between = 0, outside = (double)r->model->sum_compute_ns;

    for (uint32_t s = 0; s < b->site_count; s++)
        between += b->site[s].gap_ns;
    return outside < between ? outside / between : 1;
}

void findings_split_communication(struct report *r)
{
    struct findings_efficiency *e = &r->model->efficiency;
    struct replay_efficiency of;
    bool asked = e->known && !e->split && !r->job->info.missing; /* waits for missing ranks are not known */
    struct replay_analysis *a = asked ? findings_analysis(r) : NULL;

    if (!a || replay_analysis_efficiency(a, NULL, &of) != 0 || !of.known)
        return;
    e->split = true;
    e->transfer = of.transfer < e->communication ? e->communication : of.transfer < 1 ? of.transfer : 1;
    e->serialisation = e->transfer > 0 ? e->communication / e->transfer : 0;
    e->moving = fmax(of.moving, e->serialisation);
    e->explained = fmax(of.explained, e->serialisation / e->moving);
    e->order = e->serialisation / (e->moving * e->explained);
}
