/* SPDX-License-Identifier: MIT */
/*
 * Persistent starts and completions in Fortran: the events of start.c and complete.c. Handles are integers of another
 * size than C's, indices count from one, logicals are true where not zero, and an ignored status stays ignored.
 */
#include "pmpi/complete.h"
#include "pmpi/fortran.h"

#include <string.h>

typedef void fortran_call_2(void *, MPI_Fint *);
typedef void fortran_call_3(void *, void *, MPI_Fint *);
typedef void fortran_call_4(void *, void *, void *, MPI_Fint *);
typedef void fortran_call_5(void *, void *, void *, void *, MPI_Fint *);
typedef void fortran_call_6(void *, void *, void *, void *, void *, MPI_Fint *);

static int fortran_int(const void *argument)
{
    return *(const MPI_Fint *)argument;
}

/* The first index: 1, but for mpi_f08 in MPICH before 4.1 (its issue 6270). */
static int fortran_first(const struct pmpi_hook_twin *twin)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
    return strstr(twin->plain, "_f08_") ? 0 : 1;
#else
    (void)twin;
    return 1;
#endif
}

/* MPI_Waitany and MPI_Testany: nothing is done with an index beyond the array (MPI_UNDEFINED and one, in some MPICH). */
static void fortran_any(struct pmpi_hook_call *call, const struct pmpi_hook_twin *twin,
                        const struct pmpi_hook_complete *before, int count, int index, const void *status)
{
    MPI_Status own;
    index -= fortran_first(twin);
    if (index >= 0 && index < count)
        pmpi_hook_complete_any(call, before, index, pmpi_hook_fortran_status(status, &own));
}

static void fortran_save(struct pmpi_hook_complete *before, const void *requests, int count)
{
    const MPI_Fint *from = requests;
    MPI_Request *to = pmpi_hook_complete_room(before, count);
    before->where = requests;
    before->stride = sizeof(*from);
    for (int i = 0; to && i < count; i++)
        to[i] = pmpi_hook_fortran_request(&from[i]);
}

void pmpi_hook_fortran_request_free(struct pmpi_hook_twin *twin, void *from, void *request, MPI_Fint *ierror)
{
    fortran_call_2 *real = (fortran_call_2 *)pmpi_hook_twin_find(twin, ierror);
    (void)from;
    if (!real)
        return;
    if (atomic_load_explicit(&pmpi_hook_classes, memory_order_relaxed))
        pmpi_hook_request_forget(pmpi_hook_fortran_request(request), request);
    real(request, ierror);
}

void pmpi_hook_fortran_start(struct pmpi_hook_twin *twin, void *from, void *request, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Start", JOB_P2P, false, false};
    fortran_call_2 *real = (fortran_call_2 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    struct pmpi_hook_start start;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(request, ierror);
        return;
    }
    if (pmpi_hook_request_restart(pmpi_hook_fortran_request(request), &start))
        pmpi_hook_start_values(&call, &start);
    pmpi_hook_begin(&call, from);
    real(request, error);
    pmpi_hook_end(&call);
}

void pmpi_hook_fortran_startall(struct pmpi_hook_twin *twin, void *from, void *count, void *requests,
                                MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Startall", JOB_P2P, false, false};
    fortran_call_3 *real = (fortran_call_3 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    struct pmpi_hook_start start;
    int64_t bytes = 0;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(count, requests, ierror);
        return;
    }
    for (int i = 0; i < fortran_int(count); i++)
        if (pmpi_hook_request_restart(pmpi_hook_fortran_request((MPI_Fint *)requests + i), &start))
            bytes += start.bytes;
    pmpi_hook_value(&call, GRAMMAR_INDEX, fortran_int(count));
    pmpi_hook_value(&call, GRAMMAR_BYTES, bytes);
    pmpi_hook_begin(&call, from);
    real(count, requests, error);
    pmpi_hook_end(&call);
}

void pmpi_hook_fortran_wait(struct pmpi_hook_twin *twin, void *from, void *request, void *status, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Wait", JOB_COMPLETION, true, false};
    fortran_call_3 *real = (fortran_call_3 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    MPI_Status own;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(request, status, ierror);
        return;
    }
    MPI_Request before = pmpi_hook_fortran_request(request);
    pmpi_hook_complete_expect(&call, before, request);
    pmpi_hook_begin(&call, from);
    real(request, status, error);
    if (*error == MPI_SUCCESS)
        pmpi_hook_complete_one(&call, before, request, pmpi_hook_fortran_status(status, &own));
    pmpi_hook_end(&call);
}

void pmpi_hook_fortran_test(struct pmpi_hook_twin *twin, void *from, void *request, void *flag, void *status,
                            MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Test", JOB_COMPLETION, false, true};
    fortran_call_4 *real = (fortran_call_4 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    MPI_Status own;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(request, flag, status, ierror);
        return;
    }
    MPI_Request before = pmpi_hook_fortran_request(request);
    pmpi_hook_begin(&call, from);
    real(request, flag, status, error);
    bool done = *error == MPI_SUCCESS && fortran_int(flag) &&
                pmpi_hook_complete_test(&call, before, request, pmpi_hook_fortran_status(status, &own));
    pmpi_hook_poll(&call, done);
}

