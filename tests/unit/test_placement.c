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
    ck_assert(report_hardware_keep(j));
    ck_assert_ptr_nonnull(strstr(report_hardware_tree(j), "128 x core"));
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
    struct report_placements p;
    char kinds[256] = "";
    report_placements_of(&r, &p);
    ck_assert(p.known);
    for (uint32_t i = 0; i < p.count; i++) {
        strcat(strcat(kinds, report_placement_name(p.of[i].kind)), " ");
        ck_assert_msg(strstr(p.of[i].mend, "mpirun ") && strstr(p.of[i].slurm, "srun "), "%s", p.of[i].mend);
        ck_assert_msg(!strstr(cases[_i].plan.mpi, "MPICH") == !strstr(p.of[i].mend, "-bind-to core") ||
                      strstr(p.of[i].mend, "--bind-to core"), "%s", p.of[i].mend);
    }
    ck_assert_str_eq(kinds, cases[_i].kinds);
    ck_assert_str_eq(p.count ? report_placement_text(&p.of[0]) : "", cases[_i].text);
    job_destroy(j);
}
END_TEST

START_TEST(without_a_machine_nothing_is_said)
{
    struct job *j = one_rank(&cases[1].plan, 0);
    struct report r = { .job = j };
    struct report_placements p;
    report_placements_of(&r, &p);
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
    struct report_crowd c = report_crowd_of(&(struct report){ .job = all });
    const char *said = report_crowd_text(&c);
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
    ck_assert(report_hardware_keep(j));
    ck_assert_uint_eq(moves, 0);
    ck_assert(!report_hardware_keep(j));
    struct report_hardware of, here;
    ck_assert(report_hardware_of(j, &of) && report_hardware_here(&here));
    ck_assert(CPU_EQUAL(&of.all, &here.all));
    ck_assert_uint_eq(of.cores, here.cores);
    ck_assert_uint_eq(of.nodes, here.nodes);
    report_hardware_free(&of);
    report_hardware_free(&here);
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(what_is_planted_is_named, UNIT_COUNT(cases)),
        UNIT_TEST(without_a_machine_nothing_is_said),
        UNIT_TEST(who_had_the_processors),
        UNIT_TEST(a_machine_is_kept_once),
    };
    return unit_run("findings/placement", tests, UNIT_COUNT(tests));
}
