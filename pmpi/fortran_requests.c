/* SPDX-License-Identifier: MIT */
/*
 * Persistent starts and completions in Fortran: the events of start.c and complete.c. Handles are integers of another
 * size than C's, indices count from one, logicals are true where not zero.
 *
 * All arguments are addresses, so that one structure holds those of any call, in their order:
 *
 *     if (!fortran_open(&c, &info, ierror)) return;      off: the target was called, as it is
 *     ... before ...
 *     if (fortran_run(&c, from)) ... after ...           the target succeeded
 *     pmpi_hook_end(&c.call);
 */
#include "pmpi/complete.h"
#include "pmpi/fortran.h"

#include <string.h>

enum { FORTRAN_MOST = 5 };

struct fortran_call {
    struct pmpi_hook_target *target;
    void *argument[FORTRAN_MOST]; /* those that the call has not are NULL */
    int number;
    void *real;
    uint64_t where; /* as in pmpi_hook_begin_at() */
    MPI_Fint *error, own_error;
    struct pmpi_hook_call call;
    union pmpi_hook_fortran_room status;
};

/* Each argument in its place; the error follows them. */
static void fortran_real(void *real, int number, void *const a[], MPI_Fint *error)
{
    switch (number) {
    case 1:
        ((void (*)(void *, MPI_Fint *))real)(a[0], error);
        break;
    case 2:
        ((void (*)(void *, void *, MPI_Fint *))real)(a[0], a[1], error);
        break;
    case 3:
        ((void (*)(void *, void *, void *, MPI_Fint *))real)(a[0], a[1], a[2], error);
        break;
    case 4:
        ((void (*)(void *, void *, void *, void *, MPI_Fint *))real)(a[0], a[1], a[2], a[3], error);
        break;
    default:
        ((void (*)(void *, void *, void *, void *, void *, MPI_Fint *))real)(a[0], a[1], a[2], a[3], a[4], error);
    }
}

/* Starts a call, in the frame of whoever this stands in. False: it is over. */
static inline __attribute__((always_inline)) bool fortran_open(struct fortran_call *c,
                                                               const struct pmpi_hook_info *info, MPI_Fint *ierror)
{
    c->real = pmpi_hook_target_find(c->target, ierror);
    if (!c->real)
        return false;
    if (!pmpi_hook_open(&c->call, info)) {
        fortran_real(c->real, c->number, c->argument, ierror);
        return false;
    }
    c->own_error = MPI_SUCCESS;
    c->error = ierror ? ierror : &c->own_error;
    return true;
}

/* Calls the target; whether it succeeded. */
static bool fortran_run(struct fortran_call *c, void *from)
{
    pmpi_hook_begin_at(&c->call, from, c->where, WATCH_NOBODY, WATCH_NOBODY, 0);
    fortran_real(c->real, c->number, c->argument, c->error);
    pmpi_hook_returned(&c->call, *c->error == MPI_SUCCESS);
    return c->call.accepted;
}

/* A poll that found nothing is no event. */
static void fortran_end(struct fortran_call *c, bool done)
{
    if (done)
        pmpi_hook_end(&c->call);
    else
        pmpi_hook_nothing(&c->call);
}

static int fortran_int(const void *argument)
{
    return *(const MPI_Fint *)argument;
}

void pmpi_hook_fortran_request_free(struct pmpi_hook_target *target, void *from, void *request, MPI_Fint *ierror)
{
    void *real = pmpi_hook_target_find(target, ierror);
    (void)from;
    if (!real)
        return;
    if (atomic_load_explicit(&pmpi_hook_kinds, memory_order_relaxed))
        pmpi_hook_request_forget(pmpi_hook_fortran_request(request), request);
    fortran_real(real, 1, &request, ierror);
}

/* --- Starts --- */

void pmpi_hook_fortran_start(struct pmpi_hook_target *target, void *from, void *request, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Start", JOB_P2P, false, false};
    struct fortran_call c = {.target = target, .argument = {request}, .number = 1};
    struct pmpi_hook_start start;
    if (!fortran_open(&c, &info, ierror))
        return;
    if (fortran_run(&c, from) && pmpi_hook_request_find(pmpi_hook_fortran_request(request), NULL, &start)) {
        pmpi_hook_start_values(&c.call, &start);
        pmpi_hook_restarted(&c.call, pmpi_hook_fortran_request(request), &start);
    }
    pmpi_hook_end(&c.call);
}

