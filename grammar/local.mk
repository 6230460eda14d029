# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-grammar.la
libpythia_grammar_la_SOURCES = \
	%D%/append.c \
	%D%/attr.c %D%/attr.h \
	%D%/coarsen.c \
	%D%/course.c %D%/course.h \
	%D%/cursor.c \
	%D%/digram.c %D%/digram.h \
	%D%/flat.c %D%/flat.h \
	%D%/flat_check.c \
	%D%/freeze.c \
	%D%/grammar.c %D%/grammar.h \
	%D%/internal.h \
	%D%/node.h \
	%D%/notation.c %D%/notation.h \
	%D%/pool.c \
	%D%/stats.c %D%/stats.h \
	%D%/steps.c \
	%D%/tail.c %D%/tail.h %D%/tail_write.c \
	%D%/tally.c %D%/tally.h
libpythia_grammar_la_LIBADD = $(XXHASH_LIBS) -lm

UNIT_TESTS += tests/unit/test_grammar tests/unit/test_attr
AUDIT_JOB = tests/unit/audit_job.c tests/unit/audit.h
AUDIT_GRAMMAR = tests/unit/audit_grammar.c $(AUDIT_JOB)
tests_unit_test_grammar_SOURCES = tests/unit/test_grammar.c $(AUDIT_GRAMMAR)
