/* SPDX-License-Identifier: MIT */
/* Ranks put on a machine of 2 x 64 x 2 processors, well and badly: what is said of it. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "findings/hardware.h"
#include "findings/placement.h"
#include "job/schema.h"
#include "merge/merge.h"
#include "tests/unit/unit.h"

enum { RANKS = 8, PACKAGE = 128 /* processors: 2 a core */ };

static void add_machine(struct job *j)
{
    setenv("HWLOC_SYNTHETIC", "pack:2 numa:1 core:64 pu:2", 1);
    ck_assert(findings_hardware_keep(j));
    ck_assert_ptr_nonnull(strstr(findings_hardware_tree(j), "128 x core"));
}

/* Rank i has `width` processors from first + i * step on; so many ranks a node. */
struct plan { int first, step, width; uint32_t threads, a_node; const char *mpi, *each; };

static struct job *one_rank(const struct plan *p, uint32_t rank)
{
    struct job *j = job_create();
    char text[64];
    int at = p->first + (int)(rank % p->a_node) * p->step;
    j->info.ranks = RANKS;
    j->info.mpi = job_string(j, p->mpi);
    snprintf(text, sizeof text, "%d-%d", at, at + p->width - 1);
    ck_assert_int_eq(job_binding_add(j, rank, p->width > 1 ? text : strtok(text, "-"), p->each,
                                     &(struct job_binding){ .threads = p->threads }), 0);
    if (p->a_node < RANKS) {
        struct job_run own = { rank / p->a_node * p->a_node, p->a_node, 1 };
        ck_assert_int_eq(job_comm_add_members(j, job_comm(j, "node", p->a_node), &own, 1, NULL, 0), 0);
    }
    return j;
}

static struct job *placed(const struct plan *p)
{
    struct job *all = job_create();
    char why[256];
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct job *one = one_rank(p, rank);
        ck_assert_int_eq(merge_job(all, one), 0);
        job_destroy(one);
    }
    add_machine(all);
    ck_assert_msg(job_rows_check(all, JOB_TABLE_BINDINGS, why, sizeof why) == 0, "%s", why);
    return all;
}

static const struct {
    struct plan plan;
    const char *kinds, *text; /* of the first one */
} cases[] = {
    { { 0, 32, 2, 1, 8, "Open MPI", NULL }, "", "" }, /* a core each, on both memory nodes */
    { { 0, 0, 1, 1, 8, "Open MPI", NULL }, "shared_core uneven ", "ranks 0-7 share 1 of 128 cores" },
    { { 0, 0, 256, 1, 8, "Open MPI", NULL }, "", "" }, /* bound to nothing */
    { { 0, 0, 256, 99, 8, "Open MPI", NULL }, "", "" }, /* teams that need all of it, and more */
    { { 0, 32, 2, 8, 8, "Open MPI", NULL }, "narrow ", "ranks 0-7: 8 threads each on 1 of 128 cores" },
    { { 0, 32, 16, 8, 8, "Open MPI", NULL }, "", "" }, /* eight cores each */
    { { 0, 32, 16, 8, 8, "Open MPI", "0;2;4;6;8;10;12;14" }, "", "" }, /* a thread each */
    { { 0, 32, 16, 8, 8, "Open MPI", "0;0;0;6;8;10;12;14" }, "narrow ", "ranks 0-7: 3 threads each on 1 of 128 cores" },
    { { 0, 32, 16, 4, 8, "Open MPI", "0-3;0-3;0-3;8" }, "narrow ", "ranks 0-7: 3 threads each on 2 of 128 cores" },
    { { 0, 32, 16, 4, 8, "Open MPI", "0-1;0-15;0-15;0-15" }, "", "" }, /* the others can go elsewhere */
    { { 0, 32, 1, 1, 8, "Open MPI", NULL }, "", "" }, /* one of two processors of a core each */
    { { 0, 1, 1, 1, 8, "Open MPI", NULL }, "hyper_threads uneven ", "ranks 0-7 are hyper-threads of 4 of 128 cores" },
    { { 120, 0, 16, 8, 8, "Open MPI", NULL }, "memory_nodes ",
      "ranks 0-7: teams of 8 threads over 2 of 2 memory nodes" },
    { { 0, 2, 2, 1, 8, "Open MPI", NULL }, "uneven ", "ranks 0-7 are all on 1 of 2 memory nodes" },
    { { 0, 128, 2, 1, 2, "Open MPI", NULL }, "", "" }, /* the same processors, on four nodes */
    { { 0, 0, 1, 1, 2, "MPICH Version: 4", NULL }, "shared_core uneven ", "ranks 0-7 share 1 of 128 cores" },
};

