# SPDX-License-Identifier: MIT
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/pythia.pc
if HAVE_MPI
pkgconfig_DATA += %D%/pythia_pmpi.pc
endif
if HAVE_OMP
pkgconfig_DATA += %D%/pythia_omp.pc
endif
EXTRA_DIST += %D%/hooks.map
