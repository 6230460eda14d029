/* SPDX-License-Identifier: MIT */
/*
 * The live line of a predicted run: `pythia predict --progress`.
 *
 *     pythia:  43 %  12.3 s left  turn 430 of 1000  MPI_Allreduce
 *
 *     hook of rank 0's first thread ──asks the oracle, at most every NOTE_NS──> note ──> helper thread ──> terminal
 *                                                                           \─> the board (on all ranks)
 *
 * The hook only asks and stores (no system call). A thread of its own draws, because a terminal may block (Ctrl-S) and
 * a rank that computes for an hour calls no hook; between notes it counts the time down, but not below what is left
 * after the event that is waited for: a rank that is late is no nearer to its end. The percentage is of the time, and
 * does not go back where the pace turns out to be slower.
 *
 * Only on a terminal: standard error if that is one, else the terminal that the job was started from (mpirun gives its
 * ranks a pipe); without either nothing at all is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpu.h"
#include "base/helper.h"
#include "base/io.h"
#include "base/terminal.h"
#include "session/internal.h"
#include "watch/board.h"

enum { NOTE_NS = 50000000, DRAW_NS = 200000000, LINE = 200 };

/* What the hook knows; fields are read one by one, a mixture of two notes does no harm. */
struct note {
    _Atomic uint64_t at, left;     /* ns; at 0: nothing yet */
    _Atomic uint64_t next;         /* ns until the next event's end */
    _Atomic uint64_t turn, turns;  /* 0: in no loop */
    _Atomic uint32_t part, parts;
    _Atomic(const char *) function; /* of the last event: a static string */
};

static struct {
    struct note note;
    struct base_helper helper; /* owner: who starts and finishes the session */
    int terminal; /* helper's, and what it showed last */
    double percent;
    bool longer; /* the hook's: than recorded; so it stays */
} progress;

/* --- The hook's side --- */

/* A file may say what no integer holds. */
static uint64_t whole(double ns)
{
    return ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

static void note_it(struct session_stream *s, uint32_t entry, uint64_t now)
{
    struct oracle_remaining r;
    struct oracle_phase p = { 0 };
    struct oracle_answer a;

    oracle_remaining(s->oracle, &r);
    bool longer = progress.longer |= r.events < 0 && r.progress >= 1;
    bool known = r.ns >= 0 || longer;
    uint64_t left = known && !longer ? whole(r.ns) : 0;
    bool foretold = !oracle_predict(s->oracle, 1, &a) && a.until >= 0 && a.duration >= 0;
    uint64_t next = foretold ? whole(a.until + a.duration) : left;
    if (!known || (!longer && oracle_phase(s->oracle, &p) != 0))
        return;
    if (base_here.board)
        watch_board_note(base_here.board, now, longer ? WATCH_BEYOND : left, next, p.turn, p.turns);
    atomic_store_explicit(&progress.note.left, left, memory_order_relaxed);
    atomic_store_explicit(&progress.note.next, next, memory_order_relaxed);
    atomic_store_explicit(&progress.note.turn, p.turn, memory_order_relaxed);
    atomic_store_explicit(&progress.note.turns, p.turns, memory_order_relaxed);
    atomic_store_explicit(&progress.note.part, p.part, memory_order_relaxed);
    atomic_store_explicit(&progress.note.parts, p.parts, memory_order_relaxed);
    atomic_store_explicit(&progress.note.function, s->keys.entries[entry].key.function, memory_order_relaxed);
    atomic_store_explicit(&progress.note.at, now, memory_order_release);
}

void session_progress_note(struct session_stream *s, uint32_t entry, uint64_t now)
{
    s->progress_at = now + NOTE_NS;
    base_fpu_t kept = base_fpu_hold();
    note_it(s, entry, now);
    base_fpu_give_back(kept);
}

uint64_t session_progress_first(uint32_t thread)
{
    return thread == 0 && (watch_board_here || base_helper_runs(&progress.helper)) ? 0 : UINT64_MAX;
}

/* --- The helper --- */

/* A job in the background of its terminal may write to it; with SIGTTOU blocked also where the terminal says no (stty
   tostop). */
static void put(const char *text, size_t size)
{
    while (write(progress.terminal, text, size) < 0 && errno == EINTR)
        ;
}

static void draw(void)
{
    uint64_t at = atomic_load_explicit(&progress.note.at, memory_order_acquire), now = base_clock_now();
    uint64_t left = atomic_load_explicit(&progress.note.left, memory_order_relaxed);
    uint64_t most = atomic_load_explicit(&progress.note.next, memory_order_relaxed) + NOTE_NS;
    uint64_t turn = atomic_load_explicit(&progress.note.turn, memory_order_relaxed);
    uint64_t turns = atomic_load_explicit(&progress.note.turns, memory_order_relaxed);
    const char *function = atomic_load_explicit(&progress.note.function, memory_order_relaxed);
    char line[LINE], time[32], phase[96];

    if (!at)
        return;
    uint64_t since = now > at ? now - at : 0;
    since = since < most ? since : most;
    left = since < left ? left - since : 0;
    double percent = 100 * (double)(now - session.begin) / (double)(now - session.begin + left);
    if (progress.percent < percent)
        progress.percent = percent;
    base_terminal_time((double)(left ? left : now - session.begin), time);
    if (!left)
        *phase = '\0';
    else if (turns > 1)
        snprintf(phase, sizeof phase, "turn %llu of %llu", (unsigned long long)turn, (unsigned long long)turns);
    else
        snprintf(phase, sizeof phase, "part %u of %u", atomic_load_explicit(&progress.note.part, memory_order_relaxed),
                 atomic_load_explicit(&progress.note.parts, memory_order_relaxed));
    int n = left ? snprintf(line, sizeof line, "\r\033[Kpythia: %3.0f %%  %s left  %s  %s",
                            progress.percent, time, phase, function ? function : "")
                 : snprintf(line, sizeof line, "\r\033[Kpythia: longer than recorded: %s  %s", time,
                            function ? function : "");
    int width = base_terminal_columns(progress.terminal) - 1 + 4; /* the first four are not seen */
    put(line, (size_t)(n < width ? n : width));
}

static int open_terminal(void)
{
    return isatty(STDERR_FILENO) ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, BASE_IO_FIRST)
                                 : base_io_open("/dev/tty", O_WRONLY | O_NOCTTY, 0);
}

static void draw_often(void)
{
    uint64_t next = base_clock_system() + DRAW_NS;
    for (; base_helper_sleep(&progress.helper, next); next += DRAW_NS)
        draw();
    put("\r\033[K", 4);
    close(progress.terminal);
}

/* --- Life --- */

void session_progress_start(void)
{
    if (!session.options.progress || session.world.rank != 0 || base_terminal_is_dumb())
        return;
    memset(&progress.note, 0, sizeof progress.note);
    progress.percent = 0;
    progress.longer = false;
    progress.terminal = open_terminal();
    if (progress.terminal >= 0 && !base_helper_start(&progress.helper, draw_often, 0))
        close(progress.terminal);
}

void session_progress_stop(void)
{
    (void)base_helper_stop(&progress.helper, BASE_HELPER_EVER);
}
