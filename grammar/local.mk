# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-grammar.la
libpythia_grammar_la_SOURCES = %D%/attr.h %D%/flat.h %D%/grammar.h %D%/notation.h %D%/stats.h
libpythia_grammar_la_LIBADD = -lm
libpythia_grammar_la_SOURCES += %D%/attr.c

UNIT_TESTS += tests/unit/test_attr
tests_unit_test_attr_SOURCES = tests/unit/test_attr.c
