# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-base.la
libpythia_base_la_SOURCES = \
	%D%/arena.c %D%/arena.h \
	%D%/array.c %D%/array.h \
	%D%/cfi.c %D%/cfi.h \
	%D%/clean.c %D%/clean.h \
	%D%/clock.c %D%/clock.h \
	%D%/elf.c %D%/elf.h \
	%D%/energy.c %D%/energy.h \
	%D%/fpu.h \
	%D%/frame.c %D%/frame.h \
	%D%/guard.h %D%/hot.c %D%/hot.h \
	%D%/hash.c %D%/hash.h \
	%D%/helper.c %D%/helper.h \
	%D%/hex.h \
	%D%/heap.c %D%/heap.h \
	%D%/io.c %D%/io.h \
	%D%/launcher.c %D%/launcher.h \
	%D%/leb.h \
	%D%/lock.c %D%/lock.h \
	%D%/log.c %D%/log.h \
	%D%/must.h \
	%D%/modules.c %D%/modules.h \
	%D%/name.h \
	%D%/options.c %D%/options.h %D%/options.def \
	%D%/order.h \
	%D%/own.h \
	%D%/replace.c %D%/replace.h \
	%D%/terminal.c %D%/terminal.h \
	%D%/threads.c %D%/threads.h \
	%D%/preload.c %D%/preload.h \
	%D%/processors.c %D%/processors.h \
	%D%/topology.c %D%/topology.h \
	%D%/python.c %D%/python.h \
	%D%/rights.h \
	%D%/strerror.c \
	%D%/symbols.h
libpythia_base_la_LIBADD = $(XXHASH_LIBS) -lm

# The linker's options for the names in libc.def (libc_wrap.c).
EXTRA_DIST += %D%/libc.def
CLEANFILES += %D%/libc.wrap
%D%/libc.wrap: $(srcdir)/%D%/libc.def
	$(AM_V_GEN)$(MKDIR_P) %D% && sed -n 's/^LIBC(\(.*\))$$/--wrap=\1/p' $(srcdir)/%D%/libc.def >$@

UNIT_TESTS += \
	tests/unit/test_base_arena \
	tests/unit/test_base_cfi \
	tests/unit/test_base_clean \
	tests/unit/test_base_clock \
	tests/unit/test_base_frame \
	tests/unit/test_base_guard \
	tests/unit/test_base_hash \
	tests/unit/test_base_heap \
	tests/unit/test_base_helper \
	tests/unit/test_base_io \
	tests/unit/test_base_launcher \
	tests/unit/test_base_log \
	tests/unit/test_base_modules \
	tests/unit/test_base_options \
	tests/unit/test_base_processors \
	tests/unit/test_base_replace \
	tests/unit/test_base_strerror \
	tests/unit/test_base_topology
tests_unit_test_base_cfi_LDADD = $(LDADD) $(DW_LIBS) $(ELF_LIBS)
