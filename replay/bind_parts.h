/* SPDX-License-Identifier: MIT */
/* What a bind consists of: private to bind.c and bind_*.c. See bind.h. */
#pragma once

#include "replay/bind.h"

enum {
    BIND_EAGER = 4096, /* bytes: longer messages wait for their receiver */
    BIND_DRAWS = 64,   /* turns after which drawn work begins anew, at most */
};

/* Of what work turns differ. */
enum bind_drawn { BIND_DRAWN_GAP, BIND_DRAWN_REGION, BIND_DRAWN_KINDS };

/* Means of one occurrence on one rank, ns; the shapes of gaps and of a region, from 1, 0: always the mean. */
struct bind_times { float gap, gap_deviation, call, call_deviation; uint16_t shape[BIND_DRAWN_KINDS]; };

/* Values that a gap has in turn, deviations from its mean. */
struct bind_shape { uint8_t middle, spread, turns; float value[BIND_DRAWS]; };

/* How long the gap at a node is after a terminal: a factor to the node's mean. */
struct bind_before { uint32_t node, before; float factor; };

/* Members of a class with the same exponents. */
struct bind_role {
    uint32_t class_index;
    uint64_t hash;                /* of the exponents that differ */
    const struct grammar_flat *grammar;
    struct grammar_flat *own;     /* NULL: the class's */
    uint64_t *uses;               /* expansions of each rule */
    uint32_t *rule_of;            /* the rule that a node is in */
    struct bind_before *before;   /* of nodes that come after several terminals, in their order */
    uint32_t before_count, before_room;
};

/* Of each rank, for its class's nodes. */
struct bind_rank {
    uint32_t class_index, role;
    bool shared;
    struct bind_times *node;
    uint8_t *apart;        /* BIND_DRAWS for each node and kind: which value a turn has; NULL: not asked yet */
    struct replay_run one; /* of the wait that the rank is at */
};

static inline const struct job_class *bind_class(const struct replay_bind *b, uint32_t rank)
{
    return &b->job->classes[b->rank[rank].class_index];
}

/* --- bind_comm.c --- */
struct bind_comms *bind_comms_create(const struct job *j, uint32_t ranks);
void bind_comms_destroy(struct bind_comms *c);
/* The communicator of a rank as messages have it in their tags. */
uint32_t bind_comm(const struct replay_bind *b, uint32_t rank, uint32_t comm);

/* --- bind_times.c --- */
/* Fills the times of a rank, and what its sites have of them; the ranks before it have theirs. */
void bind_times_find(struct replay_bind *b, uint32_t rank);
/* Whether the node's call is with MPI_PROC_NULL alone, both halves of one that sends and receives. */
bool bind_is_alone(const struct replay_bind *b, uint32_t rank, uint32_t node, uint32_t symbol);
/* How often a rank comes to a node. */
double bind_visits(const struct replay_bind *b, uint32_t rank, uint32_t node);

/* --- bind_least.c --- */
/* Fills `least`; the ranks have their times. */
void bind_least_find(struct replay_bind *b);

/* --- bind_draw.c --- */
/* Fills the shapes; the ranks have their times. */
void bind_draw_find(struct replay_bind *b);
/* Before the first replay with work drawn apart. */
void bind_draw_apart(struct replay_bind *b);
/* By how much a turn's work at a node that has a shape is longer than the mean, ns, with the change's draw and seed. */
double bind_draw(const struct replay_bind *b, uint32_t rank, uint32_t node, enum bind_drawn what, uint64_t turn);

static inline uint64_t bind_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* --- bind_before.c --- */
void bind_before_find(struct bind_role *r, const struct job *job);
/* 1 where it makes no difference, or is not known. */
double bind_before_factor(const struct bind_role *r, uint32_t node, uint32_t before);

/* --- bind_event.c: the source's functions; `context` is the bind --- */
uint32_t bind_event(void *context, uint32_t rank, uint32_t node, struct replay_moment at, struct replay_op *op);
uint32_t bind_cycle(void *context, uint32_t rank, uint32_t node);
bool bind_neighbour(void *context, uint32_t rank, const struct replay_op *op, uint32_t *step, struct replay_op *out);
bool bind_course(void *context, uint32_t rank, uint32_t node, struct replay_cycle *cycle);
