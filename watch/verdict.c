/* SPDX-License-Identifier: MIT */
#include "watch/verdict.h"

#include <stdlib.h>

const char *const watch_kind_text[] = {"none", "deadlock", "missing_rank", "stopped", "slow"};

enum { IDLE_NS = 900000000 }; /* without processor time so long: it sleeps */

/* The list of peers that some rows have, and these rows: row_of[first …]. */
struct group { uint32_t first, count, among; bool done; };

struct judge {
    const struct watch_row *row;
    uint32_t ranks, groups;
    struct group *group;
    uint32_t *row_of;              /* by group */
    uint32_t *in_first, *in_group; /* in whose list a rank is: in_group[in_first[rank] … in_first[rank + 1]] */
    uint32_t *queue;               /* of ranks, each once */
    uint64_t timeout, events; /* too long; of the rank that has fewest */
    bool *late;   /* waits, and for too long */
    bool *free;   /* may go on without a wait that is too long ending */
    bool *chosen; /* for the verdict */
    bool *all;    /* chosen for whatever wait */
    bool *seen;
};

/* --- How long is too long --- */

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
    j->timeout = most * WATCH_LONGER > WATCH_SHORTEST ? most * WATCH_LONGER : WATCH_SHORTEST;
}

/* Of what has ended so often before. */
static uint64_t too_long(const struct judge *j, uint64_t known)
{
    if (known == 0)
        return UINT64_MAX;
    return known >= WATCH_ENOUGH ? j->timeout : j->timeout / (known + 1) * WATCH_ENOUGH;
}

/* What the recording has seen at its place is not too long. */
static bool is_usual(const struct watch_row *r, uint64_t ns)
{
    return r->usual_ns && ns / WATCH_LONGER < r->usual_ns;
}

/* --- What can go on --- */

/* The rows of each group, and the groups of each peer. */
static bool index_groups(struct judge *j)
{
    uint64_t peers = 0;
    for (uint32_t i = 0; i < j->ranks; i++)
        if (j->row[i].group == j->groups) { /* the first of it */
            j->groups++;
            peers += j->row[i].peer_count;
        }
    j->group = calloc((size_t)j->groups + 1, sizeof *j->group);
    j->row_of = calloc((size_t)j->ranks + 1, sizeof *j->row_of);
    j->queue = calloc((size_t)j->ranks + 1, sizeof *j->queue);
    j->in_first = calloc((size_t)j->ranks + 2, sizeof *j->in_first);
    j->in_group = calloc(peers + 1, sizeof *j->in_group);
    if (!j->group || !j->row_of || !j->queue || !j->in_first || !j->in_group)
        return false;
    for (uint32_t i = 0; i < j->ranks; i++)
        j->group[j->row[i].group + 1].first++;
    for (uint32_t g = 0; g < j->groups; g++)
        j->group[g + 1].first += j->group[g].first;
    for (uint32_t i = 0; i < j->ranks; i++) {
        struct group *g = &j->group[j->row[i].group];
        j->row_of[g->first + g->count++] = i;
        for (uint32_t k = 0; g->count == 1 && k < j->row[i].peer_count; k++)
            j->in_first[j->row[i].peer[k] + 2]++;
    }
    for (uint32_t i = 0; i < j->ranks; i++)
        j->in_first[i + 2] += j->in_first[i + 1];
    for (uint32_t g = 0; g < j->groups; g++) {
        const struct watch_row *r = &j->row[j->row_of[j->group[g].first]];
        for (uint32_t k = 0; k < r->peer_count; k++)
            j->in_group[j->in_first[r->peer[k] + 1]++] = g;
    }
    return true;
}

/* Adds to a set who joins for those that are in it, until there is none: `joins` by how many of its peers are in it,
   and only from none to one and to all can that change. */
