/* SPDX-License-Identifier: MIT */
/*
 * Pythia: an oracle for runtimes.
 *
 * A program that runs once can be recorded: each thing that its runtime does (a task of some kind, a message, a phase)
 * is an *event*, named by a word, with a gap since the event before it ended and a duration, both in ns. The stream of
 * events is folded, as it happens, into a small grammar. When the program runs again an oracle follows its position in
 * that grammar and tells what comes next, when, how long it will take and how sure that is. It goes on learning: what
 * the run does that the recording does not know is predicted, too, from its second time on.
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
 * success only. NULL is refused with PYTHIA_EINVAL, but every destroy and close takes it. With PYTHIA_EIO errno says
 * why.
 *
 * Threads: any: from all of them at once. owner: one recorder, one oracle is used by one thread at a time.
 * Hook-safe: yes: it allocates nothing and makes no system call, so that it can stand where every microsecond counts,
 * and takes no lock, but where an oracle looks something up in a recording for the first time.
 */
#ifndef PYTHIA_H
#define PYTHIA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PYTHIA_API __attribute__((visibility("default")))
/* What a program may call that must also run without Pythia (PYTHIA_OPTIONAL, see "Callbacks"): NULL there. */
#ifdef PYTHIA_OPTIONAL
#define PYTHIA_CALLBACK PYTHIA_API __attribute__((weak))
#else
#define PYTHIA_CALLBACK PYTHIA_API
#endif

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

/* Starts an empty recording in *recorder, which the caller destroys. It takes at most 64 MiB: a longer stream goes on
   in a coarser form. Returns 0, PYTHIA_ENOMEM or PYTHIA_EINVAL.
   Threads: any.  Hook-safe: no. */
PYTHIA_API int pythia_recorder_create(pythia_recorder_t **recorder);

/* Frees it and all that it recorded; files that it wrote stay. NULL is legal.
   Threads: owner.  Hook-safe: no. */
PYTHIA_API void pythia_recorder_destroy(pythia_recorder_t *recorder);

/* Appends an event: `word` (copied when new; not empty) happened `gap_ns` after the event before it ended and took
   `duration_ns`. Returns 0, PYTHIA_ENOMEM or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes for words that were seen before. */
PYTHIA_API int pythia_recorder_event(pythia_recorder_t *recorder, const char *word, uint64_t gap_ns,
                                     uint64_t duration_ns);

/* The same of an event with a peer: the rank that a message goes to, the worker that a task comes from, whatever has
   a number, below 2^31. That a word has a peer is part of what it is (with and without, it is two events); who it
   is, is not: the recording keeps with whom each place in it has to do. Same returns.
   Threads: owner.  Hook-safe: as pythia_recorder_event. */
PYTHIA_API int pythia_recorder_message(pythia_recorder_t *recorder, const char *word, uint64_t gap_ns,
                                       uint64_t duration_ns, uint32_t peer);

/* Another stream of the same recording, of (rank, thread), in *stream: a recorder to append to, which belongs to this
   one and ends with it; the same numbers give the same stream, and those of rank 0, thread 0 are the recorder itself.
   Each stream is one thread's at a time, and takes as much memory as a recorder. rank and thread are below 2^20.
   Returns 0, PYTHIA_ENOMEM or PYTHIA_EINVAL.
   Threads: owner of the recorder, whatever other threads append to its streams.  Hook-safe: no. */
PYTHIA_API int pythia_recorder_stream(pythia_recorder_t *recorder, uint32_t rank, uint32_t thread,
                                      pythia_recorder_t **stream);

/* What the job is called in reports: the program's name or path, and its command line (both copied; NULL: as before).
   Returns 0, PYTHIA_ENOMEM or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: no. */
PYTHIA_API int pythia_recorder_name(pythia_recorder_t *recorder, const char *program, const char *arguments);

/* Writes the recording so far, of all streams that have an event, as a job file; an old file is replaced at once or not
   at all. Recording may go on. Returns 0, PYTHIA_ENOMEM, PYTHIA_EINVAL, or PYTHIA_EIO: errno says why.
   Threads: owner, while nobody appends to any of its streams.  Hook-safe: no. */
PYTHIA_API int pythia_recorder_write(pythia_recorder_t *recorder, const char *path);

/* --- Predicting --- */

typedef struct pythia_oracle pythia_oracle_t;

/* An answer is that of the oracle's state after the last event followed. What it cannot tell, it does not: the question
   then returns 1, or a time is below 0. */
