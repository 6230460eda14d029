/* SPDX-License-Identifier: MIT */
/*
 * What is known of a value while a function is read: how it depends on the thread's number T and on the team's size N.
 *
 * A compiler shares C iterations of a loop with a static schedule as
 *
 *     q = C / N, r = C % N;  if (T < r) q = q + 1, r = 0;  begin = q T + r, end = begin + q
 *     begin = T chunk, and from chunk to chunk + N chunk                                     (with a chunk)
 *
 * So a value is a linear form  t T + n N + m (q T) + r r + something plain. Where t = n = 0 and m = r it is the number
 * of an iteration (or an address made of it), and harmless: BOUND. So is T chunk at the head of the loop that adds N
 * chunk to it. Everything else that still has T or N in it may only be computed with; to store it, hand it on, decide
 * or address by it shows that the program itself asked. RAW is what depends on them in any other way.
 *
 * Threads: any.  Hook-safe: no.
 */
#ifndef PYTHIA_TEAMS_VALUE_H
#define PYTHIA_TEAMS_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum teams_value_kind {
    TEAMS_UNSEEN, /* not reached yet */
    TEAMS_ANY,
    TEAMS_CONSTANT,
    TEAMS_FRAME, /* address in the function's own frame: the stack pointer at its entry + number */
    TEAMS_STACK, /* likewise, somewhere in the object that begins there */
    TEAMS_HEAP,  /* address in memory that this thread allocated */
    TEAMS_LINEAR,
    TEAMS_QUOTIENT,
    TEAMS_QUOTIENT_1, /* q, and q + 1 */
    TEAMS_LOW, /* plain in its lowest byte, raw in the rest */
    TEAMS_RAW,
    /* of the flags */
    TEAMS_IF_REST,   /* whether T < r */
    TEAMS_IF_MASTER, /* whether T = 0 */
    TEAMS_IF_CHUNK,  /* T chunk compared with something plain */
    TEAMS_IF_SINGLE, /* whether this is the one thread that runs a block (also of a register) */
};

enum teams_value_bit {
    TEAMS_BOUND = 1,     /* made of the bounds of a shared loop */
    TEAMS_CARRIED = 2,   /* depends on what this thread did in earlier iterations */
    TEAMS_COUNTER = 4,   /* likewise, but only counts them */
    TEAMS_ZERO = 8,      /* 0, plus what was added in iterations of shared loops */
    TEAMS_LENGTH = 32,   /* of a thread's share: what two bounds are apart */
    TEAMS_EDGE = 64,     /* with BOUND: only by adding, not what an iteration computed of its number */
    TEAMS_EXACT = 16,    /* a linear form without something plain */
    TEAMS_EITHER = 8192, /* a linear form, or something plain: what cancels the form leaves a length */
    TEAMS_FOUND = 256,   /* tells which thread came first: made of what an exchange found */
    TEAMS_TURNS = 128,   /* with BOUND: another one in each iteration */
    TEAMS_HALF = 32768,  /* a linear form or a sum that was computed in 32 bits: what is above is not its own */
    TEAMS_MARKS = TEAMS_CARRIED | TEAMS_COUNTER | TEAMS_LENGTH | TEAMS_FOUND, /* they stay in whatever is made of it */
    /* no bits of a value while an instruction is looked at (follow.c) */
    TEAMS_RAW_MARK = 131072,     /* makes it raw */
    TEAMS_CHUNK_MARK = 262144,   /* likewise, unless it is carried */
    TEAMS_DECIDED_MARK = 524288, /* carried, and no sum any more */
    TEAMS_SIDE = 512,            /* of one side of a branch: where the other side's is another, it is raw */
    TEAMS_SIDE_CARRIED = 1024,   /* likewise, carried */
    TEAMS_SIDE_DECIDED = 2048,   /* likewise, and no sum any more */
    TEAMS_SIDE_REST = 16384,     /* likewise, but for what a share is made of */
    TEAMS_REST_MARK = 65536      /* makes anything else raw */
};

