/* SPDX-License-Identifier: MIT */
/* Targets and arguments of the Fortran bindings. */
#include "pmpi/fortran.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* What Fortran's constants look like to C. The variables are in the libraries of Fortran, or of the program. */
#ifdef OPEN_MPI
extern MPI_Fint mpi_fortran_in_place_ __attribute__((weak));
extern MPI_Fint mpi_fortran_status_ignore_ __attribute__((weak));
extern MPI_Fint mpi_fortran_statuses_ignore_ __attribute__((weak));

static bool fortran_in_place(const void *buffer)
{
    return buffer == &mpi_fortran_in_place_;
}

static bool fortran_ignored(const void *status)
{
    return status == &mpi_fortran_status_ignore_;
}

static bool fortran_ignored_all(const void *statuses)
{
    return statuses == &mpi_fortran_statuses_ignore_ || statuses == MPI_F_STATUSES_IGNORE;
}
#else
extern void *MPIR_F_MPI_IN_PLACE __attribute__((weak)); /* mpif.h and `use mpi`: points to it */
extern MPI_Fint MPIR_F08_MPI_IN_PLACE __attribute__((weak));
extern MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ __attribute__((weak));
extern MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1] __attribute__((weak));

static bool fortran_in_place(const void *buffer)
{
    return buffer == &MPIR_F08_MPI_IN_PLACE || (&MPIR_F_MPI_IN_PLACE && buffer == MPIR_F_MPI_IN_PLACE);
}

static bool fortran_ignored(const void *status)
{
    return status == MPI_F_STATUS_IGNORE || status == (const void *)&MPIR_F08_MPI_STATUS_IGNORE_OBJ;
}

static bool fortran_ignored_all(const void *statuses)
{
    return statuses == MPI_F_STATUSES_IGNORE || statuses == (const void *)MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}
#endif

enum { FORTRAN_LIBRARIES = 8 };

struct fortran_loaded {
    char *path[FORTRAN_LIBRARIES];
    int count;
};

/* The loader's lock is held here: what dlopen needs is only noted. */
static int fortran_note(struct dl_phdr_info *object, size_t size, void *data)
{
    struct fortran_loaded *loaded = data;
    const char *name = object->dlpi_name;
    (void)size;
    if (name && (strstr(name, "libmpi_mpifh") || strstr(name, "libmpi_usempi") || strstr(name, "libmpichfort")) &&
        loaded->count < FORTRAN_LIBRARIES)
        loaded->path[loaded->count++] = strdup(name);
    return 0;
}

static void *fortran_in(const char *path, const char *symbol)
{
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, symbol) : NULL;
    if (library)
        dlclose(library);
    return found;
}

/* Among all libraries of the program; where a plug-in brought its own, among those that are loaded. */
static void *fortran_resolve(const struct pmpi_hook_target *target)
{
    struct fortran_loaded loaded = {.count = 0};
    void *found = dlsym(RTLD_DEFAULT, target->profiled);
    if (found)
        return found;
    dl_iterate_phdr(fortran_note, &loaded);
    for (int i = 0; i < loaded.count; i++) {
        if (!found)
            found = fortran_in(loaded.path[i], target->profiled);
        free(loaded.path[i]);
    }
    return found ? found : dlsym(RTLD_NEXT, target->plain);
}

void *pmpi_hook_target_find(struct pmpi_hook_target *target, MPI_Fint *ierror)
{
    void *real = atomic_load_explicit(&target->real, memory_order_acquire);
    if (real)
        return real;
    int kept = errno;
    real = fortran_resolve(target);
    errno = kept;
    atomic_store_explicit(&target->real, real, memory_order_release);
    if (!real) {
        base_log_warn("no library of the program has %s nor another %s", target->profiled, target->plain);
        if (ierror)
            *ierror = MPI_ERR_INTERN;
    }
    return real;
}

const void *pmpi_hook_fortran_buffer(const struct pmpi_hook_target *target, const void *buffer)
{
    if (target->descriptors && buffer)
        memcpy(&buffer, buffer, sizeof buffer);
    return fortran_in_place(buffer) ? MPI_IN_PLACE : buffer;
}

void *pmpi_hook_fortran_handed(void *status, union pmpi_hook_fortran_room *own)
{
    return status && fortran_ignored(status) ? own : status;
}

const MPI_Status *pmpi_hook_fortran_status(const void *handed, MPI_Status *c)
{
    return handed && PMPI_Status_f2c(handed, c) == MPI_SUCCESS ? c : NULL;
}

/* Fortran's statuses are as many integers as C's; integers of twice the size do not fit in the room. */
void *pmpi_hook_fortran_handed_all(void *statuses, MPI_Status **room)
{
    bool replaced = statuses && fortran_ignored_all(statuses);
    if (!statuses || (replaced && sizeof(MPI_Fint) > sizeof(int)))
        *room = MPI_STATUSES_IGNORE;
    return replaced && *room != MPI_STATUSES_IGNORE ? *room : statuses;
}

const MPI_Status *pmpi_hook_fortran_statuses(const void *handed, MPI_Status *room, int number)
{
    const size_t stride = sizeof(MPI_Status) / sizeof(int) * sizeof(MPI_Fint);
    MPI_Status one;
    for (int i = 0; room != MPI_STATUSES_IGNORE && i < number; i++) {
        if (!pmpi_hook_fortran_status((const char *)handed + (size_t)i * stride, &one))
            return MPI_STATUSES_IGNORE;
        room[i] = one;
    }
    return room;
}