static void spread(struct judge *j, bool *set, bool (*joins)(const struct watch_row *r, uint32_t among))
{
    uint32_t waiting = 0, next = 0;
    for (uint32_t g = 0; g < j->groups; g++)
        j->group[g].among = 0;
    for (uint32_t i = 0; i < j->ranks; i++) {
        set[i] = set[i] || joins(&j->row[i], 0);
        if (set[i])
            j->queue[waiting++] = i;
    }
    while (next < waiting) {
        uint32_t peer = j->queue[next++];
        for (uint32_t at = j->in_first[peer]; at < j->in_first[peer + 1]; at++) {
            struct group *g = &j->group[j->in_group[at]];
            const struct watch_row *first = &j->row[j->row_of[g->first]];
            if (++g->among != 1 && g->among != first->peer_count)
                continue;
            for (uint32_t k = g->first; k < g->first + g->count; k++) {
                uint32_t rank = j->row_of[k];
                if (!set[rank] && joins(&j->row[rank], g->among)) {
                    set[rank] = true;
                    j->queue[waiting++] = rank;
                }
            }
        }
    }
}

/* Whoever does not wait is free, and then who waits for none but these. What is left waits in circles. */
static bool can_go_on(const struct watch_row *r, uint32_t going)
{
    return r->unknown || r->peer_count == 0 || (r->any ? going > 0 : going == r->peer_count);
}

static bool waits_for(const struct watch_row *r, uint32_t among)
{
    return r->state == WATCH_WAITS && among > 0;
}

/* --- Choosing --- */

static void clear(const struct judge *j, bool *set)
{
    memset(set, 0, j->ranks * sizeof *set);
}

static void list(uint32_t **ranks, uint32_t *number, const bool *set, uint32_t all)
{
    *ranks = malloc((size_t)all * sizeof **ranks + 1);
    for (uint32_t i = 0; i < all && *ranks; i++)
        if (set[i])
            (*ranks)[(*number)++] = i;
}

/* Those chosen, and who waits for them, directly or not. Who has no processor may yet do what is waited for: that is no
   verdict. Who waits in a call does nothing else. */
static void conclude(struct judge *j, struct watch_verdict *v, enum watch_kind kind)
{
    v->kind = kind;
    for (uint32_t i = 0; i < j->ranks && kind != WATCH_STOPPED; i++)
        if (j->chosen[i] && j->row[i].sight && j->row[i].sight->starves && j->row[i].state != WATCH_WAITS) {
            v->why = kind == WATCH_NONE ? v->why : WATCH_NO_PROCESSOR;
            v->kind = WATCH_NONE;
        }
    list(&v->rank, &v->rank_count, j->chosen, j->ranks);
    memcpy(j->seen, j->chosen, j->ranks * sizeof *j->seen);
    spread(j, j->seen, waits_for);
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *r = &j->row[i];
        if (j->seen[i] && r->state == WATCH_WAITS && r->since_ns > v->since_ns)
            v->since_ns = r->since_ns;
        j->seen[i] = j->seen[i] && !j->chosen[i];
    }
    for (uint32_t i = 0; i < j->ranks && !v->since_ns; i++)
        v->since_ns = j->chosen[i] ? j->row[i].since_ns : 0;
    list(&v->waiting, &v->waiting_count, j->seen, j->ranks);
}

/* --- Circles --- */

static bool same_call(const struct watch_row *a, const struct watch_row *b)
{
    return a->comm == b->comm && a->collective == b->collective &&
           !strcmp(a->sight->board.is.function, b->sight->board.is.function);
}

/* Of its group: what is so of the list is found once. */
static bool is_first(const struct judge *j, uint32_t rank)
{
    return j->row_of[j->group[j->row[rank].group].first] == rank;
}

/* Those whom the ranks in the same collective as this one wait for, where these are fewer and one of both is at the
   end: they have left it out, or the others have not come to it. How much that says: as many as wait, and most of all
   in a call that is counted; 0: it is not so. */
static uint32_t find_others(struct judge *j, uint32_t of)
{
    const struct watch_row *r = &j->row[of];
    uint32_t most = 0, others = 0;
    clear(j, j->seen);
    for (uint32_t i = 0; i < j->ranks; i++)
        if (!j->free[i] && same_call(r, &j->row[i])) {
            most++;
            for (uint32_t k = 0; is_first(j, i) && k < j->row[i].peer_count; k++)
                j->seen[j->row[i].peer[k]] = true;
        }
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *o = &j->row[i];
        others += j->seen[i] = j->seen[i] && !j->free[i];
        if (j->seen[i] && !(o->comm && (o->comm == WATCH_END || r->comm == WATCH_END)))
            return 0;
    }
    return others > 0 && others < most ? most + (r->comm == WATCH_END ? 0 : j->ranks) : 0;
}

