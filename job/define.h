/* SPDX-License-Identifier: MIT */
/*
 * What a job is made of, defined once each: strings, modules, frames, callsites, communicators, and terminals, which
 * name them. Numbered as first seen, identified by content (intern.h): equal content, equal number.
 *
 *   terminal: kind, phase, function ──> string     callsite ──> frames ──> module ──> path, build-id     communicator
 *
 * Threads: owner (any for readers).  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "grammar/flat.h"

struct job;

enum job_kind { JOB_CALL, JOB_REGION, JOB_WORD /* of a text stream or another runtime */,
                JOB_NAMED /* begin or end of a region that the program named (named.h): without time, never a leaf */,
                JOB_KINDS };
enum job_phase { JOB_LEAF, JOB_OPEN, JOB_CLOSE };
/* Kind of an MPI call, for the report and for the oracle's "next of a kind". */
enum job_call_kind { JOB_NO_CALL_KIND, JOB_P2P, JOB_COMPLETION, JOB_PROBE, JOB_COLLECTIVE, JOB_ONESIDED, JOB_IO,
                     JOB_COMMUNICATOR, JOB_LIFE /* Init, Finalize, Abort */, JOB_OTHER, JOB_CALL_KINDS };
const char *job_call_kind_text(unsigned call_kind); /* "p2p", "completion", …; "other" for what is none */
/* The kind that people call by so many letters of `word`; JOB_NO_CALL_KIND: none, nor may "none" and "other" be asked
   for. */
unsigned job_call_kind_named(const char *word, size_t length);
enum job_peer_class { JOB_PEER_NONE, JOB_PEER_RANK, JOB_PEER_ANY, JOB_PEER_NULL, JOB_PEER_SELF, JOB_PEER_ROOT };

struct job_module { uint32_t path, build_id; /* strings; build-id in hexadecimal */ };
struct job_frame { uint32_t module; uint32_t reserved; uint64_t offset; }; /* offset: ELF virtual address in the module;
                                                                              of a return address for calls */
struct job_callsite { uint32_t first, count; }; /* frames, innermost first; for a region: the outlined function's
                                                   entry */
struct job_comm {
    uint32_t name; /* string: "world", "self", "world/split#0" */
    uint32_t size; /* of the first rank */
};

struct job_terminal {
    uint8_t kind, phase, call_kind, peer_class;
    uint8_t blocking; /* the call may wait */
    uint8_t reserved[3];
    uint32_t function; /* string: "MPI_Isend"; for regions "omp parallel"; for words the word, for names the name */
    uint32_t callsite; /* GRAMMAR_NONE without */
    uint32_t comm;     /* GRAMMAR_NONE without */
};

/* Intern: return the number, GRAMMAR_NONE when out of memory. Equal content, equal number. */
uint32_t job_string(struct job *j, const char *text);
uint32_t job_module(struct job *j, const char *path, const char *build_id);
uint32_t job_callsite(struct job *j, const struct job_frame *frames, uint32_t count);
uint32_t job_comm(struct job *j, const char *name, uint32_t size);
uint32_t job_terminal(struct job *j, const struct job_terminal *t);
/* Number of a terminal by content (as computed in another job), GRAMMAR_NONE when unknown. */
uint32_t job_find_terminal(const struct job *j, struct grammar_hash hash);
/* The same, forgiving: a call at the same innermost frame, else of the same function, communicator and place in order
   among equals, so that a rebuilt program or other outer frames still match. `from` is the job that `t` lives in. */
uint32_t job_match_terminal(const struct job *j, const struct job *from, uint32_t t);
/* Only by content or innermost frame: certain enough to need no other evidence. */
uint32_t job_match_frame(const struct job *j, const struct job *from, uint32_t t);
/* Whether two terminals are the same function, phase and communicator, wherever they are called. */
bool job_alike(const struct job *j, uint32_t a, const struct job *k, uint32_t b);

/* Numbers callsites in the order in which terminals first use them, GRAMMAR_NONE those that none uses; room for one
   more than there are. */
void job_number_sites(const struct job *j, uint32_t *number);
/* Whether it is MPI_Init or MPI_Init_thread: the time of a run is that after it. */
bool job_is_start(const struct job *j, uint32_t terminal);
/* A string's text, "" for GRAMMAR_NONE. */
const char *job_text(const struct job *j, uint32_t string);
const struct job_frame *job_innermost(const struct job *j, uint32_t callsite); /* NULL without */
/* What followed the program's name; whether that differs: then times are of other work. */
const char *job_arguments(const struct job *j);
bool job_other_arguments(const struct job *a, const struct job *b);
/* Whether it was recorded from a program whose file has this name, directories aside. */
bool job_is_of(const struct job *j, const char *program);
