/* SPDX-License-Identifier: MIT */
/*
 * Writes job files for the tests of the command, without a run.
 *
 *   make_job ring FILE         4 ranks x 100 turns: Isend to own + 1, Irecv from own - 1, Waitall; times known exactly
 *   make_job parts DIR         the same, each rank in DIR/rank-N.pythia
 *   make_job hybrid FILE       1 rank: a parallel region of varying team size with a Barrier inside
 *   make_job long FILE [EVENTS]   1 rank of four million events, or so many: an expansion that takes seconds
 *   make_job empty FILE        no stream
 *   make_job many FILE SITES EVENTS   1 rank: that many callsites, then events among them without order
 *   make_job names FILE        1 rank: names with quotes, blanks, tags, line ends, escapes, UTF-8 and what is none,
 *                              2000 characters, a formula
 *   make_job counted FILE      ring; a plugin counted instructions and cycles before calls
 *   make_job predicted FILE    ring, predicted: 8 of 10 right at distance 1, calibrated
 *   make_job changed FILE ring|hybrid|many [ranks N] [turns N] [turnsP N] [slow N] [one N] [team N] [barrier N]
 *                              [path N] [build N] [size N]
 *                              the same with N ranks; N turns, or N a rank; regions and waits slower by N %, the first
 *                              of many calls by N % more; teams
 *                              larger by N; a Barrier at the end of each turn; another build, whose calls are N bytes
 *                              further on; an Isend more, at the same place but called from N; started with
 *                              --size N, which is 10 else
 *   make_job at FILE MODULE BUILD-ID CALL ENTRY [ABOVE]   a call that returns to CALL, in what returns to ABOVE; a region
 *                              whose function begins at ENTRY
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "grammar/grammar.h"
#include "job/flow.h"
#include "job/job.h"
#include "merge/merge.h"

enum { RANKS = 4, LONG = 4000000 };

/* What `changed` changes. */
static struct { uint32_t ranks, turns, slow, one, team, barrier, path, build, size; } with = {
    .ranks = RANKS, .turns = 100, .size = 10 };

static void require(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "make_job: %s failed\n", what);
    exit(1);
}

static uint32_t site(struct job *j, const char *module, const char *id, uint64_t offset)
{
    char build[32];
    snprintf(build, sizeof build, "%s%u", id, with.build);
    struct job_frame f = {.module = job_module(j, module, with.build ? build : id), .offset = offset + with.build};
    return job_callsite(j, &f, 1);
}

static uint32_t call(struct job *j, const char *function, uint64_t offset, uint8_t call_kind)
{
    struct job_terminal t = { .kind = JOB_CALL,
                              .call_kind = call_kind,
                              .function = job_string(j, function),
                              .callsite = site(j, "/nowhere/ring", "abcd", offset),
                              .comm = job_comm(j, "world", with.ranks) };
    t.peer_class = call_kind == JOB_P2P ? JOB_PEER_RANK : JOB_PEER_NONE;
    return job_terminal(j, &t);
}

/* The same call, with a frame more around it. */
static uint32_t call_from(struct job *j, uint32_t terminal, uint64_t offset)
{
    struct job_terminal t = j->terminals[terminal];
    struct job_frame f[2] = { j->frames[j->callsites[t.callsite].first] };
    f[1] = f[0];
    f[1].offset = offset;
    t.callsite = job_callsite(j, f, 2);
    return job_terminal(j, &t);
}

static struct job *create(const char *program, uint32_t ranks)
{
    struct job *j = job_create();
    require(j != NULL, "job_create");
    j->info.program = job_string(j, program);
    j->info.program_id = job_string(j, "abcd");
    char arguments[40];
    snprintf(arguments, sizeof arguments, "./ring --size %u", with.size);
    j->info.arguments = job_string(j, arguments);
    j->info.mpi = job_string(j, "An MPI, for tests");
    j->info.ranks = ranks;
    j->info.threads = 2;
    j->info.runs = 1;
    return j;
}

