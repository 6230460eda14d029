# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-oracle.la
libpythia_oracle_la_SOURCES = \
	%D%/calibrate.c \
	%D%/coast.c \
	%D%/follow.c \
	%D%/habit.h \
	%D%/index.c \
	%D%/internal.h \
	%D%/live.c %D%/live.h \
	%D%/mix.c \
	%D%/often.c %D%/often.h \
	%D%/oracle.c %D%/oracle.h \
	%D%/peers.c %D%/peers.h \
	%D%/next.c \
	%D%/predict.c \
	%D%/recover.c \
	%D%/remain.c \
	%D%/sample.c \
	%D%/score.c \
	%D%/stack.c \
	%D%/teach.c \
	%D%/text.c %D%/text.h
libpythia_oracle_la_LIBADD = -lm

UNIT_TESTS += tests/unit/test_oracle tests/unit/test_oracle_exact
FOLLOWER = tests/unit/follower.c tests/unit/follower.h
tests_unit_test_oracle_SOURCES = tests/unit/test_oracle.c $(FOLLOWER)
tests_unit_test_oracle_exact_SOURCES = tests/unit/test_oracle_exact.c $(FOLLOWER)

UNIT_TESTS += tests/unit/test_peers
tests_unit_test_peers_SOURCES = tests/unit/test_peers.c

UNIT_TESTS += tests/unit/test_habit
tests_unit_test_habit_SOURCES = tests/unit/test_habit.c

UNIT_TESTS += tests/unit/test_live
tests_unit_test_live_SOURCES = tests/unit/test_live.c
