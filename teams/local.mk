# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-teams.la
libpythia_teams_la_SOURCES = %D%/choice.c %D%/choice.h %D%/safety.c %D%/safety.h %D%/turns.c %D%/turns.h

UNIT_TESTS += tests/unit/test_teams_choice
tests_unit_test_teams_choice_LDADD = libpythia-teams.la $(LDADD) -lm
endif
