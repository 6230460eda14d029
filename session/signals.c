/* SPDX-License-Identifier: MIT */
/*
 * A signal that ends the program first has the part written as it is by now.
 *
 *   signal ──> ours: put back who was there before; helper, write (2 s at most) ──> the signal again, for them
 *
 * Our handler acts once for each signal and then removes itself, so the earlier one (MPI's stack trace, the program's
 * own, the default) meets the signal as without Pythia: a fault happens again because its instruction is repeated,
 * anything else is sent again with the same information. A call that the program's handler would have interrupted is
 * interrupted, too. A handler that is installed later and passes the signal on to ours means the one before ours: we
 * call that one, and the later handler stays installed. Only what is safe in a handler is done here; the helper thread
 * does the work, and where it cannot (the crash left malloc locked) the wait ends and the last checkpoint remains.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/internal.h"
#include "watch/board.h"

enum { WAIT_MS = 2000 };

static const int ends[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGXCPU, SIGUSR1,
                           SIGUSR2, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT};
enum { ENDS = sizeof ends / sizeof ends[0] };

static struct sigaction before[ENDS];
static bool taken[ENDS];
static atomic_bool passed[ENDS]; /* to the one before, by one who came after */

static bool is_function(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static bool is_fault(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL;
}

/* Inside an append this thread's stream is half changed: the last checkpoint is all that can be had. */
static void save(int sig, bool last)
{
    if (getpid() == session.process && !session_stream_busy_here())
        session_checkpoint_urgent(last ? sig : 0, WAIT_MS);
    if (last)
        watch_board_unlink();
}

/* The kernel called our handler. */
static void meet(int sig, siginfo_t *info, const struct sigaction *to)
{
    sigaction(sig, to, NULL);
    save(sig, is_fault(sig) || sig == SIGABRT || !is_function(to));
    if (!is_fault(sig) || info->si_code <= 0)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), sig, info);
}

/* A handler installed later called ours, perhaps without `info`. Where the earlier action was the default, the later
   handler does what it wants; only a fault gets the default back, since it happens again. */
static void pass_on(int sig, siginfo_t *info, void *context, const struct sigaction *to, atomic_bool *again)
{
    if (!atomic_exchange(again, true))
        save(sig, is_fault(sig) || sig == SIGABRT);
    if (to->sa_flags & SA_SIGINFO)
        to->sa_sigaction(sig, info, context);
    else if (is_function(to))
        to->sa_handler(sig);
    else if (is_fault(sig))
        sigaction(sig, to, NULL);
}

static bool is_ours(const struct sigaction *a);

static void last_words(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    struct sigaction now;
    unsigned i = 0;
    while (i < ENDS - 1 && ends[i] != sig)
        i++;
    if (!sigaction(sig, NULL, &now) && is_ours(&now))
        meet(sig, info, &before[i]);
    else
        pass_on(sig, info, context, &before[i], &passed[i]);
    errno = saved;
}

static bool is_ours(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == last_words;
}

static bool signals_take(int sig, const struct sigaction *was)
{
    struct sigaction ours = {.sa_sigaction = last_words, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&ours.sa_mask);
    if (is_function(was))
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (was->sa_flags & SA_RESTART);
    return !sigaction(sig, &ours, NULL);
}

void session_signals_take(void)
{
    for (unsigned i = 0; i < ENDS; i++)
        taken[i] = !sigaction(ends[i], NULL, &before[i]) &&
                   (is_function(&before[i]) || before[i].sa_handler == SIG_DFL) && signals_take(ends[i], &before[i]);
}

void session_signals_give_back(void)
{
    struct sigaction now;
    for (unsigned i = 0; i < ENDS; i++)
        if (taken[i] && !sigaction(ends[i], NULL, &now) && is_ours(&now))
            sigaction(ends[i], &before[i], NULL);
}
