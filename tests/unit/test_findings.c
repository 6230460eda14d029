/* SPDX-License-Identifier: MIT */
/* Findings of jobs made by hand, whose waits are known: kind, culprits, seconds; what costs nothing is not told. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "findings/findings.h"
#include "grammar/grammar.h"
#include "job/group.h"
#include "job/job.h"
#include "merge/merge.h"
#include "pythia.h"
#include "tests/unit/unit.h"
#include "views/views.h"

enum { RANKS = 4, TURNS = 100, MANY = 64, TERMINALS = 16 };
static uint32_t ranks = RANKS;

/* A rank's part of the job while it is made. */
struct maker {
    struct job *j;
    struct grammar *g;
    uint64_t wall, mpi;
    uint32_t rank, last;
    struct job_before before[TERMINALS];
};

/* The line at `offset`, in what was called from `above`; 0: from nowhere. */
static uint32_t call_from(struct maker *m, const char *function, uint64_t offset, uint64_t above, uint8_t kind)
{
    struct job_frame f[2] = { { .module = job_module(m->j, "/nowhere/app", "00ff"), .offset = offset } };
    f[1] = (struct job_frame){ .module = f[0].module, .offset = above };
    struct job_terminal t = { .kind = JOB_CALL,
                              .call_kind = kind,
                              .blocking = strncmp(function, "MPI_I", 5) != 0,
                              .function = job_string(m->j, function),
                              .callsite = job_callsite(m->j, f, above ? 2 : 1),
                              .comm = kind == JOB_ONESIDED ? GRAMMAR_NONE : job_comm(m->j, "world", ranks) };

    t.peer_class = kind == JOB_P2P ? JOB_PEER_RANK : JOB_PEER_NONE;
    return job_terminal(m->j, &t);
}

static uint32_t call(struct maker *m, const char *function, uint64_t offset, uint8_t kind)
{
    return call_from(m, function, offset, 0, kind);
}

static void add(struct maker *m, uint32_t terminal, uint64_t gap_us, uint64_t duration_us, int64_t peer)
{
    struct grammar_event e = { .terminal = terminal, .gap = 1000 * gap_us, .duration = 1000 * duration_us };

    if (peer >= 0) {
        e.channels = 1u << GRAMMAR_PEER | 1u << GRAMMAR_BYTES | 1u << GRAMMAR_INDEX;
        e.value[GRAMMAR_PEER] = peer;
        e.value[GRAMMAR_BYTES] = 64;
        e.value[GRAMMAR_INDEX] = 1;
    }
    grammar_append(m->g, &e);
    job_before_add(&m->before[terminal], m->last, (struct job_count){ 1, e.gap });
    m->last = terminal;
    m->wall += e.gap + e.duration;
    m->mpi += e.duration;
}

/* The makers' terminals are called what they are called in the job. */
static const uint32_t same_numbers[TERMINALS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

static struct job *make(void (*program)(struct maker *m))
{
    struct job *whole = NULL;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct maker m = { .j = job_create(), .g = grammar_create(1 << 20), .rank = rank,
                           .last = GRAMMAR_NONE };
        struct job_run world = { 0, ranks, 1 };
        m.j->info.ranks = ranks;
        m.j->info.runs = m.j->info.threads = 1;
        ck_assert_int_eq(job_comm_add_members(m.j, job_comm(m.j, "world", ranks), &world, 1, NULL, 0), 0);
        program(&m);
        struct grammar_flat *flat = grammar_freeze(m.g);
        struct job_stream s = { .rank = rank, .events = flat->events, .wall_ns = m.wall, .mpi_ns = m.mpi };
        m.j->info.wall_ns = m.wall;
        grammar_destroy(m.g);
        ck_assert_int_eq(merge_add_stream(m.j, &s, flat), 0);
        for (uint32_t t = 0; t < m.j->terminal_count; t++)
            ck_assert_int_eq(job_digrams_add(m.j, t, &m.before[t], same_numbers), 0);
        if (!whole) {
            whole = m.j;
            continue;
        }
        ck_assert_int_eq(merge_job(whole, m.j), 0);
        job_destroy(m.j);
    }
    return whole;
}

struct expected { enum finding_kind kind; const char *ranks; double seconds; };

