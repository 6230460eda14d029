# SPDX-License-Identifier: MIT

# PYTHIA_OPENMP
# -------------
# HAVE_OMP: the hooks of GNU OpenMP can be built (any compiler: libgomp is only linked). GOMP_LIBS keeps libgomp among the
# needed libraries although nothing refers to it, in one word, because libtool moves words.
# HAVE_GOMP_GETENV: libgomp asks libc for its environment (since gcc 13 it reads it itself), so it can be answered.
# HAVE_GNU_OPENMP: $CC emits calls of libgomp, so the tests of the hooks can be compiled. OPENMP_CFLAGS: from AC_OPENMP.
AC_DEFUN([PYTHIA_OPENMP],
[AC_ARG_WITH([omp], [AS_HELP_STRING([--without-omp], [without the hooks of GNU OpenMP])], [], [with_omp=yes])
AC_OPENMP
have_omp="no (--without-omp)"
GOMP_LIBS=
AS_IF([test "$with_omp" != no],
   [AC_CHECK_LIB([gomp], [GOMP_parallel],
      [have_omp=yes
       GOMP_LIBS=-Wl,--push-state,--no-as-needed,-lgomp,--pop-state
       AC_DEFINE([HAVE_OMP], [1], [Define when the hooks of GNU OpenMP are built.])],
      [have_omp="no (no libgomp; install gcc)"])])
AC_SUBST([GOMP_LIBS])
AM_CONDITIONAL([HAVE_OMP], [test "$have_omp" = yes])
# Since gcc 13 it reads the environment itself, and no longer has that word as a string of its own.
AC_MSG_CHECKING([whether libgomp asks getenv for OMP_WAIT_POLICY])
pythia_gomp=`$CC -print-file-name=libgomp.so.1 2>/dev/null`
AS_IF([test -f "$pythia_gomp" && ! tr '\000' '\n' <"$pythia_gomp" | LC_ALL=C grep -a -x OMP_WAIT_POLICY >/dev/null],
   [have_gomp_getenv=no], [have_gomp_getenv=yes])
AC_MSG_RESULT([$have_gomp_getenv])
AM_CONDITIONAL([HAVE_GOMP_GETENV], [test "$have_gomp_getenv" = yes])

have_gnu_openmp="no ($CC does not call libgomp)"
AC_MSG_CHECKING([whether $CC $OPENMP_CFLAGS calls libgomp])
AS_IF([test "$have_omp" = yes],
   [pythia_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $OPENMP_CFLAGS"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[extern void f(void);]], [[
#pragma omp parallel
f();]])],
      [AS_IF([grep GOMP_parallel conftest.$OBJEXT >/dev/null 2>&1], [have_gnu_openmp=yes])])
    CFLAGS=$pythia_save_CFLAGS],
   [have_gnu_openmp="no (no hooks to test)"])
AC_MSG_RESULT([$have_gnu_openmp])
AM_CONDITIONAL([HAVE_GNU_OPENMP], [test "$have_gnu_openmp" = yes])
])

