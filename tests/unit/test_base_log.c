/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/unit/unit.h"

/* A pipe in place of standard error; a packet pipe gives back one write() per read(). */
static int capture(void)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_DIRECT | O_NONBLOCK), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    return ends[0];
}

static const char *next(int end)
{
    static char text[2 * BASE_LOG_LINE];
    ssize_t n = read(end, text, sizeof text - 1);
    text[n < 0 ? 0 : n] = '\0';
    return text;
}

START_TEST(a_message_is_one_line_and_one_write)
{
    int end = capture();
    errno = EDOM;
    base_log_warn("rank %d: %s", 3, "lost");
    base_log_warn("again");
    ck_assert_int_eq(errno, EDOM);
    ck_assert_str_eq(next(end), "pythia: rank 3: lost\n");
    ck_assert_str_eq(next(end), "pythia: again\n");
    ck_assert_str_eq(next(end), "");
}
END_TEST

START_TEST(a_long_message_is_cut_and_still_a_line)
{
    int end = capture();
    char longer[2 * BASE_LOG_LINE];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    base_log_warn("%s", longer);
    const char *text = next(end);
    ck_assert_uint_eq(strlen(text), BASE_LOG_LINE);
    ck_assert_int_eq(text[BASE_LOG_LINE - 1], '\n');
}
END_TEST

START_TEST(the_level_says_what_is_shown)
{
    static const char *const shown[] = {"", "wi", "wid"};
    int end = capture();
    char seen[4] = "";
    base_log_verbosity(_i);
    base_log_warn("w");
    base_log_info("i");
    base_log_debug("d");
    for (const char *line = next(end); *line; line = next(end))
        seen[strlen(seen)] = line[strlen("pythia: ")];
    ck_assert_str_eq(seen, shown[_i]);
}
END_TEST

/* Nobody reads standard error any more, which is no reason to end the program. */
START_TEST(a_reader_that_is_gone)
{
    int ends[2];
    sigset_t mask, waiting;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
    errno = EDOM;
    base_log_warn("to nobody");
    ck_assert_int_eq(errno, EDOM);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigpending(&waiting);
    ck_assert(!sigismember(&mask, SIGPIPE));
    ck_assert(!sigismember(&waiting, SIGPIPE));
    sigaddset(&mask, SIGPIPE); /* one of the program's own, which it has put off, stays */
    sigprocmask(SIG_BLOCK, &mask, NULL);
    raise(SIGPIPE);
    base_log_warn("to nobody");
    sigpending(&waiting);
    ck_assert(sigismember(&waiting, SIGPIPE));
}
END_TEST

START_TEST(the_first_rank_speaks)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                         "SLURM_PROCID" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    ck_assert(base_log_is_first_rank());
    setenv("PMI_RANK", "1", 1);
    ck_assert(!base_log_is_first_rank());
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    ck_assert(base_log_is_first_rank());
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT_TEST(a_message_is_one_line_and_one_write),
        UNIT_TEST(a_long_message_is_cut_and_still_a_line),
        UNIT_LOOP(the_level_says_what_is_shown, 3),
        UNIT_TEST(a_reader_that_is_gone),
        UNIT_TEST(the_first_rank_speaks),
    };
    return unit_run("base/log", tests, UNIT_COUNT(tests));
}