START_TEST(what_is_planted_is_named)
{
    struct job *j = placed(&cases[_i].plan);
    struct report r = { .job = j };
    struct findings_placements p;
    char kinds[256] = "";
    findings_placements_of(&r, &p);
    ck_assert(p.known);
    for (uint32_t i = 0; i < p.count; i++) {
        strcat(strcat(kinds, findings_placement_name(p.of[i].kind)), " ");
        ck_assert_msg(strstr(p.of[i].mend, "mpirun ") && strstr(p.of[i].slurm, "srun "), "%s", p.of[i].mend);
        ck_assert_msg(!strstr(cases[_i].plan.mpi, "MPICH") == !strstr(p.of[i].mend, "-bind-to core") ||
                      strstr(p.of[i].mend, "--bind-to core"), "%s", p.of[i].mend);
    }
    ck_assert_str_eq(kinds, cases[_i].kinds);
    ck_assert_str_eq(p.count ? findings_placement_text(&p.of[0]) : "", cases[_i].text);
    job_destroy(j);
}
END_TEST

/* Nodes of another kind, four cores with a processor each: what is well there would be hyper-threads on the first
   rank's, and the other way round. */
START_TEST(each_kind_of_node)
{
    static const char *const texts[2][2] = { { "0,4;1,5;2,6;3,7", "0,1,2,3,4,5,6,7" },
                                                { "0;1;2;3;4;5", "0,1,2,3,4,5" } };
    struct findings_placements p;
    struct job *all = job_create();
    char text[16], why[256];
    for (uint32_t rank = 0; rank < RANKS; rank++) { /* two on processors 0 and 4 of each node */
        struct job *j = job_create();
        struct job_run own = { rank / 2 * 2, 2, 1 };
        j->info.ranks = RANKS;
        j->info.mpi = job_string(j, "Open MPI");
        snprintf(text, sizeof text, "%u", rank % 2 * 4);
        ck_assert_int_eq(job_binding_add(j, rank, text, NULL, &(struct job_binding){ .threads = 1 }), 0);
        ck_assert_int_eq(job_comm_add_members(j, job_comm(j, "node", 2), &own, 1, NULL, 0), 0);
        if (rank % 2 == 0)
            ck_assert_int_eq(job_host_add(j, rank, texts[rank / 2 % 2][0], texts[rank / 2 % 2][1]), 0);
        ck_assert_int_eq(merge_job(all, j), 0);
        job_destroy(j);
    }
    struct job_hardware first = { job_string(all, "-"), job_string(all, "-"), job_string(all, texts[0][0]),
                                  job_string(all, texts[0][1]) };
    ck_assert_int_eq(job_rows_add(all, JOB_TABLE_HARDWARE, &first), 0);
    ck_assert_uint_eq(all->hosts.count, 2);
    ck_assert_msg(job_rows_check(all, JOB_TABLE_HOSTS, why, sizeof why) == 0, "%s", why);
    findings_placements_of(&(struct report){ .job = all }, &p);
    ck_assert_uint_eq(p.count, 1);
    ck_assert_str_eq(findings_placement_text(&p.of[0]), "ranks 0,1,4-5 are hyper-threads of 1 of 4 cores");
    job_destroy(all);
}
END_TEST

/* --- On whatever machine HWLOC_XMLFILE names --- */

/* What the planted placements of a machine are made of: its own cores and memory nodes. */
static struct findings_hardware any;

static bool loaded(void)
{
    if (!getenv("HWLOC_XMLFILE"))
        setenv("HWLOC_SYNTHETIC", "pack:2 numa:2 core:4 pu:2", 1);
    return any.cores || findings_hardware_here(&any);
}

static void add_set(struct job *j, uint32_t rank, const cpu_set_t *set, uint32_t threads)
{
    static char text[1 << 14];
    size_t used = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, set))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", used ? "," : "", i);
    ck_assert_int_eq(job_binding_add(j, rank, text, NULL, &(struct job_binding){ .threads = threads }), 0);
}

