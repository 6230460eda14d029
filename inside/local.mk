# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-inside.la
libpythia_inside_la_SOURCES = \
	%D%/mark.h \
	%D%/ring.c %D%/ring.h \
	%D%/samples.c %D%/samples.h

UNIT_TESTS += tests/unit/test_inside
tests_unit_test_inside_LDADD = libpythia-unit.la libpythia-inside.la $(PYTHIA_CORE) $(CHECK_LIBS)

if HAVE_MPI
check_PROGRAMS += tests/mpi/inside
tests_mpi_inside_SOURCES = tests/mpi/inside.c
tests_mpi_inside_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_inside_CFLAGS = $(AM_CFLAGS) -g -O1
tests_mpi_inside_LDADD = $(MPI_LIBS)
TESTS += tests/mpi/inside.test
endif
EXTRA_DIST += tests/mpi/inside.test
