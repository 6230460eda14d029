# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-file.la
libpythia_file_la_SOURCES = %D%/file.h \
	%D%/ahead.c %D%/ahead.h \
	%D%/blocks.c %D%/blocks.h \
	%D%/container.c %D%/container.h \
	%D%/file.c \
	%D%/format.h \
	%D%/lean.c %D%/lean.h \
	%D%/open.c %D%/open.h \
	%D%/pack.c %D%/pack.h %D%/pack_class.c %D%/pack_parts.c \
	%D%/table.c %D%/table.h \
	%D%/timeline.c %D%/timeline.h \
	%D%/unpack.c %D%/unpack.h %D%/unpack_class.c \
	%D%/values.c %D%/values.h
libpythia_file_la_LIBADD = $(ZSTD_LIBS) -lm

UNIT_TESTS += tests/unit/test_job_files tests/unit/test_job_forged
UNIT_TESTS += tests/unit/test_open tests/unit/test_open_attrs tests/unit/test_open_damage
tests_unit_test_job_files_SOURCES = tests/unit/test_job_files.c $(SIMULATE_MERGE)
tests_unit_test_job_forged_SOURCES = tests/unit/test_job_forged.c tests/unit/hand_job.c tests/unit/hand_job.h \
	tests/unit/forge.c tests/unit/forge.h $(BYTES) $(SIMULATE_MERGE)
tests_unit_test_job_forged_LDADD = $(LDADD) $(ZSTD_LIBS) $(XXHASH_LIBS)
OPENED = tests/unit/opened.c tests/unit/opened.h
tests_unit_test_open_SOURCES = tests/unit/test_open.c $(OPENED)
tests_unit_test_open_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_unit_test_open_attrs_SOURCES = tests/unit/test_open_attrs.c $(OPENED)
tests_unit_test_open_attrs_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_unit_test_open_damage_SOURCES = tests/unit/test_open_damage.c $(OPENED)
tests_unit_test_open_damage_LDADD = $(LDADD) $(ZSTD_LIBS)

check_PROGRAMS += tests/tool/dump_job tests/tool/still_job
tests_tool_still_job_SOURCES = tests/tool/still_job.c
tests_tool_still_job_LDADD = $(PYTHIA_CORE)
tests_tool_dump_job_SOURCES = tests/tool/dump_job.c $(SIMULATE)
tests_tool_dump_job_LDADD = $(PYTHIA_CORE)
TESTS += tests/tool/format.test
EXTRA_DIST += doc/FORMAT.md tests/tool/format.test tests/tool/check_format.py tests/tool/read_job.py

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
