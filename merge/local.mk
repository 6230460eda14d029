# SPDX-License-Identifier: MIT
# What needs MPI (merge_mpi.c) is listed in pmpi/local.mk: only libpythia_pmpi has it.
noinst_LTLIBRARIES += libpythia-merge.la
libpythia_merge_la_SOURCES = %D%/job.h
libpythia_merge_la_LIBADD = $(ZSTD_LIBS) -lm
