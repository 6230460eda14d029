# SPDX-License-Identifier: MIT
# From files.tsv and levels.tsv, beside this: what grows with the ranks, and what does not.
set terminal svg size 1000,420 background "white"
set output "scale.svg"
set datafile separator "\t"
set multiplot layout 1,2
set key left top
set logscale xy
set format x "2^{%L}"
set logscale x 2
set grid
set title "Job file"
set xlabel "ranks"
set ylabel "bytes"
shapes = "ring stencil master trips irregular"
plot for [s in shapes] "files.tsv" using 3:(strcol(2) eq s ? $4 : 1/0) with linespoints title s
set title "One message, in the largest run of each"
unset logscale x
set format x "%g"
set xlabel "level of the tree"
largest(s) = system("awk -v s=".s." '$2 == s && $3 > m { m = $3 } END { print m + 0 }' levels.tsv")
plot for [s in shapes] "levels.tsv" using 4:(strcol(2) eq s && strcol(3) eq largest(s) ? $6 : 1/0) with linespoints title s
unset multiplot
