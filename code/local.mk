# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-code.la
libpythia_code_la_SOURCES = %D%/arm.c %D%/arm.h %D%/arm_memory.c %D%/image.c %D%/image.h \
	%D%/insn.c %D%/insn.h %D%/leaves.c %D%/leaves.h %D%/step.c %D%/step.h
libpythia_code_la_CPPFLAGS = $(AM_CPPFLAGS)
if HAVE_CAPSTONE
libpythia_code_la_SOURCES += %D%/x86.c %D%/x86.h %D%/evex.c
libpythia_code_la_CPPFLAGS += -DHAVE_CAPSTONE
endif
