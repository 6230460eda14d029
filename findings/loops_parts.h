/* SPDX-License-Identifier: MIT */
/* Between the parts of loops.h.  Threads: any.  Hook-safe: no. */
#pragma once

#include <stdbool.h>

#include "findings/loops.h"
#include "findings/places.h"
#include "job/job.h"

/* The job's stops and hops. Of one that has none those that the grammars tell, exact, with each terminal one stop: they
   are made in `own`, which the caller frees. */
const struct job_hops *findings_hops(const struct job *j, struct job_hops *own);

/* One of a stop's frames. */
struct loops_frame {
    const struct job_place *place;
    uint32_t first, count; /* loops around it, in chain[], outermost first */
};

struct loops_stop { struct loops_frame *frame; uint32_t frames; }; /* outermost first */

/* What a step from one terminal to another is to a loop; so many rows of the hops. */
struct loops_effect { uint32_t loop, from, to, rows; bool enters, aside; };

struct loops_search {
    struct report *r;
    const struct job *j;
    const struct job_hops *hops;
    const struct job_places *places;
    struct loops_stop *stop;
    int *chain;
    uint32_t chains, chain_room;
    struct findings_loops *l;
    const struct job_place **closes; /* each loop */
    uint32_t loop_room, closes_room;
    struct job_member *stream; /* in order; one that stands for all where they are too many */
    uint64_t streams, all_streams;
    double *turns, *entries;   /* [loop * streams + stream] */
    const struct job_hop *hop; /* at hand, and the streams that take it, unless they are too many */
    uint32_t *taker;
    uint64_t takers;
    bool *turned;              /* each hop: it is a turn of a loop */
    struct loops_effect *effect;
    uint32_t effects, effect_room;
};

/* The innermost loop around so many of the outermost frames, -1: none. */
static inline int loops_innermost(const struct loops_search *s, const struct loops_stop *stop, uint32_t frames)
{
    while (frames--)
        if (stop->frame[frames].count)
            return s->chain[stop->frame[frames].first + stop->frame[frames].count - 1];
    return -1;
}

static inline bool loops_same_frame(const struct loops_frame *a, const struct loops_frame *b)
{
    return a->place == b->place;
}

static inline int loops_of_stop(const struct loops_search *s, uint32_t stop)
{
    return s->l->by_code ? loops_innermost(s, &s->stop[stop], s->stop[stop].frames) : s->chain[stop];
}

static inline struct loops_effect loops_effect_of(const struct loops_search *s, const struct job_hop *h)
{
    return (struct loops_effect){ .from = h->from == GRAMMAR_NONE ? h->from : s->hops->stop[h->from].terminal,
                                  .to = s->hops->stop[h->to].terminal, .rows = 1 };
}

/* That hop is at hand. */
void loops_take_hop(struct loops_search *s, uint32_t hop);
/* Whether what begins at `place` is the rest of the turn in which the loop is left at last: it can be entered there,
   and control goes on from where it is left to there in one turn. So it is no turn of its own. */
bool loops_is_rest(const struct loops_search *s, int loop, const struct job_place *place);
/* Fills the least and most turns of an entry, where that is known. */
void loops_find_entries(struct loops_search *s);
/* Fills the times of loops, and calls. */
void loops_add_time(struct loops_search *s);
/* The main loop and its mark; which loops are not seen to turn. */
void loops_choose_main(struct loops_search *s);
