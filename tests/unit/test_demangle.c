/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "findings/demangle.h"
#include "tests/unit/unit.h"

static const struct { const char *symbol, *brief, *full; } names[] = {
    { "_ZN9LAMMPS_NS6Verlet3runEi", "LAMMPS_NS::Verlet::run", "LAMMPS_NS::Verlet::run(int)" },
    { "_ZNSt6vectorIiSaIiEE4sizeEv", "std::vector::size", "std::vector<int, std::allocator<int> >::size()" },
    { "_ZL4stepRd._omp_fn.3", "step", "step(double&)" },
    { "_ZlsRSoRK1A", "operator<<", "operator<<(std::ostream&, A const&)" },
    { "_ZN1AptEv", "A::operator->", "A::operator->()" },
    { "_ZN1AltERKS_", "A::operator<", "A::operator<(A const&)" },
    { "__solver_MOD_step", "solver::step", "solver::step" },
    { "__solver_MOD_step._omp_fn.0", "solver::step", "solver::step" },
    { "main", "main", "main" },
    { "work.constprop.0", "work", "work" },
    { ".hidden", ".hidden", ".hidden" },
    { ".omp_outlined..3", ".omp_outlined..3", ".omp_outlined..3" },
    { "step_", "step_", "step_" },
    { "__MOD_", "__MOD_", "__MOD_" },
    { "_Znonsense", "_Znonsense", "_Znonsense" },
    { "", "", "" },
};

START_TEST(names_are_readable)
{
    char *brief = findings_demangle_short(names[_i].symbol), *full = findings_demangle_full(names[_i].symbol);

    ck_assert_str_eq(brief, names[_i].brief);
    ck_assert_str_eq(full, names[_i].full);
    free(brief);
    free(full);
}
END_TEST

int main(void)
{
    static const struct unit_test tests[] = { UNIT_LOOP(names_are_readable, UNIT_COUNT(names)) };
    return unit_run("findings/demangle", tests, UNIT_COUNT(tests));
}