/* The n-th core of a memory node; its first processors, all of them with 0. */
static cpu_set_t core_of(unsigned node, unsigned n, int processors)
{
    cpu_set_t both, first;
    unsigned at = 0;
    CPU_ZERO(&first);
    for (unsigned i = 0; i < any.cores; i++) {
        CPU_AND(&both, &any.core[i], &any.node[node]);
        if (!CPU_COUNT(&both) || at++ != n)
            continue;
        for (int k = 0; k < CPU_SETSIZE && (!processors || CPU_COUNT(&first) < processors); k++)
            if (CPU_ISSET(k, &any.core[i]))
                CPU_SET(k, &first);
    }
    return first;
}

static unsigned cores_in(unsigned node)
{
    return findings_hardware_cores(&any, &any.node[node]);
}

/* What is found of ranks with these sets. */
static const char *found(const cpu_set_t *sets, uint32_t ranks, uint32_t threads)
{
    static char kinds[256];
    struct findings_placements p;
    struct job *all = job_create();
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct job *j = job_create();
        j->info.ranks = ranks;
        j->info.mpi = job_string(j, "Open MPI");
        add_set(j, rank, &sets[rank], threads);
        ck_assert_int_eq(merge_job(all, j), 0);
        job_destroy(j);
    }
    ck_assert(findings_hardware_keep(all));
    findings_placements_of(&(struct report){ .job = all }, &p);
    kinds[0] = '\0';
    for (uint32_t i = 0; i < p.count; i++)
        strcat(strcat(kinds, findings_placement_name(p.of[i].kind)), " ");
    job_destroy(all);
    return kinds;
}

/* As many ranks as there are memory nodes, at least two: on which, spread and packed. */
START_TEST(on_a_real_machine)
{
    cpu_set_t sets[64];
    ck_assert(loaded());
    uint32_t ranks = any.nodes < 2 ? 2 : any.nodes < 64 ? any.nodes : 64, uneven = any.nodes > 1;
    printf("# %u cores, %u memory nodes, %d processors\n", any.cores, any.nodes, CPU_COUNT(&any.all));
    if (any.cores < 4)
        return;
    for (uint32_t i = 0; i < ranks; i++)
        sets[i] = any.nodes > 1 ? core_of(i, 0, 0) : core_of(0, i, 0);
    ck_assert_str_eq(found(sets, ranks, 1), "");
    for (uint32_t i = 0; i < ranks; i++)
        sets[i] = any.all;
    ck_assert_str_eq(found(sets, ranks, 1), "");
    for (uint32_t i = 0; i < ranks; i++)
        sets[i] = core_of(0, 0, 1);
    ck_assert_str_eq(found(sets, ranks, 1), uneven ? "shared_core uneven " : "shared_core ");
    sets[0] = core_of(0, 0, 1);
    ck_assert_str_eq(found(sets, 1, 4), "narrow ");
    for (uint32_t i = 0; i < 2; i++)
        sets[i] = core_of(0, i, 0);
    if (cores_in(0) > 1)
        ck_assert_str_eq(found(sets, 2, 1), uneven ? "uneven " : "");
    sets[1] = sets[0] = core_of(0, 0, 0);
    if (CPU_COUNT(&sets[0]) > 1) { /* one of its processors each */
        sets[0] = core_of(0, 0, 1);
        CPU_XOR(&sets[1], &sets[1], &sets[0]);
        ck_assert_str_eq(found(sets, 2, 1), uneven ? "hyper_threads uneven " : "hyper_threads ");
    }
    if (any.nodes > 1 && cores_in(0) > 1 && cores_in(0) * any.nodes == any.cores) {
        cpu_set_t other = core_of(1, 0, 0);
        sets[0] = core_of(0, 0, 0);
        CPU_OR(&sets[0], &sets[0], &other);
        ck_assert_str_eq(found(sets, 1, 2), "memory_nodes ");
    }
    sets[0] = any.node[0]; /* a team in the cores of one */
    ck_assert_str_eq(found(sets, 1, cores_in(0)), "");
}
END_TEST

