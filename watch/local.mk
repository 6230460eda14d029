# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-watch.la
libpythia_watch_la_SOURCES = \
	%D%/board.c %D%/board.h \
	%D%/process.c %D%/process.h \
	%D%/read.c %D%/read.h
libpythia_watch_la_LIBADD = $(XXHASH_LIBS)

UNIT_TESTS += tests/unit/test_watch_board
tests_unit_test_watch_board_LDADD = libpythia-unit.la libpythia-watch.la $(PYTHIA_CORE) $(CHECK_LIBS)
