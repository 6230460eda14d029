/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/define.h"
#include "tests/unit/unit.h"
#include "watch/copy.h"

static struct watch_sight sight;
static char path[WATCH_PATH];

/* No other job has this number. */
static uint64_t number(void)
{
    return UINT64_C(1) << 63 | (uint64_t)getppid() << 24 | (uint64_t)getpid();
}

static struct watch_board *make(uint32_t rank)
{
    watch_board_open(&(struct watch_life){.job = number(), .rank = rank, .ranks = 4, .file = "some.pythia"});
    watch_path(path, number(), rank);
    return watch_board_here;
}

static enum watch_reading look_at(uint64_t job, uint32_t rank)
{
    watch_read(job, rank, &sight);
    return sight.reading;
}

static enum watch_reading look(uint32_t rank)
{
    return look_at(number(), rank);
}

static const struct watch_call calls[] = {{"MPI_Send", {JOB_P2P, 1, WATCH_PLAIN, 0}},
                                          {"MPI_Recv", {JOB_P2P, 1, WATCH_POLLS, 1}}};

START_TEST(what_is_written_is_read)
{
    struct watch_board *b = make(2);
    struct stat st;
    ck_assert_ptr_nonnull(b);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0600);
    watch_board_mpi(-1, -2, calls, 2);
    struct watch_comm *c = watch_board_comm(77, 5, "world/split#3", 1, 2, "ab", 2);
    c->collectives += 3;
    static char all[5 * WATCH_WAY_STEP], *const slots = all + WATCH_WAY_STEP;
    watch_board_with(b, 3, WATCH_NOBODY, 8);
    watch_board_place(b, &calls[1], slots + 2 * WATCH_WAY_STEP, 77);
    watch_board_way(b, slots + 2 * WATCH_WAY_STEP, slots, (void *[]){(void *)0x1234, (void *)0x5678}, 2);
    watch_board_way(b, NULL, slots, (void *[]){(void *)0x9999}, 1);
    watch_board_met(b, 6, 0x1234);
    for (int i = 0; i < 3; i++)
        watch_board_left(b, 6, 50, 10, b->began + 60, 10);
    watch_board_met(b, 6 + WATCH_SPOTS, 0x1234); /* a second one shares its room */
    watch_board_enter(b, b->began + 100);
    ck_assert_int_eq(look(2), WATCH_READ);
    const struct watch_board *r = &sight.board;
    ck_assert_int_eq(sight.process.state, 'R');
    ck_assert_uint_eq(r->pid, (unsigned)getpid());
    ck_assert_str_eq(r->is.function, "MPI_Recv");
    ck_assert_int_eq(r->is.what.call_kind, JOB_P2P);
    ck_assert_int_eq(r->is.what.how, WATCH_POLLS);
    ck_assert(r->any == -1 && r->null == -2);
    ck_assert_uint_eq(r->since, (b->began + 100) << 1 | 1);
    ck_assert_uint_eq(r->from, 0x1234);
    ck_assert_ptr_eq(r->came, &r->way[2]);
    ck_assert(r->came->from[1] == 0x5678 && !r->came->from[2]);
    ck_assert_int_eq(r->source, 3);
    ck_assert_int_eq(r->dest, WATCH_NOBODY);
    ck_assert_int_eq(r->tag, 8);
    ck_assert_uint_eq(r->where, 77);
    ck_assert_uint_eq(r->events, 3);
    ck_assert_uint_eq(r->mpi_ns, 10);
    ck_assert_uint_eq(r->longest, 60);
    ck_assert_uint_eq(r->sum[6].count, 3);
    ck_assert_uint_eq(r->sum[6].gap_ns, 150);
    ck_assert_uint_eq(r->met[6], 0);
    ck_assert_uint_eq(r->comm[0].handle, 77);
    ck_assert_uint_eq(r->comm[0].collectives, 3);
    ck_assert_str_eq(r->comm[0].name, "world/split#3");
    ck_assert_ptr_nonnull(strstr(r->file, "/some.pythia"));
    watch_board_comm_gone(c);
    watch_board_place(b, &calls[0], NULL, 0); /* it has no peers; its way is not remembered but as the last one */
    watch_board_enter(b, b->began + 200);
    ck_assert_int_eq(look(2), WATCH_READ);
    ck_assert_uint_eq(sight.board.comm[0].handle, 0);
    ck_assert(r->source == WATCH_NOBODY && r->dest == WATCH_NOBODY && r->tag == 0);
    ck_assert_uint_eq(r->from, 0x9999);
    watch_board_place(b, &calls[0], slots + 3 * WATCH_WAY_STEP, 0);
    watch_board_enter(b, b->began + 300);
    ck_assert_int_eq(look(2), WATCH_READ);
    ck_assert(!r->came && !r->from); /* nobody has been there */
    watch_board_place(b, &calls[0], slots - WATCH_WAY_STEP, 0);
    watch_board_enter(b, b->began + 400);
    ck_assert_int_eq(look(2), WATCH_READ);
    ck_assert(!r->came && !r->from);
    watch_board_region(b, 0x4321, b->began + 500);
    ck_assert_int_eq(look(2), WATCH_READ);
    ck_assert_uint_eq(r->from, 0x4321 | WATCH_OF_REGION);
    ck_assert_str_eq(r->is.function, "a parallel region");
    watch_board_close();
    ck_assert_int_eq(look(2), WATCH_GONE);
}
END_TEST

