# SPDX-License-Identifier: MIT
# The corpus is what fuzzing has found to be different (tests/fuzz/corpus-job, minimised by libFuzzer's -merge=1).
FUZZ_JOB = %D%/fuzz_job.c tests/unit/simulate.c tests/unit/simulate.h
check_PROGRAMS += tests/fuzz/replay_job
tests_fuzz_replay_job_SOURCES = $(FUZZ_JOB)
tests_fuzz_replay_job_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_REPLAY
tests_fuzz_replay_job_LDADD = $(PYTHIA_CORE) $(ZSTD_LIBS) $(XXHASH_LIBS)
TESTS += %D%/replay.test

# Findings, replay, views, contracts and page, from sound files whose numbers lie.
check_PROGRAMS += tests/fuzz/fuzz_report
tests_fuzz_fuzz_report_SOURCES = %D%/fuzz_report.c tests/unit/simulate.c tests/unit/simulate.h
tests_fuzz_fuzz_report_LDADD = $(PYTHIA_REPORT) $(DW_LIBS) $(ELF_LIBS) -lm
TESTS += %D%/report.test
LONG_TESTS += %D%/report-long.test
EXTRA_DIST += %D%/report.test %D%/report-long.test %D%/jobs.sh
EXTRA_DIST += %D%/replay.test %D%/corpus-job

if HAVE_FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz_job
tests_fuzz_fuzz_job_SOURCES = $(FUZZ_JOB)
tests_fuzz_fuzz_job_LDADD = $(PYTHIA_CORE) $(ZSTD_LIBS) $(XXHASH_LIBS)
tests_fuzz_fuzz_job_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
noinst_PROGRAMS += tests/fuzz/fuzz_stream
tests_fuzz_fuzz_stream_SOURCES = %D%/fuzz_stream.c $(AUDIT_GRAMMAR) tools/stream.c tools/stream.h
tests_fuzz_fuzz_stream_LDADD = $(PYTHIA_CORE)
tests_fuzz_fuzz_stream_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
