# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-session.la
libpythia_session_la_SOURCES = \
	%D%/append.h %D%/ask.c %D%/ask.h %D%/binding.c \
	%D%/checkpoint.c \
	%D%/choose.c \
	%D%/clock.c %D%/clock.h \
	%D%/control.c \
	%D%/copies.c \
	%D%/define.c %D%/ends.c \
	%D%/delay.c \
	%D%/end.c %D%/end.h \
	%D%/exec.c \
	%D%/internal.h \
	%D%/keys.c %D%/keys.h \
	%D%/life.c %D%/life.h \
	%D%/named.c %D%/named.h %D%/notes.c \
	%D%/part.c \
	%D%/peers.c %D%/peers.h \
	%D%/predict.c \
	%D%/process.c \
	%D%/progress.c \
	%D%/publish.c \
	%D%/samples.c \
	%D%/starts.c %D%/starts.h \
	%D%/sums.c \
	%D%/took.c \
	%D%/timeline.c %D%/timeline.h \
	%D%/flow.c %D%/flow.h %D%/foretold.c %D%/freeze.c \
	%D%/hops.c %D%/hops.h \
	%D%/memo.h %D%/site.c %D%/site.h \
	%D%/self.c %D%/self.h \
	%D%/signals.c \
	%D%/stream.c %D%/stream.h \
	%D%/summary.c \
	%D%/machine.c \
	%D%/tree.c %D%/tree.h \
	%D%/thread.c

UNIT_TESTS += tests/unit/test_session tests/unit/test_session_threads tests/unit/test_session_predict
UNIT_TESTS += tests/unit/test_checkpoint
if HAVE_UNWIND
UNIT_TESTS += tests/unit/test_session_site
endif
tests_unit_test_session_site_LDADD = $(LDADD) $(UNWIND_LIBS)
UNIT_TESTS += tests/unit/test_machine tests/unit/test_timeline tests/unit/test_clock
tests_unit_test_clock_SOURCES = tests/unit/test_clock.c tests/unit/simulate.c tests/unit/simulate.h
tests_unit_test_timeline_SOURCES = tests/unit/test_timeline.c tests/unit/hand_job.c tests/unit/hand_job.h $(SIMULATE)
tests_unit_test_session_SOURCES = tests/unit/test_session.c tests/unit/session_calls.h $(AUDIT_JOB)
tests_unit_test_session_threads_SOURCES = tests/unit/test_session_threads.c tests/unit/session_calls.h $(AUDIT_JOB)
tests_unit_test_session_predict_SOURCES = tests/unit/test_session_predict.c tests/unit/session_calls.h $(AUDIT_JOB) \
	tests/unit/forge.c tests/unit/forge.h $(BYTES)
tests_unit_test_session_predict_LDADD = $(LDADD) $(ZSTD_LIBS) $(XXHASH_LIBS)
UNIT_TESTS += tests/unit/test_starved
tests_unit_test_starved_SOURCES = tests/unit/test_starved.c tests/unit/session_calls.h $(AUDIT_JOB)
tests_unit_test_checkpoint_SOURCES = tests/unit/test_checkpoint.c tests/unit/session_calls.h $(AUDIT_JOB) $(SIMULATE)

# What a run that dies leaves behind.
if HAVE_MPI
check_PROGRAMS += tests/mpi/mortal
tests_mpi_mortal_SOURCES = tests/mpi/mortal.c
tests_mpi_mortal_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_mortal_LDADD = $(MPI_LIBS)
TESTS += tests/mpi/death.test
LONG_TESTS += tests/mpi/death-long.test
endif
EXTRA_DIST += tests/mpi/death.test

UNIT_TESTS += tests/unit/test_hops
tests_unit_test_hops_SOURCES = tests/unit/test_hops.c tests/unit/hand_job.c tests/unit/hand_job.h
