/* SPDX-License-Identifier: MIT */
/* Stacks as they are now: of the ranks of a job, or of a process and those below it, with or without boards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/must.h"
#include "base/order.h"
#include "tools/tool.h"
#include "tools/watch.h"

void watch_stacks(struct watch_job *j, const uint64_t *only)
{
    j->stacks = j->stacks ? j->stacks : stacks_create();
    for (uint32_t i = 0; i < j->count; i++) {
        const struct watch_sight *s = j->sight[i];
        if (only && *only != s->board.rank)
            continue;
        if (s->copied || !s->process.state) /* or in another space of process numbers */
            stacks_leave_out(j->stacks, s->board.rank, -EREMOTE);
        else
            (void)stacks_add(j->stacks, s->board.rank, (pid_t)s->board.pid);
    }
}

/* --- Without boards --- */

struct processes { struct process { uint32_t pid, rank; } *of; uint32_t count; };

/* What launchers and process managers call a rank; none: it is told apart by its place in the list. */
static bool rank_of(uint32_t pid, uint32_t *rank)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" };
    const char *text = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !text; i++)
        text = watch_environment(pid, names[i]);
    *rank = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
    return text;
}

/* Those at the ends of the tree: what starts ranks waits for them. */
static void add_below(struct processes *p, uint32_t pid)
{
    static char text[1 << 16];
    size_t size = base_io_text(text, sizeof text, "/proc/%u/task/%u/children", pid, pid);
    char *list = size ? strdup(text) : NULL, *at = list, *end;
    for (uint32_t child; list && (child = (uint32_t)strtoul(at, &end, 10), end > at); at = end)
        add_below(p, child);
    free(list);
    if (!size)
        BASE_ADD(p->of, p->count, (struct process){ pid, 0 });
}

BASE_COMPARISON(by_rank, struct process, BASE_UP(rank))

/* Where some are ranks, these alone. */
static void name_ranks(struct processes *p)
{
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t rank;
        if (rank_of(p->of[i].pid, &rank))
            p->of[ranks++] = (struct process){ p->of[i].pid, rank };
    }
    for (uint32_t i = 0; i < p->count && !ranks; i++)
        p->of[i].rank = i;
    p->count = ranks ? ranks : p->count;
    BASE_SORT(p->of, p->count, by_rank);
}

bool watch_stacks_below(struct stacks *s, uint32_t pid, const uint64_t *only)
{
    struct processes p = { NULL, 0 };
    char state[8];
    if (!base_io_text(state, sizeof state, "/proc/%u/stat", pid))
        return false;
    add_below(&p, pid);
    name_ranks(&p);
    for (uint32_t i = 0; i < p.count; i++)
        if (!only || *only == p.of[i].rank)
            (void)stacks_add(s, p.of[i].rank, (pid_t)p.of[i].pid);
    free(p.of);
    return true;
}