void pmpi_hook_fortran_waitall(struct pmpi_hook_twin *twin, void *from, void *count, void *requests, void *statuses,
                               MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Waitall", JOB_COMPLETION, true, false};
    fortran_call_4 *real = (fortran_call_4 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(count, requests, statuses, ierror);
        return;
    }
    fortran_save(&before, requests, fortran_int(count));
    pmpi_hook_begin(&call, from);
    real(count, requests, statuses, error);
    if (*error == MPI_SUCCESS)
        pmpi_hook_complete_all(&call, &before, fortran_int(count));
    pmpi_hook_end(&call);
}

void pmpi_hook_fortran_testall(struct pmpi_hook_twin *twin, void *from, void *count, void *requests, void *flag,
                               void *statuses, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Testall", JOB_COMPLETION, false, true};
    fortran_call_5 *real = (fortran_call_5 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(count, requests, flag, statuses, ierror);
        return;
    }
    fortran_save(&before, requests, fortran_int(count));
    pmpi_hook_begin(&call, from);
    real(count, requests, flag, statuses, error);
    bool done = *error == MPI_SUCCESS && fortran_int(flag) &&
                pmpi_hook_complete_all(&call, &before, fortran_int(count)) > 0;
    pmpi_hook_poll(&call, done);
}

void pmpi_hook_fortran_waitany(struct pmpi_hook_twin *twin, void *from, void *count, void *requests, void *index,
                               void *status, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Waitany", JOB_COMPLETION, true, false};
    fortran_call_5 *real = (fortran_call_5 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(count, requests, index, status, ierror);
        return;
    }
    fortran_save(&before, requests, fortran_int(count));
    pmpi_hook_begin(&call, from);
    real(count, requests, index, status, error);
    if (*error == MPI_SUCCESS && fortran_int(index) != MPI_UNDEFINED)
        fortran_any(&call, twin, &before, fortran_int(count), fortran_int(index), status);
    pmpi_hook_end(&call);
}

void pmpi_hook_fortran_testany(struct pmpi_hook_twin *twin, void *from, void *count, void *requests, void *index,
                               void *flag, void *status, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Testany", JOB_COMPLETION, false, true};
    fortran_call_6 *real = (fortran_call_6 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(count, requests, index, flag, status, ierror);
        return;
    }
    fortran_save(&before, requests, fortran_int(count));
    pmpi_hook_begin(&call, from);
    real(count, requests, index, flag, status, error);
    bool done = *error == MPI_SUCCESS && fortran_int(flag) && fortran_int(index) != MPI_UNDEFINED;
    if (done)
        fortran_any(&call, twin, &before, fortran_int(count), fortran_int(index), status);
    pmpi_hook_poll(&call, done);
}

void pmpi_hook_fortran_waitsome(struct pmpi_hook_twin *twin, void *from, void *incount, void *requests,
                                void *outcount, void *indices, void *statuses, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Waitsome", JOB_COMPLETION, true, false};
    fortran_call_6 *real = (fortran_call_6 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(incount, requests, outcount, indices, statuses, ierror);
        return;
    }
    fortran_save(&before, requests, fortran_int(incount));
    pmpi_hook_begin(&call, from);
    real(incount, requests, outcount, indices, statuses, error);
    if (*error == MPI_SUCCESS && fortran_int(outcount) != MPI_UNDEFINED)
        pmpi_hook_complete_some(&call, &before, indices, fortran_int(outcount), fortran_first(twin));
    pmpi_hook_end(&call);
}

void pmpi_hook_fortran_testsome(struct pmpi_hook_twin *twin, void *from, void *incount, void *requests,
                                void *outcount, void *indices, void *statuses, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Testsome", JOB_COMPLETION, false, true};
    fortran_call_6 *real = (fortran_call_6 *)pmpi_hook_twin_find(twin, ierror);
    MPI_Fint own_error = MPI_SUCCESS, *error = ierror ? ierror : &own_error;
    struct pmpi_hook_call call;
    struct pmpi_hook_complete before;
    if (!real)
        return;
    if (!pmpi_hook_open(&call, &info)) {
        real(incount, requests, outcount, indices, statuses, ierror);
        return;
    }
    fortran_save(&before, requests, fortran_int(incount));
    pmpi_hook_begin(&call, from);
    real(incount, requests, outcount, indices, statuses, error);
    bool done = *error == MPI_SUCCESS && fortran_int(outcount) != MPI_UNDEFINED && fortran_int(outcount) > 0;
    if (done)
        pmpi_hook_complete_some(&call, &before, indices, fortran_int(outcount), fortran_first(twin));
    pmpi_hook_poll(&call, done);
}
