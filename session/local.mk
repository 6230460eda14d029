# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-session.la
libpythia_session_la_SOURCES = %D%/session.h
libpythia_session_la_LIBADD = $(UNWIND_LIBS) $(HWLOC_LIBS)