static void check(void (*program)(struct maker *m), const struct expected *e)
{
    struct job *j = make(program);
    struct report *r = report_create(j);
    const struct findings_list *f = findings_list(r);
    char *text = NULL;
    size_t size;

    ck_assert(f->known);
    uint32_t waits = 0; /* the others are what is left of the calls */
    for (uint32_t i = 0; i < f->count; i++)
        waits += f->finding[i].kind < FINDINGS_IO;
    ck_assert_uint_eq(waits, e ? 1 : 0);
    if (e) {
        ck_assert_str_eq(finding_name(f->finding[0].kind), finding_name(e->kind));
        ck_assert_str_eq(f->finding[0].ranks, e->ranks);
        ck_assert_double_eq_tol(f->finding[0].seconds, e->seconds, 0.03 * e->seconds);
    }
    double off = replay_analysis_replayed(findings_analysis(r)) / findings_analysis(r)->recorded;
    ck_assert_double_eq_tol(off, 1, 0.02);
    FILE *out = open_memstream(&text, &size);
    for (int view = VIEWS_SUMMARY; view <= VIEWS_WAITS; view++)
        views_print_text(r, (enum views_view)view, &(struct views_tree_how){ .all = true }, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "critical path"));
    free(text);
    report_destroy(r);
    job_destroy(j);
}

/* The last rank computes 8 ms, the others 2 and wait. */
static void slow_before(struct maker *m, uint32_t all)
{
    bool slow = m->rank == RANKS - 1;

    for (int i = 0; i < TURNS; i++)
        add(m, all, slow ? 8000 : 2000, slow ? 20 : 6020, -1);
}

static void imbalance(struct maker *m)
{
    slow_before(m, call(m, "MPI_Allreduce", 0x10, JOB_COLLECTIVE));
}

/* The same line, called from two places. */
static void imbalance_twice(struct maker *m)
{
    for (uint64_t above = 0x100; above <= 0x200; above += 0x100)
        slow_before(m, call_from(m, "MPI_Allreduce", 0x10, above, JOB_COLLECTIVE));
}

/* The first rank works, too, before it takes what the others send: its loop's first turn has all of that work. */
static void master_works(struct maker *m)
{
    uint32_t recv = call(m, "MPI_Recv", 0x10, JOB_P2P), end = call(m, "MPI_Barrier", 0x20, JOB_COLLECTIVE);

    for (int i = 0; i < TURNS; i++) {
        for (uint32_t peer = 1; peer < RANKS && m->rank == 0; peer++)
            add(m, recv, peer == 1 ? 12000 : 0, 1, peer);
        if (m->rank)
            add(m, call(m, "MPI_Send", 0x30, JOB_P2P), 10000, 1, 0);
        add(m, end, 0, m->rank ? 2010 : 8, -1);
    }
}

static void even_work(struct maker *m)
{
    uint32_t all = call(m, "MPI_Allreduce", 0x10, JOB_COLLECTIVE);

    for (int i = 0; i < TURNS; i++)
        add(m, all, 5000, 20, -1);
}

/* The last rank begins 6 ms later than the others, who wait for that where it is completed. */
static void begun(struct maker *m)
{
    uint32_t all = call(m, "MPI_Iallreduce", 0x10, JOB_COLLECTIVE), wait = call(m, "MPI_Wait", 0x20, JOB_COMPLETION);
    bool slow = m->rank == RANKS - 1;

    for (int i = 0; i < TURNS; i++) {
        struct grammar_event e = { .terminal = wait, .gap = 1000000, .duration = slow ? 10000 : 6010000 };
        add(m, all, slow ? 8000 : 2000, 5, -1);
        e.channels = 1u << GRAMMAR_STARTS;
        e.value[GRAMMAR_STARTS] = 1;
        grammar_append(m->g, &e);
        m->wall += e.gap + e.duration;
        m->mpi += e.duration;
    }
}

/* The same before a fence, whose ranks are all those of the job. */
static void fences(struct maker *m)
{
    slow_before(m, call(m, "MPI_Win_fence", 0x10, JOB_ONESIDED));
}

/* The last rank computes 4 % longer, but each rank is 8 ms late now and then: that is chance. */
static void scatter(struct maker *m)
{
    uint32_t all = call(m, "MPI_Allreduce", 0x10, JOB_COLLECTIVE);

    for (int i = 0; i < TURNS; i++)
        add(m, all, (i % 10 == (int)m->rank ? 13000 : 5000) + (m->rank == RANKS - 1 ? 200 : 0), 20, -1);
}

