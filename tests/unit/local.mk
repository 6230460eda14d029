# SPDX-License-Identifier: MIT
# A unit test is a program tests/unit/test_X with one source test_X.c; the directory that it tests adds it to UNIT_TESTS.
# Programs without an LDADD of their own get this one.
LDADD = libpythia-tests.la $(CHECK_LIBS)

if HAVE_CHECK
# All rooms but the hooks' as one library: libtool takes most of a link, and the longer the more libraries there are.
check_LTLIBRARIES += libpythia-unit.la libpythia-tests.la
libpythia_unit_la_SOURCES = %D%/unit.c %D%/unit.h %D%/job.h
libpythia_tests_la_SOURCES =
libpythia_tests_la_LIBADD = libpythia-unit.la $(PYTHIA_REPORT_ROOMS) $(PYTHIA_SESSION)
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
else
TESTS += %D%/skipped.test
endif
AM_CPPFLAGS += $(CHECK_CFLAGS)
EXTRA_DIST += %D%/skipped.test
