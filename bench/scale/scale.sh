# SPDX-License-Identifier: MIT
# The merge by number of ranks: sizes, times and classes for each shape, real runs where they overlap, and a plot.
#   SCALE_RANKS: the numbers of ranks; SCALE_REAL: those that are also run over MPI; SCALE_OUT: where the results go.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${SCALE_OUT:-bench/scale-results}
mkdir -p "$out"
: "${SCALE_RANKS:=64 1024 16384 131072 1048576}" "${SCALE_REAL:=8 64}" "${SCALE_SHAPES:=ring stencil master trips irregular}"
: "${SCALE_IRREGULAR:=131072}" # the irregular one grows: no further than this
. "$here/../lib.sh"
bench_ranks

printf '#\tshape\tranks\tlevel\tedges\tbytes\tmost_bytes\tmemory\tus\tclasses\n' >"$out/levels.tsv"
printf '#\tshape\tranks\tbytes\tclasses\tranges\tvariants\trecords\tpeak_kb\tdistinct\tbytes_each\n' >"$out/files.tsv"
for shape in $SCALE_SHAPES; do
    for ranks in $SCALE_RANKS; do
        [ "$shape" = irregular ] && [ "$ranks" -gt "$SCALE_IRREGULAR" ] && continue
        bench/merge_scale "$shape" "$ranks" "$out/simulated.pythia" >"$out/run.tsv"
        grep '^level' "$out/run.tsv" >>"$out/levels.tsv"
        grep '^file' "$out/run.tsv" | tee -a "$out/files.tsv"
    done
done
if [ -x bench/merge_scale_mpi ] && [ -n "${MPIEXEC:-}" ]; then
    for shape in $SCALE_SHAPES; do
        for ranks in $SCALE_REAL; do
            bench/merge_scale "$shape" "$ranks" "$out/simulated.pythia" >/dev/null
            "$MPIEXEC" -n "$ranks" bench/merge_scale_mpi "$shape" "$out/real.pythia"
            cmp "$out/simulated.pythia" "$out/real.pythia" &&
                echo "same	$shape	$ranks	the real file is the simulated one"
        done
    done
fi
rm -f "$out/simulated.pythia" "$out/real.pythia" "$out/run.tsv"
if command -v gnuplot >/dev/null; then
    (cd "$out" && gnuplot "$here/scale.gp") && echo "plot: $out/scale.svg"
else
    echo 'no plot: gnuplot is not installed'
fi