/* Memory that has no processors of its own is none that ranks could be put on. */
START_TEST(memory_beside)
{
    struct job *j = job_create();
    struct findings_hardware h;
    struct job_hardware row = { job_string(j, "-"), job_string(j, "-"), job_string(j, "0;1;2;3"),
                                job_string(j, "0,1;2,3;0,1;0,1,2,3") };
    ck_assert_int_eq(job_rows_add(j, JOB_TABLE_HARDWARE, &row), 0);
    ck_assert(findings_hardware_of(j, &h));
    ck_assert_uint_eq(h.nodes, 2);
    ck_assert(CPU_ISSET(1, &h.node[0]) && CPU_ISSET(2, &h.node[1]));
    findings_hardware_free(&h);
    job_destroy(j);
}
END_TEST

START_TEST(without_a_machine_nothing_is_said)
{
    struct job *j = one_rank(&cases[1].plan, 0);
    struct report r = { .job = j };
    struct findings_placements p;
    findings_placements_of(&r, &p);
    ck_assert(!p.known && !p.count);
    job_destroy(j);
}
END_TEST

/* Ranks of so many threads on processors, on nodes of so many ranks, each busy for so long in 1000 ns a processor, and
   by each rank itself for so long: what others had, and the text. */
static void expect_crowd(const char *processors, uint32_t threads, uint32_t a_node, uint64_t busy, uint64_t own,
                         double others, const char *text)
{
    struct job *all = job_create();
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct job *j = job_create();
        struct job_run node = { rank / a_node * a_node, a_node, 1 };
        j->info.ranks = RANKS;
        ck_assert_int_eq(job_binding_add(j, rank, processors, NULL,
                                         &(struct job_binding){ .threads = threads, .busy_ns = busy, .own_ns = own,
                                                                .wall_ns = 1000 }), 0);
        ck_assert_int_eq(job_comm_add_members(j, job_comm(j, "node", a_node), &node, 1, NULL, 0), 0);
        ck_assert_int_eq(merge_job(all, j), 0);
        job_destroy(j);
    }
    struct findings_crowd c = findings_crowd_of(&(struct report){ .job = all });
    const char *said = findings_crowd_text(&c);
    ck_assert(c.known);
    ck_assert_double_eq_tol(c.others, others, 1e-9);
    ck_assert_str_eq(said ? said : "", text);
    job_destroy(all);
}

START_TEST(who_had_the_processors)
{
    expect_crowd("0-7", 1, 8, 8000, 1000, 0, "");                  /* a processor each, all theirs */
    expect_crowd("0-7", 1, 4, 4000, 1000, 0, "");                  /* two nodes, half of each */
    expect_crowd("0-7", 1, 4, 7200, 1000, .4, "others had 40 % of these processors");
    expect_crowd("0-3", 1, 8, 4000, 500, 0, "8 threads of this job on 4 processors");
    expect_crowd("0-3", 2, 8, 4000, 250, .5,
                 "16 threads of this job on 4 processors; others had 50 % of these processors");
}
END_TEST

/* In the place of the C library's: what is read says nothing that a processor had to be visited for. */
static unsigned moves;

__attribute__((visibility("default"))) int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    moves++;
    return (int)syscall(SYS_sched_setaffinity, pid, size, set);
}

START_TEST(a_machine_is_kept_once)
{
    struct job *j = job_create();
    ck_assert(findings_hardware_keep(j));
    ck_assert_uint_eq(moves, 0);
    ck_assert(!findings_hardware_keep(j));
    struct findings_hardware of, here;
    ck_assert(findings_hardware_of(j, &of) && findings_hardware_here(&here));
    ck_assert(CPU_EQUAL(&of.all, &here.all));
    ck_assert_uint_eq(of.cores, here.cores);
    ck_assert_uint_eq(of.nodes, here.nodes);
    findings_hardware_free(&of);
    findings_hardware_free(&here);
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(what_is_planted_is_named, UNIT_COUNT(cases)),
        UNIT_TEST(without_a_machine_nothing_is_said),
        UNIT_TEST(each_kind_of_node),
        UNIT_TEST(on_a_real_machine),
        UNIT_TEST(memory_beside),
        UNIT_TEST(who_had_the_processors),
        UNIT_TEST(a_machine_is_kept_once),
    };
    return unit_run("findings/placement", tests, UNIT_COUNT(tests));
}
