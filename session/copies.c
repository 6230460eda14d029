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
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/launcher.h"
#include "base/log.h"
#include "session/internal.h"
#include "watch/copy.h"

enum { WALL_FACTOR = 20, LEAVE_NS = 2000000000 };

static struct {
    struct base_helper helper; /* owner: who starts and finishes the session */
    bool left;                 /* behind, while it wrote */
    char directory[PATH_MAX], path[PATH_MAX + 64];
    uint64_t job;
    uint32_t ranks;
} copies;

static void copy_often(void)
{
    struct watch_copier c = {NULL, 0};
    uint64_t step = WATCH_COPY_STEP;
    char why[512];
    bool said = false;
    base_io_own_table();
    while (base_helper_sleep(&copies.helper, base_clock_system() + step)) {
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
}

void session_copies_start(void)
{
    const struct watch_board *b = watch_board_here;
    if (!b || base_launcher_local_rank() != 0 || base_launcher_local_ranks() >= (long)session.world.ranks ||
        copies.left)
        return;
    snprintf(copies.directory, sizeof copies.directory, "%s.parts", b->file);
    watch_copy_path(copies.path, sizeof copies.path, copies.directory, b->job, b->rank);
    copies.job = b->job;
    copies.ranks = b->ranks;
    (void)base_helper_start(&copies.helper, copy_often, 0);
}

void session_copies_stop(void)
{
    if (base_helper_stop(&copies.helper, LEAVE_NS))
        return;
    copies.left = true;
    base_helper_leave(&copies.helper);
}
