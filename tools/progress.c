/* SPDX-License-Identifier: MIT */
/* The line of progress; see progress.h. */
#include "tools/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/terminal.h"

#define MS UINT64_C(1000000)

enum { FIRST = 500, PERIOD = 100, LOOK = 20 /* ms between readings of the clock */, LINE = 256 };

static bool shown; /* the line stands on the terminal */

static bool is_terminal(void)
{
    return isatty(STDERR_FILENO) && !base_terminal_is_dumb();
}

void progress_begin(struct progress *p, const char *what, uint64_t total)
{
    *p = (struct progress){ .what = what, .total = total, .on = total != PROGRESS_NONE && is_terminal() };
    p->next = p->on ? 1 : UINT64_MAX;
    p->begin_ns = p->on ? base_clock_system() : 0;
}

static void draw(const struct progress *p, uint64_t done, uint64_t elapsed)
{
    char line[LINE], left[32];

    if (p->total) {
        uint64_t known = done < p->total ? done : p->total;
        base_terminal_time((double)elapsed * (double)(p->total - known) / (double)(known ? known : 1), left);
        snprintf(line, sizeof line, "pythia: %s %3.0f %%  %s left", p->what, 100.0 * (double)known / (double)p->total,
                 left);
    } else {
        snprintf(line, sizeof line, "pythia: %s %" PRIu64, p->what, done);
    }
    fprintf(stderr, "\r%.*s\033[K", base_terminal_columns(STDERR_FILENO) - 1, line); /* one that wrapped would stay */
    fflush(stderr);
    shown = true;
}

void progress_look(struct progress *p, uint64_t done)
{
    uint64_t now, elapsed, step;

    if (!p->on)
        return;
    now = base_clock_system();
    elapsed = now - p->begin_ns;
    /* As many steps as LOOK takes at the pace so far, but never many more than so far: the pace may fall. */
    step = elapsed ? (uint64_t)((double)done * (double)(LOOK * MS) / (double)elapsed) : done;
    p->next = done + (step > done ? done : step) + 1;
    if (elapsed < FIRST * MS || now - p->drawn_ns < PERIOD * MS)
        return;
    p->drawn_ns = now;
    draw(p, done, elapsed);
}

void progress_hide(void)
{
    if (!shown)
        return;
    shown = false;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->on)
        progress_hide();
    p->on = false;
    p->next = UINT64_MAX;
}
