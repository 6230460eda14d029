/* SPDX-License-Identifier: MIT */
#include "findings/placement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/topology.h"
#include "findings/findings.h"
#include "findings/hardware.h"
#include "findings/units.h"

#define LEAST_OTHERS 0.05 /* of processors' time, to be told */
enum { MOST_RANKS = 1 << 16, MOST_GROUPS = 4096 };

/* Ranks of one node with one binding. */
struct group {
    uint32_t node, threads, ranks;
    const cpu_set_t *set;
    uint32_t row; /* of the job's bindings */
    const struct findings_hardware *machine;
};

/* Of threads that are bound one by one. */
struct sets { cpu_set_t *of; unsigned count; };

struct placing {
    const struct report *r;
    struct findings_hardware *machine; /* the first rank's, then by kind of node */
    struct group *group;
    uint32_t groups;
    cpu_set_t *set;       /* of each row of the job */
    struct sets *each;
    uint32_t *node;       /* of each rank: its lowest rank */
    struct findings_placements *made;
};

static const char *const names[] = { "shared_core", "narrow", "hyper_threads", "memory_nodes", "uneven" };

/* What mends each: Open MPI, MPICH, Slurm. */
static const char *const mends[][3] = {
    [FINDINGS_SHARED_CORE] = { "mpirun --map-by core --bind-to core", "mpirun -bind-to core", "srun --cpu-bind=cores" },
    [FINDINGS_NARROW] = { "mpirun --map-by slot:PE=$OMP_NUM_THREADS --bind-to core",
                          "mpirun -bind-to core:$OMP_NUM_THREADS", "srun -c $OMP_NUM_THREADS" },
    [FINDINGS_HYPER_THREADS] = { "mpirun --map-by core --bind-to core", "mpirun -bind-to core -map-by core",
                                 "srun --hint=nomultithread" },
    [FINDINGS_MEMORY_NODES] = { "mpirun --map-by numa:PE=$OMP_NUM_THREADS --bind-to core",
                                "mpirun -bind-to numa -map-by numa", "srun --cpu-bind=ldoms" },
    [FINDINGS_UNEVEN_NODES] = { "mpirun --map-by numa", "mpirun -map-by numa -bind-to core",
                                "srun --distribution=block:cyclic" } };

const char *findings_placement_name(enum findings_placement_kind k)
{
    return names[k];
}

/* --- Who is where --- */

static void find_nodes(struct placing *p)
{
    const struct job *j = p->r->job;
    uint32_t comm = GRAMMAR_NONE;
    struct job_members m;

    for (uint32_t i = 0; i < j->comm_count; i++)
        if (!strcmp(job_text(j, j->comms[i].name), "node"))
            comm = i;
    for (uint32_t rank = 0; rank < j->info.ranks; rank++)
        p->node[rank] = comm != GRAMMAR_NONE && job_comm_members(j, comm, rank, &m) ? job_members_at(&m, 0) : 0;
}

/* What the node is, by its lowest rank. */
static const struct findings_hardware *machine_of(const struct placing *p, uint32_t node)
{
    const struct job_hosts *h = &p->r->job->hosts;

    for (uint32_t i = 0; p->machine && i < h->count; i++) {
        struct job_walk w = { .range = h->ranges.range + h->row[i].range_first, .left = h->row[i].range_count };
        while (p->machine[i + 1].cores && job_walk_next(&w))
            if (w.at.rank == node)
                return &p->machine[i + 1];
    }
    return p->machine;
}

static void add_rank(struct placing *p, uint32_t row, uint32_t rank)
{
    uint32_t i = 0, node = p->node[rank];

    while (i < p->groups && (p->group[i].row != row || p->group[i].node != node))
        i++;
    if (i == p->groups && i < MOST_GROUPS)
        BASE_ADD(p->group, p->groups,
                 (struct group){ node, p->r->job->bindings.row[row].threads, 0, &p->set[row], row,
                                 machine_of(p, node) });
    if (i < p->groups)
        p->group[i].ranks++;
}

