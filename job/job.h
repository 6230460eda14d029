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
 * Ownership: everything inside belongs to the job. Readers may read the arrays; indices are 32-bit, GRAMMAR_NONE is
 * none. Errors: 0 or a negative PYTHIA_E…; a failed call leaves the job as it was.
 * Threads: owner (any for readers).  Hook-safe: no.
 */
#pragma once

#include "job/binding.h"
#include "job/class.h"
#include "job/define.h"
#include "job/digram.h"
#include "job/ends.h"
#include "job/extremes.h"
#include "job/flow.h"
#include "job/group.h"
#include "job/hops.h"
#include "job/inside.h"
#include "job/learned.h"
#include "job/named.h"
#include "job/own.h"
#include "job/places.h"
#include "job/regions.h"
#include "job/run.h"
#include "job/series.h"
#include "job/starts.h"
#include "job/streams.h"
#include "job/sum.h"
#include "job/task.h"
#include "job/threads.h"
#include "job/value.h"

/* What an opened job keeps of its bytes: whoever opened it closes it when the job is destroyed (file/open.h). */
struct job_store { void (*close)(struct job_store *s); };

struct job {
    struct job_info info;
    struct job_oracle oracle;
    uint32_t string_count, module_count, frame_count, callsite_count, comm_count, terminal_count, class_count,
        stream_count, stream_room, sum_count, sum_room, task_count, task_room, region_count, region_room;
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
    struct job_clock clock;
    struct job_delay delay;
    struct job_took took;
    struct job_groups groups;
    struct job_flows flows;
    struct job_hops hops;
    struct job_places places;
    struct job_spot_list spots;
    struct job_named_list named;
    struct job_starts starts;
    struct job_series_list series;
    struct job_extremes_list extremes;
    struct job_own_list own;
    struct job_digrams digrams;
    struct job_threads_list threads;
    struct job_inside_list inside;      /* samples of where threads computed */
    struct job_bindings bindings;       /* where ranks may run */
    struct job_hosts hosts;             /* what kinds of nodes there are, where there are several nodes */
    struct job_hardware_list hardware;  /* of the first rank's node */
    struct job_ends ends;               /* of a run that died */
    struct job_task *tasks;             /* ordered by callsite, then depth */
    struct job_sum *sums;               /* ordered by terminal, then name */
    struct job_region *regions;         /* ordered by callsite, each once */
    struct job_left_list left;
    struct job_learned learned;         /* by predicted runs */
    struct job_index *index;            /* of what is interned; private to job.c */
    struct job_store *store;            /* of a job that was opened; NULL: all of it is here */
};

struct job *job_create(void);
void job_destroy(struct job *j);

/* Audits every invariant (indices in range, grammars, hashes, members). 0 or PYTHIA_EFORMAT with the reason. */
int job_check(const struct job *j, char *why, size_t size);
