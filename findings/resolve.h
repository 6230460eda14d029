/* SPDX-License-Identifier: MIT */
/*
 * From addresses to source: module + offset, as a job stores it, to function, file and line.
 *
 *   struct findings_resolver *r = findings_resolver_create(job);
 *   const struct findings_place *p = findings_resolve(r, callsite, 0, FINDINGS_CALL);
 *
 * Works after the run and offline: what the job has (job/places.h); else opens the module that the job names, if it is
 * still the same build (build-id), and reads its DWARF, or separate debug information by build-id, else its symbols.
 * Nothing is fetched from a network.
 * What cannot be resolved keeps module and offset. Answers are cached; a first look-up in a module costs about a
 * millisecond, later ones about 10 us.
 *
 * Threads: owner.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"

struct findings_resolver;

/* What an address is: a return address belongs to the call before it. A sample is of the function that is called, not
   of one that was inlined there; its line is the innermost one in that function's file: nobody looks for an operator in
   a library's header. */
enum findings_address { FINDINGS_CALL, FINDINGS_ENTRY, FINDINGS_SAMPLE };

struct findings_place {
    const char *symbol;   /* function as the linker has it; NULL when not known */
    const char *function; /* source function, short (demangle.h); NULL when not known */
    const char *full;     /* the same with parameters; NULL when not known */
    const char *path;     /* source file as the compiler named it; NULL when not known */
    const char *file;     /* its last component; NULL when not known */
    uint32_t line;        /* 0 when not known */
    const char *inlined;  /* of a sample, short: the function that the line is in, where it was inlined; else NULL */
    uint64_t within;      /* bytes from the symbol's begin, where only a symbol is known */
    const char *module;   /* last component of the module's path, never NULL */
    uint64_t offset;      /* as in the job */
    const char *interpreter; /* the module is one: then that is the function, whatever it does; NULL: it is not */
    bool script;          /* the line is of Python, as the interpreter has it: no file is read */
    bool in_main;         /* it is main, or inlined into it: above it there is only what started the program. Ask before
                             the frame above is resolved: that opens the C library's debug information, which takes a
                             twentieth of a second where it is installed */
};

/* `j` must outlive the resolver. */
struct findings_resolver *findings_resolver_create(const struct job *j);
void findings_resolver_destroy(struct findings_resolver *r); /* NULL is legal */

/* Frame `depth` (0: innermost) of a callsite. NULL: there is no such frame. Owned by the resolver. */
const struct findings_place *findings_resolve(struct findings_resolver *r, uint32_t callsite, uint32_t depth,
                                              enum findings_address kind);

/* Where a call on this path is for the program's people: the innermost line of a script, else the innermost frame. */
const struct findings_place *findings_resolve_call(struct findings_resolver *r, uint32_t path);

/* Of an address of a module of the job, whatever callsite it is in. Owned by the resolver. */
const struct findings_place *findings_resolve_at(struct findings_resolver *r, uint32_t module, uint64_t address,
                                                 enum findings_address kind);

/* Whether it only starts main or a thread; whether the module of that path is a runtime that calls the program's code:
   OpenMP's, ours. */
bool findings_is_start(const struct findings_place *p);
bool findings_is_runtime(const char *module);
/* Whether a module is code of a script: its offsets are lines (base/modules.h). */
bool findings_is_script(const struct job *j, uint32_t module);
/* What a module of that path interprets; NULL: nothing. */
const char *findings_interpreter(const char *path);

/* Its function, short or in full; "module+0xoffset" where that is not known. One of findings_text(). */
const char *findings_function_at(const struct findings_place *p, bool full);

/*
 * A callsite as one word without blanks, innermost frame first: "caller@file:line<caller@file:line…", where only a
 * symbol is known "symbol+0xwithin@module", where nothing is "module+0xoffset"; "-" for none. An interpreter is its
 * name and the last frame; where lines of a script are known they are all that is shown. Always ends in '\0'.
 */
void findings_callsite_text(struct findings_resolver *r, uint32_t callsite, enum findings_address kind, char *text,
                            size_t size);

/* The same of frames that stand in no report: each is a callsite of `places` from then on, and its text stays. */
const char *findings_frames_text(struct job *places, const struct job_frame *frames, uint32_t count,
                                 enum findings_address kind);
