/* SPDX-License-Identifier: MIT */
/* Twins and arguments of the Fortran bindings. */
#include "pmpi/fortran.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Variables of Open MPI whose addresses are the constants of Fortran. */
extern MPI_Fint mpi_fortran_in_place_ __attribute__((weak));
extern MPI_Fint mpi_fortran_status_ignore_ __attribute__((weak));

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
    if (name && (strstr(name, "libmpi_mpifh") || strstr(name, "libmpi_usempi")) && loaded->count < FORTRAN_LIBRARIES)
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
static void *fortran_resolve(const struct pmpi_hook_twin *twin)
{
    struct fortran_loaded loaded = {.count = 0};
    void *found = dlsym(RTLD_DEFAULT, twin->profiled);
    if (found)
        return found;
    dl_iterate_phdr(fortran_note, &loaded);
    for (int i = 0; i < loaded.count; i++) {
        if (!found)
            found = fortran_in(loaded.path[i], twin->profiled);
        free(loaded.path[i]);
    }
    return found ? found : dlsym(RTLD_NEXT, twin->plain);
}

void *pmpi_hook_twin_find(struct pmpi_hook_twin *twin, MPI_Fint *ierror)
{
    void *real = atomic_load_explicit(&twin->real, memory_order_acquire);
    if (real)
        return real;
    real = fortran_resolve(twin);
    atomic_store_explicit(&twin->real, real, memory_order_release);
    if (!real) {
        base_log_warn("no library of the program has %s nor another %s", twin->profiled, twin->plain);
        if (ierror)
            *ierror = MPI_ERR_INTERN;
    }
    return real;
}

const void *pmpi_hook_fortran_buffer(const void *buffer)
{
    return buffer == &mpi_fortran_in_place_ ? MPI_IN_PLACE : buffer;
}

const MPI_Status *pmpi_hook_fortran_status(const void *status, MPI_Status *own)
{
    if (!status || status == &mpi_fortran_status_ignore_ || PMPI_Status_f2c(status, own) != MPI_SUCCESS)
        return NULL;
    return own;
}

static int64_t fortran_bytes(struct pmpi_hook_call *call, const int counts[], const MPI_Fint types[], int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += counts[i] > 0 ? pmpi_hook_bytes_of(call, counts[i], pmpi_hook_fortran_type(&types[i])) : 0;
    call->element = 1;
    return sum;
}

int64_t pmpi_hook_fortran_bytes_each(struct pmpi_hook_call *call, const void *sendbuf, const int sendcounts[],
                                     const MPI_Fint sendtypes[], const int recvcounts[], const MPI_Fint recvtypes[])
{
    int n = call->comm ? call->comm->fan : 0;
    if (sendbuf == MPI_IN_PLACE)
        return fortran_bytes(call, recvcounts, recvtypes, n);
    return fortran_bytes(call, sendcounts, sendtypes, n);
}

int64_t pmpi_hook_fortran_bytes_near_each(struct pmpi_hook_call *call, const int counts[], const MPI_Fint types[])
{
    return fortran_bytes(call, counts, types, call->comm ? call->comm->degree : 0);
}