void pmpi_hook_fortran_startall(struct pmpi_hook_target *target, void *from, void *count, void *requests,
                                MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Startall", JOB_P2P, false, false};
    struct fortran_call c = {.target = target, .argument = {count, requests}, .number = 2};
    struct pmpi_hook_start start;
    int64_t bytes = 0;
    if (!fortran_open(&c, &info, ierror))
        return;
    fortran_run(&c, from);
    for (int i = 0; c.call.accepted && i < fortran_int(count); i++)
        if (pmpi_hook_restarted(&c.call, pmpi_hook_fortran_request((MPI_Fint *)requests + i), &start))
            bytes += start.bytes;
    pmpi_hook_value(&c.call, GRAMMAR_INDEX, fortran_int(count));
    pmpi_hook_value(&c.call, GRAMMAR_BYTES, bytes);
    pmpi_hook_end(&c.call);
}

/* --- Completion of one request --- */

/* The status is the call's last argument. */
static void fortran_hand_status(struct fortran_call *c)
{
    void **status = &c->argument[c->number - 1];
    *status = pmpi_hook_fortran_handed(*status, &c->status);
}

static const MPI_Status *fortran_status(const struct fortran_call *c, MPI_Status *own)
{
    return pmpi_hook_fortran_status(c->argument[c->number - 1], own);
}

void pmpi_hook_fortran_wait(struct pmpi_hook_target *target, void *from, void *request, void *status, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Wait", JOB_COMPLETION, true, false};
    struct fortran_call c = {.target = target, .argument = {request, status}, .number = 2};
    MPI_Status own;
    if (!fortran_open(&c, &info, ierror))
        return;
    MPI_Request before = pmpi_hook_fortran_request(request);
    fortran_hand_status(&c);
    pmpi_hook_complete_expect(&c.call, before, request);
    c.where = PMPI_HOOK_HANDLE(before);
    if (fortran_run(&c, from))
        pmpi_hook_complete_wait(&c.call, before, request, fortran_status(&c, &own));
    pmpi_hook_end(&c.call);
}

void pmpi_hook_fortran_test(struct pmpi_hook_target *target, void *from, void *request, void *flag, void *status,
                            MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Test", JOB_COMPLETION, false, true};
    struct fortran_call c = {.target = target, .argument = {request, flag, status}, .number = 3};
    MPI_Status own;
    if (!fortran_open(&c, &info, ierror))
        return;
    MPI_Request before = pmpi_hook_fortran_request(request);
    fortran_hand_status(&c);
    bool done = fortran_run(&c, from) && fortran_int(flag) &&
                pmpi_hook_complete_one(&c.call, before, request, fortran_status(&c, &own));
    fortran_end(&c, done);
}

/* --- Completion of one or some of several: the count is the first argument, the requests are the second --- */

/* The first index: 1, but for mpi_f08 in MPICH before 4.1 (its issue 6270). */
static int fortran_first(const struct pmpi_hook_target *target)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
    return strstr(target->plain, "_f08_") ? 0 : 1;
#else
    (void)target;
    return 1;
#endif
}

static void fortran_save(const struct fortran_call *c, struct pmpi_hook_complete *before)
{
    const MPI_Fint *from = c->argument[1];
    int count = fortran_int(c->argument[0]);
    MPI_Request *to = pmpi_hook_complete_room(before, count);
    before->where = from;
    before->stride = sizeof(*from);
    for (int i = 0; to && i < count; i++)
        to[i] = pmpi_hook_fortran_request(&from[i]);
}

/* The call's last argument; NULL where there is no room for ours. */
static MPI_Status *fortran_hand_statuses(struct fortran_call *c, const struct pmpi_hook_complete *before)
{
    void **statuses = &c->argument[c->number - 1];
    MPI_Status *room = pmpi_hook_complete_statuses(before, fortran_int(c->argument[0]));
    if (room == MPI_STATUSES_IGNORE)
        return NULL;
    *statuses = pmpi_hook_fortran_handed_all(*statuses, &room);
    return room;
}

static const MPI_Status *fortran_statuses(const struct fortran_call *c, MPI_Status *room, int number)
{
    return pmpi_hook_fortran_statuses(c->argument[c->number - 1], room, number);
}

/* MPI_Waitany and MPI_Testany: nothing is done with an index beyond the array (MPI_UNDEFINED and one, in some
   MPICH). */
static void fortran_any(struct fortran_call *c, const struct pmpi_hook_complete *before, int index)
{
    MPI_Status own;
    index -= fortran_first(c->target);
    if (index >= 0 && index < fortran_int(c->argument[0]))
        pmpi_hook_complete_any(&c->call, before, index, fortran_status(c, &own));
}

