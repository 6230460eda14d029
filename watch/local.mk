# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-watch.la
libpythia_watch_la_SOURCES = \
	%D%/board.c %D%/board.h \
	%D%/copy.c %D%/copy.h \
	%D%/kept.c %D%/kept.h \
	%D%/numbers.c %D%/numbers.h \
	%D%/process.c %D%/process.h \
	%D%/read.c %D%/read.h \
	%D%/slow.c \
	%D%/verdict.c %D%/verdict.h \
	%D%/waits.c \
	%D%/within.c
libpythia_watch_la_LIBADD = $(XXHASH_LIBS)

UNIT_TESTS += tests/unit/test_watch_board
UNIT_TESTS += tests/unit/test_watch tests/unit/test_watch_times
SIGHTS = tests/unit/sights.c tests/unit/sights.h
tests_unit_test_watch_SOURCES = tests/unit/test_watch.c $(SIGHTS)
tests_unit_test_watch_times_SOURCES = tests/unit/test_watch_times.c $(SIGHTS)

if HAVE_MPI
check_PROGRAMS += tests/mpi/watched
tests_mpi_watched_SOURCES = tests/mpi/watched.c
tests_mpi_watched_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_watched_CFLAGS = $(AM_CFLAGS) -g -O1
tests_mpi_watched_LDADD = $(MPI_LIBS)
endif
TESTS += tests/mpi/watch.test tests/mpi/watch_nodes.test
LONG_TESTS += tests/mpi/watch-long.test
EXTRA_DIST += tests/mpi/watch.test tests/mpi/watch_nodes.test tests/mpi/watch-long.test
