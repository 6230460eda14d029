# SPDX-License-Identifier: MIT
if HAVE_MPI
noinst_LTLIBRARIES += libpythia-mpihooks.la
libpythia_mpihooks_la_SOURCES =
libpythia_mpihooks_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
endif
