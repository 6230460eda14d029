/* SPDX-License-Identifier: MIT */
/* The installed interface on job files of many ranks, as recorded with MPI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/api.h"
#include "file/file.h"
#include "grammar/grammar.h"
#include "job/job.h"
#include "merge/merge.h"
#include "pythia.h"
#include "unit.h"

enum { TURNS = 12 };

static char path[] = "/tmp/pythia-api-XXXXXX";

static uint32_t call(struct job *j, const char *name, uint8_t peer_class)
{
    struct job_terminal t = { .kind = JOB_CALL, .peer_class = peer_class, .function = job_string(j, name),
                              .callsite = GRAMMAR_NONE, .comm = job_comm(j, "world", j->info.ranks) };

    return job_terminal(j, &t);
}

/* A ring: each sends to the next one; the last rank works twice as often. */
static struct job *rank_job(uint32_t rank, uint32_t ranks)
{
    struct job *j = job_create();
    struct grammar *g = grammar_create(1 << 20);
    struct job_stream s = { .rank = rank };

    j->info.ranks = ranks;
    uint32_t work = call(j, "MPI_Barrier", JOB_PEER_NONE), send = call(j, "MPI_Send", JOB_PEER_RANK);
    for (int turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; i <= (rank + 1 == ranks); i++)
            grammar_append(g, &(struct grammar_event){ .terminal = work, .gap = 5, .duration = 95 });
        grammar_append(g, &(struct grammar_event){ .terminal = send, .duration = 50, .channels = 1u << GRAMMAR_PEER,
                                                   .value = { [GRAMMAR_PEER] = (rank + 1) % ranks } });
        s.wall_ns += 50 + 100 * (1 + (rank + 1 == ranks));
    }
    ck_assert_int_eq(merge_add_stream(j, &s, grammar_freeze(g)), 0);
    grammar_destroy(g);
    return j;
}

static void write_file(uint32_t ranks)
{
    struct job *j = job_create();
    char why[256] = "";

    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    for (uint32_t r = 0; r < ranks; r++) {
        struct job *one = rank_job(r, ranks);
        ck_assert_int_eq(merge_job(j, one), 0);
        job_destroy(one);
    }
    ck_assert_msg(file_write(j, path, why, sizeof why) == 0, "%s", why);
    job_destroy(j);
}

static void follow_rank(uint32_t rank, uint32_t ranks)
{
    pythia_oracle_t *o = NULL;
    struct pythia_answer a;
    uint32_t peer, works = rank + 1 == ranks ? 2 : 1;

    ck_assert_int_eq(pythia_oracle_open(path, rank, 0, &o), 0);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        ck_assert_int_eq(pythia_oracle_next_peer(o, &peer, &a), 0);
        ck_assert_uint_eq(peer, (rank + 1) % ranks);
        ck_assert_str_eq(a.word, "MPI_Send");
        ck_assert_uint_eq(a.distance, works + 1);
        for (uint32_t i = 0; i < works; i++) {
            ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 0);
            ck_assert_str_eq(a.word, "MPI_Barrier");
            pythia_oracle_follow(o, "MPI_Barrier", 5, 95);
        }
        pythia_oracle_follow_message(o, "MPI_Send", 0, 50, (rank + 1) % ranks);
    }
    ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 1);
    pythia_oracle_close(o);
}

/* Also where the file keeps totals by blocks of ranks, some of which have streams of two classes. */
START_TEST(each_rank_has_its_own_stream)
{
    const uint32_t ranks = _i ? 700 : 5;
    pythia_oracle_t *o = NULL;

    write_file(ranks);
    for (uint32_t rank = 0; rank < ranks; rank += rank + 60 < ranks ? 29 : 1)
        follow_rank(rank, ranks);
    follow_rank(ranks - 1, ranks);
    ck_assert_int_eq(pythia_oracle_open(path, ranks, 0, &o), PYTHIA_EINVAL);
    ck_assert_int_eq(pythia_oracle_open(path, 0, 1, &o), PYTHIA_EINVAL);
    ck_assert_ptr_null(o);
    unlink(path);
}
END_TEST

/* Nothing of the file is needed any more but what was not met yet; and of that the words are known. */
START_TEST(the_file_may_go)
{
    pythia_oracle_t *o = NULL;
    struct pythia_answer a;

    write_file(5);
    ck_assert_int_eq(pythia_oracle_open(path, 2, 0, &o), 0);
    ck_assert_int_eq(truncate(path, 100), 0);
    for (int n = 0; n < 2 * TURNS; n++) {
        ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 0);
        ck_assert_str_eq(a.word, n % 2 ? "MPI_Send" : "MPI_Barrier");
        ck_assert_int_eq(pythia_oracle_follow(o, a.word, 5, 95), 0);
    }
    pythia_oracle_close(o);
    unlink(path);
}
END_TEST

