/* SPDX-License-Identifier: MIT */
/*
 * What the program's files say of the addresses in a job, kept in it so that they may be gone, or others:
 *
 *     place   module, offset, kind    -> function, file, line; where its code was read: which function, loop around
 *     way     place, place            -> control can go on from the call at one to that at the other in one turn
 *
 *     main ─ loop ─┬─ Send   place 2, around place 0, way to place 3
 *                  └─ Recv   place 3, around place 0
 *
 * A loop is a place, too: that of the instruction that closes it. Ways are there for calls that came one after the
 * other: within a function without a turn of a loop that holds both, or where one ends in the function of the other.
 * A loop that can be entered at other places than its head has a way to itself.
 * A spot is a place of a sample, which has a name and no code.
 * Made of a whole job at once (findings/places.h): what is joined has none.
 *
 * Threads: any for readers.  Hook-safe: no.
 */
#pragma once

#include <stdint.h>

enum job_place_kind {
    JOB_PLACE_CALL,  /* a return address: of the call before it */
    JOB_PLACE_ENTRY, /* of a region or a task */
    JOB_PLACE_LOOP   /* that no loop of its function is around; those within are greater by one a level */
};

struct job_place {
    uint32_t module, kind;
    uint64_t offset;
    uint32_t function, path; /* strings, as the linker and the compiler have them; GRAMMAR_NONE: not known */
    uint32_t line, within;   /* 0: not known; bytes from the symbol's begin, where only that is known */
    uint32_t in_main;        /* 1: in main, or inlined into it */
    uint32_t code;           /* of one function equal numbers; 0: it was not read */
    uint32_t around;         /* the innermost loop around it; GRAMMAR_NONE: none */
    uint32_t way_first, way_count;
};
struct job_way { uint32_t to; }; /* place */

/* Where samples of computing lie (job/inside.h): the function that was called there, and the line in its own file. */
struct job_spot {
    uint32_t module;
    uint64_t offset;
    uint32_t function, path; /* strings, as those of a place */
    uint32_t line, within;   /* likewise */
    uint32_t inlined;        /* string: the function that the line is in, where it was inlined; GRAMMAR_NONE: in that */
};
struct job_spot_list {
    struct job_spot *of;
    uint32_t count, room;
};

struct job_places {
    struct job_place *place;
    struct job_way *way;
    uint32_t place_count, place_room, way_count, way_room;
};
