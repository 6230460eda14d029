/* SPDX-License-Identifier: MIT */
/* The line of progress, on a terminal of our own and on a pipe. Work is a loop that sleeps. */
#include <fcntl.h>
#include <stdbool.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tools/progress.h"

static void nap(int ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* Makes standard error the slave of a terminal of so many columns; returns the master. */
static int terminal(unsigned short width)
{
    int master, slave;
    struct winsize size = { .ws_row = 24, .ws_col = width };

    ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, &size), 0);
    ck_assert_int_eq(dup2(slave, STDERR_FILENO), STDERR_FILENO);
    ck_assert_int_eq(fcntl(master, F_SETFL, O_NONBLOCK), 0);
    setenv("TERM", "xterm", 1);
    return master;
}

/* All that was written there. */
static const char *seen(int master)
{
    static char text[1 << 16];
    size_t size = 0;

    for (ssize_t n; (n = read(master, text + size, sizeof text - 1 - size)) > 0;)
        size += (size_t)n;
    text[size] = '\0';
    return text;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Returns how long it took, ms, at least. */
static uint64_t work(uint64_t total, int steps, int ms)
{
    struct progress p;
    uint64_t begin = now_ms();

    progress_begin(&p, "weaving", total);
    for (int i = 0; i < steps; i++) {
        progress_at(&p, (uint64_t)i);
        nap(ms);
    }
    progress_end(&p);
    return now_ms() - begin + 1;
}

static int count(const char *text, const char *what)
{
    int n = 0;

    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

START_TEST(long_work_is_shown_and_wiped_away)
{
    int master = terminal(80);
    uint64_t took = work(100, 80, 10);
    const char *text = seen(master);
    ck_assert_msg(count(text, "\rpythia: weaving ") >= 1, "seen: %s", text);
    ck_assert_uint_le((uint64_t)count(text, "\r"), took / 100 + 2); /* ten a second at most, and the wiping */
    ck_assert_ptr_nonnull(strstr(text, " %  "));
    ck_assert_ptr_nonnull(strstr(text, " s left\033[K"));
    ck_assert_int_eq(count(text, "\n"), 0);
    ck_assert_str_eq(text + strlen(text) - 4, "\r\033[K");
}
END_TEST

START_TEST(work_of_unknown_length_is_counted)
{
    int master = terminal(80);
    work(0, 80, 10);
    const char *text = seen(master);
    ck_assert_ptr_nonnull(strstr(text, "\rpythia: weaving "));
    ck_assert_int_eq(count(text, "%"), 0);
}
END_TEST

START_TEST(short_work_shows_nothing)
{
    int master = terminal(80);
    bool short_enough = work(10, 10, 1) < 500; /* else this machine made it long */
    ck_assert(!short_enough || !*seen(master));
}
END_TEST

START_TEST(more_steps_than_announced_end_at_100)
{
    int master = terminal(80);
    work(2, 80, 10);
    const char *text = seen(master);
    ck_assert_ptr_nonnull(strstr(text, "100 %  0.0 s left"));
}
END_TEST

START_TEST(a_narrow_terminal_gets_a_cut_line)
{
    int master = terminal(20);
    work(100, 80, 10);
    const char *text = seen(master);
    ck_assert_ptr_nonnull(strstr(text, "\rpythia: weaving "));
    for (const char *line = strchr(text, '\r'); line; line = strchr(line + 1, '\r'))
        ck_assert_uint_le(strcspn(line + 1, "\033"), 19);
}
END_TEST

static const char *const dull[] = { "a pipe", "a dumb terminal", "a terminal without a name" };

START_TEST(elsewhere_nothing_is_written)
{
    int end, ends[2];

    if (_i == 0) {
        ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
        ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
        setenv("TERM", "xterm", 1);
        end = ends[0];
    } else {
        end = terminal(80);
        if (_i == 1)
            setenv("TERM", "dumb", 1);
        else
            unsetenv("TERM");
    }
    work(100, 80, 10);
    ck_assert_msg(!*seen(end), "something on %s", dull[_i]);
}
END_TEST

START_TEST(many_small_steps_look_at_the_clock_seldom)
{
    struct progress p;
    uint64_t looks = 0, next = 0;

    terminal(80);
    progress_begin(&p, "weaving", 1 << 28);
    for (uint64_t i = 0; i < 1 << 28; i++) {
        progress_at(&p, i);
        looks += p.next != next;
        next = p.next;
    }
    progress_end(&p);
    ck_assert_uint_lt(looks, 10000);
}
END_TEST

static const struct unit_test tests[] = {
    UNIT_TEST(long_work_is_shown_and_wiped_away), UNIT_TEST(work_of_unknown_length_is_counted),
    UNIT_TEST(short_work_shows_nothing), UNIT_TEST(more_steps_than_announced_end_at_100),
    UNIT_TEST(a_narrow_terminal_gets_a_cut_line), UNIT_LOOP(elsewhere_nothing_is_written, 3),
    UNIT_TEST(many_small_steps_look_at_the_clock_seldom),
};

int main(void)
{
    int master, slave;

    if (openpty(&master, &slave, NULL, NULL, NULL) != 0)
        return unit_skip("no pseudo terminals here (/dev/pts)");
    return unit_run("tools/progress", tests, UNIT_COUNT(tests));
}
