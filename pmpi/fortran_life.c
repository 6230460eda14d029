/* SPDX-License-Identifier: MIT */
/* MPI_Init and its like in Fortran: arguments of their own, the same steps. */
#include "pmpi/companions.h"
#include "pmpi/fortran.h"
#include "pmpi/life.h"

#define FORTRAN_TWIN(name) \
    static struct pmpi_hook_twin twin = {.profiled = "p" name, .plain = name}

PYTHIA_API void mpi_init_(MPI_Fint *ierror);
PYTHIA_API void mpi_init_f08_(MPI_Fint *ierror);
PYTHIA_API void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror);
PYTHIA_API void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror);
PYTHIA_API void mpi_finalize_(MPI_Fint *ierror);
PYTHIA_API void mpi_finalize_f08_(MPI_Fint *ierror);
PYTHIA_API void mpi_abort_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror);
PYTHIA_API void mpi_abort_f08_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror);
PYTHIA_API void mpi_pcontrol_(MPI_Fint *level);
PYTHIA_API void mpi_pcontrol_f08_(MPI_Fint *level);

static void fortran_init(struct pmpi_hook_twin *twin, void *from, MPI_Fint *ierror)
{
    MPI_Fint own = MPI_SUCCESS, *error = ierror ? ierror : &own;
    void (*real)(MPI_Fint *) = (void (*)(MPI_Fint *))pmpi_hook_twin_find(twin, ierror);
    if (!real)
        return;
    pmpi_hook_companions_announce();
    pmpi_hook_life_comes(from);
    real(error);
    if (*error == MPI_SUCCESS)
        pmpi_hook_life_begun(false, from);
}

PYTHIA_API void mpi_init_(MPI_Fint *ierror)
{
    FORTRAN_TWIN("mpi_init_");
    fortran_init(&twin, __builtin_return_address(0), ierror);
}

PYTHIA_API void mpi_init_f08_(MPI_Fint *ierror)
{
    FORTRAN_TWIN("mpi_init_f08_");
    fortran_init(&twin, __builtin_return_address(0), ierror);
}

static void fortran_init_thread(struct pmpi_hook_twin *twin, void *from, MPI_Fint *required, MPI_Fint *provided,
                                MPI_Fint *ierror)
{
    MPI_Fint own = MPI_SUCCESS, *error = ierror ? ierror : &own;
    void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *) =
        (void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))pmpi_hook_twin_find(twin, ierror);
    if (!real)
        return;
    pmpi_hook_companions_announce();
    pmpi_hook_life_comes(from);
    real(required, provided, error);
    if (*error == MPI_SUCCESS)
        pmpi_hook_life_begun(true, from);
}

PYTHIA_API void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    FORTRAN_TWIN("mpi_init_thread_");
    fortran_init_thread(&twin, __builtin_return_address(0), required, provided, ierror);
}

PYTHIA_API void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    FORTRAN_TWIN("mpi_init_thread_f08_");
    fortran_init_thread(&twin, __builtin_return_address(0), required, provided, ierror);
}

static void fortran_finalize(struct pmpi_hook_twin *twin, void *from, MPI_Fint *ierror)
{
    void (*real)(MPI_Fint *) = (void (*)(MPI_Fint *))pmpi_hook_twin_find(twin, ierror);
    pmpi_hook_life_ends(from);
    if (real)
        real(ierror);
}

PYTHIA_API void mpi_finalize_(MPI_Fint *ierror)
{
    FORTRAN_TWIN("mpi_finalize_");
    fortran_finalize(&twin, __builtin_return_address(0), ierror);
}

PYTHIA_API void mpi_finalize_f08_(MPI_Fint *ierror)
{
    FORTRAN_TWIN("mpi_finalize_f08_");
    fortran_finalize(&twin, __builtin_return_address(0), ierror);
}

static void fortran_abort(struct pmpi_hook_twin *twin, void *from, MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
    void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *) =
        (void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))pmpi_hook_twin_find(twin, ierror);
    pmpi_hook_life_aborts(from);
    if (real)
        real(comm, errorcode, ierror);
}

PYTHIA_API void mpi_abort_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
    FORTRAN_TWIN("mpi_abort_");
    fortran_abort(&twin, __builtin_return_address(0), comm, errorcode, ierror);
}

PYTHIA_API void mpi_abort_f08_(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
    FORTRAN_TWIN("mpi_abort_f08_");
    fortran_abort(&twin, __builtin_return_address(0), comm, errorcode, ierror);
}

static void fortran_pcontrol(struct pmpi_hook_twin *twin, MPI_Fint *level)
{
    void (*real)(MPI_Fint *) = (void (*)(MPI_Fint *))pmpi_hook_twin_find(twin, NULL);
    pmpi_hook_life_control(*level);
    if (real)
        real(level);
}

/* That of MPICH comes to C's. */
PYTHIA_API void mpi_pcontrol_(MPI_Fint *level)
{
    FORTRAN_TWIN("mpi_pcontrol_");
#ifdef OPEN_MPI
    fortran_pcontrol(&twin, level);
#else
    void (*real)(MPI_Fint *) = (void (*)(MPI_Fint *))pmpi_hook_twin_find(&twin, NULL);
    if (real)
        real(level);
#endif
}

PYTHIA_API void mpi_pcontrol_f08_(MPI_Fint *level)
{
    FORTRAN_TWIN("mpi_pcontrol_f08_");
    fortran_pcontrol(&twin, level);
}
