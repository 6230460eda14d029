/* SPDX-License-Identifier: MIT */
/*
 * A job: what the ranks of a run recorded, merged by callsite. One job file is one of these.
 *
 *   strings, modules (path, build-id), frames (module, offset), callsites (lists of frames), communicators
 *        ^
 *   terminals: kind, phase, function, callsite, communicator …          numbered as first seen, identified by content
 *        ^
 *   classes: a grammar over terminals + the streams (rank, thread) whose grammar has this structure
 *        ^                per node: sums over the members, and the extreme members
 *   streams: one (rank, thread) each: its class, its totals
 *
 * A job of one rank, a partial merge of some ranks, a whole job and a part file of a dead run are the same type and the
 * same format: merge_job() is the only way in which ranks are merged. It is associative (sums of squares and other
 * doubles to rounding), and deterministic when ranks are merged in the order of their numbers.
 *
 * Two grammars are equal when their Merkle hashes over content (terminals by what they are, not by number) are: ranks
 * need no common numbering to find their class.
 *
 * Ownership: everything inside belongs to the job. Readers may read the arrays; indices are 32-bit, GRAMMAR_NONE is none.
 * Errors: 0 or a negative PYTHIA_E…; a failed call leaves the job as it was.
 * Threads: owner (any for readers).  Hook-safe: no.
 */
#ifndef PYTHIA_JOB_JOB_H
#define PYTHIA_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar/flat.h"
#include "job/regions.h"
#include "oracle/oracle.h"

enum job_kind { JOB_CALL, JOB_REGION, JOB_WORD /* of a text stream or another runtime */, JOB_KINDS };
enum job_phase { JOB_LEAF, JOB_OPEN, JOB_CLOSE };
/* Class of an MPI call, for the report and for the oracle's "next of a class". */
enum job_call_kind { JOB_NO_CALL_KIND, JOB_P2P, JOB_COMPLETION, JOB_PROBE, JOB_COLLECTIVE, JOB_ONESIDED, JOB_IO, JOB_COMMUNICATOR,
                 JOB_LIFE /* Init, Finalize, Abort */, JOB_OTHER, JOB_CALL_KINDS };
enum job_peer_class { JOB_PEER_NONE, JOB_PEER_RANK, JOB_PEER_ANY, JOB_PEER_NULL, JOB_PEER_SELF, JOB_PEER_ROOT };

struct job_module { uint32_t path, build_id; /* strings; build-id in hexadecimal */ };
struct job_frame { uint32_t module; uint32_t reserved; uint64_t offset; }; /* offset: ELF virtual address in the module;
                                                                              of a return address for calls */
struct job_callsite { uint32_t first, count; }; /* frames, innermost first; for a region: the outlined function's entry */
struct job_comm { uint32_t name; /* string: "world", "self", "world/split#0" */ uint32_t size; /* of the first rank */ };

struct job_terminal {
    uint8_t kind, phase, call_kind, peer_class;
    uint8_t blocking; /* the call may wait */
    uint8_t reserved[3];
    uint32_t function; /* string: "MPI_Isend"; for regions "omp parallel"; for words the word */
    uint32_t callsite; /* GRAMMAR_NONE without */
    uint32_t comm;     /* GRAMMAR_NONE without */
};

/*
 * An attribute of a class: how the values of its members relate. Each variant covers some members; `relations` says
 * which formulas hold for all of them, given the model of one member (the sample):
 *   JOB_ABSOLUTE  the same values on every member
 *   JOB_OFFSET    value - rank of the member, modulo the communicator's size, is the same
 *   JOB_XOR       value xor rank is the same (lists of up to 8 values)
 * Only channel GRAMMAR_PEER takes part in OFFSET and XOR, on communicators that are as large as the world.
 *
 * RAMP and LIST models are those of the first member, in canonical form (the same sequence of values, the same bytes);
 * of VARIES and KEYED, where a single member's values are not known anyway, counts and sums are those of all members of
 * the variant. Of the partitions of the members by a relation the one with the fewest variants is kept.
 */
enum job_relation { JOB_ABSOLUTE = 1, JOB_OFFSET = 2, JOB_XOR = 4 };
/* Thread `thread` of the ranks first + i * stride + k * row_stride + l * plane_stride, for i below count, k up to `rows`,
   l up to `planes` (how many *more* rows and planes there are). Canonical: equal sets have equal ranges (job/ranges.h). */
struct job_range { uint32_t first, count, stride, thread, rows, row_stride, planes, plane_stride; };
static inline uint64_t job_range_size(const struct job_range *r)
{
    return (uint64_t)r->count * ((uint64_t)r->rows + 1) * ((uint64_t)r->planes + 1);
}
/* Its ranks in order: the one with number i, below the size. */
static inline uint32_t job_range_rank(const struct job_range *r, uint64_t i)
{
    uint64_t row = i / r->count, plane = row / ((uint64_t)r->rows + 1);
    return (uint32_t)(r->first + i % r->count * r->stride + row % ((uint64_t)r->rows + 1) * r->row_stride +
                      plane * r->plane_stride);
}
struct job_variant {
    uint32_t node;        /* index of the node in the class's grammar */
    uint32_t relations;   /* enum job_relation, or-ed; never 0 */
    uint32_t sample_rank; /* whose values `attr` holds: the first member (lowest rank, then thread) */
    uint32_t modulus;     /* size of the communicator; 0 where its ranks are not those of the job */
    uint32_t range_first, range_count; /* in the class's ranges[]; members covered */
    struct grammar_attr attr;
};