struct pythia_answer {
    const char *word;            /* what is expected; owned by the oracle, valid as long as it is open */
    uint64_t distance;           /* events ahead, from 1 */
    double probability;          /* calibrated: of the answers given at 0.9, 9 in 10 are right */
    /* from the end of the last event to the begin of this one; with its deviation: the root mean square of how far off
       such answers have been in this run, before that as recorded for independent gaps */
    double until_ns;
    double until_deviation_ns;
    /* mean in this context, rescaled by how fast this run has been; with its deviation, the same */
    double duration_ns;
    double duration_deviation_ns;
    /* 8 times of 10 it begins between these: 1 of 10 earlier, 1 of 10 later … */
    double until_low_ns, until_high_ns;
    /* … and takes so long; calibrated by the answers given before, below 0: not known */
    double duration_low_ns, duration_high_ns;
    uint32_t callsite;           /* number of its call in `pythia report`, "MPI_Send@3"; UINT32_MAX: it has none */
};

/* Opens an oracle that knows the stream of (rank, thread) in a job file, at the stream's begin. The caller closes it.
   Only what that stream needs is read; its times and peers when the run comes to them: "Hook-safe: yes" below is but
   for that (a lock, a read of some KiB: 50 us). The file stays open until then, and may be replaced meanwhile (by
   rename, as Pythia does). What turns out to be damaged then is as if it were not known.
   Returns 0, PYTHIA_ENOMEM, PYTHIA_EIO, PYTHIA_EFORMAT, PYTHIA_EVERSION, or PYTHIA_EINVAL: no such stream, or NULL.
   Threads: any.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_oracle_open(const char *path, uint32_t rank, uint32_t thread, pythia_oracle_t **oracle);

/* The same with what a recorder has so far; they do not depend on each other afterwards. The caller closes the oracle.
   Returns 0, PYTHIA_ENOMEM or PYTHIA_EINVAL.
   Threads: owner of the recorder.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_oracle_open_recorder(pythia_recorder_t *recorder, pythia_oracle_t **oracle);

/* An oracle without any recording: it knows only what this run shows it, and predicts that from its second time on. The
   caller closes it. Returns 0, PYTHIA_ENOMEM or PYTHIA_EINVAL.
   Threads: any.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_oracle_create(pythia_oracle_t **oracle);

/* Frees it, and the words that its answers point to. NULL is legal.
   Threads: owner.  Hook-safe: no. */
PYTHIA_CALLBACK void pythia_oracle_close(pythia_oracle_t *oracle);

/* The stream's next event happened, as with pythia_recorder_event: `word` (copied when new; not empty), `gap_ns` after
   the event before it ended, for `duration_ns`. A word that the recording does not have is followed, too, and predicted
   once this run has shown what comes after what. Returns 0, PYTHIA_EINVAL, or PYTHIA_ENOMEM for a new word.
   Threads: owner.  Hook-safe: yes for words that the recording has or that were seen before. */
PYTHIA_CALLBACK int pythia_oracle_follow(pythia_oracle_t *oracle, const char *word, uint64_t gap_ns,
                                         uint64_t duration_ns);

/* The same of an event with a peer, as with pythia_recorder_message: `peer` below 2^31. Same returns.
   Threads: owner.  Hook-safe: as pythia_oracle_follow. */
PYTHIA_CALLBACK int pythia_oracle_follow_message(pythia_oracle_t *oracle, const char *word, uint64_t gap_ns,
                                            uint64_t duration_ns, uint32_t peer);

/* The event `distance` >= 1 ahead. *answer is the caller's, its word the oracle's. Returns 0, 1: no prediction, or
   PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes. */
PYTHIA_CALLBACK int pythia_oracle_predict(pythia_oracle_t *oracle, uint64_t distance, struct pythia_answer *answer);

/* The next occurrence of `word`, however far ahead. The first question for a word costs more than the later ones.
   Where only this run knows what follows, the next 64 events are looked at. *answer is the caller's, its word the
   oracle's. Returns 0, 1: none is in sight, or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes. */
PYTHIA_CALLBACK int pythia_oracle_next(pythia_oracle_t *oracle, const char *word, struct pythia_answer *answer);

/* The next occurrence of any of `count` words: the next message, say, whichever it is. The words are only read. Costs
   and returns the same as pythia_oracle_next.
   Threads: owner.  Hook-safe: yes. */
PYTHIA_CALLBACK int pythia_oracle_next_of(pythia_oracle_t *oracle, const char *const *words, uint32_t count,
                                     struct pythia_answer *answer);

