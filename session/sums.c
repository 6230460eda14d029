/* SPDX-License-Identifier: MIT */
/* Sums beside the time: for each of a stream's identities a row of numbers, allocated when something is first
   counted. */
#include <stdlib.h>
#include <string.h>

#include "pythia.h"
#include "base/array.h"
#include "base/lock.h"
#include "session/internal.h"

enum { SUM_NAME = 64 };

struct session_sums {
    struct job_count sum[SESSION_SUMS];
};

/* Names are given once for the process's life and never move: readers take no lock. Guarded by session.lock. */
static char sum_name[SESSION_SUMS][SUM_NAME];
static int sum_count;

int session_sum_define(const char *name)
{
    int number = 0;
    if (!name || !*name || strlen(name) >= SUM_NAME)
        return PYTHIA_EINVAL;
    base_lock_take(&session.lock, BASE_LOCK_SESSION);
    while (number < sum_count && strcmp(sum_name[number], name) != 0)
        number++;
    if (number == sum_count && sum_count < SESSION_SUMS)
        strcpy(sum_name[sum_count++], name);
    bool full = number == sum_count;
    base_lock_release(&session.lock, BASE_LOCK_SESSION);
    return full ? PYTHIA_ELIMIT : number;
}

/* Room for the rows of all identities so far. */
static bool sums_grow(struct session_stream *s)
{
    uint32_t known = s->sum_room;
    if (base_array_room(&s->sums, &s->sum_room, s->keys.table.used, sizeof *s->sums))
        return false;
    memset(s->sums + known, 0, (s->sum_room - known) * sizeof *s->sums);
    return true;
}

void session_sum_add(struct session_stream *s, uint32_t entry, int sum, uint64_t value, uint64_t samples)
{
    if (sum < 0 || sum >= SESSION_SUMS || entry == GRAMMAR_NONE)
        return;
    if (stream_take(s) && (entry < s->sum_room || sums_grow(s))) {
        struct job_count *c = &s->sums[entry].sum[sum];
        c->samples += samples;
        c->total += value;
    }
    stream_release(s);
}

/* The terminal that stands for an identity; GRAMMAR_NONE where it was never an event. */
static uint32_t sums_terminal(const struct session_keys *k, uint32_t entry)
{
    for (int phase = JOB_LEAF; phase <= JOB_OPEN; phase++)
        if (k->entries[entry].terminal[phase] != GRAMMAR_NONE)
            return k->job_terminal[k->entries[entry].terminal[phase]];
    return GRAMMAR_NONE;
}

/* Of a call that only ever found nothing there is no event, and so no terminal yet. */
static void polls_finish(struct session_stream *s, uint32_t entry, struct job *job)
{
    uint32_t terminal = sums_terminal(&s->keys, entry);
    if (terminal == GRAMMAR_NONE)
        terminal = session_define(s, &s->keys.entries[entry], JOB_LEAF);
    if (terminal != GRAMMAR_NONE)
        job_count(job, terminal, JOB_POLLS_NS, s->keys.entries[entry].polls);
}

void session_sums_finish(struct session_stream *s, struct job *job)
{
    for (uint32_t entry = 0; entry < s->keys.table.used; entry++) {
        const struct session_entry *e = &s->keys.entries[entry];
        if (e->exclusive.samples && e->terminal[JOB_OPEN] != GRAMMAR_NONE)
            job_count(job, s->keys.job_terminal[e->terminal[JOB_OPEN]], JOB_EXCLUSIVE_NS, e->exclusive);
        if (e->polls.samples)
            polls_finish(s, entry, job);
    }
    for (uint32_t entry = 0; entry < s->sum_room && entry < s->keys.table.used; entry++) {
        uint32_t terminal = sums_terminal(&s->keys, entry);
        for (int i = 0; i < SESSION_SUMS && terminal != GRAMMAR_NONE; i++)
            if (s->sums[entry].sum[i].samples)
                job_count(job, terminal, sum_name[i], s->sums[entry].sum[i]);
    }
}

void session_sums_close(struct session_stream *s)
{
    free(s->sums);
    s->sums = NULL;
    s->sum_room = 0;
}
