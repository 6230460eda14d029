# SPDX-License-Identifier: MIT
if HAVE_MPI
MPI_TESTS = %D%/exports.test %D%/table.test
TESTS += $(MPI_TESTS)
endif
EXTRA_DIST += %D%/exports.test %D%/table.test
