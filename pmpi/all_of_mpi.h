/* SPDX-License-Identifier: MIT */
/* Everything that the MPI library declares, extensions included. */
#ifndef PYTHIA_PMPI_ALL_OF_MPI_H
#define PYTHIA_PMPI_ALL_OF_MPI_H

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#endif
