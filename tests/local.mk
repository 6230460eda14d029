# SPDX-License-Identifier: MIT
# Every test speaks TAP: programs, shell scripts (*.test, with lib.sh) and Python scripts (*.py).
TEST_EXTENSIONS = .test .py
# A script that hangs ends after this time, as an error. (Check has limits of its own.)
TEST_SECONDS = 600
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
# Side by side with others, but for $(ALONE_TESTS); what it took is noted.
RUN_ONE = bash $(srcdir)/%D%/run_one
LOG_COMPILER = $(RUN_ONE)
TEST_LOG_DRIVER = $(TAP_DRIVER)
TEST_LOG_COMPILER = $(RUN_ONE) timeout --kill-after=10 $(TEST_SECONDS) bash
PY_LOG_DRIVER = $(TAP_DRIVER)
PY_LOG_COMPILER = $(RUN_ONE) timeout --kill-after=10 $(TEST_SECONDS) $(PYTHON)

# What a test may rely on. Ranks that share cores must not spin, nor look for networks (ob1), a sixth of each start.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	PYTHIA='$(abs_top_builddir)/pythia'; export PYTHIA; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	CC='$(CC)'; export CC; \
	MPICC='$(MPICC)'; export MPICC; \
	MPIFORT='$(MPIFORT)'; export MPIFORT; \
	MPIEXEC='$(MPIEXEC)'; export MPIEXEC; \
	MPI_FLAVOUR='$(MPI_FLAVOUR)'; export MPI_FLAVOUR; \
	SANITIZERS='$(SANITIZERS)'; export SANITIZERS; \
	HAVE_CAPSTONE='$(have_capstone)'; export HAVE_CAPSTONE; \
	ALONE_TESTS='$(ALONE_TESTS)'; export ALONE_TESTS; \
	PYTHIA_FORCE=yes; export PYTHIA_FORCE; \
	UBSAN_OPTIONS="halt_on_error=1:exitcode=99:print_stacktrace=1:$$UBSAN_OPTIONS"; export UBSAN_OPTIONS; \
	TSAN_OPTIONS="suppressions=$(abs_top_srcdir)/tests/tsan.supp $$TSAN_OPTIONS"; export TSAN_OPTIONS; \
	OMPI_ALLOW_RUN_AS_ROOT=1; export OMPI_ALLOW_RUN_AS_ROOT; \
	OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM; \
	OMPI_MCA_rmaps_base_oversubscribe=1; export OMPI_MCA_rmaps_base_oversubscribe; \
	OMPI_MCA_mpi_yield_when_idle=1; export OMPI_MCA_mpi_yield_when_idle; \
	OMPI_MCA_hwloc_base_binding_policy=none; export OMPI_MCA_hwloc_base_binding_policy; \
	OMPI_MCA_pml=ob1; export OMPI_MCA_pml; \
	OMPI_MCA_btl_tcp_if_include=lo; export OMPI_MCA_btl_tcp_if_include; \
	PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe; export PRTE_MCA_rmaps_default_mapping_policy; \
	PRTE_MCA_hwloc_default_binding_policy=none; export PRTE_MCA_hwloc_default_binding_policy; \
	OMP_WAIT_POLICY=passive; export OMP_WAIT_POLICY;

EXTRA_DIST += %D%/lib.sh %D%/run_one %D%/tsan.supp $(LONG_TESTS)
CLEANFILES += %D%/times %D%/.lock

# What each test took when it ran last, the longest first, and all together.
check-times:
	@awk '{ t[$$1] = $$2; c[$$1] = $$3 + $$4 } \
	    END { for (n in t) { printf "%8.1f %8.1f  %s\n", t[n], c[n], n; a += t[n]; b += c[n] } \
		  printf "%8.1f %8.1f  all: seconds, seconds of a processor\n", a, b }' %D%/times | sort -rn

.PHONY: check-times

TESTS += %D%/exports.test
EXTRA_DIST += %D%/exports.test %D%/exports.txt
