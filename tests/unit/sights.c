/* SPDX-License-Identifier: MIT */
#include "tests/unit/sights.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

struct watch_sight sights[SIGHTS];
bool sights_absent[SIGHTS];
struct sights_usual sights_usual[SIGHTS];
struct watch_verdict sights_verdict;

static void add_comm(uint32_t r, unsigned at, uint64_t handle, uint64_t identity, int32_t rank, int32_t size,
                     const char *name, uint64_t collectives)
{
    struct watch_comm *c = &sights[r].board.comm[at];
    *c = (struct watch_comm){handle, identity, collectives, (uint32_t)handle, rank, size, ""};
    snprintf(c->name, sizeof c->name, "%s", name);
}

void sights_set_up(void)
{
    memset(sights, 0, sizeof sights);
    memset(sights_absent, 0, sizeof sights_absent);
    memset(sights_usual, 0, sizeof sights_usual);
    watch_verdict_free(&sights_verdict);
    for (uint32_t r = 0; r < SIGHTS; r++) {
        struct watch_sight *s = &sights[r];
        struct watch_board *b = &s->board;
        s->process.state = 'R';
        s->now = SIGHTS_NOW;
        b->rank = r;
        b->ranks = SIGHTS;
        b->any = ANY;
        b->null = NOBODY_HERE;
        b->source = b->dest = WATCH_NOBODY;
        b->events = 1000;
        b->longest = 10000000;
        b->from = PLACE;
        b->met[7] = b->met[9] = PLACE; /* two identities there */
        b->met[11] = PLACE + 1;
        b->sum[7].count = 600;
        b->sum[9].count = 400;
        b->sum[11].count = 5000;
        b->began = SIGHTS_NOW - 60 * SIGHTS_SECOND;
        atomic_store(&b->since, (SIGHTS_NOW - 30 * SIGHTS_SECOND) << 1);
        add_comm(r, 0, WORLD, 1, (int32_t)r, SIGHTS, "world", 50);
        add_comm(r, 1, ROW, 10 + r / 2, (int32_t)(r % 2), 2, "world/split#0", 7);
        add_comm(r, 2, COLUMN, 20 + r % 2, (int32_t)(r / 2), 3, "world/split#1", 7);
    }
}

void sights_call(uint32_t r, const char *function, uint8_t kind, uint8_t how, uint64_t where, double ago)
{
    struct watch_board *b = &sights[r].board;
    b->is.what = (struct watch_what){kind, how != WATCH_POLLS, how, true};
    b->where = where;
    snprintf(b->is.function, sizeof b->is.function, "MPI_%s", function);
    atomic_store(&b->since, (SIGHTS_NOW - (uint64_t)(ago * 1e9)) << 1 | 1);
}

void sights_collective(uint32_t r, const char *function, uint64_t comm, double ago)
{
    sights_call(r, function, JOB_COLLECTIVE, WATCH_COLLECTIVE, comm, ago);
}

void sights_receive(uint32_t r, int32_t source, double ago)
{
    sights_call(r, "Recv", JOB_P2P, WATCH_PLAIN, WORLD, ago);
    sights[r].board.source = source;
}

void sights_seen(uint32_t r, uint64_t times)
{
    sights[r].board.sum[7].count = times;
    sights[r].board.sum[9].count = 0;
}

void sights_computes(uint32_t r, double ago)
{
    atomic_store(&sights[r].board.since, (SIGHTS_NOW - (uint64_t)(ago * 1e9)) << 1);
}

void sights_all_in(const char *function, double ago)
{
    for (uint32_t r = 0; r < SIGHTS; r++)
        sights_collective(r, function, WORLD, ago);
}

static void judge(void)
{
    struct watch_sight *table[SIGHTS];
    uint32_t count = 0;
    for (uint32_t r = 0; r < SIGHTS; r++)
        if (!sights_absent[r])
            table[count++] = &sights[r];
    struct watch_row *rows = watch_rows(table, count, SIGHTS);
    ck_assert_ptr_nonnull(rows);
    watch_verdict_free(&sights_verdict);
    for (uint32_t r = 0; r < SIGHTS; r++) {
        rows[r].usual_ns = sights_usual[r].longest;
        rows[r].known += sights_usual[r].count;
    }
    watch_judge(rows, SIGHTS, &sights_verdict);
    watch_rows_free(rows, SIGHTS);
}

const char *sights_told(void)
{
    static char text[200];
    judge();
    int n = snprintf(text, sizeof text, "%s", watch_kind_text[sights_verdict.kind]);
    for (uint32_t i = 0; i < sights_verdict.rank_count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %u", sights_verdict.rank[i]);
    for (uint32_t i = 0; i < sights_verdict.waiting_count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %u", i ? "" : " waiting", sights_verdict.waiting[i]);
    return text;
}