static void finish(struct job *j, struct grammar *g, uint32_t rank, uint64_t mpi_ns, uint64_t omp_ns)
{
    struct grammar_flat *flat = grammar_freeze(g);
    struct job_stream s = {.rank = rank, .mpi_ns = mpi_ns, .omp_ns = omp_ns, .cost_ns = 1000};
    require(flat != NULL, "grammar_freeze");
    grammar_destroy(g);
    s.events = flat->events;
    for (uint32_t n = 0; n < flat->rules[0].length; n++)
        s.wall_ns += flat->stats[n].gap.sum + flat->stats[n].duration.sum;
    j->info.wall_ns = s.wall_ns > j->info.wall_ns ? s.wall_ns : j->info.wall_ns;
    require(merge_add_stream(j, &s, flat) == 0, "merge_add_stream");
}

static void event(struct grammar *g, uint32_t terminal, uint64_t gap, uint64_t duration)
{
    struct grammar_event e = {.terminal = terminal, .gap = gap, .duration = duration};
    grammar_append(g, &e);
}

static void message(struct grammar *g, uint32_t terminal, uint32_t peer)
{
    struct grammar_event e = {.terminal = terminal, .gap = 1000, .duration = 500,
                              .channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES};
    e.value[GRAMMAR_PEER] = peer;
    e.value[GRAMMAR_BYTES] = 800;
    grammar_append(g, &e);
}

/* All messages of a call of one rank. */
static void messages(struct job *j, uint32_t rank, uint32_t terminal, bool receives, uint32_t peer)
{
    require(job_flow_add(j, rank, terminal, receives, peer, with.turns, 800 * with.turns) == 0, "job_flow_add");
    require(job_flows_settle(j) == 0, "job_flows_settle");
}

static uint64_t slower(uint64_t ns)
{
    return ns + ns * with.slow / 100;
}

static void add_ring_rank(struct job *j, uint32_t rank)
{
    uint32_t init = call(j, "MPI_Init", 0x100, JOB_LIFE), finalize = call(j, "MPI_Finalize", 0x500, JOB_LIFE);
    uint32_t irecv = call(j, "MPI_Irecv", 0x200, JOB_P2P), isend = call(j, "MPI_Isend", 0x300, JOB_P2P);
    uint32_t waitall = call(j, "MPI_Waitall", 0x400, JOB_COMPLETION);
    uint32_t barrier = with.barrier ? call(j, "MPI_Barrier", 0x480, JOB_COLLECTIVE) : GRAMMAR_NONE;
    uint32_t other = with.path ? call_from(j, isend, with.path) : GRAMMAR_NONE;
    struct grammar *g = grammar_create(1 << 20);
    require(g != NULL, "grammar_create");
    event(g, init, 0, 1000000);
    for (int i = 0; i < (int)with.turns; i++) {
        message(g, irecv, (rank + with.ranks - 1) % with.ranks);
        message(g, isend, (rank + 1) % with.ranks);
        event(g, waitall, 2000, slower(10000 + 1000 * (uint64_t)rank));
        if (with.path)
            message(g, other, (rank + 1) % with.ranks);
        if (with.barrier)
            event(g, barrier, 10, 700);
    }
    event(g, finalize, 5000, 2000);
    messages(j, rank, irecv, true, (rank + with.ranks - 1) % with.ranks);
    messages(j, rank, isend, false, (rank + 1) % with.ranks);
    if (with.path)
        messages(j, rank, other, false, (rank + 1) % with.ranks);
    finish(j, g, rank, 1002000 + with.turns * (1000 + slower(10000 + 1000 * (uint64_t)rank)), 0);
}

static struct job *make_ring(uint32_t first, uint32_t count)
{
    struct job *j = create("/nowhere/ring", with.ranks);
    for (uint32_t rank = first; rank < first + count; rank++)
        add_ring_rank(j, rank);
    struct job_run world = { .count = with.ranks, .stride = 1 };
    require(job_comm_add_members(j, job_comm(j, "world", with.ranks), &world, 1, NULL, 0) == 0, "job_comm_add_members");
    return j;
}

