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

# Names of regions that programs have for others: Kokkos Tools, NVTX 3, TALP and Caliper.
PYTHIA_NAMES_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
pkglib_LTLIBRARIES += %D%/kokkos.la %D%/nvtx.la %D%/marks.la
plugins_kokkos_la_SOURCES = %D%/kokkos.c %D%/names.h
plugins_kokkos_la_LDFLAGS = $(PYTHIA_NAMES_LDFLAGS)
plugins_nvtx_la_SOURCES = %D%/nvtx.c %D%/names.h
plugins_nvtx_la_LDFLAGS = $(PYTHIA_NAMES_LDFLAGS)
plugins_marks_la_SOURCES = %D%/marks.c %D%/names.h
plugins_marks_la_LDFLAGS = $(PYTHIA_NAMES_LDFLAGS)
