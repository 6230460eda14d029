# SPDX-License-Identifier: MIT
dist_doc_DATA = README.md ARCHITECTURE.md LICENSE %D%/ALGORITHMS.md %D%/COVERAGE.md %D%/EVENTS.md %D%/FORMAT.md %D%/TEAMS.md %D%/TUTORIAL.md %D%/report.schema.json

# The example of the library, built and run by make check.
check_PROGRAMS += %D%/example
doc_example_SOURCES = %D%/example.c
doc_example_LDADD = libpythia.la
TESTS += tests/unit/example.test tests/unit/example_py.test
EXTRA_DIST += %D%/coverage.sh %D%/example.py tests/unit/example.test tests/unit/example_py.test
