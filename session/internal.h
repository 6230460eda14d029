/* SPDX-License-Identifier: MIT */
/*
 * What the session's files know of each other: five groups, and whom the files of each may call, which
 * tests/tool/house.test looks at.
 *
 *   process                       process.c state, hooks, threads    clock.c one clock for a job
 *   stream -> process ask         stream.c spans to events    append.h an event gets in    named.c regions by name
 *             notes.c, timeline.c, flow.c, hops.c, starts.c, sums.c what is noted beside the events
 *             keys.c identity to terminal    define.c definitions of the job    site.c, memo.h whence a call comes
 *             thread.c whose stream is whose    control.c pause, reset    freeze.c as a part of a job
 *   ask -> process stream         ask.c hooks' questions    self.c, foretold.c the program's    peers.c who comes next
 *             predict.c the reference, each stream's oracle    progress.c the live line
 *   life -> process stream ask tree      life.c start, finish    choose.c mode, paths    publish.c the job file
 *             checkpoint.c, part.c, signals.c, ends.c what a run that dies leaves    summary.c    copies.c
 *             samples.c where threads compute    machine.c, binding.c, delay.c, took.c what the run had and cost
 *   tree -> process stream life   tree.c the processes of a script    exec.c, end.c how one begins and ends
 *
 * Circles: an event is followed by its stream's oracle, and who asks that holds the stream; an end of a process ends
 * its session, which says in the tree whose the file is.
 *
 * `session` is one per process. A stream belongs to its thread; the list of streams, the job of definitions and the
 * reference's indices are guarded by `session.lock`, which hooks take at first sight of something only.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/hot.h"
#include "base/options.h"
#include "inside/mark.h"
#include "session/ask.h"
#include "session/flow.h"
#include "session/hops.h"
#include "session/keys.h"
#include "session/life.h"
#include "session/named.h"
#include "session/peers.h"
#include "session/starts.h"
#include "session/stream.h"
#include "session/timeline.h"

/* A span that is open on a stream. */
struct session_open {
    struct base_frame frame; /* of its hook */
    void *owner;             /* the hook's */
    uint64_t begin;          /* ns */
    uint64_t inside;         /* ns, in spans inside this one */
    uint64_t serial;
    uint32_t entry;          /* of its key */
    uint32_t path;           /* of the call, GRAMMAR_NONE: not known */
    uint32_t terminal;       /* with nothing inside; GRAMMAR_NONE: not known yet */
    bool opened;             /* an inner span made this one OPEN … CLOSE */
};

struct session_stream {
    /* What an event like the last one from its place touches, together: two lines of cache. */
    _Atomic bool busy;             /* its thread is appending; see stream.c */
    _Atomic uint32_t held;         /* a futex; 1: the checkpoint reads it, its thread waits before it appends */
    uint32_t open_count;           /* of `open` */
    uint32_t context;              /* of `named`: what is open now; 0: nothing */
    uint64_t last;                 /* ns; end of the last event */
    uint64_t call_ns;              /* exclusive */
    uint64_t events;
    _Atomic uint64_t look_at;      /* the next event with more to do: sample_at; 0, predicted or asked about */
    struct grammar *grammar;       /* record mode, and predict mode with --update */
    struct callsite_cache *sites;  /* of site.c: what its thread has on its stack */
    struct session_timeline timeline; /* a recording's */
    struct session_hops hops;      /* a recording's */
    uint64_t opening_ns;           /* in the oracle, for spans that were just opened: not yet left out */
    struct session_stream *next;   /* of a finished session; guarded by session.lock */
    uint64_t quick_to;             /* events up to this may be followed quickly; 0: none */
    uint64_t progress_at;          /* ns: when to note progress again; UINT64_MAX: never */
    struct oracle *oracle;         /* predict mode; NULL where the reference has nothing for this stream */
    struct session_keys keys;
    struct session_callsites callsites;
    struct session_open *open;     /* innermost last; the thread's own: nobody else reads it */
    uint32_t open_room;
    struct session_named *named;   /* NULL: it has met none */
    uint64_t serial;               /* of the span that was opened last */
    uint64_t left;                 /* calls and spans that were left without an end */
    uint64_t anew;                 /* calls that were looked at though they might have been like the last one there */
    uint64_t begin;                /* ns */
    uint64_t polls;                /* that found nothing */
    uint64_t polled_ns, polled_until, polled_at; /* in polls that found nothing, since that many events */
    uint64_t region_ns;            /* exclusive, as call_ns */
    uint64_t adopted_calls;        /* call_ns when its thread got it */
    struct job_threads threads;    /* of the teams of its regions */
    uint64_t skipped_ns;           /* in callbacks: no part of the stream's time */
    uint64_t followed_ns;          /* in the oracle: the same */
    uint64_t idle_ns;              /* between threads: the same */
    bool predicts;                 /* predict mode */
    struct session_sums *sums;     /* by entry of keys; NULL until something is counted */
    uint32_t sum_room;
    struct session_flows flows;    /* a recording's */
    struct session_callsites paths;
    uint32_t *path_number;         /* of each path: the callsite of session.job */
    uint32_t path_room;
    struct session_starts_seen starts_seen;
    uint64_t cost_samples, cost_sum; /* ns of events that showed nothing new */
    uint64_t sample_at;            /* the next event of them, or a later one */
    _Atomic uint64_t first_ns;     /* in what was met for the first time: its thread alone adds, a checkpoint reads */
    uint64_t first_at;             /* the event that met it */
    uint64_t passed;               /* events before the last reset, which are not there any more */
    uint64_t actions;
    struct session_peers peers;    /* predict mode */
    struct pythia_oracle *lent;    /* predict mode: what the program asks (self.h); NULL: it has not yet */
    uint8_t *wanted;               /* the same (foretold.c): of terminals of the reference, all 0 between questions */
    double gain_ns;
    uint64_t paused_seen;          /* of session.paused_ns, … */
    uint32_t control_seen, resets_seen, unloads_seen; /* … session.control, session.resets, session_unloads */
    struct watch_thread *place;    /* on the board, of a thread that is not the first one; NULL: none */
    struct inside_mark inside;     /* a recording's: who asks what its events are */
    uint32_t thread;
};