static void make_groups(struct placing *p)
{
    const struct job_bindings *b = &p->r->job->bindings;

    for (uint32_t i = 0; i < b->count; i++) {
        const struct job_binding *row = &b->row[i];
        bool known = base_topology_list(job_text(p->r->job, row->processors), &p->set[i]);
        if (row->each != GRAMMAR_NONE)
            p->each[i].count = findings_hardware_sets(job_text(p->r->job, row->each), &p->each[i].of);
        struct job_walk w = { .range = b->ranges.range + row->range_first, .left = row->range_count };
        while (known && job_walk_next(&w))
            add_rank(p, i, w.at.rank);
    }
}

static bool is_within(const cpu_set_t *a, const cpu_set_t *b)
{
    cpu_set_t both;

    CPU_AND(&both, a, b);
    return CPU_EQUAL(&both, a);
}

static void begin(struct placing *p)
{
    const struct job *j = p->r->job;

    p->node = calloc((size_t)j->info.ranks + 1, sizeof *p->node);
    p->set = calloc(j->bindings.count + 1u, sizeof *p->set);
    p->each = calloc(j->bindings.count + 1u, sizeof *p->each);
    find_nodes(p);
    make_groups(p);
}

static void end(struct placing *p)
{
    for (uint32_t i = 0; i < p->r->job->bindings.count; i++)
        free(p->each[i].of);
    free(p->each);
    free(p->set);
    free(p->node);
    free(p->group);
}

/* --- What is found --- */

/* The ranks of the groups for which `chosen` says so; one finding a kind. */
static void found(struct placing *p, enum findings_placement_kind kind, const bool *chosen, uint32_t cores, uint32_t of,
                  uint32_t threads)
{
    const struct job *j = p->r->job;
    BASE_OWN bool *in = calloc((size_t)j->info.ranks + 1, sizeof *in);
    bool mpich = strstr(job_text(j, j->info.mpi), "MPICH") || strstr(job_text(j, j->info.mpi), "MVAPICH");
    struct findings_placement *made = &p->made->of[p->made->count++];

    for (uint32_t i = 0; i < p->groups; i++) {
        const struct job_binding *row = &j->bindings.row[p->group[i].row];
        struct job_walk w = { .range = j->bindings.ranges.range + row->range_first, .left = row->range_count };
        while (chosen[i] && job_walk_next(&w))
            in[w.at.rank] |= p->node[w.at.rank] == p->group[i].node;
    }
    *made = (struct findings_placement){ .kind = kind, .cores = cores, .of = of, .threads = threads,
                                         .mend = mends[kind][mpich], .slurm = mends[kind][2] };
    findings_ranks_set(in, j->info.ranks, made->ranks, sizeof made->ranks);
}

/* Ranks of the node that may use nothing but the set. */
static uint32_t within(const struct placing *p, uint32_t node, const cpu_set_t *set)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < p->groups; i++)
        if (p->group[i].node == node && is_within(p->group[i].set, set))
            all += p->group[i].ranks;
    return all;
}

/* The cores that fewest are of for so many threads of one rank: of all its threads, or of some that are bound. */
static uint32_t narrowest(const struct placing *p, const struct group *g, uint32_t *threads)
{
    const struct sets *each = &p->each[g->row];
    uint32_t cores = findings_hardware_cores(g->machine, g->set);

    *threads = g->threads;
    for (unsigned i = 0; i < each->count; i++) {
        uint32_t inside = 0, has = findings_hardware_cores(g->machine, &each->of[i]);
        for (unsigned k = 0; k < each->count; k++)
            inside += is_within(&each->of[k], &each->of[i]);
        if (inside > has && has && inside * (uint64_t)cores > *threads * (uint64_t)has) {
            cores = has;
            *threads = inside;
        }
    }
    return cores;
}

/* Fewer cores than ranks, or than one team's threads, though the node has more. */
static void find_few_cores(struct placing *p, bool *chosen)
{
    for (int narrow = 0; narrow < 2; narrow++) {
        uint32_t worst = GRAMMAR_NONE, threads = 0, of = 0;
        memset(chosen, 0, p->groups * sizeof *chosen);
        for (uint32_t i = 0; i < p->groups; i++) {
            const struct group *g = &p->group[i];
            uint32_t processors = (uint32_t)CPU_COUNT(g->set), wanted;
            uint32_t cores = narrowest(p, g, &wanted);
            if (!narrow) {
                cores = findings_hardware_cores(g->machine, g->set);
                wanted = within(p, g->node, g->set);
            }
            uint32_t least = !narrow && processors > cores ? processors : cores;
            chosen[i] = cores < g->machine->cores && wanted > least;
            if (chosen[i] && cores < worst) {
                worst = cores;
                of = g->machine->cores;
                threads = narrow ? wanted : g->threads;
            }
        }
        if (worst != GRAMMAR_NONE)
            found(p, narrow ? FINDINGS_NARROW : FINDINGS_SHARED_CORE, chosen, worst, of, threads);
    }
}

