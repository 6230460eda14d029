/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/unit/unit.h"

static bool is_pending(int signal)
{
    sigset_t waiting;
    sigpending(&waiting);
    return sigismember(&waiting, signal);
}

static bool is_blocked(int signal)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, signal);
}

/* A file of its own, without a name. */
static int scratch_file(void)
{
    char name[] = "/tmp/pythia-test-XXXXXX";
    int fd = mkstemp(name);
    ck_assert_int_ge(fd, 0);
    unlink(name);
    return fd;
}

static void limit_files(rlim_t most)
{
    struct rlimit l = {most, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static int broken_pipe(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    return ends[1];
}

/* The default of both signals ends the process. */
START_TEST(a_limit_of_size_is_an_error_and_no_signal)
{
    char data[4096] = {0};
    int fd = scratch_file();
    limit_files(1000);
    int result = base_io_write(fd, data, sizeof data), error = errno;
    off_t size = lseek(fd, 0, SEEK_END);
    limit_files(RLIM_INFINITY);
    ck_assert_int_eq(result, -1);
    ck_assert_int_eq(error, EFBIG);
    ck_assert_int_eq(size, 1000);
    ck_assert(!is_pending(SIGXFSZ));
    ck_assert(!is_blocked(SIGXFSZ));
}
END_TEST

START_TEST(a_reader_that_is_gone_is_an_error_and_no_signal)
{
    ck_assert_int_eq(base_io_write(broken_pipe(), "x", 1), -1);
    ck_assert_int_eq(errno, EPIPE);
    ck_assert(!is_pending(SIGPIPE));
    ck_assert(!is_blocked(SIGPIPE));
}
END_TEST

START_TEST(a_signal_of_the_program_s_own_stays)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    raise(SIGPIPE);
    ck_assert_int_eq(base_io_write(broken_pipe(), "x", 1), -1);
    ck_assert(is_pending(SIGPIPE));
    ck_assert(is_blocked(SIGPIPE));
}
END_TEST

static volatile sig_atomic_t alarms;

static void count(int signal)
{
    (void)signal;
    alarms++;
}

static void *drain(void *end)
{
    static char room[1 << 16];
    size_t *total = calloc(1, sizeof *total);
    ssize_t n;
    while ((n = read(*(int *)end, room, sizeof room)) != 0)
        if (n > 0) {
            *total += (size_t)n;
            usleep(1000);
        } else {
            ck_assert_int_eq(errno, EINTR);
        }
    return total;
}

/* Through a pipe that is read slowly, while a handler without SA_RESTART interrupts. */
START_TEST(interrupted_and_partial_writes_go_on)
{
    enum { SIZE = 8 << 20 };
    static char data[SIZE];
    int ends[2];
    void *total;
    pthread_t reader;
    sigset_t mask;
    struct sigaction action = {.sa_handler = count};
    timer_t timer;
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    ck_assert_int_eq(pipe(ends), 0);
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&mask);
    sigaddset(&mask, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &mask, NULL); /* the reader's */
    ck_assert_int_eq(pthread_create(&reader, NULL, drain, &ends[0]), 0);
    pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
    timer_settime(timer, 0, &often, NULL);
    ck_assert_int_eq(base_io_write(ends[1], data, SIZE), 0);
    timer_delete(timer);
    close(ends[1]);
    pthread_join(reader, &total);
    ck_assert_uint_eq(*(size_t *)total, SIZE);
    ck_assert_int_gt(alarms, 0);
    free(total);
}
END_TEST

START_TEST(reads_stop_at_the_end)
{
    char back[16];
    int fd = scratch_file();
    ck_assert_int_eq(base_io_write(fd, "0123456789", 10), 0);
    ck_assert_int_eq(base_io_read_at(fd, back, sizeof back, 4), 6);
    ck_assert_mem_eq(back, "456789", 6);
    lseek(fd, 0, SEEK_SET);
    ck_assert_int_eq(base_io_read(fd, back, 3), 3);
    ck_assert_int_eq(base_io_read(fd, back, sizeof back), 7);
    ck_assert_int_eq(base_io_close(fd), 0);
    ck_assert_int_eq(base_io_read(fd, back, 1), -1);
    ck_assert_int_eq(errno, EBADF);
}
END_TEST

START_TEST(the_beginning_of_a_file)
{
    char text[8];
    ck_assert_uint_eq(base_io_text(text, sizeof text, "/proc/self/%s", "cmdline"), sizeof text - 1);
    ck_assert_int_eq(text[sizeof text - 1], 0);
    strcpy(text, "before");
    ck_assert_uint_eq(base_io_text(text, sizeof text, "/dev/null"), 0);
    ck_assert_str_eq(text, "");
    strcpy(text, "before");
    ck_assert_uint_eq(base_io_text(text, sizeof text, "/proc/self/%s", "nothing"), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

/* What a library writes in between: the same. */
START_TEST(between_hush_and_unhush)
{
    struct base_io_hush h;
    int fd = broken_pipe();
    base_io_hush(&h);
    ck_assert_int_eq(write(fd, "x", 1), -1);
    errno = EDOM;
    base_io_unhush(&h);
    ck_assert_int_eq(errno, EDOM);
    ck_assert(!is_pending(SIGPIPE));
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(a_limit_of_size_is_an_error_and_no_signal),
        UNIT_TEST(a_reader_that_is_gone_is_an_error_and_no_signal),
        UNIT_TEST(a_signal_of_the_program_s_own_stays),
        UNIT_TEST(interrupted_and_partial_writes_go_on),
        UNIT_TEST(reads_stop_at_the_end),
        UNIT_TEST(the_beginning_of_a_file),
        UNIT_TEST(between_hush_and_unhush),
    };
    return unit_run("base/io", tests, UNIT_COUNT(tests));
}
