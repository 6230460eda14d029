/* SPDX-License-Identifier: MIT */
/* Snapshots of a session while its threads go on: consistent, a prefix of what comes after, and without a trace. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pythia.h"
#include "tests/unit/session_calls.h"
#include "tests/unit/simulate.h"

/* A stream of calls that is neither regular nor random; new functions turn up now and then. */
static void anything(uint64_t *random, int i)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    uint64_t x = simulate_random(random);
    (void)call_is_seen(names[x % 5 ? x % 3 : x / 5 % (1 + (uint64_t)(i / 500 < 7 ? i / 500 : 7))]);
}

static void check(const struct job *j)
{
    char why[256] = "";
    ck_assert_ptr_nonnull(j);
    ck_assert_msg(audit_job(j, why, sizeof why) == 0, "%s", why);
}

static const struct grammar_flat *grammar_of(const struct job *j, uint32_t thread)
{
    const struct job_stream *s = job_find_stream(j, 0, thread);
    return s ? j->classes[s->class_index].grammar : NULL;
}

/* Whether the events of `then` are the first ones of `now`. */
static void check_prefix(const struct job *then, const struct job *now, uint32_t thread)
{
    const struct grammar_flat *x = grammar_of(then, thread), *y = grammar_of(now, thread);
    struct grammar_cursor a, b;
    if (!x)
        return;
    ck_assert_ptr_nonnull(y);
    int more = grammar_cursor_open(&a, x), there = grammar_cursor_open(&b, y);
    for (; more; more = grammar_cursor_next(&a), there = grammar_cursor_next(&b)) {
        ck_assert(there);
        ck_assert_str_eq(job_text(then, then->terminals[a.terminal].function),
                         job_text(now, now->terminals[b.terminal].function));
    }
    grammar_cursor_close(&a);
    grammar_cursor_close(&b);
}

static struct job *record(int events, int every, uint64_t seed)
{
    uint64_t random = seed;
    struct job *before = NULL;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (int i = 0; i < events; i++) {
        anything(&random, i);
        if (!every || i % every)
            continue;
        struct job *now = session_snapshot();
        check(now);
        ck_assert_uint_eq(now->streams[0].events, (uint64_t)i + 1);
        if (before)
            check_prefix(before, now, 0);
        job_destroy(before);
        before = now;
    }
    struct job *j = session_finish();
    check(j);
    if (before)
        check_prefix(before, j, 0);
    job_destroy(before);
    return j;
}

START_TEST(a_snapshot_leaves_no_trace)
{
    struct job *with = record(4000, 7 + _i * 13, (uint64_t)_i), *without = record(4000, 0, (uint64_t)_i);
    ck_assert(!memcmp(&with->classes[0].hash, &without->classes[0].hash, sizeof with->classes[0].hash));
    ck_assert_uint_eq(with->terminal_count, without->terminal_count);
    job_destroy(with);
    job_destroy(without);
}
END_TEST

static _Atomic int stop;

static void *hammer(void *seed)
{
    uint64_t random = (uint64_t)(uintptr_t)seed;
    for (int i = 0; !stop; i++)
        if (i < 20000) /* less than what the memory of a thread can keep in order */
            anything(&random, i);
        else
            usleep(1000);
    return NULL;
}

START_TEST(threads_go_on)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    struct job *before = NULL, *now;
    stop = 0;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    call("main");
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, hammer, (void *)(i + 1));
    for (int i = 0; i < 30; i++) {
        now = session_snapshot();
        check(now);
        for (uint32_t t = 0; before && t <= THREADS; t++)
            check_prefix(before, now, t);
        job_destroy(before);
        before = now;
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    now = session_finish();
    check(now);
    for (uint32_t t = 0; t <= THREADS; t++)
        check_prefix(before, now, t);
    job_destroy(before);
    job_destroy(now);
}
END_TEST

/* --- Parts of many ranks in a file --- */

enum { WRITERS = 12, MOST_EVENTS = 1 << 20 };

static char directory[] = "/tmp/parts-XXXXXX", output[80], parts[100];

static void make_place(void)
{
    strcpy(directory, "/tmp/parts-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(output, sizeof output, "%s/job.pythia", directory);
    snprintf(parts, sizeof parts, "%s.parts", output);
    setenv("PYTHIA_OUTPUT", output, 1);
}

/* The file of the node: all that there is in the directory. */
static void find_file(char *path, size_t size)
{
    int files = 0;
    DIR *d = opendir(parts);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(path, size, "%s/%s", parts, e->d_name);
            files++;
        }
    closedir(d);
    ck_assert_int_eq(files, 1);
}

/* Writes parts that grow, and tells after each one how many events are safe. */
static void write_parts(uint32_t rank, _Atomic uint64_t *safe)
{
    char why[256];
    uint64_t random = rank + 1;
    session_start(&(struct session_world){.rank = rank, .ranks = WRITERS, .mpi = ""}, NULL, 0);
    for (uint64_t events = 0, more = 8; events < MOST_EVENTS;) {
        for (uint64_t i = 0; i < more; i++)
            (void)call_is_seen((const char *[]){"a", "b", "c", "d"}[simulate_random(&random) % 4]);
        struct job *j = session_snapshot();
        more = (events += more) < 4000 ? events : 1;
        if (!j || session_part_write(j, true, why, sizeof why))
            _exit(1);
        *safe = events;
        job_destroy(j);
    }
    _exit(2);
}

static uint64_t bytes; /* of all that are whole in a file */

