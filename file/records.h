/* SPDX-License-Identifier: MIT */
/*
 * The fields of each record, in order: one list, which writes them or reads them. doc/FORMAT.md has the same lists.
 * Records stand one after the other, or a table of them by columns: all first fields, all second ones, ...
 *
 *   one after the other    a b c  a b c  a b c        by columns    a a a  b b b  c c c
 *
 * What is written to is zeroed, what is read is as long as the records.
 * Private to file/.  Threads: any.  Hook-safe: yes.
 */
#ifndef PYTHIA_FILE_RECORDS_H
#define PYTHIA_FILE_RECORDS_H

#include "job/job.h"

struct file_cursor {
    unsigned char *at;      /* the field; in a table its column */
    bool writes;
    bool bad;               /* a value was read that no writer writes */
    uint32_t row, others;   /* in a table by columns: the record's row, and how many others there are */
};

/* At `bytes`, to be read. */
static inline struct file_cursor *file_cursor_at(struct file_cursor *c, const unsigned char *bytes)
{
    *c = (struct file_cursor){ .at = (unsigned char *)(uintptr_t)bytes };
    return c;
}

void file_record_info(struct file_cursor *c, struct job_info *f);
void file_record_sum(struct file_cursor *c, struct job_sum *s);
void file_record_digram(struct file_cursor *c, struct job_digram *d);
void file_record_region(struct file_cursor *c, struct job_region *r);
void file_record_task(struct file_cursor *c, struct job_task *t);
void file_record_machine(struct file_cursor *c, struct job_machine *m);
void file_record_clock(struct file_cursor *c, struct job_clock *k);
void file_record_delay(struct file_cursor *c, struct job_delay *d);
void file_record_threads(struct file_cursor *c, struct job_threads *t);

/* --- Tables by columns; of a list that is read the counts are known and there is room --- */
struct job_extremes_list;
struct job_flows;
struct job_hops;
struct job_groups;
struct job_own;
struct job_series;
struct job_starts;
void file_record_groups(struct file_cursor *c, struct job_groups *g);
void file_record_flows(struct file_cursor *c, struct job_flows *f);
void file_record_hops(struct file_cursor *c, struct job_hops *h);
void file_record_starts(struct file_cursor *c, struct job_starts *s);
void file_record_extremes(struct file_cursor *c, struct job_extremes_list *l);
void file_record_usual(struct file_cursor *c, struct job_extremes_list *l); /* of the same rows */
void file_record_extents(struct file_cursor *c, struct job_stream *s); /* one row of the table */
void file_record_own(struct file_cursor *c, struct job_own *o); /* one row of the table */
void file_record_series_head(struct file_cursor *c, struct job_series *s);
void file_record_series_steps(struct file_cursor *c, struct job_series *s);

/* Of a Pythia that measures the same. */
enum {
    FILE_ORACLE_SIZE = 48 + 8 * (6 + ORACLE_DISTANCES * (5 + 2 * ORACLE_DECILES) + ORACLE_TIME_BUCKETS) + 32
};
void file_record_oracle(struct file_cursor *c, struct job_oracle *o);

#endif