/*
 * Of one node over the members of a class: the total time (gap + duration, ns) of a member, and who is the extreme. And of
 * its terminal, where the node is the first of the class with that terminal (else all 0): what a member spent in it at
 * all its nodes together, durations only, so that calls can be compared over ranks although no rank's own are kept.
 */
struct job_spread {
    uint64_t min, max;
    uint32_t min_rank, max_rank;
    uint64_t call_min, call_max;
    uint32_t call_min_rank, call_max_rank;
    double call_square; /* ns^2, sum over the members */
};

struct job_class {
    struct grammar_hash hash;    /* Merkle hash of the structure */
    struct grammar_flat *grammar; /* terminals numbered as in the job; stats: sums over members; attrs: of variant 0 of
                                     each node and channel. In a message whose body was left out it has no rules
                                     (rule_count 0), only node_count, stats and attributes */
    struct job_spread *spread;   /* node_count of the grammar */
    uint32_t range_count;        /* the first `member_ranges` of ranges[] are the members, the others sets of variants */
    uint32_t member_ranges;
    struct job_range *ranges;
    uint32_t variant_count;      /* ordered by node, channel, first member */
    struct job_variant *variants;
};

/*
 * Totals. Of each stream while the job has few ranks (info.block is 1: rank and thread, count 1). In a larger job of each
 * block of `block` ranks (a power of two, so that there are at most JOB_BLOCKS blocks): the sums over thread `thread` of
 * ranks rank … rank + block - 1, of which `count` have a stream. So a job does not grow with its ranks. Which class a
 * stream belongs to is always known (job_stream_class), and of each class and node who the extremes are (job_spread).
 */
enum { JOB_BLOCKS = 256 };
struct job_stream {
    uint32_t rank, thread;
    uint32_t class_index;               /* GRAMMAR_NONE: the streams of this block are of several */
    uint32_t count;
    uint64_t events, lost;              /* lost: order given up at the memory cap */
    uint64_t begin_ns, wall_ns;         /* from the stream's begin to its end; gaps + durations add up to wall_ns */
    uint64_t mpi_ns, omp_ns;            /* in MPI calls; in parallel regions, exclusive of MPI inside */
    uint64_t cost_ns;                   /* what Pythia itself took, estimated */
};

/* What a plugin counted at the calls of one function at one callsite: over all streams, of samples. */
struct job_count { uint64_t samples, total; };
struct job_sum { uint32_t terminal, name; /* string */ struct job_count count; };

/*
 * Statistics of one task construct at one nesting depth, over ranks and threads, of the last run that had tasks (recorded
 * or predicted). Times: without the tasks that a task waited for or met while waiting, with those it ran at once itself.
 */
struct job_task {
    uint32_t callsite;   /* one frame: the outlined function's entry */
    uint32_t depth;      /* explicit tasks around it; the last one stands for all beyond */
    uint64_t created;    /* at least 1 */
    uint64_t at_once;    /* of them, run at once by Pythia … */
    uint64_t undeferred; /* … and by the program: if(0) */
    uint64_t loops;      /* executions of a taskloop, 0 for task */
    uint64_t timed, time_ns, min_ns, max_ns; /* some of them, one in 16 where they are tiny; sums over these */
    uint64_t wait_ns;    /* they were waiting for their own tasks, idle */
    uint64_t subtree_ns; /* what one takes when all that it creates is run at once; 0: not known */
    uint64_t cost_ns;    /* of deferring one; 0: not known */
};

/* Where the job ran, and the energy of the nodes that could be read. */
struct job_machine {
    bool present;
    uint32_t tree;   /* string: the first rank's node, a line an object, indented; GRAMMAR_NONE without */
    uint32_t energy; /* string: where the energy was read, or why not; GRAMMAR_NONE without */
    uint32_t nodes;  /* whose energy is in `joules` */
    double joules;   /* from the session's begin to its end */
};

struct job_info {
    uint32_t program;     /* string: path of the executable */
    uint32_t program_id;  /* string: its build-id */
    uint32_t arguments;   /* string */
    uint32_t mpi;         /* string: library version line, or "" */
    uint32_t ranks, threads; /* threads: OpenMP maximum per rank at start */
    uint32_t missing;     /* ranks whose part is missing (a run that died) */
    uint32_t runs;        /* recorded runs in here, at least 1 */
    uint32_t block;       /* ranks that share a record of streams[]: a power of two */
    uint64_t wall_ns;     /* of the job: longest rank */
    uint64_t start_time;  /* seconds since 1970 */
};