/* Ranks with other processors of cores that others have, too, though cores are free. */
static void find_hyper_threads(struct placing *p, bool *chosen)
{
    cpu_set_t all;
    uint32_t least = 0, of = 0;

    memset(chosen, 0, p->groups * sizeof *chosen);
    for (uint32_t i = 0; i < p->groups; i++) {
        uint32_t ranks = 0;
        CPU_ZERO(&all);
        for (uint32_t k = 0; k < p->groups; k++)
            if (p->group[k].node == p->group[i].node) {
                CPU_OR(&all, &all, p->group[k].set);
                ranks += p->group[k].ranks;
            }
        uint32_t cores = findings_hardware_cores(p->group[i].machine, &all);
        chosen[i] = ranks > cores && ranks <= (uint32_t)CPU_COUNT(&all) && cores < p->group[i].machine->cores;
        least = chosen[i] ? cores : least;
        of = chosen[i] ? p->group[i].machine->cores : of;
    }
    if (least)
        found(p, FINDINGS_HYPER_THREADS, chosen, least, of, 0);
}

/* Teams that could have been on one memory node. */
static void find_memory_nodes(struct placing *p, bool *chosen)
{
    uint32_t most = 0, threads = 0, of = 0;

    for (uint32_t i = 0; i < p->groups; i++) {
        const struct group *g = &p->group[i];
        uint32_t nodes = findings_hardware_nodes(g->machine, g->set), there = g->machine->nodes;
        chosen[i] = nodes > 1 && g->threads > 1 && g->threads <= g->machine->cores / there;
        if (chosen[i] && nodes > most) {
            most = nodes;
            of = there;
            threads = g->threads;
        }
    }
    if (most)
        found(p, FINDINGS_MEMORY_NODES, chosen, most, of, threads);
}

/* On one host, whose ranks are each on one memory node: one has none, another one two or more. */
static void find_uneven(struct placing *p, bool *chosen)
{
    for (uint32_t i = 0; i < p->groups; i++) {
        const struct findings_hardware *machine = p->group[i].machine;
        uint32_t most = 0, without = 0, host = p->group[i].node, inside = 0, all = 0;
        for (uint32_t k = 0; k < p->groups; k++)
            all += p->group[k].node == host ? p->group[k].ranks : 0;
        for (unsigned n = 0; n < machine->nodes; n++) {
            uint32_t ranks = within(p, host, &machine->node[n]);
            inside += ranks;
            most = ranks > most ? ranks : most;
            without += !ranks;
        }
        if (!without || most < 2 || inside < all)
            continue;
        for (uint32_t k = 0; k < p->groups; k++)
            chosen[k] = p->group[k].node == host;
        found(p, FINDINGS_UNEVEN_NODES, chosen, machine->nodes - without, machine->nodes, 0);
        return;
    }
}

static void find_all(struct placing *p)
{
    begin(p);
    BASE_OWN bool *chosen = calloc(p->groups + 1u, sizeof *chosen);
    find_few_cores(p, chosen);
    find_hyper_threads(p, chosen);
    find_memory_nodes(p, chosen);
    find_uneven(p, chosen);
    end(p);
}

void findings_placements_of(const struct report *r, struct findings_placements *made)
{
    const struct job *j = r->job;
    struct placing p = { .r = r, .made = made };

    *made = (struct findings_placements){ .count = 0 };
    if (!j->bindings.count || j->info.ranks > MOST_RANKS)
        return;
    p.machine = calloc(j->hosts.count + 1u, sizeof *p.machine);
    made->known = findings_hardware_of(j, &p.machine[0]);
    for (uint32_t i = 0; i < j->hosts.count && made->known; i++)
        (void)findings_hardware_of_host(j, i, &p.machine[i + 1]);
    if (made->known)
        find_all(&p);
    for (uint32_t i = 0; i <= j->hosts.count; i++)
        findings_hardware_free(&p.machine[i]);
    free(p.machine);
}