/* The same where nothing else disturbs. */
static void slightly(struct maker *m)
{
    uint32_t all = call(m, "MPI_Allreduce", 0x10, JOB_COLLECTIVE);
    bool slow = m->rank == RANKS - 1;

    for (int i = 0; i < TURNS; i++)
        add(m, all, slow ? 5500 : 5000, slow ? 20 : 520, -1);
}

/* us by which a rank differs from the others in a turn: up to 2 % of 20 ms. */
static uint64_t noise(uint32_t rank, uint32_t turn)
{
    return base_hash_mix((uint64_t)rank << 32 | turn) % 400;
}

/* Processes begin at different times; then each turn takes 20 ms, of rank 37 so much more. */
static void many(struct maker *m, uint64_t more_us)
{
    uint32_t init = call(m, "MPI_Init", 0x10, JOB_LIFE), all = call(m, "MPI_Allreduce", 0x20, JOB_COLLECTIVE);

    for (uint32_t i = 0; i <= TURNS; i++) {
        uint64_t own = 0, last = 0;
        for (uint32_t r = 0; r < ranks; r++) {
            uint64_t us = i ? 20000 + (r == 37 ? more_us : 0) + noise(r, i) : 50000 + 1000 * (r * 29 % 64);
            own = r == m->rank ? us : own;
            last = us > last ? us : last;
        }
        add(m, i ? all : init, own, i ? last - own + 20 : 0, -1);
        if (!i)
            add(m, all, 10, last - own + 20, -1);
    }
}

static void one_of_many(struct maker *m)
{
    many(m, 1000);
}

static void none_of_many(struct maker *m)
{
    many(m, 0);
}

/* Even ranks send after 5 ms, odd ones receive and compute 1 ms. */
static void late_sender(struct maker *m)
{
    uint32_t send = call(m, "MPI_Send", 0x20, JOB_P2P), recv = call(m, "MPI_Recv", 0x30, JOB_P2P);

    for (int i = 0; i < TURNS; i++)
        if (m->rank % 2 == 0)
            add(m, send, 5000, 2, m->rank + 1);
        else
            add(m, recv, i ? 1000 : 0, i ? 4002 : 5002, m->rank - 1);
}

/* Each receives from the one before, computes 3 ms, sends to the next; then a barrier. */
static void chain(struct maker *m)
{
    uint32_t recv = call(m, "MPI_Recv", 0x40, JOB_P2P), send = call(m, "MPI_Send", 0x50, JOB_P2P);
    uint32_t barrier = call(m, "MPI_Barrier", 0x60, JOB_COLLECTIVE);
    bool last = m->rank == RANKS - 1;

    for (int i = 0; i < TURNS; i++) {
        if (m->rank)
            add(m, recv, 1, 3000 * m->rank, m->rank - 1);
        if (!last)
            add(m, send, 3000, 2, m->rank + 1);
        add(m, barrier, last ? 3000 : 1, 3000 * (RANKS - 1 - m->rank) + 10, -1);
    }
}

START_TEST(test_imbalance)
{
    check(imbalance, &(struct expected){ FINDINGS_IMBALANCE, "rank 3", TURNS * 3 * 6e-3 });
    check(imbalance_twice, &(struct expected){ FINDINGS_IMBALANCE, "rank 3", 2 * TURNS * 3 * 6e-3 });
}
END_TEST
START_TEST(test_scatter)
{
    check(scatter, NULL);
    check(slightly, &(struct expected){ FINDINGS_IMBALANCE, "rank 3", TURNS * 0.5e-3 * 3 });
}
END_TEST

START_TEST(test_completed_later)
{
    check(begun, &(struct expected){ FINDINGS_IMBALANCE, "rank 3", TURNS * 6e-3 * 3 });
    check(fences, &(struct expected){ FINDINGS_IMBALANCE, "rank 3", TURNS * 6e-3 * 3 });
}
END_TEST

START_TEST(test_one_of_many)
{
    ranks = MANY;
    check(one_of_many, &(struct expected){ FINDINGS_IMBALANCE, "rank 37", TURNS * 1e-3 * (MANY - 1) });
    check(none_of_many, NULL);
}
END_TEST

START_TEST(test_master_works)
{
    check(master_works, &(struct expected){ FINDINGS_IMBALANCE, "rank 0", TURNS * 6e-3 });
}
END_TEST
START_TEST(test_even_work) { check(even_work, NULL); } END_TEST
START_TEST(test_late_sender)
{
    check(late_sender, &(struct expected){ FINDINGS_LATE_SENDER, "ranks 0,2", 2 * (TURNS * 4e-3 + 1e-3) });
}
END_TEST
START_TEST(test_chain)
{
    check(chain, &(struct expected){ FINDINGS_SERIAL_CHAIN, "ranks 0-3", TURNS * 36e-3 });
}
END_TEST

