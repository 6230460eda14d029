# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-findings.la
libpythia_findings_la_SOURCES = \
	%D%/by_rank.c %D%/by_rank.h %D%/calltree.c %D%/calltree.h %D%/classes.c %D%/demangle.c \
	%D%/demangle.h %D%/efficiency.c %D%/efficiency.h %D%/ended.c %D%/ended.h \
	%D%/findings.c %D%/findings.h %D%/hardware.c %D%/hardware.h %D%/inside.c %D%/inside.h %D%/loops.c %D%/loops.h \
	%D%/loops_entries.c %D%/loops_grammar.c %D%/loops_parts.h \
	%D%/loops_main.c %D%/loops_time.c %D%/model.c %D%/model.h %D%/moving.c \
	%D%/named.c %D%/named.h \
	%D%/names.c %D%/names.h %D%/parts.h %D%/pattern.c %D%/peers.c \
	%D%/own_cost.c %D%/own_cost.h %D%/placement.c %D%/placement.h %D%/places.c %D%/places.h %D%/ranges.c %D%/ranges.h \
	%D%/regions.c %D%/remainder.c %D%/report.c %D%/report.h %D%/resolve.c %D%/resolve.h \
	%D%/scopes.c %D%/scopes.h %D%/spread.c %D%/sums.c %D%/sums.h %D%/traffic.c \
	%D%/units.c %D%/units.h %D%/waits.c
UNIT_TESTS += tests/unit/test_placement
libpythia_findings_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
libpythia_findings_la_LIBADD = $(DW_LIBS) $(IBERTY_LIBS) $(HWLOC_LIBS) -lm
