# SPDX-License-Identifier: MIT
if HAVE_OMP
check_PROGRAMS += tests/omp/dump tests/omp/read_file
tests_omp_dump_SOURCES = %D%/dump.c
tests_omp_dump_LDADD = $(PYTHIA_CORE)
tests_omp_read_file_SOURCES = %D%/read_file.c
tests_omp_read_file_LDADD = libpythia-teams.la libpythia-code.la $(PYTHIA_CORE)
TESTS += %D%/regions.test %D%/predict.test %D%/alone.test %D%/screen.test %D%/tree.test %D%/rights.test %D%/safety.test %D%/tasks.test %D%/wait.test
TESTS += %D%/affinity.test
TESTS += %D%/proof.test %D%/libraries.test %D%/read.test %D%/places.test %D%/libomp.test %D%/kept.test %D%/short.test %D%/memory.test %D%/shares.test
TESTS += %D%/random.test %D%/target.test %D%/crew.test
LONG_TESTS += %D%/libgomp-long.test
endif
EXTRA_DIST += %D%/thrown.cpp %D%/random.test %D%/random_regions.py
EXTRA_DIST += %D%/proof.c %D%/proof.test %D%/libraries.test %D%/read.test %D%/waits.c %D%/waits_look.c %D%/waits.h %D%/read_x86_64.s \
	%D%/read_aarch64.s %D%/shares.c %D%/shares.test %D%/kept.c %D%/kept.test %D%/short.c %D%/short.test \
	%D%/memory.c %D%/heap.c %D%/memory.test
EXTRA_DIST += %D%/heap_use.c %D%/heap_end.c tests/heap.h %D%/target.c %D%/target.test
ALONE_TESTS += %D%/threads.test
EXTRA_DIST += %D%/crew.c %D%/crew.test %D%/threads.c %D%/planted_threads.py %D%/threads.test
EXTRA_DIST += %D%/regions.test %D%/predict.test \
	%D%/alone.test %D%/screen.test %D%/tree.test %D%/rights.test %D%/safety.test \
	%D%/lib.sh %D%/regions.c %D%/regions.cpp %D%/regions.f90 \
	%D%/clauses.c %D%/locks.c %D%/switches.c \
	%D%/fragile.c %D%/llvm.c %D%/llvm_waits.c %D%/private.c %D%/levels.c %D%/turns.c \
	%D%/tasks.test %D%/tasks.cpp %D%/wait.test %D%/affinity.test %D%/places.test %D%/libomp.test