enum { TEAMS_OF_SEVERAL = -1 };
struct teams_value {
    uint16_t kind, bits;
    /* Of TEAMS_ANY t: what was taken of carried values (enum teams_extreme), and of nothing else; n: of a sum, where it
       was when the iteration began, a register or a slot, + 1. */
    int16_t t, n, m, r;
    int32_t number; /* of a constant, an offset in the frame; of TEAMS_ANY its name (follow.h), 0: none */
};

static inline struct teams_value teams_value_any(unsigned bits)
{
    return (struct teams_value){ .kind = TEAMS_ANY, .bits = (uint16_t)bits };
}
struct teams_value teams_value_constant(int64_t number);
/* Still has the thread's number or the team's size in it. */
static inline bool teams_value_is_raw(const struct teams_value *v)
{
    return v->kind == TEAMS_LINEAR || v->kind == TEAMS_LOW || v->kind == TEAMS_RAW || v->kind >= TEAMS_IF_REST;
}
/* Depends on what this thread did, or how much. */
static inline bool teams_value_is_carried(const struct teams_value *v)
{
    return v->bits & TEAMS_MARKS;
}
/* Likewise, and is no number of an iteration: what it is put into keeps it. */
static inline bool teams_value_is_kept(const struct teams_value *v)
{
    return (v->bits & TEAMS_CARRIED) || v->kind == TEAMS_QUOTIENT || v->kind == TEAMS_QUOTIENT_1 ||
           ((v->bits & (TEAMS_COUNTER | TEAMS_LENGTH)) && !(v->bits & TEAMS_BOUND));
}
/* An extreme of what the iterations had, or nothing that any of them left: the same whoever ran which of them. */
static inline bool teams_value_is_extreme(const struct teams_value *v, int takes)
{
    bool plain = !(v->bits & (TEAMS_MARKS | TEAMS_BOUND)) && (v->kind == TEAMS_ANY || v->kind == TEAMS_CONSTANT);
    return plain || (takes && v->kind == TEAMS_ANY && v->t == takes && !(v->bits & (TEAMS_BOUND | TEAMS_FOUND)));
}
/* An address in memory that only this thread knows. */
static inline bool teams_value_is_own(const struct teams_value *v)
{
    return v->kind == TEAMS_FRAME || v->kind == TEAMS_STACK || v->kind == TEAMS_HEAP;
}
static inline bool teams_value_equal(const struct teams_value *a, const struct teams_value *b)
{
    return a->kind == b->kind && a->bits == b->bits && a->t == b->t && a->n == b->n && a->m == b->m && a->r == b->r &&
           a->number == b->number;
}

/* Of what may be either: a sum that goes on, or 0 again. */
bool teams_value_begins_anew(const struct teams_value *a, const struct teams_value *b);
struct teams_value teams_value_add(struct teams_value a, struct teams_value b, bool minus);
struct teams_value teams_value_scale(struct teams_value a, int64_t factor);
struct teams_value teams_value_multiply(struct teams_value a, struct teams_value b);
/* (q + 1) T, which is where the share of a thread with T < r begins. */
struct teams_value teams_value_begin(struct teams_value a, struct teams_value b);
/* Quotient, and the remainder in *rest. */
struct teams_value teams_value_divide(struct teams_value a, struct teams_value b, struct teams_value *rest);
/* What a quotient's `number` tells of the value that was divided: its name; 0: none. Where the rest is not known with
   the quotient, it is what the dividend and their product leave. */
int32_t teams_value_dividend(const struct teams_value *v);
/* Flags of comparing the two. */
struct teams_value teams_value_compare(struct teams_value a, struct teams_value b);
/* By any other operation. */
struct teams_value teams_value_mix(struct teams_value a, struct teams_value b);
/* One or the other, where ways come together. */
struct teams_value teams_value_join(struct teams_value a, struct teams_value b);
/* The same at the head of a loop: a on the way in, b from its end. */
struct teams_value teams_value_loop(struct teams_value a, struct teams_value b);

#endif