static struct job *make_hybrid(void)
{
    struct job *j = create("/nowhere/hybrid", 1);
    struct job_terminal t = {.kind = JOB_REGION, .phase = JOB_OPEN, .function = job_string(j, "omp parallel"),
                             .callsite = site(j, "/nowhere/ring", "abcd", 0x600), .comm = GRAMMAR_NONE};
    uint32_t open = job_terminal(j, &t);
    t.phase = JOB_CLOSE;
    uint32_t close = job_terminal(j, &t);
    t.phase = JOB_LEAF;
    uint32_t leaf = job_terminal(j, &t), barrier = call(j, "MPI_Barrier", 0x700, JOB_COLLECTIVE);
    struct grammar *g = grammar_create(1 << 20);
    for (int i = 0; i < 50; i++) {
        struct grammar_event e = {.terminal = leaf, .gap = 100, .duration = slower(1000u * (1 + (unsigned)i % 2)),
                                  .channels = 1u << GRAMMAR_TEAM};
        e.value[GRAMMAR_TEAM] = (i % 2 ? 1 : 2) + with.team;
        grammar_append(g, &e);
        event(g, open, 100, 0);
        event(g, barrier, 30, 40);
        e.terminal = close;
        e.gap = 60;
        e.duration = 0;
        e.value[GRAMMAR_TEAM] = 4;
        grammar_append(g, &e);
    }
    finish(j, g, 0, 50 * 40, 50 * slower(1500) + 50 * 90);
    return j;
}

static struct job *make_long(uint32_t events)
{
    struct job *j = create("/nowhere/long", 1);
    uint32_t barrier = call(j, "MPI_Barrier", 0x100, JOB_COLLECTIVE);
    struct grammar *g = grammar_create(1 << 20);
    for (uint32_t i = 0; i < events; i++)
        event(g, barrier, 10, 10);
    finish(j, g, 0, 10 * (uint64_t)events, 0);
    return j;
}

/* --- Grammars that no run makes, and that are sound --- */

static void set_node(struct grammar_flat *g, uint32_t n, uint32_t symbol)
{
    g->nodes[n] = (struct grammar_flat_node){.symbol = symbol, .attr = GRAMMAR_NONE, .exponent = 1};
}

/* R: A^9 b A c; A: B b B c; …: each rule is twice as long as the next one. */
static void make_doubling(struct grammar_flat *g, uint32_t rules)
{
    for (uint32_t r = 0; r < rules; r++) {
        uint32_t below = r + 1 < rules ? GRAMMAR_RULE | (r + 1) : r % 3;
        g->rules[r] = (struct grammar_flat_rule){.first = 4 * r, .length = 4};
        for (uint32_t i = 0; i < 4; i++)
            set_node(g, 4 * r + i, i % 2 ? (r + i) % 3 : below);
    }
    g->nodes[0].exponent = 9;
}

/* R: A^2 b B c C … Z; A: B b; B: C c; …: as deep as it has rules. */
static void make_chain(struct grammar_flat *g, uint32_t rules)
{
    uint32_t n = 0, length = 2 * (rules - 1);
    g->rules[0] = (struct grammar_flat_rule){.length = length};
    for (uint32_t r = 1; r < rules; r++) {
        set_node(g, n++, GRAMMAR_RULE | r);
        set_node(g, n++, r % 3);
    }
    g->nodes[0].exponent = 2;
    for (uint32_t r = 1; r < rules; r++) {
        g->rules[r] = (struct grammar_flat_rule){.first = n, .length = 2};
        set_node(g, n++, r + 1 < rules ? GRAMMAR_RULE | (r + 1) : 0);
        set_node(g, n++, (r + 1) % 3);
    }
}

/* Each event takes 1 ns, and 1 ns passes before it. */
static void set_times(struct grammar_flat *g)
{
    uint64_t *length = calloc(g->rule_count, sizeof *length), *uses = calloc(g->rule_count, sizeof *uses);
    require(length && uses, "calloc");
    grammar_flat_lengths(g, length);
    grammar_flat_uses(g, uses);
    for (uint32_t r = 0; r < g->rule_count; r++)
        for (uint32_t n = g->rules[r].first; n < g->rules[r].first + g->rules[r].length; n++) {
            uint32_t s = g->nodes[n].symbol;
            uint64_t one = s & GRAMMAR_RULE ? length[s & ~GRAMMAR_RULE] : 1;
            uint64_t times = uses[r] * g->nodes[n].exponent;
            struct grammar_moments m = {times * one, one, one, (double)times * (double)one * (double)one};
            g->stats[n] = (struct grammar_stats){times, m, m};
        }
    free(length);
    free(uses);
}

