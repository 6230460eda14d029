/* SPDX-License-Identifier: MIT */
/*
 * For the page: one turn of the main loop as the replay runs it (replay/schedule.h), all ranks on one clock.
 *
 *   {"why": null, "whole": false, "turn": 3, "of": 200, "begin": s, "seconds": s, "replayed": s, "recorded": s,
 *    "unmatched": share of the events that went on without their message,
 *    "ranks": [0, 1, …], "places": [["Isend3", "p2p", "halo@app.c:12"], …],
 *    "rows": [[[begin, length, kind, place, late], …], …],          of each of these ranks; ns since the turn's begin
 *    "messages": [[from, to, sent, received, bytes, place], …], "left_out": messages that are not there}
 *
 *   kind: 0 computation before the call at `place`, 1 in it, 2 waiting there for rank `late`; -1: `place` short pieces
 *
 * The page stays small: of many ranks some at regular distances are there; pieces too short to be seen are joined, and
 * of too many messages those that take longest are kept. Where no replay can be shown `why` says so, and there is
 * nothing else.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "findings/findings.h"
#include "page/html_parts.h"
#include "replay/schedule.h"

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
    FILE *out;
};

/* The turn, or without a loop the whole job. NULL, or why there is none. */
static const char *find(struct turn *t)
{
    const struct report_loop *l = report_main_loop(t->r);
    struct schedule_wish wish = { .node = GRAMMAR_NONE, .mark = GRAMMAR_NONE, .most = WHOLE_PIECES };
    const char *why = t->r->job->info.block > 1 ? "its file has no times of single ranks"
                                                : report_cannot_replay(t->r, UNMATCHED);
    int rc = SCHEDULE_NONE;

    if (why)
        return why;
    t->bind = replay_analysis_bind(report_analysis(t->r));
    const struct replay_source *source = replay_bind_source(t->bind);
    const struct replay_model model = replay_bind_model(t->bind);
    if (l && l->mark != GRAMMAR_NONE) {
        struct schedule_wish loop = { .pace = l->rank, .node = GRAMMAR_NONE, .mark = l->mark,
                                      .turns = (uint64_t)report_loop_mean_turns(l), .most = MOST_PIECES };
        rc = replay_schedule(source, &model, &loop, &t->s);
    }
    t->whole = rc != 0;
    if (rc != 0)
        rc = replay_schedule(source, &model, &wish, &t->s);
    return rc == 0 ? NULL : "no turn of a loop is short enough";
}

static bool shown(const struct turn *t, uint32_t rank)
{
    return rank % t->step == 0;
}

static uint32_t place_of(struct turn *t, uint32_t place)
{
    uint32_t site = place / 2;

    if (site >= replay_bind_sites(t->bind)) /* what lost its order */
        return GRAMMAR_NONE;
    if (t->place[site] == GRAMMAR_NONE) {
        t->site[t->sites] = site;
        t->place[site] = t->sites++;
    }
    return t->place[site];
}

static void print_piece(struct turn *t, const struct schedule_piece *p, const char *comma)
{
    uint32_t place = place_of(t, p->place);
    int kind = p->late != SCHEDULE_NOBODY ? 2 : p->place % 2;

    fprintf(t->out, "%s[%" PRId64 ",%" PRId64 ",%d,%d", comma, p->begin - t->s.begin, p->end - p->begin, kind,
            place == GRAMMAR_NONE ? -1 : (int)place);
    if (kind == 2)
        fprintf(t->out, ",%" PRIu32, p->late);
    fputc(']', t->out);
}

/* The pieces [i, …) of one rank; returns the first one of the next. */
static uint32_t print_row(struct turn *t, uint32_t i)
{
    uint32_t rank = t->s.piece[i].rank, joined = 0;
    int64_t from = 0, to = 0;
    const char *comma = "";

    fputc('[', t->out);
    for (;; i++) {
        const struct schedule_piece *p = i < t->s.pieces && t->s.piece[i].rank == rank ? &t->s.piece[i] : NULL;
        bool small = p && p->end - p->begin < t->least;
        if (joined && (!small || to - from >= t->least)) {
            fprintf(t->out, "%s[%" PRId64 ",%" PRId64 ",-1,%" PRIu32 "]", comma, from - t->s.begin, to - from, joined);
            comma = ",";
            joined = 0;
        }
        if (!p)
            break;
        if (small) {
            from = joined ? from : p->begin;
            to = p->end;
            joined++;
        } else {
            print_piece(t, p, comma);
            comma = ",";
        }
    }
    fputc(']', t->out);
    return i;
}

