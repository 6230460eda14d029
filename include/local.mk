# SPDX-License-Identifier: MIT
include_HEADERS += %D%/pythia.h %D%/pythia_region.h
# Source, for the program's own compiler: a module file is of one compiler.
include_HEADERS += %D%/pythia_region.f90
