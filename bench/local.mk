# SPDX-License-Identifier: MIT
# Measurements, never part of `make check`: each target prints its figures.
BENCHES += bench-job
EXTRA_DIST += %D%/job.sh

bench-job: all
	@cd $(top_builddir) && bash $(abs_srcdir)/bench/job.sh

.PHONY: bench-job
