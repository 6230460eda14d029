/* SPDX-License-Identifier: MIT */
/*
 * For the page: one turn of the main loop as the replay runs it (replay/schedule.h), all ranks on one clock.
 *
 *   {"why": null, "whole": false, "turn": 3, "of": 200, "begin": s, "seconds": s, "replayed": s, "recorded": s,
 *    "unmatched": share of the events that went on without their message,
 *    "ranks": [0, 1, …], "places": [["MPI_Isend", "p2p", "halo@app.c:12"], …],
 *    "rows": [[[begin, length, kind, place, late], …], …],          of each of these ranks; ns since the turn's begin
 *    "messages": [[from, to, sent, received, bytes, place], …], "left_out": messages that are not there}
 *
 *   kind: 0 computation before the call at `place`, 1 in it, 2 waiting there for rank `late`; -1: `place` short pieces
 *
 * The page stays small: of many ranks some at regular distances are there; pieces too short to be seen are joined, and
 * of too many messages those that take longest are kept. Where no replay can be shown `why` says so, and there is
 * nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "findings/findings.h"
#include "page/html.h"
#include "replay/schedule.h"
#include "views/table.h"

#define UNMATCHED 0.1 /* of the events, which the page says */

enum { MOST_PIECES = 400000, PAGE_PIECES = 12000, PAGE_RANKS = 64, PAGE_MESSAGES = 3000, WHOLE_PIECES = 20000 };

struct turn {
    struct report *r;
    struct replay_bind *bind;
    struct replay_schedule s;
    bool whole;
    uint32_t step;       /* every step-th rank is shown */
    int64_t least;       /* ns: what is shorter is joined */
    uint32_t *place;     /* in the page, of each site; GRAMMAR_NONE: not there */
    uint32_t *site, sites;
};

/* --- Rows --- */

/* As an item of its own. */
static cJSON *text_item(const char *text)
{
    cJSON *o = cJSON_CreateObject();

    views_json_text(o, "text", text);
    cJSON *item = cJSON_DetachItemFromObject(o, "text");
    cJSON_Delete(o);
    return item;
}

/* Figures as a row at the end of an array, NAN as null. */
static cJSON *add_figures(cJSON *array, const double *figures, int count)
{
    cJSON *row = cJSON_CreateDoubleArray(figures ? figures : (const double[]){ 0 }, count);

    cJSON_AddItemToArray(array, row);
    return row;
}

/* Whose colour it gets. */
static const char *kind_of(const struct job_terminal *t)
{
    if (t->kind == JOB_REGION)
        return "omp";
    switch (t->call_kind) {
    case JOB_PROBE:
        return job_call_kind_text(JOB_COMPLETION);
    case JOB_NO_CALL_KIND:
    case JOB_COMMUNICATOR:
    case JOB_LIFE:
        return job_call_kind_text(JOB_OTHER);
    default:
        return job_call_kind_text(t->call_kind);
    }
}

/* ["Isend3", "p2p", "halo@app.c:12"] */
static void add_terminal(struct report *r, uint32_t terminal, cJSON *array)
{
    const struct job_terminal *t = &r->job->terminals[terminal];
    cJSON *row = add_figures(array, NULL, 0);

    cJSON_AddItemToArray(row, text_item(findings_site_name(r->names, terminal)));
    cJSON_AddItemToArray(row, text_item(kind_of(t)));
    cJSON_AddItemToArray(row, text_item(t->callsite < r->job->callsite_count ? findings_where(r, terminal, 200) : ""));
}

/* --- The turn --- */

/* The turn, or without a loop the whole job. NULL, or why there is none. */
static const char *find(struct turn *t)
{
    const struct findings_loop *l = findings_main_loop(t->r);
    struct schedule_wish wish = { .mark = GRAMMAR_NONE, .most = WHOLE_PIECES };
    const char *why = t->r->job->info.block > 1 ? "its file has no times of single ranks"
                                                : findings_cannot_replay(t->r, UNMATCHED);
    int rc = SCHEDULE_NONE;

    if (why)
        return why;
    t->bind = findings_analysis(t->r)->bind;
    const struct replay_source *source = &t->bind->source;
    const struct replay_model model = replay_bind_model(t->bind);
    if (l && l->mark != GRAMMAR_NONE) {
        struct schedule_wish loop = { .pace = l->rank, .mark = l->mark, .turns = (uint64_t)findings_loop_mean_turns(l),
                                      .most = MOST_PIECES };
        rc = replay_schedule(source, &model, &loop, &t->s);
    }
    t->whole = rc != 0;
    if (rc != 0)
        rc = replay_schedule(source, &model, &wish, &t->s);
    return rc == 0 ? NULL : "no turn of a loop is short enough";
}

static uint32_t place_of(struct turn *t, uint32_t place)
{
    uint32_t site = place / 2;

    if (site >= t->bind->site_count) /* what lost its order */
        return GRAMMAR_NONE;
    if (t->place[site] == GRAMMAR_NONE) {
        t->site[t->sites] = site;
        t->place[site] = t->sites++;
    }
    return t->place[site];
}

