# SPDX-License-Identifier: MIT
# Four programs from one source. Each has flags of its own and so objects of its own; the flags of the rest of the tree but
# warnings and sanitizers are not for them: nothing here uses its headers or libraries.
LULESH_COMMON = %D%/domain.c %D%/domain.h %D%/eos.c %D%/force.c %D%/halo.h %D%/hex.h %D%/hourglass.c %D%/kinematics.c \
	%D%/main.c %D%/mesh.c %D%/method.h %D%/motion.c %D%/options.c %D%/options.h %D%/regions.c %D%/report.c \
	%D%/report.h %D%/team.h %D%/timestep.c %D%/viscosity.c
# Where there is no OpenMP its pragmas mean nothing, also for lulesh and lulesh-omp under configure --disable-openmp.
LULESH_CFLAGS = $(AM_CFLAGS) -Wno-unknown-pragmas

noinst_PROGRAMS += %D%/lulesh-omp %D%/lulesh-serial

%C%_lulesh_omp_SOURCES = $(LULESH_COMMON) %D%/halo_none.c
%C%_lulesh_omp_CPPFLAGS =
%C%_lulesh_omp_CFLAGS = $(LULESH_CFLAGS) $(OPENMP_CFLAGS)
%C%_lulesh_omp_LDADD = -lm

%C%_lulesh_serial_SOURCES = $(LULESH_COMMON) %D%/halo_none.c
%C%_lulesh_serial_CPPFLAGS =
%C%_lulesh_serial_CFLAGS = $(LULESH_CFLAGS)
%C%_lulesh_serial_LDADD = -lm

if HAVE_MPI
noinst_PROGRAMS += %D%/lulesh %D%/lulesh-mpi
endif

%C%_lulesh_SOURCES = $(LULESH_COMMON) %D%/halo_mpi.c
%C%_lulesh_CPPFLAGS = $(MPI_CFLAGS)
%C%_lulesh_CFLAGS = $(LULESH_CFLAGS) $(OPENMP_CFLAGS)
%C%_lulesh_LDADD = $(MPI_LIBS) -lm

%C%_lulesh_mpi_SOURCES = $(LULESH_COMMON) %D%/halo_mpi.c
%C%_lulesh_mpi_CPPFLAGS = $(MPI_CFLAGS)
%C%_lulesh_mpi_CFLAGS = $(LULESH_CFLAGS)
%C%_lulesh_mpi_LDADD = $(MPI_LIBS) -lm

EXTRA_DIST += %D%/README.md

include tests/lulesh/local.mk