/* What a job that was opened keeps of its bytes: whoever opened it closes it when the job is destroyed (file/open.h). */
struct job_store { void (*close)(struct job_store *s); };

/* Of the last predicted run with this file. */
struct job_oracle {
    uint32_t present, ranks;
    struct oracle_score score;
    uint64_t actions;       /* team sizes changed, … */
    double gain_seconds;    /* estimated gain of acting, summed over ranks */
    double cost_seconds;
    uint64_t wall_ns;
};

struct job {
    struct job_info info;
    struct job_oracle oracle;
    uint32_t string_count, module_count, frame_count, callsite_count, comm_count, terminal_count, class_count, stream_count,
             sum_count;
    char **strings;
    struct job_module *modules;
    struct job_frame *frames;
    struct job_callsite *callsites;
    struct job_comm *comms;
    struct job_terminal *terminals;
    struct grammar_hash *terminal_hash; /* of the content of each */
    struct job_class *classes;
    struct job_stream *streams;         /* stream_count records, ordered by rank, then thread */
    struct job_machine machine;
    uint32_t task_count;
    struct job_task *tasks;             /* ordered by callsite, then depth */
    struct job_sum *sums;               /* ordered by terminal, then name */
    uint32_t region_count;
    struct job_region *regions;         /* in no order; at most one a callsite */
    struct job_index *index;            /* of what is interned; private to job.c */
    struct job_store *store;            /* of a job that was opened; NULL: all of it is here */
};

/* --- Building --- */
struct job *job_create(void);
void job_destroy(struct job *j);

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

/* Adds to the sum `name` of a terminal. 0, PYTHIA_ENOMEM, or PYTHIA_EINVAL: no such terminal. */
int job_count(struct job *j, uint32_t terminal, const char *name, struct job_count count);

/* --- Tasks (task.c) --- */
/* Adds a row, to the one of the same callsite and depth where there is one. PYTHIA_EINVAL: no such callsite. */
int job_task_add(struct job *j, const struct job_task *t);
/* `into` gets the rows of `from` in place of its own, where `from` has any; what memory does not suffice for is left out. */
void job_task_replace(struct job *into, const struct job *from);
/* Room for so many more rows, so that job_task_add cannot fail. */
int job_task_room(struct job *j, uint32_t more);
/* Audits the rows; 0 or PYTHIA_EFORMAT. */
int job_task_check(const struct job *j);

/* --- Reading --- */
/* The record of the stream of (rank, thread), of its block in a large job; NULL when there is no such stream. */
const struct job_stream *job_find_stream(const struct job *j, uint32_t rank, uint32_t thread);
/* Class of the stream of (rank, thread), GRAMMAR_NONE when there is no such stream. */
uint32_t job_stream_class(const struct job *j, uint32_t rank, uint32_t thread);
uint64_t job_streams(const struct job *j); /* how many there are */
/* Ranks from `from` on, below `end`, until the first that has (`there`) or has not a stream: how many. For listing who is
   missing: alternate. */
uint32_t job_ranks_run(const struct job *j, uint32_t from, uint32_t end, bool there);
/* What one stream of the record had on average. */
static inline uint64_t job_stream_mean(const struct job_stream *s, uint64_t sum) { return s->count > 1 ? sum / s->count : sum; }
/* Value of `channel` at occurrence `i` of node `node` for a member. Returns 0 with *value; 1: varies without a rule
   ("*"); 2: the node has no such attribute. */
int job_attr_value(const struct job *j, const struct job_class *c, uint32_t node, enum grammar_channel channel,
                   uint32_t rank, uint32_t thread, uint64_t i, int64_t *value);
/* The first variant of a node's channel; those that follow are of the same while they say so. NULL without. */
const struct job_variant *job_variant_first(const struct job_class *c, uint32_t node, enum grammar_channel channel);
/* The variant that covers a member, NULL without. */
const struct job_variant *job_variant(const struct job_class *c, uint32_t node, enum grammar_channel channel,
                                      uint32_t rank, uint32_t thread);
/* The variant that covers most members, of the first few; NULL without. */
const struct job_variant *job_variant_most(const struct job_class *c, uint32_t node, enum grammar_channel channel);
/* The sample's value at a turn of the node, whichever occurrence that is: where they are all the same, or begin anew each time
   that the node's place is reached (a loop over neighbours), so that the turn decides. False: it does not. */
bool job_variant_turn(const struct grammar_flat *g, const struct job_variant *v, uint64_t turn, int64_t *value);
/* A value of the variant's sample, taken to the member `rank`. */
int64_t job_variant_value(const struct job_variant *v, uint32_t rank, int64_t value);
const char *job_text(const struct job *j, uint32_t string); /* "" for GRAMMAR_NONE */

/* Audits every invariant (indices in range, grammars, hashes, members). 0 or PYTHIA_EFORMAT with the reason. */
int job_check(const struct job *j, char *why, size_t size);

#endif