/* Equal work takes the mean; a rank twice as fast lets the others be the slowest. */
START_TEST(test_what_if)
{
    struct job *j = make(imbalance);
    struct replay_analysis *a = NULL;
    struct bind_change equal = { .balance = GRAMMAR_NONE, .balance_all = true };
    double speed[RANKS] = { 1, 1, 1, 4 };
    struct bind_change fast = { .balance = GRAMMAR_NONE, .speed = speed };
    struct replay_prediction p;

    ck_assert_int_eq(replay_analysis_create(j, REPLAY_ANALYSIS_STEPS, &a), 0);
    ck_assert_int_eq(replay_analysis_predict(a, &equal, &p), 0);
    ck_assert_double_eq_tol(p.seconds, TURNS * 3.52e-3, TURNS * 0.05e-3);
    ck_assert(p.low <= p.seconds && p.seconds <= p.high);
    ck_assert_int_eq(replay_analysis_predict(a, &fast, &p), 0);
    ck_assert_double_eq_tol(p.seconds, TURNS * 2.02e-3, TURNS * 0.05e-3);
    replay_analysis_destroy(a);
    job_destroy(j);
}
END_TEST

/* Each turn another rank works five times as long. */
static void moving(struct maker *m)
{
    uint32_t sum = call(m, "MPI_Allreduce", 0x10, JOB_COLLECTIVE);

    for (uint32_t i = 0; i < TURNS; i++) {
        bool works = (i * i + i / 3) % RANKS == m->rank;
        add(m, sum, works ? 5000 : 1000, works ? 100 : 4100, -1);
    }
}

/* What all replays together may take is for those with drawn work, too: these walk each turn. */
START_TEST(test_steps_of_all_replays)
{
    struct job *j = make(moving);
    struct replay_analysis *a = NULL, *none = NULL;

    ck_assert_int_eq(replay_analysis_create(j, REPLAY_ANALYSIS_STEPS - 1, &a), 0);
    ck_assert(a->moving.moving > 0 && a->result.walked < REPLAY_ANALYSIS_STEPS / 100);
    ck_assert_int_eq(replay_analysis_create(j, 8 * a->result.walked, &none), PYTHIA_ELIMIT);
    ck_assert_ptr_null(none);
    replay_analysis_destroy(a);
    job_destroy(j);
}
END_TEST

/* A million ranks are not replayed one by one: that is said at once, before anything is made for each. */
START_TEST(test_a_million_ranks)
{
    struct job *j = make(imbalance);
    struct replay_analysis *a = NULL;
    j->info.ranks = 1 << 20;
    ck_assert_int_eq(replay_analysis_create(j, REPLAY_ANALYSIS_STEPS, &a), PYTHIA_ELIMIT);
    ck_assert_ptr_null(a);
    job_destroy(j);
}
END_TEST

/* One rank's four threads turn the same loop, the first one a hundred times as fast: whatever shares are printed are
   of all threads, or of the first one's time, and none is more than all of it. */
