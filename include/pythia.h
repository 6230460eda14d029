/* SPDX-License-Identifier: MIT */
/*
 * Pythia: an oracle for runtimes.
 *
 * A program that runs once can be recorded: each thing that its runtime does (a task of some kind, a message, a phase) is
 * an *event*, named by a word, with a gap since the event before it ended and a duration, both in ns. The stream of events
 * is folded, as it happens, into a small grammar. When the program runs again an oracle follows its position in that
 * grammar and tells what comes next, when, how long it will take and how sure that is.
 *
 *     pythia_recorder_t *r;                                    // the first run
 *     if (pythia_recorder_create(&r) == 0) {
 *         pythia_recorder_event(r, "solve", gap, duration);    // … for each event
 *         pythia_recorder_write(r, "app.pythia");              // `pythia report app.pythia` shows it to people
 *     }
 *     pythia_recorder_destroy(r);
 *
 *     pythia_oracle_t *o;                                      // a later run
 *     struct pythia_answer a;
 *     if (pythia_oracle_open("app.pythia", 0, 0, &o) == 0) {
 *         pythia_oracle_follow(o, "solve", gap, duration);     // … for each event
 *         if (pythia_oracle_predict(o, 1, &a) == 0)
 *             printf("%s in %.0f ns, %.0f %%\n", a.word, a.until_ns, 100 * a.probability);
 *     }
 *     pythia_oracle_close(o);
 *
 * One stream of events (a thread's, say) has one recorder or oracle; different ones may be used from different threads.
 *
 * Errors: functions that return int give 0 for success and a negative PYTHIA_E… for failure, which leaves the state as
 * it was; pythia_strerror() explains it. "No prediction" is an answer, a positive status of its own. Outputs are set on
 * success only. NULL is refused with PYTHIA_EINVAL, but every destroy and close takes it.
 */
#ifndef PYTHIA_H
#define PYTHIA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PYTHIA_API __attribute__((visibility("default")))

enum pythia_error {
    PYTHIA_ENOMEM = -1,   /* out of memory */
    PYTHIA_EINVAL = -2,   /* an argument is out of range */
    PYTHIA_EIO = -3,      /* a file could not be read or written */
    PYTHIA_EFORMAT = -4,  /* not what it should be: damaged, truncated or foreign */
    PYTHIA_EVERSION = -5, /* made by a version that this one does not know */
    PYTHIA_ELIMIT = -6    /* a configured limit was reached */
};

/* What a status means, in one line without a full stop. The string is static. Any value is legal.
   Threads: any.  Hook-safe: yes. */
PYTHIA_API const char *pythia_strerror(int error);

/* --- Recording --- */

typedef struct pythia_recorder pythia_recorder_t;

/* Starts an empty recording in *recorder, which the caller destroys. It takes at most 64 MiB: a longer stream goes on in
   a coarser form.
   Threads: any.  Hook-safe: no. */
PYTHIA_API int pythia_recorder_create(pythia_recorder_t **recorder);
PYTHIA_API void pythia_recorder_destroy(pythia_recorder_t *recorder);

/* Appends an event: `word` (copied when new; not empty) happened `gap_ns` after the event before it ended and took
   `duration_ns`. Returns 0, PYTHIA_ENOMEM or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes for words that were seen before. */
PYTHIA_API int pythia_recorder_event(pythia_recorder_t *recorder, const char *word, uint64_t gap_ns,
                                     uint64_t duration_ns);

/* Writes the recording so far as a job file with one stream (rank 0, thread 0); an old file is replaced at once or not at
   all. Recording may go on. Returns 0, PYTHIA_ENOMEM or PYTHIA_EIO.
   Threads: owner.  Hook-safe: no. */
PYTHIA_API int pythia_recorder_write(pythia_recorder_t *recorder, const char *path);

/* --- Predicting --- */

typedef struct pythia_oracle pythia_oracle_t;

struct pythia_answer {
    const char *word;            /* what is expected; owned by the oracle, valid as long as it is open */
    uint64_t distance;           /* events ahead, from 1 */
    double probability;          /* calibrated: of the answers given at 0.9, 9 in 10 are right */
    double until_ns;             /* from the end of the last event to the begin of this one; with standard deviation */
    double until_deviation_ns;
    double duration_ns;
    double duration_deviation_ns;
};

/* Opens an oracle that knows the stream of (rank, thread) in a job file, at the stream's begin. The caller closes it.
   Returns 0, PYTHIA_ENOMEM, PYTHIA_EIO, PYTHIA_EFORMAT, PYTHIA_EVERSION, or PYTHIA_EINVAL: no such stream.
   Threads: any.  Hook-safe: no. */
PYTHIA_API int pythia_oracle_open(const char *path, uint32_t rank, uint32_t thread, pythia_oracle_t **oracle);

/* The same with what a recorder has so far; they do not depend on each other afterwards. */
PYTHIA_API int pythia_oracle_open_recorder(pythia_recorder_t *recorder, pythia_oracle_t **oracle);
PYTHIA_API void pythia_oracle_close(pythia_oracle_t *oracle);

/* The stream's next event happened, as with pythia_recorder_event. A word that the recording does not have is followed,
   too: as something unknown. Returns 0 or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes, and so are the questions below. */
PYTHIA_API int pythia_oracle_follow(pythia_oracle_t *oracle, const char *word, uint64_t gap_ns, uint64_t duration_ns);

/* The event `distance` >= 1 ahead. Returns 0, or 1: no prediction. */
PYTHIA_API int pythia_oracle_predict(pythia_oracle_t *oracle, uint64_t distance, struct pythia_answer *answer);

/* The next occurrence of `word`, however far ahead. The first question for a word costs more than the later ones.
   Returns 0, or 1: none is in sight. */
PYTHIA_API int pythia_oracle_next(pythia_oracle_t *oracle, const char *word, struct pythia_answer *answer);

/* Events and ns that remain of the run, and the share of it that is done, 0 to 1. Returns 0, or 1: not known. Each output
   may be NULL. */
PYTHIA_API int pythia_oracle_remaining(pythia_oracle_t *oracle, double *events, double *ns, double *progress);

#ifdef __cplusplus
}
#endif

#endif
