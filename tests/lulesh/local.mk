# SPDX-License-Identifier: MIT
# The states of the original, reached by bench/lulesh; tests/lulesh/long.test goes on to larger meshes.
TESTS += %D%/lulesh.test %D%/shape.test
LONG_TESTS += %D%/long.test %D%/shape-long.test
EXTRA_DIST += %D%/calls.c %D%/compare.awk %D%/expected.tsv %D%/lulesh.test %D%/run.sh %D%/shape.sh \
	%D%/shape.test %D%/shape-long.test %D%/teams.c
