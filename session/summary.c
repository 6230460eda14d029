/* SPDX-License-Identifier: MIT */
/*
 * The summary at the end of a run under `pythia record` and `pythia predict`: the command says in PYTHIA_COMMAND where
 * it is, and is asked for the report of the file that was just written, and to keep in it what that needs of the
 * program's files. A process of its own does it, because reading debug information needs libraries that have no place
 * in the program; what it prints goes to standard error.
 *
 * The program must not suffer: no shell, no fork handlers (posix_spawn), without our preload, and killed when it takes
 * longer than SECONDS. Nobody waits for it before MPI_Finalize has returned: MPI takes as long to end. Who waits for
 * whom is left out where finding that out takes more than a fiftieth of the run, and more than LEAST_MS: most programs
 * that are tried first run for a second, and are asked for just that.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/internal.h"

enum { SECONDS = 20, STEP_MS = 1, LEAST_MS = 1500, MOST_MS = 5000 };

extern char **__environ;

/* The environment without what would record the report, and with what keeps exec.c from putting it back; the array is
   the caller's, the texts are not. */
static char **plain_environment(void)
{
    static char off[] = "PYTHIA_MODE=off";
    size_t n = 0, kept = 0;

    while (__environ[n])
        n++;
    char **plain = calloc(n + 2, sizeof *plain);
    for (size_t i = 0; plain && i < n; i++)
        if (strncmp(__environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(__environ[i], "PYTHIA_", 7) != 0)
            plain[kept++] = __environ[i];
    if (plain)
        plain[kept] = off;
    return plain;
}

static pid_t summary_child; /* that was not waited for; 0: none */

void session_summary_wait(void)
{
    const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    pid_t child = summary_child;

    if (!child)
        return;
    summary_child = 0;
    for (int waited = 0; waited < SECONDS * 1000; waited += STEP_MS) {
        pid_t ended = waitpid(child, NULL, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) /* also when the program collects all children itself */
            return;
        nanosleep(&step, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

void session_print_summary(const char *file, const char *view, bool keep, uint64_t since)
{
    const char *command = getenv("PYTHIA_COMMAND");
    char within[32], began[32];
    bool shown = session.options.summary && session.options.verbose;
    char *const arguments[] = { (char *)"pythia", (char *)"report", (char *)(uintptr_t)file, (char *)"--view",
                                (char *)(uintptr_t)(shown ? view : "predicted"), (char *)"--keep-places",
                                (char *)"--within", within, since ? (char *)"--since" : NULL, began, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    struct stat st;
    sigset_t none;

    session_summary_wait();
    if (!command || !*command || (!keep && !shown) || stat(file, &st) || !S_ISREG(st.st_mode))
        return;
    uint64_t fiftieth = (base_clock_now() - session.begin) / 50000000;
    snprintf(within, sizeof within, "%u",
             (unsigned)(fiftieth < LEAST_MS  ? LEAST_MS
                        : fiftieth > MOST_MS ? MOST_MS
                                             : fiftieth));
    snprintf(began, sizeof began, "%" PRIu64, since);
    char **environment = plain_environment();
    if (!environment || posix_spawn_file_actions_init(&actions) != 0) {
        free(environment);
        return;
    }
    if (posix_spawnattr_init(&attributes) == 0) {
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
            (shown || !posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)) &&
            posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO) == 0 &&
            posix_spawn(&summary_child, command, &actions, &attributes, arguments, environment) != 0)
            summary_child = 0;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
}