enum { SESSION_STREAMS = 65536 /* a multiple of 64: so many threads at once */,
       SESSION_PATHS = 16384 /* of a stream */ };

/* A grammar of the reference: of the members of a class that have the same exponents. */
struct session_role {
    uint32_t class_index;
    uint32_t rank, thread; /* of one of them */
    const struct grammar_flat *grammar;
    struct oracle_index *index;
};

enum { SESSION_MODULES = 256 }; /* later ones are looked up each time */
struct session {
    _Atomic bool paused;           /* by session_pause() */
    _Atomic uint32_t control;      /* rises with each resume and reset: streams look what is new */
    _Atomic uint32_t resets;
    _Atomic uint64_t paused_ns;    /* in all pauses that have ended */
    pthread_mutex_t lock;
    struct pythia_options options;
    uint32_t records;              /* kinds, as session_records() gives them */
    struct session_world world;
    struct session_stream **streams; /* guarded by lock; by thread number, a place each */
    uint32_t stream_count, stream_room;
    uint64_t free_places[SESSION_STREAMS / 64]; /* guarded by lock: given back by threads that ended … */
    _Atomic size_t memory;          /* bytes that grammars may still take */
    uint32_t free_from;             /* … none in the words before this one */
    struct session_stream *retired; /* of finished sessions: a thread may still be between begin and end */
    uint32_t generation;            /* counts sessions from 1; set before the mode */
    struct job *job;                /* guarded by lock: definitions as first seen */
    uint32_t module[SESSION_MODULES]; /* guarded by lock: base/modules' numbers as the job has them, + 1; 0: not yet */
    struct job *reference;          /* predict mode; read-only */
    struct session_recording { uint64_t start_time, wall_ns; uint32_t runs; } predicted_from; /* which recording */
    struct session_role *role;      /* grammars of the reference, as they are first wanted; guarded by lock */
    uint32_t role_count, role_room;
    bool *unusable;                 /* of each class of the reference: it was wanted, and there is none */
    bool incomplete;                /* guarded by lock: a stream to be folded into the profile could not be recorded */
    bool checks_peers;              /* asks for the peer of each event, not of a sample: PYTHIA_VERBOSE=2 */
    bool regions;                   /* guarded by lock: a parallel region was seen */
    uint64_t left;                  /* set by finish: session_left() */
    _Atomic uint64_t begin;         /* ns; of the recording: a reset moves it */
    _Atomic uint64_t before;        /* ns from there on that are no part of the run's time: MPI_Init */
    _Atomic uint32_t team;          /* the program's by default, as its own threads were told; 0: not asked */
    uint64_t energy;                /* uJ of the node at the begin */
    uint64_t own_ns;                /* processor time of start */
    uint64_t start_time;
    pid_t process;                 /* a forked child records nothing */
};

extern struct session session;

