# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-libgomp.la
libpythia_libgomp_la_SOURCES = \
	%D%/gomp_calls.def %D%/omp_calls.def %D%/kmpc.c %D%/kmpc.h %D%/kmpc_calls.def \
	%D%/real.c %D%/real.h %D%/safe.c %D%/safe.h
endif
