# SPDX-License-Identifier: MIT
# `import pythia`: nothing is compiled; _installed.py says where the command and the library were put.
PYTHON_MODULE = %D%/pythia/__init__.py %D%/pythia/_find.py %D%/pythia/job.py %D%/pythia/oracle.py \
	%D%/pythia/regions.py %D%/pythia/running.py
if HAVE_PYTHON
pythiapythondir = $(pythondir)/pythia
pythiapython_DATA = $(PYTHON_MODULE)
nodist_pythiapython_DATA = %D%/pythia/_installed.py
endif
if !HAVE_PYTHON
install-data-hook:
	@echo 'pythia: no Python 3.7 or later was found by configure: the module is not installed'
endif
CLEANFILES += %D%/pythia/_installed.py
TESTS += tests/python/python.test
EXTRA_DIST += $(PYTHON_MODULE) tests/python/python.test tests/python/test_pythia.py

%D%/pythia/_installed.py: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && printf '%s\n' '# SPDX-License-Identifier: MIT' \
		'BINDIR = "$(bindir)"' 'LIBDIR = "$(libdir)"' >$@
