/* SPDX-License-Identifier: MIT */
/*
 * A signal that ends the program first has the part written as it is by now.
 *
 *   signal ──> ours: put back who was there before; helper, write (2 s at most) ──> the signal again, for them
 *
 * Ours acts once for each signal and then is gone, so whoever was there (MPI's stack trace, the program's own handler, the
 * default) meets the signal as without us: a fault happens again when its instruction does, anything else is sent again
 * with what came with it. Only what is safe in a handler is done here; the helper thread does the work, and where it can't
 * (the crash left malloc locked) the wait ends and the last checkpoint stands.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/internal.h"

enum { WAIT_MS = 2000 };

static const int ends[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGXCPU, SIGUSR1,
                           SIGUSR2, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT};
enum { ENDS = sizeof ends / sizeof ends[0] };

static struct sigaction before[ENDS];
static bool taken[ENDS];

static void put_back(int sig)
{
    for (unsigned i = 0; i < ENDS; i++)
        if (ends[i] == sig)
            sigaction(sig, &before[i], NULL);
}

static bool is_fault(int sig, const siginfo_t *info)
{
    return info->si_code > 0 && (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);
}

static void last_words(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    (void)context;
    put_back(sig);
    /* Inside an append this thread's stream is half changed: the last checkpoint is all that can be had. */
    if (getpid() == session.process && !session_stream_busy_here())
        session_checkpoint_urgent(WAIT_MS);
    if (!is_fault(sig, info))
        syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), sig, info);
    errno = saved;
}

void session_signals_take(void)
{
    struct sigaction ours = {.sa_sigaction = last_words, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&ours.sa_mask);
    for (unsigned i = 0; i < ENDS; i++)
        taken[i] = !sigaction(ends[i], NULL, &before[i]) &&
                   ((before[i].sa_flags & SA_SIGINFO) || before[i].sa_handler != SIG_IGN) &&
                   !sigaction(ends[i], &ours, NULL);
}

void session_signals_give_back(void)
{
    struct sigaction now;
    for (unsigned i = 0; i < ENDS; i++)
        if (taken[i] && !sigaction(ends[i], NULL, &now) && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == last_words)
            sigaction(ends[i], &before[i], NULL);
}
