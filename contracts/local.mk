# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-contracts.la
libpythia_contracts_la_SOURCES = \
	%D%/compare.c %D%/compare.h %D%/compare_classes.c %D%/compare_loops.c %D%/compare_match.c \
	%D%/compare_parts.h %D%/compare_times.c %D%/contract.c %D%/contract.h %D%/contract_chance.c \
	%D%/contract_measure.c %D%/contract_rules.c %D%/grown.c %D%/grown.h
libpythia_contracts_la_LIBADD = -lm
UNIT_TESTS += tests/unit/test_grown