void pmpi_hook_fortran_waitany(struct pmpi_hook_target *target, void *from, void *count, void *requests, void *index,
                               void *status, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Waitany", JOB_COMPLETION, true, false};
    struct fortran_call c = {.target = target, .argument = {count, requests, index, status}, .number = 4};
    struct pmpi_hook_complete before;
    if (!fortran_open(&c, &info, ierror))
        return;
    fortran_save(&c, &before);
    fortran_hand_status(&c);
    if (fortran_run(&c, from) && fortran_int(index) != MPI_UNDEFINED)
        fortran_any(&c, &before, fortran_int(index));
    pmpi_hook_end(&c.call);
}

void pmpi_hook_fortran_testany(struct pmpi_hook_target *target, void *from, void *count, void *requests, void *index,
                               void *flag, void *status, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Testany", JOB_COMPLETION, false, true};
    struct fortran_call c = {.target = target, .argument = {count, requests, index, flag, status}, .number = 5};
    struct pmpi_hook_complete before;
    if (!fortran_open(&c, &info, ierror))
        return;
    fortran_save(&c, &before);
    fortran_hand_status(&c);
    bool done = fortran_run(&c, from) && fortran_int(flag) && fortran_int(index) != MPI_UNDEFINED;
    if (done)
        fortran_any(&c, &before, fortran_int(index));
    fortran_end(&c, done);
}

/* MPI_Waitsome and MPI_Testsome differ in what an event is. Returns how many completed, or less. */
static int fortran_some(struct fortran_call *c, void *from)
{
    struct pmpi_hook_complete before;
    fortran_save(c, &before);
    MPI_Status *room = fortran_hand_statuses(c, &before);
    if (!fortran_run(c, from) || fortran_int(c->argument[2]) == MPI_UNDEFINED)
        return 0;
    int number = fortran_int(c->argument[2]);
    pmpi_hook_complete_some(&c->call, &before, c->argument[3], number, fortran_first(c->target),
                            fortran_statuses(c, room, number));
    return number;
}

void pmpi_hook_fortran_waitsome(struct pmpi_hook_target *target, void *from, void *incount, void *requests,
                                void *outcount, void *indices, void *statuses, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Waitsome", JOB_COMPLETION, true, false};
    struct fortran_call c = { .target = target,
                              .argument = { incount, requests, outcount, indices, statuses },
                              .number = 5 };
    if (!fortran_open(&c, &info, ierror))
        return;
    fortran_some(&c, from);
    pmpi_hook_end(&c.call);
}

void pmpi_hook_fortran_testsome(struct pmpi_hook_target *target, void *from, void *incount, void *requests,
                                void *outcount, void *indices, void *statuses, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Testsome", JOB_COMPLETION, false, true};
    struct fortran_call c = { .target = target,
                              .argument = { incount, requests, outcount, indices, statuses },
                              .number = 5 };
    if (!fortran_open(&c, &info, ierror))
        return;
    fortran_end(&c, fortran_some(&c, from) > 0);
}

/* --- Completion of all --- */

void pmpi_hook_fortran_waitall(struct pmpi_hook_target *target, void *from, void *count, void *requests, void *statuses,
                               MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Waitall", JOB_COMPLETION, true, false};
    struct fortran_call c = {.target = target, .argument = {count, requests, statuses}, .number = 3};
    struct pmpi_hook_complete before;
    if (!fortran_open(&c, &info, ierror))
        return;
    fortran_save(&c, &before);
    MPI_Status *room = fortran_hand_statuses(&c, &before);
    if (fortran_run(&c, from))
        pmpi_hook_complete_all(&c.call, &before, fortran_int(count), fortran_statuses(&c, room, fortran_int(count)));
    pmpi_hook_end(&c.call);
}

void pmpi_hook_fortran_testall(struct pmpi_hook_target *target, void *from, void *count, void *requests, void *flag,
                               void *statuses, MPI_Fint *ierror)
{
    static const struct pmpi_hook_info info = {"MPI_Testall", JOB_COMPLETION, false, true};
    struct fortran_call c = {.target = target, .argument = {count, requests, flag, statuses}, .number = 4};
    struct pmpi_hook_complete before;
    if (!fortran_open(&c, &info, ierror))
        return;
    fortran_save(&c, &before);
    MPI_Status *room = fortran_hand_statuses(&c, &before);
    bool done = fortran_run(&c, from) && fortran_int(flag) &&
                pmpi_hook_complete_all(&c.call, &before, fortran_int(count),
                                       fortran_statuses(&c, room, fortran_int(count))) > 0;
    fortran_end(&c, done);
}
