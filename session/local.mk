# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-session.la
libpythia_session_la_SOURCES = \
	%D%/choose.c \
	%D%/define.c \
	%D%/internal.h \
	%D%/keys.c %D%/keys.h \
	%D%/life.c \
	%D%/predict.c \
	%D%/publish.c \
	%D%/session.h \
	%D%/stream.c
libpythia_session_la_LIBADD = $(UNWIND_LIBS) $(HWLOC_LIBS)

UNIT_TESTS += tests/unit/test_session
tests_unit_test_session_LDADD = libpythia-unit.la $(PYTHIA_SESSION) $(CHECK_LIBS)
