# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-views.la
libpythia_views_la_SOURCES = \
	%D%/by_rank.c %D%/callsites.c %D%/calltree.c %D%/comm.c %D%/compare_json.c %D%/compare_text.c %D%/contract_print.c \
	%D%/csv.c %D%/ended.c %D%/findings.c %D%/inside.c %D%/json.c %D%/loops.c %D%/named.c \
	%D%/machine.c %D%/omp.c %D%/predicted.c %D%/ranks.c %D%/regions.c %D%/scaling.c \
	%D%/scaling.h %D%/slow_ranks.c %D%/summary.c %D%/table.c %D%/table.h %D%/tasks.c \
	%D%/views.h %D%/waits.c
libpythia_views_la_LIBADD = $(CJSON_LIBS) -lm
