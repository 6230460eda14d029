# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-inside.la
libpythia_inside_la_SOURCES = \
	%D%/mark.h \
	%D%/ring.c %D%/ring.h \
	%D%/samples.c %D%/samples.h

# Of the command alone: other processes.
noinst_LTLIBRARIES += libpythia-insidetools.la
libpythia_insidetools_la_SOURCES = \
	%D%/maps.c %D%/maps.h \
	%D%/walk.c %D%/walk.h
libpythia_insidetools_la_CPPFLAGS = $(AM_CPPFLAGS) $(UNWIND_PTRACE_CFLAGS)
libpythia_insidetools_la_LIBADD = $(UNWIND_PTRACE_LIBS) $(DW_LIBS) $(ELF_LIBS)

UNIT_TESTS += tests/unit/test_inside

if HAVE_MPI
check_PROGRAMS += tests/mpi/inside
tests_mpi_inside_SOURCES = tests/mpi/inside.c
tests_mpi_inside_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_inside_CFLAGS = $(AM_CFLAGS) -g -O1
tests_mpi_inside_LDADD = $(MPI_LIBS)
check_PROGRAMS += tests/mpi/stuck
tests_mpi_stuck_SOURCES = tests/mpi/stuck.c
tests_mpi_stuck_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_stuck_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -g -O2
tests_mpi_stuck_LDADD = $(MPI_LIBS)
TESTS += tests/mpi/inside.test tests/mpi/stacks.test tests/mpi/placement.test
endif
EXTRA_DIST += tests/mpi/inside.test tests/mpi/stacks.test tests/mpi/placement.test
