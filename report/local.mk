# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libpythia-report.la
libpythia_report_la_SOURCES = \
	%D%/compare.c %D%/compare.h \
	%D%/compare_json.c \
	%D%/compare_match.c \
	%D%/compare_parts.h \
	%D%/compare_shapes.c \
	%D%/compare_text.c \
	%D%/compare_times.c \
	%D%/compare_usual.c \
	%D%/contract.c %D%/contract.h \
	%D%/contract_chance.c \
	%D%/contract_measure.c \
	%D%/contract_print.c \
	%D%/contract_rules.c \
	%D%/csv.c \
	%D%/demangle.c %D%/demangle.h \
	%D%/dot.c \
	%D%/efficiency.c %D%/efficiency.h \
	%D%/export.h \
	%D%/findings.c %D%/findings_moving.c %D%/findings.h %D%/findings_parts.h \
	%D%/findings_regions.c \
	%D%/findings_waits.c \
	%D%/losses.c %D%/losses.h \
	%D%/goal.c \
	%D%/html.c %D%/html.h \
	%D%/html_parts.h %D%/html_turn.c \
	%D%/json.c %D%/json_text.c %D%/json.h \
	%D%/loops.c %D%/loops.h %D%/loops_parts.h %D%/loops_grammar.c %D%/loops_time.c \
	%D%/message.c \
	%D%/model.c %D%/model.h \
	%D%/names.c %D%/names.h \
	%D%/nested.c \
	%D%/pattern.c \
	%D%/peers.c \
	%D%/ranges.c %D%/ranges.h \
	%D%/report.c %D%/report.h \
	%D%/reason.c %D%/resolve.c %D%/resolve.h \
	%D%/scaling.c %D%/scaling.h \
	%D%/spread.c \
	%D%/summary.c \
	%D%/polls.c %D%/polls.h \
	%D%/sums.c %D%/sums.h \
	%D%/traffic.c \
	%D%/text.c \
	%D%/trace.c %D%/trace_parts.h %D%/trace_replay.c \
	%D%/unmatched.c %D%/unmatched.h \
	%D%/units.c %D%/units.h \
	%D%/by_rank.c %D%/by_rank.h \
	%D%/csv.h \
	%D%/view_by_rank.c \
	%D%/view_callsites.c \
	%D%/view_comm.c \
	%D%/view_loops.c \
	%D%/view_known.c %D%/view_omp.c %D%/view_own.c %D%/view_tasks.c %D%/view_machine.c \
	%D%/view_predicted.c \
	%D%/view_ranks.c \
	%D%/view_waits.c
libpythia_report_la_LIBADD = $(DW_LIBS) $(CJSON_LIBS) $(IBERTY_LIBS) -lm

UNIT_TESTS += tests/unit/test_forms tests/unit/test_pattern tests/unit/test_report
UNIT_TESTS += tests/unit/test_contract tests/unit/test_findings
tests_unit_test_findings_LDADD = $(REPORT_TEST)
REPORT_TEST = libpythia-unit.la $(PYTHIA_REPORT) $(CHECK_LIBS)
HAND_JOB = tests/unit/hand_job.c tests/unit/hand_job.h
tests_unit_test_forms_LDADD = $(REPORT_TEST)
tests_unit_test_forms_SOURCES = tests/unit/test_forms.c $(HAND_JOB)
tests_unit_test_pattern_LDADD = $(REPORT_TEST)
tests_unit_test_contract_LDADD = $(REPORT_TEST)
tests_unit_test_contract_SOURCES = tests/unit/test_contract.c $(HAND_JOB)
tests_unit_test_report_LDADD = $(REPORT_TEST)
tests_unit_test_report_SOURCES = tests/unit/test_report.c $(HAND_JOB)

# The page of the HTML report, as strings.
REPORT_HTML = %D%/html/frame.html %D%/html/page.html %D%/html/jobs.html %D%/html/jobs_script.js \
	%D%/html/style.css %D%/html/base.js %D%/html/canvas.js \
	%D%/html/timeline.js %D%/html/structure.js %D%/html/tables.js \
	%D%/html/sums.js %D%/html/charts.js %D%/html/main.js
nodist_libpythia_report_la_SOURCES = %D%/html_assets.h
BUILT_SOURCES += %D%/html_assets.h
CLEANFILES += %D%/html_assets.h
EXTRA_DIST += $(REPORT_HTML) %D%/html/embed.awk
%D%/html_assets.h: $(REPORT_HTML) %D%/html/embed.awk
	$(AM_V_at)$(MKDIR_P) %D%
	$(AM_V_GEN)cd "$(srcdir)" && $(AWK) -f %D%/html/embed.awk $(REPORT_HTML) >"$(abs_builddir)/$@.tmp"
	$(AM_V_at)mv $@.tmp $@
%D%/html.lo: %D%/html_assets.h

UNIT_TESTS += tests/unit/test_demangle
tests_unit_test_demangle_SOURCES = tests/unit/test_demangle.c
tests_unit_test_demangle_LDADD = $(REPORT_TEST)

UNIT_TESTS += tests/unit/test_loops
tests_unit_test_loops_SOURCES = tests/unit/test_loops.c $(HAND_JOB)
tests_unit_test_loops_LDADD = $(REPORT_TEST)
