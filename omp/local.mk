# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-omphooks.la
libpythia_omphooks_la_SOURCES = \
	%D%/api.c %D%/ask.c %D%/ask.h %D%/budget.c %D%/budget.h %D%/choose.c %D%/context.c %D%/context.h %D%/crowd.c %D%/crowd.h \
	%D%/cores.c %D%/cores.h %D%/cost.c %D%/cost.h %D%/detect.c %D%/detect.h \
	%D%/gomp_calls.def %D%/hooks.c %D%/hooks.h %D%/inside.c %D%/keep.c %D%/keep.h %D%/learn.c %D%/model.c %D%/model.h \
	%D%/omp_calls.def %D%/plan.c %D%/plan.h %D%/real.c %D%/real.h %D%/referee.c %D%/referee.h %D%/safe.c %D%/safe.h \
	%D%/share.c %D%/share.h %D%/site.c %D%/site.h \
	%D%/sizes.c %D%/stall.c %D%/stall.h %D%/team.c %D%/team.h %D%/team_state.h
# Tasks
libpythia_omphooks_la_SOURCES += %D%/task.c %D%/task.h %D%/task_act.h %D%/task_loop.c %D%/task_model.c \
	%D%/task_model.h %D%/task_stats.c %D%/task_wait.c %D%/wait.c %D%/wait.h \
	%D%/place.c %D%/place.h %D%/place_bind.c %D%/bind.c %D%/bind.h %D%/ompt.c
libpythia_omphooks_la_LIBADD = $(UNWIND_LIBS) $(HWLOC_LIBS) $(ELF_LIBS)

UNIT_TESTS += tests/unit/test_omp_model tests/unit/test_omp_ask tests/unit/test_omp_plan tests/unit/test_omp_cores
UNIT_TESTS += tests/unit/test_omp_task tests/unit/test_omp_stall tests/unit/test_omp_context tests/unit/test_omp_referee
tests_unit_test_omp_referee_LDADD = libpythia-omphooks.la $(LDADD)
tests_unit_test_omp_context_LDADD = libpythia-omphooks.la $(LDADD)
tests_unit_test_omp_stall_LDADD = libpythia-omphooks.la $(LDADD)
UNIT_TESTS += tests/unit/test_omp_place
tests_unit_test_omp_place_LDADD = libpythia-omphooks.la $(LDADD) $(HWLOC_LIBS)
tests_unit_test_omp_task_LDADD = libpythia-omphooks.la $(LDADD)
tests_unit_test_omp_plan_LDADD = libpythia-omphooks.la $(LDADD)
tests_unit_test_omp_cores_LDADD = libpythia-omphooks.la $(LDADD)
tests_unit_test_omp_model_LDADD = libpythia-omphooks.la $(LDADD)
tests_unit_test_omp_ask_LDADD = libpythia-omphooks.la $(LDADD)
endif
