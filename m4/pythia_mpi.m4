# SPDX-License-Identifier: MIT

# PYTHIA_MPI
# ----------
# Finds one MPI through its compiler wrapper, whose flags are then used with $CC, so that any compiler can be used.
# Substitutes MPICC, MPIEXEC, MPIFORT, MPI_CFLAGS, MPI_LIBS, MPI_FLAVOUR (openmpi, mpich).
# Conditionals: HAVE_MPI, MPI_IS_OPENMPI, MPI_IS_MPICH. For the summary: have_mpi.
AC_DEFUN([PYTHIA_MPI],
[AC_ARG_WITH([mpi],
   [AS_HELP_STRING([--with-mpi=yes|no|openmpi|mpich|MPICC|DIR],
      [the MPI to build for: the first one found, none, one of these, the one of this mpicc, or the one installed in DIR])],
   [], [with_mpi=yes])
AC_ARG_VAR([MPICC], [C compiler wrapper of the MPI to build for (only its flags are used)])
AS_CASE([$with_mpi],
   [no], [pythia_mpicc_names=],
   [yes], [pythia_mpicc_names="mpicc mpicc.openmpi mpicc.mpich"],
   [openmpi], [pythia_mpicc_names="mpicc.openmpi mpicc"],
   [mpich], [pythia_mpicc_names="mpicc.mpich mpicc"],
   [AS_IF([test -d "$with_mpi"], [MPICC=$with_mpi/bin/mpicc], [MPICC=$with_mpi])
    pythia_mpicc_names=$MPICC])
AS_IF([test "$with_mpi" = no], [MPICC=], [AC_PATH_PROGS([MPICC], [$pythia_mpicc_names])])

MPI_CFLAGS= MPI_LIBS= MPI_FLAVOUR=
have_mpi="no (--with-mpi=no)"
AS_IF([test "$with_mpi" != no],
   [AS_IF([test -z "$MPICC"],
      [have_mpi="no (no mpicc; install libopenmpi-dev openmpi-bin)"],
      [PYTHIA_MPI_FLAGS
       PYTHIA_MPI_TRY])
    AS_IF([test -z "$MPI_FLAVOUR" && test "$with_mpi" != yes],
      [AC_MSG_ERROR([--with-mpi=$with_mpi: not usable; install libopenmpi-dev openmpi-bin, or libmpich-dev mpich])])])
AS_IF([test -n "$MPI_FLAVOUR"],
   [PYTHIA_MPI_SIBLING([MPIEXEC], [mpirun], [mpiexec])
    PYTHIA_MPI_SIBLING([MPIFORT], [mpifort], [mpif90])
    PYTHIA_MPI_VERSION
    AC_DEFINE([HAVE_MPI], [1], [Define when there is an MPI.])
    have_mpi="$MPI_FLAVOUR $MPI_BUILD_VERSION ($MPICC)"])
AC_DEFINE_UNQUOTED([MPI_FLAVOUR], ["$MPI_FLAVOUR"], [openmpi, mpich, or empty: the MPI that this is built for.])
AC_DEFINE_UNQUOTED([MPI_BUILD_VERSION], ["$MPI_BUILD_VERSION"], [Its version, as in 4.1.4.])
PYTHIA_PMIX
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])
AC_SUBST([MPI_FLAVOUR])
AC_SUBST([MPI_BUILD_VERSION])
AC_SUBST([MPIEXEC])
AC_SUBST([MPIFORT])
AM_CONDITIONAL([HAVE_MPI], [test -n "$MPI_FLAVOUR"])
AM_CONDITIONAL([MPI_IS_OPENMPI], [test "$MPI_FLAVOUR" = openmpi])
AM_CONDITIONAL([MPI_IS_MPICH], [test "$MPI_FLAVOUR" = mpich])
])

# PYTHIA_MPI_FLAGS
# ----------------
# Open MPI's wrapper tells compile and link flags apart; MPICH's and its relatives' are sorted by the look of each word.
AC_DEFUN([PYTHIA_MPI_FLAGS],
[AC_MSG_CHECKING([flags of $MPICC])
AS_IF([MPI_CFLAGS=`"$MPICC" -showme:compile 2>/dev/null` && test -n "$MPI_CFLAGS"],
   [MPI_LIBS=`"$MPICC" -showme:link 2>/dev/null`],
   [MPI_CFLAGS=
    pythia_words=`"$MPICC" -show 2>/dev/null`
    for pythia_word in `echo "$pythia_words" | $SED 's/^@<:@^ @:>@* *//'`; do
       AS_CASE([$pythia_word],
          [-I*|-D*|-pthread], [MPI_CFLAGS="$MPI_CFLAGS $pythia_word"],
          [-L*|-l*|-Wl,*|*.so|*.a], [MPI_LIBS="$MPI_LIBS $pythia_word"])
    done])
AC_MSG_RESULT([$MPI_CFLAGS $MPI_LIBS])
])

