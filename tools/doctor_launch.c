/* SPDX-License-Identifier: MIT */
/*
 * What doctor can tell of the launch: the user's command is run with a probe in the program's place, and `pythia
 * record` behind the launcher, as it would be. Each rank's probe prints one line:
 *
 *     pythia-probe RANK HOST PRELOADED LAUNCHER THREADS PASSIVE CPUS          0 node1 1 openmpi 4 0 0-1
 *
 * Inside a launcher, rank 0 is itself the probe; of the other ranks of its node it knows the number only.
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/launcher.h"
#include "base/must.h"
#include "base/processors.h"
#include "base/topology.h"
#include "findings/hardware.h"
#include "tools/capture.h"
#include "tools/doctor.h"
#include "tools/program.h"
#include "tools/tool.h"

enum { SECONDS = 30, LONGEST_NAME = 64, LONGEST_LIST = 512 };

/* What does not spin on a core that another rank or thread needs: threads, ranks in MPI. */
enum { PASSIVE_THREADS = 1, PASSIVE_RANKS = 2 };

struct rank {
    unsigned rank, threads;
    bool preloaded;
    int passive; /* what waits without spinning: PASSIVE_THREADS, PASSIVE_RANKS */
    char host[LONGEST_NAME], launcher[LONGEST_NAME];
    char cpus[LONGEST_LIST]; /* "0-3,8" */
};

struct ranks {
    struct rank *rank;
    size_t count;
    struct findings_hardware machine;
    unsigned cores, cpus; /* of this machine */
};

/* --- The probe --- */

static bool maps_have(const char *text)
{
    static char maps[1 << 20];

    return base_io_text(maps, sizeof maps, "/proc/self/maps") && strstr(maps, text);
}

