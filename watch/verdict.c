/* SPDX-License-Identifier: MIT */
#include "watch/verdict.h"

#include <stdlib.h>

#include "job/define.h"

const char *const watch_kind_text[] = {"none", "deadlock", "missing_rank", "stopped", "slow"};

enum { IDLE_NS = 900000000 }; /* without processor time so long: it sleeps */

struct judge {
    const struct watch_row *row;
    uint32_t ranks;
    const struct watch_usual *usual;
    uint64_t timeout, events; /* too long; of the rank that has fewest */
    bool *late;   /* waits, and for too long */
    bool *free;   /* may go on without a wait that is too long ending */
    bool *chosen; /* for the verdict */
    bool *all;    /* chosen for whatever wait */
    bool *seen;
};

/* --- How long is too long --- */

static uint64_t times(uint64_t ns, uint64_t by)
{
    return ns < UINT64_MAX / by ? ns * by : UINT64_MAX;
}

static void set_timeout(struct judge *j)
{
    uint64_t most = 0;
    j->events = UINT64_MAX;
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_sight *s = j->row[i].sight;
        if (s && s->board.longest > most)
            most = s->board.longest;
        if (s && s->board.events < j->events)
            j->events = s->board.events;
    }
    j->timeout = times(most, WATCH_LONGER);
    j->timeout = j->timeout > WATCH_SHORTEST ? j->timeout : WATCH_SHORTEST;
}

/* Of what has ended so often before. */
static uint64_t too_long(const struct judge *j, uint64_t known)
{
    if (known == 0)
        return UINT64_MAX;
    return known >= WATCH_ENOUGH ? j->timeout : times(j->timeout / (known + 1), WATCH_ENOUGH);
}

/* What the recording has seen at its place is not too long. */
static bool is_usual(const struct judge *j, uint32_t rank, uint64_t ns)
{
    return j->usual && j->usual[rank].longest && ns / WATCH_LONGER < j->usual[rank].longest;
}

/* --- What can go on --- */

static bool can_go_on(const struct judge *j, const struct watch_row *r)
{
    if (r->unknown || r->peer_count == 0)
        return true;
    uint32_t going = 0;
    for (uint32_t i = 0; i < r->peer_count; i++)
        going += j->free[r->peer[i]];
    return r->any ? going > 0 : going == r->peer_count;
}

/* Whoever does not wait is free, and then who waits for none but these. What is left waits in circles. */
static void set_free(struct judge *j)
{
    for (uint32_t i = 0; i < j->ranks; i++)
        j->free[i] = !j->late[i];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < j->ranks; i++)
            if (!j->free[i] && can_go_on(j, &j->row[i]))
                changed = j->free[i] = true;
    }
}

/* --- Choosing --- */

static uint32_t count(const bool *set, uint32_t ranks)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ranks; i++)
        n += set[i];
    return n;
}

static void list(uint32_t **ranks, uint32_t *number, const bool *set, uint32_t all)
{
    *ranks = malloc((size_t)all * sizeof **ranks + 1);
    for (uint32_t i = 0; i < all && *ranks; i++)
        if (set[i])
            (*ranks)[(*number)++] = i;
}

/* Those chosen, and who waits for them, directly or not. */
static void conclude(struct judge *j, struct watch_verdict *v, enum watch_kind kind)
{
    v->kind = kind;
    list(&v->rank, &v->rank_count, j->chosen, j->ranks);
    memcpy(j->seen, j->chosen, j->ranks * sizeof *j->seen);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < j->ranks; i++)
            for (uint32_t k = 0; j->row[i].state == WATCH_WAITS && !j->seen[i] && k < j->row[i].peer_count; k++)
                if (j->seen[j->row[i].peer[k]])
                    changed = j->seen[i] = true;
    }
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *r = &j->row[i];
        if ((j->seen[i] && r->state == WATCH_WAITS && r->since_ns > v->since_ns))
            v->since_ns = r->since_ns;
        j->seen[i] = j->seen[i] && !j->chosen[i];
    }
    for (uint32_t i = 0; i < j->ranks && !v->since_ns; i++)
        v->since_ns = j->chosen[i] ? j->row[i].moved_ns : 0;
    list(&v->waiting, &v->waiting_count, j->seen, j->ranks);
}

/* --- Circles --- */

static bool same_call(const struct watch_row *a, const struct watch_row *b)
{
    return a->comm == b->comm && a->collective == b->collective &&
           a->sight->board.what.call_kind == b->sight->board.what.call_kind &&
           !strcmp(a->sight->board.function, b->sight->board.function);
}

