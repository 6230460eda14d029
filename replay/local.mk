# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-replay.la
libpythia_replay_la_SOURCES = \
	%D%/analysis.c %D%/analysis.h \
	%D%/bind.c %D%/bind_before.c %D%/bind_comm.c %D%/bind_draw.c %D%/bind_event.c %D%/bind_least.c \
	%D%/bind_times.c %D%/bind.h %D%/bind_parts.h \
	%D%/blame.c %D%/blame.h \
	%D%/calls.c %D%/calls.h \
	%D%/collective.c %D%/collective.h \
	%D%/engine.c %D%/engine.h %D%/machine.h \
	%D%/feed.c %D%/feed.h \
	%D%/goal.c %D%/goal.h \
	%D%/event_queue.c \
	%D%/match.c %D%/moving.c %D%/moving.h %D%/pending.c \
	%D%/program.h %D%/rank.c \
	%D%/schedule.c %D%/schedule.h \
	%D%/skip.c \
	%D%/state.c %D%/state.h \
	%D%/whatif.c
nodist_libpythia_replay_la_SOURCES = %D%/calls_table.c
%D%/calls_table.c: pmpi/mpi_calls.def pmpi/calls.awk %D%/emit_calls.awk
	$(AM_V_GEN)$(MKDIR_P) %D% && $(AWK) -v every=1 -f $(srcdir)/pmpi/calls.awk -f $(srcdir)/%D%/emit_calls.awk \
		$(srcdir)/pmpi/mpi_calls.def >$@.tmp && mv $@.tmp $@
CLEANFILES += %D%/calls_table.c %D%/calls_table.c.tmp
EXTRA_DIST += %D%/emit_calls.awk

UNIT_TESTS += tests/unit/test_replay
tests_unit_test_replay_SOURCES = tests/unit/test_replay.c tests/unit/replay_programs.c tests/unit/replay_programs.h

UNIT_TESTS += tests/unit/test_pending
tests_unit_test_pending_SOURCES = tests/unit/test_pending.c

check_PROGRAMS += tests/tool/replay_goal
tests_tool_replay_goal_SOURCES = tests/tool/replay_goal.c tests/unit/replay_programs.c tests/unit/replay_programs.h
tests_tool_replay_goal_LDADD = libpythia-replay.la $(PYTHIA_CORE)
LONG_TESTS += tests/tool/replay_goal.test
EXTRA_DIST += tests/tool/replay_goal.test

UNIT_TESTS += tests/unit/test_schedule
tests_unit_test_schedule_SOURCES = tests/unit/test_schedule.c tests/unit/replay_programs.c tests/unit/replay_programs.h