/* control.c: a stream's thread does what session.control has asked for since it looked last */
void session_control_stream(struct session_stream *s);
/* At the end, under session.lock: its thread may have met no call since a reset. */
void session_control_finish(struct session_stream *s);
/* Bits of the kinds in a list (1 << enum job_call_kind, 1 << SESSION_REGIONS). 0, or -1 with the reason in `why`. */
int session_kinds(const struct pythia_options *o, uint32_t *mask, char *why, size_t size);

/* thread.c: what a thread knows, in base_here: its stream (none where it is left out), of which session (`generation`),
   and `epoch`: base_hot's when it saw that nothing keeps it from its stream. */
void session_own_open(void); /* this thread's first event in this session */
void session_threads_start(void);
void session_threads_retire(void); /* under session.lock, when no thread can be in a stream */
struct grammar *session_stream_grammar(uint32_t thread); /* an empty one for that thread; NULL when out of memory */
/* base_hot.epoch rises after the mode, a pause, session.generation or session.control has changed: a thread looks at
   all of these only where this is not what it saw last. */
static inline void session_epoch_next(void)
{
    atomic_fetch_add(&base_hot.epoch, 1);
}

/* stream.c */
/* Spans around what comes next get their opening events. */
void session_open_around(struct session_stream *s);
void session_stream_close_all(struct session_stream *s); /* its thread ends: so do the spans that it left open */
/* Time that is no part of the stream passed, inside its innermost span if there is one. */
void session_stream_skip(struct session_stream *s, uint64_t ns);
/* What it notes beside its events begins anew. */
bool session_stream_timeline(struct session_stream *s, uint64_t begin); /* false: out of memory, it goes on */
void session_stream_wait(struct session_stream *s); /* lets go of it until it is no longer held */

static inline void stream_release(struct session_stream *s)
{
    atomic_store_explicit(&s->busy, false, memory_order_release);
}

/* Finish and checkpoint must not read a stream that its thread is writing: the writer says so and then looks at the
   mode (and whether it is held) again; they set that, make every thread pass a barrier and then wait. The hook pays two
   plain stores. */
