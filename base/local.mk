# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-base.la
libpythia_base_la_SOURCES = %D%/strerror.c
libpythia_base_la_LIBADD = $(XXHASH_LIBS) -ldl

UNIT_TESTS += tests/unit/test_base_strerror
