# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-omphooks.la
libpythia_omphooks_la_SOURCES = \
	%D%/api.c %D%/barrier.c %D%/detect.c %D%/holds.c %D%/hooks.c %D%/hooks.h \
	%D%/constructs.c %D%/kmpc.c %D%/kmpc_work.c %D%/ompt.c %D%/shares.c %D%/shares.h \
	%D%/site.c %D%/site.h %D%/target.c %D%/team.c %D%/team.h

UNIT_TESTS += tests/unit/test_omp_safe
tests_unit_test_omp_safe_LDADD = $(PYTHIA_OMPHOOKS) $(LDADD)
endif
