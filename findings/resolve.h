/* SPDX-License-Identifier: MIT */
/*
 * From addresses to source: module + offset, as a job stores it, to function, file and line.
 *
 *   struct report_resolver *r = report_resolver_create(job);
 *   const struct report_place *p = report_resolve(r, callsite, 0, REPORT_CALL);
 *
 * Works after the run and offline: what the job has (job/places.h); else opens the module that the job names, if it is
 * still the same build (build-id), and reads its DWARF, or separate debug information by build-id, else its symbols.
 * Nothing is fetched from a network.
 * What cannot be resolved keeps module and offset. Answers are cached; a first look-up in a module costs about a
 * millisecond, later ones about 10 us.
 *
 * Threads: owner.  Hook-safe: no.
 */
#ifndef PYTHIA_FINDINGS_RESOLVE_H
#define PYTHIA_FINDINGS_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"

struct report_resolver;

/* What an address is: a return address belongs to the call before it. A sample is of the function that is called, not
   of one that was inlined there; its line is the innermost one in that function's file: nobody looks for an operator in
   a library's header. */
enum report_address { REPORT_CALL, REPORT_ENTRY, REPORT_SAMPLE };

struct report_place {
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
struct report_resolver *report_resolver_create(const struct job *j);
void report_resolver_destroy(struct report_resolver *r); /* NULL is legal */

/* Frame `depth` (0: innermost) of a callsite. NULL: there is no such frame. Owned by the resolver. */
const struct report_place *report_resolve(struct report_resolver *r, uint32_t callsite, uint32_t depth,
                                          enum report_address kind);

/* Where a call on this path is for the program's people: the innermost line of a script, else the innermost frame. */
const struct report_place *report_resolve_call(struct report_resolver *r, uint32_t path);

/* Of an address of a module of the job, whatever callsite it is in. Owned by the resolver. */
const struct report_place *report_resolve_at(struct report_resolver *r, uint32_t module, uint64_t address,
                                             enum report_address kind);

/* Whether it only starts main or a thread; whether the module of that path is a runtime that calls the program's code:
   OpenMP's, ours. */
bool report_is_start(const struct report_place *p);
bool report_is_runtime(const char *module);
/* Whether a module is code of a script: its offsets are lines (base/modules.h). */
bool report_is_script(const struct job *j, uint32_t module);
/* What a module of that path interprets; NULL: nothing. */
const char *report_interpreter(const char *path);

/* Its function, short or in full; "module+0xoffset" where that is not known. One of report_text(). */
const char *report_function_at(const struct report_place *p, bool full);

/*
 * A callsite as one word without blanks, innermost frame first: "caller@file:line<caller@file:line…", where only a
 * symbol is known "symbol+0xwithin@module", where nothing is "module+0xoffset"; "-" for none. An interpreter is its
 * name and the last frame; where lines of a script are known they are all that is shown. Always ends in '\0'.
 */
void report_callsite_text(struct report_resolver *r, uint32_t callsite, enum report_address kind, char *text,
                          size_t size);

/* The same of frames that stand in no report: each is a callsite of `places` from then on, and its text stays. */
const char *report_frames_text(struct job *places, const struct job_frame *frames, uint32_t count,
                               enum report_address kind);

#endif
