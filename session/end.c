/* SPDX-License-Identifier: MIT */
#include "session/end.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fpu.h"
#include "pythia.h"
#include "session/internal.h"
#include "session/tree.h"

enum { SECONDS = 10, HELPER_MS = 2000 };

static session_ends *to_end[2];
static atomic_flag ending = ATOMIC_FLAG_INIT;
static volatile sig_atomic_t exit_code; /* of this process, for the timer */
static void (*exit_now)(int); /* the next one behind ours */

void session_at_end(session_ends *ends)
{
    to_end[to_end[0] != NULL] = ends;
}

/* --- The timer --- */

static void too_late(int sig)
{
    (void)sig;
    syscall(SYS_exit_group, (int)exit_code);
}

struct timer { struct sigaction before; struct itimerval was; };

static void timer_begin(struct timer *t, int status)
{
    const struct sigaction act = { .sa_handler = too_late };
    const struct itimerval once = { .it_value = { .tv_sec = SECONDS } };
    sigset_t alarm;
    exit_code = status;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigaction(SIGALRM, &act, &t->before);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    setitimer(ITIMER_REAL, &once, &t->was);
}

static void timer_end(const struct timer *t)
{
    setitimer(ITIMER_REAL, &t->was, NULL);
    sigaction(SIGALRM, &t->before, NULL);
}

/* --- The end --- */

static bool on_signal_stack(void)
{
    stack_t s;
    return sigaltstack(NULL, &s) == 0 && s.ss_flags & SS_ONSTACK;
}

static void end(int status, const void *from)
{
    struct timer timer;
    base_fpu_t kept = base_fpu_hold();
    timer_begin(&timer, status);
    for (size_t i = 0; i < sizeof to_end / sizeof *to_end && to_end[i]; i++)
        to_end[i](status, from);
    timer_end(&timer);
    session_summary_wait();
    base_fpu_give_back(kept);
}

/* Whether there is a session to end, and nobody is about to. Inside an append this thread's stream is half changed: the
   last checkpoint is all that can be had. */
static bool begins(void)
{
    return session_mode() != SESSION_OFF && getpid() == session.process && !session_stream_busy_here() &&
           !atomic_flag_test_and_set(&ending);
}

static void end_session(int status, const void *from)
{
    static const int launchers[] = { SIGTERM, SIGINT, SIGHUP };
    if (!begins())
        return;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        signal(launchers[i], SIG_IGN);
    if (on_signal_stack())
        session_checkpoint_urgent(0, HELPER_MS);
    else
        end(status, from);
}

void session_end_becomes(const char *path)
{
    int saved = errno;
    if ((!path || !access(path, X_OK)) && !on_signal_stack() && begins()) {
        end(0, NULL);
        session_tree_another();
        atomic_flag_clear(&ending);
    }
    errno = saved;
}

static void end_leave(int status, const void *from) __attribute__((noreturn));
static void end_leave(int status, const void *from)
{
    end_session(status, from);
    session_tree_over();
    if (exit_now)
        exit_now(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

PYTHIA_API void _exit(int status);
void _exit(int status)
{
    end_leave(status, __builtin_return_address(0));
}

PYTHIA_API void _Exit(int status);
void _Exit(int status)
{
    end_leave(status, __builtin_return_address(0));
}

/* Handlers of quick_exit that the program has come before. */
static void quick(void)
{
    end_session(0, NULL);
    session_tree_over();
}

static __attribute__((constructor)) void end_load(void)
{
    session_find_next("_exit", &exit_now);
    (void)!at_quick_exit(quick);
}