static struct job *make_forged(const char *shape, uint32_t rules)
{
    struct job *j = create("/nowhere/forged", 1);
    char why[256] = "";
    bool doubling = !strcmp(shape, "doubling");
    struct grammar_flat *g = grammar_flat_create(rules, 4 * rules - (doubling ? 0 : 4), 0);
    require(g != NULL && rules > 1, "grammar_flat_create");
    call(j, "MPI_Barrier", 0x100, JOB_COLLECTIVE);
    call(j, "MPI_Bcast", 0x200, JOB_COLLECTIVE);
    call(j, "MPI_Send", 0x300, JOB_P2P);
    g->terminals = 3;
    if (doubling)
        make_doubling(g, rules);
    else
        make_chain(g, rules);
    require(grammar_flat_measure(g, why, sizeof why) == 0, why);
    set_times(g);
    struct job_stream s = {.begin_ns = 5000, .events = g->events, .wall_ns = 2 * g->events, .mpi_ns = g->events};
    j->info.wall_ns = s.wall_ns + 5000;
    require(merge_add_stream(j, &s, g) == 0, "merge_add_stream");
    return j;
}

static struct job *make_at(const char *module, const char *id, const char *offset, const char *entry,
                           const char *above)
{
    struct job *j = create(module, 1);
    struct job_terminal t = {.kind = JOB_CALL, .function = job_string(j, "MPI_Barrier"), .comm = GRAMMAR_NONE,
                             .callsite = site(j, module, id, strtoull(offset, NULL, 16))};
    uint32_t barrier = job_terminal(j, &t);
    barrier = above ? call_from(j, barrier, strtoull(above, NULL, 16)) : barrier;
    t.kind = JOB_REGION;
    t.function = job_string(j, "omp parallel");
    t.callsite = site(j, module, id, strtoull(entry, NULL, 16));
    struct grammar *g = grammar_create(1 << 20);
    event(g, barrier, 10, 10);
    event(g, job_terminal(j, &t), 10, 10);
    finish(j, g, 0, 10, 10);
    return j;
}

static struct job *make_many(uint32_t sites, uint32_t events)
{
    struct job *j = create("/nowhere/many", 1);
    struct grammar *g = grammar_create(256 << 20);
    uint32_t *terminal = calloc(sites, sizeof *terminal);
    unsigned seed = 1;
    require(terminal && g && sites, "many");
    for (uint32_t i = 0; i < sites; i++) {
        terminal[i] = call(j, i % 2 ? "MPI_Send" : "MPI_Allreduce", 0x1000 + 16 * i, i % 2 ? JOB_P2P : JOB_COLLECTIVE);
        event(g, terminal[i], slower(100), slower(50 + i % 7));
    }
    for (uint32_t i = 0; i < events; i++) {
        uint32_t k = (uint32_t)rand_r(&seed) % sites;
        event(g, terminal[k], slower(100), slower(50) * (100 + (k ? 0 : with.one)) / 100);
    }
    free(terminal);
    finish(j, g, 0, 50 * ((uint64_t)sites + events), 0);
    return j;
}

static struct job *make_names(void)
{
    static const char *const names[] = { "say \"it\", please", "a<b></script><script>alert(1)</script>", "back\\slash",
                                         "line\nend\ttab", "\xc3\xa9t\xc3\xa9 \xe2\x82\xac", "no\xff\xfe utf",
                                         "@DATA@ &amp;", "\033]0;title\007\302\23331m", "=1+1" };
    struct job *j = create("/no where/\"quoted\" <b> \xc3\xa9.exe", 1);
    struct grammar *g = grammar_create(1 << 20);
    char longest[2001] = "";
    while (strlen(longest) + 40 < sizeof longest)
        strcat(longest, "std::map<std::pair<int, double>, T>::");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        event(g, call(j, names[i], 0x100 * (i + 1), JOB_OTHER), 1000, 500);
    event(g, call(j, longest, 0x2000, JOB_OTHER), 1000, 500);
    struct job_terminal t = { .kind = JOB_CALL,
                              .function = job_string(j, "MPI_Barrier"),
                              .comm = job_comm(j, "a\"b\n<c>", 1),
                              .callsite = site(j, "/no where/lib \"x\" \xc3\xa9.so", "ab\"cd", 0x10) };
    event(g, job_terminal(j, &t), 1000, 500);
    finish(j, g, 0, 4500, 0);
    return j;
}