# PYTHIA_FORTRAN
# --------------
# HAVE_FORTRAN: the tests in Fortran can be compiled, with $FC and MPI_FCFLAGS, MPI_FCLIBS.
# HAVE_FORTRAN_HOOKS: calls from Fortran get wrappers of their own. Needs no compiler.
AC_DEFUN([PYTHIA_FORTRAN],
[AC_ARG_ENABLE([fortran], [AS_HELP_STRING([--disable-fortran], [without the wrappers of the Fortran bindings and their tests])], [], [enable_fortran=yes])
have_fortran=no
MPI_FCFLAGS= MPI_FCLIBS=
AS_IF([test "$enable_fortran" = no], [have_fortran="no (--disable-fortran)"],
      [test -z "$FC"], [have_fortran="no (install gfortran); its tests are skipped"],
      [test -z "$MPI_FLAVOUR"], [have_fortran="no (no MPI)"],
      [test -z "$MPIFORT"], [have_fortran="no (the MPI has no Fortran wrapper)"],
   [AS_IF([MPI_FCFLAGS=`"$MPIFORT" -showme:compile 2>/dev/null` && test -n "$MPI_FCFLAGS"],
      [MPI_FCLIBS=`"$MPIFORT" -showme:link 2>/dev/null`],
      [MPI_FCFLAGS=
       for pythia_word in `"$MPIFORT" -show 2>/dev/null | $SED 's/^@<:@^ @:>@* *//'`; do
          AS_CASE([$pythia_word],
             [-L*|-l*|-Wl,*|*.so|*.a], [MPI_FCLIBS="$MPI_FCLIBS $pythia_word"],
             [MPI_FCFLAGS="$MPI_FCFLAGS $pythia_word"])
       done])
    AC_LANG_PUSH([Fortran])
    AC_FC_SRCEXT([f90])
    pythia_save_FCFLAGS=$FCFLAGS pythia_save_LIBS=$LIBS
    FCFLAGS="$FCFLAGS $MPI_FCFLAGS" LIBS="$MPI_FCLIBS $LIBS"
    AC_MSG_CHECKING([whether $FC links a program that uses mpi])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [[
      use mpi
      integer :: ierror
      call MPI_Init(ierror)]])],
      [have_fortran="yes ($FC)"], [have_fortran="no ($FC cannot link with $MPIFORT's flags)"])
    AC_MSG_RESULT([$have_fortran])
    FCFLAGS=$pythia_save_FCFLAGS LIBS=$pythia_save_LIBS
    AC_LANG_POP([Fortran])])
AC_SUBST([MPI_FCFLAGS])
AC_SUBST([MPI_FCLIBS])
AM_CONDITIONAL([HAVE_FORTRAN_HOOKS], [test "$enable_fortran" != no && test -n "$MPI_FLAVOUR"])
AM_CONDITIONAL([HAVE_FORTRAN], [AS_CASE([$have_fortran], [yes*], [true], [false])])
])

# PYTHIA_CAPSTONE
# ---------------
# HAVE_CAPSTONE: the machine code of parallel regions can be read (teams/); optional, without it every region keeps its team.
# Loaded when it is needed, never linked. Substitutes CAPSTONE_CFLAGS. For the summary: have_capstone.
AC_DEFUN([PYTHIA_CAPSTONE],
[AC_ARG_WITH([capstone],
   [AS_HELP_STRING([--without-capstone], [without reading the machine code of parallel regions: all keep their teams])],
   [], [with_capstone=yes])
have_capstone="no (--without-capstone); every parallel region keeps its team"
AS_IF([test "$with_capstone" != no],
   [PKG_CHECK_MODULES([CAPSTONE], [capstone >= 4],
      [have_capstone=yes],
      [have_capstone="no (install libcapstone-dev); every parallel region keeps its team"])])
AS_IF([test "$have_capstone" = yes],
   [pythia_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $CAPSTONE_CFLAGS"
    AC_CHECK_HEADER([capstone.h], [], [have_capstone="no (no capstone.h); every parallel region keeps its team"])
    CPPFLAGS=$pythia_save_CPPFLAGS])
AS_CASE([$host_cpu],
   [x86_64|aarch64], [],
   [have_capstone="no (code of $host_cpu is not read); every parallel region keeps its team"])
AC_SUBST([have_capstone])
AM_CONDITIONAL([HAVE_CAPSTONE], [test "$have_capstone" = yes])
])

dnl Traces for other tools (pythia export --to otf2). Sets have_otf2.
AC_DEFUN([PYTHIA_OTF2],
[AC_ARG_WITH([otf2],
   [AS_HELP_STRING([--without-otf2], [without pythia export --to otf2])],
   [], [with_otf2=yes])
have_otf2="no (--without-otf2)"
AS_IF([test "$with_otf2" != no],
   [PKG_CHECK_MODULES([OTF2], [otf2 >= 3],
      [have_otf2=yes],
      [have_otf2="no (install libotf2-trace-dev); no pythia export --to otf2"])])
AM_CONDITIONAL([HAVE_OTF2], [test "$have_otf2" = yes])
])