/* Equal on all members: by name and by who is in it. */
START_TEST(communicators_are_told_apart)
{
    make(0);
    uint64_t a = watch_board_comm(1, 1, "world/split#0", 0, 2, "ab", 2)->identity;
    ck_assert_uint_eq(watch_board_comm(2, 2, "world/split#0", 1, 2, "ab", 2)->identity, a);
    ck_assert_uint_ne(watch_board_comm(3, 3, "world/split#0", 0, 2, "cd", 2)->identity, a);
    ck_assert_uint_ne(watch_board_comm(4, 4, "world/split#1", 0, 2, "ab", 2)->identity, a);
    for (uint64_t i = 5; i < 500; i++)
        watch_board_comm(i, (uint32_t)i, "many", 0, 2, "ab", 2)->collectives++; /* beyond its room: nobody's */
    ck_assert_int_eq(look(0), WATCH_READ);
    ck_assert_uint_eq(sight.board.comm[WATCH_COMMS - 1].handle, WATCH_COMMS);
    watch_board_close();
}
END_TEST

/* All are equally long, of as many events: four at most, then two become one. */
START_TEST(seasons_end)
{
    struct watch_board *b = make(0);
    uint64_t second = UINT64_C(1000000000), at = b->began;
    for (int i = 1; i <= 50; i++) {
        watch_board_season(b, at += second);
        watch_board_left(b, 6, 1000, 0, at, 0);
        ck_assert_int_eq(look(0), WATCH_READ);
        ck_assert_uint_eq(sight.board.since, at << 1);
        ck_assert_uint_le(b->seasons, WATCH_SEASONS);
    }
    static const uint64_t ends[] = {16, 32, 48};
    ck_assert_uint_eq(b->seasons, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(b->season[i].end, b->began + ends[i] * second);
        ck_assert_uint_eq(b->season[i].past[6].count, ends[i] - 1);
        ck_assert_uint_eq(b->season[i].past[6].gap_ns, 1000 * (ends[i] - 1));
    }
    watch_board_close();
}
END_TEST