/* CPUs that this process may use, as the kernel lists them. */
static void allowed_cpus(char *list, size_t size)
{
    char text[8192];
    const char *at = base_io_text(text, sizeof text, "/proc/self/status") ? strstr(text, "Cpus_allowed_list:") : NULL;

    at = at ? at + strcspn(at, "0123456789") : "0";
    snprintf(list, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* As libgomp counts: OMP_NUM_THREADS ("4" or "4,2"), else one a CPU. */
static unsigned team_size(void)
{
    const char *given = getenv("OMP_NUM_THREADS");
    int n = given ? atoi(given) : 0;
    unsigned in_mask;

    (void)base_processors_share(&in_mask);
    return n > 0 ? (unsigned)n : in_mask;
}

static int passive_waits(void)
{
    const char *policy = getenv("OMP_WAIT_POLICY"), *yield = getenv("OMPI_MCA_mpi_yield_when_idle");
    bool ranks = doctor_built_for() != DOCTOR_OPEN_MPI || (yield && atoi(yield));

    return (policy && !strcasecmp(policy, "passive") ? PASSIVE_THREADS : 0) | (ranks ? PASSIVE_RANKS : 0);
}

static void probe(struct rank *r)
{
    long rank = base_launcher_rank();

    memset(r, 0, sizeof *r);
    r->rank = rank > 0 ? (unsigned)rank : 0;
    gethostname(r->host, sizeof r->host - 1);
    r->preloaded = maps_have("libpythia_");
    snprintf(r->launcher, sizeof r->launcher, "%s", base_launcher_name());
    allowed_cpus(r->cpus, sizeof r->cpus);
    r->threads = team_size();
    r->passive = passive_waits();
}

int doctor_probe(void)
{
    struct rank r;

    probe(&r);
    printf("pythia-probe %u %s %d %s %u %d %s\n", r.rank, r.host[0] ? r.host : "?", r.preloaded, r.launcher, r.threads,
           r.passive, r.cpus);
    if (r.preloaded && maps_have("libpythia_omp")) /* for doctor's check of the libraries themselves */
        puts("libpythia_omp.so");
    else if (r.preloaded)
        puts("libpythia_pmpi.so");
    return TOOL_OK;
}

/* --- What the probes said --- */

static bool parse_line(const char *line, struct rank *r)
{
    int preloaded, passive;

    memset(r, 0, sizeof *r);
    if (sscanf(line, "pythia-probe %u %63s %d %63s %u %d %511s", &r->rank, r->host, &preloaded, r->launcher,
               &r->threads, &passive, r->cpus) != 7)
        return false;
    r->preloaded = preloaded;
    r->passive = passive;
    return true;
}

static void parse_all(struct ranks *all, const char *text)
{
    struct rank r;

    while ((text = strstr(text, "pythia-probe ")) != NULL) {
        if (parse_line(text, &r)) {
            BASE_ADD(all->rank, all->count, r);
        }
        text++;
    }
}

/* --- Cores --- */

/* Cores below the CPUs of the list; elsewhere than on this machine CPUs. */
static unsigned count_cores(const struct findings_hardware *machine, const char *cpus)
{
    cpu_set_t set;
    bool known = base_topology_list(cpus, &set);
    unsigned cores = known ? findings_hardware_cores(machine, &set) : 0;

    return cores ? cores : known ? (unsigned)CPU_COUNT(&set) : 1;
}

static const char *unbind(const char *launcher)
{
    return !strcmp(launcher, "openmpi") ? "mpirun --bind-to none"
         : !strcmp(launcher, "slurm")   ? "srun -c THREADS, or --cpu-bind=none"
         : !strcmp(launcher, "hydra")   ? "mpirun -bind-to none"
                                        : "see taskset(1), OMP_PLACES, GOMP_CPU_AFFINITY";
}

/* Whether the threads of one rank find a core each. */
static void check_binding(const struct ranks *all)
{
    const struct rank *worst = NULL;
    unsigned worst_cores = 0;

    for (size_t i = 0; i < all->count; i++) {
        unsigned cores = count_cores(&all->machine, all->rank[i].cpus);
        if (all->rank[i].threads > cores && (!worst || cores < worst_cores)) {
            worst = &all->rank[i];
            worst_cores = cores;
        }
    }
    if (!worst)
        GOOD("binding", "every thread of a rank has a core (rank %u: %u thread%s, CPUs %s)", all->rank[0].rank,
             all->rank[0].threads, all->rank[0].threads == 1 ? "" : "s", all->rank[0].cpus);
    else if (worst_cores < all->cores)
        NOTE("binding", unbind(worst->launcher), "the %u threads of rank %u share %u of %u cores (CPUs %s)",
             worst->threads, worst->rank, worst_cores, all->cores, worst->cpus);
    else
        NOTE("binding", "fewer threads: OMP_NUM_THREADS",
             "the %u threads of rank %u share the %u core%s of this machine", worst->threads, worst->rank, worst_cores,
             worst_cores == 1 ? "" : "s");
}

/* Threads of all ranks on the host of rank[0] against the CPUs that they may use together. */
static void check_load(const struct ranks *all, bool no_openmp)
{
    int passive = no_openmp ? PASSIVE_RANKS : PASSIVE_THREADS | PASSIVE_RANKS;
    bool open_mpi = doctor_built_for() == DOCTOR_OPEN_MPI;
    cpu_set_t together, one;
    unsigned threads = 0, ranks = 0;
    double limit = base_processors_quota_here();

    CPU_ZERO(&together);
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->rank[i].host, all->rank[0].host)) {
            ranks++;
            threads += all->rank[i].threads;
            if (base_topology_list(all->rank[i].cpus, &one))
                CPU_OR(&together, &together, &one);
        }
    unsigned cpus = CPU_COUNT(&together) ? (unsigned)CPU_COUNT(&together) : 1;
    if (limit > 0 && threads > limit)
        NOTE("cores", "fewer ranks or threads, or a larger quota",
             "%u rank%s of %u threads together; the control group pays for %.1f CPUs", ranks, ranks == 1 ? "" : "s",
             threads, limit);
    else if (threads <= cpus)
        GOOD("cores", "%u rank%s, %u thread%s together, on %u CPU%s", ranks, ranks == 1 ? "" : "s", threads,
             threads == 1 ? "" : "s", cpus, cpus == 1 ? "" : "s");
    else if (cpus < all->cpus)
        NOTE("cores", unbind(all->rank[0].launcher), "%u ranks of %u threads together are bound to %u of %u CPUs",
             ranks, threads, cpus, all->cpus);
    else if ((all->rank[0].passive & passive) == passive)
        NOTE("cores", NULL,
             "oversubscribed: %u rank%s of %u threads together on %u CPUs; waiting is passive, so they only take "
             "turns", ranks, ranks == 1 ? "" : "s", threads, cpus);
    else
        NOTE("cores",
             !open_mpi   ? "fewer, or OMP_WAIT_POLICY=passive"
             : no_openmp ? "fewer, or OMPI_MCA_mpi_yield_when_idle=1"
                         : "fewer, or OMP_WAIT_POLICY=passive OMPI_MCA_mpi_yield_when_idle=1",
             "oversubscribed: %u rank%s of %u threads together on %u CPUs, and they spin while they wait", ranks,
             ranks == 1 ? "" : "s", threads, cpus);
}