static int furthest(struct job *j, void *all)
{
    void *data;
    size_t size;
    uint64_t *events = all;
    uint32_t rank = j->streams[0].rank;
    ck_assert_int_eq(file_pack_for_file(j, &data, &size), 0);
    free(data);
    bytes += size;
    ck_assert_uint_lt(rank, WRITERS);
    if (events[rank] < j->streams[0].events)
        events[rank] = j->streams[0].events;
    job_destroy(j);
    return 0;
}

static void read_furthest(const char *path, uint64_t events[WRITERS])
{
    char why[256];
    memset(events, 0, WRITERS * sizeof *events);
    bytes = 0;
    ck_assert_msg(file_read_each(path, furthest, events, why, sizeof why) == 0, "%s", why);
}

/* Twelve ranks write one file as fast as they can, and each is killed at some moment: what was written is there. */
START_TEST(ranks_share_a_file_and_are_killed)
{
    char path[400];
    struct stat st;
    pid_t child[WRITERS];
    uint64_t there[WRITERS];
    _Atomic uint64_t *safe = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    make_place();
    for (uint32_t r = 0; r < WRITERS; r++)
        if (!(child[r] = fork()))
            write_parts(r, &safe[r]);
    for (uint32_t r = 0; r < WRITERS; r++) {
        for (int i = 0; i < 6000 && safe[r] < 4000 + 10 * r; i++)
            usleep(5000);
        kill(child[r], SIGKILL);
    }
    for (uint32_t r = 0; r < WRITERS; r++) {
        int status;
        waitpid(child[r], &status, 0);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "rank %u ended with %x", r, (unsigned)status);
    }
    find_file(path, sizeof path);
    read_furthest(path, there);
    for (uint32_t r = 0; r < WRITERS; r++) {
        ck_assert_uint_ge(safe[r], 4000);
        ck_assert_msg(there[r] >= safe[r] && there[r] <= safe[r] + 1, "rank %u: %llu of %llu events", r,
                      (unsigned long long)there[r], (unsigned long long)safe[r]);
    }
    ck_assert(stat(path, &st) == 0);
    ck_assert_msg((uint64_t)st.st_blocks * 512 < 2 * bytes + WRITERS * 8192, "%llu bytes for %llu of parts",
                  (unsigned long long)st.st_blocks * 512, (unsigned long long)bytes);
    unlink(path);
    rmdir(parts);
    rmdir(directory);
    munmap((void *)safe, 4096);
}
END_TEST

static int write_one(int events)
{
    char why[256];
    uint64_t random = 1;
    for (int i = 0; i < events; i++)
        (void)call_is_seen((const char *[]){"a", "b", "c", "d"}[simulate_random(&random) % 4]);
    struct job *j = session_snapshot();
    ck_assert_ptr_nonnull(j);
    int error = session_part_write(j, false, why, sizeof why);
    job_destroy(j);
    return error;
}

/* A part that does not fit harms none; one after a reset counts though it is the shorter one; one that is removed is
   gone, and so is the file then. */
START_TEST(a_part_comes_and_goes)
{
    char path[400];
    uint64_t there[WRITERS];
    struct rlimit none, before;
    make_place();
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(write_one(1000), 0);
    find_file(path, sizeof path);
    getrlimit(RLIMIT_FSIZE, &before);
    none = (struct rlimit){4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    ck_assert_int_eq(write_one(20000), PYTHIA_EIO);
    setrlimit(RLIMIT_FSIZE, &before);
    read_furthest(path, there);
    ck_assert_uint_eq(there[0], 3000);
    ck_assert_int_eq(write_one(1), 0);
    read_furthest(path, there);
    ck_assert_uint_eq(there[0], 23001);
    session_reset();
    ck_assert_int_eq(write_one(5), 0);
    read_furthest(path, there);
    ck_assert_uint_eq(there[0], 5);
    session_part_remove();
    ck_assert_int_ne(access(parts, F_OK), 0);
    job_destroy(session_finish());
    rmdir(directory);
}
END_TEST

/* --- A file system that stops --- */

static _Atomic int stopped, entered;

/* In place of libc's. */
int fsync(int fd)
{
    (void)fd;
    while (stopped) {
        entered = 1;
        usleep(10000);
    }
    return 0;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The program goes on and ends while its part is being written, and what comes too late goes away again. */
START_TEST(a_file_system_that_stops_holds_up_nobody)
{
    enum { WAITED = 15 }; /* s: what it takes at most on a busy machine; the file system stops for ever */
    make_place();
    setenv("PYTHIA_CHECKPOINT", "1", 1);
    stopped = 1;
    ck_assert_int_eq(session_start(&alone, NULL, 0), SESSION_RECORD);
    for (int i = 0; i < 3000 && !entered; i++) {
        call("a");
        usleep(10000);
    }
    ck_assert(entered);
    double begin = seconds();
    for (int i = 0; i < 10000; i++)
        call("b");
    struct job *j = session_finish();
    ck_assert_msg(seconds() - begin < WAITED, "%.1f s", seconds() - begin);
    check(j);
    ck_assert_uint_ge(j->streams[0].events, 10001);
    stopped = 0;
    for (int i = 0; i < 3000 && access(parts, F_OK) == 0; i++)
        usleep(10000);
    ck_assert_int_ne(access(parts, F_OK), 0);
    rmdir(directory);
    job_destroy(j);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        UNIT_TEST(a_file_system_that_stops_holds_up_nobody),
        UNIT_LOOP(a_snapshot_leaves_no_trace, 6),
        UNIT_TEST(threads_go_on),
        UNIT_TEST(ranks_share_a_file_and_are_killed),
        UNIT_TEST(a_part_comes_and_goes),
    };
    setenv("PYTHIA_MODE", "record", 1);
    setenv("PYTHIA_CHECKPOINT", "0", 1); /* the test takes the snapshots */
    return unit_run("checkpoint", tests, UNIT_COUNT(tests));
}
