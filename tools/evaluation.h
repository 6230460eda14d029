/* SPDX-License-Identifier: MIT */
/*
 * One oracle follows one stream: before each event it is asked for the events at some distances, and when these come
 * its answers are judged. Memory is constant but for the answers that wait, so that streams of any length are judged.
 *
 * Threads: one.  Hook-safe: no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "oracle/oracle.h"
#include "tools/cost.h"
#include "tools/source.h"

/* Relative errors, 64 buckets an octave from 2^-20 to 2^20, below them 0. */
enum { EVALUATION_BUCKETS = 40 * 64 };
struct evaluation_errors { uint64_t bucket[EVALUATION_BUCKETS + 1], count; };

enum { EVALUATION_VALUES = 3 }; /* peer, bytes, tag or index */

/* An answer that waits for its event. */
struct evaluation_answer {
    uint32_t terminal;
    float probability;
    double until, low, high, deviation;
    double duration_low, duration_high;
    uint64_t elapsed;
    bool asked;
    uint32_t values;                  /* that were foretold, 1 << channel */
    int64_t value[EVALUATION_VALUES];
};

/* The events at one distance. */
struct evaluation_column {
    uint64_t distance, predictions, hits, unknown;
    double brier;                      /* sum of squares */
    struct evaluation_answer *waiting; /* a ring of `distance` */
    struct cost_histogram cost;        /* ns of a question */
    struct evaluation_errors error;    /* of the time until the event */
    uint64_t bounded, inside;          /* intervals of that time, and those that it lies in */
    uint64_t lasting, lasting_inside;  /* the same of the durations of events that were foretold right */
    uint64_t inside_deviation;         /* of those where the deviation is known, in time +- deviation */
    double squares, variances;         /* there: of the errors and of the deviations, ns^2, sums */
    uint64_t valued[EVALUATION_VALUES], right[EVALUATION_VALUES]; /* events that have it; where it was foretold */
    struct evaluation_errors width, deviations; /* how wide both are there, in NS_RANGE */
};

struct evaluation {
    struct evaluation_column *column;
    uint32_t columns;
    struct cost_histogram follow; /* ns of following an event */
    uint64_t events, clock, every;
    uint64_t elapsed; /* ns from the begin of the stream to the end of the last event */
    bool timed;       /* any event had a time */
    struct file_stream reference; /* where values are foretold from; job NULL: nowhere */
};

/* Prepares a zeroed evaluation that asks for each distance (1 or more) before every `every`th event. */
void evaluation_create(struct evaluation *v, const uint64_t *distance, uint32_t distances, uint64_t every);
void evaluation_clear(struct evaluation *v);

/* Follows the stream to its end. TOOL_OK, or TOOL_INPUT after a complaint. */
int evaluation_follow(struct evaluation *v, struct oracle *o, struct source *test);

/* A row a distance and one for following, on standard output: a table, or tab separated. */
void evaluation_print(const struct evaluation *v, bool tsv);