/* --- Launching --- */

/* Why a launcher did not start its ranks. */
static void explain(const char *launcher, struct captured *c)
{
    const char *repair = "try the launcher alone: it must start hostname";
    char *line = c->text + strspn(c->text, "- \t\r\n");

    if (c->timed_out)
        repair = "it hung; try the launcher alone";
    else if (strstr(c->text, "as root"))
        repair = "another user, or OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
    else if (strstr(c->text, "enough slots") && strstr(c->text, "PRRTE")) /* Open MPI 5 */
        repair = "mpirun --map-by :oversubscribe, or PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe";
    else if (strstr(c->text, "enough slots"))
        repair = "mpirun --oversubscribe, or OMPI_MCA_rmaps_base_oversubscribe=1";
    line[strcspn(line, "\n")] = '\0';
    FAIL("launch", repair, "%s did not start the ranks (exit code %d): %s", launcher, c->status,
         *line ? line : "it said nothing");
}

static void check_ranks(const struct ranks *all, const char *how)
{
    size_t preloaded = 0;

    for (size_t i = 0; i < all->count; i++)
        preloaded += all->rank[i].preloaded;
    if (preloaded < all->count)
        FAIL("launch", "put pythia record right in front of the program, or link with -lpythia_pmpi",
             "%s: LD_PRELOAD does not reach %zu of %zu ranks", how, all->count - preloaded, all->count);
    else
        GOOD("launch", "%s: the preload reaches %zu of %zu rank%s", how, preloaded, all->count,
             all->count == 1 ? "" : "s");
}

/* The launcher of the other MPI starts N times one rank. */
static void check_family(const struct ranks *all, const struct doctor_target *t, const char *launcher)
{
    enum doctor_mpi wants = t ? t->mpi : doctor_built_for();
    const char *started_by = all->rank[0].launcher;

    if ((wants == DOCTOR_OPEN_MPI && !strcmp(started_by, "hydra")) ||
        (wants == DOCTOR_MPICH && !strcmp(started_by, "openmpi")))
        FAIL("launcher", wants == DOCTOR_MPICH ? "use mpirun.mpich" : "use mpirun.openmpi",
             "%s is of another MPI than %s: each rank would be alone", launcher, doctor_mpi_name(wants));
}

/* The command with `pythia record` behind its launcher, where it stands nowhere yet, and the probe for the program.
   malloc'ed; `self` is this command. */
static char **make_command(char **words, size_t count, size_t launcher, char *self)
{
    char **argv = calloc(count + 8, sizeof *argv);
    bool there = false;
    size_t at = 0;

    for (size_t i = launcher; i + 1 < count; i++)
        there |= !strcmp(words[i + 1], "record") || !strcmp(words[i + 1], "predict");
    for (size_t i = 0; i <= count; i++) {
        if (i == launcher && !there) {
            argv[at++] = self;
            argv[at++] = "record";
        }
        if (i < count)
            argv[at++] = words[i];
    }
    argv[at++] = self;
    argv[at++] = "doctor";
    argv[at] = "--probe";
    return argv;
}

