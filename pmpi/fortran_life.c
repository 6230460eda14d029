/* SPDX-License-Identifier: MIT */
/* MPI_Init and its like in Fortran: arguments of their own, the same steps. */
#include "pmpi/fortran.h"
#include "pmpi/life.h"

/* One body for mpi_x_ and mpi_x_f08_: `entry` calls it with the target and the program's arguments. */
#define FORTRAN_ENTRY(name, parameters, entry) \
    PYTHIA_API void name parameters; \
    PYTHIA_API void name parameters \
    { \
        static struct pmpi_hook_target target = {.profiled = "p" #name, .plain = #name}; \
        entry; \
    }
#define FORTRAN_ENTRIES(name, parameters, entry) \
    FORTRAN_ENTRY(name##_, parameters, entry) \
    FORTRAN_ENTRY(name##_f08_, parameters, entry)
#define FROM __builtin_return_address(0)

static void fortran_init(struct pmpi_hook_target *target, void *from, MPI_Fint *ierror)
{
    MPI_Fint own = MPI_SUCCESS, *error = ierror ? ierror : &own;
    void (*real)(MPI_Fint *) = (void (*)(MPI_Fint *))pmpi_hook_target_find(target, ierror);
    if (!real)
        return;
    pmpi_hook_life_comes(from);
    real(error);
    if (*error == MPI_SUCCESS)
        pmpi_hook_life_begun(false);
}

FORTRAN_ENTRIES(mpi_init, (MPI_Fint *ierror), fortran_init(&target, FROM, ierror))

static void fortran_init_thread(struct pmpi_hook_target *target, void *from, MPI_Fint *required, MPI_Fint *provided,
                                MPI_Fint *ierror)
{
    MPI_Fint own = MPI_SUCCESS, *error = ierror ? ierror : &own;
    void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *) =
        (void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))pmpi_hook_target_find(target, ierror);
    if (!real)
        return;
    pmpi_hook_life_comes(from);
    real(required, provided, error);
    if (*error == MPI_SUCCESS)
        pmpi_hook_life_begun(true);
}

FORTRAN_ENTRIES(mpi_init_thread, (MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror),
                fortran_init_thread(&target, FROM, required, provided, ierror))

static void fortran_finalize(struct pmpi_hook_target *target, void *from, MPI_Fint *ierror)
{
    void (*real)(MPI_Fint *) = (void (*)(MPI_Fint *))pmpi_hook_target_find(target, ierror);
    pmpi_hook_life_ends(from);
    if (real)
        real(ierror);
    pmpi_hook_life_ended();
}

FORTRAN_ENTRIES(mpi_finalize, (MPI_Fint *ierror), fortran_finalize(&target, FROM, ierror))

static void fortran_abort(struct pmpi_hook_target *target, void *from, MPI_Fint *comm, MPI_Fint *errorcode,
                          MPI_Fint *ierror)
{
    void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *) =
        (void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))pmpi_hook_target_find(target, ierror);
    pmpi_hook_life_aborts(from);
    if (real)
        real(comm, errorcode, ierror);
}

FORTRAN_ENTRIES(mpi_abort, (MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror),
                fortran_abort(&target, FROM, comm, errorcode, ierror))

#ifdef MPI_SESSION_NULL
static void fortran_session_init(struct pmpi_hook_target *target, void *info, void *errhandler, void *session,
                                 MPI_Fint *ierror)
{
    void (*real)(void *, void *, void *, MPI_Fint *) =
        (void (*)(void *, void *, void *, MPI_Fint *))pmpi_hook_target_find(target, ierror);
    pmpi_hook_life_session();
    if (real)
        real(info, errhandler, session, ierror);
}

FORTRAN_ENTRIES(mpi_session_init, (void *info, void *errhandler, void *session, MPI_Fint *ierror),
                fortran_session_init(&target, info, errhandler, session, ierror))
#endif

static void fortran_pcontrol(struct pmpi_hook_target *target, bool counts, MPI_Fint *level)
{
    void (*real)(MPI_Fint *) = (void (*)(MPI_Fint *))pmpi_hook_target_find(target, NULL);
    if (counts)
        pmpi_hook_life_control(*level);
    if (real)
        real(level);
}

/* MPICH's mpi_pcontrol_ comes to that of C. */
#ifdef OPEN_MPI
FORTRAN_ENTRY(mpi_pcontrol_, (MPI_Fint *level), fortran_pcontrol(&target, true, level))
#else
FORTRAN_ENTRY(mpi_pcontrol_, (MPI_Fint *level), fortran_pcontrol(&target, false, level))
#endif
FORTRAN_ENTRY(mpi_pcontrol_f08_, (MPI_Fint *level), fortran_pcontrol(&target, true, level))