START_TEST(ends_are_told)
{
    struct watch_board *b = make(0);
    uint64_t ms = 1000000, at = b->began;
    for (int i = 1; i <= 400; i++)
        watch_board_note(b, at += 100 * ms, 77 * ms, 0, 0, 0);
    ck_assert_uint_eq(b->told_ns, 3200 * ms);
    ck_assert_uint_le(b->tolds, WATCH_TOLD);
    for (uint64_t i = 0; i < b->tolds; i++) {
        ck_assert_uint_eq(b->told[i].end, b->told[i].at + 77 * ms);
        if (i)
            ck_assert_uint_eq(b->told[i].at - b->told[i - 1].at, b->told_ns);
    }
    double progress = b->progress;
    uint64_t tolds = b->tolds;
    watch_board_note(b, at += 10000 * ms, WATCH_BEYOND, 0, 0, 0); /* longer than recorded: no end is foretold */
    ck_assert_uint_eq(b->tolds, tolds);
    ck_assert(b->progress == progress);
    watch_board_close();
}
END_TEST

START_TEST(requests_come_and_go)
{
    struct watch_board *b = make(0);
    watch_board_started(0x7000, WATCH_RECEIVES, 5, 3, 12, 0);
    watch_board_started(0x7040, WATCH_SENDS, 5, 2, 12, 0);
    ck_assert_int_eq(watch_board_request(b, 0x7000)->peer, 3);
    watch_board_completed(0x7000);
    watch_board_completed(0x9999);
    ck_assert_uint_eq(watch_board_request(b, 0x7000)->handle, 0);
    ck_assert_uint_eq(watch_board_request(b, 0x7040)->handle, 0x7040);
    watch_board_close();
    watch_board_started(0x7000, WATCH_RECEIVES, 5, 3, 12, 0); /* without a board: nothing */
}
END_TEST

START_TEST(places_can_be_found)
{
    struct watch_board *b = make(0);
    unsigned long begin, end, bias, own = (unsigned long)&make;
    char file[512] = "", line[600];
    for (const char *at = b->modules; sscanf(at, "%599[^\n]", line) == 1; at += strlen(line) + 1)
        if (sscanf(line, "%lx %lx %lx %*s %511s", &begin, &end, &bias, file) == 4 && own >= begin && own < end)
            break;
    ck_assert_ptr_nonnull(strstr(file, "test_watch_board"));
    watch_board_close();
}
END_TEST

