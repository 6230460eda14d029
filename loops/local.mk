# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-loops.la
libpythia_loops_la_SOURCES = %D%/nest.c %D%/nest.h

UNIT_TESTS += tests/unit/test_loops_nest
tests_unit_test_loops_nest_LDADD = libpythia-loops.la $(LDADD)
