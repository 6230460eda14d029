/* SPDX-License-Identifier: MIT */
/* The line of progress; see progress.h. */
#include "tools/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define MS UINT64_C(1000000)

enum { PATIENCE = 500, PERIOD = 100, LOOK = 20 /* ms between readings of the clock */, LINE = 256 };

static bool shown; /* the line stands on the terminal */

static bool is_terminal(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

void progress_begin(struct progress *p, const char *what, uint64_t total)
{
    *p = (struct progress){ .what = what, .total = total, .on = total != PROGRESS_NONE && is_terminal() };
    p->next = p->on ? 1 : UINT64_MAX;
    p->begin_ns = p->on ? base_clock_system() : 0;
}

/* "2.1 s", "3 min 20 s": as exact as a guess deserves. */
static void print_left(double seconds, char *text, size_t size)
{
    if (seconds < 10)
        snprintf(text, size, "%.1f s", seconds);
    else if (seconds < 100)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text, size, "%u min %u s", (unsigned)seconds / 60, (unsigned)seconds % 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* A line that wrapped could not be wiped away. */
static size_t columns(void)
{
    struct winsize w;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1u : 79;
}

static void draw(const struct progress *p, uint64_t done, uint64_t elapsed)
{
    char line[LINE], left[32];

    if (p->total) {
        uint64_t known = done < p->total ? done : p->total;
        print_left((double)elapsed / 1e9 * (double)(p->total - known) / (double)(known ? known : 1), left, sizeof left);
        snprintf(line, sizeof line, "pythia: %s %3.0f %%  %s left", p->what, 100.0 * (double)known / (double)p->total,
                 left);
    } else {
        snprintf(line, sizeof line, "pythia: %s %" PRIu64, p->what, done);
    }
    fprintf(stderr, "\r%.*s\033[K", (int)columns(), line);
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
    if (elapsed < PATIENCE * MS || now - p->drawn_ns < PERIOD * MS)
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
