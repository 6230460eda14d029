/* SPDX-License-Identifier: MIT */
/*
 * Merges simulated ranks over MPI and, on rank 0, one after the other; both must give the same bytes.
 * Arguments: chunk size in bytes; ranks that have nothing (their job is NULL).
 * Says on rank 0 TAP lines without a plan (the script prints it).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "merge/merge.h"
#include "merge/merge_mpi.h"
#include "tests/unit/audit.h"
#include "tests/unit/simulate.h"

static const char *const names[] = { "ring", "butterfly", "stencil", "master", "random" };

static int is_absent(int argc, char **argv, int rank)
{
    for (int i = 2; i < argc; i++)
        if (atoi(argv[i]) == rank)
            return 1;
    return 0;
}

static struct job *one_by_one(enum simulate_shape shape, int ranks, int argc, char **argv)
{
    struct job *j = job_create();
    for (int rank = 0; rank < ranks; rank++) {
        struct simulate_rank r;
        if (is_absent(argc, argv, rank)) {
            j->info.missing++;
            continue;
        }
        simulate_rank(&r, shape, (uint32_t)rank, (uint32_t)ranks, 5);
        if (merge_job(j, r.job))
            abort();
        simulate_clear(&r);
    }
    return j;
}

static int same(const struct job *a, const struct job *b)
{
    void *x, *y;
    size_t n, m;
    if (!a || !b || file_pack(a, NULL, &x, &n) || file_pack(b, NULL, &y, &m))
        return 0;
    int equal = n == m && !memcmp(x, y, n);
    free(x);
    free(y);
    return equal;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int shape = 0; shape < SIMULATE_SHAPES; shape++) {
        struct simulate_rank r;
        struct job *whole, *mine;
        char why[160] = "";
        simulate_rank(&r, shape, (uint32_t)rank, (uint32_t)ranks, 5);
        mine = r.job;
        r.job = NULL;
        if (is_absent(argc, argv, rank)) {
            job_destroy(mine);
            mine = NULL;
        }
        int error = merge_mpi_reduce_chunked(mine, comm, (size_t)atol(argv[1]), &whole);
        simulate_clear(&r);
        if (rank || error) {
            if (error || whole)
                printf("not ok - rank %d: error %d\n", rank, error);
            continue;
        }
        struct job *expected = one_by_one(shape, ranks, argc, argv);
        printf("%sok - %d ranks, %s, chunks of %s, %d absent\n",
               same(whole, expected) && !audit_job(whole, why, sizeof why) ? "" : "not ", ranks, names[shape], argv[1],
               argc - 2);
        printf("# %u classes, %u streams, %u missing %s\n", whole->class_count, whole->stream_count,
               whole->info.missing, why);
        job_destroy(expected);
        job_destroy(whole);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