START_TEST(a_board_is_made_new_or_not_at_all)
{
    make(1);
    watch_board_close();
    ck_assert_int_eq(symlink("/tmp/elsewhere", path), 0);
    ck_assert_ptr_null(make(1));
    ck_assert_int_eq(access("/tmp/elsewhere", F_OK), -1);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

static void put(const void *data, size_t size, mode_t mode)
{
    unlink(path);
    int f = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    ck_assert_int_ge(f, 0);
    ck_assert_int_eq((int)write(f, data, size), (int)size);
    close(f);
}

/* Whatever lies there under a board's name gets a reason, and none is followed. */
START_TEST(a_hostile_file_is_refused)
{
    static struct watch_board copy, wrong;
    copy = *make(1);
    watch_board_close();
    put(&copy, sizeof copy, 0600);
    ck_assert_int_eq(look(1), WATCH_READ);
    put(&copy, sizeof copy - 1, 0600);
    ck_assert_int_eq(look(1), WATCH_REFUSED);
    put("", 0, 0600);
    ck_assert_int_eq(look(1), WATCH_GONE); /* not yet one */
    put(&copy, sizeof copy, 0620);
    chmod(path, 0620);
    ck_assert_int_eq(look(1), WATCH_REFUSED);
    ck_assert_str_eq(sight.why, "others may write or read it");
    wrong = copy;
    wrong.version++;
    put(&wrong, sizeof wrong, 0600);
    ck_assert_int_eq(look(1), WATCH_OTHER_VERSION);
    wrong = copy;
    wrong.rank = wrong.ranks;
    put(&wrong, sizeof wrong, 0600);
    ck_assert_int_eq(look(1), WATCH_REFUSED);
    wrong = copy;
    wrong.job++;
    put(&wrong, sizeof wrong, 0600);
    ck_assert_int_eq(look(1), WATCH_REFUSED);
    wrong = copy;
    memset(wrong.command, '\033', sizeof wrong.command);
    memset(wrong.modules, 'x', sizeof wrong.modules);
    wrong.progress = 1e300;
    atomic_store(&wrong.since, WATCH_CHANGES);
    put(&wrong, sizeof wrong, 0600);
    ck_assert_int_eq(look(1), WATCH_READ);
    ck_assert_uint_eq(strlen(sight.board.command), sizeof wrong.command - 1);
    ck_assert_ptr_null(strchr(sight.board.command, '\033'));
    ck_assert_uint_eq(strlen(sight.board.modules), WATCH_MODULES - 1);
    ck_assert(sight.board.progress == 0);
    unlink(path);
    ck_assert_int_eq(symlink("/dev/zero", path), 0);
    ck_assert_int_eq(look(1), WATCH_REFUSED);
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(look(1), WATCH_REFUSED);
    unlink(path);
}
END_TEST

static void die_with_a_board(uint64_t job, uint32_t rank)
{
    pid_t child = fork();
    if (child == 0) {
        watch_board_open(&(struct watch_life){.job = job, .rank = rank, .ranks = 4, .file = "f"});
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
}

START_TEST(what_the_dead_left_is_swept)
{
    struct watch_found *found;
    uint64_t job = number(), dead = job ^ 1;
    make(3);
    die_with_a_board(job, 1);
    die_with_a_board(dead, 1);
    die_with_a_board(dead, 2);
    watch_sweep();
    ck_assert_int_eq(look_at(dead, 1), WATCH_GONE);
    ck_assert_int_eq(look_at(dead, 2), WATCH_GONE);
    ck_assert_int_eq(look(1), WATCH_READ); /* of its job somebody lives */
    ck_assert_int_eq(sight.process.state, 'X');
    ck_assert_int_eq(look(3), WATCH_READ);
    uint32_t count = watch_find(job, &found);
    ck_assert_uint_eq(count, 2);
    ck_assert(found[0].rank == 1 && found[1].rank == 3);
    free(found);
    watch_board_close();
    watch_sweep();
    ck_assert_int_eq(look(1), WATCH_GONE);
}
END_TEST

static const char *said;

static void refused(const char *where, const char *why)
{
    (void)where;
    said = why;
}

/* Its maker was killed before it had a size, or anything in it. */
START_TEST(what_never_became_a_board)
{
    static const char nothing[sizeof(struct watch_board)];
    const struct timespec past[2] = {{.tv_sec = time(NULL) - 3600}, {.tv_sec = time(NULL) - 3600}};
    for (int full = 0; full < 2; full++) {
        struct watch_sights list = {.refuse = refused};
        make(1);
        watch_board_close();
        put(nothing, full ? sizeof nothing : 0, 0600);
        watch_sweep();
        ck_assert_int_eq(access(path, F_OK), 0); /* it may yet become one */
        ck_assert_int_eq(look(1), WATCH_GONE);
        said = NULL;
        watch_read_all(number(), &list);
        ck_assert_ptr_null(said);
        watch_sights_free(&list);
        ck_assert_int_eq(utimensat(AT_FDCWD, path, past, 0), 0);
        watch_sweep();
        ck_assert_int_ne(access(path, F_OK), 0);
    }
}
END_TEST

START_TEST(what_is_not_understood_stays)
{
    static struct watch_board copy;
    copy = *make(1);
    watch_board_close();
    copy.version++;
    copy.pid = INT32_MAX; /* nobody's */
    put(&copy, sizeof copy, 0600);
    watch_sweep();
    ck_assert_int_eq(look(1), WATCH_OTHER_VERSION);
    put("x", 1, 0600);
    watch_sweep();
    ck_assert_int_eq(look(1), WATCH_REFUSED);
    unlink(path);
}
END_TEST

START_TEST(a_child_leaves_its_parents_board)
{
    make(0);
    pid_t child = fork();
    if (child == 0) {
        watch_board_close();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    ck_assert_int_eq(look(0), WATCH_READ);
    watch_board_unlink();
    ck_assert_int_eq(look(0), WATCH_GONE);
}
END_TEST

static struct watch_sight *copied;

static uint32_t read_copies(const char *directory)
{
    static struct watch_sights list;
    watch_sights_free(&list);
    list = (struct watch_sights){0};
    watch_copy_read(directory, &list);
    copied = list.count ? list.of[0] : NULL;
    return list.count;
}

/* What another node is told of this one: nothing but what is written whole, by this user, for nobody else. */
START_TEST(boards_are_copied)
{
    char directory[] = "/tmp/pythia-test.XXXXXX", file[100];
    struct watch_copier c = {NULL, 0};
    struct stat st;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    watch_copy_path(file, sizeof file, directory, number(), 1);
    struct watch_board *b = make(1);
    watch_board_place(b, &calls[1], NULL, 0);
    watch_board_way(b, NULL, NULL, (void *[]){(void *)0x1234}, 1);
    watch_board_enter(b, b->began + 100);
    ck_assert_int_eq(watch_copy_write(&c, file, number(), 1, 5), 0); /* all of its job's: nobody else looks */
    ck_assert_uint_eq(read_copies(directory), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(watch_copy_write(&c, file, number(), 4, 5), 0);
    ck_assert_uint_eq(read_copies(directory), 1);
    ck_assert(copied->copied);
    ck_assert_int_eq(copied->process.state, 'R');
    ck_assert_uint_eq(copied->step_ns, 5);
    ck_assert_uint_eq(copied->board.job, number());
    ck_assert_uint_eq(copied->board.from, 0x1234);
    ck_assert_uint_eq(copied->board.since, (b->began + 100) << 1 | 1);
    ck_assert_uint_gt(copied->now, b->began);
    ck_assert_int_eq(stat(file, &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0600);
    ck_assert_int_lt(st.st_blocks * 512, (long)sizeof *b); /* pages without anything are holes */
    chmod(file, 0644);
    ck_assert_uint_eq(read_copies(directory), 0);
    chmod(file, 0600);
    ck_assert_int_eq(truncate(file, st.st_size - 1), 0);
    ck_assert_uint_eq(read_copies(directory), 0);
    ck_assert_int_eq(watch_copy_write(&c, file, number(), 4, 5), 0);
    ck_assert_uint_eq(read_copies(directory), 1);
    ck_assert_int_eq(truncate(file, 8), 0);
    ck_assert_uint_eq(read_copies(directory), 0);
    unlink(file);
    ck_assert_int_eq(symlink("/dev/null", file), 0);
    ck_assert_uint_eq(read_copies(directory), 0);
    ck_assert_int_eq(watch_copy_write(&c, file, number(), 4, 5), 0); /* the link goes */
    ck_assert_uint_eq(read_copies(directory), 1);
    watch_board_close();
    watch_copier_close(&c);
    unlink(file);
    ck_assert_int_eq(rmdir(directory), 0); /* nothing else is left */
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(what_is_written_is_read),
        UNIT_TEST(communicators_are_told_apart),
        UNIT_TEST(seasons_end),
        UNIT_TEST(ends_are_told),
        UNIT_TEST(requests_come_and_go),
        UNIT_TEST(places_can_be_found),
        UNIT_TEST(a_board_is_made_new_or_not_at_all),
        UNIT_TEST(a_hostile_file_is_refused),
        UNIT_TEST(what_the_dead_left_is_swept),
        UNIT_TEST(what_never_became_a_board),
        UNIT_TEST(what_is_not_understood_stays),
        UNIT_TEST(a_child_leaves_its_parents_board),
        UNIT_TEST(boards_are_copied),
    };
    if (access(WATCH_DIRECTORY, W_OK))
        return unit_skip("no " WATCH_DIRECTORY);
    base_clock_init();
    return unit_run("watch/board", tests, UNIT_COUNT(tests));
}
