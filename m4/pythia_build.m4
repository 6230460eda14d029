# SPDX-License-Identifier: MIT

# PYTHIA_BUILD_VARIANT
# --------------------
# --enable-debug. Before AC_PROG_CC, whose default CFLAGS it replaces; CFLAGS of the user win.
AC_DEFUN([PYTHIA_BUILD_VARIANT],
[AC_ARG_ENABLE([debug],
   [AS_HELP_STRING([--enable-debug], [no optimisation, and audits of the data structures as they change])],
   [], [enable_debug=no])
AS_IF([test "x$enable_debug" != xno],
   [: ${CFLAGS="-O0 -g3"}
    AC_DEFINE([PYTHIA_DEBUG], [1], [Define to audit data structures as they change.])],
   [: ${CFLAGS="-O2 -g"}])
AM_CONDITIONAL([DEBUG], [test "x$enable_debug" != xno])
])

# PYTHIA_SANITIZERS
# -----------------
# --enable-sanitizers=LIST: substitutes SANITIZERS (the list, empty when off) and SANITIZER_FLAGS.
AC_DEFUN([PYTHIA_SANITIZERS],
[AC_ARG_ENABLE([sanitizers],
   [AS_HELP_STRING([--enable-sanitizers=LIST],
      [build with these sanitizers of the compiler: address,undefined (the default of LIST) or thread])],
   [], [enable_sanitizers=no])
AS_CASE([$enable_sanitizers],
   [no], [SANITIZERS=],
   [yes], [SANITIZERS=address,undefined],
   [SANITIZERS=$enable_sanitizers])
AM_CONDITIONAL([SANITIZED], [test -n "$SANITIZERS"])
SANITIZER_FLAGS=
AS_IF([test -n "$SANITIZERS"],
   [SANITIZER_FLAGS="-fsanitize=$SANITIZERS -fno-omit-frame-pointer"
    AC_MSG_CHECKING([whether $CC links with $SANITIZER_FLAGS])
    pythia_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZER_FLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([--enable-sanitizers=$SANITIZERS: $CC cannot link with it; install its sanitizer libraries or choose others])])
    CFLAGS=$pythia_save_CFLAGS])
AC_ARG_ENABLE([fuzzing],
   [AS_HELP_STRING([--enable-fuzzing], [build the libFuzzer targets in tests/fuzz, everything with coverage; needs clang])],
   [], [enable_fuzzing=no])
AS_IF([test "x$enable_fuzzing" != xno],
   [AC_MSG_CHECKING([whether $CC has libFuzzer])
    pythia_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -fsanitize=fuzzer"
    AC_LINK_IFELSE([AC_LANG_SOURCE([int LLVMFuzzerTestOneInput(const char *d, long n); int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }])],
       [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([--enable-fuzzing: $CC has no -fsanitize=fuzzer; use CC=clang (Debian: clang and libclang-rt-dev)])])
    CFLAGS=$pythia_save_CFLAGS
    SANITIZER_FLAGS="$SANITIZER_FLAGS -fsanitize=fuzzer-no-link -fno-omit-frame-pointer"])
AM_CONDITIONAL([HAVE_FUZZING], [test "x$enable_fuzzing" != xno])
AC_SUBST([SANITIZERS])
AC_SUBST([SANITIZER_FLAGS])
AM_CONDITIONAL([HAVE_SANITIZERS], [test -n "$SANITIZERS"])
])

