/* SPDX-License-Identifier: MIT */
/*
 * The insides of the public interface for any runtime: words in, grammar and job file behind, answers out.
 *
 *   record.c   the recorder
 *   api.c      the oracle: opening, following, the questions
 *   words.c    words and terminals
 *   peers.c    peers
 *
 * Threads: owner.  Hook-safe: what follows and asks is, but for a new word.
 */
#pragma once

#include "job/follow.h"
#include "job/intern.h"
#include "oracle/oracle.h"
#include "oracle/peers.h"

struct pythia_recorder;
struct pythia_oracle;
/* What was recorded so far as a job of its own. 0 or a negative PYTHIA_E…. */
int api_recorder_job(const struct pythia_recorder *r, struct job **job);

/* --- Lending --- */

/*
 * An oracle that somebody else has follow a stream, and lends for questions: follow is refused, close does nothing.
 * `enter` is called before each question (false: it cannot be asked now) and `leave` after it, either way.
 */
struct api_lender {
    bool (*enter)(void *context);
    void (*leave)(void *context);
    void *context;
};
struct api_loan {
    struct api_lender lender;
    struct oracle *oracle;  /* must outlive the loan, as must the job */
    const struct job *job;  /* whose terminals the oracle has */
    uint32_t class_index, rank, thread; /* of the stream, in the job */
    struct job_follow *const *courses; /* where the stream is in its own, NULL until that is known */
};
/* 0 or PYTHIA_ENOMEM. The lender destroys what it lent. */
int api_lend(const struct api_loan *loan, struct pythia_oracle **oracle);
void api_lent_destroy(struct pythia_oracle *oracle); /* NULL is legal */

/* --- Words --- */

struct api_word { const char *text; uint32_t terminal; uint8_t with; /* recorded as a word with peers */ };

/*
 * Terminals below `count` are the recording's; a word that it does not have gets the next number when it is first seen.
 * The recording's are found by binary search, others by their hash: that allocates nothing but for a new word.
 */
struct api_words {
    const struct job *job;      /* NULL: no recording */
    struct api_word *word;    /* by text, then `with`, then terminal */
    uint32_t entries;
    char **names;             /* of calls and regions, as the report has them: "MPI_Isend@3" */
    uint32_t *site;           /* of callsites: their numbers in the report */
    uint32_t count;           /* terminals of the recording */
    struct job_table numbers; /* of the other words */
    char **others;              /* their texts, each its own: they never move */
    uint32_t other_count, other_room;
    uint8_t *set, *peer;        /* of terminals: all 0 between questions; whether they have peers */
    uint32_t set_room, peer_room;
};

int api_words_open(struct api_words *w, const struct job *job);
void api_words_close(struct api_words *w);
/* The terminal of a word, with a peer or without; where the recording has it only the other way, that. It is added
   where it is new; GRAMMAR_NONE: out of memory. */
uint32_t api_words_number(struct api_words *w, const char *text, bool with);
/* Number of a terminal's callsite as in the report; UINT32_MAX without. */
uint32_t api_words_callsite(const struct api_words *w, uint32_t terminal);
const char *api_words_text(const struct api_words *w, uint32_t terminal);
/* Marks (or clears) the terminals of a word in the set. Returns their number. */
uint32_t api_words_mark(struct api_words *w, const char *text, uint8_t value);

/* --- Peers --- */

struct api_peers {
    const struct job *job; /* NULL: no recording */
    uint32_t class_index, rank, thread;
    struct oracle_peers *learned;
    struct job_follow *courses; /* NULL: it follows no stream, or has no recording */
    struct job_follow *const *lent; /* somebody else's; NULL: its own */
    uint32_t turn;         /* events with peers, modulo a few: those that are judged where all is well */
};

/* `follows`: it will be told each event. */
int api_peers_open(struct api_peers *p, const struct job *job, uint32_t class_index, uint32_t rank, uint32_t thread,
                   bool follows);
void api_peers_close(struct api_peers *p);
/* After the oracle followed an event; `peer` -1: it has no peer. */
void api_peers_follow(struct api_peers *p, const struct oracle *o, uint32_t terminal, int64_t peer);
/* Where the stream is in its courses, NULL: not known. */
static inline struct job_follow *api_peers_courses(const struct api_peers *p)
{
    return p->lent ? *p->lent : p->courses;
}
/* The peer of an event that is answered for, and the chance that it is that one. 1: not known. */
int api_peers_ask(const struct api_peers *p, const struct oracle_answer *a, int64_t *peer, double *chance);
