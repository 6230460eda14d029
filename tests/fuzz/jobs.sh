# SPDX-License-Identifier: MIT
# The jobs that fuzz_report changes, in the present directory.
make_jobs() {
    local job=$top_builddir/tests/tool/make_job one
    for one in ring hybrid names predicted counted; do "$job" $one $one.pythia || return 1; done
    "$job" many many.pythia 12 3000 && "$job" changed rings.pythia ring ranks 9 turnsP 3 barrier 1 path 5 &&
        "$job" changed teams.pythia hybrid team 3 slow 20
}
