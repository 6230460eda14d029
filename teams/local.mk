# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-teams.la
libpythia_teams_la_SOURCES = %D%/safety.c %D%/safety.h
endif
