# SPDX-License-Identifier: MIT
# The command, at the top of the build directory. Linked with the convenience libraries, so that it is a real program
# there and no wrapper of libtool's. It finds the libraries to preload in .libs beside it, else in PYTHIA_LIBDIR.
bin_PROGRAMS += pythia
pythia_SOURCES = %D%/main.c
pythia_CPPFLAGS = $(AM_CPPFLAGS) -DPYTHIA_LIBDIR='"$(libdir)"'
pythia_LDADD = $(PYTHIA_REPORT)
