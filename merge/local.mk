# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-merge.la
libpythia_merge_la_SOURCES = %D%/merge.h \
	%D%/add.c \
	%D%/union.c %D%/union.h \
	%D%/merge.c \
	%D%/programs.c %D%/programs.h \
	%D%/turns.c \
	%D%/update.c \
	%D%/variant.c
libpythia_merge_la_LIBADD = -lm

UNIT_TESTS += tests/unit/test_merge tests/unit/test_merge_memory tests/unit/test_update tests/unit/test_variant
tests_unit_test_merge_SOURCES = tests/unit/test_merge.c tests/unit/simulate_compare.c $(SIMULATE_MERGE)
tests_unit_test_variant_SOURCES = tests/unit/test_variant.c tests/unit/hand_job.c tests/unit/hand_job.h
tests_unit_test_merge_memory_SOURCES = tests/unit/test_merge_memory.c $(SIMULATE_MERGE)
tests_unit_test_merge_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup

# Over MPI: only libpythia_pmpi has it.
if HAVE_MPI
noinst_LTLIBRARIES += libpythia-mergempi.la
libpythia_mergempi_la_SOURCES = %D%/merge_mpi.c %D%/merge_mpi.h
libpythia_mergempi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)

check_PROGRAMS += tests/mpi/merge_ranks
tests_mpi_merge_ranks_SOURCES = tests/mpi/merge_ranks.c $(AUDIT_JOB) $(SIMULATE)
tests_mpi_merge_ranks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_merge_ranks_LDADD = libpythia-mergempi.la $(PYTHIA_CORE) $(MPI_LIBS)
TESTS += tests/mpi/merge.test
endif
EXTRA_DIST += tests/mpi/merge.test
