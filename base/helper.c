/* SPDX-License-Identifier: MIT */
#include "base/helper.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/guard.h"

static const uint64_t second = 1000000000;

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / second), .tv_nsec = (long)(ns % second)};
}

static _Atomic uint64_t took;

uint64_t base_helper_took(void)
{
    return atomic_load(&took);
}

/* In a helper. */
static void note_took(struct base_helper *h)
{
    uint64_t now = base_clock_processor();
    atomic_fetch_add(&took, now - h->noted);
    h->noted = now;
}

enum { KNOWN = 16 };
static _Atomic pid_t known[KNOWN];
static atomic_uint known_count;

bool base_helper_is(pid_t thread)
{
    for (int i = 0; i < KNOWN; i++)
        if (atomic_load_explicit(&known[i], memory_order_relaxed) == thread)
            return true;
    return false;
}

static void *helper_main(void *context)
{
    struct base_helper *h = context;
    atomic_store(&known[atomic_fetch_add(&known_count, 1) % KNOWN], (pid_t)syscall(SYS_gettid));
    base_guard_stay();
    (void)base_fpu_hold(); /* inherited from the thread that made this one */
    h->run();
    note_took(h);
    return NULL;
}

static bool create(struct base_helper *h, size_t stack)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, stack); /* 0 is refused, so the size stays */
    int error = pthread_create(&h->thread, &small, helper_main, h);
    pthread_attr_destroy(&small);
    return !error || !pthread_create(&h->thread, NULL, helper_main, h);
}

bool base_helper_start(struct base_helper *h, void (*run)(void), size_t stack)
{
    sigset_t all, before;
    if (!h->made && sem_init(&h->wake, 0, 0))
        return false;
    h->made = true;
    h->run = run;
    atomic_store(&h->listens, 0);
    atomic_store(&h->stops, false);
    h->noted = 0;
    sigfillset(&all); /* inherited: the program's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    h->process = create(h, stack) ? getpid() : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return h->process;
}

bool base_helper_runs(const struct base_helper *h)
{
    return h->process == getpid();
}

/* Ignored by default: should the helper end before it is read, nothing happens. */
enum { WAKE = SIGURG };

void base_helper_wake(struct base_helper *h)
{
    int saved = errno;
    sem_post(&h->wake);
    pid_t thread = atomic_load(&h->listens);
    if (thread)
        syscall(SYS_tgkill, h->process, thread, WAKE);
    errno = saved;
}

/* Of a table that goes with its thread: what is open when this fails is closed then. */
int base_helper_listen(struct base_helper *h)
{
    sigset_t wake;
    sigemptyset(&wake);
    sigaddset(&wake, WAKE);
    h->events = epoll_create1(EPOLL_CLOEXEC);
    h->wakes = signalfd(-1, &wake, SFD_CLOEXEC | SFD_NONBLOCK);
    struct epoll_event readable = { .events = EPOLLIN, .data.fd = h->wakes };
    if (h->events < 0 || h->wakes < 0 || epoll_ctl(h->events, EPOLL_CTL_ADD, h->wakes, &readable))
        return -1;
    atomic_store(&h->listens, (pid_t)syscall(SYS_gettid));
    return h->events;
}

/* A wake-up that came before it listened is in the semaphore alone. */
static void sleep_listening(struct base_helper *h, uint64_t until)
{
    enum { SOME = 16, LONGEST = 3600 * 1000 /* ms */ };
    struct epoll_event come[SOME];
    struct signalfd_siginfo wake;
    uint64_t now = base_clock_system(), ms = until > now ? (until - now + 999999) / 1000000 : 0;
    if (sem_trywait(&h->wake) == 0)
        ms = 0;
    int count = epoll_wait(h->events, come, SOME, ms < LONGEST ? (int)ms : LONGEST);
    for (int i = 0; i < count; i++)
        while (come[i].data.fd == h->wakes && read(h->wakes, &wake, sizeof wake) > 0)
            ;
    while (!sem_trywait(&h->wake))
        ;
}

bool base_helper_sleep(struct base_helper *h, uint64_t until)
{
    struct timespec t = time_of(until);
    note_took(h);
    if (atomic_load(&h->listens))
        sleep_listening(h, until);
    else
        while (sem_clockwait(&h->wake, CLOCK_MONOTONIC, &t) && errno == EINTR)
            ;
    return !atomic_load(&h->stops);
}

bool base_helper_stop(struct base_helper *h, uint64_t ns)
{
    struct timespec now;
    if (!base_helper_runs(h))
        return true;
    atomic_store(&h->stops, true);
    base_helper_wake(h);
    clock_gettime(CLOCK_REALTIME, &now);
    struct timespec end = time_of((uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec + ns);
    if (pthread_timedjoin_np(h->thread, NULL, &end))
        return false;
    h->process = 0;
    return true;
}

void base_helper_leave(struct base_helper *h)
{
    pthread_detach(h->thread);
    h->process = 0;
}
