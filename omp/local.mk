# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-omphooks.la
libpythia_omphooks_la_SOURCES =
endif
