# SPDX-License-Identifier: MIT
# For the tests of the OpenMP hooks: compiling programs with each way of getting the hooks in. After tests/lib.sh.
# The programs are compiled with gcc: other compilers call another OpenMP library.
gcc=
for candidate in "${CC:-cc}" gcc; do
    if echo 'int main(void) { return 0; }' >probe.c && $candidate -fopenmp -S -o - probe.c >/dev/null 2>&1 &&
        $candidate --version | grep -qiv clang && ! $candidate --version | grep -qi clang; then
        gcc=$candidate
        break
    fi
done
[ -n "$gcc" ] || skip_all 'no gcc with -fopenmp'
[ -z "${SANITIZERS:-}" ] || skip_all 'a library with sanitizers cannot be preloaded'
source=$top_srcdir/tests/omp
libraries=$top_builddir/.libs
[ -e "$libraries/libpythia_omp.so" ] || skip_all 'libpythia_omp was not built'
dump=$top_builddir/tests/omp/dump
unset OMP_NESTED OMP_DYNAMIC OMP_THREAD_LIMIT OMP_PROC_BIND OMP_PLACES OMP_SCHEDULE OMP_CANCELLATION PYTHIA_OMP_KEEP
unset PYTHIA_ACT PYTHIA_INPUT PYTHIA_OUTPUT PYTHIA_MODE
export PYTHIA_VERBOSE=1
export OMP_NUM_THREADS=4

# The machine code of regions is read: else all keep their teams.
need_code() { [ "$HAVE_CAPSTONE" = yes ] || skip_all 'no capstone, or another processor'; }
# preloaded MODE FILE COMMAND...
preloaded() {
    PYTHIA_MODE=$1 PYTHIA_OUTPUT=$2 PYTHIA_INPUT=$2 LD_PRELOAD=$libraries/libpythia_omp.so timeout 60 "${@:3}"
}
# value KEY FILE: of the line "pythia: predicted KEY=VALUE ..."
value() { sed -n "s/.*predicted .*\b$1=\([^ ]*\).*/\1/p" "$2"; }

# find_llvm: whether programs by clang run on LLVM's libomp here; "${llvm[@]}" compiles one.
find_llvm() {
    local clang library
    for clang in clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19; do
        $clang --version >/dev/null 2>&1 && break
    done
    library=$(ls /usr/lib/llvm-*/lib/libomp.so /usr/lib/*/libomp.so.5 2>/dev/null | head -1)
    llvm=("$clang" -fopenmp -w "-Wl,-rpath,${library%/*}")
    echo 'int main(void) { _Pragma("omp parallel") { } return 0; }' >llvm_probe.c
    [ -n "$library" ] && "${llvm[@]}" -o llvm_probe llvm_probe.c 2>/dev/null &&
        PYTHIA_MODE=off timeout 60 ./llvm_probe >/dev/null 2>&1
}
