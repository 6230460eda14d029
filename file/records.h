/* SPDX-License-Identifier: MIT */
/*
 * Records that are the fields of a structure, one after the other: one list of them for each, which writes or reads.
 * doc/FORMAT.md has the same lists. What is written to is zeroed, what is read is as long as the record.
 * Private to file/.  Threads: any.  Hook-safe: yes.
 */
#ifndef PYTHIA_FILE_RECORDS_H
#define PYTHIA_FILE_RECORDS_H

#include "job/job.h"

struct file_cursor { unsigned char *at; bool writes; };

/* At `bytes`, to be read. */
static inline struct file_cursor *file_cursor_at(struct file_cursor *c, const unsigned char *bytes)
{
    *c = (struct file_cursor){ (unsigned char *)(uintptr_t)bytes, false };
    return c;
}

void file_record_info(struct file_cursor *c, struct job_info *f);
void file_record_sum(struct file_cursor *c, struct job_sum *s);
void file_record_region(struct file_cursor *c, struct job_region *r);
void file_record_task(struct file_cursor *c, struct job_task *t);
void file_record_machine(struct file_cursor *c, struct job_machine *m);
void file_record_clock(struct file_cursor *c, struct job_clock *k);
void file_record_delay(struct file_cursor *c, struct job_delay *d);

/* Of a Pythia that measures the same. */
enum {
    FILE_ORACLE_SIZE = 48 + 8 * (6 + ORACLE_DISTANCES * (5 + 2 * ORACLE_DECILES) + ORACLE_TIME_BUCKETS) + 32
};
void file_record_oracle(struct file_cursor *c, struct job_oracle *o);

#endif
