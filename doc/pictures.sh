#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make pictures: the two pictures of the README, doc/pictures/*.png, of a run of doc/cases/uneven.c, in a browser
# without a window. Run in the build directory with SRC, PYTHIA, MPICC, MPIEXEC set; four processors look best.
set -eu
browser=$(command -v chromium-headless-shell || command -v chromium || command -v google-chrome) ||
    { echo 'pictures: no chromium' >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$SRC/doc/pictures"
"$MPICC" -g -O2 "$SRC/doc/cases/uneven.c" -o "$work/uneven"
pythia=$PWD/$PYTHIA
cd "$work"
PYTHIA_SUMMARY=no "$MPIEXEC" -n 4 "$pythia" record -o uneven.pythia -- ./uneven
"$pythia" report uneven.pythia --format html -o page.html
{
    echo '<!doctype html><meta charset="utf-8"><body style="margin:0;background:#16181d;color:#e6e6e6"><pre style="
        font:15px/1.35 monospace;padding:14px 18px;margin:0">$ mpirun -n 4 pythia record -- ./uneven'
    "$pythia" report uneven.pythia | sed -e '/^arguments:/d; /^Open MPI/d' -e 's/&/\&amp;/g; s/</\&lt;/g'
} >screen.html
picture() {
    "$browser" --no-sandbox --disable-gpu --hide-scrollbars --window-size="$2" --screenshot="$1.png" \
        "file://$work/$1.html" >/dev/null 2>&1
    cp "$1.png" "$SRC/doc/pictures/$1.png"
}
picture page 1120,1240
picture screen 800,640
