# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-teams.la
libpythia_teams_la_SOURCES = %D%/account.c %D%/account.h \
	%D%/choice.c %D%/choice.h %D%/safety.c %D%/safety.h %D%/turns.c %D%/turns.h \
	%D%/flow.c %D%/flow.h %D%/frame.c %D%/frame.h %D%/jumps.c %D%/jumps.h %D%/known.c %D%/known.h \
	%D%/landing.c %D%/landing.h %D%/marks.c %D%/marks.h %D%/proof.c %D%/proof.h %D%/share.c %D%/share.h \
	%D%/wait.c %D%/wait.h

UNIT_TESTS += tests/unit/test_teams_account tests/unit/test_teams_choice tests/unit/test_teams_wait
tests_unit_test_teams_account_LDADD = libpythia-teams.la libpythia-code.la $(LDADD)
tests_unit_test_teams_choice_LDADD = libpythia-teams.la libpythia-code.la $(LDADD) -lm
tests_unit_test_teams_wait_LDADD = libpythia-teams.la libpythia-code.la $(LDADD)
endif