# PYTHIA_MPI_TRY
# --------------
# Links a program with these flags; MPI_FLAVOUR stays empty when that fails or it is not the one asked for.
AC_DEFUN([PYTHIA_MPI_TRY],
[pythia_save_CPPFLAGS=$CPPFLAGS pythia_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
AC_MSG_CHECKING([for MPI 3.1 with $CC])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#if MPI_VERSION < 3 || (MPI_VERSION == 3 && MPI_SUBVERSION < 1)
#error too old
#endif
]], [[MPI_Init(0, 0);]])],
   [AC_MSG_RESULT([yes])
    AC_EGREP_CPP([flavour_openmpi], [#include <mpi.h>
#ifdef OPEN_MPI
flavour_openmpi
#endif
], [MPI_FLAVOUR=openmpi])
    AC_EGREP_CPP([flavour_mpich], [#include <mpi.h>
#ifdef MPICH_VERSION
flavour_mpich
#endif
], [MPI_FLAVOUR=mpich])
    PYTHIA_MPI_WARNING
    AS_IF([test -z "$MPI_FLAVOUR"], [have_mpi="no ($MPICC is neither Open MPI nor MPICH)"])
    AS_CASE([$with_mpi],
       [openmpi|mpich], [AS_IF([test "$MPI_FLAVOUR" != "$with_mpi"], [MPI_FLAVOUR=])])],
   [AC_MSG_RESULT([no])
    have_mpi="no ($MPICC: no MPI 3.1 that $CC can link)"])
CPPFLAGS=$pythia_save_CPPFLAGS LIBS=$pythia_save_LIBS
])

# PYTHIA_MPI_WARNING
# ------------------
# MPICH 4.0 declares arrays of statuses where MPI_STATUSES_IGNORE may be given, which is 1: GCC takes that for a
# structure too small, at each call. MPI_CFLAGS says no to that warning where this is so.
AC_DEFUN([PYTHIA_MPI_WARNING],
[AC_MSG_CHECKING([whether $CC takes MPI_STATUSES_IGNORE])
pythia_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Wall -Werror=stringop-overflow"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
   [[MPI_Request r = MPI_REQUEST_NULL; MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);]])],
   [AC_MSG_RESULT([yes])],
   [AC_MSG_RESULT([with -Wno-stringop-overflow])
    MPI_CFLAGS="$MPI_CFLAGS -Wno-stringop-overflow"])
CFLAGS=$pythia_save_CFLAGS
])

# PYTHIA_MPI_VERSION
# ------------------
# MPI_BUILD_VERSION, from the header: Open MPI has three numbers there, MPICH a string.
AC_DEFUN([PYTHIA_MPI_VERSION],
[AC_MSG_CHECKING([version of the MPI])
cat >conftest.$ac_ext <<'END'
#include <mpi.h>
#ifdef OPEN_MPI
pythia_version OMPI_MAJOR_VERSION . OMPI_MINOR_VERSION . OMPI_RELEASE_VERSION
#else
pythia_version MPICH_VERSION
#endif
END
MPI_BUILD_VERSION=`$CC -E -P $MPI_CFLAGS conftest.$ac_ext 2>/dev/null | $SED -n '/^pythia_version/{s///; s/@<:@ "@:>@//g; p;}'`
rm -f conftest.$ac_ext
AC_MSG_RESULT([$MPI_BUILD_VERSION])
])

# PYTHIA_MPI_SIBLING(VARIABLE, NAME, OTHER NAME)
# ----------------------------------------------
# The program of the same installation as MPICC: beside it, with the same suffix (mpicc.mpich: mpirun.mpich), else with
# the flavour as its suffix (on Debian mpicc and mpirun are switched independently), else without.
AC_DEFUN([PYTHIA_MPI_SIBLING],
[AC_MSG_CHECKING([for $2 of $MPICC])
pythia_dir=`AS_DIRNAME(["$MPICC"])`
for pythia_name in $2 $3; do
   for pythia_suffix in "${MPICC@%:@@%:@*/mpicc}" ".$MPI_FLAVOUR" ""; do
      AS_IF([test -n "$$1" || test ! -x "$pythia_dir/$pythia_name$pythia_suffix"], [continue],
            [test -z "$pythia_suffix" && test -x "$pythia_dir/$pythia_name.$MPI_FLAVOUR"], [continue])
      $1=$pythia_dir/$pythia_name$pythia_suffix
   done
done
AC_MSG_RESULT([${$1:-no}])
])

# PYTHIA_PMIX
# -----------
# Which ranks of a job run under Pythia is asked of the launcher: PMIx for Open MPI, where it uses a PMIx of its own (not
# one compiled into it, as Open MPI 4 may have); hydra for MPICH. Substitutes PMIX_CFLAGS. Conditional: HAVE_PMIX. For the summary: have_companions.
AC_DEFUN([PYTHIA_PMIX],
[PMIX_CFLAGS= pythia_pmix=no
have_companions="no (needs an MPI)"
AS_CASE([$MPI_FLAVOUR],
   [mpich], [have_companions="yes (hydra)"],
   [openmpi],
   [AC_MSG_CHECKING([for the PMIx that Open MPI uses])
    pythia_info=`AS_DIRNAME(["$MPICC"])`/ompi_info
    have_companions="no (install libpmix-dev); all ranks of a job have to run under Pythia"
    AS_IF([test "${MPI_BUILD_VERSION%%.*}" -lt 5 &&
           ! "$pythia_info" --parsable 2>/dev/null | $GREP '^mca:pmix:ext' >/dev/null],
       [have_companions="no (PMIx is compiled into this Open MPI); all ranks of a job have to run under Pythia"],
       [PMIX_CFLAGS=`$PKG_CONFIG --cflags pmix 2>/dev/null`
        pythia_save_CPPFLAGS=$CPPFLAGS
        CPPFLAGS="$CPPFLAGS $PMIX_CFLAGS"
        AC_PREPROC_IFELSE([AC_LANG_SOURCE([@%:@include <pmix.h>])],
           [pythia_pmix=yes
            have_companions="yes (PMIx)"])
        CPPFLAGS=$pythia_save_CPPFLAGS])
    AC_MSG_RESULT([$pythia_pmix])])
AC_SUBST([PMIX_CFLAGS])
AM_CONDITIONAL([HAVE_PMIX], [test "$pythia_pmix" = yes])
])
