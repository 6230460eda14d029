# SPDX-License-Identifier: MIT
if HAVE_MPI
check_PROGRAMS += tests/mpi/callbacks tests/mpi/transparent tests/mpi/patterns tests/mpi/closed tests/mpi/threads
check_PROGRAMS += tests/mpi/paced
tests_mpi_paced_SOURCES = tests/mpi/paced.c
tests_mpi_paced_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_paced_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_mpi_paced_LDADD = $(MPI_LIBS)
tests_mpi_closed_SOURCES = tests/mpi/closed.c
tests_mpi_closed_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_closed_LDADD = $(MPI_LIBS)
tests_mpi_patterns_SOURCES = tests/mpi/patterns.c
tests_mpi_patterns_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_patterns_LDADD = $(MPI_LIBS)

tests_mpi_callbacks_SOURCES = tests/mpi/callbacks.c
tests_mpi_callbacks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_callbacks_LDADD = $(MPI_LIBS)

tests_mpi_transparent_SOURCES = tests/mpi/transparent.c
tests_mpi_transparent_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_transparent_LDADD = $(MPI_LIBS) -lm

tests_mpi_threads_SOURCES = tests/mpi/threads.c
tests_mpi_threads_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_threads_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/mpi/chance
tests_mpi_chance_SOURCES = tests/mpi/chance.c
tests_mpi_chance_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_chance_LDADD = $(MPI_LIBS)
TESTS += tests/mpi/cases.test tests/mpi/chance.test
EXTRA_DIST += tests/mpi/cases.test tests/mpi/chance.test

check_PROGRAMS += tests/mpi/quick
tests_mpi_quick_SOURCES = tests/mpi/quick.c
tests_mpi_quick_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS) -I$(top_srcdir)/include
tests_mpi_quick_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_mpi_quick_LDADD = $(MPI_LIBS)
TESTS += tests/mpi/quick.test
EXTRA_DIST += tests/mpi/quick.test

check_PROGRAMS += tests/mpi/matching
tests_mpi_matching_SOURCES = tests/mpi/matching.c
tests_mpi_matching_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_matching_LDADD = $(MPI_LIBS)
check_PROGRAMS += tests/mpi/members
tests_mpi_members_SOURCES = tests/mpi/members.c
tests_mpi_members_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_members_LDADD = $(MPI_LIBS)
EXTRA_DIST += tests/mpi/matching.test

check_PROGRAMS += tests/mpi/anew
tests_mpi_anew_SOURCES = tests/mpi/anew.c
tests_mpi_anew_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_anew_LDADD = $(MPI_LIBS)
TESTS += tests/mpi/anew.test
EXTRA_DIST += tests/mpi/anew.test

check_PROGRAMS += tests/mpi/asks
tests_mpi_asks_SOURCES = tests/mpi/asks.c
tests_mpi_asks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_asks_LDADD = $(MPI_LIBS)
TESTS += tests/mpi/asks.test
EXTRA_DIST += tests/mpi/asks.test

check_PROGRAMS += tests/mpi/named
tests_mpi_named_SOURCES = tests/mpi/named.c
tests_mpi_named_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_named_CFLAGS = $(AM_CFLAGS) -pthread
tests_mpi_named_LDADD = $(MPI_LIBS)
TESTS += tests/mpi/named.test
TESTS += tests/mpi/names.test
EXTRA_DIST += tests/mpi/named.test tests/mpi/names.test tests/mpi/next_wait.c tests/mpi/speaks.c

check_PROGRAMS += tests/mpi/control
tests_mpi_control_SOURCES = tests/mpi/control.c
tests_mpi_control_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_control_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_mpi_control_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/mpi/heap_calls
tests_mpi_heap_calls_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_heap_calls_CFLAGS = $(OPENMP_CFLAGS) -O1 -fno-builtin
tests_mpi_heap_calls_LDADD = $(MPI_LIBS)
check_PROGRAMS += tests/mpi/left
tests_mpi_left_SOURCES = tests/mpi/left.c
tests_mpi_left_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_left_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_mpi_left_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/mpi/talk
tests_mpi_talk_SOURCES = tests/mpi/talk.c
tests_mpi_talk_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_talk_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/mpi/orders
tests_mpi_orders_SOURCES = tests/mpi/orders.c
tests_mpi_orders_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_orders_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/mpi/spawn
tests_mpi_spawn_SOURCES = tests/mpi/spawn.c
tests_mpi_spawn_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_spawn_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/mpi/crowd
tests_mpi_crowd_SOURCES = tests/mpi/crowd.c
tests_mpi_crowd_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_crowd_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_mpi_crowd_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/mpi/short
tests_mpi_short_SOURCES = tests/mpi/short.c
tests_mpi_short_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_short_LDADD = $(MPI_LIBS)

