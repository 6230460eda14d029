# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-report.la
libpythia_report_la_SOURCES =
libpythia_report_la_LIBADD = $(DW_LIBS) $(CJSON_LIBS) -lm
