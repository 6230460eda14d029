# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-session.la
libpythia_session_la_SOURCES = \
	%D%/choose.c \
	%D%/define.c \
	%D%/internal.h \
	%D%/keys.c %D%/keys.h \
	%D%/life.c \
	%D%/predict.c \
	%D%/session.h \
	%D%/stream.c \
	%D%/summary.c
libpythia_session_la_LIBADD = $(UNWIND_LIBS) $(HWLOC_LIBS)