char *findings_placement_text(const struct findings_placement *p)
{
    switch (p->kind) {
    case FINDINGS_SHARED_CORE:
        return findings_text("%s share %u of %u cores", p->ranks, p->cores, p->of);
    case FINDINGS_NARROW:
        return findings_text("%s: %u threads each on %u of %u cores", p->ranks, p->threads, p->cores, p->of);
    case FINDINGS_HYPER_THREADS:
        return findings_text("%s are hyper-threads of %u of %u cores", p->ranks, p->cores, p->of);
    case FINDINGS_MEMORY_NODES:
        return findings_text("%s: teams of %u threads over %u of %u memory nodes", p->ranks, p->threads, p->cores,
                             p->of);
    default:
        return findings_text("%s are all on %u of %u memory nodes", p->ranks, p->cores, p->of);
    }
}

/* --- Who had the processors --- */

/* ns that others had of the processors of a row, of each rank of it on the mean. What ranks of other rows had that may
   use some of them, too, is not theirs. */
static double others_of(const struct placing *p, uint32_t row)
{
    const struct job_bindings *b = &p->r->job->bindings;
    double own = 0, nodes = 0, ranks = 0;
    cpu_set_t both;

    for (uint32_t i = 0; i < p->groups; i++)
        if (p->group[i].row == row) {
            nodes++;
            ranks += p->group[i].ranks;
        }
    for (uint32_t i = 0; i < b->count; i++) {
        CPU_AND(&both, &p->set[i], &p->set[row]);
        own += CPU_COUNT(&both) ? (double)b->row[i].own_ns : 0;
    }
    return ranks > 0 ? fmax((double)b->row[row].busy_ns / ranks * nodes - own, 0) / nodes : 0;
}

static void find_own(const struct placing *p, struct findings_crowd *c)
{
    double worst = 0;

    for (uint32_t i = 0; i < p->groups; i++) {
        uint32_t threads = 0, processors = (uint32_t)CPU_COUNT(p->group[i].set);
        for (uint32_t k = 0; k < p->groups; k++)
            if (p->group[k].node == p->group[i].node && is_within(p->group[k].set, p->group[i].set))
                threads += p->group[k].ranks * (p->group[k].threads ? p->group[k].threads : 1);
        if ((double)threads / processors > worst) {
            worst = (double)threads / processors;
            *c = (struct findings_crowd){ .others = c->others, .threads = threads, .processors = processors };
        }
    }
}

struct findings_crowd findings_crowd_of(const struct report *r)
{
    const struct job_bindings *b = &r->job->bindings;
    struct placing p = { .r = r };
    struct findings_crowd c = { .others = 0 };
    double all = 0, had = 0;

    if (!b->count || r->job->info.ranks > MOST_RANKS)
        return c;
    begin(&p);
    for (uint32_t i = 0; i < p.groups; i++) {
        const struct job_binding *row = &b->row[p.group[i].row];
        double ranks = 0;
        for (uint32_t k = 0; k < p.groups; k++)
            ranks += p.group[k].row == p.group[i].row ? p.group[k].ranks : 0;
        had += others_of(&p, p.group[i].row) * p.group[i].ranks;
        all += (double)row->wall_ns / ranks * CPU_COUNT(p.group[i].set) * p.group[i].ranks;
    }
    find_own(&p, &c);
    c.others = all > 0 ? fmin(had / all, 1) : 0;
    c.known = all > 0;
    end(&p);
    return c;
}

const char *findings_crowd_text(const struct findings_crowd *c)
{
    bool own = c->known && c->threads > c->processors, others = c->known && c->others >= LEAST_OTHERS;
    const char *mine = own ? findings_text("%u threads of this job on %u processor%s", c->threads, c->processors,
                                           c->processors == 1 ? "" : "s") : "";

    if (!own && !others)
        return NULL;
    return others ? findings_text("%s%sothers had %.0f %% of these processors", mine, own ? "; " : "", 100 * c->others)
                  : mine;
}
