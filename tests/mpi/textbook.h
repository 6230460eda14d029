/* SPDX-License-Identifier: MIT */
/* What textbook.c and textbook_more.c share: the rank, and what stands for computation. */
#pragma once

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern int rank, ranks;

double burn(long n); /* n multiplications, one after the other */

/* Computation that needs no processor, so that many ranks compute at once on few. */
static inline void nap_us(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };

    nanosleep(&t, NULL);
}

double textbook_cg(int n, int turns);
double textbook_transpose(int n, int turns);
double textbook_redblack(int n, int turns);
double textbook_pipeline(int n, int turns);
double textbook_pingpong(int n, int turns);
double textbook_io(int n, int turns);
double textbook_fence(int n, int turns);
double textbook_passive(int n, int turns);
double textbook_hybrid(int n, int turns);
double textbook_tasks(int n, int turns);
double textbook_nested(int n, int turns);
double textbook_arrivals(int n, int turns);