static void add_piece(struct turn *t, const struct schedule_piece *p, cJSON *row)
{
    uint32_t place = place_of(t, p->place);
    bool waits = p->late != SCHEDULE_NOBODY;
    const double figures[] = { (double)(p->begin - t->s.begin), (double)(p->end - p->begin), waits ? 2 : p->place % 2,
                               place == GRAMMAR_NONE ? -1.0 : place, p->late };

    add_figures(row, figures, waits ? 5 : 4);
}

/* The pieces [i, …) of one rank; returns the first one of the next. */
static uint32_t add_row(struct turn *t, uint32_t i, cJSON *row)
{
    uint32_t rank = t->s.piece[i].rank, joined = 0;
    int64_t from = 0, to = 0;

    for (;; i++) {
        const struct schedule_piece *p = i < t->s.pieces && t->s.piece[i].rank == rank ? &t->s.piece[i] : NULL;
        bool small = p && p->end - p->begin < t->least;
        if (joined && (!small || to - from >= t->least)) {
            add_figures(row, (const double[]){ (double)(from - t->s.begin), (double)(to - from), -1, joined }, 4);
            joined = 0;
        }
        if (!p)
            return i;
        if (small) {
            from = joined ? from : p->begin;
            to = p->end;
            joined++;
        } else {
            add_piece(t, p, row);
        }
    }
}

static void add_rows(struct turn *t, cJSON *turn)
{
    cJSON *ranks = cJSON_AddArrayToObject(turn, "ranks"), *rows = cJSON_AddArrayToObject(turn, "rows");
    uint32_t i = 0;

    for (uint32_t r = 0; r < t->r->job->info.ranks; r += t->step) {
        cJSON *row = add_figures(rows, NULL, 0);
        cJSON_AddItemToArray(ranks, cJSON_CreateNumber(r));
        while (i < t->s.pieces && t->s.piece[i].rank < r)
            i++;
        if (i < t->s.pieces && t->s.piece[i].rank == r)
            i = add_row(t, i, row);
    }
}

static int longest_first(const void *a, const void *b)
{
    const struct schedule_message *x = a, *y = b;
    int64_t p = x->received - x->sent, q = y->received - y->sent;

    return BASE_ORDER(q, p) ?: BASE_ORDER(x->sent, y->sent);
}

/* Between ranks that are shown; those within collectives are not messages of the program. */
static void add_messages(struct turn *t, cJSON *turn)
{
    cJSON *messages = cJSON_AddArrayToObject(turn, "messages");
    uint32_t added = 0, left_out = 0;

    BASE_SORT(t->s.message, t->s.messages, longest_first);
    for (uint32_t i = 0; i < t->s.messages; i++) {
        const struct schedule_message *m = &t->s.message[i];
        if (t->bind->site[m->place / 2].call_kind != JOB_P2P)
            continue;
        if (m->from % t->step || m->to % t->step || added == PAGE_MESSAGES) {
            left_out++;
            continue;
        }
        const double figures[] = { m->from, m->to, (double)(m->sent - t->s.begin), (double)(m->received - t->s.begin),
                                   (double)m->bytes, place_of(t, m->place) };
        add_figures(messages, figures, 6);
        added++;
    }
    ADD(turn, NUMBER("left_out", left_out));
}

static void add_turn(struct turn *t, cJSON *turn)
{
    struct replay_analysis *a = findings_analysis(t->r);
    uint32_t ranks = t->r->job->info.ranks;

    t->step = (ranks + PAGE_RANKS - 1) / PAGE_RANKS;
    t->least = (t->s.end - t->s.begin) / (PAGE_PIECES / 2 / (ranks / t->step + 1)) + 1;
    ADD(turn, BOOL("whole", t->whole), NUMBER("turn", t->s.turn), TIME("begin", t->s.begin),
        TIME("seconds", t->s.end - t->s.begin), NUMBER("replayed", replay_analysis_replayed(a)),
        NUMBER("recorded", a->recorded), NUMBER("unmatched", findings_unmatched(t->r)));
    add_rows(t, turn);
    add_messages(t, turn);
    cJSON *places = cJSON_AddArrayToObject(turn, "places");
    for (uint32_t i = 0; i < t->sites; i++)
        add_terminal(t->r, t->bind->site[t->site[i]].terminal, places);
}

void html_add_turn(struct report *r, cJSON *turn)
{
    struct turn t = { .r = r };
    const char *why = find(&t);

    ADD(turn, TEXT("why", why));
    if (why)
        return;
    size_t sites = t.bind->site_count + 1u;
    t.place = malloc(sites * sizeof *t.place);
    t.site = calloc(sites, sizeof *t.site);
    memset(t.place, 0xff, sites * sizeof *t.place); /* GRAMMAR_NONE */
    add_turn(&t, turn);
    free(t.place);
    free(t.site);
    replay_schedule_free(&t.s);
}