static struct job *make_predicted(void)
{
    struct job *j = make_ring(0, RANKS);
    struct job_oracle *o = &j->oracle;
    *o = (struct job_oracle){
        .present = 1, .ranks = RANKS, .actions = 7, .gain_seconds = 0.25, .cost_seconds = 0.125, .wall_ns = 3000000
    };
    o->score.events = o->score.known = 1000;
    for (int d = 0; d < ORACLE_DISTANCES; d++) {
        o->score.at[d].predictions = 1000;
        for (int i = 0; i < ORACLE_DECILES; i++) {
            o->score.at[d].answers[i] = 100;
            o->score.at[d].right[i] = 10 * (uint64_t)i + 5;
            o->score.at[d].hits += 10 * (uint64_t)i + 5;
        }
    }
    o->score.at[0].hits = 800;
    o->score.time_error[oracle_time_bucket(0.1)] = 100;
    return j;
}

/* Sums of the two sends and of the wait only; nothing but instructions before the wait. */
static struct job *make_counted(void)
{
    struct job *j = make_ring(0, RANKS);
    for (uint32_t t = 0; t < j->terminal_count; t++) {
        const char *function = job_text(j, j->terminals[t].function);
        bool wait = !strcmp(function, "MPI_Waitall"),
             message = !strcmp(function, "MPI_Isend") || !strcmp(function, "MPI_Irecv");
        if (wait || message)
            require(job_count(j, t, "instructions", (struct job_count){ .samples = 400, .total = 60000 }) == 0,
                    "job_count");
        if (message)
            require(job_count(j, t, "cycles", (struct job_count){.samples = 400, .total = 40000}) == 0, "job_count");
    }
    return j;
}

/* `words` pairs of a name and a number. */
static struct job *make_changed(const char *what, int words, char **word)
{
    uint32_t per_rank = 0;
    struct { const char *name; uint32_t *value; } names[] = {
        { "ranks", &with.ranks }, { "turns", &with.turns }, { "turnsP", &per_rank }, { "slow", &with.slow },
        { "one", &with.one }, { "team", &with.team }, { "barrier", &with.barrier }, { "path", &with.path },
        { "build", &with.build }, { "size", &with.size },
    };
    for (int i = 0; i + 1 < words; i += 2) {
        size_t k = 0, count = sizeof names / sizeof names[0];
        while (k < count && strcmp(word[i], names[k].name) != 0)
            k++;
        require(k < count, word[i]);
        *names[k].value = (uint32_t)strtoul(word[i + 1], NULL, 10);
    }
    with.turns = per_rank ? per_rank * with.ranks : with.turns;
    if (!strcmp(what, "many"))
        return make_many(with.turns, 1000);
    return strcmp(what, "ring") ? make_hybrid() : make_ring(0, with.ranks);
}

static void write_job(struct job *j, const char *path)
{
    char why[256] = "";
    if (file_write(j, path, why, sizeof why) != 0) {
        fprintf(stderr, "make_job: %s: %s\n", path, why);
        exit(1);
    }
    job_destroy(j);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "ring"))
        write_job(make_ring(0, RANKS), argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "hybrid"))
        write_job(make_hybrid(), argv[2]);
    else if ((argc == 3 || argc == 4) && !strcmp(argv[1], "long"))
        write_job(make_long(argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : LONG), argv[2]);
    else if (argc == 5 && !strcmp(argv[1], "forged"))
        write_job(make_forged(argv[3], (uint32_t)strtoul(argv[4], NULL, 10)), argv[2]);
    else if (argc == 5 && !strcmp(argv[1], "many"))
        write_job(make_many((uint32_t)strtoul(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10)), argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "names"))
        write_job(make_names(), argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "predicted"))
        write_job(make_predicted(), argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "counted"))
        write_job(make_counted(), argv[2]);
    else if (argc >= 3 && !strcmp(argv[1], "empty"))
        write_job(create(argc > 3 ? argv[3] : "/nowhere/empty", 1), argv[2]);
    else if (argc >= 4 && argc % 2 == 0 && !strcmp(argv[1], "changed"))
        write_job(make_changed(argv[3], argc - 4, argv + 4), argv[2]);
    else if ((argc == 7 || argc == 8) && !strcmp(argv[1], "at"))
        write_job(make_at(argv[3], argv[4], argv[5], argv[6], argv[7]), argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "parts"))
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/rank-%u.pythia", argv[2], rank);
            write_job(make_ring(rank, 1), path);
        }
    else
        return 2;
    return 0;
}
