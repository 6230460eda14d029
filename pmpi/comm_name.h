/* SPDX-License-Identifier: MIT */
/*
 * Names of communicators: the same for all of their members, whoever else has others at the time.
 *
 *     world/split#0/dup#2       the parent's name, how it was made, and a number among those made so that live
 *
 *     made by all of the parent's ranks     the lowest number that none of them has, and no call that made parts
 *     by some of them (a split's parts)     that of an earlier one with these members, else which call it was; "*"
 *                                           where that comes by chance
 *     by its members alone (create_group)   the lowest that none of these members has; with how many they are, and
 *                                           where, for others may live at a time: create_group(3)#0,
 *                                           create_group(2*4)#0 ranks 4 apart, create_group(2:1)#0 the window at 1
 *
 * Private to comm.c, whose lock is held in all of these. Threads: one at a time.  Hook-safe: no.
 */
#pragma once

#include "pmpi/comm.h"
#include "pmpi/variants.h"

enum { COMM_NAME = 160, COMM_PARTS = 64, COMM_WHOLES = 256 };

/* Who is in a child, and in the other group of an intercommunicator. */
struct comm_who {
    const struct pmpi_hook_members *own, *peers;
};

/* Children that some of the parent's ranks have: of each number, and in which order these came. */
struct comm_parts {
    struct comm_who who[COMM_PARTS];
    bool live[COMM_PARTS];
    struct pmpi_hook_order order;
};

/* Numbers of the children made in one way. */
struct comm_kind {
    struct comm_kind *next;
    const char *kind;
    uint32_t calls;                      /* that made some, or left this rank out */
    uint64_t wholes[COMM_WHOLES / 64];   /* bit k: a child with all members of its parent has number k */
    uint64_t partial[COMM_WHOLES / 64];  /* bit k: call k made parts, as ranks know that are in none: k is no whole's */
    struct comm_parts *parts;            /* NULL: not yet */
    struct comm_entry *alone;            /* living ones that not all of the parent's ranks know of */
};

/* How a child has its number. */
enum comm_how { COMM_WHOLE, COMM_PART, COMM_ALONE };

struct comm_entry {
    struct pmpi_hook_communicator seen; /* first: what others see */
    struct comm_entry *parent;
    struct comm_kind *children;
    struct comm_kind *made; /* the parent's, where `order` is taken */
    enum comm_how how;
    struct comm_entry *next; /* of the parent's alone, where it is one of these */
    uint32_t order;
    bool by_chance; /* its number is "*" */
    uint32_t references;
    const struct pmpi_hook_members *members; /* its own group; NULL: not known */
    int topology;                            /* as MPI_Topo_test should say */
    char name[COMM_NAME];
};

/* Gives the entry a name, `given` or else by its parent (NULL: none), and its number in the session. Named by its
   parent it holds a reference of that. */
void pmpi_hook_name(struct comm_entry *entry, struct comm_entry *parent, const char *kind, const char *given);
/* Its number is free again. */
void pmpi_hook_name_give_back(struct comm_entry *entry);
/* This rank is in none of those that a call made, which takes a number all the same. */
void pmpi_hook_name_left_out(struct comm_entry *parent, const char *kind);
/* What the entry knows of its children. */
void pmpi_hook_name_free(struct comm_entry *entry);
