# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-merge.la
libpythia_merge_la_SOURCES = %D%/job.h \
	%D%/blocks.c %D%/blocks.h \
	%D%/check.c %D%/check.h \
	%D%/class.c %D%/class.h \
	%D%/container.c %D%/container.h \
	%D%/file.c \
	%D%/format.h \
	%D%/intern.c %D%/intern.h \
	%D%/job.c \
	%D%/match.c \
	%D%/members.c \
	%D%/merge.c \
	%D%/open.c %D%/open.h %D%/open_values.c \
	%D%/pack.c %D%/pack.h %D%/pack_class.c %D%/pack_parts.c \
	%D%/ranges.c %D%/ranges.h \
	%D%/regions.c %D%/regions.h \
	%D%/task.c \
	%D%/relation.c %D%/relation.h \
	%D%/streams.c %D%/streams.h \
	%D%/sum.c \
	%D%/times.c %D%/times.h \
	%D%/unpack.c %D%/unpack.h %D%/unpack_class.c \
	%D%/update.c %D%/update.h %D%/update_near.c \
	%D%/value.c \
	%D%/variant.c
libpythia_merge_la_LIBADD = $(ZSTD_LIBS) -lm

UNIT_TESTS += tests/unit/test_job tests/unit/test_job_files tests/unit/test_job_forged
UNIT_TESTS += tests/unit/test_open tests/unit/test_open_attrs tests/unit/test_open_damage
UNIT_TESTS += tests/unit/test_merge tests/unit/test_merge_memory
UNIT_TESTS += tests/unit/test_regions tests/unit/test_ranges tests/unit/test_update
SIMULATE = tests/unit/simulate.c tests/unit/simulate.h
SIMULATE_MERGE = tests/unit/simulate_merge.c $(SIMULATE)
BYTES = tests/unit/bytes.c tests/unit/bytes.h
tests_unit_test_job_SOURCES = tests/unit/test_job.c $(BYTES) $(SIMULATE_MERGE)
tests_unit_test_job_files_SOURCES = tests/unit/test_job_files.c $(SIMULATE_MERGE)
tests_unit_test_job_forged_SOURCES = tests/unit/test_job_forged.c \
	tests/unit/forge.c tests/unit/forge.h $(BYTES) $(SIMULATE_MERGE)
tests_unit_test_job_forged_LDADD = $(LDADD) $(ZSTD_LIBS) $(XXHASH_LIBS)
tests_unit_test_ranges_SOURCES = tests/unit/test_ranges.c $(SIMULATE)
OPENED = tests/unit/opened.c tests/unit/opened.h
tests_unit_test_open_SOURCES = tests/unit/test_open.c $(OPENED)
tests_unit_test_open_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_unit_test_open_attrs_SOURCES = tests/unit/test_open_attrs.c $(OPENED)
tests_unit_test_open_attrs_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_unit_test_open_damage_SOURCES = tests/unit/test_open_damage.c $(OPENED)
tests_unit_test_open_damage_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_unit_test_merge_SOURCES = tests/unit/test_merge.c tests/unit/simulate_compare.c $(SIMULATE_MERGE)
tests_unit_test_merge_memory_SOURCES = tests/unit/test_merge_memory.c $(SIMULATE_MERGE)
tests_unit_test_merge_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup

check_PROGRAMS += tests/tool/dump_job tests/tool/still_job
tests_tool_still_job_SOURCES = tests/tool/still_job.c
tests_tool_still_job_LDADD = $(PYTHIA_CORE)
tests_tool_dump_job_SOURCES = tests/tool/dump_job.c $(SIMULATE)
tests_tool_dump_job_LDADD = $(PYTHIA_CORE)
TESTS += tests/tool/format.test
EXTRA_DIST += doc/FORMAT.md tests/tool/format.test tests/tool/read_job.py

# Over MPI: only libpythia_pmpi has it.
if HAVE_MPI
noinst_LTLIBRARIES += libpythia-mergempi.la
libpythia_mergempi_la_SOURCES = %D%/merge_mpi.c %D%/merge_mpi.h
libpythia_mergempi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)

check_PROGRAMS += tests/mpi/merge_ranks
tests_mpi_merge_ranks_SOURCES = tests/mpi/merge_ranks.c $(SIMULATE)
tests_mpi_merge_ranks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_merge_ranks_LDADD = libpythia-mergempi.la $(PYTHIA_CORE) $(MPI_LIBS)
TESTS += tests/mpi/merge.test
endif
EXTRA_DIST += tests/mpi/merge.test

# A disk that fails.
check_LTLIBRARIES += tests/tool/libfaults.la
tests_tool_libfaults_la_SOURCES = tests/tool/faults.c
tests_tool_libfaults_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere
tests_tool_libfaults_la_LIBADD =
TESTS += tests/tool/faults.test
if HAVE_MPI
TESTS += tests/mpi/faults.test
endif
EXTRA_DIST += tests/tool/faults.test tests/mpi/faults.test
