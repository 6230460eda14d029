/* SPDX-License-Identifier: MIT */
#include "report/efficiency.h"

#include "report/findings.h"
#include "report/model.h"

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Who has least and most. */
static void meet_useful(struct job_extent *all, const struct job_extent *one)
{
    if (one->least < all->least) {
        all->least = one->least;
        all->least_rank = one->least_rank;
    }
    if (one->most > all->most) {
        all->most = one->most;
        all->most_rank = one->most_rank;
    }
}

/* Returns the sum of the ranks' time outside MPI. */
static double fill_mpi(const struct report_model *m, struct report_efficiency *e)
{
    double most = 0, wall = 0, sum = 0, ranks = 0;

    e->useful = (struct job_extent){ .least = UINT64_MAX };
    for (uint32_t i = 0; i < m->rank_count; i++) {
        const struct report_rank *r = &m->ranks[i];
        double outside = r->wall_ns > r->mpi_ns ? (double)(r->wall_ns - r->mpi_ns) : 0;
        meet_useful(&e->useful, &r->useful);
        most = larger(most, larger(outside, (double)r->useful.most));
        wall = larger(wall, larger((double)r->wall_ns, (double)r->wall.most));
        sum += outside * r->ranks;
        ranks += r->ranks;
    }
    if (!(most > 0))
        return 0;
    e->known = true;
    e->load_balance = sum / ranks / most;
    e->communication = most / wall;
    e->mpi = e->load_balance * e->communication;
    return sum;
}

/* --- OpenMP --- */

/* Times of threads in regions, ns: P, L and U of the header. */
struct shares { double all, inside, work; };

static uint32_t size_of(const struct report_team *t, const struct job_region *known)
{
    return t->size > 0 ? (uint32_t)t->size : known && known->team ? known->team : 1;
}

static uint32_t largest_team(const struct report_model *m)
{
    uint32_t most = 1;

    for (uint32_t i = 0; i < m->region_count; i++) {
        const struct job_region *known = job_find_region(m->job, m->regions[i].callsite);
        for (uint32_t k = 0; k < m->regions[i].team_count; k++) {
            uint32_t size = size_of(&m->regions[i].teams[k], known);
            most = size > most ? size : most;
        }
    }
    return most;
}

static bool region_shares(const struct job_region *known, struct shares *s)
{
    double all = known
                     ? (double)known->fork_ns + (double)known->work_ns + (double)known->wait_ns + (double)known->join_ns
                     : 0;

    if (!known || !known->samples || !(all > 0))
        return false;
    *s = (struct shares){ 1, ((double)known->work_ns + (double)known->wait_ns) / all, (double)known->work_ns / all };
    return true;
}

/* Adds a region's teams; of those of several threads only what has samples (`wanted`), or only what has none, by
   `as`. */
static void add_region(const struct report_model *m, const struct report_region *g, bool wanted,
                       const struct shares *as, struct shares *to)
{
    const struct job_region *known = job_find_region(m->job, g->callsite);
    struct shares own = { 1, 1, 1 };

    if (region_shares(known, &own) != wanted)
        return;
    if (!wanted)
        own = *as;
    for (uint32_t k = 0; k < g->team_count; k++) {
        uint32_t size = size_of(&g->teams[k], known);
        double time = (double)g->teams[k].time_ns * size;
        to->all += time;
        to->inside += size > 1 ? time * own.inside : time;
        to->work += size > 1 ? time * own.work : time;
    }
}

static struct shares add_regions(const struct report_model *m, bool *sampled)
{
    struct shares sum = { 0, 0, 0 }, as = { 1, 1, 1 };

    for (uint32_t i = 0; i < m->region_count; i++)
        add_region(m, &m->regions[i], true, &as, &sum);
    *sampled = sum.all > 0;
    if (*sampled)
        as = (struct shares){ 1, sum.inside / sum.all, sum.work / sum.all };
    for (uint32_t i = 0; i < m->region_count; i++)
        add_region(m, &m->regions[i], false, &as, &sum);
    return sum;
}

static void fill_openmp(const struct report_model *m, struct report_efficiency *e, double outside)
{
    struct shares s = add_regions(m, &e->sampled);
    double serial = outside > (double)m->sum_omp_ns ? outside - (double)m->sum_omp_ns : 0;
    double capacity = (serial + (double)m->sum_omp_ns) * (e->threads = largest_team(m));

    e->omp_serial = e->omp_fork_join = e->omp_load_balance = e->openmp = 1;
    if (e->threads == 1 || !(capacity > 0) || !(serial + s.inside > 0))
        return;
    e->omp_serial = serial + s.all < capacity ? (serial + s.all) / capacity : 1;
    e->omp_fork_join = (serial + s.inside) / (serial + s.all);
    e->omp_load_balance = (serial + s.work) / (serial + s.inside);
    e->openmp = e->omp_serial * e->omp_fork_join * e->omp_load_balance;
}

void report_efficiency_fill(struct report_model *m)
{
    struct report_efficiency *e = &m->efficiency;
    double outside = fill_mpi(m, e);

    if (!e->known)
        return;
    fill_openmp(m, e, outside);
    e->parallel = e->mpi * e->openmp;
}

double report_serial_share(struct report *r)
{
    struct replay_bind *b = replay_analysis_bind(report_analysis(r));
    double between = 0, outside = (double)r->model->sum_compute_ns;

    for (uint32_t s = 0; s < replay_bind_sites(b); s++)
        between += replay_bind_site(b, s)->gap_ns;
    return outside < between ? outside / between : 1;
}

void report_split_communication(struct report *r)
{
    struct report_efficiency *e = &r->model->efficiency;
    struct replay_efficiency of;
    bool asked = e->known && !e->split && !r->job->info.missing; /* waits for missing ranks are not known */
    struct replay_analysis *a = asked ? report_analysis(r) : NULL;

    if (!a || replay_analysis_efficiency(a, &of) != 0 || !of.known)
        return;
    e->split = true;
    e->transfer = of.transfer < e->communication ? e->communication : of.transfer < 1 ? of.transfer : 1;
    e->serialisation = e->transfer > 0 ? e->communication / e->transfer : 0;
}

void report_print_efficiency(const struct report_efficiency *e, FILE *out)
{
    if (e->threads > 1) {
        fprintf(out, "parallel efficiency %s%.1f %% = MPI %.1f %% x OpenMP %.1f %%\n", e->sampled ? "" : "at most ",
                100 * e->parallel, 100 * e->mpi, 100 * e->openmp);
        if (e->sampled)
            fprintf(out, "  OpenMP, %u threads = load balance %.1f %% x fork and join %.1f %% x serial %.1f %%\n",
                    e->threads, 100 * e->omp_load_balance, 100 * e->omp_fork_join, 100 * e->omp_serial);
        else
            fprintf(out, "  OpenMP, %u threads: the serial part only, no region was looked into\n", e->threads);
    }
    if (e->threads > 1)
        fprintf(out, "  MPI");
    else
        fprintf(out, "parallel efficiency %.1f %%", 100 * e->parallel);
    fprintf(out, " = load balance %.1f %% x communication %.1f %%\n", 100 * e->load_balance, 100 * e->communication);
}
