# SPDX-License-Identifier: MIT
# The command's contract, a script a command. make_job writes the job files that they read: no MPI is needed.
check_PROGRAMS += %D%/make_job
tests_tool_make_job_SOURCES = %D%/make_job.c
tests_tool_make_job_LDADD = $(PYTHIA_CORE)
check_PROGRAMS += %D%/shake_job
tests_tool_shake_job_SOURCES = %D%/shake_job.c
tests_tool_shake_job_LDADD = $(PYTHIA_CORE)
TOOL_TESTS = \
	%D%/check.test \
	%D%/commands.test \
	%D%/compare.test %D%/contract.test \
	%D%/doctor.test \
	%D%/evaluate.test \
	%D%/events.test %D%/fence.test \
	%D%/export.test \
	%D%/forged.test %D%/shaken.test \
	%D%/grammar.test \
	%D%/house.test \
	%D%/html.test \
	%D%/infer.test \
	%D%/install.test \
	%D%/interrupt.test \
	%D%/limits.test \
	%D%/memory.test \
	%D%/merge.test \
	%D%/output.test \
	%D%/own_names.test \
	%D%/report.test \
	%D%/rights.test \
	%D%/run.test \
	%D%/screen.test
TESTS += $(TOOL_TESTS)
EXTRA_DIST += $(TOOL_TESTS) %D%/header.awk %D%/house_rules.py %D%/lib-tool.sh %D%/starve.c %D%/validate.py %D%/agree.py
LONG_TESTS += %D%/memory-long.test
