# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-report.la
libpythia_report_la_SOURCES = \
	%D%/csv.c \
	%D%/json.c %D%/json.h \
	%D%/message.c \
	%D%/model.c %D%/model.h \
	%D%/names.c %D%/names.h \
	%D%/nested.c \
	%D%/order.c %D%/order.h \
	%D%/pattern.c \
	%D%/peers.c \
	%D%/ranges.c %D%/ranges.h \
	%D%/report.c %D%/report.h \
	%D%/resolve.c %D%/resolve.h \
	%D%/spread.c \
	%D%/structure.c %D%/structure.h \
	%D%/summary.c \
	%D%/sums.c %D%/sums.h \
	%D%/talk.c \
	%D%/text.c \
	%D%/units.c %D%/units.h \
	%D%/view_callsites.c \
	%D%/view_comm.c \
	%D%/view_omp.c \
	%D%/view_ranks.c
libpythia_report_la_LIBADD = $(DW_LIBS) $(CJSON_LIBS) -lm

UNIT_TESTS += tests/unit/test_report
tests_unit_test_report_LDADD = libpythia-unit.la $(PYTHIA_REPORT) $(CHECK_LIBS)
