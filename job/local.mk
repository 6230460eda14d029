# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-job.la
libpythia_job_la_SOURCES = %D%/job.h \
	%D%/check.c %D%/check.h \
	%D%/class.c %D%/class.h \
	%D%/course.c %D%/course.h \
	%D%/define.c %D%/define.h \
	%D%/digram.c %D%/digram.h \
	%D%/ends.h \
	%D%/extremes.c %D%/extremes.h \
	%D%/flow.c %D%/flow.h \
	%D%/follow.c %D%/follow.h \
	%D%/binding.c %D%/binding.h %D%/hops.c %D%/hops.h %D%/inside.h %D%/group.c %D%/group.h \
	%D%/intern.c %D%/intern.h \
	%D%/job.c \
	%D%/match.c \
	%D%/members.c \
	%D%/named.c %D%/named.h \
	%D%/own.c %D%/own.h %D%/places.h \
	%D%/proofs.c %D%/proofs.h \
	%D%/ranges.c %D%/ranges.h \
	%D%/regions.c %D%/regions.h \
	%D%/relation.c %D%/relation.h \
	%D%/rows.c %D%/schema.c %D%/schema.h %D%/run.h \
	%D%/streams.c %D%/streams.h \
	%D%/series.c %D%/series.h \
	%D%/starts.c %D%/starts.h \
	%D%/sum.c %D%/sum.h \
	%D%/learned.c %D%/learned.h \
	%D%/task.c %D%/task.h \
	%D%/threads.c %D%/threads.h \
	%D%/turns.c %D%/turns_audit.c %D%/turns_member.c \
	%D%/turns.h \
	%D%/usual.c %D%/usual.h \
	%D%/value.c %D%/value.h
libpythia_job_la_LIBADD = -lm

UNIT_TESTS += tests/unit/test_audit tests/unit/test_course tests/unit/test_job tests/unit/test_regions \
	tests/unit/test_ranges tests/unit/test_traffic tests/unit/test_turns
SIMULATE = tests/unit/simulate.c tests/unit/simulate.h
SIMULATE_MERGE = tests/unit/simulate_merge.c $(SIMULATE) $(AUDIT_JOB)
BYTES = tests/unit/bytes.c tests/unit/bytes.h
tests_unit_test_job_SOURCES = tests/unit/test_job.c $(BYTES) $(SIMULATE_MERGE)
tests_unit_test_course_SOURCES = tests/unit/test_course.c tests/unit/hand_job.c tests/unit/hand_job.h $(SIMULATE_MERGE)
tests_unit_test_audit_SOURCES = tests/unit/test_audit.c $(AUDIT_JOB)
tests_unit_test_turns_SOURCES = tests/unit/test_turns.c $(AUDIT_JOB)
tests_unit_test_traffic_SOURCES = tests/unit/test_traffic.c tests/unit/hand_job.c tests/unit/hand_job.h
tests_unit_test_ranges_SOURCES = tests/unit/test_ranges.c $(SIMULATE)
