# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-base.la
libpythia_base_la_SOURCES = \
	%D%/arena.c %D%/arena.h \
	%D%/clock.c %D%/clock.h \
	%D%/guard.c %D%/guard.h \
	%D%/log.c %D%/log.h \
	%D%/modules.c %D%/modules.h \
	%D%/options.c %D%/options.def %D%/options.h \
	%D%/strerror.c
libpythia_base_la_LIBADD = $(XXHASH_LIBS) -ldl

UNIT_TESTS += tests/unit/test_base_strerror
