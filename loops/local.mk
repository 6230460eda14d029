# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-loops.la
libpythia_loops_la_SOURCES = %D%/forest.c %D%/forest.h %D%/function.c %D%/function.h \
	%D%/script.c %D%/script.h

UNIT_TESTS += tests/unit/test_loops_function tests/unit/test_loops_script
tests_unit_test_loops_function_LDADD = libpythia-loops.la libpythia-code.la $(LDADD)
tests_unit_test_loops_script_LDADD = libpythia-loops.la libpythia-code.la $(LDADD)