static uint32_t what_comes(pythia_oracle_t *o, const char *word)
{
    struct pythia_answer a;

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pythia_oracle_follow(o, word, 10, 100), 0);
    ck_assert_int_eq(pythia_oracle_predict(o, 1, &a), 0);
    return !strcmp(a.word, word);
}

START_TEST(a_recorder_has_several_streams)
{
    char own[] = "/tmp/pythia-api.XXXXXX", why[256];
    const char *words[2][2] = { { "a", "b" }, { "c", "a" } };
    pythia_recorder_t *r, *s, *again;
    pythia_oracle_t *o;
    struct job *job;

    close(mkstemp(own));
    ck_assert_int_eq(pythia_recorder_create(&r), 0);
    ck_assert_int_eq(pythia_recorder_name(r, "/opt/solver", "solver -n 3"), 0);
    ck_assert_int_eq(pythia_recorder_name(r, NULL, NULL), 0);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t thread = 0; thread < 2; thread++) {
            ck_assert_int_eq(pythia_recorder_stream(r, rank, thread, &s), 0);
            ck_assert((s == r) == (rank == 0 && thread == 0));
            ck_assert_int_eq(pythia_recorder_stream(s, rank, thread, &again), 0);
            ck_assert_ptr_eq(s, again);
            for (int i = 0; i < 50; i++)
                ck_assert_int_eq(pythia_recorder_event(s, words[rank][thread], 10, 100 + rank), 0);
            ck_assert_int_eq(pythia_oracle_open_recorder(s, &o), 0);
            ck_assert(what_comes(o, words[rank][thread]));
            pythia_oracle_close(o);
        }
    ck_assert_int_eq(pythia_recorder_stream(r, 4, 0, &s), 0); /* never an event: not there */
    pythia_recorder_destroy(s); /* not its own: nothing happens */
    ck_assert_int_eq(pythia_recorder_write(r, own), 0);
    pythia_recorder_destroy(r);

    ck_assert_int_eq(file_read(own, &job, why, sizeof why), 0);
    ck_assert_int_eq(job_check(job, why, sizeof why), 0);
    ck_assert_uint_eq(job->info.ranks, 2);
    ck_assert_uint_eq(job->info.threads, 2);
    ck_assert_uint_eq(job->info.missing, 0);
    ck_assert_uint_eq(job->stream_count, 4);
    ck_assert_uint_eq(job->terminal_count, 3);
    ck_assert_str_eq(job_text(job, job->info.program), "/opt/solver");
    ck_assert_str_eq(job_text(job, job->info.arguments), "solver -n 3");
    job_destroy(job);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t thread = 0; thread < 2; thread++) {
            ck_assert_int_eq(pythia_oracle_open(own, rank, thread, &o), 0);
            ck_assert(what_comes(o, words[rank][thread]));
            pythia_oracle_close(o);
        }
    unlink(own);
}
END_TEST

static bool refuse(void *context)
{
    (void)context;
    return false;
}

static void nothing(void *context)
{
    (void)context;
}

/* After the session's end nobody may be asked, and the job that words are looked up in is gone. */
START_TEST(a_lender_that_has_ended_is_left_alone)
{
    enum { PAGE = 1 << 16 };
    struct job *j = rank_job(0, 2);
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at = page;
    char **own = calloc(j->string_count, sizeof *own);
    struct api_loan loan = { .lender = { refuse, nothing, NULL }, .job = j };
    struct pythia_answer answer;
    pythia_oracle_t *o = NULL;
    ck_assert(page != MAP_FAILED);
    for (uint32_t i = 0; i < j->string_count; i++) {
        own[i] = j->strings[i];
        j->strings[i] = strcpy(at, own[i]);
        at += strlen(own[i]) + 1;
    }
    ck_assert_int_eq(api_lend(&loan, &o), 0);
    munmap(page, PAGE);
    ck_assert_int_eq(pythia_oracle_next(o, "MPI_Send", &answer), 1);
    api_lent_destroy(o);
    memcpy(j->strings, own, j->string_count * sizeof *own);
    free(own);
    job_destroy(j);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_LOOP(each_rank_has_its_own_stream, 2),
        UNIT_TEST(a_recorder_has_several_streams),
        UNIT_TEST(the_file_may_go),
        UNIT_TEST(a_lender_that_has_ended_is_left_alone),
    };
    return unit_run("api on jobs", tests, UNIT_COUNT(tests));
}
