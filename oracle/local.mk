# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-oracle.la
libpythia_oracle_la_SOURCES = \
	%D%/dead_reckoning.c \
	%D%/follow.c \
	%D%/gap_context.h \
	%D%/gap_median.h \
	%D%/history.c %D%/history.h \
	%D%/index.c \
	%D%/internal.h \
	%D%/interval.c %D%/interval.h \
	%D%/oracle.c %D%/oracle.h \
	%D%/peers.c %D%/peers.h \
	%D%/mixer.c \
	%D%/next.c \
	%D%/pace.c \
	%D%/past.c %D%/past.h \
	%D%/predict.c \
	%D%/preload.c \
	%D%/recover.c \
	%D%/remain.c \
	%D%/sample.c \
	%D%/score.c \
	%D%/stack.c
libpythia_oracle_la_LIBADD = -lm

UNIT_TESTS += tests/unit/test_oracle tests/unit/test_oracle_exact
AUDIT_ORACLE = tests/unit/audit_oracle.c tests/unit/audit.h
FOLLOWER = tests/unit/follower.c tests/unit/follower.h $(AUDIT_ORACLE)
tests_unit_test_oracle_SOURCES = tests/unit/test_oracle.c $(FOLLOWER)
tests_unit_test_oracle_exact_SOURCES = tests/unit/test_oracle_exact.c $(FOLLOWER)

UNIT_TESTS += tests/unit/test_peers
tests_unit_test_peers_SOURCES = tests/unit/test_peers.c

UNIT_TESTS += tests/unit/test_gap_context tests/unit/test_gap_median
tests_unit_test_gap_context_SOURCES = tests/unit/test_gap_context.c
tests_unit_test_gap_median_SOURCES = tests/unit/test_gap_median.c

UNIT_TESTS += tests/unit/test_past
tests_unit_test_past_SOURCES = tests/unit/test_past.c $(AUDIT_ORACLE)

UNIT_TESTS += tests/unit/test_interval
tests_unit_test_interval_SOURCES = tests/unit/test_interval.c $(FOLLOWER)
