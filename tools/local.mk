# SPDX-License-Identifier: MIT
# The command, at the top of the build directory: two programs (hand_over.c). Linked with the convenience libraries, so
# that they are real programs there and no wrappers of libtool's. They find each other and the libraries to preload
# beside them or in .libs there, else in PYTHIA_LIBDIR.
bin_PROGRAMS += pythia pythia-tools
TOOLS_BOTH = \
	%D%/capture.c %D%/capture.h \
	%D%/commands.def \
	%D%/complain.c \
	%D%/interrupt.c %D%/interrupt.h \
	%D%/main.c \
	%D%/memory.c \
	%D%/options.c %D%/options.h \
	%D%/program.c %D%/program.h \
	%D%/progress.c %D%/progress.h \
	%D%/run.c \
	%D%/tool.h
pythia_SOURCES = $(TOOLS_BOTH) %D%/hand_over.c
pythia_tools_SOURCES = $(TOOLS_BOTH) \
	%D%/binary.c %D%/binary.h \
	%D%/check.c \
	%D%/closure.c \
	%D%/compare.c \
	%D%/cost.c %D%/cost.h \
	%D%/doctor.c %D%/doctor.h \
	%D%/doctor_launch.c \
	%D%/doctor_machine.c \
	%D%/doctor_omp.c \
	%D%/doctor_program.c \
	%D%/evaluate.c \
	%D%/evaluation.c %D%/evaluation.h \
	%D%/events.c \
	%D%/export.c \
	%D%/grammar.c \
	%D%/infer.c \
	%D%/merge.c \
	%D%/parts.c %D%/parts.h \
	%D%/screen.c %D%/screen.h \
	%D%/replay.c \
	%D%/report.c \
	%D%/source.c %D%/source.h \
	%D%/stacks.c %D%/stacks.h \
	%D%/stream.c %D%/stream.h \
	%D%/tool.c \
	%D%/watch.c %D%/watch.h \
	%D%/watch_jobs.c \
	%D%/watch_json.c \
	%D%/watch_stacks.c \
	%D%/watch_text.c
pythia_CPPFLAGS = $(AM_CPPFLAGS) -DPYTHIA_LIBDIR='"$(libdir)"' -DPYTHIA_PREFIX='"$(prefix)"'
pythia_LDADD = libpythia-base.la
pythia_LDFLAGS = $(AM_LDFLAGS) -Wl,--as-needed
pythia_tools_CPPFLAGS = $(pythia_CPPFLAGS)
pythia_tools_LDADD = libpythia-insidetools.la libpythia-inside.la $(PYTHIA_REPORT) $(DW_LIBS) $(ELF_LIBS) -lm

UNIT_TESTS += tests/unit/test_parts
tests_unit_test_parts_SOURCES = tests/unit/test_parts.c tests/unit/hand_job.c tests/unit/hand_job.h $(BYTES) %D%/parts.c
tests_unit_test_parts_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=merge_job

UNIT_TESTS += tests/unit/test_stacks
tests_unit_test_stacks_SOURCES = tests/unit/test_stacks.c %D%/stacks.c
tests_unit_test_stacks_LDADD = libpythia-insidetools.la $(LDADD)
tests_unit_test_stacks_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=base_io_text -Wl,--wrap=geteuid

UNIT_TESTS += tests/unit/test_progress
tests_unit_test_progress_SOURCES = tests/unit/test_progress.c %D%/progress.c

UNIT_TESTS += tests/unit/test_stream
tests_unit_test_stream_SOURCES = tests/unit/test_stream.c tests/fuzz/fuzz_stream.c $(AUDIT_GRAMMAR) \
	%D%/stream.c %D%/stream.h