static uint32_t next_in_circle(const struct judge *j, uint32_t rank)
{
    const struct watch_row *r = &j->row[rank];
    uint32_t lowest = UINT32_MAX; /* peers are in the order of their requests, which chance decides */
    for (uint32_t i = 0; i < r->peer_count; i++)
        if (!j->free[r->peer[i]] && r->peer[i] < lowest && r->peer[i] != rank)
            lowest = r->peer[i];
    return lowest == UINT32_MAX ? rank : lowest;
}

/* The one that the first rank which is not free leads into. */
static void choose_circle(struct judge *j)
{
    uint32_t at = 0;
    while (j->free[at])
        at++;
    for (uint32_t i = 0; i < j->ranks; i++)
        at = next_in_circle(j, at);
    for (; !j->chosen[at]; at = next_in_circle(j, at))
        j->chosen[at] = true;
}

static bool judge_circles(struct judge *j, struct watch_verdict *v)
{
    uint32_t most = 0;
    if (!memchr(j->free, false, j->ranks))
        return false;
    for (uint32_t i = 0; i < j->ranks; i++) {
        uint32_t says = j->free[i] || !j->row[i].comm || !is_first(j, i) ? 0 : find_others(j, i);
        if (says > most)
            memcpy(j->chosen, j->seen, j->ranks * sizeof *j->chosen);
        most = says > most ? says : most;
    }
    if (!most)
        choose_circle(j);
    conclude(j, v, most ? WATCH_MISSING_RANK : WATCH_DEADLOCK);
    return true;
}

/* --- Who is waited for and does not wait --- */

static bool sleeps(const struct watch_row *r)
{
    const struct watch_sight *s = r->sight;
    return s && s->idle_ns >= IDLE_NS && (s->process.state == 'S' || s->process.state == 'D');
}

/* At the end of what the ranks of a group wait for: who is somewhere else, and has been for long. */
static void choose_elsewhere(struct judge *j, uint32_t rank)
{
    uint32_t waiting = 0, next = 0;
    clear(j, j->chosen);
    clear(j, j->seen);
    for (uint32_t g = 0; g < j->groups; g++)
        j->group[g].done = false;
    j->queue[waiting++] = rank;
    j->seen[rank] = true;
    while (next < waiting) {
        uint32_t at = j->queue[next++];
        const struct watch_row *r = &j->row[at];
        bool done = j->group[r->group].done;
        j->group[r->group].done = true;
        j->chosen[at] = r->state != WATCH_WAITS || !r->peer_count;
        for (uint32_t i = 0; r->state == WATCH_WAITS && !done && i < r->peer_count; i++)
            if (!j->seen[r->peer[i]]) {
                j->seen[r->peer[i]] = true;
                j->queue[waiting++] = r->peer[i];
            }
    }
}

/* What is known of how long those that are chosen take. */
static uint64_t known_of_chosen(const struct judge *j)
{
    uint64_t known = UINT64_MAX;
    for (uint32_t i = 0; i < j->ranks; i++)
        if (j->chosen[i] && j->row[i].sight && j->row[i].known < known)
            known = j->row[i].known;
    return known;
}

/* Somebody among those who are waited for goes on: that is progress, unless it takes far too long. */
static bool goes_on(const struct judge *j, uint64_t waited, uint64_t limit)
{
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *r = &j->row[i];
        if (j->chosen[i] && r->sight &&
            ((r->since_ns < j->timeout && waited / WATCH_LONGER < limit) || is_usual(r, r->since_ns)))
            return true;
    }
    return false;
}

/* Of the chosen those that sleep, if any do. */
static bool keep_sleeping(struct judge *j)
{
    for (uint32_t i = 0; i < j->ranks; i++)
        j->seen[i] = j->chosen[i] && sleeps(&j->row[i]);
    if (!memchr(j->seen, true, j->ranks))
        return false;
    memcpy(j->chosen, j->seen, j->ranks * sizeof *j->chosen);
    return true;
}

/* Whether one of the group's waits says that the chosen do not go on. */
static bool is_told(const struct judge *j, const struct group *g, bool sure)
{
    uint64_t known = known_of_chosen(j);
    for (uint32_t k = g->first; k < g->first + g->count; k++) {
        const struct watch_row *r = &j->row[j->row_of[k]];
        uint64_t limit = too_long(j, r->known < known ? r->known : known);
        if (j->late[j->row_of[k]] && (!sure || r->since_ns >= limit) && !goes_on(j, r->since_ns, limit))
            return true;
    }
    return false;
}