/* With whom the next event that has a peer, however far ahead, has to do: *peer, as the recording has it (of a job
   file of MPI: a rank in the call's communicator) or as this run shows it, whichever was right more often lately.
   *answer is that event, as with pythia_oracle_next; its probability is that of the event with that peer. Both are
   the caller's.
   Returns 0, 1: no such event is in sight, or its peer is anybody's guess, or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes. */
PYTHIA_CALLBACK int pythia_oracle_next_peer(pythia_oracle_t *oracle, uint32_t *peer, struct pythia_answer *answer);

/* What a message or collective has beside its name: the rank in its communicator or the root, as the recording has it;
   its bytes on this rank; its tag, of what completes the number of what is completed. */
enum pythia_value { PYTHIA_VALUE_PEER, PYTHIA_VALUE_BYTES, PYTHIA_VALUE_TAG };
/* That of the event `distance` ahead, 1 to PYTHIA_VALUE_AHEAD, which is *answer; its probability is that of the event
   with that value. As recorded of this stream: where it has no one value at its place, by the order in which the
   recording's followed each other. Takes as long as `distance` predictions. Returns 0, 1: there is none, or it is not
   known, or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes. */
enum { PYTHIA_VALUE_AHEAD = 4096 };
PYTHIA_CALLBACK int pythia_oracle_value(pythia_oracle_t *oracle, uint64_t distance, enum pythia_value what,
                                        int64_t *value, struct pythia_answer *answer);

/* Events and ns that remain of the run, and the share of it that is done, 0 to 1. Each output may be NULL. Returns 0,
   1: not known, as in a run that is longer than recorded, or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes. */
PYTHIA_CALLBACK int pythia_oracle_remaining(pythia_oracle_t *oracle, double *events, double *ns, double *progress);

/* Events and ns until the innermost loop around the position ends. Each output may be NULL. Returns 0, 1: not in a
   loop, or not known, or PYTHIA_EINVAL.
   Threads: owner.  Hook-safe: yes. */
PYTHIA_CALLBACK int pythia_oracle_loop(pythia_oracle_t *oracle, double *events, double *ns);

/* --- Questions from within: what the run does next, asked by the program itself ---
 *
 * In libpythia_pmpi and libpythia_omp; PYTHIA_OPTIONAL as below.
 *
 *     pythia_oracle_t *self = pythia_oracle_self ? pythia_oracle_self() : NULL;
 *     const char *const waits[] = { "completion", "collective" };
 *     struct pythia_answer a;
 *     if (self && pythia_oracle_next_of(self, waits, 2, &a) == 0 && a.duration_low_ns > 2e6)
 *         …                                            // in 9 of 10 cases there are 2 ms for something else
 *
 * Words are what the report says: a function ("MPI_Wait"), a call ("MPI_Wait@12"), a kind of calls (p2p, completion,
 * probe, collective, onesided, io, communicator, life), "region" for parallel regions, "solve{" and "solve}" for begin
 * and end of a region by name. Answers name the function, and the call by its number. In a PRE callback of a call, that
 * call is the event at distance 1. */

/* The oracle that follows this thread in a predicted run, lent: it follows on its own (pythia_oracle_follow is
   refused), close does nothing, and it ends with MPI_Finalize. NULL where nothing is predicted, and before the thread's
   first MPI call or parallel region.
   Threads: any; what it returns is for this one.  Hook-safe: yes, but for a thread's first question. */
PYTHIA_CALLBACK pythia_oracle_t *pythia_oracle_self(void);

/* When the innermost region of that name that this thread has open (pythia_region.h; NULL: any) is expected to end: so
   many ns, from now on, and between which two with a chance of 80 % (below 0: not known yet). Each may be NULL. Returns
   0, 1 where nothing is known: no predicted run, no such region, one that neither recording nor run has seen end.
   Threads: any, about itself.  Hook-safe: yes, but for a thread's first question. */
PYTHIA_CALLBACK int pythia_region_remaining(const char *name, double *ns, double *low_ns, double *high_ns);

/* When this thread next waits for others in a call for at least so long, as recorded at this place: in so many ns, for
   so many ns; what is above the shortest of that call on all ranks is taken for waiting, that for transfer. The
   probability is that such a call comes and waits so long. Room for a checkpoint, a compression, a lent core. Each may
   be NULL. Returns 0, 1: none is in sight (of the calls that ever waited so long the next one, and 512 events after
   it), or nothing is predicted.
   Threads: any, about itself.  Hook-safe: yes, but for a thread's first question. */
