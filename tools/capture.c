/* SPDX-License-Identifier: MIT */
/* Running a command with a limit of time; see capture.h. */
#include "tools/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { MOST = 1 << 20 };

/* The child: a process group of its own, so that what it starts can be killed with it. */
static void become(char *const *argv, char *const *environment, int out)
{
    int null = open("/dev/null", O_RDONLY);

    setpgid(0, 0);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL); /* main() ignores them */
    signal(SIGXFSZ, SIG_DFL);
    for (; environment && *environment; environment++)
        putenv(*environment);
    execvp(argv[0], argv);
    _exit(127);
}

/* Reads to the end, or until `deadline`. Returns whether the end came. */
static bool read_all(int fd, char *text, uint64_t deadline)
{
    size_t size = 0;
    char rest[4096];

    for (;;) {
        uint64_t now = base_clock_system();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (now >= deadline)
            return false;
        if (poll(&p, 1, (int)((deadline - now) / 1000000) + 1) <= 0)
            continue;
        ssize_t n = size < MOST ? read(fd, text + size, MOST - size) : read(fd, rest, sizeof rest);
        if (n == 0)
            return true;
        if (n < 0 && errno != EINTR)
            return true;
        if (n > 0 && size < MOST) {
            size += (size_t)n;
            text[size] = '\0';
        }
    }
}

static int wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int capture(char *const *argv, char *const *environment, int seconds, struct captured *c)
{
    int ends[2];
    char *text = calloc(1, MOST + 1);

    if (pipe2(ends, O_CLOEXEC) != 0) {
        free(text);
        return -1;
    }
    pid_t child = fork();
    if (child == 0)
        become(argv, environment, ends[1]);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        free(text);
        return -1;
    }
    setpgid(child, child); /* whoever is first, parent or child */
    *c = (struct captured){ .text = text };
    c->timed_out = !read_all(ends[0], text, base_clock_system() + (uint64_t)seconds * 1000000000u);
    if (c->timed_out)
        kill(-child, SIGKILL);
    close(ends[0]);
    c->status = wait_for(child);
    return 0;
}

void captured_free(struct captured *c)
{
    free(c->text);
    c->text = NULL;
}
