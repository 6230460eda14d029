# SPDX-License-Identifier: MIT
dist_doc_DATA = README.md ARCHITECTURE.md LICENSE %D%/ALGORITHMS.md %D%/CLOSURE.md %D%/COVERAGE.md %D%/EVENTS.md %D%/FORMAT.md %D%/TEAMS.md %D%/TUTORIAL.md \
	%D%/WATCH.md %D%/report.schema.json

# What a user starts from; each says in its first comment the one line that builds it.
examplesdir = $(docdir)/examples
dist_examples_DATA = %D%/affinity.c %D%/example.c %D%/example.py plugins/counters.c plugins/trace.c tests/mpi/asks.c

# The example of the library, built and run by make check.
check_PROGRAMS += %D%/example
doc_example_SOURCES = %D%/example.c
doc_example_LDADD = libpythia.la
TESTS += tests/unit/example.test tests/unit/example_py.test
# The three cases of the README, which tests/mpi/cases.test runs, and its pictures.
EXTRA_DIST += %D%/cases/uneven.c %D%/cases/small.c %D%/cases/hang.c %D%/pictures.sh %D%/pictures/page.png \
	%D%/pictures/screen.png
pictures: all
	SRC='$(abs_top_srcdir)' PYTHIA=pythia MPICC='$(MPICC)' MPIEXEC='$(MPIEXEC)' $(BASH) $(srcdir)/%D%/pictures.sh
.PHONY: pictures

EXTRA_DIST += %D%/coverage.sh %D%/example.py tests/unit/example.test tests/unit/example_py.test