PYTHIA_CALLBACK int pythia_next_wait(uint64_t at_least_ns, double *in_ns, double *for_ns, double *probability);

/* --- The job while it runs, asked by the program itself: a thread that monitors ---
 *
 * In libpythia_pmpi and libpythia_omp; PYTHIA_OPTIONAL as below. What `pythia watch` shows, of the ranks on this node.
 * Each call reads a file of 135 KiB for each of them: nothing for a hot loop. */

/* Ranks that this process's rank waits for at this moment, in a blocking call of the thread that began MPI. Returns how
   many (0: none, or not known); the first `count` of them go to `ranks`, which may be NULL.
   Threads: any.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_job_waiting_for(uint32_t *ranks, uint32_t count);
/* Of a predicted run: seconds until the rank with most left has ended; between which two that should be with a chance
   of 80 %, by how far ends that were foretold before differ from this one (below 0: there were too few); and how much
   of its time is over, 0 to 1. Each may be NULL. Returns 0, 1 where nothing is known (PYTHIA_BOARD=no, no run under
   Pythia, a run that is longer than the recorded one), or PYTHIA_ENOMEM.
   Threads: any.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_job_remaining(double *seconds, double *low, double *high, double *progress);
/* Time outside MPI calls over all time so far, from the end of MPI_Init on, and its mean over the ranks' largest, 0 to
   1: MPI efficiency and load balance, as a report has them. Each may be NULL. Returns 0, 1 where nothing is known, or
   PYTHIA_ENOMEM.
   Threads: any.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_job_efficiency(double *mpi, double *load_balance);

/* --- Callbacks: before and after MPI calls ---
 *
 * In libpythia_pmpi: for the program, or for a plugin that PYTHIA_PLUGIN names. They are called while a run is recorded
 * or predicted, before (PYTHIA_PRE) and after (PYTHIA_POST) the call into the MPI library, in the thread that makes it.
 * A PRE callback stands at the end of a CPU burst, a POST callback at the begin of the next one.
 *
 *     static void show(const struct pythia_record *r, void *data)
 *     {
 *         fprintf(data, "%s of %lld bytes: %llu ns\n", r->call, (long long)r->bytes, (unsigned long
 * long)r->elapsed_ns);
 *     }
 *     int pythia_plugin_open(uint32_t version, uint32_t rank)   // a plugin's entry point
 *     {
 *         return version == PYTHIA_PLUGIN_VERSION ? pythia_callback_register("p2p", PYTHIA_POST, show, stderr) : 1;
 *     }
 *
 * What a callback takes is in no gap and no duration (the report counts it as Pythia's cost). It may call MPI: such
 * calls are not recorded and have no callbacks. It must not change what the program sees, nor leave by longjmp or
 * exception.
 *
 * A program that must also run without Pythia defines PYTHIA_OPTIONAL before it includes this header, and calls these
 * functions only `if (pythia_callback_register)`. */

enum pythia_phase { PYTHIA_PRE = 1, PYTHIA_POST = 2 };

/* Ranks that are none, in pythia_record.peer. */
enum pythia_peer { PYTHIA_PEER_ANY = -1, PYTHIA_PEER_NULL = -2, PYTHIA_PEER_NONE = -3 };

/* Valid, strings included, during the callback only. */
struct pythia_record {
    uint32_t size;            /* of this structure; later versions add at its end */
    uint32_t phase;           /* enum pythia_phase */
    /* sequence number of the event in its thread, from 0; PRE and POST of a call have the same */
    uint64_t id;
    const char *call;         /* "MPI_Send", in every language */
    union {
        const char *call_kind; /* p2p, completion, probe, collective, onesided, io, communicator or life */
        const char *call_class; /* the same, by its older name */
    };
    const char *communicator; /* "world", "world/split#0"; "" without */
    const void *from;         /* return address into the program */
    uint32_t callsite;        /* number in its thread, by frames (PYTHIA_DEPTH), in the order of first calls */
    uint32_t rank;            /* of this process in the job */
    uint32_t thread;          /* number of the stream in the process; the first is 0 */
    uint32_t happened;        /* POST: 0 for a poll that found nothing, which is no event */
    int64_t peer;             /* rank in the communicator, or the root; POST of a receive: the actual source */
    int64_t tag;              /* tag, or number or index of what was completed; -1 without */
    int64_t count;            /* elements transferred, of … */
    int64_t element_size;     /* … so many bytes each; 1 where elements differ or are not known */
    int64_t bytes;            /* count * element_size; POST of a receive: as received. 0 where nothing is transferred,
                                 and in PRE where it is not known yet: of derived datatypes and arrays of counts */
    uint64_t time_ns;         /* now, by a clock that never goes back */
    uint64_t elapsed_ns;      /* PRE: the CPU burst since the event before; POST: the call */
    const void *context;      /* for pythia_sum_add() */
};

