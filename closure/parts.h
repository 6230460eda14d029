/* SPDX-License-Identifier: MIT */
/* What a program is made with: private to this directory. See closure.h. */
#pragma once

#include "closure/closure.h"

/* Sections of proxy.c, in their order there. */
enum closure_section { CLOSURE_BASE, CLOSURE_COURSE, CLOSURE_PEER, CLOSURE_COMM, CLOSURE_SIZE, CLOSURE_MAKE,
                       CLOSURE_COUNTS, CLOSURE_REQUESTS, CLOSURE_PERSISTENT, CLOSURE_MESSAGE, CLOSURE_WINDOW,
                       CLOSURE_FILE, CLOSURE_NAMED, CLOSURE_SECTIONS };
#define CLOSURE_NEEDS(section) (1u << (section))

/* How a terminal is made. */
struct closure_call {
    const char *why;      /* it is not made; NULL: it is */
    char *text;           /* statements, with parameters by name */
    uint32_t channels;    /* bit c: it has that parameter */
    uint32_t sections;
    bool from_anyone;     /* the peer is no parameter */
    bool any_size;        /* nor is the size: whatever comes */
    bool message;         /* point to point: without its peer the program would hang */
    uint8_t spread;       /* its buffer is so large: of one, of all ranks */
    double gap;           /* ns, mean of all nodes */
    bool used, nth;       /* by a node; how often it was made is counted */
    int child;            /* communicator that it makes, where it is always the same one; -1: not known */
};

struct closure {
    const struct job *job;
    struct findings_resolver *places;
    struct closure_how how;
    struct closure_program *made;
    struct closure_call *call;  /* of each terminal */
    struct job *words;          /* tables and functions by text: equal ones are one */
    FILE *tables, *calls, *rules;
    char *table_text, *call_text, *rule_text;
    size_t table_size, call_size, rule_size;
    int64_t *list;              /* of completions: names of the job's lists, as numbered here */
    uint32_t list_count, list_room;
    uint32_t sections;
    uint32_t now;               /* terminal whose values are asked for */
    uint64_t largest, furthest; /* bytes of a buffer; events back to a start */
};

/* As printf, into memory. The caller frees it. */
char *closure_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
void closure_lack(struct closure *g, uint64_t events, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The first reason stays. */
void closure_refuse(struct closure *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A table or function by its text, which has NAME_# for its own name: that name. `text` becomes the closure's. */
char *closure_shared(struct closure *g, FILE *to, const char *name, char *text);

/* --- values.c --- */
/* Value of a channel at a node, as an expression of nth[terminal], which then *counts; the caller frees it. NULL:
   not kept of all members. `absent` where there is none. */
char *closure_value(struct closure *g, const struct job_class *c, uint32_t node, enum grammar_channel channel,
                    int64_t absent, bool *counts);
/* Exponent of a node. */
char *closure_turns(struct closure *g, const struct job_class *c, uint32_t node);
/* Whether each variant has one value; with `value`, whether there are any, and all have that. */
bool closure_constant(const struct job_class *c, uint32_t node, enum grammar_channel channel, const int64_t *value);

/* --- rules.c --- */
/* Prints the rules of a class; the name of its root. The caller frees it. */
char *closure_class(struct closure *g, uint32_t class_index);

/* --- calls.c --- */
/* Fills call[] and prints a function for each that is used. */
void closure_calls(struct closure *g);
void closure_print_call(struct closure *g, uint32_t terminal);
char *closure_call_name(const struct closure *g, uint32_t terminal); /* the caller frees it */

/* What a function makes of its communicator ("split"), NULL: nothing. */
const char *closure_makes(const char *function);

/* --- comms.c --- */
/* Which communicator each call makes: fills child of call[]. */
void closure_children(struct closure *g);
/* Tables of the communicators that calls make. How many rows. */
uint32_t closure_comms(struct closure *g, FILE *out);
/* Whether `kind` begins with "sub", and the communicator of that name up to there is a grid whose extents do not follow
   from its parts. */
bool closure_no_grid(const struct job *j, const char *name, const char *kind);
