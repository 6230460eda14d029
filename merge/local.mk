# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-merge.la
libpythia_merge_la_SOURCES = %D%/job.h \
	%D%/check.c %D%/check.h \
	%D%/class.c %D%/class.h \
	%D%/container.c %D%/container.h \
	%D%/file.c \
	%D%/format.h \
	%D%/intern.c %D%/intern.h \
	%D%/job.c \
	%D%/match.c \
	%D%/merge.c \
	%D%/pack.c \
	%D%/ranges.c %D%/ranges.h \
	%D%/relation.c %D%/relation.h \
	%D%/unpack.c \
	%D%/value.c \
	%D%/variant.c
libpythia_merge_la_LIBADD = $(ZSTD_LIBS) -lm

# Over MPI: only libpythia_pmpi has it.
if HAVE_MPI
noinst_LTLIBRARIES += libpythia-mergempi.la
libpythia_mergempi_la_SOURCES = %D%/merge_mpi.c %D%/merge_mpi.h
libpythia_mergempi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
endif
EXTRA_DIST += doc/FORMAT.md
