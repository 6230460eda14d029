# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-page.la
libpythia_page_la_SOURCES = \
	%D%/dot.c %D%/export.h %D%/html.c %D%/html.h %D%/html_turn.c %D%/otf2.c %D%/replayed.c \
	%D%/replayed.h %D%/stacks.c %D%/trace.c %D%/trace_parts.h %D%/trace_replay.c
libpythia_page_la_LIBADD = $(CJSON_LIBS) $(OTF2_LIBS) -lm
libpythia_page_la_CPPFLAGS = $(AM_CPPFLAGS)
if HAVE_OTF2
libpythia_page_la_CPPFLAGS += $(OTF2_CFLAGS) -DHAVE_OTF2
endif

# The page of the HTML report, as strings.
REPORT_HTML = %D%/html/frame.html %D%/html/page.html %D%/html/jobs.html %D%/html/jobs_script.js \
	%D%/html/style.css %D%/html/base.js %D%/html/canvas.js \
	%D%/html/timeline.js %D%/html/structure.js %D%/html/tables.js \
	%D%/html/sums.js %D%/html/charts.js %D%/html/main.js
nodist_libpythia_page_la_SOURCES = %D%/html_assets.h
BUILT_SOURCES += %D%/html_assets.h
CLEANFILES += %D%/html_assets.h
EXTRA_DIST += $(REPORT_HTML) %D%/html/embed.awk
%D%/html_assets.h: $(REPORT_HTML) %D%/html/embed.awk
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_GEN)cd "$(srcdir)" && $(AWK) -f %D%/html/embed.awk $(REPORT_HTML) >"$(abs_builddir)/$@.tmp"
	$(AM_V_at)mv $@.tmp $@
%D%/html.lo: %D%/html_assets.h

UNIT_TESTS += tests/unit/test_forms tests/unit/test_pattern tests/unit/test_report
UNIT_TESTS += tests/unit/test_contract tests/unit/test_findings
HAND_JOB = tests/unit/hand_job.c tests/unit/hand_job.h
tests_unit_test_forms_SOURCES = tests/unit/test_forms.c $(HAND_JOB)
tests_unit_test_contract_SOURCES = tests/unit/test_contract.c $(HAND_JOB)
tests_unit_test_report_SOURCES = tests/unit/test_report.c $(HAND_JOB)

UNIT_TESTS += tests/unit/test_demangle
tests_unit_test_demangle_SOURCES = tests/unit/test_demangle.c

UNIT_TESTS += tests/unit/test_loops
tests_unit_test_loops_SOURCES = tests/unit/test_loops.c $(HAND_JOB)
UNIT_TESTS += tests/unit/test_calltree
tests_unit_test_calltree_SOURCES = tests/unit/test_calltree.c $(HAND_JOB)
