# SPDX-License-Identifier: MIT
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/pythia.pc
if HAVE_MPI
pkgconfig_DATA += %D%/pythia_pmpi.pc
endif
if HAVE_OMP
pkgconfig_DATA += %D%/pythia_omp.pc
endif
EXTRA_DIST += %D%/hooks.map %D%/libtool.sed %D%/spack/package.py %D%/easybuild/pythia-0.2.0-gompi-2023a.eb

# --- For shells, module systems and CMake: installed directories are known to make only ---
bashcompdir = $(datadir)/bash-completion/completions
bashcomp_DATA = %D%/pythia
modulefilesdir = $(datadir)/modulefiles
modulefiledir = $(modulefilesdir)/pythia
modulefile_DATA = %D%/$(VERSION)
cmakedir = $(libdir)/cmake/pythia
cmake_DATA = %D%/pythia-config.cmake %D%/pythia-config-version.cmake
CLEANFILES += $(pkgconfig_DATA) $(bashcomp_DATA) $(modulefile_DATA) $(cmake_DATA)
EXTRA_DIST += %D%/pythia.pc.in %D%/pythia_pmpi.pc.in %D%/pythia_omp.pc.in
EXTRA_DIST += %D%/pythia.bash %D%/modulefile.in %D%/pythia-config.cmake.in %D%/pythia-config-version.cmake.in

# These name where they are installed to, which `make install prefix=/other` decides: each make makes them anew, and
# writes those that are not as they were.
.PHONY: installed-to
SUBSTITUTE = @$(MKDIR_P) $(@D) && $(SED) -e 's|@prefix[@]|$(prefix)|g' -e 's|@bindir[@]|$(bindir)|g' \
	-e 's|@libdir[@]|$(libdir)|g' -e 's|@includedir[@]|$(includedir)|g' \
	-e 's|@VERSION[@]|$(VERSION)|g' -e 's|@MPI_FLAVOUR[@]|$(MPI_FLAVOUR)|g' -e 's|@MPI_BUILD_VERSION[@]|$(MPI_BUILD_VERSION)|g'
# Behind its first line a .pc says ${prefix}, so that who moves it says one thing.
BELOW_PREFIX = $(SED) -e '2,$$s|=$(prefix)/|=$${prefix}/|'
CHANGED = >$@-t && if cmp -s $@-t $@; then rm -f $@-t; else echo '  GEN      $@' && mv -f $@-t $@; fi

%D%/pythia: %D%/pythia.bash
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $(srcdir)/%D%/pythia.bash $@
%D%/pythia.pc: installed-to
	$(SUBSTITUTE) $(srcdir)/%D%/pythia.pc.in | $(BELOW_PREFIX) $(CHANGED)
%D%/pythia_pmpi.pc: installed-to
	$(SUBSTITUTE) $(srcdir)/%D%/pythia_pmpi.pc.in | $(BELOW_PREFIX) $(CHANGED)
%D%/pythia_omp.pc: installed-to
	$(SUBSTITUTE) $(srcdir)/%D%/pythia_omp.pc.in | $(BELOW_PREFIX) $(CHANGED)
%D%/$(VERSION): installed-to
	$(SUBSTITUTE) $(srcdir)/%D%/modulefile.in $(CHANGED)
%D%/pythia-config.cmake: installed-to
	$(SUBSTITUTE) $(srcdir)/%D%/pythia-config.cmake.in $(CHANGED)
%D%/pythia-config-version.cmake: %D%/pythia-config-version.cmake.in Makefile
	$(SUBSTITUTE) $(srcdir)/%D%/pythia-config-version.cmake.in $(CHANGED)

# --- Manual pages: from the command's own words, the header and the format's description ---
nodist_man_MANS += %D%/man/pythia.1 %D%/man/pythia.h.3 %D%/man/pythia-job.5
CLEANFILES += $(nodist_man_MANS)
ROFF = $(srcdir)/%D%/man/roff.awk
EXTRA_DIST += %D%/man/roff.awk %D%/man/help.awk %D%/man/header.awk %D%/man/markdown.awk %D%/man/make_pythia_1.sh \
	%D%/man/pythia.1.in

MAKE_MAN = $(AM_V_GEN)$(MKDIR_P) $(@D) && rm -f $@ $@-t

%D%/man/pythia.1: pythia$(EXEEXT) pythia-tools$(EXEEXT) $(ROFF) %D%/man/help.awk %D%/man/make_pythia_1.sh \
		%D%/man/pythia.1.in
	$(MAKE_MAN) && $(SHELL) $(srcdir)/%D%/man/make_pythia_1.sh '$(AWK)' ./pythia$(EXEEXT) $(VERSION) >$@-t && mv $@-t $@

%D%/man/pythia.h.3: include/pythia.h $(ROFF) %D%/man/header.awk
	$(MAKE_MAN) && $(AWK) -v version=$(VERSION) -f $(ROFF) -f $(srcdir)/%D%/man/header.awk $(srcdir)/include/pythia.h >$@-t && mv $@-t $@

%D%/man/pythia-job.5: doc/FORMAT.md $(ROFF) %D%/man/markdown.awk
	$(MAKE_MAN) && $(AWK) -v version=$(VERSION) -v name=pythia-job -v section=5 -v what='the job file, byte by byte' \
		-f $(ROFF) -f $(srcdir)/%D%/man/markdown.awk $(srcdir)/doc/FORMAT.md >$@-t && mv $@-t $@

# What was installed works; tests/tool/install.test looks at all of it.
installcheck-local:
	"$(DESTDIR)$(bindir)/pythia" --version | grep -x -F 'pythia $(VERSION)'
	test "`printf '%s\n' a b a b | '$(DESTDIR)$(bindir)/pythia' infer - | head -n 1`" = 'R -> A^2'

# --- The Debian package: dpkg-buildpackage -us -uc in the source, or in what `make dist` made ---
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/libpythia-dev.install debian/libpythia-hooks0.install \
	debian/libpythia-hooks0.lintian-overrides debian/libpythia0.install debian/pythia.install debian/rules debian/source/format
LONG_TESTS += tests/tool/debian.test
EXTRA_DIST += tests/tool/debian.test