static void print_rows(struct turn *t)
{
    uint32_t ranks = t->r->job->info.ranks, i = 0;

    fputs("\"ranks\":[", t->out);
    for (uint32_t r = 0; r < ranks; r += t->step)
        fprintf(t->out, "%s%" PRIu32, r ? "," : "", r);
    fputs("],\n\"rows\":[", t->out);
    for (uint32_t r = 0; r < ranks; r += t->step) {
        while (i < t->s.pieces && t->s.piece[i].rank < r)
            i++;
        fputs(r ? ",\n" : "", t->out);
        if (i < t->s.pieces && t->s.piece[i].rank == r)
            i = print_row(t, i);
        else
            fputs("[]", t->out);
    }
    fputs("],\n", t->out);
}

static int longest_first(const void *a, const void *b)
{
    const struct schedule_message *x = a, *y = b;
    int64_t p = x->received - x->sent, q = y->received - y->sent;

    return BASE_ORDER(q, p) ?: BASE_ORDER(x->sent, y->sent);
}

/* Between ranks that are shown; those within collectives are not messages of the program. */
static void print_messages(struct turn *t)
{
    uint32_t printed = 0, left_out = 0;

    if (t->s.messages)
        qsort(t->s.message, t->s.messages, sizeof *t->s.message, longest_first);
    fputs("\"messages\":[", t->out);
    for (uint32_t i = 0; i < t->s.messages; i++) {
        const struct schedule_message *m = &t->s.message[i];
        if (replay_bind_site(t->bind, m->place / 2)->call_kind != JOB_P2P)
            continue;
        if (!shown(t, m->from) || !shown(t, m->to) || printed == PAGE_MESSAGES) {
            left_out++;
            continue;
        }
        fprintf(t->out, "%s[%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu32 "]",
                printed++ ? "," : "", m->from, m->to, m->sent - t->s.begin, m->received - t->s.begin, m->bytes,
                place_of(t, m->place));
    }
    fprintf(t->out, "],\"left_out\":%" PRIu32 ",\n", left_out);
}

static void print_places(struct turn *t)
{
    fputs("\"places\":[", t->out);
    for (uint32_t i = 0; i < t->sites; i++) {
        uint32_t terminal = replay_bind_site(t->bind, t->site[i])->terminal;
        fputs(i ? ",\n" : "", t->out);
        html_print_terminal(t->r, terminal, false, t->out);
    }
    fputs("]", t->out);
}

static void print_turn(struct turn *t)
{
    struct replay_analysis *a = report_analysis(t->r);
    uint32_t ranks = t->r->job->info.ranks;

    t->step = (ranks + PAGE_RANKS - 1) / PAGE_RANKS;
    t->least = (t->s.end - t->s.begin) / (PAGE_PIECES / 2 / (ranks / t->step + 1)) + 1;
    fprintf(t->out, "{\"why\":null,\"whole\":%s,\"turn\":%" PRIu64 ",\"begin\":%.9f,\"seconds\":%.9f,\"replayed\":%.9f,"
                    "\"recorded\":%.9f,\"unmatched\":%.4f,\n",
            t->whole ? "true" : "false", t->s.turn, (double)t->s.begin / 1e9, (double)(t->s.end - t->s.begin) / 1e9,
            replay_analysis_replayed(a), replay_analysis_recorded(a), report_unmatched(t->r));
    print_rows(t);
    print_messages(t);
    print_places(t);
    fputc('}', t->out);
}

void html_print_turn(struct report *r, FILE *out)
{
    struct turn t = { .r = r, .out = out };
    const char *why = find(&t);

    if (why) {
        fputs("{\"why\":", out);
        html_print_text(why, out);
        fputc('}', out);
        return;
    }
    size_t sites = replay_bind_sites(t.bind) + 1u;
    t.place = malloc(sites * sizeof *t.place);
    t.site = calloc(sites, sizeof *t.site);
    for (size_t i = 0; i < sites; i++)
        t.place[i] = GRAMMAR_NONE;
    print_turn(&t);
    free(t.place);
    free(t.site);
    replay_schedule_free(&t.s);
}