static bool takes_all(const struct watch_row *r)
{
    return r->comm || r->sight->board.what.call_kind == JOB_LIFE;
}

/* The largest group of ranks in a circle that are in the same collective, or `counted` one; its size. */
static uint32_t largest_group(const struct judge *j, bool counted, uint32_t *of)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < j->ranks; i++) {
        uint32_t n = 0;
        bool taken = counted ? j->row[i].comm != 0 : takes_all(&j->row[i]);
        for (uint32_t k = 0; k < j->ranks && !j->free[i] && taken; k++)
            n += !j->free[k] && same_call(&j->row[i], &j->row[k]);
        if (n > most) {
            most = n;
            *of = i;
        }
    }
    return most;
}

/* Most are in one collective, and fewer, whom they wait for, in another call for all of its members (the next one, or
   the end): these have left it out. */
static bool choose_others(struct judge *j, bool counted)
{
    uint32_t of = 0, most = largest_group(j, counted, &of), others = 0;
    if (most < 2)
        return false;
    memset(j->chosen, 0, j->ranks * sizeof *j->chosen);
    for (uint32_t i = 0; i < j->ranks; i++)
        for (uint32_t k = 0; !j->free[i] && same_call(&j->row[of], &j->row[i]) && k < j->row[i].peer_count; k++)
            j->chosen[j->row[i].peer[k]] = true;
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *r = &j->row[i];
        j->chosen[i] = j->chosen[i] && !j->free[i];
        others += j->chosen[i];
        if (j->chosen[i] && !(takes_all(r) && (r->comm == j->row[of].comm || !r->comm || !j->row[of].comm)))
            return false;
    }
    return others > 0 && others < most;
}

static uint32_t next_in_circle(const struct judge *j, uint32_t rank)
{
    const struct watch_row *r = &j->row[rank];
    uint32_t lowest = UINT32_MAX; /* peers are in the order of their requests, which chance decides */
    for (uint32_t i = 0; i < r->peer_count; i++)
        if (!j->free[r->peer[i]] && r->peer[i] < lowest)
            lowest = r->peer[i];
    return lowest == UINT32_MAX ? rank : lowest;
}

/* All that the first circle reaches: from any rank in it every way leads back, or into a smaller one. */
static void choose_circle(struct judge *j)
{
    uint32_t at = 0;
    memset(j->chosen, 0, j->ranks * sizeof *j->chosen);
    memset(j->seen, 0, j->ranks * sizeof *j->seen);
    while (j->free[at])
        at++;
    while (!j->seen[at]) {
        j->seen[at] = true;
        at = next_in_circle(j, at);
    }
    while (!j->chosen[at]) {
        j->chosen[at] = true;
        at = next_in_circle(j, at);
    }
}

static bool judge_circles(struct judge *j, struct watch_verdict *v)
{
    if (count(j->free, j->ranks) == j->ranks)
        return false;
    if (choose_others(j, true) || choose_others(j, false)) {
        conclude(j, v, WATCH_MISSING_RANK);
    } else {
        choose_circle(j);
        conclude(j, v, WATCH_DEADLOCK);
    }
    return true;
}

/* --- Who is waited for and does not wait --- */

static bool sleeps(const struct watch_row *r)
{
    const struct watch_sight *s = r->sight;
    return s && s->near && s->idle_ns >= IDLE_NS && (s->process.state == 'S' || s->process.state == 'D');
}

/* At the end of what a rank waits for: who is somewhere else, and has been for long. */
static void choose_elsewhere(struct judge *j, uint32_t rank)
{
    const struct watch_row *r = &j->row[rank];
    if (j->seen[rank])
        return;
    j->seen[rank] = true;
    if (r->state == WATCH_WAITS && r->peer_count) {
        for (uint32_t i = 0; i < r->peer_count; i++)
            choose_elsewhere(j, r->peer[i]);
    } else {
        j->chosen[rank] = true;
    }
}

static uint64_t known_of(const struct judge *j, uint32_t rank)
{
    return j->row[rank].known + (j->usual ? j->usual[rank].count : 0);
}

/* What is known of how long this rank waits, for those that are chosen. */
static uint64_t known_with(const struct judge *j, uint32_t rank)
{
    uint64_t known = known_of(j, rank);
    for (uint32_t i = 0; i < j->ranks; i++)
        if (j->chosen[i] && j->row[i].sight && known_of(j, i) < known)
            known = known_of(j, i);
    return known;
}