/* Says so where a launcher in front of the program is not here. */
static bool check_commands(char **words, size_t count)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < count; i++)
        if (program_is_launcher(words[i]) && program_find(words[i], path, sizeof path) != 0) {
            FAIL("launch", "load its module, or give a launcher that is here (mpirun -n 2)",
                 "there is no %s%s", words[i], strchr(words[i], '/') ? "" : " in PATH");
            return false;
        }
    return true;
}

/* Starts the probe behind `words`, the first `launcher` of which are those of the launcher. */
static void launch(struct ranks *all, const struct doctor_target *t, char **words, size_t count, size_t launcher,
                   const char *how)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct captured c;

    if (n <= 0 || !check_commands(words, count))
        return;
    self[n] = '\0';
    BASE_OWN char **argv = make_command(words, count, launcher, self);
    if (capture(argv, NULL, SECONDS, &c) == 0) {
        parse_all(all, c.text);
        if (!all->count) {
            explain(words[0], &c);
        } else {
            check_ranks(all, how);
            check_family(all, t, words[0]);
        }
        captured_free(&c);
    }
}

/* Rank 0 inside a launcher: the other ranks of this node are like itself, wherever on the machine they are bound. */
static void inside(struct ranks *all)
{
    long here = base_launcher_local_ranks(), all_ranks = base_launcher_ranks();
    unsigned local = (unsigned)(here > 0 ? here : all_ranks > 0 ? all_ranks : 1);

    all->rank = calloc(local, sizeof *all->rank);
    all->count = local;
    probe(&all->rank[0]);
    for (unsigned i = 1; i < local; i++) {
        all->rank[i] = all->rank[0];
        all->rank[i].rank = i;
        snprintf(all->rank[i].cpus, sizeof all->rank[i].cpus, "0-%u", all->cpus - 1);
    }
    GOOD("launch", "inside a launcher, %u rank%s on this node", local, local == 1 ? "" : "s");
}

/* Where no launcher was given and the program is of MPI: two ranks by the one that users type. */
static void launch_default(struct ranks *all, const struct doctor_target *t)
{
    char *prefix[] = { "mpirun", "-n", "2" }, path[PATH_MAX];

    if (program_find(prefix[0], path, sizeof path) != 0)
        NOTE("launch", "give your launcher: pythia doctor -- LAUNCHER... ./app", "there is no mpirun in PATH");
    else
        launch(all, t, prefix, 3, 3, "mpirun -n 2");
}

/* "mpirun -n 4": the words before the program, for people. */
static void join(char **words, size_t count, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? " " : "", words[i]);
    }
}

static void choose_and_launch(struct ranks *all, const struct doctor_target *t)
{
    char how[256] = "started directly";

    if (base_launcher_rank() >= 0) {
        inside(all);
    } else if (t && t->program) {
        join(t->argv, t->program, how, sizeof how);
        launch(all, t, t->argv, t->program, program_behind_launchers(t->argv), how);
    } else if (t ? t->mpi == DOCTOR_OPEN_MPI || t->mpi == DOCTOR_MPICH : doctor_built_for() != DOCTOR_NO_MPI) {
        launch_default(all, t);
    } else {
        all->rank = calloc(1, sizeof *all->rank);
        all->count = 1;
        probe(all->rank);
    }
}

void doctor_launch(const struct doctor_target *t)
{
    struct ranks all = { 0 };

    if (!findings_hardware_here(&all.machine))
        return;
    all.cpus = (unsigned)CPU_COUNT(&all.machine.all);
    all.cores = findings_hardware_cores(&all.machine, &all.machine.all);
    if (!all.cores)
        all.cores = all.cpus;
    choose_and_launch(&all, t);
    for (size_t i = 0; t && t->no_openmp && i < all.count; i++)
        all.rank[i].threads = 1;
    if (all.count) {
        check_binding(&all);
        check_load(&all, t && t->no_openmp);
    }
    free(all.rank);
    findings_hardware_free(&all.machine);
}