static inline bool stream_take(struct session_stream *s)
{
    for (;;) {
        atomic_store_explicit(&s->busy, true, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        if (__builtin_expect(!atomic_load_explicit(&s->held, memory_order_acquire), 1))
            return session_mode() != SESSION_OFF;
        session_stream_wait(s);
    }
}

/* stream.c: the first time, under the lock. */
uint32_t session_terminal_define(struct session_stream *s, uint32_t entry, enum job_phase phase);
/* The stream's number of an entry's terminal; the first time it is defined, under the lock. */
static inline uint32_t session_terminal_of(struct session_stream *s, uint32_t entry, enum job_phase phase)
{
    uint32_t terminal = s->keys.entries[entry].terminal[phase];
    return __builtin_expect(terminal == GRAMMAR_NONE, 0) ? session_terminal_define(s, entry, phase) : terminal;
}

/* A clock that never runs backwards within a stream keeps gaps from wrapping around. */
static inline uint64_t session_now(const struct session_stream *s)
{
    uint64_t now = base_clock_now();
    return now < s->last ? s->last : now;
}

/* Whether this thread is inside an append. Safe in a signal handler. */
bool session_stream_busy_here(void);
/* freeze.c: what a stream has recorded, terminals numbered as in session.job. */
struct session_frozen {
    struct grammar_flat *grammar; /* NULL: out of memory */
    struct job_stream stream;
    struct job_threads threads;   /* ranks 0: it entered no region */
    struct session_flows flows;
    struct session_hops hops;
    struct session_timeline timeline;
    struct job_starts starts;
    struct job_named *named;      /* rows */
    uint32_t named_count;
    uint32_t *terminal;           /* of each of the stream's terminals: the session's */
};
/* For who holds the stream, or when no thread can be in it. False when out of memory: nothing is to be freed. */
bool session_stream_freeze(struct session_stream *s, struct session_frozen *f);
/* Hands it to a job that has all of its definitions: 0 or PYTHIA_E…; frees it. */
int session_frozen_add(struct session_frozen *f, struct job *job);
void session_frozen_drop(struct session_frozen *f); /* frees it; zeroed is legal */
uint64_t session_stream_cost(const struct session_stream *s); /* ns in hooks */
int session_fill_info(struct job *job); /* what the run is; under session.lock */
void session_stream_release(struct session_stream *s); /* ends a hold: its thread goes on */

/* process.c */
extern const struct session_hooks *session_hooks; /* NULL: none */
void session_barrier(void); /* what other threads stored before is visible, and they see what this one stored */
/* ends.c: the board goes; what it says is kept. */
void session_ends_close(void);
/* define.c: the callsite of one frame, an address in the program; GRAMMAR_NONE: out of memory */
uint32_t session_define_place(struct job *job, uint64_t address);
/* The program's OpenMP library is asked how large teams are: on a thread of the program's, without the lock. */
void session_ask_team(void);

/* checkpoint.c. The helper runs from start to stop, in a recording with PYTHIA_CHECKPOINT above 0. */
void session_checkpoint_start(void);
void session_checkpoint_stop(void); /* waits for one that is being written; nothing where there is no helper */
/* Asks for a checkpoint now and waits for it, no longer than that; `ends`: the signal, where that ends the process,
   else 0. Safe in a signal handler. */
void session_checkpoint_urgent(int ends, unsigned milliseconds);
struct job *session_snapshot(void); /* what is recorded so far; NULL when out of memory. The caller owns it */

/* samples.c: begin and end in the helper, which looks each time that it wakes; by when it should, ns. */
bool session_samples_begin(int events);
uint64_t session_samples_look(void);
void session_samples_end(void);
/* Whether a thread of this process makes calls, or was seen in a team. */
bool session_samples_computes(pid_t thread);
/* To a job with all definitions of the session's. `ends`: the session does, and nobody looks any more. 0 or
   PYTHIA_E… */
int session_samples_add(struct job *job, bool ends);

/* copies.c: boards for other nodes; start when there is one, stop before that goes, and the copies do */
void session_copies_start(void);
void session_copies_stop(void);

/* signals.c: between these two, a signal that ends the program has the part written first */
void session_signals_take(void);
void session_signals_give_back(void);

/* sums.c */
void session_sums_finish(struct session_stream *s, struct job *job); /* best effort: sums are no part of the grammar */
void session_sums_close(struct session_stream *s);

/* define.c: under session.lock. Number of a terminal in session.job, GRAMMAR_NONE when out of memory. */
uint32_t session_define(struct session_stream *s, const struct session_entry *entry, enum job_phase phase);
uint32_t session_define_path(struct session_stream *s, uint32_t path); /* takes the lock itself */
/* The address that an identity's calls return to, or its region's function, as a board has it; 0: none. */
uint64_t session_from(const struct session_stream *s, const struct session_key *key);
void session_define_program(struct job *job);
void session_task_count(struct job *job);               /* a predicted run: tasks run at once are actions */
double session_task_gain(const struct job_task *task);  /* s, estimated */

/* machine.c */
void session_machine_start(void);
/* `kept`: the file that is written takes it from this job. */
void session_machine_finish(struct job *job, bool kept);

/* binding.c: where this rank's threads may run. 0 or PYTHIA_E… */
void session_binding_start(void);
int session_binding_finish(struct job *job);

/* took.c: at the begin of a session; what the job gets at its end, with what hooks took, ns; and the end as long as it
   lasts by now: its begin, ns, which the summary measures on from. */
void session_took_begin(void);
void session_took_store(struct job *job, uint64_t hooks);
uint64_t session_took_rest(struct job *job);

/* delay.c */
void session_delay_start(void);
void session_delay_finish(struct job *job);

/* choose.c: the job that session_choose or session_find_reference has opened, the caller's; NULL without. */
struct job *session_chosen(void);
/* What stands where a job file goes and is no recording of this program is kept as PATH.old-N, and a line says so;
   one says, too, where what goes was recorded with other than `ranks`. False: it cannot be kept, and nothing may be
   written there. */
bool session_make_way(const char *path, uint32_t ranks, char *why, size_t size);

/* predict.c */
/* From a job, which is the session's then, or, where that is NULL, from a copy of these bytes. */
int session_predict_open(struct job *own, const void *bytes, size_t size);
void session_predict_close(void);
struct oracle *session_predict_oracle(uint32_t thread); /* under session.lock */
/* A terminal of session.job that `s` sees for the first time, in the reference's numbers; one that it does not have has
   a number beyond them. Under session.lock. */
uint32_t session_predict_terminal(struct session_stream *s, uint32_t terminal);

/* summary.c: the report of a job file begins on standard error, where the command `pythia` started the program; keep:
   also where nothing is shown, so that the file gets its places, from the program's files; since: when the end of the
   run began that the file is of, 0: of another run. */
void session_print_summary(const char *file, const char *view, bool keep, uint64_t since);

/* progress.c: the live line. Start and stop: by who starts and finishes the session, in predict mode. */
void session_progress_start(void);
void session_progress_stop(void);
uint64_t session_progress_first(uint32_t thread); /* a new stream's progress_at */
/* From the hook: `entry` is the event's in the stream's keys, `now` in ns. */
void session_progress_note(struct session_stream *s, uint32_t entry, uint64_t now);
