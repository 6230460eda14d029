# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-tasks.la
libpythia_tasks_la_SOURCES = \
	%D%/act.h %D%/entry.c %D%/entry.h %D%/loop.c %D%/model.c %D%/model.h %D%/stats.c %D%/task.c %D%/task.h \
	%D%/wait.c %D%/wish.c

UNIT_TESTS += tests/unit/test_tasks
tests_unit_test_tasks_LDADD = libpythia-tasks.la $(LDADD)
endif