typedef void (*pythia_callback_t)(const struct pythia_record *record, void *data);

/* Calls `callback` with `data` for `what`: a function ("MPI_Send"), a kind ("p2p", as above) or "all"; `phases`:
   PYTHIA_PRE, PYTHIA_POST or both, or-ed. `what` is only read, `data` only handed on. Callbacks of one call follow one
   another as they were registered. Legal at any time, also before MPI_Init. Returns 0, PYTHIA_EINVAL (no such function
   or kind in this MPI, no such phase), PYTHIA_ELIMIT (64 are registered).
   Threads: any.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_callback_register(const char *what, int phases, pythia_callback_t callback, void *data);

/* Ends all registrations of this callback with this data. It may still be running in another thread. Returns 0 or
   PYTHIA_EINVAL: there is none.
   Threads: any.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_callback_remove(pythia_callback_t callback, void *data);

/* Sums by callsite, in the job file and in `pythia report --view callsites`: what callbacks count beside the time.
   Returns the number (>= 0) of the sum `name` (copied), the same for the same name; PYTHIA_EINVAL: empty, or longer
   than 63 bytes; PYTHIA_ELIMIT: there are 8 others.
   Threads: any.  Hook-safe: no. */
PYTHIA_CALLBACK int pythia_sum_define(const char *name);

/* Adds one sample, `value` in whatever unit, to a sum at the record's callsite. A number that pythia_sum_define did not
   give is ignored. Only recorded runs keep sums.
   Threads: that of the callback.  Hook-safe: yes. */
PYTHIA_CALLBACK void pythia_sum_add(const struct pythia_record *record, int sum, uint64_t value);

/* --- Places: where the next task or team of this thread runs ---
 *
 * In libpythia_omp and libpythia_pmpi, for programs with GNU OpenMP; PYTHIA_OPTIONAL as above.
 *
 *     if (pythia_affinity_next_task)
 *         pythia_affinity_next_task(PYTHIA_AFFINITY_DATA, (uintptr_t)&block[i], 0);
 *     #pragma omp task
 *     work(block[i]);
 *
 * A thread: that processor, of those that the process may use, in the machine's order. A node: all processors of that
 * NUMA node. Data: the node where the page at that address lives, the first one where that is not known. Numbers beyond
 * the last count on from the first (modulo). Of a team, thread i gets the processor `value` + i; nodes and data are for
 * all.
 *
 * `strict` not 0: bound there while it runs, then back. 0, a hint: moved there only within what its thread may use
 * anyway. The thread that runs the task goes there and comes back: two system calls, nothing for tasks of a few us. A
 * wish is for the next task (team) that this thread creates (enters) while a run is recorded or predicted; such a task
 * is not run at once by Pythia. PYTHIA_AFFINITY_NONE takes a wish back. Where the system does not let threads be bound
 * nothing happens. */
enum pythia_affinity { PYTHIA_AFFINITY_NONE, PYTHIA_AFFINITY_THREAD, PYTHIA_AFFINITY_NODE, PYTHIA_AFFINITY_DATA };

/* A wish for this thread's next task, next team. `value`: number of the processor or the node, or an address, which is
   not read. Both return 0, or PYTHIA_EINVAL: no such kind.
   Threads: any.  Hook-safe: yes. */
PYTHIA_CALLBACK int pythia_affinity_next_task(int kind, uintptr_t value, int strict);
PYTHIA_CALLBACK int pythia_affinity_next_team(int kind, uintptr_t value, int strict);

/* What a plugin defines: Pythia calls it, on each rank, when recording or predicting begins. `version`: the one that
   this Pythia has; `rank`: of this process in the job. It returns 0; with another value the plugin is not used, which
   is said.
   Threads: the one that calls MPI_Init.  Hook-safe: no need, it stands in no call of the program. */
#define PYTHIA_PLUGIN_VERSION 1
PYTHIA_API int pythia_plugin_open(uint32_t version, uint32_t rank);

/* The same before the job file is written; a plugin may do without.
   Threads: the one that calls MPI_Finalize.  Hook-safe: no need. */
PYTHIA_API void pythia_plugin_close(void);

#ifdef __cplusplus
}
#endif

#endif
