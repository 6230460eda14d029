/* SPDX-License-Identifier: MIT */
/*
 * In a job of several nodes: the boards of each one are copied to where others see them (watch/copy.h), by a thread of
 * its first rank.
 *
 * Every two seconds; where that takes t, the next ones come after 20 t at least. A file system that stops holds up this
 * thread alone: a run that ends meanwhile waits a little, and leaves it behind.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/guard.h"
#include "base/io.h"
#include "base/launcher.h"
#include "base/log.h"
#include "session/internal.h"
#include "watch/copy.h"

enum { WALL_FACTOR = 20, LEAVE_SECONDS = 2 };
static const uint64_t second = 1000000000;

static struct {
    pthread_t thread;
    sem_t stop;
    bool running, left; /* owner: who starts and finishes the session; left: behind, while it wrote */
    char directory[PATH_MAX], path[PATH_MAX + 64];
    uint64_t job;
    uint32_t ranks;
} copies;

static bool wait_for_stop(uint64_t ns)
{
    uint64_t at = base_clock_system() + ns;
    struct timespec t = {(time_t)(at / second), (long)(at % second)};
    int error;
    while ((error = sem_clockwait(&copies.stop, CLOCK_MONOTONIC, &t)) && errno == EINTR)
        ;
    return !error;
}

static void *helper_main(void *unused)
{
    struct watch_copier c = {NULL, 0};
    uint64_t step = WATCH_COPY_STEP;
    char why[512];
    bool said = false;
    (void)unused;
    base_guard_stay();
    base_io_own_table();
    (void)base_fpu_hold(); /* inherited from the thread that made this one */
    while (!wait_for_stop(step)) {
        uint64_t begin = base_clock_system();
        bool failed = session_parts_make(copies.directory, why, sizeof why);
        if (!failed && (failed = watch_copy_write(&c, copies.path, copies.job, copies.ranks, step)))
            snprintf(why, sizeof why, "can't write there: %s", strerror(errno));
        if (failed && !said)
            base_log_debug("other nodes do not see the boards of this one (pythia watch): %s", why);
        said |= failed;
        uint64_t took = base_clock_system() - begin;
        step = took * WALL_FACTOR > WATCH_COPY_STEP ? took * WALL_FACTOR : WATCH_COPY_STEP;
    }
    watch_copier_close(&c);
    if (!unlink(copies.path))
        rmdir(copies.directory); /* where it is empty now */
    return NULL;
}

void session_copies_start(void)
{
    const struct watch_board *b = watch_board_here;
    sigset_t all, before;
    if (!b || base_launcher_local_rank() != 0 || base_launcher_local_ranks() >= (long)session.world.ranks ||
        copies.left || sem_init(&copies.stop, 0, 0))
        return;
    snprintf(copies.directory, sizeof copies.directory, "%s.parts", b->file);
    watch_copy_path(copies.path, sizeof copies.path, copies.directory, b->job, b->rank);
    copies.job = b->job;
    copies.ranks = b->ranks;
    sigfillset(&all); /* inherited: the program's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    copies.running = pthread_create(&copies.thread, NULL, helper_main, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void session_copies_stop(void)
{
    struct timespec t;
    if (!copies.running)
        return;
    copies.running = false;
    sem_post(&copies.stop);
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += LEAVE_SECONDS;
    copies.left = pthread_timedjoin_np(copies.thread, NULL, &t) != 0;
    if (copies.left)
        pthread_detach(copies.thread);
}

void session_copies_forked(void)
{
    copies.running = false;
}
