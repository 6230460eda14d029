/* SPDX-License-Identifier: MIT */
/*
 * What a thread has seen: identities of events and stacks of return addresses, each found by hash in a few ns.
 *
 * Both are tables of numbers into an array (base/hash.h); they belong to one thread and take no lock. Only what is
 * seen for the first time allocates. Keys are part of a stream.
 * Threads: owner.  Hook-safe: yes, first sight aside.
 */
#pragma once

#include "base/hash.h"
#include "base/modules.h"
#include "job/job.h"
#include "session/stream.h"

struct session_entry {
    struct session_key key;
    uint32_t module;       /* of a region: base/modules, and … */
    uint64_t offset;
    uint32_t terminal[3];  /* by enum job_phase: the stream's number, GRAMMAR_NONE until used */
    struct job_count exclusive; /* spans with others inside: how many, and their time without those, ns */
    struct job_count polls;     /* calls that found nothing, which are no events: how many, ns in them */
};

struct session_keys {
    struct base_hash table;       /* counts the entries */
    struct session_entry *entries;
    uint32_t room;
    uint32_t *job_terminal;       /* of each of the stream's terminals: number in session.job … */
    uint32_t *reference_terminal; /* … and in the reference */
    uint32_t terminals, terminal_room;
};

struct session_callsite { uint32_t first, count; };

struct session_callsites {
    struct base_hash table;     /* counts the sites */
    struct session_callsite *sites;
    uint32_t room;
    void **addresses;           /* as captured: for the comparison */
    struct base_place *places;  /* valid even when the module is unloaded later */
    uint32_t frame_count, frame_room;
};

/* GRAMMAR_NONE when out of memory. */
uint32_t session_keys_find(struct session_keys *k, const struct session_key *key);
/* So too where it is new and there are `most`. */
uint32_t session_callsites_find(struct session_callsites *c, void *const *frames, uint32_t count, uint32_t most);
/* A library went. What was known of its addresses is found no more: another one may lie there. */
void session_keys_forget(struct session_keys *k);
void session_callsites_forget(struct session_callsites *c);
/* The stream's number of a terminal of the job that it has met before, by another address: one that is forgotten, of a
   library that is loaded twice, of code that is made at run time; GRAMMAR_NONE: it has not. */
uint32_t session_keys_again(const struct session_keys *k, uint32_t job_terminal);
/* A new terminal number of the stream. */
uint32_t session_keys_number(struct session_keys *k, uint32_t job_terminal, uint32_t reference_terminal);
void session_keys_close(struct session_keys *k);
void session_callsites_close(struct session_callsites *c);
