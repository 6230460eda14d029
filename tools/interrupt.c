/* SPDX-License-Identifier: MIT */
/* Removing the temporary file when a signal ends the command; see interrupt.h. */
#include "tools/interrupt.h"

#include <signal.h>
#include <unistd.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static const char *volatile doomed; /* set while the signals are blocked */

/* Only what is safe in a handler: unlink, sigaction, raise. */
static void on_signal(int number)
{
    if (doomed)
        unlink(doomed);
    signal(number, SIG_DFL);
    raise(number);
}

static void make_set(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(set, signals[i]);
}

/* A signal that was ignored when the command started (nohup) stays so. */
static void catch_signals(const sigset_t *set)
{
    struct sigaction old, action = { .sa_handler = on_signal, .sa_mask = *set };

    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

int interrupt_replace(struct base_replace *r, const char *path)
{
    sigset_t set, old;

    make_set(&set);
    catch_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &old); /* the file must not exist before `doomed` names it */
    int result = base_replace_open(r, path, true);
    doomed = result == 0 && r->name[0] ? r->name : NULL;
    sigprocmask(SIG_SETMASK, &old, NULL);
    return result;
}

void interrupt_give_up(void)
{
    if (doomed)
        unlink(doomed);
}

void interrupt_forget(void)
{
    doomed = NULL;
}