# PYTHIA_IFUNC
# ------------
# Whether our libraries can be bound to the C library's functions past the program's (base/libc_wrap.c). A sanitizer
# stands before these, and wants to.
AC_DEFUN([PYTHIA_IFUNC],
[AC_MSG_CHECKING([whether $CC has indirect functions])
AC_LINK_IFELSE([AC_LANG_SOURCE([static void *find(void) { return find; }
void found(void) __attribute__((ifunc("find")));
int main(void) { return !found; }])], [have_ifunc=yes], [have_ifunc="no; a program's own write or open would get our calls"])
AC_MSG_RESULT([$have_ifunc])
AS_IF([test "$have_ifunc" = yes && test -z "$SANITIZERS"], [wrap_libc=yes
   AC_DEFINE([PYTHIA_WRAP_LIBC], [1], [Define where calls of ours pass by a program's own write or open.])])
AM_CONDITIONAL([WRAP_LIBC], [test "$wrap_libc" = yes])
])

# PYTHIA_NEED(PREFIX, PKG-CONFIG MODULE, HEADER, LIBRARY, FUNCTION, DEBIAN PACKAGE)
# ---------------------------------------------------------------------------------
# Finds a library that cannot be done without, by pkg-config or by header and library; substitutes PREFIX_CFLAGS and
# PREFIX_LIBS. What is missing is collected for PYTHIA_NEEDED.
AC_DEFUN([PYTHIA_NEED],
[PKG_CHECK_MODULES([$1], [$2], [],
   [pythia_found=no
    AC_CHECK_HEADER([$3], [AC_CHECK_LIB([$4], [$5], [pythia_found=yes])])
    AS_IF([test $pythia_found = yes], [$1_LIBS=-l$4],
       [pythia_missing="$pythia_missing $2"; pythia_packages="$pythia_packages $6"])])
])

AC_DEFUN([PYTHIA_NEEDED],
[AS_IF([test -n "$pythia_missing"],
   [AC_MSG_ERROR([missing:$pythia_missing; on Debian: apt-get install$pythia_packages])])
])

# PYTHIA_CHECK
# ------------
# The unit tests' framework, optional: HAVE_CHECK; and what walks of the stack are held against: HAVE_UNWIND.
AC_DEFUN([PYTHIA_CHECK],
[PKG_CHECK_MODULES([CHECK], [check >= 0.12],
   [have_check=yes], [have_check="no (install check); the unit tests are skipped"])
AM_CONDITIONAL([HAVE_CHECK], [test "$have_check" = yes])
PKG_CHECK_MODULES([UNWIND], [libunwind], [have_unwind=yes], [have_unwind=no])
AM_CONDITIONAL([HAVE_UNWIND], [test "$have_unwind" = yes])
])

# PYTHIA_HWLOC
# ------------
# How the command knows a machine.
AC_DEFUN([PYTHIA_HWLOC],
[PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.5], [],
   [pythia_missing="$pythia_missing hwloc (2.5 or later)"; pythia_packages="$pythia_packages libhwloc-dev"])
])

# PYTHIA_STACKS
# -------------
# Stacks of running processes, optional: HAVE_UNWIND_PTRACE.
AC_DEFUN([PYTHIA_STACKS],
[PKG_CHECK_MODULES([UNWIND_PTRACE], [libunwind-ptrace libunwind-generic],
   [have_stacks=yes
    AC_DEFINE([HAVE_UNWIND_PTRACE], [1], [Define where libunwind-ptrace is.])],
   [have_stacks="no (install libunwind-dev); pythia watch --stacks=now is not"])
])

# PYTHIA_SUMMARY
# --------------
AC_DEFUN([PYTHIA_SUMMARY],
[AC_MSG_NOTICE([
  pythia $PACKAGE_VERSION, to be installed below $prefix
    compiler       $CC $CFLAGS
    debug          $enable_debug
    sanitizers     ${SANITIZERS:-no}
    fuzzing        $enable_fuzzing
    MPI            $have_mpi
    some ranks     $have_companions
    GNU OpenMP     $have_omp
    OpenMP tests   $have_gnu_openmp
    reading code   $have_capstone
    OTF2           $have_otf2
    stacks now     $have_stacks
    Fortran        $have_fortran
    unit tests     $have_check
    Python         ${PYTHON:-no (install python3); tests that need it are skipped}
])
])