check_PROGRAMS += tests/mpi/kept
tests_mpi_kept_SOURCES = tests/mpi/kept.c tests/mpi/kept.h
nodist_tests_mpi_kept_SOURCES = tests/mpi/kept_calls.c
tests_mpi_kept_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_mpi_kept_LDFLAGS = -export-dynamic
tests_mpi_kept_LDADD = $(MPI_LIBS) -ldl
tests/mpi/kept_calls.c: pmpi/mpi_calls.def pmpi/calls.awk tests/mpi/emit_kept.awk pmpi/all_of_mpi.h
	$(AM_V_GEN)emit=$(srcdir)/tests/mpi/emit_kept.awk; $(MKDIR_P) pmpi tests/mpi && \
	$(CC) -E $(MPI_CFLAGS) $(CPPFLAGS) $(srcdir)/pmpi/all_of_mpi.h >$@.mpi && \
	$(AWK) -f $(srcdir)/pmpi/calls.awk -f $$emit $@.mpi $(srcdir)/pmpi/mpi_calls.def >$@.tmp && rm -f $@.mpi && mv $@.tmp $@
CLEANFILES += tests/mpi/kept_calls.c

MPI_TESTS = \
	%D%/clocks.test \
	%D%/failed.test \
	%D%/nodes.test \
	%D%/crowd.test \
	%D%/ends.test \
	%D%/control.test \
	%D%/events.test \
	%D%/exports.test \
	%D%/loops.test \
	%D%/textbook.test %D%/invariants.test \
	%D%/bindings.test \
	%D%/grammar.test \
	%D%/kept.test \
	%D%/closure.test %D%/otf2.test %D%/left.test \
	%D%/hung.test \
	%D%/meeting.test \
	%D%/matrix.test %D%/unloaded.test \
	%D%/open.test \
	%D%/orders.test \
	%D%/packaged.test \
	%D%/plugin.test \
	%D%/predict.test \
	%D%/mpmd.test %D%/programs.test \
	%D%/progress.test \
	%D%/refused.test \
	%D%/rules.test \
	%D%/some.test \
	%D%/spawn.test \
	%D%/table.test \
	%D%/threads.test \
	%D%/transparent.test \
	%D%/update.test \
	%D%/whatif.test \
	%D%/callsites.test \
	%D%/python.test
TESTS += $(MPI_TESTS)
ALONE_TESTS += %D%/figures.test %D%/firsts.test %D%/matching.test %D%/near.test %D%/own_cost.test %D%/planted.test
endif
EXTRA_DIST += %D%/closure.test %D%/otf2.test %D%/clocks.c %D%/clocks.test %D%/nodes.c %D%/nodes.test %D%/node_agent
EXTRA_DIST += %D%/textbook.c %D%/textbook.h %D%/textbook.test %D%/textbook_more.c
EXTRA_DIST += %D%/emit_kept.awk %D%/kept.test
EXTRA_DIST += %D%/bindings.test %D%/callsites.test %D%/events.test %D%/exports.test %D%/figures.c %D%/figures.test \
	%D%/loops.c %D%/loops.test \
	%D%/near.c %D%/near.test %D%/planted.c %D%/planted.test \
	%D%/grammar.test %D%/halo.F90 %D%/halo.c %D%/halo.py %D%/lines.py %D%/mpi.sh %D%/on_terminal.py \
	%D%/open.test %D%/other_mpi.test %D%/python.test \
	%D%/other_tool.c %D%/plugin.test %D%/predict.test %D%/mpmd.test %D%/programs.test %D%/progress.test \
	%D%/rules.test \
	%D%/slow_plugin.c %D%/table.test %D%/threads.test %D%/transparent.test %D%/twice.c
LONG_TESTS += %D%/other_mpi.test
EXTRA_DIST += %D%/packaged.test %D%/packaged-long.test
if HAVE_MPI
LONG_TESTS += %D%/packaged-long.test
endif
EXTRA_DIST += %D%/own_cost.c %D%/own_cost.test %D%/unloaded.test
EXTRA_DIST += %D%/count_messages.c %D%/garbage.c %D%/compare_messages.py %D%/talk.F90 %D%/matrix.test %D%/matrix-long.test
EXTRA_DIST += %D%/crowd.test %D%/some.test %D%/some-long.test %D%/spawn.test %D%/update.test

# Starts a Slurm of its own: not in every check.
EXTRA_DIST += %D%/slurm.test
if HAVE_MPI
LONG_TESTS += %D%/slurm.test
endif
EXTRA_DIST += %D%/failed.test %D%/refused.awk %D%/refused.c %D%/refused.sh %D%/refused.test %D%/refused-long.test
if HAVE_MPI
LONG_TESTS += %D%/refused-long.test
endif
EXTRA_DIST += %D%/control.test %D%/left.cpp %D%/left.test %D%/hung.test %D%/meeting.test %D%/orders.test
EXTRA_DIST += %D%/tsan-long.test %D%/ends.test
if HAVE_MPI
LONG_TESTS += %D%/some-long.test %D%/tsan-long.test
endif

# Findings of programs with known problems; messages of other people's programs.
if HAVE_MPI
LONG_TESTS += %D%/matrix-long.test
LONG_TESTS += %D%/invariants-long.test
LONG_TESTS += %D%/findings-long.test %D%/campaign-long.test %D%/whatif-long.test
endif
EXTRA_DIST += %D%/firsts.c %D%/firsts.test %D%/invariants.test %D%/invariants-long.test %D%/two_threads.c
EXTRA_DIST += %D%/findings-long.test %D%/findings.py %D%/problems.c
EXTRA_DIST += %D%/whatif.c %D%/whatif.sh %D%/whatif.test %D%/whatif-long.test
