# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-omphooks.la
libpythia_omphooks_la_SOURCES = \
	%D%/api.c %D%/ask.c %D%/ask.h %D%/budget.c %D%/budget.h %D%/choose.c %D%/context.c %D%/context.h %D%/crowd.c %D%/crowd.h \
	%D%/cost.c %D%/cost.h %D%/detect.c %D%/detect.h \
	%D%/gomp_calls.def %D%/hooks.c %D%/hooks.h %D%/inside.c %D%/keep.c %D%/keep.h %D%/learn.c %D%/model.c %D%/model.h \
	%D%/omp_calls.def %D%/ompt.c %D%/plan.c %D%/plan.h %D%/real.c %D%/real.h %D%/referee.c %D%/referee.h %D%/safe.c %D%/safe.h \
	%D%/share.c %D%/share.h %D%/site.c %D%/site.h \
	%D%/sizes.c %D%/stall.c %D%/stall.h %D%/team.c %D%/team.h %D%/team_state.h
libpythia_omphooks_la_LIBADD = $(UNWIND_LIBS) $(ELF_LIBS)

UNIT_TESTS += tests/unit/test_omp_model tests/unit/test_omp_ask tests/unit/test_omp_plan
UNIT_TESTS += tests/unit/test_omp_stall tests/unit/test_omp_context tests/unit/test_omp_referee
tests_unit_test_omp_referee_LDADD = $(PYTHIA_OMPHOOKS) $(LDADD)
tests_unit_test_omp_context_LDADD = $(PYTHIA_OMPHOOKS) $(LDADD)
tests_unit_test_omp_stall_LDADD = $(PYTHIA_OMPHOOKS) $(LDADD)
tests_unit_test_omp_plan_LDADD = $(PYTHIA_OMPHOOKS) $(LDADD)
tests_unit_test_omp_model_LDADD = $(PYTHIA_OMPHOOKS) $(LDADD)
tests_unit_test_omp_ask_LDADD = $(PYTHIA_OMPHOOKS) $(LDADD)
endif
