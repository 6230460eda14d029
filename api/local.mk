# SPDX-License-Identifier: MIT
# What include/pythia.h promises to any runtime.
noinst_LTLIBRARIES += libpythia-api.la
libpythia_api_la_SOURCES = %D%/api.c %D%/api.h %D%/peers.c %D%/record.c %D%/words.c

# The installed interface (api/api.c), linked as a user links it; with jobs, from the inside.
UNIT_TESTS += tests/unit/test_api tests/unit/test_api_job
tests_unit_test_api_job_SOURCES = tests/unit/test_api_job.c
tests_unit_test_api_SOURCES = tests/unit/test_api.c
tests_unit_test_api_LDADD = libpythia-unit.la libpythia.la $(CHECK_LIBS)
