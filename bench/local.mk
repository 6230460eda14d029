# SPDX-License-Identifier: MIT
# Measurements, never part of `make check`: each target prints its figures.
BENCHES += bench-job bench-cost-in-use
EXTRA_DIST += %D%/RESULTS.md %D%/lib.sh %D%/job.sh %D%/cost_in_use.sh

bench-job: all
	@cd "$(top_builddir)" && bash "$(abs_srcdir)/bench/job.sh"

bench-cost-in-use: all
	@cd "$(top_builddir)" && MPIEXEC="$(MPIEXEC)" bash "$(abs_srcdir)/bench/cost_in_use.sh"

.PHONY: bench-job bench-cost-in-use

if HAVE_MPI
BENCHES += bench-shape
if HAVE_GNU_OPENMP
BENCHES += bench-contracts
endif
endif
EXTRA_DIST += %D%/closure.sh %D%/shape.sh %D%/contracts.sh %D%/slower.c

bench/slower.so: %D%/slower.c
	@$(MKDIR_P) bench
	$(AM_V_CC)$(CC) -O2 -shared -fPIC -o $@ $(srcdir)/%D%/slower.c -ldl

CLEANFILES += bench/slower.so

bench-contracts: all bench/slower.so
	@cd "$(top_builddir)" && MPIEXEC="$(MPIEXEC)" bash "$(abs_srcdir)/bench/contracts.sh"

.PHONY: bench-contracts

bench-shape: all
	@cd "$(top_builddir)" && MPIEXEC="$(MPIEXEC)" bash "$(abs_srcdir)/bench/shape.sh"

.PHONY: bench-shape

EXTRA_PROGRAMS += bench/streams
bench_streams_SOURCES = %D%/streams.c
bench_streams_LDADD =
EXTRA_PROGRAMS += bench/oracle_cost
bench_oracle_cost_SOURCES = %D%/oracle_cost.c tools/stream.c tools/stream.h
bench_oracle_cost_LDADD = $(PYTHIA_CORE)
CLEANFILES += bench/streams$(EXEEXT) bench/oracle_cost$(EXEEXT)
BENCHES += bench-engine
EXTRA_DIST += %D%/engine.sh

bench-engine: all bench/streams$(EXEEXT) bench/oracle_cost$(EXEEXT)
	@cd "$(top_builddir)" && bash "$(abs_srcdir)/bench/engine.sh"

.PHONY: bench-engine

if HAVE_MPI
EXTRA_PROGRAMS += bench/pmpi_cost
bench_pmpi_cost_SOURCES = %D%/pmpi_cost.c
bench_pmpi_cost_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
bench_pmpi_cost_LDADD = $(MPI_LIBS)
CLEANFILES += bench/pmpi_cost$(EXEEXT)
BENCHES += bench-pmpi
endif
EXTRA_DIST += %D%/pmpi_cost.sh

bench-pmpi: all bench/pmpi_cost$(EXEEXT)
	@cd "$(top_builddir)" && MPIEXEC="$(MPIEXEC)" bash "$(abs_srcdir)/bench/pmpi_cost.sh"

.PHONY: bench-pmpi

if HAVE_GNU_OPENMP
EXTRA_PROGRAMS += bench/omp_cost
bench_omp_cost_SOURCES = %D%/omp_cost.c
bench_omp_cost_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
bench_omp_cost_LDADD =
EXTRA_PROGRAMS += bench/omp_blas
bench_omp_blas_SOURCES = %D%/omp_blas.c
bench_omp_blas_LDADD = -ldl -lm
CLEANFILES += bench/omp_cost$(EXEEXT) bench/omp_blas$(EXEEXT)
BENCHES += bench-omp
endif
EXTRA_DIST += %D%/omp_cost.sh %D%/omp_teams.sh %D%/omp_programs.sh %D%/gain.sh %D%/planted_truth.sh

# Some ten minutes each; neither is of `make bench`.
bench-planted: all
	@cd "$(top_builddir)" && MPIEXEC="$(MPIEXEC)" bash "$(abs_srcdir)/bench/planted_truth.sh"

bench-gain: all bench/omp_blas$(EXEEXT)
	@cd "$(top_builddir)" && bash "$(abs_srcdir)/bench/gain.sh"

bench-omp: all bench/omp_cost$(EXEEXT) bench/omp_blas$(EXEEXT)
	@cd "$(top_builddir)" && bash "$(abs_srcdir)/bench/omp_cost.sh"
	@cd "$(top_builddir)" && MPIEXEC="$(MPIEXEC)" bash "$(abs_srcdir)/bench/omp_teams.sh" -q
	@cd "$(top_builddir)" && for p in dgesdd dsyev; do \
	  bash "$(abs_srcdir)/bench/omp_teams.sh" -q -p $$p -s '50 200' -t '2 4' || [ $$? = 77 ] || exit 1; done

.PHONY: bench-omp bench-planted bench-gain

if HAVE_GNU_OPENMP
EXTRA_PROGRAMS += bench/omp_tasks
bench_omp_tasks_SOURCES = %D%/omp_tasks.c
bench_omp_tasks_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
bench_omp_tasks_LDADD = -lm
CLEANFILES += bench/omp_tasks$(EXEEXT)
BENCHES += bench-omp-tasks
endif
EXTRA_DIST += %D%/omp_tasks.sh

bench-omp-tasks: all bench/omp_tasks$(EXEEXT)
	@cd "$(top_builddir)" && bash "$(abs_srcdir)/bench/omp_tasks.sh"

.PHONY: bench-omp-tasks

EXTRA_PROGRAMS += bench/start_cost bench/start_api
bench_start_cost_SOURCES = %D%/start_cost.c
bench_start_cost_LDADD = $(PYTHIA_SESSION)
bench_start_api_SOURCES = %D%/start_api.c
bench_start_api_LDADD = libpythia.la
CLEANFILES += bench/start_cost$(EXEEXT) bench/start_api$(EXEEXT)
BENCHES += bench-start
EXTRA_DIST += %D%/start.sh

bench-start: all bench/start_cost$(EXEEXT) bench/start_api$(EXEEXT)
	@cd "$(top_builddir)" && bash "$(abs_srcdir)/bench/start.sh"

.PHONY: bench-start

if HAVE_MPI
if HAVE_GNU_OPENMP
EXTRA_PROGRAMS += bench/instructions
bench_instructions_SOURCES = %D%/instructions.c
bench_instructions_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
bench_instructions_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
bench_instructions_LDADD = $(MPI_LIBS)
EXTRA_PROGRAMS += bench/ends
bench_ends_SOURCES = %D%/ends.c
bench_ends_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
bench_ends_LDADD = $(MPI_LIBS)
CLEANFILES += bench/instructions$(EXEEXT) bench/ends$(EXEEXT)
BENCHES += instructions
endif
endif
EXTRA_DIST += %D%/instructions.sh %D%/ends.sh

bench-ends: all bench/ends$(EXEEXT)
	@cd "$(top_builddir)" && MPIEXEC="$(MPIEXEC)" bash "$(abs_srcdir)/bench/ends.sh"

.PHONY: bench-ends

instructions: all bench/instructions$(EXEEXT)
	@cd "$(top_builddir)" && MPIEXEC="$(MPIEXEC)" bash "$(abs_srcdir)/bench/instructions.sh" || [ $$? = 77 ]

.PHONY: instructions
