# SPDX-License-Identifier: MIT
# The merge of up to a million simulated ranks, and of real ones.
EXTRA_PROGRAMS += bench/merge_scale
bench_merge_scale_SOURCES = %D%/merge_scale.c %D%/shapes.c %D%/shapes.h
bench_merge_scale_LDADD = $(PYTHIA_CORE)
CLEANFILES += bench/merge_scale$(EXEEXT)
BENCH_SCALE = bench/merge_scale$(EXEEXT)
if HAVE_MPI
EXTRA_PROGRAMS += bench/merge_scale_mpi
bench_merge_scale_mpi_SOURCES = %D%/merge_scale_mpi.c %D%/shapes.c %D%/shapes.h
bench_merge_scale_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
bench_merge_scale_mpi_LDADD = libpythia-mergempi.la $(PYTHIA_CORE) $(MPI_LIBS)
CLEANFILES += bench/merge_scale_mpi$(EXEEXT)
BENCH_SCALE += bench/merge_scale_mpi$(EXEEXT)
endif
EXTRA_DIST += %D%/scale.sh %D%/scale.gp
BENCHES += bench-scale

bench-scale: all $(BENCH_SCALE)
	@cd $(top_builddir) && MPIEXEC='$(MPIEXEC)' bash $(abs_srcdir)/%D%/scale.sh

.PHONY: bench-scale
