# SPDX-License-Identifier: MIT
if HAVE_OMP
noinst_LTLIBRARIES += libpythia-places.la
libpythia_places_la_SOURCES = \
	%D%/cores.c %D%/cores.h %D%/place.c %D%/place.h %D%/visit.c
if HAVE_GOMP_GETENV
libpythia_places_la_SOURCES += %D%/wait.c
endif

UNIT_TESTS += tests/unit/test_places
tests_unit_test_places_LDADD = libpythia-places.la $(LDADD)
endif
