# SPDX-License-Identifier: MIT
# Plugins for PYTHIA_PLUGIN, installed beside the library; also examples of callbacks.
if HAVE_MPI
pkglib_LTLIBRARIES += %D%/trace.la %D%/counters.la
PYTHIA_PLUGIN_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
plugins_trace_la_SOURCES = %D%/trace.c
plugins_trace_la_LDFLAGS = $(PYTHIA_PLUGIN_LDFLAGS)
plugins_counters_la_SOURCES = %D%/counters.c
plugins_counters_la_LDFLAGS = $(PYTHIA_PLUGIN_LDFLAGS)
else
EXTRA_DIST += %D%/trace.c %D%/counters.c
endif
