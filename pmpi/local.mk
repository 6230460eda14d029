# SPDX-License-Identifier: MIT
if HAVE_MPI
noinst_LTLIBRARIES += libpythia-mpihooks.la
libpythia_mpihooks_la_SOURCES = \
	%D%/again.h \
	%D%/apart.c %D%/apart.h \
	%D%/bytes.c \
	%D%/callback.c %D%/callback.h \
	%D%/children.c %D%/children.h \
	%D%/clocks.c %D%/clocks.h \
	%D%/comm.c %D%/comm.h \
	%D%/comm_name.c %D%/comm_name.h \
	%D%/present.c %D%/present.h \
	%D%/complete.c %D%/complete.h \
	%D%/finish.c \
	%D%/handles.h \
	%D%/foreign.c \
	%D%/hook.c %D%/hook.h \
	%D%/life.c %D%/life.h \
	%D%/members.c %D%/members.h \
	%D%/near.c %D%/near.h \
	%D%/plugin.c %D%/plugin.h \
	%D%/request.c %D%/request.h \
	%D%/start.c \
	%D%/variants.c %D%/variants.h
nodist_libpythia_mpihooks_la_SOURCES = %D%/wrappers.c
if HAVE_PMIX
libpythia_mpihooks_la_SOURCES += %D%/launcher_pmix.c
else
if MPI_IS_MPICH
libpythia_mpihooks_la_SOURCES += %D%/launcher_hydra.c
else
libpythia_mpihooks_la_SOURCES += %D%/launcher_none.c
endif
endif
if HAVE_FORTRAN_HOOKS
libpythia_mpihooks_la_SOURCES += \
	%D%/fortran.c %D%/fortran.h \
	%D%/fortran_life.c
nodist_libpythia_mpihooks_la_SOURCES += %D%/fortran_wrappers.c
endif
libpythia_mpihooks_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS) $(PMIX_CFLAGS) -DPYTHIA_PLUGINS='"$(pkglibdir)"'

UNIT_TESTS += tests/unit/test_pmpi_request
tests_unit_test_pmpi_request_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_unit_test_pmpi_request_LDADD = libpythia-mpihooks.la $(LDADD) $(MPI_LIBS)

# Only the calls that this MPI declares get a wrapper.
PYTHIA_GENERATE = $(MKDIR_P) %D% && \
	$(CC) -E $(MPI_CFLAGS) $(CPPFLAGS) $(srcdir)/%D%/all_of_mpi.h >$@.mpi && \
	$(AWK) -v flavour=$(MPI_FLAVOUR) -f $(srcdir)/%D%/calls.awk -f $(srcdir)/%D%/generate.awk \
		-f $$emit $@.mpi $(srcdir)/%D%/mpi_calls.def >$@.tmp && \
	rm -f $@.mpi && mv $@.tmp $@
%D%/wrappers.c: %D%/mpi_calls.def %D%/calls.awk %D%/generate.awk %D%/emit_c.awk %D%/all_of_mpi.h
	$(AM_V_GEN)emit=$(srcdir)/%D%/emit_c.awk; $(PYTHIA_GENERATE)
%D%/fortran_wrappers.c: %D%/mpi_calls.def %D%/calls.awk %D%/generate.awk %D%/emit_fortran.awk %D%/all_of_mpi.h
	$(AM_V_GEN)emit=$(srcdir)/%D%/emit_fortran.awk; $(PYTHIA_GENERATE)
CLEANFILES += %D%/wrappers.c %D%/wrappers.c.tmp %D%/wrappers.c.mpi \
	%D%/fortran_wrappers.c %D%/fortran_wrappers.c.tmp %D%/fortran_wrappers.c.mpi
endif
EXTRA_DIST += %D%/mpi_calls.def %D%/calls.awk %D%/names.awk %D%/generate.awk %D%/emit_c.awk %D%/emit_fortran.awk \
	%D%/all_of_mpi.h
