# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-closure.la
libpythia_closure_la_SOURCES = \
	%D%/calls.c %D%/closure.h %D%/comms.c %D%/compare.c %D%/parts.h %D%/rules.c %D%/values.c %D%/write.c

# What is fixed in each program that is made, as a string.
nodist_libpythia_closure_la_SOURCES = %D%/proxy_text.h
BUILT_SOURCES += %D%/proxy_text.h
CLEANFILES += %D%/proxy_text.h
EXTRA_DIST += %D%/proxy.c
%D%/proxy_text.h: %D%/proxy.c page/html/embed.awk
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_GEN)$(AWK) -f "$(srcdir)/page/html/embed.awk" "$(srcdir)/%D%/proxy.c" | \
		sed 's/page_html_proxy/closure_proxy_text/' >$@.tmp && mv $@.tmp $@
%D%/write.lo: %D%/proxy_text.h