START_TEST(test_shares_of_threads)
{
    enum { THREADS = 4 };
    struct job *j = job_create();
    struct job_frame at = { .module = job_module(j, "/nowhere/app", "00ff"), .offset = 0x10 };
    struct job_terminal region = { .kind = JOB_REGION, .function = job_string(j, "omp parallel"),
                                   .callsite = job_callsite(j, &at, 1), .comm = GRAMMAR_NONE };
    uint32_t terminal = job_terminal(j, &region);
    char *text = NULL;
    size_t size;

    j->info.ranks = j->info.runs = 1;
    j->info.threads = THREADS;
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        uint64_t slow = thread ? 100 : 1, turn = slow * 15000;
        struct grammar *g = grammar_create(1 << 20);
        struct grammar_event e = { .terminal = terminal, .gap = slow * 10000, .duration = slow * 5000,
                                   .channels = 1u << GRAMMAR_TEAM, .value = { [GRAMMAR_TEAM] = 2 } };
        for (int i = 0; i < TURNS; i++)
            grammar_append(g, &e);
        struct grammar_flat *flat = grammar_freeze(g);
        struct job_stream s = { .thread = thread, .events = TURNS, .wall_ns = TURNS * turn,
                                .omp_ns = TURNS * slow * 5000 };
        j->info.wall_ns = s.wall_ns;
        grammar_destroy(g);
        ck_assert_int_eq(merge_add_stream(j, &s, flat), 0);
    }
    struct report *r = report_create(j);
    const struct findings_list *f = findings_list(r);
    ck_assert(f->known);
    for (uint32_t i = 0; i < f->count; i++)
        ck_assert_double_le(f->finding[i].share, 1);
    FILE *out = open_memstream(&text, &size);
    for (int view = VIEWS_SUMMARY; view <= VIEWS_WAITS; view++)
        views_print_text(r, (enum views_view)view, &(struct views_tree_how){ .all = true }, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "group 0: rank 0; thread 1 of rank 0;"));
    for (const char *sign = strchr(text, '%'); sign; sign = strchr(sign + 1, '%')) {
        const char *begin = sign;
        while (begin > text && strchr(" .0123456789", begin[-1]))
            begin--;
        ck_assert_msg(atof(begin) <= 100, "%.*s", (int)(sign - begin) + 1, begin);
    }
    free(text);
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* Every rank makes one communicator, and then many. */
static void communicators(struct maker *m)
{
    add(m, call(m, "MPI_Comm_split", 0x10, JOB_COMMUNICATOR), 10, 50000, -1);
    for (int i = 0; i < TURNS; i++)
        add(m, call(m, "MPI_Comm_dup", 0x20, JOB_COMMUNICATOR), 10, 500, -1);
}

/* What is made once cannot be made less often. */
START_TEST(test_advice_can_be_followed)
{
    struct job *j = make(communicators);
    struct report *r = report_create(j);
    struct finding one = { .kind = FINDINGS_COMMUNICATORS, .seconds = 1, .call = 0 };
    ck_assert_str_eq(job_text(j, j->terminals[0].function), "MPI_Comm_split");
    ck_assert_str_eq(finding_advice(r, &one), "");
    one.call = 1;
    ck_assert_str_eq(finding_advice(r, &one), "make them once");
    /* How many threads there are decides, not how busy the machine was. */
    r->model->efficiency.threads = 4;
    j->delay = (struct job_delay){ .ranks = 1, .ready_ns = 90, .wall_ns = 100, .most_ns = 90 };
    j->machine.present = 1;
    for (int more = 0; more <= 1; more++) {
        const char *tree = more ? "machine\n  2 x package\n    2 to 64 x core\n" : "machine\n  2 x core\n";
        j->machine.tree = job_string(j, tree);
        r->asked = false;
        one.kind = FINDINGS_UNEVEN_THREADS;
        ck_assert_str_eq(finding_advice(r, &one),
                         more ? "schedule(dynamic)" : "fewer threads: there are more than processors");
        one.kind = FINDINGS_NO_PROCESSOR;
        ck_assert_str_eq(finding_advice(r, &one),
                         more ? "others used the processors" : "try fewer ranks or threads a node");
    }
    report_destroy(r);
    job_destroy(j);
}
END_TEST

/* A list is cut between two ranks, not in one. */
START_TEST(test_lists_are_cut_between_ranks)
{
    bool in[200] = { false };
    char text[128];
    for (int i = 100; i < 200; i += 1 + i % 3)
        in[i] = true;
    findings_ranks_set(in, 200, text, sizeof text);
    ck_assert_uint_gt(strlen(text), 20);
    for (size_t size = 24; size < strlen(text); size++) {
        char cut[128];
        findings_ranks_set(in, 200, cut, size);
        ck_assert_uint_lt(strlen(cut), size);
        char *end = strstr(cut, ",…");
        ck_assert_msg(end && !strncmp(cut, text, (size_t)(end - cut)) && strchr(",", text[end - cut]), "%s", cut);
    }
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(test_imbalance), UNIT_TEST(test_master_works), UNIT_TEST(test_even_work), UNIT_TEST(test_scatter),
        UNIT_TEST(test_completed_later), UNIT_TEST(test_one_of_many),
        UNIT_TEST(test_late_sender), UNIT_TEST(test_chain),
        UNIT_TEST(test_what_if), UNIT_TEST(test_steps_of_all_replays), UNIT_TEST(test_a_million_ranks),
        UNIT_TEST(test_shares_of_threads), UNIT_TEST(test_advice_can_be_followed),
        UNIT_TEST(test_lists_are_cut_between_ranks),
    };
    return unit_run("findings/findings", tests, UNIT_COUNT(tests));
}