/* Of each wait that is long, or of those that are known to be too long: who does not go on. */
static bool choose_missing(struct judge *j, bool sure)
{
    clear(j, j->all);
    for (uint32_t g = 0; g < j->groups; g++) {
        uint32_t first = j->row_of[j->group[g].first];
        bool late = false;
        for (uint32_t k = 0; k < j->group[g].count && j->row[first].peer_count; k++)
            late |= j->late[j->row_of[j->group[g].first + k]];
        if (!late)
            continue;
        choose_elsewhere(j, first);
        bool told = is_told(j, &j->group[g], sure);
        for (uint32_t i = 0; i < j->ranks && told; i++)
            j->all[i] |= j->chosen[i];
    }
    memcpy(j->chosen, j->all, j->ranks * sizeof *j->chosen);
    return memchr(j->chosen, true, j->ranks);
}

/* Where one wait is known to be too long, those that are not say nothing. */
static void judge_missing(struct judge *j, struct watch_verdict *v)
{
    bool sure = choose_missing(j, true);
    v->why = WATCH_UNKNOWN_TIME;
    if (sure || choose_missing(j, false))
        conclude(j, v, !sure ? WATCH_NONE : keep_sleeping(j) ? WATCH_STOPPED : WATCH_MISSING_RANK);
}

/* Who waits for too long, and for nobody, or for whom is not known: no verdict, but to be told. */
static void judge_rest(struct judge *j, struct watch_verdict *v, bool unknown)
{
    for (uint32_t i = 0; i < j->ranks; i++)
        j->chosen[i] = j->late[i] && !j->row[i].peer_count && j->row[i].unknown == unknown &&
                       (unknown || (j->row[i].comm && j->row[i].comm != WATCH_END));
    v->why = !memchr(j->chosen, true, j->ranks) ? WATCH_WELL : unknown ? WATCH_FOR_WHOM : WATCH_ALL_THERE;
    if (v->why != WATCH_WELL)
        conclude(j, v, WATCH_NONE);
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
    if (!memchr(j->chosen, true, j->ranks))
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
        if (!(r->state == WATCH_ASKS || r->state == WATCH_WAITS) || r->since_ns < too_long(j, j->events))
            return false;
    }
    if (!memchr(j->chosen, true, j->ranks))
        return false;
    conclude(j, v, WATCH_DEADLOCK);
    return true;
}

static void judge_all(struct judge *j, struct watch_verdict *v)
{
    set_timeout(j);
    for (uint32_t i = 0; i < j->ranks; i++) {
        const struct watch_row *r = &j->row[i];
        j->late[i] = r->state == WATCH_WAITS && r->since_ns >= j->timeout && !is_usual(r, r->since_ns);
        j->free[i] = !j->late[i];
    }
    spread(j, j->free, can_go_on);
    if (!judge_stopped(j, v) && !judge_circles(j, v) && !judge_asking(j, v))
        judge_missing(j, v);
    for (int unknown = 0; unknown < 2 && v->kind == WATCH_NONE && !v->rank_count; unknown++)
        judge_rest(j, v, unknown);
    if (v->kind == WATCH_NONE)
        judge_slow(j, v);
}

void watch_judge(const struct watch_row *rows, uint32_t ranks, struct watch_verdict *v)
{
    struct judge j = {.row = rows, .ranks = ranks};
    bool *sets = calloc(5 * ((size_t)ranks + 1), sizeof *sets), **const set[] = {&j.late, &j.free, &j.chosen, &j.seen,
                                                                                 &j.all};
    for (unsigned i = 0; i < 5 && sets; i++)
        *set[i] = sets + i * (size_t)ranks;
    memset(v, 0, sizeof *v);
    if (index_groups(&j) && sets)
        judge_all(&j, v);
    free(sets);
    free(j.group);
    free(j.row_of);
    free(j.queue);
    free(j.in_first);
    free(j.in_group);
}

void watch_verdict_free(struct watch_verdict *v)
{
    free(v->rank);
    free(v->waiting);
    memset(v, 0, sizeof *v);
}