/* Somebody among those who are waited for goes on: that is progress, unless it takes far too long. */
static bool goes_on(const struct judge *j, uint64_t waited, uint64_t limit)
{
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *r = &j->row[i];
        if (j->chosen[i] && r->sight && r->moved_ns < j->timeout && waited / WATCH_LONGER < limit)
            return true;
        if (j->chosen[i] && r->sight && is_usual(j, i, r->moved_ns))
            return true;
    }
    return false;
}

/* Of the chosen those that sleep, if any do. */
static bool keep_sleeping(struct judge *j)
{
    bool any = false;
    for (uint32_t i = 0; i < j->ranks; i++)
        any |= j->seen[i] = j->chosen[i] && sleeps(&j->row[i]);
    if (any)
        memcpy(j->chosen, j->seen, j->ranks * sizeof *j->chosen);
    return any;
}

/* Of each wait that is long: whether that is known to be too long. Where one is, those that are not say nothing. */
static void judge_missing(struct judge *j, struct watch_verdict *v)
{
    bool sure = false;
    for (uint32_t i = 0; i < j->ranks; i++) {
        uint64_t waited = j->row[i].since_ns;
        if (!j->late[i] || !j->row[i].peer_count)
            continue;
        memset(j->chosen, 0, j->ranks * sizeof *j->chosen);
        memset(j->seen, 0, j->ranks * sizeof *j->seen);
        choose_elsewhere(j, i);
        uint64_t limit = too_long(j, known_with(j, i));
        if (goes_on(j, waited, limit) || (sure && waited < limit))
            continue;
        if (!sure && waited >= limit)
            memset(j->all, 0, j->ranks * sizeof *j->all);
        sure |= waited >= limit;
        for (uint32_t k = 0; k < j->ranks; k++)
            j->all[k] |= j->chosen[k];
    }
    memcpy(j->chosen, j->all, j->ranks * sizeof *j->chosen);
    if (count(j->chosen, j->ranks))
        conclude(j, v, !sure ? WATCH_NONE : keep_sleeping(j) ? WATCH_STOPPED : WATCH_MISSING_RANK);
}

static void judge_slow(struct judge *j, struct watch_verdict *v)
{
    struct watch_slowest s = watch_slow(j->row, j->ranks, j->chosen);
    if (s.factor > 0) {
        watch_verdict_free(v);
        conclude(j, v, WATCH_SLOW);
        v->slowest = s;
    }
}

static bool judge_stopped(struct judge *j, struct watch_verdict *v)
{
    for (uint32_t i = 0; i < j->ranks; i++)
        j->chosen[i] = j->row[i].state >= WATCH_HALTED;
    if (count(j->chosen, j->ranks) == 0)
        return false;
    conclude(j, v, WATCH_STOPPED);
    return true;
}

/* Nobody waits in a call, and all ask again and again: nobody computes, either. */
static bool judge_asking(struct judge *j, struct watch_verdict *v)
{
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *r = &j->row[i];
        j->chosen[i] = r->state == WATCH_ASKS;
        if (!(r->state == WATCH_ASKS || r->state == WATCH_WAITS) || r->moved_ns < too_long(j, j->events))
            return false;
    }
    if (count(j->chosen, j->ranks) == 0)
        return false;
    conclude(j, v, WATCH_DEADLOCK);
    return true;
}

void watch_judge(const struct watch_row *rows, uint32_t ranks, const struct watch_usual *usual,
                 struct watch_verdict *v)
{
    struct judge j = {.row = rows, .ranks = ranks, .usual = usual};
    memset(v, 0, sizeof *v);
    bool *sets = calloc(5 * ((size_t)ranks + 1), sizeof *sets);
    if (!sets)
        return;
    j.late = sets;
    j.free = sets + ranks;
    j.chosen = sets + 2 * (size_t)ranks;
    j.seen = sets + 3 * (size_t)ranks;
    j.all = sets + 4 * (size_t)ranks;
    set_timeout(&j);
    for (uint32_t i = 0; i < ranks; i++)
        j.late[i] = rows[i].state == WATCH_WAITS && rows[i].since_ns >= j.timeout && !is_usual(&j, i, rows[i].since_ns);
    set_free(&j);
    if (!judge_stopped(&j, v) && !judge_circles(&j, v) && !judge_asking(&j, v))
        judge_missing(&j, v);
    if (v->kind == WATCH_NONE)
        judge_slow(&j, v);
    free(sets);
}

void watch_verdict_free(struct watch_verdict *v)
{
    free(v->rank);
    free(v->waiting);
    memset(v, 0, sizeof *v);
}
