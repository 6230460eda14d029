/* SPDX-License-Identifier: MIT */
/*
 * A table of boards made by hand, for unit tests of verdicts: six ranks, a minute into their run, pauses of 10 ms so
 * far; what is done to them, and what is told of them then.
 *
 *     sights_set_up();
 *     sights_all_in("Allreduce", 20);       all are in it, for 20 s
 *     sights_computes(3, 20);               but rank 3
 *     sights_told()                         "missing_rank 3 waiting 0 1 2 4 5"
 */
#pragma once

#include <stdbool.h>

#include "job/define.h"
#include "watch/verdict.h"

enum { SIGHTS = 6, WORLD = 100, ROW = 200, COLUMN = 300, PLACE = 0x4000, ANY = -1, NOBODY_HERE = -2 };
#define SIGHTS_SECOND UINT64_C(1000000000)
#define SIGHTS_NOW UINT64_C(100000000000)

extern struct watch_sight sights[SIGHTS];
extern bool sights_absent[SIGHTS];
struct sights_usual { uint64_t longest, count; };
extern struct sights_usual sights_usual[SIGHTS]; /* of the recording */
extern struct watch_verdict sights_verdict;      /* what was told last */

/* Rows of the communicators are two wide. */
void sights_set_up(void);
/* `ago`: s. */
void sights_call(uint32_t r, const char *function, uint8_t kind, uint8_t how, uint64_t where, double ago);
void sights_collective(uint32_t r, const char *function, uint64_t comm, double ago);
void sights_receive(uint32_t r, int32_t source, double ago);
void sights_computes(uint32_t r, double ago);
void sights_all_in(const char *function, double ago);
/* How often it was where it is. */
void sights_seen(uint32_t r, uint64_t times);
/* "missing_rank 3 waiting 0 1 2 4 5"; static. */
const char *sights_told(void);
