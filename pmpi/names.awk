# SPDX-License-Identifier: MIT
# The calls of the table by class and name: awk -v every=1 -f calls.awk -f names.awk mpi_calls.def

function emit() { print class, call_name }
function emit_hand() { emit() }
