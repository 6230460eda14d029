# SPDX-License-Identifier: MIT
# A unit test is a program tests/unit/test_X with one source test_X.c; the directory that it tests adds it to UNIT_TESTS.
# Programs without an LDADD of their own get this one.
LDADD = libpythia-unit.la $(PYTHIA_CORE) $(CHECK_LIBS)

if HAVE_CHECK
check_LTLIBRARIES += libpythia-unit.la
libpythia_unit_la_SOURCES = %D%/unit.c %D%/unit.h %D%/job.h
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
else
TESTS += %D%/skipped.test
endif
AM_CPPFLAGS += $(CHECK_CFLAGS)
EXTRA_DIST += %D%/skipped.test
